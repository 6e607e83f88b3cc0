"""Inertia: how a body resists turning; its ten parameters, and every move of them.

A body has three descriptions that say the same: a tensor that knows its point (`Inertia`), mass with centre and tensor
about it (`AboutCom`), and the ten parameters in which torques are linear (`Ten`): mass, first moment, tensor about the
frame's origin. A list of ten numbers is always in the order of `TEN`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from forearm import faults
from forearm.algebra import Matrix, Scalar, Vector, parallel_axis, product, turned_tensor, where
from forearm.frames import ZERO, Part, Pose, Triple

NO_MOMENTS = (ZERO, ZERO, ZERO)

TEN = ("M", "MX", "MY", "MZ", "XX", "XY", "XZ", "YY", "YZ", "ZZ")
"""The ten parameters of a body: mass, first moment, tensor about the origin of its frame."""

SIX = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
"""Where the six moments of `TEN` stand in the tensor."""


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
    @faults.explained
    def about_com(
        cls, matrix: Any = None, *, axes: Any = None, products: str | None = None, **components: Scalar
    ) -> "Inertia":
        """About the centre of mass: a 3x3 matrix, or Ixx=, Iyy=, Izz=, Ixy=, Ixz=, Iyz= by name.

        `products` says the sign of off-diagonal components: 'tensor' (a matrix is taken so) or 'cad'. `axes` is the
        rotation from the axes of the numbers to link axes, where they differ.
        """
        return cls(_tensor(matrix, axes, products, components, "Inertia.about_com"), "com")

    @classmethod
    @faults.explained
    def about_origin(
        cls, matrix: Any = None, *, axes: Any = None, products: str | None = None, **components: Scalar
    ) -> "Inertia":
        """About the origin of the link frame; arguments as in `about_com`."""
        return cls(_tensor(matrix, axes, products, components, "Inertia.about_origin"), "origin")

    @classmethod
    def point(cls) -> "Inertia":
        """A point mass: no inertia about its centre."""
        return cls()

    @classmethod
    @faults.explained
    def rod(cls, mass: Scalar, length: Scalar, axis: str = "x") -> "Inertia":
        """A thin uniform rod along an axis, about its middle."""
        mass, length = _scalars("rod", mass=mass, length=length)
        i = mass * length * length / 12
        return cls(_diagonal({**dict.fromkeys("xyz", i), faults.choice(axis, "xyz", "rod axis"): 0.0}), "com")

    @classmethod
    @faults.explained
    def box(cls, mass: Scalar, x: Scalar, y: Scalar, z: Scalar) -> "Inertia":
        """A uniform box with these edge lengths, about its middle."""
        mass, x, y, z = _scalars("box", mass=mass, x=x, y=y, z=z)
        xx, yy, zz = x * x, y * y, z * z
        m = mass / 12
        return cls(_diagonal({"x": m * (yy + zz), "y": m * (zz + xx), "z": m * (xx + yy)}), "com")

    @classmethod
    @faults.explained
    def cylinder(cls, mass: Scalar, radius: Scalar, length: Scalar, axis: str = "z") -> "Inertia":
        """A uniform cylinder along an axis, about its middle."""
        mass, radius, length = _scalars("cylinder", mass=mass, radius=radius, length=length)
        across = mass * (3 * radius * radius + length * length) / 12
        along = mass * radius * radius / 2
        moments = {**dict.fromkeys("xyz", across), faults.choice(axis, "xyz", "cylinder axis"): along}
        return cls(_diagonal(moments), "com")

    @classmethod
    @faults.explained
    def sphere(cls, mass: Scalar, radius: Scalar) -> "Inertia":
        """A uniform ball, about its middle."""
        mass, radius = _scalars("sphere", mass=mass, radius=radius)
        return cls(_diagonal(dict.fromkeys("xyz", mass * radius * radius * 2 / 5)), "com")


NO_INERTIA = Inertia()
"""The inertia of a point mass, or of nothing."""


def _scalars(shape: str, **given: Any) -> list[Scalar]:
    """Numbers of a body, each a finite one or a symbol."""
    return [faults.scalar(value, f"Inertia.{shape}: {name}") for name, value in given.items()]


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
        components = {k: faults.scalar(v, f"{where}: {k}", "kg m²") for k, v in components.items()}
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


# -- the ten parameters ----------------------------------------------------------------------------------


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


def ten_of(mass: Scalar, center: Vector, tensor: Matrix) -> Ten:
    """The ten parameters of a body from its mass, its centre [m] and its tensor about that centre."""
    return Ten(mass, mass * center, tensor + parallel_axis(mass, center))


def numbers_of(ten: Ten) -> list[Scalar]:
    """Ten parameters as a list in the order of `TEN`."""
    mass, h, tensor = ten
    return [mass, *h, *(tensor[i][j] for i, j in SIX)]


def ten_from(numbers: Sequence[Any]) -> Ten:
    """Ten parameters from a list in the order of `TEN`."""
    m, mx, my, mz, xx, xy, xz, yy, yz, zz = numbers
    return Ten(m, np.array([mx, my, mz]), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))


def moved_ten(ten: Ten, step: Pose) -> Ten:
    """The same body's parameters in a frame that is at `step` seen from the old one."""
    mass, h, tensor = ten
    R, p = step.R, step.p
    about = tensor - shifted(h, p) + parallel_axis(mass, p)
    return Ten(mass, product(R.T, h - mass * p), product(product(R.T, about), R))


def sum_of_tens(a: Ten, b: Ten) -> Ten:
    """Two bodies as one: in one frame their parameters add up."""
    return Ten(a.mass + b.mass, a.first_moment + b.first_moment, a.inertia + b.inertia)


def center_of(mass: Scalar, h: Vector) -> Vector:
    """The centre of mass (3,) of a first moment; of no body at all the origin, also where the mass is an input."""
    none = where(h @ h, mass, 1.0)  # a first moment without a mass has no centre
    return h / where(mass, mass, where(-mass, mass, none))


def split_at_axis(ten: Ten, *, revolute: bool) -> tuple[Ten, Ten]:
    """What a joint along z notices of a body in the frame at the joint, and what may as well ride on the link before.

    A turning joint does not notice what is symmetric about its axis: the mass, the first moment along z, and one moment
    twice. A sliding one keeps directions: it does not notice the tensor.
    """
    mass, h, J = ten
    if not revolute:
        return Ten(mass, h, np.zeros((3, 3))), Ten(0.0, np.zeros(3), J)
    yy = J[1, 1]
    move = Ten(mass, np.array([0.0, 0.0, h[2]]), np.array([[yy, 0.0, 0.0], [0.0, yy, 0.0], [0.0, 0.0, 0.0]]))
    rest = [[J[0, 0] - yy, J[0, 1], J[0, 2]], [J[1, 0], 0.0, J[1, 2]], [J[2, 0], J[2, 1], J[2, 2]]]
    return Ten(0.0, np.array([h[0], h[1], 0.0]), np.array(rest)), move


def shifted(h: Vector, p: Vector) -> Matrix:
    """2 p·h E - p hᵀ - h pᵀ: what the inertia of a body with first moment h gains when it moves by p."""
    (hx, hy, hz), (px, py, pz) = h, p
    xx, yy, zz = hx * px, hy * py, hz * pz
    xy, xz, yz = -(hx * py + hy * px), -(hx * pz + hz * px), -(hy * pz + hz * py)
    return np.array([[2 * (yy + zz), xy, xz], [xy, 2 * (zz + xx), yz], [xz, yz, 2 * (xx + yy)]])
