"""One state from Python without the cost of Python: an entry whose body LLVM compiles.

The entry is a builtin function (METH_FASTCALL with keywords). It looks at its arguments as C code compiled
against NumPy does, through the fields of the array object: exact `ndarray`s of the kernel's dtype and shape,
C order, aligned. If all fits it computes and returns `out`, or a new array; if anything else comes (lists,
other dtypes, batches, keywords, a result that is not finite), it hands the same arguments to the Python
function that takes everything.

It is used only on builds that were looked at: CPython with a GIL, 64 bits, and a self-test, once in each
process, that compares the fields with what Python says about a few arrays.
"""

from __future__ import annotations

import ctypes
import logging
import platform
import sys
import sysconfig
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from forearm.compiler.emit_llvm import Writer
from forearm.compiler.graph import Graph, Port

LOG = logging.getLogger("forearm")

# Fields of PyObject, PyTupleObject, PyArrayObject: bytes from the start.
TYPE, TUPLE_SIZE, TUPLE_ITEMS = 8, 16, 24
DATA, NDIM, DIMENSIONS, DESCR, FLAGS = 16, 24, 32, 56, 64
CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400
PYARRAY_NEW = 93  # place of PyArray_New in NumPy's table of C functions
TYPE_NUMBER = {"float64": 12, "float32": 11}

NAMES = ("ndarray", "descr", "out", "vectorcall", "incref", "decref", "new")
"""What `@python` holds, in order: filled by the loader, since addresses differ from process to process."""

_METHODS: list[Any] = []  # builtin functions read their PyMethodDef to the very end, so these stay


def entry_functions(graph: Graph, dtype: str) -> str:
    """The text of `@entry`, to go with `@one`; for graphs with one output."""
    shape = graph.outputs[0].shape
    numbers = f"[{', '.join(f'i64 {n}' for n in shape)}]" if shape else "zeroinitializer"
    return "\n".join(
        [
            f"@python = global [{len(NAMES)} x ptr] zeroinitializer",
            f"@shape = private constant [{len(shape)} x i64] {numbers}",
            _entry_function(graph, dtype),
        ]
    )


def _entry_function(graph: Graph, dtype: str) -> str:
    w, n = Writer(), len(graph.inputs)
    _require(w, f"icmp eq i64 %nargs, {n}")
    places = []
    for i, port in enumerate(graph.inputs):
        given = w.let(f"load ptr, ptr {w.at('%args', 8 * i)}")
        places.append(_array(w, given, port, CONTIGUOUS | ALIGNED))
    w.put(f"br i1 {w.let('icmp eq ptr %kwnames, null')}, label %make, label %named")
    w.label("named")
    _write_into_out(w, graph, places)
    w.label("make")
    _write_into_new(w, graph, dtype, places)
    w.label("general")
    call = _known(w, "vectorcall")
    result = w.let(f"call ptr {call}(ptr %self, ptr %args, i64 %nargs, ptr %kwnames)")
    return w.function("ptr @entry(ptr %self, ptr %args, i64 %nargs, ptr %kwnames)", f"ptr {result}")


def _write_into_out(w: Writer, graph: Graph, places: list[str]) -> None:
    """The branch with the one keyword `out`."""
    size = w.let(f"load i64, ptr {w.at('%kwnames', TUPLE_SIZE)}")
    _require(w, f"icmp eq i64 {size}, 1")
    keyword = w.let(f"load ptr, ptr {w.at('%kwnames', TUPLE_ITEMS)}")
    _require(w, f"icmp eq ptr {keyword}, {_known(w, 'out')}")
    out = w.let(f"load ptr, ptr {w.at('%args', 8 * len(places))}")
    place = _array(w, out, graph.outputs[0], CONTIGUOUS | ALIGNED | WRITEABLE)
    _require(w, _compute("i1 false", [*places, place]))
    w.put(f"call void {_known(w, 'incref')}(ptr {out})")
    w.put(f"ret ptr {out}")


