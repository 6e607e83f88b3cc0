"""Uicker (1965) and Kahn (1969): Lagrange's equations with 4x4 matrices, term by term.

Paper
    J. J. Uicker, On the dynamic analysis of spatial linkages using 4x4 matrices, Northwestern University,
    1965, and M. E. Kahn, The near-minimum-time control of open-loop articulated kinematic chains, Stanford
    AIM-106, 1969, as J. M. Hollerbach presents them in A recursive Lagrangian formulation of manipulator
    dynamics, IEEE Trans. SMC-10 (1980) 730-736, doi:10.1109/TSMC.1980.4308393, (1)-(5). Equation numbers
    below are Hollerbach's; "(4)" in the margin means: this line is equation 4.

Gives       joint torques tau(q, qd, qdd); M, C_ikl and g, the three sums of (4).
Cost        O(n⁴); the paper gives 32½n⁴+86 5/12n³+171¼n²+53⅓n-128 multiplications and
            25n⁴+66⅓n³+129½n²+42⅓n-96 additions (it prints 25n³), which are not whole numbers.
Accepts     serial arms, revolute and prismatic joints.
Frames      frame i at the far end of link i, joint i along z of frame i-1; matrices act on (1, x, y, z).
            Drawing in docs/papers/uicker_kahn_1969.md.

Symbols     (paper -> here)
    A_i            A[i]         (4, 4)  coordinates of frame i to coordinates of frame i-1
    ∂A_i/∂q_i      dA[i]        (4, 4)  its derivative;  ddA[i] the second one
    ⁱW_j           W[i, j]      (4, 4)  A_{i+1} … A_j; W_j = ⁰W_j is W[0, j]
    ∂W_j/∂q_k      dW[j, k]     (4, 4)  zero for k > j
    ∂²W_j/∂q_k∂q_l ddW[j, k, l] (4, 4)  kept for k ≤ l ≤ j
    J_j            J[j]         (4, 4)  ∫ (1, x)(1, x)ᵀ dm about origin j, axes of link j   [kg, kg m, kg m²]
    m_j            m[j]                 mass                                                     [kg]
    g              g            (4, 1)  (0, gx, gy, gz), base axes                               [m/s²]
    ʲr_j           r[j]         (4, 1)  (1, x, y, z) of the centre of mass, axes of link j       [m]
    F_i            F[i]                 generalised force                                        [N m or N]
                   WdA[k], WddA[k, l]   what (5) has before ᵏW_j, before ˡW_j: (4, 4) each, kept while j runs

Order       homogeneous coordinates have the 1 first. Gravity points down, as in the paper.
Departs     1. W_{k-1} ∂A_k/∂q_k and its like are kept while j runs, which is what the paper's count does.
            2. A tip wrench is the term -tr(∂W_n/∂q_i X), X from `_hand`; the paper has none.
Misprints   J_j is about origin j, not the proximal joint (H2). (5) needs its left superscripts, ᵏW_j,
            ᵏW_{l-1}, ˡW_j, and the ranges k ≤ j, l ≤ j (H6). r_j in (4) is ʲr_j, body coordinates, and g
            has a zero first (H7). Table I prints 25n³ for 25n⁴ (H13) and polynomials that cannot be counts
            (H14); 66,271 of Table II is not their value at n = 6 (H15).
See also    waters_1979, hollerbach_1980_4x4, turney_mudge_lee_1980_lagrange
"""

import numpy as np

from forearm.algebra import one_based, product, second_moment, skew
from forearm.arm import outward


def _matrix(top, p, R):
    """[[top, 0], [p, R]], which acts on (1, x, y, z)."""
    # fmt: off
    return np.array([
        [top, 0.0, 0.0, 0.0],
        [p[0], R[0, 0], R[0, 1], R[0, 2]],
        [p[1], R[1, 0], R[1, 1], R[1, 2]],
        [p[2], R[2, 0], R[2, 1], R[2, 2]],
    ])
    # fmt: on


def _transform(link, q):
    """A of (2) and its two derivatives by the joint variable."""
    R, p, z = link.rotation(q), link.p_before(q), skew(link.z)
    if link.revolute:
        dp, dR = product(z, p), product(z, R)
        return _matrix(1.0, p, R), _matrix(0.0, dp, dR), _matrix(0.0, product(z, dp), product(z, dR))
    return _matrix(1.0, p, R), _matrix(0.0, link.z, 0 * R), _matrix(0.0, 0 * p, 0 * R)


def _inertia(link):
    """J of a link about its own origin, on (1, x, y, z)."""
    m, h, I = link.ten
    return np.block([[np.array([[m]]), h[None, :]], [h[:, None], second_moment(I)]])


