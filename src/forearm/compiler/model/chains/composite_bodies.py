"""Composite bodies in base axes: what each link adds to the mass matrix of a long chain.

In link axes, as Walker and Orin have it, every entry of M costs two changes of axes on the way to the base: 30
operations for each pair of links. In base axes there is nothing to turn. With p_i the origin of joint i, z_i its axis,
and f_j, m_j the force and the moment at p_j that a unit of acceleration of joint j asks of the links from j on,

    M_ij = z_i · (m_j + (p_j - p_i) × f_j)        for i ≤ j,

three subtractions, nine products and eight sums. Positions enter as differences, so that links far from the base lose
no digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from forearm.algebra import Matrix, Vector, cross, one_based, parallel_axis, product
from forearm.arm import inward, outward

OF_A_LINK = 12
"""Numbers of each link: z, p, f, m, three each."""

PAIR = ["sub"] * 3 + ["fma"] * 6 + ["mul"] + ["fma"] * 2
"""The operations of one entry of M."""


def composite_bodies(chain: Any, q: Any) -> list[Vector]:
    """z, p, f and m of each joint, as twelve numbers; revolute joints."""
    n, q = len(chain.links), one_based(q)
    R, p, z = {0: np.eye(3)}, {0: np.zeros(3)}, {}
    for j in outward(chain):
        before = chain.links[j - 2].pose if j > 1 else chain.root
        s, c = chain.links[j - 1].turn(q[j])
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        p[j] = p[j - 1] + product(R[j - 1], before.p + before.R[:, 2] * chain.links[j - 1].length(q[j]))
        R[j] = product(product(R[j - 1], before.R), turn)
        z[j] = R[j][:, 2] * chain.links[j - 1].z[2]

    rows: dict[int, Vector] = {}
    mass, h, J = 0.0, np.zeros(3), np.zeros((3, 3))
    for j in inward(chain):
        own_mass, own_h, own_J = chain.links[j - 1].ten_at_joint
        mass, h, J = mass + own_mass, h + product(R[j], own_h), J + turned(R[j], own_J)
        rows[j] = np.concatenate([z[j], p[j], cross(z[j], h), product(J, z[j])])
        P = p[j] - p[j - 1]
        J = J + shifted(h, P) + parallel_axis(mass, P)
        h = h + P * mass
    return [rows[j] for j in range(1, n + 1)]


def turned(R: Matrix, J: Matrix) -> Matrix:
    """R J Rᵀ, its lower half copied from the upper."""
    RJ = product(R, J)
    upper = {(i, k): RJ[i] @ R[k] for i in range(3) for k in range(i, 3)}
    return np.array([[upper[min(i, k), max(i, k)] for k in range(3)] for i in range(3)])


def shifted(h: Vector, P: Vector) -> Matrix:
    """2 P·h E - P hᵀ - h Pᵀ: what the inertia about the origin gains when the body moves by P."""
    along = [h[i] * P[i] for i in range(3)]
    across = {(i, k): -(h[i] * P[k] + h[k] * P[i]) for i in range(3) for k in range(i + 1, 3)}
    diagonal = [2 * (along[1] + along[2]), 2 * (along[2] + along[0]), 2 * (along[0] + along[1])]
    return np.array(
        [[diagonal[i] if i == k else across[min(i, k), max(i, k)] for k in range(3)] for i in range(3)]
    )
