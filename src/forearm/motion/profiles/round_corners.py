"""Legs one after the other, their corners rounded: speed and acceleration stay continuous, legs stay what they are.

Within a distance r of a corner the way along the leg before it fades out while the way along the next fades in:
    value(u) = before(a(u)) + after(b(u)) - corner,    a' = 1 - S,  b' = S,
S the cubic step from 0 to 1. At both ends of this zone value and two derivatives are those of the legs.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from forearm.algebra import Vector

STEEPEST = 1.5
"""The greatest slope of S, in its middle."""


@dataclass(frozen=True)
class Where:
    """Where points of a path are: on a leg, and in a corner on the next one too. All (K,)."""

    leg: Vector
    """Number of the leg."""
    a: tuple[Vector, Vector, Vector]
    """How far along it, and two derivatives."""
    b: tuple[Vector, Vector, Vector]
    """How far along the next; zeros outside corners."""


def corner_radii(lengths: Any, blend: float) -> Vector:
    """How far each inner corner reaches into its legs, at most half of the shorter one."""
    size = np.asarray(lengths, dtype=float)
    return np.minimum(blend, np.minimum(size[:-1], size[1:]) / 2)


def corner_breaks(lengths: Any, radii: Vector) -> Vector:
    """Both ends of a path of legs, and where each corner begins and ends."""
    ends = np.cumsum(lengths)
    return np.unique(np.concatenate([[0.0], ends[:-1] - radii, ends[:-1] + radii, ends[-1:]]))


def whereabouts(u: Vector, lengths: Any, radii: Vector) -> Where:
    """Legs and distances along them of path parameters (K,) from 0 to the sum of the lengths."""
    ends = np.cumsum(lengths)
    leg = np.clip(np.searchsorted(ends, u, "right"), 0, len(ends) - 1)
    # behind a corner, but still within its zone: counted with the leg before it
    behind = np.concatenate([[-1.0], radii])[leg]
    leg = np.where((leg > 0) & (u - np.concatenate([[0.0], ends])[leg] < behind), leg - 1, leg)
    start = np.concatenate([[0.0], ends])[leg]
    r = np.concatenate([radii, [0.0]])[leg]
    into = u - ends[leg] + r  # from where the zone begins
    zone = (into > 0) & (r > 0)
    width = np.where(zone, 2 * r, 1.0)
    z = np.where(zone, np.clip(into / width, 0.0, 1.0), 0.0)
    step, rate = z * z * (3 - 2 * z), 6 * z * (1 - z) / width
    size = np.asarray(lengths, dtype=float)[leg]
    a = np.where(zone, size - r + width * (z - z**3 + z**4 / 2), u - start)
    b = np.where(zone, width * (z**3 - z**4 / 2), 0.0)
    one = np.ones_like(z)
    return Where(leg, (a, one - step, -rate), (b, step, rate))
