"""At which instants a motion is looked at: evenly, on both sides of its breaks, and more closely in short pieces.

Peaks are where a piece ends: there a motion has its greatest speed while it still accelerates.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from forearm.algebra import Matrix, Vector, is_number
from forearm.faults import StateFault
from forearm.motion.motions import MOST_INSTANTS, Motion, Samples

CLOSER = 32
"""Instants in a piece of a motion at least: a peak in the middle of so many is right to a thousandth."""
MOST_CLOSER = 20_000
"""Instants that are added for that, at most; breaks are looked at however many there are,"""
FEWEST_CLOSER = 4
"""and so many parts of each piece: a spline of 30 000 points turns round within them."""
GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
"""Multiples of it are spread over a unit, however many they are."""
BESIDE = 1e-9
"""How far from a break its two sides are looked at, over the duration."""

PARTS, LITTLE = 8, 5e-4
"""Into how many parts the time between two instants is divided where more than what was seen may be by this share."""
LOOKS = 3
"""How often that is done at most."""

PANELS, GAUSS = 500, 6
"""Parts of a motion at least, over which what it asks for is averaged, and instants in each."""

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
    each = max(each, FEWEST_CLOSER) if most is None else each
    start, size = breaks[:-1][short], sizes[short]
    parts: Vector = np.linspace(0.0, 1.0, each + 1)[:, None]
    if each < 2:
        # once in some of them, elsewhere in each: even steps may see a motion where it is always the same
        some = np.unique(np.linspace(0, len(size) - 1, max(more - 2 * len(at), 0)).astype(int))
        start, size, parts = start[some], size[some], np.arange(len(some)) * GOLDEN % 1.0
    inside = start + size * parts
    return np.unique(np.clip(np.concatenate([even, inside.ravel(), *sides]), 0.0, end))


def rises(width: Vector, known: Vector, sizes: Vector) -> Vector:
    """By how much sizes (..., M, n) may rise within gaps, if they go on as on both sides of each, (..., M - 1, n).

    Slopes meet above a gap. Where one side alone is known, they may meet at its other end; where none is, anywhere.

    Args:
        width: Lengths of the gaps (..., M - 1).
        known: Of which places, but for the first and the last, the gaps on both sides have slopes (..., M - 2).
        sizes: What is looked for the greatest of.
    """
    width = width[..., None]
    with np.errstate(
        divide="ignore", invalid="ignore", over="ignore"
    ):  # sizes that are no numbers rise nowhere
        slopes, bends = np.diff(sizes, axis=-2) / width, np.full_like(sizes, np.inf)
        falls = np.maximum(-np.diff(slopes, axis=-2), 0.0)
        bends[..., 1:-1, :] = np.where(known[..., None], falls, np.inf)
        return width / (1.0 / bends[..., :-1, :] + 1.0 / bends[..., 1:, :])  # type: ignore[no-any-return]


def one_side_known(known: Vector) -> Vector:
    """Which gaps (..., M - 1) have slopes beside them, by the places (..., M - 2) with slopes on both sides."""
    sides = [(0, 0)] * (known.ndim - 1)
    return np.pad(known, [*sides, (1, 0)]) | np.pad(known, [*sides, (0, 1)])


def between(motion: Motion, t: Vector, sizes: Vector) -> Vector:
    """Instants between rising ones (K,), where sizes (K, n) may be greater than at any of them."""
    step, piece = np.diff(t), np.searchsorted(motion.breaks, t)
    wide = (np.diff(piece) == 0) & (step > 10 * BESIDE * motion.duration)
    known = wide[:-1] & wide[1:]
    most = np.max(sizes, axis=0)
    top = np.maximum(sizes[:-1], sizes[1:]) + rises(np.where(wide, step, 1.0), known, sizes)
    more = (wide & one_side_known(known))[:, None] & (top > most * (1.0 + LITTLE)) & np.isfinite(top)
    share = np.divide(top, most, out=np.zeros_like(top), where=more & (most > 0))
    over = np.max(share, axis=1)
    gaps = np.argsort(-over, kind="stable")[: max(MOST_CLOSER, len(t)) // PARTS]
    gaps = np.sort(gaps[over[gaps] > 0])
    return (t[gaps, None] + step[gaps, None] * (np.arange(1, PARTS) / PARTS)).ravel()


Values = tuple[Vector, ...]
"""What a motion asks for, each (K, n)."""


def with_peaks(
    motion: Motion,
    t: Vector,
    asked: Callable[[Samples], Values],
    sizes: Callable[[Samples, Values], Vector],
    joints: Matrix | None = None,
) -> tuple[Samples, Values]:
    """Rows of a motion at rising instants (K,), and what it asks for there; and between them, where its peaks may be.

    Args:
        motion: The motion.
        t: The instants at least.
        asked: What rows ask for.
        sizes: Of which greatest ones are looked for (K, m).
        joints: Of which positions extremes are looked for: columns (n, m) by which positions are multiplied, or all.
    """
    rows = motion.sample(t)
    if len(t) > 2:
        q, qd = (rows.q, rows.qd) if joints is None else (rows.q @ joints, rows.qd @ joints)
        rows = motion.sample(np.unique(np.concatenate([t, turns(t, q, qd)])))
    values = asked(rows)
    for _ in range(LOOKS if len(t) > 2 else 0):
        more = between(motion, rows.t, sizes(rows, values))
        if not len(more):
            break
        at, added = np.searchsorted(rows.t, more), motion.sample(more)
        values = tuple(np.insert(x, at, y, axis=0) for x, y in zip(values, asked(added), strict=True))
        rows = Samples(*(np.insert(x, at, y, axis=0) for x, y in zip(rows, added, strict=True)))
    return rows, values


def turns(t: Vector, q: Vector, qd: Vector) -> Vector:
    """Instants between rising ones (K,) where joints turn round farthest out, at either end of their ways (2 n,)."""
    step = np.diff(t)[:, None]
    at = np.divide(qd[:-1], qd[:-1] - qd[1:], out=np.zeros_like(qd[1:]), where=qd[:-1] * qd[1:] < 0)
    # a third-degree polynomial through both positions and speeds
    way, left, right = np.diff(q, axis=0), qd[:-1] * step, qd[1:] * step
    there = q[:-1] + at * (left + at * (3 * way - 2 * left - right + at * (left + right - 2 * way)))
    gaps = np.concatenate([np.argmax(there, axis=0), np.argmin(there, axis=0)])
    return t[gaps] + (step * at)[gaps, np.tile(np.arange(q.shape[1]), 2)]


def averaging(motion: Motion) -> tuple[Vector, Vector]:
    """Instants (K,) and their weights, 1 together, by which what is smooth between breaks is averaged over time."""
    breaks = apart(motion.breaks)
    sizes = np.diff(breaks)
    parts = np.ceil(np.maximum(sizes * PANELS / motion.duration, PANELS / len(sizes))).astype(int)
    width = np.repeat(sizes / parts, parts)
    begin = np.concatenate([[0.0], np.cumsum(parts)[:-1]]).astype(int)
    start = np.repeat(breaks[:-1], parts) + width * (np.arange(len(width)) - np.repeat(begin, parts))
    places, weights = np.polynomial.legendre.leggauss(GAUSS)
    t = start[:, None] + width[:, None] * (places + 1.0) / 2.0
    share = width[:, None] * weights / (2.0 * np.sum(sizes))
    return t.ravel(), share.ravel()


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
