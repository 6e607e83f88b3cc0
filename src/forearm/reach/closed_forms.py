"""Every solution at once, for arms whose geometry allows it: spherical wrists, and three parallel axes.

An arm is read as a product of turns about the axes that it has at q = 0 (Brockett, 1984): T = e₁ e₂ … e₆ M. What the
axes are to each other decides how the six unknowns come apart:

    spherical wrist     axes 4, 5, 6 meet in a point, whose place depends on three joints alone:
                        - axes 2 and 3 parallel (PUMA 560 and most of its successors), or
                        - axes 1 and 2 meet, and joint 3 turns or slides (the Stanford arm)
    parallel axes       axes 2, 3, 4 parallel, 5 and 6 meet (the arms of Universal Robots)

The three joints have up to four solutions, the others two each time: eight branches. The subproblems are those of
subproblems.py. Signs, offsets, the order of axes within a pair of directions: nothing of that is asked for.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from forearm import kinematics
from forearm.algebra import Matrix, Scalar, Vector, product, sqrt, where
from forearm.arm import Arm
from forearm.reach.iteration import bounds
from forearm.reach.subproblems import (
    Turn,
    across,
    angle,
    apart,
    back,
    dot,
    inclined,
    level,
    onto,
    together,
    turned,
    two_turns,
)

BRANCHES = 8
EXACT = 1e-9
"""How well axes must meet (in units of the arm), or be parallel [rad], to count as doing so."""
INSIDE = 1e-12
"""A joint may be this far beyond its limit before a turn is taken off [rad]."""
TURN = 2 * np.pi
Branch = tuple[list[Any], list[Scalar]]
"""A Turn (or a length) for each joint, and margins: below zero where the branch does not exist."""


@dataclass(frozen=True)
class Geometry:
    """The arm at q = 0, world axes, lengths in units of its own size: margins mean the same of every arm."""

    unit: float
    """Such a unit [m]: a power of two, which rounds nothing."""
    axes: tuple[Vector, ...]
    """Unit vectors along the joints' axes, in the sense of growing q."""
    points: tuple[Vector, ...]
    """A point on each axis."""
    R: Matrix
    """Orientation of the frame."""
    p: Vector
    """Where it is."""
    turning: tuple[bool, ...]
    """Whether a joint is revolute."""

    def parallel(self, i: int, j: int) -> bool:
        """Whether two axes are, joints counted from 1; opposite senses too."""
        return bool(np.linalg.norm(np.cross(self.axes[i - 1], self.axes[j - 1])) < EXACT)

    def crossing(self, i: int, j: int) -> Vector | None:
        """Where two axes meet; None where they do not, or everywhere."""
        a, b = self.axes[i - 1], self.axes[j - 1]
        normal = np.cross(a, b)
        if self.parallel(i, j):
            return None
        between = self.points[j - 1] - self.points[i - 1]
        if abs(between @ normal) > EXACT * np.linalg.norm(normal):
            return None
        along = np.linalg.det([between, b, normal]) / (normal @ normal)
        found: Vector = self.points[i - 1] + along * a
        return found

    def on_axis(self, point: Vector, i: int) -> bool:
        """Whether a point lies on an axis."""
        return bool(np.linalg.norm(np.cross(point - self.points[i - 1], self.axes[i - 1])) < EXACT)


def geometry(arm: Arm, frame: str | int) -> Geometry:
    """What a closed form needs to know."""
    zero = np.zeros(arm.n)
    poses = kinematics.link_poses(arm, zero)
    R, p = kinematics.frame_pose(arm, zero, frame)
    axes = tuple(kinematics.joint_axes(arm, poses))
    points = [np.asarray(x, dtype=float) for x in (*(place for _, place in poses[: arm.n]), p)]
    unit = _unit(arm, points)
    *joints, tip = (x / unit for x in points)
    return Geometry(unit, axes, tuple(joints), R, tip, tuple(x.revolute for x in arm.links))


def _unit(arm: Arm, points: list[Vector]) -> float:
    """The power of two next below the length of an arm: from joint to joint, and as far as they slide [m]."""
    ends = [link.limits for link in arm.links if link.limits and not link.revolute]
    slides = [abs(x) for pair in ends for x in pair if np.isfinite(x)]
    size = sum(float(np.linalg.norm(b - a)) for a, b in pairwise(points)) + sum(slides)
    return float(2.0 ** np.floor(np.log2(size))) if size > 0 else 1.0


