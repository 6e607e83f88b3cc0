"""Newton-Euler notes: recursion with explicit gravity, revolute and prismatic joints.

Paper
    Newton-Euler formulation for dynamics of an n-link manipulator, lecture notes, author and date not
    printed, companion of the RR example that euler_lagrange_notes follows.  Equation numbers below are the
    notes' own; their summary (19) repeats (8), (11), (12), and (20) repeats (13), (17), (18). The rate of
    (8) is tagged (8'), the turning of gravity (g_i).

Gives       joint torques tau(q, qd, qdd), the reactions f, tau at every joint, link velocities.
            Cost  O(n).
Accepts     serial arms, revolute and prismatic joints; an extra force and moment on any link.
Frames      frame i at the far end of link i, joint i along z of frame i-1; every quantity is in frame i. The
            notes write R_i^{i-1} for the rotation that takes frame i (subscript) to frame i-1 (superscript).
            Drawing in docs/papers/newton_euler_notes.md.

Symbols     (paper -> here; link vectors are in the frame of their own link)
    R_i^{i-1}  R[i]      (3, 3)  rotation, frame i to frame i-1; R_{i-1}^i is its transpose
    ω_i, ω̇_i   w[i], wd[i] (3,)  angular velocity and acceleration of link i          [rad/s], [rad/s²]
    R_0^i z_{i-1}  z     (3,)    axis of joint i                                            (constant)
    r_{i,i+1}  r_end     (3,)    start of link i (origin i-1) to its end (origin i)         [m]
    r_{i,ci}   r_start_c (3,)    start of link i (origin i-1) to its centre of mass         [m]
    r_{i+1,ci} r_end_c   (3,)    end of link i (origin i) to its centre of mass             [m]
    m_i        m                 mass of link i                                             [kg]
    I_i        I         (3, 3)  inertia of link i about its centre of mass                 [kg m²]
    a_{c,i}    a_c[i]    (3,)    acceleration of the centre of mass                         [m/s²]
    a_{e,i}    a_e[i]    (3,)    acceleration of the end of link i                          [m/s²]
    g_i        g[i]      (3,)    gravity                                                    [m/s²]
    f_i, τ_i   f[i], tau[i] (3,) force and torque exerted by link i-1 on link i             [N], [N m]
    F_e        tip_wrench (6,)   [force; moment] on the hand, at origin n, base axes        [N], [N m]
    v_{c,i}, v_{e,i}  v_c[i], v_e[i] (3,)  velocity of the centre of mass, of the end; frame 0  [m/s]
    τ of (22)  u                 generalised forces: torque, or force, of every joint       [N m or N]

Order       gravity is explicit, g_i in every link, and the base rests.
Departs     1. Start and end of link i are the origins i-1 and i of the Denavit-Hartenberg frames (N4).
            2. The angular acceleration, which the summary leaves out, is the rate of (8) and (13) (N5).
Misprints   (19) and (20) print R a_{c,i-1} in the line of a_{c,i}; read a_{e,i-1}, as (11) and (17) have it
            (N1). (15) to (18) and (20) print (R ω_{i-1}) × (R z) q̇ once for a prismatic joint; it counts
            twice, because r_{i,ci} starts at origin i-1 and lengthens with q_i (N2). (23) prints + Jᵀ F_e
            with F_e on the end-effector; read - Jᵀ F_e, or F_e exerted by the end-effector (N3).
See also    luh_walker_paul_1980, euler_lagrange_notes
"""

import numpy as np

from forearm.algebra import cross, one_based
from forearm.arm import inward, outward


