"""Through points: by a spline, as fast as its shape allows, or straight from point to point with rounded corners."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from forearm import faults
from forearm.algebra import Vector, is_number
from forearm.arm import Arm
from forearm.faults import StateFault
from forearm.motion.motions import Motion, ViaPoints, spline_turns
from forearm.motion.profiles.joint_limits import configurations, joint_limit, needed, within_positions
from forearm.motion.profiles.path_profiles import Looked, run_along
from forearm.motion.profiles.round_corners import STEEPEST, corner_breaks, corner_radii, whereabouts
from forearm.outside.running_log import LOG

NEAR, SLOWER = 0.01, 10.0
"""Points nearly coincide that are nearer than this share of the longest leg; how many times slower is worth a word."""


@dataclass(frozen=True, eq=False)
class RoundedPath(Looked):
    """Straight lines in joint space from point to point, corners rounded; a path, of unit speed in units of `scale`."""

    points: Any
    """Waypoints (K, n)."""
    scale: Any
    """What counts as far for each joint (n,)."""
    blend: float
    """How far from a waypoint rounding begins, as a share of the longest leg; never beyond the middle of a leg."""

    @property
    def lengths(self) -> Vector:
        """Of the legs (K - 1,)."""
        return np.linalg.norm(np.diff(self.points, axis=0) / self.scale, axis=1)

    @property
    def duration(self) -> float:  # type: ignore[override]
        """Length of the path."""
        return float(np.sum(self.lengths))

    @property
    def breaks(self) -> Vector:
        """Where corners begin and end."""
        return corner_breaks(self.lengths, corner_radii(self.lengths, self.blend * np.max(self.lengths)))

    @property
    def peaks(self) -> tuple[Vector, Vector]:
        """Greatest |q'| and |q''| of each joint (n,), exactly: that of a leg, and that in the middle of a corner."""
        lengths = self.lengths
        legs = np.diff(self.points, axis=0) / lengths[:, None]
        radii = corner_radii(lengths, self.blend * np.max(lengths))
        bends = np.abs(np.diff(legs, axis=0)) * (STEEPEST / (2 * radii[:, None]))
        return np.max(np.abs(legs), axis=0), np.max(bends, axis=0, initial=0.0)

    def rows(self, t: Vector) -> tuple[Vector, Vector, Vector]:
        """q, q' and q'' at path parameters (K,), each (K, n)."""
        lengths = self.lengths
        legs = np.diff(self.points, axis=0) / lengths[:, None]
        at = whereabouts(
            np.asarray(t, dtype=float), lengths, corner_radii(lengths, self.blend * np.max(lengths))
        )
        one, other = legs[at.leg], legs[np.minimum(at.leg + 1, len(legs) - 1)]
        (a, a1, a2), (b, b1, b2) = ([x[:, None] for x in part] for part in (at.a, at.b))
        return self.points[at.leg] + one * a + other * b, one * a1 + other * b1, one * a2 + other * b2


@faults.explained
def via_points(
    arm: Arm,
    points: Any,
    *,
    speeds: Any = None,
    accelerations: Any = None,
    jerks: Any = None,
    blend: float | None = None,
) -> Motion:
    """Through points from rest to rest, within speeds and accelerations: by a smooth spline, or with rounded corners.

    A cubic spline goes through every point, its speed and acceleration continuous, its pace the same all along, as
    fast as its worst place allows. With `blend` the path is straight from point to point, and passes by the inner
    points along rounded corners. `fastest` runs either as fast as every place allows.

    Args:
        arm: Whose joints move.
        points: Waypoints (K, n), from start to goal.
        speeds: Limits of |qd|: a number, (n,) or a dict by joint; the arm's own if None.
        accelerations: Limits of |qdd|; they must be given.
        jerks: Limits of the jerk of a spline, on the way; at both ends its acceleration begins and ends at once.
        blend: Rounding of the corners, as a share of the longest leg; a spline through all points if None.

    >>> import forearm as fa
    >>> arm = fa.load("ur5e")
    >>> points = [[0, -1.5, 1.5, 0, 0, 0], [0.5, -1, 1, 0, 0, 0], [1, -1.2, 1.2, 0, 0.3, 0]]
    >>> motion = fa.via_points(arm, points, accelerations=5)
    >>> print(round(motion.duration, 3), "s")
    1.347 s
    """
    what = "via_points"
    faults.needs_arm(arm)
    found = configurations(arm, what, "points", points)
    if found.ndim != 2 or len(found) < 2:
        raise StateFault(f"{what}: points have shape {found.shape}; give (K, {arm.n}), K ≥ 2.")
    within_positions(arm, what, found, point="point {k} (from 0)")
    given = {"speeds": speeds, "accelerations": accelerations, "jerks": jerks}
    limits = {name: joint_limit(arm, what, name, value) for name, value in given.items()}
    moving = np.any(np.diff(found, axis=0) != 0, axis=0)
    for name in ("speeds", "accelerations"):
        needed(arm, what, name, limits[name], moving)
    scale = np.where(np.isfinite(limits["speeds"]), limits["speeds"], 1.0)
    _no_duplicates(found, scale)
    if blend is None:
        return _spline(arm, found, limits, scale)
    if not (is_number(blend) and 0 < blend <= 0.5):
        raise StateFault(
            f"{what}: blend is {blend!r}; give a share of the longest leg, above 0 and at most 0.5."
        )
    if jerks is not None:
        raise StateFault(
            f"{what}: jerks and blend were both given; a rounded corner keeps no jerk limit: give one of them."
        )
    return _rounded(found, limits, scale, float(blend))


