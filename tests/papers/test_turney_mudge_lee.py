"""Turney, Mudge and Lee 1980: golden values, each misprint of class A, wrist force sensing."""

import numpy as np
import pytest

from arms import golden_arm, golden_states, random_arm
from as_printed import as_printed
from close import assert_close, error_in_eps
from forearm.algebra import second_moment
from forearm.compiler.model.base_parameters import regrouped
from forearm.counting import CONVENTIONS, count, polynomial
from forearm.faults import ArmFault
from forearm.formulations import FORMULATIONS
from forearm.frames import Pose
from forearm.kinematics import frame_motion, link_poses

NEWTON = "turney_mudge_lee_1980_newton_euler"
MODIFIED = "turney_mudge_lee_1980_modified"
LAGRANGE = "turney_mudge_lee_1980_lagrange"
ALL = (NEWTON, MODIFIED, LAGRANGE)
WRENCH = np.array([3.0, -2.0, 5.0, 0.4, -0.3, 0.2])
WRONG = 1e10  # machine epsilons: a printed reading is off by far more than rounding


def cases(stems):
    for stem in stems:
        for name in ("G6R", "STAN"):
            if FORMULATIONS[stem].accepts(golden_arm(name)):
                yield from ((stem, name, k) for k in range(3))


@pytest.mark.parametrize(("stem", "name", "k"), list(cases(ALL)))
def test_golden_torques(stem, name, k):
    arm, state = golden_arm(name), golden_states(name)[k]
    q, qd, qdd = state["q"], state["qd"], state["qdd"]
    torques = FORMULATIONS[stem].joint_torques
    assert_close(torques(arm, q, qd, qdd), state["tau"])
    assert_close(torques(arm, q, qd, qdd, tip_wrench=WRENCH), state["tau_with_wrench"])


def test_golden_matrices():
    """M, C^i_jk and G of 2.11."""
    lagrange, arm = FORMULATIONS[LAGRANGE], golden_arm("G6R")
    for state in golden_states("G6R"):
        assert_close(lagrange.mass_matrix(arm, state["q"]), state["M"])
        assert_close(lagrange.gravity_torque(arm, state["q"]), state["tau_gravity_only"])
    first = golden_states("G6R")[0]
    assert_close(lagrange.christoffel(arm, first["q"]), first["C_ijk"])


def test_the_parts_of_2_11_make_the_whole():
    arm = random_arm(4, 3, "R", general=True, flips=True)
    q, qd, qdd = arm.random_state(3)
    lagrange = FORMULATIONS[LAGRANGE]
    M, C, G = lagrange.mass_matrix(arm, q), lagrange.christoffel(arm, q), lagrange.gravity_torque(arm, q)
    parts = M @ qdd + np.einsum("ijk,j,k", C, qd, qd) + G
    assert_close(lagrange.joint_torques(arm, q, qd, qdd), parts)
    still = arm.replace(gravity=(0, 0, 0))
    assert_close(lagrange.gravity_torque(still, q), np.zeros(4), scale=1)
    assert_close(lagrange.joint_torques(still, q, qd, qdd), parts - G)


@pytest.mark.parametrize("seed", range(8))
def test_three_ways_agree(seed):
    arm = random_arm(1 + seed, seed, "R", general=seed % 2 == 0, flips=True)
    q, qd, qdd = arm.random_state(seed)
    want = FORMULATIONS[NEWTON].joint_torques(arm, q, qd, qdd, tip_wrench=WRENCH)
    for stem in (MODIFIED, LAGRANGE):
        assert_close(FORMULATIONS[stem].joint_torques(arm, q, qd, qdd, tip_wrench=WRENCH), want, label=stem)


@pytest.mark.parametrize("seed", range(6))
def test_prismatic_extension_and_reactions(seed):
    arm = random_arm(2 + seed, seed, "RP", general=True, flips=True)
    q, qd, qdd = arm.random_state(seed)
    f, n = FORMULATIONS["luh_walker_paul_1980"].reactions(arm, q, qd, qdd, tip_wrench=WRENCH)
    for stem in (NEWTON, MODIFIED):
        got = FORMULATIONS[stem].reactions(arm, q, qd, qdd, tip_wrench=WRENCH)
        assert_close(got[0], f, label=f"{stem} f")
        assert_close(got[1], n, label=f"{stem} n")


