"""Simulations on the GPU: all steps of all states in one launch."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from forearm.compiler.cuda.device import GpuProgram, device_name, need_gpu, stream_of
from forearm.compiler.cuda.gpu_kernel import THREADS, back_to, on_device
from forearm.compiler.graph.graph import Graph
from forearm.compiler.graph.step_rules import StepRule, rule_of
from forearm.compiler.llvm.ptx.ptx_batches import DEFAULT_GPU
from forearm.compiler.llvm.ptx.ptx_rollout import ptx_rollout
from forearm.compiler.llvm.rollout_steps import Roles
from forearm.faults import StateFault

MOST_STEPS = 1 << 62
"""Steps beyond which no counter of a kernel goes."""


class GpuRollout:
    """A simulation on the GPU: all steps in one launch, the state in registers."""

    def __init__(
        self,
        graph: Graph,
        states: Mapping[str, str],
        *,
        method: str | StepRule = "rk4",
        per_step: Sequence[str] = (),
        time: str | None = None,
        observed: Sequence[str] = (),
        dtype: str = "float32",
        name: str | None = None,
        threads: int = THREADS,
    ) -> None:
        """Describe the simulation: arguments as for `rollout.Rollout`; arrays are columns (*shape, N)."""
        rule = rule_of(graph.name, method)
        self.roles = Roles(graph, dict(states), rule, tuple(per_step), time, tuple(observed))
        self.graph, self.name, self.threads = graph, name or graph.name, threads
        self.dtype = np.dtype(dtype)
        self._end = namedtuple("End", [p.name for p in self.roles.state_ports], rename=True)  # type: ignore[misc]
        kept = [*self.roles.state_ports, *self.roles.observed_ports]
        self._record = namedtuple("Record", [p.name for p in kept], rename=True)  # type: ignore[misc]

    def source(self, gpu: str = DEFAULT_GPU) -> str:
        """The PTX text, which needs no GPU."""
        return ptx_rollout(self.roles, self.dtype.name, gpu)

    @cached_property
    def program(self) -> GpuProgram:
        """The kernel in the GPU's memory."""
        return GpuProgram(self.source(device_name()), "rollout", self.name)

    @property
    def registers(self) -> int:
        """Registers of a thread."""
        return self.program.registers

    @property
    def spilled_bytes(self) -> int:
        """Bytes of a thread in local memory."""
        return self.program.spilled_bytes

    def __call__(self, *inputs: Any, dt: float, steps: int, every: int = 0, start: float = 0.0) -> Any:
        """Run all rows: (end, record); inputs (*shape, N) or shared, per step (steps, *shape, N) or (steps, *shape).

        `end` is a named tuple of the last states, `record` one of arrays (K, *shape, N), None where every is 0.
        """
        roles = self.roles
        check_steps(self.name, steps, every)
        if len(inputs) != len(roles.given):
            names = ", ".join(p.name for p in roles.given)
            raise StateFault(f"{self.name}: got {len(inputs)} arrays; give {len(roles.given)}: {names}.")
        cupy, every, times = need_gpu(self.name), min(every, steps + 1), (float(dt), float(start))
        with stream_of(inputs):
            taken = [on_device(self, p, v, cupy) for p, v in zip(roles.given, inputs, strict=True)]
            count = columns_of(self.name, roles, [a.shape for a in taken], steps)
            ends, records = self._rolled(cupy, taken, count, steps, every, times)
        back = back_to(inputs)
        record = self._record(*map(back, records)) if every else None
        return self._end(*map(back, ends)), record

    def _rolled(
        self, cupy: Any, taken: list[Any], count: int, steps: int, every: int, times: tuple[float, float]
    ) -> tuple[list[Any], list[Any]]:
        """Launch on arrays that were checked: ends and records."""
        roles, item = self.roles, self.dtype.itemsize
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
        numbers += [np.int64(count), np.int64(steps), np.int64(every), *map(np.float64, times)]
        if not steps:
            starts = dict(zip((p.name for p in roles.given), taken, strict=True))
            for port, end in zip(roles.state_ports, ends, strict=True):
                start = starts[port.name]
                end[...] = start[..., None] if start.ndim == len(port.shape) else start
        elif count:
            self.program.function((-(-count // self.threads),), (self.threads,), tuple(numbers))
        if every and steps % every == 0:
            for array, last in zip(records, ends, strict=False):
                array[-1] = last
        return ends, records

    def _records(self, cupy: Any, count: int, steps: int, every: int) -> list[Any]:
        """Room for every k-th state from the first on, and for observed outputs of steps that begin."""
        rows = -(-steps // every) if every else 1
        last = rows + (steps % every == 0) if every else 1
        roles, size = self.roles, count if every else 1
        shapes = [(last, *p.shape, size) for p in roles.state_ports]
        shapes += [(rows, *p.shape, size) for p in roles.observed_ports]
        return [cupy.empty(shape, self.dtype) for shape in shapes]


def check_steps(name: str, steps: Any, every: Any) -> None:
    """Whole numbers that a register holds."""
    for what, value, none in (("steps", steps, ""), ("every", every, ", 0 for no record")):
        whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if not whole or not 0 <= value < MOST_STEPS:
            raise StateFault(f"{name}: {what} is {value!r}; give a whole number{none}.")


def columns_of(name: str, roles: Roles, shapes: Sequence[tuple[int, ...]], steps: int) -> int:
    """How many states these arrays hold, once each has the shape of its input; nothing else may reach the GPU."""
    sizes = {}
    for port, shape in zip(roles.given, shapes, strict=True):
        one = ((steps,) if port.name in roles.per_step else ()) + port.shape
        if shape[: len(one)] != one or len(shape) > len(one) + 1:
            raise StateFault(
                f"{name}: {port.name} has shape {shape}; give {one} for all states alike, or "
                f"({', '.join(map(str, (*one, 'N')))}) for N of them."
            )
        if len(shape) > len(one):
            sizes[port.name] = shape[-1]
    if len({*sizes.values()}) > 1:
        told = ", ".join(f"{n} {k}" for n, k in sizes.items())
        raise StateFault(f"{name}: inputs have other numbers of states ({told}); give one number of states.")
    return next(iter(sizes.values()), 1)
