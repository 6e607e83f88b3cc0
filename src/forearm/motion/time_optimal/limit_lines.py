"""Limits of speed, acceleration and torque as lines in the plane of squared path speed x and path acceleration u.

In each interval a limit holds at both ends: with u constant, x at the far end is x + 2 Δ u, and what is linear in x
and u there is linear in them here (the interpolation scheme of Pham and Pham). Friction is not linear in x = ṡ²:
viscous friction grows with its root, and enters by the tangent at the profile found before, which is exact when
profiles no longer change. Dry friction counts in full in the direction of motion, and where a joint sets out, stops or
turns round within an interval, all that it goes through counts.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from forearm.algebra import Vector
from forearm.motion.time_optimal.path_grids import Friction, PathGrid
from forearm.motion.time_optimal.reachability import Lines

FASTEST = 1e-6
"""Nobody goes along a whole path in less time than this [s]: what x is bounded by where nothing else does."""
NEAR, FAR = slice(None, -1), slice(1, None)
"""Grid points (N + 1) as the ends of intervals (N)."""
SLOW = 30
"""Joint speeds below so many times the smoothing of dry friction are on its way to turn over."""
UNBOUNDED, HUGE = 0.9, 1e4
"""Where no speed limit bounds x: so many times what the greatest acceleration at rest reaches along the path does."""
THIN = 1e-9
"""An inertia along the path below this share of its greatest counts as this: lines stay finite."""


@dataclass(frozen=True)
class JointLimits:
    """What a motion has to keep within, each (n,), infinite where there is no limit."""

    speeds: Vector
    """Greatest |qd|."""
    accelerations: Vector
    """Greatest |qdd|."""
    torques: Vector
    """Greatest |tau|."""

    @property
    def with_torques(self) -> bool:
        """Whether any torque is limited."""
        return bool(np.any(np.isfinite(self.torques)))

    @cached_property
    def kinds(self) -> tuple[tuple[str, Vector], ...]:
        """The limits that are lines, by name, those that are there at all."""
        found = (("torque", self.torques), ("acceleration", self.accelerations))
        return tuple((name, values) for name, values in found if np.any(np.isfinite(values)))


@dataclass(frozen=True)
class Strips:
    """low ≤ a u + b x ≤ high in each interval: S strips, each joint's limits at the near end, then at the far end."""

    a: Vector
    """(P, N, S)."""
    b: Vector
    """(P, N, S)."""

    @cached_property
    def inverse(self) -> Vector:
        """1 / a, kept finite."""
        size = np.abs(self.a)
        each = np.max(size, axis=1, keepdims=True)
        floor = THIN * np.maximum(each, np.maximum(THIN * np.max(each, axis=2, keepdims=True), 1e-200))
        thin = size < floor
        a = np.where(thin, np.copysign(floor, self.a), self.a) if np.any(thin) else self.a
        return 1.0 / a

    @cached_property
    def slope(self) -> Vector:
        """du/dx of the lines that bound the strips."""
        return -self.b * self.inverse

    def lines(self, low: Vector, high: Vector, most: Vector, span: Vector) -> Lines:
        """The strips as lines u ≤ e + f x and u ≥ e + f x, for paths of lengths (P, 1)."""
        one, other = high * self.inverse, low * self.inverse
        top = np.maximum(one, other)
        if np.any(
            most >= UNBOUNDED * (span / FASTEST) ** 2
        ):  # from too far away Newton's method ends inexactly
            reach = span * np.max(np.abs(np.min(top, axis=2)), axis=1)[:, None]
            most = np.minimum(most, np.where(reach > 0, HUGE * reach, np.inf))
        return Lines((top, self.slope), (np.minimum(one, other), self.slope), most)


@dataclass(frozen=True)
class Bent:
    """Friction near a profile, straight lines in x: viscous at the grid points, dry friction for each interval."""

    start: Vector
    """Viscous friction at x = 0 (P, N + 1, n),"""
    slope: Vector
    """and what it gains for each unit of x."""
    most: Vector
    """Greatest dry friction in each interval (P, N, n)."""
    least: Vector
    """Least dry friction."""


