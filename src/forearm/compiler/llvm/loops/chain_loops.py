"""The code of a long chain: loops over links inside a loop over vectors of states (see long_chains.py)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from forearm.compiler.llvm.lanes import Lanes
from forearm.compiler.llvm.loops.chain_pairs import Pairs
from forearm.compiler.llvm.nodes import Writer, fma, operation
from forearm.compiler.llvm.tile_columns import Columns, call_sincos
from forearm.compiler.llvm.tiles import Plan
from forearm.compiler.model.chains.chain_sections import (
    TRACED_LINKS,
    NoLoop,
    RepeatedSection,
    Section,
    Term,
    entry,
    table_value,
)
from forearm.compiler.model.chains.composite_bodies import OF_A_LINK
from forearm.compiler.model.chains.long_chains import LoopedChain

CIRCULAR = ("sin", "cos")


@dataclass(frozen=True)
class ChainPlan(Plan):
    """Columns of the scratch area: inputs, outputs, angles, sines, cosines, and what passes between links."""

    graph: Any  # a LoopedChain: it has the ports, the counts and the name of a graph
    lanes: Lanes

    layout: str = ""

    @cached_property
    def wide(self) -> list[int]:
        """A matrix of pairs is written straight where arrays are rows."""
        return [0] if self.layout == "rows" and self.graph.recursion.pairs else []

    @cached_property
    def asked(self) -> list[tuple[str, int]]:
        """None: loops are short."""
        return []

    @property
    def largest(self) -> int:
        """States in a tile at most: what passes between links takes much of the cache."""
        return 8

    @cached_property
    def sections(self) -> list[Any]:
        """None: loops are short."""
        return []

    @cached_property
    def angles(self) -> list[int]:
        """One angle for each link."""
        return list(range(self.graph.n))

    @cached_property
    def angle_columns(self) -> list[int]:
        """The angles, side by side."""
        return [self.outputs[-1] + i for i in range(self.graph.n)]

    @cached_property
    def sines(self) -> int:
        """First column of the sines; the cosines follow."""
        return self.outputs[-1] + self.graph.n

    @cached_property
    def slots(self) -> dict[tuple[str, int], bool]:
        """What passes between links, and whether it passes to the next link of its walk alone."""
        chain: LoopedChain = self.graph
        wanted: dict[tuple[str, int], bool] = {}
        for body in chain.bodies:
            for _, walk, _, place in (t for t in body.used if t[0] == "other"):
                wanted[walk, place] = wanted.get((walk, place), True) and walk == body.walk
        trace = chain.trace
        looked_at = [
            (section, a)
            for section, nodes in chain.straight.items()
            for i in nodes
            for a in trace.builder.args[i]
        ]
        for section, index in looked_at:
            home = None if trace.fixed[index] else trace.section[index]
            if home is not None and home not in chain.straight and home != section:
                key = home[0], trace.place[index]
                wanted[key] = wanted.get(key, True) and home[0] == section[0]
        return {key: to_next for key, to_next in wanted.items() if self.op(*key) not in CIRCULAR}

    @cached_property
    def slot_columns(self) -> dict[tuple[str, int], int]:
        """The first column of each slot: one for each link, or one that the next link reads and overwrites."""
        found, column = {}, self.sines + 2 * self.graph.n
        for key, to_next in self.slots.items():
            found[key] = column
            column += 1 if to_next else self.graph.n
        return found

    def op(self, walk: str, place: int) -> str:
        """The operation of a repeating section."""
        return self.body(walk).ops[place]

    def body(self, walk: str) -> RepeatedSection:
        """The repeating section of a walk."""
        chain: LoopedChain = self.graph
        return next(body for body in chain.bodies if body.walk == walk)

    @property
    def after_slots(self) -> int:
        """The column after the slots."""
        n = self.graph.n
        return int(self.sines + 2 * n + sum(1 if to_next else n for to_next in self.slots.values()))

    @property
    def columns(self) -> int:
        """How many there are."""
        return self.after_slots + OF_A_LINK * self.graph.recursion.pairs * int(self.graph.n)

    def result(self, number: int) -> int:
        """The first column of a number that is wanted of each link: the output, or what pairs are made of."""
        if not self.graph.recursion.pairs:
            return self.outputs[0]
        return self.after_slots + number * int(self.graph.n)

    def text(self) -> str:
        """The table and the function `@tile`."""
        return _Tile(self).text()


class _Tile:
    """Writes `@tile` of a chain."""

    def __init__(self, plan: ChainPlan) -> None:
        self.plan, self.chain, self.w, self.lanes = plan, plan.graph, Writer(), plan.lanes
        self.entries: dict[Term, int] = {}  # constant expressions -> columns of the table
        self.values: dict[int, str] = {}  # straight nodes
        self.columns: Columns

    def text(self) -> str:
        w, plan, chain = self.w, self.plan, self.chain
        with w.loop("%count", self.lanes.width) as index:
            self.columns = Columns(w, plan, index)
            with w.loop(chain.n) as i:
                self._put(plan.outputs[-1], i, self._angle(i))
        call_sincos(w, plan, "%count")
        with w.loop("%count", self.lanes.width) as index:
            self.columns = Columns(w, plan, index)
            self._vector()
            if chain.recursion.pairs:
                self._pairs(index)
        rows = ", ptr noalias %rows0" if plan.wide else ""
        function = w.function(
            f"internal void @tile(ptr noalias %scratch, i64 %count{rows}) nounwind noinline"
        )
        return self._table() + function.replace("COLUMNS", str(len(self.entries)))

    def _table(self) -> str:
        """Constants of all links, one row for each."""
        one = Lanes(self.lanes.dtype, 1)
        terms, n, p = list(self.entries), self.chain.n, self.chain.start
        rows = []
        for link in range(1, n + 1):
            for term in terms:
                inside = _reach(term) + link >= 1
                rows.append(
                    f"{one.type} {one.number(table_value(term, self.chain.numbers, link) if inside else 0.0)}"
                )
        assert p >= 2
        return f"@numbers = internal constant [{len(rows)} x {one.type}] [{', '.join(rows)}], align 64\n"

    # Columns and tables ----------------------------------------------------------------------------------

    def _place(self, first: int, link: str | int) -> str:
        """Address of a link's column (links from 0, a number or a register)."""
        if isinstance(link, int):
            return self.columns.place(first + link)
        offset = self.w.let(f"mul i64 {link}, {self.plan.pitch}")
        return self.w.at(self.columns.place(first), offset)

    def _get(self, first: int, link: str | int) -> str:
        return self.w.load(self.lanes, self._place(first, link))

    def _put(self, first: int, link: str | int, value: str) -> None:
        self.w.store(self.lanes, value, self._place(first, link))

    def _shift(self, link: str | int, by: int) -> str | int:
        if isinstance(link, int):
            return link + by
        return link if by == 0 else self.w.let(f"add i64 {link}, {by}")

    def _constant(self, term: Term, link: str | int) -> str:
        """A constant expression of a link, in every lane."""
        if term[0] == "number":
            return self.lanes.number(float(term[1]))
        if isinstance(link, int):
            return self.lanes.number(table_value(term, self.chain.numbers, link + 1))
        w, one = self.w, self.lanes.scalar
        column = self.entries.setdefault(term, len(self.entries))
        row = w.let(f"mul i64 {link}, COLUMNS")
        place = w.let(f"add i64 {row}, {column}")
        address = w.let(f"getelementptr inbounds {one}, ptr @numbers, i64 {place}")
        value = w.let(f"load {one}, ptr {address}, align {self.lanes.itemsize}")
        if self.lanes.width == 1:
            return value
        first = w.let(f"insertelement {self.lanes.type} poison, {one} {value}, i64 0")
        mask = f"<{self.lanes.width} x i32> zeroinitializer"
        return w.let(f"shufflevector {self.lanes.type} {first}, {self.lanes.type} poison, {mask}")

    def _slot(self, walk: str, place: int, link: str | int) -> str:
        """Address of what a section leaves for others."""
        first = self.plan.slot_columns[walk, place]
        return self._place(first, 0 if self.plan.slots[walk, place] else link)

    def _other(self, walk: str, place: int, link: str | int) -> str:
        """A value of another section: a sine or cosine, or what that section left in its slot."""
        op = self.plan.op(walk, place)
        if op in CIRCULAR:
            return self._get(self.plan.sines + (op == "cos") * self.chain.n, link)
        return self.w.load(self.lanes, self._slot(walk, place, link))

    # Sections ---------------------------------------------------------------------------------------------

    def _angle(self, link: str) -> str:
        """The whole joint angle."""
        body: RepeatedSection = self.chain.bodies[0]
        place = next(k for k, op in enumerate(body.ops) if op in CIRCULAR)
        return self._terms(body, link)(body.terms[place][0])

    def _terms(self, body: RepeatedSection, link: str | int) -> Callable[[Term], str]:
        """What gives the value of a term of a repeating section."""
        w, lanes = self.w, self.lanes
        values: dict[Term, str] = {}
        uses: dict[int, int] = {}
        for term in (t for t in body.used if t[0] == "own"):
            uses[term[1]] = uses.get(term[1], 0) + 1
        kept = {place for walk, place in self.plan.slots if walk == body.walk}

        def product(term: Term) -> list[str] | None:
            """The factors of a product that nobody else needs."""
            if term[0] != "own" or body.ops[term[1]] != "mul" or uses[term[1]] > 1 or term[1] in kept:
                return None
            return [value(t) for t in body.terms[term[1]]]

        def compute(place: int) -> str:
            op, terms = body.ops[place], body.terms[place]
            if op in CIRCULAR:
                return self._get(self.plan.sines + (op == "cos") * self.chain.n, link)
            if op in ("add", "sub"):
                for first in (1, 0):
                    factors = product(terms[first])
                    if factors:
                        a, b = factors
                        c = value(terms[1 - first])
                        if op == "sub":
                            a, c = (
                                (w.let(f"fneg {lanes.type} {a}"), c)
                                if first
                                else (a, w.let(f"fneg {lanes.type} {c}"))
                            )
                        return w.let(fma(lanes, a, b, c))
            return w.let(operation(lanes, w, op, [value(t) for t in terms]))

        def value(term: Term) -> str:
            if term not in values:
                match term[0]:
                    case "own":
                        values[term] = compute(term[1])
                    case "table":
                        values[term] = self._constant(term[1], link)
                    case "input":
                        values[term] = self._get(self.plan.inputs[term[1]], self._shift(link, term[2]))
                    case _:
                        values[term] = self._other(term[1], term[3], self._shift(link, term[2]))
            return values[term]

        return value

    def _repeat(self, body: RepeatedSection, link: str) -> None:
        """The repeating section of one link: its slots, and what is wanted of it."""
        value = self._terms(body, link)
        before = {(t[1], t[3]): t for t in body.used if t[0] == "other"}
        for (walk, place), to_next in sorted(self.plan.slots.items()):
            if walk == body.walk:
                fresh = value(("own", place))
                if to_next:
                    value(before[walk, place])  # it is overwritten now
                self.w.store(self.lanes, fresh, self._slot(walk, place, link))
        for number, term in enumerate(body.results):
            self._put(self.plan.result(number), link, value(term))

    def _straight(self, section: Section) -> None:
        """A section as traced."""
        trace, w = self.chain.trace, self.w
        link = self._real(section[1]) - 1
        for index in self.chain.straight[section]:
            op = trace.builder.op[index]
            if op in CIRCULAR:
                self.values[index] = self._get(self.plan.sines + (op == "cos") * self.chain.n, link)
            else:
                given = [self._node(a, section) for a in trace.builder.args[index]]
                self.values[index] = w.let(operation(self.lanes, w, op, given))
        if section[0] == trace.walks[-1]:
            for number, index in enumerate(trace.results[section[1] - 1]):
                self._put(self.plan.result(number), link, self._node(index, section))

    def _real(self, link: int) -> int:
        """A link of the short chain in the real one."""
        return link + self.chain.n - TRACED_LINKS if link > self.chain.start else link

    def _node(self, index: int, here: Section) -> str:
        """A node of the short chain, seen from a straight section."""
        trace = self.chain.trace
        if index in self.values:
            return self.values[index]
        link = self._real(here[1]) - 1
        if trace.fixed[index]:
            return self._constant(trace.constant(index, here[1]), link)
        term = trace.term(index, here)
        if term[0] == "input":
            return self._get(self.plan.inputs[term[1]], link + term[2])
        if term[0] != "other":
            raise NoLoop("a node is used before it is there")
        return self._other(term[1], term[3], self._real(here[1] + term[2]) - 1)

    def _hand_over(self, body: RepeatedSection, link: int) -> None:
        """Put what straight sections computed into the slots that the loop reads at a link near its ends."""
        trace = self.chain.trace
        stands = entry(trace, body, link)
        assert stands is not None
        for term, index in stands.items():
            _, walk, off, place = term
            home = (walk, link + off)
            if home in self.chain.straight and (walk, place) in self.plan.slots:
                value = self._node(index, home)
                self.w.store(self.lanes, value, self._slot(walk, place, self._real(link + off) - 1))

    def _vector(self) -> None:
        """All links of one vector of states."""
        for body in self.chain.bodies:
            if body.outward:
                self._walk_outward(body)
            else:
                self._walk_inward(body)

    def _walk_outward(self, body: RepeatedSection) -> None:
        p, n = self.chain.start, self.chain.n
        for link in range(1, p):
            self._straight((body.walk, link))
        for link in range(p, body.last + 1):
            self._hand_over(body, link)
        with self.w.loop(n - body.beyond, 1, p - 1) as i:
            self._repeat(body, i)
        for link in range(body.last + 1, TRACED_LINKS + 1):
            self._straight((body.walk, link))

    def _walk_inward(self, body: RepeatedSection) -> None:
        w, p, n = self.w, self.chain.start, self.chain.n
        for link in range(TRACED_LINKS, body.last, -1):
            self._straight((body.walk, link))
        for link in range(p, body.last + 1):
            self._hand_over(body, link)
        with w.loop(n - p + 1 - body.beyond) as down:
            self._repeat(body, w.let(f"sub i64 {n - 1 - body.beyond}, {down}"))
        for link in range(p - 1, 0, -1):
            self._straight((body.walk, link))

    def _pairs(self, index: str) -> None:
        """The entries of M, from what is wanted of each link."""
        plan, n = self.plan, self.chain.n
        pairs = Pairs(self.w, self.lanes, n, lambda number, link: self._get(plan.result(number), link))
        if plan.wide:
            offset = self.w.let(f"mul i64 {index}, {n * n * self.lanes.itemsize}")
            pairs.into_rows(self.w.at("%rows0", offset))
        else:
            pairs.into_columns(lambda place, value: self._put(plan.outputs[0], place, value))


def _reach(term: Term) -> int:
    """How far back along the chain a constant expression looks."""
    if term[0] == "number of":
        return min(0, int(term[1]))
    return min((_reach(t) for t in term[1:] if isinstance(t, tuple)), default=0)
