"""Kernels on the processor: straight-line code over vectors of states, and over one state.

A kernel compiles when it is first needed and keeps the object code on disk (store/). Without llvmlite the same call
runs the NumPy emitter instead, slower by an order of magnitude, and `repr` says so.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from forearm.compiler.call import arguments
from forearm.compiler.call.arguments import Array
from forearm.compiler.call.entries import builtin_functions
from forearm.compiler.call.machine import MachineKernel
from forearm.compiler.graph.graph import Port
from forearm.compiler.kernel import Accuracy
from forearm.faults import KernelFault, explained, floats, shown

if TYPE_CHECKING:
    from forearm.compiler.call.entries.builtin_functions import Entry
    from forearm.compiler.call.grouped_states import GroupedStates
    from forearm.compiler.llvm.tiles import Plan

MOST_ALONE = 25_000
"""Operations up to which one state has a program of its own."""
MOST_NUMBERS = 5_000
"""And numbers in and out."""
MOST_SINES = 200
"""And angles that depend on sines themselves: each is a long text there, and LLVM takes the square of their number."""
_SINGLE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int)


@final
class ProcessorKernel(MachineKernel):
    """A graph, compiled for this machine: call it with NumPy arrays."""

    @cached_property
    def grouped(self) -> dict[frozenset[str], GroupedStates]:
        """The kernel for groups of states, by the inputs that each group shares."""
        return {}

    @cached_property
    def plan(self) -> Plan:
        """The scratch area of the batch."""
        from forearm.compiler.llvm.tiles import Plan

        return Plan(self.graph, self.lanes, layout=self.layout)

    def _run(self, taken: list[Array], outs: list[Array], batch: tuple[int, ...], threads: int) -> None:
        if not self.compiled:
            self._run_numpy(taken, outs)
        elif not self._run_groups(taken, outs, batch, threads):
            super()._run(taken, outs, batch, threads)

    def _run_groups(
        self, taken: list[Array], outs: list[Array], batch: tuple[int, ...], threads: int
    ) -> bool:
        """A batch of groups whose states share inputs; False where it is none."""
        if len(batch) < 2 or self.layout != "rows":
            return False
        from forearm.compiler.call.grouped_states import run_in_groups

        return run_in_groups(self, taken, outs, batch, threads)

    @cached_property
    def _only_batches(self) -> bool:
        """Whether one state is a batch of one: very long code takes as long for it, and is not compiled twice."""
        if not self.compiled:
            return False
        numbers = sum(port.size for port in (*self.graph.inputs, *self.graph.outputs))
        if self.counts.operations > MOST_ALONE or numbers > MOST_NUMBERS:
            return True
        angles = {node.args[0] for node in self.graph.nodes if node.op in ("sin", "cos")}
        return len(angles) > MOST_SINES and len(angles.difference(self.plan.angles)) > MOST_SINES

    def entry(self, program: str, rest: Callable[..., Any]) -> Entry | None:
        """The compiled entry of a program, `single` or `batch`; None where there is none."""
        if program == "single" and self._only_batches:
            return None
        return super().entry(program, rest)

    def _run_one(self, taken: list[Array], outs: list[Array]) -> None:
        if self._only_batches:
            self._run_alone(taken, outs)
            return
        flat = [np.ascontiguousarray(a) for a in (*taken, *outs)]
        self._single((ctypes.c_void_p * len(flat))(*map(arguments.address, flat)), 1)

    def _run_numpy(self, taken: list[Array], outs: list[Array]) -> None:
        """The fallback without LLVM: one array operation for each operation of the graph."""
        from forearm.compiler.sources.numpy_source import to_numpy

        result = to_numpy(self.graph)(*self._in_rows(self.graph.inputs, taken))
        results = result if len(outs) > 1 else (result,)
        for port, value, out in zip(self.graph.outputs, results, outs, strict=True):
            turned = self.layout == "columns" and value.ndim > len(port.shape)
            out[...] = np.moveaxis(value, 0, -1) if turned else value

    def _in_rows(self, ports: tuple[Port, ...], given: Any) -> list[Array]:
        """Columns turned into rows; rows as they are."""
        if self.layout == "rows":
            return list(given)
        pairs = zip(ports, given, strict=True)
        return [np.moveaxis(a, -1, 0) if a.ndim > len(p.shape) else a for p, a in pairs]

    # Compiling -------------------------------------------------------------------------------------------

    @cached_property
    def _single(self) -> Any:
        """The compiled function of one state, called through ctypes."""
        return _SINGLE(self.load("single").address("single"))

    def _recipe(self, program: str) -> tuple[object, ...]:
        return (self.graph.digest, self.dtype.name, self.layout, self._width, program)

    def _probe(self, program: str) -> Callable[[Any], bytes]:
        return self._probe_single if program == "single" else self._probe_batch

    def _probe_single(self, code: Any) -> bytes:
        """What the one-state program makes of the state that every kernel is tried on."""
        taken, outs = arguments.probe_arrays(self.graph.inputs, self.graph.outputs, self.dtype)
        table = (ctypes.c_void_p * (len(taken) + len(outs)))(*map(arguments.address, (*taken, *outs)))
        _SINGLE(code.address("single"))(table, 1)
        return b"".join(a.tobytes() for a in outs)

    def text(self, program: str) -> str:
        """A program, `single` or `batch`, as LLVM takes it."""
        from forearm.compiler.llvm import jit

        triple, dtype, entry = jit.host().triple, self.dtype.name, ""
        enters = builtin_functions.has_entry(self.graph)
        if program == "batch":
            from forearm.compiler.call.entries.batch_entry_text import batch_entry
            from forearm.compiler.llvm.batches import batch_program

            if enters:
                entry = batch_entry(self.graph, dtype, self.layout, self.plan.size, self.piece)
            return batch_program(self.graph, self.plan, self.layout, triple, entry)
        from forearm.compiler.call.entries.entry_text import single_entry
        from forearm.compiler.llvm.one_state import single_program

        if enters:
            entry = single_entry(self.graph, dtype)
        return single_program(self.graph, dtype, jit.host().width(dtype), triple, entry)

    @explained
    def source(self, kind: str = "llvm") -> str:
        """The code that runs, as text.

        Args:
            kind: `llvm` (what LLVM is given), `asm` (what it makes of it), `numpy`, `c`, `ptx`.
        """
        if kind in ("llvm", "asm"):
            return super().source(kind)
        if kind == "numpy":
            from forearm.compiler.sources.numpy_source import numpy_source

            return numpy_source(self.graph)
        if kind == "c":
            from forearm.compiler.sources import c99
            from forearm.compiler.sources.identifiers import identifier

            real = "double" if self.dtype.name == "float64" else "float"
            return c99.source(c99.Unit("forearm", real, {identifier(self.name): self.graph}, {}))
        if kind == "ptx":
            from forearm.compiler.llvm.ptx.ptx_batches import ptx_batch

            return ptx_batch(self.graph, self.dtype.name)
        raise KernelFault(
            f"{self.name}: source({shown(kind)}) is not known; ask for llvm, asm, numpy, c or ptx."
        )

    # Accuracy --------------------------------------------------------------------------------------------

    @explained
    def accuracy(self, *inputs: Any) -> Accuracy:
        """Compare this kernel on the given states with the same graph in a wider precision.

        A float32 kernel is compared with the float64 one on the same (rounded) states, a float64 kernel with
        NumPy's long double where that is wider.
        """
        from forearm.compiler.graph.interpreter import arrays, interpret

        arguments.check_number(self, inputs)
        ports = zip(self.graph.inputs, inputs, strict=True)
        numbers = [floats(port.name, arguments.numbers_for(self, port, v)) for port, v in ports]
        taken = [array.astype(self.dtype) for array in numbers]
        results = self._several(self.general(*taken))
        if self.dtype.name == "float32":
            wide = ProcessorKernel(self.graph, layout=self.layout, name=self.name, keep=self.keep)
            want, label = self._several(wide.general(*(a.astype(np.float64) for a in taken))), "float64"
        else:
            results = self._in_rows(self.graph.outputs, results)
            rows = self._in_rows(self.graph.inputs, taken)
            named = {p.name: a.astype(np.longdouble) for p, a in zip(self.graph.inputs, rows, strict=True)}
            want, label = list(interpret(self.graph, named, arrays).values()), "long double"
        absolute, relative = {}, {}
        for port, got, right in zip(self.graph.outputs, results, want, strict=True):
            error, size = np.max(np.abs(got - right), initial=0.0), np.max(np.abs(right), initial=0.0)
            absolute[port.name] = float(error)
            relative[port.name] = float(error / size) if size else 0.0
        return Accuracy(label, absolute, relative)

    def _several(self, result: Any) -> list[Array]:
        return [result] if len(self.graph.outputs) == 1 else list(result)


def make_kernel(graph: Any, **how: Any) -> ProcessorKernel:
    """The target 'cpu': a kernel for this machine, in rows unless told otherwise."""
    return ProcessorKernel(graph, **how)