def friction_lines(grid: PathGrid, friction: Friction, x: Vector | None, chord: bool) -> Bent | None:
    """Friction as lines near a profile x (P, N + 1): viscous by tangents, or by chords from standstill."""
    if friction.none:
        return None
    tangent = grid.at_points(grid.tangent)
    if x is None:
        nothing = np.zeros_like(tangent)
        return Bent(nothing, nothing, *_dry(friction, tangent, None))
    root = np.sqrt(np.maximum(x, 1e-6 * np.max(x, axis=1, keepdims=True)))[..., None]
    drag = friction.viscous * tangent
    start, slope = (0.0 * drag, drag / root) if chord else (drag * root / 2, drag / (2 * root))
    start[:, [0, -1]] = slope[:, [0, -1]] = 0.0  # at rest
    return Bent(start, slope, *_dry(friction, tangent, root))


def _dry(friction: Friction, tangent: Vector, root: Vector | None) -> tuple[Vector, Vector]:
    """Bounds of dry friction in each interval (P, N, n): all of it and none where a joint sets out, stops or turns."""
    level = friction.level(tangent)
    most, least = np.maximum(level[:, NEAR], level[:, FAR]), np.minimum(level[:, NEAR], level[:, FAR])
    if root is None:
        return most, least
    speed = np.abs(tangent) * root
    slow = np.minimum(speed[:, NEAR], speed[:, FAR]) < SLOW * friction.smoothing
    slow[:, [0, -1]] = True
    return np.where(slow, np.maximum(most, 0.0), most), np.where(slow, np.minimum(least, 0.0), least)


def strips_of(grid: PathGrid, limits: JointLimits, bent: Bent | None) -> Strips:
    """The strips of every interval; x at the far end is x + 2 Δ u."""
    step, parts = 2 * grid.steps[..., None], []
    for kind, most in limits.kinds:
        if kind == "acceleration":
            a, b = grid.at_points(grid.tangent), grid.at_points(grid.bend)
        else:
            a, b = grid.at_points(grid.a), grid.at_points(grid.b)
            b = b if bent is None else b + bent.slope
        held = _held(most)
        parts.append((a[:, NEAR, held], b[:, NEAR, held]))
        parts.append((a[:, FAR, held] + step * b[:, FAR, held], b[:, FAR, held]))
    if not parts:  # speeds alone: one strip that binds nowhere
        return Strips(np.ones_like(step), np.zeros_like(step))
    return Strips(*(np.concatenate([part[k] for part in parts], axis=-1) for k in range(2)))


def _held(most: Vector) -> Any:
    """The joints that have a limit; all of them as a slice, which copies nothing."""
    finite = np.isfinite(most)
    return slice(None) if np.all(finite) else np.flatnonzero(finite)


def bounds_of(
    grid: PathGrid, limits: JointLimits, bent: Bent | None, tighter: dict[str, Vector], ease: Vector | None
) -> tuple[Vector, Vector]:
    """The bounds (low, high) of the strips, each (P, N, S).

    Args:
        grid: Paths and torques.
        limits: What to keep within.
        bent: Friction near a profile.
        tighter: By how much limits are drawn in, by kind: (P, N, n).
        ease: Share of the limits that is used in each interval (P, N); all of it if None.
    """
    parts: list[tuple[Vector, Vector]] = []
    for kind, most in limits.kinds:
        held = _held(most)
        for here in (NEAR, FAR):
            low, high = _bounds(grid, kind, most, bent, here)
            if kind in tighter:
                low, high = low + tighter[kind], high - tighter[kind]
            if ease is not None:
                low, high = low * ease[..., None], high * ease[..., None]
            parts.append((low[..., held], high[..., held]))
    if not parts:
        nothing = np.full((*grid.steps.shape, 1), 1e300)
        return -nothing, nothing
    low, high = (np.concatenate([part[k] for part in parts], axis=-1) for k in range(2))
    return low, high


def _bounds(grid: PathGrid, kind: str, most: Vector, bent: Bent | None, here: slice) -> tuple[Vector, Vector]:
    """Bounds of a u + b x at one end of each interval (P, N, n)."""
    if kind == "acceleration":
        high = np.broadcast_to(most, (*grid.steps.shape, len(most)))
        return -high, high
    c = grid.at_points(grid.c)[:, here]
    if bent is None:
        return -most - c, most - c
    c = c + bent.start[:, here]
    return -most - c - bent.least, most - c - bent.most


def greatest_squares(grid: PathGrid, limits: JointLimits, tighter: Vector | None) -> Vector:
    """The greatest x at the grid points (P, N + 1) by the speed limits."""
    tangent = np.abs(grid.at_points(grid.tangent))
    with np.errstate(divide="ignore"):
        speed = np.min(limits.speeds / np.maximum(tangent, 1e-300), axis=-1)
    most = np.minimum(speed, grid.span / FASTEST) ** 2
    return most if tighter is None else most * tighter
