"""Pushes in a log: when something touched the arm, and how far out.

The log goes through the filters of `identify`, a momentum observer follows the external torque, and a push is where
that leaves what is usual. What is usual is told by a log without pushes where there is one, or else by the log itself:
its median is an offset, and noise and friction that no model has are its spread (1.4826 times the median distance from
the median, so that pushes, being rare, count for nothing).
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from forearm import faults
from forearm.algebra import Matrix, Vector
from forearm.arm import Arm
from forearm.faults import StateFault
from forearm.identification.broken_logs.clocks import with_speeds_in_step
from forearm.identification.measured.filters import Filtered, filtered
from forearm.identification.measured.logs import Log, LogSource, read_log
from forearm.identification.observation.momentum_observer import observer
from forearm.outside.text_table import text_table

USUAL = 8.0
"""A push is so many times the usual spread, where the log alone tells what is usual."""
BEYOND = 1.5
"""A push is so many times the most that a log without pushes shows."""
SHORTEST, TOGETHER = 0.05, 0.15
"""A push lasts at least so long, and two that are nearer to each other are one [s]."""
SHARE = 0.02
"""No threshold is below this part of the torque that the joint needs on its own."""
TURNING = 0.15
"""Nor, without a quiet log, below this part of its dry friction, which filters smear where it turns over."""


@dataclass(frozen=True, eq=False)
class Push:
    """Something pushed the arm."""

    start: float
    """From this time of the log [s]."""
    end: float
    """To this [s]."""
    joint: str
    """The last joint that feels it: the link behind it, or one farther out, was pushed."""
    joints: tuple[str, ...]
    """All joints that feel it."""
    peak: Vector
    """External torques where they are largest (n,) [N m or N]."""


@dataclass(frozen=True, eq=False)
class Watched:
    """External torques along a log, and the pushes among them."""

    joints: tuple[str, ...]
    """Names of the joints."""
    t: Vector
    """Times (K,) [s], even."""
    external: Matrix
    """External torques (K, n), their usual offset taken off."""
    threshold: Vector
    """From which torque on a joint is said to be pushed (n,)."""
    pushes: tuple[Push, ...]
    """What was found, in order."""
    notes: tuple[str, ...]
    """What was filtered, and what was taken for usual."""

    def __str__(self) -> str:
        rows = [
            [f"{p.start:.2f}", f"{p.end:.2f}", p.joint, *(f"{x:.3g}" for x in p.peak)] for p in self.pushes
        ]
        lines = [f"{len(self.pushes)} push{'' if len(self.pushes) == 1 else 'es'}"]
        if rows:
            lines += text_table(
                ["from [s]", "to", "last joint", *(f"at {name}" for name in self.joints)], rows
            )
        usual = ", ".join(f"{name} {x:.3g}" for name, x in zip(self.joints, self.threshold, strict=True))
        return "\n".join([*lines, "", f"thresholds: {usual}", *(f"  - {note}" for note in self.notes)])


@faults.explained
def watch(
    arm: Arm,
    log: LogSource,
    *,
    quiet: LogSource | None = None,
    threshold: ArrayLike | None = None,
    gain: ArrayLike = 30.0,
    gains: ArrayLike | None = None,
    coupling: ArrayLike | None = None,
    zero: ArrayLike | None = None,
    degrees: bool | None = None,
    time_unit: str | None = None,
    cutoff: float | None = None,
) -> Watched:
    """When and where something pushed the arm, in a log of its motion.

    Args:
        arm: The arm, friction and all, as `identify` gives it.
        log: A path or a mapping, as in `identify`.
        quiet: Another log in which nothing was touched: it tells offsets, and how far from the model the arm is.
        threshold: From which external torque on a joint is pushed (n,); from the logs otherwise.
        gain: How fast the observer follows [1/s]; its cut-off is gain / 2π.
        gains: Torque of each joint for one ampere (n,), where the log has currents.
        coupling: B with q_joint = B q_motor, or the reductions, for a log of motors.
        zero: Where the joints are when the log reads zero (n,), if that is not where the description has its zero.
        degrees: Whether angles without a unit are in degrees; None for radians, refused where they cannot be.
        time_unit: Unit of a file's time: 's', 'ms', 'us', 'ns'.
        cutoff: Cut-off of the filters [Hz]; chosen from the data otherwise.
    """
    faults.needs_arm(arm)
    faults.needs_chain(arm, "watch")
    faults.needs_dynamics(arm, "watch")
    options: dict[str, Any] = {
        "gains": gains,
        "coupling": coupling,
        "zero": zero,
        "degrees": degrees,
        "time_unit": time_unit,
    }

    def strayed(of: Log) -> float:
        seen = _external(arm, filtered(of, cutoff), gain)
        scale = np.sqrt(np.mean(of.tau**2, axis=0))
        far = np.median(np.abs(seen - np.median(seen, axis=0)), axis=0)
        return float(np.sum((far / np.maximum(scale, 1e-9 * scale.max())) ** 2))

    read = with_speeds_in_step(read_log(log, arm, **options), strayed)
    motion = filtered(read, cutoff)
    external = _external(arm, motion, gain)
    own = np.sqrt(np.mean(motion.tau**2, axis=0))
    if quiet is None:
        middle = np.median(external, axis=0)
        dry = np.array([max(map(float, link.drive.coulomb)) for link in arm.links])
        spread = 1.4826 * np.median(np.abs(external - middle), axis=0)
        limit = np.maximum(USUAL * spread, TURNING * dry)
        told = f"usual is the log itself: its median, and {USUAL:g} times its spread"
    else:
        other = read_log(quiet, arm, **options)
        other = other if read.qd is not None else replace(other, qd=None)
        calm = _external(arm, filtered(other, motion.cutoff), gain)
        middle = np.median(calm, axis=0)
        limit = BEYOND * np.max(np.abs(calm - middle), axis=0)
        told = f"usual is the quiet log: its median, and {BEYOND:g} times the most it shows"
    limit = np.maximum(limit, SHARE * own) if threshold is None else _given(arm, threshold)
    external = external - middle
    found = tuple(
        _push(arm, motion.t, external, limit, span) for span in _spans(motion.t, np.abs(external) > limit)
    )
    notes = (*read.notes, *motion.notes, *((told,) if threshold is None else ()))
    return Watched(arm.joint_names, motion.t, external, limit, found, notes)


def _external(arm: Arm, motion: Filtered, gain: ArrayLike) -> Matrix:
    dt = float(motion.t[-1] - motion.t[0]) / (len(motion.t) - 1)
    return observer(arm, gain=gain, dt=dt).run(motion.q, motion.qd, motion.tau)


def _given(arm: Arm, threshold: ArrayLike) -> Vector:
    values = faults.for_joints(arm, "threshold", threshold)
    if values.shape not in ((), (arm.n,)) or not np.all(values > 0):
        raise StateFault(
            f"watch: threshold is {threshold!r}; give a positive torque, or one for each of {arm.n} joints."
        )
    return np.broadcast_to(values, (arm.n,))


def _spans(t: Vector, above: Matrix) -> list[tuple[int, int]]:
    """First and last row of each push."""
    rows = np.flatnonzero(above.any(axis=1))
    if not rows.size:
        return []
    parts = np.split(rows, np.flatnonzero(np.diff(t[rows]) > TOGETHER) + 1)
    return [(int(p[0]), int(p[-1])) for p in parts if t[p[-1]] - t[p[0]] >= SHORTEST]


def _push(arm: Arm, t: Vector, external: Matrix, limit: Vector, span: tuple[int, int]) -> Push:
    part = external[span[0] : span[1] + 1]
    peak = part[int(np.argmax(np.max(np.abs(part) / limit, axis=1)))]
    felt = [
        name for name, most in zip(arm.joint_names, np.max(np.abs(part), axis=0) > limit, strict=True) if most
    ]
    return Push(float(t[span[0]]), float(t[span[1]]), felt[-1], tuple(felt), peak)
