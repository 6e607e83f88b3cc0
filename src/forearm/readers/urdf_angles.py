"""Roll, pitch, yaw; and right angles written with few digits, which turn exact zeros into small numbers."""

import math
from decimal import Decimal

from forearm.algebra import Matrix

QUARTER = math.pi / 2


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
    digits = -int(Decimal(repr(angle)).as_tuple().exponent)
    return digits >= 2 and abs(angle - right) < 10.0**-digits


def roll_pitch_yaw(R: Matrix) -> tuple[float, float, float]:
    """Angles with R = Rz(yaw) Ry(pitch) Rx(roll); well conditioned, also where pitch is a right angle."""
    yaw = math.atan2(R[1, 0], R[0, 0])
    pitch = math.atan2(-R[2, 0], math.hypot(R[0, 0], R[1, 0]))
    s, c = math.sin(yaw), math.cos(yaw)
    # the middle row of Rz(-yaw) R is (0, cos roll, -sin roll)
    roll = math.atan2(s * R[0, 2] - c * R[1, 2], c * R[1, 1] - s * R[0, 1])
    return roll, pitch, yaw
