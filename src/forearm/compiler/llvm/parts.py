"""Very long code in parts, a function each: LLVM's time grows faster than the function that it is given.

What a part leaves for later ones lies in places of the scratch area, a value each; a place is used again as soon as
nobody reads it any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

from forearm.compiler.graph.graph import Graph

WHOLE = 6000
"""Instructions that stay in one piece."""
PART = 2000
"""Instructions of a part, more or less (measured: 20,000 in one piece take LLVM twice as long, and run as fast)."""
SLACK = 200
"""How far a cut may be moved, to a place with few values on their way across."""
ANEW = ("const", "input", "neg")
"""What a part makes or reads anew rather than take it from another."""


@dataclass(frozen=True)
class Parts:
    """The nodes of a graph, cut into parts."""

    graph: Graph
    """What runs."""
    order: Sequence[int]
    """Its nodes, in the order they run."""
    staged: frozenset[int]
    """Sines and cosines that every part reads from their columns."""
    together: tuple[tuple[int, ...], ...]
    """Nodes whose values are written at once, in the part of the last of them."""

    @cached_property
    def parts(self) -> list[list[int]]:
        """The nodes of each part."""
        steps = [0]
        for index in self.order:
            steps.append(steps[-1] + (self.graph.nodes[index].op not in ANEW))
        pieces = 1 if steps[-1] <= WHOLE else round(steps[-1] / PART)
        ends = [0]
        for k in range(1, pieces):
            aim = steps[-1] * k / pieces
            near = [p for p, step in enumerate(steps) if abs(step - aim) <= SLACK]
            ends.append(min(near, key=lambda p: self._across[p]))
        ends.append(len(self.order))
        return [list(self.order[a:b]) for a, b in pairwise(ends)]

    @cached_property
    def _across(self) -> list[int]:
        """How many values are on their way across each place between two nodes."""
        place, last = {index: p for p, index in enumerate(self.order)}, dict[int, int]()
        for index in self.order:
            for a in self._behind(self._operands(index)):
                last[a] = place[index]
        change = [0] * (len(self.order) + 2)
        for a, end in last.items():
            change[place[a] + 1] += 1
            change[end + 1] -= 1
        return list(accumulate(change))

    def _operands(self, index: int) -> tuple[int, ...]:
        """What a node reads when it is made here."""
        return () if index in self.staged else self.graph.nodes[index].args

    def _behind(self, nodes: Iterable[int]) -> set[int]:
        """Values that have to be there for some nodes to be known."""
        found, stack = set[int](), list(nodes)
        while stack:
            index = stack.pop()
            if self.graph.nodes[index].op in ANEW:
                stack.extend(self.graph.nodes[index].args)
            elif index not in self.staged:
                found.add(index)
        return found

    @cached_property
    def part_of(self) -> dict[int, int]:
        """The part of each node."""
        return {index: part for part, nodes in enumerate(self.parts) for index in nodes}

    def written_in(self, nodes: Iterable[int]) -> int:
        """The part in which the last of some nodes is made."""
        return max(self.part_of[index] for index in nodes)

    def late(self, part: int) -> list[int]:
        """Nodes of earlier parts whose values are written in this one."""
        rows = [nodes for nodes in self.together if self.written_in(nodes) == part]
        return list(dict.fromkeys(i for nodes in rows for i in nodes if self.part_of[i] < part))

    @cached_property
    def places(self) -> dict[int, int]:
        """Where each value lies that another part reads."""
        if len(self.parts) == 1:
            return {}
        last: dict[int, int] = {}
        for part, nodes in enumerate(self.parts):
            args = [a for index in nodes for a in self._operands(index)]
            last.update(dict.fromkeys(self._behind([*args, *self.late(part)]), part))
        found, free, busy, size = dict[int, int](), list[int](), list[tuple[int, int]](), 0
        for part, nodes in enumerate(self.parts):
            free += [place for end, place in busy if end < part]
            busy = [(end, place) for end, place in busy if end >= part]
            for index in nodes:
                if last.get(index, -1) > part:
                    if not free:
                        free.append(size)
                        size += 1
                    found[index] = free.pop()
                    busy.append((last[index], found[index]))
        return found
