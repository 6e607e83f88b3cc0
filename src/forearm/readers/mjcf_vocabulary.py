"""The words of MJCF that an arm needs: MuJoCo's compiler sees these and nothing else.

A file from elsewhere may name other files, or tell the compiler in a few bytes to make a million bodies. So its
text is written anew from the tables below. What has no influence on an arm (pictures, sensors, actuators, contact)
is left out; what is neither here nor there is refused with element, attribute and line. Numbers are checked
before MuJoCo reads them, and the number of elements and bodies is bounded, so its work is too.
"""

import math
import re
from typing import Any, NoReturn
from xml.sax.saxutils import quoteattr

from forearm.faults import ReadFault
from forearm.outside.option_names import option
from forearm.readers.file_content import shortened

MAX_BYTES = 4 * 2**20
MOST = {"elements": 5_000, "bodies": 300, "joints": 300, "default classes": 300}
"""Beyond these a file is no arm. MuJoCo's work grows with the square and worse; so much takes it about a second."""
MAX_NUMBERS = 10
MAX_NUMBER = 1e50
MAX_WORD = 200

NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
PLACE = "pos quat axisangle xyaxes zaxis euler"

KEPT = {
    "mujoco": "model",
    "compiler": "alignfree angle autolimits balanceinertia boundinertia boundmass coordinate discardvisual eulerseq "
    "fusestatic inertiafromgeom inertiagrouprange settotalmass",
    "option": "gravity density viscosity",
    "flag": "constraint damper equality frictionloss gravity",
    "default": "class",
    "default equality": "active",
    "equality": "",
    "equality joint": "name class joint1 joint2 polycoef active",
    "worldbody": "",
    "body": f"name childclass gravcomp mocap {PLACE}",
    "frame": f"name childclass {PLACE}",
    "inertial": f"mass diaginertia fullinertia {PLACE}",
    "joint": "name class type axis pos range limited ref damping armature frictionloss stiffness springdamper "
    "actuatorfrclimited actuatorfrcrange",
    "freejoint": "name align",
    "geom": f"name class type size fromto mass density shellinertia group contype conaffinity {PLACE}",
}
"""Elements and attributes that make an arm; `equality joint` is a joint that stands in an equality."""

UNUSED = {
    "compiler": "assetdir conflict convexhull fitaabb meshdir passthrough savecanonical savecompiled "
    "saveinertial strippath texturedir usethread",
    "option": "actuatorgroupdisable apirate ccd_iterations ccd_tolerance collision cone impratio integrator "
    "iterations jacobian ls_iterations ls_tolerance magnetic mpr_iterations mpr_tolerance noslip_iterations "
    "noslip_tolerance o_friction o_margin o_solimp o_solref sdf_initpoints sdf_iterations sleep_tolerance solver "
    "timestep tolerance wind",
    "flag": "actuation autoreset clampctrl contact energy eulerdamp filterparent fwdinv invdiscrete island limit "
    "midphase multiccd nativeccd override refsafe sensor sleep spring warmstart",
    "default equality": "solimp solref",
    "equality joint": "solimp solref",
    "body": "user sleep simple fuse",
    "joint": "actuatorgravcomp group margin solimpfriction solimplimit "
    "solreffriction solreflimit springref springyield user",
    "freejoint": "group",
    "geom": "adhesion castshadow condim fluidcoef fluidshape friction gap margin material priority rgba solimp "
    "solmix solref surfacevel user",
}
"""Attributes that change nothing about an arm: left out."""

INSIDE = {
    "mujoco": "compiler option default worldbody equality",
    "compiler": "",
    "option": "flag",
    "flag": "",
    "default": "default joint geom equality",
    "default equality": "",
    "equality": "joint",
    "equality joint": "",
    "worldbody": "body frame geom",
    "body": "body frame inertial joint freejoint geom",
    "frame": "body frame geom inertial joint freejoint",
    "inertial": "",
    "joint": "",
    "freejoint": "",
    "geom": "",
}
"""Which elements stand in which."""

LEFT_OUT = {
    "mujoco": "actuator asset contact custom keyframe sensor size statistic tendon visual",
    "compiler": "lengthrange",
    "equality": "connect distance flex flexstrain flexvert tendon weld",
    "default": "adhesion camera cylinder damper dcmotor general intvelocity light material mesh motor muscle "
    "orientation pair pid position site tendon texture velocity",
    "worldbody": "camera light site",
    "body": "camera light site",
    "frame": "camera light site",
}
"""Elements that have no influence on an arm: left out, with what is in them."""

OPENING = ("include", "plugin", "extension", "attach", "model")
"""Elements that bring in other files or code, wherever they stand."""
WORDS = ("name", "class", "childclass", "model", "joint1", "joint2")
"""Attributes that are text; all others are numbers or a few letters."""


