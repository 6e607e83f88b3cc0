"""`fastest`: paths as fast as speeds, accelerations and torques allow."""

from typing import Any, NoReturn

import numpy as np

from forearm import faults
from forearm.algebra import Vector, is_number
from forearm.arm import Arm
from forearm.faults import StateFault
from forearm.motion.motions import Motion, ViaPoints
from forearm.motion.profiles.joint_limits import joint_limit
from forearm.motion.profiles.path_profiles import along_path
from forearm.motion.time_optimal.closer_looks import CloserLook
from forearm.motion.time_optimal.joint_paths import joint_paths, leaves_limits
from forearm.motion.time_optimal.limit_lines import JointLimits
from forearm.motion.time_optimal.optimal_motion import TimeOptimal
from forearm.motion.time_optimal.path_grids import Friction, PathGrid, fine_grid, path_grid, resolved
from forearm.motion.time_optimal.profile_search import ProfileSearch, search
from forearm.motion.time_optimal.splines import spline_rows
from forearm.outside.option_names import option

TOGETHER = 16
"""Paths that are worked on side by side: their lines stay in the cache."""
FIRST = (1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2)
"""Shares of the first and last interval at which it is divided: friction grows with the root of what is gone."""
COARSE = 1e-3
"""A limit that is passed by a larger share between points of the grid is not kept."""
MOST_POINTS = 100_000
"""Points of a grid that nobody means."""


@faults.explained
def fastest(
    arm: Arm,
    path: Any,
    *,
    speeds: Any = None,
    accelerations: Any = None,
    torques: Any = None,
    grid: Any = 200,
    ease: float = 0.0,
) -> "TimeOptimal | Any":
    """The fastest motion along a path from rest to rest, within limits of speed, acceleration and torque.

    The torque is that of the whole arm: inertia, Coriolis, gravity, payload, rotors and friction. The motion says how
    long it takes (`duration`), and what limits it where (`binding`, `phase_plane`).

    Args:
        arm: The arm, with what it carries.
        path: Waypoints (K, n), (P, K, n) for many paths at once, or a Motion (a sequence of them), of which only the
            path counts.
        speeds: Limits of |qd|: a number, (n,) or a dict by joint; the arm's own if None.
        accelerations: Limits of |qdd|; none if None.
        torques: Limits of |tau|; the arm's own if None.
        grid: Intervals in which the path acceleration is constant, or the points of the grid themselves.
        ease: Share of the path at both ends along which accelerations come in from zero, for ends without a jerk.

    >>> import forearm as fa
    >>> arm = fa.load("iiwa14")
    >>> motion = fa.fastest(arm, [[0, 0, 0, 0, 0, 0, 0], [0.5, 0.8, 0, -1.2, 0, 0.4, 0], [1.2, 0.3, 0, -0.6, 0, 0, 0]])
    >>> print(round(motion.duration, 2), "s")
    1.57 s
    """
    faults.needs_arm(arm)
    faults.needs_own_joints(arm, "fastest")
    limits = _limits(arm, speeds, accelerations, torques)
    count = _count(grid)
    scale = np.where(np.isfinite(limits.speeds), limits.speeds, 1.0)
    paths, single = joint_paths(arm, path, scale, count)
    if not (is_number(ease) and 0 <= ease <= 0.5):
        raise StateFault(f"fastest: ease is {ease!r}; give a share of the path, 0 to 0.5.")
    found: list[TimeOptimal] = []
    for first in range(0, len(paths), TOGETHER):
        found += _together(arm, paths[first : first + TOGETHER], limits, grid, float(ease), first, single)
    return found[0] if single else tuple(found)


def _limits(arm: Arm, speeds: Any, accelerations: Any, torques: Any) -> JointLimits:
    given = {"speeds": speeds, "accelerations": accelerations, "torques": torques}
    limits = JointLimits(*(joint_limit(arm, "fastest", name, value) for name, value in given.items()))
    if not any(np.any(np.isfinite(getattr(limits, name))) for name in ("accelerations", "torques")):
        raise StateFault(
            f"fastest: arm {arm.name!r} has no torque limits, and none were given; give {option('torques')} or "
            f"{option('accelerations')} (without either, a motion can start and stop at once)."
        )
    if limits.with_torques:
        faults.needs_dynamics(arm, "torque")
    return limits


def _count(grid: Any) -> int:
    """How many intervals."""
    if is_number(grid) and grid == int(grid) and 2 <= grid <= MOST_POINTS:
        return int(grid)
    points = np.zeros(0) if is_number(grid) else faults.floats("fastest: grid", grid)
    if points.ndim != 1 or len(points) < 3 or not np.all(np.isfinite(points)) or np.any(np.diff(points) <= 0):
        raise StateFault(
            f"fastest: grid is {faults.shown(grid)}; give a number of intervals, 2 to {MOST_POINTS}, or rising path "
            "parameters."
        )
    return len(points) - 1


