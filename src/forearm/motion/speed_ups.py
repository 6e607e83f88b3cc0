"""Dynamic scaling: how much faster a motion may be run, from torques that are known already.

J. M. Hollerbach: Dynamic Scaling of Manipulator Trajectories. Journal of Dynamic Systems, Measurement, and Control
106(1), 102-106, 1984.

Run k times faster, the part of the torque that inertia and speed ask for is k² times what it was, and gravity stays:
tau(k) = k² (tau - g) + g. Within limits this bounds k² from above, and from below too where gravity alone is too much
for a drive. The paper's arm has no friction; here it follows its own curve at k times the speed, which costs no
dynamics either, but no longer bounds k² by one division: the largest k is found by bisection on the split torques.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from forearm import dynamics, faults
from forearm.algebra import Vector
from forearm.arm import Arm
from forearm.faults import StateFault
from forearm.motion.instants import looked_at, with_peaks
from forearm.motion.motions import Motion, Samples
from forearm.motion.profiles.joint_limits import joint_limit
from forearm.motion.time_optimal.path_grids import Friction, without_friction

SCAN = np.geomspace(1e-4, 1e4, 4001)
"""Factors that are tried before bisection, with friction."""


@dataclass(frozen=True, eq=False)
class SpeedUp:
    """The largest factor by which a motion may be run faster."""

    factor: float
    """How many times faster; below 1 the motion as it is asks too much."""
    slowest: float
    """The least factor: above 0 where a drive cannot hold still what it can swing through."""
    limit: str
    """What allows no more: "torque of 'elbow'"."""
    t: float
    """When, in the time of the motion as it was given [s]."""
    motion: Motion
    """The motion at that factor."""


@faults.explained
def speed_up(
    arm: Arm, motion: Motion, *, torques: Any = None, speeds: Any = None, samples: int = 1001
) -> SpeedUp:
    """The largest uniform speed-up of a motion within limits of torque and speed (Hollerbach 1984).

    Torques are computed once; how they scale is known.

    Args:
        arm: The arm, with what it carries.
        motion: The motion at its own pace.
        torques: Limits of |tau|: a number, (n,) or a dict by joint; the arm's own if None.
        speeds: Limits of |qd|; the arm's own if None.
        samples: At how many times the motion is looked at, besides the ends of its pieces; short ones more closely.

    >>> import forearm as fa
    >>> from forearm.simulation import Quintic
    >>> found = fa.speed_up(fa.load("ur5e"), Quintic([0] * 6, [1, -1, 1, 0, 0, 0], duration=2.0))
    >>> print(round(found.factor, 4), found.limit)
    3.351 speed of 'shoulder_pan_joint'
    """
    faults.needs_arm(arm)
    if not isinstance(motion, Motion):
        raise StateFault(f"speed_up: motion is {faults.a_or_an(type(motion).__name__)}; give a Motion.")
    faults.needs_own_joints(arm, "speed_up")
    limits = joint_limit(arm, "speed_up", "torques", torques)
    most_speeds = joint_limit(arm, "speed_up", "speeds", speeds)
    if not (np.any(np.isfinite(limits)) or np.any(np.isfinite(most_speeds))):
        raise StateFault(
            f"speed_up: arm {arm.name!r} has no limits, and none were given; give torques= or speeds=."
        )
    times = looked_at(motion, samples, "speed_up")
    if not np.any(motion.sample(times).qd):
        raise StateFault("speed_up: the motion stays where it is; give one that moves.")
    rigid, friction = without_friction(arm), Friction.of(arm)

    def asked(rows: Samples) -> tuple[Vector, Vector]:
        gravity = dynamics.gravity_torque(rigid, rows.q)
        return dynamics.inverse_dynamics(rigid, rows.q, rows.qd, rows.qdd) - gravity, gravity

    def split_of(rows: Samples, values: tuple[Vector, ...]) -> _Split:
        return _Split(values[0], values[1], rows.qd, friction, limits, most_speeds)

    def sizes(rows: Samples, values: tuple[Vector, ...]) -> Vector:
        split = split_of(rows, values)
        ends = [k for k in split.bounds() if 0 < k < np.inf]
        return np.concatenate([np.abs(rows.qd), *(split.shares(k) for k in ends)], axis=1)

    rows, values = with_peaks(motion, times, asked, sizes)
    split, t = split_of(rows, values), rows.t
    slowest, factor = split.bounds()
    if not factor > 0 or slowest > factor:
        _impossible(arm, split, t)
    row, joint, what = split.binding(factor)
    return SpeedUp(
        factor, slowest, f"{what} of {arm.joint_names[joint]!r}", float(t[row]), motion.faster(factor)
    )


@dataclass(frozen=True)
class _Split:
    """Torques (K, n), apart by how they scale, and limits (n,)."""

    moving: Vector
    gravity: Vector
    speed: Vector
    friction: Friction
    limits: Vector
    speeds: Vector

    def at(self, rows: Any) -> "_Split":
        """That of some rows."""
        return replace(self, moving=self.moving[rows], gravity=self.gravity[rows], speed=self.speed[rows])

    def fastest_by_speed(self) -> float:
        with np.errstate(divide="ignore"):
            return float(np.min(self.speeds / np.max(np.abs(self.speed), axis=0)))

    def rigid_bounds(self) -> tuple[float, float]:
        """Least and largest factor: the common part of the intervals of k² of every instant and joint."""
        with np.errstate(divide="ignore", invalid="ignore"):
            edges = np.stack(
                [(self.limits - self.gravity) / self.moving, (-self.limits - self.gravity) / self.moving]
            )
        still = self.moving == 0
        holds = np.abs(self.gravity) <= self.limits
        high = np.where(still, np.where(holds, np.inf, -np.inf), np.max(edges, axis=0))
        low = np.where(still, 0.0, np.min(edges, axis=0))
        most, least = float(np.min(high)), max(float(np.max(low)), 0.0)
        if most < 0:
            return np.inf, 0.0
        return float(np.sqrt(least)), min(float(np.sqrt(most)), self.fastest_by_speed())

    def shares(self, k: float) -> Vector:
        """|torque| as a share of its limit (K, n), at a factor."""
        tau = self.moving * k**2 + self.gravity + self.friction.at(k * self.speed)
        return np.abs(tau) / self.limits

    def within(self, k: float) -> bool:
        return bool(np.max(self.shares(k)) <= 1.0)

    def bounds(self) -> tuple[float, float]:
        """Least and largest factor."""
        return self.rigid_bounds() if self.friction.none else self.rubbed_bounds()

    def rubbed_bounds(self) -> tuple[float, float]:
        """Least and largest factor with friction: the topmost run of factors that hold, its ends by bisection."""
        cap = self.fastest_by_speed()
        tried = [k for k in SCAN if k < cap] + ([cap] if np.isfinite(cap) else [])
        kinds = self.moving, self.gravity, self.speed
        some = np.unique([end(x, axis=0) for x in kinds for end in (np.argmax, np.argmin)])
        while True:  # few rows tell where none can hold; the worst of all rows there join them
            part = self.at(some)
            last = next((k for k in reversed(range(len(tried))) if part.within(tried[k])), None)
            if last is None:
                return np.inf, 0.0
            if self.within(tried[last]):
                break
            some = np.union1d(some, np.argmax(self.shares(tried[last]), axis=0))
        few = self.at(np.union1d(some, self._doubtful(tried[min(last + 1, len(tried) - 1)])))
        first = last
        while first > 0 and few.within(tried[first - 1]):
            first -= 1
        high = tried[last] if last + 1 == len(tried) else few._edge(tried[last], tried[last + 1])
        return 0.0 if first == 0 else few._edge(tried[first], tried[first - 1]), high

    def _doubtful(self, k: float) -> Vector:
        """Rows that some factor up to k may bring beyond a limit: by sizes that grow with it."""
        rubbing = self.friction.viscous * np.abs(k * self.speed) + np.maximum(*self.friction.dry)
        most = np.abs(self.moving) * k**2 + np.abs(self.gravity) + rubbing
        return np.flatnonzero(np.any(most > self.limits, axis=1))

    def _edge(self, inside: float, outside: float) -> float:
        while True:
            middle = (inside + outside) / 2
            if middle in (inside, outside):
                return inside
            inside, outside = (middle, outside) if self.within(middle) else (inside, middle)

    def binding(self, factor: float) -> tuple[int, int, str]:
        """Row, joint and kind of what allows no more."""
        torque = self.shares(factor)
        speed = np.abs(self.speed) * factor / self.speeds
        what, shares = ("torque", torque) if np.max(torque) >= np.max(speed) else ("speed", speed)
        row, joint = np.unravel_index(int(np.argmax(shares)), shares.shape)
        return int(row), int(joint), what


def _impossible(arm: Arm, split: _Split, t: Vector) -> None:
    shares = np.abs(split.gravity) / split.limits
    row, j = np.unravel_index(int(np.argmax(shares)), shares.shape)
    if shares[row, j] > 1:
        why = (
            f"joint {arm.joint_names[j]!r} needs {abs(split.gravity[row, j]):.4g} to hold still at t = "
            f"{t[row]:.4g} s, and has {split.limits[j]:g}"
        )
    else:
        why = "its instants ask for factors that exclude each other"
    raise StateFault(
        f"speed_up: no speed of this motion keeps within the torque limits: {why}; take another motion."
    )
