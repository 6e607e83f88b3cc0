"""What a function keeps between calls: all that it can reach and change, told so that two tellings can be compared.

A kernel is made from what a function does once. One that counts its calls, delays its results or asks an iterator does
the same a few times, then something else; tracing it twice shows nothing. What it keeps has changed, though, and is
found where functions keep things: attributes of an object, variables around the function, globals that it names,
defaults, and lists, arrays and random numbers in all of these.
"""

from __future__ import annotations

import functools
import random
import sys
import types
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any

import numpy as np

from forearm.compiler.graph.traced_scalar import Traced
from forearm.outside.function_parts import names_read, variables_around
from forearm.outside.signal_errors import pass_on_signals

MOST = 20_000
"""So many things are looked at; what lies behind them is not."""
LARGEST = 1_000_000
"""Arrays with more numbers are not looked into."""
PLAIN = (int, float, complex, bool, str, bytes, type(None))
OTHERS = {
    *sys.stdlib_module_names,
    "forearm",
    "numpy",
    "scipy",
    "sympy",
    "mpmath",
    "torch",
    "jax",
    "casadi",
    "pandas",
}
"""Packages whose functions and classes keep nothing that is a user's: their insides are left alone."""
CHANCE = (random.Random, np.random.Generator, np.random.RandomState, types.ModuleType)
"""Where random numbers come from."""


def memory_of(function: Callable[..., Any], *, chance: bool = True) -> tuple[Any, ...]:
    """All that a function can reach and change, as a flat value: equal to a later one where nothing has changed.

    Args:
        function: The function, or an object that is called.
        chance: Whether random numbers that were drawn count.
    """
    told: list[Any] = []
    # the things themselves are kept meanwhile: another may get the identity of one that is gone
    seen: dict[int, tuple[int, Any]] = {}
    waiting = deque[Any]([function])
    while waiting and len(told) < MOST:
        thing = waiting.popleft()
        if type(thing) in PLAIN or isinstance(thing, np.generic):
            inexact = isinstance(thing, (float, complex, np.generic))  # NaN is not equal to itself
            told.append((type(thing).__name__, repr(thing) if inexact else thing))
            continue
        if id(thing) in seen:
            told.append(seen[id(thing)][0])
            continue
        seen[id(thing)] = len(seen), thing
        if not chance and isinstance(thing, CHANCE):
            continue
        try:
            label, parts = _opened(thing, first=thing is function)
        except Exception:  # an object that does not want to be looked at
            pass_on_signals()
            label, parts = type(thing).__name__, ()
        told.append(label)
        waiting.extend(islice(parts, MOST))
    return tuple(told)


def _opened(thing: Any, *, first: bool) -> tuple[Any, Iterable[Any]]:
    """What to call a thing, and what it holds."""
    kind = type(thing)
    if isinstance(thing, Traced):
        return "traced", ()
    if isinstance(thing, np.ndarray):
        return _array(thing)
    if isinstance(thing, dict):
        return (kind.__name__, len(thing)), chain(thing.keys(), thing.values())
    if isinstance(thing, (list, tuple, set, frozenset, deque)):
        return (kind.__name__, len(thing)), thing
    if isinstance(thing, types.ModuleType):
        return thing.__name__, _chance(thing)
    if isinstance(thing, (types.FunctionType, type)):
        own = first or thing.__module__.partition(".")[0] not in OTHERS
        parts = _of_function(thing) if isinstance(thing, types.FunctionType) else _of_class(thing)
        return kind.__name__, list(parts) if own else ()
    if isinstance(thing, types.MethodType):
        return kind.__name__, (thing.__func__, thing.__self__)
    if isinstance(thing, functools.partial):
        return kind.__name__, (thing.func, thing.args, thing.keywords)
    if isinstance(thing, (types.GeneratorType, Iterator)):
        return kind.__name__, _place(thing)
    return kind.__name__, _of_object(thing)


def _array(array: Any) -> tuple[Any, Iterable[Any]]:
    label = (array.shape, array.dtype.str)
    if array.dtype == object:
        return label, array.flat
    return (label if array.size > LARGEST else (*label, hash(array.tobytes()))), ()


def _chance(module: types.ModuleType) -> Iterable[Any]:
    """The random numbers that come from a module itself."""
    if module is np:
        return (np.random.get_state(),)  # noqa: NPY002  (what others draw from)
    return (random.getstate(),) if module is random else ()


def _of_function(function: types.FunctionType) -> Iterator[Any]:
    """Variables around a function, its defaults and attributes, and the globals that it names."""
    yield from (value for _, value in variables_around(function))
    yield function.__defaults__
    yield function.__kwdefaults__
    yield function.__dict__
    known = function.__globals__
    yield from (known[name] for name in names_read(function) if name in known)


def _of_class(cls: type) -> Iterator[Any]:
    """What a class and those that it is made from have, methods too."""
    for one in cls.__mro__:
        if one.__module__.partition(".")[0] not in OTHERS:
            yield from (x for name, x in vars(one).items() if not name.startswith("__") or name == "__call__")


def _place(iterator: Any) -> Iterable[Any]:
    """Where an iterator is."""
    if isinstance(iterator, types.GeneratorType):
        frame = iterator.gi_frame
        return ("ended",) if frame is None else (frame.f_lasti, *frame.f_locals.values())
    with warnings.catch_warnings():  # Python 3.12 will not say it of itertools for ever
        warnings.simplefilter("ignore")
        made: Any = iterator.__reduce__()
    return made if isinstance(made, tuple) else (made,)


def _of_object(thing: Any) -> Iterable[Any]:
    """Attributes of an object; of ours those of laws alone, since arms and motions are values."""
    if isinstance(thing, random.Random):
        return (thing.getstate(),)
    if isinstance(thing, (np.random.Generator, np.random.RandomState)):
        state = thing.bit_generator.state if isinstance(thing, np.random.Generator) else thing.get_state()
        return (state,)
    kind: Any = type(thing)
    if kind.__module__.partition(".")[0] == "forearm":
        a_value = kind.__eq__ is not object.__eq__
        fields = () if a_value else getattr(kind, "__dataclass_fields__", ())
        return [getattr(thing, name) for name in fields]
    slots = [name for one in kind.__mro__ for name in _slots(one)]
    kept = [getattr(thing, name, None) for name in slots]
    return [kind, *kept, *(getattr(thing, "__dict__", None) or {}).values()]


def _slots(cls: type) -> tuple[str, ...]:
    slots = vars(cls).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)
