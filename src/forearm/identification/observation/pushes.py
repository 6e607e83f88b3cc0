"""Pushes in a log: when something touched the arm, and how far out.

The log goes through the filters of `identify`, a momentum observer follows the external torque, and a push is where
that leaves what is usual. What is usual is told by a log without pushes where there is one, or else by the log itself:
its median is an offset, and noise and friction that no model has are its spread (1.4826 times the median distance from
the median, so that pushes, being rare, count for nothing). The offset is taken off the torques before the observer
begins, which would take its first steps for a push otherwise.

Dry friction of a joint that rests is any torque up to what it is in motion. So much is allowed for while it rests, as
the observer would see it, and what is usual is told by rows in which it moves.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from forearm import faults
from forearm.algebra import Matrix, Vector
from forearm.arm import Arm
from forearm.faults import StateFault
from forearm.identification.broken_logs.clocks import FARTHEST, time_shift, with_speeds_in_step
from forearm.identification.broken_logs.log_checks import COUNTS
from forearm.identification.broken_logs.torque_columns import joint_motion
from forearm.identification.measured.filters import Filtered, filtered
from forearm.identification.measured.logs import Log, LogSource, read_log
from forearm.identification.observation.momentum_observer import observer
from forearm.identification.resting_joints import resting
from forearm.identification.torque_rows import TorqueEquations, torques_of
from forearm.outside.libraries.scipy_parts import scipy_part
from forearm.outside.text_table import text_table

USUAL = 8.0
"""A push is so many times the usual spread, where the log alone tells what is usual."""
BEYOND = 1.5
"""A push is so many times the most that a log without pushes shows."""
SHORTEST, TOGETHER = 0.05, 0.15
"""A push lasts at least so long, and two that are nearer to each other are one [s]."""
SHARE = 0.02
"""No threshold is below this part of the torque that the joint needs on its own."""
LEAST = 1e-3
"""Nor below this part of the largest that any joint needs: below it lies what filters leave, not what was measured."""
TURNING = 0.15
"""Nor, without a quiet log, below this part of its dry friction, which filters smear where it turns over."""
WORSE = 2.0
"""The arm does not explain a torque that varies so many times less on its own than beside the arm's."""
OFFSET = 0.1
"""An offset above the threshold and this part of what the arm needs at a joint is asked about: a push all the time?"""
LATE = 0.8
"""Torques come late where moving them leaves less than this of the square of what the arm leaves."""
MOVES, ENOUGH = 0.05, 0.1
"""A joint moves where less than this part of its friction is allowed for; rows tell what is usual from such a share."""


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
    """From which torque on a joint that moves is said to be pushed (n,)."""
    pushes: tuple[Push, ...]
    """What was found, in order."""
    notes: tuple[str, ...]
    """What was filtered, and what was taken for usual."""
    offset: Vector
    """What was taken off the external torque of each joint as usual (n,); also a push that lasts all the log."""

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
        taken = ", ".join(f"{name} {x:.3g}" for name, x in zip(self.joints, self.offset, strict=True))
        told = ["", f"thresholds: {usual}", f"taken off as usual: {taken}"]
        return "\n".join([*lines, *told, *(f"  - {note}" for note in self.notes)])


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
    gain = observer(arm, gain=gain).gain  # checked before the log is read
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
    own = np.sqrt(np.mean(motion.tau**2, axis=0))
    resting = _resting(arm, motion, gain)
    dry = np.array([max(map(float, link.drive.coulomb)) for link in arm.links])
    if quiet is None:
        middle, spread = _usual(_external(arm, motion, gain), resting)
        limit = np.maximum(USUAL * spread, TURNING * dry)
        told = f"usual is the log itself: its median, and {USUAL:g} times its spread"
    else:
        other = read_log(quiet, arm, **options)
        calm = filtered(other if read.qd is not None else replace(other, qd=None), motion.cutoff)
        rests = _resting(arm, calm, gain)
        middle, _ = _usual(_external(arm, calm, gain), rests)
        most = np.max(np.abs(_external(arm, calm, gain, middle)) - dry * rests, axis=0)
        limit = BEYOND * np.maximum(most, 0.0)
        told = f"usual is the quiet log: its median, and {BEYOND:g} times the most it shows"
    external = _external(arm, motion, gain, middle)
    if threshold is None:
        limit, notes = (
            np.maximum(limit, np.maximum(SHARE * own, LEAST * own.max())),
            [told, *_said(arm, dry * np.max(resting, axis=0))],
        )
        limits = limit + dry * resting
        notes += _blind(arm, motion, limit, _spread(external) > WORSE * _spread(motion.tau))
    else:
        limit, notes = _given(arm, threshold), [told.partition(", and ")[0]]
        limits = np.broadcast_to(limit, external.shape)
    notes += (
        _always(arm, motion, middle, limit) if quiet is None else read.twice(other, "no push in it is seen")
    )
    found = tuple(
        _push(arm, motion.t, external, limits, span) for span in _spans(motion.t, np.abs(external) > limits)
    )
    notes = [*read.notes, *motion.notes, *notes, *_late(arm, motion, found)]
    return Watched(arm.joint_names, motion.t, external, limit, found, tuple(notes), middle)


