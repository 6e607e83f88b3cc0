"""Waters (1979): Lagrange's equations with the accelerations of the links by recursion.

Paper
    R. C. Waters, Mechanical arm control, M.I.T. Artificial Intelligence Laboratory Memo 549, 1979, as J. M.
    Hollerbach presents it in A recursive Lagrangian formulation of manipulator dynamics, IEEE Trans. SMC-10
    (1980) 730-736, doi:10.1109/TSMC.1980.4308393, (6)-(10). Equation numbers below are Hollerbach's; "(6)"
    in the margin means: this line is equation 6.

Gives       joint torques tau(q, qd, qdd).           Cost  O(n²); 106½n²+620½n-512 | 82n²+514n-384.
Accepts     serial arms, revolute and prismatic joints.
Frames      frame i at the far end of link i, joint i along z of frame i-1; matrices act on (1, x, y, z).
            Drawing in docs/papers/waters_1979.md.

Symbols     (paper -> here)
    A_j            A[j]      (4, 4)  coordinates of frame j to coordinates of frame j-1
    ∂A_j/∂q_j      dA[j]     (4, 4)  its derivative;  ddA the second one
    W_j            W[j]      (4, 4)  A_1 … A_j
    Ẇ_j, Ẅ_j       Wd[j], Wdd[j]  (4, 4)  its time derivatives
    ∂W_j/∂q_i      dW        (4, 4)  of one joint i, while j runs from i to n
    J_j            J[j]      (4, 4)  ∫ (1, x)(1, x)ᵀ dm about origin j, axes of link j       [kg, kg m, kg m²]
    m_j            m[j]              mass                                                    [kg]
    g              g         (4, 1)  (0, gx, gy, gz), base axes                              [m/s²]
    ʲr_j           r[j]      (4, 1)  (1, x, y, z) of the centre of mass, axes of link j      [m]
    F_i            F[i]              generalised force                                       [N m or N]

Order       homogeneous coordinates have the 1 first. Gravity points down, as in the paper. The paper's
            "backward" is our outward, base to tip.
Departs     1. (7) says what Ẅ_j is when written out; as the paper advises, it is left unexpanded.
            2. (6) needs ∂W_j/∂q_i for all j ≥ i; the paper prints no way to form it. Here it is carried outward from
               link to link, ∂W_j/∂q_i = ∂W_{j-1}/∂q_i A_j, which follows from (8).
            3. A tip wrench is the term -tr(∂W_n/∂q_i X), X from `_hand`; the paper has none.
Misprints   J_j is about origin j, not the proximal joint (H2). r_j in (6) is ʲr_j, body coordinates, and g
            has a zero first (H7). Table I prints 620¼n multiplications; read 620½n (H16).
See also    uicker_kahn_1969, hollerbach_1980_4x4
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


def joint_torques(arm, q, qd, qdd, *, tip_wrench=None):
    """Joint torques (n,)."""
    n, q, qd, qdd = len(arm.links), one_based(q), one_based(qd), one_based(qdd)
    A, dA, W, J, m, r = {}, {}, {0: np.eye(4)}, {}, {}, {}
    Wd, Wdd = {0: np.zeros((4, 4))}, {0: np.zeros((4, 4))}

    # outward, base to tip: the transformations, their velocities and accelerations
    for j in outward(arm):
        link = arm.links[j - 1]
        A[j], dA[j], ddA = _transform(link, q[j])
        J[j], m[j], r[j] = _inertia(link), link.mass, np.array([[1.0, *link.about_com.center]]).T

        W[j] = W[j - 1] @ A[j]  # (8)
        Wd[j] = Wd[j - 1] @ A[j] + W[j - 1] @ dA[j] * qd[j]  # (9)
        Wdd[j] = (
            Wdd[j - 1] @ A[j]
            + Wd[j - 1] @ dA[j] * (2 * qd[j])
            + W[j - 1] @ ddA * (qd[j] * qd[j])
            + W[j - 1] @ dA[j] * qdd[j]
        )  # (10)

    # the generalised force of each joint: the sum over the links beyond it
    g = np.array([[0.0, *arm.gravity_in_base]]).T
    F = {}
    for i in outward(arm):
        F[i] = 0.0
        dW = W[i - 1] @ dA[i]  # (6)
        for j in range(i, n + 1):
            if j > i:
                dW = dW @ A[j]  # (6)
            F[i] = F[i] + np.trace(dW @ J[j] @ Wdd[j].T) - m[j] * (g.T @ (dW @ r[j]))[0, 0]  # (6)
        if tip_wrench is not None:
            F[i] = F[i] - np.trace(dW @ _hand(W[n], tip_wrench))
    return np.array([F[i] for i in range(1, n + 1)])


def _hand(W_n, tip_wrench):
    """X with tr(∂W_n/∂q_i X) = f·∂p_n/∂q_i + (moment)·(axis): the power of the wrench per unit q̇_i."""
    f, moment = np.asarray(tip_wrench)[:3], np.asarray(tip_wrench)[3:]
    turned = W_n[1:, 1:].T @ skew(moment).T / 2
    return np.block([[np.zeros((1, 1)), f[None, :]], [np.zeros((3, 1)), turned]])
