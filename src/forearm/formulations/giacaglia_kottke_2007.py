"""Giacaglia and Kottke (2007): Lagrange's equations from aggregated Newton-Euler vectors.

Paper
    G. E. O. Giacaglia, H. C. Kottke, The Newton-Euler multibody equations revisited, Proceedings of COBEM
    2007, 19th International Congress of Mechanical Engineering, Brasília.  Equation numbers below are the
    paper's own; its scalar product ∘ of aggregated vectors is tagged (dot).

Gives       joint torques, mass matrix, Christoffel symbols, gravity torque, reactions, joint accelerations;
            and the paper's own quantities: velocities, aggregated vectors, power, kinetic energy.
            Cost  O(n³) for the torques, O(n⁴) for the brackets.
Accepts     serial arms, revolute and prismatic joints (the paper's text allows both, its formulas are
            general).
Frames      everything is in base axes; joint i turns about or slides along e_i through J_i, which is our
            origin i-1. Drawing in docs/papers/giacaglia_kottke_2007.md.

Symbols     (paper -> here; all vectors in base axes)
    e_i, J_i, C_i  e[i], J[i], C[i] (3,)   axis of joint i, point on it, centre of mass of link i      [m]
    m_i        m                     mass of link i                                                    [kg]
    I_i        I[i]          (3, 3)  inertia of link i about its centre of mass                        [kg m²]
    v_αi, ω_αi v[al, i], w[al, i] (3,)   velocity of C_i and of link i for unit speed of joint α
    ∂v_βi/∂q^γ dv[be, ga, i] (3,)    its change with joint γ; dw[be, ga] likewise
    F_i, N_i   F[i], N[i]    (3,)    force and torque on link i, about C_i                          [N], [N m]
    f_i, n_i   sum_F[i], n[i] (3,)   action of link i-1 on link i, about J_i                        [N], [N m]
    vω_α, FN, PL_α, XY_βγ    lists of 2n 3-vectors (F_1, N_1, …, F_n, N_n) of one aggregated vector
    a_γα, b_γα mass_matrix, b        coefficients of the kinetic energy T, and their inverse   [kg m², …]
    ∂a_γα/∂q^β da[ga, al, be]        their derivatives
    [γ; βα], (p; βα)  christoffel, parentheses   Christoffel brackets and parentheses
    Q_γ, Q^s   Q, Q_up               generalised forces, and the same raised by b               [N m or N]

Order       christoffel(arm, q)[γ, β, α] is the bracket with γ on top, symmetric in β and α.
Departs     1. Weight and the wrench on the hand are actions like any other: Q_γ = τ_γ + Σ m g·v_γ +
               (wrench), and F_i of the iteration (11) to (14) is m (dv/dt - g), so that f_i is what the
               joint carries (G9).
            2. Derivatives with respect to q^γ are written out: e, J, C move as points of the links that
               carry them.
Misprints   (4) and (27) print ∂(I ω)/∂q; read I ∂ω/∂q as in (20), I held fixed, or I's turning is counted
            twice (G4). (14) prints C_kJ_{k-1} × (F_{k+1} + …); read J_kJ_{k+1} (G3). (27) equals the bracket
            only after it is made symmetric in α, β (G5). (28) lacks the factor ½ (G1). (33) prints the
            bracket; read the parenthesis of (31) (G2). |v_αi| = l_i holds for α = i only (G8).
See also    euler_lagrange_notes, newton_euler_notes
"""

import numpy as np

from forearm.algebra import cross, one_based
from forearm.arm import inward, outward


def joint_torques(arm, q, qd, qdd, *, tip_wrench=None):
    """Joint torques (n,): generalised forces (29) of the aggregated actions (16), less weight and wrench."""
    v, w = unit_velocities(arm, q)
    FN = aggregated_actions(arm, q, qd, qdd)
    Q = [_dot(FN, aggregated_velocity(arm, v, w, ga)) for ga in _joints(arm)]  # (29)
    return np.array(Q) + gravity_torque(arm, q) - _wrench_forces(arm, q, tip_wrench)


def mass_matrix(arm, q):
    """a_γα (n, n) = PL_α ∘ vω_γ."""
    v, w = unit_velocities(arm, q)
    PL = {al: aggregated_momentum(arm, q, v, w, al) for al in _joints(arm)}
    v_w = {ga: aggregated_velocity(arm, v, w, ga) for ga in _joints(arm)}
    return np.array([[_dot(PL[al], v_w[ga]) for al in _joints(arm)] for ga in _joints(arm)])  # (25)


