"""Khalil and Kleinfinger (1987): Newton-Euler on ten linear parameters per link, frames at the joints.

Paper
    W. Khalil, J.-F. Kleinfinger, Minimum operations and minimum parameters of the dynamic models of tree
    structure robots, IEEE J. Robotics and Automation RA-3 (1987) 517-526, doi:10.1109/JRA.1987.1087145.
    The method as it is taught today; (K1)…(K9) below number its lines, not the paper's.

Gives       joint torques tau(q, qd, qdd).        Cost  O(n); 92n-127 | 81n-117 published for regrouped parameters.
Accepts     serial arms, revolute and prismatic joints; also a regrouped arm, whose ten parameters per link are
            base parameters (torques are the same, forces inside the arm are not: so no reactions here).
Frames      frame j sits at joint j, z_j along its axis, moving with link j; the way from frame j-1 is the constant
            pose X_{j-1}, then the joint: Rz(q) Tz(d). Drawing in docs/papers/khalil_kleinfinger_1987.md.

Symbols     (paper -> here; link vectors are in the frame of their own joint)
    ω_j      w[j]       (3,)    angular velocity                                        [rad/s]
    ω̇_j      wd[j]      (3,)    angular acceleration                                    [rad/s²]
    U_j      U[j]       (3, 3)  [ω̇]× + [ω]×[ω]×: acceleration field of the link         [1/s²]
    v̇_j      vd[j]      (3,)    acceleration of origin j, less gravity                  [m/s²]
    M_j      M                  mass                                                    [kg]
    MS_j     MS         (3,)    first moment about origin j                             [kg m]
    J_j      J          (3, 3)  inertia about origin j                                  [kg m²]
    F_j, N_j F[j], N[j] (3,)    force and moment about origin j that link j needs       [N], [N m]
    f_j, m_j f, m       (3,)    force and moment on link j at origin j                  [N], [N m]
    P_j      P[j]       (3,)    origin j-1 to origin j, in the frame of joint j-1       [m]
             X[j]       (3, 3)  rotation of the constant pose X_{j-1}; turn[j] is sine and cosine of joint j
             sign[j]            1, or -1 for a flipped joint: z_j in the axes of the joint
    τ_j      tau                torque, or force, of joint j                            [N m or N]

Order       gravity enters as the acceleration -g of the base.
Departs     1. The moment J ω̇ + ω × J ω is written with the entries of U, which are formed anyway: it then takes 14
               multiplications instead of 24.
            2. Vectors are turned by the joint's angle and by the constant rotation one after the other, so that a
               right angle costs nothing.
Misprints   None known: the method is that of W. Khalil, E. Dombre, Modeling, Identification and Control of Robots,
            Hermes Penton 2002; the lines were compared neither with that book nor with the paper's own print.
See also    luh_walker_paul_1980, walker_orin_1982
"""

import numpy as np

from forearm.algebra import cross, one_based, product
from forearm.arm import inward, outward


