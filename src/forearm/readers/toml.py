"""Arms in TOML: the format of the built-in arms and of the user's own. Described in docs/arms.md.

`convention` says what the numbers of a link mean, and has no default:

    standard    a, alpha, d, theta; frame i at the far end, A = Rz(theta + q) Tz(d) Tx(a) Rx(alpha)
    modified    a, alpha, d, theta; frame i at joint i,     A = Rx(alpha) Tx(a) Rz(theta + q) Tz(d)
    poses       theta, d, then the pose xyz, rpy; frame i at the far end, A = Rz(theta + q) Tz(d) X
    joints      the pose xyz, rpy, then the joint; frame i at joint i, A = X Rz(q), as in URDF with axis z
    tree        a robot with branches: links with parents, as in trees/tree_toml.py

Centre of mass and inertia are in the link's frame as the convention places it, and are converted with it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unicodedata import normalize

from forearm.algebra import Scalar
from forearm.angles import rounded_right_angle
from forearm.arm import Arm, Defect
from forearm.faults import DEFECTS, ArmFault, ReadFault, did_you_mean, physical_faults, shown
from forearm.frames import NamedFrame, Pose
from forearm.link import Link, moved_frame
from forearm.outside.escapes import invisible
from forearm.readers.file_content import read_limited
from forearm.readers.toml_format.toml_links import LinkRow, pose_of, row_of
from forearm.readers.toml_format.toml_table import REQUIRED, Source, TomlTable
from forearm.readers.toml_format.toml_text import MAX_LETTERS, parse

MAX_LINKS = MAX_PARAMETERS = 1000

CONVENTIONS = ("standard", "modified", "poses", "joints", "tree")


def read_toml(
    path: str | Path,
    parameters: Mapping[str, Scalar] | None = None,
    *,
    keep_defects: bool = False,
    file: str | None = None,
) -> Arm | Any:
    """The arm (or the robot, convention 'tree') that a TOML file describes.

    parameters: values that replace those of its [parameters].
    keep_defects: load impossible inertias as they are, as declared defects with a note.
    file: what messages call it.
    """
    return from_toml(read_text(path), file or str(path), parameters, keep_defects=keep_defects)


def read_text(path: str | Path) -> str:
    """The text of a file; one that cannot be read is a ReadFault."""
    try:
        return read_limited(path, "TOML", MAX_LETTERS).decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise ReadFault(f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8.") from None


def parameter_values(text: str, file: str = "text") -> dict[str, float]:
    """Names and values of the [parameters] of a TOML text."""
    source = Source(file, text)
    _parameters(TomlTable(source, (), parse(text, file), ""), {})
    return source.parameters


def from_toml(
    text: str,
    file: str = "text",
    parameters: Mapping[str, Scalar] | None = None,
    *,
    keep_defects: bool = False,
) -> Arm | Any:
    """The arm (or the robot, convention 'tree') that a TOML text describes; `file` is what messages call it."""
    content = parse(text, file)
    source = Source(file, text)
    top = TomlTable(source, (), content, "")
    name = top.text("name")
    convention = top.word("convention", CONVENTIONS)
    _parameters(top, parameters or {})
    _units(top)
    dynamics = top.flag("dynamics", True)
    fields: dict[str, Any] = {
        "gravity": top.vector("gravity", "acceleration", default=(0.0, 0.0, -9.81)),
        "provenance": _provenance(top),
        "remarks": _remarks(top),
        "dynamics": dynamics,
    }
    base = _place(top, "base")
    items = top.tables("link")
    if len(items) > MAX_LINKS:
        top.fault(None, f"the file has {len(items)} links; arms of up to {MAX_LINKS} are read from files.")
    if convention == "tree":
        from forearm.readers.trees.tree_toml import robot_of_toml  # most files are arms

        return robot_of_toml(top, name, items, {**fields, "base": base}, keep_defects)
    fields["tool"] = _place(top, "tool")
    rows = [row_of(top, i, item, convention, dynamics) for i, item in enumerate(items)]
    if not rows:
        top.fault(None, 'the file has no links; give each joint a table [[link]] with joint = "revolute".')
    links, base = _chain(rows, base, convention)
    fields["frames"] = _frames(top, rows)
    fields["defects"] = _defects(top, links)
    if keep_defects and dynamics:
        fields["defects"] += _undeclared(links, fields["defects"], Path(file).name)
    fields["remarks"] += _rounded_angles(top)
    fields["configurations"] = _configurations(top, links)
    top.done()
    try:
        return Arm(name, links, base=base, **fields)
    except ArmFault as fault:
        raise type(fault)(f"{source.place_of_bodies(links, fields['defects'])}: {fault}") from None


def _undeclared(links: tuple[Link, ...], declared: tuple[Defect, ...], file: str) -> tuple[Defect, ...]:
    """Impossible inertias that the file does not declare, declared."""
    known = {(defect.link, defect.kind) for defect in declared}
    return tuple(Defect(*it, f"so in {file}") for it in physical_faults(links) if it not in known)


def _rounded_angles(top: TomlTable) -> tuple[str, ...]:
    """A remark where right angles of the geometry are written with few digits: they cost operations."""
    places = [top.content.get("base"), top.content.get("tool"), *top.content.get("link", ())]
    rounded = []
    for i, place in enumerate(places):
        given = [place.get("alpha"), *_listed(place.get("rpy"))] if isinstance(place, dict) else []
        if rounded_right_angle(tuple(x for x in given if isinstance(x, float))):
            rounded.append(("base", "tool")[i] if i < 2 else str(place.get("name", f"link {i - 1}")))
    if not rounded:
        return ()
    return (
        f'right angles are rounded in {", ".join(rounded)}; written "pi/2" they are exact, and cost less',
    )


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


# -- the top of the file -----------------------------------------------------------------------------------


def _parameters(top: TomlTable, replacing: Mapping[str, Scalar]) -> None:
    """Fill the source's parameters: each a number, or a formula of those before it; the caller's win."""
    table = top.table("parameters", "[parameters]")
    names = list(table.content) if table else []
    if len(names) > MAX_PARAMETERS:
        top.fault("parameters", f"there are {len(names)} parameters; up to {MAX_PARAMETERS} are read.")
    for name in replacing:
        if name not in names:
            known = ", ".join(names) or "none"
            top.fault(
                None, f"there is no parameter {name!r}{did_you_mean(name, names)}; the file has {known}."
            )
    for name in names:
        assert table is not None
        word = normalize("NFKC", name)  # as Python reads the names of a formula: µ has two numbers in Unicode
        if not word.isidentifier() or word == "pi" or invisible(name):
            table.fault(
                name, f"{shown(name)} cannot name a parameter; use letters, digits and _, and not pi."
            )
        if word in top.source.parameters:
            table.fault(
                name, f"{name!r} is {word!r} in a formula, as another parameter is; give it another name."
            )
        value = table.scalar(name, "number")
        top.source.parameters[word] = replacing.get(name, value)


def _units(top: TomlTable) -> None:
    """Units are SI; a file may say so."""
    units = top.text("units", "SI")
    if units != "SI":
        top.fault(
            "units",
            f"units is {units!r}; bare numbers are SI and radians, other units go with a value, "
            'like d = "433 mm" or alpha = "90 deg".',
        )


def _provenance(top: TomlTable) -> tuple[tuple[str, str], ...]:
    """Where the numbers come from: any keys, each with a text; the title is the first."""
    title = top.text("title", None)
    pairs = [("title", title)] if title else []
    table = top.table("provenance", "[provenance]")
    for key in table.content if table else ():
        assert table is not None
        pairs.append((key, table.text(key)))
    return tuple(pairs)


def _remarks(top: TomlTable) -> tuple[str, ...]:
    remarks = top.raw("remarks", [], "[..]")
    if not isinstance(remarks, list) or not all(isinstance(r, str) for r in remarks):
        top.fault("remarks", f"remarks is {remarks!r}; give a list of texts.")
    return tuple(remarks)


def _place(top: TomlTable, key: str) -> Pose:
    """The pose in a table [base] or [tool], or none."""
    table = top.table(key, f"[{key}]")
    if table is None:
        return Pose()
    pose = pose_of(table)
    table.done()
    return pose


def _chain(rows: list[LinkRow], base: Pose, convention: str) -> tuple[tuple[Link, ...], Pose]:
    """Links with frames at their far ends: each takes the next row's pose, its body with it."""
    if convention in ("standard", "poses"):
        return tuple(row.link for row in rows), base
    after = [row.before for row in rows[1:]] + [Pose()]
    links = tuple(moved_frame(row.link, step) for row, step in zip(rows, after, strict=True))
    return links, base @ rows[0].before


