"""Every refusal of `forearm.faults.trees`: how to provoke it, and what it says."""

from typing import Any

import numpy as np

import forearm as fa
from forearm import faults
from forearm.couplings import Coupling
from forearm.frames import Pose
from forearm.inertia import Inertia
from forearm.link import Body, Link
from forearm.robot import Robot

ROD = dict(mass=1.0, com=(-0.5, 0, 0), inertia=Inertia.rod(1.0, 1.0))


def fork(**rest: Any) -> Robot:
    """A stem with two branches."""
    links = [Link.dh("revolute", a=1.0, name=name, **ROD) for name in ("stem", "left", "right")]
    return Robot("fork", links, **{"parents": (0, 1, 1), **rest})


def free_body() -> Robot:
    """A body that floats."""
    return Robot("stone", (), (), free=True, trunk=Body(1.0, inertia=Inertia.sphere(1.0, 0.1)))


def lopsided() -> Any:
    """A state of the free body whose quaternion is too long."""
    q = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.1])
    return faults.unit_quaternion(free_body(), q)


ARM_FAULTS = [
    ("parents of no kind", lambda: fork(parents=5), r"robot 'fork': parents is 5; give a sequence"),
    ("parent nowhere", lambda: fork(parents=(np.nan, 0, 0)), r"link 1 has parent nan; give 0, for the base"),
    ("couplings of no kind", lambda: fork(couplings=5), r"a robot: couplings is 5; give a sequence"),
    ("terms of no kind", lambda: Coupling("left", None), r"'left': terms is None; give a sequence"),
    ("free by word", lambda: fork(free="yes"), r"robot 'fork': free is 'yes'; give True or False"),
    (
        "tool of no kind",
        lambda: fork(tools=["hand"]),
        r"a frame is a str; give a NamedFrame",
    ),
    ("chain of a body", lambda: free_body().arm("base"), r"no joint moves it; this robot has no joints"),
    (
        "short state of a free robot",
        lambda: fork(free=True, configurations={"home": (0, 0, 0)}),
        r"configuration 'home' has 3 values; the arm has 10 numbers in q",
    ),
    (
        "factor is no number",
        lambda: Coupling("left", (("right", np.nan),)),
        r"coupling of joint 'left': factor is nan; give a finite number",
    ),
    (
        "coupling without leader",
        lambda: Coupling("left", ()),
        r"coupling of joint 'left': terms are \(\); give pairs \(joint that leads, factor\)",
    ),
    (
        "leader twice",
        lambda: Coupling("left", (("right", 1.0), ("right", 2.0))),
        r"coupling of joint 'left' names a leader twice; add its factors up",
    ),
    (
        "coupling of four words",
        lambda: fork(couplings={"left": ("right", 1.0, 0.0, 2.0)}),
        r"coupling of joint 'left' is .*; give the joint that leads",
    ),
    (
        "couplings in a circle",
        lambda: fork(couplings={"left": "right", "right": "left"}),
        r"joints follow each other in a circle, left -> right -> left; one of them has to lead",
    ),
    (
        "coupling to itself",
        lambda: fork(couplings={"left": "left"}),
        r"joint 'left' is coupled to itself; name another joint",
    ),
    (
        "coupling of nobody",
        lambda: fork(couplings={"lefft": "right"}),
        r"a coupling names joint 'lefft', which is not there \(did you mean 'left'\?\)",
    ),
    (
        "two couplings of one joint",
        lambda: fork(couplings=(Coupling("left", (("right", 1.0),)), Coupling("left", (("stem", 1.0),)))),
        r"joint 'left' has 2 couplings; give one, with all its terms",
    ),
    (
        "too few parents",
        lambda: fork(parents=(0, 1)),
        r"robot 'fork' has 3 links and 2 parents; give one parent for each link",
    ),
    (
        "child before its parent",
        lambda: fork(parents=(2, 0, 1)),
        r"link 1 has parent 2; give 0, for the base",
    ),
    (
        "too few mounts",
        lambda: fork(mounts=(Pose(),)),
        r"has 3 links and 1 mounts; give a Pose for each joint, or none at all",
    ),
    (
        "nothing moves",
        lambda: Robot("rock", (), ()),
        r"robot 'rock' has no links, and its base is fixed: nothing moves",
    ),
    (
        "chain to the base",
        lambda: fork().arm("base"),
        r"robot 'fork': 'base' stands on the base, so no joint moves it; give an end of an arm: left, right",
    ),
    (
        "chain through a coupling",
        lambda: fork(couplings={"left": "right"}).arm("left"),
        r"the chain to 'left' needs joint 'left' and those that lead it \(right\)",
    ),
]
"""(name, how to provoke it, what it says): of the robot."""

