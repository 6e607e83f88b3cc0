"""One chain out of a URDF tree: which joints move, which links ride on which, what is held still.

The tree is checked first (names, one parent each, no loops, one root). Then the chain is the path from root to `tip`,
or, without a tip, the only way on from each body (what branches is a robot: trees/). Links welded to a moving
link by fixed or held joints form one body with it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forearm.algebra import is_number
from forearm.faults import ReadFault, did_you_mean
from forearm.outside.option_names import held, option
from forearm.readers.robot_text import JointText, LinkText, RobotText

MAX_JOINTS = 300
"""Moving joints of a chain."""
APART = 1e-6
"""Two places for one joint that are farther apart [rad or m] are no rounding."""


@dataclass(frozen=True)
class Member:
    """A link of a welded body, and how it hangs on the link before it in that body."""

    link: LinkText
    joint: JointText | None
    """The fixed or held joint to the link before; None for the first."""
    before: int
    """Position of the link before in the body's list; -1 for the first."""
    position: float
    """Where the joint is held [rad or m]."""


@dataclass(frozen=True)
class SerialChain:
    """Moving joints in order, and the bodies before, between and after them."""

    joints: tuple[JointText, ...]
    """Joints that move, base to tip."""
    bodies: tuple[tuple[Member, ...], ...]
    """BodyText 0 is the base; body i is what joint i moves."""
    tip: str | None
    """The link that carries the tool, when it was named or there is only one candidate."""
    held: dict[str, float]
    """Joints that could move and are held, with their positions; only those that carry the arm, or ride on it."""


def chain_of(
    robot: RobotText, root: str | None, tip: str | None, lock: Mapping[str, float] | None
) -> SerialChain:
    """The chain from root to tip, every fault of the tree found first."""
    above = parents_of(robot)
    below = children_of(robot)
    refuse_loops(robot, above)
    start = root_of(robot, above, root)
    positions = held_positions(robot, lock or {})
    if tip is None:
        path = _only_way(robot, below, start, positions)
    else:
        path = _path(robot, above, start, tip, positions)
    if not path:
        where = f" between {start!r} and {tip!r}" if tip else f" after {start!r}"
        raise ReadFault(
            f"{robot.file}: no joint moves{where}; an arm needs one. Another {option('tip')}, or fewer joints in "
            f"{option('lock')}? {option('base', repr('free'))} reads a body that flies."
        )
    if len(path) > MAX_JOINTS:
        raise ReadFault(
            f"{robot.file}: {len(path)} joints move one after another; arms of up to {MAX_JOINTS} are read from files. "
            f"A nearer {option('tip')}?"
        )
    free = {joint.name for joint in path}
    starts = [start, *(joint.child for joint in path)]
    bodies = [body_of(robot, below, first, free, positions, i > 0) for i, first in enumerate(starts)]
    members = [*_carrying(bodies[0], path[0].parent), *(m for body in bodies[1:] for m in body)]
    still = {m.joint.name: m.position for m in members if m.joint and m.joint.moving}
    return SerialChain(tuple(path), tuple(bodies), tool_of(bodies[-1], tip), still)


def _carrying(base: Sequence[Member], foot: str) -> list[Member]:
    """Of the links of the base those that lead to the first moving joint; where the others are changes nothing."""
    at = next(i for i, member in enumerate(base) if member.link.name == foot)
    way = []
    while at >= 0:
        way.append(base[at])
        at = base[at].before
    return way[::-1]


# -- the tree ------------------------------------------------------------------------------------------------


def parents_of(robot: RobotText) -> dict[str, JointText]:
    """The joint above each link, all names checked."""
    above: dict[str, JointText] = {}
    for joint in robot.joints.values():
        for end, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in robot.links:
                robot.fault(
                    joint.line,
                    f"joint {joint.name!r} has {end} {name!r}, which is no link of this file; "
                    "add the link, or correct the name.",
                )
        if joint.parent == joint.child:
            robot.fault(
                joint.line, f"joint {joint.name!r} joins link {joint.parent!r} to itself; name two links."
            )
        if joint.child in above:
            robot.fault(
                joint.line,
                f"link {joint.child!r} has two parents, joints {above[joint.child].name!r} and "
                f"{joint.name!r}; this "
                "library does serial arms, so closed loops have to be cut: take out one joint, or rename "
                "its child.",
            )
        above[joint.child] = joint
    return above


def children_of(robot: RobotText) -> dict[str, list[JointText]]:
    """The joints below each link, in the file's order."""
    below: dict[str, list[JointText]] = {}
    for joint in robot.joints.values():
        below.setdefault(joint.parent, []).append(joint)
    return below


