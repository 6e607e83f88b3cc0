"""Pose and Inertia: where a frame is, and how a body resists turning. Frozen, hashable, picklable.

Fields are tuples of scalars, so that parts compare and hash; arrays are properties. Any scalar may be a
symbol or a traced value instead of a number.
"""

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from forearm import faults
from forearm.algebra import (
    Matrix,
    Scalar,
    Vector,
    product,
    rotation_rpy,
    rotation_x,
    sin_cos_of_constant,
    turned_tensor,
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
        for angle, name in zip((roll, pitch, yaw), ("roll", "pitch", "yaw"), strict=True):
            faults.angle(angle, f"Pose {name}")
        return cls(rotation_rpy(roll, pitch, yaw), xyz)  # type: ignore[arg-type]

    @classmethod
    def from_matrix(cls, matrix: Any) -> "Pose":
        """From a 4x4 homogeneous matrix (x, y, z, 1)."""
        m = faults.homogeneous(matrix)
        return cls(m[:3, :3], m[:3, 3])  # type: ignore[arg-type]

    @classmethod
    def dh(cls, a: Scalar, alpha: Scalar) -> "Pose":
        """Tx(a) Rx(alpha): the constant part of a Denavit-Hartenberg row."""
        a = faults.scalar(a, "a", "m")
        alpha = faults.angle(faults.scalar(alpha, "alpha", "rad"), "alpha")
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


SAME = Pose()
"""The pose of a frame that coincides with the other."""


@dataclass(frozen=True)
class Inertia(Part):
    """An inertia tensor that knows the point it is about. Made by `about_com`, `about_origin` or a shape."""

    tensor: tuple[Triple, ...] = NO_MOMENTS
    """Rows of the 3x3 inertia matrix, link axes [kg m²]; off-diagonal entries are -∫xy dm."""
    about: str = ""
    """The reference point: 'com' (centre of mass) or 'origin' (origin of the link frame)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "tensor", faults.matrix3(self.tensor, "inertia", "kg m²"))
        object.__setattr__(self, "about", faults.reference_point(self.tensor, self.about))
        faults.symmetric(self.tensor, "inertia")

    @classmethod
    def about_com(
        cls, matrix: Any = None, *, axes: Any = None, products: str | None = None, **components: Any
    ) -> "Inertia":
        """About the centre of mass: a 3x3 matrix, or Ixx=, Iyy=, Izz=, Ixy=, Ixz=, Iyz= by name.

        `products` says the sign of off-diagonal components: 'tensor' (a matrix is taken so) or 'cad'. `axes` is the
        rotation from the axes of the numbers to link axes, where they differ.
        """
        return cls(_tensor(matrix, axes, products, components, "Inertia.about_com"), "com")

    @classmethod
    def about_origin(
        cls, matrix: Any = None, *, axes: Any = None, products: str | None = None, **components: Any
    ) -> "Inertia":
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
        return cls(_diagonal({**dict.fromkeys("xyz", i), faults.choice(axis, "xyz", "rod axis"): 0.0}), "com")

    @classmethod
    def box(cls, mass: Scalar, x: Scalar, y: Scalar, z: Scalar) -> "Inertia":
        """A uniform box with these edge lengths, about its middle."""
        xx, yy, zz = x * x, y * y, z * z
        m = mass / 12
        return cls(_diagonal({"x": m * (yy + zz), "y": m * (zz + xx), "z": m * (xx + yy)}), "com")

    @classmethod
    def cylinder(cls, mass: Scalar, radius: Scalar, length: Scalar, axis: str = "z") -> "Inertia":
        """A uniform cylinder along an axis, about its middle."""
        across = mass * (3 * radius * radius + length * length) / 12
        along = mass * radius * radius / 2
        moments = {**dict.fromkeys("xyz", across), faults.choice(axis, "xyz", "cylinder axis"): along}
        return cls(_diagonal(moments), "com")

    @classmethod
    def sphere(cls, mass: Scalar, radius: Scalar) -> "Inertia":
        """A uniform ball, about its middle."""
        return cls(_diagonal(dict.fromkeys("xyz", mass * radius * radius * 2 / 5)), "com")


NO_INERTIA = Inertia()
"""The inertia of a point mass, or of nothing."""


def _diagonal(moments: dict[str, Scalar]) -> tuple[Triple, ...]:
    return (moments["x"], 0.0, 0.0), (0.0, moments["y"], 0.0), (0.0, 0.0, moments["z"])


COMPONENTS = ("Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")


def _tensor(matrix: Any, axes: Any, products: str | None, components: dict[str, Any], where: str) -> Any:
    faults.inertia_arguments(matrix, components, COMPONENTS, where)
    if matrix is not None:
        rows = faults.matrix3(matrix, where, "kg m²")
        sign = faults.products_of_inertia({}, products, where)
        if sign < 0:
            rows = tuple(tuple(x if i == j else -x for j, x in enumerate(row)) for i, row in enumerate(rows))
    else:
        off: dict[str, Any] = {k: components[k] for k in ("Ixy", "Ixz", "Iyz") if k in components}
        sign = faults.products_of_inertia(off, products, where)
        xy, xz, yz = (sign * off[k] if k in off else 0.0 for k in ("Ixy", "Ixz", "Iyz"))
        xx, yy, zz = (components.get(k, 0.0) for k in ("Ixx", "Iyy", "Izz"))
        rows = faults.matrix3(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)), where, "kg m²")
    if axes is None:
        return rows
    turn = faults.matrix3(axes, f"{where} axes")
    faults.rotation(turn, f"{where} axes")
    return turned_tensor(np.array(turn), np.array(rows))
