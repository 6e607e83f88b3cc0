"""Link: a joint and the body that it moves; Drive: what moves it; Wrench: what pushes it.

A value checks shape and type when it is made; the physics is checked by `Arm`, which sees all links at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from forearm import faults
from forearm.algebra import (
    Matrix,
    Scalar,
    Vector,
    cos,
    is_number,
    is_zero,
    parallel_axis,
    product,
    rotation_z,
    second_moment,
    sin,
    sin_cos_of_constant,
    turned_tensor,
)
from forearm.frames import SAME, ZERO, Part, Pose, Triple, frozen_array
from forearm.inertia import (
    NO_INERTIA,
    AboutCom,
    Inertia,
    Ten,
    center_of,
    numbers_of,
    shifted,
    sum_of_tens,
    ten_from,
)


@dataclass(frozen=True)
class Drive(Part):
    """What moves a joint: rotor inertia and friction, as they act on the joint."""

    rotor_inertia: Scalar = 0.0
    """Inertia of rotor (and gear) about its axis [kg m²], on the side that `side` names."""
    gear: Scalar = 1.0
    """Motor turns per joint turn (any sign)."""
    side: str | None = None
    """'motor': rotor_inertia is multiplied by gear²; 'joint': it is already reflected."""
    viscous: Scalar = 0.0
    """Viscous friction at the joint [N m s/rad or N s/m]."""
    coulomb: tuple[Scalar, Scalar] = (0.0, 0.0)
    """Dry friction at the joint for positive and for negative speed, both positive numbers [N m or N]."""
    smoothing: Scalar = 1e-3
    """Speed over which dry friction turns over [rad/s or m/s]: c v / sqrt(v² + smoothing²)."""

    def __post_init__(self) -> None:
        for name in ("rotor_inertia", "gear", "viscous", "smoothing"):
            object.__setattr__(self, name, faults.scalar(getattr(self, name), f"Drive {name}"))
        object.__setattr__(self, "coulomb", faults.coulomb_pair(self.coulomb))
        if self.side is not None:
            faults.choice(self.side, ("motor", "joint"), "Drive side")
        faults.drive_numbers(self)

    @property
    def reflected_inertia(self) -> Scalar:
        """Rotor inertia as the joint feels it [kg m² or kg]."""
        return self.rotor_inertia * self.gear * self.gear if self.side == "motor" else self.rotor_inertia


@dataclass(frozen=True)
class Wrench(Part):
    """A force and a moment that the environment exerts on the arm."""

    force: Triple = ZERO
    """Force on the arm [N]."""
    moment: Triple = ZERO
    """Moment on the arm about the point of action [N m]."""
    at: str | int | Sequence[Any] = "tool"
    """Where it acts: 'tool', a frame's name or number (its origin), or (frame, point in its axes)."""
    frame: str = "world"
    """Axes of force and moment: 'world', or 'local' (those of the link or tool)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "force", faults.vector(self.force, "Wrench force", "N"))
        object.__setattr__(self, "moment", faults.vector(self.moment, "Wrench moment", "N m"))
        if isinstance(self.at, list):
            object.__setattr__(self, "at", tuple(self.at))
        faults.wrench_place(self.at, self.frame)
        if isinstance(self.at, tuple):
            object.__setattr__(self, "at", (self.at[0], faults.vector(self.at[1], "Wrench point", "m")))


@dataclass(frozen=True)
class Link(Part):
    """A joint and the body that it moves.

    Rz(theta + q) Tz(d) X for a revolute joint, Rz(theta) Tz(d + q) X for a prismatic one. The joint acts along
    z of the frame before it; frame i sits at the far end, after X.
    """

    kind: str
    """'revolute' or 'prismatic'."""
    pose: Pose = SAME
    """X: the constant pose after the joint; Tx(a) Rx(alpha) for a Denavit-Hartenberg row."""
    theta: Scalar = 0.0
    """Constant part of the joint angle [rad]."""
    d: Scalar = 0.0
    """Constant part of the length along the joint axis [m]."""
    mass: Scalar = 0.0
    """Mass [kg]."""
    com: Triple = ZERO
    """Centre of mass from the origin of the link frame, link axes [m]."""
    inertia: Inertia = NO_INERTIA
    """Inertia tensor, which knows its reference point [kg m²]."""
    drive: Drive = Drive()
    """Rotor inertia and friction."""
    name: str = ""
    """Name of the joint (and of its link)."""
    limits: tuple[float, float] | None = None
    """Least and greatest q [rad or m]."""
    speed_limit: float | None = None
    """Greatest |qd| [rad/s or m/s]."""
    effort_limit: float | None = None
    """Greatest |tau| [N m or N]."""
    flip: bool = False
    """Whether positive q turns the other way: the joint angle is then theta - (q + offset)."""
    offset: Scalar = 0.0
    """Added to q, for a driver whose zero differs from the description's [rad or m]."""

    def __post_init__(self) -> None:
        where = f"link {faults.name(self.name, 'the name of a link')!r}" if self.name else "link"
        faults.joint_kind(self.kind, where)
        for name, unit in (("theta", "rad"), ("d", "m"), ("mass", "kg"), ("offset", "rad or m")):
            object.__setattr__(self, name, faults.scalar(getattr(self, name), f"{where}: {name}", unit))
        object.__setattr__(self, "com", faults.vector(self.com, f"{where}: com", "m"))
        faults.angle(self.theta, f"{where}: theta")
        if self.revolute:
            faults.angle(self.offset, f"{where}: offset")
        for name, kind in (("pose", Pose), ("inertia", Inertia), ("drive", Drive)):
            faults.part(getattr(self, name), kind, f"{where}: {name}")
        object.__setattr__(self, "flip", faults.yes_or_no(self.flip, f"{where}: flip"))
        object.__setattr__(self, "limits", faults.limits(self.limits, where))
        for name in ("speed_limit", "effort_limit"):
            object.__setattr__(self, name, faults.size(getattr(self, name), f"{where}: {name}"))

    @classmethod
    @faults.explained
    def dh(
        cls,
        kind: str,
        *,
        a: Scalar = 0.0,
        alpha: Scalar = 0.0,
        d: Scalar = 0.0,
        theta: Scalar = 0.0,
        **rest: Any,
    ) -> "Link":
        """A link by its standard Denavit-Hartenberg row: Rz(theta) Tz(d) Tx(a) Rx(alpha).

        The joint angle is q + theta (revolute), the joint length q + d (prismatic); `rest` are other fields.
        """
        return cls(kind, Pose.dh(a, alpha), theta, d, **rest)

    # -- what a formulation reads ------------------------------------------------------------------------

    @property
    def revolute(self) -> bool:
        """Whether the joint turns."""
        return self.kind == "revolute"

    @property
    def prismatic(self) -> bool:
        """Whether the joint slides."""
        return self.kind == "prismatic"

    @cached_property
    def z(self) -> Vector:
        """The joint axis in the frame before the joint: (0, 0, 1); (0, 0, -1) for a flipped joint."""
        return frozen_array((0.0, 0.0, -1.0 if self.flip else 1.0))

    @cached_property
    def axis(self) -> Vector:
        """The joint axis in the link's own frame: Xᵀ z, constant."""
        row = self.pose.R[2]
        return frozen_array(-row if self.flip else row)

    def displacement(self, q: Scalar) -> Scalar:
        """How far the joint has moved along or about z: ±(q + offset)."""
        moved = q if is_number(self.offset) and self.offset == 0 else q + self.offset
        return -moved if self.flip else moved

    def rotation(self, q: Scalar) -> Matrix:
        """A_i: link axes to the axes of the frame before the joint."""
        return product(rotation_z(*self.turn(q)), self.pose.R)

    def p_star(self, q: Scalar) -> Vector:
        """p*_i: from the origin before the joint to the link's, link axes (constant for a revolute joint)."""
        return product(self.pose.R.T, self._offset_after_turn(q))

    def p_before(self, q: Scalar) -> Vector:
        """The same vector in the axes of the frame before the joint."""
        return product(rotation_z(*self.turn(q)), self._offset_after_turn(q))

    def _offset_after_turn(self, q: Scalar) -> Vector:
        x, y, z = self.pose.translation
        return np.array([x, y, z + self.length(q)])

    @cached_property
    def about_com(self) -> AboutCom:
        """Mass, centre of mass, inertia about it: the view `com`."""
        r = frozen_array(self.com)
        tensor: Matrix = np.array(self.inertia.tensor)
        if self.inertia.about == "origin":
            tensor = tensor - parallel_axis(self.mass, r)
        return AboutCom(self.mass, r, frozen_array(tensor))

    @cached_property
    def ten(self) -> Ten:
        """Mass, first moment, inertia about the frame's origin: the view `ten`."""
        r = np.array(self.com)
        tensor: Matrix = np.array(self.inertia.tensor)
        if self.inertia.about == "com":
            tensor = tensor + parallel_axis(self.mass, r)
        return Ten(self.mass, frozen_array(self.mass * r), frozen_array(tensor))

    @cached_property
    def ten_at_joint(self) -> Ten:
        """The view `ten` in the frame at the joint (before X), which is the modified Denavit-Hartenberg one."""
        mass, h, inertia = self.ten
        R, p = self.pose.R, self.pose.p
        turned = product(R, h)
        tensor = product(product(R, inertia), R.T) + shifted(turned, p) + parallel_axis(mass, p)
        return Ten(mass, frozen_array(turned + mass * p), frozen_array(tensor))

    def turn(self, q: Scalar) -> tuple[Scalar, Scalar]:
        """Sine and cosine of the whole joint angle (constant for a prismatic joint)."""
        if self.prismatic:
            return sin_cos_of_constant(self.theta)
        moved = self.displacement(q)
        angle = moved if is_number(self.theta) and self.theta == 0 else moved + self.theta
        return sin(angle), cos(angle)

    def length(self, q: Scalar) -> Scalar:
        """The whole length along the joint axis (constant for a revolute joint) [m]."""
        return self.d + self.displacement(q) if self.prismatic else self.d

    @property
    def pseudo_inertia(self) -> Matrix:
        """The 4x4 matrix ∫ (x, 1)(x, 1)ᵀ dm about the link's origin; positive semidefinite for a body."""
        mass, h, inertia = self.ten
        return np.block([[second_moment(inertia), h[:, None]], [h[None, :], np.array([[mass]])]])


