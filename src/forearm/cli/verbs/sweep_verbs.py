"""Sweeps over what may vary."""

import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter, validators

from forearm.cli.exit_codes import FOUND, OK
from forearm.cli.inputs import arm_of, doubted, tool_doubts
from forearm.cli.measures import (
    ANGLE,
    MASS,
    Numbers,
    Seed,
    Whole,
    WholeIfAny,
    check_kinds,
    surely,
    torque_unit,
)
from forearm.cli.option_groups import AS_SAID, AS_WRITTEN, FileUnits, Reading, Source
from forearm.cli.output import PLAIN, Shared, note, print_json, progress, table
from forearm.outside.text_table import instant

MOST_INSTANTS = 1_000_000
"""Instants of one motion: a robot has no more to say in an hour."""
WIDE = 0.5
"""Tilt of a mount [rad] from which on somebody may have meant degrees."""
MISSED = 0.01
"""Share of the largest torque at a file's rows that instants between them may miss without a word."""


def sweep(
    arm: Source,
    /,
    *motions: str,
    payload: Numbers = (),
    tilt: Numbers = (),
    viscous: Numbers = (),
    dry: Numbers = (),
    density: Numbers = (),
    lengths: Numbers = (),
    samples: Whole = 1000,
    instants: Annotated[Whole, Parameter(validator=validators.Number(gte=1, lte=MOST_INSTANTS))] = 101,
    seed: Seed = 0,
    executor: Literal["threads", "processes"] = "threads",
    workers: WholeIfAny = None,
    journal: Path | None = None,
    units: FileUnits = AS_SAID,
    reading: Reading = AS_WRITTEN,
    shared: Shared = PLAIN,
) -> int:
    """Worst torques along motions while payload, mount, friction, masses and lengths vary at random.

    Every option that varies takes its least and its greatest value. The same seed gives the same numbers to the last
    bit, with any number of workers; with --journal a sweep that was stopped goes on where it was. Exit code 1 if a
    torque limit is exceeded by more than 0.1 %.

    Parameters
    ----------
    arm
        Name or file of the arm.
    motions
        CSV files with columns t, q1 … (or joint or ROS names).
    payload
        Least and greatest mass at the tool's origin [kg].
    tilt
        Least and greatest roll and pitch of the mount [rad, or 30deg].
    viscous
        Least and greatest viscous friction of all joints [N m s/rad]; without --dry, dry friction stays the arm's own.
    dry
        Least and greatest dry friction of all joints [N m]; without --viscous, viscous friction stays the arm's own.
    density
        Least and greatest factor on each link's mass and inertia.
    lengths
        Least and greatest factor on all lengths of links; bodies and the tool stay as they are, seen from the far
        ends of their links.
    samples
        How many choices for each motion (1000).
    instants
        Into how many instants a motion is sampled (101).
    seed
        Which random numbers (0).
    executor
        Who works: threads or processes of this machine (threads).
    workers
        How many of them; one on each processor otherwise.
    journal
        A file to keep progress in.
    """
    from forearm.sweeps import Swept
    from forearm.sweeps import sweep as swept

    found = arm_of(arm, reading=reading, shared=shared)
    read, remarks = _motions(found, motions, units, instants)
    over = _axes(found, read, payload, tilt, viscous, dry, density, lengths)
    asked = [*tool_doubts(found), *_of_payload(found, payload)] if payload else []
    remarks += [*asked, *_of_tilt(tilt)]
    for remark in remarks:
        note(shared, remark)
    begun: list[tuple[float, int]] = []
    with progress(shared, f"sweeping {found.name}") as tell:

        def told(done: int, of: int) -> None:
            tell(done, of, _pace(begun, time.perf_counter(), done, of))

        result: Swept = swept(
            "inverse_dynamics",
            over,
            arm=found,
            samples=samples,
            seed=seed,
            keep=("extremes", "moments"),
            executor=executor,
            workers=workers,
            journal=journal,
            progress=told,
        )
    return _tell(found, result, motions, remarks, shared)


