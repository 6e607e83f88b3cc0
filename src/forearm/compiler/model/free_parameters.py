"""Parameters left free: inputs of a kernel instead of constants, so that each row may have its own.

A path names a field as Python would: 'links[2].mass', 'links[2].com', 'links[2].inertia', 'links[2].drive.viscous',
'gravity'; a joint's name may stand for its link: 'elbow.mass'. 'payload' is a body in frame n (of a `Robot` in its
tool's, or in that of its only end), 'payload@tool' one in the frame tool (any frame's name or '#' and number): ten
numbers M, MX, MY, MZ, XX, XY, XZ, YY, YZ, ZZ (mass, first moment, inertia about that frame's origin, in its axes).
'links[2].inertia' is six numbers in another order, Ixx, Iyy, Izz, Ixy, Ixz, Iyz: entries of the tensor about the centre
of mass.

Three names stand for many numbers at once, so that arms of one structure differ by the row: 'inertial' for the ten
numbers of every body (n, 10), in its own frame and in the order of `parameters(arm)`, those of a free base first;
'geometry' for the lengths that are not zero, as `lengths_of` lists them; 'friction' for viscous and dry friction of
every joint (n, 3), as `Drive` has them.
"""

import re
from typing import Any

import numpy as np

from forearm.algebra import is_zero
from forearm.arm import Arm
from forearm.faults import KernelFault, StateFault, payload_frame_of_many, payload_on_base, shown
from forearm.frames import Pose
from forearm.inertia import TEN, Inertia, moved_ten, numbers_of
from forearm.link import Body, Drive, link_of_ten
from forearm.robot import Robot

PAYLOAD, INERTIAL, GEOMETRY, FRICTION = "payload", "inertial", "geometry", "friction"
GROUPS = (INERTIAL, GEOMETRY, FRICTION)
"""Names that stand for many fields at once."""
INERTIA_ORDER = ("Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")
"""How six free moments of inertia are ordered: about the centre of mass, entries of the tensor."""


def is_payload(path: str) -> bool:
    """Whether a path means a body that the arm holds."""
    return path == PAYLOAD or path.startswith(f"{PAYLOAD}@")


def is_body(path: str) -> bool:
    """Whether a path means whole bodies: ten numbers each, in which torques are linear."""
    return path == INERTIAL or is_payload(path)


def is_drive(path: str) -> bool:
    """Whether a path means numbers of drives."""
    return path == FRICTION or ".drive." in path


def is_friction(path: str) -> bool:
    """Whether a path means friction: with it, a drive has friction of its own by the row."""
    return path == FRICTION or path.endswith((".drive.viscous", ".drive.coulomb"))


def lengths_of(arm: Arm | Robot) -> tuple[str, ...]:
    """The lengths of an arm that are not zero, as 'geometry' has them: 'links[1].d', 'links[1].x', …

    d lies along the joint's axis, x, y and z are the constant step after it. What is zero belongs to the structure.
    """
    names = []
    for i, link in enumerate(arm.links):
        steps = (("d", link.d), *zip("xyz", link.pose.translation, strict=True))
        names += [f"links[{i}].{name}" for name, value in steps if not is_zero(value)]
    return tuple(names)


def _group(arm: Arm | Robot, path: str) -> Any:
    """The arm's own numbers of a group, as a kernel takes them."""
    if path == FRICTION:
        return np.array([(x.drive.viscous, *x.drive.coulomb) for x in arm.links])
    if path == INERTIAL:
        return np.array([numbers_of(body.ten) for body in arm.bodies], dtype=float)
    if not isinstance(arm, Arm):
        raise KernelFault(
            f"free parameter {path!r} is for arms, and {arm.name!r} branches; name fields: 'links[0].d'."
        )
    return np.array([_length(arm, name) for name in lengths_of(arm)])


def _length(arm: Arm | Robot, name: str) -> Any:
    number, (field,) = _locate(arm, name)
    link = arm.links[number]
    return link.d if field == "d" else link.pose.translation["xyz".index(field)]


