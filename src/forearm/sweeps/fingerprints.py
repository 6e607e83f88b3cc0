"""What tells one question from another, where parts of it are the caller's own: functions, and things of any kind.

A function is its text and whatever its text refers to: defaults, the variables around it, its module's globals and
functions. A journal of the same text with another constant is of another sweep.
"""

import functools
import inspect
import pickle
from collections.abc import Iterator
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np


def fingerprint(value: Any, seen: tuple[int, ...] = ()) -> bytes:
    """Bytes that differ where values differ; of what cannot be looked into, its type alone."""
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return repr(value).encode() + b"\0"
    if id(value) in seen:
        return b"itself\0"
    inner = functools.partial(fingerprint, seen=(*seen, id(value)))
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        return f"{value.dtype.str}{value.shape}".encode() + np.ascontiguousarray(value).tobytes() + b"\0"
    if isinstance(value, (list, tuple, np.ndarray)):
        return b"(" + b"".join(map(inner, value)) + b")\0"
    if isinstance(value, dict):
        return b"{" + b"".join(inner(k) + inner(v) for k, v in value.items()) + b"}\0"
    if isinstance(getattr(value, "digest", None), str):
        return value.digest.encode() + b"\0"  # type: ignore[no-any-return]
    if isinstance(value, functools.partial):
        return b"partial" + inner((value.func, value.args, value.keywords))
    if isinstance(value, MethodType):
        return inner((value.__func__, value.__self__))
    if isinstance(value, FunctionType):
        return _name(value) + inner((_text(value), *_around(value)))
    return _name(value) if isinstance(value, (type, ModuleType)) else _name(type(value)) + _pickled(value)


def _name(value: Any) -> bytes:
    return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', repr(value))}\0".encode()


def _text(function: FunctionType) -> Any:
    """Its source, or its code where there is none."""
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        plain = (str, bytes, int, float, complex, type(None))
        return [
            (code.co_code, [c for c in code.co_consts if isinstance(c, plain)])
            for code in _codes(function.__code__)
        ]


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A function's code and that of functions and comprehensions in it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _codes(inner)


def _around(function: FunctionType) -> Iterator[Any]:
    """Defaults, and values of the variables that a function reads; of another module's functions the name alone."""
    yield function.__defaults__
    yield function.__kwdefaults__
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:
            yield name, "empty"
    for name in sorted({name for code in _codes(function.__code__) for name in code.co_names}):
        if name in function.__globals__:
            value = function.__globals__[name]
            foreign = isinstance(value, FunctionType) and value.__module__ != function.__module__
            yield name, _name(value) if foreign or isinstance(value, ModuleType) else value


def _pickled(value: Any) -> bytes:
    """An object's content, where it can be packed."""
    try:
        return pickle.dumps(value, protocol=4) + b"\0"
    except Exception:  # whatever an object's own __reduce__ raises
        return b""
