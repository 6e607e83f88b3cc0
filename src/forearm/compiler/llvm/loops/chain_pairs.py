"""The mass matrix of a long chain: an entry for each pair of links, a loop in a loop (see composite_bodies.py)."""

from __future__ import annotations

from collections.abc import Callable

from forearm.compiler.llvm.lanes import Lanes
from forearm.compiler.llvm.movers import part_of, transpose
from forearm.compiler.llvm.nodes import Writer, fma

BLOCK = 4
"""Links in a block: four numbers of a row are one store."""
AHEAD = 12
"""How many numbers ahead the lines of a row are asked for: the next line or the one after it."""

Load = Callable[[int, str], str]
"""Gives one of the numbers of a link, a vector of states."""
Put = Callable[[str, str], None]
"""Takes the place of an entry in the matrix, and its value."""


class Pairs:
    """Writes M[i, j] = z_i · (m_j + (p_j - p_i) × f_j) for i up to j, and its mirror image."""

    def __init__(self, w: Writer, lanes: Lanes, n: int, load: Load) -> None:
        """What is wanted of each link is there."""
        self.w, self.lanes, self.n, self.load = w, lanes, n, load

    def into_columns(self, put: Put) -> None:
        """Every entry into a column of its own."""
        w = self.w
        with w.loop(self.n) as j:
            self._row_to_the_diagonal(j, "0", put)

    def into_rows(self, base: str) -> None:
        """Straight into the states' matrices, side by side from `base` on: by blocks, and near the diagonal by entries.

        A matrix of a hundred links is larger than the caches that a column for each of its entries would fill.
        """
        w, blocks = self.w, self.n // BLOCK
        if blocks > 1:
            with w.loop(blocks, 1, 1) as right, w.loop(right) as left:
                i, j = (w.let(f"mul i64 {block}, {BLOCK}") for block in (left, right))
                self._block(i, j, base)

        def put(place: str, value: str) -> None:
            for state in range(self.lanes.width):
                one = part_of(w, self.lanes, Lanes(self.lanes.dtype, 1), value, state)
                w.store(Lanes(self.lanes.dtype, 1), one, self._place(base, state, place))

        for start, end, aligned in ((0, blocks * BLOCK, True), (blocks * BLOCK, self.n, False)):
            if start < end:
                with w.loop(end, 1, start) as j:
                    self._row_to_the_diagonal(j, w.let(f"and i64 {j}, {-BLOCK}") if aligned else "0", put)

    def _row_to_the_diagonal(self, j: str, start: str, put: Put) -> None:
        w, n = self.w, self.n
        of_j = self._of_column(j)
        with w.loop(w.let(f"add i64 {j}, 1"), 1, start) as i:
            value = self._entry(self._of_row(i), of_j)
            for a, b in ((i, j), (j, i)):
                put(w.let(f"add i64 {w.let(f'mul i64 {a}, {n}')}, {b}"), value)

    def _block(self, i: str, j: str, base: str) -> None:
        """Rows i to i + 3 and columns j to j + 3, off the diagonal, and their mirror image."""
        w, steps = self.w, range(BLOCK)
        self._ask(i, j, base)
        of_i = [self._of_row(w.let(f"add i64 {i}, {a}")) for a in steps]
        values = {}
        for b in steps:
            of_j = self._of_column(w.let(f"add i64 {j}, {b}"))
            for a in steps:
                values[a, b] = self._entry(of_i[a], of_j)
            self._store_four([values[a, b] for a in steps], w.let(f"add i64 {j}, {b}"), i, base)
        for a in steps:
            self._store_four([values[a, b] for b in steps], w.let(f"add i64 {i}, {a}"), j, base)

    def _ask(self, i: str, j: str, base: str) -> None:
        """Ask for what later blocks write into rows j to j + 3 of every state, up to the diagonal.

        Too many rows are under way for a processor to foresee them; the mirror image gains nothing by asking.
        """
        w = self.w
        later = w.let(f"add i64 {i}, {AHEAD}")
        inside = w.let(f"icmp ult i64 {later}, {j}")
        column = w.let(f"select i1 {inside}, i64 {later}, i64 {j}")
        for b in range(BLOCK):
            row = w.let(f"mul i64 {w.let(f'add i64 {j}, {b}')}, {self.n}")
            place = w.let(f"add i64 {row}, {column}")
            for state in range(self.lanes.width):
                address = self._place(base, state, place)
                w.put(f"call void @llvm.prefetch.p0(ptr {address}, i32 0, i32 2, i32 1)")

    def _store_four(self, values: list[str], row: str, column: str, base: str) -> None:
        """Four neighbours of a row of every state."""
        w, piece = self.w, Lanes(self.lanes.dtype, min(BLOCK, self.lanes.width))
        place = w.let(f"add i64 {w.let(f'mul i64 {row}, {self.n}')}, {column}")
        for start in range(0, BLOCK, piece.width):
            here = place if start == 0 else w.let(f"add i64 {place}, {start}")
            turned = transpose(w, self.lanes, values[start : start + piece.width])
            for state, value in enumerate(turned):
                for group in range(self.lanes.width // piece.width):
                    address = self._place(base, state + group * piece.width, here)
                    w.store(piece, part_of(w, self.lanes, piece, value, group), address)

    def _place(self, base: str, state: int, place: str) -> str:
        """Where an entry of a state's matrix lies."""
        matrix = self.w.at(base, state * self.n * self.n * self.lanes.itemsize)
        return self.w.at(matrix, self.w.let(f"mul i64 {place}, {self.lanes.itemsize}"))

    def _of_row(self, i: str) -> list[str]:
        """z and p."""
        return [self.load(k, i) for k in range(6)]

    def _of_column(self, j: str) -> list[str]:
        """p, f and m."""
        return [self.load(k, j) for k in range(3, 12)]

    def _entry(self, of_i: list[str], of_j: list[str]) -> str:
        w, kind = self.w, self.lanes.type
        z, there, p, f, m = of_i[:3], of_i[3:], of_j[:3], of_j[3:6], of_j[6:]
        d = [w.let(f"fsub {kind} {a}, {b}") for a, b in zip(p, there, strict=True)]
        total = ""
        for k in range(3):
            a, b = (k + 1) % 3, (k + 2) % 3
            part = w.let(fma(self.lanes, d[a], f[b], m[k]))
            part = w.let(fma(self.lanes, w.let(f"fneg {kind} {d[b]}"), f[a], part))
            total = w.let(fma(self.lanes, z[k], part, total) if total else f"fmul {kind} {z[k]}, {part}")
        return total
