"""Pose: where a frame is, seen from another. Frozen, hashable, picklable.

Fields are tuples of scalars, so that values compare and hash; arrays are properties. Any scalar may be a symbol or a
traced value instead of a number. `Part` is what all such values share.
"""

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from forearm import faults
from forearm.algebra import Matrix, Scalar, Vector, product, rotation_x, sin_cos_of_constant
from forearm.angles import rotation_rpy

Triple = tuple[Scalar, Scalar, Scalar]
ZERO: Triple = (0.0, 0.0, 0.0)


class Part:
    """What all parts share: only the fields are pickled, not what was computed from them."""

    fault = faults.ArmFault
    """What is raised where a field is not what it should be."""

    def __init_subclass__(cls) -> None:
        faults.explained_parts(cls)

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed, checked like a new one."""
        return replace(self, **changes)  # type: ignore[type-var]

    def _shown(self) -> str:
        """What a dataclass prints, for parts that keep free text: letters that show nothing are written by number."""
        from forearm.outside.escapes import terminal

        shown = (f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)  # type: ignore[arg-type]
        return terminal(f"{type(self).__qualname__}({', '.join(shown)})")


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
    @faults.explained
    def at(cls, xyz: Any = ZERO, rpy: Any = ZERO) -> "Pose":
        """From a position [m] and roll, pitch, yaw [rad]: R = Rz(yaw) Ry(pitch) Rx(roll), as in URDF."""
        roll, pitch, yaw = faults.vector(rpy, "Pose rpy", "rad")
        for angle, name in zip((roll, pitch, yaw), ("roll", "pitch", "yaw"), strict=True):
            faults.angle(angle, f"Pose {name}")
        return cls(rotation_rpy(roll, pitch, yaw), xyz)  # type: ignore[arg-type]

    @classmethod
    @faults.explained
    def from_matrix(cls, matrix: Any) -> "Pose":
        """From a 4x4 homogeneous matrix (x, y, z, 1)."""
        m = faults.homogeneous(matrix)
        return cls(m[:3, :3], m[:3, 3])  # type: ignore[arg-type]

    @classmethod
    @faults.explained
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

    @faults.explained
    def __matmul__(self, other: "Pose") -> "Pose":
        p = product(self.R, other.p) + self.p
        return Pose(product(self.R, other.R), p)  # type: ignore[arg-type]


SAME = Pose()
"""The pose of a frame that coincides with the other."""


@dataclass(frozen=True)
class NamedFrame(Part):
    """A frame that a file gives a name: one of its links, wherever that rides."""

    name: str
    """The file's name for it; anything but 'tool' and what begins with '#'."""
    link: int
    """The frame that carries it, 0 (the base) to n."""
    pose: Pose = SAME
    """Where it is, seen from that frame."""

    def __post_init__(self) -> None:
        faults.frame_name(self.name, "the name of a frame")
        faults.part(self.pose, Pose, f"frame {self.name!r}: pose")
