"""Cutting a tree into chains: dynamics is linear in the bodies, so a tree is a sum of chains.

Every chain runs from the base to a leaf, as an Arm. Each body belongs to exactly one of them, and is massless in the
others; torques, M, C and g of the tree are the sums at the joints that the chains share. So what was written for serial
arms computes trees. A free base is six joints that all chains share (`free_base`).
"""

from collections.abc import Sequence
from typing import Any

from forearm import faults
from forearm.arm import Arm, Defect
from forearm.frames import SAME, NamedFrame, Pose
from forearm.free_base import TURN, six_links
from forearm.link import NO_BODY, Link, combined, moved_frame


def paths(parents: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Link numbers from the base to each leaf, leaves in their order."""
    inner = set(parents)
    return tuple(path_to(parents, leaf) for leaf in range(1, len(parents) + 1) if leaf not in inner)


def path_to(parents: Sequence[int], number: int) -> tuple[int, ...]:
    """Link numbers from the base to a link, 1 to n."""
    path: list[int] = []
    while number:
        path.insert(0, number)
        number = parents[number - 1]
    return tuple(path)


def owned(parents: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Which links of each path are its own: those that no path before it has."""
    taken: set[int] = set()
    found = []
    for path in paths(parents):
        found.append(tuple(number for number in path if number not in taken))
        taken.update(path)
    return tuple(found)


def chain_arms(robot: Any) -> tuple[Arm, ...]:
    """The robot as arms from the base to each leaf, each body on one of them."""
    ways = zip(paths(robot.parents), owned(robot.parents), strict=True) if robot.links else [((), ())]
    return tuple(_chain_arm(robot, path, own, first=k == 0) for k, (path, own) in enumerate(ways))


def _chain_arm(robot: Any, path: tuple[int, ...], own: Sequence[int], *, first: bool) -> Arm:
    links = [robot.links[i - 1] if i in own else bodiless(robot.links[i - 1]) for i in path]
    base: Pose = robot.base
    before: tuple[Link, ...] = ()
    if robot.free:
        six = six_links()
        before = (*six[:-1], robot.trunk.on(six[-1]) if first else six[-1])
        base = TURN
    mounts = [robot.mounts[i - 1] for i in path]
    number = {i: k for k, i in enumerate(path, len(before) + 1) if i in own}
    if before and first:
        number[0] = len(before)  # the base's body rides on the last of the six
    defects = tuple(d.replace(link=number[d.link]) for d in robot.defects if d.link in number)
    base, serial = serial_links(base, (*before, *links), (*(SAME for _ in before), *mounts))
    end = path[-1] if path else 0
    tool = next((t.pose for t in robot.tools if t.link == end), SAME)
    return Arm(
        f"{robot.name}/{robot.end_name(end)}",
        serial,
        base=base,
        tool=tool,
        gravity=robot.gravity,
        defects=defects,
    )


def on_six_joints(robot: Any) -> Any:
    """A free robot on a fixed base, its first six joints those that a free base is; another robot as it is.

    What holds for every fixed robot can then be asked of a free one: laws, and how it differs from another.
    """
    if not robot.free:
        return robot
    six = six_links()
    before = len(six)
    moved = {
        name: tuple(x.replace(link=x.link + before) for x in getattr(robot, name))
        for name in ("tools", "frames", "defects")
    }
    return robot.replace(
        links=(*six[:-1], robot.trunk.on(six[-1]), *robot.links),
        parents=(*range(before), *(parent + before for parent in robot.parents)),
        mounts=(*(SAME for _ in six), *robot.mounts),
        base=robot.base @ TURN,
        free=False,
        trunk=NO_BODY,
        configurations=(),
        **moved,
    )


def bodiless(link: Link) -> Link:
    """The link without its body, and without its drive."""
    return Link(
        link.kind, link.pose, link.theta, link.d, name=link.name, flip=link.flip, offset=link.offset
    ).replace(limits=link.limits)


def serial_links(base: Pose, links: Sequence[Link], mounts: Sequence[Pose]) -> tuple[Pose, tuple[Link, ...]]:
    """Links one after the other, each frame moved to the axis of the joint after it; where the first joint is."""
    ends = (*mounts[1:], SAME)
    moved = (link if end == SAME else moved_frame(link, end) for link, end in zip(links, ends, strict=True))
    return base @ mounts[0] if mounts[0] != SAME else base, tuple(moved)


def still_links(robot: Any, path: Sequence[int], positions: dict[int, Any]) -> list[Link]:
    """The links of a path, each with all that hangs beside the path welded to it, at given joint positions."""
    links = {i: robot.links[i - 1] for i in path}
    for number in range(len(robot.links), 0, -1):
        if number in links:
            continue
        on, pose = number, SAME
        while on and on not in links:
            link, q = robot.links[on - 1], positions[on]
            step = robot.mounts[on - 1] @ Pose(link.rotation(q), tuple(link.p_before(q)))  # type: ignore[arg-type]
            on, pose = robot.parents[on - 1], step @ pose
        mass, center, tensor = robot.links[number - 1].about_com
        if on:
            links[on] = combined(links[on], mass, pose.R @ center + pose.p, pose.R @ tensor @ pose.R.T)
    return [links[i] for i in path]


def carried_frame(frame: NamedFrame, number: int, robot: Any, path: tuple[int, ...]) -> NamedFrame:
    """A frame of the robot on the chain's link, whose own frame was moved to the axis of the next joint."""
    step = robot.mounts[path[number] - 1] if number < len(path) else SAME
    return NamedFrame(frame.name, number, step.inverse() @ frame.pose)


def _defects_of(robot: Any, links: Sequence[Link], numbers: dict[int, int]) -> tuple[Defect, ...]:
    """The declared defects of a chain's links, and those that they have from what is welded to them."""
    own = {
        (numbers[d.link], d.kind): d.replace(link=numbers[d.link]) for d in robot.defects if d.link in numbers
    }
    beside = [d for d in robot.defects if d.link and d.link not in numbers]
    for number, kind in faults.physical_faults(links) if beside else ():
        told = "; ".join(f"{robot.links[d.link - 1].name!r}, held beside it, {d.reason}" for d in beside)
        own.setdefault((number, kind), Defect(number, kind, told))
    return tuple(own.values())


def _remarks_of(robot: Any, path: Sequence[int]) -> tuple[str, ...]:
    """What a person should know about a chain."""
    said = f"one chain of robot {robot.name!r}; what hangs beside it is held at zero"
    if all(robot.mounts[i - 1] == SAME for i in path[1:]):
        return (said,)
    moved = (
        "its frames are at the joints after them, so a joint's name or number means another place than in the robot "
        "(frames that have names of their own, such as links of a file, stay)"
    )
    return said, moved


def arm_to(robot: Any, tip: str | int) -> Arm:
    """One chain of a robot to a frame, which is its tool; other branches are held at zero, a free base is fixed."""
    number, pose = robot.place_of(tip)
    if not number:
        faults.tip_on_base(robot, tip, robot.tips)
    path = path_to(robot.parents, number)
    on = {robot.links[i - 1].name for i in path}
    for coupling in robot.couplings:
        if {coupling.joint, *dict(coupling.terms)} & on:
            faults.torn_coupling(robot, coupling, tip)
    held = dict(enumerate(robot.coupling_map[1], 1))
    links = still_links(robot, path, held)
    base, serial = serial_links(robot.base, links, [robot.mounts[i - 1] for i in path])
    numbers = {i: k for k, i in enumerate(path, 1)}
    frames = (f for f in (*robot.frames, *robot.tools) if f.link in numbers and f.name != tip)
    return Arm(
        f"{robot.name}/{tip}",
        serial,
        base=base,
        tool=pose,
        gravity=robot.gravity,
        defects=_defects_of(robot, links, numbers),
        remarks=_remarks_of(robot, path),
        provenance=robot.provenance,
        dynamics=robot.dynamics,
        frames=tuple(carried_frame(f, numbers[f.link], robot, path) for f in frames),
    )