def _usual(external: Matrix, resting: Matrix) -> tuple[Vector, Vector]:
    """Median and spread of each joint's external torque (n,), while it moves, where it does so long enough."""
    moving = resting < MOVES
    moving |= np.mean(moving, axis=0) < ENOUGH
    seen = np.where(moving, external, np.nan)
    middle = np.nanmedian(seen, axis=0)
    return middle, 1.4826 * np.nanmedian(np.abs(seen - middle), axis=0)


def _resting(arm: Arm, motion: Filtered, gain: Vector) -> Matrix:
    """Which part of dry friction the observer may see too much or too little (K, n), because a joint rests."""
    signal = scipy_part("signal")
    still, dt = resting(arm, motion), _step(motion)
    halves = 0.5 * dt * np.broadcast_to(gain, (arm.n,))
    columns = zip(halves, still.T.astype(float), strict=True)
    return np.stack([signal.lfilter([h, h], [1.0 + h, h - 1.0], column) for h, column in columns], axis=1)


def _said(arm: Arm, allowed: Vector) -> list[str]:
    """What was allowed for while joints rested."""
    told = [f"{name} {x:.3g}" for name, x in zip(arm.joint_names, allowed, strict=True) if x > 0]
    if not told:
        return []
    return [
        f"where a joint rests, its dry friction may be anything up to itself: allowed for ({', '.join(told)})"
    ]


def _spread(values: Matrix) -> Vector:
    """Spread of each column (n,), of which what is rare is no part."""
    return np.asarray(1.4826 * np.median(np.abs(values - np.median(values, axis=0)), axis=0))


def _blind(arm: Arm, motion: Filtered, limit: Vector, worse: Vector) -> list[str]:
    """A warning where no push of a joint's own size would be seen, because the arm does not explain the log.

    That is so where the arm makes torques less usual, not more; and where a joint that carries much has to be pushed
    with more than the arm needs there. A light joint's torque may be all noise, whatever the arm.

    Args:
        arm: The arm.
        motion: The log.
        limit: From which torque on joints are pushed (n,).
        worse: Which joints (n,) have torques that vary less on their own than beside the arm's.
    """
    own, need = (np.sqrt(np.mean(tau**2, axis=0)) for tau in (motion.tau, torques_of(arm, motion)))
    heavy = need > COUNTS * np.max(need)
    least = np.where(heavy, np.minimum(own, need), own)
    told = [
        f"{link.name} {limit[i]:.3g} {'N m' if link.revolute else 'N'} (its own are {least[i]:.3g})"
        for i, link in enumerate(arm.links)
        if (heavy[i] or worse[i]) and limit[i] > least[i]
    ]
    if not told:
        return []
    return [
        f"WARNING: thresholds are larger than the torques of the joints themselves: {', '.join(told)}. The arm does "
        "not explain the log, and pushes below them are not seen. Positions in degrees or millimetres or from another "
        "zero, another arm or order of joints, torques in another unit or of the other sign?"
    ]


