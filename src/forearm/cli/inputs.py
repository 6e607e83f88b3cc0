"""What verbs are given: arms by name or file or stdin, states, motions, places to write to."""

import csv
import io
import re
import sys
import tempfile
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

from cyclopts import Parameter, validators

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forearm.arm import Arm

Seed = Annotated[int, Parameter(validator=validators.Number(gte=0))]
"""Which random states: the generator takes no negative number."""

STDIO = "stdio:"
"""What `-` becomes, because a lone hyphen is no word to the parser."""
COLUMN = re.compile(r"(t|time)|(qdd|qd|q)[ _.:\[]*([^\]]+?)\]?")


def arm_of(name: str, *, tip: str | None = None, rigid: bool = False, payload: Sequence[float] = ()) -> "Arm":
    """The arm of a name, a file, or stdin (`-`: TOML or XML is told from the first character)."""
    from forearm.faults import StateFault
    from forearm.readers import load

    options: dict[str, Any] = {} if tip is None else {"tip": tip}
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

    text = _stdin()
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
    text = _stdin() if source == STDIO else _text(Path(source))
    lines = _lines(label, text)
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
    return _decoded(path.read_bytes(), str(path), "a CSV file with a header line")


def _stdin() -> str:
    """All of stdin: UTF-8, whatever the terminal speaks."""
    buffer = getattr(sys.stdin, "buffer", None)
    return sys.stdin.read() if buffer is None else _decoded(buffer.read(), "stdin", "a file in UTF-8")


def _decoded(content: bytes, label: str, wanted: str) -> str:
    from forearm.faults import ReadFault

    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ReadFault(f"{label}: not UTF-8 text; give {wanted}.") from None


def _lines(label: str, text: str) -> list[list[str]]:
    from forearm.faults import ReadFault

    reader = csv.reader(io.StringIO(text))
    try:
        return list(reader)
    except csv.Error as error:
        raise ReadFault(
            f"{label}:{reader.line_num + 1}: {error}; give rows of numbers with commas between."
        ) from None


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
        elif match[3].isascii() and match[3].isdigit() and 1 <= int(match[3]) <= arm.n:
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
    from forearm.output_files import replacing_text

    with replacing_text(target) as file:
        yield file


def refuse_to_overwrite(paths: "Sequence[str | Path]", force: bool, ours: bytes | None = None) -> None:
    """Refuse where a plain file is in the place of one to be written, unless its head holds the mark of our own."""
    from forearm.faults import StateFault
    from forearm.output_files import is_plain_file

    for path in paths:
        if force or path == STDIO or not is_plain_file(path):
            continue
        with Path(path).open("rb") as file:
            if ours is not None and ours in file.read(200):
                continue
        raise StateFault(f"{path} is there already; give --force to write over it, or another name.")