def velocity_coefficients(arm, q):
    """XY_αβ ∘ vω_γ as B[γ, α, β]: the coefficients of q̇^α q̇^β, not symmetric in α and β."""
    v, w = unit_velocities(arm, q)
    v_w = {ga: aggregated_velocity(arm, v, w, ga) for ga in _joints(arm)}
    XY = aggregated_rates(arm, q)
    joints = _joints(arm)
    return np.array(
        [[[_dot(XY[al, be], v_w[ga]) for be in joints] for al in joints] for ga in joints]
    )  # (27)


def christoffel(arm, q):
    """Christoffel brackets [γ; βα] as an array [γ, β, α]: half of (28), the symmetric part of (27)."""
    n, da = len(arm.links), mass_matrix_derivatives(arm, q)
    bracket = {}
    for ga in range(n):
        for be in range(n):
            for al in range(be, n):
                twice = da[ga, al, be] + da[ga, be, al] - da[al, be, ga]  # (28)
                bracket[ga, be, al] = bracket[ga, al, be] = twice / 2  # (28)
    return np.array([[[bracket[ga, be, al] for al in range(n)] for be in range(n)] for ga in range(n)])


def gravity_torque(arm, q):
    """Gravity torque (n,): -Σ m_i g·v_γi, the joint torques that carry the weight."""
    v, _ = unit_velocities(arm, q)
    m_g = {i: link.about_com.mass * arm.gravity_in_base for i, link in enumerate(arm.links, 1)}
    joints = _joints(arm)
    weight = [np.array([m_g[i] @ v[ga, i] for i in range(ga, len(arm.links) + 1)]) for ga in joints]  # (29)
    return np.array([-np.sum(terms) for terms in weight])  # (29)


def joint_accelerations(arm, q, qd, tau, *, tip_wrench=None):
    """Joint accelerations (n,): q̈^s = Q^s - Σ (s; βα) q̇^α q̇^β."""
    qd = np.asarray(qd)
    b = _inverse(mass_matrix(arm, q))
    Q = np.asarray(tau) - gravity_torque(arm, q) + _wrench_forces(arm, q, tip_wrench)  # (29)
    Q_up = b @ Q  # (32)
    return np.array([Q_s - qd @ (p @ qd) for Q_s, p in zip(Q_up, parentheses(arm, q), strict=True)])  # (33)


def parentheses(arm, q):
    """The Christoffel parentheses (p; βα) as an array [p, β, α]: the brackets raised by the inverse of a."""
    n, b, brackets = len(arm.links), _inverse(mass_matrix(arm, q)), christoffel(arm, q)
    rows = [[[b[p] @ brackets[:, be, al] for al in range(n)] for be in range(n)] for p in range(n)]  # (31)
    return np.array(rows)


def reactions(arm, q, qd, qdd, *, tip_wrench=None):
    """Forces and moments (n, 3) that link i-1 exerts on link i, in the axes of link i, at J_i."""
    n_links = len(arm.links)
    _, J, C, R = _geometry(arm, q)
    FN = aggregated_actions(arm, q, qd, qdd)
    hand = np.zeros(6) if tip_wrench is None else np.asarray(tip_wrench)
    sum_F, n = {n_links + 1: -hand[:3]}, {n_links + 1: -hand[3:]}
    for k in inward(arm):
        m = arm.links[k - 1].about_com.mass
        F, N = FN[2 * k - 2] - m * arm.gravity_in_base, FN[2 * k - 1]  # (F_k)
        sum_F[k] = sum_F[k + 1] + F  # (11)
        n[k] = n[k + 1] + N - cross(J[k] - C[k], F) + cross(J[k + 1] - J[k], sum_F[k + 1])  # (14)
    order = range(1, n_links + 1)
    return np.array([R[i].T @ sum_F[i] for i in order]), np.array([R[i].T @ n[i] for i in order])


def velocities(arm, q, qd):
    """Velocities of the centres of mass and angular velocities (n, 3), base axes."""
    (v, w), qd = unit_velocities(arm, q), one_based(qd)
    linear, angular = [], []
    for i in outward(arm):
        linear.append(np.sum(np.array([v[al, i] * qd[al] for al in range(1, i + 1)]), axis=0))  # (1)
        angular.append(np.sum(np.array([w[al, i] * qd[al] for al in range(1, i + 1)]), axis=0))  # (1)
    return np.array(linear), np.array(angular)


def accelerations(arm, q, qd, qdd):
    """Accelerations of the centres of mass and angular accelerations (n, 3), base axes."""
    (v, w), (dv, dw) = unit_velocities(arm, q), unit_velocity_derivatives(arm, q)
    qd, qdd, out = one_based(qd), one_based(qdd), ([], [])
    for i in outward(arm):
        up_to_i = range(1, i + 1)
        linear = [v[al, i] * qdd[al] for al in up_to_i]  # (3)
        linear += [dv[be, ga, i] * (qd[be] * qd[ga]) for be in up_to_i for ga in up_to_i]  # (3)
        angular = [w[al, i] * qdd[al] for al in up_to_i]  # (3)
        angular += [dw[be, ga] * (qd[be] * qd[ga]) for be in up_to_i for ga in up_to_i]  # (3)
        out[0].append(np.sum(np.array(linear), axis=0))  # (3)
        out[1].append(np.sum(np.array(angular), axis=0))  # (3)
    return np.array(out[0]), np.array(out[1])