def _always(arm: Arm, motion: Filtered, middle: Vector, limit: Vector) -> list[str]:
    """A warning where the log's own median is no small offset: something may push all the time, or for most of it."""
    need = np.sqrt(np.mean(torques_of(arm, motion) ** 2, axis=0))
    told = [
        f"{link.name} {middle[i]:.3g} {'N m' if link.revolute else 'N'} (the arm needs {need[i]:.3g}, the threshold is "
        f"{limit[i]:.3g})"
        for i, link in enumerate(arm.links)
        if abs(middle[i]) > max(limit[i], OFFSET * need[i])
    ]
    if not told:
        return []
    return [
        f"WARNING: what was taken off as usual is large: {', '.join(told)}. A push or a load that is there most of the "
        "log is in it, and is not told, or what is told has the other sign; give --untouched (quiet=), a log in which "
        "nothing was touched, or put the load into the description"
    ]


def _late(arm: Arm, motion: Filtered, pushes: tuple[Push, ...]) -> list[str]:
    """A warning where torques come later or earlier than positions, pushes aside: what changes fast is a push then."""
    own, tau, t = torques_of(arm, motion), motion.thinning(motion.tau), motion.thinning(motion.t)
    bare = TorqueEquations(np.zeros((*tau.shape, 0)), tau, t, motion)
    moved = joint_motion(arm, bare)
    each = (moved.turnover, moved.qd, moved.qdd, np.ones(tau.shape))
    columns = [x[:, :, None] * np.eye(arm.n) for x in each]
    near = [(t > push.start - FARTHEST) & (t < push.end + FARTHEST) for push in pushes]
    pushed = np.broadcast_to(np.any(near, axis=0)[:, None], tau.shape) if near else np.zeros((0, arm.n), bool)
    whole = replace(bare, X=np.concatenate([*columns, own[:, :, None]], axis=2)).without(pushed)
    weights = 1.0 / np.maximum(_spread(tau - own), LEAST * np.sqrt(np.mean(tau**2)) or 1.0)
    shift = time_shift(whole, tuple(range(whole.X.shape[2])), weights)
    if not shift.worth_mending or shift.remains >= LATE:
        return []
    return [
        f"WARNING: torques may come {abs(shift.delay) * 1e3:.2g} ms {'later' if shift.delay > 0 else 'earlier'} than "
        f"positions (moved by that, {shift.remains:.0%} of what the arm leaves is left; filtered before they were "
        "logged?): where friction turns over or the arm changes its pace, that looks like a push. Give the two the "
        "same clock"
    ]


def _step(motion: Filtered) -> float:
    return float(motion.t[-1] - motion.t[0]) / (len(motion.t) - 1)


def _external(arm: Arm, motion: Filtered, gain: Vector, middle: Vector | float = 0.0) -> Matrix:
    """External torques (K, n) beside those that are usual: a sensor's offset looks like a push the other way."""
    return observer(arm, gain=gain, dt=_step(motion), offset=-middle).run(motion.q, motion.qd, motion.tau)


def _given(arm: Arm, threshold: ArrayLike) -> Vector:
    values = faults.for_joints(arm, "threshold", threshold)
    if values.shape not in ((), (arm.n,)) or not np.all(values > 0):
        raise StateFault(
            f"watch: threshold is {threshold!r}; give a positive torque, or one for each of {arm.n} joints."
        )
    return np.broadcast_to(values, (arm.n,))


def _spans(t: Vector, above: Matrix, together: float = TOGETHER) -> list[tuple[int, int]]:
    """First and last row of each push."""
    rows = np.flatnonzero(above.any(axis=1))
    if not rows.size:
        return []
    parts = np.split(rows, np.flatnonzero(np.diff(t[rows]) > together) + 1)
    return [(int(p[0]), int(p[-1])) for p in parts if t[p[-1]] - t[p[0]] >= SHORTEST]


def _push(arm: Arm, t: Vector, external: Matrix, limits: Matrix, span: tuple[int, int]) -> Push:
    rows = slice(span[0], span[1] + 1)
    part = np.abs(external[rows]) / limits[rows]
    most = int(np.argmax(np.max(part, axis=1)))
    peak, above = external[rows][most], part > 1
    on_end = 1.5 * float(np.median(np.diff(t)))
    feels = [above[most, i] or bool(_spans(t[rows], above[:, i : i + 1], on_end)) for i in range(arm.n)]
    felt = [name for name, yes in zip(arm.joint_names, feels, strict=True) if yes]
    return Push(float(t[span[0]]), float(t[span[1]]), felt[-1], tuple(felt), peak)
