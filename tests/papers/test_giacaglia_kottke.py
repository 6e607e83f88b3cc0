"""Giacaglia and Kottke 2007: golden values, (1) to (33) and their laws, misprints, section 6."""

import numpy as np
import pytest

from arms import GOLDEN, golden_arm, golden_states, random_arm
from as_printed import as_printed
from close import assert_close, error_in_eps
from forearm.arm import Arm
from forearm.counting import CONVENTIONS, polynomial
from forearm.energies import kinetic_energy
from forearm.formulations import FORMULATIONS
from forearm.frames import Pose
from forearm.inertia import Inertia
from forearm.kinematics import link_poses, link_velocities
from forearm.link import Link

STEM = "giacaglia_kottke_2007"
paper, module = FORMULATIONS[STEM], FORMULATIONS[STEM].module
WRENCH = np.array([3.0, -2.0, 5.0, 0.4, -0.3, 0.2])
WRONG = 1e9


@pytest.mark.parametrize("name", ["G6R", "STAN"])
def test_golden(name):
    arm = golden_arm(name)
    for state in golden_states(name):
        q, qd, qdd = state["q"], state["qd"], state["qdd"]
        assert_close(paper.joint_torques(arm, q, qd, qdd), state["tau"])
        assert_close(paper.joint_torques(arm, q, qd, qdd, tip_wrench=WRENCH), state["tau_with_wrench"])
        assert_close(paper.mass_matrix(arm, q), state["M"])
        assert_close(paper.gravity_torque(arm, q), state["tau_gravity_only"])
        back = paper.joint_accelerations(arm, q, qd, state["tau"])
        eps = 64 * np.linalg.cond(state["M"])
        scale = max(np.max(np.abs(qdd)), np.max(np.abs(qd)) ** 2)
        assert_close(back, qdd, eps=eps, scale=scale, because="64 eps times the condition of M")
    first = golden_states(name)[0]
    assert_close(paper.christoffel(arm, first["q"]), first["C_ijk"])


@pytest.fixture(params=range(5))
def case(request):
    arm = random_arm(2 + request.param, request.param, "RP", general=True, flips=True)
    return (arm, *arm.random_state(request.param))


def test_velocities_and_energy_1_26(case):
    arm, q, qd, _ = case
    turn = arm.base.R.T
    v, w = module.velocities(arm, q, qd)
    assert_close(v, [turn @ x for x, _ in link_velocities(arm, q, qd)])
    assert_close(w, [turn @ x for _, x in link_velocities(arm, q, qd)])
    assert_close([module.kinetic_energy(arm, q, qd)], [kinetic_energy(arm, q, qd)])


def test_accelerations_3_are_the_rates_of_1(case):
    arm, q, qd, qdd = case
    h = 1e-6
    before, after = (module.velocities(arm, q + s * (qd + s * qdd / 2), qd + s * qdd) for s in (-h, h))
    for got, a, b in zip(module.accelerations(arm, q, qd, qdd), after, before, strict=True):
        assert np.allclose(got, (a - b) / (2 * h), atol=1e-6)


def test_actions_4_5_are_those_of_16(case):
    """F_i, N_i of each link, and the aggregated FN = Σ q̈ PL + Σ q̇q̇ XY."""
    arm, q, qd, qdd = case
    F, N = module.link_actions(arm, q, qd, qdd)
    FN = np.array(module.aggregated_actions(arm, q, qd, qdd))
    scale = np.max(np.abs(FN))
    assert_close(FN[0::2], F, scale=scale)
    assert_close(FN[1::2], N, scale=scale)


def test_iteration_11_to_15(case):
    arm, q, qd, qdd = case
    want = FORMULATIONS["luh_walker_paul_1980"].reactions(arm, q, qd, qdd, tip_wrench=WRENCH)
    for got, ours in zip(paper.reactions(arm, q, qd, qdd, tip_wrench=WRENCH), want, strict=True):
        assert_close(got, ours)


def test_power_22_is_the_rate_of_kinetic_energy(case):
    arm, q, qd, qdd = case
    h = 1e-6
    before, after = (module.kinetic_energy(arm, q + s * (qd + s * qdd / 2), qd + s * qdd) for s in (-h, h))
    power = module.power(arm, q, qd, qdd)
    assert np.isclose(power, (after - before) / (2 * h), rtol=1e-7, atol=1e-6)
    Q = paper.joint_torques(arm, q, qd, qdd) - paper.gravity_torque(arm, q)
    assert_close([power], [Q @ qd], scale=np.max(np.abs(Q * qd)))


