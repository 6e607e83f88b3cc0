"""A tree with frames at its joints: what formulations that read the view `ten` walk, chain by chain.

As base_parameters does for an arm: `described_tree` takes the frames as they are, `reframed_tree` better ones along
each stretch, `regrouped_tree` moves from each body to the one before what the joint between them cannot tell apart. A
body has one frame, whichever chain it is walked by, so that the compiler finds a shared trunk by itself.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from forearm.algebra import Vector, is_number, product
from forearm.chain_cuts import owned, paths, serial_links
from forearm.compiler.model.base_parameters import (
    JointLink,
    Regrouped,
    carried,
    clean,
    reframed,
    sizes_met,
    snapped,
)
from forearm.frames import SAME, Pose
from forearm.free_base import SIX, TURN, six_links
from forearm.inertia import Ten, moved_ten, numbers_of, split_at_axis, sum_of_tens, ten_from
from forearm.link import Link
from forearm.robot import Robot

NOTHING = Ten(0.0, np.zeros(3), np.zeros((3, 3)))


@dataclass(frozen=True)
class TreeFrames:
    """Every joint's frame with its ten parameters, and the way to it from the joint before."""

    name: str
    """The robot's name."""
    parents: tuple[int, ...]
    """The joint, 1 to n, before each; 0 is the base. The six joints of a free base are among them."""
    joints: tuple[JointLink, ...]
    """Joints with the bodies that they move; the pose after each is in `steps`."""
    steps: tuple[Pose, ...]
    """The constant pose from the frame of the joint before to each joint's axis."""
    gravity: Vector
    """Gravity in the axes of frame 0 (3,) [m/s²]."""

    def chains(self, gravity: Vector | None = None) -> list[tuple[Regrouped, tuple[int, ...]]]:
        """Chains from the base to each leaf, each body on one of them, with the numbers of their joints from 0.

        Frame 0 of each is at its first joint; gravity (here in the axes of the base, the tree's own by default) is
        turned there.
        """
        down = self.gravity if gravity is None else gravity
        found = []
        for path, own in zip(paths(self.parents), owned(self.parents), strict=True):
            ends = (*(self.steps[i - 1] for i in path[1:]), SAME)
            links = tuple(
                replace(
                    self.joints[i - 1],
                    geometry=self.joints[i - 1].geometry.replace(pose=end),
                    ten_at_joint=self.joints[i - 1].ten_at_joint if i in own else NOTHING,
                )
                for i, end in zip(path, ends, strict=True)
            )
            chain = Regrouped(self.name, links, SAME, product(self.steps[path[0] - 1].R.T, down))
            found.append((chain, tuple(i - 1 for i in path)))
        return found

    def with_tens(self, tens: Sequence[Ten]) -> "TreeFrames":
        """The same frames with other bodies, given at the joints."""
        both = zip(self.joints, tens, strict=True)
        return replace(self, joints=tuple(replace(joint, ten_at_joint=ten) for joint, ten in both))

    def at_joint(self, number: int, body: Ten) -> Ten:
        """A body given in the robot's frame of a link (1 to n), in the frame at its joint."""
        joint = self.joints[number - 1]
        return moved_ten(moved_ten(body, joint.joint.pose.inverse()), joint.shift)

    def with_body(self, number: int, body: Ten) -> "TreeFrames":
        """The same tree whose link 1 to n holds one more body, given in the robot's frame of that link."""
        tens = [joint.ten_at_joint for joint in self.joints]
        tens[number - 1] = sum_of_tens(tens[number - 1], self.at_joint(number, body))
        return self.with_tens(tens)

    def with_numbers(self, rows: Any, first: int) -> "TreeFrames":
        """The same frames with bodies given in the robot's link frames, ten numbers each, from link `first` on."""
        given = [self.at_joint(k, ten_from(row)) for k, row in enumerate(rows, first)]
        return self.with_tens([*[NOTHING] * (first - 1), *given])


