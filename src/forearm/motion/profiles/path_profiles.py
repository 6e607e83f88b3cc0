"""A path run by a profile, and motions one after the other."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from forearm.algebra import Scalar, Vector, is_number
from forearm.faults import StateFault, TraceFault
from forearm.motion.instants import apart
from forearm.motion.motions import Motion, moment
from forearm.motion.profiles.point_to_point import PointToPoint, phase_times


class Looked(Motion):
    """A motion that is looked up: it is sampled at once, and not compiled."""

    def __call__(self, t: Scalar) -> tuple[Vector, Vector, Vector]:
        """(q, qd, qdd) at one time."""
        if not is_number(t):
            _not_compiled(type(self).__name__)
        q, qd, qdd = self.rows(np.array([moment(t)], dtype=float))
        return q[0], qd[0], qdd[0]


def _not_compiled(what: str) -> NoReturn:
    raise TraceFault(
        f"a motion of kind {what} is looked up in Python and not compiled; give control_dt=, or sample it "
        "into ViaPoints."
    )


def along_path(path: Motion, s: Vector) -> tuple[Vector, Vector, Vector]:
    """q, q' and q'' of a path at parameters (K,), each (K, n).

    Just inside its ends, since a motion rests before it begins and after it ends; its path does not.
    """
    end = path.duration
    q, tangent, bend = path.rows(np.clip(s, 1e-14 * end, (1 - 1e-14) * end))
    ends = (s <= 0) | (s >= end)
    if np.any(ends):
        q[ends] = path.rows(np.clip(s[ends], 0.0, end))[0]
    return q, tangent, bend


@dataclass(frozen=True, eq=False)
class AlongPath(Looked):
    """A path q(s), run from rest to rest by a profile s(t)."""

    path: Motion
    """The path: q(s) = path(s), s from 0 to its duration."""
    profile: PointToPoint
    """s over time, as the motion of one joint."""

    @property
    def duration(self) -> float:  # type: ignore[override]
        """When it ends [s]."""
        return self.profile.duration

    @property
    def breaks(self) -> Vector:
        """When the breaks of the path are passed, by bisection (the profile never goes back), and the profile's own."""
        goals = self.path.breaks
        low, high = np.zeros(len(goals)), np.full(len(goals), self.duration)
        for _ in range(60):
            middle = (low + high) / 2
            before = self.profile.rows(middle)[0][:, 0] < goals
            low, high = np.where(before, middle, low), np.where(before, high, middle)
        return apart(np.concatenate([self.profile.breaks, high[1:-1]]))

    def rows(self, t: Vector) -> tuple[Vector, Vector, Vector]:
        """(q, qd, qdd) at many times (K,), each (K, n)."""
        s, speed, acceleration = self.profile.rows(np.asarray(t, dtype=float))
        q, tangent, bend = along_path(self.path, s[:, 0])
        return q, tangent * speed, bend * speed**2 + tangent * acceleration


def run_along(path: Motion, speed: float, acceleration: float, jerk: float) -> AlongPath:
    """A path run from rest to rest with these greatest rates of its parameter."""
    phases = phase_times([path.duration], speed, acceleration, jerk)
    return AlongPath(path, PointToPoint(np.zeros(1), np.array([path.duration]), phases))


@dataclass(frozen=True, eq=False)
class Joined(Looked):
    """Motions one after the other, each from rest to rest where the one before it ends."""

    motions: Sequence[Motion]
    """The motions, in order."""

    def __post_init__(self) -> None:
        if not self.motions:
            raise StateFault("joined motions: none were given; give at least one.")
        for k, (one, other) in enumerate(zip(self.motions, self.motions[1:], strict=False)):
            gap = np.max(np.abs(one(one.duration)[0] - other(0.0)[0]))
            if not gap < 1e-6:
                raise StateFault(
                    f"joined motions: motion {k + 1} begins {gap:.3g} (rad, m) from where motion {k} ends; let each "
                    "begin where the last one ends."
                )

    @cached_property
    def starts(self) -> Vector:
        """When each begins, and when the last ends (len + 1,) [s]."""
        return np.concatenate([[0.0], np.cumsum([motion.duration for motion in self.motions])])

    @property
    def duration(self) -> float:  # type: ignore[override]
        """When the last ends [s]."""
        return float(self.starts[-1])

    @property
    def breaks(self) -> Vector:
        """Those of all motions."""
        parts = [motion.breaks[:-1] + start for motion, start in zip(self.motions, self.starts, strict=False)]
        return np.concatenate([*parts, self.starts[-1:]])

    def rows(self, t: Vector) -> tuple[Vector, Vector, Vector]:
        """(q, qd, qdd) at many times (K,), each (K, n)."""
        t = np.asarray(t, dtype=float)
        which = np.clip(np.searchsorted(self.starts, t, "right") - 1, 0, len(self.motions) - 1)
        found: Any = None
        for k in np.unique(which):
            at = which == k
            rows = self.motions[k].rows(t[at] - self.starts[k])
            found = found or tuple(np.empty((len(t), rows[0].shape[1])) for _ in range(3))
            for all_rows, some in zip(found, rows, strict=True):
                all_rows[at] = some
        return found  # type: ignore[no-any-return]
