"""What tells one question from another, where parts of it are the caller's own: functions, and things of any kind.

A function is its text and whatever its text refers to: defaults, the variables around it, globals, functions and
classes of its module and of every other module of the caller's, and those that stand in objects that it reads. Of what
is installed the name is enough, but for functions that a call has made, such as `jax_function`'s. A journal of the same
text with another constant is of another sweep.
"""

import functools
import inspect
import io
import os
import pickle
import site
import sys
import sysconfig
from collections.abc import Iterator
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from forearm.outside.function_parts import codes, names_read, variables_around
from forearm.outside.signal_errors import pass_on_signals

CODE = (FunctionType, type)
"""What has a text."""
PLAIN = (int, float, complex, str, bytes, list, tuple, dict, np.ndarray)
"""What is told as it is, whatever a caller derives from it."""
SITES = frozenset(("site-packages", "dist-packages"))
"""What folders are called that packages are installed in."""


def fingerprint(value: Any) -> bytes:
    """Bytes that differ where values differ; of what cannot be looked into, its type alone."""
    met = Met()
    told = [_told(value, (), met)]
    for one in met.things:  # grows while it is walked: each once, however many hold it, and however deep
        told.append(_told_of_code(one, met) if isinstance(one, CODE) else _told_of_object(one, met))
    return b"".join(told)


class Met:
    """Functions, classes and objects of the caller's that are to be told, numbered as they were met."""

    def __init__(self) -> None:
        self.things: list[Any] = []
        self._numbers: dict[int, int] = {}

    def named(self, value: Any) -> bytes:
        """The name of a function, a class, or an object's class, with its number where it is to be told."""
        what = value if isinstance(value, CODE) else type(value)
        if _is_known(what):
            return _name(what)
        if id(value) not in self._numbers:
            self._numbers[id(value)] = len(self.things)
            self.things.append(value)
        return f"{self._numbers[id(value)]} ".encode() + _name(what)

    def forget(self, kept: int) -> None:
        """Those after the first so many: what held them cannot be told."""
        for value in self.things[kept:]:
            del self._numbers[id(value)]
        del self.things[kept:]


def _told(value: Any, seen: tuple[int, ...], met: Met) -> bytes:
    """The bytes; `seen` are the containers around it, `met` are the functions and classes to tell."""
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
    if isinstance(value, (set, frozenset)):  # whose order is another one in another process
        return b"[" + b"".join(sorted(map(inner, value))) + b"]\0"
    if isinstance(getattr(value, "digest", None), str):
        return value.digest.encode() + inner(getattr(value, "configurations", None))  # type: ignore[no-any-return]
    if isinstance(value, functools.partial):
        return b"partial" + inner((value.func, value.args, value.keywords))
    if isinstance(value, MethodType):
        return inner((value.__func__, value.__self__))
    if isinstance(value, ModuleType):
        return _name(value)
    if isinstance(value, CODE) or not _is_known(type(value)):
        return met.named(value)
    return met.named(type(value)) + (_packed(value, met) or b"")


def _told_of_object(value: Any, met: Met) -> bytes:
    """An object of the caller's class: packed where it can be, and its attributes one by one where it cannot.

    An object of an installed class that cannot be packed holds what belongs to a process: a file, a lock, a clock.
    """
    content = _packed(value, met)
    if content is None:
        content = _told(getattr(value, "__dict__", None), (), met)
    return met.named(type(value)) + content


class _Packer(pickle.Pickler):
    """Packs an object, and tells the functions, classes and objects of the caller's in it instead of naming them."""

    def __init__(self, file: io.BytesIO, whole: Any, met: Met) -> None:
        super().__init__(file, protocol=4)
        self.whole, self.met = whole, met

    def persistent_id(self, value: Any) -> bytes | None:
        """What stands for a function, a class, a module, an object of the caller's, a set; None for all else."""
        if isinstance(value, PLAIN):  # most of all, so first
            return None
        if isinstance(value, (set, frozenset)):
            return _told(value, (), self.met)
        if isinstance(value, CODE):
            return self.met.named(value)
        if isinstance(value, (ModuleType, np.ufunc)):  # NumPy's own, and those that np.vectorize keeps
            return _name(value)
        wrapped = getattr(value, "__wrapped__", None)  # by a cache
        if isinstance(wrapped, FunctionType):
            return self.met.named(wrapped)
        if value is self.whole or _is_known(type(value)):
            return None
        return self.met.named(value)


def _packed(value: Any, met: Met) -> bytes | None:
    """An object's content, where it can be packed."""
    file, before = io.BytesIO(), len(met.things)
    try:
        _Packer(file, value, met).dump(value)
    except Exception:  # whatever an object's own __reduce__ raises
        pass_on_signals()
        met.forget(before)
        return None
    return file.getvalue() + b"\0"


def _told_of_code(value: FunctionType | type, met: Met) -> bytes:
    """A function or a class: its text, and all around it."""
    around = _around(value) if isinstance(value, FunctionType) else _members(value)
    return _name(value) + _told((_text(value), *around), (), met)


def _is_known(value: FunctionType | type) -> bool:
    """Whether its name tells a function or class: it is installed, and no function that a call has made."""
    module = getattr(value, "__module__", None) or ""
    if not _installed(module) or isinstance(value, type):
        return _installed(module)
    found: Any = sys.modules.get(module)
    for part in value.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is value


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
    place = os.path.realpath(file)
    if SITES.intersection(place.split(os.sep)):  # of another interpreter, that a path leads to
        return True
    return any(place.startswith(os.path.realpath(folder) + os.sep) for folder in folders)


def _name(value: Any) -> bytes:
    return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', repr(value))}\0".encode()


def _text(function: FunctionType | type) -> Any:
    """Its source, or its code where there is none; of a class without one, its methods have their code."""
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        pass_on_signals()
        if isinstance(function, type):
            return None
        plain = (str, bytes, int, float, complex, type(None))
        return [
            (code.co_code, [c for c in code.co_consts if isinstance(c, plain)])
            for code in codes(function.__code__)
        ]


def _around(function: FunctionType) -> Iterator[Any]:
    """Defaults, and values of the variables that a function reads, in its module and in modules that it names."""
    yield function.__defaults__
    yield function.__kwdefaults__
    yield from variables_around(function)
    if _installed(function.__module__ or ""):  # one that was made of a text has none
        return  # of its module the name is enough
    names = names_read(function)
    places, known = [function.__globals__], {id(function.__globals__)}
    for place in places:  # grows while it is walked
        for name in (name for name in names if name in place):
            yield name, place[name]
            if isinstance(module := place[name], ModuleType) and not _installed(module.__name__):
                places += [vars(module)] * (id(vars(module)) not in known)
                known.add(id(vars(module)))


def _members(kind: type) -> Iterator[Any]:
    """What a class has: those that it is made from, its methods, its values."""
    yield kind.__bases__
    for name, value in sorted(vars(kind).items()):
        parts = [getattr(value, part, None) for part in ("__func__", "fget", "func")]
        method = next((x for x in (value, *parts) if isinstance(x, FunctionType)), None)
        if method is not None:
            yield name, method
        elif not name.startswith("__"):
            yield name, value
