"""Torques of a state, of a motion, or of a file of any length."""

import csv
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from forearm.cli.exit_codes import FOUND, OK
from forearm.cli.hyphens import STDIO
from forearm.cli.inputs import (
    check_places,
    doubts_of,
    motion_of,
    refuse_names_of_no_csv,
    refuse_what_is_read,
    refuse_without_motion,
    robot_of,
    state_of,
    taken_as_zero,
    writing,
    written,
)
from forearm.cli.measures import Numbers, torque_unit
from forearm.cli.option_groups import AS_SAID, AS_WRITTEN, FileUnits, Flag, Out, Reading, Source
from forearm.cli.output import PLAIN, Outputs, Shared, note, print_json, progress, table
from forearm.outside.escapes import terminal
from forearm.outside.text_table import instant

LONG = (".npy", ".zarr", ".parquet")
"""Files whose rows go through in blocks."""

AT_NUMBERS = "units of a state are written at its numbers: --q 90deg 0.5rad 12mm"


def torque(
    arm: Source,
    motion: Source | None = None,
    /,
    *,
    q: Numbers = (),
    qd: Numbers = (),
    qdd: Numbers = (),
    payload: Numbers = (),
    formulation: str | None = None,
    rigid: Flag = False,
    terms: Flag = False,
    summary: Flag = False,
    out: Out = STDIO,
    plot: Path | None = None,
    units: FileUnits = AS_SAID,
    reading: Reading = AS_WRITTEN,
    shared: Shared = PLAIN,
) -> int:
    """Torques of a state, or of every row of a motion.

    With --summary, exit code 1 if a limit of position is exceeded, or one of speed or torque by more than 0.1 %.

    Parameters
    ----------
    arm
        Name or file of the arm.
    motion
        CSV file with columns t, q1 …, qd1 …, qdd1 … (or joint or ROS names), or - for stdin; or a file of any length,
        .npy, .zarr or .parquet, which is read and written a block at a time.
    q
        Joint positions, without a motion [rad, m, or with a unit: 10deg, 12mm]; zeros otherwise, which is said.
    qd
        Joint speeds; zeros otherwise.
    qdd
        Joint accelerations; zeros otherwise.
    payload
        Mass [kg], or mass and centre x y z [m] in the tool's axes.
    formulation
        A paper's stem (see forearm count); the compiled kernel otherwise.
    rigid
        Leave out rotor inertia and friction.
    terms
        Split the torque into its terms.
    summary
        Largest torque and its time, its root mean square, largest speed and power of each joint beside its limits,
        between the rows as well; what is beyond them is marked.
    out
        Where the CSV goes; - is stdout. A .npy, .zarr or .parquet file is written a block at a time.
    plot
        Draw the torques into this file.
    """
    check_places(out, plot=plot)
    for place in (out, plot):
        refuse_what_is_read(place, arm, motion)
    _refuse_unseen_terms(terms and summary, out)
    found = robot_of(arm, reading=reading, rigid=rigid, payload=payload, shared=shared)
    if motion is not None and any(Path(name).suffix.lower() in LONG for name in (motion, out)):
        _refuse_both(q, qd, qdd)
        _refuse_with_long(
            out, {"--formulation": formulation, "--terms": terms, "--summary": summary, "--plot": plot}
        )
        return torque_file(found, motion, out, units, shared)
    if motion is None:
        refuse_without_motion("torque", units.given() | {"--out": out != STDIO}, AT_NUMBERS)
        state = {"q": q, "qd": qd, "qdd": qdd}
        t, rows = None, [state_of(found, name, values)[None] for name, values in state.items()]
        absent, remarks = taken_as_zero(state)
        about: dict[str, Any] = {"assumed_zero": absent, "notes": doubts_of(found)}
    else:
        _refuse_both(q, qd, qdd)
        refuse_names_of_no_csv(out)
        t, *rows, remarks = motion_of(found, motion, units=units)
        about = {"notes": [*doubts_of(found), *remarks]}
    parts = _parts(found, rows, formulation, terms)
    if motion is None:
        _refuse_overflow(found, rows, parts["tau"])
    report = _report(found, t, rows, parts["tau"])
    about["notes"] += report.notes
    for remark in (*remarks, *report.notes):
        note(shared, remark)
    beyond = report.excesses
    about["beyond_limits"] = [asdict(excess) for excess in beyond]
    with Outputs() as outputs:
        with outputs.one():
            if out != STDIO:
                _write(found, t, parts, out, shared)
                about |= written(out)
        with outputs.one():
            if summary:
                _summary(found, report, len(rows[0]), about, shared)
            else:
                for excess in beyond:
                    note(shared, f"joint {excess}")
                if motion is None:
                    _state(found, parts, about, shared)
                else:
                    _motion(found, t, rows, parts, out, about, shared)
        with outputs.one():
            if plot is not None:
                _draw(found, t, rows, parts, plot)
                note(shared, f"drawn: {plot}")
    return OK if report or not summary else FOUND