def motion(arm, q, qd, qdd):
    """Outward recursion: dictionaries w, wd, a_c, a_e, g by link number, (3,) each, in link axes."""
    q, qd, qdd = one_based(q), one_based(qd), one_based(qdd)
    w, wd = {0: np.zeros(3)}, {0: np.zeros(3)}
    a_c, a_e, g = {0: np.zeros(3)}, {0: np.zeros(3)}, {0: arm.gravity_in_base}

    # outward, base to tip: velocities and accelerations
    for i in outward(arm):
        link = arm.links[i - 1]
        R, z, r_end = link.rotation(q[i]), link.axis, link.p_star(q[i])
        r_start_c = r_end + link.about_com.center

        if link.revolute:
            w[i] = R.T @ w[i - 1] + z * qd[i]  # (8)
            wd[i] = R.T @ wd[i - 1] + cross(R.T @ w[i - 1], z * qd[i]) + z * qdd[i]  # (8')
            a_c[i] = R.T @ a_e[i - 1] + cross(wd[i], r_start_c) + cross(w[i], cross(w[i], r_start_c))  # (11)
            a_e[i] = R.T @ a_e[i - 1] + cross(wd[i], r_end) + cross(w[i], cross(w[i], r_end))  # (12)
        else:
            w[i] = R.T @ w[i - 1]  # (13)
            wd[i] = R.T @ wd[i - 1]  # (8')
            slide = 2 * cross(R.T @ w[i - 1], z * qd[i]) + z * qdd[i]  # (17)
            a_c[i] = (
                R.T @ a_e[i - 1] + cross(wd[i], r_start_c) + cross(w[i], cross(w[i], r_start_c)) + slide
            )  # (17)
            a_e[i] = R.T @ a_e[i - 1] + cross(wd[i], r_end) + cross(w[i], cross(w[i], r_end)) + slide  # (18)
        g[i] = R.T @ g[i - 1]  # (g_i)
    return w, wd, a_c, a_e, g


def reactions(arm, q, qd, qdd, *, tip_wrench=None, extra_forces=None):
    """Forces and torques (n, 3) that link i-1 exerts on link i, in the axes of link i, at origin i-1.

    `extra_forces` maps link numbers 1…n to [force; moment] (6,) on that link, the force at the link's centre
    of mass, in the axes of the link.
    """
    n, q = len(arm.links), one_based(q)
    w, wd, a_c, _, g = motion(arm, q[1:], qd, qdd)
    R = {i: link.rotation(q[i]) for i, link in enumerate(arm.links, 1)}
    f, tau = _beyond_the_hand(n, R, tip_wrench)
    R[n + 1] = np.eye(3)

    # inward, tip to base: forces and torques
    for i in inward(arm):
        link = arm.links[i - 1]
        m, r_end_c, I = link.about_com
        r_start_c = link.p_star(q[i]) + r_end_c
        R_f = R[i + 1] @ f[i + 1]  # (21)
        f[i] = R_f - m * g[i] + m * a_c[i]  # (21)
        tau[i] = R[i + 1] @ tau[i + 1] + cross(R_f, r_end_c) + I @ wd[i] + cross(w[i], I @ w[i])  # (21)
        if extra_forces is not None and i in extra_forces:
            extra = np.asarray(extra_forces[i])
            f[i] = f[i] - extra[:3]  # (5)
            tau[i] = tau[i] - extra[3:]  # (6)
        tau[i] = tau[i] - cross(f[i], r_start_c)  # (21)
    order = range(1, n + 1)
    return np.array([f[i] for i in order]), np.array([tau[i] for i in order])


def joint_torques(arm, q, qd, qdd, *, tip_wrench=None, extra_forces=None):
    """Joint torques (n,): τᵢᵀ z if revolute, fᵢᵀ z if prismatic; arguments as in `reactions`."""
    f, tau = reactions(arm, q, qd, qdd, tip_wrench=tip_wrench, extra_forces=extra_forces)
    u = []
    for link, f_i, tau_i in zip(arm.links, f, tau, strict=True):
        if link.revolute:
            u.append(link.axis @ tau_i)  # (22)
        else:
            u.append(link.axis @ f_i)  # (22)
    return np.array(u)


