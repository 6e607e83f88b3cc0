"""The verb that makes motions: move."""

import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter, validators

from forearm.cli.exit_codes import FOUND, OK
from forearm.cli.hyphens import STDIO
from forearm.cli.inputs import (
    arm_of,
    check_places,
    doubted,
    refuse_names_of_no_csv,
    refuse_what_is_read,
    refuse_without_motion,
    state_of,
    tool_doubts,
    written,
)
from forearm.cli.measures import ANGLE, LENGTH, NumberIfAny, Numbers, Whole, check_joint_units, check_kinds
from forearm.cli.option_groups import AS_SAID, AS_WRITTEN, FileUnits, Flag, Out, Reading, Source
from forearm.cli.output import PLAIN, Outputs, Shared, note, print_json
from forearm.outside.escapes import terminal

AT_NUMBERS = "units of positions are written at their numbers: --to 90deg 12mm"
LOWER = 0.01
"""Share of a motion's peak that its rows may miss without a word."""
A_NUMBER = 6000
"""Bytes for each number of a file of waypoints: the motion through them is looked at in parts of each of its pieces."""
TOOL = ("--tool-speed", "--tool-acceleration")
"""Limits of the tool on a line."""


def move(
    arm: Source,
    /,
    *,
    start: Annotated[Numbers, Parameter(name="--from")] = (),
    to: Numbers = (),
    via: Path | None = None,
    line: Flag = False,
    fastest: Flag = False,
    speeds: Numbers = (),
    accelerations: Numbers = (),
    jerks: Numbers = (),
    torques: Numbers = (),
    blend: NumberIfAny = None,
    tool_speed: NumberIfAny = None,
    tool_acceleration: NumberIfAny = None,
    payload: Numbers = (),
    rigid: Flag = False,
    rows: Annotated[Whole, Parameter(validator=validators.Number(gte=2))] = 201,
    out: Out = STDIO,
    plot: Path | None = None,
    units: FileUnits = AS_SAID,
    reading: Reading = AS_WRITTEN,
    shared: Shared = PLAIN,
) -> int:
    """A motion within limits: to a position, through points, or along a line of the tool; as CSV.

    Exit code 1 if the motion goes beyond a limit of position, or by more than 0.1 % beyond one of speed or torque.

    Parameters
    ----------
    arm
        Name or file of the arm.
    start
        Joint positions at the start; zeros otherwise.
    to
        Joint positions at the end; with --line the tool's place x y z [m], or x y z roll pitch yaw, in world axes.
    via
        CSV file with waypoints, columns q1 … or joint names; the first is the start, the last the end.
    line
        The tool goes straight to its place.
    fastest
        As fast as speeds, accelerations and torques allow, friction and payload included.
    speeds
        Limits of the joints' speeds, one for all or one each; the arm's own otherwise.
    accelerations
        Limits of their accelerations; needed without --fastest, except for a line.
    jerks
        Limits of their jerks: an S-curve; a trapezoid otherwise. With --via between the waypoints, not at both ends.
        Not with --fastest.
    torques
        Limits of the torques: --fastest keeps them, other motions are judged by them; the arm's own otherwise.
    blend
        With --via: round the corners between straight lines, a share of the longest leg; a spline otherwise.
    tool_speed
        Speed of the tool on a line [m/s] (0.25).
    tool_acceleration
        Its acceleration [m/s²] (1).
    payload
        Mass [kg], or mass and centre x y z [m] in the tool's axes.
    rigid
        Leave out rotor inertia and friction.
    rows
        Rows of the CSV (201), evenly in time; a note says where they miss a peak of the motion between them.
    out
        Where the CSV goes; - is stdout.
    plot
        Draw the torques beside their limits into this file; with --fastest the phase plane, if its name ends in
        phase.png (or .svg, .pdf).
    """
    from forearm.motion.feasibility import feasible
    from forearm.motion.motion_files import write_motion

    check_places(out, plot=plot)
    for place in (out, plot):
        refuse_what_is_read(place, arm, via)
    refuse_names_of_no_csv(out)
    _refuse_two_ways(to, via, line, start)
    if via is None:
        refuse_without_motion("move", units.given(), AT_NUMBERS)
    asked = {"--blend": blend, "--tool-speed": tool_speed, "--tool-acceleration": tool_acceleration}
    _refuse_without_use(
        via is not None, line, fastest, asked | {"--accelerations": accelerations, "--jerks": jerks}
    )
    found = arm_of(arm, reading=reading, rigid=rigid, payload=payload, shared=shared)
    given = {"speeds": speeds, "accelerations": accelerations, "jerks": jerks, "torques": torques}
    limits = {name: _limit(found, name, values) for name, values in given.items() if values}
    tool = (
        0.25 if tool_speed is None else tool_speed,
        1.0 if tool_acceleration is None else tool_acceleration,
    )
    points, remarks = (None, []) if via is None else _waypoints(found, via, units)
    remarks = [
        *(tool_doubts(found) if line else []),
        *remarks,
        *_of_ends(via is not None and bool(jerks)),
        *_of_torques(found, {"--payload": payload, "--rigid": rigid}, limits, plot),
    ]
    for remark in remarks:
        note(shared, remark)
    motion = _motion(found, start, to, points, line, blend, limits, tool, fastest)
    report = feasible(
        found, motion, **{name: _tighter(found, name, limits) for name in ("speeds", "torques")}
    )
    missed = _missed_peaks(motion.sample(rows), report)
    with Outputs() as outputs:
        where = {}
        with outputs.one():
            if out != STDIO:
                write_motion(motion, found, out, times=rows)
                where = written(out)
        with outputs.one():
            _tell(found, motion, report, rows, out, doubted(found, [*remarks, *missed]) | where, shared)
            for remark in missed:
                note(shared, remark)
        with outputs.one():
            if plot is not None:
                _draw(motion, report, plot)
                note(shared, f"drawn: {plot}")
    return OK if report else FOUND


