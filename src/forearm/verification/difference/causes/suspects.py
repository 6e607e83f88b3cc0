"""Everything that `compare` suspects: the usual ways in which two descriptions of one arm differ."""

import math
from collections.abc import Iterator

from forearm.arm import Arm
from forearm.free_base import SIX
from forearm.robot import Robot
from forearm.verification.difference.causes.hypotheses import Cause
from forearm.verification.difference.causes.inertia_readings import read_as_modified

ORIGIN = "inertias about the origin on one side, about the centre of mass on the other"
DEGREE = math.pi / 180
BODY = 10
"""Numbers of a body."""
COUPLED = 8
"""Joints of an arm in which rotors that several of them move are looked for: their numbers grow with the square."""
PRODUCTS = "products of inertia have the other sign"


def causes(arm: Arm | Robot) -> Iterator[Cause]:
    """Everything that is tried."""
    yield from _kinematic_causes(arm)
    yield from _gravity_causes()
    for only in (None, *_bodies(arm)):
        where = "" if only is None else f" (link {only + 1} {arm.links[only].name!r} only)"
        for which in ("origin+", "origin-", "joint+", "joint-"):
            yield Cause(
                "inertia about origin", ORIGIN + where, 0, {"maps": ((which, only),)}, in_pairs=only is None
            )
        for which in ("products", "products, joint axes"):
            yield Cause(
                "products sign", PRODUCTS + where, 0, {"maps": ((which, only),)}, in_pairs=only is None
            )
    yield Cause(
        "frame",
        "centres and inertias copied from another frame (at the joint)",
        0,
        {"maps": (("frame", None),)},
    )
    if read_as_modified(arm) is not None:
        yield Cause(
            "convention",
            "Denavit-Hartenberg rows read as modified instead of standard",
            0,
            {"modified": True},
        )
    if any(float(link.drive.reflected_inertia) for link in arm.links):
        yield Cause(
            "armature", f"rotor inertia (armature) only in {arm.name}, not in the other", 0, {"rotors": False}
        )
    yield Cause(
        "armature", "rotor inertia (armature) on the diagonal of M differs", arm.n, {"extras": ("armature",)}
    )
    if any(link.drive.viscous or any(link.drive.coulomb) for link in arm.links):
        yield Cause("friction", f"friction only in {arm.name}, not in the other", 0, {"friction": False})
    if any(any(link.drive.coulomb) for link in arm.links):
        width = max(float(link.drive.smoothing) for link in arm.links if any(link.drive.coulomb))
        text = (
            f"c sign(qd), which jumps, in the other; c qd / sqrt(qd² + s²) with s = {width:g} in {arm.name}"
        )
        yield Cause("friction law", f"dry friction follows another law: {text}", 0, {"friction": 0.0})
    for part in ("viscous", "dry"):
        yield Cause("friction", "friction differs", arm.n, {"extras": (part,)}, in_pairs=False)
    yield Cause("friction", "friction differs", 2 * arm.n, {"extras": ("friction",)})
    if any(link.drive.smoothing for link in arm.links):
        text = "friction differs (in the other it jumps at rest)"
        yield Cause("friction", text, arm.n, {"extras": ("dry jumps",)}, in_pairs=False)
        yield Cause("friction", text, 2 * arm.n, {"extras": ("jumps",)}, in_pairs=False)
    yield Cause("scale", "all torques differ by one factor", 1, {"extras": ("scale",)})
    if arm.n > 1:
        text = "torques differ by a factor for each joint"
        yield Cause("torque factors", text, arm.n, {"extras": ("factors",)}, in_pairs=False)
    if 1 < arm.n <= COUPLED:
        text = "M differs by a constant matrix (rotors that several joints move, as of a tendon or a differential)"
        many = BODY + arm.n * (arm.n + 1) // 2  # rarer than another body, however few its numbers are
        yield Cause("coupled inertia", text, many, {"extras": ("coupled",)}, in_pairs=False)
    yield Cause("offset", "torques differ by constants", arm.n, {"extras": ("offset",)}, in_pairs=False)
    text = "springs at the joints, on one side"
    yield Cause("springs", text, 2 * arm.n, {"extras": ("springs",)}, in_pairs=False)
    if isinstance(arm, Arm):
        text = "a constant force acts on the tool on one side"
        yield Cause("force", text, BODY + 3, {"extras": ("force",)}, in_pairs=False)
    for k in (i + 1 for i in reversed(_bodies(arm))):
        last = k == arm.n and isinstance(arm, Arm)  # a tree has many
        text = (
            "last link or tool: mass, centre or inertia differ"
            if last
            else f"mass, centre or inertia of link {k} differ"
        )
        key = "last link" if last else f"link {k}"
        name = arm.links[k - 1].name
        if name == SIX[-1]:
            text, name = "mass, centre or inertia of the base itself differ", "free"
        yield Cause(key, f"{text} ({name})", BODY, {"extras": (f"link {k}",)})


