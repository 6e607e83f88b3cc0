"""What verbs are given: arms by name or file or stdin, states, motions, places to write to."""

import csv
import io
import re
import sys
import tempfile
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

from cyclopts import Group, Parameter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forearm.arm import Arm

STDIO = "stdio:"
"""What `-` becomes, because a lone hyphen is no word to the parser."""
COLUMN = re.compile(r"(t|time)|(qdd|qd|q)[ _.:\[]*([^\]]+?)\]?")


READING = Group("Reading a file", sort_key=8)


@Parameter(name="*", group=READING)
@dataclass(frozen=True)
class Reading:
    """How a robot's file becomes an arm; options of the readers."""

    tip: str | None = None
    """Last link of the chain (URDF, MJCF)."""
    root: str | None = None
    """First link of the chain, fixed to the world."""
    lock: Annotated[tuple[str, ...], Parameter(consume_multiple=True, negative=())] = ()
    """Joints to hold, with their positions: --lock finger=0.02 thumb=0."""
    snap_right_angles: float | None = None
    """Make angles exact that are this near to a right angle [rad]: 1e-3."""
    keep_defects: Annotated[bool, Parameter(negative=())] = False
    """Load impossible inertias as they are, as declared defects."""
    allow_massless: Annotated[bool, Parameter(negative=())] = False
    """Take moving links without <inertial> as massless (URDF)."""
    any_units: Annotated[bool, Parameter(negative=())] = False
    """Do not ask whether large numbers are degrees, millimetres or grams (URDF)."""
    allow_files: Annotated[bool, Parameter(negative=())] = False
    """Let MuJoCo open the files that a model names (MJCF), if you trust it."""

    def options(self) -> dict[str, Any]:
        """What was asked for, as arguments of `load`."""
        asked: dict[str, Any] = {
            "tip": self.tip,
            "root": self.root,
            "lock": _positions(self.lock),
            "right_angles": self.snap_right_angles,
            "keep_defects": self.keep_defects,
            "allow_massless": self.allow_massless,
            "allow_files": self.allow_files,
        }
        given = {name: value for name, value in asked.items() if value}
        return given | ({"check_units": False} if self.any_units else {})


AS_WRITTEN = Reading()


def _positions(words: Sequence[str]) -> dict[str, float]:
    from forearm.faults import StateFault

    positions = {}
    for word in words:
        name, _, value = word.rpartition("=")
        try:
            positions[name] = float(value)
        except ValueError:
            name = ""
        if not name:
            raise StateFault(f"--lock has {word!r}; give a joint and its position, like finger=0.02.")
    return positions


def arm_of(
    name: str, *, reading: Reading = AS_WRITTEN, rigid: bool = False, payload: Sequence[float] = ()
) -> "Arm":
    """The arm of a name, a file, or stdin (`-`: TOML or XML is told from the first character)."""
    from forearm.faults import StateFault
    from forearm.readers import load

    options = reading.options()
    arm = _from_stdin(options) if name == STDIO else load(name, **options)
    if rigid:
        arm = arm.without_drives()
    if payload:
        if len(payload) not in (1, 4):
            raise StateFault(
                f"--payload has {len(payload)} numbers; give the mass [kg], or mass and centre x y z [m] in the "
                "tool's axes."
            )
        arm = arm.with_payload(payload[0], tuple(payload[1:]) or (0.0, 0.0, 0.0), frame="tool")
    return arm


