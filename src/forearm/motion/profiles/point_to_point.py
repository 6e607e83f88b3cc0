"""From one position to another, from rest to rest, within speeds, accelerations and jerks: the classic profiles.

Without a jerk limit each joint accelerates, cruises and brakes (a trapezoid of speed); with one, accelerations rise and
fall as well: seven phases, an S-curve. All joints arrive at once: the slowest takes its shortest time, the others are
stretched to it, or, on a straight line in joint space, all follow one profile.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from forearm import faults
from forearm.algebra import Scalar, Vector, is_number
from forearm.arm import Arm
from forearm.faults import StateFault
from forearm.motion.instants import apart
from forearm.motion.motions import MotionFormula, moment, where
from forearm.motion.profiles.joint_limits import configurations, joint_limit, needed, within_positions


def phase_times(way: Any, speed: Any, acceleration: Any, jerk: Any) -> Vector:
    """Lengths of the seven phases (7, ...) that cover distances `way` in the shortest time, from rest to rest.

    Jerk up, constant acceleration, jerk down, cruise, and the same in reverse. An infinite jerk leaves the phases of
    jerk empty.
    """
    given = [np.asarray(x, dtype=float) for x in (way, speed, acceleration, jerk)]
    way, speed, acceleration, jerk = np.broadcast_arrays(*given)
    ramp = np.minimum(acceleration / jerk, np.sqrt(speed / jerk))  # time of one phase of jerk
    rise = ramp + np.maximum(
        speed / acceleration, np.where(np.isinf(jerk), 0.0, ramp)
    )  # time to the speed limit
    cruise = way / speed - rise
    # the speed limit is not reached: the peak follows from the distance
    with np.errstate(invalid="ignore"):
        small = np.where(np.isinf(jerk), 0.0, np.cbrt(way / (2 * jerk)))
    short = np.minimum(acceleration / jerk, small)
    short_rise = np.where(
        short < acceleration / jerk, 2 * short, short / 2 + np.sqrt(short**2 / 4 + way / acceleration)
    )
    reached = cruise >= 0
    ramp, rise = np.where(reached, ramp, short), np.where(reached, rise, short_rise)
    flat = np.maximum(rise - 2 * ramp, 0.0)
    up = np.stack([ramp, flat, ramp])
    return np.concatenate([up, np.where(reached, cruise, 0.0)[None], up])


@dataclass(frozen=True, eq=False)
class PointToPoint(MotionFormula):
    """From rest to rest in seven phases, each joint with its own."""

    start: Any
    """Positions at the beginning (n,)."""
    goal: Any
    """Positions at the end (n,)."""
    phases: Any
    """Lengths of the phases of each joint (7, n), with the same sum for all [s]."""

    @property
    def duration(self) -> float:  # type: ignore[override]
        """When the last joint arrives [s]."""
        return float(np.max(np.sum(self.phases, axis=0)))

    @cached_property
    def breaks(self) -> Vector:  # type: ignore[override]
        """Where a joint's phase ends and its next begins."""
        ends = np.cumsum(self.phases, axis=0).ravel()
        inside = ends[(ends > 0) & (ends < self.duration)]
        return apart(np.concatenate([[0.0], inside, [self.duration]]))

    @cached_property
    def peaks(self) -> tuple[Vector, Vector, Vector]:
        """Greatest speed, acceleration and jerk of each joint, each (n,); a jerk is infinite without its phases."""
        ramp, flat, _, cruise, *_ = self.phases
        rise = 2 * ramp + flat
        length = np.where(rise + cruise > 0, rise + cruise, 1.0)
        speed = np.abs(self.goal - self.start) / length
        acceleration = speed / np.where(ramp + flat > 0, ramp + flat, 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            jerk = np.where(acceleration > 0, acceleration / ramp, 0.0)
        return speed, acceleration, jerk

    def __call__(self, t: Scalar) -> tuple[Vector, Vector, Vector]:
        """(q, qd, qdd) at one time."""
        way, t = self.goal - self.start, moment(t)
        columns = [self._joint(t, j, way[j]) for j in range(len(way))]
        if isinstance(t, np.ndarray):
            q, qd, qdd = (np.concatenate([column[k] for column in columns], axis=1) for k in range(3))
            return q, qd, qdd
        kind = float if is_number(t) else object
        q, qd, qdd = (np.array([column[k] for column in columns], dtype=kind) for k in range(3))
        return q, qd, qdd

    def _joint(self, t: Any, j: int, way: float) -> tuple[Any, Any, Any]:
        """One joint: its first half as it is, its second half mirrored."""
        if way == 0:
            return 0 * t + self.start[j], 0 * t, 0 * t
        total = (
            self.duration
        )  # of all joints: their own sums differ by rounding, and all turn round at one instant
        first = where(total / 2 - t, 1.0, 0.0)
        since = where(total / 2 - t, t, total - t)  # from the nearer end
        since = where(since, since, 0.0)
        s, v, a = self._rise(since, j)
        sign, moving = float(np.sign(way)), where(t, where(total - t, 1.0, 0.0), 0.0)
        s, a = sign * s, sign * a * moving
        q = first * (self.start[j] + s) + (1.0 - first) * (self.goal[j] - s)
        return q, sign * v * moving, (2.0 * first - 1.0) * a

    def _rise(self, t: Any, j: int) -> tuple[Any, Any, Any]:
        """Distance, speed and acceleration of one joint at a time of its first half, all positive."""
        ramp, flat = float(self.phases[0, j]), float(self.phases[1, j])
        speed, acceleration, jerk = (float(peak[j]) for peak in self.peaks)
        rise = 2 * ramp + flat
        cruising = (speed * (t - rise / 2), speed + 0 * t, 0 * t)
        if ramp == 0:
            found = (acceleration * t * t / 2, acceleration * t, acceleration + 0 * t)
            if not self.phases[3, j]:  # it brakes from where it stops speeding up: no instant between the two
                return found
            return tuple(where(t - rise, c, f) for c, f in zip(cruising, found, strict=True))  # type: ignore[return-value]
        up = (jerk * t * t * t / 6, jerk * t * t / 2, jerk * t)
        u = t - ramp / 2
        even = (acceleration * (u * u / 2 + ramp * ramp / 24), acceleration * u, acceleration + 0 * t)
        left = rise - t
        down = (
            speed * (t - rise / 2) + jerk * left * left * left / 6,
            speed - jerk * left * left / 2,
            jerk * left,
        )
        found = cruising
        for begin, piece in ((rise, down), (ramp + flat, even), (ramp, up)):
            found = tuple(where(begin - t, p, f) for p, f in zip(piece, found, strict=True))  # type: ignore[assignment]
        return found


@faults.explained
def point_to_point(
    arm: Arm,
    start: Any,
    goal: Any,
    *,
    speeds: Any = None,
    accelerations: Any = None,
    jerks: Any = None,
    straight: bool = False,
) -> PointToPoint:
    """The shortest motion from rest to rest within speeds, accelerations and jerks, all joints arriving at once.

    Args:
        arm: Whose joints move.
        start: Positions at the beginning (n,), or a dict by joint name.
        goal: Positions at the end.
        speeds: Limits of |qd|: a number, (n,) or a dict by joint; the arm's own if None.
        accelerations: Limits of |qdd|; they must be given.
        jerks: Limits of the jerk; a trapezoid of speed without them, an S-curve with them.
        straight: Whether all joints follow one profile, so that the path is straight in joint space.

    >>> import forearm as fa
    >>> arm = fa.load("ur5e")
    >>> motion = fa.point_to_point(arm, [0, -1.5, 1.5, 0, 0, 0], [1, -1, 1, 0, 0, 0.5], accelerations=4, jerks=40)
    >>> print(round(motion.duration, 6), "s")
    1.104988 s
    """
    what = "point_to_point"
    faults.needs_arm(arm)
    both = [configurations(arm, what, name, q) for name, q in (("start", start), ("goal", goal))]
    shapes = [q.shape for q in both]
    if shapes != [(arm.n,)] * 2:
        raise StateFault(
            f"{what}: start and goal have shapes {shapes[0]}, {shapes[1]}; give ({arm.n},) each."
        )
    ends = np.array(both)
    within_positions(arm, what, ends[:1], point="the start")
    within_positions(arm, what, ends[1:], point="the goal")
    given = {"speeds": speeds, "accelerations": accelerations, "jerks": jerks}
    limits = {name: joint_limit(arm, what, name, value) for name, value in given.items()}
    way = np.abs(ends[1] - ends[0])
    moving = way > 0
    if not np.any(moving):
        raise StateFault(f"{what}: start and goal are the same; give a goal elsewhere.")
    for name in ("speeds", "accelerations"):
        needed(arm, what, name, limits[name], moving)
    phases = np.zeros((7, arm.n))
    if straight:
        shares = [np.min(limits[name][moving] / way[moving]) for name in given]
        phases[:, moving] = phase_times(1.0, *shares)[:, None]
        return PointToPoint(ends[0], ends[1], phases)
    phases[:, moving] = phase_times(way[moving], *(limits[name][moving] for name in given))
    totals = np.sum(phases, axis=0)
    phases[:, moving] *= np.max(totals) / totals[moving]  # stretched to the slowest
    return PointToPoint(ends[0], ends[1], phases)
