"""An Arm or a Robot as URDF: the same torques for every program that reads it.

A URDF link's frame stands at its joint, ours at the far end, so each body is written in the frame after its
joint has turned, and the pose after it goes into the next joint's origin. What URDF cannot say (rotor
inertia, dry friction that differs with the direction, a limit on one side, gravity) is refused; with
`lossy=True` it becomes a comment. A robot's links keep their own frames where these stand at their joints; a
free base is a floating joint.
"""

from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from lxml import etree

from forearm.algebra import is_number
from forearm.angles import roll_pitch_yaw
from forearm.arm import Arm
from forearm.faults import ArmFault, explained
from forearm.frames import SAME, NamedFrame, Pose
from forearm.link import NO_BODY, Drive, Link
from forearm.outside.escapes import xml_comment
from forearm.outside.output_files import write_text
from forearm.robot import Robot

EARTH = (0.0, 0.0, -9.81)


@explained
def write_urdf(arm: Arm | Robot, path: str | Path, *, lossy: bool = False) -> Path:
    """Write the arm or robot to a file; gives back the path."""
    return write_text(path, to_urdf(arm, lossy=lossy))


def to_urdf(arm: Arm | Robot, *, lossy: bool = False) -> str:
    """The arm as URDF text, joint names and zero positions kept; `lossy` leaves out what URDF cannot say."""
    _refuse_symbols(arm)
    lost = unsayable(arm)
    if lost and not lossy:
        refuse_loss(arm, lost, "lossy=True")
    root = etree.Element("robot", name=arm.name)
    for text in (
        *(f"{key}: {text}" for key, text in arm.provenance),
        *(f"left out: {text}" for text in lost),
        *(f"not known: {text}" for text in stand_ins(arm)),
        *(f"left out: {text}" for text in unwritten(arm)),
    ):
        root.append(etree.Comment(f" {xml_comment(text)} "))
    if isinstance(arm, Robot):
        _add_tree(root, arm)
    else:
        _add_chain(root, arm)
    etree.indent(root)
    return etree.tostring(root, encoding="unicode") + "\n"


def _add_chain(root: Any, arm: Arm) -> None:
    """An arm: links one after the other, the tool at the end, then other named frames."""
    names = _link_names(arm)
    etree.SubElement(root, "link", name=names[0])
    before = arm.base
    for i, link in enumerate(arm.links):
        root.append(_joint(link, before @ _constant(link), names[i], names[i + 1]))
        root.append(_body(link, names[i + 1], arm.dynamics))
        before = link.pose
    tool = before @ arm.tool
    fixed = etree.SubElement(root, "joint", name=_free("to_tool", arm.joint_names), type="fixed")
    _place(fixed, tool, names[-2], names[-1])
    etree.SubElement(root, "link", name=names[-1])
    _add_frames(root, arm, names)


def _add_tree(root: Any, robot: Robot) -> None:
    """A robot: its base, links under their parents, tools and other frames; what stands before a base stands first."""
    turns = [_turn(link) for link in robot.links]
    rest = [Pose(), *(turn.inverse() @ link.pose for turn, link in zip(turns, robot.links, strict=True))]
    frames = {frame.name: frame for frame in (*robot.frames, *robot.tools)}
    seen = {name: rest[frame.link] @ frame.pose for name, frame in frames.items()}
    names: list[str] = []
    for i, usual in enumerate(["base", *(f"{name}_link" for name in robot.all_joint_names)]):
        here = [x for x, f in frames.items() if f.link == i and x not in names and _is_same(seen[x], Pose())]
        names.append(here[0] if here else _free(usual, {*frames, *names}))
    joints = set(robot.all_joint_names)
    if robot.free or robot.base != Pose():
        world = _free("world", {*frames, *names})
        etree.SubElement(root, "link", name=world)
        _add_joint(
            root, "to_base", "floating" if robot.free else "fixed", joints, robot.base, world, names[0]
        )
    root.append(_body(robot.trunk.as_link, names[0], robot.dynamics and robot.trunk != NO_BODY))
    followed = {c.joint: c for c in robot.couplings}
    for i, (link, parent, turn) in enumerate(zip(robot.links, robot.parents, turns, strict=True)):
        origin = rest[parent] @ robot.mounts[i] @ _constant(link) @ turn
        joint = _joint(link, origin, names[parent], names[i + 1], turn)
        if link.name in followed and len(followed[link.name].terms) == 1:
            ((leader, factor),) = followed[link.name].terms
            offset = _number(followed[link.name].offset)
            etree.SubElement(joint, "mimic", joint=leader, multiplier=_number(factor), offset=offset)
        root.append(joint)
        root.append(_body(link.replace(pose=rest[i + 1]), names[i + 1], robot.dynamics))
    ends = {tool.link: tool.name for tool in robot.tools if tool.name not in names}
    last = {i: (names[i], Pose()) for i in range(len(names))}
    for name in sorted((x for x in frames if x not in names), key=lambda x: x in ends.values()):
        on = frames[name].link
        carrier, at = last[on]
        _add_joint(root, f"to_{name}", "fixed", joints, at.inverse() @ seen[name], carrier, name)
        etree.SubElement(root, "link", name=name)
        if on in ends:  # one after the other, so that the tool is the one end there
            last[on] = name, seen[name]


