"""From a log to rows of equations: even times, no noise beyond the motion, derivatives, the same filter on both sides.

1. Stamps that scatter while positions do not are evened; rows are put on even times (cubic splines for positions,
   straight lines for torques).
2. The cut-off is five times the frequency below which the speeds have 99 % of their power, or what was asked for.
3. Positions (and speeds, if they were measured) are filtered without delay: Butterworth of fourth order, forth and
   back. Derivatives are those of splines through what is left. Both ends are cut off.
4. Torques are filtered at four times the cut-off, and rows are kept as far apart as that allows. What dry friction
   depends on turns over faster than those rows follow, so it is taken at every time and goes through that filter too.
5. Torques and every column of the regressor go through the same low-pass filter and are thinned out to twice the
   cut-off: what the filters do to one side they do to the other, and rows are about as independent as their noise is
   white.
"""

import math
from dataclasses import dataclass

import numpy as np

from forearm.algebra import Matrix, Vector
from forearm.faults import StateFault, limit
from forearm.identification.measured.logs import Log
from forearm.motion.differentiation import chosen_cutoff, low_pass, on_times, smoothed, times_taken
from forearm.outside.libraries.scipy_parts import scipy_part
from forearm.outside.text_table import instant

SAMPLES = 12
"""Rows that are kept for each period of the cut-off, before the last step."""
GAP = 0.1
"""A longer gap between rows is no jitter [s]."""


@dataclass(frozen=True, eq=False)
class Filtered:
    """A motion and its torques on even times, without the noise."""

    t: Vector
    """Times (K,) [s]."""
    q: Matrix
    """Positions (K, n)."""
    qd: Matrix
    """Speeds (K, n)."""
    qdd: Matrix
    """Accelerations (K, n)."""
    tau: Matrix
    """Torques (K, n), not yet thinned out."""
    fine_qd: Matrix
    """Speeds at every time of the log (N, n)."""
    coarsening: "Coarsening"
    """What torques have gone through already."""
    cutoff: float
    """Cut-off [Hz]."""
    thinning: "Thinning"
    """The last step, the same for torques and columns."""
    notes: tuple[str, ...]
    """What was done."""


@dataclass(frozen=True, eq=False)
class Coarsening:
    """From every time of a log to the rows that are kept at first, as far apart as the motion allows."""

    rate: float
    """Rows a second of the log [Hz]."""
    cutoff: float
    """Cut-off of the filter for what may be quicker than the motion [Hz]; infinite where every row is kept."""
    kept: slice
    """Which rows."""

    def __call__(self, values: Matrix) -> Matrix:
        """Kept rows (K, ...) of values at every time (N, ...)."""
        return (values if math.isinf(self.cutoff) else low_pass(values, self.rate, self.cutoff))[self.kept]


@dataclass(frozen=True, eq=False)
class Thinning:
    """A low-pass filter without delay that keeps one row of `factor`."""

    weights: Vector
    """Coefficients (2 h + 1,), symmetric, their sum 1."""
    factor: int
    """One row of so many is kept."""

    def __call__(self, values: Matrix) -> Matrix:
        """Thinned rows (K', ...) of values (K, ...); the ends, where the filter lacks rows, are left out."""
        sparse = scipy_part("sparse")
        rows, width = len(values), len(self.weights)
        starts = np.arange(0, rows - width + 1, self.factor)
        columns = starts[:, None] + np.arange(width)
        shape = (len(starts), rows)
        data = np.broadcast_to(self.weights, columns.shape).ravel()
        matrix = sparse.csr_array((data, columns.ravel(), np.arange(0, columns.size + 1, width)), shape=shape)
        return (matrix @ values.reshape(rows, -1)).reshape(len(starts), *values.shape[1:])


