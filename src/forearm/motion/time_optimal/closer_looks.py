"""A closer look at profiles: joint torques, speeds and accelerations between the points at which limits were kept.

Lines of the search hold at the points of a grid, and are looked at in a few places between them. What a path does
between those (a knot of its spline, a corner, a joint that turns round against dry friction) is seen here: by the
dynamics of the whole arm in many more places, those among them where the path has its breaks.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from forearm import dynamics
from forearm.algebra import Vector
from forearm.arm import Arm
from forearm.motion.motions import Motion
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
    each: int
    """Places in each interval; first come those, then both sides of each break, and places between breaks."""
    interval: Vector
    """In which interval each place is (P, M)."""
    share: Vector
    """How far along it, 0 to 1 (P, M)."""
    rows: tuple[Vector, Vector, Vector]
    """q, q' and q'' there, each (P, M, n)."""

    @classmethod
    def at(
        cls, arm: Arm, paths: list[Motion], points: Vector, limits: JointLimits, rows: Rows
    ) -> "CloserLook":
        """Between the points of grids (P, N + 1), and at and between the breaks of the paths."""
        count, smooth = points.shape[1] - 1, Friction.of(arm).none
        places = PLACES if smooth else RUBBED
        parts = 0 if smooth and FINE * count >= places else FINE * -(-places // (FINE * count))
        even = (np.arange(parts) + 0.5) / max(
            parts, 1
        )  # in the middle between places that the search looks at
        shares = even if smooth else np.concatenate([ENDS, even, 1.0 - np.array(ENDS)])
        among = np.broadcast_to(np.repeat(np.arange(count), len(shares)), (len(paths), count * len(shares)))
        pieces, beyond = _pieces(paths, points)
        interval = np.concatenate([among, beyond], axis=1)
        start, step = (np.take_along_axis(x, interval, 1) for x in (points[:, :-1], np.diff(points)))
        s = np.concatenate(
            [start[:, : among.shape[1]] + step[:, : among.shape[1]] * np.tile(shares, count), pieces], axis=1
        )
        return cls(arm, limits, points, len(shares), interval, (s - start) / step, rows(paths, s))

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
        paths, intervals = self.points.shape[0], self.points.shape[1] - 1
        size = np.abs(values) / limits
        even = self.each * intervals
        found = size[:, :even].reshape(paths, intervals, self.each, len(limits)).max(axis=2, initial=0.0)
        np.maximum.at(found, (np.arange(paths)[:, None], self.interval[:, even:]), size[:, even:])
        return found - 1.0  # type: ignore[no-any-return]


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
