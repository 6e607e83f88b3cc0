"""The fastest profiles along paths on a grid: lines, both passes, a look between the grid points, and again if needed.

Once is enough for a rigid arm. Friction is followed to its own curve by tangents at the last profile, and where a limit
is passed between two grid points by more than SLACK of itself, it is drawn in there by that much.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from forearm.algebra import Vector
from forearm.motion.time_optimal.limit_lines import (
    JointLimits,
    bounds_of,
    friction_lines,
    greatest_squares,
    strips_of,
)
from forearm.motion.time_optimal.path_grids import FINE, Friction, PathGrid
from forearm.motion.time_optimal.reachability import Profiles, fastest_profiles

SLACK, AIM = 7e-4, 5e-4
"""Share of a limit that may be passed between grid points, and to which it is drawn in where that is more."""
RUBBED = 0.5
"""With friction only so much of that: it changes faster between the points."""
SETTLED, NEARLY = 1e-4, 1e-2
"""Changes of a profile, as shares of its greatest speed, at which friction is right, and nearly so."""
PATIENCE = 8
"""Rounds after which it no longer counts that a joint's friction goes to and fro, as long as limits are kept."""
MOST_ROUNDS = 30
"""Rounds for friction and for what lies between the grid points; one without friction, five with it, are usual."""


@dataclass(frozen=True)
class ProfileSearch:
    """What a search found."""

    profiles: Profiles
    """The fastest profiles."""
    excess: Vector
    """Largest share of a limit that is passed anywhere that was looked at (P,)."""
    rounds: int
    """How often both passes ran."""


def search(
    grid: PathGrid,
    limits: JointLimits,
    friction: Friction,
    closer: Callable[[Vector], dict[str, Vector]],
    ease: Vector | None = None,
) -> ProfileSearch:
    """The fastest profiles from rest to rest.

    Args:
        grid: Paths, and the torques that belong to them.
        limits: What is kept.
        friction: That of the arm.
        closer: Shares of the limits that profiles (P, N + 1) pass between the points of the grid, as `excesses` gives
            them, by a look at many more places: only what settled is worth it.
        ease: The share of the limits used in each interval (P, N).
    """
    tighter: dict[str, Vector] = {}
    part = 1.0 if friction.none else RUBBED
    speed = _ahead(grid, limits, part * AIM)
    found: ProfileSearch | None = None
    chord = True
    for rounds in range(1, MOST_ROUNDS + 1):
        before = None if found is None else found.profiles.x
        bent = friction_lines(grid, friction, before, chord)
        if rounds == 1 or bent is not None:
            strips = strips_of(grid, limits, bent)
        bounds = bounds_of(grid, limits, bent, tighter, ease)
        lines = strips.lines(*bounds, greatest_squares(grid, limits, speed), grid.span)
        profiles = fastest_profiles(lines, grid.steps)
        if np.any(profiles.empty >= 0):
            if found is None or np.any(found.profiles.empty >= 0):
                return ProfileSearch(profiles, np.full(len(grid.s), np.nan), rounds)
            if chord:
                break
            chord = True  # a tangent asks too much at standstill; a chord is right there
            continue
        over = excesses(grid, limits, friction, profiles.x, ends=not friction.none)
        found = ProfileSearch(profiles, _worst(over), rounds)
        change = 0.0 if friction.none or rounds > PATIENCE else _change(before, profiles.x)
        if np.all(found.excess <= part * SLACK) and change < SETTLED:
            over = _larger(over, closer(profiles.x))
            if np.all(_worst(over) <= SLACK):
                return replace(found, excess=_worst(over))
        chord = False
        if change < NEARLY:  # before, what is passed is passed because friction is not yet right
            tighter, speed = _drawn_in(tighter, speed, over, limits, part * AIM)
    assert found is not None
    return replace(found, excess=np.maximum(found.excess, _worst(closer(found.profiles.x))))


def _worst(over: dict[str, Vector]) -> Vector:
    """The largest share of each path (P,)."""
    return np.max([np.max(part, axis=(1, 2)) for part in over.values()], axis=0)  # type: ignore[no-any-return]


def _larger(over: dict[str, Vector], others: dict[str, Vector]) -> dict[str, Vector]:
    return {kind: np.maximum(part, others[kind]) for kind, part in over.items()}


def _change(before: Vector | None, x: Vector) -> float:
    """How far a profile is from the one that friction was taken at, as a share of the greatest speed."""
    return (
        np.inf if before is None else float(np.max(np.abs(np.sqrt(x) - np.sqrt(before))) / np.sqrt(np.max(x)))
    )


