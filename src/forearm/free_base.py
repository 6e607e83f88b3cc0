"""A free base: six joints at zero, in the base's present axes.

Three sliding and three turning joints without mass stand before the base, all at q = 0, in axes that coincide with the
base's axes at this moment. Their rates are the base's velocity in its own axes, their torques the wrench on it, and
nothing is ever singular. The base's orientation enters through gravity in base axes alone. What moves with the base has
other derivatives than what stands still at it: `joint_accelerations` is the difference.

A state is as Pinocchio and ROS have it: q begins with the position (x, y, z) and the quaternion (x, y, z, w) of the
base in the world, qd with [linear; angular] velocity in base axes.
"""

from typing import Any

import numpy as np

from forearm.algebra import Matrix, Vector, cross, product, skew, sqrt, where
from forearm.faults import UNIT
from forearm.frames import Pose
from forearm.link import Link

SIX = ("#x", "#y", "#z", "#rx", "#ry", "#rz")
"""Names of the six joints: no file can take them."""
PLACE = ("base x", "base y", "base z", "base qx", "base qy", "base qz", "base qw")
"""What the first seven numbers of q are called in messages."""
SPEED = ("base vx", "base vy", "base vz", "base wx", "base wy", "base wz")
"""What the first six numbers of qd, qdd and tau are called in messages."""

TURN = Pose(((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)))
"""A third of a turn that puts z where x was: the way from each of the six axes to the next."""


def six_links() -> tuple[Link, ...]:
    """The six joints, massless; before the first stands `TURN`, after the last the base's own axes."""
    kinds = ("prismatic",) * 3 + ("revolute",) * 3
    ends = (TURN,) * 5 + (Pose(),)
    return tuple(Link(kind, end, name=name) for kind, end, name in zip(kinds, ends, SIX, strict=True))


def rotation_of(quaternion: Any) -> Matrix:
    """Base axes to world axes, from (x, y, z, w); infinite where the quaternion is not of unit length."""
    x, y, z, w = quaternion
    square = x * x + y * y + z * z + w * w
    off = square - 1.0
    scale = 2.0 / where(4 * UNIT * UNIT - off * off, square, 0.0)
    xx, yy, zz = scale * x * x, scale * y * y, scale * z * z
    xy, xz, yz = scale * x * y, scale * x * z, scale * y * z
    wx, wy, wz = scale * w * x, scale * w * y, scale * w * z
    # fmt: off
    return np.array([
        [1.0 - (yy + zz), xy - wz, xz + wy],
        [xy + wz, 1.0 - (xx + zz), yz - wx],
        [xz - wy, yz + wx, 1.0 - (xx + yy)],
    ])
    # fmt: on


def joint_accelerations(qd: Vector, qdd: Vector) -> Vector:
    """Accelerations of the six joints from those of the base's velocity components: v̇ + ω × v, and ω̇ less a product."""
    v, (wx, wy, wz) = qd[:3], qd[3:6]
    linear = qdd[:3] + cross(qd[3:6], v)
    angular = qdd[3:6] - np.array([wy * wz, -(wx * wz), wx * wy])
    return np.concatenate([linear, angular])


def place_rates(q: Vector, qd: Vector) -> Vector:
    """Rates (7,) of the base's position and quaternion: R v, and half the quaternion times (ω, 0)."""
    x, y, z, w = q[3:7]
    wx, wy, wz = qd[3:6] * 0.5
    turning = [
        w * wx + y * wz - z * wy,
        w * wy + z * wx - x * wz,
        w * wz + x * wy - y * wx,
        -(x * wx + y * wy + z * wz),
    ]
    return np.concatenate([product(rotation_of(unit(q)[3:7]), qd[:3]), np.array(turning)])


def unit(q: Vector) -> Vector:
    """A state (nq,) of any scalars with its quaternion at unit length."""
    x, y, z, w = q[3:7]
    shrink = 1.0 / sqrt(x * x + y * y + z * z + w * w)
    return np.concatenate([q[:3], q[3:7] * shrink, q[7:]])


def unit_rows(q: Vector) -> Vector:
    """States (..., nq) with their quaternions at unit length."""
    length = np.linalg.norm(q[..., 3:7], axis=-1, keepdims=True)
    return np.concatenate([q[..., :3], q[..., 3:7] / length, q[..., 7:]], axis=-1)


def bracket(qd: Vector) -> Matrix:
    """ad (6, 6) of the base's velocity: what of the Coriolis matrix comes from axes that turn with the base."""
    v, w = skew(qd[:3]), skew(qd[3:6])
    zero = np.zeros((3, 3))
    return np.concatenate([np.concatenate([w, v], axis=1), np.concatenate([zero, w], axis=1)])


def base_columns(R: Matrix, away: Vector) -> Matrix:
    """J (6, 6) of a point that is `away` (world axes) from a base, by the base's velocity in its own axes."""
    lever = np.array([cross(R[:, k], away) for k in range(3)]).T
    return np.concatenate([np.concatenate([R, lever], axis=1), np.concatenate([0.0 * np.eye(3), R], axis=1)])


def gravity_in_base(R: Matrix, gravity: Any) -> Vector:
    """Gravity in base axes."""
    return product(R.T, np.array(gravity))