def closed_form(arm: Arm, frame: str | int) -> Callable[[Vector, Vector], dict[str, Any]] | None:
    """The function to trace; None where the geometry has none.

    In come a goal (12,) and a reference (n,): of angles a whole turn apart, the one near to it is taken. Out come q
    (8, n), margins (8,) and slacks within the limits (8,), both below zero where a branch is no solution.
    """
    if arm.n != 6 or kinematics.frame_number(arm, frame) != 6:
        return None
    shape = geometry(arm, frame)
    branches = _wrist_branches(shape) or _parallel_branches(shape)
    if branches is None:
        return None

    def every(goal: Vector, reference: Vector) -> dict[str, Any]:
        R = product(goal[:9].reshape(3, 3), shape.R.T)  # what turns the frame at zero to the goal
        t = goal[9:] * (1.0 / shape.unit) - product(R, shape.p)
        q, margins, slacks = [], [], []
        for joints, found in branches(R, t):
            values = [angle(x) if isinstance(x, tuple) else x * shape.unit for x in joints]
            values, slack = _folded(arm, values, reference)
            q.append(values)
            margins.append(least(found))
            slacks.append(slack)
        return {"q": np.array(q), "margin": np.array(margins), "slack": np.array(slacks)}

    return every


def _wrist_branches(g: Geometry) -> Callable[[Matrix, Vector], Iterator[Branch]] | None:
    """A spherical wrist: its centre by three joints, then the orientation by three."""
    center = g.crossing(4, 5)
    wrist = all(g.turning[3:]) and center is not None and g.on_axis(center, 6) and not g.parallel(5, 6)
    if not wrist:
        return None
    assert center is not None
    meeting = g.crossing(1, 2)
    if all(g.turning[:3]) and g.parallel(2, 3) and not g.parallel(1, 2):
        first = _upper_parallel(g, center)
    elif all(g.turning[:2]) and meeting is not None and not (g.turning[2] and g.on_axis(meeting, 3)):
        first = _upper_meeting(g, center, meeting)
    else:
        return None

    def branches(R: Matrix, t: Vector) -> Iterator[Branch]:
        for joints, margins in first(product(R, center) + t):
            left = R
            for axis, turn in zip(g.axes, joints, strict=False):
                if isinstance(turn, tuple):
                    left = _columns(axis, back(turn), left)
            for wrist, margin in _wrist_turns(g, left):
                yield [*joints, *wrist], [*margins, margin]

    return branches


def _columns(k: Vector, turn: Turn, matrix: Matrix) -> Matrix:
    """A matrix whose columns are turned."""
    return np.array([turned(k, turn, column) for column in matrix.T]).T


def _upper_parallel(g: Geometry, center: Vector) -> Callable[[Vector], Iterator[Branch]]:
    """Axes 2 and 3 are parallel: along them, only joint 1 moves the centre."""
    (h1, h2, h3), (p1, p2, p3) = g.axes[:3], g.points[:3]

    def found(w: Vector) -> Iterator[Branch]:
        firsts, margin = level(w - p1, h1, h2, dot(h2, center - p1))
        for first in firsts:
            u = turned(h1, back(first), w - p1) + p1
            thirds, reach = apart(h3, center - p3, p2 - p3, dot(u - p2, u - p2))
            for third in thirds:
                second = onto(h2, turned(h3, third, center - p3) + p3 - p2, u - p2)
                yield [first, second, third], [margin, reach]

    return found


def _upper_meeting(g: Geometry, center: Vector, meeting: Vector) -> Callable[[Vector], Iterator[Branch]]:
    """Axes 1 and 2 meet: how far from there the centre is, only joint 3 decides."""
    (h1, h2, h3), p3 = g.axes[:3], g.points[2]

    def lengths(square: Scalar) -> tuple[list[Any], Scalar]:
        if g.turning[2]:
            return apart(h3, center - p3, meeting - p3, square)
        v = center - meeting
        along = dot(h3, v)
        margin = along * along - dot(v, v) + square
        root = sqrt(where(margin, margin, 0.0))
        return [root - along, -root - along], margin

    def found(w: Vector) -> Iterator[Branch]:
        thirds, reach = lengths(dot(w - meeting, w - meeting))
        for third in thirds:
            carried = turned(h3, third, center - p3) + p3 if isinstance(third, tuple) else center + third * h3
            pairs, margin = two_turns(h1, h2, carried - meeting, w - meeting)
            for first, second in pairs:
                yield [first, second, third], [margin, reach]

    return found


