"""Task space and linear coordinates: laws that tie them to the joints, and the golden double pendulum."""

import numpy as np
import pytest

import forearm as fa
from arms import GOLDEN, random_arm
from close import assert_close

ARM = fa.load("ur5e")
Q, QD, QDD = (x[0] for x in ARM.random_state(5, (1,)))


def test_task_inertia_moves_the_tool():
    """Force = Λ a + bias + gravity: joint torques Jᵀ F give the tool that acceleration (six joints, no null space)."""
    found = fa.task(ARM, Q, QD)
    acceleration = np.array([0.3, -0.2, 0.5, 1.0, -0.7, 0.4])
    force = found.inertia @ acceleration + found.bias + found.gravity
    qdd = fa.forward_dynamics(ARM, Q, QD, found.jacobian.T @ force)
    assert_close(
        found.jacobian @ qdd + found.jacobian_rate,
        acceleration,
        eps=1e3 * found.condition,
        because="condition",
    )
    assert_close(found.inertia, found.inertia.T, eps=1e2 * found.condition, because="condition")


def test_task_in_batches_and_damping():
    q, qd, _ = ARM.random_state(6, (4,))
    found = fa.task(ARM, q, qd)
    for row in range(4):
        one = fa.task(ARM, q[row], qd[row])
        assert_close(found.inertia[row], one.inertia, eps=1e3 * one.condition, because="condition")
    damped = fa.task(ARM, q[0], qd[0], damping=10.0)
    J = damped.jacobian
    want = np.linalg.inv(J @ np.linalg.solve(fa.mass_matrix(ARM, q[0]), J.T) + 100 * np.eye(6))
    assert_close(damped.inertia, want, eps=1e6, because="two ways to solve")


def test_a_singular_pose_is_refused_without_damping():
    rr = fa.load("rr")
    with pytest.raises(fa.StateFault, match=r"singular pose .* or has fewer than six joints.*give damping="):
        fa.task(rr, [0.1, 0.2], [0.0, 0.0])
    assert np.all(np.isfinite(fa.task(rr, [0.1, 0.2], [0.0, 0.0], damping=0.1).inertia))


def test_golden_double_pendulum_in_absolute_angles():
    """giacaglia_kottke_2007, (58) and (59) corrected: accelerations in absolute angles under N1, N2."""
    golden = GOLDEN["extra"]["double_pendulum_003"]
    arm = fa.load("double_pendulum")
    coordinates = fa.Coordinates.absolute(arm)
    q, qd, want = (np.array(golden[k], dtype=float) for k in ("q_abs", "qd_abs", "qdd_abs"))
    force = [float(golden["params"][k]) for k in ("N1", "N2")]
    assert_close(coordinates.forward_dynamics(q, qd, force), want)


def test_linear_coordinates_keep_power_and_energy():
    arm = random_arm(3, 4, "R", general=True)
    S = np.array([[1.0, 0.2, 0.0], [-1.0, 1.0, 0.3], [0.0, -0.5, 2.0]])
    coordinates = fa.Coordinates(arm, S, offset=[0.1, -0.2, 0.3])
    x, xd, xdd = np.array([0.3, -0.4, 0.5]), np.array([1.0, -2.0, 0.7]), np.array([0.2, 0.4, -0.6])
    q, qd, qdd = coordinates.joints(x), coordinates.rates(xd), coordinates.rates(xdd)
    assert_close(q, S @ x + [0.1, -0.2, 0.3])
    force = coordinates.inverse_dynamics(x, xd, xdd)
    assert_close(force @ xd, fa.inverse_dynamics(arm, q, qd, qdd) @ qd, eps=256, because="sums")
    M = coordinates.mass_matrix(x)
    assert_close(xd @ M @ xd / 2, fa.energy(arm, q, qd).kinetic, eps=256, because="sums")
    C, g = coordinates.coriolis_matrix(x, xd), coordinates.gravity_torque(x)
    assert_close(M @ xdd + C @ xd + g, force, eps=512, because="sums")
    assert_close(coordinates.forward_dynamics(x, xd, force), xdd, eps=1e5, because="condition of M")


def test_coupled_joints_with_fewer_coordinates():
    """A parallelogram: the third joint undoes the second, q = S x with two coordinates."""
    arm = random_arm(3, 8, "R")
    coordinates = fa.Coordinates(arm, [[1, 0], [0, 1], [0, -1]])
    assert coordinates.mass_matrix([0.2, 0.4]).shape == (2, 2)
    assert np.all(np.linalg.eigvalsh(coordinates.mass_matrix([0.2, 0.4])) > 0)


@pytest.mark.parametrize("S", [np.eye(3), np.ones((2, 3)), [[1, 1], [1, 1]], [1, 2]])
def test_matrices_that_are_refused(S):
    with pytest.raises(
        fa.StateFault, match=r"coordinates of arm 'rr': S has shape .*; give a matrix \(2, k\)"
    ):
        fa.Coordinates(fa.load("rr"), S)


def test_coordinates_inside_a_function_that_is_compiled():
    turned = fa.Coordinates.absolute(fa.load("rr"))
    x, xd, xdd = np.array([0.1, 0.2]), np.array([0.3, 0.4]), np.array([0.5, 0.6])
    kernel = fa.compile_function(turned.inverse_dynamics, {"x": 2, "xd": 2, "xdd": 2})
    assert_close(kernel(x, xd, xdd), turned.inverse_dynamics(x, xd, xdd), eps=64)
