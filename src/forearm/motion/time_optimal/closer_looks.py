"""A closer look at profiles: joint torques, speeds and accelerations between the points at which limits were kept.

Lines of the search hold at the points of a grid, and are looked at in a few places between them. What a path does
between those (a knot of its spline, a corner, a joint that turns round against dry friction) is seen here: by the
dynamics of the whole arm in many more places, those among them where the path has its breaks, and by parabolas through
three of them that have a peak between them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from forearm import dynamics
from forearm.algebra import Vector
from forearm.arm import Arm
from forearm.motion.motions import Motion, ViaPoints
from forearm.motion.time_optimal.limit_lines import JointLimits
from forearm.motion.time_optimal.path_grids import FINE, Friction

Rows = Callable[[list[Motion], Vector], tuple[Vector, Vector, Vector]]
"""q, q' and q'' (P, M, n) of paths at parameters (P, M)."""
PLACES, RUBBED = 800, 1600
"""Places at which a path is looked at, at least, besides its breaks; with friction, which changes faster, more.

Without friction those of a fine grid itself are enough: between breaks limits are smooth along the path.
"""
ENDS = (1e-3, 1e-2)
"""Shares of an interval near both its ends: dry friction is all there soon after a joint sets out."""
INSIDE = (np.arange(24) + 0.5) / 24
"""Shares of a piece between two breaks: a path of many short pieces may bend in each of them as it likes."""
CUBIC = 8
"""Intervals that are enough for a piece of a cubic spline: it bends once, a corner from nothing to nothing."""
BESIDE = 1e-9
"""How far from a break its two sides are looked at, over the length of the path."""


