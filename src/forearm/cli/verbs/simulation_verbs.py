"""Simulation: let an arm or a robot go, or bring it to a goal."""

import math
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from forearm.cli.exit_codes import FOUND, INTERRUPTED, OK
from forearm.cli.hyphens import STDIO
from forearm.cli.inputs import (
    check_places,
    doubted,
    holding,
    refuse_names_of_no_csv,
    refuse_what_is_read,
    robot_of,
    state_of,
    written,
)
from forearm.cli.measures import Number, Numbers, Whole
from forearm.cli.option_groups import AS_WRITTEN, Flag, Out, Reading, Source
from forearm.cli.output import PLAIN, Outputs, Shared, note, print_json, progress

MOST_JUDGED = 200_000
"""States of a motion that are held against limits, however few of them are written."""


def simulate(
    arm: Source,
    /,
    *,
    q0: Numbers = (),
    qd0: Numbers = (),
    goal: Numbers = (),
    unaware: Flag = False,
    duration: Number = 1.0,
    dt: Number = 1e-3,
    method: str = "rk4",
    every: Whole = 10,
    limits: Literal["note", "stop", "ignore"] = "note",
    sticking: Flag = False,
    payload: Numbers = (),
    rigid: Flag = False,
    out: Out = STDIO,
    plot: Path | None = None,
    reading: Reading = AS_WRITTEN,
    shared: Shared = PLAIN,
) -> int:
    """Simulate: let the arm go, or bring it to a goal by computed torque; the motion as CSV.

    Exit code 1 if the motion did not come to its end (it diverged), went beyond a limit of position, or by more than
    0.1 % beyond one of speed or torque.
    Ctrl-C writes what was reached, if anything was; the exit code is then 130.

    Parameters
    ----------
    arm
        Name or file of the arm.
    q0
        Joint positions at the start; zeros otherwise.
    qd0
        Joint speeds at the start; zeros otherwise.
    goal
        Follow a smooth motion to these positions by computed torque; no torque at all otherwise.
    unaware
        The controller does not know of the payload.
    duration
        How long [s] (1).
    dt
        Step [s] (0.001).
    method
        Scheme: rk4 (unless told otherwise), euler (semi-implicit), symplectic, dop853, papers.
    every
        Write every so many steps (10); limits are looked at between them, too.
    limits
        Limits of position, speed and effort: note them, stop at those of position, or ignore them (note).
    sticking
        With --method euler: true dry friction, joints may stick, instead of the smooth curve.
    payload
        Mass [kg], or mass and centre x y z [m] in the tool's axes.
    rigid
        Leave out rotor inertia and friction.
    out
        Where the CSV goes; - is stdout.
    plot
        Draw positions, speeds, torques and energies into this file.
    """
    from forearm.simulation import simulate as simulated

    check_places(out, plot=plot)
    refuse_what_is_read(out, arm)
    refuse_names_of_no_csv(out)
    _refuse_unaware(unaware, payload, goal)
    bare = robot_of(arm, reading=reading, rigid=rigid)
    real = holding(bare, payload, shared)
    start = state_of(real, "q0", q0)
    law = _to_the_goal(bare if unaware else real, start, goal, duration) if goal else None
    stride = _judged_every(every, duration, dt)
    with progress(shared, f"simulating {real.name}") as tell:
        record = simulated(
            real,
            start,
            state_of(real, "qd0", qd0),
            law=law,
            duration=duration,
            dt=dt,
            method=method,
            record_every=stride,
            limits=limits,
            sticking=sticking,
            progress=lambda done: tell(round(1000 * done), 1000, "simulating"),
        )
    stopped = record.interrupted
    if stopped and record.t[-1] == 0.0:
        raise KeyboardInterrupt  # nothing was reached, which is no reason to replace a file
    drifted = (
        record.until_stopped().doubt_of_energy
    )  # before rows are left out: it would be of those that are kept
    if every > stride:
        record = record.thinned(every // stride)
    remarks = _of_strides(stride, limits)
    for remark in remarks:
        note(shared, remark)
    with Outputs() as outputs:
        where = {}
        with outputs.one():
            if out != STDIO:
                record.to_csv(out)
                where = written(out)
        with outputs.one():
            about = doubted(real, [*remarks, *([drifted] if drifted else [])]) | where
            _tell_record(record, real, out, about, shared)
            if drifted:
                note(shared, drifted)
        with outputs.one():
            if plot is not None:
                _save_record(record, plot, shared)
    if stopped:
        return INTERRUPTED
    return OK if record.outcome.finished and record.outcome.within_limits else FOUND


def _judged_every(every: int, duration: float, dt: float) -> int:
    """How often states are looked at: at every step, or as often as the rows and a bound on their number allow."""
    if every < 1 or not (dt > 0 and 0 < duration < math.inf):
        return every  # refused where the rest is
    least = math.ceil(duration / dt / MOST_JUDGED)
    return (
        next((k for k in range(least, min(every, 1000 * least)) if not every % k), every) if least > 1 else 1
    )


def _of_strides(stride: int, limits: str) -> list[str]:
    """What is said of limits that a long motion passes, and what is not."""
    if stride == 1 or limits == "ignore":
        return []
    return [
        f"how far this long motion goes beyond limits of speed and torque is looked at in one of {stride} steps; "
        "whether it does, in all"
    ]


def _refuse_unaware(unaware: bool, payload: Sequence[float], goal: Sequence[float]) -> None:
    """Refuse a controller that does not know of nothing, and one that is not there."""
    from forearm.faults import StateFault

    if unaware and not (payload and goal):
        lack = "--payload" if goal else "--goal"
        raise StateFault(
            f"simulate: --unaware is a controller that does not know of the payload, and {lack} is missing; give "
            "--goal and --payload, or leave --unaware out."
        )


def _to_the_goal(believed: Any, start: Any, goal: Sequence[float], duration: float) -> Any:
    """Computed torque along a smooth motion from the start to the goal, by the arm that the controller knows."""
    from forearm.faults import StateFault
    from forearm.simulation import ComputedTorque, Quintic

    if getattr(believed, "free", False):
        raise StateFault(
            f"simulate: --goal brings joints to positions, and nothing drives the free base of {believed.name!r}; "
            "leave --base free or --goal out."
        )
    return ComputedTorque(believed, Quintic(start, state_of(believed, "goal", goal), duration))


def _save_record(record: Any, plot: Path, shared: Shared) -> None:
    from forearm import plots

    plots.save(record.until_stopped().plot(), plot)
    note(shared, f"drawn: {plot}")


def _tell_record(record: Any, arm: Any, out: str, about: dict[str, Any], shared: Shared) -> None:
    if shared.json:
        outcome = record.outcome
        told = {"arm": arm.name, "outcome": outcome.kind, "advice": outcome.advice}
        told["beyond_limits"] = [asdict(excess) for excess in outcome.limits]
        arrays = record.until_stopped().arrays()
        print_json(told | about | {"law": record.law, "method": record.method, **arrays})
        return
    if out == STDIO:
        record.to_csv(sys.stdout)
    note(shared, str(record))
