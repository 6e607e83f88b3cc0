"""The program that sums groups of states up: their least and greatest values, sums and sums of squares, nothing else.

`@sums(table, first, end, scratch)` does groups first to end. Its table is that of `@groups`, whose one output is where
the least values go, (groups, m); then the bytes from there to the greatest, from those to the sums, and on; then, where
there are sums, the address of m values. Sums are of what results differ from these: squares of the results themselves
would lose a spread that is small beside the mean.

Results are taken as they come out of the registers: no row of them is ever written. State t of a group goes into
accumulators number t modulo 8, which are folded at the end, one after the other. So the order of additions is the same
on every machine, whatever its registers hold. States that repeat the last one, to fill a vector, change no extreme, and
zero is added for them.

Where sums are not asked for, one more accumulator adds up whatever comes: it tells that something was not finite, and
the least values of the group are then NaN. Where they are, the sum of what was not finite is not finite.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from forearm.compiler.llvm.batches import each_tile, move, movers_of, program_of
from forearm.compiler.llvm.lanes import Lanes
from forearm.compiler.llvm.loops.group_loops import each_group, scratch_of
from forearm.compiler.llvm.movers import Sink
from forearm.compiler.llvm.nodes import Writer
from forearm.compiler.llvm.sections import ProgramSection
from forearm.compiler.llvm.tiles import Plan

ROWS = 8
"""Accumulators of each number: as many as the widest vectors have lanes."""
STARTS = (float("inf"), float("-inf"), 0.0, 0.0)
"""What least, greatest, sum and squares begin with."""
ONE = Lanes("float64", 1)


@dataclass(frozen=True)
class SumsPlan(Plan):
    """A plan whose results go into accumulators, which lie after everything else in the scratch area."""

    sums: bool = False
    """Whether sums and sums of squares are kept, not only extremes."""

    @cached_property
    def asked(self) -> list[tuple[str, int]]:
        """None: groups are short, and begin anywhere."""
        return []

    @property
    def kinds(self) -> int:
        """How many numbers are found for each number of a result."""
        return len(STARTS) if self.sums else 2

    @property
    def m(self) -> int:
        """Numbers in a result."""
        return self.graph.outputs[0].size

    @property
    def accumulators(self) -> int:
        """Where they begin in the scratch area."""
        return scratch_of(self)

    def place(self, kind: int, element: int) -> int:
        """Where those of a number lie among the accumulators; after all of them the one for what is not finite."""
        return ONE.size * ROWS * (kind * self.m + element)

    @property
    def scratch(self) -> int:
        """Bytes of the scratch area, accumulators included."""
        return self.accumulators + self.about + ONE.size * self.m * self.sums

    @property
    def about(self) -> int:
        """Where the values lie, after the accumulators, from which sums are counted."""
        return self.place(self.kinds, 1)

    def told(self, outer: list[str]) -> list[str]:
        """How many states of the group are before the tile, the last one in it, and where accumulators lie."""
        return ["i64 %before", "i64 %last", "ptr noalias %sums", *super().told(outer)]

    def sinks(self, w: Writer, index: str, section: ProgramSection) -> Mapping[int, Sink]:
        """The accumulators."""
        return {0: _Accumulators(w, self, index, section)}


class _Accumulators:
    """What a vector of states is added to."""

    def __init__(self, w: Writer, plan: SumsPlan, index: str, section: ProgramSection) -> None:
        """The vector that starts with state `index` of the tile; of its results, those that a section makes first."""
        self.w, self.plan = w, plan
        home = {node: one for one in reversed(plan.sections) for node in one.nodes}
        self.missing = {k for k, node in enumerate(plan.graph.results[0]) if home[node] is section}
        self.known: list[str] = []
        row = w.let(f"and i64 {w.let(f'add i64 %before, {index}')}, {ROWS - 1}")
        self.base = w.at("%sums", w.let(f"mul i64 {row}, {ONE.size}"))
        self.new = self._new(index) if plan.sums else ""

    def _new(self, index: str) -> str:
        """Which states of the vector are not the last one again."""
        w, lanes = self.w, self.plan.lanes
        left = w.let(f"sub i64 %last, {index}")
        if lanes.width == 1:
            return w.let(f"icmp sge i64 {left}, 0")
        numbers = lanes.of("i64")
        first = w.let(f"insertelement {numbers} poison, i64 {left}, i64 0")
        mask = f"{lanes.of('i32')} zeroinitializer"
        all_left = w.let(f"shufflevector {numbers} {first}, {numbers} poison, {mask}")
        counted = ", ".join(f"i64 {k}" for k in range(lanes.width))
        return w.let(f"icmp sle {numbers} <{counted}>, {all_left}")

    def put(self, element: int, x: str) -> None:
        """An element of the result is known."""
        if element not in self.missing:  # made again
            return
        self.missing.remove(element)
        w, lanes = self.w, self.plan.lanes
        t, truth = lanes.type, lanes.truth
        for kind, order in enumerate(("olt", "ogt")):
            place, old = self._old(kind, element)
            better = w.let(f"fcmp {order} {t} {x}, {old}")
            w.store(lanes, w.let(f"select {truth} {better}, {t} {x}, {t} {old}"), place)
        if self.plan.sums:
            apart = w.let(f"fsub {t} {x}, {self._about(element)}")
            x = w.let(f"select {truth} {self.new}, {t} {apart}, {t} {lanes.number(0.0)}")
            self._add(2, element, x)
            self._add(3, element, w.let(f"fmul {t} {x}, {x}"))
            return
        self.known.append(x if not self.known else w.let(f"fadd {t} {self.known[-1]}, {x}"))
        if not self.missing:
            self._add(self.plan.kinds, 0, self.known[-1])

    def _about(self, element: int) -> str:
        """The value from which sums of an element are counted, in every lane."""
        w, lanes = self.w, self.plan.lanes
        value = w.load(ONE, w.at("%sums", self.plan.about + ONE.size * element))
        if lanes.width == 1:
            return value
        first = w.let(f"insertelement {lanes.type} poison, {lanes.scalar} {value}, i64 0")
        mask = f"{lanes.of('i32')} zeroinitializer"
        return w.let(f"shufflevector {lanes.type} {first}, {lanes.type} poison, {mask}")

    def _old(self, kind: int, element: int) -> tuple[str, str]:
        """Where an accumulator lies, and what it is.

        Volatile: LLVM would otherwise make a masked store of the choice between a value and what lies there already,
        which some processors do slowly.
        """
        place, lanes = self.w.at(self.base, self.plan.place(kind, element)), self.plan.lanes
        return place, self.w.let(f"load volatile {lanes.type}, ptr {place}, align {lanes.itemsize}")

    def _add(self, kind: int, element: int, x: str) -> None:
        place, old = self._old(kind, element)
        lanes = self.plan.lanes
        self.w.store(lanes, self.w.let(f"fadd {lanes.type} {old}, {x}"), place)


def sums_program(plan: SumsPlan, triple: str) -> str:
    """The module with `@sums`; arrays lie in rows."""
    moved = [p for i, p in enumerate(plan.graph.inputs) if i != plan.shared]
    return program_of(
        plan, triple, [*movers_of(plan, "rows", inward=moved, outward=()), _sums_function(plan)]
    )


def _sums_function(plan: SumsPlan) -> str:
    w, inputs = Writer(), plan.graph.inputs
    many = len(inputs) + 1
    apart = w.let(f"load i64, ptr {w.at('%table', 32 * many + 8)}")
    sums = w.at("%scratch", plan.accumulators)
    if plan.sums:
        given = w.let(f"load ptr, ptr {w.at('%table', 32 * many + 16)}")
        with w.loop(plan.m) as k:
            at = w.let(f"mul i64 {k}, {ONE.size}")
            w.store(ONE, w.load(ONE, w.at(given, at)), w.at(w.at(sums, plan.about), at))
    with each_group(w, plan) as (starts, states):
        *arrays, found = (w.let(f"inttoptr i64 {start} to ptr") for start in starts)
        _begin(w, plan, sums)
        with each_tile(w, plan, "0", states) as span:
            for i, (port, array) in enumerate(zip(inputs, arrays, strict=True)):
                if i != plan.shared:
                    row = port.size * plan.lanes.itemsize
                    here = w.at(array, w.let(f"mul i64 {span.start}, {row}"))
                    move(w, plan, port, plan.inputs[i], here, f"i64 {row}", span, True)
            told = f"i64 {span.count}, i64 {span.start}, i64 {span.last}"
            w.put(f"call void @tile(ptr %scratch, {told}, ptr {sums}, ptr {arrays[plan.shared or 0]})")
        _end(w, plan, sums, found, apart)
    return w.function("void @sums(ptr %table, i64 %first, i64 %end, ptr %scratch) nounwind")


def _begin(w: Writer, plan: SumsPlan, sums: str) -> None:
    """Accumulators as they are before the first state."""
    for kind, value in enumerate((*STARTS[: plan.kinds], 0.0)):
        many = plan.m if kind < plan.kinds else 1
        area = w.at(sums, plan.place(kind, 0))
        with w.loop(ROWS * many, plan.lanes.width) as k:
            w.store(plan.lanes, plan.lanes.number(value), w.at(area, w.let(f"mul i64 {k}, {ONE.size}")))


def _end(w: Writer, plan: SumsPlan, sums: str, found: str, apart: str) -> None:
    """Accumulators folded, each number's eight in their order, and written down."""
    finite = "true" if plan.sums else _finite(w, plan, sums)
    with w.loop(plan.m) as element:
        here = w.at(sums, w.let(f"mul i64 {element}, {ONE.size * ROWS}"))
        sink = w.at(found, w.let(f"mul i64 {element}, {ONE.size}"))
        for kind in range(plan.kinds):
            value = ONE.number(STARTS[kind])
            for row in range(ROWS):
                x = w.load(ONE, w.at(here, plan.place(kind, 0) + ONE.size * row))
                if kind < 2:
                    better = w.let(f"fcmp {('olt', 'ogt')[kind]} double {x}, {value}")
                    value = w.let(f"select i1 {better}, double {x}, double {value}")
                else:
                    value = w.let(f"fadd double {value}, {x}")
            if kind == 0:
                value = w.let(f"select i1 {finite}, double {value}, double {ONE.number(float('nan'))}")
            w.store(ONE, value, w.at(sink, w.let(f"mul i64 {apart}, {kind}")))


def _finite(w: Writer, plan: SumsPlan, sums: str) -> str:
    """Whether all that came was finite: x - x is 0 then."""
    total, area = ONE.number(0.0), w.at(sums, plan.place(plan.kinds, 0))
    for row in range(ROWS):
        total = w.let(f"fadd double {total}, {w.load(ONE, w.at(area, ONE.size * row))}")
    return w.let(f"fcmp ord double {w.let(f'fsub double {total}, {total}')}, {ONE.number(0.0)}")