def _no_duplicates(points: Vector, scale: Vector) -> None:
    chords = np.linalg.norm(np.diff(points, axis=0) / scale, axis=1)
    for k in np.flatnonzero(chords <= 1e-9 * np.max(chords)):
        raise StateFault(
            f"via_points: points {k} and {k + 1} (from 0) are the same; leave one out (to stop there, make two "
            "motions)."
        )


def _spline(arm: Arm, points: Vector, limits: dict[str, Vector], scale: Vector) -> ViaPoints:
    """A spline over the chords, its time stretched until every limit is kept."""
    chords = np.linalg.norm(np.diff(points, axis=0) / scale, axis=1)
    times = np.concatenate([[0.0], np.cumsum(chords)])
    shape = ViaPoints(times, points)
    speed, acceleration, jerk = spline_peaks(shape)
    turns = spline_turns(shape.coefficients, shape.times)
    within_positions(arm, "via_points", turns, point="the spline through the points")
    tell_if_far(arm, [shape], "via_points")
    stretch = max(
        float(np.max(speed / limits["speeds"])),
        float(np.max(np.sqrt(acceleration / limits["accelerations"]))),
        float(np.max(np.cbrt(jerk / limits["jerks"]))),
    )
    found = ViaPoints(times * (stretch * (1 + 1e-12)), points)
    _tell_if_slow(arm, found, chords, limits, scale)
    return found


def _tell_if_slow(
    arm: Arm, spline: ViaPoints, chords: Vector, limits: dict[str, Vector], scale: Vector
) -> None:
    """Say so where points that nearly coincide make a spline much slower: it turns sharply between them."""
    near = np.flatnonzero(chords < NEAR * np.max(chords))
    if not len(near):
        return
    left = [k for k in range(len(spline.points)) if k - 1 not in near]
    other = _spline(arm, spline.points[left], limits, scale).duration if len(left) > 1 else np.inf
    if spline.duration > SLOWER * other:
        k = int(near[np.argmin(chords[near])])
        LOG.warning(
            "via_points: points %d and %d (from 0) are %.2g of the longest leg apart, and the spline through all "
            "points takes %.4g s; without such near points it takes %.3g s. Leave them out, or round corners "
            "(blend=).",
            *(k, k + 1, chords[k] / np.max(chords), spline.duration, other),
        )


def tell_if_far(arm: Arm, splines: Sequence[ViaPoints], what: str) -> None:
    """Say so where splines swing out beyond their points by more than these are apart: points nearly coincide."""
    for spline in splines:
        reach = np.ptp(spline.points, axis=0).max()
        turns = spline_turns(spline.coefficients, spline.times)
        low, high = spline.points.min(axis=0), spline.points.max(axis=0)
        out = np.max(np.maximum(turns - high, low - turns), axis=0)
        if np.max(out) > reach:
            j, chord = int(np.argmax(out)), np.diff(spline.times)
            k = int(np.argmin(chord))
            LOG.warning(
                "%s: the spline swings out by %.4g beyond the points at joint %r: points %d and %d (from 0) are %.2g "
                "of the longest leg apart; leave such near points out.",
                *(what, out[j], arm.joint_names[j], k, k + 1, chord[k] / np.max(chord)),
            )
            return


def spline_peaks(spline: ViaPoints) -> tuple[Vector, Vector, Vector]:
    """Greatest speed, acceleration and jerk of each joint (n,), exactly: they are at knots, or where qdd is zero."""
    c3, c2, c1, _ = spline.coefficients
    h = np.diff(spline.times)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        turn = np.where(c3 != 0, -c2 / (3 * c3), 0.0)
    turn = np.where((turn > 0) & (turn < h), turn, 0.0)
    speeds = [np.abs(c1 + u * (2 * c2 + 3 * u * c3)) for u in (0.0 * h, h, turn)]
    accelerations = [np.abs(2 * c2 + 6 * u * c3) for u in (0.0 * h, h)]
    return np.max(speeds, axis=(0, 1)), np.max(accelerations, axis=(0, 1)), np.max(np.abs(6 * c3), axis=0)


def _rounded(points: Vector, limits: dict[str, Vector], scale: Vector, blend: float) -> Motion:
    """Straight lines and corners by one trapezoid: half of each acceleration for going round, half for the pace."""
    path = RoundedPath(points, scale, blend)
    tangent, bend = path.peaks
    with np.errstate(divide="ignore"):
        speed = min(
            float(np.min(limits["speeds"] / tangent)),
            float(np.min(np.sqrt(limits["accelerations"] / 2 / bend))),
        )
        acceleration = float(np.min(limits["accelerations"] / 2 / tangent))
    return run_along(path, speed, acceleration, np.inf)