def arm_words(file: str, tree: Any) -> str:
    """The text for MuJoCo's compiler: what an arm needs of a file, each element on its own line of the file."""
    _refuse_files(file, tree)
    writer = _Writer(file)
    writer.element(tree)
    return "".join(writer.text)


def _refuse_files(file: str, tree: Any) -> None:
    """Refuse what opens files or runs code, also in parts that are left out: a person should know."""
    for element in tree.iter():
        if not isinstance(element.tag, str):
            continue
        files = [key for key in element.attrib if key.startswith("file") or key == "content_type"]
        if element.tag in OPENING or files:
            keys = (*files, "plugin", "model")
            named = next((element.get(key) for key in keys if element.get(key)), "")
            raise ReadFault(
                f"{file}:{element.sourceline}: <{element.tag}> wants another file or a plugin ({named!r}), and "
                "files from elsewhere should not open files here. If you trust it, say "
                f"{option('allow_files', 'True')}."
            )


class _Writer:
    """Writes what is allowed, and refuses what is neither known nor harmless."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.text: list[str] = []
        self.line = 1
        self.counts = dict.fromkeys(MOST, 0)

    def fault(self, element: Any, sentence: str) -> NoReturn:
        raise ReadFault(f"{self.file}:{element.sourceline}: {shortened(f'<{element.tag}> {sentence}')}")

    def element(self, element: Any, outer: str = "") -> None:
        tag = element.tag
        kind = f"{outer} {tag}" if f"{outer} {tag}" in KEPT else tag
        self._count(element)
        if element.sourceline > self.line:
            self.text.append("\n" * (element.sourceline - self.line))
            self.line = element.sourceline
        self.text.append(f"<{tag}{self._attributes(element, kind)}>")
        for child in element:
            if not isinstance(child.tag, str):
                continue
            if child.tag in INSIDE[kind].split():
                self.element(child, tag)
            elif child.tag not in LEFT_OUT.get(kind, "").split():
                self.fault(
                    child,
                    f"in <{tag}> is not something that an arm is read from; here stand "
                    f"{', '.join(INSIDE[kind].split()) or 'no elements'}. Take it out, or, if you trust the file, say "
                    f"{option('allow_files', 'True')}.",
                )
        self.text.append(f"</{tag}>")

    def _count(self, element: Any) -> None:
        kinds = {"body": "bodies", "joint": "joints", "freejoint": "joints", "default": "default classes"}
        for what in ("elements", kinds.get(element.tag, "")):
            if what:
                self.counts[what] += 1
                if self.counts[what] > MOST[what]:
                    self.fault(
                        element,
                        f"is one too many: files with up to {MOST[what]} {what} are read. Take some out.",
                    )

    def _attributes(self, element: Any, kind: str) -> str:
        kept, unused = KEPT[kind].split(), UNUSED.get(kind, "").split()
        written = ""
        for key, value in element.attrib.items():
            if kind == "flag" and key == "passive":  # of older versions: springs and dampers in one
                key = "spring" if "damper" in element.attrib else "damper"
            if key in kept:
                written += f" {key}={quoteattr(self._checked(element, key, value))}"
            elif key not in unused:
                self._refuse_attribute(element, key, value, kept)
        return written

    def _refuse_attribute(self, element: Any, key: str, value: str, kept: list[str]) -> NoReturn:
        if key in ("mesh", "hfield"):
            self.fault(
                element,
                f"has {key}={value[:40]!r}: its shape is in another file. Give the body an <inertial> and take the "
                f"geom out, or, if you trust the file, say {option('allow_files', 'True')}.",
            )
        self.fault(
            element,
            f"has {key}={value[:40]!r}, which is not read; it has {', '.join(kept) or 'no attributes'}. Take it out.",
        )

    def _checked(self, element: Any, key: str, value: str) -> str:
        """The value, if it is a name, a short word, or a few finite numbers."""
        words = value.split()
        if len(value) > MAX_WORD and (key in WORDS or len(words) <= 1):
            self.fault(
                element, f"has {key}={value[:40]!r}… of {len(value)} letters; give {MAX_WORD} at most."
            )
        if key in WORDS or (
            len(words) == 1 and words[0].isalpha() and words[0].lower() not in ("nan", "inf", "infinity")
        ):
            return value
        if len(words) > MAX_NUMBERS:
            self.fault(element, f"has {key} with {len(words)} numbers; give {MAX_NUMBERS} at most.")
        for word in words:
            if not NUMBER.fullmatch(word) or not math.fabs(float(word)) < MAX_NUMBER:
                self.fault(element, f"has {key}={value[:40]!r}; {word[:40]!r} is not a number of an arm.")
        return " ".join(words)
