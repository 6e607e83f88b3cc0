"""Kernels on an NVIDIA GPU: PTX from the same emitter, loaded through CuPy, one state per thread.

Arrays of CuPy, PyTorch, JAX or anything that speaks DLPack go in without a copy; the same kind comes out. Columns
`(k, N)` are the native layout: neighbouring threads read neighbouring numbers. Rows `(N, k)` are turned in shared
memory, a tile at a time. NumPy arrays are sent over in chunks, so they may be larger than the GPU's memory. Launches
go to CuPy's current stream; PyTorch's current stream is taken when its arrays come in.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, final

import numpy as np

from forearm.compiler.call import arguments
from forearm.compiler.call.foreign_arrays import library_of
from forearm.compiler.cuda.device import GpuProgram, device_name, need_gpu, stream_of
from forearm.compiler.graph.graph import Graph, Port
from forearm.compiler.kernel import Accuracy, Kernel, KernelSubject
from forearm.compiler.llvm.ptx.ptx_batches import DEFAULT_GPU, ptx_batch
from forearm.compiler.llvm.ptx.ptx_rows import fits_rows, ptx_rows
from forearm.faults import KernelFault, StateFault

THREADS = 64
"""Threads of a block."""

CHUNK = 1 << 21
"""States of a NumPy batch that are on the GPU at once."""


@final
class GpuKernel(Kernel):
    """A graph on the GPU: call it with arrays that live there."""

    def __init__(
        self,
        graph: Graph,
        *,
        dtype: str = "float32",
        layout: str = "columns",
        name: str | None = None,
        threads: int = THREADS,
        subject: KernelSubject = KernelSubject(),  # noqa: B008
    ) -> None:
        """Describe the kernel; it is assembled when first called.

        Args:
            graph: What to compute, as `passes.lower` leaves it.
            dtype: float32 or float64.
            layout: `columns`: arrays (*shape, N); `rows`: arrays (..., *shape).
            name: What messages call it.
            threads: Threads of a block.
            subject: Whose joints the inputs belong to, and why this graph.
        """
        super().__init__(graph, dtype, layout, name, subject)
        self.threads = threads

    @property
    def how(self) -> str:
        """One state for each thread of a GPU."""
        return "one state per thread of a GPU"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what it was made from."""
        return _remake, (self.graph, self.dtype.name, self.layout, self.name, self.threads, self.subject)

    def source(self, kind: str = "ptx", gpu: str = DEFAULT_GPU) -> str:
        """The PTX text, which needs no GPU."""
        if kind != "ptx":
            raise KernelFault(f"{self.name}: source({kind!r}) is not known on the GPU; ask for ptx.")
        return ptx_batch(self.graph, self.dtype.name, gpu)

    def accuracy(self, *inputs: Any) -> Accuracy:
        """The GPU computes what the processor's kernel of the same precision does: ask that one."""
        raise KernelFault(f"{self.name}: accuracy is measured on the processor; compile with target='cpu'.")

    @cached_property
    def program(self) -> GpuProgram:
        """The kernel in the GPU's memory."""
        return GpuProgram(self.source(gpu=device_name()), "batch", self.name)

    @cached_property
    def rows_program(self) -> GpuProgram:
        """The kernel for rows in order, which turns tiles in shared memory."""
        text = ptx_rows(self.graph, self.dtype.name, self.threads, device_name())
        return GpuProgram(text, "rows", self.name)

    @property
    def registers(self) -> int:
        """Registers of a thread, as the driver assembled it."""
        return self.program.registers

    @property
    def spilled_bytes(self) -> int:
        """Bytes of a thread that did not fit into registers (local memory)."""
        return self.program.spilled_bytes

    def general(self, *inputs: Any, out: Any = None, threads: int = 1) -> Any:
        """Compute the outputs of many states; `threads` is the processor's business."""
        arguments.check_number(self, inputs)
        if not any(library_of(v) for v in inputs):
            return self._in_chunks([np.asarray(v, dtype=self.dtype) for v in inputs], out)
        with stream_of(inputs):
            launch, outs = self._prepared(inputs, out if out is None else self._adopted(out))
            launch()
        return self.packed([back_to(inputs)(o) for o in outs])

    def _adopted(self, out: Any) -> tuple[Any, ...]:
        """What was given as `out`, as CuPy arrays on the same memory."""
        import cupy

        given = self.given_outputs(out)
        return tuple(
            cupy.from_dlpack(o)
            if hasattr(o, "__dlpack__") and not isinstance(o, (np.ndarray, cupy.ndarray))
            else o
            for o in given
        )

    def _in_chunks(self, inputs: Sequence[Any], out: Any) -> Any:
        """NumPy in, NumPy out: chunks go to the GPU and back."""
        ports, columns = self.graph.inputs, self.layout == "columns"
        for port, array in zip(ports, inputs, strict=True):
            arguments.check_shape(self, port, array.shape)
        batch = arguments.batch_shape(self.name, ports, list(inputs), self.layout)
        outs = [np.empty(s, self.dtype) for s in self.shapes(batch)]
        if out is not None:
            outs = arguments.check_outs(self, out, batch)
        count = math.prod(batch)
        flat = [self._flat(p, a, batch, np) for p, a in zip(ports, inputs, strict=True)]
        into = [
            o if columns else o.reshape(count, *p.shape)
            for p, o in zip(self.graph.outputs, outs, strict=True)
        ]
        for first in range(0, count, CHUNK):
            states = slice(first, first + CHUNK)
            here = (..., states) if columns else states
            parts = [a if a.ndim == len(p.shape) else a[here] for p, a in zip(ports, flat, strict=True)]
            launch, results = self._prepared([in_order(a, np) for a in parts], None)
            launch()
            for target, value in zip(into, results, strict=True):
                target[here] = value.get()
        return self.packed(outs, out)

    def recorded(self, *inputs: Any, out: Any) -> Callable[[], None]:
        """The call on these very arrays as a CUDA graph: replaying it costs about two microseconds."""
        cupy = need_gpu(self.name)
        launch, outs = self._prepared(inputs, self._adopted(out))
        taken, _ = launch.keep  # type: ignore[attr-defined]
        for port, value, array in zip(self.graph.inputs, inputs, taken, strict=True):
            if (
                not hasattr(value, "__dlpack__")
                or isinstance(value, np.ndarray)
                or _address(value) != _address(array)
            ):
                raise StateFault(
                    f"{self.name}: recorded would read a copy of {port.name}, for ever; give an array on the GPU that "
                    "is contiguous, and not the one that is written."
                )
        launch()
        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            stream.begin_capture()
            launch()
            graph = stream.end_capture()

        def replay() -> None:
            graph.launch(cupy.cuda.get_current_stream())

        replay.keep = (launch, outs)  # type: ignore[attr-defined]  # what it reads and writes
        return replay

    def _prepared(self, inputs: Sequence[Any], out: Any) -> tuple[Callable[[], None], list[Any]]:
        """What launches the kernel on these arrays, and where its results will be."""
        cupy, ports = need_gpu(self.name), self.graph.inputs
        arguments.check_number(self, inputs)
        taken = [on_device(self, p, v, cupy) for p, v in zip(ports, inputs, strict=True)]
        for port, array in zip(ports, taken, strict=True):
            arguments.check_shape(self, port, array.shape)
        batch = arguments.batch_shape(self.name, ports, taken, self.layout)
        taken = [self._flat(p, a, batch, cupy) for p, a in zip(ports, taken, strict=True)]
        outs = self._outputs(out, batch, cupy)
        if out is not None:  # threads read and write in any order, so what is written must not be read
            taken = [a.copy() if any(cupy.may_share_memory(a, o) for o in outs) else a for a in taken]
        count = math.prod(batch)
        shared = any(a.ndim == len(p.shape) for p, a in zip(ports, taken, strict=True))
        numbers: list[Any] = []
        if (
            self.layout == "rows"
            and batch
            and not shared
            and fits_rows(self.graph, self.dtype.name, self.threads)
        ):
            numbers, function = [*taken, *outs], self.rows_program.function
        else:
            for port, array in zip((*ports, *self.graph.outputs), (*taken, *outs), strict=True):
                numbers += self._place(port, array, batch)
            function = self.program.function
        given = (*numbers, np.int64(count))
        grid, block = (-(-count // self.threads),), (self.threads,)

        def launch() -> None:
            if count:
                function(grid, block, given)

        launch.keep = (taken, outs)  # type: ignore[attr-defined]
        return launch, outs

    def _flat(self, port: Port, array: Any, batch: tuple[int, ...], xp: Any) -> Any:
        """An input with one axis of states, broadcast where it must be; what all states share stays as it is."""
        k = len(port.shape)
        if self.layout == "columns":
            lone = array.ndim > k and array.shape[-1] == 1 and batch != (1,)
            return in_order(array[..., 0] if lone else array, xp)
        lead = array.shape[: array.ndim - k]
        if not batch or (all(n == 1 for n in lead) and math.prod(batch) != 1):
            return in_order(array.reshape(port.shape), xp)
        full = array if lead == batch else xp.broadcast_to(array, batch + port.shape)
        return in_order(full, xp).reshape(-1, *port.shape)

    def _outputs(self, out: Any, batch: tuple[int, ...], cupy: Any) -> list[Any]:
        ports, shapes = self.graph.outputs, self.shapes(batch)
        if out is None:
            return [cupy.empty(shape, self.dtype) for shape in shapes]
        given = self.given_outputs(out)
        for port, array, shape in zip(ports, given, shapes, strict=True):
            if not isinstance(array, cupy.ndarray):
                raise StateFault(
                    f"{self.name}: out for {port.name} is {type(array).__name__}; give an array on the GPU."
                )
            if array.shape != shape or array.dtype != self.dtype:
                raise StateFault(
                    f"{self.name}: out for {port.name} is {array.dtype} {array.shape}; give {self.dtype} {shape}."
                )
            if not array.flags.c_contiguous:
                raise StateFault(
                    f"{self.name}: out for {port.name} is not contiguous in C order; give cupy.empty({shape})."
                )
        return list(given)

    def _place(self, port: Port, array: Any, batch: tuple[int, ...]) -> list[Any]:
        """Address, bytes from state to state, bytes from element to element."""
        item, count = array.dtype.itemsize, math.prod(batch)
        shared = array.ndim == len(port.shape) and bool(batch)
        if self.layout == "columns":
            return [array, np.int64(0 if shared else item), np.int64(item if shared else count * item)]
        return [array, np.int64(0 if shared else port.size * item), np.int64(item)]


def make_kernel(graph: Graph, *, layout: str | None = None, **how: Any) -> GpuKernel:
    """The target 'cuda': a kernel of GPU arrays, in columns unless told otherwise."""
    return GpuKernel(graph, layout=layout or "columns", **how)


def _remake(
    graph: Graph, dtype: str, layout: str, name: str, threads: int, subject: KernelSubject
) -> GpuKernel:
    """A kernel from its description (unpickling)."""
    return GpuKernel(graph, dtype=dtype, layout=layout, name=name, threads=threads, subject=subject)


def on_device(kernel: Any, port: Port, value: Any, cupy: Any) -> Any:
    """The value as a CuPy array, without a copy where it lives on the GPU."""
    if isinstance(value, cupy.ndarray):
        array = value
    elif hasattr(value, "__dlpack__") and not isinstance(value, np.ndarray):
        array = cupy.from_dlpack(value)
    else:
        array = cupy.asarray(np.asarray(value, dtype=kernel.dtype))
    if array.dtype != kernel.dtype:
        raise StateFault(
            f"{kernel.name}: {port.name} is {array.dtype}, but the kernel computes in {kernel.dtype}; convert it, or "
            f"compile with dtype='{array.dtype}'."
        )
    if array.device.id != (here := cupy.cuda.Device().id):
        raise StateFault(
            f"{kernel.name}: {port.name} lies on GPU {array.device.id}, and GPU {here} computes; bring it there, or "
            f"say `with cupy.cuda.Device({array.device.id}):`."
        )
    return in_order(array, cupy)


def _address(array: Any) -> int:
    """Where an array on the GPU begins, whoever's it is."""
    import cupy

    return int((array if isinstance(array, cupy.ndarray) else cupy.from_dlpack(array)).data.ptr)


def in_order(array: Any, xp: Any) -> Any:
    """The array in C order. Unlike `ascontiguousarray` it leaves one number alone, which all states share, alone."""
    return array if array.flags.c_contiguous else xp.ascontiguousarray(array)


def back_to(inputs: Sequence[Any]) -> Callable[[Any], Any]:
    """What turns a CuPy array into the kind of array that came in."""
    libraries = {library_of(value) for value in inputs}
    if "PyTorch" in libraries:
        import torch

        return torch.from_dlpack  # type: ignore[no-any-return]
    if "JAX" in libraries:
        import jax

        return jax.dlpack.from_dlpack  # type: ignore[no-any-return]
    return lambda array: array
