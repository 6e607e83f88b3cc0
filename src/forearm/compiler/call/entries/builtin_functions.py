"""Calls from Python without the cost of Python: builtin functions whose bodies LLVM compiles (entry_text.py).

An entry (METH_FASTCALL with keywords) takes what is exactly as it should be; if anything else comes (lists, other
dtypes, a single result that is not finite), it hands the same arguments on: one state's entry to the batch's, as
soon as there is one, and that to the Python function that takes everything.

Entries are used only on builds that were looked at: CPython with a GIL, 64 bits, and a self-test, once in each
process, that compares the fields with what Python says about a few arrays.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from forearm.compiler.graph.graph import Graph
from forearm.outside.running_log import LOG
from forearm.outside.signal_errors import pass_on_signals

# Fields of PyObject, PyTupleObject, PyListObject, PyFloatObject, PyArrayObject: bytes from the start.
TYPE, TUPLE_SIZE, LIST_ITEMS, FLOAT_VALUE = 8, 16, 24, 16
TUPLE_ITEMS = tuple.__basicsize__  # differs between versions of Python
DATA, NDIM, DIMENSIONS, DESCR, FLAGS = 16, 24, 32, 56, 64
CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400
TYPE_NUMBER = {"float64": 12, "float32": 11}

NAMES = (
    *("results", "ndarray", "descr", "float", "tuple", "none", "one"),
    *("out", "threads", "vectorcall", "incref", "decref", "new", "integer", "get", "free", "leave", "return"),
)
"""What `@python` holds, in order: filled by the loader, since addresses differ from process to process."""

MOST_PAIRS = 512
"""An entry looks whether results lie apart from each other and from what is read. Beyond so many pairs of arrays its
text would take longer to compile than all else (minutes for 150 results), and the general call serves alone."""

HELD = ("rest", "share")
"""The first items of the list that is the function's `self`: they differ from entry to entry of one kernel."""

PYARRAY_NEW = 93  # place of PyArray_New in NumPy's table of C functions

_NAME = b"kernel"  # of every builtin function; each points to it


class _MethodDef(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


METH_FASTCALL, METH_KEYWORDS = 0x80, 0x02


def has_entry(graph: Graph) -> bool:
    """Whether a graph's programs have an entry: it has results, and not too many arrays to compare."""
    inputs, outputs = len(graph.inputs), len(graph.outputs)
    return outputs > 0 and outputs * (outputs - 1) // 2 + outputs * inputs <= MOST_PAIRS


class Entry:
    """A builtin function over an entry's code."""

    def __init__(
        self,
        code: Any,
        dtype: str,
        results: type,
        rest: Callable[..., Any],
        share: Callable[..., Any] | None = None,
    ) -> None:
        """Fill in what the code needs to know of this process.

        Args:
            code: The program in memory (jit.Loaded).
            dtype: The kernel's.
            results: Makes the named tuple of several outputs.
            rest: What takes the arguments that do not fit.
            share: Does a batch with threads: (table, count, threads).
        """
        table = code.variable("python")
        for name, address in (_addresses(dtype) | {"results": id(results)}).items():
            ctypes.c_void_p.from_address(table + 8 * NAMES.index(name)).value = address
        method = bytes(_MethodDef(_NAME, code.address("entry"), METH_FASTCALL | METH_KEYWORDS, None))
        at = ctypes.cast(ctypes.c_char_p(method), ctypes.c_void_p)
        self._holds = [rest, share, code, results]  # the builtin function keeps this list, and looks into it
        make = ctypes.pythonapi.PyCFunction_NewEx
        make.restype = ctypes.py_object
        make.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]
        # it reads its PyMethodDef to its very end, and lets go of its module last; the list may be cleared before
        self.function: Callable[..., Any] = make(at, self._holds, method)

    def hand_to(self, rest: Callable[..., Any]) -> None:
        """From now on give another function what does not fit."""
        self._holds.append(self._holds[0])  # it may be running
        self._holds[0] = rest


OUT, THREADS = sys.intern("out"), sys.intern("threads")
FUNCTIONS = {
    "vectorcall": "PyObject_Vectorcall",
    "incref": "Py_IncRef",
    "decref": "Py_DecRef",
    "integer": "PyLong_FromLongLong",
    "get": "PyMem_RawMalloc",
    "free": "PyMem_RawFree",
    "leave": "PyEval_SaveThread",
    "return": "PyEval_RestoreThread",
}
"""Functions of Python that entries call."""