def refuse_loops(robot: RobotText, above: dict[str, JointText]) -> None:
    """Refuse links that go round in a loop."""
    good: set[str] = set()
    for name in robot.links:
        seen: list[str] = []
        visited: set[str] = set()
        while name in above and name not in good:
            if name in visited:
                ring = " -> ".join([*reversed(seen[seen.index(name) :]), seen[-1]])
                robot.fault(
                    above[name].line,
                    f"links go round in a loop, {ring}; cut it: a tree has one way to each link.",
                )
            seen.append(name)
            visited.add(name)
            name = above[name].parent
        good.update(seen)


def root_of(robot: RobotText, above: dict[str, JointText], root: str | None) -> str:
    """The link where all begins."""
    if root is not None:
        if root not in robot.links:
            raise ReadFault(
                f"{robot.file}: {option('root', repr(root))} is no link of this file; it has {some(robot.links)}."
            )
        return root
    roots = [name for name in robot.links if name not in above]
    if len(roots) > 1:
        robot.fault(
            robot.links[roots[1]].line,
            f"links {some(roots)} all have no parent, so the file holds {len(roots)} separate trees; join "
            "them with "
            f"a fixed joint, or choose one with {option('root')}.",
        )
    return roots[0]


def held_positions(robot: RobotText, lock: Mapping[str, float]) -> dict[str, float]:
    """Positions of the joints that are held: those in `lock`, and those that mimic them."""
    positions: dict[str, float] = {}
    for name, value in lock.items():
        if name not in robot.joints:
            raise ReadFault(
                f"{robot.file}: lock names {name!r}, which is no joint of this file; it has "
                f"{some(robot.joints)}."
            )
        joint = robot.joints[name]
        if not joint.moving:
            robot.fault(
                joint.line,
                f"lock names joint {name!r}, which is {joint.kind}; only joints with one degree of freedom "
                "can be held.",
            )
        if not is_number(value) or value != value or abs(value) == float("inf"):
            raise ReadFault(
                f"{robot.file}: lock gives {value!r} for joint {name!r}; give its position, a finite number "
                "in rad or m."
            )
        positions[name] = float(value)
    for name in positions:
        _refuse_contradiction(robot, name, positions)
    return positions


def _refuse_contradiction(robot: RobotText, name: str, positions: dict[str, float]) -> None:
    """Refuse to hold a joint elsewhere than where it follows another to that is held, too."""
    others = {other: at for other, at in positions.items() if other != name}
    led = mimicked(robot, robot.joints[name], others, set(robot.joints))
    if led is not None and abs(led - positions[name]) > APART * max(1.0, abs(led)):
        robot.fault(
            robot.joints[name].line,
            f"lock holds joint {name!r} at {positions[name]:.10g}, and it mimics one that is held, which puts it at "
            f"{led:.10g}; leave it out of lock, or hold it there.",
        )


def let_go(robot: RobotText, held: Mapping[str, float], moving: set[str]) -> list[tuple[str, str]]:
    """Joints that are held though they mimic one that moves, each with its leader: the file's coupling is cut."""
    pairs = [(name, joint.mimic.joint) for name in held if (joint := robot.joints[name]).mimic is not None]
    return [(name, leader) for name, leader in pairs if leader in moving]


# -- the way from root to tip --------------------------------------------------------------------------------


def _path(
    robot: RobotText, above: dict[str, JointText], start: str, tip: str, positions: dict[str, float]
) -> list[JointText]:
    asked = option("tip", repr(tip))
    if tip not in robot.links:
        inner = {joint.parent for joint in robot.joints.values()}
        ends = sorted(robot.links, key=lambda name: name in inner)  # those that arms end with, first
        meant = did_you_mean(tip, ends)
        raise ReadFault(f"{robot.file}: {asked} is no link of this file{meant}; it has {some(ends)}.")
    path: list[JointText] = []
    name = tip
    while name != start:
        if name not in above:
            raise ReadFault(
                f"{robot.file}: there is no way from {start!r} to {asked}; choose a tip beyond the root."
            )
        path.append(above[name])
        name = above[name].parent
    masters = {joint.name for joint in path if joint.moving}
    moving = [
        joint
        for joint in reversed(path)
        if joint.kind != "fixed" and not is_held(robot, joint, positions, masters)
    ]
    return [one_degree(robot, joint) for joint in moving]


def _only_way(
    robot: RobotText, below: dict[str, list[JointText]], start: str, positions: dict[str, float]
) -> list[JointText]:
    """Without a tip: from each body one joint may lead on."""
    path: list[JointText] = []
    everything = set(robot.joints)
    body = [start]
    while body:
        leaving: list[JointText] = []
        for name in body:  # grows while it is walked
            for joint in below.get(name, ()):
                if joint.kind == "fixed" or is_held(robot, joint, positions, everything):
                    body.append(joint.child)
                else:
                    leaving.append(joint)
        path += [one_degree(robot, joint) for joint in leaving]
        body = [joint.child for joint in leaving]
    return path


