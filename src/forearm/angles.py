"""Roll, pitch, yaw, both ways; quaternions of rotations; and right angles written with few digits.

Those turn exact zeros into small numbers.

R = Rz(yaw) Ry(pitch) Rx(roll), as URDF has it.
"""

import math

from forearm.algebra import (
    Matrix,
    Scalar,
    product,
    rotation_x,
    rotation_y,
    rotation_z,
    sin_cos_of_constant,
)

QUARTER = math.pi / 2


def rotation_rpy(roll: Scalar, pitch: Scalar, yaw: Scalar) -> Matrix:
    """Rz(yaw) Ry(pitch) Rx(roll), as URDF has it, right angles exact."""
    rx = rotation_x(*sin_cos_of_constant(roll))
    ry = rotation_y(*sin_cos_of_constant(pitch))
    rz = rotation_z(*sin_cos_of_constant(yaw))
    return product(product(rz, ry), rx)


def roll_pitch_yaw(R: Matrix, near: float = 0.0) -> tuple[float, float, float]:
    """Angles with R = Rz(yaw) Ry(pitch) Rx(roll); well conditioned, also where pitch is a right angle.

    There only roll and yaw together are known; with cos(pitch) below `near` the yaw is taken as zero.
    """
    level = math.hypot(R[0, 0], R[1, 0])
    yaw = math.atan2(R[1, 0], R[0, 0]) if level > near else 0.0
    pitch = math.atan2(-R[2, 0], level)
    s, c = math.sin(yaw), math.cos(yaw)
    # the middle row of Rz(-yaw) R is (0, cos roll, -sin roll)
    roll = math.atan2(s * R[0, 2] - c * R[1, 2], c * R[1, 1] - s * R[0, 1])
    return roll, pitch, yaw


def quaternion_of(R: Matrix) -> tuple[float, float, float, float]:
    """The unit quaternion (x, y, z, w) of a rotation, w not negative, from its largest component: never cancelled."""
    trace = R[0, 0] + R[1, 1] + R[2, 2]
    squares = [1 + 2 * R[0, 0] - trace, 1 + 2 * R[1, 1] - trace, 1 + 2 * R[2, 2] - trace, 1 + trace]
    x, y, z = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    xy, xz, yz = R[0, 1] + R[1, 0], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1]
    rows = ((squares[0], xy, xz, x), (xy, squares[1], yz, y), (xz, yz, squares[2], z), (x, y, z, squares[3]))
    row = rows[squares.index(max(squares))]
    length = math.copysign(math.sqrt(sum(c * c for c in row)), row[3])
    qx, qy, qz, qw = (float(c) / length for c in row)
    return qx, qy, qz, qw


def nearest_right_angle(angle: float, within: float | None) -> float:
    """The angle, or the multiple of pi/2 that is nearer than `within`."""
    if within is None:
        return angle
    right = round(angle / QUARTER) * QUARTER
    return right if abs(angle - right) <= within else angle


def rounded_right_angle(rpy: tuple[float, ...]) -> bool:
    """Whether some angle is a multiple of pi/2 written with few digits, like 1.5708 or 3.14."""
    return any(_is_rounded(angle) for angle in rpy)


def _is_rounded(angle: float) -> bool:
    quarters = round(angle / QUARTER)
    right = quarters * QUARTER
    if quarters == 0 or abs(math.sin(angle - right)) < 1e-15:
        return False
    from decimal import Decimal  # for angles with few digits alone

    digits = -int(Decimal(repr(angle)).as_tuple().exponent)
    return digits >= 2 and abs(angle - right) < 10.0**-digits