def _refuse_overflow(arm: Any, rows: list[Any], tau: Any) -> None:
    """Refuse a state whose torques are no numbers; among rows of a motion they stay, each in its place."""
    import numpy as np

    from forearm.faults import not_finite

    if not np.all(np.isfinite(tau)):
        not_finite(
            arm, "inverse_dynamics", {name: x[0] for name, x in zip(("q", "qd", "qdd"), rows, strict=True)}
        )


def _refuse_with_long(out: str, given: dict[str, Any]) -> None:
    """Refuse what needs all rows at once, where they go through in blocks."""
    from forearm.faults import StateFault

    for name, value in given.items():
        if value:
            raise StateFault(
                f"torque: {name} needs the whole motion in memory; give it a CSV file, and --out one."
            )
    if out == STDIO:
        raise StateFault("torque: torques of such a file go into a file; give --out tau.npy.")


def _report(arm: Any, t: Any, rows: list[Any], tau: Any) -> Any:
    """Whether limits are kept, and what each joint gives."""
    import numpy as np

    from forearm.motion.feasibility import judged_between
    from forearm.motion.motions import Samples

    free = np.full(arm.n, np.inf)
    return judged_between(arm, Samples(t, *rows), tau, free, free)


def _refuse_unseen_terms(asked: bool, out: str) -> None:
    """Refuse terms beside a summary that go nowhere: it is of the whole torque, and so is a picture."""
    from forearm.faults import StateFault

    if asked and out == STDIO:
        raise StateFault(
            "torque: --summary is of the whole torque, and --terms would be seen nowhere; give --out for them, or "
            "leave one of the two out."
        )


def _refuse_both(*states: Any) -> None:
    from forearm.faults import StateFault

    if any(states):
        raise StateFault("torque: a motion and --q, --qd or --qdd were given; give one or the other.")


def _parts(arm: Any, rows: list[Any], formulation: str | None, terms: bool) -> dict[str, Any]:
    """Torques (N, n), and their terms where asked for."""
    import numpy as np

    from forearm import dynamics

    if formulation is not None:
        from forearm.faults import StateFault

        if terms or arm.has_drives:
            raise StateFault(
                f"torque: --formulation {formulation} computes the rigid arm in one piece; add --rigid and "
                "leave --terms out."
            )
        return {"tau": _by_paper(arm, rows, formulation)}
    if not terms:
        return {"tau": np.asarray(dynamics.inverse_dynamics(arm, *rows))}
    split = dynamics.terms(arm, *rows)
    names = ("inertial", "centrifugal", "coriolis", "gravity", "rotor", "friction")
    return {"tau": split.total} | {name: getattr(split, name) for name in names}


def _by_paper(arm: Any, rows: list[Any], stem: str) -> Any:
    import numpy as np

    from forearm.formulations import FORMULATIONS
    from forearm.strobing import torques_of

    FORMULATIONS[stem].giving("joint_torques")
    if hasattr(arm, "chains"):
        from forearm.compiler.model.trees.tree_model import TreeModel

        model = TreeModel(arm, None, torques_by=stem)  # summed over chains
        return np.array([model.torques(*state) for state in zip(*rows, strict=True)], dtype=float)
    return np.array([torques_of(stem)(arm, *state) for state in zip(*rows, strict=True)], dtype=float)


def _state(arm: Any, parts: dict[str, Any], about: dict[str, Any], shared: Shared) -> None:
    names = [name for name in parts if name != "tau"]
    if shared.json:
        print_json({"arm": arm.name, "joints": _named(arm), **about} | {k: v[0] for k, v in parts.items()})
        return
    rows = [
        (name, float(parts["tau"][0, i]), unit, *(float(parts[k][0, i]) for k in names))
        for i, (name, unit) in enumerate(_torque_units(arm))
    ]
    table(shared, ("joint", "tau", "", *names), rows, left=(0, 2))


def _named(arm: Any) -> Sequence[str]:
    """What each torque is called, joint after joint; a free base has six names before them, as it has torques."""
    from forearm.faults import coordinates

    names: Sequence[str] = coordinates(arm, "tau")
    return names


def _torque_units(arm: Any) -> list[tuple[str, str]]:
    """What each torque is called, and its unit; a free base has three forces and three moments first."""
    units = ["N m" if link.revolute else "N" for link in arm.state_links]
    names = _named(arm)
    return list(zip(names, [*["N"] * 3, *["N m"] * 3, *units][-len(names) :], strict=True))


