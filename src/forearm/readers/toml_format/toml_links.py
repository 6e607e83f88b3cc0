"""Links of a TOML file: joint, geometry as the convention has it, body, drive, limits."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from forearm.algebra import is_number
from forearm.angles import rotation_rpy
from forearm.faults import ArmFault, did_you_mean
from forearm.frames import Pose
from forearm.inertia import Inertia
from forearm.link import Drive, Link
from forearm.readers.toml_format.toml_table import REQUIRED, TomlTable

GEOMETRY = {
    "standard": " Convention 'standard' has a, alpha, d, theta.",
    "modified": " Convention 'modified' has a, alpha, d, theta.",
    "poses": " Convention 'poses' has theta, d and then xyz, rpy (or rotation).",
    "joints": " Convention 'joints' has xyz, rpy (or rotation) before the joint.",
    "tree": " Convention 'tree' has parent, xyz, rpy (or rotation) before the joint, theta, d, and 'after' behind it.",
}


@dataclass
class LinkRow:
    """A link as the file has it, before its frame is placed where this library has it."""

    link: Link
    before: Pose
    """The constant pose before the joint (conventions 'modified', 'joints' and 'tree')."""
    parent: int = 0
    """The link (1 to n) that it hangs on, 0 for the base (convention 'tree')."""


def row_of(
    top: TomlTable,
    index: int,
    item: dict[str, Any],
    convention: str,
    dynamics: bool,
    before: Sequence[str] | None = None,
) -> LinkRow:
    """A table [[link]]; `before` are the names of the links before it, one of which a tree's link hangs on."""
    name = item.get("name")
    title = f"link {index + 1} {name!r}" if isinstance(name, str) else f"link {index + 1}"
    table = TomlTable(top.source, ("link", index), item, title)
    kind = table.word("joint", ("revolute", "prismatic"))
    parent = 0 if before is None else carrier(table, "parent", before)
    try:
        place, geometry = _geometry(table, kind, convention)
        link = Link(
            kind,
            name=table.text("name", f"joint{index + 1}"),
            drive=_drive(table, kind),
            **geometry,
            **body_fields(table, dynamics),
            **_range(table, kind),
        )
    except ArmFault as fault:
        table.fault(None, str(fault))
    table.done(GEOMETRY[convention])
    return LinkRow(link, place, parent)


def carrier(table: TomlTable, key: str, names: Sequence[str]) -> int:
    """The number of a link that is named, or given by its number; 0 or "base" is the base."""
    given = table.raw(key, REQUIRED, 'a link\'s name, or "base"')
    if given in names:
        return names.index(given) + 1
    if given == "base" or (
        isinstance(given, int) and not isinstance(given, bool) and 0 <= given <= len(names)
    ):
        return 0 if given == "base" else given
    hint = did_you_mean(given, names) if isinstance(given, str) else ""
    known = ", ".join(["base", *names])
    table.fault(
        key, f"{key} is {given!r}{hint}; give the name of the base or of a link that stands before: {known}."
    )


def _geometry(table: TomlTable, kind: str, convention: str) -> tuple[Pose, dict[str, Any]]:
    """The pose before the joint, and Link's pose, theta and d."""
    if convention == "joints":
        return pose_of(table), {}
    revolute = kind == "revolute"
    dh = convention not in ("poses", "tree")
    theta = table.scalar("theta", "angle", REQUIRED if dh and not revolute else 0.0)
    d = table.scalar("d", "length", REQUIRED if dh and revolute else 0.0)
    if convention == "tree":
        after = table.table("after", f"{table.title}, after")
        end = pose_of(after) if after else Pose()
        if after:
            after.done()
        return pose_of(table), {"theta": theta, "d": d, "pose": end}
    if not dh:
        return Pose(), {"theta": theta, "d": d, "pose": pose_of(table)}
    step = Pose.dh(table.scalar("a", "length"), table.scalar("alpha", "angle"))
    if convention == "modified":
        return step, {"theta": theta, "d": d}
    return Pose(), {"theta": theta, "d": d, "pose": step}