def _turn(link: Link) -> Pose:
    """From the joint to the URDF frame: to the link's own axes, unless its origin is elsewhere."""
    return Pose(link.pose.rotation) if not np.any(link.pose.p) else Pose()


def _add_joint(
    root: Any, name: str, kind: str, taken: set[str], origin: Pose, parent: str, child: str
) -> None:
    """A joint of ours, by a name that no other has."""
    taken.add(own := _free(name, taken))
    _place(etree.SubElement(root, "joint", name=own, type=kind), origin, parent, child)


def _refuse_symbols(arm: Arm | Robot) -> None:
    for i, link in enumerate(arm.links, 1):
        numbers = (link.theta, link.d, link.offset, link.mass, *link.com, *np.ravel(link.inertia.tensor))
        if not all(is_number(x) for x in (*numbers, *np.ravel(link.pose.rotation), *link.pose.translation)):
            raise ArmFault(
                f"arm {arm.name!r}, link {i} {link.name!r} has symbols; URDF takes numbers: put values in."
            )


def refuse_loss(arm: Arm | Robot, lost: list[str], how: str) -> NoReturn:
    """Refuse to leave something out unless told so; `how` is how the caller says it."""
    raise ArmFault(
        f"arm {arm.name!r}: URDF cannot say {'; '.join(lost)}. Say {how} to leave it out, or write TOML, which "
        "carries everything."
    )


def unsayable(arm: Arm | Robot) -> list[str]:
    """What the arm has and URDF does not."""
    lost = []
    if tuple(arm.gravity) != EARTH:
        lost.append(f"gravity {tuple(arm.gravity)}")
    for link in arm.links:
        drive = link.drive
        if drive.reflected_inertia:
            lost.append(f"the rotor inertia of {link.name!r}, {drive.reflected_inertia:g} kg m² at the joint")
        if drive.coulomb[0] != drive.coulomb[1]:
            lost.append(
                f"the dry friction of {link.name!r}, which differs with the direction, {drive.coulomb}"
            )
        if any(drive.coulomb) and drive.smoothing != Drive().smoothing:
            lost.append(
                f"over which speed the dry friction of {link.name!r} turns over, {drive.smoothing:g} (it becomes "
                f"{Drive().smoothing:g})"
            )
        lost += _unsayable_limits(link)
    for coupling in getattr(arm, "couplings", ()):
        if len(coupling.terms) > 1:
            leaders = ", ".join(name for name, _ in coupling.terms)
            lost.append(f"that {coupling.joint!r} follows several joints ({leaders})")
    return lost


def _unsayable_limits(link: Link) -> list[str]:
    """Limits on one side only, and those of zero, which URDF has for none."""
    sides = [np.isfinite(x) for x in link.limits or ()]
    lost = [f"the limits of {link.name!r}, {link.limits}, on one side only"] if sum(sides) == 1 else []
    sizes = (("speed", link.speed_limit), ("effort", link.effort_limit))
    return lost + [
        f"the limit of {what} 0 of {link.name!r} (0 stands for none)" for what, x in sizes if x == 0
    ]


def _limits(link: Link) -> tuple[float, float] | None:
    """Limits of position that URDF can say: both, or none."""
    return link.limits if link.limits is not None and np.all(np.isfinite(link.limits)) else None


def _sizes(link: Link) -> list[float | None]:
    """Limits of speed and effort that URDF can say; an infinite one is none."""
    return [x if x is not None and np.isfinite(x) else None for x in (link.speed_limit, link.effort_limit)]


def unwritten(arm: Arm | Robot) -> list[str]:
    """What changes no torque, and has no place in URDF."""
    named = [name for name, _ in arm.configurations]
    return [f"named positions ({', '.join(named)}), which URDF has no place for"] if named else []


