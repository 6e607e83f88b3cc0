"""Groups of states: a batch (groups, states) in which some inputs are one for each group, (groups, 1).

What depends on those inputs alone is computed once for each group, by a kernel of its own; the rest takes it as one
more input that all states of a group share. So a thousand states of each of ten thousand arms cost little more than
those of one arm, and a payload that stays the same along a motion is not copied to every instant.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from forearm.compiler.call import arguments, threads
from forearm.compiler.call.arguments import Array
from forearm.compiler.fork_locks import fork_safe_lock
from forearm.compiler.graph.graph import Port
from forearm.compiler.graph.passes import schedule
from forearm.compiler.graph.shared_work import cut

if TYPE_CHECKING:
    from forearm.compiler.call.processor import ProcessorKernel
    from forearm.compiler.llvm.loops.group_sums import SumsPlan
    from forearm.compiler.llvm.tiles import Plan

FEWEST = 4
"""States of a group below which the loop over groups costs more than it brings."""
WORTHWHILE = 20_000
"""States of a batch from which a program of its own is compiled for it."""


class Program(NamedTuple):
    """A function over groups."""

    address: int
    """Where its code is."""
    scratch: int
    """Bytes of scratch area that a thread needs."""
    told: tuple[int, ...] = ()
    """What its table ends with."""


class GroupedStates:
    """A kernel whose states come in groups, some of its inputs shared by the states of each."""

    def __init__(self, kernel: ProcessorKernel, shared: frozenset[str]) -> None:
        """Cut the kernel's graph; machine code is made when first needed.

        Args:
            kernel: Whose graph it is, in rows.
            shared: Names of the inputs that are one for each group.
        """
        self.kernel, self.shared = kernel, shared
        self._once, each = cut(kernel.graph, shared)
        self.graph = schedule(each)
        self._lock = fork_safe_lock()

    @cached_property
    def once(self) -> Any:
        """The kernel of what states share, one row for each group."""
        mine = self.kernel
        return type(mine).__mro__[1](
            schedule(self._once),
            dtype=mine.dtype.name,
            name=f"{mine.name}: what states share",
            keep=mine.keep,
        )

    @cached_property
    def plan(self) -> Plan:
        """The scratch area of a tile."""
        from forearm.compiler.llvm.tiles import Plan

        return Plan(self.graph, self.kernel.lanes, layout="rows", shared=len(self.graph.inputs) - 1)

    @cached_property
    def _code(self) -> Any:
        from forearm.compiler.llvm import jit
        from forearm.compiler.llvm.loops.group_loops import groups_program

        with self._lock:
            text = groups_program(self.plan, jit.host().triple)
            name = f"{self.kernel.name}, in groups"
            return jit.load_program(name, text, self._probe, keep=self.kernel.keep)

    def _probe(self, code: Any) -> bytes:
        """What the program makes of two groups of one state."""
        taken, outs = arguments.probe_arrays(self.graph.inputs, self.graph.outputs, self.kernel.dtype)
        given = [np.stack([a, 2 * a])[:, None] for a in taken[:-1]]
        into = [np.stack([a, a])[:, None] for a in outs]
        self._run(self._groups(code), given, np.stack([taken[-1], 2 * taken[-1]]), into, (2, 1), 1)
        return b"".join(a.tobytes() for a in into)

    def shared_values(self, taken: dict[str, Array], groups: int) -> Array:
        """What the states of each group share (groups, k), from the inputs that are shared (groups or 1, *shape)."""
        ports = self._once.inputs
        rows = [np.ascontiguousarray(np.broadcast_to(taken[p.name], (groups, *p.shape))) for p in ports]
        return np.asarray(self.once.general(*rows)).reshape(groups, -1)

    def run(
        self,
        taken: dict[str, Array],
        shared: Array,
        outs: list[Array],
        wanted: int = 1,
        picked: Array | None = None,
    ) -> None:
        """Compute.

        Args:
            taken: The inputs that are not shared, by name, (groups or 1, states, *shape), of the kernel's dtype, in C
                order.
            shared: What `shared_values` gave for these groups.
            outs: Where results go, (groups, states, *shape), in C order.
            wanted: How many threads.
            picked: Which row each group takes of `taken`; its own otherwise.
        """
        states = [taken[p.name] for p in self.graph.inputs[:-1]]
        self._run(self._groups(self._code), states, shared, outs, outs[0].shape[:2], wanted, picked)

    def _groups(self, code: Any) -> Program:
        from forearm.compiler.llvm.loops.group_loops import scratch_of

        return Program(code.address("groups"), scratch_of(self.plan))

    def summed(
        self,
        taken: dict[str, Array],
        shared: Array,
        states: int,
        picked: Array | None = None,
        *,
        about: Array,
        out: Array,
    ) -> None:
        """What is least, greatest, sum and sum of squares of each group's results, which are not kept.

        Args:
            taken: As for `run`.
            shared: As for `run`.
            states: How many a group has.
            picked: As for `run`.
            about: Values (m,) from which sums are counted.
            out: Where it goes, (4, groups, m), or (2, groups, m) for extremes alone; each of them in C order. Where a
                result is not finite, its sum is not finite; among extremes alone the least values are NaN.
        """
        given = [taken[p.name] for p in self.graph.inputs[:-1]]
        plan, code = self._sums[len(out) > 2]
        self._sum_up(plan, code(), given, shared, out, states, about, picked)

    @cached_property
    def _sums(self) -> list[tuple[SumsPlan, Callable[[], Any]]]:
        """The programs that sum up: extremes alone, and everything."""
        from forearm.compiler.llvm.loops.group_sums import SumsPlan

        lanes, shared = self.kernel.lanes, len(self.graph.inputs) - 1
        plans = [SumsPlan(self.graph, lanes, shared=shared, sums=sums) for sums in (False, True)]
        return [(plan, cache(partial(self._sums_code, plan))) for plan in plans]

    def _sums_code(self, plan: SumsPlan) -> Any:
        from forearm.compiler.llvm import jit
        from forearm.compiler.llvm.loops.group_sums import sums_program

        def probe(code: Any) -> bytes:
            taken, _ = arguments.probe_arrays(self.graph.inputs, (), self.kernel.dtype)
            given = [np.stack([a, 2 * a, 3 * a])[None] for a in taken[:-1]]
            out = np.full((plan.kinds, 2, plan.m), np.nan)
            self._sum_up(plan, code, given, np.stack([taken[-1], 2 * taken[-1]]), out, 3, np.ones(plan.m))
            return out.tobytes()

        with self._lock:
            name = f"{self.kernel.name}, groups summed up"
            return jit.load_program(name, sums_program(plan, jit.host().triple), probe, keep=self.kernel.keep)

    def _sum_up(
        self,
        plan: SumsPlan,
        code: Any,
        states: list[Array],
        shared: Array,
        out: Array,
        many: int,
        about: Array,
        picked: Array | None = None,
    ) -> None:
        kept = np.ascontiguousarray(about, dtype=float)
        program = Program(code.address("sums"), plan.scratch, (out.strides[0], arguments.address(kept)))
        self._run(program, states, shared, [out[0]], (len(shared), many), 1, picked)

    def _run(
        self,
        program: Program,
        states: list[Array],
        shared: Array,
        outs: list[Array],
        batch: tuple[int, ...],
        wanted: int,
        picked: Array | None = None,
    ) -> None:
        ports = (*self.graph.inputs, *self.graph.outputs)
        table, offsets = list[int](), list[Array]()
        own = np.arange(batch[0], dtype=np.int64)
        for k, (port, array) in enumerate(zip(ports, [*states, shared, *outs], strict=True)):
            item, rows = array.itemsize, own
            if len(array) == 1:
                rows = np.zeros_like(own)
            elif k < len(states) and picked is not None:
                rows = picked
            table += (arguments.address(array), port.size * item, item)
            offsets.append(rows * (math.prod(array.shape[1:]) * item))
        lists = [arguments.address(a) for a in offsets]
        told = (*table, *lists, batch[1], *program.told)
        numbers = (ctypes.c_int64 * len(told))(*told)
        piece = max(1, self.kernel.piece // max(1, batch[1]))
        smallest = max(1, 256 // max(1, batch[1]))
        where = program.address, ctypes.addressof(numbers)
        threads.run(threads.Job(*where, batch[0], 1, smallest, program.scratch, piece), wanted)


def groups_of(kernel: ProcessorKernel, shared: frozenset[str]) -> GroupedStates:
    """The kernel in groups, made once for each set of inputs that they share."""
    kept: dict[frozenset[str], GroupedStates] = kernel.grouped
    found = kept.get(shared)
    if found is None:
        found = kept[shared] = GroupedStates(kernel, shared)
    return found


def run_in_groups(
    kernel: ProcessorKernel, taken: list[Array], outs: list[Array], batch: tuple[int, ...], wanted: int
) -> bool:
    """Do a batch whose last axis is the states of a group, where some inputs are shared along it; False where not."""
    if len(batch) < 2 or batch[-1] < FEWEST or math.prod(batch) < WORTHWHILE or not all(o.size for o in outs):
        return False
    ports, many = kernel.graph.inputs, math.prod(batch[:-1])
    shared = frozenset(p.name for p, a in zip(ports, taken, strict=True) if _along(p, a, batch) == 1)
    if not shared or len(shared) == len(ports):
        return False
    if any(np.may_share_memory(a, o) for a in taken for o in outs):
        return False
    flat = {p.name: _flat(p, a, batch) for p, a in zip(ports, taken, strict=True)}
    groups = groups_of(kernel, shared)
    values = groups.shared_values({name: flat[name][:, 0] for name in shared}, many)
    groups.run(flat, values, [o.reshape(many, batch[-1], *o.shape[len(batch) :]) for o in outs], wanted)
    return True


def _along(port: Port, array: Array, batch: tuple[int, ...]) -> int:
    """How long an input's last batch axis is."""
    lead = array.shape[: array.ndim - len(port.shape)]
    return lead[-1] if lead else 1


def _flat(port: Port, array: Array, batch: tuple[int, ...]) -> Array:
    """An input as (groups or 1, states or 1, *shape), copied where groups share it in part only."""
    lead = array.shape[: array.ndim - len(port.shape)]
    last = lead[-1] if lead else 1
    if math.prod(lead[:-1]) == 1:
        return np.ascontiguousarray(array).reshape(1, last, *port.shape)
    whole = np.broadcast_to(array, (*batch[:-1], last, *port.shape))
    return np.ascontiguousarray(whole).reshape(-1, last, *port.shape)
