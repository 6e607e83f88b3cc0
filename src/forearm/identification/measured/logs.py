"""Logs of a real motion: times, positions, speeds and torques of the joints, whatever side they were measured on.

A log is a path (CSV, also gzipped) or a mapping with `t`, `q`, optionally `qd`, and `tau` or `current`. Currents become
torques by `gains`. `coupling` is B in q_joint = B q_motor: positions and speeds of motors become those of joints by B,
torques by the other way round, B⁻ᵀ, so that power is the same on both sides. `zero` is where the joints are when the
log reads zero: motors are often counted from another pose than the one in which the description has its joints at zero.
"""

import gzip
import math
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from forearm.algebra import Matrix, Vector
from forearm.arm import Arm
from forearm.faults import (
    DEGREES,
    FARTHEST,
    ReadFault,
    StateFault,
    floats,
    for_joints,
    not_masked,
    rows_alike,
    shown,
    state,
)
from forearm.motion.differentiation import jumps, whole_turns
from forearm.motion.motion_files import TURNS, read_motion_file
from forearm.motion.slope_checks import size_notes, slope_notes
from forearm.outside.signal_errors import pass_on_signals
from forearm.outside.text_table import instant

FIELDS = ("t", "q", "qd", "tau", "current")
LEAST_ROWS, LEAST_SECONDS = 50, 1.0
"""A shorter log says too little."""
LARGEST_STEP = 0.5
"""Rows that are farther apart show no motion: their times are in another unit [s]."""
LONE, ALONE = 3, 20.0
"""So few readings that are so many times farther off than all others are wrong ones."""
COARSE = 12
"""A torque that has no more values than this was rounded to steps that are no noise."""


@dataclass(frozen=True, eq=False)
class Log:
    """A motion of the joints with the torques that made it, SI units and radians."""

    label: str
    """The file, for messages."""
    t: Vector
    """Times (K,), rising [s]."""
    q: Matrix
    """Positions (K, n)."""
    qd: Matrix | None
    """Speeds (K, n), if they were measured."""
    tau: Matrix
    """Torques (K, n)."""
    notes: tuple[str, ...] = ()
    """What was ignored, converted or mended."""

    @property
    def rate(self) -> float:
        """Rows a second, on average [Hz]."""
        return (len(self.t) - 1) / float(self.t[-1] - self.t[0])

    def with_note(self, note: str, **changes: Any) -> "Log":
        """The log with something changed, and said."""
        return replace(self, **changes, notes=(*self.notes, note))

    def moved(self, delay: float, signs: Vector) -> "Log":
        """The log with torques turned round (n,) and earlier by so much [s], and that said."""
        notes, tau = list(self.notes), self.tau * signs
        if np.any(signs < 0):
            joints = ", ".join(str(i + 1) for i in np.flatnonzero(signs < 0))
            notes.append(f"torques turned round: joints {joints}")
        if delay:
            tau = np.stack([np.interp(self.t + delay, self.t, column) for column in tau.T], axis=1)
            notes.append(f"torques moved by {delay * 1e3:.3g} ms")
        return replace(self, tau=tau, notes=tuple(notes))

    def twice(self, other: "Log", said: str) -> list[str]:
        """A warning where another log, given for what it shows beside this one, has the very same rows."""
        same = all(np.array_equal(getattr(self, k), getattr(other, k)) for k in ("q", "tau"))
        told = f"WARNING: {other.label} has the same rows as {self.label}: {said}; give another log"
        return [told] if same else []

    def between(self, start: float, end: float) -> "Log":
        """The rows of a span of time [s]."""
        keep = (self.t >= start) & (self.t < end)
        qd = None if self.qd is None else self.qd[keep]
        return replace(self, t=self.t[keep], q=self.q[keep], qd=qd, tau=self.tau[keep])


LogSource = str | Path | Mapping[str, Any] | Log
"""A log: its file, its arrays by name, or one that was read."""