def _from_stdin(options: dict[str, Any]) -> "Arm":
    from forearm.faults import ReadFault
    from forearm.readers import load

    text = sys.stdin.read()
    xml = text.lstrip().startswith("<")
    suffix = (".xml" if "<mujoco" in text[:2000] else ".urdf") if xml else ".toml"
    if not text.strip():
        raise ReadFault("-: stdin is empty; give an arm as TOML, URDF or MJCF.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"stdin{suffix}"
        path.write_text(text, encoding="utf-8")
        return load(path, **options)


def state_of(arm: "Arm", name: str, values: Sequence[float] | None, zero: bool = True) -> Any:
    """One number per joint, zeros where none are given."""
    import numpy as np

    from forearm.faults import StateFault

    if not values:
        if not zero:
            raise StateFault(
                f"--{name} is missing; give {arm.n} numbers, one for each joint of {arm.name!r}."
            )
        return np.zeros(arm.n)
    if len(values) != arm.n:
        raise StateFault(
            f"--{name} has {len(values)} numbers, but arm {arm.name!r} has {arm.n} joints "
            f"({', '.join(arm.joint_names)}); give one for each."
        )
    return np.array(values, dtype=float)


def motion_of(arm: "Arm", source: str) -> tuple[Any, Any, Any, Any, list[str]]:
    """t (or None), q, qd, qdd (N, n) of a CSV file or stdin, and remarks on what had to be worked out.

    Columns t, q1 …, qd1 …, qdd1 …, or with joint names (q_shoulder), in any order. Without qd or qdd they are
    worked out by a cubic spline through q, where there is t, or are zero.
    """
    import numpy as np

    label = "stdin" if source == STDIO else source
    text = sys.stdin.read() if source == STDIO else _text(Path(source))
    lines = [line for line in csv.reader(io.StringIO(text))]
    columns = _columns(arm, label, lines[0] if lines else [])
    table = _numbers(label, lines, columns)
    parts = {key: table[:, k] for k, key in enumerate(columns)}
    t = parts.get(("t", 0))
    found = {
        name: np.stack([parts[name, i] for i in range(arm.n)], axis=1)
        for name in ("q", "qd", "qdd")
        if (name, 0) in parts
    }
    remarks = _complete(label, t, found)
    return t, found["q"], found["qd"], found["qdd"], remarks


def _text(path: Path) -> str:
    from forearm.faults import ReadFault

    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ReadFault(f"{path}: not UTF-8 text; give a CSV file with a header line.") from None


def _columns(arm: "Arm", label: str, header: Sequence[str]) -> dict[tuple[str, int], int]:
    """(quantity, joint) -> column."""
    from forearm.faults import ReadFault

    places: dict[tuple[str, int], int] = {}
    for at, title in enumerate(header):
        match = COLUMN.fullmatch(title.strip())
        if match is None:
            continue
        if match[1]:
            places["t", 0] = at
        elif match[3].isdigit() and 1 <= int(match[3]) <= arm.n:
            places[match[2], int(match[3]) - 1] = at
        elif match[3] in arm.joint_names:
            places[match[2], arm.joint_names.index(match[3])] = at
    for name in ("q", "qd", "qdd"):
        have = [i for i in range(arm.n) if (name, i) in places]
        if (name == "q" or have) and len(have) < arm.n:
            missing = ", ".join(f"{name}{i + 1}" for i in range(arm.n) if i not in have)
            raise ReadFault(
                f"{label}:1: arm {arm.name!r} has {arm.n} joints, but the header lacks {missing}; give columns t, q1 … "
                f"q{arm.n}, and if known qd1 …, qdd1 …."
            )
    return places


def _numbers(label: str, lines: list[list[str]], columns: dict[tuple[str, int], int]) -> Any:
    import numpy as np

    from forearm.faults import ReadFault

    rows = []
    for number, line in enumerate(lines[1:], 2):
        if not any(word.strip() for word in line):
            continue
        try:
            rows.append([float(line[c]) for c in columns.values()])
        except (ValueError, IndexError):
            given = ",".join(line)[:60]
            raise ReadFault(
                f"{label}:{number}: {given!r} is not a row of {len(lines[0])} numbers; mend or remove it."
            ) from None
        if not np.all(np.isfinite(rows[-1])):
            raise ReadFault(f"{label}:{number}: a number is not finite; mend or remove the row.")
    if not rows:
        raise ReadFault(f"{label}: no rows of numbers; give a header and one row for each instant.")
    return np.array(rows)


def _complete(label: str, t: Any, found: dict[str, Any]) -> list[str]:
    """Work out qd and qdd where they are not given."""
    import numpy as np

    from forearm.faults import ReadFault

    missing = [name for name in ("qd", "qdd") if name not in found]
    if not missing:
        return []
    q = found["q"]
    if t is None or len(q) < 4:
        for name in missing:
            found[name] = np.zeros_like(q)
        lack = "no times" if t is None else "fewer than four rows"
        return [f"{label} has no {' and no '.join(missing)}, and {lack} to work them out from: taken as zero"]
    if np.any(np.diff(t) <= 0):
        line = 2 + int(np.argmax(np.diff(t) <= 0)) + 1
        raise ReadFault(f"{label}:{line}: time does not increase; sort the rows, or give qd and qdd.")
    from scipy.interpolate import CubicSpline

    if "qd" in found:
        found["qdd"] = CubicSpline(t, found["qd"])(t, 1)
        return [f"{label} has no qdd: worked out by a cubic spline through qd"]
    spline = CubicSpline(t, q)
    found["qd"] = spline(t, 1)
    found.setdefault("qdd", spline(t, 2))
    return [f"{label} has no {' and no '.join(missing)}: worked out by a cubic spline through q"]


@contextmanager
def writing(target: str) -> "Iterator[TextIO]":
    """A file to write text to; `-` is stdout."""
    if target == STDIO:
        yield sys.stdout
        return
    with Path(target).open("w", encoding="utf-8", newline="") as file:
        yield file
