"""The graph: scalar operations in topological order, with named inputs and outputs.

A `Graph` is what a traced formulation becomes and what every pass takes and returns. It is plain data: a
closed set of a dozen operations, nodes that point backwards, a printed form (`print(graph)`), exact operation
counts (`graph.counts`), the longest chain (`graph.critical_path()`) and a digest of the structure. What operations mean
is said by the reference interpreter (interpreter.py): emitters are right when they equal it.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import NamedTuple

import numpy as np

from forearm.faults import TraceFault

OPS = ("const", "input", "add", "sub", "mul", "div", "neg", "fma", "sqrt", "sin", "cos", "select")
"""The closed set of operations.

fma(a, b, c) = a*b + c rounded once; select(x, a, b) = a where x > 0, else b (x NaN: b)."""

_NARROW = {"const": 0, "input": 0, "neg": 1, "sqrt": 1, "sin": 1, "cos": 1, "fma": 3, "select": 3}
ARITY = {op: _NARROW.get(op, 2) for op in OPS}
"""How many arguments each operation takes."""

_SLOW = {"const": 0, "input": 0, "neg": 1, "select": 2, "div": 13, "sqrt": 20, "sin": 60, "cos": 60}
LATENCY = {op: _SLOW.get(op, 4) for op in OPS}
"""Cycles from operands to result, roughly, on a recent x86 core (sin and cos: the vector polynomials)."""


class Node(NamedTuple):
    """One scalar operation."""

    op: str
    """One of OPS."""
    args: tuple[int, ...] = ()
    """Indices of earlier nodes."""
    value: float | None = None
    """The number (const only)."""
    at: tuple[int, int] | None = None
    """Which input, and which flat element of it (input only)."""


@dataclass(frozen=True, slots=True)
class Port:
    """A named input or output."""

    name: str
    """`q`, `qd`, `tau`, `M`, ..."""
    shape: tuple[int, ...]
    """Trailing shape of one state: (7,), (7, 7), ()."""

    @property
    def size(self) -> int:
        """Number of scalars."""
        return math.prod(self.shape)

    def element(self, k: int) -> str:
        """Name of flat element k: `q[2]`, `M[0,3]`, or the bare name of a scalar."""
        if not self.shape:
            return self.name
        return f"{self.name}[{','.join(str(i) for i in np.unravel_index(k, self.shape))}]"


@dataclass(frozen=True, slots=True)
class Counts:
    """How many operations of each kind; `operations` is their sum as the literature counts."""

    mul: int = 0
    """Multiplications."""
    add: int = 0
    """Additions and subtractions."""
    div: int = 0
    """Divisions."""
    neg: int = 0
    """Sign changes (they count nothing: hardware and fma take them for free)."""
    fma: int = 0
    """Fused multiply-adds (two operations each)."""
    sqrt: int = 0
    """Square roots (counted apart)."""
    sincos: int = 0
    """Angles whose sine, cosine or both are taken (counted apart)."""
    select: int = 0
    """Choices between two values (counted apart)."""

    @property
    def operations(self) -> int:
        """Multiplications, additions and divisions one each, fused multiply-adds two."""
        return self.mul + self.add + self.div + 2 * self.fma

    @property
    def instructions(self) -> int:
        """What the arithmetic unit executes: as `operations`, but a fused multiply-add is one."""
        return self.mul + self.add + self.div + self.fma

    @property
    def numbers(self) -> tuple[int, ...]:
        """All fields, in order."""
        return tuple(getattr(self, f.name) for f in fields(self))

    def __str__(self) -> str:
        """Only what is there: `12 mul, 8 add, 2 sincos (20 operations)`."""
        parts = [f"{getattr(self, f.name)} {f.name}" for f in fields(self) if getattr(self, f.name)]
        return f"{', '.join(parts) or 'nothing'} ({self.operations} operations)"


@dataclass(frozen=True)
class Graph:
    """Scalar operations in topological order, with named inputs and outputs."""

    name: str
    """What it computes: `puma560 inverse_dynamics by luh_walker_paul_1980`."""
    inputs: tuple[Port, ...]
    """Named inputs, in calling order."""
    nodes: tuple[Node, ...]
    """Operations; arguments always point backwards."""
    outputs: tuple[Port, ...]
    """Named outputs, in order."""
    results: tuple[tuple[int, ...], ...]
    """Node of each flat element, one tuple for each output."""
    origins: tuple[tuple[str, int] | None, ...] = field(default=(), compare=False, repr=False)
    """File and line that made each node, where tracing recorded it; empty otherwise."""
    effort: int = field(default=-1, compare=False, repr=False)
    """How hard `passes.simplify` has worked on it already; -1: not at all."""
    careful: bool = field(default=False, compare=False, repr=False)
    """Whether there are quotients or roots that passes leave where they are, as the builder says."""

    def __post_init__(self) -> None:
        """Refuse what no emitter could read."""
        sizes = [port.size for port in self.inputs]
        for index, node in enumerate(self.nodes):
            if (
                node.op not in ARITY
                or len(node.args) != ARITY[node.op]
                or (node.args and max(node.args) >= index)
            ):
                raise self._malformed(
                    f"node {index} is {node.op!r} of {node.args}", "known operations of earlier nodes"
                )
            if node.op == "const" and node.value is None:
                raise self._malformed(f"node {index} is a const without value", "a number")
            if node.op == "input" and not (
                node.at and node.at[0] < len(sizes) and node.at[1] < sizes[node.at[0]]
            ):
                raise self._malformed(
                    f"node {index} reads input element {node.at}", f"an element of {self.inputs}"
                )
        if [len(r) for r in self.results] != [port.size for port in self.outputs]:
            raise self._malformed(f"{[len(r) for r in self.results]} results", f"the sizes of {self.outputs}")
        if any(not 0 <= r < len(self.nodes) for row in self.results for r in row):
            raise self._malformed("a result that is no node", f"indices below {len(self.nodes)}")

    def _malformed(self, given: str, expected: str) -> TraceFault:
        return TraceFault(
            f"graph {self.name!r}: {given}; expected {expected}."
            " Build graphs with `trace` or a Builder, not by hand."
        )

    @cached_property
    def counts(self) -> Counts:
        """Operations by kind."""
        return count_nodes(self.nodes)

    @cached_property
    def uses(self) -> tuple[int, ...]:
        """How often each node is read, by other nodes and by outputs."""
        uses = [0] * len(self.nodes)
        for _, args, _, _ in self.nodes:
            for a in args:
                uses[a] += 1
        for row in self.results:
            for r in row:
                uses[r] += 1
        return tuple(uses)

    def counts_given(self, parameters: Iterable[str]) -> Counts:
        """Operations that are left when work on the named inputs alone is done beforehand."""
        known = {k for k, port in enumerate(self.inputs) if port.name in set(parameters)}
        ready: list[bool] = []
        for node in self.nodes:
            ready.append(node.at[0] in known if node.at else all(ready[a] for a in node.args))
        return count_nodes(node for node, done in zip(self.nodes, ready, strict=True) if not done)

    def critical_path(self, latency: Mapping[str, float] = LATENCY) -> float:
        """Cycles along the longest chain of operations: what one state takes on a machine of any width."""
        done: list[float] = []
        for node in self.nodes:
            done.append(latency[node.op] + max((done[a] for a in node.args), default=0.0))
        return max((done[r] for row in self.results for r in row), default=0.0)

    @cached_property
    def max_live(self) -> int:
        """Most computed values alive at once when the nodes run in the order they stand.

        Constants and inputs are memory operands, a sign change is part of what reads it: none of them counts.
        """
        root: list[int] = []
        last: dict[int, int] = {}
        for index, node in enumerate(self.nodes):
            root.append(root[node.args[0]] if node.op == "neg" else index)
            for a in node.args:
                last[root[a]] = index
        last.update((root[r], len(self.nodes)) for row in self.results for r in row)
        dying = [0] * (len(self.nodes) + 1)
        live = most = 0
        for index, node in enumerate(self.nodes):
            live -= dying[index]  # a result may take the place of an operand that is not needed any more
            if index in last and node.op not in ("const", "input", "neg"):
                live += 1
                dying[last[index]] += 1
            most = max(most, live)
        return most

    @cached_property
    def digest(self) -> str:
        """The sha256 of the structure: ports, operations and constants to the last bit; not the name."""
        rows = [
            repr([(p.name, p.shape) for p in self.inputs]),
            repr([(p.name, p.shape) for p in self.outputs]),
        ]
        for node in self.nodes:
            value = "" if node.value is None else node.value.hex()
            rows.append(f"{node.op} {node.args} {value} {node.at}")
        rows.append(repr(self.results) + (" careful" if self.careful else ""))
        return hashlib.sha256("\n".join(rows).encode()).hexdigest()

    def __str__(self) -> str:
        """Ports, one line for each operation, one for each output element, counts."""
        return listing(self)


def count_nodes(nodes: Iterable[Node]) -> Counts:
    """Count operations by kind; sine and cosine of one argument count as one sincos."""
    tally = dict.fromkeys(OPS, 0)
    angles = set()
    for node in nodes:
        tally[node.op] += 1
        if node.op in ("sin", "cos"):
            angles.add(node.args[0])
    return Counts(
        mul=tally["mul"],
        add=tally["add"] + tally["sub"],
        div=tally["div"],
        neg=tally["neg"],
        fma=tally["fma"],
        sqrt=tally["sqrt"],
        sincos=len(angles),
        select=tally["select"],
    )


FORM = {
    "add": "{} + {}",
    "sub": "{} - {}",
    "mul": "{} * {}",
    "div": "{} / {}",
    "neg": "-{}",
    "fma": "fma({}, {}, {})",
    "sqrt": "sqrt({})",
    "sin": "sin({})",
    "cos": "cos({})",
    "select": "select({}, {}, {})",
}
"""How the listing writes an operation."""


def listing(graph: Graph) -> str:
    """The printed form: constants and inputs by value and name, one line for each operation."""
    names: list[str] = []
    lines = [f"graph {graph.name}", f"  inputs   {_ports(graph.inputs)}"]
    for index, node in enumerate(graph.nodes):
        if node.op == "const":
            names.append(f"{node.value!r}")
        elif node.at is not None:
            names.append(graph.inputs[node.at[0]].element(node.at[1]))
        else:
            names.append(f"v{index}")
            lines.append(f"  v{index} = {FORM[node.op].format(*(names[a] for a in node.args))}")
    for port, row in zip(graph.outputs, graph.results, strict=True):
        lines.extend(f"  {port.element(k)} = {names[r]}" for k, r in enumerate(row))
    return "\n".join([*lines, f"  outputs  {_ports(graph.outputs)}", f"  counts   {graph.counts}"])


def _ports(ports: tuple[Port, ...]) -> str:
    return ", ".join(f"{p.name}{list(p.shape) if p.shape else ''}" for p in ports)