def test_a_sliding_joint_is_refused_where_the_report_has_none():
    arm, q = golden_arm("STAN"), np.zeros(6)
    message = r"takes revolute joints only, but joint3 of arm 'STAN' is prismatic; choose a formulation"
    with pytest.raises(ArmFault, match=message):
        FORMULATIONS[LAGRANGE].joint_torques(arm, q, q, q)


# -- misprints: the printed reading fails, ours holds -----------------------------------------------------


def fails(module, arm=None, **keywords):
    """How far, in eps, the torques of a module are from the golden ones in the worst state."""
    arm = arm or golden_arm("G6R")
    errors = [
        error_in_eps(module.joint_torques(arm, s["q"], s["qd"], s["qdd"], **keywords), s["tau"])
        for s in golden_states("G6R")
    ]
    return max(errors)


TORQUE_MISPRINTS = {
    "T1 A_i(3,2)": (MODIFIED, ("yz + ax", "yz + az")),
    "T2 x of Tr{A K sigma}": (
        MODIFIED,
        ("x = A[2] @ K[:, 1] - A[1] @ K[:, 2]", "x = A[1] @ K[:, 2] - A[2] @ K[:, 1]"),
    ),
    "T3 K about origin i-1": (
        MODIFIED,
        ("K[i] = second_moment(I)", "K[i] = second_moment(I) + m * np.outer(s[i], s[i])"),
    ),
    "T5 w_i in 3.16": (
        NEWTON,
        ("cross(w[i - 1], z_qd)", "cross(w[i], z_qd)"),
    ),
    "T10 scalar a_0": (NEWTON, ("a = {0: -arm.gravity_in_base}", "a = {0: np.full(3, 9.81)}")),
    "T6 T_i for T_0": (
        LAGRANGE,
        ("weights[i].append(dT[p, i][axis] @ m_g_r_bar)", "weights[i].append(np.zeros(4) @ m_g_r_bar)"),
    ),
}


@pytest.mark.parametrize("name", TORQUE_MISPRINTS)
def test_misprint_changes_the_torques(name):
    stem, reading = TORQUE_MISPRINTS[name]
    assert fails(FORMULATIONS[stem].module) < 64
    assert fails(as_printed(stem, reading)) > WRONG


def test_t3_the_other_consistent_choice():
    """K about origin i-1 is right with the lever m s × (R a_{i-1}) instead of m s × ā."""
    other = as_printed(
        MODIFIED,
        ("K[i] = second_moment(I)", "K[i] = second_moment(I) + m * np.outer(s[i], s[i])"),
        ("A[i] = acceleration_matrix", "lever[i] = m * a_before\n        A[i] = acceleration_matrix"),
        (
            "R, r, s, A, K, m_a_bar = {}, {}, {}, {}, {}, {}",
            "R, r, s, A, K, m_a_bar, lever = ({} for _ in range(7))",
        ),
        ("cross(s[i], m_a_bar[i])", "cross(s[i], lever[i])"),
    )
    assert fails(other) < 64


def test_t4_5_2_needs_itself_as_printed():
    printed = as_printed(MODIFIED, ("R[i + 1] @ n[i + 1]", "R[i + 1] @ n[i]"))
    with pytest.raises(KeyError):
        fails(printed)


def test_t6_t_i_does_not_depend_on_joint_i():
    arm, q = golden_arm("G6R"), golden_states("G6R")[0]["q"]
    transformations = FORMULATIONS[LAGRANGE].module.transformations
    for i in range(1, 6):
        moved = q + 0.3 * np.eye(6)[i - 1]
        before, after = transformations(arm, q), transformations(arm, moved)
        assert np.array_equal(before[i, 6], after[i, 6])
        assert np.max(np.abs(before[0, 6] - after[0, 6])) > 0.1


