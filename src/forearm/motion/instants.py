"""At which instants a motion is looked at: evenly, on both sides of its breaks, and more closely in short pieces.

Peaks are where a piece ends: there a motion has its greatest speed while it still accelerates.
"""

from typing import Any

import numpy as np

from forearm.algebra import Vector, is_number
from forearm.faults import StateFault
from forearm.motion.motions import MOST_INSTANTS, Motion

CLOSER = 32
"""Instants in a piece of a motion at least: a peak in the middle of so many is right to a thousandth."""
MOST_CLOSER = 20_000
"""Instants that are added for that, at most; breaks are looked at however many there are."""
BESIDE = 1e-9
"""How far from a break its two sides are looked at, over the duration."""


def looked_at(motion: Motion, count: Any, where: str, most: int | None = None) -> Vector:
    """So many times of a motion from 0 to its end, both sides of its breaks, and more in short pieces (K,).

    Args:
        motion: The motion.
        count: How many times at least, 2 or more.
        where: The function that was called, for messages.
        most: How many more there may be, breaks among them; without it all breaks are looked at.
    """
    if not (is_number(count) and 2 <= count < MOST_INSTANTS and count == int(count)):
        raise StateFault(f"{where}: samples is {count!r:.60}; give a number of times, 2 or more.")
    end, breaks = motion.duration, motion.breaks
    even = np.linspace(0.0, end, int(count))
    more = 2 * len(breaks) + MOST_CLOSER if most is None else most
    at = breaks if 2 * len(breaks) <= more else breaks[[0, -1]]
    sides = [at - BESIDE * end, at + BESIDE * end]  # where it jumps it has two values
    sizes = np.diff(breaks)
    short = (sizes > 0) & (sizes < CLOSER * end / (len(even) - 1))
    each = min(CLOSER, (more - 2 * len(at)) // max(int(short.sum()), 1))
    parts = np.linspace(0.0, 1.0, each + 1)[:, None] if each >= 2 else np.zeros((0, 1))
    inside = breaks[:-1][short] + sizes[short] * parts
    return np.unique(np.clip(np.concatenate([even, inside.ravel(), *sides]), 0.0, end))


def apart(breaks: Vector) -> Vector:
    """Breaks (K,) in order, those left out that only rounding tells from the one before them."""
    found = np.sort(breaks)
    return found[np.concatenate([[True], np.diff(found) > 1e-12 * found[-1]])]  # type: ignore[no-any-return]


def shares_of_time(t: Vector) -> Vector:
    """What part of the time from first to last each of rising instants (K,) stands for; all of it together is 1."""
    if len(t) < 2 or not t[-1] > t[0]:
        return np.full(len(t), 1.0 / len(t))
    steps = np.diff(t)
    return (np.concatenate([steps, [0.0]]) + np.concatenate([[0.0], steps])) / (2 * (t[-1] - t[0]))


def unseen(motion: Motion, count: int) -> float | None:
    """How long the shortest piece is [s] that may lie between so many even instants whole; None where none can."""
    sizes = np.diff(motion.breaks)
    between = motion.duration / max(count - 1, 1)
    short = sizes[(sizes > 1e-9 * motion.duration) & (sizes < between)]
    return float(short.min()) if len(short) else None
