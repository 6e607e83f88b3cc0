"""Units of a log's columns: what a title says, what the caller says, and headers that say it of some columns only."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forearm.arm import Arm
from forearm.faults import ReadFault, refuse_other_units, said_in
from forearm.motion.number_tables import refuse
from forearm.outside.escapes import one_line
from forearm.robot import Robot

MOVED = ("q", "qd", "qdd")
"""What joints have in angles or lengths."""
PER = {"q": "", "qd": ", each /s", "qdd": ", each /s²"}
"""What stands after them."""
SECONDS = {
    "s": 1.0,
    "sec": 1.0,
    "second": 1.0,
    "seconds": 1.0,
    "ms": 1e-3,
    "msec": 1e-3,
    "us": 1e-6,
    "µs": 1e-6,
    "ns": 1e-9,
}
TIMES = ("t", "time", "timestamp", "time_stamp", "stamp", "secs", "seconds", "rel_time", "%time", "__time")
"""Titles of times."""
WHOLE_SECONDS = ("sec", "secs", "seconds")
NANOSECONDS = ("nsec", "nsecs", "nanosec", "nanosecs", "nanoseconds")
"""What the two parts of a stamp are called."""
ANGLES = {
    "rad": 1.0,
    "radian": 1.0,
    "radians": 1.0,
    "deg": math.pi / 180,
    "degree": math.pi / 180,
    "degrees": math.pi / 180,
    "°": math.pi / 180,
}
LENGTHS = {"m": 1.0, "cm": 1e-2, "mm": 1e-3}
CURRENTS = {"a": 1.0, "ma": 1e-3}
FORCES = ("nm", "n*m", "n·m", "n.m", "n m", "n")

SAID = "say the unit in the titles, like q1 [deg] or t [ms], or give --degrees (degrees=True); torques are in N m"
"""What to do about units that stand beside the titles of a table."""


@dataclass(frozen=True)
class Column:
    """One column that was understood."""

    at: int
    """Which it is, from 0."""
    factor: float
    """What its numbers are multiplied with, to be SI and radians."""
    stated: bool
    """Whether its title says its unit, or the file is one that we wrote."""


def check_time_unit(label: str, time_unit: str | None) -> None:
    """Refuse a unit of time that is none."""
    if time_unit is not None and time_unit not in SECONDS:
        raise ReadFault(f"{label}: the unit of time is {time_unit!r}; give one of {', '.join(SECONDS)}.")


def column_of(
    arm: Arm | Robot,
    label: str,
    title: str,
    at: int,
    kind: str,
    i: int,
    unit: str,
    degrees: bool,
    time_unit: str | None,
    motors: bool = False,
) -> Column:
    """The column of a title that was understood, in the unit that it says; a joint that slides has motors that turn."""
    if kind == "t":
        if unit and unit not in SECONDS:
            refuse(label, 1, f"column {title!r} is in {unit!r}", f"one of {', '.join(SECONDS)}")
        if unit and time_unit and SECONDS[unit] != SECONDS[time_unit]:
            refuse(label, 1, f"column {title!r} says its unit, and {time_unit} was given", "one of the two")
        return Column(at, SECONDS[unit or time_unit or "s"], bool(unit or time_unit))
    if kind == "tau":
        if unit and unit not in FORCES:
            refuse(label, 1, f"column {title!r} is in {unit!r}", "N m, or N for prismatic joints")
        return Column(at, 1.0, bool(unit))
    if kind == "current":
        if unit and unit not in CURRENTS:
            refuse(label, 1, f"column {title!r} is in {unit!r}", f"one of {', '.join(CURRENTS)}")
        return Column(at, CURRENTS.get(unit, 1.0), bool(unit))
    turns = arm.state_links[i].revolute
    units = ANGLES if turns else LENGTHS | ANGLES if motors else LENGTHS
    per = re.search(r"[/_]?s(?:ec)?(\^?2|²)?$", unit) if kind != "q" and unit not in units else None
    base = unit[: per.start()] if per and not (per[1] and kind == "qd") else unit
    if base and base not in units:
        what = "revolute" if turns else "prismatic"
        refuse(
            label,
            1,
            f"column {title!r} is in {unit!r}, but joint {arm.joint_names[i]!r} is {what}",
            f"one of {', '.join(units)}{PER[kind]}",
        )
    if degrees and not base and motors and not turns:
        refuse(
            label,
            1,
            f"degrees were said, and column {title!r} is of the motor of joint {arm.joint_names[i]!r}, which slides: "
            "the motor may turn or slide",
            f"its unit in the title, {title} [deg] or {title} [m]",
        )
    if degrees and not base and turns:
        base = "deg"
    return Column(at, units[base] if base else 1.0, bool(base))


def refuse_half_said(
    arm: Arm | Robot,
    label: str,
    titles: Sequence[str],
    places: Mapping[tuple[str, int], Column],
    degrees: bool | None,
    motors: bool = False,
) -> None:
    """Refuse angles of which some titles say degrees and others nothing, and lengths likewise: 57 times too much.

    `degrees` says what is meant by angles without a unit; False, that all numbers are meant as they are. What does not
    say that it is a length may be an angle where it is of `motors`.
    """

    def is_angle(i: int, column: Column) -> bool:
        return arm.state_links[i].revolute or (motors and column.factor not in (LENGTHS["cm"], LENGTHS["mm"]))

    for turns in (True, False):
        if degrees is False or (turns and degrees):
            continue
        alike = [c for (kind, i), c in places.items() if kind in MOVED and is_angle(i, c) is turns]
        other = next((titles[c.at] for c in alike if c.factor != 1.0), None)
        silent = next((titles[c.at] for c in alike if not c.stated), None)
        if other is None or silent is None:
            continue
        what, unit = ("angle", "rad") if turns else ("length", "m")
        given = (
            "--degrees (degrees=True) or --radians (degrees=False)" if turns else "--radians (degrees=False)"
        )
        refuse(
            label,
            1,
            f"column {silent!r} says no unit, and {other!r} is not in {unit}",
            f"a unit in the title of each {what}, or {given} for those without",
        )


def refuse_half_stamps(
    label: str, titles: Sequence[str], time: Column | None, ignored: Sequence[str]
) -> None:
    """Refuse whole seconds as the time where a column beside them has the nanoseconds: the time is both together."""
    whole = "" if time is None else titles[time.at]
    rest = next((title for title in ignored if _last_word(title) in NANOSECONDS), None)
    if _last_word(whole) in WHOLE_SECONDS and rest is not None:
        wanted = f"one column t [s], {whole} + 1e-9 {rest}"
        refuse(label, 1, f"columns {whole!r} and {rest!r} are one time in two parts", wanted)


def _last_word(title: str) -> str:
    return re.split(r"[/._ ]", title.lower())[-1]


def refuse_units_of_fields(label: str, schema: Any, titles: Sequence[str]) -> None:
    """Refuse other units that a table's schema says, of itself or of columns whose titles say none."""
    parts = [(label, schema), *((f"{label}: column {one_line(x)[:80]!r}", schema.field(x)) for x in titles)]
    for told, part in parts if titles else ():
        refuse_other_units(told, said_in(part.metadata), SAID)
