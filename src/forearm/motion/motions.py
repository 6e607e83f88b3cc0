"""Motions: joint positions, speeds and accelerations as functions of time, smooth enough for a torque.

A motion is called with a time, a number or a traced scalar (so that control laws that follow it can be compiled),
and gives (q, qd, qdd), each (n,). `sample` gives arrays (K, n) for many times, all at once. Before its beginning and
after its end a motion rests where it begins and ends (a Fourier motion goes on for ever).
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from forearm.algebra import Scalar, Vector, is_number
from forearm.algebra import cos as scalar_cos
from forearm.algebra import sin as scalar_sin
from forearm.algebra import where as scalar_where
from forearm.faults import Fault, StateFault, explained, explained_parts, floats, positive, shown, whole
from forearm.outside.libraries.scipy_parts import scipy_part
from forearm.outside.signal_errors import pass_on_signals

MOST_INSTANTS = 2**48
"""No memory holds so many; above, they cannot be counted."""
MOST_KNOTS = 64
"""A table with more knots than this is looked up in Python; it is not unrolled into a kernel."""


class Samples(NamedTuple):
    """A motion at many times."""

    t: Vector
    """Times (K,) [s]."""
    q: Vector
    """Positions (K, n)."""
    qd: Vector
    """Speeds (K, n)."""
    qdd: Vector
    """Accelerations (K, n)."""


def known(t: Any) -> Any:
    """A time, or times, none of them NaN: whoever compares would take it for the beginning or the end."""
    if np.any(np.isnan(t)) if isinstance(t, np.ndarray) else is_number(t) and t != t:
        raise StateFault("motion: a time is nan; give numbers, in seconds.")
    return t


def moment(t: Any) -> Any:
    """One time; or a column of times (K, 1), by which a formula is sampled. A row of them would meet the joints."""
    many = isinstance(t, np.ndarray) and t.ndim and (t.shape[1:] != (1,) or t.dtype.kind not in "fiuO")
    if many or isinstance(t, (list, tuple, bool, complex)):
        raise StateFault(
            f"motion: the time is {shown(t)}; give one number, in seconds, or ask .sample(times) for many."
        )
    return known(t)


class Motion(ABC):
    """What all motions share: `duration`, the call at one time, `sample`."""

    duration: float
    """When the motion ends [s]."""

    def __init_subclass__(cls) -> None:
        explained_parts(cls, at_border=True)

    @abstractmethod
    def __call__(self, t: Scalar) -> tuple[Vector, Vector, Vector]:
        """(q, qd, qdd) at one time, each (n,)."""

    @explained
    def sample(self, times: Any = 201) -> Samples:
        """The motion at these times, or at so many times from 0 to its end."""
        if is_number(times) and times >= MOST_INSTANTS:
            raise StateFault(f"motion: sampled at {MOST_INSTANTS:.3g} instants or more; give fewer.")
        asked = whole(times, "times") if is_number(times) else floats("times", times)
        t = np.linspace(0.0, self.duration, asked) if isinstance(asked, int) else asked
        if t.ndim != 1:
            raise StateFault(f"motion: times have shape {t.shape}; give a number of them, or a row of times.")
        return Samples(known(t), *self.rows(t))

    def rows(self, t: Vector) -> tuple[Vector, Vector, Vector]:
        """(q, qd, qdd) at many times (K,), each (K, n): one call after the other, unless a motion knows better."""
        rows = [self(float(x)) for x in t]
        q, qd, qdd = (np.array([row[k] for row in rows], dtype=float) for k in range(3))
        return q, qd, qdd

    @property
    def breaks(self) -> Vector:
        """Where one piece ends and the next begins, from 0 to the end (K,): between them the motion is smooth."""
        return np.array([0.0, self.duration])

    @explained
    def faster(self, factor: float) -> "Motion":
        """The same path in duration / factor: speeds times factor, accelerations times its square."""
        return Retimed(self, positive(factor, "motion: the factor of faster"))


class MotionFormula(Motion):
    """A motion whose call is a formula: it takes a column of times (K, 1) as well, and is sampled at once."""

    def rows(self, t: Vector) -> tuple[Vector, Vector, Vector]:
        """(q, qd, qdd) at many times (K,), each (K, n)."""
        q, qd, qdd = self(t[:, None])
        shape = np.broadcast_shapes(q.shape, qd.shape, qdd.shape, (len(t), 1))
        return tuple(x if x.shape == shape else np.broadcast_to(x, shape).copy() for x in (q, qd, qdd))  # type: ignore[return-value]


def where(x: Any, a: Any, b: Any) -> Any:
    """`a` where x is positive, `b` elsewhere, for scalars of any kind and for columns of numbers."""
    return np.where(x > 0, a, b) if isinstance(x, np.ndarray) else scalar_where(x, a, b)


def sin(x: Any) -> Any:
    """Sine of any scalar, and of columns."""
    return np.sin(x) if isinstance(x, np.ndarray) else scalar_sin(x)


def cos(x: Any) -> Any:
    """Cosine of any scalar, and of columns."""
    return np.cos(x) if isinstance(x, np.ndarray) else scalar_cos(x)


@dataclass(frozen=True)
class Retimed(Motion):
    """A motion run faster or slower."""

    motion: Motion
    """The motion at its own pace."""
    factor: float
    """How many times faster."""

    @property
    def duration(self) -> float:  # type: ignore[override]
        """When it ends [s]."""
        return self.motion.duration / self.factor

    @property
    def breaks(self) -> Vector:
        """Those of the motion."""
        return self.motion.breaks / self.factor

    def __call__(self, t: Scalar) -> tuple[Vector, Vector, Vector]:
        """(q, qd, qdd) at one time."""
        q, qd, qdd = self.motion(t * self.factor)
        return q, qd * self.factor, qdd * self.factor**2

    def rows(self, t: Vector) -> tuple[Vector, Vector, Vector]:
        """(q, qd, qdd) at many times."""
        q, qd, qdd = self.motion.rows(t * self.factor)
        return q, qd * self.factor, qdd * self.factor**2


def _ends(start: Any, goal: Any, duration: Any, what: str) -> tuple[Vector, Vector, float]:
    """Checked ends of a motion from rest to rest."""
    a, b = floats("start", start).copy(), floats("goal", goal).copy()
    if a.ndim != 1 or a.shape != b.shape or not np.all(np.isfinite([a, b])):
        raise StateFault(
            f"{what}: start has shape {a.shape}, goal {b.shape}; give two finite positions (n,) of the same arm."
        )
    if not is_number(duration) or not (math.isfinite(duration) and duration > 0):
        raise StateFault(f"{what}: duration is {duration!r}; give a positive time in seconds.")
    return a, b, float(duration)


def _clamped(t: Scalar, duration: float) -> Scalar:
    """t, but not before 0 nor after the end."""
    try:
        return where(moment(t), where(t - duration, duration, t), 0.0)
    except Fault:
        raise
    except Exception as error:
        pass_on_signals()
        raise StateFault(f"motion: the time is {shown(t)}; give one number, in seconds.") from error


@dataclass(frozen=True)
class Quintic(MotionFormula):
    """From rest to rest along u³ (10 - 15 u + 6 u²), u = t / duration: speed and acceleration zero at both ends."""

    start: Any
    """Positions at the beginning (n,)."""
    goal: Any
    """Positions at the end (n,)."""
    duration: float
    """How long it takes [s]."""

    def __post_init__(self) -> None:
        for name, value in zip(
            ("start", "goal", "duration"), _ends(self.start, self.goal, self.duration, "quintic"), strict=True
        ):
            object.__setattr__(self, name, value)

    def __call__(self, t: Scalar) -> tuple[Vector, Vector, Vector]:
        """(q, qd, qdd) at one time."""
        T, way = self.duration, self.goal - self.start
        u = _clamped(t, T) / T
        s = u * u * u * (10 - 15 * u + 6 * u * u)
        sd = 30 * u * u * (1 - u) * (1 - u) / T
        sdd = 60 * u * (1 - u) * (1 - 2 * u) / T**2
        return self.start + way * s, way * sd, way * sdd


@dataclass(frozen=True)
class Trapezoid(MotionFormula):
    """From rest to rest with constant acceleration, constant speed, constant deceleration, all joints in step."""

    start: Any
    """Positions at the beginning (n,)."""
    goal: Any
    """Positions at the end (n,)."""
    duration: float
    """How long it takes [s]."""
    ramp: float = 0.25
    """Share of the duration spent accelerating (as much again decelerating), at most a half."""

    def __post_init__(self) -> None:
        for name, value in zip(
            ("start", "goal", "duration"),
            _ends(self.start, self.goal, self.duration, "trapezoid"),
            strict=True,
        ):
            object.__setattr__(self, name, value)
        if not 0 < self.ramp <= 0.5:
            raise StateFault(
                f"trapezoid: ramp is {self.ramp!r}; give a share of the duration, above 0 and at most 0.5."
            )

    @property
    def breaks(self) -> Vector:
        """Where it cruises between."""
        return self.duration * np.array([0.0, self.ramp, 1 - self.ramp, 1.0])

    def __call__(self, t: Scalar) -> tuple[Vector, Vector, Vector]:
        """(q, qd, qdd) at one time."""
        T, way, r = self.duration, self.goal - self.start, self.ramp
        u = _clamped(t, T) / T
        top = 1 / (1 - r)  # speed on the plateau, in ways per duration
        left = 1 - u
        up, down = where(r - u, 1.0, 0.0), where(u - (1 - r), 1.0, 0.0)
        flat = 1.0 - up - down
        s = (
            up * (top * u * u / (2 * r))
            + flat * (top * (u - r / 2))
            + down * (1 - top * left * left / (2 * r))
        )
        sd = top * (up * (u / r) + flat + down * (left / r)) / T
        moving = where(t, where(t - T, 0.0, 1.0), 0.0)
        sdd = moving * (up - down) * (top / r) / T**2
        return self.start + way * s, way * sd, way * sdd


@dataclass(frozen=True)
class Fourier(MotionFormula):
    """q = center + Σ_k (sines[k] sin(k w t) + cosines[k] cos(k w t)), k = 1, 2, …: periodic, for identification."""

    center: Any
    """Mean positions (n,)."""
    sines: Any
    """Amplitudes of the sines (K, n)."""
    cosines: Any
    """Amplitudes of the cosines (K, n)."""
    period: float
    """Period of the first harmonic [s]."""

    def __post_init__(self) -> None:
        center = floats("center", self.center).copy()
        sines, cosines = floats("sines", self.sines).copy(), floats("cosines", self.cosines).copy()
        if (center.ndim, sines.ndim, sines.shape) != (1, 2, cosines.shape) or sines.shape[1] != center.size:
            raise StateFault(
                f"Fourier motion: center has shape {center.shape}, sines {sines.shape}, cosines {cosines.shape}; "
                "give (n,), (K, n) and (K, n)."
            )
        if not all(np.isfinite(values).all() for values in (center, sines, cosines)):
            raise StateFault("Fourier motion: it has entries that are not finite; give finite numbers.")
        if not (is_number(self.period) and math.isfinite(self.period) and self.period > 0):
            raise StateFault(f"Fourier motion: period is {self.period!r}; give a positive time in seconds.")
        for name, value in (("center", center), ("sines", sines), ("cosines", cosines)):
            object.__setattr__(self, name, value)

    @property
    def duration(self) -> float:  # type: ignore[override]
        """One period [s]."""
        return self.period

    @property
    def breaks(self) -> Vector:
        """Quarters of the shortest period: it turns within two of them, its torques, which have squares, in one."""
        return np.linspace(0.0, self.period, 4 * max(len(self.sines), 1) + 1)

    def __call__(self, t: Scalar) -> tuple[Vector, Vector, Vector]:
        """(q, qd, qdd) at one time."""
        t, q, qd, qdd = moment(t), self.center, 0 * self.center, 0 * self.center
        for k, (a, b) in enumerate(zip(self.sines, self.cosines, strict=True), 1):
            w = 2 * math.pi * k / self.period
            s, c = sin(t * w), cos(t * w)
            q = q + a * s + b * c
            qd = qd + w * (a * c - b * s)
            qdd = qdd - w * w * (a * s + b * c)
        return q, qd, qdd


@dataclass(frozen=True, eq=False)
class ViaPoints(MotionFormula):
    """Through points at given times by cubic splines (speed and acceleration continuous), at rest at both ends."""

    times: Any
    """When (K,), rising from 0 [s]."""
    points: Any
    """Where (K, n)."""
    at_rest: bool = True
    """Whether the ends are at rest; otherwise the ends have no jerk of their own ('not a knot')."""

    def __post_init__(self) -> None:
        times, points = floats("times", self.times).copy(), floats("points", self.points).copy()
        if times.ndim != 1 or points.ndim != 2 or len(times) != len(points) or len(times) < 2:
            raise StateFault(
                f"via points: times have shape {times.shape}, points {points.shape}; give (K,) and (K, n), K ≥ 2."
            )
        if not (np.all(np.isfinite(times)) and np.all(np.isfinite(points))):
            raise StateFault("via points: some times or points are not finite; give finite numbers.")
        if times[0] != 0 or np.any(np.diff(times) <= 0):
            raise StateFault(
                f"via points: times go {times[0]:g}, {times[1]:g}, …; give rising times that begin with 0."
            )
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "points", points)

    @property
    def duration(self) -> float:  # type: ignore[override]
        """Time of the last point [s]."""
        return float(self.times[-1])

    @property
    def breaks(self) -> Vector:
        """The times of the points."""
        return self.times  # type: ignore[no-any-return]

    @cached_property
    def coefficients(self) -> Vector:
        """Of (t - t_k)³, …, 1 in each piece: (4, K - 1, n)."""
        spline, ends = scipy_part("interpolate").CubicSpline, "clamped" if self.at_rest else "not-a-knot"
        return np.asarray(spline(self.times, self.points, axis=0, bc_type=ends).c)

    def __call__(self, t: Scalar) -> tuple[Vector, Vector, Vector]:
        """(q, qd, qdd) at one time."""
        x = _clamped(t, self.duration)
        c3, c2, c1, c0, start = self._piece(x)
        u = x - start
        moving = where(t, where(t - self.duration, 0.0, 1.0), 0.0)
        q = c0 + u * (c1 + u * (c2 + u * c3))
        return q, (c1 + u * (2 * c2 + 3 * u * c3)) * moving, (2 * c2 + 6 * u * c3) * moving

    def _piece(self, x: Scalar) -> tuple[Any, ...]:
        """The coefficients that hold at x, and where their piece begins."""
        if isinstance(x, np.ndarray):
            at = np.clip(np.searchsorted(self.times, x[:, 0], "right") - 1, 0, len(self.times) - 2)
            return (*self.coefficients[:, at], self.times[at, None])
        if is_number(x):
            k = min(int(np.searchsorted(self.times, x, "right")) - 1, len(self.times) - 2)
            return (*self.coefficients[:, k], self.times[k])
        if len(self.times) > MOST_KNOTS:
            from forearm.faults import TraceFault

            raise TraceFault(
                f"a motion through {len(self.times)} points is a table, which is looked up in Python; up to "
                f"{MOST_KNOTS} points are compiled. Take fewer, or give control_dt=."
            )
        rows = [*self.coefficients[:, 0], self.times[0]]
        for k in range(1, len(self.times) - 1):
            later = [*self.coefficients[:, k], self.times[k]]
            beyond = x - self.times[k]
            rows = [_choose(beyond, a, b) for a, b in zip(later, rows, strict=True)]
        return tuple(rows)


def _choose(x: Scalar, a: Any, b: Any) -> Any:
    """where() for each element."""
    if np.ndim(a) == 0:
        return where(x, float(a), b)
    return np.array([where(x, float(p), q) for p, q in zip(a, b, strict=True)], dtype=object)


def spline_turns(coefficients: Vector, times: Vector) -> Vector:
    """Where joints of splines turn round (..., M, n), exactly; knots stand where they do not.

    Args:
        coefficients: Of (t - t_k)³, …, 1 in each piece (..., 4, K - 1, n).
        times: Of the knots (..., K).
    """
    c3, c2, c1, c0 = np.moveaxis(coefficients, -3, 0)
    h = np.diff(times)[..., None]
    root = np.sqrt(np.maximum(c2 * c2 - 3 * c3 * c1, 0.0))
    half = -(c2 + np.where(c2 < 0, -root, root))  # so that neither root is a small difference
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        turns = [half / (3 * c3), c1 / half]
    inside = [np.where((u > 0) & (u < h), u, 0.0) for u in turns]
    return np.concatenate([c0 + u * (c1 + u * (c2 + u * c3)) for u in inside], axis=-2)