def test_brackets_27_28_30(case):
    """(27) contracts like the brackets; made symmetric it is half of (28)."""
    arm, q, qd, qdd = case
    B, bracket = module.velocity_coefficients(arm, q), paper.christoffel(arm, q)
    scale = np.max(np.abs(B))
    assert_close((B + B.transpose(0, 2, 1)) / 2, bracket, scale=scale)
    inertial = paper.mass_matrix(arm, q) @ qdd
    left = inertial + np.einsum("gba,a,b", bracket, qd, qd)
    want = paper.joint_torques(arm, q, qd, qdd) - paper.gravity_torque(arm, q)  # Q_γ of (29)
    assert_close(left, want, scale=np.max(np.abs([inertial, want])))


def test_accelerations_31_to_33_invert_the_torques(case):
    arm, q, qd, qdd = case
    tau = paper.joint_torques(arm, q, qd, qdd, tip_wrench=WRENCH)
    got = paper.joint_accelerations(arm, q, qd, tau, tip_wrench=WRENCH)
    condition = np.linalg.cond(paper.mass_matrix(arm, q))
    assert_close(got, qdd, eps=64 * condition, scale=10, because="64 eps times the condition of M")
    parentheses = np.einsum(
        "pg,gba->pba", np.linalg.inv(paper.mass_matrix(arm, q)), paper.christoffel(arm, q)
    )
    scale = np.max(np.abs(parentheses))
    assert_close(
        module.parentheses(arm, q), parentheses, eps=64 * condition, scale=scale, because="condition of M"
    )


# -- misprints ----------------------------------------------------------------------------------------------


def golden_case(name="G6R"):
    arm, state = golden_arm(name), golden_states(name)[0]
    return arm, state["q"], state["qd"], state["qdd"], state["tau"]


def test_g1_half_is_missing_in_28():
    arm, q, qd, qdd, tau = golden_case()
    printed = as_printed(STEM, ("twice / 2  # (28)", "twice  # (28)"))
    for source, right in ((module, True), (printed, False)):
        motion = source.mass_matrix(arm, q) @ qdd + np.einsum("gba,a,b", source.christoffel(arm, q), qd, qd)
        error = error_in_eps(motion + source.gravity_torque(arm, q), tau)
        assert error < 64 if right else error > WRONG


def test_g2_brackets_for_parentheses_in_33():
    arm, q, qd, qdd, tau = golden_case()
    printed = as_printed(STEM, ("zip(Q_up, parentheses(arm, q)", "zip(Q_up, christoffel(arm, q)"))
    assert np.allclose(module.joint_accelerations(arm, q, qd, tau), qdd, atol=1e-10)
    assert np.max(np.abs(printed.joint_accelerations(arm, q, qd, tau) - qdd)) > 0.1


def test_g3_lever_in_14():
    arm, q, qd, qdd, _ = golden_case()
    printed = as_printed(
        STEM, ("cross(J[k + 1] - J[k], sum_F[k + 1])", "cross(J[max(k - 1, 1)] - C[k], sum_F[k + 1])")
    )
    want = FORMULATIONS["luh_walker_paul_1980"].reactions(arm, q, qd, qdd)[1]
    assert_close(module.reactions(arm, q, qd, qdd)[1], want)
    assert error_in_eps(printed.reactions(arm, q, qd, qdd)[1], want) > WRONG


def test_g4_derivative_of_i_counts_its_turning_twice():
    arm, q, qd, qdd, tau = golden_case()
    ours = "Y = I[i] @ dw[be, ga] + cross(w[be, i], I[i] @ w[ga, i]) if moves else zero"
    turning = "cross(w[ga, i], I[i] @ w[be, i]) - I[i] @ cross(w[ga, i], w[be, i])"
    printed = as_printed(
        STEM,
        (ours, f"Y = I[i] @ dw[be, ga] + {turning} + cross(w[be, i], I[i] @ w[ga, i]) if moves else zero"),
    )
    assert_close(module.joint_torques(arm, q, qd, qdd), tau)
    assert error_in_eps(printed.joint_torques(arm, q, qd, qdd), tau) > WRONG


