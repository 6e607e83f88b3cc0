"""Where the values of a tile lie: columns of the scratch area, or of the arrays themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forearm.compiler.llvm.nodes import Writer, emit_nodes, needed

if TYPE_CHECKING:
    from forearm.compiler.llvm.tiles import Plan


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


def write_angles(w: Writer, plan: Plan, columns: Columns, computed: list[int]) -> None:
    """Angles that are computed from the inputs, into columns of their own."""
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