def joint_torques(arm, q, qd, qdd, *, tip_wrench=None):
    """Joint torques (n,)."""
    n, q, qd, qdd = len(arm.links), one_based(q), one_based(qd), one_based(qdd)
    turn, X, P, sign, F, N = {}, {}, {}, {}, {}, {}
    w, wd = {0: np.zeros(3)}, {0: np.zeros(3)}
    vd = {0: -arm.gravity_in_base}  # the base rushes up instead of gravity pulling down
    U = {0: np.zeros((3, 3))}

    # outward, base to tip: velocities, accelerations, and what each link needs
    for j in outward(arm):
        link = arm.links[j - 1]
        turn[j], X[j], P[j] = link.turn(q[j]), before(arm, j).R, step(arm, j, q[j])
        M, MS, J = link.ten_at_joint
        sign[j] = link.z[2]
        rate, push = sign[j] * qd[j], sign[j] * qdd[j]

        w_before = into(turn[j], X[j], w[j - 1])  # (K1)
        wd_before = into(turn[j], X[j], wd[j - 1])  # (K2)
        at_joint = into(turn[j], X[j], vd[j - 1] + U[j - 1] @ P[j])  # (K4)
        if link.revolute:
            w[j] = np.array([w_before[0], w_before[1], w_before[2] + rate])  # (K1)
            wd[j] = np.array(
                [wd_before[0] + w_before[1] * rate, wd_before[1] - w_before[0] * rate, wd_before[2] + push]
            )  # (K2)
            vd[j] = at_joint  # (K4)
        else:
            w[j] = w_before  # (K1)
            wd[j] = wd_before  # (K2)
            vd[j] = at_joint + np.array([2 * rate * w[j][1], -2 * rate * w[j][0], push])  # (K4)
        U[j] = field(w[j], wd[j])  # (K3)
        F[j] = M * vd[j] + U[j] @ MS  # (K5)
        N[j] = moment(J, w[j], wd[j]) + cross(MS, vd[j])  # (K6)

    # inward, tip to base: forces, moments, torques
    f_next, m_next = _tip(n, turn, X, arm, q, tip_wrench)
    tau = []
    for j in inward(arm):
        f = F[j] + f_next  # (K7)
        m = N[j] + m_next  # (K8)
        tau.insert(0, sign[j] * (m[2] if arm.links[j - 1].revolute else f[2]))  # (K9)
        f_next = out_of(turn[j], X[j], f)  # (K7)
        m_next = out_of(turn[j], X[j], m) + cross(P[j], f_next)  # (K8)
    return np.array(tau)


def before(arm, j):
    """X_{j-1}: the constant pose between the frame of joint j-1 and the axis of joint j."""
    return arm.links[j - 2].pose if j > 1 else arm.root


def step(arm, j, q_j):
    """P_j: origin j-1 to origin j in the frame of joint j-1."""
    x = before(arm, j)
    return x.p + x.R[:, 2] * arm.links[j - 1].length(q_j)


def into(turn, X, v):
    """A vector of frame j-1 seen in frame j: Rz(q)ᵀ Xᵀ v."""
    s, c = turn
    x, y, z = product(X.T, v)
    return np.array([c * x + s * y, c * y - s * x, z])


def out_of(turn, X, v):
    """A vector of frame j seen in frame j-1: X Rz(q) v."""
    s, c = turn
    x, y, z = v
    return product(X, np.array([c * x - s * y, s * x + c * y, z]))


def field(w, wd):
    """U = [ω̇]× + [ω]×[ω]×: six products."""
    x, y, z = w
    xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
    # fmt: off
    return np.array([
        [-(yy + zz),  xy - wd[2], xz + wd[1]],
        [xy + wd[2], -(xx + zz),  yz - wd[0]],
        [xz - wd[1],  yz + wd[0], -(xx + yy)],
    ])
    # fmt: on


def moment(J, w, wd):
    """J ω̇ + ω × J ω, written with products that U has too."""
    x, y, z = w
    xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
    return np.array(
        [
            J[0, 0] * wd[0]
            + (J[2, 2] - J[1, 1]) * yz
            + J[0, 1] * (wd[1] - xz)
            + J[0, 2] * (xy + wd[2])
            + J[1, 2] * (yy - zz),
            J[1, 1] * wd[1]
            + (J[0, 0] - J[2, 2]) * xz
            + J[1, 2] * (wd[2] - xy)
            + J[0, 1] * (yz + wd[0])
            + J[0, 2] * (zz - xx),
            J[2, 2] * wd[2]
            + (J[1, 1] - J[0, 0]) * xy
            + J[0, 2] * (wd[0] - yz)
            + J[1, 2] * (xz + wd[1])
            + J[0, 1] * (xx - yy),
        ]
    )


def _tip(n, turn, X, arm, q, tip_wrench):
    """What the hand exerts on its surroundings, seen at the last joint, in the frame of that joint."""
    if tip_wrench is None:
        return np.zeros(3), np.zeros(3)
    force, moment_ = -np.asarray(tip_wrench)[:3], -np.asarray(tip_wrench)[3:]
    for j in range(1, n + 1):
        force, moment_ = into(turn[j], X[j], force), into(turn[j], X[j], moment_)
    return force, moment_ + cross(arm.links[n - 1].pose.p, force)
