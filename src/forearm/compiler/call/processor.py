"""Kernels: a graph as a function of arrays, compiled.

A kernel compiles when it is first needed and keeps the object code on disk (files.py). Without llvmlite the
same call runs the NumPy emitter instead, slower by an order of magnitude, and `repr` says so.
"""

from __future__ import annotations

import ctypes
import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from forearm.compiler.call import arguments, builtin_functions
from forearm.compiler.call.arguments import Array
from forearm.compiler.call.way import Way
from forearm.compiler.graph.graph import Counts, Graph
from forearm.compiler.graph.interpreter import arrays, interpret
from forearm.compiler.llvm.lanes import ITEMSIZE, Lanes
from forearm.escapes import line_comment
from forearm.faults import KernelFault, StateFault
from forearm.results import results_of

if TYPE_CHECKING:
    from forearm.compiler.llvm.tiles import Plan

LAYOUTS = ("rows", "columns")
"""(N, k) in C order, or (k, N) in C order."""

SMALLEST_SHARE = 256
"""States below which another thread costs more than it brings."""

_SINGLE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int)


@dataclass(frozen=True)
class Accuracy:
    """How far results are from the same graph in a wider precision."""

    compared_with: str
    """The wider precision."""
    absolute: dict[str, float]
    """Largest difference, for each output."""
    relative: dict[str, float]
    """The same, divided by the largest magnitude of that output over all states."""

    def __str__(self) -> str:
        """One line."""
        parts = [
            f"{name} {self.relative[name]:.2g} (absolute {self.absolute[name]:.2g})" for name in self.relative
        ]
        return f"largest relative error against {self.compared_with}: {', '.join(parts)}"