def _bodies(arm: Arm | Robot) -> list[int]:
    """Links that can have a body, from 0: of the six joints of a free base only the last carries one."""
    return [i for i, link in enumerate(arm.links) if link.name not in SIX[:-1]]


def _gravity_causes() -> Iterator[Cause]:
    yield Cause("gravity sign", "gravity has the other sign", 0, {"gravity": "negated"})
    yield Cause("gravity missing", "gravity is missing on one side", 0, {"gravity": "absent"})
    yield Cause("base rotation", "gravity in the base differs", 3, {"gravity": "free"})


def _kinematic_causes(arm: Arm | Robot) -> Iterator[Cause]:
    n, names = arm.n, arm.joint_names
    own = [i for i in range(n) if names[i] not in SIX]
    for i in own:
        signs = tuple(-1.0 if k == i else 1.0 for k in range(n))
        yield Cause("joint direction", f"joint {i + 1} {names[i]!r} turns the other way", 0, {"signs": signs})
    if n > 1:
        yield Cause("joint direction", "all joints turn the other way", 0, {"signs": (-1.0,) * n})
        yield Cause("torque index", "torques are shifted by one joint", 0, {"shift": 1})
        yield Cause("torque index", "torques are shifted by one joint", 0, {"shift": -1})
    for i in own:
        text = f"the torque of joint {i + 1} {names[i]!r} has the other sign, its position has not"
        yield Cause("torque sign", text, 0, {"negated": i}, in_pairs=False)
        for j in (j for j in own if j > i and n > 2):  # of two, it is the shift by one
            text = f"the torques of {names[i]} and {names[j]} are exchanged, their positions are not"
            yield Cause("torque order", text, 0, {"swapped": (i, j)}, in_pairs=False)
    if any(link.revolute for link in arm.links):
        for units, text in (
            ((DEGREE,) * 3, "q, qd and qdd"),
            ((DEGREE, 1.0, 1.0), "q; qd and qdd are not"),
        ):
            yield Cause("degrees", f"angles of the other are in degrees ({text})", 0, {"units": units})
    for order, text in _orders(n, names, own):
        yield Cause("joint order", f"the order of joints differs: {text}", 0, {"order": order})
    for i in own:
        yield Cause("joint zero", f"the zero of joint {i + 1} {names[i]!r} is shifted", 1, {}, unknown_zero=i)


def _orders(n: int, names: tuple[str, ...], own: list[int]) -> Iterator[tuple[tuple[int, ...], str]]:
    plain = list(range(n))
    for i in own:
        for j in (j for j in own if j > i):
            swapped = plain.copy()
            swapped[i], swapped[j] = j, i
            yield tuple(swapped), f"{names[i]} and {names[j]} are exchanged"
    if n > 3:
        yield tuple(reversed(plain)), "tip to base"
    if n > 2:
        yield (*plain[1:], 0), "moved by one"
        yield (n - 1, *plain[:-1]), "moved by one"
