"""Paths on a grid: positions and their derivatives along the path, and the torques that belong to them.

Along q(s) the torque of a joint is a(s) s̈ + b(s) ṡ² + c(s) + friction(q'(s) ṡ): three inverse dynamics of each grid
point, the whole grid in a batch. Between the points of the grid lie FINE - 1 others in each interval, at which limits
are only looked at.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from forearm import dynamics
from forearm.algebra import Vector
from forearm.arm import Arm
from forearm.link import Drive

INSIDE = 12
"""Intervals in which a piece of a path is looked at, at least: a corner bends from nothing to nothing."""
FINE = 4
"""Parts of an interval of the grid at whose ends torques are known."""


@dataclass(frozen=True)
class PathGrid:
    """P paths on grids of N intervals: M = FINE N + 1 points, first those of the grid, then those between, by part."""

    s: Vector
    """Path parameter (P, M)."""
    tangent: Vector
    """q' (P, M, n)."""
    bend: Vector
    """q'' (P, M, n)."""
    a: Vector
    """Torque for each unit of s̈ (P, M, n)."""
    b: Vector
    """Torque for each unit of ṡ² (P, M, n)."""
    c: Vector
    """Torque that holds the arm still (P, M, n)."""

    @cached_property
    def intervals(self) -> int:
        """N."""
        return (self.s.shape[1] - 1) // FINE

    @cached_property
    def steps(self) -> Vector:
        """Lengths of the intervals (P, N)."""
        return np.diff(self.at_points(self.s), axis=1)

    @cached_property
    def span(self) -> Vector:
        """Lengths of the paths (P, 1)."""
        return np.sum(self.steps, axis=1, keepdims=True)

    def at_points(self, values: Vector) -> Vector:
        """Values (P, M, …) at the points of the grid (P, N + 1, …)."""
        return values[:, : self.intervals + 1]

    def at_part(self, values: Vector, k: int) -> Vector:
        """Values (P, M, …) at share k / FINE of each interval (P, N, …), k = 1 … FINE - 1."""
        first = k * self.intervals + 1
        return values[:, first : first + self.intervals]


def fine_grid(points: Vector) -> Vector:
    """The points of grids (..., N + 1) and those between them (..., FINE N + 1), in the order of a PathGrid."""
    start, steps = points[..., :-1], np.diff(points)
    return np.concatenate([points, *(start + steps * (k / FINE) for k in range(1, FINE))], axis=-1)


def resolved(points: Vector, breaks: Vector) -> Vector:
    """A grid (N + 1,) with `INSIDE` intervals at least in each piece between breaks (K,), and as many in all.

    As it is where it has them already. Half of the intervals stay where they are dense, for they are so for a reason.
    """
    count = len(points) - 1
    numbers = np.arange(count + 1.0)
    ends = np.interp(breaks, points, numbers)  # breaks, counted in intervals
    ends = ends[np.concatenate([[True], np.diff(ends) > 1e-9 * count])]
    ends[-1] = count
    sizes = np.diff(ends)
    narrow = sizes < INSIDE
    if not narrow.any():
        return points
    least = min(INSIDE, count // (2 * int(narrow.sum())))
    narrow &= sizes < least
    if not narrow.any():
        return points
    room = count - least * int(narrow.sum())
    whole = np.concatenate([[0.0], np.cumsum(np.where(narrow, 0.0, sizes))])
    edges = np.round(whole * (room / whole[-1])) if whole[-1] else whole
    many = np.where(narrow, least, np.diff(edges)).astype(int)
    parts = [np.linspace(a, b, k, endpoint=False) for a, b, k in zip(ends, ends[1:], many, strict=False)]
    found = np.interp(np.concatenate([*parts, [count]]), numbers, points)
    found[0], found[-1] = points[0], points[-1]
    return found


def path_grid(arm: Arm, s: Vector, rows: Sequence[Vector], with_torques: bool) -> PathGrid:
    """Paths at fine grids s (P, M), as rows (q, q', q'') of (P, M, n).

    Without torque limits nothing is asked about the masses.
    """
    q, tangent, bend = rows
    if not with_torques:
        nothing = np.zeros(q.shape[:2] + (arm.n,))
        return PathGrid(s, tangent, bend, nothing, nothing, nothing)
    still = np.zeros_like(q)
    rigid = without_friction(arm)
    c = dynamics.inverse_dynamics(rigid, q, still, still)
    a, b = (dynamics.inverse_dynamics(rigid, q, *rates) for rates in ((still, tangent), (tangent, bend)))
    return PathGrid(s, tangent, bend, np.subtract(a, c, out=a), np.subtract(b, c, out=b), c)


def without_friction(arm: Arm) -> Arm:
    """The arm with the rotors of its drives, but without their friction."""
    frictions = [(link.drive.viscous, *link.drive.coulomb) for link in arm.links]
    if not np.any(frictions):
        return arm
    drives = [
        Drive(link.drive.rotor_inertia, link.drive.gear, link.drive.side) if any(friction) else link.drive
        for link, friction in zip(arm.links, frictions, strict=True)
    ]
    links = [link.replace(drive=drive) for link, drive in zip(arm.links, drives, strict=True)]
    return arm.replace(links=tuple(links))


@dataclass(frozen=True)
class Friction:
    """The friction curves of an arm's joints, for arrays (..., n)."""

    viscous: Vector
    """Of each joint (n,)."""
    dry: tuple[Vector, Vector]
    """Levels for positive and negative speed, both positive (n,)."""
    smoothing: Vector
    """Speeds over which dry friction turns over (n,)."""

    @classmethod
    def of(cls, arm: Arm) -> "Friction":
        """That of an arm."""
        drives = [link.drive for link in arm.links]
        levels = np.array([drive.coulomb for drive in drives], dtype=float).T
        smoothing = np.array([drive.smoothing for drive in drives], dtype=float)
        return cls(
            np.array([drive.viscous for drive in drives], dtype=float), (levels[0], levels[1]), smoothing
        )

    @cached_property
    def none(self) -> bool:
        """Whether there is no friction at all."""
        return not (np.any(self.viscous) or np.any(self.dry))

    def at(self, speed: Vector) -> Vector:
        """Torque at these joint speeds: the curve of every other function."""
        s = speed / np.sqrt(speed * speed + self.smoothing**2)
        forth, back = self.dry
        return self.viscous * speed + s * ((forth + back) / 2 + (forth - back) / 2 * s)

    def level(self, direction: Vector) -> Vector:
        """Dry friction of a joint that moves in this direction."""
        forth, back = self.dry
        return np.where(direction > 0, forth, np.where(direction < 0, -back, 0.0))
