"""Verbs about the numbers of a real arm: identify, excite, watch."""

import math
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from forearm.cli.inputs import (
    arm_of,
    check_places,
    doubted,
    refuse_names_of_no_csv,
    refuse_names_of_others,
    refuse_to_overwrite,
    refuse_what_is_read,
    tool_doubts,
)
from forearm.cli.measures import Number, NumberIfAny, PlainNumbers, Seed, Whole
from forearm.cli.option_groups import (
    AS_LOGGED,
    AS_SAID,
    AS_WRITTEN,
    FileUnits,
    Flag,
    LogReading,
    Reading,
    Source,
)
from forearm.cli.output import PLAIN, Outputs, Shared, note, print_json, say

LEAST_ROWS = 10
"""Rows for a period of the highest frequency: a spline through them misses a sine by less than a thousandth."""
MOST_ROWS = 1e8
"""Rows of a file that a person or a robot still reads."""
Mended = Literal["clipping", "sign", "shift", "unexcited"]


def identify(
    arm: Source,
    log: str,
    /,
    *,
    validate: str | None = None,
    payload: Flag = False,
    offsets: bool | None = None,
    loaded: str | None = None,
    load: PlainNumbers = (),
    rotors: bool = True,
    smoothing: NumberIfAny = None,
    prior: Number = 1.0,
    mend: Annotated[tuple[Mended, ...], Parameter(consume_multiple=1, negative=())] = (),
    check: bool = True,
    out: Annotated[str | None, Parameter(name=["--out", "-o"])] = None,
    report: str | None = None,
    force: Flag = False,
    logged: LogReading = AS_LOGGED,
    units: FileUnits = AS_SAID,
    reading: Reading = AS_WRITTEN,
    shared: Shared = PLAIN,
) -> None:
    """Find the numbers of a real arm, or of what it holds, from a log of a motion.

    Parameters
    ----------
    arm
        Name or file of the arm: its geometry is believed, its inertias are a start.
    log
        CSV file with t, q1 …, tau1 … (or current1 …), and qd1 … if they were measured; also gzipped.
    validate
        Another log that is not fitted to.
    payload
        The arm is known: find mass, centre and inertia of what it holds, in the tool's axes.
    offsets
        With --payload: torques have offsets that are not the arm's, or have none; as the log shows otherwise.
    loaded
        A second log of currents, with a known load: the gains are found with it.
    load
        That load in the tool's axes: mass, centre x y z, and if known xx xy xz yy yz zz about its centre.
    rotors
        Look for rotor inertias; those of the given arm are believed otherwise.
    smoothing
        Speed over which dry friction turns over [rad/s]; the given arm's otherwise.
    prior
        How well the given inertias are believed: 1 for within about their own size.
    mend
        Mend instead of refusing: clipping, sign, shift, unexcited.
    check
        Hold torques against the given arm, to find wrong signs and units.
    out
        Write the identified arm (or the arm with its payload) here, as TOML.
    report
        Write the report here, as an HTML page.
    force
        Write over files that are there.
    """
    from forearm import identification

    found = arm_of(arm, reading=reading, shared=shared)
    check_places(out, report)
    for place, held, suffix in ((out, "an arm as TOML", ".toml"), (report, "a page", ".html")):
        if place is not None:
            refuse_what_is_read(place, log, validate, loaded)
            refuse_names_of_others(place, held, suffix)
            refuse_to_overwrite([place], force)
    options = {"mend": mend, "check": check, **logged.options(found.n), **units.options()}
    if payload:
        _refuse_beside_payload(
            {
                "--validate": validate,
                "--loaded": loaded,
                "--load": load,
                "--no-rotors": not rotors,
                "--smoothing": smoothing,
                "--prior": prior != 1.0,
                "--report": report,
            }
        )
        body = identification.identify_payload(found, log, offsets=offsets, **options)
        where = tool_doubts(found)
        for remark in where:
            note(shared, remark)
        told = str(body), _payload_json(body) | doubted(found, [*where, *body.notes])
        made, page = body.on(found), None
    else:
        _refuse_without_payload(offsets)
        fitted = identification.identify(
            found,
            log,
            validate=validate,
            rotors=rotors,
            smoothing=smoothing,
            prior=prior,
            loaded=loaded,
            load=_load(load),
            **options,
        )
        told = str(fitted), _fitted_json(fitted) | doubted(found, fitted.notes)
        made, page = fitted.arm, fitted.write
    with Outputs() as outputs:
        with outputs.one():
            if out is not None:
                from forearm.writers.toml import write_toml

                write_toml(made, out)
                note(shared, f"written: {out}")
        with outputs.one():
            _told(shared, *told)
        with outputs.one():
            if report is not None and page is not None:
                note(shared, f"written: {page(report)}")


