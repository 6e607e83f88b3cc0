"""Euler-Lagrange notes: mass matrix from link Jacobians, Christoffel symbols, potential.

Paper
    Example of dynamics computation (Euler-Lagrange and Newton-Euler formulations): Revolute-Revolute (RR)
    manipulator, lecture notes, author and date not printed.  Equation numbers below are the notes' own; they
    print them for the RR arm, the lines below are the same equations for any number of revolute and
    prismatic joints.

Gives       joint torques, mass matrix D, Christoffel symbols, Coriolis matrix C, gravity torque g.
            Cost  O(n⁴).
Accepts     serial arms, revolute and prismatic joints.
Frames      frame i at the far end of link i, joint i along z of frame i-1; all vectors and Jacobians are in
            frame 0. Drawing in docs/papers/euler_lagrange_notes.md.

Symbols     (paper -> here; vectors are in frame 0)
    z_{j-1}    z[j]      (3,)    axis of joint j
               o[j], c[i] (3,)   origin of frame j; centre of mass of link i              [m]
    R_i^0      R         (3, 3)  rotation, frame i to frame 0
    m_i        m[i]              mass of link i                                           [kg]
    J_{ω_i}    J_w[i]    n of (3,)  columns of the angular velocity Jacobian of link i
    J_{v_i}    J_v[i]    n of (3,)  columns of the linear velocity Jacobian of its centre of mass  [m]
    R I Rᵀ     I_0[i]    (3, 3)  inertia about the centre of mass, base axes              [kg m²]
    d_kj       D[k, j]           elements of the mass matrix                          [kg m², …]
    ∂d_kj/∂q_l dD[k, j, l]       their derivatives; dJ_v, dJ_w, dz, do, dI those of what they are made of
    c_ijk      c[k, i, j]        Christoffel symbol of the notes; our output index k comes first
    P          potential         potential energy                                         [J]

Order       the notes write c_ijk with the output index last, here it is the first: christoffel(arm, q)[k, i,
            j]. Gravity is the vector of the arm; the notes have it along -y_0.
Departs     1. The derivatives of D in (8) come from those of the Jacobians, ∂z, ∂c and ∂(R I Rᵀ), term by
               term, so that (8) holds for any scalar; the notes differentiate the closed forms (5) to (7) by
               hand.
            2. A wrench on the hand is added by virtual work, as (23) of the companion notes has it.
Misprints   None found; all of (1) to (33) hold. "Joint force" for the second joint is a torque.
See also    newton_euler_notes, giacaglia_kottke_2007
"""

import numpy as np

from forearm.algebra import cross, one_based, skew
from forearm.arm import outward


def joint_torques(arm, q, qd, qdd, *, tip_wrench=None):
    """Joint torques (n,): D(q) q̈ + C(q, q̇) q̇ + g(q), less what a wrench on the hand does."""
    qd, qdd = np.asarray(qd), np.asarray(qdd)
    tau = mass_matrix(arm, q) @ qdd + coriolis_matrix(arm, q, qd) @ qd + gravity_torque(arm, q)  # (17)
    if tip_wrench is None:
        return tau
    J = _hand_jacobian(arm, q)
    return tau - J.T @ np.asarray(tip_wrench)


def mass_matrix(arm, q):
    """D (n, n): Σ m J_vᵀ J_v + J_ωᵀ R I Rᵀ J_ω."""
    z, o, c, I_0 = _geometry(arm, q)
    n, m = len(arm.links), {i: link.about_com.mass for i, link in enumerate(arm.links, 1)}
    J_v, J_w = jacobians(arm, z, o, c)
    D = {}
    for k, j in _pairs(n):
        links = range(j, n + 1)
        d_kj = [m[i] * (J_v[i][k] @ J_v[i][j]) + J_w[i][k] @ I_0[i] @ J_w[i][j] for i in links]  # (3)
        D[k, j] = D[j, k] = np.sum(np.array(d_kj))  # (3)
    return np.array([[D[k, j] for j in range(1, n + 1)] for k in range(1, n + 1)])


def christoffel(arm, q):
    """c[k, i, j] = c_ijk of the notes = ½ (∂d_kj/∂q_i + ∂d_ki/∂q_j - ∂d_ij/∂q_k), output index first."""
    n, dD = len(arm.links), mass_matrix_derivatives(arm, q)
    c = {}
    for k in range(1, n + 1):
        for i, j in _pairs(n):
            c[k, i, j] = c[k, j, i] = (dD[k, j, i] + dD[k, i, j] - dD[i, j, k]) / 2  # (8)
    joints = range(1, n + 1)
    return np.array([[[c[k, i, j] for j in joints] for i in joints] for k in joints])


def coriolis_matrix(arm, q, qd):
    """C (n, n): c_kj = Σ_i c_ijk q̇_i."""
    c = christoffel(arm, q)
    return np.array([[c_k[:, j] @ np.asarray(qd) for j in range(len(c))] for c_k in c])  # (10)


