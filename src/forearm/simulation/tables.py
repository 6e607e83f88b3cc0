"""Motions and records as CSV: one row for each time, columns named by joint, so that the order cannot be mistaken."""

import csv
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from forearm.algebra import Vector
from forearm.arm import Arm
from forearm.faults import ReadFault, StateFault
from forearm.output_files import replacing_text
from forearm.simulation.motions import Motion, Samples, ViaPoints

KINDS = ("q", "qd", "qdd", "tau")


def record_csv(record: Any, path: Any) -> Path:
    """Write a record of one motion; gives the path."""
    if record.q.ndim != 2:
        raise StateFault(
            f"to_csv: this record has {record.q.shape[:-2]} motions; CSV takes one: give to_npz, or simulate one."
        )
    columns: dict[str, Vector] = {"t": record.t}
    for kind in KINDS:
        columns |= _named(record.arm, kind, getattr(record, kind))
    columns |= {k: getattr(record, k) for k in ("kinetic", "potential", "work", "dissipated", "drift")}
    return _write(path, columns)


def write_motion(motion: Motion | Samples, arm: Arm, path: Any, times: Any = 201) -> Path:
    """Write a motion, sampled at `times` (or at so many times), as columns t, q, qd, qdd by joint; gives the path."""
    samples = motion.sample(times) if isinstance(motion, Motion) else motion
    columns: dict[str, Vector] = {"t": samples.t}
    for kind in ("q", "qd", "qdd"):
        values = getattr(samples, kind)
        if values.shape[-1] != arm.n:
            raise StateFault(
                f"write_motion: the motion has {values.shape[-1]} joints, arm {arm.name!r} has {arm.n}."
            )
        columns |= _named(arm, kind, values)
    return _write(path, columns)


def _named(arm: Arm, kind: str, values: Vector) -> dict[str, Vector]:
    return {f"{kind}:{name}": values[:, j] for j, name in enumerate(arm.joint_names)}


def _write(path: Any, columns: dict[str, Vector]) -> Path:
    with replacing_text(path) as lines:
        writer = csv.writer(lines)
        writer.writerow(columns)
        writer.writerows([repr(float(x)) for x in row] for row in zip(*columns.values(), strict=True))
    return Path(path)


@dataclass(frozen=True, eq=False)
class Recorded:
    """A motion read from a file: its samples, and torques where the file has them."""

    samples: Samples
    """Times (K,), positions, speeds and accelerations (K, n)."""
    tau: Vector | None
    """Torques (K, n), or None."""
    motion: ViaPoints
    """The motion through the recorded positions, smooth between them."""


def read_motion(path: Any, arm: Arm) -> Recorded:
    """Read a CSV with a column t and q:<joint> for every joint of the arm; qd:, qdd: and tau: are optional.

    Columns may come in any order. Speeds and accelerations that the file lacks come from a spline through positions.
    """
    where = Path(path)
    header, rows, lines = _read(where)
    columns = {name: k for k, name in enumerate(header)}
    _check_header(where, header, arm)
    t = rows[:, columns["t"]]
    late = np.flatnonzero(np.diff(t) <= 0)
    if late.size:
        k = int(late[0]) + 1
        _refuse(where, lines[k], f"t is {t[k]:g} s after {t[k - 1]:g} s", "rising times")
    found = {kind: _columns_of(rows, columns, arm, kind) for kind in KINDS}
    q = found["q"]
    assert q is not None
    motion = ViaPoints(t - t[0], q, at_rest=False)
    smooth = motion.sample(t - t[0])
    qd = smooth.qd if found["qd"] is None else found["qd"]
    qdd = smooth.qdd if found["qdd"] is None else found["qdd"]
    return Recorded(Samples(t, q, qd, qdd), found["tau"], motion)


def _read(path: Path) -> tuple[list[str], Vector, list[int]]:
    """Header, numbers (K, columns), and the line of each row."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file)
            header = [name.strip() for name in next(reader, [])]
            rows, lines = [], []
            for row in reader:
                if not any(cell.strip() for cell in row):
                    continue
                if len(row) != len(header):
                    _refuse(
                        path, reader.line_num, f"{len(row)} cells", f"{len(header)}, as in the first line"
                    )
                rows.append([_number(path, reader.line_num, header[k], cell) for k, cell in enumerate(row)])
                lines.append(reader.line_num)
    except OSError as error:
        raise ReadFault(f"{path}: cannot be read ({error.strerror}); give the path of a CSV file.") from None
    except UnicodeDecodeError:
        raise ReadFault(f"{path}: is not text in UTF-8; give a CSV file.") from None
    except csv.Error as error:
        raise ReadFault(f"{path}: {error}; give rows of numbers with commas between.") from None
    if len(rows) < 2:
        _refuse(path, 1, f"{len(rows)} rows of numbers", "a header and at least two")
    return header, np.array(rows), lines


def _number(path: Path, line: int, column: str, cell: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        _refuse(path, line, f"column {column!r} holds {cell!r}", "a number with a decimal point")
    if not math.isfinite(value):
        _refuse(path, line, f"column {column!r} is {cell.strip()}", "a finite number")
    return value


def _check_header(path: Path, header: list[str], arm: Arm) -> None:
    for name in header:
        if header.count(name) > 1:
            _refuse(path, 1, f"column {name!r} appears {header.count(name)} times", "each column once")
    missing = [name for name in ("t", *(f"q:{joint}" for joint in arm.joint_names)) if name not in header]
    if missing:
        _refuse(
            path,
            1,
            f"no column {', '.join(missing)}",
            f"t and q:<joint> for the joints of arm {arm.name!r} ({', '.join(arm.joint_names)})",
        )
    known = {"t", "kinetic", "potential", "work", "dissipated", "drift"}
    known |= {f"{kind}:{joint}" for kind in KINDS for joint in arm.joint_names}
    strange = [name for name in header if name not in known]
    if strange:
        _refuse(path, 1, f"column {strange[0]!r}", "t, q:, qd:, qdd: and tau: with the arm's joint names")


def _columns_of(rows: Vector, columns: dict[str, int], arm: Arm, kind: str) -> Vector | None:
    names = [f"{kind}:{joint}" for joint in arm.joint_names]
    if not all(name in columns for name in names):
        return None
    return rows[:, [columns[name] for name in names]]


def _refuse(path: Path, line: int, given: str, expected: str) -> NoReturn:
    raise ReadFault(f"{path}:{line}: {given}; expected {expected}.")