def link_actions(arm, q, qd, qdd):
    """F_i, N_i (n, 3): total force and torque about C_i on each link, weight included, base axes."""
    I, (_, w), (vd, wd) = _inertias(arm, q), velocities(arm, q, qd), accelerations(arm, q, qd, qdd)
    N = [I[i] @ wd[i - 1] + cross(w[i - 1], I[i] @ w[i - 1]) for i in _joints(arm)]  # (4)
    F = [link.about_com.mass * vd_i for link, vd_i in zip(arm.links, vd, strict=True)]  # (5)
    return np.array(F), np.array(N)


def power(arm, q, qd, qdd):
    """FN ∘ vω: the power of all forces and torques that act on the links [W]."""
    F, N = link_actions(arm, q, qd, qdd)
    v, w = velocities(arm, q, qd)
    return np.sum(F * v) + np.sum(N * w)  # (22)


def kinetic_energy(arm, q, qd):
    """½ Σ a_αβ q̇^α q̇^β [J]."""
    qd = np.asarray(qd)
    return qd @ (mass_matrix(arm, q) @ qd) / 2  # (26)


# -- aggregated vectors: lists of 2n three-vectors ---------------------------------------------------------


def aggregated_velocity(arm, v, w, al):
    """vω_α = (v_α1, ω_α1, …, v_αn, ω_αn); links before joint α do not move."""
    zero = np.zeros(3)
    pairs = [(v[al, i], w[al, i]) if al <= i else (zero, zero) for i in _joints(arm)]  # (9)
    return [x for pair in pairs for x in pair]


def aggregated_momentum(arm, q, v, w, al):
    """PL_α: linear and angular momenta of the links for unit speed of joint α."""
    I, zero, PL = _inertias(arm, q), np.zeros(3), []
    for i, link in enumerate(arm.links, 1):
        P = link.about_com.mass * v[al, i] if al <= i else zero  # (19)
        L = I[i] @ w[al, i] if al <= i else zero  # (19)
        PL += [P, L]  # (17)
    return PL


def aggregated_rates(arm, q):
    """XY[β, γ]: what the product q̇^β q̇^γ demands of each link, force and torque."""
    I, zero = _inertias(arm, q), np.zeros(3)
    (_, w), (dv, dw) = unit_velocities(arm, q), unit_velocity_derivatives(arm, q)
    XY = {}
    for be in _joints(arm):
        for ga in _joints(arm):
            XY[be, ga] = []
            for i, link in enumerate(arm.links, 1):
                moves = max(be, ga) <= i
                X = link.about_com.mass * dv[be, ga, i] if moves else zero  # (20)
                Y = I[i] @ dw[be, ga] + cross(w[be, i], I[i] @ w[ga, i]) if moves else zero  # (20)
                XY[be, ga] += [X, Y]  # (18)
    return XY


def aggregated_actions(arm, q, qd, qdd):
    """FN(q, q̇, q̈) = Σ q̈^α PL_α + Σ q̇^β q̇^γ XY_βγ."""
    (v, w), XY, joints = unit_velocities(arm, q), aggregated_rates(arm, q), _joints(arm)
    qd, qdd = one_based(qd), one_based(qdd)
    PL = {al: aggregated_momentum(arm, q, v, w, al) for al in joints}
    FN = []
    for slot in range(2 * len(arm.links)):
        terms = [PL[al][slot] * qdd[al] for al in joints]  # (16)
        terms += [XY[be, ga][slot] * (qd[be] * qd[ga]) for be in joints for ga in joints]  # (16)
        FN.append(np.sum(np.array(terms), axis=0))  # (16)
    return FN


def _dot(left, right):
    """∘: the scalar product of two aggregated vectors, as (22), (25), (27) and (29) need it."""
    return np.sum(np.array([x @ y for x, y in zip(left, right, strict=True)]))  # (dot)


# -- geometry: axes, points, and how they move -------------------------------------------------------------


def unit_velocities(arm, q):
    """v[α, i], w[α, i] (3,) for α <= i: velocities of link i when joint α alone moves with unit speed."""
    e, J, C, _ = _geometry(arm, q)
    v, w = {}, {}
    for i in outward(arm):
        for al in range(1, i + 1):
            if arm.links[al - 1].revolute:
                v[al, i], w[al, i] = cross(e[al], C[i] - J[al]), e[al]  # (1)
            else:
                v[al, i], w[al, i] = e[al], np.zeros(3)  # (1)
    return v, w


