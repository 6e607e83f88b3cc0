"""List schedules: the operations of a graph on p multipliers and p adders, longest remaining chain first."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import Any

from forearm.counting.schedules.operation_graphs import UNIT, OperationGraph
from forearm.faults import StateFault

UNIT_OF = {
    "multiplications": "multiplier",
    "divisions": "multiplier",
    "square_roots": "multiplier",
    "additions": "adder",
}
"""Which unit does what: divisions and roots go to the multipliers."""


@dataclass(frozen=True)
class Schedule:
    """When and where every operation of a graph is done."""

    graph: OperationGraph
    """What is scheduled."""
    multipliers: int
    """Number of multipliers."""
    adders: int
    """Number of adders."""
    steps: Mapping[str, int]
    """Time that each kind of operation takes."""
    starts: tuple[int, ...]
    """Start of each operation."""
    units: tuple[int, ...]
    """Which unit of its kind does each operation, from 0."""

    @property
    def length(self) -> int:
        """Time until everything is done."""
        return max((s + self.steps[k] for s, k in zip(self.starts, self.graph.kinds, strict=True)), default=0)

    @property
    def bound(self) -> int:
        """No schedule on these units is shorter: work of each unit, and the longest chain."""
        work = {"multiplier": 0, "adder": 0}
        for kind in self.graph.kinds:
            work[UNIT_OF[kind]] += self.steps[kind]
        return max(
            ceil(work["multiplier"] / self.multipliers),
            ceil(work["adder"] / self.adders),
            self.graph.critical_path(self.steps),
        )

    @property
    def speed_up(self) -> float:
        """Against one unit that does one operation after another."""
        serial = sum(self.steps[kind] for kind in self.graph.kinds)
        return serial / self.length if self.length else 1.0

    def faults(self) -> list[str]:
        """Everything wrong with the schedule: a dependency broken, a unit used twice or not there."""
        found = []
        end = [s + self.steps[k] for s, k in zip(self.starts, self.graph.kinds, strict=True)]
        limit = {"multiplier": self.multipliers, "adder": self.adders}
        busy: dict[tuple[str, int], list[tuple[int, int, int]]] = {}
        for i, kind in enumerate(self.graph.kinds):
            found += [
                f"operation {i} starts before {a} is done"
                for a in self.graph.operands[i]
                if end[a] > self.starts[i]
            ]
            unit = UNIT_OF[kind]
            if not 0 <= self.units[i] < limit[unit]:
                found.append(f"operation {i} is on {unit} {self.units[i]}; there are {limit[unit]}")
            busy.setdefault((unit, self.units[i]), []).append((self.starts[i], end[i], i))
        for (unit, number), spans in busy.items():
            spans.sort()
            for (_, stop, i), (start, _, j) in pairwise(spans):
                if start < stop:
                    found.append(f"{unit} {number} does operations {i} and {j} at the same time")
        return found

    @property
    def spans(self) -> list[tuple[str, int, int, int, int]]:
        """(kind of unit, its number from 0, link, start, duration) of each operation."""
        return [
            (UNIT_OF[kind], unit, link, start, self.steps[kind])
            for start, unit, kind, link in zip(
                self.starts, self.units, self.graph.kinds, self.graph.links, strict=True
            )
        ]

    def rows(self) -> list[dict[str, Any]]:
        """One plain row for each operation."""
        graph = self.graph
        return [
            {"start": s, "unit": f"{UNIT_OF[k]} {u}", "operation": k, "equation": t, "link": link}
            for s, u, k, t, link in zip(
                self.starts, self.units, graph.kinds, graph.tags, graph.links, strict=True
            )
        ]


def list_schedule(
    graph: OperationGraph, multipliers: int, adders: int | None = None, steps: Mapping[str, int] = UNIT
) -> Schedule:
    """A schedule on some multipliers and as many (or `adders`) adders: of what is ready, the longest chain first.

    Ties go to the operation that was made first, so that the schedule is the same every time.
    """
    adders = multipliers if adders is None else adders
    if multipliers < 1 or adders < 1:
        raise StateFault(
            f"list_schedule: {multipliers} multipliers and {adders} adders; give at least one of each."
        )
    rank = _remaining(graph, steps)
    waiting = [len(set(operands)) for operands in graph.operands]
    ready: dict[str, list[tuple[int, int]]] = {"multiplier": [], "adder": []}
    idle = {"multiplier": list(range(multipliers)), "adder": list(range(adders))}
    for i, left in enumerate(waiting):
        if not left:
            heapq.heappush(ready[UNIT_OF[graph.kinds[i]]], (-rank[i], i))
    starts, units = [0] * len(graph), [0] * len(graph)
    running: list[tuple[int, int]] = []
    now = 0
    while running or ready["multiplier"] or ready["adder"]:
        for unit, queue in ready.items():
            while queue and idle[unit]:
                _, i = heapq.heappop(queue)
                starts[i], units[i] = now, heapq.heappop(idle[unit])
                heapq.heappush(running, (now + steps[graph.kinds[i]], i))
        now = running[0][0]
        while running and running[0][0] == now:
            _, i = heapq.heappop(running)
            heapq.heappush(idle[UNIT_OF[graph.kinds[i]]], units[i])
            for user in graph.users[i]:
                waiting[user] -= 1
                if not waiting[user]:
                    heapq.heappush(ready[UNIT_OF[graph.kinds[user]]], (-rank[user], user))
    return Schedule(graph, multipliers, adders, steps, tuple(starts), tuple(units))


def _remaining(graph: OperationGraph, steps: Mapping[str, int]) -> list[int]:
    """Longest chain from the start of each operation to the end of everything."""
    rank = [0] * len(graph)
    for i in range(len(graph) - 1, -1, -1):
        rank[i] = steps[graph.kinds[i]] + max((rank[user] for user in graph.users[i]), default=0)
    return rank


def schedule_table(
    graph: OperationGraph,
    processors: Iterable[int] = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16),
    steps: Mapping[str, int] = UNIT,
) -> list[dict[str, Any]]:
    """Rows p, T_p, the lower bound and the speed-up, as plain data; every schedule is checked on the way."""
    rows = []
    for p in processors:
        schedule = list_schedule(graph, p, steps=steps)
        wrong = schedule.faults()
        assert not wrong, wrong[0]
        rows.append(
            {"p": p, "steps": schedule.length, "bound": schedule.bound, "speed_up": schedule.speed_up}
        )
    return rows
