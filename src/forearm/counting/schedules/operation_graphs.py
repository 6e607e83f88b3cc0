"""The graph of operations behind a count: what waits for what, the longest chain, macro tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from graphlib import TopologicalSorter
from typing import Any

from forearm.arm import Arm
from forearm.compiler.graph.graph import Graph
from forearm.counting.meter.conventions import TURNEY_DIAGONAL, Convention
from forearm.counting.meter.counted_arm import generic_arm, run_counted
from forearm.counting.meter.counted_scalar import ADD, DIVIDE, KINDS, MULTIPLY, ROOT, Operation

UNIT = {"multiplications": 1, "additions": 1, "divisions": 1, "square_roots": 1}
"""Every operation takes one step."""
SLOW_MULTIPLY = {**UNIT, "multiplications": 2}
"""A multiplication takes two steps."""


@dataclass(frozen=True)
class OperationGraph:
    """Operations in the order in which they were made, each with those it waits for."""

    name: str
    """What is computed."""
    kinds: tuple[str, ...]
    """Kind of each operation, one of the keys of UNIT."""
    operands: tuple[tuple[int, ...], ...]
    """Earlier operations whose results each one takes."""
    tags: tuple[str, ...]
    """Equation of each operation."""
    links: tuple[int, ...]
    """Link of each operation; 0 outside the walks."""

    def __len__(self) -> int:
        """Number of operations."""
        return len(self.kinds)

    def count(self, kind: str) -> int:
        """Operations of one kind."""
        return self.kinds.count(kind)

    @cached_property
    def users(self) -> tuple[tuple[int, ...], ...]:
        """Operations that wait for each one."""
        found: list[list[int]] = [[] for _ in self.kinds]
        for index, operands in enumerate(self.operands):
            for a in set(operands):
                found[a].append(index)
        return tuple(tuple(users) for users in found)

    def depths(self, steps: Mapping[str, int] = UNIT) -> list[int]:
        """Earliest time at which each operation can be done, on a machine without limits."""
        done: list[int] = []
        for kind, operands in zip(self.kinds, self.operands, strict=True):
            done.append(steps[kind] + max((done[a] for a in operands), default=0))
        return done

    def critical_path(self, steps: Mapping[str, int] = UNIT) -> int:
        """Steps along the longest chain: no machine is faster."""
        return max(self.depths(steps), default=0)

    def longest(self, kind: str) -> int:
        """The most operations of one kind on any chain."""
        return self.critical_path({**dict.fromkeys(UNIT, 0), kind: 1})


def operation_graph(
    stem: str,
    n: int = 6,
    *,
    arm: Arm | None = None,
    convention: Convention = TURNEY_DIAGONAL,
    quantity: str = "joint_torques",
) -> OperationGraph:
    """The operations of a formulation under a convention: exactly those that `count` charges."""
    subject = arm or generic_arm(n, "R", convention.inertia, convention.gravity)
    meter, _ = run_counted(stem, subject, convention, quantity)
    return _graph(f"{stem} {quantity}, n = {subject.n}", meter.operations)


def _graph(name: str, operations: list[Operation]) -> OperationGraph:
    """Keep what costs time; bookkeeping is done beforehand, and what waits for it waits for its operands."""
    place: dict[int, tuple[int, ...]] = {}
    kinds: list[str] = []
    waits, tags, links = [], [], []
    for index, operation in enumerate(operations):
        before = tuple(dict.fromkeys(a for o in operation.operands for a in place[o]))
        if operation.kind in (MULTIPLY, ADD, DIVIDE, ROOT) and operation.tag:
            place[index] = (len(kinds),)
            kinds.append(KINDS[operation.kind])
            waits.append(before)
            tags.append(operation.tag)
            links.append(operation.link)
        else:
            place[index] = before
    return OperationGraph(name, tuple(kinds), tuple(waits), tuple(tags), tuple(links))


_COMPILED = {
    "mul": "multiplications",
    "add": "additions",
    "sub": "additions",
    "div": "divisions",
    "sqrt": "square_roots",
}


def graph_of(graph: Graph) -> OperationGraph:
    """The operations of a compiler's graph (sines and cosines are given, sign changes and choices free)."""
    place: list[tuple[int, ...]] = []
    kinds: list[str] = []
    waits = []
    for node in graph.nodes:
        before = tuple(dict.fromkeys(a for o in node.args for a in place[o]))
        if node.op in _COMPILED:
            place.append((len(kinds),))
            kinds.append(_COMPILED[node.op])
            waits.append(before)
        else:
            place.append(() if node.op in ("sin", "cos") else before)
    size = len(kinds)
    return OperationGraph(graph.name, tuple(kinds), tuple(waits), ("",) * size, (0,) * size)


# -- macro tasks -----------------------------------------------------------------------------------------

TABLE_5_TASKS = {"a:A_r": "a", "m_a_bar:A_s": "m_a_bar"}
"""How the lines of table 4 make the tasks of table 5: a product with A_i and what is added to it are one task."""
SPLIT_TASKS: dict[str, str] = {}
"""The same with the products A r and A s as tasks of their own."""


@dataclass(frozen=True)
class MacroTask:
    """One quantity of one link, computed serially on a processor of its own."""

    tag: str
    """Which quantity."""
    link: int
    """Of which link."""
    start: int
    """When its inputs are there."""
    end: int
    """When it is done."""


def macro_schedule(
    graph: OperationGraph,
    counted: tuple[str, ...] = ("multiplications", "additions"),
    merge: Mapping[str, str] | None = None,
) -> list[MacroTask]:
    """Every (equation, link) as one serial task that starts when all its inputs are done.

    Only the kinds in `counted` take time, one step each. `merge` puts lines under the name of another.
    """
    names = [((merge or {}).get(tag, tag), link) for tag, link in zip(graph.tags, graph.links, strict=True)]
    length: dict[Any, int] = {}
    waits: dict[Any, set[Any]] = {}
    for index, name in enumerate(names):
        length[name] = length.get(name, 0) + (graph.kinds[index] in counted)
        waits.setdefault(name, set()).update(names[a] for a in graph.operands[index] if names[a] != name)
    ends: dict[Any, int] = {}
    for name in TopologicalSorter(waits).static_order():
        ends[name] = max((ends[before] for before in waits[name]), default=0) + length[name]
    return [MacroTask(name[0], name[1], ends[name] - length[name], ends[name]) for name in length]


def makespan(tasks: list[MacroTask]) -> int:
    """When the last task is done."""
    return max((task.end for task in tasks), default=0)