@dataclass(frozen=True)
class Body(Part):
    """A rigid body that no joint of its own moves: the base of a robot."""

    mass: Scalar = 0.0
    """Mass [kg]."""
    com: Triple = ZERO
    """Centre of mass from the origin of its frame, in its axes [m]."""
    inertia: Inertia = NO_INERTIA
    """Inertia tensor, which knows its reference point [kg m²]."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "mass", faults.scalar(self.mass, "body: mass", "kg"))
        object.__setattr__(self, "com", faults.vector(self.com, "body: com", "m"))
        faults.part(self.inertia, Inertia, "body: inertia")

    @faults.explained
    def on(self, link: Link) -> Link:
        """A link with this body in place of its own."""
        return link.replace(mass=self.mass, com=self.com, inertia=self.inertia)

    @cached_property
    def as_link(self) -> Link:
        """The body on a link, whose joint means nothing: for what reads bodies of links."""
        return self.on(Link("revolute", name="base"))


NO_BODY = Body()
"""No body at all."""


def combined(link: Link, mass: Scalar, com: Vector, inertia: Matrix) -> Link:
    """The link with another body fixed to it: mass, centre [m] and inertia about that centre, link axes."""
    m1, r1, i1 = link.about_com
    total = m1 + mass
    center = r1 if is_zero(total) else (m1 * r1 + mass * com) / total
    tensor = i1 + parallel_axis(m1, r1 - center) + inertia + parallel_axis(mass, com - center)
    return link.replace(mass=total, com=tuple(center), inertia=Inertia.about_com(tensor))


def body_in_frame(
    mass: Scalar, com: Any, inertia: Inertia | None, pose: Pose
) -> tuple[Scalar, Vector, Matrix] | None:
    """Mass, centre and inertia about it of a payload given in a frame that is at `pose`; None for no body at all."""
    mass = faults.scalar(mass, "payload mass", "kg")
    center: Vector = np.array(faults.vector(com, "payload com", "m"))
    given = Inertia.point() if inertia is None else inertia
    faults.part(given, Inertia, "payload inertia")
    tensor: Matrix = np.array(given.tensor)
    if given.about == "origin":
        tensor = tensor - parallel_axis(mass, center)
    if is_number(mass) and mass == 0 and not np.any(tensor):
        return None
    if pose != SAME:
        center = product(pose.R, center) + pose.p
        tensor = turned_tensor(pose.R, tensor)
    return mass, center, tensor


def moved_frame(link: Link, step: Pose) -> Link:
    """The same link with its frame moved by `step` (the new frame seen from the old), its body with it."""
    mass, r, tensor = link.about_com
    turn = step.R.T
    return link.replace(
        pose=link.pose @ step,
        com=tuple(product(turn, r - step.p)),
        inertia=Inertia.about_com(turned_tensor(turn, tensor)),
        mass=mass,
    )


def link_of_ten(link: Link, numbers: Sequence[Any]) -> Link:
    """The link with another body: ten numbers in the order of `TEN`, link axes."""
    mass, h, tensor = ten_from(numbers)
    if is_zero(mass):
        faults.moment_without_mass(link, h)
        return link.replace(mass=mass, com=ZERO, inertia=Inertia.about_origin(tensor))
    return link.replace(mass=mass, com=tuple(center_of(mass, h)), inertia=Inertia.about_origin(tensor))


def carrying(link: Link, body: Ten) -> Link:
    """The link with another body fixed to it, both by their parameters in its frame."""
    return link_of_ten(link, numbers_of(sum_of_tens(link.ten, body)))
