"""The Denavit-Hartenberg view of an arm: (a, alpha, d, theta) of each link that has such a row."""

import math
from typing import Any

import numpy as np

from forearm import faults
from forearm.algebra import is_number, is_zero
from forearm.outside.running_log import LOG

NEAR = 1e-12
"""Angles and directions closer than this to a round one are shown (and read) as that."""


def dh_rows(arm: Any) -> list[tuple[Any, Any, Any, Any]]:
    """(a, alpha, d, theta) of each link; ArmFault for a link that has no standard row."""
    rows = [dh_row(link) for link in arm.links]
    for number, row in enumerate(rows, 1):
        if row is None:
            faults.no_dh_row(arm, number)
    return [row for row in rows if row is not None]


def not_in_the_table(arm: Any) -> None:
    """Say which joints a table leaves something out of: with it alone, the same q is another posture."""
    flipped = [link.name for link in arm.links if link.flip]
    offset = [link.name for link in arm.links if not is_zero(link.offset)]
    lacks = [f"flip of {', '.join(flipped)}"] * bool(flipped)
    lacks += [f"offset of {', '.join(offset)}"] * bool(offset)
    if lacks:
        LOG.warning(
            "dh_table of arm %r leaves out %s: with the table alone the same q is another posture. The joint angle is "
            "theta + q + offset, theta - (q + offset) where flipped; Link.dh takes both.",
            *(arm.name, " and ".join(lacks)),
        )


def dh_row(link: Any) -> tuple[Any, Any, Any, Any] | None:
    """(a, alpha, d, theta) of a link whose pose after the joint is Rz Tz Tx(a) Rx(alpha); None for another.

    Rz and Tz after the joint commute with it, so they join theta and d.
    """
    if not all(is_number(x) for row in link.pose.rotation for x in row):
        return None
    R = np.array(link.pose.rotation, dtype=float)
    if abs(R[2, 0]) > NEAR:
        return None
    extra = round_angle(math.atan2(R[1, 0], R[0, 0]))
    x, y, z = link.pose.translation
    if extra == 0.0:
        a, across = x, y
    else:
        s, c = R[1, 0], R[0, 0]
        a, across = c * x + s * y, c * y - s * x
    if not (is_zero(across) or (is_number(across) and abs(across) < NEAR)):
        return None
    alpha = round_angle(math.atan2(R[2, 1], R[2, 2]))
    theta = link.theta if extra == 0.0 else link.theta + extra
    return a, alpha, link.d if is_zero(z) else link.d + z, theta


def round_angle(x: float) -> float:
    """The multiple of pi/2 where it is that within NEAR."""
    quarter = round(x / (math.pi / 2)) * (math.pi / 2)
    return quarter if abs(x - quarter) < NEAR else x