def unit_velocity_derivatives(arm, q):
    """dv[β, γ, i] = ∂v_βi/∂q^γ for β, γ <= i, and dw[β, γ] = ∂ω_β/∂q^γ."""
    e, J, C, _ = _geometry(arm, q)
    v, _ = unit_velocities(arm, q)
    zero, joints = np.zeros(3), _joints(arm)
    turns = {al: arm.links[al - 1].revolute for al in joints}
    de = {
        (be, ga): cross(e[ga], e[be]) if turns[ga] and ga < be else zero for be in joints for ga in joints
    }  # (3)
    dw = {(be, ga): de[be, ga] if turns[be] else zero for be in joints for ga in joints}  # (3)
    dv = {}
    for i in joints:
        for be in range(1, i + 1):
            for ga in range(1, i + 1):
                if not turns[be]:
                    dv[be, ga, i] = de[be, ga]  # (3)
                else:
                    dJ = zero if ga >= be else cross(e[ga], J[be] - J[ga]) if turns[ga] else e[ga]  # (3)
                    dv[be, ga, i] = cross(de[be, ga], C[i] - J[be]) + cross(e[be], v[ga, i] - dJ)  # (3)
    return dv, dw


def mass_matrix_derivatives(arm, q):
    """∂a_γα/∂q^β as an array [γ, α, β], by the product rule on (25); I_i turns with the joints below it."""
    I, n, joints = _inertias(arm, q), len(arm.links), _joints(arm)
    (v, w), (dv, dw) = unit_velocities(arm, q), unit_velocity_derivatives(arm, q)
    da = {}
    for ga in joints:
        for al in range(ga, n + 1):
            for be in joints:
                terms = []
                for i in range(max(al, be), n + 1):
                    m = arm.links[i - 1].about_com.mass
                    Iw_ga, Iw_al = I[i] @ w[ga, i], I[i] @ w[al, i]  # (28)
                    shift = dv[al, be, i] @ v[ga, i] + v[al, i] @ dv[ga, be, i]  # (28)
                    turn = dw[al, be] @ Iw_ga + dw[ga, be] @ Iw_al  # (28)
                    swing = cross(w[be, i], Iw_al) @ w[ga, i] - cross(w[be, i], w[al, i]) @ Iw_ga  # (28)
                    terms.append(m * shift + turn + swing)  # (28)
                da[ga, al, be] = da[al, ga, be] = np.sum(np.array(terms))  # (28)
    return np.array([[[da[ga, al, be] for be in joints] for al in joints] for ga in joints])


def _geometry(arm, q):
    """Axes e[i], joints J[i] (J[n+1] is the hand), centres of mass C[i] in base axes, rotations R[i]."""
    R, turn, q = {}, np.eye(3), one_based(q)
    e, J, C = {}, {1: np.zeros(3)}, {}
    for i in outward(arm):
        link = arm.links[i - 1]
        e[i] = turn @ link.z
        J[i + 1] = J[i] + turn @ link.p_before(q[i])
        R[i] = turn = turn @ link.rotation(q[i])
        C[i] = J[i + 1] + turn @ link.about_com.center
    return e, J, C, R


def _inertias(arm, q):
    """I[i] (3, 3) in base axes: R I Rᵀ, which changes with q."""
    R = _geometry(arm, q)[3]
    return {i: R[i] @ link.about_com.inertia @ R[i].T for i, link in enumerate(arm.links, 1)}


def _wrench_forces(arm, q, tip_wrench):
    """Generalised forces (n,) of a wrench on the hand."""
    if tip_wrench is None:
        return np.zeros(len(arm.links))
    e, J, _, _ = _geometry(arm, q)
    hand, out = J[len(arm.links) + 1], []
    force, moment = np.asarray(tip_wrench)[:3], np.asarray(tip_wrench)[3:]
    for i, link in enumerate(arm.links, 1):
        if link.revolute:
            out.append(cross(e[i], hand - J[i]) @ force + e[i] @ moment)  # (29)
        else:
            out.append(e[i] @ force)  # (29)
    return np.array(out)


def _inverse(a):
    """Inverse of a symmetric positive definite matrix by elimination without pivoting, on any scalar."""
    n = len(a)
    rows = [np.concatenate([a[i], np.eye(n)[i]]) for i in range(n)]
    for k in range(n):
        pivot = rows[k] / rows[k][k]
        rows = [pivot if i == k else row - row[k] * pivot for i, row in enumerate(rows)]
    return np.array([row[n:] for row in rows])


def _joints(arm):
    """1, …, n."""
    return range(1, len(arm.links) + 1)