def is_held(robot: RobotText, joint: JointText, positions: dict[str, float], others: set[str]) -> bool:
    """Whether a joint is held: it is in `lock`, or mimics one that is (or that is not among `others`)."""
    return joint.name in positions or (
        joint.mimic is not None and mimicked(robot, joint, positions, others) is not None
    )


def mimicked(robot: RobotText, joint: JointText, positions: dict[str, float], free: set[str]) -> float | None:
    """Position of a mimic joint whose master is held; None where the master moves."""
    factor, offset, seen = 1.0, 0.0, {joint.name}
    while joint.mimic is not None and joint.name not in positions:
        master = robot.joints.get(joint.mimic.joint)
        if master is None or master.name in seen:
            robot.fault(
                joint.line,
                f"joint {joint.name!r} mimics {joint.mimic.joint!r}, which is "
                f"{'no joint of this file' if master is None else 'itself, in a circle'}; correct the name.",
            )
        if len(seen) > MAX_JOINTS:
            robot.fault(
                joint.line,
                f"more than {MAX_JOINTS} joints mimic one another in a row up to {joint.name!r}; let each mimic the "
                "one that leads.",
            )
        offset += factor * joint.mimic.offset
        factor *= joint.mimic.multiplier
        joint = master
        seen.add(joint.name)
    if joint.name in positions:
        return factor * positions[joint.name] + offset
    return None if joint.name in free else offset


def one_degree(robot: RobotText, joint: JointText) -> JointText:
    """The joint, if it can be a joint of an arm."""
    if not joint.moving:
        way = (
            f"start after it with {option('root')}"
            if joint.kind == "floating"
            else "replace it by two prismatic joints and a revolute one"
        )
        robot.fault(
            joint.line,
            f"joint {joint.name!r} is {joint.kind!r}; this library does serial arms with revolute, "
            "continuous, prismatic "
            f"and fixed joints. Make it fixed, or {way}.",
        )
    if joint.mimic is not None:
        robot.fault(
            joint.line,
            f"joint {joint.name!r} mimics {joint.mimic.joint!r}; coupled joints are not arms of this "
            "library. Hold it, "
            f"{held({joint.name: 0.0})}, or choose a tip before it.",
        )
    return joint


# -- bodies --------------------------------------------------------------------------------------------------


def body_of(
    robot: RobotText,
    below: dict[str, list[JointText]],
    first: str,
    free: set[str],
    positions: dict[str, float],
    rides: bool,
) -> tuple[Member, ...]:
    """Links welded to `first`. What hangs on the base and could move has no influence, and is left out."""
    members = [Member(robot.links[first], None, -1, 0.0)]
    for number, member in enumerate(members):  # grows while it is walked
        for joint in below.get(member.link.name, ()):
            still = joint.kind == "fixed" or is_held(robot, joint, positions, free)
            if joint.name in free or not (rides or still):
                continue
            members.append(
                Member(robot.links[joint.child], joint, number, _position(robot, joint, positions, free))
            )
    return tuple(members)


def _position(robot: RobotText, joint: JointText, positions: dict[str, float], free: set[str]) -> float:
    if joint.kind == "fixed":
        return 0.0
    if not joint.moving:
        robot.fault(
            joint.line,
            f"joint {joint.name!r} is {joint.kind!r} and hangs on the arm; its position is not one number, "
            "so it cannot "
            "be held. Make it fixed, or take it out.",
        )
    if joint.name in positions:
        return positions[joint.name]
    if joint.mimic is None:
        return 0.0
    value = mimicked(robot, joint, positions, free)
    if value is None:
        robot.fault(
            joint.line,
            f"joint {joint.name!r} hangs on the arm and mimics {joint.mimic.joint!r}, which moves, so it "
            "cannot simply be "
            f"held. Hold it anyway, {held({joint.name: 0.0})}, or take it out.",
        )
    return value


def tool_of(last: tuple[Member, ...], tip: str | None) -> str | None:
    """The tip that was named (if it is on the last body), or the only end of the last body."""
    names = [member.link.name for member in last]
    if tip is not None:
        return tip if tip in names else None
    inner = {last[member.before].link.name for member in last if member.before >= 0}
    ends = [name for name in names if name not in inner]
    return ends[0] if len(ends) == 1 else "tool" if "tool" in names else None


def some(names: Any, last: str = "") -> str:
    """Names in quotes, the first eight of them; `last` stands before the last."""
    listed = [repr(name) for name in names]
    if len(listed) > 8:
        return ", ".join(listed[:8]) + f" and {len(listed) - 8} more"
    return f"{', '.join(listed[:-1])} {last} {listed[-1]}" if last and len(listed) > 1 else ", ".join(listed)