def _together(
    arm: Arm, paths: list[Motion], limits: JointLimits, grid: Any, ease: float, first: int, single: bool
) -> list[TimeOptimal]:
    friction = Friction.of(arm)
    points = _points(paths, grid, ease, not friction.none)
    s = fine_grid(points)
    rows = _rows(paths, s)
    closer = CloserLook.at(arm, paths, points, limits, _rows, rows)
    leaves_limits(arm, paths, np.concatenate([rows[0], closer.rows[0]], axis=1), single)
    made = path_grid(arm, s, rows, limits.with_torques)
    found = search(made, limits, friction, closer.over, _eased(points, ease))
    for p in np.flatnonzero(found.excess > COARSE):
        _too_coarse(
            float(found.excess[p]), points.shape[1] - 1, "the path" if single else f"path {first + p}"
        )
    for p in np.flatnonzero(found.profiles.empty >= 0):
        _impossible(arm, made, limits, friction, int(p), found, "the path" if single else f"path {first + p}")
    return [
        TimeOptimal(
            arm,
            path,
            limits,
            points[k],
            found.profiles.x[k],
            found.profiles.sets[k],
            float(found.excess[k]),
            found.rounds,
        )
        for k, path in enumerate(paths)
    ]


def _rows(paths: list[Motion], s: Vector) -> tuple[Vector, Vector, Vector]:
    """q, q' and q'' (P, M, n) at path parameters (P, M)."""
    if (together := spline_rows(paths, s)) is not None:
        return together
    rows = [along_path(path, fine) for path, fine in zip(paths, s, strict=True)]
    q, tangent, bend = (np.stack([row[k] for row in rows]) for k in range(3))
    return q, tangent, bend


def _points(paths: list[Motion], grid: Any, ease: float, rubbing: bool) -> Vector:
    """The grid of each path (P, N + 1)."""
    ends = np.array([path.duration for path in paths])
    if is_number(grid):
        found = ends[:, None] * _shares(int(grid), ease, rubbing)
        for k, path in enumerate(paths):
            found[k] = resolved(found[k], path.breaks)
            _onto_knots(found[k], path)
        return found
    points = np.array(grid, dtype=float)
    for end in ends:
        if points[0] != 0 or abs(points[-1] - end) > 1e-9 * end:
            raise StateFault(
                f"fastest: grid goes from {points[0]:g} to {points[-1]:g}, but the path from 0 to {end:g}; give points "
                "from one end to the other."
            )
    return np.concatenate([np.tile(points[:-1], (len(paths), 1)), ends[:, None]], axis=1)


def _onto_knots(points: Vector, path: Motion) -> None:
    """Move grid points onto the knots of a spline nearby: between two of them the path is then smooth."""
    if not isinstance(path, ViaPoints) or 4 * len(path.times) > len(points):
        return
    knots = path.times[1:-1]
    k = np.clip(np.searchsorted(points, knots), 1, len(points) - 2)
    k -= (knots - points[k - 1] < points[k] - knots) & (k > 1)
    points[k] = knots
    if np.any(np.diff(k) <= 0):  # two knots that one point is nearest to
        points[1:-1] = np.sort(points[1:-1])


def _shares(count: int, ease: float, rubbing: bool) -> Vector:
    """A grid from 0 to 1, finer at its ends where accelerations come in, or friction.

    With accelerations that come in, its points there are equally far in time (s ∝ t³), not along s.
    """
    few = count // 4
    if ease > 0 and few > 1:
        start = ease * (np.arange(few) / few) ** 3
        return np.concatenate([start, np.linspace(ease, 1 - ease, count - 2 * few + 1), 1 - start[::-1]])
    if not rubbing or few < 2 * len(FIRST):
        return np.linspace(0.0, 1.0, count + 1)
    even = np.linspace(0.0, 1.0, count - 2 * len(FIRST) + 1)
    start = even[1] * np.array(FIRST)
    return np.concatenate([[0.0], start, even[1:-1], 1 - start[::-1], [1.0]])


def _eased(points: Vector, ease: float) -> Vector | None:
    """The share of accelerations that each interval uses: a constant jerk near the ends, s̈ ∝ s^(1/3)."""
    if ease == 0:
        return None
    middle = (points[:, 1:] + points[:, :-1]) / 2
    span = points[:, -1:] - points[:, :1]
    from_end = np.minimum(middle - points[:, :1], points[:, -1:] - middle) / span
    return np.minimum(from_end / ease, 1.0) ** (1 / 3)


def _too_coarse(excess: float, count: int, which: str) -> NoReturn:
    """A path that bends between the points of its grid."""
    raise StateFault(
        f"fastest: {which} bends too sharply for {count} intervals: between them a limit is passed by "
        f"{100 * excess:.3g} %; give more (grid=), or round its corners more widely."
    )


def _impossible(
    arm: Arm,
    grid: PathGrid,
    limits: JointLimits,
    friction: Friction,
    p: int,
    found: ProfileSearch,
    which: str,
) -> NoReturn:
    """Why there is no motion along a path."""
    k = int(found.profiles.empty[p])
    share = (grid.s[p] - grid.s[p, 0]) / np.max(grid.s[p] - grid.s[p, 0])
    hold = np.abs(grid.c[p]) / limits.torques
    worst, j = np.unravel_index(int(np.argmax(hold)), hold.shape)
    if hold[worst, j] > 1:
        link = arm.links[j]
        unit = "N m" if link.revolute else "N"
        raise StateFault(
            f"fastest: {which} is out of the drives' reach: {100 * share[worst]:.0f} % along it, joint {link.name!r} "
            f"needs {abs(grid.c[p, worst, j]):.4g} {unit} to hold still, and has {limits.torques[j]:g}; take another "
            "path, or a lighter payload."
        )
    stuck = "" if friction.none else ", friction included"
    raise StateFault(
        f"fastest: {which} cannot be run within its limits{stuck}: {100 * share[k]:.0f} % along it no path speed "
        "leads to its end; take another path, a lighter payload, or wider limits."
    )
