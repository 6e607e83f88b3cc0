"""Articulated bodies one axis at a time: the accelerations of a long chain in fewer operations.

featherstone_1983.py is the method to read; this is the same recursion for revolute joints, arranged for loops over
links. Between two joints axes turn about z by the joint's angle, then about the common normal x by a constant, so each
change of axes is two turns in a plane (as in S. McMillan and D. E. Orin, Efficient computation of articulated-body
inertias using successive axial screws, IEEE Trans. Robotics and Automation 11 (1995) 606-611,
doi:10.1109/70.406945). A turn by θ leaves the trace of a 2x2 block and its skew part as they are:

    [a b]      [a + t  b + u]      t = sin²θ (d - a) - sinθ cosθ (b + c)
    [c d]  ->  [c + u  d - t]      u = sinθ cosθ (a - d) - sin²θ (b + c)

A revolute joint passes no moment about its axis but its torque, so that the third row and column of what the link
before feels vanish before they are turned. Of a link is kept what the last walk reads: fewer numbers, less memory
to fetch for each link than there is to compute.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from forearm.algebra import Matrix, Scalar, Vector, cross, is_number, one_based, product, skew
from forearm.arm import Arm, inward, outward
from forearm.compiler.model.chains.composite_bodies import turned
from forearm.link import Link


def articulated_bodies(chain: Any, q: Any, qd: Any, tau: Any) -> list[Scalar]:
    """Joint accelerations; revolute joints. Numbers (F1)…(F9) are those of featherstone_1983.py."""
    q, qd, tau = one_based(q), one_based(qd), one_based(tau)
    turn: dict[int, Turn] = {}
    w, rate = {0: np.zeros(3)}, {}

    # outward: angular velocities
    for j in outward(chain):
        link = chain.links[j - 1]
        turn[j], rate[j] = Turn(*link.turn(q[j])), link.z[2] * qd[j]
        w[j] = _forth(chain, j, turn[j], w[j - 1]) + np.array([0.0, 0.0, rate[j]])  # (F1)

    # inward: what each link feels beyond its joint
    nothing = np.zeros((3, 3))
    feels = Articulated(nothing, nothing, nothing, nothing[0], nothing[0])
    drawn, driven, ca, cl = {}, {}, {}, {}
    for j in inward(chain):
        link = chain.links[j - 1]
        feels = feels.with_link(link.ten_at_joint, w[j])  # (F3)
        give, torque = 1.0 / feels.A[2, 2], link.z[2] * tau[j]
        drawn[j] = np.concatenate([feels.A[:2, 2], feels.H[2]]) * give  # (F4)
        driven[j] = (torque - feels.pn[2]) * give  # (F4)
        if j == 1:
            break
        ca[j] = np.array([w[j][1] * rate[j], -w[j][0] * rate[j]])  # (F2)
        P, X = _before(chain, j).p, _before(chain, j).R
        cl[j] = cross(w[j - 1], cross(w[j - 1], P))  # (F2), in the axes of the link before
        feels = feels.behind_joint(drawn[j], driven[j], torque, ca[j]).turned_back(turn[j], X)
        feels = feels.at_origin_before(P, cl[j])  # (F7), (F8)

    # outward: accelerations
    alpha, a = np.zeros(3), -chain.gravity_in_base
    qdd = []
    for j in outward(chain):
        if j > 1:
            a = a + cross(alpha, _before(chain, j).p) + cl[j]  # (F9)
        a, alpha = _forth(chain, j, turn[j], a), _forth(chain, j, turn[j], alpha)  # (F9)
        if j > 1:
            alpha = alpha + np.array([*ca[j], 0.0])  # (F9)
        alpha_z = driven[j] - drawn[j][:2] @ alpha[:2] - drawn[j][2:] @ a  # (F9)
        qdd.append(chain.links[j - 1].z[2] * (alpha_z - alpha[2]))
        alpha = np.array([alpha[0], alpha[1], alpha_z])
    return qdd


def gives_way_nowhere(arm: Arm) -> bool:
    """Whether M is singular at no state: every link alone gives its joint inertia about any axis, well above rounding.

    The recursion divides by what a joint feels, and rounding makes a large number of what should be none; elimination
    of M notices, so the other arms are left to it.
    """
    return not arm.has_symbols and all(_solid(link) for link in arm.links)


def _solid(link: Link) -> bool:
    moments = np.linalg.eigvalsh(np.array(link.about_com.inertia, dtype=float))
    return bool(link.mass > 0 and moments[0] > 1e-9 * moments[-1])


@dataclass(frozen=True)
class Turn:
    """The angle of a joint: its sine and cosine."""

    s: Scalar
    c: Scalar

    @property
    def squares(self) -> tuple[Scalar, Scalar]:
        """sin²θ and sinθ cosθ, which turn a block."""
        return self.s * self.s, self.s * self.c


@dataclass(frozen=True)
class Articulated:
    """An articulated inertia: moment = A α + H a + pn, force = Hᵀ α + M a + pf."""

    A: Matrix
    H: Matrix
    M: Matrix
    pn: Vector
    pf: Vector

    def with_link(self, ten: Any, w: Vector) -> Articulated:
        """The link itself added, which turns at w."""
        mass, h, J = ten
        return Articulated(
            self.A + J,
            self.H + skew(h),
            self.M + mass * np.eye(3),
            self.pn + cross(w, product(J, w)),
            self.pf + cross(w, cross(w, h)),
        )

    def behind_joint(self, drawn: Vector, driven: Scalar, torque: Scalar, ca: Vector) -> Articulated:
        """What is felt before a joint about z that gives way, in the axes behind it; (F5), (F6)."""
        Un, Uf = self.A[:2, 2], self.H[2]
        kn, kf = drawn[:2], drawn[2:]
        A, H, M = (x.astype(object) for x in (np.zeros((3, 3)), np.zeros((3, 3)), self.M))
        for i in range(2):
            A[i, i:2] = self.A[i, i:2] - kn[i] * Un[i:]
            H[i] = self.H[i] - kn[i] * Uf
        A[1, 0] = A[0, 1]
        for i in range(3):
            for k in range(i, 3):
                M[i, k] = M[k, i] = self.M[i, k] - kf[i] * Uf[k]
        pn = self.pn[:2] + Un * driven + A[:2, :2] @ ca
        pf = self.pf + Uf * driven + ca[0] * H[0] + ca[1] * H[1]
        return Articulated(A, H, M, np.array([pn[0], pn[1], torque]), pf)

    def turned_back(self, turn: Turn, X: Matrix) -> Articulated:
        """In the axes of the link before: turned about z by the joint, then by the constant X; (F7), (F8)."""
        A, H, M = (turned_in_plane(block, 0, 1, turn) for block in (self.A, self.H, self.M))
        pn, pf = (vector_in_plane(v, 0, 1, turn) for v in (self.pn, self.pf))
        about_x = _about_x(X)
        if about_x is None:
            H = product(product(X, H), X.T)
            return Articulated(turned(X, A), H, turned(X, M), product(X, pn), product(X, pf))
        A, H, M = (turned_in_plane(block, 1, 2, about_x) for block in (A, H, M))
        return Articulated(A, H, M, vector_in_plane(pn, 1, 2, about_x), vector_in_plane(pf, 1, 2, about_x))

    def at_origin_before(self, P: Vector, cl: Vector) -> Articulated:
        """At the origin of the joint before, P back, where this one's is carried along at cl; (F7), (F8)."""
        pf = self.pf + product(self.M, cl)
        pn = self.pn + product(self.H, cl) + cross(P, pf)
        S = skew(P)
        H = self.H + product(S, self.M)
        first, second = product(S, self.H.T), product(H, S)
        A = self.A.astype(object)
        for i in range(3):
            for k in range(i, 3):
                A[i, k] = A[k, i] = self.A[i, k] + (first[i, k] - second[i, k])
        return Articulated(A, H, self.M, pn, pf)


