"""What verbs are given: arms by name or file or stdin, states, motions, places to write to."""

import errno
import io
import os
import re
import stat
import sys
from collections.abc import Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from forearm.cli.hyphens import STDIO
from forearm.cli.measures import check_joint_units, check_payload_units, surely
from forearm.cli.option_groups import AS_SAID, AS_WRITTEN, FileUnits, Reading
from forearm.cli.output import Shared, note
from forearm.cli.standard_streams import named

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from forearm.arm import Arm
    from forearm.robot import Robot

PAGES = (".htm", ".html", ".mht", ".mhtml", ".shtml", ".svg", ".xht", ".xhtml")
"""How names of files end whose text a browser obeys: in what is written for no browser, names stand as they are."""
NO_CSV = (
    *PAGES,
    *(".gz", ".h5", ".json", ".mat", ".npy", ".npz", ".parquet", ".pdf", ".png", ".toml"),
    *(".urdf", ".xlsx", ".xml", ".zarr", ".zip"),
)
"""How names of files end that say what is in them, and that it is no CSV."""
UNASKED = ("from", "to", "goal")
"""Positions that nobody else asks about who takes them."""
AT_THE_TOOL = "the payload is at the tool"
"""How a note begins that says where something is held."""
DOUBTS = ("left out", "not read", "not used", "held: ", "gravity off", "?", AT_THE_TOOL)
"""Words of notes that ask whether an arm's numbers are meant, or say what of its file is not in them."""
TOOLS = ("the tool is the frame of", "the arm's tool is not the link")
"""Words of notes about a file that does not say which of its frames the tool is."""


def robot_of(
    name: str,
    *,
    reading: Reading = AS_WRITTEN,
    rigid: bool = False,
    payload: Sequence[float] = (),
    shared: Shared | None = None,
) -> "Arm | Robot":
    """The arm or robot of a name, a file, or stdin (`-`: TOML or XML is told from the first character).

    With `shared`, what is doubtful about its numbers is said.
    """
    from forearm.readers import load

    options = reading.options()
    found = _from_stdin(options) if name == STDIO else load(name, **options)
    return holding(found.without_drives() if rigid else found, payload, shared)


def holding(arm: "Arm | Robot", payload: Sequence[float], shared: Shared | None = None) -> Any:
    """The arm with a payload at its tool, where one is given; with `shared`, what is doubtful about it is said."""
    held = _held(arm, payload)
    if shared is not None:
        for doubt in doubts_of(held):
            note(shared, f"{arm.name}: {doubt}")
    return held


def doubts_of(arm: "Arm | Robot") -> list[str]:
    """Of an arm's notes, those that a person should know before believing its torques."""
    return [told for told in arm.notes if any(word in told for word in DOUBTS)]


def tool_doubts(arm: "Arm | Robot") -> list[str]:
    """Of an arm's notes, those that a person should know who gives its tool a place, or something to hold."""
    return [told for told in arm.notes if any(word in told for word in TOOLS)]


def doubted(arm: "Arm | Robot", notes: Sequence[str] = ()) -> dict[str, list[str]]:
    """What JSON says of an arm's doubtful numbers, and of a file that was read for it: nobody sees stderr there."""
    return {"notes": list(dict.fromkeys([*doubts_of(arm), *notes]))}


def arm_of(
    name: str,
    *,
    reading: Reading = AS_WRITTEN,
    rigid: bool = False,
    payload: Sequence[float] = (),
    shared: Shared | None = None,
) -> "Arm":
    """The arm of a name, a file, or stdin; a robot with branches is refused, for this verb takes one chain."""
    from forearm.arm import Arm
    from forearm.readers import choose_chain

    arm = robot_of(name, reading=reading, rigid=rigid)
    if not isinstance(arm, Arm):
        choose_chain(name, arm)
    return holding(arm, payload, shared)  # type: ignore[no-any-return]


def _held(arm: "Arm | Robot", payload: Sequence[float]) -> "Arm | Robot":
    """The arm with a payload at its tool; a robot's, if it has one hand."""
    from forearm.faults import StateFault

    if not payload:
        return arm
    if len(payload) not in (1, 4):
        raise StateFault(
            f"--payload has {len(payload)} numbers; give the mass [kg], or mass and centre x y z [m] in the "
            "tool's axes."
        )
    check_payload_units(payload)
    ends = getattr(arm, "tips", ("tool",))
    if len(ends) > 1:
        raise StateFault(
            f"--payload: robot {arm.name!r} has {len(ends)} ends ({', '.join(ends[:8])}), and which of them holds it "
            f"is not said; choose one chain, --tip {ends[0]!r}, or in Python robot.with_payload(…, frame={ends[0]!r})."
        )
    held = arm.with_payload(payload[0], tuple(payload[1:]) or (0.0, 0.0, 0.0), frame=ends[0])
    asked = [surely(doubt, payload[0], payload[1:]) for doubt in held.remarks[len(arm.remarks) :]]
    where = [*filter(None, asked), *(f"{AT_THE_TOOL}, and {told}" for told in tool_doubts(arm))]
    return held.replace(remarks=(*arm.remarks, *where))


