"""The two lecture notes: golden values, misprints N1 to N5, extra forces, wrenches, sliding arms."""

import numpy as np
import pytest

from arms import golden_arm, golden_states, random_arm
from as_printed import as_printed
from close import assert_close, error_in_eps
from forearm.counting import CONVENTIONS, polynomial
from forearm.formulations import FORMULATIONS
from forearm.kinematics import frame_jacobian, jacobian_at, link_poses, link_velocities

NEWTON, LAGRANGE = "newton_euler_notes", "euler_lagrange_notes"
WRENCH = np.array([3.0, -2.0, 5.0, 0.4, -0.3, 0.2])
WRONG = 1e10


@pytest.mark.parametrize("stem", [NEWTON, LAGRANGE])
@pytest.mark.parametrize("name", ["G6R", "STAN"])
def test_golden_torques(stem, name):
    arm = golden_arm(name)
    for state in golden_states(name):
        q, qd, qdd = state["q"], state["qd"], state["qdd"]
        torques = FORMULATIONS[stem].joint_torques
        assert_close(torques(arm, q, qd, qdd), state["tau"])
        assert_close(torques(arm, q, qd, qdd, tip_wrench=WRENCH), state["tau_with_wrench"])


@pytest.mark.parametrize("name", ["G6R", "STAN"])
def test_golden_matrices(name):
    lagrange, arm = FORMULATIONS[LAGRANGE], golden_arm(name)
    for state in golden_states(name):
        q, qd = state["q"], state["qd"]
        assert_close(lagrange.mass_matrix(arm, q), state["M"])
        assert_close(lagrange.gravity_torque(arm, q), state["tau_gravity_only"])
        assert_close(lagrange.coriolis_matrix(arm, q, qd) @ qd, state["tau_coriolis"])
    first = golden_states(name)[0]
    assert_close(lagrange.christoffel(arm, first["q"]), first["C_ijk"])


@pytest.mark.parametrize("seed", range(6))
def test_the_two_notes_agree(seed):
    arm = random_arm(2 + seed % 5, seed, "RP", general=True, flips=True)
    q, qd, qdd = arm.random_state(seed)
    want = FORMULATIONS[NEWTON].joint_torques(arm, q, qd, qdd, tip_wrench=WRENCH)
    assert_close(FORMULATIONS[LAGRANGE].joint_torques(arm, q, qd, qdd, tip_wrench=WRENCH), want)


def test_mass_matrix_rate_minus_twice_c_is_skew():
    lagrange, arm = FORMULATIONS[LAGRANGE], random_arm(4, 8, "RPRR", general=True)
    q, qd, _ = arm.random_state(8)
    dD = lagrange.module.mass_matrix_derivatives(arm, q)
    rate = np.array(
        [[sum(dD[i, j, k] * qd[k - 1] for k in range(1, 5)) for j in range(1, 5)] for i in range(1, 5)]
    )
    N = rate - 2 * lagrange.coriolis_matrix(arm, q, qd)
    assert_close(N + N.T, np.zeros((4, 4)), scale=np.max(np.abs(N)))
    h = 1e-6
    measured = (lagrange.mass_matrix(arm, q + h * qd) - lagrange.mass_matrix(arm, q - h * qd)) / (2 * h)
    assert np.allclose(rate, measured, atol=1e-7)


def test_gravity_torque_is_the_slope_of_the_potential():
    lagrange, arm = FORMULATIONS[LAGRANGE], random_arm(5, 2, "RP", general=True)
    q, h = arm.random_state(2)[0], 1e-6
    P = lagrange.module.potential
    slope = np.array([(P(arm, q + h * e) - P(arm, q - h * e)) / (2 * h) for e in np.eye(5)])
    assert np.allclose(lagrange.gravity_torque(arm, q), slope, atol=1e-6)


# -- what the Newton-Euler notes add ------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_velocities(seed):
    """(7), (9), (13), (14) against the chain's own kinematics, turned from world to base axes."""
    arm = random_arm(5, seed, "RP", general=True, flips=True)
    q, qd, _ = arm.random_state(seed)
    v_c, v_e, w = FORMULATIONS[NEWTON].module.velocities(arm, q, qd)
    want = link_velocities(arm, q, qd)
    turn = arm.base.R.T
    assert_close(v_c, [turn @ v for v, _ in want])
    assert_close(w, [turn @ spin for _, spin in want])
    assert_close(v_e[-1], turn @ (frame_jacobian(arm, q, 5)[:3] @ qd))


@pytest.mark.parametrize("seed", range(4))
def test_wrench_by_the_hand_and_by_the_jacobian(seed):
    """f_{n+1}, τ_{n+1} in the recursion, or Jᵀ F_e beside it (23): equal, with the corrected sign (N3)."""
    notes = FORMULATIONS[NEWTON].module
    arm = random_arm(3 + seed, seed, "RP", general=True, flips=True)
    q, qd, qdd = arm.random_state(seed)
    free, carried = notes.joint_torques(arm, q, qd, qdd), notes.wrench_torques(arm, q, WRENCH)
    with_wrench = notes.joint_torques(arm, q, qd, qdd, tip_wrench=WRENCH)
    assert_close(with_wrench, free - carried)
    assert error_in_eps(with_wrench, free + carried) > WRONG  # N3 as printed
    turn = np.kron(np.eye(2), arm.base.R)
    assert_close(carried, frame_jacobian(arm, q, "flange").T @ (turn @ WRENCH))


