"""The walk of a state over the points around it, with a vector of a grid's entries, as LLVM's text."""

from __future__ import annotations

from forearm.compiler.llvm.lanes import Lanes
from forearm.tabulated.grids import Grid
from forearm.tabulated.programs.scratch_areas import ProgramPart, ScratchArea

MOST_SUMS = 14
"""Vectors of entries that are summed at once: with more, registers run out."""
UNROLLED = 128
"""Steps up to which the walk over the points is written out; beyond, the first axes are loops."""
ONE = Lanes("float64", 1)


class GridWalk(ProgramPart):
    """`@gridk(table, scratch, count)`: the entries of a grid between its points, a row for each state."""

    def __init__(self, area: ScratchArea, k: int) -> None:
        """The k-th grid."""
        super().__init__(area)
        self.k, self.grid = k, area.plan.grids[k]

    def function(self) -> str:
        """The text."""
        w, area, grid = self.w, self.area, self.grid
        self.base = self.told((self.k, "numbers"), "ptr")
        self.strides = [self.told((self.k, axis), "i64") for axis in grid.axes]
        with w.loop("%count") as state:
            self.at = w.let(f"mul i64 {state}, 8")
            row = w.at(w.at("%scratch", area.rows), w.let(f"mul i64 {state}, {8 * len(grid.entries)}"))
            for panel in panels(grid, self.lanes.width):
                self.panel = panel
                self.known: dict[tuple[int, int], tuple[str, str]] = {}
                sums = self._from(0, self.base, "", [])
                for (first, width), total in zip(panel, sums, strict=True):
                    w.store(Lanes("float64", width), total, w.at(row, 8 * first))
        return w.function(
            f"internal void @grid{self.k}(ptr noalias %table, ptr noalias %scratch, i64 %count) nounwind noinline"
        )

    def _from(self, level: int, cell: str, weight: str, sums: list[str]) -> list[str]:
        """The sums after the points from this axis on; `cell` and `weight` are what the axes before make of them."""
        depth = len(self.grid.axes)
        if level == depth:
            return self._add(cell, weight, sums)
        if self.area.order ** (depth - level) * len(self.panel) <= UNROLLED:
            for k in range(self.area.order):
                sums = self._from(level + 1, *self._point(level, k, cell, weight), sums)
            return sums
        return self._loop(level, cell, weight, sums)

    def _point(self, level: int, k: int, cell: str, weight: str) -> tuple[str, str]:
        """One point further: written out, so what it needs of the axis is read once."""
        if (level, k) not in self.known:
            axis, area = self.grid.axes[level], self.area
            self.known[level, k] = self._read(area.place(axis, k), area.weight(axis, k), level)
        return self._onward(cell, weight, *self.known[level, k])

    def _read(self, place: int, weight: int, level: int) -> tuple[str, str]:
        w = self.w
        index = w.let(f"load i64, ptr {self.where(place, self.at)}")
        skip = w.let(f"mul i64 {index}, {self.strides[level]}")
        return skip, "" if self.area.order == 1 else w.load(ONE, self.where(weight, self.at))

    def _onward(self, cell: str, weight: str, skip: str, times: str) -> tuple[str, str]:
        both = self.w.let(f"fmul double {weight}, {times}") if weight and times else times
        return self.w.at(cell, skip), both

    def _loop(self, level: int, cell: str, weight: str, sums: list[str]) -> list[str]:
        """The points of one axis, one after the other; the sums go round with it."""
        w, area, axis = self.w, self.area, self.grid.axes[level]
        types = [Lanes("float64", width) for _, width in self.panel]
        begun = sums or [each.number(0.0) for each in types]
        before, head, latch, done = w.block, w.fresh("head"), w.fresh("latch"), w.fresh("done")
        turn, following = f"%turn{w.count}", f"%next{w.count}"
        w.put(f"br label %{head}")
        w.label(head)
        w.put(f"{turn} = phi i64 [ 0, %{before} ], [ {following}, %{latch} ]")
        here, names = len(w.lines), [f"%sum{w.count}_{k}" for k in range(len(types))]
        column = w.let(f"mul i64 {turn}, {area.pitch}")
        index = w.let(f"load i64, ptr {w.at(self.where(area.place(axis, 0), self.at), column)}")
        skip = w.let(f"mul i64 {index}, {self.strides[level]}")
        times = w.load(ONE, w.at(self.where(area.weight(axis, 0), self.at), column))
        kept, self.known = self.known, {}
        found = self._from(level + 1, *self._onward(cell, weight, skip, times), names)
        self.known = kept
        w.put(f"br label %{latch}")
        w.label(latch)
        w.lines[here:here] = [
            f"  {name} = phi {each.type} [ {start}, %{before} ], [ {end}, %{latch} ]"
            for name, each, start, end in zip(names, types, begun, found, strict=True)
        ]
        w.put(f"{following} = add i64 {turn}, 1")
        more = w.let(f"icmp slt i64 {following}, {area.order}")
        w.put(f"br i1 {more}, label %{head}, label %{done}")
        w.label(done)
        return found

    def _add(self, cell: str, weight: str, sums: list[str]) -> list[str]:
        """One point's entries, weighted, to the sums."""
        w, stored, added = self.w, self.area.stored, []
        for k, (first, width) in enumerate(self.panel):
            lanes = Lanes("float64", width)
            value = w.load(Lanes(stored.dtype, width), w.at(cell, first * stored.itemsize))
            if stored.dtype == "float32":
                value = w.let(f"fpext {lanes.of('float')} {value} to {lanes.type}")
            if weight:
                value = w.let(f"fmul {lanes.type} {value}, {self.everywhere(weight, 'double', width)}")
            added.append(w.let(f"fadd {lanes.type} {sums[k]}, {value}") if sums else value)
        return added


def panels(grid: Grid, width: int) -> list[list[tuple[int, int]]]:
    """(first entry, entries) of each vector, as many vectors together as registers hold sums for."""
    pieces, first, left = [], 0, len(grid.entries)
    while left:
        while width > left:
            width //= 2
        pieces.append((first, width))
        first, left = first + width, left - width
    groups = -(-len(pieces) // MOST_SUMS)
    size = -(-len(pieces) // groups)
    return [pieces[k : k + size] for k in range(0, len(pieces), size)]