def test_g5_27_is_not_symmetric():
    """∂ω_α/∂q^β - ∂ω_β/∂q^α = ω_β × ω_α, so (27) alone is no Christoffel bracket."""
    arm, q, *_ = golden_case()
    B = module.velocity_coefficients(arm, q)
    assert np.max(np.abs(B - B.transpose(0, 2, 1))) > 1e-3
    _, dw = module.unit_velocity_derivatives(arm, q)
    _, w = module.unit_velocities(arm, q)
    for al in range(1, 7):
        for be in range(1, 7):
            want = np.cross(w[be, 6], w[al, 6])
            assert_close(dw[al, be] - dw[be, al], want, scale=1)


def test_g8_length_of_v():
    """|v_αi| is the distance of C_i from axis α, not l_i = |C_i - J_i|."""
    arm, q, *_ = golden_case()
    v, _ = module.unit_velocities(arm, q)
    poses = link_poses(arm, q)
    c, J_6 = poses[6][1] + poses[6][0] @ arm.links[5].about_com.center, poses[5][1]
    assert abs(np.linalg.norm(v[1, 6]) - np.linalg.norm(c - J_6)) > 0.1
    e_1 = poses[0][0] @ arm.links[0].z
    assert_close([np.linalg.norm(v[1, 6])], [np.linalg.norm(np.cross(e_1, c - poses[0][1]))])


def test_g9_weight_belongs_to_the_balance_of_each_link():
    """With F_i = m dv/dt alone, f_i lacks the weight that the joint carries."""
    arm, q, qd, qdd, tau = golden_case()
    printed = as_printed(STEM, ("FN[2 * k - 2] - m * arm.gravity_in_base, FN", "FN[2 * k - 2], FN"))
    along = [link.axis for link in arm.links]
    assert_close(np.sum(module.reactions(arm, q, qd, qdd)[1] * along, axis=1), tau)
    assert error_in_eps(np.sum(printed.reactions(arm, q, qd, qdd)[1] * along, axis=1), tau) > WRONG


# -- section 6: two rods ------------------------------------------------------------------------------------

EXTRA = GOLDEN["extra"]["double_pendulum_003"]
m1, m2, l1, l2, I1, I2, g, N1, N2 = (
    float(EXTRA["params"][k]) for k in ("m1", "m2", "L1", "L2", "I1", "I2", "g", "N1", "N2")
)
SUM = np.array([[1.0, 0.0], [-1.0, 1.0]])
"""Joint angles from the paper's absolute angles: q_joint = SUM q."""
Q_ABS, QD_ABS, QDD_ABS = (np.array([float(x) for x in EXTRA[k]]) for k in ("q_abs", "qd_abs", "qdd_abs"))


def rods():
    """Two uniform rods of lengths 2 l1, 2 l2 in a vertical plane; gravity along -e_2."""
    links = [
        Link.dh(
            "revolute", a=2 * l1, mass=m1, com=(-l1, 0, 0), inertia=Inertia.about_com(Ixx=0, Iyy=I1, Izz=I1)
        ),
        Link.dh(
            "revolute", a=2 * l2, mass=m2, com=(-l2, 0, 0), inertia=Inertia.about_com(Ixx=0, Iyy=I2, Izz=I2)
        ),
    ]
    return Arm("rods", links, gravity=(0, -g, 0))


def absolute_terms(q=Q_ABS):
    """a, brackets and gravity in the paper's absolute angles: a linear change of coordinates."""
    arm, joint = rods(), SUM @ q
    a = SUM.T @ paper.mass_matrix(arm, joint) @ SUM
    bracket = np.einsum("gba,gi,bj,ak->ijk", paper.christoffel(arm, joint), SUM, SUM, SUM)
    return a, bracket, SUM.T @ paper.gravity_torque(arm, joint)


def test_coefficients_54_to_57():
    c12 = np.cos(Q_ABS[0] - Q_ABS[1])
    want = [[(m1 + 4 * m2) * l1**2 + I1, 2 * l1 * l2 * m2 * c12], [2 * l1 * l2 * m2 * c12, m2 * l2**2 + I2]]
    assert_close(absolute_terms()[0], want)


