"""The elements of a URDF file: XML read safely, every number checked, every fault with its line.

Nothing here knows about chains or arms: a file becomes a `RobotText`. No entity is expanded, no other file is
opened, and nothing is guessed from what is missing.
"""

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from lxml import etree

from forearm.faults import ArmFault, ReadFault
from forearm.faults.parts import name as checked_name
from forearm.outside.option_names import option
from forearm.readers.file_content import read_limited
from forearm.readers.robot_text import MOVING, BodyText, Frame, JointText, LinkText, Mimic, Numbers, RobotText
from forearm.readers.urdf_tags import look_at_tags
from forearm.readers.xml import parse_xml

MAX_ANGLE = 4 * math.pi
MAX_LENGTH = 50.0
MAX_MASS = 1e5
MAX_MOMENT = 1e5
"""Beyond these a number is taken for degrees, millimetres, grams or kg mm²."""
MAX_NUMBER = 1e50
"""Beyond this a number is refused whatever it means; squares and products stay finite."""

MAX_ELEMENTS = 10_000
"""Links and joints of a file."""

NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
XACRO: Any = etree.XPath(
    "(//*[contains(namespace-uri(), 'xacro') or @*[contains(., '${') or contains(., '$(')]])[1]"
)
"""The first element that is a macro or has one in it."""
TYPES = (*MOVING, "fixed", "floating", "planar")
MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
ATTRIBUTES = {
    "origin": ("xyz", "rpy"),
    "mass": ("value",),
    "inertia": MOMENTS,
    "mimic": ("joint", "multiplier", "offset"),
}
"""Attributes of elements whose numbers decide torques: another one is a misspelt one, or what we would have to obey."""
LIMITS = ("lower", "upper", "effort", "velocity")
"""What <limit> has."""


def robot_from_file(path: str | Path, units: bool = True) -> RobotText:
    """A URDF file as a table of links and joints; `units=False` leaves sizes unquestioned."""
    text = str(path)
    if text.startswith(("package://", "model://", "file://", "http://", "https://")):
        raise ReadFault(
            f"{text}: this is an address, not a path; give the path of the URDF file itself "
            "(addresses of meshes inside the file do no harm: they are not opened)."
        )
    if text.endswith(".xacro"):
        raise ReadFault(
            f"{text}: this is xacro; expand it first (xacro arm.urdf.xacro > arm.urdf), then read the URDF."
        )
    return robot_from_bytes(read_limited(path, "URDF"), text, units)


def robot_from_bytes(content: bytes, file: str, units: bool = True) -> RobotText:
    """A URDF text as a table of links and joints; `units=False` leaves sizes unquestioned."""
    root = parse_xml(content, file)
    tag = root.tag if isinstance(root.tag, str) else "?"
    if tag in ("mujoco", "sdf", "gazebo", "COLLADA"):
        raise ReadFault(
            f"{file}:{root.sourceline}: the root element is <{tag}>; this reader takes URDF, <robot name=..>."
        )
    robot = RobotText(file, root.get("name") or "")
    if tag != "robot":
        robot.fault(root.sourceline, f"the root element is <{tag}>; a URDF file has <robot name=..>.")
    if not robot.name:
        robot.fault(root.sourceline, "<robot> has no name; give <robot name=..>.")
    if len(root) > 5 * MAX_ELEMENTS:
        robot.fault(root.sourceline, f"{len(root)} elements in <robot>; up to {5 * MAX_ELEMENTS} are read.")
    _refuse_xacro(robot, root)
    look_at_tags(robot, root)
    for element in _children(root):
        if len(robot.links) + len(robot.joints) >= MAX_ELEMENTS:
            robot.fault(
                element.sourceline, f"more than {MAX_ELEMENTS} links and joints; up to so many are read."
            )
        if element.tag == "link":
            _add(robot, "link", robot.links, _link(_Element(robot, element, units)))
        elif element.tag == "joint":
            _add(robot, "joint", robot.joints, _joint(_Element(robot, element, units)))
    if not robot.links:
        robot.fault(root.sourceline, "the file has no <link>; a robot has links and joints.")
    return robot


# -- elements ------------------------------------------------------------------------------------------------


