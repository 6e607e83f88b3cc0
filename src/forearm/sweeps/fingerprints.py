"""What tells one question from another, where parts of it are the caller's own: functions, and things of any kind.

A function is its text and whatever its text refers to: defaults, the variables around it, globals, functions and
classes of its module and of every other module of the caller's. Of what is installed the name is enough. A journal of
the same text with another constant is of another sweep.
"""

import functools
import inspect
import os
import pickle
import site
import sys
import sysconfig
from collections.abc import Iterator
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

PLAIN = (int, float, complex, str, list, tuple, dict, np.ndarray)
"""Values of a class that its methods may read."""


def fingerprint(value: Any) -> bytes:
    """Bytes that differ where values differ; of what cannot be looked into, its type alone."""
    met: dict[int, tuple[int, Any]] = {}
    told = [_told(value, (), met)]
    while len(told) <= len(met):  # each function once, however many call it, and however deep
        _, value = list(met.values())[len(told) - 1]
        told.append(_told_of_code(value, met))
    return b"".join(told)


def _told(value: Any, seen: tuple[int, ...], met: dict[int, tuple[int, Any]]) -> bytes:
    """The bytes; `seen` are the containers around it, `met` are the functions and classes to tell, numbered."""
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return repr(value).encode() + b"\0"
    if id(value) in seen:
        return b"itself\0"
    inner = functools.partial(_told, seen=(*seen, id(value)), met=met)
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
    if isinstance(value, ModuleType):
        return _name(value)
    if isinstance(value, (FunctionType, type)):
        if not _installed(getattr(value, "__module__", None) or ""):
            number, _ = met.setdefault(id(value), (len(met), value))
            return f"{number} ".encode() + _name(value)
        return _name(value)
    wrapped = getattr(value, "__wrapped__", None)  # by a cache
    content = inner(wrapped) if isinstance(wrapped, FunctionType) else _pickled(value)
    return inner(type(value)) + content


def _told_of_code(value: FunctionType | type, met: dict[int, tuple[int, Any]]) -> bytes:
    """A function or a class: its text, and all around it."""
    around = _around(value) if isinstance(value, FunctionType) else _members(value)
    return _name(value) + _told((_text(value), *around), (), met)


@functools.lru_cache(1024)
def _installed(module: str) -> bool:
    """Whether a module came with Python or was installed, so that nobody changes it between two runs of a sweep."""
    if module.partition(".")[0] in ("forearm", *sys.builtin_module_names):
        return True
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:
        return False
    paths = sysconfig.get_paths()
    folders = [paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")]
    folders += [*site.getsitepackages(), site.getusersitepackages()]
    return any(os.path.realpath(file).startswith(os.path.realpath(folder) + os.sep) for folder in folders)


def _name(value: Any) -> bytes:
    return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', repr(value))}\0".encode()


def _text(function: FunctionType | type) -> Any:
    """Its source, or its code where there is none; of a class without one, its methods have their code."""
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        if isinstance(function, type):
            return None
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
    """Defaults, and values of the variables that a function reads, in its module and in modules that it names."""
    yield function.__defaults__
    yield function.__kwdefaults__
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:
            yield name, "empty"
    names = sorted({name for code in _codes(function.__code__) for name in code.co_names})
    places, known = [function.__globals__], {id(function.__globals__)}
    for place in places:  # grows while it is walked
        for name in (name for name in names if name in place):
            yield name, place[name]
            if isinstance(module := place[name], ModuleType) and not _installed(module.__name__):
                places += [vars(module)] * (id(vars(module)) not in known)
                known.add(id(vars(module)))


def _members(kind: type) -> Iterator[Any]:
    """What a class has: those that it is made from, its methods, its plain values."""
    yield kind.__bases__
    for name, value in sorted(vars(kind).items()):
        parts = [getattr(value, part, None) for part in ("__func__", "fget", "func")]
        method = next((x for x in (value, *parts) if isinstance(x, FunctionType)), None)
        if method is not None:
            yield name, method
        elif not name.startswith("__") and isinstance(value, PLAIN):
            yield name, value


def _pickled(value: Any) -> bytes:
    """An object's content, where it can be packed."""
    try:
        return pickle.dumps(value, protocol=4) + b"\0"
    except Exception:  # whatever an object's own __reduce__ raises
        return b""