def test_t7_strobing_c_with_two_unit_speeds():
    """The response to two unit speeds is C_jj + C_kk + 2 C_jk, not C_jk."""
    arm, q = golden_arm("G6R").replace(gravity=(0, 0, 0)), golden_states("G6R")[0]["q"]
    C, unit = golden_states("G6R")[0]["C_ijk"], np.eye(6)

    def response(qd):
        return FORMULATIONS[NEWTON].joint_torques(arm, q, qd, np.zeros(6))

    for j, k in ((0, 1), (1, 4), (2, 3)):
        both = response(unit[j] + unit[k])
        assert error_in_eps(both, C[:, j, k]) > WRONG
        scale = np.max(np.abs(C))
        assert_close((both - response(unit[j]) - response(unit[k])) / 2, C[:, j, k], scale=scale)


def test_t9_two_wrong_signs_cancel():
    """2.1 prints P.E. = -Σ m g h and 2.7 subtracts its derivative; either alone turns gravity round."""
    arm, state = golden_arm("G6R"), golden_states("G6R")[0]
    q, h = state["q"], 1e-6

    def printed_potential(q):
        heights = [
            (p + R @ link.about_com.center)[2]
            for link, (R, p) in zip(arm.links, link_poses(arm, q)[1:], strict=True)
        ]
        return -sum(9.81 * link.mass * z for link, z in zip(arm.links, heights, strict=True))

    slope = np.array(
        [(printed_potential(q + h * e) - printed_potential(q - h * e)) / (2 * h) for e in np.eye(6)]
    )
    assert np.allclose(-slope, state["tau_gravity_only"], atol=1e-7)  # both as printed
    assert not np.allclose(slope, state["tau_gravity_only"], atol=1e-1)  # one of them corrected alone


def test_t12_indices_of_c():
    """As printed the second derivative is with respect to i and k."""
    arm, state = golden_arm("G6R"), golden_states("G6R")[0]
    ours = "traces = [np.sum((d2T[p, j, k] @ J[p]) * dT[p, i]) for p in above]"
    printed = "traces = [np.sum((d2T[p, min(i, k), max(i, k)] @ J[p]) * dT[p, i]) for p in above]"
    module = as_printed(LAGRANGE, (ours, printed))
    assert error_in_eps(module.christoffel(arm, state["q"]), state["C_ijk"]) > WRONG


def test_t14_diagonal_k_is_a_special_case():
    """The report's K_i is ours when the inertia is diagonal."""
    xx, yy, zz = 0.2, 0.3, 0.4
    printed = np.diag([(-xx + yy + zz) / 2, (xx - yy + zz) / 2, (xx + yy - zz) / 2])
    assert_close(second_moment(np.diag([xx, yy, zz])), printed)


# -- what the report says besides ---------------------------------------------------------------------------


@pytest.mark.parametrize("stem", [NEWTON, MODIFIED])
def test_wrist_force_sensing(stem):
    """A sensor between hand and load tells f_{n+1} and n_{n+1}; given to the recursion they carry the load.

    What the sensor reads is computed from the motion of the load alone, a point mass: F = m (a - g) at its place.
    """
    mass, place = 2.0, np.array([0.05, -0.02, 0.1])
    arm = random_arm(5, 11, "RRPRR", general=True).with_tool(Pose(translation=place))
    q, qd, qdd = arm.random_state(11)
    acceleration = frame_motion(arm, q, qd, qdd, frame="tool")[1][:3]
    sensed = mass * (acceleration - np.array(arm.gravity))  # world axes
    lever = link_poses(arm, q)[-1][0] @ place
    turn = arm.base.R.T
    on_hand = -np.concatenate([turn @ sensed, turn @ np.cross(lever, sensed)])
    got = FORMULATIONS[stem].joint_torques(arm, q, qd, qdd, tip_wrench=on_hand)
    loaded = arm.with_payload(mass, place, frame="flange")
    assert_close(got, FORMULATIONS[stem].joint_torques(loaded, q, qd, qdd))


