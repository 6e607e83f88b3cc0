"""Arrays of real numbers, and nothing that is only taken for them: words, dates, masks, True, half of a complex."""

import math
from collections import UserList
from collections.abc import Iterable
from typing import Any

import numpy as np

from forearm.algebra import is_scalar
from forearm.faults.call_arguments import MOST_AXES, a_or_an, number_of, shown
from forearm.faults.kinds import Fault, StateFault
from forearm.faults.labelled_rows import not_labelled, not_masked
from forearm.outside.signal_errors import pass_on_signals


def floats(name: str, value: Any) -> np.ndarray[Any, Any]:
    """Numbers of any shape, as float64; masks and labels are refused, because nobody would look at them."""
    try:
        not_masked(value, name)
        not_labelled(value, name)
        array = np.asarray(value)
        if array.dtype.kind == "c":
            raise StateFault(f"{name} is complex; give real numbers.")
        if array.dtype.kind not in "fiuO":
            raise StateFault(f"{name} is {shown(value)}; give numbers, a list of them or a NumPy array.")
        if array.ndim > MOST_AXES:
            raise StateFault(f"{name} has {array.ndim} axes; give {MOST_AXES} at most.")
        if array.dtype.kind == "O":
            not_scalars(name, array.flat)
        return np.asarray(array, dtype=np.float64)
    except Fault:
        raise
    except Exception as error:  # also what an object's own __array__ or __float__ raises
        pass_on_signals()
        raise no_array(name, value, error) from error


def all_of(value: Any) -> Any:
    """All that a list-like object holds, as a list, or its only one: as an array it may give its first alone."""
    if not isinstance(value, UserList):
        return value
    return value.data[0] if len(value) == 1 else list(value.data)


def no_array(name: str, value: Any, error: Exception) -> StateFault:
    """What cannot be made an array: the reason is its own, and the cause of the fault."""
    reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    return StateFault(
        f"{name} is {a_or_an(type(value).__name__)} that gives no array of numbers ({reason}); give numbers, a list of "
        "them or a NumPy array."
    )


def not_scalars(name: str, values: Iterable[Any]) -> None:
    """Refuse objects that do not compute as numbers do, and whole numbers that no float holds."""
    for value in values:
        if not is_scalar(value) or number_of(value) in (math.inf, -math.inf):
            raise StateFault(f"{name} holds {shown(value)}; give numbers.")
