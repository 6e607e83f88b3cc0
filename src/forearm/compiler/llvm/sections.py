"""Long programs in sections: each does all vectors of a tile before the next one begins.

A processor keeps some thousand decoded instructions. Straight-line code that is longer is decoded anew for every
vector of states, and that takes longer than the arithmetic (measured on Zen 3: of a stream of independent multiply-adds
with an operand in memory each, 6 in a nanosecond up to 2000 of them, 3 from 4000 on). So the nodes are cut into
sections that fit, where few values are alive. What a later section reads waits in a column of the scratch area, where
most of it would have been spilled anyway. Signs and constants are made anew where they are read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import accumulate

from forearm.compiler.graph.graph import Graph

LONG = 600
"""Operations (a multiply-add is one) up to which a program is one section: with loads and spills 1200 instructions."""
LONGEST = 350
"""Operations in a section of a longer program (measured)."""
WRITING = 2
"""For each result, so many operations more make a program long: the writing of many takes the time, not the code."""
SLACK = 0.2
"""How far, in lengths of a section, a cut may move to where fewer values are alive."""
REGION = 32
"""Operations of a program in sections among which LLVM may change the order: ours keeps fewer values alive (measured:
5 % fewer instructions; programs in one piece gain nothing)."""
BOUNDARY = "call void @llvm.codeview.annotation(metadata !2)"
"""A label without code, which LLVM moves nothing across."""


@dataclass(frozen=True)
class ProgramSection:
    """A stretch of the program."""

    nodes: list[int] = field(default_factory=list)
    """What it computes, in order."""
    taken: dict[int, int] = field(default_factory=dict)
    """Values of sections before that it reads, and their columns."""
    kept: dict[int, int] = field(default_factory=dict)
    """Values that sections after it read, and their columns."""


class LongProgram:
    """The nodes that a tile needs, and where they may be cut."""

    def __init__(
        self, graph: Graph, order: list[int], staged: Iterable[int], groups: list[list[int]]
    ) -> None:
        """Find out what is made, and who reads it.

        Args:
            graph: The graph.
            order: The nodes that are needed, in order.
            staged: Those of them that lie in memory, besides the inputs: sines and cosines taken before.
            groups: Results that are written together, in the section of the last one.
        """
        self.graph, self.order, self.groups = graph, order, groups
        outside, results = set(staged), {i for group in groups for i in group}
        self.made = [
            i
            for i in order
            if i not in outside
            and graph.nodes[i].op not in ("const", "input")
            and (graph.nodes[i].op != "neg" or i in results)
        ]
        self.place = {node: at for at, node in enumerate(self.made)}
        self.readers = self._readers()

    def _readers(self) -> dict[int, list[int]]:
        """By value, signs aside: places in `made` where it is read."""
        found: dict[int, list[int]] = {}
        for at, node in enumerate(self.made):
            for a in self.graph.nodes[node].args:
                while self.graph.nodes[a].op == "neg":
                    a = self.graph.nodes[a].args[0]
                found.setdefault(a, []).append(at)
        for group in self.groups:
            written = max((self.place[i] for i in group if i in self.place), default=len(self.made) - 1)
            for i in group:
                found.setdefault(i, []).append(written)
        return found

    @property
    def cuts(self) -> list[int]:
        """Places before which a new section begins: evenly, moved to where few values are alive."""
        total = len(self.made)
        if total <= LONG + WRITING * len(self.groups):
            return []
        parts = -(-total // LONGEST)
        change = [0] * (total + 1)
        for node, at in self.place.items():
            change[at + 1] += 1
            change[max([at, *self.readers.get(node, ())]) + 1] -= 1
        alive = list(accumulate(change))
        reach = int(SLACK * total / parts)
        evenly = [total * k // parts for k in range(1, parts)]
        return [min(range(c - reach, c + reach + 1), key=lambda p: (alive[p], abs(p - c))) for c in evenly]

    def sections(self, lying: dict[int, int], first_free: int) -> list[ProgramSection]:
        """The program, cut where it is long.

        Args:
            lying: Columns of what lies in memory; free for others when it has been read for the last time.
            first_free: From here on columns are free.
        """
        cuts = self.cuts
        if not cuts:
            return [ProgramSection(self.order)]
        number = [sum(at >= cut for cut in cuts) for at in range(len(self.made))]
        found = [ProgramSection() for _ in range(len(cuts) + 1)]
        for at, node in enumerate(self.made):
            found[number[at]].nodes.append(node)
        found[-1].nodes.extend(i for group in self.groups for i in group if i not in self.place)
        read = {node: sorted({number[at] for at in places}) for node, places in self.readers.items()}
        ends: list[list[int]] = [[] for _ in range(len(found) + 1)]  # columns that are free from a section on
        for node, column in lying.items():
            ends[read[node][-1] + 1 if node in read else 0].append(column)
        free: list[int] = []
        for here, section in enumerate(found):
            free += ends[here]
            for node in section.nodes:
                later = [s for s in read.get(node, ()) if s > here]
                if node in self.place and later:
                    column = free.pop() if free else first_free
                    first_free += column == first_free
                    section.kept[node] = column
                    ends[later[-1] + 1].append(column)
                    for s in later:
                        found[s].taken[node] = column
        return found