def gravity_torque(arm, q):
    """Gravity torque (n,): ∂P/∂q_k with P = -Σ m g·c, so that only the linear Jacobians are needed."""
    z, o, c, _ = _geometry(arm, q)
    n, J_v = len(arm.links), jacobians(arm, z, o, c)[0]
    m_g = {i: link.about_com.mass * arm.gravity_in_base for i, link in enumerate(arm.links, 1)}
    weights = [np.array([-(m_g[i] @ J_v[i][k]) for i in range(k, n + 1)]) for k in range(1, n + 1)]  # (16)
    return np.array([np.sum(terms) for terms in weights])  # (16)


def potential(arm, q):
    """P: -Σ m g·c, zero with every centre of mass at the origin of frame 0 [J]."""
    _, _, c, _ = _geometry(arm, q)
    terms = [
        -(link.about_com.mass * (arm.gravity_in_base @ c[i])) for i, link in enumerate(arm.links, 1)
    ]  # (15)
    return np.sum(np.array(terms))  # (15)


def jacobians(arm, z, o, c):
    """J_v[i][j], J_w[i][j] (3,), j <= i: what joint j does to centre of mass and rotation of link i."""
    J_v, J_w = {}, {}
    for i in outward(arm):
        J_v[i], J_w[i] = {}, {}
        for j in range(1, i + 1):
            if arm.links[j - 1].revolute:
                J_w[i][j] = z[j]  # (1)
                J_v[i][j] = cross(z[j], c[i] - o[j - 1])  # (2)
            else:
                J_w[i][j] = np.zeros(3)  # (1)
                J_v[i][j] = z[j]  # (2)
    return J_v, J_w


def mass_matrix_derivatives(arm, q):
    """dD[k, j, l] = ∂d_kj/∂q_l for joints k, j, l from 1 to n, by the product rule on (3)."""
    z, o, c, I_0 = _geometry(arm, q)
    n, m = len(arm.links), {i: link.about_com.mass for i, link in enumerate(arm.links, 1)}
    J_v, J_w = jacobians(arm, z, o, c)
    dJ_v, dJ_w = _jacobian_derivatives(arm, z, o, c, J_v)
    dD = {}
    for k, j in _pairs(n):
        for l in range(1, n + 1):
            terms = []
            for i in range(max(k, j, l), n + 1):
                shift = dJ_v[i, k, l] @ J_v[i][j] + J_v[i][k] @ dJ_v[i, j, l]  # (8)
                turn = dJ_w[k, l] @ I_0[i] @ J_w[i][j] + J_w[i][k] @ I_0[i] @ dJ_w[j, l]  # (8)
                dI = skew(J_w[i][l]) @ I_0[i] - I_0[i] @ skew(J_w[i][l])  # (8)
                terms.append(m[i] * shift + turn + J_w[i][k] @ dI @ J_w[i][j])  # (8)
            dD[k, j, l] = dD[j, k, l] = np.sum(np.array(terms))  # (8)
    return dD


def _jacobian_derivatives(arm, z, o, c, J_v):
    """dJ_v[i, j, l] = ∂J_v[i][j]/∂q_l and dJ_w[j, l] = ∂z_j/∂q_l (zero for a prismatic joint j)."""
    n, zero = len(arm.links), np.zeros(3)
    revolute = {j: link.revolute for j, link in enumerate(arm.links, 1)}
    dz = {(j, l): cross(z[l], z[j]) if revolute[l] and l < j else zero for j in z for l in z}  # (8)
    dJ_w = {(j, l): dz[j, l] if revolute[j] else zero for j in z for l in z}
    dJ_v = {}
    for i in range(1, n + 1):
        for j in range(1, i + 1):
            for l in range(1, i + 1):
                if not revolute[j]:
                    dJ_v[i, j, l] = dz[j, l]  # (8)
                else:
                    do = zero if l >= j else cross(z[l], o[j - 1] - o[l - 1]) if revolute[l] else z[l]  # (8)
                    dJ_v[i, j, l] = cross(dz[j, l], c[i] - o[j - 1]) + cross(z[j], J_v[i][l] - do)  # (8)
    return dJ_v, dJ_w


def _geometry(arm, q):
    """Axes z[j], origins o[j], centres of mass c[i], inertias I_0[i] in frame 0."""
    R, q = np.eye(3), one_based(q)
    z, o, c, I_0 = {}, {0: np.zeros(3)}, {}, {}
    for i in outward(arm):
        link = arm.links[i - 1]
        z[i] = R @ link.z
        o[i] = o[i - 1] + R @ link.p_before(q[i])
        R = R @ link.rotation(q[i])
        c[i] = o[i] + R @ link.about_com.center
        I_0[i] = R @ link.about_com.inertia @ R.T  # (3)
    return z, o, c, I_0


def _hand_jacobian(arm, q):
    """J (6, n) of origin n, [linear; angular], base axes."""
    z, o, _, _ = _geometry(arm, q)
    n, zero, columns = len(arm.links), np.zeros(3), []
    for j in outward(arm):
        if arm.links[j - 1].revolute:
            columns.append(np.concatenate([cross(z[j], o[n] - o[j - 1]), z[j]]))
        else:
            columns.append(np.concatenate([z[j], zero]))
    return np.array(columns).T


def _pairs(n):
    """All k <= j from 1 to n."""
    return [(k, j) for k in range(1, n + 1) for j in range(k, n + 1)]