@dataclass(frozen=True)
class CloserLook:
    """P paths in M places each, all that does not depend on how fast they are run."""

    arm: Arm
    """Whose torques they are."""
    limits: JointLimits
    """What is to be kept within."""
    points: Vector
    """Grids (P, N + 1)."""
    interval: Vector
    """In which interval each place is (P, M), in the order of the path."""
    share: Vector
    """How far along it, 0 to 1 (P, M)."""
    rows: tuple[Vector, Vector, Vector]
    """q, q' and q'' there, each (P, M, n)."""
    smooth: Vector
    """Whether nothing breaks between a place, but for the first and the last, and the two beside it (P, M - 2)."""

    @classmethod
    def at(
        cls, arm: Arm, paths: list[Motion], points: Vector, limits: JointLimits, rows: Rows
    ) -> "CloserLook":
        """Between the points of grids (P, N + 1), and at and between the breaks of the paths."""
        count, smooth = points.shape[1] - 1, Friction.of(arm).none
        places = PLACES if smooth else RUBBED
        beside, among = _pieces(paths, points)
        if smooth and FINE * count >= places and _resolves(paths, points):
            shares = np.zeros(0)  # what the search looks at is enough
        else:
            parts = FINE * -(-places // (FINE * count))
            even = (np.arange(parts) + 0.5) / parts  # in the middle between places that the search looks at
            most = [] if smooth else ENDS
            shares = np.array([0.0, *most, *even, *(1.0 - share for share in most), 1.0])
        everywhere = (points[:, :-1, None] + np.diff(points)[..., None] * shares).reshape(len(paths), -1)
        numbers = np.broadcast_to(np.repeat(np.arange(count), len(shares)), everywhere.shape)
        s, interval = np.concatenate([everywhere, beside], axis=1), np.concatenate([numbers, among], axis=1)
        order = np.lexsort((s, interval))
        s, interval = np.take_along_axis(s, order, 1), np.take_along_axis(interval, order, 1)
        start, step = (np.take_along_axis(x, interval, 1) for x in (points[:, :-1], np.diff(points)))
        share = (s - start) / step
        return cls(arm, limits, points, interval, share, rows(paths, s), _unbroken(paths, s, interval, share))

    def over(self, x: Vector) -> dict[str, Vector]:
        """Shares of the limits that profiles x (P, N + 1) pass in each interval, by kind: (P, N, n)."""
        gain, (q, tangent, bend) = np.diff(x, axis=1), self.rows
        u = np.take_along_axis(gain / (2 * np.diff(self.points)), self.interval, 1)[..., None]
        here = np.take_along_axis(x[:, :-1], self.interval, 1) + self.share * np.take_along_axis(
            gain, self.interval, 1
        )
        square = np.maximum(here, 0.0)[..., None]
        qd, qdd = tangent * np.sqrt(square), tangent * u + bend * square
        kinds: dict[str, tuple[Any, Vector]] = {
            "speed": (lambda: qd, self.limits.speeds),
            "acceleration": (lambda: qdd, self.limits.accelerations),
            "torque": (lambda: dynamics.inverse_dynamics(self.arm, q, qd, qdd), self.limits.torques),
        }
        asked = ["speed", *(kind for kind, _ in self.limits.kinds)]
        return {kind: self._greatest(kinds[kind][0](), kinds[kind][1]) for kind in asked}

    def _greatest(self, values: Vector, limits: Vector) -> Vector:
        """The greatest share beyond limits (n,) of values (P, M, n) in each interval (P, N, n)."""
        size = np.abs(values) / limits
        peaks = size.copy()
        if np.any(self.smooth):
            peaks[:, 1:-1] += self._rises(size)
        found = np.zeros((self.points.shape[0], self.points.shape[1] - 1, len(limits)))
        begins, path, interval = self._runs
        found[path, interval] = np.maximum.reduceat(peaks.reshape(-1, len(limits)), begins)
        return found - 1.0

    @cached_property
    def _runs(self) -> tuple[Vector, Vector, Vector]:
        """Where, among all places of all paths, each interval's own begin; whose they are; in which interval."""
        numbers = self.interval + len(self.points[0]) * np.arange(len(self.points))[:, None]
        begins = np.flatnonzero(np.diff(numbers.ravel(), prepend=-1))
        path, interval = np.divmod(numbers.ravel()[begins], len(self.points[0]))
        return begins, path, interval

    def _rises(self, size: Vector) -> Vector:
        """By how much parabolas through three places rise above the middle one, where it is the highest of them."""
        before, after = (np.diff(x)[..., None] for x in (self.share[:, :-1], self.share[:, 1:]))
        left, right = (size[:, 1:-1] - other for other in (size[:, :-2], size[:, 2:]))
        peak = self.smooth[..., None] & (left >= 0) & (right >= 0) & (left + right > 0)
        before, after = np.where(peak, before, 1.0), np.where(peak, after, 1.0)
        # y = middle + m t - c t², through (-before, -left) and (after, -right)
        c = (left / before + right / after) / (before + after)
        m = c * before - left / before
        return np.where(peak, m * m / np.where(peak, 4 * c, 1.0), 0.0)


def _resolves(paths: list[Motion], points: Vector) -> bool:
    """Whether grids (P, N + 1) have so many intervals in each smooth piece that no peak of it lies between them."""
    for path, row in zip(paths, points, strict=True):
        least = CUBIC if isinstance(path, ViaPoints) else len(INSIDE)
        if np.min(np.diff(np.searchsorted(row, path.breaks)), initial=len(row)) < least:
            return False
    return True


def _unbroken(paths: list[Motion], s: Vector, interval: Vector, share: Vector) -> Vector:
    """Of places s (P, M) in these intervals, which have both places beside them (P, M - 2) in the same smooth piece."""
    pieces = np.stack([np.searchsorted(path.breaks, row) for path, row in zip(paths, s, strict=True)])
    same = (np.diff(interval) == 0) & (np.diff(pieces) == 0) & (np.diff(share) > 0)
    return same[:, :-1] & same[:, 1:]


def _pieces(paths: list[Motion], points: Vector) -> tuple[Vector, Vector]:
    """Places beside and between the breaks of paths, and in which intervals of their grids (P, N + 1): both (P, B)."""
    most = max(len(path.breaks) for path in paths)
    # paths with fewer breaks have their last one more often
    breaks = np.stack([np.pad(path.breaks, (0, most - len(path.breaks)), "edge") for path in paths])
    beside, end = BESIDE * points[:, -1:], points[:, -1:]
    inside = (breaks[:, :-1, None] + np.diff(breaks)[..., None] * INSIDE).reshape(len(paths), -1)
    places = np.clip(np.concatenate([breaks - beside, breaks + beside, inside], axis=1), 0.0, end)
    found = [np.searchsorted(row[1:-1], at, "right") for row, at in zip(points, places, strict=True)]
    return places, np.stack(found)
