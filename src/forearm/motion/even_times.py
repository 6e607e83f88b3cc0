"""When the rows of a log were taken: as their stamps say, or evenly, where the stamps are those of a receiver.

A program that stamps messages as they come writes some late, and two at once after a pause. Positions tell: at the
times at which they were taken they are smooth. So stamps are held against those from which what scatters about the
median of their neighbours is taken off (lost rows and slow clocks stay), and the ones that positions fit better count.
"""

import numpy as np

from forearm.algebra import Matrix, Vector
from forearm.outside.libraries.scipy_parts import scipy_part

REACH = 4
"""Neighbours on each side that a row is held against."""
AROUND = (11, 51, 201)
"""Of how many stamps the median is taken: many tell more, few follow more rows that were lost."""
UNEVEN = 0.02
"""Stamps that are off by less than this part of a step are even."""
BETTER = 0.5
"""Positions have to be off by less than this part of what they are beside the stamps."""
CLOSE = 0.25
"""Of rows that are nearer to each other than this part of a step the last counts, where rows are put on even times."""


def unexplained(t: Vector, values: Matrix) -> Matrix:
    """What a polynomial through its neighbours in time does not explain of each row but the outermost (K - 8, n).

    Its size is that of the noise of a row, however far apart rows are.
    """
    inner = slice(REACH, len(t) - REACH)
    shifts = [k for k in range(-REACH, REACH + 1) if k]
    at = {k: t[REACH + k : len(t) - REACH + k] for k in shifts}
    rest, square = values[inner].copy(), np.ones(len(t) - 2 * REACH)
    for k in shifts:
        weight = np.ones_like(square)
        for j in shifts:
            if j != k:
                weight *= (t[inner] - at[j]) / (at[k] - at[j])
        rest -= weight[:, None] * values[REACH + k : len(t) - REACH + k]
        square += weight**2
    rest /= np.sqrt(square)[:, None]
    return rest


def times_taken(t: Vector, values: Matrix) -> tuple[Vector, list[str]]:
    """When rows (K, n) of positions were taken (K,), and a note where that is not what their stamps say."""
    if len(t) < AROUND[0]:
        return t, []
    even, step = np.linspace(t[0], t[-1], len(t)), float(np.median(np.diff(t)))
    medians = scipy_part("ndimage").median_filter
    steadier = [even + medians(t - even, many, mode="reflect") for many in AROUND if many <= len(t)]
    off = np.abs(t - steadier[-1])
    if np.max(off) < UNEVEN * step:
        return t, []
    touched = np.convolve(off > UNEVEN * step, np.ones(2 * REACH + 1), mode="valid") > 0.5

    def missed(times: Vector) -> float:
        return float(np.linalg.norm(unexplained(times, values)[touched]))

    rising = [times for times in steadier if np.all(np.diff(times) > 0)]
    best = min(rising, key=missed, default=t)
    if best is t or missed(best) >= BETTER * missed(t):
        return t, []
    return best, [
        f"WARNING: times are uneven by up to {np.max(np.abs(t - best)):.2g} s and positions are not (rounded, or "
        "stamped when they were received?): rows are taken for as even as positions say; give the controller's own "
        "times"
    ]


def on_times(even: Vector, t: Vector, values: Matrix) -> Matrix:
    """The cubic splines through rows (K, n) at other times; two stamps that are too close make no slope."""
    steps = np.diff(t)
    kept = np.append(steps >= CLOSE * np.median(steps), True)
    interpolate = scipy_part("interpolate")
    # column by column: a spline holds four numbers for each of its own
    return np.stack([interpolate.CubicSpline(t[kept], column[kept])(even) for column in values.T], axis=1)