def _with_group(arm: Any, path: str, values: Any) -> Any:
    """The arm with the bodies, the lengths or the friction of a group."""
    if path == INERTIAL:
        return _with_bodies(arm, values)
    links = list(arm.links)
    if path == FRICTION:
        for i, (viscous, up, down) in enumerate(values):
            links[i] = links[i].replace(drive=links[i].drive.replace(viscous=viscous, coulomb=(up, down)))
        return arm.replace(links=tuple(links))
    for name, value in zip(lengths_of(arm), values, strict=True):
        number, (field,) = _locate(arm, name)
        link = links[number]
        step = tuple(value if a == field else x for a, x in zip("xyz", link.pose.translation, strict=True))
        changed = {"d": value} if field == "d" else {"pose": Pose(link.pose.rotation, step)}
        links[number] = link.replace(**changed)
    return arm.replace(links=tuple(links))


def payload_place(arm: Arm | Robot, path: str) -> tuple[int, Pose]:
    """Which link, 1 to n, holds the body, and where the frame of its numbers is, seen from that link's."""
    frame = path.partition("@")[2] or (arm.n if isinstance(arm, Arm) else "tool")
    if frame == "tool" and isinstance(arm, Robot) and "tool" not in arm.places and len(arm.tips) != 1:
        payload_frame_of_many(arm)
    number, pose = arm.place_of(frame)
    if not number and not (isinstance(arm, Robot) and arm.free):
        payload_on_base(frame, arm.name)
    return number, pose


def possible_payload(where: str, arm: Arm | Robot, path: str, values: Any) -> None:
    """Refuse ten numbers (..., 10) that make no rigid body, together with what holds it: M would be no mass matrix.

    What is taken off again, or told by sums only, need be none by itself. What holds it may be a declared defect.
    """
    number, pose = payload_place(arm, path)
    first = 0 if isinstance(arm, Robot) and arm.free else 1
    if arm.has_symbols or not arm.dynamics or any(defect.link == number for defect in arm.defects):
        return
    holder = arm.bodies[number - first]
    together = values + np.array(numbers_of(moved_ten(holder.ten, pose)), dtype=float)
    impossible = ~_is_body(together) & np.isfinite(together).all(axis=-1)
    if impossible.any():
        given = values[impossible].reshape(-1, len(TEN))[0] if values.ndim > 1 else values
        raise StateFault(
            f"{where} is {shown(given.tolist())}, which makes no rigid body of link {holder.name!r} that holds it; "
            "give M, M x centre, and XX, XY, XZ, YY, YZ, ZZ about the frame's origin, as payload_numbers makes them."
        )


def _is_body(numbers: Any) -> Any:
    """Whether ten numbers (..., 10) are those of masses somewhere: no spread about the centre is negative."""
    m, h, (xx, xy, xz, yy, yz, zz) = numbers[..., 0], numbers[..., 1:4], np.moveaxis(numbers[..., 4:], -1, 0)
    square = h * h / np.where(m > 0, m, 1.0)[..., None]
    half = (xx + yy + zz) / 2
    a, b, c = half - xx - square[..., 0], half - yy - square[..., 1], half - zz - square[..., 2]
    over = np.where(m > 0, m, 1.0)
    d, e, f = (-p - h[..., i] * h[..., j] / over for p, i, j in ((xy, 0, 1), (xz, 0, 2), (yz, 1, 2)))
    scale = np.abs(half) + square.sum(axis=-1) + np.finfo(float).tiny
    a, b, c, d, e, f = (x / scale for x in (a, b, c, d, e, f))
    minors = (a, b, c, a * b - d * d, a * c - e * e, b * c - f * f)
    whole = a * (b * c - f * f) - d * (d * c - f * e) + e * (d * f - b * e)
    return np.all([x >= -ROUNDED for x in (*minors, whole)], axis=0) & ((m > 0) | ~h.any(axis=-1))


ROUNDED = 1e-6
"""Share of a body's spread that may be missing where its numbers were rounded."""


def port_name(path: str) -> str:
    """A path as the name of an input: 'links[2].mass' becomes links_2_mass; a payload's frame is not part of it."""
    if is_payload(path):
        return PAYLOAD
    return re.sub(r"\W+", "_", path).strip("_")


