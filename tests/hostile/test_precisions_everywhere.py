"""One argument in single precision, in every public call: the result is as exact as its type says."""

import copy
import dataclasses
import warnings

import numpy as np
import pytest

from forearm import Fault
from hostile.good_calls import CALLS, Workshop
from hostile.labels_everywhere import KEPT, numbers_given, with_value

LEFT_OUT = ("fa.verify(", "fa.excite(", "fa.derive(", "fa.plan_sweep(")
"""What takes long, or no states."""
EXACT = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-11}
"""Relative to the largest number of a result; single precision may lose two digits on the way."""


def arrays_in(result, depth=0):
    """Every array and number of a result, in order."""
    if isinstance(result, (bool, int, float, np.generic, np.ndarray)):
        array = np.asarray(result)
        return [array] if array.dtype.kind == "f" else []
    if dataclasses.is_dataclass(result) and not isinstance(result, type):
        result = {field.name: getattr(result, field.name) for field in dataclasses.fields(result)}
    if isinstance(result, dict):
        result = list(result.values())
    if depth > 6 or not isinstance(result, (list, tuple)):
        return []
    return [x for part in result for x in arrays_in(part, depth + 1)]


def less_exact(call, k, values, things):
    """Of the results with one argument in single precision, what is less exact than its type."""
    single = values.astype(np.float32)
    want = arrays_in(with_value(call, k, single.astype(float), copy.copy(things)))
    got = arrays_in(with_value(call, k, single, copy.copy(things)))
    assert len(want) == len(got), call
    for a, b in zip(want, got, strict=True):
        size = np.max(np.abs(a), initial=0.0, where=np.isfinite(a))
        limit = EXACT[b.dtype]
        if not np.allclose(a, b, rtol=limit, atol=limit * size, equal_nan=True):
            yield f"argument {k} of {call}: {np.nanmax(np.abs(a - b)):.3g} of {size:.3g}, as {b.dtype}"


@pytest.mark.more
def test_an_argument_in_single_precision_made_a_double_result_less_exact():
    things, odd, tried = Workshop(), [], 0
    for call in CALLS:
        if "folder" in call or call.startswith((*KEPT, *LEFT_OUT)):
            continue
        for k, values in list(numbers_given(call, things)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    odd += less_exact(call, k, values, things)
                except Fault:
                    continue  # a rotation, a state or a pose that single precision spoils is refused
            tried += 1
    assert tried > 180
    assert not odd