def _of_payload(arm: Any, masses: Sequence[float]) -> list[str]:
    """Questions about the masses that a sweep's arms hold."""
    from forearm.faults import payload_doubts

    doubts = payload_doubts(arm, max(masses), (0, 0, 0), [[0.0] * 3] * 3)
    return [told for told in (surely(doubt, max(masses), ()) for doubt in doubts) if told]


def _motions(
    arm: Any, motions: Sequence[str], units: FileUnits, instants: int
) -> tuple[list[Any], list[str]]:
    """The files' motions at so many instants, and what there is to say about them."""
    from forearm.faults import StateFault
    from forearm.motion.motion_files import read_motion

    if not motions:
        raise StateFault("sweep: no motion was given; give CSV files with columns t, q1 …")
    read = [read_motion(Path(path), arm, **units.options()) for path in motions]
    said = [remark for one in read for remark in one.notes]
    for path, one in zip(motions, read, strict=True):
        rows = len(one.samples.t)
        if rows > instants:
            said.append(f"{path} has {rows} rows, of which {instants} instants are looked at (--instants)")
    looked_at = [_resampled(one, instants) for one in read]
    for path, one, samples in zip(motions, read, looked_at, strict=True):
        said += _beyond(arm, path, one.samples)
        said += _missed(arm, path, one.samples, samples)
    return looked_at, said


def _beyond(arm: Any, path: str, rows: Any) -> list[str]:
    """Remarks where a file goes beyond limits of position or speed, which no payload changes."""
    from forearm.motion.between_rows.missed_peaks import between
    from forearm.motion.limit_excesses import limit_excesses

    found = between(arm, rows, None)
    rows = rows if found is None else found.samples
    return [f"{path}: joint {excess}" for excess in limit_excesses(arm, rows.t, rows.q, rows.qd)[()]]


