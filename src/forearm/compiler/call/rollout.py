"""Simulation inside the kernel: many steps of many states, without coming back to Python.

A step graph takes states (and whatever else: torques, payloads, gains, time) and gives rates or next values.
The kernel keeps a tile of states in its scratch area for all steps before it takes the next tile, and writes
every k-th state to a record on the way. rollout_steps.py says how a step is made.
"""

from __future__ import annotations

import ctypes
import math
import struct
from collections import namedtuple
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from forearm.compiler.call import arguments, threads
from forearm.compiler.call.arguments import Array
from forearm.compiler.call.threads import Job
from forearm.compiler.fork_locks import fork_safe_lock
from forearm.compiler.graph.graph import Graph, Port
from forearm.compiler.graph.step_rules import StepRule, rule_of
from forearm.compiler.kernel import KernelSubject
from forearm.compiler.llvm.lanes import ITEMSIZE, Lanes
from forearm.compiler.llvm.rollout_steps import Roles, rollout_program, scratch_size
from forearm.compiler.llvm.tiles import Plan
from forearm.faults import KernelFault, StateFault

SMALLEST_SHARE = 16
"""Rows below which another thread costs more than it brings."""


@dataclass(frozen=True)
class Rolled:
    """What a rollout gives."""

    end: Any
    """The states after the last step, (..., *shape), a named tuple by state."""
    record: Any
    """Every k-th state, (..., K, *shape), from the first on, and observed outputs; None without a record."""
    times: Array
    """When the recorded states were, (K,), in the unit of dt."""