def test_acceleration_matrix_is_the_operation():
    module, rng = FORMULATIONS[MODIFIED].module, np.random.default_rng(5)
    w, alpha, b, I = rng.normal(size=3), rng.normal(size=3), rng.normal(size=3), rng.normal(size=(3, 3))
    I = I @ I.T
    A = module.acceleration_matrix(w, alpha)
    assert_close(A @ b, np.cross(w, np.cross(w, b)) + np.cross(alpha, b))
    assert_close(module.trace_with_sigma(A, second_moment(I)), I @ alpha + np.cross(w, I @ w))


# -- counts: the structure is the one that the report's tables count ----------------------------------------


def test_counts_of_the_two_recursions():
    """3.15-3.21 as written and the modified set, dense rotations, sparse z, nothing saved at the base.

    With a diagonal K_i the trace of 5.2 costs 12n | 12n less, which is Table 4 but for its slips (T23).
    """
    turney = CONVENTIONS["Turney, Mudge, Lee"]
    assert str(polynomial(NEWTON, convention=turney)) == "125n - 24 | 102n - 24"
    assert str(polynomial(MODIFIED, convention=turney)) == "107n - 33 | 96n - 33"
    diagonal = turney.but("Table 4", "K_i diagonal", inertia="diagonal")
    assert str(polynomial(MODIFIED, convention=diagonal)) == "95n - 33 | 84n - 33"


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_counts_of_table_2_row_by_row(n):
    """The rows of Table 2, with the sums of the appendix corrected (T18 to T20)."""
    table_2 = CONVENTIONS["Turney, Mudge, Lee"].but(
        "Table 2",
        "4x4 forms dense, gravity along z",
        gravity="vertical",
        constants="charged",
        free_at_tip=frozenset(),
    )
    cost = count(LAGRANGE, n=n, convention=table_2)
    square, cube = n * n, n**3
    rows = {
        "1.15": (32 * n * (n - 1), 24 * n * (n - 1)),
        "dT": (32 * n * (n - 1), 24 * n * (n - 1)),
        "d2T": (32 * n * (square - 1) // 3, 8 * n * (square - 1)),
        "2.11-trace": (8 * square + 8 * n, 8 * square + 7 * n),
        "2.8": (2 * square + 2 * n, 2 * square + n),
    }
    for tag, want in rows.items():
        tally = cost.by_equation.get(tag)
        got = (tally.multiplications, tally.additions) if tally else (0, 0)
        assert got == want, tag
    assert cost.total.multiplications * 2 == 27 * cube + 181 * square + 26 * n
    assert cost.total.additions * 6 == 65 * cube + 444 * square - 11 * n


@pytest.mark.parametrize("n", [2, 3, 6])
def test_t18_to_t20_sums_of_the_appendix(n):
    """The appendix's own summands, added up: three of its closed forms are not their sums."""
    links = range(1, n + 1)
    products = sum(i * (i - 1) // 2 for i in links)  # T multiplications for second derivatives
    assert 64 * products == 32 * n * (n * n - 1) // 3
    assert 48 * products == 8 * n * (n * n - 1) != 16 * n * (n * n - 1)  # T18
    additions = sum(16 * q * (q + 1) + 32 for q in links)
    assert additions == 32 * n + 16 * n * (n + 1) * (n + 2) // 3 != 32 * n + 16 * n * (n * n - 1) // 3  # T19
    pairs = len([(j, k) for j in links for k in links if j <= k])
    assert pairs == n * (n + 1) // 2 != n * (n - 1) // 2  # T20


def test_lagrange_reads_ten_parameters_so_base_parameters_will_do():
    arm = random_arm(4, 2, "R", general=True, flips=True)
    q, qd, qdd = arm.random_state(2)
    lagrange, base = FORMULATIONS[LAGRANGE], regrouped(arm)
    assert_close(lagrange.joint_torques(base, q, qd, qdd), lagrange.joint_torques(arm, q, qd, qdd))
    assert_close(lagrange.mass_matrix(base, q), lagrange.mass_matrix(arm, q))
