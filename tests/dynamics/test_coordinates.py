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


@pytest.mark.parametrize("back", ["flip", "axis"])
def test_absolute_angles_of_a_joint_that_turns_the_other_way_were_sums_of_the_wrong_sign(back):
    """x is where the links point in the world, whichever way the driver of a joint counts."""
    links = list(fa.load("planar_3r").links)
    if back == "flip":
        links[1] = links[1].replace(flip=True)
    else:  # the second axis points back, the third as the first again
        turned = fa.Pose(np.diag([1.0, -1.0, -1.0]), (0.5, 0, 0))
        links[0] = fa.Link("revolute", turned, mass=2.0, inertia=fa.Inertia.sphere(2.0, 0.1))
        links[1] = fa.Link("revolute", turned, mass=1.0, inertia=fa.Inertia.sphere(1.0, 0.1))
    arm = fa.Arm("planar", links, gravity=(0, -9.81, 0))
    coordinates = fa.Coordinates.absolute(arm)
    x = np.array([0.3, 0.8, 1.1])
    for number in (1, 2, 3):
        along = fa.pose(arm, coordinates.joints(x), number)[:2, 0]
        assert_close(np.arctan2(along[1], along[0]), x[number - 1])
    force, push = np.array([0.3, -0.2, 0.5]), np.array([0.0, 0.0, 7.0])  # a moment does its work on one angle
    wrench = fa.Wrench(moment=tuple(push), at=2)
    tau = fa.external_torque(arm, coordinates.joints(x), wrench)
    assert_close(tau @ coordinates.S, [0.0, 7.0, 0.0], eps=64)
    there = coordinates.forward_dynamics(x, force, force)
    assert_close(coordinates.inverse_dynamics(x, force, there), force, eps=1e4, because="condition of M")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("stanford", "joint 2 .* not parallel"),
        ("puma560", "joint 2 .* not parallel"),
        ("slide", "joint 2 .* slides"),
    ],
)
def test_absolute_angles_where_there_are_none_are_refused(name, said):
    """A sum of angles about different axes is no angle of a link, and a length less an angle is nothing."""
    slide = fa.Arm("slide", (*fa.load("rr").links[:1], fa.Link("prismatic", mass=1.0)))
    arm = slide if name == "slide" else fa.load(name)
    with pytest.raises(fa.StateFault, match=f"absolute angles .*{said}.*Coordinates\\(arm, S\\)"):
        fa.Coordinates.absolute(arm)


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
