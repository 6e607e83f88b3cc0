"""Lines of memory that are asked for before they are needed.

A tile's rows come in before anything is computed on them, and results leave as they are made. Where the arrays lie far
away, code that waits for them waits as long as the memory takes, and computes afterwards. So while a tile is computed,
the rows of a later tile are asked for, line by line between the operations. All at once would not do: a processor has
some twenty requests under way, and whoever makes more waits as well (measured: one at a time is best). Nor would it if
the tile itself did not fit into the first-level cache: what it fetches from the second level would queue behind them.

Nothing outside the arrays is asked for: where the later tile is not whole, or rows do not lie side by side, the lines
are those of the tile at hand, which are there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from forearm.compiler.llvm.nodes import Writer

if TYPE_CHECKING:
    from forearm.compiler.llvm.sections import ProgramSection
    from forearm.compiler.llvm.tiles import Plan

LINE = 64
"""Bytes of a line of the cache."""
FORESIGHT = 1500
"""Operations, with the numbers that are written twice, in which a line comes from far away."""
FARTHEST = 8
"""Tiles ahead at most."""
LEVELS = {"in": 3, "out": 2}
"""How close lines are brought: inputs, which are waited for, into the first level, lines that will be written into the
second."""


def tiles_ahead(plan: Plan) -> int:
    """How many tiles ahead rows are asked for."""
    written = sum(plan.graph.outputs[i].size for i in plan.wide)
    cost = (len(plan.program.made) + 2 * written) * (plan.tile // plan.lanes.width)
    return min(FARTHEST, -(-FORESIGHT // max(1, cost)))


class LinesAhead:
    """What one vector of states asks for while a section of the program runs."""

    def __init__(self, w: Writer, plan: Plan, index: str, section: ProgramSection) -> None:
        """The vector that starts with state `index` of the tile."""
        place = plan.program.place
        self.w, self.total = w, max(1, len(place))
        before = plan.sections[: plan.sections.index(section)]
        self.done = sum(node in place for one in before for node in one.nodes)
        self.bases: dict[str, str] = {}
        lines: list[tuple[float, str, int, int]] = []
        for side, i in plan.asked:
            size = plan.port(side, i).size * plan.lanes.itemsize
            offsets = range(0, plan.lanes.width * size, LINE)
            name = f"%{side}{i}_ahead"
            self.bases[name] = w.let(f"getelementptr i8, ptr {name}, i64 {w.let(f'mul i64 {index}, {size}')}")
            lines += [(at / len(offsets), name, offset, LEVELS[side]) for at, offset in enumerate(offsets)]
        self.lines = sorted(lines)
        self.asked = self._due

    @property
    def _due(self) -> int:
        return len(self.lines) * self.done // self.total

    def go_on(self) -> None:
        """One more operation is done: ask for what is due."""
        self.done += 1
        for _, name, offset, level in self.lines[self.asked : self._due]:
            place = self.w.let(f"getelementptr i8, ptr {self.bases[name]}, i64 {offset}")
            self.w.put(f"call void @llvm.prefetch.p0(ptr {place}, i32 0, i32 {level}, i32 1)")
        self.asked = self._due