def vector_in_plane(v: Vector, i: int, k: int, turn: Turn) -> Vector:
    """A vector turned in the plane of axes i and k."""
    found = v.astype(object)
    found[i], found[k] = turn.c * v[i] - turn.s * v[k], turn.s * v[i] + turn.c * v[k]
    return found


def turned_in_plane(block: Matrix, i: int, k: int, turn: Turn) -> Matrix:
    """R X Rᵀ for a turn in the plane of axes i and k."""
    other = 3 - i - k
    ss, sc = turn.squares
    found = block.astype(object)
    d, b = block[k, k] - block[i, i], block[i, k] + block[k, i]
    t, u = ss * d - sc * b, -(sc * d + ss * b)
    found[i, i], found[k, k] = block[i, i] + t, block[k, k] - t
    found[i, k], found[k, i] = block[i, k] + u, block[k, i] + u
    found[other] = vector_in_plane(block[other], i, k, turn)
    found[:, other] = vector_in_plane(block[:, other], i, k, turn)
    return found


def _before(chain: Any, j: int) -> Any:
    """The constant pose between the frame of joint j-1 and the axis of joint j."""
    return chain.links[j - 2].pose if j > 1 else chain.root


def _about_x(X: Matrix) -> Turn | None:
    """A constant rotation as a turn about x, where it is one."""
    return Turn(X[2, 1], X[1, 1]) if is_number(X[0, 0]) and X[0, 0] == 1 else None


def _forth(chain: Any, j: int, turn: Turn, v: Vector) -> Vector:
    """A vector from the axes of link j-1 to those of link j."""
    v = product(_before(chain, j).R.T, v)
    return vector_in_plane(v, 0, 1, Turn(-turn.s, turn.c))
