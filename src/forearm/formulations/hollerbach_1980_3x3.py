"""Hollerbach (1980): recursive Lagrange, outward and inward, with 3x3 matrices.

Paper
    J. M. Hollerbach, A recursive Lagrangian formulation of manipulator dynamics and a comparative study of
    dynamics formulation complexity, IEEE Trans. SMC-10 (1980) 730-736, doi:10.1109/TSMC.1980.4308393,
    (15)-(18) and appendices A, B. Equation numbers are the paper's own; "(16)" in the margin means: this is
    equation 16.

Gives       joint torques tau(q, qd, qdd).           Cost  O(n); 412n-277 | 320n-201.
Accepts     serial arms; revolute joints as in the paper, prismatic joints as an extension.
Frames      frame i at the far end of link i, joint i along z of frame i-1; vectors without a left
            superscript are in base axes. Drawing in docs/papers/hollerbach_1980_3x3.md.

Symbols     (paper -> here)
    A_i            A[i]       (3, 3)  rotation, axes of link i to axes of link i-1
    ∂A_i/∂q_i      dA[i]      (3, 3)  its derivative;  ddA the second one
    W_i            W[i]       (3, 3)  A_1 … A_i
    Ẇ_i, Ẅ_i       Wd[i], Wdd[i]  (3, 3)  its time derivatives                               [1/s], [1/s²]
    ⁱp*_i          p_star[i]  (3,)    origin i-1 to origin i, axes of link i                 [m]
    p̈_i            pdd[i]     (3,)    acceleration of origin i, base axes                    [m/s²]
    m_i            m[i]               mass                                                   [kg]
    ⁱn_i           n[i]       (3,)    m_i ⁱr*_i, first moment about origin i, axes of link i [kg m]
    J_i            J[i]       (3, 3)  ∫ x xᵀ dm about origin i, axes of link i               [kg m²]
    e_i            e[i]       (3,)    Σ_{j≥i} m_j p̈_jᵀ + ʲn_jᵀ Ẅ_jᵀ: force, base axes        [N]
    D_i            D[i]       (3, 3)  body vectors times forces, axes of link i, base axes   [N m]
    M_i            M[i]               m_i + … + m_n                                          [kg]
    c_i            c[i]       (3,)    first moment of links i … n about origin i-1, axes i   [kg m]
    g              g          (3,)    gravity, base axes                                     [m/s²]
    F_i            F[i]               generalised force                                      [N m or N]
                   link.axis  (3,)    axis of a prismatic joint i, axes of link i (extension)

Order       gravity points down, as in the paper. The paper's "backward" is our outward, its "forward" our
            inward.
Departs     1. The repair of (18) and of c_i (H4, H5) keeps the origins of the paper's figure, at the far
               end of each link: D_i gets p*_i e_i for ⁱp_{i+1} e_{i+1}, and c_i gets M_i p*_i. The other
               repair, which leaves (17) and (18) as printed and moves origin i to joint i, is a test
               (test_hollerbach.py).
            2. Prismatic joints (the second line of each pair) are an extension.
            3. A wrench on the hand starts the inward recursion as D_{n+1}, e_{n+1}; the paper has none.
Misprints   (16) prints a minus; read p̈_j = p̈_{j-1} + Ẅ_j p*_j (H1). J is about origin i, not the proximal
            joint (H2). n_i = r*_i/m_i; read m_i r*_i, as appendix A has it (H3). (18), (B1)-(B3) leave out
            ∂p_i/∂q_i = ∂W_i/∂q_i p*_i (H4). "c_i is the same as (13)": a rotation has no translation, so
            M_i p*_i is missing (H5). The section is general in wording, revolute in fact (H9). (15),
            (A3)-(A13): lost dots and indices (H11).
See also    hollerbach_1980_4x4, turney_mudge_lee_1980_modified
"""

import numpy as np

from forearm.algebra import one_based, product, second_moment, skew
from forearm.arm import inward, outward


def _rotation(link, q):
    """A and its two derivatives by the joint variable."""
    A, z = link.rotation(q), skew(link.z)
    if link.revolute:
        dA = product(z, A)
        return A, dA, product(z, dA)
    return A, 0 * A, 0 * A


def joint_torques(arm, q, qd, qdd, *, tip_wrench=None):
    """Joint torques (n,)."""
    n_links, q, qd, qdd = len(arm.links), one_based(q), one_based(qd), one_based(qdd)
    A, dA, W, p_star, m, n, J = {}, {}, {0: np.eye(3)}, {}, {}, {}, {}
    Wd, Wdd, pdd = {0: np.zeros((3, 3))}, {0: np.zeros((3, 3))}, {0: np.zeros(3)}

    # outward, base to tip: rotations and origins, their velocities and accelerations
    for i in outward(arm):
        link = arm.links[i - 1]
        A[i], dA[i], ddA = _rotation(link, q[i])
        p_star[i] = link.p_star(q[i])
        m[i], n[i], I = link.ten
        J[i] = second_moment(I)

        W[i] = W[i - 1] @ A[i]  # (8)
        Wd[i] = Wd[i - 1] @ A[i] + W[i - 1] @ dA[i] * qd[i]  # (9)
        Wdd[i] = (
            Wdd[i - 1] @ A[i]
            + Wd[i - 1] @ dA[i] * (2 * qd[i])
            + W[i - 1] @ ddA * (qd[i] * qd[i])
            + W[i - 1] @ dA[i] * qdd[i]
        )  # (10)
        if link.revolute:
            pdd[i] = pdd[i - 1] + Wdd[i] @ p_star[i]  # (16)
        else:
            slide = Wd[i] @ link.axis * (2 * qd[i]) + W[i] @ link.axis * qdd[i]  # (16)
            pdd[i] = pdd[i - 1] + Wdd[i] @ p_star[i] + slide  # (16)

    # inward, tip to base: forces, inertial matrices, first moments, generalised forces
    g, F = arm.gravity_in_base, {}
    e, D = _hand(n_links, W[n_links], tip_wrench)
    A[n_links + 1], c, M = np.eye(3), {n_links + 1: np.zeros(3)}, {n_links + 1: 0.0}
    for i in inward(arm):
        link = arm.links[i - 1]
        M[i] = m[i] + M[i + 1]
        moment = n[i] + M[i] * p_star[i]

        e[i] = e[i + 1] + m[i] * pdd[i] + Wdd[i] @ n[i]  # (18)
        D[i] = (
            A[i + 1] @ D[i + 1] + np.outer(p_star[i], e[i]) + np.outer(n[i], pdd[i]) + J[i] @ Wdd[i].T
        )  # (18)
        c[i] = A[i + 1] @ c[i + 1] + moment  # (13)
        if link.revolute:
            dW = W[i - 1] @ dA[i]  # (17)
            F[i] = np.trace(dW @ D[i]) - g @ dW @ c[i]  # (17)
        else:
            F[i] = (W[i] @ link.axis) @ (e[i] - M[i] * g)  # (17)
    return np.array([F[i] for i in range(1, n_links + 1)])


def _hand(n_links, W_n, tip_wrench):
    """e_{n+1}, D_{n+1}: minus the force on the hand, and a matrix whose trace with ∂W is minus its moment."""
    if tip_wrench is None:
        return {n_links + 1: np.zeros(3)}, {n_links + 1: np.zeros((3, 3))}
    f, moment = np.asarray(tip_wrench)[:3], np.asarray(tip_wrench)[3:]
    return {n_links + 1: -f}, {n_links + 1: W_n.T @ skew(moment) / 2}
