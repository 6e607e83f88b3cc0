"""Arguments of public calls: one reader for each kind, which never ends in an error of the argument's own."""

import math
import operator
from collections.abc import Iterable, Mapping
from itertools import islice
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from forearm.faults.kinds import ArmFault, Fault, StateFault
from forearm.outside.escapes import one_line
from forearm.outside.signal_errors import pass_on_signals

LONGEST_SHOWN = 60
"""Letters of a value in a message."""
MOST_BITS = 1024
"""Whole numbers beyond this are told by their size: Python does not print every one of them."""


def shown(value: Any) -> str:
    """A value as a message shows it: short, whatever it is, and never an error of its own."""
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        return f"a whole number of {value.bit_length()} bits"
    try:
        text = repr(_first_of(value))
    except Exception:  # also what an object's own __repr__ raises
        pass_on_signals()
        return f"a {type(value).__name__}"
    text = one_line(" ".join(text.split()))
    whole = len(text) <= LONGEST_SHOWN and (
        not isinstance(value, (str, bytes)) or len(value) <= LONGEST_SHOWN
    )
    return text if whole else text[: LONGEST_SHOWN - 3] + "..."


def _first_of(value: Any, depth: int = 0) -> Any:
    """A value without what no message shows of it: texts and lists are long, and lists hold lists."""
    if isinstance(value, (str, bytes)):
        return value[:LONGEST_SHOWN]
    if type(value) not in (list, tuple, dict, set, frozenset):
        return value
    if depth > DEEPEST_SHOWN:
        return ...
    some = list(islice(value.items() if isinstance(value, dict) else value, LONGEST_SHOWN))
    if isinstance(value, dict):
        return {name: _first_of(one, depth + 1) for name, one in some}
    return type(value)(
        one if isinstance(value, (set, frozenset)) else _first_of(one, depth + 1) for one in some
    )


DEEPEST_SHOWN = 3
"""Lists within lists that a message shows."""


def attribute(value: Any, name: str, default: Any = None) -> Any:
    """What `getattr` gives, whatever an object's own `__getattr__` raises."""
    try:
        return getattr(value, name, default)
    except Exception:
        pass_on_signals()
        return default


