"""`tool_path`: straight lines and arcs of the tool as a motion of the joints."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from forearm import dynamics, faults
from forearm.algebra import Vector, is_number
from forearm.arm import Arm
from forearm.faults import StateFault
from forearm.frames import Pose
from forearm.motion.motions import Motion
from forearm.motion.profiles.joint_limits import configurations, joint_limit, within_positions
from forearm.motion.profiles.path_profiles import Joined, Looked, run_along
from forearm.motion.profiles.round_corners import corner_breaks
from forearm.motion.tool_paths.continuation import follow, onto, rates
from forearm.motion.tool_paths.corner_paces import corner_pace
from forearm.motion.tool_paths.tool_legs import Arc, Leg, ToolRoute, legs_of
from forearm.outside.libraries.scipy_parts import scipy_part

KNOTS = 60
"""Knots on each leg between which joint positions are guessed before they are brought onto the path."""
HALVINGS, LITTLE = 16, 5e-4
"""How often pieces of a path are halved at most; and by how much of its most a joint may be faster between places."""


@dataclass(frozen=True, eq=False)
class ToolPath(Looked):
    """A path of the tool in joint positions: on the path to rounding wherever it is asked."""

    arm: Arm
    """Whose tool it is."""
    route: ToolRoute
    """Where the tool goes."""
    start: Any
    """Joint positions at its beginning (n,)."""
    with_turn: bool = True
    """Whether orientations are followed; positions alone otherwise."""

    @property
    def duration(self) -> float:  # type: ignore[override]
        """Length of the path parameter: seconds at the nominal speeds."""
        return self.route.length

    @property
    def breaks(self) -> Vector:
        """Where corners begin and end."""
        return corner_breaks([leg.length for leg in self.route.legs], self.route.radii)

    @property
    def _rows(self) -> slice:
        return slice(0, 6) if self.with_turn else slice(0, 3)

    @cached_property
    def knots(self) -> Any:
        """A spline through joint positions along the path: a guess, and what a redundant arm follows."""
        interpolate = scipy_part("interpolate")
        u = np.linspace(0.0, self.duration, KNOTS * len(self.route.legs) + 1)
        return interpolate.CubicSpline(u, follow(self.arm, self.start, self.route, u, self._rows), axis=0)

    def rows(self, t: Vector) -> tuple[Vector, Vector, Vector]:
        """q, q' and q'' at path parameters (K,), each (K, n)."""
        u = np.clip(np.asarray(t, dtype=float), 0.0, self.duration)
        poses = self.route.poses(u)
        q, _ = onto(self.arm, self.knots(u), poses, self._rows)
        qd, qdd = rates(self.arm, q, poses, self._rows, (self.knots(u, 1), self.knots(u, 2)))
        return q, qd, qdd


