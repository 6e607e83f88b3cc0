"""The parts of an arm: Pose, Inertia, Drive, Wrench, Link. Frozen, hashable, picklable.

Fields are tuples of scalars, so that parts compare and hash; arrays are properties. A part checks shape and
type when it is made; the physics is checked by `Arm`, which sees all links at once. Any scalar may be a
symbol or a traced value instead of a number.
"""

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

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
    rotation_rpy,
    rotation_x,
    rotation_z,
    sin,
    sin_cos_of_constant,
)

Triple = tuple[Scalar, Scalar, Scalar]
ZERO: Triple = (0.0, 0.0, 0.0)
NO_MOMENTS = (ZERO, ZERO, ZERO)


class Part:
    """What all parts share: only the fields are pickled, not what was computed from them."""

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed, checked like a new one."""
        return replace(self, **changes)  # type: ignore[type-var]


def frozen_array(value: Any) -> Vector:
    """An array that nobody can write into."""
    array = np.array(value)
    array.flags.writeable = False
    return array


@dataclass(frozen=True)
class Pose(Part):
    """Where a frame is, seen from another: p_outer = rotation p_inner + translation."""

    rotation: tuple[Triple, ...] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    """Rows of the 3x3 rotation, inner axes to outer axes."""
    translation: Triple = ZERO
    """Origin of the inner frame, in outer axes [m]."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "rotation", faults.matrix3(self.rotation, "Pose rotation"))
        object.__setattr__(self, "translation", faults.vector(self.translation, "Pose translation", "m"))
        faults.rotation(self.rotation, "Pose rotation")

    @classmethod
    def at(cls, xyz: Any = ZERO, rpy: Any = ZERO) -> "Pose":
        """From a position [m] and roll, pitch, yaw [rad]: R = Rz(yaw) Ry(pitch) Rx(roll), as in URDF."""
        roll, pitch, yaw = faults.vector(rpy, "Pose rpy", "rad")
        return cls(rotation_rpy(roll, pitch, yaw), xyz)  # type: ignore[arg-type]

    @classmethod
    def from_matrix(cls, matrix: Any) -> "Pose":
        """From a 4x4 homogeneous matrix (x, y, z, 1)."""
        m = np.asarray(matrix)
        if m.shape != (4, 4):
            raise faults.ArmFault(f"Pose.from_matrix got shape {m.shape}; give a 4x4 homogeneous matrix.")
        return cls(m[:3, :3], m[:3, 3])  # type: ignore[arg-type]

    @classmethod
    def dh(cls, a: Scalar, alpha: Scalar) -> "Pose":
        """Tx(a) Rx(alpha): the constant part of a Denavit-Hartenberg row."""
        return cls(rotation_x(*sin_cos_of_constant(alpha)), (a, 0.0, 0.0))  # type: ignore[arg-type]

    @cached_property
    def R(self) -> Matrix:
        """The rotation as a 3x3 array."""
        return frozen_array(self.rotation)

    @cached_property
    def p(self) -> Vector:
        """The translation as an array (3,) [m]."""
        return frozen_array(self.translation)

    @property
    def matrix(self) -> Matrix:
        """The pose as a 4x4 homogeneous matrix."""
        return np.block([[self.R, self.p[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]])

    def inverse(self) -> "Pose":
        """The outer frame seen from the inner."""
        return Pose(self.R.T, -product(self.R.T, self.p))  # type: ignore[arg-type]

    def __matmul__(self, other: "Pose") -> "Pose":
        p = product(self.R, other.p) + self.p
        return Pose(product(self.R, other.R), p)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Inertia(Part):
    """An inertia tensor that knows the point it is about. Made by `about_com`, `about_origin` or a shape."""

    tensor: tuple[Triple, ...] = NO_MOMENTS
    """Rows of the 3x3 inertia matrix, link axes [kg m²]; off-diagonal entries are -∫xy dm."""
    about: str = "com"
    """The reference point: 'com' (centre of mass) or 'origin' (origin of the link frame)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "tensor", faults.matrix3(self.tensor, "inertia", "kg m²"))
        faults.choice(self.about, ("com", "origin"), "inertia about")
        faults.symmetric(self.tensor, "inertia")

    @classmethod
    def about_com(cls, matrix: Any = None, *, axes: Any = None, products: str | None = None, **components: Any) -> "Inertia":
        """About the centre of mass: a 3x3 matrix, or Ixx=, Iyy=, Izz=, Ixy=, Ixz=, Iyz= by name.

        `products` says the sign of off-diagonal components given by name: 'tensor' or 'cad'. `axes` is the
        rotation from the axes of the numbers to link axes, where they differ.
        """
        return cls(_tensor(matrix, axes, products, components, "Inertia.about_com"), "com")

    @classmethod
    def about_origin(cls, matrix: Any = None, *, axes: Any = None, products: str | None = None, **components: Any) -> "Inertia":
        """About the origin of the link frame; arguments as in `about_com`."""
        return cls(_tensor(matrix, axes, products, components, "Inertia.about_origin"), "origin")

    @classmethod
    def point(cls) -> "Inertia":
        """A point mass: no inertia about its centre."""
        return cls()

    @classmethod
    def rod(cls, mass: Scalar, length: Scalar, axis: str = "x") -> "Inertia":
        """A thin uniform rod along an axis, about its middle."""
        i = mass * length * length / 12
        return cls(_diagonal({**dict.fromkeys("xyz", i), faults.choice(axis, "xyz", "rod axis"): 0.0}))

    @classmethod
    def box(cls, mass: Scalar, x: Scalar, y: Scalar, z: Scalar) -> "Inertia":
        """A uniform box with these edge lengths, about its middle."""
        xx, yy, zz = x * x, y * y, z * z
        m = mass / 12
        return cls(_diagonal({"x": m * (yy + zz), "y": m * (zz + xx), "z": m * (xx + yy)}))

    @classmethod
    def cylinder(cls, mass: Scalar, radius: Scalar, length: Scalar, axis: str = "z") -> "Inertia":
        """A uniform cylinder along an axis, about its middle."""
        across = mass * (3 * radius * radius + length * length) / 12
        along = mass * radius * radius / 2
        return cls(_diagonal({**dict.fromkeys("xyz", across), faults.choice(axis, "xyz", "cylinder axis"): along}))

    @classmethod
    def sphere(cls, mass: Scalar, radius: Scalar) -> "Inertia":
        """A uniform ball, about its middle."""
        return cls(_diagonal(dict.fromkeys("xyz", mass * radius * radius * 2 / 5)))


def _diagonal(moments: dict[str, Scalar]) -> tuple[Triple, ...]:
    return (moments["x"], 0.0, 0.0), (0.0, moments["y"], 0.0), (0.0, 0.0, moments["z"])


COMPONENTS = ("Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")


def _tensor(matrix: Any, axes: Any, products: str | None, components: dict[str, Any], where: str) -> Any:
    unknown = [k for k in components if k not in COMPONENTS]
    if unknown or (matrix is None) == (not components):
        given = ", ".join(unknown) if unknown else "both or neither"
        raise faults.ArmFault(
            f"{where}: got {given}; give one 3x3 matrix, or components by name: {', '.join(COMPONENTS)}."
        )
    if matrix is not None:
        rows = faults.matrix3(matrix, where, "kg m²")
    else:
        off = {k: components[k] for k in ("Ixy", "Ixz", "Iyz") if k in components}
        sign = faults.products_of_inertia(off, products, where)
        xy, xz, yz = (sign * off[k] if k in off else 0.0 for k in ("Ixy", "Ixz", "Iyz"))
        xx, yy, zz = (components.get(k, 0.0) for k in ("Ixx", "Iyy", "Izz"))
        rows = faults.matrix3(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)), where, "kg m²")
    if axes is None:
        return rows
    turn = np.array(faults.matrix3(axes, f"{where} axes"))
    turned = product(product(turn, np.array(rows)), turn.T)
    return (turned + turned.T) / 2 if turned.dtype != object else turned


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
        pair = (self.coulomb, self.coulomb) if is_number(self.coulomb) else self.coulomb
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise faults.ArmFault(
                f"Drive coulomb is {self.coulomb!r}; give (for positive speed, for negative speed), both positive."
            )
        object.__setattr__(self, "coulomb", tuple(faults.scalar(c, "Drive coulomb") for c in pair))
        if self.side is not None:
            faults.choice(self.side, ("motor", "joint"), "Drive side")
        faults.drive_numbers(self.rotor_inertia, self.gear, self.side, "Drive")
        signed = {"rotor_inertia": self.rotor_inertia, "viscous": self.viscous}
        signed.update({"coulomb (positive speed)": self.coulomb[0], "coulomb (negative speed)": self.coulomb[1]})
        for name, value in signed.items():
            if is_number(value) and value < 0:
                raise faults.ArmFault(f"Drive {name} is {value:g}; give its size, zero or positive.")
        if is_number(self.smoothing) and self.smoothing <= 0:
            raise faults.ArmFault(f"Drive smoothing is {self.smoothing:g}; give a positive speed in rad/s or m/s.")

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
    at: Any = "tool"
    """Where it acts: 'tool', a link's name (origin of its frame), or (link name, point in link axes)."""
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


class AboutCom(NamedTuple):
    """A link's inertia as most papers use it: the view `com`."""

    mass: Scalar
    """Mass [kg]."""
    center: Vector
    """Centre of mass from the origin of the link frame, link axes (3,) [m]."""
    inertia: Matrix
    """Inertia about the centre of mass, link axes (3, 3) [kg m²]."""


class Ten(NamedTuple):
    """A link's ten linear parameters, in which torques are linear: the view `ten`."""

    mass: Scalar
    """Mass [kg]."""
    first_moment: Vector
    """Mass times centre of mass, link axes (3,) [kg m]."""
    inertia: Matrix
    """Inertia about the origin of the link frame, link axes (3, 3) [kg m²]."""


@dataclass(frozen=True)
class Link(Part):
    """A joint and the body that it moves: Rz(theta + q) Tz(d) X for a revolute joint, Rz(theta) Tz(d + q) X for a prismatic one.

    The joint acts along z of the frame before it; frame i sits at the far end, after X.
    """

    kind: str
    """'revolute' or 'prismatic'."""
    pose: Pose = Pose()  # noqa: RUF009  (a frozen value)
    """X: the constant pose after the joint; Tx(a) Rx(alpha) for a Denavit-Hartenberg row."""
    theta: Scalar = 0.0
    """Constant part of the joint angle [rad]."""
    d: Scalar = 0.0
    """Constant part of the length along the joint axis [m]."""
    mass: Scalar = 0.0
    """Mass [kg]."""
    com: Triple = ZERO
    """Centre of mass from the origin of the link frame, link axes [m]."""
    inertia: Inertia = Inertia()  # noqa: RUF009
    """Inertia tensor, which knows its reference point [kg m²]."""
    drive: Drive = Drive()  # noqa: RUF009
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
        where = f"link {self.name!r}" if self.name else "link"
        faults.choice(self.kind, ("revolute", "prismatic"), f"{where}: joint kind")
        for name, unit in (("theta", "rad"), ("d", "m"), ("mass", "kg"), ("offset", "rad or m")):
            object.__setattr__(self, name, faults.scalar(getattr(self, name), f"{where}: {name}", unit))
        object.__setattr__(self, "com", faults.vector(self.com, f"{where}: com", "m"))
        for name, kind in (("pose", Pose), ("inertia", Inertia), ("drive", Drive)):
            if not isinstance(getattr(self, name), kind):
                raise faults.ArmFault(
                    f"{where}: {name} is a {type(getattr(self, name)).__name__}; give a {kind.__name__}"
                    f"{' (Inertia.about_com or Inertia.about_origin: the point matters)' if kind is Inertia else ''}."
                )
        if self.limits is not None:
            lo, hi = (float(x) for x in self.limits)
            object.__setattr__(self, "limits", (lo, hi))

    @classmethod
    def dh(
        cls, kind: str, *, a: Scalar = 0.0, alpha: Scalar = 0.0, d: Scalar = 0.0, theta: Scalar = 0.0, **rest: Any
    ) -> "Link":
        """A link by its standard Denavit-Hartenberg row: Rz(theta) Tz(d) Tx(a) Rx(alpha).

        The joint angle is q + theta (revolute), the joint length q + d (prismatic); `rest` are fields of Link.
        """
        return cls(kind, Pose.dh(faults.scalar(a, "a", "m"), faults.scalar(alpha, "alpha", "rad")), theta, d, **rest)

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
        """p*_i: from the origin before the joint to the link's origin, link axes (constant for a revolute joint)."""
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
        tensor = np.array(self.inertia.tensor)
        if self.inertia.about == "origin":
            tensor = tensor - parallel_axis(self.mass, r)
        return AboutCom(self.mass, r, frozen_array(tensor))

    @cached_property
    def ten(self) -> Ten:
        """Mass, first moment, inertia about the frame's origin: the view `ten`."""
        r = np.array(self.com)
        tensor = np.array(self.inertia.tensor)
        if self.inertia.about == "com":
            tensor = tensor + parallel_axis(self.mass, r)
        return Ten(self.mass, frozen_array(self.mass * r), frozen_array(tensor))

    @cached_property
    def ten_at_joint(self) -> Ten:
        """The view `ten` in the frame at the joint (before X): what modified Denavit-Hartenberg frames use."""
        mass, h, inertia = self.ten
        R, p = self.pose.R, self.pose.p
        turned = product(R, h)
        tensor = product(product(R, inertia), R.T) + _shifted(turned, p) + parallel_axis(mass, p)
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
        """The 4x4 matrix ∫ (x, 1)(x, 1)ᵀ dm about the link's origin; positive semidefinite for a real body."""
        mass, h, inertia = self.ten
        half = (inertia[0, 0] + inertia[1, 1] + inertia[2, 2]) / 2
        second = np.array([[half - inertia[i, j] if i == j else -inertia[i, j] for j in range(3)] for i in range(3)])
        return np.block([[second, h[:, None]], [h[None, :], np.array([[mass]])]])


def _shifted(h: Vector, p: Vector) -> Matrix:
    """2 p·h E - p hᵀ - h pᵀ: what an inertia tensor gains when its body, first moment h, moves by p (and m p² beside it)."""
    (hx, hy, hz), (px, py, pz) = h, p
    xx, yy, zz = hx * px, hy * py, hz * pz
    xy, xz, yz = -(hx * py + hy * px), -(hx * pz + hz * px), -(hy * pz + hz * py)
    return np.array([[2 * (yy + zz), xy, xz], [xy, 2 * (zz + xx), yz], [xz, yz, 2 * (xx + yy)]])


def combined(link: Link, mass: Scalar, com: Vector, inertia: Matrix) -> Link:
    """The link with another body fixed to it: mass, centre [m] and inertia about that centre, link axes."""
    m1, r1, i1 = link.about_com
    total = m1 + mass
    center = r1 if is_zero(total) else (m1 * r1 + mass * com) / total
    tensor = i1 + parallel_axis(m1, r1 - center) + inertia + parallel_axis(mass, com - center)
    return link.replace(mass=total, com=tuple(center), inertia=Inertia(tensor, "com"))
