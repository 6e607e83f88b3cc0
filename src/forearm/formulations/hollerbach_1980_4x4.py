"""Hollerbach (1980): recursive Lagrange, outward and inward, with 4x4 matrices.

Paper
    J. M. Hollerbach, A recursive Lagrangian formulation of manipulator dynamics and a comparative study of
    dynamics formulation complexity, IEEE Trans. SMC-10 (1980) 730-736, doi:10.1109/TSMC.1980.4308393,
    (11)-(14), with (8)-(10). Equation numbers are the paper's own; "(12)" in the margin means: this line is
    equation 12.

Gives       joint torques tau(q, qd, qdd).           Cost  O(n); 830n-592 | 675n-464.
Accepts     serial arms, revolute and prismatic joints.
Frames      frame i at the far end of link i, joint i along z of frame i-1; matrices act on (1, x, y, z).
            Drawing in docs/papers/hollerbach_1980_4x4.md.

Symbols     (paper -> here)
    A_i            A[i]      (4, 4)  coordinates of frame i to coordinates of frame i-1
    ∂A_i/∂q_i      dA[i]     (4, 4)  its derivative;  ddA the second one
    W_i            W[i]      (4, 4)  A_1 … A_i
    Ẇ_i, Ẅ_i       Wd[i], Wdd[i]  (4, 4)  its time derivatives
    J_i            J[i]      (4, 4)  ∫ (1, x)(1, x)ᵀ dm about origin i, axes of link i       [kg, kg m, kg m²]
    m_i            m[i]              mass                                                    [kg]
    ⁱr_i           r[i]      (4, 1)  (1, x, y, z) of the centre of mass, axes of link i      [m]
    D_i            D[i]      (4, 4)  Σ_{j≥i} ⁱW_j J_j Ẅ_jᵀ, axes of link i and of the base     [N, N m]
    c_i            c[i]      (4, 1)  Σ_{j≥i} m_j ⁱW_j ʲr_j, axes of link i                   [kg, kg m]
    g              g         (4, 1)  (0, gx, gy, gz), base axes                              [m/s²]
    F_i            F[i]              generalised force                                       [N m or N]

Order       homogeneous coordinates have the 1 first. Gravity points down, as in the paper. The paper's
            "backward" is our outward (base to tip), its "forward" our inward.
Departs     1. (11) is the step between (6) and (12)-(14); it is not computed.
            2. ∂W_i/∂q_i is W_{i-1} ∂A_i/∂q_i, formed anew in (14), as the paper counts it.
            3. A wrench on the hand starts the inward recursion as D_{n+1}; the paper has none.
Misprints   J_i is about origin i, not the proximal joint (H2). r_j in (11) is ʲr_j, body coordinates, and g
            has a zero first (H7). The text sends the reader to "recurrence relations (6)"; read (8)-(10)
            (H12).
See also    waters_1979, hollerbach_1980_3x3
"""

import numpy as np

from forearm.algebra import one_based, product, second_moment, skew
from forearm.arm import inward, outward


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
    A, dA, W, J, m, r, F = {}, {}, {0: np.eye(4)}, {}, {}, {}, {}
    Wd, Wdd = {0: np.zeros((4, 4))}, {0: np.zeros((4, 4))}

    # outward, base to tip: the transformations, their velocities and accelerations
    for i in outward(arm):
        link = arm.links[i - 1]
        A[i], dA[i], ddA = _transform(link, q[i])
        J[i], m[i], r[i] = _inertia(link), link.mass, np.array([[1.0, *link.about_com.center]]).T

        W[i] = W[i - 1] @ A[i]  # (8)
        Wd[i] = Wd[i - 1] @ A[i] + W[i - 1] @ dA[i] * qd[i]  # (9)
        Wdd[i] = (
            Wdd[i - 1] @ A[i]
            + Wd[i - 1] @ dA[i] * (2 * qd[i])
            + W[i - 1] @ ddA * (qd[i] * qd[i])
            + W[i - 1] @ dA[i] * qdd[i]
        )  # (10)

    # inward, tip to base: inertial matrices, first moments, generalised forces
    g = np.array([[0.0, *arm.gravity_in_base]]).T
    A[n + 1], D, c = np.eye(4), {n + 1: _hand(W[n], tip_wrench)}, {n + 1: np.zeros((4, 1))}
    for i in inward(arm):
        D[i] = J[i] @ Wdd[i].T + A[i + 1] @ D[i + 1]  # (12)
        c[i] = m[i] * r[i] + A[i + 1] @ c[i + 1]  # (13)
        dW = W[i - 1] @ dA[i]  # (14)
        F[i] = np.trace(dW @ D[i]) - (g.T @ dW @ c[i])[0, 0]  # (14)
    return np.array([F[i] for i in range(1, n + 1)])


def _hand(W_n, tip_wrench):
    """D_{n+1}: -X with tr(∂W_n/∂q_i X) the power of the wrench on the hand per unit q̇_i."""
    if tip_wrench is None:
        return np.zeros((4, 4))
    f, moment = np.asarray(tip_wrench)[:3], np.asarray(tip_wrench)[3:]
    turned = W_n[1:, 1:].T @ skew(moment).T / 2
    return -np.block([[np.zeros((1, 1)), f[None, :]], [np.zeros((3, 1)), turned]])
