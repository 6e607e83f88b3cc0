"""Featherstone (1983): forward dynamics by articulated bodies.

Paper
    R. Featherstone, The calculation of robot dynamics using articulated-body inertias, Int. J. Robotics
    Research 2 (1983) 13-30, doi:10.1177/027836498300200102. The method as it is taught today, on 3-vectors and
    3x3 blocks instead of 6-vectors; (F1)…(F9) below number its lines, not the paper's.

Gives       joint accelerations qdd(q, qd, tau).     Cost  O(n).
Accepts     serial arms, revolute and prismatic joints; also a regrouped arm (base parameters).
Frames      as in khalil_kleinfinger_1987: frame j at joint j, z_j along its axis, moving with link j.

Symbols     (here; in the frame of joint j, moments and accelerations at origin j)
    R[j]       (3, 3)  rotation, axes of frame j to axes of frame j-1
    P[j]       (3,)    origin j-1 to origin j, in the frame of joint j-1               [m]
    sign[j]            1, or -1 for a flipped joint: z_j in the axes of the joint
    w[j]       (3,)    angular velocity of link j                                      [rad/s]
    m, h, J            mass, first moment and inertia of link j about origin j         [kg], [kg m], [kg m²]
    A[j], H[j], Mass[j]   articulated inertia: moment = A α + H a, force = Hᵀ α + Mass a
                          for angular acceleration α and linear acceleration a of origin j, (3, 3) each
    pn[j], pf[j]  (3,)    moment and force that it needs at α = a = 0                  [N m], [N]
    ca[j], cl[j]  (3,)    angular and linear acceleration from the joint's speed       [rad/s²], [m/s²]
    Un[j], Uf[j]  (3,)    articulated inertia times the joint's motion: moment and force
    D[j], u[j]            the joint's effective inertia, and the torque left to accelerate it
    An, Hn, Mn    (3, 3)  the articulated inertia that the link before feels; A0, H0, M0 in its frame
    bias_n, bias_f (3,)   moment and force that it feels at no acceleration               [N m], [N]
    alpha, a      (3,)    angular and linear acceleration of link j, less gravity     [rad/s²], [m/s²]

Order       gravity enters as the acceleration -g of the base.
Departs     1. 3-vectors in place of spatial vectors: the same products, fewer zeros.
Misprints   None known: the method is that of R. Featherstone, Rigid Body Dynamics Algorithms, Springer 2008, chapter
            7; the lines were not compared with the paper's own print.
See also    walker_orin_1982
"""

import numpy as np

from forearm.algebra import cross, one_based, product, skew
from forearm.arm import inward, outward


