"""The arm of a serial chain, exact as written, fixed joints folded with their inertias.

A URDF joint turns about any axis of a frame that stands before the body; a link of this library turns about
z of the frame before it. So each joint gets a constant rotation S with S z = axis, put into the pose after
the joint before it, and the body's numbers are moved with the frame. Where the axis is a coordinate axis, S
is a permutation and nothing is rounded; a negative one becomes `flip`.
"""

import math
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from forearm.algebra import Matrix, Vector, is_number, parallel_axis, rotation_z, sin_cos_of_constant
from forearm.angles import nearest_right_angle, rounded_right_angle
from forearm.arm import Arm, Defect
from forearm.faults import FARTHEST, ArmFault, ReadFault, link_faults
from forearm.frames import NamedFrame, Pose
from forearm.inertia import Inertia
from forearm.link import Drive, Link, moved_frame
from forearm.outside.option_names import option
from forearm.readers.robot_text import Frame, JointText, RobotText
from forearm.readers.serial_chain import Member, SerialChain, let_go

Summed = tuple[float, Vector, Matrix]
CLOSE = 1e-9
"""Part of a limit by which rounding may carry a joint beyond it."""


class Bodies(Protocol):
    """What a chain and a tree have in common."""

    @property
    def joints(self) -> tuple[JointText, ...]:
        """Joints that move."""

    @property
    def bodies(self) -> tuple[tuple[Member, ...], ...]:
        """Body 0 is the base; body i is what joint i moves."""

    @property
    def held(self) -> dict[str, float]:
        """Joints that are held, with their positions."""


def arm_of_chain(
    robot: RobotText, chain: SerialChain, snap: float | None, keep: bool, massless: bool, rest: dict[str, Any]
) -> Arm:
    """The arm of a chain out of a table of links and joints; arguments as in `read_urdf`."""
    check_snap(robot, snap)
    dynamics = has_dynamics(robot, chain, massless)
    if dynamics:
        refuse_impossible(robot, chain, keep)
    placed = [placed_members(body, snap) for body in chain.bodies]
    turns = [axis_to_z(joint.axis) for joint in chain.joints]
    steps = [
        pose_in(body, poses, joint.parent) @ pose_of(joint.origin, snap)
        for body, poses, joint in zip(chain.bodies, placed, chain.joints, strict=False)
    ]
    links, ends = [], [steps[0] @ Pose(turns[0][0])]  # type: ignore[arg-type]
    for i, joint in enumerate(chain.joints):
        turn, flip = turns[i]
        mass, com, tensor = summed(robot, chain.bodies[i + 1], placed[i + 1])
        link = link_of(joint, Pose(turn.T), flip, mass, com, tensor)  # type: ignore[arg-type]
        after = steps[i + 1] @ Pose(turns[i + 1][0]) if i + 1 < len(steps) else Pose()  # type: ignore[arg-type]
        links.append(clean_link(moved_frame(link, after)))
        ends.append(after)
    tool = pose_in(chain.bodies[-1], placed[-1], chain.tip) if chain.tip else Pose()
    base = rest.pop("base", Pose()) @ steps[0] @ Pose(turns[0][0])  # type: ignore[arg-type]
    defects = defects_of(robot, chain, links) if dynamics else ()
    fields: dict[str, Any] = {
        "name": robot.name,
        "provenance": (("all", f"{Path(robot.file).name}, robot {robot.name!r}"),),
        "tool": tool,
        "frames": _frames(chain, placed, ends),
        **rest,
    }
    remarks = (*remarks_of(robot, chain, snap, dynamics), *fields.pop("remarks", ()))
    try:
        return Arm(
            links=tuple(links), base=base, defects=defects, remarks=remarks, dynamics=dynamics, **fields
        )
    except ArmFault as fault:
        raise ArmFault(f"{robot.file}: {fault}") from None


def check_snap(robot: RobotText, snap: float | None) -> None:
    """Refuse what is no small angle."""
    if snap is not None and not (is_number(snap) and 0 <= snap < 0.5):
        raise ReadFault(
            f"{robot.file}: {option('right_angles')} is {snap!r}; give an angle in rad, such as 1e-3, or None."
        )


# -- poses ---------------------------------------------------------------------------------------------------


def pose_of(frame: Frame, snap: float | None) -> Pose:
    """An <origin> as a pose, right angles snapped where asked."""
    rpy = tuple(nearest_right_angle(angle, snap) for angle in frame.rpy)
    return Pose.at(frame.xyz, rpy)


def placed_members(body: tuple[Member, ...], snap: float | None) -> list[Pose]:
    """Where each link of a body is, seen from its first link."""
    poses: list[Pose] = []
    for member in body:
        if member.joint is None:
            poses.append(Pose())
            continue
        step = pose_of(member.joint.origin, snap)
        moved = member.position + member.joint.offset  # a joint of MJCF counts from its ref
        if moved:
            step = step @ _motion(member.joint, moved)
        poses.append(poses[member.before] @ step)
    return poses


