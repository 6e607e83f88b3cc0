"""Arrays of traced scalars that know the larger of two: what control laws are handed while they are traced.

NumPy's object arrays carry sums, products, sines and tanh to the scalars, but ask them for truth where they compare.
These answer `maximum`, `minimum`, `clip` and `abs` by a choice in the graph instead; everything else is NumPy's.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from forearm.compiler.graph.traced_scalar import Traced, where
from forearm.faults import TraceFault, not_masked


def _number(x: Any) -> bool:
    """Whether this is a number that is known, and is one."""
    value = x.builder.value[x.index] if isinstance(x, Traced) else x
    return value is not None and not math.isnan(value)


def _larger(a: Any, b: Any) -> Any:
    """The larger of two, NaN where either is: a comparison with NaN is false, so what may be NaN comes last."""
    if _number(a):
        a, b = b, a
    if _number(b):
        return where(b - a, b, a)
    return where(a - b, a, where(b - a, b, 0.5 * a + 0.5 * b))


def _smaller(a: Any, b: Any) -> Any:
    """The smaller of two, likewise."""
    if _number(a):
        a, b = b, a
    if _number(b):
        return where(a - b, b, a)
    return where(b - a, a, where(a - b, b, 0.5 * a + 0.5 * b))


CHOICES = {
    np.maximum: np.frompyfunc(_larger, 2, 1),
    np.fmax: np.frompyfunc(lambda a, b: where(a - b, a, where(b - a, b, where(a * a + 1.0, a, b))), 2, 1),
    np.minimum: np.frompyfunc(_smaller, 2, 1),
    np.fmin: np.frompyfunc(lambda a, b: where(b - a, a, where(a - b, b, where(a * a + 1.0, a, b))), 2, 1),
    np.absolute: np.frompyfunc(lambda x: where(x, x, -x), 1, 1),
    np.fabs: np.frompyfunc(lambda x: where(x, x, -x), 1, 1),
    np._core.umath.clip: np.frompyfunc(  # type: ignore[attr-defined]
        lambda x, low, high: _smaller(_larger(x, low), high), 3, 1
    ),
}
"""Functions of NumPy that choose, as choices of the graph."""


def choosing(value: Any) -> Any:
    """An array whose maximum, clip and abs become choices in the graph; anything else as it is."""
    return value.view(TracedArray) if isinstance(value, np.ndarray) else value


class TracedArray(np.ndarray):
    """An object array of traced scalars, and whatever NumPy makes of it."""

    __array_priority__ = 10.0

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """NumPy's function on plain object arrays, or our choice in its place."""
        for x in inputs:
            not_masked(x, "a constant beside traced values", TraceFault)
        plain = [x.view(np.ndarray) if isinstance(x, TracedArray) else x for x in inputs]
        if options.get("out") is not None:
            options["out"] = tuple(x.view(np.ndarray) for x in options["out"])
        found = getattr(CHOICES.get(ufunc, ufunc), method)(*plain, **options)
        return found.view(TracedArray) if isinstance(found, np.ndarray) and found.dtype == object else found

    def __array_function__(self, function: Any, types: Any, given: Any, options: Any) -> Any:
        """NumPy's function, unless it would take symbols as they are."""
        if function is np.nan_to_num:
            raise TraceFault("np.nan_to_num takes a symbol as it is, NaN or not; use fa.where for a choice.")
        for x in given[0] if given and isinstance(given[0], (list, tuple)) else given:
            not_masked(x, "a constant beside traced values", TraceFault)
        return super().__array_function__(function, types, given, options)