def read_log(
    source: Any,
    arm: Arm,
    *,
    gains: Any = None,
    coupling: Any = None,
    zero: Any = None,
    degrees: bool | None = None,
    time_unit: str | None = None,
) -> Log:
    """A log from a path or a mapping; arguments as in `identify`."""
    if isinstance(source, Log):
        return source
    if isinstance(source, Mapping):
        if time_unit not in (None, "s"):
            raise StateFault(
                f"log: time_unit is {shown(time_unit)}, which is for files; give t of a mapping in seconds, without it."
            )
        _refuse_degrees_of_sliding_motors(arm, bool(degrees) and coupling is not None)
        log = _from_mapping(source, arm, gains, bool(degrees))
    else:
        log = _from_file(source, arm, gains, degrees, time_unit, of_motors=coupling is not None)
    log = _without_jumps(log)
    if coupling is not None:
        log = _joints_of_motors(log, coupling_matrix(arm, coupling))
    if zero is not None:
        log = _from_zero(arm, log, zero)
    if len(log.t) < LEAST_ROWS:
        raise StateFault(
            f"{log.label}: {len(log.t)} rows; give a log of at least {LEAST_ROWS}, some seconds of motion."
        )
    _refuse_times(log, isinstance(source, Mapping))
    _refuse_wrong_readings(arm, log)
    if degrees is None:
        _refuse_degrees(arm, log)
    for i, name in enumerate(arm.joint_names):
        if np.ptp(log.tau[:, i]) == 0 and np.ptp(log.q[:, i]) > 0:
            raise StateFault(
                f"{log.label}: the torque of joint {name!r} is {log.tau[0, i]:g} in every row, but the joint moves: it "
                "was not logged, or is below what the log can show. Give a log that has it."
            )
    for note in size_notes(arm, {"qd": log.qd, "tau": log.tau}):
        log = log.with_note(note)
    return log.with_note(coarse) if (coarse := _coarse(arm, log)) else log


def _refuse_degrees_of_sliding_motors(arm: Arm, asked: bool) -> None:
    """Refuse degrees of motors where a joint slides: arrays have no titles to say whether its motor turns."""
    slides = [link.name for link in arm.links if not link.revolute]
    if asked and slides:
        raise StateFault(
            f"log: degrees were said, and the motor of joint {slides[0]!r}, which slides, may turn or slide; give q in "
            "radians and metres, and leave degrees=True out."
        )


def coupling_matrix(arm: Arm, coupling: Any) -> Matrix:
    """B (n, n), checked; a list of n reductions r is B = diag(1 / r)."""
    B = floats("coupling", coupling)
    if B.shape == (arm.n,) and np.all(np.isfinite(B)) and np.all(B != 0):
        return np.diag(1.0 / B)
    if B.shape != (arm.n, arm.n) or not np.all(np.isfinite(B)) or abs(np.linalg.det(B)) == 0:
        raise StateFault(
            f"coupling has shape {B.shape}; give B ({arm.n}, {arm.n}) with q_joint = B q_motor, invertible, or the "
            f"{arm.n} reductions where no joint shares a motor."
        )
    return B


def _from_mapping(source: Mapping[str, Any], arm: Arm, gains: Any, degrees: bool) -> Log:
    strange = [str(name) for name in source if name not in (*FIELDS, "qdd", "rate")]
    missing = [name for name in ("t", "q") if name not in source]
    if missing or strange or ("tau" not in source) == ("current" not in source):
        raise StateFault(
            f"log: has {', '.join(map(str, source))}; give a mapping with t (K,), q (K, {arm.n}), optionally qd, and "
            "tau or current, not both."
        )
    if gains is not None and "tau" in source:
        raise StateFault("log: gains are for currents, and it has tau; give current, or no gains=.")
    for name in FIELDS:
        not_masked(source.get(name), f"log: {name}")
    rows_alike("log", FIELDS[1:], [source.get(name) for name in FIELDS[1:]])
    t = floats("log: t", source["t"])
    found: dict[str, Matrix] = {}
    for name in ("q", "qd", "tau", "current"):
        if source.get(name) is None:
            continue
        values = floats(f"log: {name}", state(arm, f"log: {name}", source[name]))
        if t.ndim != 1 or values.shape != (len(t), arm.n):
            raise StateFault(
                f"log: {name} has shape {values.shape}, t {t.shape}; give (K, {arm.n}) for the joints of arm "
                f"{arm.name!r} and (K,)."
            )
        found[name] = values
    for name, values in {"t": t, **found}.items():
        bad = np.flatnonzero(~np.all(np.isfinite(values.reshape(len(t), -1)), axis=1))
        if bad.size:
            raise StateFault(
                f"log: {name} is not finite in {bad.size} rows (the first is row {bad[0]}); leave those rows out."
            )
    late = np.flatnonzero(np.diff(t) <= 0)
    if late.size:
        k = int(late[0])
        do = "leave out all but one" if t[k + 1] == t[k] else "sort the rows"
        raise StateFault(
            f"log: times do not rise: row {k + 1} is at {t[k + 1]:.9g} s after {t[k]:.9g} s ({late.size} such steps in "
            f"all); {do}."
        )
    tau, notes = _torques(found.get("tau"), found.get("current"), arm, gains, "log")
    turned = np.array([math.pi / 180 if degrees and link.revolute else 1.0 for link in arm.links])
    if "qd" in found:
        notes += slope_notes(t, arm.joint_names, found["q"], found["qd"])
    qd = found["qd"] * turned if "qd" in found else None
    return Log("log", t, found["q"] * turned, qd, tau, notes)


