"""Horn and Raibert (1978): torques from tabulated coefficients, the configuration space method.

Paper
    B. K. P. Horn, M. H. Raibert, Configuration space control, The Industrial Robot 5 (1978) 69-73, as J. M.
    Hollerbach presents it in A recursive Lagrangian formulation of manipulator dynamics, IEEE Trans. SMC-10
    (1980) 730-736, doi:10.1109/TSMC.1980.4308393, "Configuration space method". The section prints one
    equation, without a number; it is (HR) below.

Gives       joint torques tau(q, qd, qdd), given the coefficients at q.     Cost  O(n³); 2n³+n² | n³+n²+2n.
Accepts     serial arms, revolute and prismatic joints: it sees coefficients only.
Frames      none. (A wrench on the hand needs the arm's geometry; see Departs.)

Symbols     (paper -> here)
    G_i      G[i]       gravity                                                       [N m or N]
    J_ij     J[i, j]    inertia: what q̈_j costs at joint i                            [kg m², kg m or kg]
    C_ijk    C[i, j, k] Coriolis and centrifugal: what q̇_j q̇_k costs at joint i       [kg m², kg m or kg]
    F_i      F[i]       generalised force                                             [N m or N]

Order       the coefficients are any object with M, C and g, such as `strobe(arm, q)` gives: M is J, C[i, j,
            k] has the joint of the torque first, g is G. The paper would look them up in a table of
            configurations.
Departs     1. A wrench on the hand is added by the Jacobian of its origin; the paper has none.
Misprints   The introduction's F_i = J(q) q̇ + K(q, q̇) lacks a dot; read q̈ (H12).
See also    uicker_kahn_1969, whose three sums are these coefficients
"""

import numpy as np

from forearm.algebra import cross
from forearm.arm import outward


def joint_torques(arm, q, qd, qdd, *, coefficients, tip_wrench=None):
    """Joint torques (n,) from the coefficients M, C, g at this q."""
    G, J, C = coefficients.g, coefficients.M, coefficients.C
    n = len(arm.links)
    F = {}
    for i in range(n):
        F[i] = G[i]  # (HR)
        for j in range(n):
            F[i] = F[i] + J[i, j] * qdd[j]  # (HR)
        for j in range(n):
            for k in range(n):
                F[i] = F[i] + C[i, j, k] * qd[j] * qd[k]  # (HR)
    tau = np.array([F[i] for i in range(n)])
    return tau if tip_wrench is None else tau - _hand(arm, q, np.asarray(tip_wrench))


def _hand(arm, q, tip_wrench):
    """Jᵀ [force; moment] (n,) of a wrench on the hand, at the origin of frame n, base axes."""
    W, p, z, o = np.eye(3), np.zeros(3), {}, {}
    for i in outward(arm):
        link = arm.links[i - 1]
        z[i], o[i] = W @ link.z, p
        p = p + W @ link.p_before(q[i - 1])
        W = W @ link.rotation(q[i - 1])
    force, moment = tip_wrench[:3], tip_wrench[3:]
    torque = []
    for i, link in enumerate(arm.links, 1):
        if link.revolute:
            torque.append(z[i] @ (moment + cross(p - o[i], force)))
        else:
            torque.append(z[i] @ force)
    return np.array(torque)