def _fields(arm: Arm | Robot, path: str) -> set[tuple[int, str]]:
    """(link, field) of all that a path sets: 'elbow.mass' and 'links[2].mass' may be one, 'inertial' has many."""
    everywhere = range(len(arm.links))
    if is_payload(path):
        return {(-1, PAYLOAD)}
    if path == INERTIAL:
        return {(i, name) for i in everywhere for name in ("mass", "com", "inertia")}
    if path == FRICTION:
        return {(i, f"drive.{name}") for i in everywhere for name in ("viscous", "coulomb")}
    paths = lengths_of(arm) if path == GEOMETRY else (path,)
    return {(number, ".".join(names)) for number, names in (_locate(arm, one) for one in paths)}


def refuse_twice(arm: Arm | Robot, free: tuple[str, ...]) -> None:
    """Refuse paths of which one would set what another has set."""
    seen: dict[tuple[int, str], str] = {}
    if len({port_name(path) for path in free}) < len(free):
        raise KernelFault(f"compile: free={free!r} names one input twice; name each parameter once.")
    for path in free:
        for field in _fields(arm, path):
            other = seen.setdefault(field, path)
            if other != path:
                raise KernelFault(
                    f"compile: free={free!r}: {path!r} and {other!r} set the same number; name each parameter once."
                )


def port_shape(arm: Arm | Robot, path: str) -> tuple[int, ...]:
    """Shape of a free parameter."""
    if is_payload(path):
        payload_place(arm, path)
        return (len(TEN),)
    if path in GROUPS:
        shape: tuple[int, ...] = _group(arm, path).shape
        return shape
    value = _get(arm, path)
    if isinstance(value, Inertia):
        return (len(INERTIA_ORDER),)
    return (len(value),) if isinstance(value, tuple) else ()


def freed(arm: Arm | Robot, values: dict[str, Any]) -> Any:
    """The arm with these fields replaced (paths and values; a payload is no field and is left out)."""
    for path, value in values.items():
        if not is_payload(path):
            arm = _with_group(arm, path, value) if path in GROUPS else _set(arm, path, value)
    return arm


def _with_bodies(arm: Arm | Robot, numbers: Any) -> Any:
    """The arm with other bodies, for what reads the arm itself: centres of mass are first moments by masses."""
    changed = [link_of_ten(link, row) for link, row in zip(arm.bodies, numbers, strict=True)]
    if isinstance(arm, Robot) and arm.free:
        base, *changed = changed
        arm = arm.replace(trunk=Body(base.mass, base.com, base.inertia))
    return arm.replace(links=tuple(changed))


def current(arm: Arm | Robot, path: str) -> Any:
    """The arm's own value of a free parameter, as a kernel takes it."""
    if is_payload(path):
        return np.zeros(len(TEN))
    if path in GROUPS:
        return _group(arm, path)
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
        f"free parameter {path!r} is not a field of arm {arm.name!r}; give 'payload', 'gravity', "
        f"{', '.join(map(repr, GROUPS))}, or a field of a link such as 'links[0].mass' (0 to {len(names) - 1}) or "
        f"'{names[0]}.com'."
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
        _refuse_no_rotor(arm, path, link.drive, names[1])
        return getattr(link.drive, names[1])
    raise KernelFault(
        f"free parameter {path!r}: {'.'.join(names)!r} cannot be left free; give one of {', '.join(FIELDS)}, "
        f"{', '.join('drive.' + f for f in DRIVE_FIELDS)}."
    )


def _refuse_no_rotor(arm: Arm | Robot, path: str, drive: Drive, field: str) -> None:
    """Refuse a gear that turns no rotor, which would change nothing, and a rotor whose side is not said."""
    if field == "gear" and drive.side != "motor":
        rotor = "its rotor's inertia is already reflected" if drive.side == "joint" else "it has no rotor"
        raise KernelFault(
            f"free parameter {path!r} of {arm.name!r} changes nothing: {rotor}; give the joint a "
            "Drive(rotor_inertia=, gear=, side='motor')."
        )
    if field == "rotor_inertia" and drive.side is None:
        raise KernelFault(
            f"free parameter {path!r} of {arm.name!r}: nobody says on which side of the gear it is; give the joint a "
            "Drive(side='motor') (multiplied by gear²) or Drive(side='joint') (already reflected)."
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