@cache
def _addresses(dtype: str) -> dict[str, int]:
    """What `@python` holds in this process, for every kernel of a dtype."""
    found = {
        n: ctypes.cast(getattr(ctypes.pythonapi, f), ctypes.c_void_p).value or 0 for n, f in FUNCTIONS.items()
    }
    objects = {"ndarray": np.ndarray, "descr": np.dtype(dtype), "float": float, "tuple": tuple, "none": None}
    objects |= {"one": 1, "out": OUT, "threads": THREADS}
    return found | {name: id(o) for name, o in objects.items()} | {"new": _numpy_function(PYARRAY_NEW)}


def _numpy_function(place: int) -> int:
    """An address from NumPy's table of C functions."""
    capsule = np._core._multiarray_umath._ARRAY_API  # type: ignore[attr-defined]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype = ctypes.c_void_p
    pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    found = ctypes.c_void_p.from_address(pointer(capsule, None) + 8 * place).value
    return found or 0


@cache
def usable() -> bool:
    """Whether this interpreter and this NumPy are laid out as the entry expects; tested once."""
    reason = _reason_against()
    if reason:
        LOG.info("single states take the general call: %s", reason)
    return not reason


def _reason_against() -> str:
    if sys.implementation.name != "cpython":
        return f"{sys.implementation.name} is not CPython"
    if "t" in getattr(sys, "abiflags", "") or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return "this is a free-threaded build"
    if ctypes.sizeof(ctypes.c_void_p) != 8 or sys.byteorder != "little":
        return "this is not a 64-bit little-endian machine"
    if object.__basicsize__ != 16:
        return "objects have unusual headers in this build"
    try:
        return _fields_against() or _new_against()
    except Exception as error:  # whatever this build does differently, the general call is there
        pass_on_signals()
        return f"the self-test failed: {error}"


def _fields_against() -> str:
    """Compare the fields of a few arrays, a tuple and a float with what Python says about them."""
    pair, number = (OUT, 1), 2.75
    if _field(number, FLOAT_VALUE, ctypes.c_double) != number:
        return "floats are laid out otherwise"
    if _field(pair, TUPLE_SIZE, ctypes.c_int64) != 2 or _field(pair, TUPLE_ITEMS, ctypes.c_void_p) != id(OUT):
        return "tuples are laid out otherwise"
    held = [OUT, None]
    if ctypes.c_void_p.from_address(_field(held, LIST_ITEMS, ctypes.c_void_p)).value != id(OUT):
        return "lists are laid out otherwise"
    base = np.arange(12.0)
    frozen = base.copy()
    frozen.flags.writeable = False
    block, short = base.reshape(3, 4), base.astype(np.float32)
    for a in (base, base[::2], block, block.T, np.array(2.0), frozen, short):
        flags = _field(a, FLAGS, ctypes.c_int)
        told = (a.flags.c_contiguous, a.flags.aligned, a.flags.writeable)
        dims = _field(a, DIMENSIONS, ctypes.c_void_p)
        same = (
            _field(a, TYPE, ctypes.c_void_p) == id(np.ndarray)
            and _field(a, DATA, ctypes.c_void_p) == a.ctypes.data
            and _field(a, NDIM, ctypes.c_int) == a.ndim
            and _field(a, DESCR, ctypes.c_void_p) == id(a.dtype)
            and tuple(bool(flags & f) for f in (CONTIGUOUS, ALIGNED, WRITEABLE)) == told
            and tuple(ctypes.c_int64.from_address(dims + 8 * i).value for i in range(a.ndim)) == a.shape
        )
        if not same:
            return f"NumPy {np.__version__} lays arrays out otherwise"
    return ""


def _field(thing: object, offset: int, kind: Any) -> Any:
    return kind.from_address(id(thing) + offset).value


def _new_against() -> str:
    """Make an array through NumPy's table, as the entry does."""
    pointer, number = ctypes.c_void_p, ctypes.c_int
    kind = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.py_object, number, pointer, number, pointer, pointer, number, number, pointer
    )
    dims = (ctypes.c_int64 * 2)(3, 4)
    new = kind(_numpy_function(PYARRAY_NEW))
    for dtype, code in TYPE_NUMBER.items():
        a = new(np.ndarray, 2, ctypes.addressof(dims), code, None, None, 0, 0, None)
        fits = type(a) is np.ndarray and a.shape == (3, 4) and a.dtype is np.dtype(dtype)
        if not (fits and a.flags.c_contiguous and a.flags.writeable and a.flags.owndata):
            return f"NumPy {np.__version__} makes arrays otherwise"
    return ""
