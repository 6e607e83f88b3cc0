"""Declarations: what annotations say of an argument, as questions that a value answers.

Annotations are read as types. What they do not say (`Any`, a protocol, a name that is known to the type checker only)
fits everything: a question that cannot be asked is no misfit.
"""

import builtins
import functools
import math
import os
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from numbers import Integral, Real
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin

import numpy as np
from numpy.typing import ArrayLike

from forearm.algebra import AnyArray, is_scalar
from forearm.faults.call_arguments import a_or_an, shown
from forearm.outside.signal_errors import pass_on_signals


class Kind(NamedTuple):
    """One of the things that an argument may be."""

    text: str
    """How a message asks for it."""
    fits: Callable[[Any], bool] | None
    """Whether a value is one; None where nobody can tell."""
    complete: bool = False
    """Whether nothing else will do: no class that behaves alike, no list of another type."""
    at_once: bool = False
    """Whether the function's own checks have no better words, and what it would do meanwhile may stay (a file)."""


class Declared(NamedTuple):
    """What a function says of one argument."""

    kinds: tuple[Kind, ...]
    """What it may be."""
    optional: bool = False
    """Whether None stands for leaving it out."""

    def wanted(self, value: Any) -> str:
        """What to give in place of a value that is none of the kinds; nothing where it may be one."""
        for kind in self.kinds:
            try:
                if kind.fits is None or kind.fits(value):
                    return ""
            except MemoryError:  # nobody knows; the function finds out
                return ""
            except Exception:  # an object that answers no question is none of them
                pass_on_signals()
                continue
        texts = dict.fromkeys(kind.text for kind in self.kinds if kind.text)
        return " or ".join(texts) + (", or leave it out" if self.optional else "")

    @property
    def complete(self) -> bool:
        """Whether a value that is none of the kinds is wrong, whatever the function makes of it."""
        return all(kind.complete for kind in self.kinds)

    @property
    def at_once(self) -> bool:
        """Whether it is refused before the function has begun."""
        others = [kind for kind in self.kinds if kind not in (KINDS[type(None)], KINDS[str])]
        return self.complete and bool(others) and all(kind.at_once for kind in others)


def misfit(where: str, name: str, value: Any, declared: Declared) -> str:
    """The sentence about a value that is none of what is declared, or nothing."""
    wanted = declared.wanted(value)
    return f"{where}: {name} is {shown(value)}; give {wanted}." if wanted else ""


NO_NUMBERS = (bool, np.timedelta64)
"""What Python and NumPy count among the whole numbers."""


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number of whatever type of integers."""
    if isinstance(value, np.ndarray):
        return value.ndim == 0 and value.dtype.kind in "iu"
    return isinstance(value, (Integral, np.integer)) and not isinstance(value, NO_NUMBERS)


def is_real(value: Any) -> bool:
    """Whether a value is one real number that a float holds; what is no number (NaN) is none."""
    if isinstance(value, np.ndarray):
        known = value.ndim == 0 and value.dtype.kind in "fiu" and value is not np.ma.masked
    else:
        known = isinstance(value, (Real, np.floating, np.integer)) and not isinstance(value, NO_NUMBERS)
    return known and not math.isnan(float(value))


def may_be_numbers(value: Any) -> bool:
    """Whether a value may be an array of real numbers; arrays of other libraries are taken at their word."""
    if isinstance(value, Mapping):
        return all(isinstance(name, str) and may_be_numbers(one) for name, one in value.items())
    if isinstance(value, (str, bytes, bool, complex, set, frozenset, type)) or np.ma.is_masked(value):
        return False
    if isinstance(value, (list, tuple)):
        value = np.asarray(value)
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype.kind in "fiu" or (value.dtype.kind == "O" and _of_scalars(value))
    return any(hasattr(value, name) for name in ("__array__", "__dlpack__", "__float__", "__len__"))


def _of_scalars(array: Any) -> bool:
    """Whether an array of objects holds what computes: symbols, traced scalars."""
    return array.size > 0 and all(map(is_scalar, array.flat))


def _is_list(value: Any, cls: Any, member: Declared) -> bool:
    """Whether a value can be gone through, and holds what it should as far as one may look."""
    if not isinstance(value, cls) or isinstance(value, (str, bytes, Mapping)):
        return False
    some = islice(value, MOST_LOOKED_AT) if isinstance(value, Sequence) else ()
    return not any(member.wanted(one) for one in some)


MOST_LOOKED_AT = 1000
"""Members of a list that are held against an annotation."""


def _is_path(value: Any) -> bool:
    text = os.fspath(value)
    return isinstance(text, str) and "\0" not in text


def _is_open(value: Any) -> bool:
    return (hasattr(value, "read") or hasattr(value, "write")) and not getattr(value, "closed", False)


def _is_named(value: Any, member: Declared) -> bool:
    """Whether a value is a mapping with names, and holds what it should as far as one may look."""
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        return False
    return not any(member.wanted(one) for one in islice(value.values(), MOST_LOOKED_AT))


ANYTHING = Kind("", None)
NUMBERS = Kind("numbers, a list of them or a NumPy array", may_be_numbers, complete=True)
KINDS: dict[Any, Kind] = {
    type(None): Kind("", lambda value: value is None, complete=True),
    bool: Kind("True or False", lambda value: isinstance(value, (bool, np.bool_)), True, at_once=True),
    int: Kind("a whole number", is_whole, complete=True),
    float: Kind("a number", is_real, complete=True),
    str: Kind("a text", lambda value: isinstance(value, str) and "\0" not in value, complete=True),
    Path: Kind("a path", _is_path, complete=True, at_once=True),
    typing.IO: Kind("an open file", _is_open, complete=True, at_once=True),
    os.PathLike: Kind("a path", _is_path, complete=True, at_once=True),
    Callable: Kind("a function", callable, complete=True),
    np.ndarray: NUMBERS,
    AnyArray: NUMBERS,
}
"""What a type of an annotation means."""
NUMBER = Kind("a number", is_scalar, complete=True)
"""What `Scalar` means: symbols and traced scalars too."""
ARRAY_LIKE = frozenset(get_args(ArrayLike))
"""The alternatives of NumPy's ArrayLike, which a union takes in one by one; none where it is `type ArrayLike = ...`."""


