"""What a model of MuJoCo has and an arm has not: said in notes, wherever the file or its includes have it.

Where MuJoCo saw the words of an arm alone, the rest is looked for in the file; where it opened all that the file names,
in the compiled model.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from forearm.readers.file_content import shortened
from forearm.readers.serial_arm import listed

JOINTS = 2
"""MuJoCo's number of an equality of two joints (mjEQ_JOINT)."""
AT_JOINTS = (0, 1)
"""MuJoCo's numbers of actuators that act on a joint (mjTRN_JOINT, mjTRN_JOINTINPARENT)."""
ACTUATORS = (
    *("general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder", "muscle", "adhesion"),
    *("dcmotor", "orientation", "pid", "plugin"),
)
"""Elements that are actuators, and set what all actuators of their class begin with."""
NAMES = ("joint", "jointinparent")
SIZES = ("armature", "damping", "forcerange", "ctrlrange")
"""What an actuator says of its joint, and nothing else is kept: classes and actuators may be many."""


@dataclass(frozen=True)
class _Actuator:
    """What of an actuator concerns the joint that it acts on."""

    joint: str
    moves: bool
    """Whether it adds inertia or damping to the joint."""
    bounded: bool
    """Whether its force or its input has limits."""


def left_out(tree: Any, model: Any, whole: bool, joints: list[str], gravity_off: bool) -> list[str]:
    """Notes on what is left out.

    Args:
        tree: The file.
        model: MuJoCo's model.
        whole: Whether it is the model of the file with all that it names, or of an arm's words.
        joints: Names of the model's joints.
        gravity_off: Whether a flag switches gravity off.
    """
    if whole:
        joined = int(np.count_nonzero(np.asarray(model.eq_type) != JOINTS))
        tendons, drives = int(model.ntendon), list(_compiled(model, joints))
    else:
        joined = len(tree.findall("equality/*")) - len(tree.findall("equality/joint"))
        tendons, drives = len(tree.findall("tendon/*")), list(_written(tree))
    counts = {"equality constraints": joined, "tendons": tendons}
    said = [f"{n} {what} are not part of an arm, and left out" for what, n in counts.items() if n]
    driven = [drive.joint for drive in drives if drive.moves]
    if driven:
        said.append(f"armature or damping in the actuators of {listed(driven)} is left out; joints carry it")
    bounded = [drive.joint for drive in drives if drive.bounded and drive.joint != "?"]
    if bounded:
        said.append(
            f"limits in the actuators of {listed(bounded)} are not read; torques are limited by a joint's "
            "actuatorfrcrange"
        )
    if model.opt.density or model.opt.viscosity:
        said.append("the forces of the air or water around it (density, viscosity) are left out")
    if gravity_off:
        said.append('its <flag gravity="disable"> switches gravity off')
    return said


def _compiled(model: Any, joints: list[str]) -> Iterator[_Actuator]:
    """The actuators of a model."""
    for i in range(len(model.actuator_trntype)):
        at = int(model.actuator_trnid[i][0])
        joint = joints[at] if int(model.actuator_trntype[i]) in AT_JOINTS else "?"
        added = [getattr(model, f"actuator_{what}", None) for what in ("armature", "damping", "dampingpoly")]
        moves = any(np.any(values[i]) for values in added if values is not None)
        yield _Actuator(joint, moves, bool(model.actuator_forcelimited[i] or model.actuator_ctrllimited[i]))


def _written(tree: Any) -> Iterator[_Actuator]:
    """The actuators of a file, with what their classes give them."""
    classes = _classes(tree)
    for element in tree.iterfind("actuator/*"):
        if not isinstance(element.tag, str):
            continue
        told = {**classes.get(element.get("class") or "main", {}), **_told(element)}
        joint = told.get("joint") or told.get("jointinparent") or "?"
        moves, bounded = (any(told.get(key) for key in keys) for keys in (SIZES[:2], SIZES[2:]))
        yield _Actuator(joint, moves, bounded)


def _told(element: Any) -> dict[str, Any]:
    """What an element says of an actuator's joint: its name, and which sizes are others than zero."""
    names = {key: shortened(element.get(key)) for key in NAMES if key in element.attrib}
    return names | {key: _says(element.get(key)) for key in SIZES if key in element.attrib}


def _says(words: str) -> bool:
    """Whether an attribute has another number than zero."""
    return any(word.strip("+-0.") not in ("", "e") for word in words.split())


def _classes(tree: Any) -> dict[str, Mapping[str, Any]]:
    """What actuators of each default class begin with: what the class says, and what those around it say."""
    found: dict[str, Mapping[str, Any]] = {}

    def walk(element: Any, name: str, outer: Mapping[str, Any]) -> None:
        mine = dict(outer) | dict(found.get(name, {}))
        for child in element:
            if child.tag in ACTUATORS:
                mine |= _told(child)
        found[name] = mine
        for child in element.iterfind("default"):
            walk(child, child.get("class") or "", mine)

    for element in tree.iterfind("default"):
        walk(element, "main", {})
    return found