def _write_into_new(w: Writer, graph: Graph, dtype: str, places: list[str]) -> None:
    """The branch without keywords: a new array."""
    kind = f"i32 {len(graph.outputs[0].shape)}, ptr @shape, i32 {TYPE_NUMBER[dtype]}"
    rest = "ptr null, ptr null, i32 0, i32 0, ptr null"
    new = w.let(f"call ptr {_known(w, 'new')}(ptr {_known(w, 'ndarray')}, {kind}, {rest})")
    with w.when(w.let(f"icmp eq ptr {new}, null"), leaves="ret ptr null"):
        pass
    data = w.let(f"load ptr, ptr {w.at(new, DATA)}")
    finite = w.let(_compute("i1 true", [*places, data]))
    with w.when(finite, leaves=f"ret ptr {new}"):
        pass
    w.put(f"call void {_known(w, 'decref')}(ptr {new})")
    w.put("br label %general")


def _compute(anyway: str, places: list[str]) -> str:
    return f"call i1 @one({', '.join([anyway, *(f'ptr {p}' for p in places)])})"


def _known(w: Writer, name: str) -> str:
    """An address that the loader has filled in."""
    return w.let(f"load ptr, ptr {w.at('@python', 8 * NAMES.index(name))}")


def _require(w: Writer, test: str) -> None:
    """Go on if the test holds; otherwise to the general call."""
    after = w.fresh("fits")
    w.put(f"br i1 {w.let(test)}, label %{after}, label %general")
    w.label(after)


def _array(w: Writer, given: str, port: Port, flags: int) -> str:
    """The data of an array that is exactly what the port wants."""

    def field(offset: int, kind: str) -> str:
        return w.let(f"load {kind}, ptr {w.at(given, offset)}")

    _require(w, f"icmp eq ptr {field(TYPE, 'ptr')}, {_known(w, 'ndarray')}")
    _require(w, f"icmp eq ptr {field(DESCR, 'ptr')}, {_known(w, 'descr')}")
    _require(w, f"icmp eq i32 {field(NDIM, 'i32')}, {len(port.shape)}")
    found = w.let(f"and i32 {field(FLAGS, 'i32')}, {flags}")
    _require(w, f"icmp eq i32 {found}, {flags}")
    if port.shape:
        dimensions = field(DIMENSIONS, "ptr")
        for axis, size in enumerate(port.shape):
            length = w.let(f"load i64, ptr {w.at(dimensions, 8 * axis)}")
            _require(w, f"icmp eq i64 {length}, {size}")
    return field(DATA, "ptr")


class _MethodDef(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


METH_FASTCALL, METH_KEYWORDS = 0x80, 0x02


def make_entry(address: int, table: int, dtype: str, general: Callable[..., Any]) -> Callable[..., Any]:
    """The builtin function.

    Args:
        address: Where `@entry` starts.
        table: Where `@python` lies.
        dtype: The kernel's.
        general: What takes the arguments that do not fit. It must keep the machine code alive: the builtin
            function keeps nothing else.
    """
    for i, value in enumerate(_addresses(dtype)):
        ctypes.c_void_p.from_address(table + 8 * i).value = value
    method = _MethodDef(b"kernel", address, METH_FASTCALL | METH_KEYWORDS, None)
    _METHODS.append(method)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    found: Callable[..., Any] = make(ctypes.addressof(method), general, None)
    return found


OUT = sys.intern("out")


@cache
def _addresses(dtype: str) -> tuple[int, ...]:
    """What `@python` holds in this process."""
    api = ctypes.pythonapi
    functions = [
        ctypes.cast(f, ctypes.c_void_p).value or 0
        for f in (api.PyObject_Vectorcall, api.Py_IncRef, api.Py_DecRef)
    ]
    return (id(np.ndarray), id(np.dtype(dtype)), id(OUT), *functions, _numpy_function(PYARRAY_NEW))


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
    if platform.python_implementation() != "CPython":
        return f"{platform.python_implementation()} is not CPython"
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "this is a free-threaded build"
    if ctypes.sizeof(ctypes.c_void_p) != 8 or sys.byteorder != "little":
        return "this is not a 64-bit little-endian machine"
    if object.__basicsize__ != 16 or tuple.__basicsize__ != TUPLE_ITEMS:
        return "objects have unusual headers in this build"
    try:
        return _fields_against() or _new_against()
    except Exception as error:  # whatever this build does differently, the general call is there
        return f"the self-test failed: {error}"


def _fields_against() -> str:
    """Compare the fields of a few arrays and of a tuple with what Python says about them."""
    pair = (OUT, 1)
    if _field(pair, TUPLE_SIZE, ctypes.c_int64) != 2 or _field(pair, TUPLE_ITEMS, ctypes.c_void_p) != id(OUT):
        return "tuples are laid out otherwise"
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
