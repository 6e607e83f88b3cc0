"""Simulations as WebAssembly modules: a step graph with its loop, run(…) by the thousand steps without coming back."""

from __future__ import annotations

import math
from collections import namedtuple
from collections.abc import Mapping
from functools import cached_property
from typing import Any, final

import numpy as np

from forearm.compiler.call import arguments
from forearm.compiler.call.rollout import Rolled
from forearm.compiler.graph.graph import Graph
from forearm.compiler.graph.step_rules import StepRule, rule_of
from forearm.compiler.kernel import KernelSubject
from forearm.compiler.llvm.rollout_steps import Roles
from forearm.compiler.wasm.graph_functions import add_graph
from forearm.compiler.wasm.shared_functions import SharedFunctions
from forearm.compiler.wasm.step_functions import add_rollout, rates_of
from forearm.compiler.wasm.wasm_host import WasmHost
from forearm.faults import StateFault


@final
class WasmRollout:
    """A step graph as a module with one function, `roll`; called in Python, it needs wasmtime."""

    def __init__(
        self,
        graph: Graph,
        states: Mapping[str, str],
        *,
        method: str | StepRule = "rk4",
        time: str | None = None,
        name: str | None = None,
    ) -> None:
        """Describe the simulation; the module is written when first asked for.

        Args:
            graph: One evaluation: states in, rates out; as `passes.lower` leaves it.
            states: Rate of each state, an output or another state: {"q": "qd", "qd": "qdd"}.
            method: `rk4` or `semi_implicit_euler`.
            time: The scalar input that is the time.
            name: What messages call it; the graph's name by default.
        """
        self.roles = Roles(graph, dict(states), rule_of(graph.name, method), (), time)
        self.rates = rates_of(self.roles)
        self.graph, self.name = graph, name or graph.name
        self.dtype, self.layout, self.subject = np.dtype("float64"), "rows", KernelSubject()
        self._end = namedtuple("End", [p.name for p in self.roles.state_ports], rename=True)  # type: ignore[misc]

    def __repr__(self) -> str:
        """Name, scheme, states, operations of one evaluation."""
        states = ", ".join(f"{p.name}{list(p.shape)}" for p in self.roles.state_ports)
        return f"<WasmRollout {self.name}: {self.roles.rule.name} of {states}; {self.graph.counts}>"

    @cached_property
    def bytes(self) -> bytes:
        """The module."""
        shared = SharedFunctions(lanes=1)
        add_rollouts(shared, {"roll": self})
        return shared.module.binary()

    @cached_property
    def _host(self) -> WasmHost:
        return WasmHost(self.name, self.bytes)

    def __call__(self, *inputs: Any, dt: float, steps: int, every: int = 0, start: float = 0.0) -> Rolled:
        """Run the simulation through wasmtime: what `Rollout` of the processor does, without torques for each step."""
        given = self.roles.given
        if len(inputs) != len(given):
            names = ", ".join(p.name for p in given)
            raise StateFault(f"{self.name}: got {len(inputs)} arrays; give {len(given)}: {names}.")
        taken = [arguments.accept(self, p, v) for p, v in zip(given, inputs, strict=True)]
        batch = arguments.batch_shape(self.name, tuple(given), taken, "rows")
        full = [
            np.ascontiguousarray(np.broadcast_to(a, batch + p.shape), dtype=float)
            for a, p in zip(taken, given, strict=True)
        ]
        rows = steps // every + 1 if every else 0
        ends = [batch + p.shape for p in self.roles.state_ports]
        records = [(*batch, rows, *p.shape) for p in self.roles.state_ports]
        numbers = [math.prod(batch), steps, every, float(dt), float(start)]
        found = self._host.run("roll", numbers, full, [*ends, *records])
        times = start + dt * every * np.arange(rows)
        record = self._end(*found[len(ends) :]) if every else None
        return Rolled(self._end(*found[: len(ends)]), record, times)


def add_rollouts(shared: SharedFunctions, rollouts: Mapping[str, WasmRollout]) -> None:
    """The functions of rollouts, by name, in a module of scalar code.

    Products and sums are rounded apart here, whatever is divided: a step's own error is far larger.
    """
    for name, rollout in rollouts.items():
        evaluate = add_graph(shared, rollout.rates, "", fused=False)
        add_rollout(shared.module, rollout.roles, evaluate, name)
