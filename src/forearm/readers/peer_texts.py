"""What other libraries are given of a file that is compared with what they make of it.

A file from elsewhere may name other files, say in a few letters how many gigabytes a picture has, or hang thousands of
links on each other, which a library walks by calling itself. So MuJoCo gets what can change a torque and nothing else,
and Pinocchio gets links, bodies and joints, whose numbers were read here (what it cannot read it prints as it is), in
no deeper tree than its calls have room for. Neither knows namespaces: what is in one would be looked at by them and not
by us, so there may be none.
"""

from collections.abc import Mapping
from typing import Any

from lxml import etree

from forearm.faults import StateFault
from forearm.outside.escapes import one_line
from forearm.readers.file_content import MAX_BYTES, read_limited
from forearm.readers.mjcf_leftovers import ACTUATORS
from forearm.readers.urdf_elements import LIMITS, MOMENTS
from forearm.readers.xml import parse_xml

IDLE = (
    *("asset", "camera", "custom", "deformable", "keyframe", "lengthrange", "light", "material", "mesh"),
    *("sensor", "size", "skin", "statistic", "texture", "visual"),
)
"""Elements of MJCF that change no torque; most of them may be of any size, or be computed for any time."""
MARKS = ("material", "user")
"""Attributes that change no torque: what was taken out, and numbers for which every element of a kind gets room."""
TRANSMISSION = (
    *(
        "name",
        "class",
        "joint",
        "jointinparent",
        "tendon",
        "site",
        "refsite",
        "body",
        "slidersite",
        "cranksite",
    ),
    *("cranklength", "gear", "armature", "damping"),
)
"""What an actuator adds to inertia and damping, and where; the forces that it is told to exert are others'."""
IN_URDF = ("compiler", "option")
"""What MuJoCo may be told within <mujoco> in a URDF file."""
IN_ARMS: dict[str, tuple[str, ...]] = {
    "robot": ("name",),
    "link": ("name",),
    "inertial": (),
    "mass": ("value",),
    "inertia": MOMENTS,
    "joint": ("name", "type"),
    "parent": ("link",),
    "child": ("link",),
    "origin": ("xyz", "rpy"),
    "axis": ("xyz",),
    "limit": LIMITS,
    "dynamics": ("damping", "friction"),
    "mimic": ("joint", "multiplier", "offset"),
}
"""Elements of a URDF file that were read here, and their attributes."""
INSIDE = {
    "robot": ("link", "joint"),
    "link": ("inertial",),
    "inertial": ("origin", "mass", "inertia"),
    "joint": ("parent", "child", "origin", "axis", "limit", "dynamics", "mimic"),
}
"""Which of them stand in which."""
DEEPEST = 1000
"""Links that hang on each other; Pinocchio calls itself for each, and 4,000 ended the process."""


MOST_ELEMENTS = 20_000
"""Of a file that MuJoCo is given: its compiler takes some seconds for so many sites and tendons."""


def tree_for_peers(file: str, kind: str) -> Any:
    """The elements of a file, all of which other libraries call what they are called here.

    <visual xmlns="x"> is another element than <visual>, which is not read and stays; to MuJoCo it is <visual>.
    """
    tree = parse_xml(read_limited(file, kind, MAX_BYTES), file)
    for element in tree.iter("{*}*"):
        name = etree.QName(element)
        if name.namespace and element.prefix is None:
            raise StateFault(
                f"compare: {file}:{element.sourceline}: <{name.localname}> is in a namespace of its own, "
                f"xmlns={one_line(name.namespace)[:60]!r}, which MuJoCo and Pinocchio do not know; take xmlns out, or "
                "the element."
            )
    return tree


def urdf_for_pinocchio(tree: Any) -> str:
    """A URDF file's text with what was read of it here: links, bodies and joints."""
    return str(etree.tostring(_of_an_arm(tree), encoding="unicode"))


def _of_an_arm(element: Any) -> Any:
    """An element with the attributes and elements in it that arms have."""
    known = {key: element.get(key) for key in IN_ARMS[element.tag] if key in element.attrib}
    kept = etree.Element(element.tag, known)
    kept.extend([_of_an_arm(child) for child in element if child.tag in INSIDE.get(element.tag, ())])
    return kept


def urdf_for_mujoco(tree: Any) -> str:
    """A URDF file's text without shapes and colours from other files (bodies have their <inertial>), and sizes."""
    for element in list(tree.iter("visual", "collision", "texture")):
        if element.tag == "texture" or next(element.iter("mesh"), None) is not None:
            element.getparent().remove(element)
    for told in tree.iter("mujoco"):
        for element in list(told):
            if element.tag not in IN_URDF:
                told.remove(element)
    return str(etree.tostring(tree, encoding="unicode"))


def mjcf_for_mujoco(tree: Any) -> str:
    """An MJCF file's text with all that can change a torque: bodies, joints, tendons, what actuators add to joints."""
    for element in list(tree.iter(*IDLE)):
        element.getparent().remove(element)
    for element in tree.iter("*"):
        for key in MARKS:
            element.attrib.pop(key, None)
    for element in list(tree.iter(*ACTUATORS)):
        _become_transmission(element)
    return str(etree.tostring(tree, encoding="unicode"))


def refuse_too_many(file: str, tree: Any) -> None:
    """Refuse more elements, of those that another library is given, than it takes seconds for.

    Args:
        file: The file, for the message.
        tree: What is left of it.
    """
    if (many := sum(1 for _ in tree.iter("*"))) > MOST_ELEMENTS:
        raise StateFault(
            f"compare: {file} has {many} elements that could change a torque, and MuJoCo is given {MOST_ELEMENTS} at "
            "most; take out sites, geoms and tendons that it can do without."
        )


def _become_transmission(actuator: Any) -> None:
    """An actuator as what it adds to its joint; of a class all actuators begin with one set of attributes."""
    kept = {key: value for key, value in actuator.attrib.items() if key in TRANSMISSION}
    before = actuator.getparent().find("general") if actuator.getparent().tag == "default" else None
    if before is not None and before is not actuator:
        before.attrib.update(kept)
        actuator.getparent().remove(actuator)
        return
    actuator.tag = "general"
    actuator.attrib.clear()
    actuator.attrib.update(kept)


def refuse_too_deep(file: str, parents: Mapping[str, str]) -> None:
    """Refuse a tree in which more links hang on each other than Pinocchio can walk.

    Args:
        file: The file, for the message.
        parents: For each link the one that it hangs on.
    """
    depths: dict[str, int] = {}
    for link in parents:
        way = []
        while link in parents and link not in depths:
            way.append(link)
            link = parents[link]
        depth = depths.get(link, 0)
        for passed in reversed(way):
            depth += 1
            depths[passed] = depth
    if (deepest := max(depths.values(), default=0)) > DEEPEST:
        raise StateFault(
            f"compare: {deepest} links of {file} hang on each other, and Pinocchio has room for {DEEPEST}; merge links "
            "that are fixed to each other."
        )
