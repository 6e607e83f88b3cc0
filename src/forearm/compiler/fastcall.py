"""One state from Python without the cost of Python: an entry whose body LLVM compiles.

The entry is a builtin function (METH_FASTCALL with keywords). It looks at its arguments as C code compiled
against NumPy does, through the fields of the array object: exact `ndarray`s of the kernel's dtype and shape,
C order, aligned. If all fits it computes and returns `out`, or a new array (several outputs: the named
tuple); if anything else comes (lists, other dtypes, batches, keywords, a result that is not finite), it hands
the same arguments to the Python function that takes everything.

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
from functools import cache, partial
from typing import Any

import numpy as np

from forearm.compiler.emit_llvm import ITEMSIZE, Writer
from forearm.compiler.graph import Graph, Port

LOG = logging.getLogger("forearm")

# Fields of PyObject, PyTupleObject, PyFloatObject, PyArrayObject: bytes from the start.
TYPE, TUPLE_SIZE, FLOAT_VALUE = 8, 16, 16
TUPLE_ITEMS = tuple.__basicsize__  # differs between versions of Python
DATA, NDIM, DIMENSIONS, DESCR, FLAGS = 16, 24, 32, 56, 64
CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400
PYARRAY_NEW = 93  # place of PyArray_New in NumPy's table of C functions
TYPE_NUMBER = {"float64": 12, "float32": 11}

NAMES = ("ndarray", "descr", "float", "tuple", "results", "out", "vectorcall", "incref", "decref", "new")
"""What `@python` holds, in order: filled by the loader, since addresses differ from process to process."""

_METHODS: list[Any] = []  # builtin functions read their PyMethodDef to the very end, so these stay


def entry_functions(graph: Graph, dtype: str) -> str:
    """The text of `@entry`, to go with `@one`."""
    shapes = []
    for i, port in enumerate(graph.outputs):
        numbers = f"[{', '.join(f'i64 {n}' for n in port.shape)}]" if port.shape else "zeroinitializer"
        shapes.append(f"@shape{i} = private constant [{len(port.shape)} x i64] {numbers}")
    table = f"@python = global [{len(NAMES)} x ptr] zeroinitializer"
    return "\n".join([table, *shapes, _Entry(graph, dtype).function()])


class _Entry:
    """The text of `@entry(self, args, nargs, kwnames)`."""

    def __init__(self, graph: Graph, dtype: str) -> None:
        self.graph, self.dtype, self.w = graph, dtype, Writer()
        self.several = len(graph.outputs) > 1

    def function(self) -> str:
        """Look at the arguments, compute, return; or hand over to `self`."""
        w, n = self.w, len(self.graph.inputs)
        if self.several:
            w.put(f"%made = alloca [{len(self.graph.outputs)} x ptr]")
        self._require(f"icmp eq i64 %nargs, {n}")
        self.places = []
        for i, port in enumerate(self.graph.inputs):
            given = self._pointer("%args", 8 * i)
            if port.shape or self.dtype != "float64":
                self.places.append(self._array(given, port, CONTIGUOUS | ALIGNED))
            else:
                self.places.append(self._number(given, port))
        w.put(f"br i1 {w.let('icmp eq ptr %kwnames, null')}, label %make, label %named")
        w.label("named")
        self._into_out()
        w.label("make")
        self._into_new()
        w.label("general")
        call = self._known("vectorcall")
        result = w.let(f"call ptr {call}(ptr %self, ptr %args, i64 %nargs, ptr %kwnames)")
        return w.function("ptr @entry(ptr %self, ptr %args, i64 %nargs, ptr %kwnames)", f"ptr {result}")

    def _into_out(self) -> None:
        """The branch with the one keyword `out`: an array, or a tuple of them."""
        w, ports = self.w, self.graph.outputs
        self._require(f"icmp eq i64 {self._integer('%kwnames', TUPLE_SIZE)}, 1")
        self._require(f"icmp eq ptr {self._pointer('%kwnames', TUPLE_ITEMS)}, {self._known('out')}")
        out = self._pointer("%args", 8 * len(self.places))
        arrays = [out]
        if self.several:
            self._require(f"icmp eq ptr {self._pointer(out, TYPE)}, {self._known('tuple')}")
            self._require(f"icmp eq i64 {self._integer(out, TUPLE_SIZE)}, {len(ports)}")
            arrays = [self._pointer(out, TUPLE_ITEMS + 8 * i) for i in range(len(ports))]
        flags = CONTIGUOUS | ALIGNED | WRITEABLE
        places = [self._array(a, p, flags) for a, p in zip(arrays, ports, strict=True)]
        self._require_apart(places)
        self._require(self._compute("i1 false", places))
        if self.several:
            w.put(f"ret ptr {self._results(w.at(out, TUPLE_ITEMS))}")
        else:
            w.put(f"call void {self._known('incref')}(ptr {out})")
            w.put(f"ret ptr {out}")

    def _into_new(self) -> None:
        """The branch without keywords: new arrays."""
        w = self.w
        new = [self._new(i) for i in range(len(self.graph.outputs))]
        missing = "false"
        for array in new:
            missing = w.let(f"or i1 {missing}, {w.let(f'icmp eq ptr {array}, null')}")
        with w.when(missing, leaves="ret ptr null"):
            self._forget(new)
        finite = w.let(self._compute("i1 true", [self._pointer(array, DATA) for array in new]))
        leaves = f"ret ptr {new[0]}"
        with w.when(w.let(f"xor i1 {finite}, true"), leaves="br label %general"):
            self._forget(new)
        if self.several:
            for i, array in enumerate(new):
                w.put(f"store ptr {array}, ptr {w.at('%made', 8 * i)}")
            leaves = f"ret ptr {self._results('%made')}"
            self._forget(new)
        w.put(leaves)

    def _new(self, which: int) -> str:
        shape = self.graph.outputs[which].shape
        kind = f"i32 {len(shape)}, ptr @shape{which}, i32 {TYPE_NUMBER[self.dtype]}"
        rest = "ptr null, ptr null, i32 0, i32 0, ptr null"
        return self.w.let(f"call ptr {self._known('new')}(ptr {self._known('ndarray')}, {kind}, {rest})")

    def _forget(self, objects: list[str]) -> None:
        """Give back references; what is null may be given back too."""
        for thing in objects:
            self.w.put(f"call void {self._known('decref')}(ptr {thing})")

    def _results(self, items: str) -> str:
        """The named tuple of several results."""
        call, kind, count = self._known("vectorcall"), self._known("results"), len(self.graph.outputs)
        return self.w.let(f"call ptr {call}(ptr {kind}, ptr {items}, i64 {count}, ptr null)")

    def _compute(self, anyway: str, places: list[str]) -> str:
        return f"call i1 @one({', '.join([anyway, *(f'ptr {p}' for p in self.places + places)])})"

    def _known(self, name: str) -> str:
        """An address that the loader has filled in."""
        return self._pointer("@python", 8 * NAMES.index(name))

    def _pointer(self, base: str, offset: int) -> str:
        return self.w.let(f"load ptr, ptr {self.w.at(base, offset)}")

    def _integer(self, base: str, offset: int) -> str:
        return self.w.let(f"load i64, ptr {self.w.at(base, offset)}")

    def _require(self, test: str) -> None:
        """Go on if the test holds; otherwise to the general call."""
        after = self.w.fresh("fits")
        self.w.put(f"br i1 {self.w.let(test)}, label %{after}, label %general")
        self.w.label(after)

    def _require_apart(self, places: list[str]) -> None:
        """No two of the output arrays may overlap."""
        w, item = self.w, ITEMSIZE[self.dtype]
        ends = [w.at(a, p.size * item) for a, p in zip(places, self.graph.outputs, strict=True)]
        for i, a in enumerate(places):
            for j, b in enumerate(places[:i]):
                above, below = w.let(f"icmp uge ptr {a}, {ends[j]}"), w.let(f"icmp uge ptr {b}, {ends[i]}")
                self._require(f"or i1 {above}, {below}")

    def _number(self, given: str, port: Port) -> str:
        """The data of a Python float, or of an array without axes."""
        w, is_float, other, found = self.w, *(self.w.fresh(s) for s in ("float", "other", "found"))
        test = w.let(f"icmp eq ptr {self._pointer(given, TYPE)}, {self._known('float')}")
        w.put(f"br i1 {test}, label %{is_float}, label %{other}")
        w.label(is_float)
        inside = w.at(given, FLOAT_VALUE)
        w.put(f"br label %{found}")
        w.label(other)
        data = self._array(given, port, CONTIGUOUS | ALIGNED)
        last = w.block
        w.put(f"br label %{found}")
        w.label(found)
        return w.let(f"phi ptr [ {inside}, %{is_float} ], [ {data}, %{last} ]")

    def _array(self, given: str, port: Port, flags: int) -> str:
        """The data of an array that is exactly what the port wants."""
        w = self.w
        self._require(f"icmp eq ptr {self._pointer(given, TYPE)}, {self._known('ndarray')}")
        self._require(f"icmp eq ptr {self._pointer(given, DESCR)}, {self._known('descr')}")
        axes = w.let(f"load i32, ptr {w.at(given, NDIM)}")
        self._require(f"icmp eq i32 {axes}, {len(port.shape)}")
        found = w.let(f"and i32 {w.let(f'load i32, ptr {w.at(given, FLAGS)}')}, {flags}")
        self._require(f"icmp eq i32 {found}, {flags}")
        if port.shape:
            dimensions = self._pointer(given, DIMENSIONS)
            for axis, size in enumerate(port.shape):
                self._require(f"icmp eq i64 {self._integer(dimensions, 8 * axis)}, {size}")
        return self._pointer(given, DATA)


class _MethodDef(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


METH_FASTCALL, METH_KEYWORDS = 0x80, 0x02


def make_entry(code: Any, dtype: str, results: type, general: Callable[..., Any]) -> Callable[..., Any]:
    """The builtin function.

    Args:
        code: The one-state program in memory (jit.Loaded).
        dtype: The kernel's.
        results: Makes the named tuple of several outputs.
        general: What takes the arguments that do not fit.
    """
    keeper = partial(general)  # the builtin function keeps this object, and with it what else it needs
    keeper.kept = code, results  # type: ignore[attr-defined]
    address, table = code.address("entry"), code.variable("python")
    known = _addresses(dtype) | {"results": id(results)}
    for i, name in enumerate(NAMES):
        ctypes.c_void_p.from_address(table + 8 * i).value = known[name]
    method = _MethodDef(b"kernel", address, METH_FASTCALL | METH_KEYWORDS, None)
    _METHODS.append(method)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    found: Callable[..., Any] = make(ctypes.addressof(method), keeper, None)
    return found


OUT = sys.intern("out")


@cache
def _addresses(dtype: str) -> dict[str, int]:
    """What `@python` holds in this process, for every kernel of a dtype."""
    api = ctypes.pythonapi
    functions = {"vectorcall": api.PyObject_Vectorcall, "incref": api.Py_IncRef, "decref": api.Py_DecRef}
    objects = {"ndarray": np.ndarray, "descr": np.dtype(dtype), "float": float, "tuple": tuple, "out": OUT}
    found = {name: ctypes.cast(f, ctypes.c_void_p).value or 0 for name, f in functions.items()}
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
    if platform.python_implementation() != "CPython":
        return f"{platform.python_implementation()} is not CPython"
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "this is a free-threaded build"
    if ctypes.sizeof(ctypes.c_void_p) != 8 or sys.byteorder != "little":
        return "this is not a 64-bit little-endian machine"
    if object.__basicsize__ != 16:
        return "objects have unusual headers in this build"
    try:
        return _fields_against() or _new_against()
    except Exception as error:  # whatever this build does differently, the general call is there
        return f"the self-test failed: {error}"


def _fields_against() -> str:
    """Compare the fields of a few arrays, a tuple and a float with what Python says about them."""
    pair, number = (OUT, 1), 2.75
    if _field(number, FLOAT_VALUE, ctypes.c_double) != number:
        return "floats are laid out otherwise"
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