def _from_stdin(options: dict[str, Any]) -> "Arm | Robot":
    from forearm.faults import ReadFault
    from forearm.readers import load
    from forearm.readers.file_content import MAX_BYTES, GivenContent, refuse_too_large

    with named("stdin"):
        content = _stdin_bytes().read(MAX_BYTES + 1)
    refuse_too_large("stdin", "robots'", len(content))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ReadFault("stdin: not UTF-8 text; give a file in UTF-8.") from None
    xml = text.lstrip().startswith("<")
    suffix = (".xml" if _root_of(text) == "mujoco" else ".urdf") if xml else ".toml"
    if not text.strip():
        raise ReadFault("-: stdin is empty; give an arm as TOML, URDF or MJCF.")
    return load(GivenContent(f"stdin{suffix}", text.encode()), **options)


def _root_of(text: str) -> str:
    """The name of XML's first element, which is no comment's."""
    found = re.search(r"<([A-Za-z_][\w:.-]*)", re.sub(r"<!--.*?(-->|\Z)", "", text, flags=re.DOTALL))
    return found[1] if found else ""


def state_of(arm: "Arm | Robot", name: str, values: Sequence[float] | None, zero: bool = True) -> Any:
    """One number per joint (a free base's before them), zeros where none are given."""
    import numpy as np

    from forearm.faults import StateFault, coordinates

    names = coordinates(arm, "q" if name == "goal" else name)
    whose = f"joint of {arm.name!r}" if len(names) == arm.n else f"of {', '.join(names)} of {arm.name!r}"
    if not values:
        if not zero:
            raise StateFault(f"--{name} is missing; give {len(names)} numbers, one for each {whose}.")
        return arm.neutral() if hasattr(arm, "neutral") and name in ("q", "q0") else np.zeros(len(names))
    if len(values) != len(names):
        raise StateFault(
            f"--{name} has {len(values)} numbers, but arm {arm.name!r} has {arm.n} joints "
            f"({', '.join(arm.joint_names)}); give one for each."
            if len(names) == arm.n
            else f"--{name} has {len(values)} numbers, but the base of robot {arm.name!r} is free: give {len(names)}, "
            f"{', '.join(names)}."
        )
    check_joint_units(arm, name, values)
    found = np.array(values, dtype=float)
    if not np.all(np.isfinite(found)):
        given = " ".join(f"{x:g}" for x in found)
        raise StateFault(f"--{name} is {given}; give finite numbers, one for each {whose}.")
    if name in UNASKED:
        from forearm.arm_calls import hint_sizes

        hint_sizes(arm, f"--{name}", found, "q")
    return found


def taken_as_zero(state: "Mapping[str, Sequence[float]]") -> tuple[list[str], list[str]]:
    """What of a state was not given, and the remark that says so."""
    absent = [name for name, values in state.items() if not values]
    listed = " and ".join([", ".join(absent[:-1]), absent[-1]] if len(absent) > 1 else absent)
    return absent, [f"{listed} not given: taken as zero"] if absent else []


def motion_of(
    arm: "Arm | Robot", source: str, *, units: FileUnits = AS_SAID
) -> tuple[Any, Any, Any, Any, list[str]]:
    """t (or None), q, qd, qdd (N, n) of a CSV file or stdin, and remarks on what was ignored or worked out."""
    from forearm.motion.motion_files import read_motion_file, with_derivatives

    label = "stdin" if source == STDIO else source
    with named("stdin") if source == STDIO else nullcontext():
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
    from forearm.outside.output_files import replacing_text

    with replacing_text(target) as file:
        yield file


def check_places(*paths: "str | Path | None", plot: "Path | None" = None) -> None:
    """Refuse places that cannot be written to before anything is computed for them, and one that is given twice."""
    from forearm.faults import StateFault
    from forearm.outside.output_files import check_writable

    if plot is not None:
        from forearm.plots.style import check_place

        check_place(plot)
    seen = set[str]()
    for path in (*paths, plot):
        if path is None or path == STDIO:
            continue
        try:
            folder, name = os.path.split(os.path.realpath(path))
        except FileNotFoundError:  # the folder where somebody works is gone
            folder, name = "", ""
        if not os.path.isdir(folder):
            raise FileNotFoundError(errno.ENOENT, "there is no such folder to write it into", str(path))
        store = Path(path).suffix.lower() == ".zarr"
        if os.path.isdir(path) and not store:
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if os.path.join(folder, name) in seen:
            raise StateFault(f"{path} is given for two files, and one would be lost; give two names.")
        seen.add(os.path.join(folder, name))
        check_writable(Path(path) if store else path)  # a folder's name may have a slash behind it


