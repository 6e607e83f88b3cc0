"""Speeds and accelerations that a log lacks: by splines where positions are smooth, filtered where they are noisy.

The noise of a column is estimated from what its neighbours in time do not explain, and from its last written digit. A
spline makes about noise / step² of it in accelerations; where that matters, the columns are filtered without delay
first, by the filter that identification uses too: Butterworth of fourth order, forth and back, its cut-off five times
the frequency below which the speeds have 99 % of their power. What was done, the cut-off, the noise that is left and
what the filter itself spoils are said: the latter is what filtering once more changes. It is largest at the ends of a
log that begins or ends in mid motion.

A program that stamps messages as they come writes some late, and two at once after a pause. Positions tell: at the
times at which they were taken they are smooth. So stamps are held against those from which what scatters about the
median of their neighbours is taken off (lost rows and slow clocks stay), and the ones that positions fit better count.
"""

import math

import numpy as np

from forearm.algebra import Matrix, Vector
from forearm.outside.libraries.scipy_parts import scipy_part

SPLINE_GAIN = (1.0, 1.18, 6.0)
"""Noise of a cubic spline's value, slope and second derivative at its knots, for white noise of 1 and a step of 1."""
MATTERS = 0.01
"""Noise in a derivative, over its largest value, from which on a log is filtered."""
LOUD = 0.2
"""The same, from which on a spline would have been useless, which is said as a warning."""
SPOILT = 0.05
"""What the filter itself spoils at the ends of a log, over the largest value, from which on it is a warning."""
ORDER = 4
"""Order of the filter, and degree of the polynomials that meet a log's ends."""
LEAST, MOST = 8.0, 40.0
"""No cut-off is chosen outside of these [Hz]: dry friction turns over faster, and links bend from there on."""
LOWEST = 2.0
"""Where too much noise is left at the least cut-off, one is chosen down to this [Hz]."""
POWER, ABOVE = 0.99, 5.0
"""The cut-off is so many times the frequency below which this part of the speeds' power is."""
CLEAR = 20.0
"""Power that is so many times the noise's median is the motion's: chance does that once in a million frequencies."""
END = 1.5
"""Periods of the cut-off that tell position, speed and acceleration at each end of a log."""
LEAST_ROWS = 50
"""A shorter log is not filtered: its rows are points to go through."""
COARSE = 0.02
"""Where neighbours leave this much unexplained, over the range of the motion, rows are far apart, not noisy."""
JUMP, SEEN = 8.0, {"q": 0.01, "qd": 0.05}
"""A step that is so many times as fast as those around it, and this part of the range at least, is a jump."""
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
    found, notes = _derivatives(label, t, values, orders, unit, source)
    turns = whole_turns(label, t, values) if source == "q" else ""
    if turns:
        beside = "Speeds, accelerations and torques there are those of the jump; give angles that go on (numpy.unwrap)"
        return found, [*notes, f"WARNING: {turns} {beside}, or speeds and accelerations."]
    return found, [*notes, *jumps(label, t, values, unit, source)]


def without_noise(t: Vector, values: Matrix, unit: Vector) -> Matrix:
    """Positions (K, n), filtered as for `derivatives` where noise would be much of a spline's accelerations."""
    if len(t) < LEAST_ROWS:
        return values
    step = float(np.median(np.diff(t)))
    bends = (
        np.max(np.abs(np.diff(values, 2, axis=0))) / step**2
    )  # of the motion, and of noise where that is more
    if not np.any(SPLINE_GAIN[2] * noise_of(t, values, unit) / step**2 > MATTERS * bends):
        return values
    return _derivatives("", t, values, (0, 2), unit, "q")[0][0]


