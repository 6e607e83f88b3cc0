"""Reachability analysis of Pham and Pham (2018): which path speeds can still end well, and the fastest of them.

H. Pham, Q.-C. Pham: A New Approach to Time-Optimal Path Parameterization Based on Reachability Analysis.
IEEE Transactions on Robotics 34(3), 645-659, 2018.

With x = ṡ² and u = s̈ constant in each interval of the grid, x is linear in s, and limits of speed, acceleration and
torque are lines in the plane (x, u). Backward from the end: the set of x at each grid point from which the next
point's set can be reached (an interval, by two linear programs in two unknowns). Forward from the start: the
greatest u that stays within the sets. No switching points are searched, and nothing is special where an inertia
along the path vanishes.
"""

import ctypes
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from forearm.algebra import Vector
from forearm.motion.time_optimal.reachability_text import TEXT

ROUNDING = 1.5625 * 2.0**-46
"""A gap that is negative by this share of its two lines is none."""
MOST_STEPS = 100
"""Newton's steps to an edge of a set; each meets another pair of lines."""


@dataclass(frozen=True)
class Lines:
    """What limits u in each interval, for P paths of N intervals: m lines above and m below."""

    upper: tuple[Vector, Vector]
    """u ≤ e + f x: e and f, each (P, N, m)."""
    lower: tuple[Vector, Vector]
    """u ≥ e + f x."""
    most: Vector
    """Greatest x at the grid points (P, N + 1)."""


@dataclass(frozen=True)
class Profiles:
    """The fastest profile of each path."""

    x: Vector
    """Squared path speed at the grid points (P, N + 1)."""
    sets: Vector
    """Least and greatest x from which the end can be reached (P, N + 1, 2)."""
    empty: Vector
    """-1, or the grid point from which it cannot (P,)."""


def fastest_profiles(lines: Lines, steps: Vector, compiled: bool = True) -> Profiles:
    """Both passes, from rest to rest, for grid steps (P, N) in s.

    Args:
        lines: The limits.
        steps: Lengths of the intervals.
        compiled: Whether to run machine code; NumPy otherwise, many paths side by side.
    """
    paths, intervals = steps.shape
    x, sets = np.zeros((paths, intervals + 1)), np.zeros((paths, intervals + 1, 2))
    told = np.zeros(paths, dtype=np.int64)
    passes = _machine_code() if compiled else None
    if passes is None:
        _in_numpy(lines, steps, x, sets, told)
    else:
        arrays = [*lines.upper, *lines.lower, lines.most, steps]
        held = [np.ascontiguousarray(a, dtype=float) for a in arrays]
        passes(paths, intervals, held[0].shape[-1], *(a.ctypes.data for a in [*held, x, sets, told]))
    return Profiles(x, sets, told - 1)


def edges(lines: Lines, intervals: Any = slice(None)) -> Vector:
    """The greatest x that each interval's own lines allow (P, N): the maximum velocity curve."""
    upper, lower = ((e[:, intervals], f[:, intervals]) for e, f in (lines.upper, lines.lower))
    start = lines.most[:, :-1][:, intervals]
    return _edge(upper, lower, start, start, -1.0)


@cache
def _machine_code() -> Any:
    """The compiled passes, or None without llvmlite."""
    from forearm.faults import KernelFault

    try:
        from forearm.compiler.llvm import jit
    except KernelFault:
        return None
    text = f'target triple = "{jit.host().triple}"\n{TEXT}'
    program = jit.load_program("reachability analysis", text, _probe)
    return _Entry(program)


class _Entry:
    """The function in memory, with its order of arguments."""

    def __init__(self, program: Any) -> None:
        self.program = program  # its code lives as long as this
        kinds = [ctypes.c_int64] * 3 + [ctypes.c_void_p] * 9
        self.function = ctypes.CFUNCTYPE(None, *kinds)(program.address("passes"))

    def __call__(self, paths: int, intervals: int, m: int, *places: int) -> None:
        *held, x, sets, told = places
        self.function(paths, intervals, m, *held, sets, x, told)


