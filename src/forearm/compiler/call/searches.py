"""Searches inside the kernel: iterations, attempts and starts of many problems, without coming back to Python.

search_loops.py says how the lanes of a tile share the problems out among them.
"""

from __future__ import annotations

import ctypes
import struct
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from forearm.compiler.call import arguments, threads
from forearm.compiler.call.arguments import Array
from forearm.compiler.call.threads import Job
from forearm.compiler.fork_locks import fork_safe_lock
from forearm.compiler.graph.graph import Graph
from forearm.compiler.llvm.lanes import Lanes
from forearm.compiler.llvm.loops.search_loops import TABLE, SearchRoles, search_program, search_scratch
from forearm.compiler.llvm.tiles import Plan

ITERATIONS = 200
"""Of a pose, for the time that a piece of a batch takes."""
SMALLEST_SHARE = 64
"""Problems below which another thread costs more than it brings."""


@dataclass(frozen=True)
class SearchRules:
    """When an attempt ends, and how many there are."""

    tolerance: float
    """The error that is small enough."""
    damping: float
    """The graph's damping."""
    most: int = 1
    """Attempts for each problem."""
    longest: int = 40
    """Iterations of an attempt."""
    patience: int = 4
    """Iterations after which the squared error must have shrunk."""
    shrink: float = 0.5
    """To which part of what it was."""
    relaxing: int = 200
    """Iterations towards the posture."""


@dataclass(frozen=True)
class StartTable:
    """Where attempts begin: states, and the goals that they reach."""

    states: Array
    """(rows, n), rows a multiple of 16."""
    goals: Array
    """(rows, k)."""

    def blocks(self, keys: list[int], width: int) -> Array:
        """Some numbers of the goals, `width` rows at a time, number after number."""
        return np.ascontiguousarray(self.goals[:, keys].reshape(-1, width, len(keys)).swapaxes(1, 2))


class Search:
    """An iteration, compiled with its loop: call it with goals."""

    def __init__(
        self, graph: Graph, keys: tuple[tuple[int, float], ...], name: str, width: int | None = None
    ) -> None:
        """Describe the search; it compiles when first called.

        Args:
            graph: The iteration, as `passes.lower` leaves it; search_loops.py names its ports.
            keys: Which numbers of a goal tell how near a start is, with their weights.
            name: What the log calls it.
            width: Lanes of a vector; by default what the machine's registers hold.
        """
        self.graph, self.roles, self.name = graph, SearchRoles(graph, keys), name
        self._width = width
        self._lock = fork_safe_lock()

    @cached_property
    def plan(self) -> Plan:
        """The scratch area of a tile."""
        from forearm.compiler.llvm.jit import host

        return Plan(self.graph, Lanes("float64", self._width or host().width("float64")))

    def __call__(
        self,
        goals: Array,
        table: StartTable,
        rules: SearchRules,
        *,
        first: Array | None = None,
        posture: Array | None = None,
        wanted: int = 1,
    ) -> tuple[Array, Array, Array]:
        """States found (N, n), their squared errors (N,), attempts made (N,).

        Args:
            goals: (N, k), in C order.
            table: Starts.
            rules: When attempts end.
            first: The first start of each problem, (N, n), or (n,) for all.
            posture: Where to go as far as the goal leaves it free, (N, n) or (n,).
            wanted: How many threads share the problems.
        """
        return self._run(self._address, goals, table, rules, first, posture, wanted)

    def _run(
        self,
        program: int,
        goals: Array,
        table: StartTable,
        rules: SearchRules,
        first: Array | None,
        posture: Array | None,
        wanted: int,
    ) -> tuple[Array, Array, Array]:
        count, n = len(goals), self.roles.n
        found, errors = np.full((count, n), np.nan), np.full(count, np.inf)
        tries = np.zeros(count, np.int64)
        if not count:
            return found, errors, tries
        keys = table.blocks([k for k, _ in self.roles.keys], self.plan.lanes.width)
        arrays = {"goals": goals, "found": found, "errors": errors, "tries": tries, "keys": keys}
        arrays["starts"] = np.ascontiguousarray(table.states)
        told: dict[str, Any] = {"rows": len(table.states)}
        for name, given in (("first", first), ("posture", posture)):
            if given is not None:
                arrays[name] = np.ascontiguousarray(given)
                told[name + "_stride"] = 8 * n if given.ndim > 1 else 0
        told |= {name: arguments.address(array) for name, array in arrays.items()}
        told |= {k: getattr(rules, k) for k in ("most", "longest", "patience", "relaxing")}
        numbers = [told.get(name, 0) for name in TABLE[:-3]]
        doubles = struct.pack("<3d", rules.tolerance**2, rules.shrink, rules.damping)
        block = (ctypes.c_int64 * len(TABLE))(*numbers, *struct.unpack("<3q", doubles))
        # a pose takes some 20 iterations where it is reached and thousands where it is not: Ctrl-C waits for neither
        piece = threads.piece(
            ITERATIONS * self.plan.graph.counts.operations, 2 * n, 8 * self.plan.lanes.width
        )
        job = Job(
            program, ctypes.addressof(block), count, 1, SMALLEST_SHARE, search_scratch(self.plan), piece
        )
        threads.run(job, wanted)
        return found, errors, tries

    @cached_property
    def _address(self) -> int:
        """Where the compiled search starts."""
        from forearm.compiler.llvm.jit import host, load_program

        with self._lock:
            self._loaded = load_program(self.name, self.text(host().triple), self._probe)
            found: int = self._loaded.address("search")
            return found

    def text(self, triple: str) -> str:
        """The program, as LLVM takes it."""
        return search_program(self.roles, self.plan, triple)

    def _probe(self, code: Any) -> bytes:
        """What two attempts make of the problem that every search is tried on."""
        n, k = self.roles.n, self.roles.goal
        states = (np.arange(16.0 * n).reshape(16, n) % 7 - 3) / 4
        goals = (np.arange(16.0 * k).reshape(16, k) % 5 - 2) / 4
        rules = SearchRules(tolerance=1e-10, damping=0.03, most=2, longest=5, relaxing=5)
        posture = states[0] if self.roles.relaxes else None
        found = self._run(
            code.address("search"), goals[:1] + 0.1, StartTable(states, goals), rules, None, posture, 1
        )
        return b"".join(a.tobytes() for a in found)