def excesses(
    grid: PathGrid, limits: JointLimits, friction: Friction, x: Vector, ends: bool
) -> dict[str, Vector]:
    """Shares of the limits that a profile passes in each interval, by kind: (P, N, n), negative where it keeps within.

    At the ends of intervals too, if asked; without friction a profile keeps within limits there.
    """
    gain = np.diff(x, axis=1)
    u = (gain / (2 * grid.steps))[..., None]
    most: dict[str, Vector] = {}
    for k in range(0, FINE + 1) if ends else range(1, FINE):
        inside = (x[:, :-1] + gain * (k / FINE))[..., None]
        for kind, values in _values(grid, limits, friction, k, inside, u).items():
            size = np.abs(values)
            most[kind] = size if kind not in most else np.maximum(most[kind], size, out=most[kind])
    bounds = dict(limits.kinds)
    found = {"speed": _speeds_over(grid, limits, x, ends)}
    return found | {kind: size / bounds[kind] - 1.0 for kind, size in most.items()}


def _speeds_over(grid: PathGrid, limits: JointLimits, x: Vector, ends: bool) -> Vector:
    """Shares of the speed limits that are passed inside each interval (P, N, n), also between the points looked at.

    At its ends too, if asked. Squares of speeds are smooth inside an interval, where x is linear: their peak is that of
    a parabola through three.
    """
    outer, gain = grid.at_points(grid.tangent), np.diff(x, axis=1)
    tangents = [outer[:, :-1], *(grid.at_part(grid.tangent, k) for k in range(1, FINE)), outer[:, 1:]]
    squares = [
        (tangent / limits.speeds) ** 2 * (x[:, :-1] + gain * (k / FINE))[..., None]
        for k, tangent in enumerate(tangents)
    ]
    most = np.maximum(squares[0], squares[-1]) if ends else np.zeros(1)
    for before, here, after in zip(squares, squares[1:], squares[2:], strict=False):
        bend, slope = 2 * here - before - after, (after - before) / 2
        inside = bend > np.abs(slope)  # a peak between the outer two
        peak = here + np.where(inside, slope**2 / np.where(inside, 2 * bend, 1.0), 0.0)
        most = np.maximum(most, peak)
    return np.sqrt(most) - 1.0  # type: ignore[no-any-return]


def _values(
    grid: PathGrid, limits: JointLimits, friction: Friction, k: int, x: Vector, u: Vector
) -> dict[str, Vector]:
    """What is limited, at share k / FINE of each interval (P, N, n)."""

    def here(values: Vector) -> Vector:
        if 0 < k < FINE:
            return grid.at_part(values, k)
        return grid.at_points(values)[:, 1:] if k else grid.at_points(values)[:, :-1]

    tangent = here(grid.tangent)
    speed = tangent * np.sqrt(x)
    found = {}
    for kind, _ in limits.kinds:
        if kind == "acceleration":
            found[kind] = tangent * u + here(grid.bend) * x
        else:
            tau = here(grid.a) * u + here(grid.b) * x + here(grid.c)
            found[kind] = tau if friction.none else tau + friction.at(speed)
    return found


def _ahead(grid: PathGrid, limits: JointLimits, aim: float) -> Vector | None:
    """By how much speed limits are drawn in at the grid points (P, N + 1), since tangents are longer between them."""
    if not np.any(np.isfinite(limits.speeds)):
        return None
    most = greatest_squares(grid, limits, None)
    return _at_both_ends(np.max(_speeds_over(grid, limits, most, ends=False), axis=2), aim)


def _at_both_ends(over: Vector, aim: float) -> Vector:
    """Factors (P, N + 1) for x where speeds are passed by these shares in the intervals (P, N)."""
    factor = 1.0 / (1.0 + np.maximum(over - aim, 0.0)) ** 2
    ends = np.ones((factor.shape[0], factor.shape[1] + 1))
    ends[:, :-1] = factor
    ends[:, 1:] = np.minimum(ends[:, 1:], factor)
    return ends


def _drawn_in(
    tighter: dict[str, Vector],
    speed: Vector | None,
    over: dict[str, Vector],
    limits: JointLimits,
    aim: float,
) -> tuple[dict[str, Vector], Vector]:
    """Limits drawn in by what was passed, in the interval where it was."""
    drawn = {}
    for kind, most in limits.kinds:
        more = np.maximum(over[kind] - aim, 0.0) * np.where(np.isfinite(most), most, 0.0)
        drawn[kind] = more + tighter.get(kind, 0.0)
    ends = _at_both_ends(np.max(over["speed"], axis=2), aim)
    return drawn, ends if speed is None else ends * speed