def whole_turns(label: str, t: Vector, values: Matrix) -> str:
    """What is said where a column jumps by a turn between two rows: an angle that was wrapped, as encoders do."""
    steps = np.diff(values, axis=0)
    turns, rates = np.abs(steps) / (2 * math.pi), np.abs(steps) / np.diff(t)[:, None]
    usual = np.quantile(rates, 0.9, axis=0) if len(steps) else 0.0
    left = np.abs(steps) - 2 * math.pi * np.round(turns)
    found = (np.round(turns) >= 1) & (np.abs(left) < 0.5) & (rates > 4 * usual)
    if not np.any(found):
        return ""
    row, column = (int(x) for x in np.argwhere(found)[0])
    size = float(steps[row, column])
    return (
        f"{label}: position {column + 1} jumps by {size:.3g} rad, a whole turn, from t = {t[row]:.6g} to "
        f"{t[row + 1]:.6g} s after the first row ({np.count_nonzero(found)} such jumps in all): is it wrapped to one "
        "turn?"
    )


def jumps(label: str, t: Vector, values: Matrix, unit: Vector, source: str) -> list[str]:
    """A warning where a column jumps between two rows: a wrong reading, a lost one, rows that stood still."""
    if len(t) < LEAST_ROWS:
        return []
    least, found = SEEN[source] * float(np.max(np.ptp(values, axis=0))), list[tuple[int, int]]()
    for i, column in enumerate(values.T):  # a long log has its columns once
        steps = np.diff(column)
        rates = np.abs(steps) / np.diff(t)
        far = np.pad(rates, 2)
        (a, b), (c, d) = ((np.minimum(x, y), np.maximum(x, y)) for x, y in _beside(far))
        second = np.maximum(np.minimum(b, d), np.maximum(a, c))  # the largest may be the way back
        found += [(i, int(k)) for k in np.flatnonzero((rates > JUMP * second) & (np.abs(steps) > least))]
    noise = noise_of(t, values, unit) if found else np.zeros(0)
    found = [(i, k) for i, k in found if abs(values[k + 1, i] - values[k, i]) > JUMP * noise[i]]
    if not found:
        return []
    i, k = found[0]
    what, measure = ("position", "rad or m") if source == "q" else ("speed", "rad/s or m/s")
    return [
        f"WARNING: {label}: {what} {i + 1} jumps by {values[k + 1, i] - values[k, i]:.3g} {measure} from "
        f"t = {t[k]:.6g} to {t[k + 1]:.6g} s after the first row ({len(found)} such jumps in all): a wrong "
        "reading, or rows that were lost or stood still? What is worked out there, torques too, is that of the jump; "
        "mend or remove those rows."
    ]


def _beside(far: Vector) -> tuple[tuple[Vector, Vector], tuple[Vector, Vector]]:
    """The neighbours of each number between the two at either end: the nearer ones, and the farther ones."""
    return (far[1:-3], far[3:-1]), (far[:-4], far[4:])


def _derivatives(
    label: str, t: Vector, values: Vector, orders: tuple[int, ...], unit: Vector, source: str
) -> tuple[list[Vector], list[str]]:
    names = [{1: "d", 2: "dd"}[k] if source == "q" else "dd" for k in orders if k]
    lacking = " and no ".join(f"q{name}" for name in names)
    smooth = [spline(t, values, k) if k else values for k in orders]
    told = f"{label} has no {lacking}: worked out by a cubic spline through {source}"
    step = float(np.median(np.diff(t)))
    noise, top = noise_of(t, values, unit), orders[-1]
    spread = SPLINE_GAIN[top] * noise / step**top
    worst = int(np.argmax(spread))
    if len(t) < LEAST_ROWS or not np.any(spread > 1e-3 * np.max(np.abs(smooth[-1]), axis=0)):
        return smooth, [told]
    if noise[worst] > COARSE * float(np.max(np.ptp(values, axis=0))):
        return smooth, [f"{told}; rows are {step:.3g} s apart, far for so lively a motion: give q{names[-1]}"]
    said = f"{source} is noisy by about {noise[worst]:.2g}"
    if unit[worst] > noise[worst]:
        said += f" (its last digit is {unit[worst]:.0e})"
    found, cutoff, why, spoilt = _without_noise(t, values, orders, noise, source)
    peaks = np.max(np.abs(found[-1]), axis=0)
    if not np.any(spread > MATTERS * peaks):
        return smooth, [f"{told}; {said}, which makes ±{spread[worst]:.2g} of q{names[-1]}"]
    peak, left = float(np.max(peaks)), noise[worst] * gain(top, cutoff * step) / step**top
    inner, outer = _inside_and_ends(t, spoilt, END / cutoff)
    left, ends = max(left, inner), max(4 * left, outer)
    loud = "WARNING: " if spread[worst] > LOUD * peak or left > MATTERS * peak or ends > SPOILT * peak else ""
    return found, [
        f"{loud}{label} has no {lacking}: worked out through {source}, filtered without delay at {cutoff:.3g} Hz "
        f"(Butterworth, fourth order, forth and back), {why}, and because {said}, of which a spline makes "
        f"±{spread[worst]:.2g} in q{names[-1]}; about ±{left:.2g} is left (largest q{names[-1]}: {peak:.3g}), up to "
        f"{ends:.2g} in the first and last {END / cutoff:.2g} s"
    ]


