"""Kernels on an NVIDIA GPU: PTX from the same emitter, loaded through CuPy, one state per thread.

Arrays of CuPy, PyTorch, JAX or anything that speaks DLPack go in without a copy; the same kind comes out. Columns
`(k, N)` are the native layout: neighbouring threads read neighbouring numbers. Rows `(N, k)` are turned in shared
memory, a tile at a time. NumPy arrays are sent over in chunks, so they may be larger than the GPU's memory. Launches
go to CuPy's current stream; PyTorch's current stream is taken when its arrays come in.
"""

from __future__ import annotations

import math
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import cache, cached_property
from typing import Any

import numpy as np

from forearm.compiler.cuda.ptx import DEFAULT_GPU, ptx_batch, ptx_rollout
from forearm.compiler.cuda.ptx_rows import ptx_rows
from forearm.compiler.graph.graph import Counts, Graph, Port
from forearm.compiler.llvm.rollout_steps import Roles
from forearm.faults import KernelFault, StateFault
from forearm.results import results_of

THREADS = 64
"""Threads of a block."""

CHUNK = 1 << 21
"""States of a NumPy batch that are on the GPU at once."""

_REGISTERS, _LOCAL_BYTES = 4, 3  # CUfunction_attribute numbers of the driver


@cache
def missing_gpu() -> str | None:
    """Why the GPU cannot be used, in one sentence; None when it can."""
    try:
        import cupy
    except ImportError:
        return "CuPy is not installed; pip install 'forearm[gpu]' (and an NVIDIA driver) brings it"
    except Exception as error:
        return f"CuPy does not load: {error}"
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return f"no NVIDIA GPU answers ({error}); target='auto' falls back to the CPU"
    return None if count else "there is no NVIDIA GPU; target='auto' falls back to the CPU"


def need_gpu(where: str) -> Any:
    """CuPy, or a fault that says what is missing."""
    why = missing_gpu()
    if why:
        raise KernelFault(f"{where}: target 'cuda' is not to be had: {why}.")
    import cupy

    return cupy


@cache
def device_name() -> str:
    """What LLVM calls this GPU's architecture: sm_90 and the like, no newer than LLVM knows."""
    import cupy

    major, minor = (int(x) for x in divmod(int(cupy.cuda.Device().compute_capability), 10))
    return f"sm_{major}{minor}" if (major, minor) <= (9, 0) else DEFAULT_GPU


class _Program:
    """PTX in the GPU's memory."""

    def __init__(self, text: str, entry: str, where: str) -> None:
        cupy = need_gpu(where)
        self.module = cupy.cuda.function.Module()
        try:
            self.module.load(text.encode())
        except cupy.cuda.driver.CUDADriverError as error:
            raise KernelFault(
                f"{where}: the driver refused the PTX ({error}); it was written for {device_name()}."
            ) from None
        self.function = self.module.get_function(entry)

    def attribute(self, number: int) -> int:
        """A number that the driver knows about the function."""
        from cupy.cuda import driver

        return int(driver.funcGetAttribute(number, self.function.ptr))