def test_generalised_forces_52_53():
    c1, c2 = np.cos(Q_ABS)
    Q = np.array([N1, N2]) - absolute_terms()[2]
    assert_close(Q, [-(m1 + 2 * m2) * g * l1 * c1 + N1, -m2 * g * l2 * c2 + N2])


def test_brackets_g7_two_of_them():
    """a^1_22 as printed, and a^2_11 = -a^1_22, which the paper calls zero."""
    s12 = np.sin(Q_ABS[0] - Q_ABS[1])
    bracket, h = absolute_terms()[1], 2 * m2 * l1 * l2 * s12
    want = np.zeros((2, 2, 2))
    want[0, 1, 1], want[1, 0, 0] = h, -h
    assert_close(bracket, want)


def accelerations(gravity_sign, with_a_2_11):
    """q̈ of (58), (59), read with a sign for gravity in (58) and with or without the bracket a^2_11."""
    (c1, c2), delta = np.cos(Q_ABS), Q_ABS[0] - Q_ABS[1]
    a = [
        [(m1 + 4 * m2) * l1**2 + I1, 2 * m2 * l1 * l2 * np.cos(delta)],
        [2 * l1 * l2 * m2 * np.cos(delta), m2 * l2**2 + I2],
    ]
    h = 2 * m2 * l1 * l2 * np.sin(delta)
    right = [
        gravity_sign * (m1 + 2 * m2) * g * l1 * c1 + N1 - h * QD_ABS[1] ** 2,
        -m2 * g * l2 * c2 + N2 + (h * QD_ABS[0] ** 2 if with_a_2_11 else 0.0),
    ]
    return np.linalg.solve(a, right)


def test_example_58_59_g6_g7():
    assert_close(accelerations(-1, True), QDD_ABS)
    assert np.max(np.abs(accelerations(+1, True) - QDD_ABS)) > 1  # G6: the sign printed in (58)
    assert np.max(np.abs(accelerations(-1, False) - QDD_ABS)) > 1  # G7: (59) as printed


def test_example_through_the_formulation_g11():
    """Torques on each rod as joint motors: N_1 = τ_1 - τ_2, N_2 = τ_2, that is τ = (N_1 + N_2, N_2)."""
    tau = np.array([N1 + N2, N2])
    qdd = paper.joint_accelerations(rods(), SUM @ Q_ABS, SUM @ QD_ABS, tau)
    assert_close(np.linalg.solve(SUM, qdd), QDD_ABS)


def test_count_on_the_page():
    want = "15 1/2 n^3 + 46 1/2 n^2 + 27n | 11n^3 + 34 1/2 n^2 + 15 1/2 n"
    assert str(polynomial(STEM, convention=CONVENTIONS["Turney, Mudge, Lee"])) == want


def test_stacks_7_8_and_balance_6(case):
    """vω = Σ q̇ vω_α, and each link's total actions are what its two neighbours and its weight do to it."""
    arm, q, qd, qdd = case
    v_al, w_al = module.unit_velocities(arm, q)
    stack = sum(s * np.array(module.aggregated_velocity(arm, v_al, w_al, al)) for al, s in enumerate(qd, 1))
    v, w = module.velocities(arm, q, qd)
    assert_close(stack[0::2], v, scale=np.max(np.abs(v)))
    assert_close(stack[1::2], w, scale=np.max(np.abs(w)) or 1)

    F, N = module.link_actions(arm, q, qd, qdd)
    fixed = arm.with_base(Pose())
    poses = link_poses(fixed, q)
    turns = [R for R, _ in poses[1:]]
    f, n = ([R @ x for R, x in zip(turns, part, strict=True)] for part in paper.reactions(arm, q, qd, qdd))
    f, n = [*f, np.zeros(3)], [*n, np.zeros(3)]
    scale = np.max(np.abs([*f, *n]))
    for i, link in enumerate(arm.links):
        J_i, J_next = poses[i][1], poses[i + 1][1]
        C = J_next + turns[i] @ link.about_com.center
        assert_close(F[i], f[i] - f[i + 1] + link.mass * arm.gravity_in_base, scale=scale)
        torque = n[i] + np.cross(J_i - C, f[i]) - n[i + 1] - np.cross(J_next - C, f[i + 1])
        assert_close(N[i], torque, scale=scale)