def _refuse_beside_payload(given: dict[str, Any]) -> None:
    """Refuse what says something about finding an arm, where the arm is known."""
    from forearm.faults import StateFault

    for name, value in given.items():
        if value:
            raise StateFault(
                f"identify: {name} is for finding the arm, and --payload takes it as known; leave one of them out."
            )


def _refuse_without_payload(offsets: bool | None) -> None:
    """Refuse what says something about a payload, where an arm is looked for."""
    from forearm.faults import StateFault

    if offsets is not None:
        name = "--offsets" if offsets else "--no-offsets"
        raise StateFault(
            f"identify: {name} is for --payload; without it offsets are always found. Leave it out."
        )


def _load(numbers: Any) -> Any:
    """(mass, centre) or (mass, centre, Inertia) of 4 or 10 numbers."""
    from forearm.faults import StateFault
    from forearm.inertia import Inertia

    if not numbers:
        return None
    if len(numbers) not in (4, 10):
        raise StateFault(
            f"--load has {len(numbers)} numbers; give 4 (mass, centre) or 10 (and xx xy xz yy yz zz)."
        )
    mass, x, y, z, *six = numbers
    if not six:
        return mass, (x, y, z)
    xx, xy, xz, yy, yz, zz = six
    return mass, (x, y, z), Inertia.about_com([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _told(shared: Shared, text: str, content: dict[str, Any]) -> None:
    if shared.json:
        print_json(content)
    else:
        say(text)


def _payload_json(body: Any) -> dict[str, Any]:
    return {
        "frame": body.frame,
        "mass": body.mass,
        "mass_std": body.mass_std,
        "com": body.com,
        "com_std": body.com_std,
        "inertia_about_com": body.inertia,
        "offset": body.offset,
    }


def _fitted_json(fitted: Any) -> dict[str, Any]:
    base, whole = fitted.base, fitted.residuals
    return {
        "arm": fitted.arm.name,
        "residuals": {"train": whole.fits, "validation": whole.validated},
        "offset": fitted.offset,
        "gains": fitted.gains,
        "gains_std": fitted.gains_std,
        "base": {"names": base.names, "values": base.values, "std": base.std, "consistent": base.consistent},
        "parameters": {
            "names": fitted.parameters.names,
            "values": fitted.parameters.values,
            "std": fitted.parameters.std,
            "source": fitted.parameters.source,
        },
        "smallest_eigenvalues": fitted.smallest,
        "cutoff": fitted.cutoff,
    }


def excite(
    arm: Source,
    target: str,
    /,
    *,
    duration: Number = 10.0,
    harmonics: Whole = 5,
    speed: NumberIfAny = None,
    acceleration: NumberIfAny = None,
    rate: Number = 100.0,
    generations: Whole = 600,
    seed: Seed = 0,
    force: Flag = False,
    reading: Reading = AS_WRITTEN,
    shared: Shared = PLAIN,
) -> None:
    """Design a motion that shows an arm's parameters, within its limits, and write it as CSV.

    Parameters
    ----------
    arm
        Name or file of the arm.
    target
        The CSV file: t, q, qd, qdd by joint.
    duration
        One period [s] (10).
    harmonics
        How many frequencies (5).
    speed
        Limit of every joint's speed, beside the arm's own.
    acceleration
        Limit of every joint's acceleration.
    rate
        Rows a second (100).
    generations
        How long to search (600).
    seed
        Which random numbers.
    force
        Write over a file that is there.
    """
    from forearm.faults import StateFault
    from forearm.identification import excite as design
    from forearm.motion.motion_files import write_motion

    if not 0 < rate < math.inf:
        raise StateFault(f"--rate is {rate:g}; give a positive number of rows a second.")
    if duration * rate > MOST_ROWS:
        raise StateFault(
            f"--rate {rate:g} in {duration:g} s are {duration * rate:.3g} rows; give {MOST_ROWS:g} at most."
        )
    found = arm_of(arm, reading=reading, shared=shared)
    check_places(target)
    refuse_what_is_read(target, arm)
    refuse_names_of_no_csv(target)
    refuse_to_overwrite([target], force)
    motion = design(
        found,
        duration=duration,
        harmonics=harmonics,
        speed=speed,
        acceleration=acceleration,
        generations=generations,
        seed=seed,
    )
    write_motion(motion, found, Path(target), round(duration * rate) + 1)
    remarks = [*_few_rows(rate, harmonics / duration), *_without_limits(found)]
    for remark in remarks:
        note(shared, remark)
    content = {"condition": motion.condition, "random": motion.start_condition, "written": target}
    text = (
        f"{found.name}: condition number {motion.condition:.3g} of the base regressor (best of random motions: "
        f"{motion.start_condition:.3g})"
    )
    _told(shared, text, content | doubted(found, remarks))
    note(shared, f"written: {target}")


def _without_limits(arm: Any) -> list[str]:
    """How far joints go whose limits nobody knows: whoever plays the motion should look first."""
    turn, slide = (
        [x.name for x in arm.links if not x.limits and x.revolute is kind] for kind in (True, False)
    )
    told = [f"{', '.join(names)} {far}" for names, far in ((turn, "±π rad"), (slide, "±1 m")) if names]
    return [f"no limits of position are known, and these are taken: {'; '.join(told)}"] if told else []


def _few_rows(rate: float, highest: float) -> list[str]:
    """What whoever plays the rows should know: between so few a controller goes another way than the motion."""
    if rate >= LEAST_ROWS * highest:
        return []
    return [
        f"WARNING: {rate:g} rows a second are {rate / highest:.2g} a period of the motion's highest frequency, "
        f"{highest:.3g} Hz: what is played from them is another motion, whose limits nobody looked at. Give --rate "
        f"{LEAST_ROWS * highest:.3g} or more"
    ]


def watch(
    arm: Source,
    log: str,
    /,
    *,
    untouched: str | None = None,
    threshold: PlainNumbers = (),
    gain: Number = 30.0,
    logged: LogReading = AS_LOGGED,
    units: FileUnits = AS_SAID,
    reading: Reading = AS_WRITTEN,
    shared: Shared = PLAIN,
) -> None:
    """Say when and where something pushed an arm, from a log of its motion.

    Parameters
    ----------
    arm
        Name or file of the arm, friction and all, as `identify` writes it.
    log
        CSV file with t, q1 …, tau1 … (or current1 …), and qd1 … if they were measured; also gzipped.
    untouched
        Another log in which nothing was touched: it tells what is usual.
    threshold
        From which external torque on a joint is pushed, one number or one for each joint; from the logs otherwise.
    gain
        How fast the observer follows [1/s] (30).
    """
    from forearm import identification

    found = arm_of(arm, reading=reading, shared=shared)
    seen = identification.watch(
        found,
        log,
        quiet=untouched,
        threshold=(threshold if len(threshold) > 1 else threshold[0]) if threshold else None,
        gain=gain,
        **logged.options(found.n),
        **units.options(),
    )
    pushes = [
        {"start": p.start, "end": p.end, "joint": p.joint, "joints": p.joints, "peak": p.peak}
        for p in seen.pushes
    ]
    _told(
        shared,
        str(seen),
        {"pushes": pushes, "threshold": seen.threshold, "offset": seen.offset} | doubted(found, seen.notes),
    )
