"""Whether positions, speeds and torques of a log were read at the same time.

Torques that come later or earlier than positions are found by moving them until least squares leaves least. Speeds are
held against the slope of positions, v(t) - lag dv/dt: many controllers filter the speeds that they log, which makes
them late by some milliseconds. Which of the two the torques belong to, what is left of them tells.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from forearm.algebra import Vector
from forearm.faults import StateFault
from forearm.identification.measured.filters import even_rows
from forearm.identification.measured.logs import Log
from forearm.identification.torque_rows import TorqueEquations
from forearm.motion.differentiation import chosen_cutoff, smoothed
from forearm.outside.libraries.scipy_parts import scipy_part

FARTHEST = 0.06
"""Shifts that are looked for [s]."""
BETTER = 0.5
"""A shift is believed where it leaves less than this of the residual's square."""
LEAST_SHIFT = 2e-3
"""Shorter ones are not worth a word [s]."""
DOUBTED = 0.97
"""A shift is worth a word where it leaves less than this (a real log of two arms on one clock each leaves 0.98)."""
CHANCE = 12.0
"""Noise alone makes some shift better by so much, in squares of its standard deviation."""
NOTHING = 3e-4
"""Where so little of the torques' changes is left, rounding and filters are what a shift would explain."""


@dataclass(frozen=True)
class TimeShift:
    """How much later torques are than positions, and what moving them is worth."""

    delay: float
    """Torques come so much later [s]."""
    before: float
    """Sum of the squares of what is left of the torques, as the log is."""
    after: float
    """The same, with torques moved by `delay`."""
    whole: float
    """The same, of the torques themselves less their means."""

    @property
    def remains(self) -> float:
        """Share of the residual's square that moving leaves."""
        return self.after / max(self.before, 1e-300)

    @property
    def told(self) -> bool:
        """Whether the log tells it: the columns of a lone sine explain every delay, and noise prefers some."""
        return self.before - self.after > CHANCE and self.before > NOTHING**2 * self.whole

    @property
    def worth_mending(self) -> bool:
        """Whether it is told, and long enough to be moved by."""
        return self.told and abs(self.delay) > LEAST_SHIFT


def time_shift(equations: TorqueEquations, kept: tuple[int, ...], weights: Vector) -> TimeShift:
    """Find how much later torques are than positions; weights are one over each joint's noise."""
    interpolate = scipy_part("interpolate")
    motion = equations.motion
    X, _ = equations.rows(weights, list(kept))
    sizes = np.linalg.norm(X, axis=0)
    Q = np.linalg.qr(X[:, sizes > 0] / sizes[sizes > 0])[0]
    curve = interpolate.CubicSpline(motion.t, motion.tau, axis=0)
    inside = np.clip(FARTHEST / float(np.mean(np.diff(equations.t))), 1, len(equations.t) // 4)
    inner = slice(int(np.ceil(inside)), -int(np.ceil(inside)))
    mask = np.zeros(equations.tau.shape, dtype=bool)
    mask[inner] = True
    counted = np.ones(mask.shape) if equations.kept is None else equations.kept

    def left(delay: float) -> float:
        later = curve(np.clip(motion.t + delay, motion.t[0], motion.t[-1]))
        tau = ((motion.thinning(later) - equations.known) * weights * counted).ravel()
        rest = tau - Q @ (Q.T @ tau)
        return float(np.sum(rest[mask.ravel()] ** 2))

    grid = np.linspace(-FARTHEST, FARTHEST, 25)
    values = np.array([left(delay) for delay in grid])
    k = int(np.argmin(values))
    best = float(grid[k])
    if 0 < k < len(grid) - 1:
        a, b, c = values[k - 1 : k + 2]
        best += 0.5 * (a - c) / max(a - 2 * b + c, 1e-300) * float(grid[1] - grid[0])
    changes = (equations.sought - np.mean(equations.sought, axis=0)) * weights * counted
    return TimeShift(best, left(0.0), left(best), float(np.sum(changes[mask] ** 2)))


def refuse_shift(label: str, shift: TimeShift, mend: Sequence[str]) -> list[str]:
    """Refuse a log whose torques come earlier or later than its positions; a warning where that is less sure."""
    delay, remains = shift.delay, shift.remains
    when = "later" if delay > 0 else "earlier"
    if shift.told and abs(delay) >= 0.999 * FARTHEST and remains < BETTER:
        raise StateFault(
            f"{label}: torques come {FARTHEST * 1e3:g} ms or more {when} than positions, which is more than is looked "
            "for. Give the two the same clock."
        )
    if "shift" in mend or not shift.worth_mending or remains >= DOUBTED:
        return []
    if remains >= BETTER:
        return [
            f"WARNING: torques may come {abs(delay) * 1e3:.2g} ms {when} than positions (moved by that, {remains:.0%} "
            "of the residual's square is left), or stand still between rows; intervals do not know of that. Give the "
            "two the same clock, or let it be done: mend=['shift'] (--mend shift)"
        ]
    raise StateFault(
        f"{label}: torques come {abs(delay) * 1e3:.3g} ms {when} than positions (moved by that, {remains:.0%} of "
        f"the residual's square is left). Give the two the same clock, or let it be done: mend=['shift'] (--mend "
        "shift)."
    )


def speed_lag(log: Log) -> float:
    """How much later speeds are than the slopes of positions [s], the middle of all joints; 0 without speeds."""
    interpolate = scipy_part("interpolate")
    even, q, measured, _ = even_rows(log, [])
    if measured is None:
        return 0.0
    rate = (len(even) - 1) / float(even[-1] - even[0])
    cutoff, _ = chosen_cutoff(q, rate)
    ends = slice(int(rate / cutoff), -int(rate / cutoff))
    curve = interpolate.CubicSpline(even, smoothed(even, q, cutoff, rate), axis=0)
    v, a, m = curve(even, 1)[ends], curve(even, 2)[ends], smoothed(even, measured, cutoff, rate)[ends]
    power = np.sum(a * a, axis=0)
    moving = power > 1e-6 * np.max(power)
    lags = np.sum((v - m) * a, axis=0)[moving] / power[moving]
    return float(np.median(lags)) if lags.size else 0.0


def with_speeds_in_step(log: Log, left: Callable[[Log], float]) -> Log:
    """The log without its speeds where the slopes of its positions explain the torques better.

    Speeds may come later or earlier than positions, be noisy (noise in a column makes its parameter too small), or be
    measured on another scale.

    Args:
        log: The log.
        left: Sum of squares of what is left of a log's torques.
    """
    if log.qd is None:
        return log
    lag = speed_lag(log)
    said = f"speeds come {abs(lag) * 1e3:.2g} ms {'later' if lag > 0 else 'earlier'} than positions"
    without = replace(log, qd=None)
    better = left(without) < left(log)
    if abs(lag) <= LEAST_SHIFT:
        noisy = "speeds explain the torques worse than the slopes of positions do (noise, or another scale?)"
        return without.with_note(f"{noisy}: left out") if better else log
    if better:
        return without.with_note(f"{said} (filtered by the controller?): left out, slopes of positions taken")
    return log.with_note(f"{said}, and torques go with the speeds, which are believed")
