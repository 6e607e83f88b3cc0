"""Answers: joint values, whether they reach the goal, and what is missing; held against the arm's own pose."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from forearm.algebra import Vector
from forearm.compiler.call.searches import SearchRules
from forearm.reach.programs import Programs

SMALL = 1e-9
"""The error of a solution at most [m, rad]."""
SOLVED, OUT_OF_REACH, OUT_OF_LIMITS, NOT_FOUND, NOT_FINITE = (
    *("solved", "out of reach", "out of limits"),
    *("not found", "not finite"),
)
"""What can be said of a goal: nothing reaches it; nothing within the limits does; nothing was found that does."""
WORD = "<U13"
"""The type of an array of them."""
HASTY = SearchRules(tolerance=1e-11, damping=0.03, most=64)
"""Most goals are reached within twenty iterations; what does not get nearer begins elsewhere."""
PATIENT = SearchRules(tolerance=1e-11, damping=0.01, most=64, longest=400, patience=30, shrink=0.8)
"""For goals near a singular pose, where the error shrinks slowly."""
NEAREST = SearchRules(tolerance=1e-11, damping=1.0, most=1, longest=600, patience=150, shrink=0.999)
"""For goals that cannot be reached: short steps downhill."""


class Reached(NamedTuple):
    """Joint values for poses, and how well they reach them."""

    q: Vector
    """Joint values (..., n), within the limits; those of the nearest pose found where `solved` is False."""
    solved: Any
    """Whether the goal is reached to 1e-9 m and rad, within the limits (...)."""
    error: Vector
    """What is missing (..., 2): metres and radians; zero for what was not asked."""
    status: Any
    """In words (...): solved, out of reach, out of limits, not found, not finite."""


@dataclass
class Rows:
    """Answers of a batch, one row for each goal, as they come in."""

    q: Vector
    """(N, n); NaN where there is none."""
    error: Vector
    """(N, 2)."""
    status: Vector
    """(N,) of words."""

    @classmethod
    def empty(cls, count: int, n: int) -> "Rows":
        """Nothing is known yet."""
        status = np.full(count, NOT_FOUND, WORD)
        return cls(np.full((count, n), np.nan), np.full((count, 2), np.inf), status)

    @property
    def solved(self) -> Vector:
        """Which rows are (N,)."""
        found: Vector = self.status == SOLVED
        return found

    def enter(self, rows: Vector, q: Vector, error: Vector) -> None:
        """Answers for some rows: kept where they are solved, or nearer than what was there."""
        better = np.hypot(*error.T) < np.hypot(*self.error[rows].T)
        at = rows[better]
        self.q[at], self.error[at] = q[better], error[better]
        self.status[at[(error[better] <= SMALL).all(axis=-1)]] = SOLVED


def measured(programs: Programs, q: Vector, goals: Vector, threads: int) -> Vector:
    """Errors (N, 2) [m, rad] of joint values, by the pose that the arm has there."""
    return metres_and_radians(*programs.miss(q, goals, threads=threads))


def metres_and_radians(far: Vector, askew: Vector) -> Vector:
    """From squared distances and squared chords."""
    return np.stack([np.sqrt(far), 2.0 * np.arcsin(np.minimum(1.0, 0.5 * np.sqrt(askew)))], axis=-1)


def turned_nearest(programs: Programs, q: Vector, reference: Vector) -> Vector:
    """Joints that can make a whole turn more or less: as near to the reference as their limits allow."""
    which = programs.manifold
    if not which.any():
        return q
    low, high = programs.bounds
    part = q[..., which]
    apart = np.broadcast_to(reference, q.shape)[..., which] - part
    other = part + 2 * np.pi * np.round(apart / (2 * np.pi))
    other = other - 2 * np.pi * np.sign(apart) * ((other < low[which]) | (other > high[which]))
    fits = (other >= low[which]) & (other <= high[which])
    found = q.copy()
    found[..., which] = np.where(fits, other, part)
    return found


def same_place(programs: Programs, a: Vector, b: Vector, apart: float) -> Vector:
    """Whether joint values are the same but for whole turns (...)."""
    off = a - b
    turning = np.array([link.revolute for link in programs.arm.links])
    off = np.where(turning, off - 2 * np.pi * np.round(off / (2 * np.pi)), off)
    found: Vector = (np.abs(off) < apart).all(axis=-1)
    return found


def longest_reach(programs: Programs) -> tuple[Vector, float]:
    """Where the first joint is, and how far from there the frame can be [m]: no arm is longer than its links."""
    arm, total = programs.arm, 0.0
    number, pose = arm.place_of(programs.frame)
    for link, ends in zip(arm.links[:number], np.array(programs.bounds).T, strict=False):
        lengths = (0.0,) if link.revolute else ends
        if not np.isfinite(lengths).all():
            return np.asarray(arm.base.p, dtype=float), np.inf
        total += max(float(np.linalg.norm(np.asarray(link.p_before(x), dtype=float))) for x in lengths)
    return np.asarray(arm.base.p, dtype=float), total + float(np.linalg.norm(pose.p))
