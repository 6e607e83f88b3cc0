"""Luh, Walker and Paul (1980): Newton-Euler recursion in link coordinates.

Paper
    J. Y. S. Luh, M. W. Walker, R. P. C. Paul, On-line computational scheme for mechanical manipulators,
    ASME J. Dynamic Systems, Measurement, and Control 102 (1980) 69-76, as J. M. Hollerbach presents it in A
    recursive Lagrangian formulation of manipulator dynamics, IEEE Trans. SMC-10 (1980) 730-736,
    doi:10.1109/TSMC.1980.4308393, "Recursive Newton-Euler dynamics referred to link coordinates". That
    section prints its equations without numbers; (NE1)…(NE9) below number them in the paper's order.

Gives       joint torques tau(q, qd, qdd), and the reactions f, n at every joint.
Cost        O(n); 150n-48 | 131n-48.
Accepts     serial arms; revolute joints as in the paper, prismatic joints as an extension.
Frames      frame i at the far end of link i, joint i along z of frame i-1; every vector is in the axes of
            the link that its index names. Drawing in docs/papers/luh_walker_paul_1980.md.

Symbols     (paper -> here; link vectors are in the frame of their own link)
    A_i      A[i]       (3, 3)  rotation, axes of link i to axes of link i-1
    p*_i     p_star[i]  (3,)    origin i-1 to origin i                                 [m]
    r*_i     r_star[i]  (3,)    origin i to the centre of mass of link i               [m]
    m_i      m                  mass of link i                                         [kg]
    I_i      I          (3, 3)  inertia of link i about its centre of mass             [kg m²]
    z_{i-1}  z[i-1]     (3,)    axis of joint i in the axes of link i-1; link.axis in those of link i
    ω_i      w[i]       (3,)    angular velocity of link i                             [rad/s]
    ω̇_i      wd[i]      (3,)    angular acceleration of link i                         [rad/s²]
    p̈_i      pdd[i]     (3,)    acceleration of origin i, less gravity                 [m/s²]
    r̈_i      rdd        (3,)    acceleration of the centre of mass, less gravity       [m/s²]
    F_i, N_i F[i], N[i] (3,)    force and moment that link i needs                     [N], [N m]
    f_i, n_i f[i], n[i] (3,)    force and moment exerted on link i by link i-1         [N], [N m]
    τ_i      tau                input torque, or force, at joint i                     [N m or N]

Order       gravity is not mentioned in the section; the base is given the acceleration -g (H8).
Departs     1. z q̇ is formed once for (NE1) and (NE2), and (p* + r*) × F is written as two products: with
               the base at rest, p̈_0 = 0, this is the structure that costs the paper's 150n-48.
            2. Prismatic joints (the second line of each pair) are an extension.
Misprints   ⁱF_i = ⁱF_i + A_{i+1} ⁱ⁺¹f_{i+1} prints F for f on the left (H10). Gravity is left out (H8).
            The section is general in wording, revolute in fact (H9).
See also    luh_walker_paul_1980_base, turney_mudge_lee_1980_newton_euler, newton_euler_notes
"""

import numpy as np

from forearm.algebra import cross, one_based
from forearm.arm import inward, outward


def reactions(arm, q, qd, qdd, *, tip_wrench=None):
    """Forces and moments (n, 3) that link i-1 exerts on link i, in the axes of link i, at origin i-1."""
    n_links, q, qd, qdd = len(arm.links), one_based(q), one_based(qd), one_based(qdd)
    A, p_star, r_star, z, F, N = {}, {}, {}, {}, {}, {}
    w, wd = {0: np.zeros(3)}, {0: np.zeros(3)}
    pdd = {0: -arm.gravity_in_base}  # the base rushes up instead of gravity pulling down

    # outward, base to tip: velocities and accelerations
    for i in outward(arm):
        link = arm.links[i - 1]
        A[i], p_star[i], z[i - 1] = link.rotation(q[i]), link.p_star(q[i]), link.z
        m, r_star[i], I = link.about_com

        if link.revolute:
            z_qd = z[i - 1] * qd[i]  # (NE1)
            w[i] = A[i].T @ (w[i - 1] + z_qd)  # (NE1)
            wd[i] = A[i].T @ (wd[i - 1] + z[i - 1] * qdd[i] + cross(w[i - 1], z_qd))  # (NE2)
            pdd[i] = (
                cross(wd[i], p_star[i]) + cross(w[i], cross(w[i], p_star[i])) + A[i].T @ pdd[i - 1]
            )  # (NE3)
        else:
            w[i] = A[i].T @ w[i - 1]  # (NE1)
            wd[i] = A[i].T @ wd[i - 1]  # (NE2)
            slide = link.axis * qdd[i] + 2 * cross(w[i], link.axis * qd[i])  # (NE3)
            turned = cross(wd[i], p_star[i]) + cross(w[i], cross(w[i], p_star[i]))  # (NE3)
            pdd[i] = turned + A[i].T @ pdd[i - 1] + slide  # (NE3)

        rdd = pdd[i] + cross(wd[i], r_star[i]) + cross(w[i], cross(w[i], r_star[i]))  # (NE4)
        F[i] = m * rdd  # (NE5)
        N[i] = I @ wd[i] + cross(w[i], I @ w[i])  # (NE6)

    # inward, tip to base: forces and moments
    f, n = _tip(n_links, A, tip_wrench)
    A[n_links + 1] = np.eye(3)
    for i in inward(arm):
        f[i] = F[i] + A[i + 1] @ f[i + 1]  # (NE7)
        n[i] = (
            A[i + 1] @ n[i + 1]
            + N[i]
            + cross(p_star[i], F[i])
            + cross(r_star[i], F[i])
            + cross(p_star[i], A[i + 1] @ f[i + 1])
        )  # (NE8)
    order = range(1, n_links + 1)
    return np.array([f[i] for i in order]), np.array([n[i] for i in order])


def joint_torques(arm, q, qd, qdd, *, tip_wrench=None):
    """Joint torques (n,): the component of each reaction along its joint."""
    f, n = reactions(arm, q, qd, qdd, tip_wrench=tip_wrench)
    tau = []
    for link, f_i, n_i in zip(arm.links, f, n, strict=True):
        if link.revolute:
            tau.append(link.axis @ n_i)  # (NE9)
        else:
            tau.append(link.axis @ f_i)  # (NE9)
    return np.array(tau)


def _tip(n_links, A, tip_wrench):
    """Forces and moments beyond the last link: what the hand exerts, in the axes of link n."""
    f, n = {n_links + 1: np.zeros(3)}, {n_links + 1: np.zeros(3)}
    if tip_wrench is not None:
        force, moment = -np.asarray(tip_wrench)[:3], -np.asarray(tip_wrench)[3:]
        for i in range(1, n_links + 1):
            force, moment = A[i].T @ force, A[i].T @ moment
        f[n_links + 1], n[n_links + 1] = force, moment
    return f, n
