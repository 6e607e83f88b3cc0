"""Turney, Mudge and Lee (1980): Newton-Euler recursion, equations 3.15 to 3.21.

Paper
    J. L. Turney, T. N. Mudge, C. S. G. Lee, Equivalence of two formulations for robot arm dynamics, Systems
    Engineering Laboratory, University of Michigan, Ann Arbor, December 1980.  Equation numbers below are the
    report's own; "(3.16)" in the margin means: this line is equation 3.16.

Gives       joint torques tau(q, qd, qdd), and the reactions f, n at every joint.
            Cost  O(n); Table 3 of the report: 108n-12 | 100n-9.
Accepts     serial arms; revolute joints as in the report, prismatic joints as an extension.
Frames      frame i fixed in link i at its far end, joint i along z of frame i-1; every vector is in the frame
            that its index names. The report writes R_{i-1}^i for the rotation that takes frame i
            (superscript) to frame i-1 (subscript). Drawing in
            docs/papers/turney_mudge_lee_1980_newton_euler.md.

Symbols     (paper -> here; link vectors are in the frame of their own link)
    R_{i-1}^i  R[i]      (3, 3)  rotation, frame i to frame i-1; R_i^{i-1} is its transpose
    z_{i-1}    z         (3,)    axis of joint i, in frame i-1
    r_i        r[i]      (3,)    origin i-1 to origin i                                       [m]
    r̄_i        r_bar     (3,)    origin i to the centre of mass of link i                     [m]
    m_i        m                 mass of link i                                               [kg]
    r_i + r̄_i  s[i]      (3,)    origin i-1 to the centre of mass of link i                   [m]
    ω_i        w[i]      (3,)    angular velocity of link i                                   [rad/s]
    α_i        alpha[i]  (3,)    angular acceleration of link i                               [rad/s²]
    a_i        a[i]      (3,)    acceleration of origin i, less gravity                       [m/s²]
    ā_i        a_bar     (3,)    acceleration of the centre of mass, less gravity             [m/s²]
    I_i        I[i]      (3, 3)  inertia about the centre of mass                             [kg m²]
    m_i ā_i    m_a_bar[i] (3,)   mass times acceleration of the centre of mass, less gravity  [N]
    f_i, n_i   f[i], n[i] (3,)   force and moment exerted on link i by link i-1               [N], [N m]
    τ_i        tau               torque, or force, of actuator i                              [N m or N]

Order       gravity enters as the acceleration a_0 = -g of the base, a vector (the report prints 9.8 m/s²).
Departs     1. m_i ā_i and R_i^{i+1} f_{i+1} are formed once and used in both 3.19 and 3.20; r_i + r̄_i is a
               constant.
            2. Inertias may be full (the report takes principal axes parallel to the frame).
            3. Prismatic joints (the second line of each pair) are an extension.
            4. z q̇_i is formed once, on a line without a tag: z is sparse in the report, so the product is free.
               luh_walker_paul_1980 tags the same line, because Hollerbach charges z as dense.
Misprints   a_0 = 9.8 m/s² prints a scalar; read the vector -g, 9.8 z_0 (T10). 3.16 prints ω_i × z_{i-1}; read
            ω_{i-1} × z_{i-1}, because the sum is taken in frame i-1 (T5). The text at hand repeats 3.17 and
            has lost 3.18 to 3.20; they are rebuilt from 3.8, 3.9 and 3.12 (T11).
See also    luh_walker_paul_1980, turney_mudge_lee_1980_modified, newton_euler_notes
"""

import numpy as np

from forearm.algebra import cross, one_based
from forearm.arm import inward, outward


def reactions(arm, q, qd, qdd, *, tip_wrench=None):
    """Forces and moments (n, 3) that link i-1 exerts on link i, in the axes of link i, at origin i-1."""
    n_links, q, qd, qdd = len(arm.links), one_based(q), one_based(qd), one_based(qdd)
    R, r, s, I, m_a_bar = {}, {}, {}, {}, {}
    w, alpha = {0: np.zeros(3)}, {0: np.zeros(3)}
    a = {0: -arm.gravity_in_base}  # an elevator that accelerates upwards instead of gravity

    # outward, base to tip: velocities and accelerations
    for i in outward(arm):
        link = arm.links[i - 1]
        R[i], r[i], z = link.rotation(q[i]), link.p_star(q[i]), link.z
        m, r_bar, I[i] = link.about_com
        s[i] = r[i] + r_bar

        if link.revolute:
            z_qd = z * qd[i]
            w[i] = R[i].T @ (w[i - 1] + z_qd)  # (3.15)
            alpha[i] = R[i].T @ (alpha[i - 1] + cross(w[i - 1], z_qd) + z * qdd[i])  # (3.16)
            a[i] = cross(w[i], cross(w[i], r[i])) + cross(alpha[i], r[i]) + R[i].T @ a[i - 1]  # (3.17)
        else:
            w[i] = R[i].T @ w[i - 1]  # (3.15)
            alpha[i] = R[i].T @ alpha[i - 1]  # (3.16)
            slide = link.axis * qdd[i] + 2 * cross(w[i], link.axis * qd[i])  # (3.17)
            a[i] = (
                cross(w[i], cross(w[i], r[i])) + cross(alpha[i], r[i]) + R[i].T @ a[i - 1] + slide
            )  # (3.17)

        a_bar = cross(w[i], cross(w[i], r_bar)) + cross(alpha[i], r_bar) + a[i]  # (3.18)
        m_a_bar[i] = m * a_bar  # (3.19)

    # inward, tip to base: forces and moments
    f, n = _beyond_the_hand(n_links, R, tip_wrench)
    R[n_links + 1] = np.eye(3)
    for i in inward(arm):
        R_f = R[i + 1] @ f[i + 1]  # (3.19)
        f[i] = m_a_bar[i] + R_f  # (3.19)
        spin = I[i] @ alpha[i] + cross(w[i], I[i] @ w[i])  # (3.20)
        n[i] = spin + cross(s[i], m_a_bar[i]) + cross(r[i], R_f) + R[i + 1] @ n[i + 1]  # (3.20)
    order = range(1, n_links + 1)
    return np.array([f[i] for i in order]), np.array([n[i] for i in order])


def joint_torques(arm, q, qd, qdd, *, tip_wrench=None):
    """Joint torques (n,): the component of each reaction along its joint, (R_i^{i-1} z_{i-1})ᵗ n_i."""
    f, n = reactions(arm, q, qd, qdd, tip_wrench=tip_wrench)
    tau = []
    for link, f_i, n_i in zip(arm.links, f, n, strict=True):
        if link.revolute:
            tau.append(link.axis @ n_i)  # (3.21)
        else:
            tau.append(link.axis @ f_i)  # (3.21)
    return np.array(tau)


def _beyond_the_hand(n_links, R, tip_wrench):
    """f_{n+1}, n_{n+1}: what the hand exerts on its surroundings, as a wrist sensor tells it, in frame n."""
    f, n = {n_links + 1: np.zeros(3)}, {n_links + 1: np.zeros(3)}
    if tip_wrench is not None:
        force, moment = -np.asarray(tip_wrench)[:3], -np.asarray(tip_wrench)[3:]
        for i in range(1, n_links + 1):
            force, moment = R[i].T @ force, R[i].T @ moment
        f[n_links + 1], n[n_links + 1] = force, moment
    return f, n
