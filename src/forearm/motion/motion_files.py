"""The one reader and writer of motion files: logs of positions, speeds, accelerations and torques over time.

Columns are told by their titles (columns.py), separated by commas, semicolons, tabs or spaces. What was taken, what was
ignored and what had to be worked out is said in `notes`. Files that are not as they should be are refused with the line
and the column: rows longer or shorter than the header, columns that appear twice, nan and inf, times that do not rise,
angles that look like degrees.
"""

import csv
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np

from forearm.algebra import Vector
from forearm.arm import Arm
from forearm.faults import FARTHEST, ReadFault, StateFault, coordinates, explained, floats, state
from forearm.motion.between_rows.row_curves import RowCurve
from forearm.motion.column_units import MOVED
from forearm.motion.columns import (
    LOGGED,
    Header,
    columns_of,
    counts_otherwise,
    free_columns_of,
)
from forearm.motion.differentiation import derivatives, times_taken, without_noise
from forearm.motion.motions import Motion, Samples, ViaPoints
from forearm.motion.number_tables import NumberTable, last_digits, opened, read_numbers, refuse
from forearm.motion.robot_rows import follower_notes, source_notes, unit_turns
from forearm.motion.row_times import check_times, comma_notes, cut_notes, gap_notes, seconds_notes
from forearm.motion.slope_checks import dry_friction_notes, lag_notes, size_notes, slope_notes
from forearm.outside.escapes import csv_title, one_line
from forearm.outside.output_files import replacing_text
from forearm.robot import Robot

LARGEST = 1e50
"""Numbers beyond this, as in files of robots, are no log of anything."""
TURNS = 4
"""A joint without limits that goes beyond so many turns is asked about: degrees?"""
_MESSAGE = re.compile(r"(?:.*[/.])?(?:position|velocity|effort)(?:\[[0-9]+\]|[0-9]+)", re.IGNORECASE)
"""Titles that count the joints of a message of ROS: position[0], field.velocity3."""


@dataclass(frozen=True, eq=False)
class MotionFile:
    """A log as it is in its file, in SI units and radians."""

    label: str
    """The file, for messages."""
    t: Vector | None
    """Times (K,) [s], if there are any."""
    q: Vector
    """Positions (K, n)."""
    qd: Vector | None
    """Speeds (K, n), if there are any."""
    qdd: Vector | None
    """Accelerations (K, n), if there are any."""
    tau: Vector | None
    """Torques (K, n), if there are any."""
    current: Vector | None
    """Motor currents (K, n) [A], if there are any."""
    digits: dict[str, Vector]
    """Last digit that is written of each column (n,), by quantity; 0 for many digits."""
    notes: tuple[str, ...] = ()
    """What was taken in a way that one should know of, and what was ignored."""


def read_motion_file(
    source: Any,
    arm: Arm | Robot,
    *,
    label: str | None = None,
    needs: Sequence[str] = ("q",),
    degrees: bool | None = None,
    time_unit: str | None = None,
    of_joints: bool = True,
    of_motors: bool = False,
) -> MotionFile:
    """Read a log of an arm.

    Args:
        source: A path, or a stream of bytes.
        arm: Whose joints they are.
        label: What to call the file in messages; its path by default.
        needs: Quantities that must be there: "t", "q", "qd", "qdd", "tau", "current".
        degrees: Whether angles without a unit in their title are in degrees; None for radians, with a fault where they
            cannot be.
        time_unit: Unit of a time column without one: 's', 'ms', 'us' or 'ns'.
        of_joints: Whether positions are those of joints: large ones are then asked about; motors turn more often.
        of_motors: Whether they are those of motors, which may turn where a joint slides.
    """
    label = str(source) if label is None else label
    free = isinstance(arm, Robot) and arm.free
    width = {kind: len(coordinates(arm, kind)) for kind in LOGGED}
    columns = Header()
    units: dict[str, Any] = {"needs": needs, "degrees": degrees, "time_unit": time_unit}

    def pick(titles: tuple[str, ...]) -> list[list[int]]:
        nonlocal columns
        if isinstance(arm, Robot) and arm.free:
            columns = free_columns_of(arm, label, titles, **units)
        else:
            columns = columns_of(arm, label, titles, **units, motors=of_motors)
        groups = [[columns.places["t", 0].at]] if columns.has("t") else []
        groups += [[c.at for c in columns.of(kind, width[kind])] for kind in LOGGED if columns.has(kind)]
        return [*groups, [c.at for c in columns.followers.values()]]

    with opened(source) as file:
        table = read_numbers(file, label, pick)
    if not table.rows:
        refuse(label, 1, "0 rows of numbers", "a header and a row for each instant")
    parts = iter(table.parts)
    t = next(parts)[:, 0] * columns.places["t", 0].factor if columns.has("t") else None
    found: dict[str, Any] = dict.fromkeys(LOGGED)
    digits: dict[str, Vector] = {}
    for kind in LOGGED:
        if columns.has(kind):
            mine = columns.of(kind, width[kind])
            factors = np.array([c.factor for c in mine])
            found[kind] = next(parts)
            largest = np.max(np.abs(found[kind]), axis=0)
            found[kind] *= factors
            digits[kind] = last_digits(table.words, [c.at for c in mine], largest) * factors
    led = next(parts) * np.array([c.factor for c in columns.followers.values()])
    if degrees is not False and of_joints and not free:
        ask_about_degrees(arm, label, columns.stated("q", arm.n), found["q"])
    _check_sizes(label, table, columns, found)
    if t is not None:
        check_times(label, table, t)
    found["q"], turned = unit_turns(arm, label, table, found["q"])
    notes = (
        *header_notes(arm, table.titles, columns),
        *cut_notes(table.end),
        *comma_notes(table.decimal_commas),
        *seconds_notes(label, columns, t),
        *gap_notes(t),
        *turned,
        *(
            follower_notes(arm, columns.followers, found["q"], led)
            if isinstance(arm, Robot) and led.size
            else ()
        ),
        *_slopes(arm, t, found),
        *(size_notes(arm, found) if of_joints else ()),
    )
    return MotionFile(label, t, **found, digits=digits, notes=notes)