@pytest.mark.parametrize("number", [1, 3, 5])
def test_extra_force_on_a_link(number):
    """A force and a moment on link i act through its Jacobian at the centre of mass, wherever it is."""
    notes, arm = FORMULATIONS[NEWTON].module, random_arm(5, 21, "RRPRR", general=True, flips=True)
    q, qd, qdd = arm.random_state(21)
    extra = np.array([4.0, -1.0, 2.0, 0.3, 0.5, -0.7])
    R, p = link_poses(arm, q)[number]
    J = jacobian_at(arm, q, p + R @ arm.links[number - 1].about_com.center, number)
    want = notes.joint_torques(arm, q, qd, qdd) - J.T @ (np.kron(np.eye(2), R) @ extra)
    assert_close(notes.joint_torques(arm, q, qd, qdd, extra_forces={number: extra}), want)


def test_extra_forces_on_several_links_add_up():
    notes, arm = FORMULATIONS[NEWTON].module, random_arm(4, 4, "RP", general=True)
    q, qd, qdd = arm.random_state(4)
    extras = {i: np.arange(6.0) * i - 2 for i in (1, 2, 4)}
    free = notes.joint_torques(arm, q, qd, qdd)
    single = [notes.joint_torques(arm, q, qd, qdd, extra_forces={i: e}) - free for i, e in extras.items()]
    together = notes.joint_torques(arm, q, qd, qdd, extra_forces=extras)
    assert_close(together, free + np.sum(single, axis=0), scale=np.max(np.abs([free, *single])))


@pytest.mark.parametrize("seed", range(3))
def test_all_joints_prismatic_in_the_inertial_frame(seed):
    notes, arm = FORMULATIONS[NEWTON].module, random_arm(4, seed, "P", general=True, flips=True)
    q, qd, qdd = arm.random_state(seed)
    f = notes.forces_without_rotation(arm, q, qdd)
    axes = [arm.base.R.T @ R @ link.z for link, (R, _) in zip(arm.links, link_poses(arm, q), strict=False)]
    assert_close(np.sum(f * axes, axis=1), notes.joint_torques(arm, q, qd, qdd))
    in_links, _ = notes.reactions(arm, q, qd, qdd)
    turns = [arm.base.R.T @ R for R, _ in link_poses(arm, q)[1:]]
    assert_close(f, [R @ f_i for R, f_i in zip(turns, in_links, strict=True)])


def test_held_revolute_joints_do_not_disturb_sliding_ones():
    notes, arm = FORMULATIONS[NEWTON].module, random_arm(4, 9, "RPRP", general=True)
    q, _, qdd = arm.random_state(9)
    slides = np.array([0.0, 1.0, 0.0, 1.0])
    f = notes.forces_without_rotation(arm, q, qdd)
    axes = [arm.base.R.T @ R @ link.z for link, (R, _) in zip(arm.links, link_poses(arm, q), strict=False)]
    want = notes.joint_torques(arm, q, 0 * q, qdd * slides)
    assert_close((np.sum(f * axes, axis=1))[slides == 1], want[slides == 1])


# -- misprints ----------------------------------------------------------------------------------------------

A_C = "a_c[i] = R.T @ a_e[i - 1] + cross(wd[i], r_start_c) + cross(w[i], cross(w[i], r_start_c))  # (11)"
MISPRINTS = {
    "N1 a_c for a_e, revolute": (("G6R", "STAN"), (A_C, A_C.replace("a_e", "a_c"))),
    "N2 Coriolis once": (("STAN",), ("slide = 2 * cross(", "slide = cross(")),
    "N4 start of link i at origin i": (
        ("G6R", "STAN"),
        ("r_start_c = r_end + link.about_com.center\n\n", "r_start_c = link.about_com.center\n\n"),
    ),
    "N5 rate of (8) without the turning of z": (
        ("G6R", "STAN"),
        ("R.T @ wd[i - 1] + cross(R.T @ w[i - 1], z * qd[i]) + z * qdd[i]", "R.T @ wd[i - 1] + z * qdd[i]"),
    ),
}


@pytest.mark.parametrize("name", MISPRINTS)
def test_misprint_changes_the_torques(name):
    arms, reading = MISPRINTS[name]
    printed = as_printed(NEWTON, reading)
    for arm_name in arms:
        arm, state = golden_arm(arm_name), golden_states(arm_name)[0]
        q, qd, qdd = state["q"], state["qd"], state["qdd"]
        assert_close(FORMULATIONS[NEWTON].joint_torques(arm, q, qd, qdd), state["tau"])
        assert error_in_eps(printed.joint_torques(arm, q, qd, qdd), state["tau"]) > WRONG


def test_n1_prismatic_line():
    """(20) prints a_{c,i-1} too; (17), from which it is copied, has a_{e,i-1}."""
    ours = "R.T @ a_e[i - 1] + cross(wd[i], r_start_c) + cross(w[i], cross(w[i], r_start_c)) + slide"
    printed = as_printed(NEWTON, (ours, ours.replace("a_e", "a_c")))
    arm, state = golden_arm("STAN"), golden_states("STAN")[0]
    got = printed.joint_torques(arm, state["q"], state["qd"], state["qdd"])
    assert error_in_eps(got, state["tau"]) > WRONG


def test_count_on_the_page():
    assert str(polynomial(NEWTON, convention=CONVENTIONS["Turney, Mudge, Lee"])) == "168n - 24 | 131n - 24"