def velocities(arm, q, qd):
    """Velocities of the centres of mass and of the ends, and angular velocities, each (n, 3), base axes."""
    q, qd = one_based(q), one_based(qd)
    R, w, v_c, v_e = {0: np.eye(3)}, {0: np.zeros(3)}, {}, {0: np.zeros(3)}
    for i in outward(arm):
        link = arm.links[i - 1]
        z, R[i] = R[i - 1] @ link.z, R[i - 1] @ link.rotation(q[i])
        r_end = R[i] @ link.p_star(q[i])
        r_start_c = r_end + R[i] @ link.about_com.center
        if link.revolute:
            w[i] = w[i - 1] + z * qd[i]  # (7)
            v_c[i] = v_e[i - 1] + cross(w[i], r_start_c)  # (9)
            v_e[i] = v_e[i - 1] + cross(w[i], r_end)  # (v_e)
        else:
            w[i] = w[i - 1]  # (13)
            v_c[i] = v_e[i - 1] + cross(w[i], r_start_c) + z * qd[i]  # (14)
            v_e[i] = v_e[i - 1] + cross(w[i], r_end) + z * qd[i]  # (v_e)
    order = range(1, len(arm.links) + 1)
    return tuple(np.array([x[i] for i in order]) for x in (v_c, v_e, w))


def forces_without_rotation(arm, q, qdd):
    """Forces (n, 3) that link i-1 exerts on link i, in base axes, where nothing turns.

    The notes' special case: all joints prismatic, so ω = 0, the torque equations are not needed and the force
    equations may as well be written in the inertial frame. A revolute joint is taken as held still. The
    generalised force of a prismatic joint is the component of f_i along its axis.
    """
    q, qdd, a_c, f = one_based(q), one_based(qdd), {}, {len(arm.links) + 1: np.zeros(3)}
    R, a_e = np.eye(3), np.zeros(3)
    for i in outward(arm):
        link = arm.links[i - 1]
        if link.prismatic:
            a_e = a_e + (R @ link.z) * qdd[i]  # (16)
        a_c[i] = a_e  # (16)
        R = R @ link.rotation(q[i])
    for i in inward(arm):
        m = arm.links[i - 1].about_com.mass
        f[i] = f[i + 1] - m * arm.gravity_in_base + m * a_c[i]  # (5)
    return np.array([f[i] for i in range(1, len(arm.links) + 1)])


def wrench_torques(arm, q, tip_wrench):
    """Jᵀ F_e (n,): a wrench on the hand as the joints feel it; joint torques change by minus this."""
    q, R, o, z = one_based(q), {0: np.eye(3)}, {0: np.zeros(3)}, {}
    for i in outward(arm):
        link = arm.links[i - 1]
        z[i] = R[i - 1] @ link.z
        o[i] = o[i - 1] + R[i - 1] @ link.p_before(q[i])
        R[i] = R[i - 1] @ link.rotation(q[i])
    n, force, moment, tau = len(arm.links), np.asarray(tip_wrench)[:3], np.asarray(tip_wrench)[3:], []
    for i in outward(arm):
        if arm.links[i - 1].revolute:
            tau.append(cross(z[i], o[n] - o[i - 1]) @ force + z[i] @ moment)  # (23)
        else:
            tau.append(z[i] @ force)  # (23)
    return np.array(tau)


def _beyond_the_hand(n, R, tip_wrench):
    """f_{n+1} and τ_{n+1}: what the hand exerts on its surroundings, in frame n."""
    f, tau = {n + 1: np.zeros(3)}, {n + 1: np.zeros(3)}
    if tip_wrench is not None:
        force, moment = -np.asarray(tip_wrench)[:3], -np.asarray(tip_wrench)[3:]
        for i in range(1, n + 1):
            force, moment = R[i].T @ force, R[i].T @ moment
        f[n + 1], tau[n + 1] = force, moment
    return f, tau