def described_tree(robot: Robot) -> TreeFrames:
    """The robot's own parameters in its own frames at the joints: nothing chosen, nothing simplified."""
    links, parents, mounts = _grown(robot)
    steps = [links[p - 1].pose @ mount if p else mount for p, mount in zip(parents, mounts, strict=True)]
    joints = tuple(_plain(link) for link in links)
    return TreeFrames(robot.name, parents, joints, tuple(steps), np.array(robot.gravity_in_base))


def reframed_tree(robot: Robot) -> TreeFrames:
    """The robot's own parameters in better frames along each stretch between branches."""
    links, parents, mounts = _grown(robot)
    before = len(SIX) if robot.free else 0
    joints: list[Any] = [_plain(link) for link in links]
    steps: list[Any] = [links[p - 1].pose @ m if p else m for p, m in zip(parents, mounts, strict=True)]
    reach = _reach(links, steps)
    for numbers in owned(parents):
        own = [i for i in numbers if i > before]  # the six joints stay where they are
        if not own:
            continue
        ours = [links[i - 1] for i in own]
        _, serial = serial_links(SAME, ours, [SAME, *(mounts[i - 1] for i in own[1:])])
        better = reframed(Stretch(robot.name, serial, np.zeros(3)))  # type: ignore[arg-type]
        first = parents[own[0] - 1]
        start = joints[first - 1].shift.inverse() @ links[first - 1].pose if first else SAME
        steps[own[0] - 1] = clean(start @ mounts[own[0] - 1] @ better.root, reach)
        for k, i in enumerate(own):
            joints[i - 1] = replace(
                better.links[k], geometry=better.links[k].geometry.replace(pose=SAME), joint=links[i - 1]
            )
            if k + 1 < len(own):
                steps[own[k + 1] - 1] = better.links[k].pose
    return TreeFrames(robot.name, parents, tuple(joints), tuple(steps), np.array(robot.gravity_in_base))


def regrouped_tree(tree: TreeFrames, free: bool) -> TreeFrames:
    """Move from each body to the one before what the joint between them cannot tell apart, leaves first."""
    tens = [joint.ten_at_joint for joint in tree.joints]
    met = [sizes_met(joint) for joint in tree.joints]
    kept = len(SIX) if free else 0
    for i in range(len(tens), kept, -1):
        joint, parent = tree.joints[i - 1], tree.parents[i - 1]
        tens[i - 1], move = split_at_axis(tens[i - 1], revolute=joint.revolute)
        if parent:
            moved = carried(joint, tree.steps[i - 1], move)
            tens[parent - 1] = sum_of_tens(tens[parent - 1], moved)
            met[parent - 1] = met[parent - 1].with_body(met[i - 1], tree.steps[i - 1], joint)
    reach = _reach([joint.geometry for joint in tree.joints], tree.steps)
    rows = zip(tens, met, strict=True)
    return tree.with_tens([ten_from(snapped(numbers_of(ten), reach, sizes)) for ten, sizes in rows])


@dataclass(frozen=True)
class Stretch:
    """Links one after the other, as far as frames are concerned."""

    name: str
    """The robot's name."""
    links: Sequence[Link]
    """The links."""
    gravity_in_base: Vector
    """Not used: frames do not depend on it."""

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.links)


def _reach(links: Sequence[Link], steps: Sequence[Pose]) -> float:
    """The length of all links and of the ways between them [m]."""
    lengths = (*(link.d for link in links), *(x for step in steps for x in step.translation))
    return math.fsum(abs(x) for x in lengths if is_number(x))


def _plain(link: Link) -> JointLink:
    joint = Link(link.kind, SAME, link.theta, link.d, flip=link.flip, offset=link.offset)
    return JointLink(joint, link.ten_at_joint, link)


def _grown(robot: Robot) -> tuple[list[Link], tuple[int, ...], list[Pose]]:
    """Links, parents and mounts with the six joints of a free base before the others."""
    if not robot.free:
        return list(robot.links), robot.parents, list(robot.mounts)
    six = six_links()
    links = [*six[:-1], robot.trunk.on(six[-1]), *robot.links]
    mounts = [TURN, *[SAME] * (len(SIX) - 1), *robot.mounts]
    return links, (*range(len(SIX)), *(p + len(SIX) for p in robot.parents)), mounts
