"""All moving joints of a file as a tree: which link hangs on which, what is welded, what is held, what follows what.

The tree is checked as for one chain (serial_chain). Joints stand depth first, in the file's order, parents before
children. Joints that mimic others become couplings; a floating joint at the root, or base="free", frees the base.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from forearm.couplings import Coupling
from forearm.faults import ReadFault
from forearm.outside.option_names import option
from forearm.readers.robot_text import JointText, RobotText
from forearm.readers.serial_chain import (
    MAX_JOINTS,
    Member,
    body_of,
    children_of,
    held_positions,
    is_held,
    one_degree,
    parents_of,
    refuse_loops,
    root_of,
    some,
)


@dataclass(frozen=True)
class BranchedTree:
    """Moving joints, parents before children, and the bodies that they move."""

    joints: tuple[JointText, ...]
    """Joints that move."""
    parents: tuple[int, ...]
    """The body that each joint starts from: 0 is the base, i what joint i moves."""
    bodies: tuple[tuple[Member, ...], ...]
    """Body 0 is the base; body i is what joint i moves."""
    couplings: tuple[Coupling, ...]
    """Joints that mimic others."""
    held: dict[str, float]
    """Joints that could move and are held, with their positions."""
    floating: JointText | None
    """The floating joint before the base, if the file has one."""

    @property
    def is_chain(self) -> bool:
        """Whether it is one chain on a fixed base, without couplings."""
        plain = not self.couplings and self.floating is None
        return plain and self.parents == tuple(range(len(self.joints)))


def tree_of(robot: RobotText, root: str | None, lock: Mapping[str, float] | None) -> BranchedTree:
    """The tree from the root on, every fault of the file found first."""
    above, below = parents_of(robot), children_of(robot)
    refuse_loops(robot, above)
    start = root_of(robot, above, root)
    positions = held_positions(robot, lock or {})
    floating = _floating(robot, below, start)
    start = start if floating is None else floating.child
    joints, parents = _moving(robot, below, start, positions)
    if len(joints) > MAX_JOINTS:
        raise ReadFault(
            f"{robot.file}: {len(joints)} joints move; robots of up to {MAX_JOINTS} are read from files. "
            f"Choose one chain with {option('tip')}."
        )
    names = {joint.name for joint in joints}
    starts = [start, *(joint.child for joint in joints)]
    bodies = tuple(body_of(robot, below, first, names, positions, True) for first in starts)
    held = {m.joint.name: m.position for body in bodies for m in body if m.joint and m.joint.moving}
    couplings = tuple(
        _coupling(robot, joint, names, positions) for joint in joints if joint.mimic is not None
    )
    return BranchedTree(tuple(joints), tuple(parents), bodies, couplings, held, floating)


def _moving(
    robot: RobotText, below: dict[str, list[JointText]], start: str, positions: dict[str, float]
) -> tuple[list[JointText], list[int]]:
    """Joints that move, depth first, and the number of the body that each starts from."""
    everything = set(robot.joints)
    joints: list[JointText] = []
    parents: list[int] = []
    waiting = [(joint, 0) for joint in reversed(below.get(start, ()))]
    while waiting:
        joint, body = waiting.pop()
        if joint.kind != "fixed" and not is_held(robot, joint, positions, everything):
            joints.append(_one_degree(robot, joint))
            parents.append(body)
            body = len(joints)
        waiting += [(after, body) for after in reversed(below.get(joint.child, ()))]
    return joints, parents


def _one_degree(robot: RobotText, joint: JointText) -> JointText:
    if joint.kind == "floating":
        robot.fault(
            joint.line,
            f"joint {joint.name!r} is floating, and it is not the one joint between the root and all else; a robot has "
            f"one free base. Make it fixed, or start after it with {option('root')}.",
        )
    return joint if joint.moving else one_degree(robot, joint)


def _floating(robot: RobotText, below: dict[str, list[JointText]], start: str) -> JointText | None:
    """The floating joint that all else hangs on, if the file has one."""
    welded, leaving = [start], []
    for name in welded:  # grows while it is walked
        for joint in below.get(name, ()):
            if joint.kind == "fixed":
                welded.append(joint.child)
            else:
                leaving.append(joint)
    return leaving[0] if len(leaving) == 1 and leaving[0].kind == "floating" else None


def _coupling(robot: RobotText, joint: JointText, names: set[str], positions: dict[str, float]) -> Coupling:
    """What a joint that mimics another says; `is_held` has found that its leader moves, and that there is no circle."""
    mimic = joint.mimic
    assert mimic is not None
    if mimic.joint == joint.name:
        robot.fault(
            joint.line, f"joint {joint.name!r} mimics itself; name another joint, or take <mimic> out."
        )
    if mimic.joint not in names:
        robot.fault(
            joint.line,
            f"joint {joint.name!r} mimics {mimic.joint!r}, which does not move here; the joints that move are "
            f"{some(sorted(names))}.",
        )
    return Coupling(joint.name, ((mimic.joint, mimic.multiplier),), mimic.offset)