def _inside_and_ends(t: Vector, spoilt: Vector, width: float) -> tuple[float, float]:
    """The largest of numbers (K,) away from both ends of a log, and anywhere."""
    inside = (t > t[0] + width) & (t < t[-1] - width)
    return float(np.max(spoilt[inside], initial=0.0)), float(np.max(spoilt))


def _without_noise(
    t: Vector, values: Matrix, orders: tuple[int, ...], noise: Vector, source: str
) -> tuple[list[Matrix], float, str, Vector]:
    """Derivatives of filtered columns, the cut-off [Hz], why it, and what the filter spoils of the last (K,)."""
    even, rows = _even(t, values)
    rate, top = (len(t) - 1) / float(t[-1] - t[0]), orders[-1]
    found, smooth = list[Matrix](), rows
    cutoff, why = 0.0, ""
    for least in (LEAST, LOWEST):
        cutoff, why = chosen_cutoff(rows, rate, least, speeds=source == "qd")
        smooth = smoothed(even, rows, cutoff, rate)
        found = [_slopes(even, smooth, t, k) for k in orders]
        left = noise * gain(top, cutoff / rate) * rate**top
        if not np.any(left > MATTERS * np.max(np.abs(found[-1]), axis=0)):
            break
    again = _slopes(even, smoothed(even, smooth, cutoff, rate), t, top)
    return found, cutoff, why, np.max(np.abs(again - found[-1]), axis=1)


def spline(t: Vector, values: Vector, order: int) -> Vector:
    """Derivative of the cubic spline through columns (K, n), at its knots."""
    interpolate = scipy_part("interpolate")
    # column by column: a spline holds four numbers for each of its own
    return np.stack([interpolate.CubicSpline(t, column)(t, order) for column in values.T], axis=1)


def noise_of(t: Vector, values: Vector, unit: Vector) -> Vector:
    """Standard deviation of each column's noise (n,): what a polynomial through its neighbours does not explain."""
    digits = unit / math.sqrt(12.0) * (np.ptp(values, axis=0) > 0)
    if len(t) < 2 * REACH + 1:
        return digits
    rest = unexplained(t, values)
    # the median does not see the few rows at which an acceleration jumps
    return np.maximum(np.median(np.abs(rest), axis=0) / 0.6745, digits)


# -- when rows were taken -----------------------------------------------------------------------------------


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


# -- the filter, of identification too ---------------------------------------------------------------------