def _wrist_turns(g: Geometry, R: Matrix) -> Iterator[tuple[list[Turn], Scalar]]:
    """R4 R5 R6 = R, two ways; where axes 4 and 6 are in line, joint 4 stays at zero."""
    h4, h5, h6 = g.axes[3:6]
    aim = product(R, h6)
    fifths, margin = inclined(h4, h5, h6, h4, aim)
    side = _sideways(h6)
    for fifth in fifths:
        fourth = across(h4, turned(h5, fifth, h6), aim)
        last = onto(h6, side, turned(h5, back(fifth), turned(h4, back(fourth), product(R, side))))
        yield [fourth, fifth, last], margin


def _parallel_branches(g: Geometry) -> Callable[[Matrix, Vector], Iterator[Branch]] | None:
    """Axes 2, 3 and 4 parallel, 5 and 6 meet: along the parallels, joints 2, 3 and 4 move nothing."""
    center = g.crossing(5, 6)
    alike = all(g.turning) and g.parallel(2, 3) and g.parallel(3, 4) and not g.parallel(1, 2)
    if not alike or center is None or g.parallel(4, 5):
        return None
    h1, h, _, _, h5, h6 = g.axes
    p1, p2, p3, p4 = g.points[:4]
    senses = [float(np.sign(axis @ h)) for axis in g.axes[1:4]]
    side = _sideways(h)

    def branches(R: Matrix, t: Vector) -> Iterator[Branch]:
        w = product(R, center) + t
        firsts, margin = level(w - p1, h1, h, dot(h, center - p1))
        for first in firsts:
            u = turned(h1, back(first), w - p1) + p1
            lifted = turned(h1, first, h)
            fifths, bend = inclined(h, h5, h6, lifted, product(R, h6))
            for fifth in fifths:
                last = across(h6, product(R.T, lifted), turned(h5, back(fifth), h))
                tip = turned(h6, back(last), turned(h5, back(fifth), side))
                whole = onto(h, side, turned(h1, back(first), product(R, tip)))  # joints 2, 3, 4 together
                v = u - turned(h, whole, center - p4)
                thirds, reach = apart(h, p4 - p3, p2 - p3, dot(v - p2, v - p2))
                for third in thirds:
                    second = onto(h, turned(h, third, p4 - p3) + p3 - p2, v - p2)
                    fourth = together(whole, back(together(second, third)))
                    planar = [
                        (s * sense, c) for (s, c), sense in zip((second, third, fourth), senses, strict=True)
                    ]
                    yield [first, *planar, fifth, last], [margin, bend, reach]

    return branches


def _sideways(h: Vector) -> Vector:
    """A unit vector at right angles to another."""
    other = np.cross(h, np.eye(3)[np.argmin(np.abs(h))])
    found: Vector = other / np.linalg.norm(other)
    return found


def _folded(arm: Arm, values: list[Scalar], reference: Vector) -> tuple[list[Scalar], Scalar]:
    """Angles a turn further where only that is within limits, or nearer; and how far within them the worst joint is."""
    found, slacks = [], []
    ends = zip(arm.links, bounds(arm), whole_turns(arm), values, reference, strict=True)
    for link, (low, high), turns, x, wish in ends:
        if link.revolute:
            x = x + turns if turns else x
            x = where(low - INSIDE - x, x + TURN, x) if np.isfinite(low) else x
            x = where(x - high - INSIDE, x - TURN, x) if np.isfinite(high) else x
            if high - low > TURN:
                x = _nearer(x, x + TURN, wish, high - x - TURN if np.isfinite(high) else None)
                x = _nearer(x, x - TURN, wish, x - TURN - low if np.isfinite(low) else None)
        slacks += [x - low] if np.isfinite(low) else []
        slacks += [high - x] if np.isfinite(high) else []
        found.append(x)
    return found, least(slacks or [1.0])


def whole_turns(arm: Arm) -> tuple[float, ...]:
    """What brings angles of (-π, π] to the middle of their limits, for each joint [rad]: zero for most."""
    found = []
    for link, (low, high) in zip(arm.links, bounds(arm), strict=True):
        ends = [x for x in (low, high) if np.isfinite(x)]
        middle = sum(ends) / len(ends) if ends and link.revolute else 0.0
        found.append(TURN * float(np.round(middle / TURN)))
    return tuple(found)


def _nearer(x: Scalar, other: Scalar, wish: Scalar, room: Scalar | None) -> Scalar:
    """The other value, if it is nearer to what is wished, and there is room for it (None: any amount)."""
    gain = (x - wish) * (x - wish) - (other - wish) * (other - wish)
    return where(gain if room is None else where(room, gain, -1.0), other, x)


def least(values: list[Scalar]) -> Scalar:
    """The smallest of some scalars."""
    smallest = values[0]
    for x in values[1:]:
        smallest = where(smallest - x, x, smallest)
    return smallest
