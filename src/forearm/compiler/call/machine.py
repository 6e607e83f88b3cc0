"""What kernels of machine code have in common: programs that are loaded when needed, batches shared between threads."""

from __future__ import annotations

import ctypes
import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from forearm.compiler.call import arguments
from forearm.compiler.call.arguments import Array
from forearm.compiler.call.door import Door
from forearm.compiler.call.entries import builtin_functions
from forearm.compiler.fork_locks import fork_safe_lock
from forearm.compiler.kernel import Kernel, KernelSubject
from forearm.compiler.llvm.lanes import Lanes
from forearm.faults import (
    KernelFault,
    coordinates,
    not_finite,
    singular_inertia,
    unit_quaternion,
)
from forearm.outside.escapes import line_comment
from forearm.outside.executable_memory import may_run_made_code
from forearm.outside.running_log import LOG
from forearm.outside.signal_errors import pass_on_signals

SMALLEST_SHARE = 256
"""States below which another thread costs more than it brings."""


class MachineKernel(Door, Kernel):
    """A kernel that is compiled for this machine when first called, and kept on disk for the next process."""

    def __init__(
        self,
        graph: Any,
        *,
        dtype: str = "float64",
        layout: str = "rows",
        width: int | None = None,
        name: str | None = None,
        keep: bool = True,
        subject: KernelSubject = KernelSubject(),  # noqa: B008
    ) -> None:
        """Describe the kernel; it compiles when first called.

        Args:
            graph: What to compute, as `passes.lower` leaves it.
            dtype: float64, or float32 where asked for (see `accuracy`).
            layout: `rows`: arrays (..., *shape) in C order; `columns`: arrays (*shape, N).
            width: States computed at once; by default what the machine's registers hold.
            name: What messages call it; the graph's name by default.
            keep: Whether to keep the object code on disk for the next process.
            subject: Whose joints the inputs belong to, and why this graph.
        """
        super().__init__(graph, dtype, layout, name, subject)
        if width is not None and width not in (1, 2, 4, 8, 16, 32):
            raise KernelFault(f"{self.name}: width is {width!r}; give a power of two up to 32, or None.")
        self.kernel, self.keep, self._width = self, keep, width
        self._lock = fork_safe_lock()
        self._loaded: dict[str, Any] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what it was made from; the other process compiles or finds it in the cache."""
        how = (self.dtype.name, self.layout, self._width, self.name, self.keep, self.subject)
        return _remake, (type(self).__mro__[1], self.graph, *how)

    @cached_property
    def compiled(self) -> bool:
        """Whether LLVM is there and its code may run; otherwise the NumPy emitter serves."""
        try:
            import llvmlite.binding  # noqa: F401
        except ImportError:
            return False
        except OSError as reason:  # it is there, and its library cannot be loaded: for want of memory, say
            pass_on_signals()
            LOG.warning("kernels run on NumPy, because llvmlite cannot be loaded: %s", reason)
            return False
        return may_run_made_code()

    @cached_property
    def lanes(self) -> Lanes:
        """The type of one value: as wide as the machine's registers, unless told otherwise."""
        from forearm.compiler.llvm.jit import host

        return Lanes(self.dtype.name, self._width or host().width(self.dtype.name))

    @property
    def how(self) -> str:
        """States at once, or why NumPy serves instead."""
        if self.compiled:
            return f"{self.lanes.width} states at once"
        return (
            f"NumPy, because {'llvmlite is missing' if may_run_made_code() else 'no made code may run here'}"
        )

    # What the kinds do differently -----------------------------------------------------------------------

    @property
    @abstractmethod
    def plan(self) -> Any:
        """The scratch area of the batch."""

    @abstractmethod
    def text(self, program: str) -> str:
        """A program, `single` or `batch`, as LLVM takes it."""

    @abstractmethod
    def _run_one(self, taken: list[Array], outs: list[Array]) -> None:
        """One state."""

    # Calling ---------------------------------------------------------------------------------------------

    def is_single(self, inputs: Sequence[Any]) -> bool:
        """Whether these are the inputs of one state."""
        ports = self.graph.inputs
        if len(inputs) != len(ports):
            return False
        return all(np.ndim(v) == len(p.shape) for p, v in zip(ports, inputs, strict=True))

    def entry(self, program: str, rest: Callable[..., Any]) -> builtin_functions.Entry | None:
        """The compiled entry of a program, `single` or `batch`; None where there is none."""
        if not (builtin_functions.has_entry(self.graph) and self.compiled and builtin_functions.usable()):
            return None
        return builtin_functions.Entry(self.load(program), self.dtype.name, self.results, rest, self._share)

    def general(self, *inputs: Any, out: Any = None, threads: int = 1) -> Any:
        """The call for arrays of any shape and type, with every check."""
        wanted = arguments.check_threads(self.name, threads)
        taken, batch = arguments.taken(self, inputs)
        outs = self._new(batch) if out is None else arguments.check_outs(self, out, batch)
        if math.prod(batch):
            self._run(taken, outs, batch, wanted)
            if not batch:
                self._explain(taken, outs)
        return self.packed(outs, out)

    def _explain(self, taken: list[Array], outs: list[Array]) -> None:
        """A single state whose result is not finite, though its inputs are, gets a sentence instead of a number."""
        arm = self.subject.arm
        if arm is None or all(np.isfinite(o).all() for o in outs):
            return
        named = dict(zip((p.name for p in self.graph.inputs), taken, strict=True))
        joints = {
            name: value
            for name, value in named.items()
            if name in arguments.JOINT_INPUTS and value.shape == (len(coordinates(arm, name)),)
        }
        if getattr(arm, "free", False) and "q" in named:
            unit_quaternion(arm, named["q"])
        if self.subject.solves:
            from forearm.compiler.model.chosen_model import plain_model
            from forearm.compiler.model.quantity_graphs import evaluated

            with np.errstate(all="ignore"):  # what overflows is said in the sentence
                M = np.asarray(evaluated(plain_model(arm), "mass_matrix", named["q"]), dtype=float)
            singular_inertia(arm, M, named["q"], joints, self.dtype.name)
        not_finite(arm, self.name.partition(" of ")[0], joints)

    def _new(self, batch: tuple[int, ...]) -> list[Array]:
        return [np.empty(shape, self.dtype) for shape in self.shapes(batch)]

    def _run(self, taken: list[Array], outs: list[Array], batch: tuple[int, ...], threads: int) -> None:
        if not batch:
            self._run_one(taken, outs)
            return
        numbers, _alive = arguments.table_numbers(self.graph, taken, outs, batch, self.layout)
        self._run_batch(ctypes.addressof(numbers), math.prod(batch), threads)

    def _run_alone(self, taken: list[Array], outs: list[Array]) -> None:
        """One state as a batch of one."""
        axis = 0 if self.layout == "rows" else -1
        given, into = ([np.expand_dims(a, axis) for a in side] for side in (taken, outs))
        self._run(given, into, (1,), 1)

    def _share(self, table: int, count: int, wanted: Any) -> None:
        """As `_run_batch`, for the compiled entry, which has not looked at `threads`."""
        self._run_batch(table, count, arguments.check_threads(self.name, wanted))

    def _run_batch(self, table: int, count: int, wanted: int) -> None:
        """States 0 to count of the arrays in the table, by so many threads."""
        from forearm.compiler.call import threads

        tile = self.plan.tile
        job = threads.Job(self._batch, table, count, tile, SMALLEST_SHARE, self.plan.size, self.piece)
        threads.run(job, wanted)

    @cached_property
    def piece(self) -> int:
        """States of a batch after which Ctrl-C is heard."""
        from forearm.compiler.call.threads import piece

        ports = (*self.graph.inputs, *self.graph.outputs)
        return piece(self.counts.operations, sum(port.size for port in ports), self.plan.tile)

    # Compiling -------------------------------------------------------------------------------------------

    @cached_property
    def _batch(self) -> int:
        """Where the compiled loop over states starts."""
        address: int = self.load("batch").address("batch")
        return address

    def load(self, program: str) -> Any:
        """One of the kernel's programs, from the cache or compiled; in memory as long as the kernel."""
        from forearm.compiler.llvm.jit import load_program

        with self._lock:
            if program not in self._loaded:
                self._loaded[program] = load_program(
                    self.name,
                    lambda: self.text(program),
                    self._probe(program),
                    keep=self.keep,
                    recipe=self._recipe(program),
                )
            return self._loaded[program]

    def _recipe(self, program: str) -> tuple[object, ...]:
        """All that a program's text is made from; nothing where that is not told."""
        return ()

    def _probe(self, program: str) -> Callable[[Any], bytes]:
        """What tries a program on the state that every kernel is tried on."""
        return self._probe_batch

    def _probe_batch(self, code: Any) -> bytes:
        """What the batch program makes of a batch of one."""
        from forearm.compiler.call import threads

        taken, outs = arguments.probe_arrays(self.graph.inputs, self.graph.outputs, self.dtype)
        axis = 0 if self.layout == "rows" else -1
        given, into = ([np.expand_dims(a, axis) for a in side] for side in (taken, outs))
        numbers, _alive = arguments.table_numbers(self.graph, given, into, (1,), self.layout)
        job = threads.Job(code.address("batch"), ctypes.addressof(numbers), 1, 1, 1, self.plan.size, 1)
        threads.run(job, 1)
        return b"".join(a.tobytes() for a in outs)

    def source(self, kind: str = "llvm") -> str:
        """The code that runs, as text: `llvm` (what LLVM is given) or `asm` (what it makes of it)."""
        from forearm.compiler.llvm import jit

        text = self.text("batch")
        title = line_comment(f"{self.name}: {self.counts}")
        return f"; {title}\n{text}" if kind == "llvm" else jit.assembly(text, self.name)


def _remake(
    cls: type[MachineKernel],
    graph: Any,
    dtype: str,
    layout: str,
    width: int | None,
    name: str,
    keep: bool,
    subject: KernelSubject,
) -> MachineKernel:
    """A kernel from its description (unpickling)."""
    return cls(graph, dtype=dtype, layout=layout, width=width, name=name, keep=keep, subject=subject)