def _derivatives(arm, q):
    """∂W_j/∂q_k and ∂²W_j/∂q_k∂q_l for k ≤ l ≤ j: computed first and stored."""
    A, dA, ddA, W, dW, ddW, WdA, WddA = {}, {}, {}, {(0, 0): np.eye(4)}, {}, {}, {}, {}
    for j in outward(arm):
        A[j], dA[j], ddA[j] = _transform(arm.links[j - 1], q[j])
        W[j, j] = np.eye(4)
        for k in range(j):
            W[k, j] = W[k, j - 1] @ A[j]  # (3)

        # W_{k-1} ∂A_k/∂q_k ᵏW_j
        WdA[j] = W[0, j - 1] @ dA[j]  # (5)
        for k in range(1, j + 1):
            dW[j, k] = WdA[k] @ W[k, j]  # (5)

        # W_{k-1} ∂A_k/∂q_k ᵏW_{l-1} ∂A_l/∂q_l ˡW_j for k < l, W_{k-1} ∂²A_k/∂q_k² ᵏW_j for k = l
        WddA[j, j] = W[0, j - 1] @ ddA[j]  # (5)
        for k in range(1, j):
            WddA[k, j] = dW[j - 1, k] @ dA[j]  # (5)
        for k in range(1, j + 1):
            for l in range(k, j + 1):
                ddW[j, k, l] = WddA[k, l] @ W[l, j]  # (5)
                ddW[j, l, k] = ddW[j, k, l]
    return dW, ddW, W


def _bodies(arm):
    """J_j, m_j, ʲr_j of every link, and gravity, on (1, x, y, z)."""
    J, m, r = {}, {}, {}
    for j in outward(arm):
        link = arm.links[j - 1]
        J[j], m[j] = _inertia(link), link.mass
        r[j] = np.array([[1.0, *link.about_com.center]]).T
    return J, m, r, np.array([[0.0, *arm.gravity_in_base]]).T


def joint_torques(arm, q, qd, qdd, *, tip_wrench=None):
    """Joint torques (n,)."""
    n, q, qd, qdd = len(arm.links), one_based(q), one_based(qd), one_based(qdd)
    dW, ddW, W = _derivatives(arm, q)
    J, m, r, g = _bodies(arm)
    F = {}
    for i in outward(arm):
        F[i] = 0.0
        for j in range(i, n + 1):
            for k in range(1, j + 1):
                F[i] = F[i] + np.trace(dW[j, i] @ J[j] @ dW[j, k].T) * qdd[k]  # (4)
            for k in range(1, j + 1):
                for l in range(1, j + 1):
                    F[i] = F[i] + np.trace(dW[j, i] @ J[j] @ ddW[j, k, l].T) * (qd[k] * qd[l])  # (4)
            F[i] = F[i] - m[j] * (g.T @ (dW[j, i] @ r[j]))[0, 0]  # (4)
    if tip_wrench is not None:
        X = _hand(W[0, n], tip_wrench)
        F = {i: F[i] - np.trace(dW[n, i] @ X) for i in F}
    return np.array([F[i] for i in range(1, n + 1)])


def mass_matrix(arm, q):
    """M (n, n): what multiplies q̈ in (4)."""
    n, q = len(arm.links), one_based(q)
    dW, _, _ = _derivatives(arm, q)
    J, _, _, _ = _bodies(arm)
    M = {}
    for i in outward(arm):
        for k in range(1, n + 1):
            M[i, k] = 0.0
            for j in range(max(i, k), n + 1):
                M[i, k] = M[i, k] + np.trace(dW[j, i] @ J[j] @ dW[j, k].T)  # (4)
    links = range(1, n + 1)
    return np.array([[M[i, k] for k in links] for i in links])


def christoffel(arm, q):
    """C[i, k, l] (n, n, n): what multiplies q̇_k q̇_l in (4), symmetric in k, l."""
    n, q = len(arm.links), one_based(q)
    dW, ddW, _ = _derivatives(arm, q)
    J, _, _, _ = _bodies(arm)
    C = {}
    for i in outward(arm):
        for k in range(1, n + 1):
            for l in range(1, n + 1):
                C[i, k, l] = 0.0
                for j in range(max(i, k, l), n + 1):
                    C[i, k, l] = C[i, k, l] + np.trace(dW[j, i] @ J[j] @ ddW[j, k, l].T)  # (4)
    links = range(1, n + 1)
    return np.array([[[C[i, k, l] for l in links] for k in links] for i in links])


def gravity_torque(arm, q):
    """Gravity torques (n,): the last sum of (4)."""
    n, q = len(arm.links), one_based(q)
    dW, _, _ = _derivatives(arm, q)
    _, m, r, g = _bodies(arm)
    G = {}
    for i in outward(arm):
        G[i] = 0.0
        for j in range(i, n + 1):
            G[i] = G[i] - m[j] * (g.T @ (dW[j, i] @ r[j]))[0, 0]  # (4)
    return np.array([G[i] for i in range(1, n + 1)])


def _hand(W_n, tip_wrench):
    """X with tr(∂W_n/∂q_i X) = f·∂p_n/∂q_i + (moment)·(axis): the power of the wrench per unit q̇_i."""
    f, moment = np.asarray(tip_wrench)[:3], np.asarray(tip_wrench)[3:]
    turned = W_n[1:, 1:].T @ skew(moment).T / 2
    return np.block([[np.zeros((1, 1)), f[None, :]], [np.zeros((3, 1)), turned]])