STATE_FAULTS = [
    (
        "free body for a chain",
        lambda: fa.view(free_body()),
        r"robot 'stone': view takes one chain on a fixed base, and this is a free body; hang links",
    ),
    (
        "frame of a free body",
        lambda: fa.pose(free_body(), free_body().neutral()),
        r"robot 'stone' has no frame 'tool' of its own .* frame='base' say",
    ),
    (
        "joints of a free body",
        lambda: fa.reactions(free_body(), free_body().neutral(), np.zeros(6), np.zeros(6)),
        r"robot 'stone': reactions are those of joints, and this is a free body; it has none",
    ),
    (
        "payload in which hand",
        lambda: fa.compile(fork(), "inverse_dynamics", free=("payload",)),
        r"free parameter 'payload': robot 'fork' has no frame 'tool' of its own; .* 'payload@left' say",
    ),
    (
        "reaching with coupled joints",
        lambda: fa.inverse_kinematics(fork(couplings={"left": "right"}), np.eye(4), frame="left"),
        r"inverse_kinematics moves each joint by itself, .* take the couplings out: robot.with_couplings\(\(\)\)",
    ),
    (
        "reaching from a free base",
        lambda: fa.inverse_kinematics(fork().freed(), np.eye(4), frame="left"),
        r"inverse_kinematics moves joints on a fixed base, and this robot has a free base; fix it, robot.fixed\(\)",
    ),
    (
        "arguments of a sum of chains",
        lambda: fa.count("luh_walker_paul_1980", arm=fork(), arguments=((0, 0, 0),) * 3),
        r"count: arguments are those of one arm, and robot 'fork' is a sum of 2",
    ),
    (
        "which tool",
        lambda: fork().place_of("tool"),
        r"robot 'fork' has no frame 'tool' of its own \(its tools: none\); say which frame is meant, frame='left'",
    ),
    (
        "tree for a chain",
        lambda: faults.needs_chain(fork(), "derive"),
        r"robot 'fork': derive takes one chain on a fixed base.*robot.arm\('left'\)",
    ),
    (
        "motion of coupled joints",
        lambda: fa.point_to_point(
            fork(couplings={"left": "right"}), [0, 0], [1, 1], speeds=1, accelerations=1
        ),
        r"robot 'fork': point_to_point moves each joint by itself, and this robot has joints that follow others",
    ),
    (
        "motion of a free base",
        lambda: fa.via_points(fork(free=True, trunk=Body(1.0)), np.zeros((3, 9)), speeds=1, accelerations=1),
        r"robot 'fork': via_points moves joints on a fixed base, and this robot has a free base; fix it",
    ),
    (
        "mount of a free base",
        lambda: fa.mount_wrench(free_body(), np.eye(7)[6], np.zeros(6), np.zeros(6)),
        r"robot 'stone' has a free base, which stands on nothing",
    ),
    (
        "quaternion too long",
        lopsided,
        r"the base's quaternion, q\[3:7\] = \(x, y, z, w\), has length 1.1; give one of unit length",
    ),
]
"""(name, how to provoke it, what it says): of a call."""