def filtered(log: Log, cutoff: float | None = None) -> Filtered:
    """Filter a log; what was done is in `notes`."""
    interpolate = scipy_part("interpolate")
    signal = scipy_part("signal")
    notes: list[str] = []
    even, q, qd, tau = even_rows(log, notes)
    rate = (len(even) - 1) / (even[-1] - even[0])
    fc, why = (limit(cutoff, "cutoff"), "as asked for") if cutoff is not None else chosen_cutoff(q, rate)
    if not 1e-9 * rate < fc < 0.45 * rate:
        raise StateFault(
            f"{log.label}: a cut-off of {fc:g} Hz at {rate:.4g} rows a second; give one below {0.45 * rate:.3g} Hz."
        )
    keep = max(1, int(rate / (SAMPLES * fc)))
    smooth = smoothed(even, q, fc, rate)
    speed = None if qd is None else smoothed(even, qd, fc, rate)
    ends = math.ceil(rate / fc)
    # not beyond what the thinner rows can carry
    quick = SAMPLES / 3 * fc if keep > 1 else math.inf
    coarse = Coarsening(rate, quick, slice(ends, len(even) - ends, keep))
    t = even[coarse.kept]
    if len(t) < 40:
        raise StateFault(
            f"{log.label}: {even[-1] - even[0]:.3g} s are too short for a filter at {fc:.3g} Hz; give a longer log, or "
            "cutoff=."
        )
    # of fifth degree: a cubic's second derivative is too small by (ω step)² / 12, a percent of an inertia at 50 Hz
    curve = interpolate.make_interp_spline(even, smooth if speed is None else speed, k=5)
    if speed is None:
        speed, a = curve(even, 1), curve(t, 2)
    else:
        a = curve(t, 1)
    factor = max(1, round(rate / keep / (2 * fc)))
    length = 8 * factor + 1
    weights = signal.firwin(length, min(0.99, 2.2 * fc / (rate / keep))) if factor > 1 else np.ones(1)
    notes.append(
        f"positions filtered without delay at {fc:.3g} Hz (Butterworth, fourth order, forth and back), {why}; torques "
        f"and regressor alike filtered and thinned out to {rate / keep / factor:.3g} rows a second; {ends / rate:.2g} "
        "s cut off at both ends"
    )
    kept, thinning = coarse.kept, Thinning(weights, factor)
    return Filtered(t, smooth[kept], speed[kept], a, coarse(tau), speed, coarse, fc, thinning, tuple(notes))


def even_rows(log: Log, notes: list[str]) -> tuple[Vector, Matrix, Matrix | None, Matrix]:
    """The log at even times, as many as it has rows: times, positions, speeds, torques; what was done to `notes`."""
    steps = np.diff(log.t)
    if steps.max() > max(GAP, 3 * np.median(steps)):
        k = int(np.argmax(steps))
        raise StateFault(
            f"{log.label}: no rows between {instant(log.t[k])} and {instant(log.t[k + 1])} s; cut the log there and "
            "give one of the parts."
        )
    t, told = times_taken(log.t, log.q)
    notes += told
    even = np.linspace(t[0], t[-1], len(t))
    qd = log.qd
    if qd is not None and not _speeds_fit(log):
        notes.append("speeds of the log are not those of its positions, and were left out")
        qd = None
    steps, apart = np.diff(t), float(np.max(np.abs(t - even)))
    if apart < 0.02 * float(np.median(steps)):
        return even, log.q, qd, log.tau
    notes.append(f"times are uneven (steps of {steps.min():.2g} to {steps.max():.2g} s): put on even ones")
    tau = np.stack([np.interp(even, t, column) for column in log.tau.T], axis=1)
    pace = None if qd is None else np.stack([np.interp(even, t, x) for x in qd.T], axis=1)
    return even, on_times(even, t, log.q), pace, tau


def _speeds_fit(log: Log) -> bool:
    """Whether measured speeds are those of the positions, to within a tenth; degrees among them are refused."""
    assert log.qd is not None
    moved = np.diff(log.q, axis=0)
    summed = 0.5 * (log.qd[1:] + log.qd[:-1]) * np.diff(log.t)[:, None]
    path, other = np.cumsum(moved, axis=0), np.cumsum(summed, axis=0)
    ratio = float(np.sum(path * other) / max(np.sum(path * path), 1e-300))
    for factor, what in ((180 / math.pi, "degrees a second"), (math.pi / 180, "positions in degrees")):
        if abs(ratio / factor - 1) < 0.1:
            raise StateFault(
                f"{log.label}: speeds are {ratio:.4g} times the rate of the positions: {what}? Give both in radians."
            )
    return float(np.linalg.norm(other - path)) < 0.1 * float(np.linalg.norm(path))