def _refuse_two_ways(to: Any, via: Path | None, line: bool, start: Any) -> None:
    from forearm.faults import StateFault

    if (via is None) == (not to):
        raise StateFault("move: give the end as --to, or waypoints as --via FILE, one of the two.")
    if via is not None and (line or start):
        raise StateFault(
            "move: --via has its own start and goes through joint positions; leave --from and --line out."
        )


def _refuse_without_use(via: bool, line: bool, fastest: bool, given: dict[str, Any]) -> None:
    """Refuse limits that the motion asked for would not keep: somebody would believe that it does."""
    from forearm.faults import StateFault

    useless = {}
    if not via:
        useless["--blend"] = "rounds the corners between waypoints; give --via, or leave it out"
    if not line:
        useless |= dict.fromkeys(TOOL, "is for the tool on a line; add --line, or leave it out")
    elif fastest:
        useless |= dict.fromkeys(
            TOOL, "is not kept by --fastest, which keeps limits of joints; leave one of them out"
        )
    else:
        useless["--accelerations"] = (
            "is not kept on a line, whose tool has --tool-acceleration; give that, or add --fastest"
        )
        useless["--jerks"] = "is not kept on a line, whose tool has --tool-acceleration; give that"
    if fastest:
        useless["--jerks"] = "is not kept by --fastest, whose accelerations jump; leave one of them out"
    for name, why in useless.items():
        if given[name] not in (None, ()):
            raise StateFault(f"move: {name} {why}.")


def _of_ends(jerks: bool) -> list[str]:
    """What limits of jerks do not hold along waypoints."""
    told = "--jerks is kept between the waypoints; at both ends the spline's acceleration begins and ends at once"
    return [told] if jerks else []


def _of_torques(arm: Any, given: dict[str, Any], limits: dict[str, Any], plot: Path | None) -> list[str]:
    """What changes torques alone, where no torque is limited or drawn: somebody would believe that it was heeded."""
    import numpy as np

    from forearm.motion.profiles.joint_limits import joint_limit

    names = [name for name, value in given.items() if value]
    if (
        not names
        or plot is not None
        or np.isfinite(joint_limit(arm, "move", "torques", limits.get("torques"))).any()
    ):
        return []
    return [
        f"{' and '.join(names)} changed nothing: {arm.name} has no limits of torques, and none were given (--torques)"
    ]


def _limit(arm: Any, name: str, values: Any) -> Any:
    if len(values) == 1:
        check_joint_units(arm, name, [values[0]] * arm.n)
        return float(values[0])
    return state_of(arm, name, values)


def _tighter(arm: Any, name: str, limits: dict[str, Any]) -> Any:
    """The limits that were given, where the arm's own are no tighter; None for the arm's own."""
    import numpy as np

    from forearm.motion.profiles.joint_limits import joint_limit

    if name not in limits:
        return None
    given, own = (joint_limit(arm, "move", name, value) for value in (limits[name], None))
    return np.minimum(given, own)


def _motion(
    arm: Any,
    start: Any,
    to: Any,
    points: Any,
    line: bool,
    blend: float | None,
    limits: dict[str, Any],
    tool: tuple[float, float],
    fastest: bool,
) -> Any:
    from forearm.motion.profiles.point_to_point import point_to_point
    from forearm.motion.profiles.via_splines import via_points
    from forearm.motion.time_optimal.fastest_motions import fastest as run_fastest

    profile: dict[str, Any] = {k: limits[k] for k in ("speeds", "accelerations", "jerks") if k in limits}
    whole: dict[str, Any] = {k: limits[k] for k in ("speeds", "accelerations", "torques") if k in limits}
    if points is not None:
        if not fastest:
            return via_points(arm, points, blend=blend, **profile)
        if blend is None:
            return run_fastest(arm, points, **whole)
        return run_fastest(arm, via_points(arm, points, blend=blend, speeds=1.0, accelerations=1.0), **whole)
    begin = state_of(arm, "from", start)
    if line:
        made = _line(arm, begin, to, tool, limits)
        return run_fastest(arm, made, **whole) if fastest else made
    end = state_of(arm, "to", to)
    return run_fastest(arm, [begin, end], **whole) if fastest else point_to_point(arm, begin, end, **profile)