def chosen_cutoff(
    values: Matrix, rate: float, least: float = LEAST, *, speeds: bool = False
) -> tuple[float, str]:
    """A few times the frequency below which speeds have nearly all their power, and a sentence for it.

    Args:
        values: Positions, or speeds (K, n), at even times.
        rate: Rows a second.
        least: No cut-off is chosen below this [Hz].
        speeds: Whether the values are speeds.
    """
    signal = scipy_part("signal")
    window = signal.get_window("hann", len(values))[:, None]
    spectrum = np.abs(np.fft.rfft(signal.detrend(values, axis=0) * window, axis=0)) ** 2
    f = np.fft.rfftfreq(len(values), 1 / rate)
    noise = np.median(spectrum[f > 0.6 * f[-1]], axis=0)
    most = min(MOST, 0.2 * rate)
    weight = (f < 2 * most) * (1.0 if speeds else f**2)
    power = np.where(spectrum > CLEAR * noise, spectrum, 0.0) * weight[:, None]
    total = np.cumsum(power, axis=0)
    moving = total[-1] > 0
    busy = f[np.argmax(total[:, moving] > POWER * total[-1, moving], axis=0)].max() if moving.any() else 0.0
    found = float(np.clip(ABOVE * busy, min(least, most), most))
    return found, f"chosen because {POWER:.0%} of the speeds' power lies below {busy:.2g} Hz"


def low_pass(values: Matrix, rate: float, cutoff: float) -> Matrix:
    """Columns (K, n) at `rate` rows a second through Butterworth's filter, forth and back: no delay."""
    signal = scipy_part("signal")
    return signal.sosfiltfilt(signal.butter(ORDER, cutoff, fs=rate, output="sos"), values, axis=0)


def gain(order: int, cutoff: float) -> float:
    """Noise of a derivative of the spline through filtered rows, for white noise of 1, a step of 1, cycles a row."""
    w = np.linspace(0.0, math.pi, 20_001)[1:-1]
    response = 1 / (1 + (np.tan(w / 2) / math.tan(math.pi * cutoff)) ** (2 * ORDER))
    slope = 3 * np.sin(w) / (2 + np.cos(w))
    bend = 6 * (1 - np.cos(w)) / (2 + np.cos(w))
    return float(np.sqrt(np.mean((response * (slope if order == 1 else bend)) ** 2)))


def _even(t: Vector, values: Matrix) -> tuple[Vector, Matrix]:
    """As many rows at even times."""
    even = np.linspace(t[0], t[-1], len(t))
    if float(np.max(np.abs(t - even))) <= 1e-3 * float(even[1] - even[0]):
        return even, values
    return even, on_times(even, t, values)


def smoothed(even: Vector, rows: Matrix, cutoff: float, rate: float) -> Matrix:
    """Rows at even times filtered, their ends as they are, also where a log begins or ends in mid motion."""
    ends = _ends(even, rows, cutoff, rate)
    return low_pass(rows - ends, rate, cutoff) + ends


def _slopes(even: Vector, smooth: Matrix, t: Vector, order: int) -> Matrix:
    """Derivative of the spline through rows at even times, at the times asked for."""
    interpolate = scipy_part("interpolate")
    return np.stack([interpolate.CubicSpline(even, column)(t, order) for column in smooth.T], axis=1)


def _ends(even: Vector, rows: Matrix, cutoff: float, rate: float) -> Matrix:
    """Quintics with the rows' position, speed and acceleration at both ends: what is left starts and ends at rest.

    The filter goes on beyond an end as if the rows were mirrored there, which is wrong for an acceleration.
    """
    from numpy.polynomial import polynomial

    many = min(len(even), max(2 * ORDER + 1, int(END * rate / cutoff)))
    span, x = float(even[-1] - even[0]), np.arange(many) / (many - 1)
    part = span * (many - 1) / (len(even) - 1)
    meets = []
    for side, near in ((1.0, rows[:many]), (-1.0, rows[::-1][:many])):
        c = polynomial.polyfit(x, near, ORDER)
        meets += [c[0], c[1] * side * span / part, 2 * c[2] * (span / part) ** 2]
    # fmt: off
    matrix = np.array([
        [1, 0, 0, 0,  0,  0],
        [0, 1, 0, 0,  0,  0],
        [0, 0, 2, 0,  0,  0],
        [1, 1, 1, 1,  1,  1],
        [0, 1, 2, 3,  4,  5],
        [0, 0, 2, 6, 12, 20],
    ])
    # fmt: on
    coefficients = np.linalg.solve(matrix, np.array(meets))
    return np.asarray(polynomial.polyval((even - even[0]) / span, coefficients).T)