class CudaKernel:
    """A graph on the GPU: call it with arrays that live there."""

    def __init__(
        self,
        graph: Graph,
        *,
        dtype: str = "float32",
        layout: str = "columns",
        name: str | None = None,
        threads: int = THREADS,
    ) -> None:
        """Describe the kernel; it is assembled when first called.

        Args:
            graph: What to compute, as `passes.lower` leaves it.
            dtype: float32 or float64.
            layout: `columns`: arrays (*shape, N); `rows`: arrays (..., *shape).
            name: What messages call it.
            threads: Threads of a block.
        """
        self.graph, self.layout, self.name = graph, layout, name or graph.name
        self.dtype, self.threads = np.dtype(dtype), threads
        if layout not in ("columns", "rows"):
            raise KernelFault(f"{self.name}: layout is {layout!r}; give 'columns' (k, N) or 'rows' (..., k).")
        self._results = results_of(p.name for p in graph.outputs)

    @property
    def counts(self) -> Counts:
        """Operations for one state."""
        return self.graph.counts

    def __repr__(self) -> str:
        return f"<CudaKernel {self.name}: {self.dtype}, {self.layout}; {self.counts}>"

    def source(self, kind: str = "ptx", gpu: str = DEFAULT_GPU) -> str:
        """The PTX text, which needs no GPU."""
        if kind != "ptx":
            raise KernelFault(f"{self.name}: source({kind!r}) is not known on the GPU; ask for ptx.")
        return ptx_batch(self.graph, self.dtype.name, gpu)

    @cached_property
    def program(self) -> _Program:
        """The kernel in the GPU's memory."""
        return _Program(self.source(gpu=device_name()), "batch", self.name)

    @cached_property
    def rows_program(self) -> _Program:
        """The kernel for rows in order, which turns tiles in shared memory."""
        return _Program(ptx_rows(self.graph, self.dtype.name, self.threads, device_name()), "rows", self.name)

    @property
    def registers(self) -> int:
        """Registers of a thread, as the driver assembled it."""
        return self.program.attribute(_REGISTERS)

    @property
    def spilled_bytes(self) -> int:
        """Bytes of a thread that did not fit into registers (local memory)."""
        return self.program.attribute(_LOCAL_BYTES)

    def __call__(self, *inputs: Any, out: Any = None) -> Any:
        """Compute the outputs of many states; inputs may be shared, (*shape,), or one for each state."""
        if all(isinstance(v, np.ndarray) for v in inputs):
            return self._in_chunks(inputs, out)
        with _stream_of(inputs):
            launch, outs, back = self._prepared(inputs, out)
            launch()
        found = [back(o) for o in outs]
        return found[0] if len(found) == 1 else self._results(*found)

    def _in_chunks(self, inputs: Sequence[Any], out: Any) -> Any:
        """NumPy in, NumPy out: chunks go to the GPU and back."""
        ports = (*self.graph.inputs, *self.graph.outputs)
        batch = _batch(self.name, self.graph.inputs, list(inputs), self.layout)
        count, columns = math.prod(batch), self.layout == "columns"
        if len(batch) > 1 and columns:
            raise StateFault(f"{self.name}: columns (k, N) have one axis of states; got {batch}.")
        shapes = [p.shape + batch if columns else batch + p.shape for p in self.graph.outputs]
        outs = (
            [np.empty(s, self.dtype) for s in shapes]
            if out is None
            else (out if isinstance(out, tuple) else (out,))
        )
        flat = [
            a if columns or a.ndim == len(p.shape) else a.reshape(count, *p.shape)
            for p, a in zip(ports, (*inputs, *outs), strict=True)
        ]
        for first in range(0, max(count, 1), CHUNK):
            here = slice(first, first + CHUNK)
            parts = [
                a if a.ndim == len(p.shape) else a[..., here] if columns else a[here]
                for p, a in zip(ports, flat, strict=True)
            ]
            sent = [np.ascontiguousarray(a, dtype=self.dtype) for a in parts[: len(self.graph.inputs)]]
            launch, found, _ = self._prepared(sent, None)
            launch()
            for target, value in zip(parts[len(self.graph.inputs) :], found, strict=True):
                target[...] = value.get()
        return outs[0] if len(outs) == 1 else self._results(*outs)

    def recorded(self, *inputs: Any, out: Any) -> Callable[[], None]:
        """The call on these very arrays as a CUDA graph: replaying it costs about two microseconds."""
        cupy = need_gpu(self.name)
        launch, _, _ = self._prepared(inputs, out)
        launch()
        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            stream.begin_capture()
            launch()
            graph = stream.end_capture()
        return lambda: graph.launch(cupy.cuda.get_current_stream())

    def _prepared(
        self, inputs: Sequence[Any], out: Any
    ) -> tuple[Callable[[], None], list[Any], Callable[[Any], Any]]:
        cupy = need_gpu(self.name)
        ports = self.graph.inputs
        if len(inputs) != len(ports):
            raise StateFault(
                f"{self.name}: got {len(inputs)} arrays; give {len(ports)}: {', '.join(p.name for p in ports)}."
            )
        taken = [_taken(self.name, p, v, self.dtype, cupy) for p, v in zip(ports, inputs, strict=True)]
        back = _back_to(inputs)
        batch = _batch(self.name, ports, taken, self.layout)
        outs = self._outputs(out, batch, cupy)
        count = math.prod(batch)
        numbers: list[Any] = []
        shared = any(a.ndim == len(p.shape) for p, a in zip(ports, taken, strict=True))
        if self.layout == "rows" and batch and not shared:
            numbers = [*taken, *outs]
            function = self.rows_program.function
        else:
            for port, array in zip((*ports, *self.graph.outputs), (*taken, *outs), strict=True):
                numbers += _place(self.name, port, array, batch, self.layout)
            function = self.program.function
        arguments = (*numbers, np.int64(count))
        grid, block = (-(-count // self.threads),), (self.threads,)

        def launch() -> None:
            if count:
                function(grid, block, arguments)

        launch.keep = (taken, outs)  # type: ignore[attr-defined]
        return launch, outs, back

    def _outputs(self, out: Any, batch: tuple[int, ...], cupy: Any) -> list[Any]:
        ports = self.graph.outputs
        shapes = [p.shape + batch if self.layout == "columns" else batch + p.shape for p in ports]
        if out is None:
            return [cupy.empty(shape, self.dtype) for shape in shapes]
        given = out if isinstance(out, tuple) else (out,)
        taken = [_taken(self.name, p, o, self.dtype, cupy) for p, o in zip(ports, given, strict=True)]
        for port, array, shape in zip(ports, taken, shapes, strict=True):
            if array.shape != shape or array.dtype != self.dtype:
                raise StateFault(
                    f"{self.name}: out for {port.name} is {array.dtype} {array.shape}; give {self.dtype} {shape}."
                )
        return taken


class CudaRollout:
    """A simulation on the GPU: all steps in one launch, the state in registers."""

    def __init__(
        self,
        graph: Graph,
        states: Mapping[str, str],
        *,
        method: str = "rk4",
        per_step: Sequence[str] = (),
        time: str | None = None,
        observed: Sequence[str] = (),
        dtype: str = "float32",
        name: str | None = None,
        threads: int = THREADS,
    ) -> None:
        """Describe the simulation: arguments as for `rollout.Rollout`; arrays are columns (*shape, N)."""
        self.roles = Roles(graph, dict(states), method, tuple(per_step), time, tuple(observed))
        self.graph, self.name, self.threads = graph, name or graph.name, threads
        self.dtype = np.dtype(dtype)
        self._end = namedtuple("End", [p.name for p in self.roles.state_ports], rename=True)  # type: ignore[misc]
        kept = [*self.roles.state_ports, *self.roles.observed_ports]
        self._record = namedtuple("Record", [p.name for p in kept], rename=True)  # type: ignore[misc]

    def source(self, gpu: str = DEFAULT_GPU) -> str:
        """The PTX text, which needs no GPU."""
        return ptx_rollout(self.roles, self.dtype.name, gpu)

    @cached_property
    def program(self) -> _Program:
        """The kernel in the GPU's memory."""
        return _Program(self.source(device_name()), "rollout", self.name)

    @property
    def registers(self) -> int:
        """Registers of a thread."""
        return self.program.attribute(_REGISTERS)

    @property
    def spilled_bytes(self) -> int:
        """Bytes of a thread in local memory."""
        return self.program.attribute(_LOCAL_BYTES)

    def __call__(self, *inputs: Any, dt: float, steps: int, every: int = 0, start: float = 0.0) -> Any:
        """Run all rows: (end, record); inputs (*shape, N) or shared, per step (steps, *shape, N) or (steps, *shape).

        `end` is a named tuple of the last states, `record` one of arrays (K, *shape, N), None where every is 0.
        """
        cupy = need_gpu(self.name)
        roles, item = self.roles, self.dtype.itemsize
        taken = [_taken(self.name, p, v, self.dtype, cupy) for p, v in zip(roles.given, inputs, strict=True)]
        back = _back_to(inputs)
        sizes = [
            a.shape[-1]
            for p, a in zip(roles.given, taken, strict=True)
            if a.ndim > len(p.shape) + (p.name in roles.per_step)
        ]
        count = sizes[0] if sizes else 1
        if any(s != count for s in sizes):
            raise StateFault(
                f"{self.name}: inputs have {sorted(set(sizes))} columns; give one number of states."
            )
        numbers: list[Any] = []
        for port, array in zip(roles.given, taken, strict=True):
            stepped = port.name in roles.per_step
            single = array.ndim == len(port.shape) + stepped
            width = 1 if single else count
            numbers += [array, np.int64(0 if single else item), np.int64(width * item)]
            numbers.append(np.int64(port.size * width * item if stepped else 0))
        ends = [cupy.empty((*p.shape, count), self.dtype) for p in roles.state_ports]
        numbers += [x for a in ends for x in (a, np.int64(item), np.int64(count * item))]
        records = self._records(cupy, count, steps, every)
        for port, array in zip((*roles.state_ports, *roles.observed_ports), records, strict=True):
            numbers += [array, np.int64(item), np.int64(count * item), np.int64(port.size * count * item)]
        numbers += [np.int64(count), np.int64(steps), np.int64(every), np.float64(dt), np.float64(start)]
        self.program.function((-(-count // self.threads),), (self.threads,), tuple(numbers))
        if every and steps % every == 0:
            for array, last in zip(records, ends, strict=False):
                array[-1] = last
        record = self._record(*map(back, records)) if every else None
        return self._end(*map(back, ends)), record

    def _records(self, cupy: Any, count: int, steps: int, every: int) -> list[Any]:
        """Room for every k-th state from the first on, and for observed outputs of steps that begin."""
        rows = -(-steps // every) if every else 1
        last = rows + (steps % every == 0) if every else 1
        roles, size = self.roles, count if every else 1
        shapes = [(last, *p.shape, size) for p in roles.state_ports]
        shapes += [(rows, *p.shape, size) for p in roles.observed_ports]
        return [cupy.empty(shape, self.dtype) for shape in shapes]


# -- arrays of any library ---------------------------------------------------------------------------------


def _taken(where: str, port: Port, value: Any, dtype: np.dtype[Any], cupy: Any) -> Any:
    """The value as a CuPy array, without a copy where it lives on the GPU."""
    if isinstance(value, cupy.ndarray):
        array = value
    elif hasattr(value, "__dlpack__") and not isinstance(value, np.ndarray):
        array = cupy.from_dlpack(value)
    else:
        array = cupy.asarray(np.asarray(value, dtype=dtype))
    if array.dtype != dtype:
        raise StateFault(
            f"{where}: {port.name} is {array.dtype}, but the kernel computes in {dtype}; convert it, or compile with "
            f"dtype='{array.dtype}'."
        )
    return cupy.ascontiguousarray(array)


def _stream_of(inputs: Sequence[Any]) -> Any:
    """The stream to launch on: PyTorch's current one for its arrays, CuPy's otherwise."""
    import cupy

    if any(type(v).__module__.partition(".")[0] == "torch" for v in inputs):
        import torch

        theirs = torch.cuda.current_stream()
        adopt = getattr(cupy.cuda.Stream, "from_external", None)
        return adopt(theirs) if adopt else cupy.cuda.ExternalStream(theirs.cuda_stream)
    return nullcontext()


def _back_to(inputs: Sequence[Any]) -> Callable[[Any], Any]:
    """What turns a CuPy array into the kind of array that came in."""
    for value in inputs:
        home = type(value).__module__.partition(".")[0]
        if home == "torch":
            import torch

            return torch.from_dlpack
        if home in ("jax", "jaxlib"):
            import jax

            return jax.dlpack.from_dlpack
    return lambda array: array


def _batch(where: str, ports: tuple[Port, ...], arrays: list[Any], layout: str) -> tuple[int, ...]:
    """Leading (rows) or trailing (columns) axes that all inputs with more than one state share."""
    shapes = []
    for port, array in zip(ports, arrays, strict=True):
        k = len(port.shape)
        own = array.shape[:k] if layout == "columns" else array.shape[array.ndim - k :]
        rest = array.shape[k:] if layout == "columns" else array.shape[: array.ndim - k]
        if own != port.shape:
            want = f"{port.shape} or {(*port.shape, 'N')}" if layout == "columns" else f"(..., {port.shape})"
            raise StateFault(f"{where}: {port.name} has shape {array.shape}; give {want} ({layout}).")
        if rest:
            shapes.append(rest)
    if any(s != shapes[0] for s in shapes):
        raise StateFault(
            f"{where}: inputs have batches {sorted(set(shapes))}; give one, or shared values without it."
        )
    return shapes[0] if shapes else ()


def _place(where: str, port: Port, array: Any, batch: tuple[int, ...], layout: str) -> list[Any]:
    """Address, bytes from state to state, bytes from element to element."""
    item, count = array.dtype.itemsize, math.prod(batch)
    shared = array.ndim == len(port.shape) and bool(batch)
    if layout == "columns":
        return [array, np.int64(0 if shared else item), np.int64(item if shared else count * item)]
    return [array, np.int64(0 if shared else port.size * item), np.int64(item)]
