"""Simulations on the GPU: all steps of all states in one launch."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from forearm.compiler.cuda.device import GpuProgram, device_name, need_gpu
from forearm.compiler.cuda.gpu_kernel import THREADS, back_to, on_device
from forearm.compiler.graph.graph import Graph
from forearm.compiler.graph.step_rules import StepRule, rule_of
from forearm.compiler.llvm.ptx.ptx_batches import DEFAULT_GPU
from forearm.compiler.llvm.ptx.ptx_rollout import ptx_rollout
from forearm.compiler.llvm.rollout_steps import Roles
from forearm.faults import StateFault


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
        cupy = need_gpu(self.name)
        roles, item = self.roles, self.dtype.itemsize
        taken = [on_device(self, p, v, cupy) for p, v in zip(roles.given, inputs, strict=True)]
        back = back_to(inputs)
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
