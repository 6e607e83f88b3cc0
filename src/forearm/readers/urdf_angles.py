"""Right angles in files: written with few digits, they turn exact zeros of an arm into small numbers."""

import math
from decimal import Decimal

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
