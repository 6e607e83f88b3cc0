"""Elements of a URDF file that are not read: misspelt ones are refused, those that could change a torque are named."""

import math
from collections.abc import Iterator
from typing import Any

from forearm.readers.file_content import shortened
from forearm.readers.robot_text import RobotText

KNOWN = {
    "robot": ("link", "joint", "material", "transmission", "gazebo", "sensor", "ros2_control"),
    "link": ("inertial", "visual", "collision", "contact"),
    "joint": (
        "parent",
        "child",
        "origin",
        "axis",
        "limit",
        "dynamics",
        "mimic",
        "calibration",
        "safety_controller",
    ),
    "inertial": ("origin", "mass", "inertia"),
}
"""What an element holds, read or of no matter."""
OFF = {"turnGravityOff": ("true", "1"), "gravity": ("false", "0")}
"""How simulators are told to leave gravity out."""
MOST_PARTS = 20
"""Parts for which they are, of which each gets a note."""
DRIVES = {
    "rotor_inertia": "rotor inertia",
    "motorInertia": "rotor inertia",
    "springStiffness": "a spring",
    "spring_stiffness": "a spring",
    "dampingFactor": "damping",
}
"""What transmissions (Drake, the PR2) and simulators (Gazebo) add to the torques of a joint, by their own elements."""


def _elements(root: Any) -> Iterator[Any]:
    """The robot, its links and joints, and their bodies; not what a transmission or a simulator calls a joint."""
    yield root
    for element in root.iterchildren("link", "joint"):
        yield element
        yield from element.iterchildren("inertial")


def look_at_tags(robot: RobotText, root: Any) -> None:
    """Refuse elements that are nearly known ones; a note for the others, and for gravity that is switched off."""
    strange: dict[str, int] = {}
    for element in _elements(root):
        for child in element:
            tag = child.tag
            if not isinstance(tag, str) or tag in KNOWN[element.tag]:
                continue
            meant = next((known for known in KNOWN[element.tag] if known == tag.lower()), None)
            if meant is not None:
                robot.fault(child.sourceline, f"<{tag}> in <{element.tag}> is no element; write <{meant}>.")
            told = f"<{tag.rpartition('}')[2]}> in <{element.tag}>"
            strange[told] = strange.get(told, 0) + 1
    if strange:
        many = [f"{told}{f' ({count} times)' if count > 1 else ''}" for told, count in strange.items()]
        robot.notes.append(f"not read: {_few(many, 20)}")
    _note_gravity(robot, root)
    _note_additions(robot, root)
    _note_drives(robot, root)
    _note_soft_limits(robot, root)


def _note_gravity(robot: RobotText, root: Any) -> None:
    """A note on each part for which a simulator is told to leave gravity out."""
    found: dict[tuple[Any, str], None] = {}  # each part once: its name may be of any length
    for element in root.iter(*OFF):
        if (element.text or "").strip().lower() in OFF[element.tag]:
            found.setdefault((element.getparent(), element.tag))
    for part, tag in list(found)[:MOST_PARTS]:
        what = shortened(part.get("reference") or part.get("name") or "?")
        robot.notes.append(f"{what!r}: <{tag}> is left out; gravity is in the torques")
    if len(found) > MOST_PARTS:
        robot.notes.append(
            f"and so it is in {len(found) - MOST_PARTS} more parts that gravity is switched off for"
        )


def _note_additions(robot: RobotText, root: Any) -> None:
    """A note on links and joints that Gazebo adds in its own words: so loops are closed, which a tree has not."""
    added = [part for gazebo in root.iterchildren("gazebo") for part in gazebo.iterchildren("link", "joint")]
    if not added:
        return
    tags = ", ".join(dict.fromkeys(f"<{part.tag}>" for part in added))
    names = _few([shortened(part.get("name") or "?") for part in added])
    left, closed = ("is left out", "it closes") if len(added) == 1 else ("are left out", "they close")
    robot.notes.append(f"{tags} in <gazebo> {left} ({names}); a loop that {closed} is open here")


def _note_drives(robot: RobotText, root: Any) -> None:
    """A note on rotors, springs and dampers that stand where URDF itself has none."""
    found: dict[str, list[str]] = {}
    for part in root.iterchildren("transmission", "gazebo"):
        joints = [joint.get("name") for joint in part.iterchildren("joint")]
        whose = (
            part.get("reference") or next((name for name in joints if name), None) or part.get("name") or "?"
        )
        whose = shortened(whose)
        for element in part.iterdescendants():
            tag = element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
            value = (element.get("value") or element.text or "").strip()
            if tag in DRIVES and value.strip("+-0.") not in ("", "e"):
                found.setdefault(f"{DRIVES[tag]} in <{part.tag}> (<{tag}>)", []).append(whose)
    for what, names in found.items():
        robot.notes.append(
            f"{what} of {_few(list(dict.fromkeys(names)))} is left out; joints carry <dynamics> alone"
        )


def _note_soft_limits(robot: RobotText, root: Any) -> None:
    """A note on joints that a controller holds within narrower limits than those that are read."""
    found = []
    for joint in root.iterchildren("joint"):
        soft, hard = joint.find("safety_controller"), joint.find("limit")
        if soft is None or hard is None or joint.get("type") not in ("revolute", "prismatic"):
            continue
        low, high = (_number(soft.get(f"soft_{end}_limit")) for end in ("lower", "upper"))
        if low < high and (low > _number(hard.get("lower")) or high < _number(hard.get("upper"))):
            found.append(f"{shortened(joint.get('name') or '?')} ({low:g} to {high:g})")
    if found:
        robot.notes.append(
            f"soft limits in <safety_controller> are narrower than <limit>, and not read: {_few(found)}"
        )


def _few(found: list[str], most: int = 5) -> str:
    """The first of them, and how many more there are: a file may have any number, of any length."""
    told = shortened(", ".join(map(shortened, found[:most])))
    return told + (f" and {len(found) - most} more" if len(found) > most else "")


def _number(text: str | None) -> float:
    """What an attribute says, zero without it, as URDF has it; nan for no number."""
    try:
        return float(text or 0.0)
    except ValueError:
        return math.nan
