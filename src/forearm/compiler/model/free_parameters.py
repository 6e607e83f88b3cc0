"""Parameters left free: inputs of a kernel instead of constants, so that each row may have its own.

A path names a field as Python would: 'links[2].mass', 'links[2].com', 'links[2].inertia', 'links[2].drive.viscous',
'gravity'; a joint's name may stand for its link: 'elbow.mass'. 'payload' is a body in frame n, 'payload@tool' one in
the frame tool (any frame's name or '#' and number): ten numbers M, MX, MY, MZ, XX, XY, XZ, YY, YZ, ZZ (mass, first
moment, inertia about that frame's origin, in its axes). 'inertial' is all ten of every body, (n, 10), in the order of
`parameters(arm)`: those of a free base first.
"""

import re
from typing import Any

import numpy as np

from forearm.arm import Arm
from forearm.faults import KernelFault, payload_on_base
from forearm.frames import Pose
from forearm.inertia import Inertia, numbers_of, ten_from
from forearm.link import Body, Link
from forearm.robot import Robot

PAYLOAD = "payload"
INERTIAL = "inertial"
INERTIA_ORDER = ("Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")
"""How six free moments of inertia are ordered: about the centre of mass, entries of the tensor."""


def is_payload(path: str) -> bool:
    """Whether a path means a body that the arm holds."""
    return path == PAYLOAD or path.startswith(f"{PAYLOAD}@")


def is_body(path: str) -> bool:
    """Whether a path means whole bodies: ten numbers each, in which torques are linear."""
    return path == INERTIAL or is_payload(path)


def bodies(arm: Arm | Robot) -> list[Link]:
    """All bodies that have parameters: the links, after the base where it is free."""
    return [*([arm.trunk.as_link] if isinstance(arm, Robot) and arm.free else []), *arm.links]


def payload_place(arm: Arm | Robot, path: str) -> tuple[int, Pose]:
    """Which link, 1 to n, holds the body, and where the frame of its numbers is, seen from that link's."""
    frame = path.partition("@")[2] or (arm.n if isinstance(arm, Arm) else "tool")
    number, pose = arm.place_of(frame)
    if not number and not (isinstance(arm, Robot) and arm.free):
        payload_on_base(frame, arm.name)
    return number, pose


def port_name(path: str) -> str:
    """A path as the name of an input: 'links[2].mass' becomes links_2_mass; a payload's frame is not part of it."""
    if is_payload(path):
        return PAYLOAD
    return re.sub(r"\W+", "_", path).strip("_")


def port_shape(arm: Arm | Robot, path: str) -> tuple[int, ...]:
    """Shape of a free parameter."""
    if is_payload(path):
        payload_place(arm, path)
        return (10,)
    if path == INERTIAL:
        return (len(bodies(arm)), 10)
    value = _get(arm, path)
    if isinstance(value, Inertia):
        return (len(INERTIA_ORDER),)
    return (len(value),) if isinstance(value, tuple) else ()


def freed(arm: Arm | Robot, values: dict[str, Any]) -> Any:
    """The arm with these fields replaced (paths and values; the payload is not a field and is left out)."""
    for path, value in values.items():
        if path == INERTIAL:
            arm = _with_bodies(arm, value)
        elif not is_payload(path):
            arm = _set(arm, path, value)
    return arm


def _with_bodies(arm: Arm | Robot, numbers: Any) -> Any:
    """The arm with other bodies, for what reads the arm itself: centres of mass are first moments by masses."""
    changed = []
    for link, row in zip(bodies(arm), numbers, strict=True):
        mass, moment, tensor = ten_from(row)
        changed.append(
            link.replace(mass=mass, com=tuple(moment / mass), inertia=Inertia.about_origin(tensor))
        )
    if isinstance(arm, Robot) and arm.free:
        base, *changed = changed
        arm = arm.replace(trunk=Body(base.mass, base.com, base.inertia))
    return arm.replace(links=tuple(changed))


def current(arm: Arm | Robot, path: str) -> Any:
    """The arm's own value of a free parameter, as a kernel takes it."""
    if is_payload(path):
        return np.zeros(10)
    if path == INERTIAL:
        return np.array([numbers_of(body.ten) for body in bodies(arm)], dtype=float)
    value = _get(arm, path)
    if not isinstance(value, Inertia):
        return np.array(value)
    link = arm.links[_locate(arm, path)[0]]
    t = link.about_com.inertia
    return np.array([t[0, 0], t[1, 1], t[2, 2], t[0, 1], t[0, 2], t[1, 2]])


def _locate(arm: Arm | Robot, path: str) -> tuple[int, list[str]]:
    """(link number from 0, or -1 for the arm itself; field names)."""
    head, _, rest = path.partition(".")
    found = re.fullmatch(r"links\[(-?\d+)\]", head)
    names = arm.joint_names if isinstance(arm, Arm) else arm.all_joint_names
    if found and -len(names) <= int(found[1]) < len(names):
        return int(found[1]) % len(names), rest.split(".")
    if head in names and rest:
        return names.index(head), rest.split(".")
    if path == "gravity":
        return -1, ["gravity"]
    raise KernelFault(
        f"free parameter {path!r} is not a field of arm {arm.name!r}; give 'inertial', 'payload', 'gravity', or a "
        f"field of a link such as 'links[0].mass' (0 to {len(names) - 1}) or '{names[0]}.com'."
    )


FIELDS = ("mass", "com", "inertia", "d", "theta", "offset")
DRIVE_FIELDS = ("rotor_inertia", "gear", "viscous", "coulomb")


def _get(arm: Arm | Robot, path: str) -> Any:
    number, names = _locate(arm, path)
    if number < 0:
        return arm.gravity
    link = arm.links[number]
    if len(names) == 1 and names[0] in FIELDS:
        return getattr(link, names[0])
    if len(names) == 2 and names[0] == "drive" and names[1] in DRIVE_FIELDS:
        return getattr(link.drive, names[1])
    raise KernelFault(
        f"free parameter {path!r}: {'.'.join(names)!r} cannot be left free; give one of {', '.join(FIELDS)}, "
        f"{', '.join('drive.' + f for f in DRIVE_FIELDS)}."
    )


def _set(arm: Arm | Robot, path: str, value: Any) -> Any:
    _get(arm, path)
    number, names = _locate(arm, path)
    if number < 0:
        return arm.replace(gravity=tuple(value))
    link = arm.links[number]
    if names[0] == "drive":
        plain = tuple(value) if names[1] == "coulomb" else value
        changed = link.replace(drive=link.drive.replace(**{names[1]: plain}))
    elif names[0] == "inertia":
        xx, yy, zz, xy, xz, yz = value
        changed = link.replace(inertia=Inertia(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)), "com"))
    else:
        changed = link.replace(**{names[0]: tuple(value) if names[0] == "com" else value})
    return arm.replace(links=(*arm.links[:number], changed, *arm.links[number + 1 :]))
