"""What `fastest` is given: waypoints, or a motion whose path counts and whose times do not.

Waypoints become cubic splines over the length of their chords. A motion is a path already, unless it stops on its
way (most begin and end at rest): then it is taken again over its own length. A path with a kink is refused: to
go round it without stopping would need an infinite acceleration.
"""

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from forearm.algebra import Vector
from forearm.arm import Arm
from forearm.faults import StateFault
from forearm.motion.motions import Motion, ViaPoints, spline_turns
from forearm.motion.profiles.joint_limits import configurations, within_positions
from forearm.motion.profiles.path_profiles import AlongPath, along_path
from forearm.motion.profiles.via_splines import tell_if_far
from forearm.motion.time_optimal.optimal_motion import TimeOptimal
from forearm.motion.time_optimal.splines import spline_pieces, spline_rows

STOPS = 1e-4
"""A path whose tangent falls below this share of its greatest stops there."""
KNOTS = 200
"""Pieces of a motion that is taken again over its length, at least."""
SHARP = 0.35
"""Turn between two pieces that is looked at more closely [rad]."""
FEW = 64
"""Waypoints up to which the splines of all paths are solved side by side, as full matrices."""
BLOCK = 16
"""Splines that are looked at side by side."""
ZOOM = 16
"""How much closer at each look."""


def joint_paths(arm: Arm, path: Any, scale: Vector, grid: int) -> tuple[list[Motion], bool]:
    """Paths as motions of a parameter s, and whether there was only one."""
    if isinstance(path, Motion):
        return [_regular(arm, path, scale, grid, "the motion")], True
    if isinstance(path, (list, tuple)) and path and all(isinstance(one, Motion) for one in path):
        smooth = _never_stop(arm, path, scale, grid)
        regular = [
            one if smooth[k] else _regular(arm, one, scale, grid, f"motion {k + 1}")
            for k, one in enumerate(path)
        ]
        return regular, False
    points = configurations(arm, "fastest", "path", path)
    if points.ndim not in (2, 3) or points.shape[-2] < 2:
        raise StateFault(
            f"fastest: path has shape {points.shape}; give waypoints (K, {arm.n}) with K ≥ 2, (P, K, {arm.n}) for many "
            "paths, or a Motion."
        )
    many = points if points.ndim == 3 else points[None]
    found = splines_through(arm, many, scale, "fastest")
    tell_if_far(arm, found, "fastest")
    return list(found), points.ndim == 2


def splines_through(arm: Arm, points: Vector, scale: Vector, what: str) -> list[ViaPoints]:
    """Cubic splines through waypoints (P, K, n), over the length of the chords in units of `scale`."""
    within_positions(arm, what, points.reshape(-1, arm.n), point="waypoint {k}", rows=points.shape[1])
    chords = np.linalg.norm(np.diff(points, axis=1) / scale, axis=2)
    longest = np.max(chords, axis=1, keepdims=True)
    if not np.all(longest > 0):
        raise StateFault(f"{what}: all waypoints are the same; give a path that goes somewhere.")
    same = np.argwhere(chords <= 1e-9 * longest)
    if len(same):
        p, k = same[0]
        which = "" if len(points) == 1 else f" of path {p}"
        raise StateFault(
            f"{what}: waypoints {k} and {k + 1}{which} (from 0) are the same; leave one out (to stop there, make two "
            "motions)."
        )
    times = np.concatenate([np.zeros((len(points), 1)), np.cumsum(chords, axis=1)], axis=1)
    if points.shape[1] > FEW:
        return [ViaPoints(t, q, at_rest=False) for t, q in zip(times, points, strict=True)]
    pieces = spline_pieces(times, points)
    found = []
    for t, q, c in zip(times, points, pieces, strict=True):
        path = ViaPoints(t, q, at_rest=False)
        path.__dict__["coefficients"] = c  # solved for all paths at once
        found.append(path)
    return found


def _never_stop(arm: Arm, motions: Sequence[Motion], scale: Vector, grid: int) -> Vector:
    """Which motions are splines whose tangent never vanishes, looked at side by side: those have no kinks either."""
    smooth = np.zeros(len(motions), bool)
    if not all(isinstance(one, ViaPoints) and one.points.shape[1] == arm.n for one in motions):
        return smooth
    for first in range(0, len(motions), BLOCK):
        some = motions[first : first + BLOCK]
        ends = np.array([[one.duration] for one in some])
        found = spline_rows(some, ends * np.linspace(0.0, 1.0, 4 * grid + 1))
        if found is not None:
            size = np.linalg.norm(found[1] / scale, axis=2)
            smooth[first : first + BLOCK] = size.min(axis=1) > STOPS * size.max(axis=1)
    return smooth