def _motion(joint: JointText, moved: float) -> Pose:
    """How far a held joint has moved."""
    turn, flip = axis_to_z(joint.axis)
    along = -moved if flip else moved
    if joint.kind == "prismatic":
        return Pose(translation=tuple(along * turn[:, 2]))
    return Pose(turn @ rotation_z(*sin_cos_of_constant(along)) @ turn.T)  # type: ignore[arg-type]


def pose_in(body: tuple[Member, ...], poses: list[Pose], name: str) -> Pose:
    """Where a link of a body is, seen from the body's first link."""
    return next(pose for member, pose in zip(body, poses, strict=True) if member.link.name == name)


def _frames(chain: SerialChain, placed: list[list[Pose]], ends: list[Pose]) -> tuple[NamedFrame, ...]:
    """Every link of the file, seen from the frame at the end of the body that it rides on."""
    return tuple(
        NamedFrame(member.link.name, i, ends[i].inverse() @ pose)
        for i, (body, poses) in enumerate(zip(chain.bodies, placed, strict=True))
        for member, pose in zip(body, poses, strict=True)
        if member.link.name != "tool"
    )


def axis_to_z(axis: tuple[float, float, float]) -> tuple[Matrix, bool]:
    """A rotation whose third column is the axis (a permutation for a coordinate axis; True: its opposite)."""
    a = np.array(axis) / np.linalg.norm(axis)
    largest = int(np.argmax(np.abs(a)))
    if np.count_nonzero(a) == 1:
        columns = np.roll(np.eye(3), 2 - largest, axis=1)
        return columns, bool(a[largest] < 0)
    helper = np.eye(3)[int(np.argmin(np.abs(a)))]
    x = np.cross(helper, a)
    x = x / np.linalg.norm(x)
    return np.column_stack([x, np.cross(a, x), a]), False


def clean_link(link: Link) -> Link:
    """No negative zeros, and tensors symmetric to the last bit."""
    tensor: Matrix = np.array(link.inertia.tensor)
    pose = Pose(link.pose.R + 0.0, link.pose.p + 0.0)  # type: ignore[arg-type]
    com = tuple(np.array(link.com) + 0.0)
    return link.replace(pose=pose, com=com, inertia=Inertia((tensor + tensor.T) / 2 + 0.0, "com"))  # type: ignore[arg-type]


# -- bodies --------------------------------------------------------------------------------------------------


def link_of(joint: JointText, pose: Pose, flip: bool, mass: float, com: Vector, tensor: Matrix) -> Link:
    """A joint with the body that it moves."""
    return Link(
        "prismatic" if joint.kind == "prismatic" else "revolute",
        pose,
        mass=mass,
        com=tuple(com),
        inertia=Inertia(tensor, "com"),  # type: ignore[arg-type]
        drive=Drive(
            joint.armature,
            1.0,
            "joint" if joint.armature else None,
            joint.damping,
            (joint.friction, joint.friction),
        ),
        name=joint.name,
        limits=joint.limits,
        speed_limit=joint.speed,
        effort_limit=joint.effort,
        flip=flip,
        offset=joint.offset,
    )


def summed(robot: RobotText, body: tuple[Member, ...], poses: list[Pose]) -> Summed:
    """Mass, centre and inertia about it of all links of a body, axes of its first link."""
    parts: list[Summed] = []
    for member, pose in zip(body, poses, strict=True):
        inertial = member.link.body
        if inertial is None or (inertial.mass == 0 and not any(inertial.moments)):
            continue
        place = pose @ Pose.at(inertial.origin.xyz, inertial.origin.rpy)
        parts.append((inertial.mass, place.p, place.R @ np.array(inertial.tensor) @ place.R.T))
    if len(parts) == 1:
        return parts[0]
    mass = sum(part[0] for part in parts)
    if parts and mass == 0 and any(part[0] for part in parts):
        robot.fault(
            body[0].link.line,
            f"the masses that are welded to link {body[0].link.name!r} cancel to zero, some of them being "
            "negative; "
            "such a body has no centre of mass. Give positive masses.",
        )
    center = sum((m * r for m, r, _ in parts), np.zeros(3)) / mass if mass else np.zeros(3)
    tensor = sum((i + parallel_axis(m, r - center) for m, r, i in parts), np.zeros((3, 3)))
    return mass, center, tensor


def has_dynamics(robot: RobotText, chain: Bodies, massless: bool) -> bool:
    """Whether the moving bodies have inertias: all of them or none of them."""
    empty = [body for body in chain.bodies[1:] if all(member.link.body is None for member in body)]
    if len(empty) == len(chain.joints):
        return False
    if empty and not massless:
        link = empty[0][0].link
        robot.fault(
            link.line,
            f"link {link.name!r} moves but has no <inertial>, and others have; give its mass and inertia, "
            f"or say {option('allow_massless', 'True')} to take it as massless (nobody knows which mass was meant).",
        )
    return True


