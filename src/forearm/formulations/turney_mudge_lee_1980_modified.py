"""Turney, Mudge and Lee (1980): the modified Newton-Euler set of section 5.

Paper
    J. L. Turney, T. N. Mudge, C. S. G. Lee, Equivalence of two formulations for robot arm dynamics, Systems
    Engineering Laboratory, University of Michigan, Ann Arbor, December 1980.  Equation numbers below are the
    report's own. The matrix A_i and the equation for a_i carry no number; they are tagged (A_i) and (a_i).

Gives       joint torques tau(q, qd, qdd), and the reactions f, n at every joint.
            Cost  O(n); Table 4 of the report: 90n-27 | 88n-24.
Accepts     serial arms; revolute joints as in the report, prismatic joints as an extension.
Frames      frame i fixed in link i at its far end, joint i along z of frame i-1; every vector is in the frame
            that its index names. Drawing in docs/papers/turney_mudge_lee_1980_modified.md.

Symbols     (paper -> here; link vectors are in the frame of their own link)
    R_{i-1}^i  R[i]      (3, 3)  rotation, frame i to frame i-1; R_i^{i-1} is its transpose
    z_{i-1}    z         (3,)    axis of joint i, in frame i-1
    r_i        r[i]      (3,)    origin i-1 to origin i                                       [m]
    r̄_i        r_bar     (3,)    origin i to the centre of mass of link i                     [m]
    m_i        m                 mass of link i                                               [kg]
    r_i + r̄_i  s[i]      (3,)    origin i-1 to the centre of mass of link i                   [m]
    ω_i, α_i   w[i], alpha[i] (3,) angular velocity and acceleration of link i          [rad/s], [rad/s²]
    A_i        A[i]      (3, 3)  the operation b -> ω × (ω × b) + α × b                       [1/s²]
    a_i        a[i]      (3,)    acceleration of origin i, less gravity                       [m/s²]
    m_i ā_i    m_a_bar[i] (3,)   mass times acceleration of the centre of mass, less gravity  [N]
    K_i        K[i]      (3, 3)  second moments of link i about its centre of mass            [kg m²]
    f_i, n_i   f[i], n[i] (3,)   force and moment exerted on link i by link i-1               [N], [N m]
    τ_i        tau               torque, or force, of actuator i                              [N m or N]

Order       gravity enters as the acceleration a_0 = -g of the base.
Departs     1. R_i^{i-1} a_{i-1}, m_i ā_i and R_i^{i+1} f_{i+1} are formed once; r_i + r̄_i and K_i are
               constants.
            2. Inertias may be full; K_i = tr(I_i)/2 E - I_i, of which the report prints the diagonal.
            3. a_n is not formed, because nothing asks for it: Table 4 counts a_i for n-1 links.
            4. Prismatic joints (the second line of each pair) are an extension.
            5. z q̇_i is formed once, on a line without a tag: z is sparse in the report, so the product is free.
               luh_walker_paul_1980 tags the same line, because Hollerbach charges z as dense.
Misprints   A_i(3,2) prints ω_z ω_y + α_z; read α_x, as α × b has it (T1). The x component of Tr{A K σᵗ} is
            printed (AK)_yz - (AK)_zy; read (AK)_zy - (AK)_yz (T2). K_i is said to be about origin i-1; the
            matrix printed is about the centre of mass, and that is what ā_i in 5.2 needs (T3). 5.2 ends in
            R_i^{i+1} n_i; read n_{i+1} (T4). 3.16 prints ω_i × z_{i-1}; read ω_{i-1} (T5). a_0 = 9.8 m/s²:
            read the vector -g (T10).
See also    turney_mudge_lee_1980_newton_euler, hollerbach_1980_3x3
"""

import numpy as np

from forearm.algebra import cross, one_based, second_moment
from forearm.arm import inward, outward


def acceleration_matrix(w, alpha):
    """A (3, 3): A b = ω × (ω × b) + α × b for every vector b fixed in the link."""
    x, y, z = w
    ax, ay, az = alpha
    xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z  # (A_i)
    # fmt: off
    return np.array([
        [-(yy + zz),    xy - az,    xz + ay],
        [   xy + az, -(zz + xx),    yz - ax],
        [   xz - ay,    yz + ax, -(xx + yy)],
    ])  # (A_i)
    # fmt: on


def trace_with_sigma(A, K):
    """Tr{A K σᵗ} (3,): the moment I α + ω × I ω of a body with second moments K."""
    x = A[2] @ K[:, 1] - A[1] @ K[:, 2]  # (5.2)
    y = A[0] @ K[:, 2] - A[2] @ K[:, 0]  # (5.2)
    z = A[1] @ K[:, 0] - A[0] @ K[:, 1]  # (5.2)
    return np.array([x, y, z])


def reactions(arm, q, qd, qdd, *, tip_wrench=None):
    """Forces and moments (n, 3) that link i-1 exerts on link i, in the axes of link i, at origin i-1."""
    n_links, q, qd, qdd = len(arm.links), one_based(q), one_based(qd), one_based(qdd)
    R, r, s, A, K, m_a_bar = {}, {}, {}, {}, {}, {}
    w, alpha = {0: np.zeros(3)}, {0: np.zeros(3)}
    a = {0: -arm.gravity_in_base}  # an elevator that accelerates upwards instead of gravity

    # outward, base to tip: velocities and accelerations
    for i in outward(arm):
        link = arm.links[i - 1]
        R[i], r[i], z = link.rotation(q[i]), link.p_star(q[i]), link.z
        m, r_bar, I = link.about_com
        s[i] = r[i] + r_bar
        K[i] = second_moment(I)

        if link.revolute:
            z_qd = z * qd[i]
            w[i] = R[i].T @ (w[i - 1] + z_qd)  # (3.15)
            alpha[i] = R[i].T @ (alpha[i - 1] + cross(w[i - 1], z_qd) + z * qdd[i])  # (3.16)
            a_before = R[i].T @ a[i - 1]  # (a_i)
        else:
            w[i] = R[i].T @ w[i - 1]  # (3.15)
            alpha[i] = R[i].T @ alpha[i - 1]  # (3.16)
            slide = link.axis * qdd[i] + 2 * cross(w[i], link.axis * qd[i])  # (a_i)
            a_before = R[i].T @ a[i - 1] + slide  # (a_i)

        A[i] = acceleration_matrix(w[i], alpha[i])
        m_a_bar[i] = m * (A[i] @ s[i] + a_before)  # (5.1)
        if i < n_links:  # as Table 4 counts it: no link asks for a_n
            a[i] = A[i] @ r[i] + a_before  # (a_i)

    # inward, tip to base: forces and moments
    f, n = _beyond_the_hand(n_links, R, tip_wrench)
    R[n_links + 1] = np.eye(3)
    for i in inward(arm):
        R_f = R[i + 1] @ f[i + 1]  # (5.1)
        f[i] = m_a_bar[i] + R_f  # (5.1)
        spin = trace_with_sigma(A[i], K[i])
        n[i] = spin + cross(s[i], m_a_bar[i]) + cross(r[i], R_f) + R[i + 1] @ n[i + 1]  # (5.2)
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