def _refuse_xacro(robot: RobotText, root: Any) -> None:
    for element in XACRO(root):
        computed = next((v for v in element.attrib.values() if "${" in v or "$(" in v), None)
        found = f"<xacro:{etree.QName(element).localname}>" if computed is None else repr(computed)
        robot.fault(
            element.sourceline,
            f"{found} is xacro, not URDF; expand it first (xacro arm.urdf.xacro > arm.urdf), then read the URDF.",
        )


def _children(element: Any) -> Iterator[Any]:
    return (child for child in element if isinstance(child.tag, str))


def _add(robot: RobotText, kind: str, table: dict[str, Any], item: Any) -> None:
    if item.name in table:
        robot.fault(
            item.line,
            f"{kind} {item.name!r} is there already, in line {table[item.name].line}; names must differ. "
            "Rename one, or take it out.",
        )
    table[item.name] = item


class _Element:
    """An XML element that reads its attributes strictly, with file and line in every message."""

    def __init__(self, robot: RobotText, element: Any, units: bool, title: str = "") -> None:
        self.robot, self.element, self.units = robot, element, units
        self.line = element.sourceline or 0
        self.title = title or f"<{element.tag}>"
        if not title:
            name = (element.get("name") or "").strip()
            if not name:
                self.fault("has no name; give name=..")
            self.name = self._readable(name)
            self.title = f"{element.tag} {name!r}"

    def _readable(self, name: str) -> str:
        """A name that links, joints and frames can have."""
        try:
            return checked_name(name, f"the name of a {self.element.tag}")
        except ArmFault as fault:
            raise ArmFault(f"{self.robot.file}:{self.line}: {fault}") from None

    def fault(self, sentence: str) -> NoReturn:
        self.robot.fault(self.line, f"{self.title} {sentence}")

    def child(self, tag: str) -> "_Element | None":
        found = [c for c in _children(self.element) if c.tag == tag]
        if len(found) > 1:
            self.line = found[1].sourceline or self.line
            self.fault(f"has {len(found)} <{tag}>, where one belongs; take out all but one.")
        if not found:
            return None
        child = _Element(self.robot, found[0], self.units, f"{self.title.rstrip(':')}, <{tag}>:")
        known = ATTRIBUTES.get(tag)
        strange = [key for key in found[0].attrib if known and key not in known]
        if strange:
            child.fault(f"has {strange[0]}=.., which is not read; give {', '.join(known or ())}.")
        return child

    def text(self, key: str) -> str:
        value = self.element.get(key)
        if value is None or not value.strip():
            self.fault(f"has no {key}; give {key}=..")
        return str(value).strip()

    def number(self, key: str, default: float | None = None) -> float:
        value = self.element.get(key)
        if value is None:
            if default is None:
                self.fault(f"has no {key}; give {key}=.. (a number).")
            return default
        return self._number(key, value)

    def numbers(self, key: str, default: Numbers) -> Numbers:
        value = self.element.get(key)
        if value is None:
            return default
        words = value.split()
        if len(words) != 3:
            hint = " Numbers are separated by spaces, not commas." if "," in value else ""
            self.fault(f"{key}={value[:80]!r} has {len(words)} numbers; give three, {key}='x y z'.{hint}")
        x, y, z = (self._number(key, word) for word in words)
        return x, y, z

    def _number(self, key: str, word: str) -> float:
        if not NUMBER.fullmatch(word.strip()):
            hint = " A decimal point is a point, not a comma." if "," in word else ""
            self.fault(f"{key}={word[:40]!r} is not a number; give one like 0.25 or -1e-3.{hint}")
        value = float(word)
        if not abs(value) < MAX_NUMBER:
            self.fault(f"{key}={word[:40]!r} is beyond {MAX_NUMBER:g}, larger than anything that an arm has.")
        return value

    def size(self, key: str, values: tuple[float, ...], most: float, hint: str) -> None:
        worst = max(values, key=abs)
        if self.units and abs(worst) > most:
            self.fault(
                f"{key} has {worst:g}, beyond {most:.4g}; {hint} ({option('check_units', 'False')} reads it as it is.)"
            )


def _origin(parent: _Element) -> Frame:
    element = parent.child("origin")
    if element is None:
        return Frame(line=parent.line)
    xyz = element.numbers("xyz", (0.0, 0.0, 0.0))
    rpy = element.numbers("rpy", (0.0, 0.0, 0.0))
    element.size("xyz", xyz, MAX_LENGTH, "lengths are in metres: millimetres?")
    element.size("rpy", rpy, MAX_ANGLE, "angles are in radians: degrees?")
    return Frame(xyz, rpy, element.line)


