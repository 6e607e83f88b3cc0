"""Better frames and base parameters are trusted once they have given the arm's own torques.

What the compiler makes of an arm's numbers (common normals, components that are rounding, bodies that ride on the link
before) is held against the arm as it is described, on two states in plain floats: milliseconds. What is off by more
than rounding is not used, and the next plainer frames are tried.
"""

import math
from functools import lru_cache

import numpy as np

from forearm.algebra import Vector, is_number
from forearm.arm import Arm
from forearm.compiler.model.base_parameters import Regrouped, reach_of, reframed, regrouped
from forearm.compiler.model.trees.tree_frames import TreeFrames, described_tree, reframed_tree, regrouped_tree
from forearm.formulations import FORMULATIONS
from forearm.inertia import Inertia
from forearm.outside.running_log import LOG
from forearm.robot import Robot

LADDER = ("regrouped", "reframed", "arm")
"""Ways to describe a chain, cheapest first; the last is the arm as it is."""
HELD = 4 * np.finfo(float).eps
"""How far torques may be off, relative to the most that forces and moments on the way can be."""
BY = "khalil_kleinfinger_1987"
"""The formulation that both are put through: it reads the view `ten`."""


@lru_cache(maxsize=64)
def trusted(arm: Arm, frames: str, origins: tuple[int, ...] | None = None) -> str:
    """The frames asked for, or the next plainer ones that give the arm's own torques."""
    if frames == "arm" or not _is_plain(arm):
        return frames  # numbers beside symbols are not simplified further than rounding
    body = arm if arm.dynamics else _with_bodies(arm)
    for tried in LADDER[LADDER.index(frames) : -1]:
        chain = (regrouped if tried == "regrouped" else reframed)(body, origins)
        if _holds(body, chain):
            return tried
        LOG.warning("arm %s: %s frames change its torques; they are not used", arm.name, tried)
    return "arm"


@lru_cache(maxsize=64)
def trusted_tree(robot: Robot, frames: str) -> str:
    """The frames asked for, or the next plainer ones that give the robot's own torques, summed over its chains."""
    if frames == "arm" or not robot.dynamics:
        return "arm"
    described = described_tree(robot)
    for tried in LADDER[LADDER.index(frames) : -1]:
        if _tree_holds(robot, described, tree_in(robot, tried)):
            return tried
        LOG.warning("robot %s: %s frames change its torques; they are not used", robot.name, tried)
    return "arm"


def tree_in(robot: Robot, frames: str) -> TreeFrames:
    """The robot's tree in frames of the ladder."""
    if frames == "arm":
        return described_tree(robot)
    tree = reframed_tree(robot)
    return regrouped_tree(tree, robot.free) if frames == "regrouped" else tree


def _tree_holds(robot: Robot, described: TreeFrames, tree: TreeFrames) -> bool:
    """Whether every joint's torque is the same, on two states of all joints."""
    torques, n = FORMULATIONS[BY].joint_torques, len(described.joints)
    before = n - len(robot.links)
    rng = np.random.default_rng(1)
    for _ in range(2):
        q, qd, qdd = rng.uniform(-1, 1, n), rng.uniform(-2, 2, n), rng.uniform(-5, 5, n)
        q[:before] = 0.0
        found, size = np.zeros((2, n)), np.zeros(n)
        for k, frames in enumerate((described, tree)):
            for chain, numbers in frames.chains():
                own = list(numbers)
                found[k, own] += torques(chain, q[own], qd[own], qdd[own])
        for arm in (x for x in robot.chains() if x.dynamics):
            own = [before + robot.all_joint_names.index(x) for x in arm.joint_names[before:]]
            own = [*range(before), *own]
            size[own] += _most(arm, q[own], qd[own], qdd[own])
        if not np.all(np.abs(found[1] - found[0]) <= HELD * size):
            return False
    return True


def _holds(arm: Arm, chain: Regrouped) -> bool:
    """Whether a chain's torques are the arm's, on two states."""
    torques = FORMULATIONS[BY].joint_torques
    for seed in (1, 2):
        q, qd, qdd = arm.random_state(seed)
        apart = np.abs(torques(chain, q, qd, qdd) - torques(arm, q, qd, qdd))
        if not np.all(apart <= HELD * _most(arm, q, qd, qdd)):
            return False
    return True


def _most(arm: Arm, q: Vector, qd: Vector, qdd: Vector) -> Vector:
    """What no force (sliding joints) or moment (turning joints) on the way to a torque exceeds (n,)."""
    turning = np.array([link.revolute for link in arm.links])
    slid = float(np.sum(np.abs(q[~turning])))
    length = reach_of(arm) + slid + max(math.hypot(*link.com) for link in arm.links)
    speed, spin_up = (float(np.sum(np.abs(x[turning]))) for x in (qd, qdd))
    sliding, push = (float(np.sum(np.abs(x[~turning]))) for x in (qd, qdd))
    spin = spin_up + speed * speed
    acceleration = float(np.linalg.norm(arm.gravity)) + spin * length + push + 2 * speed * sliding
    mass = sum(abs(link.mass) for link in arm.links)
    tensor = max(float(np.max(np.abs(link.about_com.inertia))) for link in arm.links)
    force = mass * acceleration
    return np.where(turning, force * length + tensor * spin, force)


def _is_plain(arm: Arm) -> bool:
    parts = [
        x for link in arm.links for x in (*link.pose.translation, *link.com, link.mass, link.d, link.theta)
    ]
    rows = [x for link in arm.links for x in sum((*link.pose.rotation, *link.inertia.tensor), ())]
    return all(is_number(x) for x in (*parts, *rows, *arm.gravity, *sum(arm.base.rotation, ())))


def _with_bodies(arm: Arm) -> Arm:
    """An arm without masses given some, so that its frames can be tried."""
    size = reach_of(arm) or 1.0
    some = dict(mass=1.0, com=(0.1 * size, 0.2 * size, 0.3 * size))
    tensor = Inertia.about_com(np.diag([0.1, 0.1, 0.1]) * size * size)
    return arm.replace(links=tuple(link.replace(**some, inertia=tensor) for link in arm.links))