def stand_ins(arm: Arm | Robot) -> list[str]:
    """Limits that the arm does not have and URDF asks for: it says 0, which other programs may take for a limit."""
    found = []
    for link in arm.links:
        speed, effort = _sizes(link)
        if not (link.prismatic or _limits(link) or speed or effort):
            continue  # no <limit> at all
        missing = ["position"] if link.prismatic and _limits(link) is None else []
        missing += ["speed"] * (speed is None) + ["effort"] * (effort is None)
        if missing:
            found.append(f"{link.name!r} has no limit of {' and '.join(missing)}, and 0 stands for it")
    return found


def _constant(link: Link) -> Pose:
    """What stands between the frame before the joint and the frame that turns with it."""
    sign = -1.0 if link.flip else 1.0
    if link.revolute:
        return Pose.at((0.0, 0.0, link.d), (0.0, 0.0, link.theta + sign * link.offset))
    return Pose.at((0.0, 0.0, link.d + sign * link.offset), (0.0, 0.0, link.theta))


def _link_names(arm: Arm) -> list[str]:
    """A name for the base, each link and the tool, none of them twice: the file's own where they are known."""
    taken = {frame.name for frame in arm.frames}
    names: list[str] = []
    for i, usual in enumerate(["base", *(f"{name}_link" for name in arm.joint_names)]):
        here = [f.name for f in arm.frames if f.link == i and _is_same(_from_joint(arm, f), Pose())]
        names.append(here[0] if here else _free(usual, taken))
        taken.add(names[-1])
    return [*names, _free("tool", names)]


def _from_joint(arm: Arm, frame: NamedFrame) -> Pose:
    """A named frame seen from the URDF frame of the link that carries it, which stands at its joint."""
    return (arm.links[frame.link - 1].pose if frame.link else arm.base) @ frame.pose


def _is_same(one: Pose, other: Pose) -> bool:
    return bool(np.allclose(one.matrix, other.matrix, rtol=0.0, atol=1e-14))


def _add_frames(robot: Any, arm: Arm, names: list[str]) -> None:
    """The other named frames, as links without a body."""
    taken = {joint.get("name") for joint in robot.iter("joint")}
    for frame in (frame for frame in arm.frames if frame.name not in names):
        pose = _from_joint(arm, frame)
        _add_joint(robot, f"to_{frame.name}", "fixed", taken, pose, names[frame.link], frame.name)
        etree.SubElement(robot, "link", name=frame.name)


def _free(name: str, taken: Any) -> str:
    while name in taken:
        name += "_"
    return name


def _joint(link: Link, origin: Pose, parent: str, child: str, turn: Pose = SAME) -> Any:
    """The joint of a link; `turn` is from z along its axis to the frame of the child."""
    kind = "prismatic" if link.prismatic else "revolute" if _limits(link) else "continuous"
    joint = etree.Element("joint", name=link.name, type=kind)
    _place(joint, origin, parent, child)
    axis = turn.R[2] * (-1.0 if link.flip else 1.0)
    whole = all(x in (-1.0, 0.0, 1.0) for x in axis)
    etree.SubElement(joint, "axis", xyz=" ".join(f"{x + 0.0:g}" for x in axis) if whole else _numbers(axis))
    low, high = _limits(link) or (0.0, 0.0)
    speed, effort = _sizes(link)
    if kind != "continuous" or speed or effort:
        limit = etree.SubElement(
            joint, "limit", effort=_number(effort or 0.0), velocity=_number(speed or 0.0)
        )
        if kind != "continuous":
            limit.set("lower", _number(low))
            limit.set("upper", _number(high))
    viscous, dry = link.drive.viscous, sum(link.drive.coulomb) / 2
    if viscous or dry:
        etree.SubElement(joint, "dynamics", damping=_number(viscous), friction=_number(dry))
    return joint


def _place(joint: Any, origin: Pose, parent: str, child: str) -> None:
    etree.SubElement(joint, "parent", link=parent)
    etree.SubElement(joint, "child", link=child)
    etree.SubElement(
        joint, "origin", xyz=_numbers(origin.translation), rpy=_numbers(roll_pitch_yaw(origin.R))
    )


def _body(link: Link, name: str, dynamics: bool) -> Any:
    element = etree.Element("link", name=name)
    if not dynamics:
        return element
    mass, center, tensor = link.about_com
    R = link.pose.R
    turned = R @ tensor @ R.T
    turned = (turned + turned.T) / 2
    inertial = etree.SubElement(element, "inertial")
    etree.SubElement(inertial, "origin", xyz=_numbers(R @ center + link.pose.p), rpy="0 0 0")
    etree.SubElement(inertial, "mass", value=_number(mass))
    entries = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
    etree.SubElement(inertial, "inertia", {key: _number(turned[at]) for key, at in entries.items()})
    return element


def _number(value: float) -> str:
    return repr(float(value) + 0.0)


def _numbers(values: Any) -> str:
    return " ".join(_number(value) for value in values)