def _regular(arm: Arm, motion: Motion, scale: Vector, grid: int, what: str) -> Motion:
    """The motion, or its path taken again over its length where it stops; kinks are refused."""
    if isinstance(motion, (AlongPath, TimeOptimal)):
        motion = motion.path
    _, qd, _ = along_path(motion, np.linspace(0.0, motion.duration, 4 * grid + 1))
    if qd.shape[1] != arm.n:
        raise StateFault(f"fastest: {what} has {qd.shape[1]} joints, arm {arm.name!r} has {arm.n}.")
    size = np.linalg.norm(qd / scale, axis=1)
    if not np.max(size) > 0:
        raise StateFault(f"fastest: {what} stays where it is; give a path that goes somewhere.")
    _refuse_kinks(motion, scale, grid, what)
    if np.min(size) > STOPS * np.max(size):
        return motion
    return _over_its_length(arm, motion, scale, max(grid, KNOTS))


def _over_its_length(arm: Arm, motion: Motion, scale: Vector, pieces: int) -> Motion:
    """A spline through so many points of a motion, equally far from each other."""
    dense = np.linspace(0.0, motion.duration, 20 * pieces + 1)
    chords = np.linalg.norm(np.diff(motion.rows(dense)[0], axis=0) / scale, axis=1)
    length = np.concatenate([[0.0], np.cumsum(chords)])
    keep = np.concatenate([[True], np.diff(length) > 1e-12 * length[-1]])
    times = np.interp(np.linspace(0.0, length[-1], pieces + 1), length[keep], dense[keep])
    return splines_through(arm, motion.rows(times)[0][None], scale, "fastest")[0]


def _refuse_kinks(motion: Motion, scale: Vector, grid: int, what: str) -> None:
    t = np.linspace(0.0, motion.duration, grid + 1)
    turns = _turns(motion, scale, t)
    k = int(np.argmax(turns))
    first, low, high = turns[k], t[k], t[k + 2]
    if first < SHARP:
        return
    for _ in range(3):
        closer = np.linspace(low, high, 2 * ZOOM + 1)
        found = _turns(motion, scale, closer)
        j = int(np.argmax(found))
        if found[j] < 0.6 * first:
            return
        low, high = closer[j], closer[j + 2]
    _kink(what, (low + high) / 2, first)


def _turns(motion: Motion, scale: Vector, t: Vector) -> Vector:
    """Angles between successive chords (len(t) - 2,) [rad]; none where nothing moves."""
    chords = np.diff(motion.rows(t)[0], axis=0) / scale
    sizes = np.linalg.norm(chords, axis=1)
    still = sizes < 1e-9 * np.max(sizes)
    ways = chords / np.where(still, 1.0, sizes)[:, None]
    cosines = np.clip(np.sum(ways[:-1] * ways[1:], axis=1), -1.0, 1.0)
    return np.where(still[:-1] | still[1:], 0.0, np.arccos(cosines))


def _kink(what: str, t: float, angle: float) -> NoReturn:
    raise StateFault(
        f"fastest: {what} has a kink at t = {t:.4g} s, where it turns by {np.degrees(angle):.0f}°: no finite "
        "acceleration goes round it. Round the corner (blend=), or make two motions that stop there."
    )


def leaves_limits(arm: Arm, paths: Sequence[Motion], q: Vector, single: bool) -> None:
    """Refuse paths, at grids (P, M, n), that leave the limits of the joints between their waypoints."""
    name = "the path" if single else "a path"
    within_positions(arm, "fastest", q.reshape(-1, arm.n), point=name)
    splines = [path for path in paths if isinstance(path, ViaPoints)]
    for knots in {len(path.times) for path in splines}:
        alike = [path for path in splines if len(path.times) == knots]
        turns = spline_turns(np.array([x.coefficients for x in alike]), np.array([x.times for x in alike]))
        within_positions(arm, "fastest", turns.reshape(-1, arm.n), point=name)
