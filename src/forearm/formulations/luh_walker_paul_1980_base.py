"""Luh, Walker and Paul (1980): Newton-Euler recursion in base coordinates.

Paper
    J. Y. S. Luh, M. W. Walker, R. P. C. Paul, On-line computational scheme for mechanical manipulators,
    ASME J. Dynamic Systems, Measurement, and Control 102 (1980) 69-76, as J. M. Hollerbach presents it in A
    recursive Lagrangian formulation of manipulator dynamics, IEEE Trans. SMC-10 (1980) 730-736,
    doi:10.1109/TSMC.1980.4308393, "Recursive Newton-Euler dynamics". That section prints its equations
    without numbers; (NE1)…(NE9) below number them in the paper's order.

Gives       joint torques tau(q, qd, qdd), and the reactions f, n at every joint.    Cost  O(n).
Accepts     serial arms; revolute joints as in the paper, prismatic joints as an extension.
Frames      frame i at the far end of link i, joint i along z of frame i-1; every vector is in base axes.
            Drawing in docs/papers/luh_walker_paul_1980_base.md.

Symbols     (paper -> here; all in base axes)
    W_i      W[i]       (3, 3)  rotation, axes of link i to base axes
    z_{i-1}  z[i-1]     (3,)    axis of joint i
    p*_i     p_star[i]  (3,)    origin i-1 to origin i                                 [m]
    r*_i     r_star[i]  (3,)    origin i to the centre of mass of link i               [m]
    m_i      m                  mass of link i                                         [kg]
    I_i      I          (3, 3)  inertia about the centre of mass, W_i ⁱI_i W_iᵀ        [kg m²]
    ω_i      w[i]       (3,)    angular velocity of link i                             [rad/s]
    ω̇_i      wd[i]      (3,)    angular acceleration of link i                         [rad/s²]
    p̈_i      pdd[i]     (3,)    acceleration of origin i, less gravity                 [m/s²]
    r̈_i      rdd        (3,)    acceleration of the centre of mass, less gravity       [m/s²]
    F_i, N_i F[i], N[i] (3,)    force and moment that link i needs                     [N], [N m]
    f_i, n_i f[i], n[i] (3,)    force and moment exerted on link i by link i-1         [N], [N m]
    τ_i      tau                input torque, or force, at joint i                     [N m or N]

Order       gravity is not mentioned in the section; the base is given the acceleration -g (H8). `reactions`
            turns f and n into the axes of their own link, as every formulation here returns them.
Departs     1. Prismatic joints (the second line of each pair) are an extension.
Misprints   Gravity is left out (H8). The section is general in wording, revolute in fact (H9).
See also    luh_walker_paul_1980, newton_euler_notes
"""

import numpy as np

from forearm.algebra import cross, one_based
from forearm.arm import inward, outward


def joint_torques(arm, q, qd, qdd, *, tip_wrench=None):
    """Joint torques (n,): the component of each reaction along its joint."""
    f, n, z, _ = _recursion(arm, q, qd, qdd, tip_wrench)
    tau = []
    for i, link in enumerate(arm.links, 1):
        if link.revolute:
            tau.append(z[i - 1] @ n[i])  # (NE9)
        else:
            tau.append(z[i - 1] @ f[i])  # (NE9)
    return np.array(tau)


def reactions(arm, q, qd, qdd, *, tip_wrench=None):
    """Forces and moments (n, 3) that link i-1 exerts on link i, in the axes of link i, at origin i-1."""
    f, n, _, W = _recursion(arm, q, qd, qdd, tip_wrench)
    links = range(1, len(arm.links) + 1)
    return np.array([W[i].T @ f[i] for i in links]), np.array([W[i].T @ n[i] for i in links])


def _recursion(arm, q, qd, qdd, tip_wrench):
    """f_i, n_i, z_i and W_i of every link, in base axes."""
    n_links, q, qd, qdd = len(arm.links), one_based(q), one_based(qd), one_based(qdd)
    W, z, p_star, r_star, F, N = {0: np.eye(3)}, {}, {}, {}, {}, {}
    w, wd = {0: np.zeros(3)}, {0: np.zeros(3)}
    pdd = {0: -arm.gravity_in_base}  # the base rushes up instead of gravity pulling down

    # outward, base to tip: velocities and accelerations
    for i in outward(arm):
        link = arm.links[i - 1]
        m, r, I_link = link.about_com
        W[i] = W[i - 1] @ link.rotation(q[i])
        z[i - 1], p_star[i], r_star[i] = W[i - 1] @ link.z, W[i] @ link.p_star(q[i]), W[i] @ r
        I = W[i] @ I_link @ W[i].T

        if link.revolute:
            w[i] = w[i - 1] + z[i - 1] * qd[i]  # (NE1)
            wd[i] = wd[i - 1] + z[i - 1] * qdd[i] + cross(w[i - 1], z[i - 1] * qd[i])  # (NE2)
            pdd[i] = cross(wd[i], p_star[i]) + cross(w[i], cross(w[i], p_star[i])) + pdd[i - 1]  # (NE3)
        else:
            w[i] = w[i - 1]  # (NE1)
            wd[i] = wd[i - 1]  # (NE2)
            slide = z[i - 1] * qdd[i] + 2 * cross(w[i], z[i - 1] * qd[i])  # (NE3)
            pdd[i] = (
                cross(wd[i], p_star[i]) + cross(w[i], cross(w[i], p_star[i])) + pdd[i - 1] + slide
            )  # (NE3)

        rdd = cross(w[i], cross(w[i], r_star[i])) + cross(wd[i], r_star[i]) + pdd[i]  # (NE4)
        F[i] = m * rdd  # (NE5)
        N[i] = I @ wd[i] + cross(w[i], I @ w[i])  # (NE6)

    # inward, tip to base: forces and moments
    f, n = _tip(n_links, tip_wrench)
    for i in inward(arm):
        f[i] = F[i] + f[i + 1]  # (NE7)
        n[i] = n[i + 1] + N[i] + cross(p_star[i] + r_star[i], F[i]) + cross(p_star[i], f[i + 1])  # (NE8)
    return f, n, z, W


def _tip(n_links, tip_wrench):
    """Forces and moments beyond the last link: what the hand exerts on its surroundings."""
    if tip_wrench is None:
        return {n_links + 1: np.zeros(3)}, {n_links + 1: np.zeros(3)}
    return {n_links + 1: -np.asarray(tip_wrench)[:3]}, {n_links + 1: -np.asarray(tip_wrench)[3:]}
