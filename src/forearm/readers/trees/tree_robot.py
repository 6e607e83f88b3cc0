"""The robot of a branched tree, exact as written: its links' frames are those of the file's links.

Each joint's mount turns z into the joint's axis and the pose after the joint turns it back, so that the link's frame is
the file's. Fixed joints are folded with their inertias, as in serial_arm.
"""

from pathlib import Path
from typing import Any

from forearm.arm import Defect
from forearm.couplings import couplings_of
from forearm.faults import ArmFault, link_faults
from forearm.frames import NamedFrame, Pose
from forearm.inertia import Inertia
from forearm.link import Body
from forearm.outside.option_names import option
from forearm.readers.robot_text import RobotText
from forearm.readers.serial_arm import (
    axis_to_z,
    check_snap,
    clean_link,
    defects_of,
    has_dynamics,
    link_of,
    placed_members,
    pose_in,
    pose_of,
    refuse_impossible,
    remarks_of,
    summed,
)
from forearm.readers.serial_chain import tool_of
from forearm.readers.trees.branched_tree import BranchedTree
from forearm.robot import Robot


def robot_of_tree(
    robot: RobotText, tree: BranchedTree, snap: float | None, keep: bool, massless: bool, rest: dict[str, Any]
) -> Robot:
    """The robot of a tree out of a table of links and joints; arguments as in `read_urdf`."""
    check_snap(robot, snap)
    free = rest.pop("free", False) or tree.floating is not None
    dynamics = (bool(tree.joints) and has_dynamics(robot, tree, massless)) or (free and _weighs(tree))
    if dynamics:
        refuse_impossible(robot, tree, keep, base=free)
    placed = [placed_members(body, snap) for body in tree.bodies]
    links, mounts = [], []
    for i, (joint, parent) in enumerate(zip(tree.joints, tree.parents, strict=True), 1):
        turn, flip = axis_to_z(joint.axis)
        before = pose_in(tree.bodies[parent], placed[parent], joint.parent) @ pose_of(joint.origin, snap)
        mounts.append(before @ Pose(turn))  # type: ignore[arg-type]
        body = summed(robot, tree.bodies[i], placed[i])
        links.append(clean_link(link_of(joint, Pose(turn.T), flip, *body)))  # type: ignore[arg-type]
    mass, com, tensor = summed(robot, tree.bodies[0], placed[0])
    base = rest.pop("base", Pose())
    base = base if tree.floating is None else base @ pose_of(tree.floating.origin, snap)
    fields: dict[str, Any] = {
        "name": robot.name,
        "provenance": (("all", f"{Path(robot.file).name}, robot {robot.name!r}"),),
        **rest,
    }
    fields["couplings"] = (*tree.couplings, *couplings_of(fields.pop("couplings", ())))
    remarks = (*remarks_of(robot, tree, snap, dynamics), *_held_base(robot, free), *fields.pop("remarks", ()))
    trunk = Body(mass, tuple(com), Inertia((tensor + tensor.T) / 2, "com"))  # type: ignore[arg-type]
    try:
        return Robot(
            links=tuple(links),
            parents=tree.parents,
            mounts=tuple(mounts),
            base=base,
            free=free,
            trunk=trunk,
            tools=_tools(tree, placed),
            frames=_frames(tree, placed),
            defects=(*_base_defects(robot, trunk, free), *defects_of(robot, tree, links)) if dynamics else (),
            remarks=remarks,
            dynamics=dynamics,
            **fields,
        )
    except ArmFault as fault:
        raise ArmFault(f"{robot.file}: {fault}") from None


def _weighs(tree: BranchedTree) -> bool:
    """Whether the base itself has a body."""
    return any(member.link.body is not None for member in tree.bodies[0])


def _held_base(robot: RobotText, free: bool) -> list[str]:
    return [] if free else [f"the base is fixed; {option('base', repr('free'))} frees it"]


def _base_defects(robot: RobotText, trunk: Body, free: bool) -> list[Defect]:
    reason = f"so in {Path(robot.file).name}"
    return [Defect(0, kind, reason) for kind, _ in link_faults(trunk.as_link)] if free else []


def _frames(tree: BranchedTree, placed: list[list[Pose]]) -> tuple[NamedFrame, ...]:
    """Every link of the file, seen from the link that carries it."""
    return tuple(
        NamedFrame(member.link.name, i, pose)
        for i, (body, poses) in enumerate(zip(tree.bodies, placed, strict=True))
        for member, pose in zip(body, poses, strict=True)
        if member.link.name != "tool"
    )


def _tools(tree: BranchedTree, placed: list[list[Pose]]) -> tuple[NamedFrame, ...]:
    """The ends of the branches, by the name of the file's last link there."""
    found = []
    for i in range(1, len(tree.bodies)):
        if i in tree.parents:
            continue
        body = tree.bodies[i]
        name = tool_of(body, None) or body[0].link.name
        if name != "tool":
            found.append(NamedFrame(name, i, pose_in(body, placed[i], name)))
    return tuple(found)
