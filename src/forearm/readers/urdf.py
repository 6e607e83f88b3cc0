"""URDF files: the whole robot, or one serial chain of it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from forearm.arm import Arm
from forearm.readers.trees.chain_or_tree import read_robot
from forearm.readers.urdf_elements import robot_from_bytes, robot_from_file
from forearm.robot import Robot


def read_urdf(
    path: str | Path,
    *,
    tip: str | None = None,
    root: str | None = None,
    lock: Mapping[str, float] | None = None,
    right_angles: float | None = None,
    keep_defects: bool = False,
    allow_massless: bool = False,
    check_units: bool = True,
    **rest: Any,
) -> Arm | Robot:
    """The arm in a URDF file, or the robot, where it branches, joints mimic others, or the base is free.

    tip: the link where one chain ends, and the tool frame; what hangs beside that chain is held at zero.
    root: the link where it begins (fixed to the world); the file's root otherwise.
    lock: joints to hold, with their positions {"finger": 0.0}.
    right_angles: snap roll, pitch, yaw this near to a right angle [rad]; None reads them exactly as written.
    keep_defects: load impossible inertias as they are published, as declared defects with a note.
    allow_massless: take moving links without <inertial> as massless.
    check_units: refuse sizes that look like degrees, millimetres or grams.
    `rest` are fields of Arm or Robot: name, base (a Pose, or "free"), gravity, couplings (of a Robot), ...
    """
    robot = robot_from_file(path, check_units)
    return read_robot(robot, tip, root, lock, right_angles, keep_defects, allow_massless, rest)


def from_urdf(
    text: str | bytes,
    file: str = "text",
    *,
    tip: str | None = None,
    root: str | None = None,
    lock: Mapping[str, float] | None = None,
    right_angles: float | None = None,
    keep_defects: bool = False,
    allow_massless: bool = False,
    check_units: bool = True,
    **rest: Any,
) -> Arm | Robot:
    """The arm in a URDF text; arguments as in `read_urdf`, `file` is what messages call it."""
    content = text.encode(errors="replace") if isinstance(text, str) else text
    robot = robot_from_bytes(content, file, check_units)
    return read_robot(robot, tip, root, lock, right_angles, keep_defects, allow_massless, rest)