def refuse_impossible(robot: RobotText, chain: Bodies, keep: bool, *, base: bool = False) -> None:
    """Refuse all physical faults of the links that move, each with its line, unless they are to be kept."""
    found = []
    for member in (member for body in chain.bodies[0 if base else 1 :] for member in body):
        body = member.link.body
        if body is None:
            continue
        link = Link("revolute", mass=body.mass, inertia=Inertia(body.tensor, "com"))
        found += [f"{robot.file}:{body.line}: link {member.link.name!r}: {s}" for _, s in link_faults(link)]
    if found and not keep:
        rest = "".join(f"\n  {sentence}" for sentence in found[1:])
        raise ArmFault(f"{found[0]} Or load it as it is with {option('keep_defects', 'True')}.{rest}")


def defects_of(robot: RobotText, chain: Bodies, links: list[Link]) -> tuple[Defect, ...]:
    """What is impossible in the folded bodies, declared."""
    where = Path(robot.file).name
    found = []
    for i, link in enumerate(links):
        lines = [str(m.link.body.line) for m in chain.bodies[i + 1] if m.link.body]
        reason = f"so in {where}, line {', '.join(lines)}"
        found += [Defect(i + 1, kind, reason) for kind, _ in link_faults(link)]
    return tuple(found)


# -- remarks -------------------------------------------------------------------------------------------------


def remarks_of(robot: RobotText, chain: Bodies, snap: float | None, dynamics: bool) -> list[str]:
    """What a person should know about how the file became an arm."""
    said = list(robot.notes)
    members = sum(len(body) for body in chain.bodies)
    bodies = "body" if len(chain.joints) == 1 else "bodies"
    said.append(f"{members} links -> base and {len(chain.joints)} moving {bodies}")
    if not dynamics:
        said.append("no link that moves has <inertial>: kinematics only")
    for joint, body in zip(chain.joints, chain.bodies[1:], strict=True):
        extra = [m.link.name for m in body[1:] if m.link.body is not None and m.link.body.mass]
        if extra:
            mass = sum(m.link.body.mass for m in body[1:] if m.link.body is not None)
            said.append(f"{listed(extra)} merged into {joint.child}: {mass:g} kg")
        if dynamics and all(m.link.body is None for m in body):
            said.append(f"{joint.child} has no <inertial>: taken as massless, as asked")
    unused = [joint.name for joint in chain.joints if joint.unused]
    if unused:
        words = dict.fromkeys(word for joint in chain.joints for word in joint.unused)
        said.append(f"<dynamics> of {listed(unused)} has {listed(list(words))}: not known, not used")
    if chain.held:
        held = [_held_at(robot.joints[name], at) for name, at in chain.held.items()]
        said.append("held: " + listed(sorted(held, key=lambda text: "?" not in text)))
    for name, leader in let_go(robot, chain.held, {joint.name for joint in chain.joints}):
        said.append(f"{name} is held, and its coupling to {leader} left out: {leader} moves without it")
    if isinstance(chain, SerialChain) and chain.tip is None:
        said.append(f"the tool is the frame of {chain.joints[-1].child}; {option('tip')} names another")
    if isinstance(chain, SerialChain) and chain.tip != "tool" and "tool" in robot.links:
        said.append(f"the arm's tool is not the link 'tool'; {option('tip', 'tool')} makes it so")
    if not isinstance(chain, SerialChain) and "tool" in robot.links:
        said.append(
            "frame 'tool' is not the link 'tool' of the file, which has no frame by that name; rename it"
        )
    rounded = [joint.name for joint in _all_joints(chain) if rounded_right_angle(joint.origin.rpy)]
    if rounded and snap is None:
        said.append(
            f"right angles are rounded in {listed(rounded)}; {option('right_angles', '1e-3')} makes them exact"
        )
    return said


def _held_at(joint: JointText, value: float) -> str:
    """Where a joint is held, with a question where it cannot be, or is no angle in radians."""
    turns = joint.kind != "prismatic"
    low, high = joint.limits if joint.limits and joint.limits[0] < joint.limits[1] else (-math.inf, math.inf)
    room = CLOSE * max(abs(low), abs(high), abs(value))
    doubt = ""
    if value and not low - room <= value <= high + room:
        doubt = (
            f", beyond its limits of {low:g} to {high:g} {'rad: degrees?' if turns else 'm: millimetres?'}"
        )
    elif turns and abs(value) > 2 * math.tau:
        doubt = f" rad, {abs(value) / math.tau:.1f} turns: degrees?"
    elif not turns and not math.isfinite(high) and abs(value) > FARTHEST:
        doubt = " m: millimetres?"
    return f"{joint.name} at {value:g}{doubt}"


def _all_joints(chain: Bodies) -> list[JointText]:
    return [*chain.joints, *(m.joint for body in chain.bodies for m in body if m.joint is not None)]


def listed(names: list[str]) -> str:
    """Names with commas, the first five of many."""
    return ", ".join(names) if len(names) <= 6 else f"{', '.join(names[:5])} and {len(names) - 5} more"