def _motion(
    arm: Any, t: Any, rows: list[Any], parts: dict[str, Any], out: str, about: dict[str, Any], shared: Shared
) -> None:
    if not shared.json:
        if out == STDIO:
            _write(arm, t, parts, out, shared)
        return
    content = {
        "arm": arm.name,
        "joints": _named(arm),
        **about,
        "t": t,
        "q": rows[0],
        **parts,
    }
    print_json(content)


def _titles(arm: Any) -> list[str]:
    """What stands after a quantity's name in a header: the joint's number; its name where numbers would mislead."""
    from forearm.motion.columns import counts_otherwise

    if getattr(arm, "free", False) or counts_otherwise(arm):
        return [f":{name}" for name in _named(arm)]
    return [str(i) for i in range(1, arm.n + 1)]


def _write(arm: Any, t: Any, parts: dict[str, Any], out: str, shared: Shared) -> None:
    """Torques, and their terms, as CSV."""
    from forearm.motion.motion_files import write_titles

    named = _titles(arm)
    header = [*(["t"] if t is not None else []), *(f"{k}{title}" for k in parts for title in named)]
    count = len(parts["tau"])
    with writing(out) as file:
        writer = csv.writer(file, lineterminator="\n")
        write_titles(file, header, "\n")
        for k in range(count):
            instant = [repr(float(t[k]))] if t is not None else []
            writer.writerow([*instant, *(repr(float(x)) for part in parts.values() for x in part[k])])
    if out != STDIO:
        note(shared, f"written: {out}, {count} rows")


def _summary(arm: Any, report: Any, rows: int, about: dict[str, Any], shared: Shared) -> None:
    """What a motor has to give: largest torque and its rms, largest speed and power, beside the limits."""
    t, beyond = report.samples.t, report.excesses
    fields = ("joint", "peak", "peak_at", "rms", "limit", "peak_speed", "speed_limit", "peak_power", "beyond")
    found = [{name: getattr(load, name) for name in fields} for load in report.loads]
    if shared.json:
        print_json({"arm": arm.name, "rows": rows, **about, "joints": found})
        return
    header = (
        "joint",
        f"peak [{torque_unit(arm)}]",
        "at [s]",
        "rms",
        "limit",
        f"peak speed [{torque_unit(arm, 'rad/s', 'm/s')}]",
        "limit",
        "peak power [W]",
        "BEYOND",
    )
    shown = [k for k in range(9) if (k != 2 or t is not None) and (k != 8 or beyond)]
    lines = [row | {"peak_at": instant(row["peak_at"]), "beyond": ", ".join(row["beyond"])} for row in found]
    table(
        shared,
        [header[k] for k in shown],
        [[line[fields[k]] for k in shown] for line in lines],
        left=(0, len(shown) - bool(beyond)),
    )
    for excess in beyond:
        print(f"BEYOND LIMITS: joint {terminal(str(excess))}")


def _draw(arm: Any, t: Any, rows: list[Any], parts: dict[str, Any], path: Path) -> None:
    import numpy as np

    from forearm import plots

    instants = np.arange(len(rows[0])) if t is None else t
    label = "row" if t is None else "t [s]"
    plots.save(plots.torque_figure(arm, instants, parts["tau"], label=label), path)


def torque_file(arm: Any, source: str, target: str, units: FileUnits, shared: Shared) -> int:
    """Torques of every row of a file, into a file, a block at a time: what `forearm torque` does with such files."""
    from forearm.streams import stream

    started = time.perf_counter()
    with progress(shared, f"torques of {arm.name}") as tell:

        def told(share: float, rows: int, left: float) -> None:
            rate = rows / max(time.perf_counter() - started, 1e-9)
            tell(round(1000 * share), 1000, f"{rows:.3g} rows, {rate:.3g} rows/s, {left:.0f} s left")

        options = units.options()
        done = stream(
            arm,
            "inverse_dynamics",
            source,
            target,
            degrees=options["degrees"],
            time_unit=options["time_unit"],
            progress=told,
        )
    for told_once in (*done.notes, *(f"joint {excess}" for excess in done.excesses)):
        note(shared, told_once)
    if shared.json:
        rows = {"rows": done.rows, "not_finite": done.not_finite, "seconds": done.seconds}
        about = {"notes": [*doubts_of(arm), *done.notes], "beyond_limits": [asdict(e) for e in done.excesses]}
        print_json({"arm": arm.name, "out": str(done.path), **rows, **about})
    else:
        note(shared, f"written: {done}")
    return OK