def _missed(arm: Any, path: str, rows: Any, samples: Any) -> list[str]:
    """A remark where the file's rows ask more of the arm as it is than the instants that are looked at."""
    import numpy as np

    from forearm.dynamics import inverse_dynamics

    there, here = (
        np.abs(np.asarray(inverse_dynamics(arm, *some[1:]))).max(axis=0) for some in (rows, samples)
    )
    if np.all(there <= here * (1 + MISSED)):
        return []
    j = int(np.argmax((there - here) / np.maximum(there, 1e-300)))
    shortest = float(np.diff(rows.t).min())
    steps = math.ceil(float(rows.t[-1] - rows.t[0]) / shortest - 1e-6)
    every = min(
        MOST_INSTANTS, 1 + steps * ((len(samples.t) - 1) // steps + 1)
    )  # more than now, and at even rows
    unit = "N m" if arm.state_links[j].revolute else "N"
    return [
        f"WARNING: at the rows of {path} joint {arm.joint_names[j]!r} needs {there[j]:.4g} {unit}, at the "
        f"{len(samples.t)} even instants that are looked at {here[j]:.4g}: the worst is between them. Give --instants "
        f"{every}, at least as near to each other as its rows"
    ]


def _resampled(one: Any, instants: int) -> Any:
    """So many instants of a motion, at the times of its file: somebody looks for the worst one there."""
    samples = one.resampled(instants)
    return samples._replace(t=samples.t + one.samples.t[0])


def _pace(begun: list[tuple[float, int]], now: float, done: int, of: int) -> str:
    """How fast it goes, from the first time that this is asked: what a journal gave took no time of this run."""
    if not begun:
        begun.append((now, done))
    since, before = begun[0]
    if done == before or now <= since:
        return "sweeping"
    rate = (done - before) / (now - since)
    return f"{rate:.3g} samples/s, {(of - done) / rate:.0f} s left"


def _axes(
    arm: Any,
    motions: list[Any],
    payload: Any,
    tilt: Any,
    viscous: Any,
    dry: Any,
    density: Any,
    lengths: Any,
) -> dict[str, Any]:
    from forearm.faults import StateFault
    from forearm.sweeps import Uniform

    bounds = {
        name: _bounds(name, given)
        for name, given in {
            "payload": payload,
            "tilt": tilt,
            "viscous": viscous,
            "dry": dry,
            "density": density,
            "lengths": lengths,
        }.items()
        if given
    }
    over: dict[str, Any] = {"motion": motions}
    for name in ("payload", "lengths"):
        if name in bounds:
            over[name] = Uniform(*bounds[name])
    if "density" in bounds:
        low, high = bounds["density"]
        over["density"] = Uniform([low] * arm.n, [high] * arm.n)
    if "tilt" in bounds:
        low, high = bounds["tilt"]
        over["mount"] = Uniform((low, low, 0.0), (high, high, 0.0))
    if "viscous" in bounds and "dry" in bounds:
        pairs = bounds["viscous"], bounds["dry"]
        over["friction"] = Uniform([low for low, _ in pairs], [high for _, high in pairs])
    else:  # the other friction stays the arm's own
        over |= {name: Uniform(*bounds[name]) for name in ("viscous", "dry") if name in bounds}
    if len(over) == 1:
        raise StateFault(
            "sweep: nothing varies; give --payload, --tilt, --viscous, --dry, --density or --lengths."
        )
    return over


def _bounds(name: str, given: Sequence[float]) -> tuple[float, float]:
    from forearm.faults import StateFault

    check_kinds(name, given, {"payload": MASS, "tilt": ANGLE}.get(name, ""))
    if len(given) != 2 or not given[0] <= given[1] or not all(map(math.isfinite, given)):
        words = " ".join(f"{x:g}" for x in given)
        raise StateFault(f"--{name} is {words}; give its least and its greatest value.")
    if name == "tilt" and max(map(abs, given)) > math.pi:
        words = " ".join(str(getattr(x, "word", x)) for x in given)
        raise StateFault(
            f"--tilt is {words}, in radians without a unit; give angles within half a turn, or 10deg for degrees."
        )
    if name != "tilt" and given[0] < 0:
        raise StateFault(f"--{name} begins with {given[0]:g}; give numbers that are not negative.")
    return float(given[0]), float(given[1])


def _of_tilt(tilt: Sequence[float]) -> list[str]:
    """A question about tilts without a unit that are wide for a mount in radians, and would not be in degrees."""
    if all(getattr(x, "kind", "") or abs(x) <= WIDE for x in tilt):
        return []
    low, high = (math.degrees(x) for x in tilt)
    return [
        f"--tilt is in radians, from {low:.3g} to {high:.3g} degrees; for degrees give them with their unit, 3deg"
    ]


def _tell(arm: Any, result: Any, motions: Sequence[str], remarks: list[str], shared: Shared) -> int:
    from forearm.motion.limit_excesses import TOLERANCE
    from forearm.sweeps.swept import told

    limits = [link.effort_limit for link in arm.links]
    rows, beyond = [], False
    for j, (name, case) in enumerate(zip(result.names, result.worst, strict=True)):
        over = limits[j] is not None and abs(case.value) > (1 + TOLERANCE) * limits[j]
        beyond |= over
        rows.append(
            {
                "joint": name,
                "least": float(result.least[j]),
                "greatest": float(result.greatest[j]),
                "mean": float(result.mean[j]),
                "limit": limits[j],
                "beyond": over,
                "worst": case.value,
                "at": case.time,
                "choices": case.choices | {"motion": motions[case.choices["motion"]]},
            }
        )
    if shared.json:
        about = {"arm": arm.name, "samples": result.samples, "states": result.states} | doubted(arm, remarks)
        about["not_finite"] = int(result.not_finite.sum())
        print_json(about | {"joints": rows})
        return FOUND if beyond else OK
    header = (
        "joint",
        f"least [{torque_unit(arm)}]",
        "greatest",
        "mean",
        "limit",
        "BEYOND",
        "worst at t",
        "with",
    )
    shown = [
        (
            *(row[k] for k in ("joint", "least", "greatest", "mean", "limit")),
            "BEYOND" if row["beyond"] else "",
            instant(row["at"]),
            " ".join(f"{k}={told(v)}" for k, v in row["choices"].items()),
        )
        for row in rows
    ]
    table(shared, header, shown, left=(0, 5, 7))
    note(shared, f"{result.samples} samples, {result.states} states, {result.rate:.3g} a second")
    odd = int(result.not_finite.sum())
    if odd:
        note(shared, f"{odd} results are not finite, and were left out")
    return FOUND if beyond else OK
