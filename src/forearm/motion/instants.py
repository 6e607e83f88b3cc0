"""At which instants a motion is looked at: evenly, and more closely in pieces that few of those would meet."""

from typing import Any

import numpy as np

from forearm.algebra import Vector, is_number
from forearm.motion.motions import MOST_INSTANTS, Motion

CLOSER = 8
"""A piece of a motion with fewer instants is looked at more closely."""
MOST_CLOSER = 20_000
"""Instants that are added for that, at most."""
BESIDE = 1e-9
"""How far from a break its two sides are looked at, over the duration."""


def looked_at(motion: Motion, count: Any, most: int = MOST_CLOSER) -> Any:
    """So many times of a motion from 0 to its end, and more in pieces that few of them would meet (K,)."""
    if not is_number(count) or not 2 <= count < MOST_INSTANTS:
        return count
    even, breaks = np.linspace(0.0, motion.duration, count), motion.breaks
    sizes = np.diff(breaks)
    short = (sizes > 0) & (sizes < CLOSER * motion.duration / (count - 1))
    each = min(2 * CLOSER, most // max(int(short.sum()), 1))
    if not short.any() or each < 2:
        return even
    more = breaks[:-1][short] + sizes[short] * np.linspace(0.0, 1.0, each + 1)[:, None]
    ends = np.unique(np.concatenate([breaks[:-1][short], breaks[1:][short]]))
    beside = BESIDE * motion.duration
    sides = [ends - beside, ends + beside]  # where it jumps it has two values
    return np.unique(np.clip(np.concatenate([even, more.ravel(), *sides]), 0.0, motion.duration))


def apart(breaks: Vector) -> Vector:
    """Breaks (K,) in order, those left out that only rounding tells from the one before them."""
    found = np.sort(breaks)
    return found[np.concatenate([[True], np.diff(found) > 1e-12 * found[-1]])]  # type: ignore[no-any-return]


def shares_of_time(t: Vector) -> Vector:
    """What part of the time from first to last each of rising instants (K,) stands for; all of it together is 1."""
    if len(t) < 2 or not t[-1] > t[0]:
        return np.full(len(t), 1.0 / max(len(t), 1))
    steps = np.diff(t)
    return (np.concatenate([steps, [0.0]]) + np.concatenate([[0.0], steps])) / (2 * (t[-1] - t[0]))


def unseen(motion: Motion, count: int) -> float | None:
    """How long the shortest piece is [s] that may lie between so many even instants whole; None where none can."""
    sizes = np.diff(motion.breaks)
    between = motion.duration / max(count - 1, 1)
    short = sizes[(sizes > 1e-9 * motion.duration) & (sizes < between)]
    return float(short.min()) if len(short) else None