class Rollout:
    """A step graph, compiled with its loop: call it with states, a step length and a number of steps."""

    def __init__(
        self,
        graph: Graph,
        states: Mapping[str, str],
        *,
        method: str | StepRule = "rk4",
        per_step: Sequence[str] = (),
        time: str | None = None,
        observed: Sequence[str] = (),
        dtype: str = "float64",
        width: int | None = None,
        name: str | None = None,
        keep: bool = True,
    ) -> None:
        """Describe the simulation; it compiles when first called.

        Args:
            graph: One evaluation: states in, rates (or next values) out; as `passes.lower` leaves it.
            states: Rate of each state, an output or another state: {"q": "qd", "qd": "qdd"}. With `map` the
                output that is its next value.
            method: `rk4`, `semi_implicit_euler` or `map`, or a rule of `graph.step_rules`: any Tableau.
            per_step: Inputs that have a value for each step, (..., steps, *shape), such as torques.
            time: The scalar input that is the time.
            observed: Outputs to record beside the states, as they are when a step begins.
            dtype: float64 or float32.
            width: States computed at once; by default what the machine's registers hold.
            name: What messages call it; the graph's name by default.
            keep: Whether to keep the object code on disk for the next process.
        """
        rule = rule_of(graph.name, method)
        self.roles = Roles(graph, dict(states), rule, tuple(per_step), time, tuple(observed))
        self.graph, self.name, self.keep = graph, name or graph.name, keep
        self.dtype = np.dtype(dtype)
        if self.dtype.name not in ITEMSIZE:
            raise KernelFault(f"{self.name}: dtype is {dtype!r}; rollouts compute in 'float64' or 'float32'.")
        self._width = width
        self.layout, self.subject = "rows", KernelSubject()
        self._lock = fork_safe_lock()
        ports = [*self.roles.state_ports, *self.roles.observed_ports]
        self._end = namedtuple("End", [p.name for p in self.roles.state_ports], rename=True)  # type: ignore[misc]
        self._record = namedtuple("Record", [p.name for p in ports], rename=True)  # type: ignore[misc]

    @cached_property
    def plan(self) -> Plan:
        """The scratch area of a tile."""
        from forearm.compiler.llvm.jit import host

        return Plan(self.graph, Lanes(self.dtype.name, self._width or host().width(self.dtype.name)))

    def __repr__(self) -> str:
        """Name, scheme, states, operations of one evaluation."""
        states = ", ".join(f"{p.name}{list(p.shape)}" for p in self.roles.state_ports)
        return f"<Rollout {self.name}: {self.roles.rule.name} of {states}; {self.dtype}; {self.graph.counts}>"

    def __call__(
        self,
        *inputs: Any,
        dt: float,
        steps: int | None = None,
        every: int = 0,
        start: float = 0.0,
        threads: int = 1,
    ) -> Rolled:
        """Run the simulation.

        Args:
            *inputs: One array for each input but the time, in the graph's order, (..., *shape); those with a
                value for each step (..., steps, *shape). Leading axes broadcast.
            dt: Length of a step.
            steps: How many; by default as many as the inputs with a value for each step have.
            every: Record every k-th state; 0 for no record.
            start: Time at the beginning.
            threads: How many threads share the rows.

        Returns:
            Where the states end, and the record.
        """
        taken = self._accept(inputs)
        steps = self._steps(steps, taken)
        if every < 0 or isinstance(every, bool) or not isinstance(every, int):
            raise StateFault(f"{self.name}: every is {every!r}; give a whole number, 0 for no record.")
        every = min(
            every, steps + 1
        )  # the same record; machine code would take what is left of a longer number
        ports = [Port(p.name, self._shape(p, steps)) for p in self.roles.given]
        batch = arguments.batch_shape(self.name, tuple(ports), taken, "rows")
        end = [np.empty(batch + p.shape, self.dtype) for p in self.roles.state_ports]
        record = self._make_record(batch, steps, every)
        self._run(ports, taken, end, record, batch, (steps, every, float(dt), float(start)), threads)
        return self._rolled(end, record, steps, every, float(dt), float(start))

    def _shape(self, port: Port, steps: int) -> tuple[int, ...]:
        return (steps, *port.shape) if port.name in self.roles.per_step else port.shape

    def _accept(self, inputs: tuple[Any, ...]) -> list[Array]:
        given = self.roles.given
        if len(inputs) != len(given):
            names = ", ".join(p.name for p in given)
            raise StateFault(f"{self.name}: got {len(inputs)} arrays; give {len(given)}: {names}.")
        return [arguments.accept(self, p, v) for p, v in zip(given, inputs, strict=True)]

    def _steps(self, steps: int | None, taken: list[Array]) -> int:
        """How many steps, from the argument or from the inputs that have a value for each."""
        found = {}
        for port, array in zip(self.roles.given, taken, strict=True):
            if port.name in self.roles.per_step:
                axis = array.ndim - len(port.shape) - 1
                if axis < 0:
                    raise StateFault(
                        f"{self.name}: {port.name} has shape {array.shape}; it has a value for each step: "
                        f"give (..., steps, {', '.join(map(str, port.shape))})."
                    )
                found[port.name] = array.shape[axis]
        told = {*found.values()} | ({steps} if steps is not None else set())
        if len(told) != 1 or not isinstance(count := told.pop(), int) or not 0 <= count < 2**62:
            given = ", ".join(f"{n} of {k}" for k, n in found.items())
            raise StateFault(
                f"{self.name}: steps is {steps!r}{', inputs have values for ' + given if given else ''}; "
                "give one whole number of steps."
            )
        return count

    def _make_record(self, batch: tuple[int, ...], steps: int, every: int) -> list[Array]:
        """Room for every k-th state from the first on, and for observed outputs of steps that begin."""
        if not every:
            return []
        rows = -(-steps // every)
        last = rows + (steps % every == 0)
        states = [np.empty((*batch, last, *p.shape), self.dtype) for p in self.roles.state_ports]
        return states + [np.empty((*batch, rows, *p.shape), self.dtype) for p in self.roles.observed_ports]

    def _run(
        self,
        ports: list[Port],
        taken: list[Array],
        end: list[Array],
        record: list[Array],
        batch: tuple[int, ...],
        numbers: tuple[int, int, float, float],
        wanted: int,
    ) -> None:
        wanted, count = arguments.check_threads(self.name, wanted), math.prod(batch)
        if count and numbers[0]:
            self._roll(self._address, ports, taken, end, record, batch, numbers, wanted)
            return
        for port, array in zip(self.roles.given, taken, strict=True):
            if port.name in self.roles.states:
                end[[p.name for p in self.roles.state_ports].index(port.name)][...] = array

    def _roll(
        self,
        program: int,
        ports: list[Port],
        taken: list[Array],
        end: list[Array],
        record: list[Array],
        batch: tuple[int, ...],
        numbers: tuple[int, int, float, float],
        wanted: int,
    ) -> None:
        """Call a compiled rollout: the table of arrays, then the numbers."""
        count = math.prod(batch)
        item, rows, alive = self.dtype.itemsize, [], []
        for port, array, plain in zip(ports, taken, self.roles.given, strict=True):
            array, stride, _ = arguments.describe(port, array, batch, "rows")
            alive.append(array)
            step = plain.size * item if plain.name in self.roles.per_step else 0
            rows += [arguments.address(array), stride, step]
        for array, port in zip(end, self.roles.state_ports, strict=True):
            rows += [arguments.address(array), port.size * item, 0]
        kept = [*self.roles.state_ports, *self.roles.observed_ports]
        for i, port in enumerate(kept):
            if record:
                long = record[i].shape[len(batch)] * port.size * item
                rows += [arguments.address(record[i]), long, port.size * item]
            else:
                rows += [0, 0, 0]
        steps, every, dt, start = numbers
        rows += [steps, every, *struct.unpack("<2q", struct.pack("<2d", dt, start))]
        table = (ctypes.c_int64 * len(rows))(*rows)
        size = scratch_size(self.roles, self.plan)
        work = self.graph.counts.operations * steps, sum(port.size for port in kept)
        piece = threads.piece(*work, self.plan.tile)
        job = Job(program, ctypes.addressof(table), count, self.plan.tile, SMALLEST_SHARE, size, piece)
        threads.run(job, wanted)

    def _rolled(
        self, end: list[Array], record: list[Array], steps: int, every: int, dt: float, start: float
    ) -> Rolled:
        if not every:
            return Rolled(self._end(*end), None, np.empty(0))
        axis = [-1 - len(p.shape) for p in self.roles.state_ports]
        if steps % every == 0:
            for array, last, k in zip(record, end, axis, strict=False):
                np.moveaxis(array, k, 0)[-1] = last
        times = start + dt * every * np.arange(record[0].shape[axis[0]])
        return Rolled(self._end(*end), self._record(*record), times)

    @cached_property
    def _address(self) -> int:
        """Where the compiled rollout starts."""
        from forearm.compiler.llvm.jit import host, load_program

        with self._lock:
            text = rollout_program(self.roles, self.plan, host().triple)
            name = f"{self.name} ({self.roles.rule.name})"
            self._loaded = load_program(name, text, self._probe, keep=self.keep)
            found: int = self._loaded.address("rollout")
            return found

    def _probe(self, code: Any) -> bytes:
        """What the program makes of two steps of the state that every program is tried on."""
        ports = [Port(p.name, self._shape(p, 2)) for p in self.roles.given]
        taken, end = arguments.probe_arrays(ports, self.roles.state_ports, self.dtype)
        record = self._make_record((), 2, 1)
        self._roll(code.address("rollout"), ports, taken, end, record, (), (2, 1, 1e-3, 0.5), 1)
        return b"".join(a.tobytes() for a in end)
