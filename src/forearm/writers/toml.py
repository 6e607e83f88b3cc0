"""An Arm or a Robot as TOML, in the form that `forearm.readers.toml` reads: the round trip gives an equal one."""

import json
import math
import re
from pathlib import Path
from typing import Any

from forearm.algebra import is_number
from forearm.angles import roll_pitch_yaw
from forearm.arm import Arm
from forearm.denavit_hartenberg import dh_row
from forearm.faults import ArmFault, explained
from forearm.frames import NamedFrame, Pose
from forearm.inertia import Inertia
from forearm.link import NO_BODY, Body, Drive, Link
from forearm.outside.output_files import write_text
from forearm.readers.toml_format.toml_text import MAX_LETTERS
from forearm.robot import Robot

ANGLES = {math.pi / 2: '"pi/2"', -math.pi / 2: '"-pi/2"', math.pi: '"pi"', -math.pi: '"-pi"'}
"""Angles that read better by name; the names give back the same floats."""


@explained
def write_toml(arm: Arm | Robot, path: str | Path) -> Path:
    """Write the arm or robot to a file; gives back the path."""
    return write_text(path, to_toml(arm))


def to_toml(arm: Arm | Robot) -> str:
    """The arm as TOML text: standard Denavit-Hartenberg rows where all links have them, else poses; a robot's tree."""
    text = _tree(arm) if isinstance(arm, Robot) else _chain(arm)
    if len(text.encode()) > MAX_LETTERS:
        raise ArmFault(
            f"arm {arm.name!r}: as TOML it has {len(text) / 1024:.0f} KiB ({len(arm.links)} links, {len(arm.frames)} "
            f"frames), and files up to {MAX_LETTERS // 1024} are read; write URDF, or fewer frames."
        )
    return text


def _chain(arm: Arm) -> str:
    """An arm: one link after the other."""
    rows = [_dh(link) for link in arm.links]
    standard = all(row is not None for row in rows)
    blocks = [_head(arm, "standard" if standard else "poses")]
    blocks += [_table("base", _pose_lines(arm.base)), _table("tool", _pose_lines(arm.tool))]
    for number, (link, row) in enumerate(zip(arm.links, rows, strict=True), 1):
        place = _dh_lines(row) if standard and row else _pose_lines(link.pose)
        blocks.append(_table("[link]", _link_lines(arm, link, number, place)))
    return _joined([*blocks, *_referring(arm)])


def _tree(robot: Robot) -> str:
    """A robot: links with parents."""
    trunk = robot.trunk
    body = [] if trunk == NO_BODY else _body_lines(trunk, robot.name, "the base")
    blocks = [_head(robot, "tree"), _table("base", _pose_lines(robot.base)), _table("trunk", body)]
    for number, (link, parent, mount) in enumerate(
        zip(robot.links, robot.parents, robot.mounts, strict=True), 1
    ):
        on = _text(robot.links[parent - 1].name) if parent else "0"
        place = [f"parent = {on}", *_pose_lines(mount)]
        if link.pose != Pose():
            place.append(f"after = {{ {', '.join(_pose_lines(link.pose))} }}")
        blocks.append(_table("[link]", _link_lines(robot, link, number, place)))
    for coupling in robot.couplings:
        leaders = ", ".join(f"{_key(name)} = {float(factor)!r}" for name, factor in coupling.terms)
        lines = [f"joint = {_text(coupling.joint)}", f"leaders = {{ {leaders} }}"]
        blocks.append(_table("[coupling]", [*lines, f"offset = {float(coupling.offset)!r}"]))
    blocks += [_table("[tool]", _frame_lines(tool)) for tool in robot.tools]
    return _joined([*blocks, *_referring(robot)])


def _referring(arm: Arm | Robot) -> list[str]:
    """What refers to links: frames, defects, named positions."""
    blocks = [_table("[frame]", _frame_lines(frame)) for frame in arm.frames]
    for defect in arm.defects:
        lines = [f"link = {defect.link}", f"kind = {_text(defect.kind)}", f"reason = {_text(defect.reason)}"]
        blocks.append(_table("[defect]", lines))
    named = [f"{_key(name)} = {_vector(q, arm.name, name)}" for name, q in arm.configurations]
    return [*blocks, _table("configurations", named)]


def _frame_lines(frame: NamedFrame) -> list[str]:
    return [f"name = {_text(frame.name)}", f"link = {frame.link}", *_pose_lines(frame.pose)]


def _joined(blocks: list[str]) -> str:
    return "\n\n".join(block for block in blocks if block) + "\n"


def _head(arm: Arm | Robot, convention: str) -> str:
    pairs = list(arm.provenance)
    lines = [f"name = {_text(arm.name)}"]
    if pairs and pairs[0][0] == "title":
        lines.append(f"title = {_text(pairs.pop(0)[1])}")
    lines += [f'convention = "{convention}"', f"gravity = {_vector(arm.gravity, arm.name, 'gravity')}"]
    if isinstance(arm, Robot) and arm.free:
        lines.append("free = true")
    if not arm.dynamics:
        lines.append("dynamics = false")
    if arm.remarks:
        lines.append(f"remarks = [{', '.join(_text(r) for r in arm.remarks)}]")
    sources: dict[str, list[str]] = {}
    for key, text in pairs:
        sources.setdefault(key, []).append(text)  # a key stands once in a file
    source = _table("provenance", [f"{_key(key)} = {_text('; '.join(one))}" for key, one in sources.items()])
    return "\n".join(lines) + (f"\n\n{source}" if source else "")