class Kernel:
    """A graph, compiled: call it with arrays."""

    def __init__(
        self,
        graph: Graph,
        *,
        dtype: str = "float64",
        layout: str = "rows",
        width: int | None = None,
        name: str | None = None,
        keep: bool = True,
    ) -> None:
        """Describe the kernel; it compiles when first called.

        Args:
            graph: What to compute, as `passes.lower` leaves it.
            dtype: float64, or float32 where asked for (see `accuracy`).
            layout: `rows`: arrays (..., *shape) in C order; `columns`: arrays (*shape, N).
            width: States computed at once; by default what the machine's registers hold.
            name: What messages call it; the graph's name by default.
            keep: Whether to keep the object code on disk for the next process.
        """
        self.graph, self.layout, self.keep = graph, layout, keep
        self.name = name or graph.name
        self.dtype = np.dtype(dtype)
        if self.dtype.name not in ITEMSIZE:
            raise KernelFault(f"{self.name}: dtype is {dtype!r}; kernels compute in 'float64' or 'float32'.")
        if layout not in LAYOUTS:
            raise KernelFault(f"{self.name}: layout is {layout!r}; give 'rows' (..., k) or 'columns' (k, N).")
        if width is not None and width not in (1, 2, 4, 8, 16, 32):
            raise KernelFault(f"{self.name}: width is {width!r}; give a power of two up to 32, or None.")
        self._width = width
        self._lock = threading.RLock()
        self._loaded: dict[str, Any] = {}
        self._plain = type(self)
        self.why: Any = None
        self._results = results_of(p.name for p in graph.outputs)

    # What it is ------------------------------------------------------------------------------------------

    @property
    def counts(self) -> Counts:
        """Operations for one state."""
        return self.graph.counts

    @cached_property
    def compiled(self) -> bool:
        """Whether LLVM is there; otherwise the NumPy emitter serves."""
        try:
            import llvmlite.binding  # noqa: F401
        except ImportError:
            return False
        return True

    @cached_property
    def lanes(self) -> Lanes:
        """The type of one value: as wide as the machine's registers, unless told otherwise."""
        from forearm.compiler.llvm.jit import host

        return Lanes(self.dtype.name, self._width or host().width(self.dtype.name))

    @cached_property
    def plan(self) -> Plan:
        """The scratch area of the batch."""
        from forearm.compiler.llvm.tiles import Plan

        return Plan(self.graph, self.lanes, layout=self.layout)

    def __repr__(self) -> str:
        """Name, ports, precision, width, operations."""
        takes = ", ".join(f"{p.name}{list(p.shape)}" for p in self.graph.inputs)
        gives = ", ".join(f"{p.name}{list(p.shape)}" for p in self.graph.outputs)
        how = f"{self.lanes.width} states at once" if self.compiled else "NumPy, because llvmlite is missing"
        return (
            f"<Kernel {self.name}: ({takes}) -> {gives}; {self.dtype}, {self.layout}, {how}; {self.counts}>"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what it was made from; the other process compiles or finds it in the cache."""
        return _remake, (self.graph, self.dtype.name, self.layout, self._width, self.name, self.keep)

    # Calling ---------------------------------------------------------------------------------------------

    def __call__(self, *inputs: Any, out: Any = None, threads: int = 1) -> Any:
        """Compute the outputs of one state or of many.

        Args:
            *inputs: One array for each input port, (..., *shape); leading axes broadcast against each other.
            out: Where to put the result (several outputs: a tuple of arrays). It may be one of the inputs.
            threads: How many threads share the states; the GIL is released.

        Returns:
            The output array; a named tuple of arrays where the graph has several outputs. A single state with
            NaN or infinity is a fault; in a batch it stays in its own row.
        """
        return self._way(*inputs, out=out, threads=threads)

    @cached_property
    def _way(self) -> Way:
        return Way(self, self.general, self._enter)

    def _enter(self, entry: Callable[..., Any]) -> None:
        """From now on calls go to a compiled entry.

        Python looks for `__call__` on the class, so the kernel gets a class of its own.
        """
        with self._lock:
            self.__class__ = type("Kernel", (self._plain,), {"__call__": entry, "__doc__": self.__doc__})

    def is_single(self, inputs: Sequence[Any]) -> bool:
        """Whether these are the inputs of one state."""
        ports = self.graph.inputs
        return len(inputs) == len(ports) and all(np.ndim(v) == len(p.shape) for p, v in self._zip(inputs))

    def entry(self, program: str, rest: Callable[..., Any]) -> builtin_functions.Entry | None:
        """The compiled entry of a program, `single` or `batch`; None where there is none."""
        if not self.graph.outputs or not self.compiled or not builtin_functions.usable():
            return None
        return builtin_functions.Entry(self._load(program), self.dtype.name, self._results, rest, self._share)

    def general(self, *inputs: Any, out: Any = None, threads: int = 1) -> Any:
        """The call for arrays of any shape and type, with every check."""
        ports = self.graph.inputs
        if len(inputs) != len(ports):
            names = ", ".join(p.name for p in ports)
            raise StateFault(f"{self.name}: got {len(inputs)} arrays; give {len(ports)}: {names}.")
        taken = [
            arguments.accept(self.name, p, v, self.dtype, self.layout)
            for p, v in zip(ports, inputs, strict=True)
        ]
        batch = arguments.batch_shape(self.name, ports, taken, self.layout)
        if not batch:
            arguments.check_finite(self.name, ports, taken)
        outs = self._outputs(out, batch)
        self._run(taken, outs, batch, threads)
        return outs[0] if len(outs) == 1 else self._results(*outs)

    def _outputs(self, out: Any, batch: tuple[int, ...]) -> list[Array]:
        ports = self.graph.outputs
        shapes = [batch + p.shape if self.layout == "rows" else p.shape + batch for p in ports]
        if out is None:
            return [np.empty(shape, self.dtype) for shape in shapes]
        given = (out,) if len(ports) == 1 else out
        if not isinstance(given, tuple) or len(given) != len(ports):
            names = ", ".join(p.name for p in ports)
            raise StateFault(
                f"{self.name}: out is {type(out).__name__}; give a tuple of {len(ports)} arrays: {names}."
            )
        outs = [
            arguments.check_out(self.name, p, o, s, self.dtype)
            for p, o, s in zip(ports, given, shapes, strict=True)
        ]
        for i, a in enumerate(outs):
            if any(np.may_share_memory(a, b) for b in outs[:i]):
                raise StateFault(f"{self.name}: two of the arrays in out overlap; give separate ones.")
        return outs

    def _run(self, taken: list[Array], outs: list[Array], batch: tuple[int, ...], wanted: int) -> None:
        if wanted != 1 or wanted is True:
            from forearm.compiler.call.threads import check_threads

            check_threads(self.name, wanted)
        count = math.prod(batch)
        if not count:
            return
        if not self.compiled:
            self._run_numpy(taken, outs)
        elif not batch:
            flat = [np.ascontiguousarray(a) for a in (*taken, *outs)]
            self._single((ctypes.c_void_p * len(flat))(*map(arguments.address, flat)), 1)
        else:
            numbers, _alive = arguments.table_numbers(self.graph, taken, outs, batch, self.layout)
            self._run_batch(ctypes.addressof(numbers), count, wanted)

    def _share(self, table: int, count: int, wanted: Any) -> None:
        """As `_run_batch`, for the compiled entry, which has not looked at `threads`."""
        from forearm.compiler.call.threads import check_threads

        self._run_batch(table, count, check_threads(self.name, wanted))

    def _run_batch(self, table: int, count: int, wanted: int) -> None:
        """States 0 to count of the arrays in the table, by so many threads."""
        from forearm.compiler.call import threads

        job = threads.Job(self._batch, table, count, self.plan.tile, SMALLEST_SHARE, self.plan.size)
        threads.run(job, wanted)

    def _run_numpy(self, taken: list[Array], outs: list[Array]) -> None:
        """The fallback without LLVM: one array operation for each operation of the graph."""
        from forearm.compiler.sources.numpy_source import to_numpy

        if self.layout == "columns":
            taken = [np.moveaxis(a, -1, 0) if a.ndim > len(p.shape) else a for p, a in self._zip(taken)]
        found = to_numpy(self.graph)(*taken)
        found = found if len(outs) > 1 else (found,)
        for port, value, out in zip(self.graph.outputs, found, outs, strict=True):
            turned = self.layout == "columns" and value.ndim > len(port.shape)
            out[...] = np.moveaxis(value, 0, -1) if turned else value

    def _zip(self, taken: Sequence[Any]) -> Any:
        return zip(self.graph.inputs, taken, strict=True)

    # Compiling -------------------------------------------------------------------------------------------

    @cached_property
    def _batch(self) -> int:
        """Where the compiled loop over states starts."""
        found: int = self._load("batch").address("batch")
        return found

    @cached_property
    def _single(self) -> Any:
        """The compiled function of one state, called through ctypes."""
        return _SINGLE(self._load("single").address("single"))

    def _load(self, program: str) -> Any:
        """One of the kernel's programs, from the cache or compiled; in memory as long as the kernel."""
        from forearm.compiler.llvm.jit import load_program

        with self._lock:
            if program not in self._loaded:
                probe = self._probe_single if program == "single" else self._probe_batch
                self._loaded[program] = load_program(self.name, self._text(program), probe, keep=self.keep)
            return self._loaded[program]

    def _probe_single(self, code: Any) -> bytes:
        """What the one-state program makes of the state that every kernel is tried on."""
        taken, outs = arguments.probe_arrays(self.graph.inputs, self.graph.outputs, self.dtype)
        table = (ctypes.c_void_p * (len(taken) + len(outs)))(*map(arguments.address, (*taken, *outs)))
        _SINGLE(code.address("single"))(table, 1)
        return b"".join(a.tobytes() for a in outs)

    def _probe_batch(self, code: Any) -> bytes:
        """The same of the batch program, as a batch of one."""
        from forearm.compiler.call import threads

        taken, outs = arguments.probe_arrays(self.graph.inputs, self.graph.outputs, self.dtype)
        axis = 0 if self.layout == "rows" else -1
        given, into = ([np.expand_dims(a, axis) for a in side] for side in (taken, outs))
        numbers, _alive = arguments.table_numbers(self.graph, given, into, (1,), self.layout)
        job = threads.Job(code.address("batch"), ctypes.addressof(numbers), 1, 1, 1, self.plan.size)
        threads.run(job, 1)
        return b"".join(a.tobytes() for a in outs)

    def _text(self, program: str) -> str:
        from forearm.compiler.call.batch_entry_text import batch_entry
        from forearm.compiler.call.entry_text import single_entry
        from forearm.compiler.llvm import jit
        from forearm.compiler.llvm.batches import batch_program
        from forearm.compiler.llvm.one_state import single_program

        triple, dtype, entry = jit.host().triple, self.dtype.name, ""
        if program == "batch":
            if self.graph.outputs:
                entry = batch_entry(self.graph, dtype, self.layout, self.plan.size)
            return batch_program(self.graph, self.plan, self.layout, triple, entry)
        if self.graph.outputs:
            entry = single_entry(self.graph, dtype)
        return single_program(self.graph, dtype, jit.host().width(dtype), triple, entry)

    def source(self, kind: str = "llvm") -> str:
        """The code that runs, as text.

        Args:
            kind: `llvm` (what LLVM is given), `asm` (what it makes of it), `numpy`, `c`, `ptx`.
        """
        if kind in ("llvm", "asm"):
            from forearm.compiler.llvm import jit

            text = self._text("batch")
            title = line_comment(f"{self.name}: {self.counts}")
            return f"; {title}\n{text}" if kind == "llvm" else jit.assembly(text, self.name)
        if kind == "numpy":
            from forearm.compiler.sources.numpy_source import numpy_source

            return numpy_source(self.graph)
        if kind == "c":
            from forearm.compiler.sources import c99
            from forearm.compiler.sources.numpy_source import identifier

            real = "double" if self.dtype.name == "float64" else "float"
            unit = c99.Unit("forearm", real, {identifier(self.name): self.graph}, {})
            return c99.source(unit)
        if kind == "ptx":
            from forearm.compiler.cuda.ptx import ptx_batch

            return ptx_batch(self.graph, self.dtype.name)
        raise KernelFault(f"{self.name}: source({kind!r}) is not known; ask for llvm, asm, numpy, c or ptx.")

    # Accuracy --------------------------------------------------------------------------------------------

    def accuracy(self, *inputs: Any) -> Accuracy:
        """Compare this kernel on the given states with the same graph in a wider precision.

        A float32 kernel is compared with the float64 one on the same (rounded) states, a float64 kernel with
        NumPy's long double where that is wider.
        """
        taken = [np.asarray(v).astype(self.dtype) for v in inputs]
        found = self.general(*taken)
        found = (found,) if len(self.graph.outputs) == 1 else found
        if self.dtype.name == "float32":
            wide = Kernel(self.graph, layout=self.layout, name=self.name, keep=self.keep)
            want = wide.general(*(a.astype(np.float64) for a in taken))
            want, label = (want,) if len(self.graph.outputs) == 1 else want, "float64"
        else:
            if self.layout == "columns":
                taken = [np.moveaxis(a, -1, 0) if a.ndim > len(p.shape) else a for p, a in self._zip(taken)]
                found = [
                    np.moveaxis(a, -1, 0) if a.ndim > len(p.shape) else a for p, a in self._zip_out(found)
                ]
            inputs_wide = {p.name: a.astype(np.longdouble) for p, a in self._zip(taken)}
            want, label = interpret(self.graph, inputs_wide, arrays).values(), "long double"
        absolute, relative = {}, {}
        for port, got, right in zip(self.graph.outputs, found, want, strict=True):
            error, size = np.max(np.abs(got - right), initial=0.0), np.max(np.abs(right), initial=0.0)
            absolute[port.name] = float(error)
            relative[port.name] = float(error / size) if size else 0.0
        return Accuracy(label, absolute, relative)

    def _zip_out(self, found: Any) -> Any:
        return zip(self.graph.outputs, found, strict=True)


def _remake(graph: Graph, dtype: str, layout: str, width: int | None, name: str, keep: bool) -> Kernel:
    """A kernel from its description (unpickling)."""
    return Kernel(graph, dtype=dtype, layout=layout, width=width, name=name, keep=keep)