def body_fields(table: TomlTable, dynamics: bool) -> dict[str, Any]:
    """Mass, centre and inertia; required where the arm has dynamics, refused where it has none."""
    if not dynamics:
        for key in ("mass", "com", "inertia", "drive"):
            if table.has(key) and key in table.content:
                table.fault(
                    key, f"{key} is given, but the file says dynamics = false; remove one of the two."
                )
        return {}
    mass = table.scalar("mass", "mass")
    massless = is_number(mass) and mass == 0
    com = table.vector("com", "length", default=(0.0, 0.0, 0.0) if massless else REQUIRED)
    if massless and not table.has("inertia"):
        return {"mass": mass, "com": com}
    return {"mass": mass, "com": com, "inertia": _inertia(table)}


def _inertia(table: TomlTable) -> Inertia:
    given = table.raw("inertia", REQUIRED, '{ about = "com", Ixx = .., Iyy = .., Izz = .. }, or "point"')
    if given == "point":
        return Inertia.point()
    if not isinstance(given, dict):
        table.fault(
            "inertia",
            f'inertia is {given!r}; give {{ about = "com" or "origin", Ixx = .., .. }} by name, or "point": '
            "bare numbers have no agreed order.",
        )
    inner = TomlTable(table.source, (*table.path, "inertia"), given, f"{table.title}, inertia")
    make = Inertia.about_com if inner.word("about", ("com", "origin")) == "com" else Inertia.about_origin
    axes = rotation_rpy(*inner.vector("rpy", "angle")) if inner.has("rpy") else None
    if inner.has("matrix"):
        tensor = make(inner.matrix("matrix", "inertia"), axes=axes)
    else:
        moments = {key: inner.scalar(key, "inertia") for key in ("Ixx", "Iyy", "Izz")}
        products = {key: inner.scalar(key, "inertia") for key in ("Ixy", "Ixz", "Iyz") if inner.has(key)}
        sign = inner.word("products", ("tensor", "cad"), None)
        tensor = make(axes=axes, products=sign, **moments, **products)
    inner.done()
    return tensor


def _drive(table: TomlTable, kind: str) -> Drive:
    """Rotor and friction; friction measured at the motor is taken to the joint."""
    inner = table.table("drive", f"{table.title}, drive")
    if inner is None:
        return Drive()
    turn = kind == "revolute"
    rotor = inner.scalar("rotor_inertia", "inertia" if turn else "number", 0.0)
    gear = inner.scalar("gear", "number", 1.0)
    side = inner.word("side", ("motor", "joint"), None)
    viscous = inner.scalar("viscous", "angular damping" if turn else "linear damping", 0.0)
    coulomb = inner.vector("coulomb", "torque" if turn else "force", 2, default=(0.0, 0.0))
    friction = inner.has("viscous") or inner.has("coulomb")
    friction_side = inner.word("friction_side", ("motor", "joint"), REQUIRED if friction else None)
    smoothing = inner.scalar("smoothing", "angular speed" if turn else "linear speed", Drive().smoothing)
    inner.done()
    if friction_side == "motor":
        size = abs(gear) if is_number(gear) else gear
        viscous, coulomb = viscous * gear * gear, tuple(c * size for c in coulomb)
    return Drive(rotor, gear, side, viscous, coulomb, smoothing)


def _range(table: TomlTable, kind: str) -> dict[str, Any]:
    """Limits, direction and zero of the joint."""
    turn = kind == "revolute"
    where, speed, effort = (
        ("angle", "angular speed", "torque") if turn else ("length", "linear speed", "force")
    )
    return {
        "limits": table.vector("limits", where, 2, default=None),
        "speed_limit": table.scalar("speed_limit", speed, None),
        "effort_limit": table.scalar("effort_limit", effort, None),
        "flip": table.flag("flip", False),
        "offset": table.scalar("offset", where, 0.0),
    }


def pose_of(table: TomlTable) -> Pose:
    """Position, and orientation as rpy or as a rotation matrix."""
    xyz = table.vector("xyz", "length", default=(0.0, 0.0, 0.0))
    if table.has("rotation") and table.has("rpy"):
        table.fault("rotation", "both rpy and rotation are given; give one of them.")
    try:
        if table.has("rotation"):
            return Pose(table.matrix("rotation", "number"), xyz)
        return Pose.at(xyz, table.vector("rpy", "angle", default=(0.0, 0.0, 0.0)))
    except ArmFault as fault:
        table.fault("rotation" if table.has("rotation") else "rpy", str(fault))