@faults.explained
def tool_path(
    arm: Arm,
    start: Any,
    places: Any,
    *,
    speed: float = 0.25,
    acceleration: float = 1.0,
    jerk: float | None = None,
    turn_speed: float = 1.0,
    blend: float = 0.0,
    speeds: Any = None,
    with_turn: bool = True,
) -> Motion:
    """The tool along straight lines and arcs, turning evenly from orientation to orientation, from rest to rest.

    The tool stops at each place, or passes by along corners rounded within `blend` metres. Along the path goes one
    trapezoid (an S-curve with a jerk). Where a joint would be too fast, or the tool would slow down for a corner and
    leave it with more than its acceleration (or jerk), the whole is slower: short corners make slow paths. `fastest`
    takes the result as a path.

    Args:
        arm: Whose tool it is.
        start: Joint positions at the beginning (n,): they choose the posture.
        places: One after the other: a Pose, a 4x4 matrix, a point (3,) that keeps the orientation, or
            Arc(through, to); world axes [m].
        speed: Of the tool [m/s].
        acceleration: Along the path [m/s²].
        jerk: Along the path [m/s³]; none if None.
        turn_speed: Greatest angular speed of the tool [rad/s].
        blend: How far before a place its corner begins [m]; 0 stops there.
        speeds: Limits of |qd|; the arm's own if None.
        with_turn: Whether orientations count; positions alone otherwise.

    >>> import forearm as fa
    >>> arm = fa.load("ur5e")
    >>> start = [0.3, -1.2, 1.4, -1.8, -1.57, 0.0]
    >>> here = fa.pose(arm, start)[:3, 3]
    >>> motion = fa.tool_path(arm, start, [here + [0, 0.2, 0], here + [0, 0.2, 0.1]], blend=0.03)
    >>> print(round(motion.duration, 3), "s")
    1.45 s
    """
    what = "tool_path"
    faults.needs_arm(arm)
    numbers = {"speed": speed, "acceleration": acceleration, "turn_speed": turn_speed}
    numbers |= {} if jerk is None else {"jerk": jerk}
    for name, value in numbers.items():
        if not (is_number(value) and 0 < value < np.inf):
            raise StateFault(f"{what}: {name} is {value!r}; give a positive number.")
    if not (is_number(blend) and 0 <= blend < np.inf):
        raise StateFault(f"{what}: blend is {blend!r}; give a distance in metres, 0 or more.")
    q = configurations(arm, what, "start", start)
    if q.ndim != 1:
        raise StateFault(f"{what}: start has shape {q.shape}; give ({arm.n},).")
    within_positions(arm, what, q[None], point="the start")
    limits = joint_limit(arm, what, "speeds", speeds)
    legs = legs_of(dynamics.pose(arm, q), _listed(places), float(speed), float(turn_speed))
    profile = (float(acceleration) / speed, np.inf if jerk is None else float(jerk) / speed)
    groups = [legs] if blend > 0 else [[leg] for leg in legs]
    motions: list[Motion] = []
    for group in groups:
        path = ToolPath(arm, ToolRoute.of(group, float(blend), float(speed)), q, with_turn)
        motions.append(_run(path, limits, float(speed), profile))
        q = path.rows(np.array([path.duration]))[0][0]
    return motions[0] if len(motions) == 1 else Joined(tuple(motions))


def _listed(places: Any) -> Sequence[Any]:
    """Places as a list; one alone will do."""
    single = isinstance(places, (Pose, Arc)) or (
        not isinstance(places, (list, tuple)) and np.size(faults.attribute(places, "shape", ())) == 1
    )
    if single or (isinstance(places, np.ndarray) and places.shape == (4, 4)):
        return [places]
    if isinstance(places, (list, tuple)) and len(places) == 3 and all(is_number(x) for x in places):
        return [places]
    found = list(faults.several(places, "tool_path: places", kind=StateFault))
    if not found:
        raise StateFault("tool_path: no places were given; give at least one.")
    return found


def _run(path: ToolPath, limits: Vector, speed: float, profile: tuple[float, float]) -> Motion:
    """The path by one profile, slower as a whole where a joint or a corner would be too fast."""
    q, most = _looked_at(path, limits)
    within_positions(path.arm, "tool_path", q, point="the path")
    pace = min(1.0, 0.999 / most) if most > 0 else 1.0
    return run_along(path, corner_pace(path.route, pace, speed, profile), *profile)


def _looked_at(path: ToolPath, limits: Vector) -> tuple[Vector, float]:
    """Joint positions along a path (K, n), and the largest share of a limit that q' is: near a singularity it soars.

    Pieces in which a joint might be faster than anywhere else, were its q'' what it is at an end, are halved; and
    joints are looked at where they turn round.
    """
    u = np.linspace(0.0, path.duration, 4 * KNOTS * len(path.route.legs) + 1)
    q, tangent, bend = path.rows(u)
    for _ in range(HALVINGS):
        step, share = np.diff(u), np.max(np.abs(tangent) / limits, axis=1)
        rise = np.max(np.abs(bend) / limits, axis=1)
        higher = np.maximum(share[1:], share[:-1]) + np.maximum(rise[1:], rise[:-1]) * step / 2
        some = np.flatnonzero(higher > np.max(share) * (1.0 + LITTLE))
        if not len(some):
            break
        more = u[some] + step[some] / 2
        u, found = np.insert(u, some + 1, more), path.rows(more)
        q, tangent, bend = (
            np.insert(x, some + 1, y, axis=0) for x, y in zip((q, tangent, bend), found, strict=True)
        )
    k, j = np.nonzero(tangent[1:] * tangent[:-1] < 0)
    turns = u[k] + np.diff(u)[k] * tangent[k, j] / (tangent[k, j] - tangent[k + 1, j])
    return np.concatenate([q, path.rows(turns)[0]]), float(np.max(np.abs(tangent) / limits))


__all__ = ["Arc", "Leg", "ToolPath", "tool_path"]
