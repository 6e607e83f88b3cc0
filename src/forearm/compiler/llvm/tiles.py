"""A tile of states through a graph: which column holds what, and the code between the columns.

The sines and cosines of a tile are taken first, all at once, by a short loop that keeps the arithmetic units
busy; the graph then runs vector by vector, reading them from the scratch area as it reads the inputs.
(Sixteen or thirty-two registers could not hold them anyway.) An angle that itself depends on a sine is taken
in place, by the same function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import accumulate, count, groupby

from forearm.compiler.graph.graph import Graph, Node, Port
from forearm.compiler.llvm.lanes import Lanes
from forearm.compiler.llvm.lines_ahead import LinesAhead
from forearm.compiler.llvm.movers import TILE, Sink, WideRows, row_pieces
from forearm.compiler.llvm.nodes import SpreadConstants, Writer, emit_nodes, needed
from forearm.compiler.llvm.sections import BOUNDARY, REGION, LongProgram, ProgramSection
from forearm.compiler.llvm.tile_columns import Columns, Outer, call_sincos, write_angles

SCRATCH = 20_000
"""Bytes that a tile may fill: it should stay in the first-level cache, beside the constants of the code. Programs in
sections take three times that and twice as many states, or more for four vectors at least: the more, the less often
code is read anew (measured)."""
WIDE = 4
"""Numbers in an output from which its rows are written straight from registers (layout.WideRows)."""

LONG_RUN, MANY_ZEROS = 64, 1000
"""Pieces of a row that are zero, side by side or in all (or nine of ten), from which rows are cleared
first."""
TILE_BYTES = (96, 128)
"""Least and most in a column of a tile of rows that runs through sections: less and code is read anew too often."""
FIRST_LEVEL = 32_768
"""Bytes of the first-level cache: where not even the smallest tile fits, the largest is as good."""
LARGEST = {"rows": 16, "columns": 64, "": 16}
"""States in a tile at most: fetching a small tile of rows overlaps the arithmetic of another; columns want more of a
line at once (measured)."""


@dataclass(frozen=True)
class Plan:
    """The columns of the scratch area: inputs, outputs, computed angles, sines, cosines."""

    graph: Graph
    """What runs."""
    lanes: Lanes
    """The type of one value."""
    layout: str = ""
    """How arrays lie that are read and written straight: `rows` (wide outputs), `columns` (all), or none."""
    shared: int | None = None
    """Number of an input that all states of a call have in common; each of its numbers lies there in every lane."""

    @cached_property
    def angles(self) -> list[int]:
        """Arguments of sines and cosines that depend on no sine: inputs in their order, then others."""
        nodes, after = self.graph.nodes, set[int]()
        found: dict[int, None] = {}
        for index, node in enumerate(nodes):
            if node.op in ("sin", "cos"):
                after.add(index)
                if node.args[0] not in after:
                    found[node.args[0]] = None
            elif any(a in after for a in node.args):
                after.add(index)
        return sorted(found, key=lambda i: (nodes[i].op != "input", nodes[i].at or (0, i)))

    @cached_property
    def inputs(self) -> list[int]:
        """First column of each input."""
        return list(accumulate(self._input_sizes, initial=0))[:-1]

    @cached_property
    def _input_sizes(self) -> list[int]:
        return [0 if i == self.shared else p.size for i, p in enumerate(self.graph.inputs)]

    @cached_property
    def outputs(self) -> list[int]:
        """First column of each output, and the first one after all."""
        sizes = [0 if i in self.wide else p.size for i, p in enumerate(self.graph.outputs)]
        return list(accumulate(sizes, initial=sum(self._input_sizes)))

    @cached_property
    def wide(self) -> list[int]:
        """Numbers of the outputs whose rows are written straight."""
        return [i for i, p in enumerate(self.graph.outputs) if self.layout == "rows" and p.size >= WIDE]

    @cached_property
    def cleared(self) -> dict[int, frozenset[tuple[int, ...]]]:
        """By wide output: pieces of a row that are always zero, where they are so many that a loop clears rows first.

        LLVM takes a time that grows with the square of the constants that are stored side by side.
        """
        found = {}
        for i in self.wide:
            zero = [is_zero(self.graph.nodes[index]) for index in self.graph.results[i]]
            pieces = row_pieces(self.lanes, len(zero))[1]
            always = [all(zero[e] for e in piece) for piece in pieces]
            longest = max((len(list(run)) for are, run in groupby(always) if are), default=0)
            most = len(pieces) >= LONG_RUN and 10 * sum(always) >= 9 * len(pieces)
            many = most or longest >= LONG_RUN or sum(always) >= MANY_ZEROS
            found[i] = frozenset(p for p, are in zip(pieces, always, strict=True) if are and many)
        return found

    @cached_property
    def asked(self) -> list[tuple[str, int]]:
        """Inputs (`in`) and outputs (`out`), by number, whose rows are asked for ahead."""
        moved = [
            i
            for i, p in enumerate(self.graph.inputs)
            if self.layout == "rows" and i != self.shared and p.size
        ]
        return [("in", i) for i in moved] + [("out", i) for i in self.wide]

    def port(self, side: str, number: int) -> Port:
        """An input or output."""
        return (self.graph.inputs if side == "in" else self.graph.outputs)[number]

    @cached_property
    def angle_columns(self) -> list[int]:
        """Column of each angle: its input's, or one of its own."""
        free, columns = self.outputs[-1], []
        for index in self.angles:
            at = self.graph.nodes[index].at
            columns.append(free if at is None else self.inputs[at[0]] + at[1])
            free += at is None
        return columns

    @cached_property
    def sines(self) -> int:
        """First column of the sines; the cosines follow, then one angle, sine and cosine taken in place."""
        computed = sum(self.graph.nodes[i].op != "input" for i in self.angles)
        return self.outputs[-1] + computed

    @cached_property
    def columns(self) -> int:
        """How many there are."""
        waiting = [column + 1 for section in self.sections for column in section.kept.values()]
        return max([self.sines + 2 * len(self.angles) + 3, *waiting])

    @cached_property
    def staged(self) -> dict[int, int]:
        """Columns of the sines and cosines that are taken before all else."""
        angle = {node: a for a, node in enumerate(self.angles)}
        return {
            i: self.sines + angle[node.args[0]] + len(angle) * (node.op == "cos")
            for i, node in enumerate(self.graph.nodes)
            if node.op in ("sin", "cos") and node.args[0] in angle
        }

    @cached_property
    def elements(self) -> dict[int, list[tuple[int, int]]]:
        """By node: outputs, and elements of them, that it is."""
        found: dict[int, list[tuple[int, int]]] = {}
        for output, row in enumerate(self.graph.results):
            for k, index in enumerate(row):
                found.setdefault(index, []).append((output, k))
        return found

    @cached_property
    def program(self) -> LongProgram:
        """The nodes between columns and results."""
        groups = []
        for output, (port, row) in enumerate(zip(self.graph.outputs, self.graph.results, strict=True)):
            wide = output in self.wide
            pieces = row_pieces(self.lanes, port.size)[1] if wide else [(k,) for k in range(len(row))]
            groups += [[row[k] for k in piece] for piece in pieces]
        return LongProgram(self.graph, needed(self.graph, self.elements, self.staged), self.staged, groups)

    @cached_property
    def sections(self) -> list[ProgramSection]:
        """The program, in sections where it is long; without a layout, inputs stay: somebody runs tiles again."""
        lying = dict(self.staged)
        for index, node in enumerate(self.graph.nodes):
            if self.layout and node.at is not None and node.at[0] != self.shared:
                lying[index] = self.inputs[node.at[0]] + node.at[1]
        return self.program.sections(lying, self.sines + 2 * len(self.angles) + 3)

    @property
    def largest(self) -> int:
        """States in a tile at most."""
        return LARGEST[self.layout]

    @cached_property
    def tile(self) -> int:
        """States in a tile: a multiple of the width that keeps the scratch area in the cache."""
        width = self.lanes.width
        if len(self.sections) > 1 and self.layout == "rows":
            return self._tile_of_rows
        if len(self.sections) > 1:
            states = min(2 * self.largest, 3 * SCRATCH // (self.columns * self.lanes.itemsize))
            return max(4 * width, states // (2 * width) * 2 * width)
        states = min(self.largest, SCRATCH // (self.columns * self.lanes.itemsize))
        return max(width, states // width * width)

    @property
    def _tile_of_rows(self) -> int:
        """States in a tile of a program in sections: with the rows that it writes it should stay in the cache too."""
        lanes, written = self.lanes, sum(self.graph.outputs[i].size for i in self.wide)
        vector = (self.columns + written) * lanes.size
        fewest, most = (max(1, size // lanes.size) for size in TILE_BYTES)
        vectors = min(most, max(fewest, SCRATCH // vector))
        return lanes.width * (vectors if vectors * vector <= FIRST_LEVEL else most)

    @property
    def pairs(self) -> Lanes:
        """The type on which sines are computed: two vectors at once hide the time that each operation takes."""
        double = 2 * self.lanes.width
        return Lanes(self.lanes.dtype, double if self.tile % double == 0 else self.lanes.width)

    @property
    def pitch(self) -> int:
        """Bytes from column to column."""
        return self.tile * self.lanes.itemsize

    def waiting(self, output: int) -> int:
        """Where in the scratch area the rows of a wide output wait, in a tile that is not full."""
        before = sum(self.graph.outputs[i].size for i in self.wide if i < output)
        return (self.columns + before) * self.pitch

    @property
    def size(self) -> int:
        """Bytes of the scratch area."""
        return (self.columns + sum(self.graph.outputs[i].size for i in self.wide)) * self.pitch

    def told(self, outer: list[str]) -> list[str]:
        """What `@tile` is told after the scratch area and the number of states; `outer` of columns."""
        rows = [f"ptr noalias %rows{i}" for i in self.wide]
        rows += [f"ptr %{side}{i}_ahead" for side, i in self.asked]
        return rows + outer + (["ptr noalias %shared"] if self.shared is not None else [])

    def sinks(self, w: Writer, index: str, section: ProgramSection) -> Mapping[int, Sink]:
        """Where outputs go, by number, that go into no column: what a section makes of the vector at a state."""
        return _wide_rows(w, self, index, section is self.sections[0])

    def text(self) -> str:
        """The function `@tile` of this plan."""
        return tile_function(self)

    @property
    def runs(self) -> list[tuple[int, int, int]]:
        """Angles whose columns lie side by side: (first column, first angle, how many)."""
        runs: list[list[int]] = []
        for angle, column in enumerate(self.angle_columns):
            together = runs and column == runs[-1][0] + runs[-1][2] and column not in self.inputs
            if together:
                runs[-1][2] += 1
            else:
                runs.append([column, angle, 1])
        return [tuple(r) for r in runs]  # type: ignore[misc]


def is_zero(node: Node) -> bool:
    """Whether it is the constant 0, without a sign."""
    return node.op == "const" and str(node.value) == "0.0"


def tile_function(plan: Plan) -> str:
    """The function `@tile(scratch, count, ...)`: outputs of the first `count` states (a multiple of the width).

    Further arguments are the addresses of wide outputs that are written straight (rows), or address and bytes from
    column to column of every input and output (columns); at last that of the input that all states share.
    """
    w = Writer()
    numbers = SpreadConstants(plan.lanes)
    outer = Outer(w, plan) if plan.layout == "columns" else None
    computed = [i for i in plan.angles if plan.graph.nodes[i].op != "input"]
    if computed:
        with w.loop("%count", plan.lanes.width) as index:
            write_angles(w, plan, Columns(w, plan, index, outer), computed)
    call_sincos(w, plan, "%count", outer)
    told = ["ptr noalias %scratch", "i64 %count", *plan.told(outer.signature if outer else [])]
    head = ", ".join(told)
    if len(plan.sections) == 1:
        write_section(w, plan, plan.sections[0], outer, numbers)
        return numbers.text + w.function(f"internal void @tile({head}) {TILE}")
    parts = ["declare void @llvm.codeview.annotation(metadata)\n"]
    for k, section in enumerate(plan.sections):
        own = Writer()
        inside = Outer(own, plan) if plan.layout == "columns" else None
        write_section(own, plan, section, inside, numbers)
        parts.append(own.function(f"internal void @section{k}({head}) {TILE}"))
        w.put(f"call void @section{k}({head.replace(' noalias', '')})")
    parts.append(w.function(f"internal void @tile({head}) {TILE}"))
    return numbers.text + "\n".join(parts)


def _wide_rows(w: Writer, plan: Plan, index: str, first: bool) -> dict[int, WideRows]:
    """The rows of the wide outputs for the vector that starts with state `index` of the tile."""
    found = {}
    for i in plan.wide:
        size = plan.graph.outputs[i].size
        base = w.at(f"%rows{i}", w.let(f"mul i64 {index}, {size * plan.lanes.itemsize}"))
        found[i] = WideRows(w, plan.lanes, size, base)
        if pieces := plan.cleared[i]:
            found[i].waiting = [piece for piece in found[i].waiting if piece not in pieces]
            if first:
                found[i].clear()
    return found


def write_section(
    w: Writer, plan: Plan, section: ProgramSection, outer: Outer | None, numbers: SpreadConstants
) -> None:
    """A section of the graph on the vectors of a tile, one after the other."""
    with w.loop("%count", plan.lanes.width) as index:
        sinks, ahead = plan.sinks(w, index, section), LinesAhead(w, plan, index, section)
        columns = Columns(w, plan, index, outer)
        _write_vector(w, plan, columns, sinks, section, partial(numbers.number, w), ahead)


def _write_vector(
    w: Writer,
    plan: Plan,
    columns: Columns,
    sinks: Mapping[int, Sink],
    section: ProgramSection,
    number: Callable[[float], str],
    ahead: LinesAhead,
) -> None:
    """A section on one vector of states, its outputs stored as soon as they are known."""

    def fetch(index: int) -> str | None:
        column = section.taken.get(index, plan.staged.get(index))
        return columns.read(index) if column is None else columns.load(column)

    cut, written = len(plan.sections) > 1, count()

    def made(index: int, value: str) -> None:
        if cut and next(written) % REGION == REGION - 1:
            w.put(BOUNDARY)
        if index in plan.program.place:
            ahead.go_on()
        if index in section.kept:
            columns.store(value, section.kept[index])
        for output, k in plan.elements.get(index, ()):
            if output in sinks:
                sinks[output].put(k, value)
            else:
                columns.give(value, output, k)

    if cut:
        wide = {i: rows for i, rows in sinks.items() if isinstance(rows, WideRows)}
        _share_rows(plan, wide, section, fetch)
    emit_nodes(w, plan.lanes, plan.graph, section.nodes, fetch, columns.sincos, made, number)


def _share_rows(
    plan: Plan, wide: dict[int, WideRows], section: ProgramSection, fetch: Callable[[int], str | None]
) -> None:
    """Leave to the rows the pieces whose last element this section makes; the other elements are fetched."""
    here, graph, last = set(section.nodes), plan.graph, section is plan.sections[-1]

    def value(index: int) -> str:
        return fetch(index) or plan.lanes.number(graph.nodes[index].value or 0.0)

    for output, rows in wide.items():
        row = graph.results[output]
        passive = [e for e, index in enumerate(row) if index not in plan.program.place]
        rows.elsewhere = {e: partial(value, row[e]) for e in passive}
        rows.elsewhere |= {e: partial(value, i) for e, i in enumerate(row) if i in section.taken}
        there = set(rows.elsewhere) | {e for e, i in enumerate(row) if i in here}
        rows.waiting = [
            piece
            for piece in rows.waiting
            if there.issuperset(piece) and (last or any(row[e] in here for e in piece))
        ]
