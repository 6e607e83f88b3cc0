"""At which instants a motion is looked at: evenly, on both sides of its breaks, and more closely in short pieces.

Peaks are where a piece ends: there a motion has its greatest speed while it still accelerates.
"""

import math
from typing import Any

import numpy as np

from forearm.algebra import Vector, is_number
from forearm.faults import StateFault
from forearm.motion.motions import MOST_INSTANTS, Motion

CLOSER = 32
"""Instants in a piece of a motion at least: a peak in the middle of so many is right to a thousandth."""
MOST_CLOSER = 20_000
"""Instants that are added for that, at most; breaks are looked at however many there are."""
GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
"""Multiples of it are spread over a unit, however many they are."""
BESIDE = 1e-9
"""How far from a break its two sides are looked at, over the duration."""

FROM_AFAR = 3
"""So many steps an instant is moved to a break at most."""


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
    start, size = breaks[:-1][short], sizes[short]
    parts: Vector = np.linspace(0.0, 1.0, each + 1)[:, None]
    if each < 2:
        # once in some of them, elsewhere in each: even steps may see a motion where it is always the same
        some = np.unique(np.linspace(0, len(size) - 1, max(more - 2 * len(at), 0)).astype(int))
        start, size, parts = start[some], size[some], np.arange(len(some)) * GOLDEN % 1.0
    inside = start + size * parts
    return np.unique(np.clip(np.concatenate([even, inside.ravel(), *sides]), 0.0, end))


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


def so_many(motion: Motion, count: int) -> tuple[Vector, float | None]:
    """Exactly so many times of a motion (count,), and how long the shortest piece is that they do not meet whole [s].

    Evenly, but for those next to its breaks, which are moved to both sides of them: its greatest torques are there.
    Where breaks are so close that times would have to come from far away for that, they stay between two times.
    """
    end, breaks, beside = motion.duration, motion.breaks, BESIDE * motion.duration
    times, step, taken = np.linspace(0.0, end, count), end / (count - 1), 1
    met = np.full(len(breaks), count >= 4)
    if count >= 4:  # at rest, and as it sets out
        times[1], times[-2] = beside, end - beside
    for i, at in enumerate(breaks[1:-1].tolist(), 1):
        first = max(min(int(at / step), count - 4), taken + 1)
        met[i] = first <= count - 4 and abs(first * step - at) < FROM_AFAR * step
        if met[i]:
            times[first], times[first + 1], taken = at - beside, at + beside, first + 1
    sizes = np.diff(breaks)
    lost = sizes[(~met[1:] | ~met[:-1]) & (sizes > BESIDE * end)]
    return times, float(lost.min()) if len(lost) else None
