"""What verbs are given: arms by name or file or stdin, states, motions, places to write to."""

import io
import sys
import tempfile
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from forearm.cli.measures import check_joint_units, check_payload_units
from forearm.cli.option_groups import AS_SAID, AS_WRITTEN, FileUnits, Reading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forearm.arm import Arm
    from forearm.robot import Robot

STDIO = "stdio:"
"""What `-` becomes, because a lone hyphen is no word to the parser."""


def robot_of(name: str, *, reading: Reading = AS_WRITTEN) -> "Arm | Robot":
    """The arm or robot of a name, a file, or stdin (`-`: TOML or XML is told from the first character)."""
    from forearm.readers import load

    options = reading.options()
    return _from_stdin(options) if name == STDIO else load(name, **options)


def arm_of(
    name: str, *, reading: Reading = AS_WRITTEN, rigid: bool = False, payload: Sequence[float] = ()
) -> "Arm":
    """The arm of a name, a file, or stdin; a robot with branches is refused, for this verb takes one chain."""
    from forearm.arm import Arm
    from forearm.faults import StateFault
    from forearm.readers import choose_chain

    arm = robot_of(name, reading=reading)
    if not isinstance(arm, Arm):
        choose_chain(name, arm)
    if rigid:
        arm = arm.without_drives()
    if payload:
        if len(payload) not in (1, 4):
            raise StateFault(
                f"--payload has {len(payload)} numbers; give the mass [kg], or mass and centre x y z [m] in the "
                "tool's axes."
            )
        check_payload_units(payload)
        arm = arm.with_payload(payload[0], tuple(payload[1:]) or (0.0, 0.0, 0.0), frame="tool")
    return arm


def _from_stdin(options: dict[str, Any]) -> "Arm | Robot":
    from forearm.faults import ReadFault
    from forearm.readers import load
    from forearm.readers.file_content import MAX_BYTES, refuse_too_large

    content = _stdin_bytes().read(MAX_BYTES + 1)
    refuse_too_large("stdin", "robots'", len(content))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ReadFault("stdin: not UTF-8 text; give a file in UTF-8.") from None
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
    check_joint_units(arm, name, values)
    found = np.array(values, dtype=float)
    if not np.all(np.isfinite(found)):
        given = " ".join(f"{x:g}" for x in found)
        raise StateFault(f"--{name} is {given}; give finite numbers, one for each joint of {arm.name!r}.")
    return found


def motion_of(arm: "Arm", source: str, *, units: FileUnits = AS_SAID) -> tuple[Any, Any, Any, Any, list[str]]:
    """t (or None), q, qd, qdd (N, n) of a CSV file or stdin, and remarks on what was ignored or worked out."""
    from forearm.motion.motion_files import read_motion_file, with_derivatives

    label = "stdin" if source == STDIO else source
    where: Any = _stdin_bytes() if source == STDIO else Path(source)
    file = read_motion_file(where, arm, label=label, **units.options())
    full = with_derivatives(file, arm=arm)
    return full.t, full.q, full.qd, full.qdd, list(full.notes)


def _stdin_bytes() -> Any:
    raw = getattr(sys.stdin, "buffer", None)
    return raw if raw is not None else io.BytesIO(sys.stdin.read().encode())


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