def declared(annotation: Any, known: Mapping[str, Any], *, optional: bool = False) -> Declared:
    """What an annotation says, read with the names that its module knows."""
    return Declared(tuple(_kind(one) for one in _alternatives(_as_type(annotation, known))), optional)


class _Names(dict[str, Any]):
    """Names of a module; one that only the type checker knows may be anything."""

    def __missing__(self, name: str) -> Any:
        return getattr(builtins, name, Any)


def _as_type(annotation: Any, known: Mapping[str, Any]) -> Any:
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, {}, _Names(known))  # an annotation of our own source
    except Exception:  # a union with a name in quotes
        pass_on_signals()
        return Any


def _alternatives(annotation: Any) -> list[Any]:
    """The members of a union, NumPy's ArrayLike as one of them."""
    if annotation == ArrayLike:
        return [np.ndarray]
    annotation = getattr(annotation, "__value__", annotation)  # `type X = ...` in newer versions of NumPy
    if get_origin(annotation) not in (typing.Union, types.UnionType):
        return [annotation]
    members = [one for each in get_args(annotation) for one in _alternatives(each)]
    if ARRAY_LIKE and ARRAY_LIKE.issubset(members):
        members = [np.ndarray, *(one for one in members if one not in ARRAY_LIKE)]
    return members


@functools.cache
def _kind(annotation: Any) -> Kind:
    """The kind of one alternative."""
    origin, inner = get_origin(annotation) or annotation, get_args(annotation)
    if origin is Annotated:
        return NUMBER if inner[1:] == ("a number",) else _kind(inner[0])
    if origin is Literal:
        return Kind(" or ".join(map(repr, inner)), lambda value: value in inner, complete=True)
    if origin in KINDS:
        return KINDS[origin]
    if origin is Mapping:
        named = declared(inner[1], {}) if inner else Declared((ANYTHING,))
        return Kind("a mapping with names", lambda value: _is_named(value, named), complete=True)
    if origin in (Sequence, tuple, list, Iterable):
        return _list_kind(Iterable if origin is Iterable else Sequence, inner)
    if (
        isinstance(origin, type)
        and origin not in (object, Any)
        and not getattr(origin, "_is_protocol", False)
    ):
        return Kind(a_or_an(origin.__name__), lambda value: isinstance(value, origin))
    return ANYTHING


def _list_kind(cls: Any, inner: tuple[Any, ...]) -> Kind:
    """A list of one kind of things, or a tuple that says what stands in each place."""
    if inner and inner[-1] is not Ellipsis and len(inner) > 1:
        places = [declared(one, {}) for one in inner]
        numbers = all(kind is NUMBER for place in places for kind in place.kinds)
        return Kind(
            f"{_COUNTS.get(len(inner), len(inner))} numbers" if numbers else "a list",
            lambda value: (
                len(value) == len(places) and not any(p.wanted(v) for p, v in zip(places, value, strict=True))
            ),
        )
    member = declared(inner[0], {}) if inner else Declared((ANYTHING,))
    return Kind("a list", lambda value: _is_list(value, cls, member))


_COUNTS = {2: "two", 3: "three"}