def _link(element: _Element) -> LinkText:
    inertial = element.child("inertial")
    if inertial is None:
        return LinkText(element.name, None, element.line)
    mass, inertia = inertial.child("mass"), inertial.child("inertia")
    if mass is None or inertia is None:
        inertial.fault(
            f"has no <{'mass' if mass is None else 'inertia'}>; give both, or take <inertial> out."
        )
    kilograms = mass.number("value")
    mass.size("value", (kilograms,), MAX_MASS, "masses are in kilograms: grams?")
    moments = tuple(inertia.number(key) for key in MOMENTS)
    inertia.size("a moment", moments, MAX_MOMENT, "moments are in kg m²: kg mm²?")
    return LinkText(
        element.name, BodyText(_origin(inertial), kilograms, moments, inertial.line), element.line
    )


def _joint(element: _Element) -> JointText:
    kind = element.text("type")
    if kind not in TYPES:
        element.fault(f"has type {kind!r}; URDF has {', '.join(TYPES)}.")
    parent, child = element.child("parent"), element.child("child")
    if parent is None or child is None:
        element.fault(f"has no <{'parent' if parent is None else 'child'}>; give both, by link name.")
    return JointText(
        element.name,
        kind,
        parent.text("link"),
        child.text("link"),
        _origin(element),
        _axis(element, kind),
        element.line,
        **_limit(element, kind),
        **_friction(element),
        mimic=_mimic(element),
    )


def _axis(element: _Element, kind: str) -> Numbers:
    axis = element.child("axis")
    if axis is None or kind in ("fixed", "floating"):
        return 1.0, 0.0, 0.0
    axis.text("xyz")
    xyz = axis.numbers("xyz", (1.0, 0.0, 0.0))
    length = math.hypot(*xyz)
    if length < 1e-9:
        axis.fault(f"xyz={axis.element.get('xyz')!r} has no direction; give the joint's axis, like '0 0 1'.")
    if abs(length - 1) > 1e-3:
        element.robot.notes.append(f"{element.title}: axis of length {length:g} was normalised")
    return xyz


def _limit(element: _Element, kind: str) -> dict[str, Any]:
    limit = element.child("limit")
    if limit is None:
        if kind in ("revolute", "prismatic"):
            element.fault(
                f"is {kind} but has no <limit>; give lower, upper, effort and velocity"
                f"{', or make it continuous' if kind == 'revolute' else ''}."
            )
        return {}
    strange = [f"{key}={value[:40]}" for key, value in limit.element.attrib.items() if key not in LIMITS]
    if strange:
        element.robot.notes.append(
            f"{element.title}: <limit> has {', '.join(strange[:4])}: not read; it has {', '.join(LIMITS)}"
        )
    low, high = limit.number("lower", 0.0), limit.number("upper", 0.0)
    speed, effort = limit.number("velocity", 0.0), limit.number("effort", 0.0)
    for key, value in (("velocity", speed), ("effort", effort)):
        if value < 0:
            limit.fault(f"{key}={value:g} is negative; give its size.")
    fields: dict[str, Any] = {"speed": speed or None, "effort": effort or None}
    if kind not in ("revolute", "prismatic"):
        return fields
    if low > high:
        limit.fault(
            f"lower={low:g} is above upper={high:g}; swap "
            f"them{', or make the joint continuous' if kind == 'revolute' else ''}."
        )
    if low == high:
        element.robot.notes.append(
            f"{element.title}: lower and upper limit are both {low:g}, taken as not given"
        )
        return fields
    return {**fields, "limits": (low, high)}


def _friction(element: _Element) -> dict[str, Any]:
    dynamics = element.child("dynamics")
    if dynamics is None:
        return {}
    values = {key: dynamics.number(key, 0.0) for key in ("damping", "friction")}
    for key, value in values.items():
        if value < 0:
            dynamics.fault(f"{key}={value:g} is negative; give its size.")
    unused = tuple(f"{k}={v[:40]}" for k, v in dynamics.element.attrib.items() if k not in values)
    return {**values, "unused": unused}


def _mimic(element: _Element) -> Mimic | None:
    mimic = element.child("mimic")
    if mimic is None:
        return None
    return Mimic(mimic.text("joint"), mimic.number("multiplier", 1.0), mimic.number("offset", 0.0))
