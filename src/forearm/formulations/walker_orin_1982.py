"""Walker and Orin (1982): the mass matrix from composite bodies.

Paper
    M. W. Walker, D. E. Orin, Efficient dynamic computer simulation of robotic mechanisms, ASME J. Dynamic
    Systems, Measurement, and Control 104 (1982) 205-211, doi:10.1115/1.3139699, method 3.
    (W1)…(W5) below number the lines of the method, not the paper's equations.

Gives       mass matrix M(q).                     Cost  O(n²).
Accepts     serial arms, revolute and prismatic joints; also a regrouped arm (base parameters).
Frames      as in khalil_kleinfinger_1987: frame j at joint j, z_j along its axis, moving with link j.

Symbols     (paper -> here; in the frame of joint j)
    M_j      mass               mass of links j … n                                     [kg]
    h_j      h          (3,)    their first moment about origin j                       [kg m]
    J_j      J          (3, 3)  their inertia about origin j                            [kg m²]
    f, m     f, m       (3,)    force and moment at origin i when joint j alone accelerates by one
    P_j      P          (3,)    origin j-1 to origin j, in the frame of joint j-1       [m]
             X          (3, 3)  rotation of the constant pose X_{j-1}; turn is sine and cosine of joint j
             sign               1, or -1 for a flipped joint: z_j in the axes of the joint
    M_ij     M[i, j]            mass matrix                                             [kg m², kg m or kg]

Departs     1. Ten linear parameters per body instead of mass, centre and inertia about it: composites then add.
            2. A symmetric matrix is turned about z with four multiplications for its upper block.
Misprints   None known: the method is that of R. Featherstone, Rigid Body Dynamics Algorithms, Springer 2008, chapter
            6; the lines were not compared with the paper's own print.
See also    khalil_kleinfinger_1987, featherstone_1983
"""

import numpy as np

from forearm.algebra import cross, one_based, parallel_axis, product
from forearm.arm import inward


def mass_matrix(arm, q):
    """M (n, n), symmetric."""
    n, q = len(arm.links), one_based(q)
    M = {}
    mass, h, J = 0.0, np.zeros(3), np.zeros((3, 3))

    # inward, tip to base: composite bodies, and one column of M for each
    for j in inward(arm):
        link = arm.links[j - 1]
        own_mass, own_h, own_J = link.ten_at_joint
        mass, h, J = mass + own_mass, h + own_h, J + own_J  # (W1)

        # the force and moment that one unit of acceleration of joint j asks for
        sign = link.z[2]
        if link.revolute:
            f = sign * np.array([-h[1], h[0], 0.0])  # (W2)
            m = sign * np.array([J[0, 2], J[1, 2], J[2, 2]])  # (W2)
        else:
            f = sign * np.array([0.0, 0.0, mass])  # (W2)
            m = sign * np.array([h[1], -h[0], 0.0])  # (W2)
        for i in range(j, 0, -1):
            here = arm.links[i - 1]
            M[i, j] = here.z[2] * (m[2] if here.revolute else f[2])  # (W3)
            f = out_of(here.turn(q[i]), before(arm, i).R, f)  # (W4)
            m = out_of(here.turn(q[i]), before(arm, i).R, m) + cross(step(arm, i, q[i]), f)  # (W4)

        # the composite seen from the joint before
        P, X, turn = step(arm, j, q[j]), before(arm, j).R, link.turn(q[j])
        h = out_of(turn, X, h)  # (W5)
        J = product(product(X, turned_about_z(turn, J)), X.T) + shifted(h, P) + parallel_axis(mass, P)  # (W5)
        h = h + mass * P  # (W5)
    return np.array([[M[min(i, j), max(i, j)] for j in range(1, n + 1)] for i in range(1, n + 1)])


def before(arm, j):
    """X_{j-1}: the constant pose between the frame of joint j-1 and the axis of joint j."""
    return arm.links[j - 2].pose if j > 1 else arm.root


def step(arm, j, q_j):
    """P_j: origin j-1 to origin j in the frame of joint j-1."""
    x = before(arm, j)
    return x.p + x.R[:, 2] * arm.links[j - 1].length(q_j)


def out_of(turn, X, v):
    """A vector of frame j seen in frame j-1: X Rz(q) v."""
    s, c = turn
    x, y, z = v
    return product(X, np.array([c * x - s * y, s * x + c * y, z]))


def turned_about_z(turn, J):
    """Rz J Rzᵀ for a symmetric J: with u = s (Jxx - Jyy) + 2 c Jxy the block is Jxx - s u, Jyy + s u, c u - Jxy."""
    s, c = turn
    u = s * (J[0, 0] - J[1, 1]) + c * (2 * J[0, 1])
    su = s * u
    xy, xz, yz = c * u - J[0, 1], c * J[0, 2] - s * J[1, 2], s * J[0, 2] + c * J[1, 2]
    # fmt: off
    return np.array([
        [J[0, 0] - su, xy,           xz],
        [xy,           J[1, 1] + su, yz],
        [xz,           yz,           J[2, 2]],
    ])
    # fmt: on


def shifted(h, P):
    """2 P·h E - P hᵀ - h Pᵀ: what the inertia about the origin gains when the body moves by P."""
    xx, yy, zz = h[0] * P[0], h[1] * P[1], h[2] * P[2]
    xy, xz, yz = -(h[0] * P[1] + h[1] * P[0]), -(h[0] * P[2] + h[2] * P[0]), -(h[1] * P[2] + h[2] * P[1])
    # fmt: off
    return np.array([
        [2 * (yy + zz), xy,            xz],
        [xy,            2 * (zz + xx), yz],
        [xz,            yz,            2 * (xx + yy)],
    ])
    # fmt: on