def _probe(program: Any) -> bytes:
    """One path of three intervals under |u| ≤ 1."""
    one, nothing = np.ones((1, 3, 1)), np.zeros((1, 3, 1))
    x, sets, told = np.zeros((1, 4)), np.zeros((1, 4, 2)), np.zeros(1, dtype=np.int64)
    arrays = [one, nothing, -one, nothing, np.full((1, 4), 9.0), np.full((1, 3), 0.5), x, sets, told]
    _Entry(program)(1, 3, 1, *(a.ctypes.data for a in arrays))
    return x.tobytes() + sets.tobytes() + told.tobytes()


# -- the same in NumPy -------------------------------------------------------------------------------------


def _in_numpy(lines: Lines, steps: Vector, x: Vector, sets: Vector, told: Vector) -> None:
    """Both passes, all paths side by side; fills x, sets and told as the machine code does."""
    last = steps.shape[1]
    for i in reversed(range(last)):
        upper, lower = _with_next(lines, steps, sets, i)
        most = lines.most[:, i]
        largest = _edge(upper, lower, most, most, -1.0)
        least = _edge(upper, lower, np.zeros_like(most), most, 1.0)
        empty = (largest < 0) | (least < 0)
        told[empty & (told == 0)] = i + 1
        sets[:, i] = np.stack([np.minimum(least, largest), largest], axis=-1)
    told[(told == 0) & (sets[:, 0, 0] > 0)] = 1
    for i in range(last):
        upper, _ = _with_next(lines, steps, sets, i)
        u = np.min(upper[0] + upper[1] * x[:, i, None], axis=-1)
        x[:, i + 1] = np.clip(x[:, i] + 2 * steps[:, i] * u, *np.moveaxis(sets[:, i + 1], -1, 0))


def _with_next(lines: Lines, steps: Vector, sets: Vector, i: int) -> tuple[Any, Any]:
    """The lines of an interval, and those that lead into the next point's set: x + 2 Δ u within it."""
    w = 0.5 / steps[:, i, None]
    found = []
    for (e, f), bound in ((lines.upper, sets[:, i + 1, 1:]), (lines.lower, sets[:, i + 1, :1])):
        found.append((np.concatenate([e[:, i], bound * w], axis=-1), np.concatenate([f[:, i], -w], axis=-1)))
    return found[0], found[1]


def _edge(upper: Any, lower: Any, start: Vector, most: Vector, way: float) -> Vector:
    """The edge of {x: greatest lower line ≤ least upper line}, by Newton's method from outside; -1 if empty."""
    x = np.array(start, dtype=float)
    for _ in range(MOST_STEPS):
        top, top_slope = _extreme(upper, x, np.argmin)
        bottom, bottom_slope = _extreme(lower, x, np.argmax)
        gap, slope = top - bottom, top_slope - bottom_slope
        outside = (x >= 0) & (gap < -ROUNDING * (np.abs(top) + np.abs(bottom)))
        if not np.any(outside):
            return x
        with np.errstate(divide="ignore", invalid="ignore"):
            moved = x - gap / slope
        lost = (slope * way <= 0) | ~((moved >= 0) & (moved <= most))
        stays = x
        x = np.where(outside, np.where(lost, -1.0, moved), x)
        if np.array_equal(x, stays):  # nearer than rounding
            return x
    return x


def _extreme(lines: tuple[Vector, Vector], x: Vector, which: Any) -> tuple[Vector, Vector]:
    """The least or greatest line at x, and its slope."""
    e, f = lines
    values = e + f * x[..., None]
    k = which(values, axis=-1)[..., None]
    return np.take_along_axis(values, k, -1)[..., 0], np.take_along_axis(f, k, -1)[..., 0]