def _from_file(
    source: Any, arm: Arm, gains: Any, degrees: bool | None, time_unit: str | None, of_motors: bool
) -> Log:
    # what is too large for a joint is left to `_refuse_degrees`, which knows of motors
    how: dict[str, Any] = {
        "needs": ("t", "q"),
        "degrees": degrees,
        "time_unit": time_unit,
        "of_joints": False,
        "of_motors": of_motors,
    }
    if not isinstance(source, (str, PathLike)):
        raise StateFault(
            f"log is {shown(source)}; give the path of a CSV file, or a mapping with t, q and tau or current."
        )
    path = Path(source)
    if path.suffix == ".gz":
        try:
            with gzip.open(path, "rb") as stream:
                file = read_motion_file(stream, arm, label=str(source), **how)
        except (OSError, EOFError, zlib.error) as error:
            pass_on_signals()
            raise ReadFault(f"{source}: cannot be unpacked ({error}); give a CSV file.") from None
    else:
        file = read_motion_file(path, arm, **how)
    assert file.t is not None
    if file.tau is None and file.current is None:
        raise ReadFault(
            f"{file.label}:1: no torques; give columns tau1 … tau{arm.n}, or current1 … and gains=."
        )
    if gains is not None and file.current is None:
        raise ReadFault(
            f"{file.label}:1: gains are for currents, and there are none; give current1 …, or no gains=."
        )
    tau, notes = _torques(file.tau if gains is None else None, file.current, arm, gains, file.label)
    return Log(file.label, file.t, file.q, file.qd, tau, (*file.notes, *notes))


def _torques(
    tau: Matrix | None, current: Matrix | None, arm: Arm, gains: Any, label: str
) -> tuple[Matrix, tuple[str, ...]]:
    if tau is not None:
        return tau, ()
    if gains is None:
        raise StateFault(
            f"{label}: has currents; give gains=, the torque of each joint for one ampere (n,), or a second log with a "
            "known load, which tells them: loaded=, load=."
        )
    given = for_joints(arm, "gains", gains)
    factors = np.broadcast_to(given, (arm.n,)) if given.shape in ((), (1,), (arm.n,)) else given
    if factors.shape != (arm.n,) or not np.all(np.isfinite(factors)) or np.any(factors == 0):
        raise StateFault(f"gains are {factors}; give a torque for one ampere, not zero, for each joint.")
    assert current is not None
    said = f"torques are currents times gains {', '.join(f'{x:g}' for x in factors)}"
    return current * factors, (said,)


def _joints_of_motors(log: Log, B: Matrix) -> Log:
    qd = None if log.qd is None else log.qd @ B.T
    note = "motors turned into joints: q_joint = B q_motor, tau_joint = B⁻ᵀ tau_motor"
    return log.with_note(note, q=log.q @ B.T, qd=qd, tau=log.tau @ np.linalg.inv(B))


def _from_zero(arm: Arm, log: Log, zero: Any) -> Log:
    places = for_joints(arm, "zero", zero)
    if places.shape != (arm.n,) or not np.all(np.isfinite(places)):
        raise StateFault(
            f"zero is {places.tolist()}; give where each of the {arm.n} joints is when the log reads zero, in rad "
            "or m."
        )
    for link, place in zip(arm.links, places, strict=True):
        if link.revolute and abs(place) > DEGREES:
            raise StateFault(
                f"zero is {place:.6g} rad for joint {link.name!r}, {place / math.tau:.1f} turns: degrees? Give "
                "radians, whatever the log is in."
            )
    note = f"joints are at {', '.join(f'{x:.6g}' for x in places)} where the log reads zero"
    return log.with_note(note, q=log.q + places)


