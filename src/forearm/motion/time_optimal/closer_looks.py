"""A closer look at profiles: joint torques, speeds and accelerations between the points at which limits were kept.

Lines of the search hold at the points of a grid, and are looked at in a few places between them. What a path does
between those (a knot of its spline, a corner, a joint that turns round against dry friction) is seen here: by the
dynamics of the whole arm in many more places, those among them where the path has its breaks, and by parabolas through
three of them that have a peak between them. Where what is seen on both sides of a gap leaves room for a peak within it
(near a singularity, at a knot of a redundant arm's own way), it is looked into again.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from forearm import dynamics
from forearm.algebra import Vector
from forearm.arm import Arm
from forearm.motion.instants import one_side_known, rises
from forearm.motion.motions import Motion, ViaPoints
from forearm.motion.time_optimal.limit_lines import JointLimits
from forearm.motion.time_optimal.path_grids import FINE, Friction, fine_grid

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
PARTS, LEAST = 8, 1e-3
"""Into how many parts a gap is divided that may hide a peak, and the share of an interval below which none is."""
NEAR = 0.5
"""Joints that never come nearer to a limit, as a share of it, hide nothing."""
ROOM, LITTLE = 7e-4, 2e-4
"""A peak may hide that would pass a limit by so much of it, and be so much higher than what is seen beside it."""


@dataclass(frozen=True)
class CloserLook:
    """P paths in M places each, all that does not depend on how fast they are run."""

    arm: Arm
    """Whose torques they are."""
    limits: JointLimits
    """What is to be kept within."""
    paths: list[Motion]
    """The paths."""
    points: Vector
    """Grids (P, N + 1)."""
    places: Vector
    """Path parameters that are looked at (P, M), in the order of the path."""
    interval: Vector
    """In which interval each of them is (P, M)."""
    rows_at: Rows
    """What gives the rows of paths."""
    rows: tuple[Vector, Vector, Vector]
    """q, q' and q'' at the places, each (P, M, n)."""

    @classmethod
    def at(
        cls,
        arm: Arm,
        paths: list[Motion],
        points: Vector,
        limits: JointLimits,
        rows: Rows,
        fine: tuple[Vector, Vector, Vector],
    ) -> "CloserLook":
        """Between the points of grids (P, N + 1), and at and between the breaks of the paths.

        The rows of the fine grids are known; of a path that is no spline they are looked at in any case.
        """
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
        found = cls(arm, limits, paths, points, s, interval, rows, rows(paths, s))
        cubic = all(isinstance(path, ViaPoints) for path in paths)
        return found if len(shares) or cubic else found._with_fine_grids(fine)

    def _with_fine_grids(self, rows: tuple[Vector, Vector, Vector]) -> "CloserLook":
        """The same with the places of the fine grids: near a singularity, sizes bend between those that are closest."""
        count = self.points.shape[1] - 1
        inner = count + 1 + np.arange((FINE - 1) * count).reshape(FINE - 1, count)
        at = np.stack([np.arange(count), *inner, np.arange(1, count + 1)], axis=1).ravel()
        s = np.concatenate([self.places, fine_grid(self.points)[:, at]], axis=1)
        numbers = np.broadcast_to(np.repeat(np.arange(count), FINE + 1), (len(s), len(at)))
        interval = np.concatenate([self.interval, numbers], axis=1)
        order = np.lexsort((s, interval))
        q, tangent, bend = (
            np.take_along_axis(np.concatenate([old, more[:, at]], axis=1), order[..., None], 1)
            for old, more in zip(self.rows, rows, strict=True)
        )
        s, interval = np.take_along_axis(s, order, 1), np.take_along_axis(interval, order, 1)
        return replace(self, places=s, interval=interval, rows=(q, tangent, bend))

    @cached_property
    def share(self) -> Vector:
        """How far along its interval each place is, 0 to 1 (P, M)."""
        start, step = (
            np.take_along_axis(x, self.interval, 1) for x in (self.points[:, :-1], np.diff(self.points))
        )
        return (self.places - start) / step  # type: ignore[no-any-return]

    @cached_property
    def unbroken(self) -> Vector:
        """Which gaps between places lie in one smooth piece of the path, and in one interval (P, M - 1)."""
        pieces = np.stack(
            [np.searchsorted(path.breaks, s) for path, s in zip(self.paths, self.places, strict=True)]
        )
        same: Vector = (np.diff(self.interval) == 0) & (np.diff(pieces) == 0) & (np.diff(self.share) > 0)
        return same

    @cached_property
    def smooth(self) -> Vector:
        """Which places, but for the first and the last, have such gaps on both sides (P, M - 2)."""
        both: Vector = self.unbroken[:, :-1] & self.unbroken[:, 1:]
        return both

    def over(self, x: Vector) -> dict[str, Vector]:
        """Shares of the limits that profiles x (P, N + 1) pass in each interval, by kind: (P, N, n)."""
        sizes = self._sizes(x)
        found = {kind: self._greatest(size) for kind, size in sizes.items()}
        hiding = self._hiding(sizes)
        for p in map(int, np.flatnonzero(hiding.any(axis=1))):
            closer = self._divided(p, np.flatnonzero(hiding[p]))
            again = np.unique(closer.interval)
            for kind, part in closer.over(x[p : p + 1]).items():
                found[kind][p, again] = part[0, again]
        return found

    def _sizes(self, x: Vector) -> dict[str, Vector]:
        """What profiles x (P, N + 1) ask for, over the limits, by kind: (P, M, n)."""
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
        return {kind: np.abs(kinds[kind][0]()) / kinds[kind][1] for kind in asked}

    def _hiding(self, sizes: dict[str, Vector]) -> Vector:
        """In which gaps (P, M - 1) a peak may hide: slopes on both sides of it would meet above a limit."""
        wide = self.unbroken & (np.diff(self.share) > LEAST)
        known = wide[:, :-1] & wide[:, 1:]
        if not np.any(known):
            return np.zeros_like(wide)
        width, higher = np.where(wide, np.diff(self.share), 1.0), np.zeros_like(wide)
        for size in sizes.values():
            size = size[..., np.max(size, axis=(0, 1)) > NEAR]
            rise = rises(width, known, size)
            top = np.maximum(size[:, :-1], size[:, 1:]) + rise
            higher |= np.any((top > 1.0 + ROOM) & (rise > LITTLE), axis=2)
        return higher & one_side_known(known)

    def _divided(self, p: int, gaps: Vector) -> "CloserLook":
        """A closer look at the intervals of one path that have these gaps, the gaps divided."""
        s, inner = self.places[p], np.arange(1, PARTS) / PARTS
        more = (s[gaps, None] + np.diff(s)[gaps, None] * inner).ravel()
        keep = np.isin(self.interval[p], self.interval[p, gaps])
        at = np.repeat((np.cumsum(keep) - 1)[gaps] + 1, len(inner))
        added = self.rows_at([self.paths[p]], more[None])
        interval = self.interval[p, keep]
        q, tangent, bend = (
            np.insert(old[p, keep], at, new[0], axis=0)[None]
            for old, new in zip(self.rows, added, strict=True)
        )
        return replace(
            self,
            paths=[self.paths[p]],
            points=self.points[p : p + 1],
            places=np.insert(s[keep], at, more)[None],
            interval=np.insert(interval, at, interval[at - 1])[None],
            rows=(q, tangent, bend),
        )

    def _greatest(self, size: Vector) -> Vector:
        """The greatest share beyond the limits of sizes (P, M, n) in each interval (P, N, n)."""
        peaks = size.copy()
        if np.any(self.smooth):
            peaks[:, 1:-1] += self._rises(size)
        found = np.zeros((self.points.shape[0], self.points.shape[1] - 1, size.shape[2]))
        begins, path, interval = self._runs
        found[path, interval] = np.maximum.reduceat(peaks.reshape(-1, size.shape[2]), begins)
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
