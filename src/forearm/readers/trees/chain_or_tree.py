"""What becomes of a table of links and joints: an Arm where it is one chain on a fixed base, a Robot otherwise."""

from collections.abc import Mapping
from typing import Any

from forearm.arm import Arm
from forearm.faults import ReadFault, shown, yes_or_no
from forearm.frames import Pose
from forearm.outside.option_names import option
from forearm.readers.robot_text import RobotText
from forearm.readers.serial_arm import arm_of_chain
from forearm.readers.serial_chain import chain_of
from forearm.readers.trees.branched_tree import tree_of
from forearm.readers.trees.tree_robot import robot_of_tree
from forearm.robot import Robot

FREE = "free"
"""What `base` is called where it moves freely."""


def read_robot(
    robot: RobotText,
    tip: str | None,
    root: str | None,
    lock: Mapping[str, float] | None,
    snap: float | None,
    keep: bool,
    massless: bool,
    rest: dict[str, Any],
) -> Arm | Robot:
    """The arm, one chain (`tip`), or the whole robot; arguments as in `read_urdf`."""
    for name, value in (("tip", tip), ("root", root)):
        if not (value is None or isinstance(value, str)):
            raise ReadFault(f"{robot.file}: {option(name, shown(value))} is no name; give that of a link.")
    free = _freed(robot, tip, rest)
    if tip is None:
        tree = tree_of(robot, root, lock)
        if free or rest.get("couplings") or not tree.is_chain:
            return robot_of_tree(robot, tree, snap, keep, massless, {**rest, "free": free})
    if rest.pop("couplings", None):
        raise ReadFault(
            f"{robot.file}: {option('tip')} and couplings= exclude each other: the joints of one chain do not follow "
            f"others. Leave one out; load(...).arm({tip!r}) gives one chain of a coupled robot where that is one."
        )
    return arm_of_chain(robot, chain_of(robot, root, tip, lock), snap, keep, massless, rest)


def _freed(robot: RobotText, tip: str | None, rest: dict[str, Any]) -> bool:
    """Whether base="free" was said, or free=True, Robot's own word for it; a Pose stays where it is."""
    base, said = rest.get("base"), yes_or_no(rest.pop("free", False), f"{robot.file}: free", ReadFault)
    if isinstance(base, str) and base == FREE:
        del rest["base"]
    elif not (base is None or isinstance(base, Pose)):
        raise ReadFault(
            f"{robot.file}: base is {shown(base)}; give a Pose, or 'free' for a base that moves freely."
        )
    elif not said:
        return False
    if tip is not None:
        raise ReadFault(
            f"{robot.file}: {option('base', repr(FREE))} and {option('tip')} exclude each other: one chain stands on a "
            "fixed base."
        )
    return True