def _link_lines(arm: Arm | Robot, link: Link, number: int, place: list[str]) -> list[str]:
    where = f"link {number} {link.name!r}"
    lines = [f"name = {_text(link.name)}", f'joint = "{link.kind}"']
    lines += [
        f"theta = {_angle(link.theta, arm.name, where)}",
        f"d = {_number(link.d, arm.name, where)}",
        *place,
    ]
    if arm.dynamics:
        lines += _body_lines(link, arm.name, where)
    if link.drive != Drive():
        lines.append(f"drive = {_drive(link.drive, arm.name, where)}")
    if link.limits is not None:
        lines.append(f"limits = {_vector(link.limits, arm.name, where)}")
    for key in ("speed_limit", "effort_limit"):
        if getattr(link, key) is not None:
            lines.append(f"{key} = {_number(getattr(link, key), arm.name, where)}")
    if link.flip:
        lines.append("flip = true")
    if not (is_number(link.offset) and link.offset == 0):
        lines.append(f"offset = {_number(link.offset, arm.name, where)}")
    return lines


def _body_lines(body: Link | Body, arm: str, where: str) -> list[str]:
    return [
        f"mass = {_number(body.mass, arm, where)}",
        f"com = {_vector(body.com, arm, where)}",
        f"inertia = {_inertia(body.inertia, arm, where)}",
    ]


def _inertia(inertia: Inertia, arm: str, where: str) -> str:
    """Components by name where the matrix is symmetric to the bit, the matrix where it is not."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = inertia.tensor
    if (xy, xz, yz) != (yx, zx, zy):
        rows = ", ".join(_vector(row, arm, where) for row in inertia.tensor)
        return f'{{ about = "{inertia.about}", matrix = [{rows}] }}'
    named = {"Ixx": xx, "Iyy": yy, "Izz": zz}
    products = {"Ixy": xy, "Ixz": xz, "Iyz": yz}
    if any(not (is_number(x) and x == 0) for x in products.values()):
        named.update(products)
    entries = "".join(f", {key} = {_number(x, arm, where)}" for key, x in named.items())
    sign = ', products = "tensor"' if len(named) > 3 else ""
    return f'{{ about = "{inertia.about}"{sign}{entries} }}'


def _drive(drive: Drive, arm: str, where: str) -> str:
    entries = [f'side = "{drive.side}"'] if drive.side else []
    for key in ("rotor_inertia", "gear", "viscous", "smoothing"):
        entries.append(f"{key} = {_number(getattr(drive, key), arm, where)}")
    entries += [f"coulomb = {_vector(drive.coulomb, arm, where)}", 'friction_side = "joint"']
    return f"{{ {', '.join(entries)} }}"


# -- poses -------------------------------------------------------------------------------------------------


def _dh(link: Link) -> tuple[float, float] | None:
    """(a, alpha) that give the link's pose back to the bit, or None."""
    row = dh_row(link)
    if row is None or not all(is_number(x) for x in (*row[:2], *link.pose.translation)):
        return None
    a, alpha = float(row[0]), float(row[1])
    return (a, alpha) if Pose.dh(a, alpha) == link.pose else None


def _dh_lines(row: tuple[float, float]) -> list[str]:
    a, alpha = row
    return [f"a = {a!r}", f"alpha = {ANGLES.get(alpha, repr(alpha))}"]


def _pose_lines(pose: Pose) -> list[str]:
    """Nothing for the unit pose; rpy where it gives the rotation back to the bit, the matrix elsewhere."""
    if pose == Pose():
        return []
    lines = [f"xyz = {_vector(pose.translation, '', 'pose')}"]
    if pose.rotation == Pose().rotation:
        return lines
    rows = ", ".join(_vector(row, "", "pose") for row in pose.rotation)
    rpy = roll_pitch_yaw(pose.R)
    if Pose.at((0, 0, 0), rpy).rotation == pose.rotation:
        return [*lines, f"rpy = [{', '.join(ANGLES.get(x, repr(x)) for x in rpy)}]"]
    return [*lines, f"rotation = [{rows}]"]


# -- TOML --------------------------------------------------------------------------------------------------


def _table(name: str, lines: list[str]) -> str:
    return "\n".join([f"[{name}]", *lines]) if lines else ""


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def _number(x: Any, arm: str, where: str) -> str:
    if not is_number(x):
        raise ArmFault(
            f"arm {arm!r}, {where}: {x} is a symbol; a file holds numbers. Give it a value before writing."
        )
    return repr(float(x))


def _angle(x: Any, arm: str, where: str) -> str:
    return ANGLES.get(x) or _number(x, arm, where) if is_number(x) else _number(x, arm, where)


def _vector(values: Any, arm: str, where: str) -> str:
    return f"[{', '.join(_number(x, arm, where) for x in values)}]"
