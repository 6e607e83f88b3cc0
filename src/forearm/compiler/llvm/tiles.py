"""A tile of states through a graph: which column holds what, and the code between the columns.

The sines and cosines of a tile are taken first, all at once, by a short loop that keeps the arithmetic units
busy; the graph then runs vector by vector, reading them from the scratch area as it reads the inputs.
(Sixteen or thirty-two registers could not hold them anyway.) An angle that itself depends on a sine is taken
in place, by the same function.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import count

from forearm.compiler.graph.graph import Graph
from forearm.compiler.llvm.lanes import Lanes
from forearm.compiler.llvm.movers import WideRows, pieces
from forearm.compiler.llvm.nodes import Writer, emit_nodes, needed
from forearm.compiler.llvm.parts import Parts

SCRATCH = 20_000
"""Bytes that a tile may fill: it should stay in the first-level cache, beside the constants of the code."""
WIDE = 4
"""Numbers in an output from which its rows are written straight from registers (layout.WideRows)."""

LONG = 2000
"""Operations from which the code, some 10 bytes each, no longer fits where a processor keeps it decoded: from there on
the time is that of fetching it, and it is written to be short (measured)."""
HELD = 8
"""Operations of long code between two places across which LLVM may not move any: it would look for speed in another
order, and have a fifth more values to put aside."""

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
        return _running(self._input_sizes, 0)[:-1]

    @cached_property
    def _input_sizes(self) -> list[int]:
        return [0 if i == self.shared else p.size for i, p in enumerate(self.graph.inputs)]

    @cached_property
    def outputs(self) -> list[int]:
        """First column of each output, and the first one after all."""
        sizes = [0 if i in self.wide else p.size for i, p in enumerate(self.graph.outputs)]
        return _running(sizes, sum(self._input_sizes))

    @cached_property
    def wide(self) -> list[int]:
        """Numbers of the outputs whose rows are written straight."""
        return [i for i, p in enumerate(self.graph.outputs) if self.layout == "rows" and p.size >= WIDE]

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

    @property
    def columns(self) -> int:
        """How many there are."""
        return self.sines + 2 * len(self.angles) + 3

    @property
    def largest(self) -> int:
        """States in a tile at most."""
        return LARGEST[self.layout]

    @cached_property
    def tile(self) -> int:
        """States in a tile: a multiple of the width that keeps the scratch area in the cache."""
        states = SCRATCH // (self.columns * self.lanes.itemsize)
        return max(self.lanes.width, min(self.largest, states) // self.lanes.width * self.lanes.width)

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

    @cached_property
    def between(self) -> int:
        """Where in the scratch area values lie that a part leaves for another."""
        return (self.columns + sum(self.graph.outputs[i].size for i in self.wide)) * self.pitch

    @property
    def size(self) -> int:
        """Bytes of the scratch area."""
        return self.between + self.left * self.lanes.size

    @property
    def left(self) -> int:
        """How many values parts leave for others, at most at a time."""
        return 1 + max(self.parts.places.values(), default=-1)

    @cached_property
    def staged(self) -> dict[int, int]:
        """The column of each sine and cosine that is taken before the graph runs."""
        angle = {node: a for a, node in enumerate(self.angles)}
        return {
            i: self.sines + angle[node.args[0]] + len(angle) * (node.op == "cos")
            for i, node in enumerate(self.graph.nodes)
            if node.op in ("sin", "cos") and node.args[0] in angle
        }

    @cached_property
    def parts(self) -> Parts:
        """The graph, cut where it is very long."""
        graph = self.graph
        together = [
            tuple(graph.results[i][element] for element in piece)
            for i in self.wide
            for piece in pieces(self.lanes, graph.outputs[i].size)
        ]
        order = needed(graph, (r for row in graph.results for r in row), self.staged)
        return Parts(graph, order, frozenset(self.staged), tuple(together))

    @cached_property
    def long(self) -> bool:
        """Whether the code is long."""
        return self.graph.counts.operations >= LONG

    @cached_property
    def constants(self) -> dict[int, int]:
        """Place in the table `@constants` of each constant of long code, on machines that read one only at full width.

        An operation takes it from memory by itself; where it lies there once, it has to be spread by another first.
        """
        if not self.long or self.lanes.size != 32:
            return {}
        numbers = [i for i, node in enumerate(self.graph.nodes) if node.op == "const"]
        return {index: place for place, index in enumerate(numbers)}

    def text(self) -> str:
        """The function `@tile` of this plan, and what it refers to."""
        parts = [tile_function(self)]
        if self.long:
            parts.insert(0, "declare void @llvm.codeview.annotation(metadata)\n")
        if self.constants:
            lanes = self.lanes
            rows = [f"{lanes.type} {lanes.number(self.graph.nodes[i].value or 0.0)}" for i in self.constants]
            kind = f"[{len(rows)} x {lanes.type}]"
            parts.insert(
                0, f"@constants = internal constant {kind} [{', '.join(rows)}], align {lanes.size}\n"
            )
        return "\n".join(parts)

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


def _running(sizes: list[int], start: int) -> list[int]:
    totals = [start]
    for size in sizes:
        totals.append(totals[-1] + size)
    return totals


def tile_function(plan: Plan) -> str:
    """The function `@tile(scratch, count, ...)`: outputs of the first `count` states (a multiple of the width).

    Further arguments are the addresses of wide outputs that are written straight (rows), or address and bytes from
    column to column of every input and output (columns); at last that of the input that all states share.
    """
    w = Writer()
    outer = Outer(w, plan) if plan.layout == "columns" else None
    computed = [i for i in plan.angles if plan.graph.nodes[i].op != "input"]
    if computed:
        with w.loop("%count", plan.lanes.width) as index:
            _write_angles(w, plan, Columns(w, plan, index, outer), computed)
    call_sincos(w, plan, "%count", outer)
    more = [f"ptr noalias %rows{i}" for i in plan.wide] + (outer.signature if outer else [])
    more += ["ptr noalias %shared"] if plan.shared is not None else []
    parts = len(plan.parts.parts)
    with w.loop("%count", plan.lanes.width) as index:
        if parts == 1:
            write_results(w, plan, Columns(w, plan, index, outer), _wide_rows(w, plan, index))
        told = "".join(f", {a.replace(' noalias', '')}" for a in more)
        for part in range(parts if parts > 1 else 0):
            w.put(f"call void @part{part}(ptr %scratch, i64 {index}{told})")
    head = "".join(f", {a}" for a in more)
    functions = [_part_function(plan, part, head) for part in range(parts if parts > 1 else 0)]
    tile = w.function(f"internal void @tile(ptr noalias %scratch, i64 %count{head}) nounwind noinline")
    return "\n".join([*functions, tile])


def _part_function(plan: Plan, part: int, head: str) -> str:
    """The function `@part<k>(scratch, index, ...)`: one part of the graph on the vector that starts with a state."""
    w = Writer()
    outer = Outer(w, plan) if plan.layout == "columns" else None
    wide = _wide_rows(w, plan, "%index", part)
    write_results(w, plan, Columns(w, plan, "%index", outer), wide, part)
    return w.function(f"internal void @part{part}(ptr noalias %scratch, i64 %index{head}) nounwind noinline")


class Outer:
    """The columns of the arrays themselves: where each starts, told as arguments of the function."""

    def __init__(self, w: Writer, plan: Plan) -> None:
        """Say where every column starts, before any loop."""
        self.w, self.starts = w, dict[tuple[str, int, int], str]()
        sides = {"in": plan.graph.inputs, "out": plan.graph.outputs}
        self.signature = [
            word
            for side, ports in sides.items()
            for i in range(len(ports))
            for word in (f"ptr noalias %{side}{i}", f"i64 %pitch_{side}{i}")
        ]
        for side, ports in sides.items():
            for i, port in enumerate(ports):
                for k in range(port.size):
                    offset = w.let(f"mul i64 %pitch_{side}{i}, {k}")
                    self.starts[side, i, k] = w.at(f"%{side}{i}", offset)


def _wide_rows(w: Writer, plan: Plan, index: str, part: int = 0) -> dict[int, WideRows]:
    """The rows of the wide outputs for the vector that starts with state `index` of the tile: what a part writes."""
    found = {}
    for i in plan.wide:
        size, nodes = plan.graph.outputs[i].size, plan.graph.results[i]
        base = w.at(f"%rows{i}", w.let(f"mul i64 {index}, {size * plan.lanes.itemsize}"))
        here = [p for p in pieces(plan.lanes, size) if plan.parts.written_in(nodes[e] for e in p) == part]
        found[i] = WideRows(w, plan.lanes, size, base, here)
        if not (plan.long and plan.lanes.size <= 32):  # there is time enough from line to line
            found[i].ask()
    return found


class Columns:
    """Addresses of one vector of states within the columns."""

    def __init__(self, w: Writer, plan: Plan, index: str, outer: Outer | None = None) -> None:
        """The vector that starts with state `index` of the tile; inputs and outputs are outside where that is known."""
        self.w, self.plan, self.outer = w, plan, outer
        self.offset = w.let(f"mul i64 {index}, {plan.lanes.itemsize}")
        self.base = w.at("%scratch", self.offset)

    def place(self, column: int) -> str:
        """Where the vector lies in a column."""
        return self.w.at(self.base, column * self.plan.pitch)

    def load(self, column: int) -> str:
        """The vector of a column."""
        return self.w.load(self.plan.lanes, self.place(column))

    def store(self, value: str, column: int) -> None:
        """Put a vector into a column."""
        self.w.store(self.plan.lanes, value, self.place(column))

    def read(self, index: int) -> str | None:
        """An input, where it is first used."""
        at = self.plan.graph.nodes[index].at
        if at is None:
            return None
        if at[0] == self.plan.shared:
            return self.w.load(self.plan.lanes, self.w.at("%shared", at[1] * self.plan.lanes.size))
        if self.outer is None:
            return self.load(self.plan.inputs[at[0]] + at[1])
        return self.w.load(self.plan.lanes, self.w.at(self.outer.starts["in", at[0], at[1]], self.offset))

    def give(self, value: str, output: int, element: int) -> None:
        """An element of an output."""
        if self.outer is None:
            self.store(value, self.plan.outputs[output] + element)
        else:
            place = self.w.at(self.outer.starts["out", output, element], self.offset)
            self.w.store(self.plan.lanes, value, place)

    def sincos(self, x: str) -> tuple[str, str]:
        """An angle that depends on sines: at the start of three columns that are there for it."""
        first = self.plan.sines + 2 * len(self.plan.angles)
        places = [self.w.at("%scratch", (first + i) * self.plan.pitch) for i in range(3)]
        self.w.store(self.plan.lanes, x, places[0])
        pointers = ", ".join(f"ptr {p}" for p in places)
        self.w.put(f"call void @sincos({pointers}, i64 1, i64 0, i64 0, i64 {self.plan.pairs.width})")
        return self.w.load(self.plan.lanes, places[1]), self.w.load(self.plan.lanes, places[2])


def _write_angles(w: Writer, plan: Plan, columns: Columns, computed: list[int]) -> None:
    values = emit_nodes(w, plan.lanes, plan.graph, needed(plan.graph, computed), columns.read, columns.sincos)
    for index, column in zip(plan.angles, plan.angle_columns, strict=True):
        if index in computed:
            columns.store(values[index], column)


def call_sincos(w: Writer, plan: Plan, count: str, outer: Outer | None = None) -> None:
    """Sines and cosines of all angles of a tile."""
    width = plan.pairs.width
    count = w.let(f"and i64 {w.let(f'add i64 {count}, {width - 1}')}, {-width}")
    for column, angle, how_many in plan.runs:
        places = [column, plan.sines + angle, plan.sines + len(plan.angles) + angle]
        pointers = [w.at("%scratch", p * plan.pitch) for p in places]
        apart, at = str(plan.pitch), plan.graph.nodes[plan.angles[angle]].at if outer else None
        if outer and at is not None:
            pointers[0], apart = outer.starts["in", at[0], at[1]], f"%pitch_in{at[0]}"
        told = f"{', '.join(f'ptr {p}' for p in pointers)}, i64 {how_many}, i64 {apart}, i64 {plan.pitch}"
        w.put(f"call void @sincos({told}, i64 {count})")


def write_results(w: Writer, plan: Plan, columns: Columns, wide: dict[int, WideRows], part: int = 0) -> None:
    """The graph, or a part of it, on one vector of states, its outputs stored as soon as they are known."""
    graph, lanes, parts, written = plan.graph, plan.lanes, plan.parts, count()
    sinks: dict[int, list[tuple[int, int]]] = {}
    for output, row in enumerate(graph.results):
        for k, index in enumerate(row):
            sinks.setdefault(index, []).append((output, k))

    def between(index: int) -> str:
        return w.at("%scratch", plan.between + parts.places[index] * lanes.size)

    def fetch(index: int) -> str | None:
        if index in plan.constants:
            return w.load(lanes, w.at("@constants", plan.constants[index] * lanes.size))
        if index in parts.places and parts.part_of[index] < part:
            return w.load(lanes, between(index))
        return columns.load(plan.staged[index]) if index in plan.staged else columns.read(index)

    def made(index: int, value: str) -> None:
        if plan.long and next(written) % HELD == 0:
            w.put("call void @llvm.codeview.annotation(metadata !2)")
        here = parts.part_of[index] == part
        if here and index in parts.places:
            w.store(lanes, value, between(index))
        for output, k in sinks.get(index, ()):
            if output in wide:
                wide[output].put(k, value)
            elif here:
                columns.give(value, output, k)

    emit_nodes(w, lanes, graph, [*parts.parts[part], *parts.late(part)], fetch, columns.sincos, made)