def written(target: str) -> dict[str, str]:
    """What JSON says of a file that was written beside it; nothing without one."""
    return {} if target == STDIO else {"written": target}


def refuse_what_is_read(out: "str | Path | None", *sources: "str | Path | None") -> None:
    """Refuse to write over a file that is being read: a log is lost that way, and a short word for it is -o."""
    from forearm.faults import StateFault

    for source in sources:
        read = _plain_stdin() if source == STDIO else source
        if read is not None and out is not None and out != STDIO and _same_file(out, read):
            raise StateFault(f"{out} is what is read here, and would be written over; give another name.")


def refuse_names_of_no_csv(out: str) -> None:
    """Refuse to write rows as CSV into a file whose name says that it holds something else."""
    from forearm.faults import StateFault

    suffix = Path(out).suffix.lower()
    if suffix in NO_CSV:
        raise StateFault(f"{out} would hold CSV, and its name says {suffix}; give a name that ends in .csv.")


def refuse_names_of_others(out: str, held: str, own: str) -> None:
    """Refuse to write TOML or a page into a file whose name says that it holds something else."""
    from forearm.faults import StateFault

    suffix = Path(out).suffix.lower()
    if suffix in (*NO_CSV, ".csv") and suffix != own and (own, suffix) != (".html", ".htm"):
        raise StateFault(
            f"{out} would hold {held}, and its name says {suffix}; give a name that ends in {own}."
        )


def refuse_names_of_pages(out: str, held: str, own: str) -> None:
    """Refuse to write plain text under a name for which a browser obeys what stands in it."""
    from forearm.faults import StateFault

    if (suffix := Path(out).suffix.lower()) in PAGES:
        raise StateFault(
            f"{out} would hold {held}, and its name says {suffix}; give a name that ends in {own}."
        )


def refuse_without_motion(verb: str, given: "dict[str, Any]", instead: str = "leave it out") -> None:
    """Refuse what only a file of a motion takes, where there is none."""
    from forearm.faults import StateFault

    for name, value in given.items():
        if value:
            raise StateFault(f"{verb}: {name} goes with a file of a motion, and none was given; {instead}.")


def _plain_stdin() -> int | None:
    """The number of the file that stdin was led from; None for a pipe, a terminal or none."""
    try:
        number = sys.stdin.fileno()
        return number if stat.S_ISREG(os.fstat(number).st_mode) else None
    except (OSError, ValueError):
        return None


def _same_file(one: "str | Path", other: "str | Path | int") -> bool:
    try:
        return os.path.samefile(one, other)
    except (OSError, ValueError):
        return False


def refuse_to_overwrite(paths: "Sequence[str | Path]", force: bool, ours: bytes | None = None) -> None:
    """Refuse where a plain file is in the place of one to be written, unless its head holds the mark of our own."""
    from forearm.faults import StateFault
    from forearm.outside.output_files import is_plain_file, leads_to_no_file

    for path in paths:
        if not force and os.path.islink(path) and not os.path.exists(path):  # a stranger's, to any place
            told = f"{path} is a link to {os.readlink(path)}, which is not there"
            raise StateFault(f"{told}; give --force to make it, or another name.")
        if not force and leads_to_no_file(path):
            told = f"{path} is a link to {os.readlink(path)}, which is no plain file"
            raise StateFault(f"{told}; give --force to write to it, or another name.")
        if force or path == STDIO or not is_plain_file(path):
            continue
        with Path(path).open("rb") as file:
            if ours is not None and ours in file.read(200):
                continue
        raise StateFault(f"{path} is there already; give --force to write over it, or another name.")


def refuse_what_leads_away(paths: "Sequence[str | Path]", force: bool) -> None:
    """Refuse links, pipes and devices under names that are written unasked: whoever's folder this is put them there."""
    from forearm.faults import StateFault

    for path in paths if not force else ():
        if os.path.islink(path):
            told = f"{path} is a link to {os.readlink(path)}; give --force to follow it, or another name"
        elif os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
            told = f"{path} is no plain file; give --force to write to it, or another name"
        else:
            continue
        raise StateFault(f"{told}.")
