"""Speeds and accelerations that a log lacks: by splines where positions are smooth, filtered where they are noisy.

The noise of a column is estimated from what its neighbours in time do not explain, and from its last written digit. A
spline makes about noise / step² of it in accelerations; where that matters, a polynomial is fitted to the rows around
each (Savitzky and Golay: no delay), in a window as wide as the noise asks for. What was done, the cut-off and the noise
that is left are said.
"""

import math
from dataclasses import dataclass

import numpy as np

from forearm.algebra import Vector

SPLINE_GAIN = (1.0, 1.18, 6.0)
"""Noise of a cubic spline's value, slope and second derivative at its knots, for white noise of 1 and a step of 1."""
MATTERS = 0.01
"""Noise in a derivative, over its largest value, from which on a log is filtered."""
LOUD = 0.2
"""The same, from which on a spline would have been useless, which is said as a warning."""
DEGREE = 4
"""Degree of the polynomials."""
LEAST_CUTOFF = 5.0
"""No filter goes below this [Hz]: arms move that fast."""
LEAST_ROWS = 50
"""A shorter log is not filtered: its rows are points to go through."""
COARSE = 0.02
"""Where neighbours leave this much unexplained, over the range of the motion, rows are far apart, not noisy."""
REACH = 4
"""Neighbours on each side that a row is held against."""


@dataclass(frozen=True)
class Filter:
    """A window of rows, as wide as noise asks for."""

    half: int
    """Rows on each side."""
    cutoff: float
    """Frequency that is halved in power [Hz]."""


def derivatives(
    label: str, t: Vector, values: Vector, orders: tuple[int, ...], unit: Vector, source: str
) -> tuple[list[Vector], list[str]]:
    """Derivatives of columns (K, n) at their own times, and what there is to say about them.

    Args:
        label: The file, for what is said.
        t: Times (K,), rising.
        values: Positions, or speeds (K, n).
        orders: Which derivatives, such as (1, 2).
        unit: Last digit that is written of each column (n,), 0 for many digits.
        source: 'q' or 'qd', for what is said.
    """
    names = [{1: "d", 2: "dd"}[k] if source == "q" else "dd" for k in orders]
    lacking = " and no ".join(f"q{name}" for name in names)
    smooth = [spline(t, values, k) for k in orders]
    told = f"{label} has no {lacking}: worked out by a cubic spline through {source}"
    step = float(np.median(np.diff(t)))
    noise, top = noise_of(t, values, unit), orders[-1]
    spread = SPLINE_GAIN[top] * noise / step**top
    scale = float(np.max(np.abs(smooth[-1]), initial=0.0))
    worst = int(np.argmax(spread))
    if len(t) < LEAST_ROWS or not spread[worst] > 1e-3 * scale:
        return smooth, [told]
    if noise[worst] > COARSE * float(np.max(np.ptp(values, axis=0))):
        return smooth, [f"{told}; rows are {step:.3g} s apart, far for so lively a motion: give q{names[-1]}"]
    said = f"{source} is noisy by about {noise[worst]:.2g}"
    if unit[worst] > noise[worst]:
        said += f" (its last digit is {unit[worst]:.0e})"
    if not spread[worst] > MATTERS * _peak(t, values, top, step):
        return smooth, [f"{told}; {said}, which makes ±{spread[worst]:.2g} of q{names[-1]}"]
    window, left = _window(t, values, top, noise, step)
    found = [filtered(t, values, k, window.half) for k in orders]
    peak = float(np.max(np.abs(found[-1])))
    loud = "WARNING: " if spread[worst] > LOUD * peak or left > MATTERS * peak else ""
    return found, [
        f"{loud}{label} has no {lacking}: worked out through {source}, filtered without delay at "
        f"{window.cutoff:.3g} Hz (polynomials of degree {DEGREE} over {2 * window.half + 1} rows), because {said}, of "
        f"which a spline makes ±{spread[worst]:.2g} in q{names[-1]}; about ±{left:.2g} is left (largest "
        f"q{names[-1]}: {peak:.3g})"
    ]


def spline(t: Vector, values: Vector, order: int) -> Vector:
    """Derivative of the cubic spline through columns (K, n), at its knots."""
    from scipy.interpolate import CubicSpline

    # column by column: a spline holds four numbers for each of its own
    return np.stack([CubicSpline(t, column)(t, order) for column in values.T], axis=1)


def noise_of(t: Vector, values: Vector, unit: Vector) -> Vector:
    """Standard deviation of each column's noise (n,): what a polynomial through its neighbours does not explain."""
    digits = unit / math.sqrt(12.0) * (np.ptp(values, axis=0) > 0)
    if len(t) < 2 * REACH + 1:
        return digits
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
    # the median does not see the few rows at which an acceleration jumps
    return np.maximum(np.median(np.abs(rest), axis=0) / 0.6745, digits)


def filtered(t: Vector, values: Vector, order: int, half: int) -> Vector:
    """Derivative by polynomials over 2 half + 1 rows around each, at the times of the rows."""
    from scipy.interpolate import CubicSpline
    from scipy.signal import savgol_filter

    step = (t[-1] - t[0]) / (len(t) - 1)
    even = t[0] + step * np.arange(len(t))
    uneven = float(np.max(np.abs(t - even))) > 1e-3 * step
    found = np.empty_like(values)
    for i, column in enumerate(values.T):
        row = CubicSpline(t, column)(even) if uneven else column
        slope = savgol_filter(row, 2 * half + 1, DEGREE, deriv=order, delta=step, mode="interp")
        found[:, i] = CubicSpline(even, slope)(t) if uneven else slope
    return found


def _peak(t: Vector, values: Vector, order: int, step: float) -> float:
    """Largest derivative, noise apart."""
    half = _widest(len(t), step)
    return float(np.max(np.abs(filtered(t, values, order, half))))


def _window(t: Vector, values: Vector, order: int, noise: Vector, step: float) -> tuple[Filter, float]:
    """The narrowest window that leaves little noise, and how much that is."""
    from scipy.signal import savgol_coeffs

    most = _widest(len(t), step)
    peak = _peak(t, values, order, step)
    half = DEGREE
    while True:
        gain = float(np.linalg.norm(savgol_coeffs(2 * half + 1, DEGREE, deriv=order)))
        left = float(np.max(noise)) * gain / step**order
        if left <= MATTERS / 4 * peak or half >= most:
            return Filter(half, _cutoff(half) / step), left
        half = min(most, max(half + 1, int(1.2 * half)))


def _widest(rows: int, step: float) -> int:
    """Half the widest window: cut-off no lower than LEAST_CUTOFF, and no more than a fifth of the log."""
    half = DEGREE
    while _cutoff(half + 1) / step >= LEAST_CUTOFF and 10 * (half + 1) < rows:
        half += 1
    return half


def _cutoff(half: int) -> float:
    """Frequency that a window halves in power, in cycles a row."""
    from scipy.signal import savgol_coeffs

    c = savgol_coeffs(2 * half + 1, DEGREE)
    w = np.linspace(0.0, 0.5, 1001)
    response = c @ np.cos(2 * np.pi * np.outer(np.arange(-half, half + 1), w))
    return float(w[int(np.argmax(response < math.sqrt(0.5)))])