# -- what refers to links ----------------------------------------------------------------------------------


def _defects(top: TomlTable, links: tuple[Link, ...]) -> tuple[Defect, ...]:
    names = [link.name for link in links]
    found = []
    for index, item in enumerate(top.tables("defect")):
        table = TomlTable(top.source, ("defect", index), item, f"defect {index + 1}")
        given = table.raw("link", REQUIRED, "the link's name or number")
        if given in names:
            number = names.index(given) + 1
        elif isinstance(given, int) and not isinstance(given, bool) and 1 <= given <= len(links):
            number = given
        else:
            hint = did_you_mean(given, names) if isinstance(given, str) else ""
            table.fault(
                "link", f"link is {given!r}{hint}; give a name ({', '.join(names)}) or 1 to {len(links)}."
            )
        found.append(Defect(number, table.word("kind", DEFECTS), table.text("reason")))
        table.done()
    return tuple(found)


def _frames(top: TomlTable, rows: list[LinkRow]) -> tuple[NamedFrame, ...]:
    """Named frames [[frame]]: name, link (0 for the base, or a link's number), xyz, rpy or rotation."""
    ends = [*(row.before for row in rows), Pose()]
    found = []
    for index, item in enumerate(top.tables("frame")):
        table = TomlTable(top.source, ("frame", index), item, f"frame {index + 1}")
        link = table.raw("link", REQUIRED, f"0 (the base) to {len(rows)}")
        if isinstance(link, bool) or not isinstance(link, int) or not 0 <= link <= len(rows):
            table.fault("link", f"link is {link!r}; give 0 (the base) to {len(rows)}.")
        name, pose = table.text("name"), pose_of(table)
        table.done()
        try:
            found.append(
                NamedFrame(name, link, ends[link].inverse() @ pose if ends[link] != Pose() else pose)
            )
        except ArmFault as fault:
            table.fault("name", str(fault))
    return tuple(found)


def _configurations(top: TomlTable, links: tuple[Link, ...]) -> tuple[tuple[str, tuple[float, ...]], ...]:
    table = top.table("configurations", "[configurations]")
    if table is None:
        return ()
    dimensions = ["angle" if link.revolute else "length" for link in links]
    return tuple((name, table.quantities(name, dimensions)) for name in table.content)