def a_or_an(word: str) -> str:
    """The word with its article: an Inertia, a Pose."""
    return f"{'an' if word[0] in 'AEIOaeio' or word == 'ndarray' else 'a'} {word}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """' (did you mean ..?)' where a known word is close or holds this one, or nothing."""
    import difflib  # for messages alone

    words = list(known)
    short = [word for word in words if len(name) + len(word) <= 120]  # it takes the product of their lengths
    close = difflib.get_close_matches(name, short, n=1, cutoff=0.6)
    if not close and len(name) > 2:
        close = sorted((word for word in words if name.lower() in word.lower()), key=len)
    return f" (did you mean {close[0]!r}?)" if close else ""


def whole(value: Any, where: str, least: int = 0, most: int = 2**62) -> int:
    """A whole number of whatever type of integers, from `least` to `most`."""
    try:
        number = None if isinstance(value, (bool, np.bool_)) else operator.index(value)
    except Exception:  # also what an object's own __index__ raises
        pass_on_signals()
        number = None
    if number is None or not least <= number <= most:
        top = f", {least} or more" if most == 2**62 else f" from {least} to {most}"
        raise StateFault(f"{where} is {shown(value)}; give a whole number{top}.") from None
    return number


def number_of(value: Any) -> float | None:
    """A real number as a float; None for what is none, or too large for a float."""
    if isinstance(value, (bool, np.timedelta64)) or not isinstance(value, (Real, np.floating, np.integer)):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf
    except Exception:
        pass_on_signals()
        return None


def positive(value: Any, where: str, *, zero: bool = False) -> float:
    """A finite number above zero, or not below it."""
    number = number_of(value)
    if number is None or not math.isfinite(number) or not (number > 0 or (zero and number == 0)):
        raise StateFault(
            f"{where} is {shown(value)}; give a {'number, 0 or more' if zero else 'positive number'}."
        )
    return number


def limit(value: Any, where: str) -> float:
    """A number that something may not go beyond; infinity is none."""
    number = number_of(value)
    if number is None or not number >= 0:
        raise StateFault(f"{where} is {shown(value)}; give a number, 0 or more, or math.inf.")
    return number


Seed: TypeAlias = int | np.random.Generator | None
"""What random numbers come from: a whole number gives the same ones each time."""


def random_numbers(seed: Any, where: str = "seed") -> np.random.Generator:
    """The generator that a seed stands for: a whole number from 0, None for another one each time, or a Generator.

    The one place that reads a seed: NumPy's own takes lists and matrices too, and some of them end the process.
    """
    if seed is None or isinstance(seed, np.random.Generator):
        return np.random.default_rng(seed)
    return np.random.default_rng(
        seed_number(seed, where, also=", a numpy.random.Generator, or None for other numbers each time")
    )


def seed_number(seed: Any, where: str = "seed", bits: int = 128, also: str = "") -> int:
    """A seed that is a whole number from 0, for what makes its own numbers of it."""
    try:
        number = None if isinstance(seed, (bool, np.bool_, np.ndarray)) else operator.index(seed)
    except Exception:
        pass_on_signals()
        number = None
    if number is None or not 0 <= number < 2**bits:
        most = f", smaller than 2**{bits}" if number is not None and number > 0 else ""
        raise StateFault(f"{where} is {shown(seed)}; give a whole number, 0 or more{most}{also}.") from None
    return number


def batch_shape_of(value: Any, where: str = "batch") -> tuple[int, ...]:
    """Axes of a batch: whole numbers, or one of them."""
    sizes = value if isinstance(value, (tuple, list)) else (value,)
    if len(sizes) > MOST_AXES:
        raise StateFault(f"{where} has {len(sizes)} axes; give {MOST_AXES} at most.")
    return tuple(whole(size, where, 0, 2**40) for size in sizes)


def several(value: Any, where: str, most: int = 100_000, kind: type[Fault] = ArmFault) -> tuple[Any, ...]:
    """Things one after the other, as a tuple; not without end."""
    try:
        found = None if isinstance(value, (str, bytes, Mapping)) else tuple(islice(iter(value), most + 1))
    except Exception:  # also what an object's own __iter__ raises
        pass_on_signals()
        found = None
    if found is None or len(found) > most:
        raise kind(f"{where} is {shown(value)}; give a sequence, of {most} at most.") from None
    return found


UNORDERED = (str, bytes, Mapping, set, frozenset)
"""What can be gone through, and is no row of numbers and no list of names."""


def names_of(value: Any, where: str, most: int = 10_000, kind: type[Fault] = StateFault) -> tuple[str, ...]:
    """Names one after the other, as a tuple; not one text, not without order, not without end."""
    try:
        found = None if isinstance(value, UNORDERED) else list(islice(iter(value), most + 1))
    except Exception:  # also what an object's own __iter__ raises
        pass_on_signals()
        found = None
    if found is None or len(found) > most or not all(isinstance(one, str) for one in found):
        meant = f"[{shown(value)}]" if isinstance(value, str) else "['a', 'b']"
        raise kind(f"{where} is {shown(value)}; give a list of names: {meant}.") from None
    return tuple(map(str, found))


def yes_or_no(value: Any, where: str, kind: type[Fault] = ArmFault) -> bool:
    """True or False, and no word for them."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise kind(f"{where} is {shown(value)}; give True or False.")


def precision(value: Any, where: str, kind: type[Fault] = StateFault) -> np.dtype[Any]:
    """The type of numbers that are computed with: float64 or float32."""
    try:
        found = None if value is None else np.dtype(value)
    except Exception:  # NumPy's own, and whatever an object's attributes raise
        pass_on_signals()
        found = None
    if found is None or found.name not in ("float64", "float32"):
        raise kind(f"{where} is {shown(value)}; give 'float64' or 'float32'.") from None
    return found


MOST_AXES = 30
"""Axes of a batch."""