def joint_accelerations(arm, q, qd, tau, *, tip_wrench=None):
    """Joint accelerations (n,)."""
    n, q, qd, tau = len(arm.links), one_based(q), one_based(qd), one_based(tau)
    R, P, sign, ca, cl, A, H, Mass, pn, pf = {}, {}, {}, {}, {}, {}, {}, {}, {}, {}
    w = {0: np.zeros(3)}

    # outward, base to tip: velocities, and each link's own inertia and bias
    for j in outward(arm):
        link = arm.links[j - 1]
        R[j], P[j], sign[j] = rotation(arm, j, q[j]), step(arm, j, q[j]), link.z[2]
        m, h, J = link.ten_at_joint
        rate = sign[j] * qd[j]
        w_before = R[j].T @ w[j - 1]  # (F1)
        centripetal = R[j].T @ cross(w[j - 1], cross(w[j - 1], P[j]))  # (F2)
        if link.revolute:
            w[j] = np.array([w_before[0], w_before[1], w_before[2] + rate])  # (F1)
            ca[j] = np.array([w_before[1] * rate, -w_before[0] * rate, 0.0])  # (F2)
            cl[j] = centripetal  # (F2)
        else:
            w[j] = w_before  # (F1)
            ca[j] = np.zeros(3)
            cl[j] = centripetal + np.array([2 * rate * w[j][1], -2 * rate * w[j][0], 0.0])  # (F2)
        A[j], H[j], Mass[j] = J, skew(h), m * np.eye(3)
        pn[j] = cross(w[j], J @ w[j])  # (F3)
        pf[j] = cross(w[j], cross(w[j], h))  # (F3)
    if tip_wrench is not None:
        force, moment = _at_last_joint(arm, n, R, tip_wrench)
        pf[n], pn[n] = pf[n] - force, pn[n] - moment

    # inward, tip to base: articulated inertias
    Un, Uf, D, u = {}, {}, {}, {}
    for j in inward(arm):
        if arm.links[j - 1].revolute:
            Un[j], Uf[j] = A[j][:, 2], H[j][2, :]  # (F4)
            D[j], u[j] = A[j][2, 2], sign[j] * tau[j] - pn[j][2]  # (F4)
        else:
            Un[j], Uf[j] = H[j][:, 2], Mass[j][:, 2]  # (F4)
            D[j], u[j] = Mass[j][2, 2], sign[j] * tau[j] - pf[j][2]  # (F4)
        if j == 1:
            break
        An = A[j] - np.outer(Un[j], Un[j] / D[j])  # (F5)
        Hn = H[j] - np.outer(Un[j], Uf[j] / D[j])  # (F5)
        Mn = Mass[j] - np.outer(Uf[j], Uf[j] / D[j])  # (F5)
        held = u[j] / D[j]  # (F6)
        bias_n = pn[j] + An @ ca[j] + Hn @ cl[j] + Un[j] * held  # (F6)
        bias_f = pf[j] + Hn.T @ ca[j] + Mn @ cl[j] + Uf[j] * held  # (F6)
        force = R[j] @ bias_f  # (F7)
        pf[j - 1] = pf[j - 1] + force  # (F7)
        pn[j - 1] = pn[j - 1] + R[j] @ bias_n + cross(P[j], force)  # (F7)
        S = skew(P[j])
        M0 = R[j] @ Mn @ R[j].T  # (F8)
        H0 = R[j] @ Hn @ R[j].T + S @ M0  # (F8)
        A0 = R[j] @ An @ R[j].T + S @ (R[j] @ Hn @ R[j].T).T - H0 @ S  # (F8)
        A[j - 1], H[j - 1], Mass[j - 1] = A[j - 1] + A0, H[j - 1] + H0, Mass[j - 1] + M0  # (F8)

    # outward, base to tip: accelerations
    alpha, a = np.zeros(3), -arm.gravity_in_base  # the base rushes up instead of gravity pulling down
    qdd = []
    for j in outward(arm):
        a = R[j].T @ (a + cross(alpha, P[j])) + cl[j]  # (F9)
        alpha = R[j].T @ alpha + ca[j]  # (F9)
        x = (u[j] - Un[j] @ alpha - Uf[j] @ a) / D[j]  # (F9)
        z = np.array([0.0, 0.0, 1.0])
        if arm.links[j - 1].revolute:
            alpha = alpha + z * x  # (F9)
        else:
            a = a + z * x  # (F9)
        qdd.append(sign[j] * x)
    return np.array(qdd)


def before(arm, j):
    """X_{j-1}: the constant pose between the frame of joint j-1 and the axis of joint j."""
    return arm.links[j - 2].pose if j > 1 else arm.root


def step(arm, j, q_j):
    """P_j: origin j-1 to origin j in the frame of joint j-1."""
    x = before(arm, j)
    return x.p + x.R[:, 2] * arm.links[j - 1].length(q_j)


def rotation(arm, j, q_j):
    """Axes of frame j to axes of frame j-1: X Rz(q)."""
    s, c = arm.links[j - 1].turn(q_j)
    # fmt: off
    return product(before(arm, j).R, np.array([
        [c, -s, 0.0],
        [s,  c, 0.0],
        [0.0, 0.0, 1.0],
    ]))
    # fmt: on


def _at_last_joint(arm, n, R, tip_wrench):
    """The wrench on the hand, seen at the last joint, in the frame of that joint."""
    force, moment = np.asarray(tip_wrench)[:3], np.asarray(tip_wrench)[3:]
    for j in range(1, n + 1):
        force, moment = R[j].T @ force, R[j].T @ moment
    return force, moment + cross(arm.links[n - 1].pose.p, force)