def _refuse_times(log: Log, given: bool) -> None:
    """Times in another unit, or a log that ends before anything has moved."""
    step, whole = float(np.median(np.diff(log.t))), float(log.t[-1] - log.t[0])
    if step > LARGEST_STEP:
        unit = next((u for u, s in (("ms", 1e-3), ("us", 1e-6)) if step * s <= LARGEST_STEP), "ns")
        do = "Give t in seconds." if given else f"Then give time_unit={unit!r} (--time-unit {unit})."
        raise StateFault(
            f"{log.label}: rows are {step:.3g} s apart, too far to see a motion. In {unit}? {do}"
        )
    if whole < LEAST_SECONDS:
        raise StateFault(
            f"{log.label}: lasts {whole:.2g} s; give a log of some seconds, in which all joints move."
        )


def _refuse_wrong_readings(arm: Arm, log: Log) -> None:
    """One reading, or up to three, far from all others: fits would follow it."""
    for name, values in (("q", log.q), ("tau", log.tau)):
        off = np.abs(values - np.median(values, axis=0))
        usual = np.partition(off, -1 - LONE, axis=0)[-1 - LONE]
        for i in np.flatnonzero((off.max(axis=0) > ALONE * usual) & (usual > 0)):
            k = int(np.argmax(off[:, i]))
            raise StateFault(
                f"{log.label}: {name} of joint {arm.joint_names[i]!r} is {values[k, i]:.4g} at {instant(log.t[k])} s, "
                f"and within {usual[i]:.3g} of its middle in all but {LONE} rows: a wrong reading. Leave that row out."
            )


def _without_jumps(log: Log) -> Log:
    """Refuse angles that were wrapped to one turn; a warning of other jumps: what rows lose looks like a push."""
    t = log.t - log.t[0]
    if turns := whole_turns(log.label, t, log.q):
        raise StateFault(f"{turns} Give angles that go on (numpy.unwrap).")
    for note in jumps(log.label, t, log.q, np.zeros(log.q.shape[1]), "q"):
        log = log.with_note(note)
    return log


def _coarse(arm: Arm, log: Log) -> str | None:
    """A warning of torques in steps so coarse that their errors go with the motion, as those of noise do not."""
    told = []
    for i, name in enumerate(arm.joint_names):
        values = np.unique(log.tau[:, i])
        if 1 < len(values) <= COARSE and np.ptp(log.q[:, i]) > 0:
            told.append(f"{name} {len(values)} (steps of {np.min(np.diff(values)):.3g})")
    if not told:
        return None
    return (
        f"WARNING: torques have few values: {', '.join(told)}. What is found for such a joint is as coarse, and "
        "intervals do not know of that; give torques as they were measured, with more digits"
    )


def _refuse_degrees(arm: Arm, log: Log) -> None:
    """Positions that no joint has: degrees, millimetres, or motors before their gears."""
    for i, link in enumerate(arm.links):
        low, high = link.limits or (-math.inf, math.inf)
        reach = max(abs(low), abs(high))
        bound = reach + (0.5 if link.revolute else 0.5 * reach)
        bound = bound if math.isfinite(bound) else 2 * math.pi * TURNS if link.revolute else FARTHEST
        most = float(np.max(np.abs(log.q[:, i])))
        if most <= bound:
            continue
        limits = f"its limits are {low:.3g} to {high:.3g}" if math.isfinite(reach) else "no limits"
        asked = (
            "rad ({}). In degrees? Then give degrees=True (--degrees)"
            if link.revolute
            else "m ({}). In millimetres? Then give metres, or say so in the header, q{} [mm]"
        ).format(limits, i + 1)
        raise StateFault(
            f"{log.label}: joint {link.name!r} goes to {most:.4g} {asked}. Positions of motors before their gears? "
            "Then give coupling=, the reductions of the joints. If it is right as it is, degrees=False (--radians)."
        )