def _slopes(arm: Arm | Robot, t: Vector | None, found: dict[str, Any]) -> tuple[str, ...]:
    """Notes where speeds are not the slope of positions, or accelerations not that of speeds."""
    if t is None:
        return ()
    names = coordinates(arm, "qd")
    return tuple(n for a, b in _pairs(found) for n in slope_notes(t, names, found[a], found[b], (a, b)))


def _pairs(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Columns with their slopes, where both are there; a free base's quaternion has more numbers than its rates."""
    return [
        (kind, slope)
        for kind, slope in (("q", "qd"), ("qd", "qdd"))
        if found[kind] is not None and found[slope] is not None and found[kind].shape == found[slope].shape
    ]


def with_lags(file: MotionFile) -> MotionFile:
    """The log with a note where its speeds come later or earlier than its positions, for those who take both."""
    found: dict[str, Any] = {"q": file.q, "qd": file.qd, "qdd": file.qdd}
    if file.t is None:
        return file
    told = [note for a, b in _pairs(found) for note in lag_notes(file.t, found[a], found[b], (a, b))]
    return replace(file, notes=(*file.notes, *told))


def ask_about_degrees(arm: Arm | Robot, label: str, stated: Sequence[bool], q: Vector) -> None:
    """Refuse angles that no radians are, a turn beyond a joint's limits or many turns of one without; millimetres too.

    Args:
        arm: Whose joints they are.
        label: The file, for the message.
        stated: For each joint, whether the file says the unit; empty for a file that has no titles to say it in.
        q: Positions (..., n).
    """
    for i, link in enumerate(arm.state_links):
        low, high = link.limits or (-math.inf, math.inf)
        most = max(abs(low), abs(high)) + 2 * math.pi
        bound = most if math.isfinite(most) else 2 * math.pi * TURNS
        reach = float(np.max(np.abs(q[:, i]), initial=0.0))
        if stated and stated[i]:
            continue
        if not link.revolute and reach > max(FARTHEST, *(abs(x) for x in link.limits or (0.0,))):
            how = f"say so in the header, q{i + 1} [mm]" if stated else "write metres"
            raise ReadFault(
                f"{label}: joint {link.name!r} slides to {reach:.4g} m, which looks like millimetres. If it is, {how}; "
                f"if not, {f'q{i + 1} [m], or ' if stated else ''}--radians (degrees=False) takes numbers as they are."
            )
        if link.revolute and reach > bound:
            header = ", or say so in the header: q1 [deg]" if stated else ""
            limits = f" (its limits are {low:.3g} to {high:.3g})" if math.isfinite(most) else ""
            raise ReadFault(
                f"{label}: joint {link.name!r} goes to {reach:.4g} rad{limits}, which looks like degrees. If it is, "
                f"give --degrees (degrees=True){header}; if not, --radians (degrees=False)"
                f"{', or q1 [rad]' if stated else ''}."
            )


def _check_sizes(label: str, table: NumberTable, columns: Header, found: dict[str, Any]) -> None:
    """Refuse numbers that nobody measures: their squares and cubes are infinite."""
    for kind in LOGGED:
        values = found[kind]
        if values is None or np.max(np.abs(values), initial=0.0) <= LARGEST:
            continue
        row, joint = (int(i) for i in np.argwhere(np.abs(values) > LARGEST)[0])
        title = one_line(table.titles[columns.places[kind, joint].at])
        given = f"{title} is {values[row, joint]:.3g}"
        refuse(label, table.line(row), given, f"numbers of an arm, up to {LARGEST:g}")


def header_notes(arm: Arm | Robot, titles: Sequence[str], columns: Header) -> tuple[str, ...]:
    """What of a header is ignored, in other units, or counted in an order that a message may not have."""
    said, titles = [], [one_line(title) for title in titles]
    if columns.ignored:
        many = f" and {len(columns.ignored) - 12} more" if len(columns.ignored) > 12 else ""
        said.append(f"columns ignored: {', '.join(map(one_line, columns.ignored[:12]))}{many}")
    if columns.beyond:
        said.append(
            f"{one_line(columns.beyond[0])} counts more joints than move here; numbers are taken in their order: "
            f"{', '.join(arm.joint_names)}. If a joint before them is held, title the columns by joint"
        )
    for (kind, _), column in columns.places.items():
        if kind == "t" and column.factor != 1:
            said.append(f"time read from {titles[column.at]!r}, in units of {column.factor:g} s")
    turned = [titles[c.at] for (kind, _), c in columns.places.items() if kind in MOVED and c.factor != 1]
    if turned:
        said.append(f"converted to rad or m: {', '.join(turned[:12])}{' …' if len(turned) > 12 else ''}")
    counted = [titles[c.at] for c in columns.places.values() if _MESSAGE.fullmatch(titles[c.at])]
    if counted and arm.n > 1:
        said.append(
            f"{counted[0]} … taken in the order of the joints: {', '.join(arm.joint_names)}. A JointState message has "
            "an order of its own (its names, often the alphabet's): if it differs, title the columns by joint"
        )
    elif columns.counted and counts_otherwise(arm):
        said.append(
            f"{one_line(columns.counted[0])} … taken in the order of the joints: {', '.join(arm.joint_names)}, whose "
            "names have other numbers; if the file counts otherwise, title the columns by joint"
        )
    return (*said, *source_notes(titles, columns))


def with_derivatives(file: MotionFile, least: int = 4, arm: Arm | Robot | None = None) -> MotionFile:
    """The log with speeds and accelerations, worked out where they are lacking; the notes say how.

    An `arm` with dry friction gets a note where the sign of its speeds comes from noisy positions.
    """
    missing = [name for name in ("qd", "qdd") if getattr(file, name) is None]
    file = with_lags(file)
    if not missing:
        return file
    if isinstance(arm, Robot) and arm.free and file.qd is None:
        raise ReadFault(
            f"{file.label}:1: no column qd:base vx …; the base of robot {arm.name!r} is free, and its speeds are not "
            "the slopes of its quaternion: give qd of the base and of the joints."
        )
    if file.t is None or len(file.q) < least:
        lack = "no times" if file.t is None else "fewer than four rows"
        told = (
            f"{file.label} has no {' and no '.join(missing)}, and {lack} to work them out from: taken as zero"
        )
        like = file.q if file.qd is None else file.qd
        zeros: dict[str, Any] = {name: np.zeros_like(like) for name in missing}
        return replace(file, **zeros, notes=(*file.notes, told))
    source = "q" if file.qd is None else "qd"
    values = file.q if file.qd is None else file.qd
    taken, late = times_taken(file.t - file.t[0], values)
    file = replace(file, t=taken + file.t[0], notes=(*file.notes, *late)) if late else file
    orders = (1, 2) if missing == ["qd", "qdd"] else (1,)
    found, told_all = derivatives(file.label, taken, values, orders, file.digits[source], source)
    made: dict[str, Any] = dict(zip(missing, found, strict=True))
    rubbing = dry_friction_notes(file.label, arm) if arm is not None and "qd" in missing else ()
    return replace(file, **made, notes=(*file.notes, *told_all, *rubbing))


# -- motions -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Recorded:
    """A motion read from a file: its samples, and torques where the file has them."""

    samples: Samples
    """Times (K,), positions, speeds and accelerations (K, n)."""
    tau: Vector | None
    """Torques (K, n), or None."""
    motion: ViaPoints
    """The motion through the recorded positions, filtered where they are noisy, smooth between them."""
    notes: tuple[str, ...] = ()
    """What was ignored, converted or worked out."""

    def resampled(self, count: int) -> Samples:
        """So many even instants from time zero on, between the recorded rows; speeds and accelerations are theirs.

        Cubic between positions and speeds, and between speeds and accelerations; where these were worked out by a
        spline, it is that spline again.
        """
        return RowCurve(self.samples).sample(count)


@explained
def read_motion(
    path: str | PathLike[str] | IO[bytes],
    arm: Arm | Robot,
    *,
    degrees: bool | None = None,
    time_unit: str | None = None,
) -> Recorded:
    """Read a log with a time and a position for every joint of the arm; speeds, accelerations, torques if it has them.

    Columns may come in any order, as `q:<joint>`, `q1`, `<joint>.position` and more; `notes` says what was ignored, and
    how speeds and accelerations were worked out that the file lacks.

    Args:
        path: The file.
        arm: Whose joints they are.
        degrees: Whether angles without a unit in their title are in degrees; None for radians, with a fault where they
            cannot be.
        time_unit: Unit of a time column without one: 's', 'ms', 'us' or 'ns'.
    """
    if isinstance(arm, Robot) and arm.free:
        raise StateFault(
            f"{path}: a motion goes through the joints' positions, and the base of robot {arm.name!r} is free; "
            "`forearm torque` reads such files, or read it with pandas and give arrays to the functions."
        )
    file = read_motion_file(path, arm, needs=("t", "q"), degrees=degrees, time_unit=time_unit)
    if len(file.q) < 2:
        refuse(file.label, 1, f"{len(file.q)} rows of numbers", "a header and at least two")
    full = with_derivatives(file, least=2, arm=arm)
    assert full.t is not None
    samples = Samples(full.t, full.q, np.asarray(full.qd), np.asarray(full.qdd))
    t = full.t - full.t[0]
    points = without_noise(t, full.q, full.digits["q"])
    far = float(np.max(np.abs(points - full.q)))
    told = f"the motion between the rows goes through q without its noise, up to {far:.2g} from them"
    notes = (*full.notes, told) if far else full.notes
    return Recorded(samples, full.tau, ViaPoints(t, points, at_rest=False), notes)


@explained
def write_motion(
    motion: Motion | Samples, arm: Arm | Robot, path: str | PathLike[str] | IO[str], times: Any = 201
) -> Path:
    """Write a motion, sampled at `times` (or at so many times), as columns t, q, qd, qdd by joint; gives the path."""
    samples = motion.sample(times) if isinstance(motion, Motion) else motion
    columns: dict[str, Vector] = {"t": floats("write_motion: t", samples.t)}
    for kind in ("q", "qd", "qdd"):
        values = getattr(samples, kind)
        if np.shape(values)[-1:] != (arm.n,):
            raise StateFault(
                f"write_motion: the motion has {np.shape(values)[-1]} joints, arm {arm.name!r} has {arm.n}."
            )
        columns |= by_joint(arm, kind, state(arm, kind, values))
    return write_columns(path, columns)


def by_joint(arm: Arm | Robot, kind: str, values: Vector) -> dict[str, Vector]:
    """Columns kind:<joint> of (K, n)."""
    return {f"{kind}:{name}": values[:, j] for j, name in enumerate(coordinates(arm, kind))}


def write_columns(path: Any, columns: dict[str, Vector]) -> Path:
    """Write columns of the same length to the last digit, to a file or what is open to write; gives the path."""
    if hasattr(path, "write"):
        _put(path, columns)
        return Path(getattr(path, "name", "-"))
    with replacing_text(path) as file:
        _put(file, columns)
    return Path(path)


def write_titles(file: Any, titles: Iterable[str], end: str = "\r\n") -> None:
    """A header of CSV, in quotes where a title holds what others separate titles by."""
    titles = list(map(csv_title, titles))
    odd = any(";" in title for title in titles)
    quoted = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator=end)
    (quoted if odd else csv.writer(file, lineterminator=end)).writerow(titles)


def _put(file: Any, columns: dict[str, Vector]) -> None:
    writer = csv.writer(file)
    write_titles(file, columns)
    writer.writerows([repr(float(x)) for x in row] for row in zip(*columns.values(), strict=True))