def _line(arm: Any, start: Any, to: Any, tool: tuple[float, float], limits: dict[str, Any]) -> Any:
    from forearm.faults import StateFault
    from forearm.frames import Pose
    from forearm.motion.tool_paths.tool_motion import tool_path

    if len(to) not in (3, 6):
        raise StateFault(
            f"--to has {len(to)} numbers; with --line give the tool's place x y z [m], or x y z roll pitch yaw [rad]."
        )
    check_kinds("to", to[:3], LENGTH)
    check_kinds("to", to[3:], ANGLE)
    numbers = tuple(float(x) for x in to)
    place = numbers if len(to) == 3 else Pose.at(numbers[:3], numbers[3:])
    return tool_path(arm, start, [place], speed=tool[0], acceleration=tool[1], speeds=limits.get("speeds"))


def _waypoints(arm: Any, via: Path, units: FileUnits) -> tuple[Any, list[str]]:
    """The positions of a file, and remarks: what else it holds is not used."""
    from forearm.faults import StateFault
    from forearm.motion.motion_files import read_motion_file
    from forearm.outside.memory_size import machine_memory

    file = read_motion_file(via, arm, label=str(via), **units.options())
    need, memory = A_NUMBER * file.q.size, machine_memory()
    if need > memory / 2:
        raise StateFault(
            f"{via}: a motion through {len(file.q)} waypoints of {arm.n} joints takes {need / 1e9:.3g} GB, and this "
            f"machine has {memory / 1e9:.3g} GB; give fewer, such as every hundredth row of a log."
        )
    remarks = list(file.notes)
    beside = [name for name in ("t", "qd", "qdd") if getattr(file, name) is not None]
    if beside:
        remarks.append(
            f"{via}: waypoints are positions; its {', '.join(beside)} is not used, the motion has its own times"
        )
    return file.q, remarks


def _draw(motion: Any, report: Any, path: Path) -> None:
    from forearm import plots

    if path.stem.endswith("phase") and hasattr(motion, "phase_plane"):
        plots.save(plots.phase_figure(motion.phase_plane), path)
        return
    plots.save(plots.band_figure(report.arm, report.samples.t, report.tau), path)


def _tell(
    arm: Any, motion: Any, report: Any, rows: int, out: str, about: dict[str, Any], shared: Shared
) -> None:
    from forearm.motion.motion_files import write_motion

    if shared.json:
        samples = motion.sample(rows)
        told = {
            "arm": arm.name,
            "joints": arm.joint_names,
            "duration": motion.duration,
            "within_limits": bool(report),
            "peak_torques": [load.peak for load in report.loads],
            "peak_speeds": [load.peak_speed for load in report.loads],
        }
        told["beyond_limits"] = [vars(excess) for excess in report.excesses]
        print_json(told | about | samples._asdict() | _binding(motion))
        return
    if out == STDIO:
        write_motion(motion, arm, sys.stdout, times=rows)
    elif "written" in about:
        note(shared, f"written: {out}, {rows} rows")
    note(shared, f"{motion.duration:.6g} s")
    for name, count in _binding(motion).get("binding", {}).items():
        note(shared, f"limited by {name} along {count} % of the path")
    for excess in report.excesses:
        note(shared, f"joint {terminal(str(excess))}")


def _missed_peaks(samples: Any, report: Any) -> list[str]:
    """What whoever works out peaks from the rows should know: those of the motion lie between them."""
    import numpy as np

    from forearm.dynamics import inverse_dynamics
    from forearm.motion.between_rows.missed_peaks import ROUNDING
    from forearm.motion.limit_excesses import UNITS

    tau = inverse_dynamics(report.arm, samples.q, samples.qd, samples.qdd)
    links, loads = report.arm.state_links, report.loads
    least = ROUNDING * max(load.peak for load in loads)
    seen = [
        (peak, rows, load.joint, what, UNITS[what][0 if link.revolute else 1])
        for j, (link, load) in enumerate(zip(links, loads, strict=True))
        for what, peak, rows in (
            ("torque", load.peak, float(np.abs(tau[:, j]).max())),
            ("speed", load.peak_speed, float(np.abs(samples.qd[:, j]).max())),
        )
        if rows < (1 - LOWER) * peak and (what == "speed" or peak > least)
    ]
    if not seen:
        return []
    peak, rows, joint, what, unit = max(seen, key=lambda one: 1 - one[1] / one[0])
    more = f"; so it is with {len(seen) - 1} more" if len(seen) > 1 else ""
    return [
        f"the {len(samples.t)} rows miss peaks of the motion between them: the {what} of joint {joint!r} reaches "
        f"{peak:.4g} {unit}, in the rows {rows:.4g}{more}; give more --rows for what works from the file"
    ]


def _binding(motion: Any) -> dict[str, Any]:
    """What limits a fastest motion, in shares of its grid [%]."""
    names = getattr(motion, "binding", None)
    if names is None:
        return {}
    from collections import Counter

    counts = Counter(name for name in names if name)
    return {"binding": {name: round(100 * count / len(names)) for name, count in counts.most_common(6)}}
