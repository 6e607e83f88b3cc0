"""The text of a search: iterations of a graph in the lanes of a tile, each lane at its own problem.

A lane that has arrived, or has tried often enough, writes what it found and takes the next problem, so that no lane
waits for another. What happens to a problem depends on nothing but the problem: results are the same to the last bit
in any batch, on any number of threads.

The graph's inputs are the state (n,), the goal (k,), the damping (); with a posture also that (n,) and the pull ().
Its outputs are the next state (n,), the squared error () of the present one, with a posture the squared drift () too.

A problem begins at a start of its own if it has one, else at the one of a table whose key (some of the numbers of the
goal that it reaches) is nearest to the goal; the next attempt at the next nearest. An attempt ends when the error is
small enough, when it has not shrunk in a while, or after so many iterations. The best is what counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from forearm.compiler.graph.graph import Graph
from forearm.compiler.llvm.batches import program_of
from forearm.compiler.llvm.lanes import Lanes
from forearm.compiler.llvm.nodes import Writer, fma
from forearm.compiler.llvm.tile_columns import Columns
from forearm.compiler.llvm.tiles import Plan

ONE = Lanes("float64", 1)
LANE = ("reference", "count", "left", "problem", "attempts", "distance", "phase")
"""What a lane remembers beside the columns of its tile: the error that it must have halved after some more iterations,
iterations so far, iterations until then, which problem, attempts so far, how near the last start was, and with a
posture whether it is arriving (0), relaxing (1) or arriving again (2)."""
TABLE = (
    *("goals", "first", "first_stride", "posture", "posture_stride", "found", "errors", "tries"),
    *("starts", "keys", "rows", "most", "longest", "patience", "relaxing", "tolerance", "shrink", "damping"),
)
"""What the program is told, eight bytes each; the last three are doubles."""
FAR = 1e300
STILL = 1e-18
"""A squared drift below this is none."""


@dataclass(frozen=True)
class SearchRoles:
    """What the ports of an iteration are, and how starts are chosen."""

    graph: Graph
    """The iteration."""
    keys: tuple[tuple[int, float], ...]
    """Which numbers of a goal tell how near a start is, and their weights."""

    @property
    def relaxes(self) -> bool:
        """Whether there is a posture to go to."""
        return len(self.graph.inputs) > 3

    @property
    def n(self) -> int:
        """Numbers of a state."""
        return self.graph.inputs[0].size

    @property
    def goal(self) -> int:
        """Numbers of a goal."""
        return self.graph.inputs[1].size


def search_program(roles: SearchRoles, plan: Plan, triple: str) -> str:
    """The module with `@search(table, first, end, scratch)`; `TABLE` says what is in the table."""
    parts = (_Nearest(roles, plan), _Begin(roles, plan), _Take(roles, plan), _Settle(roles, plan))
    return program_of(plan, triple, [*(part.function() for part in parts), _Search(roles, plan).function()])


def search_scratch(plan: Plan) -> int:
    """Bytes of the scratch area: the tile, and what lanes remember."""
    return (plan.columns + len(LANE)) * plan.pitch


class _Part:
    """What the functions share: the table, and the numbers of one lane."""

    def __init__(self, roles: SearchRoles, plan: Plan) -> None:
        self.roles, self.plan, self.w = roles, plan, Writer()
        self.state, self.goal, self.damping = plan.inputs[:3]
        self.following, self.error = plan.outputs[:2]

    def told(self, name: str, kind: str = "i64") -> str:
        """A number of the table."""
        return self.w.let(f"load {kind}, ptr {self.w.at('%table', 8 * TABLE.index(name))}")

    def column(self, name: str) -> int:
        """The column of what a lane remembers."""
        return self.plan.columns + LANE.index(name)

    def place(self, column: int, lane: str = "%lane") -> str:
        """Where a number of a lane lies."""
        offset = self.w.let(f"mul i64 {lane}, 8")
        return self.w.at(self.w.at("%scratch", column * self.plan.pitch), offset)

    def get(self, column: int | str, kind: str = "double") -> str:
        """A number of the lane."""
        place = self.place(self.column(column) if isinstance(column, str) else column)
        return self.w.let(f"load {kind}, ptr {place}")

    def put(self, value: str, column: int | str, kind: str = "double") -> None:
        """Set a number of the lane."""
        place = self.place(self.column(column) if isinstance(column, str) else column)
        self.w.put(f"store {kind} {value}, ptr {place}")

    def row(self, name: str, index: str, numbers: int) -> str:
        """The address of a row of an array of rows without gaps."""
        offset = self.w.let(f"mul i64 {index}, {8 * numbers}")
        return self.w.let(f"getelementptr i8, ptr {self.told(name, 'ptr')}, i64 {offset}")

    def bring(self, address: str, column: int, numbers: int) -> None:
        """Copy a row into columns of the lane."""
        for k in range(numbers):
            self.put(self.w.load(ONE, self.w.at(address, 8 * k)), column + k)

    def give(self, column: int, address: str, numbers: int) -> None:
        """Copy columns of the lane into a row."""
        for k in range(numbers):
            self.w.store(ONE, self.get(column + k), self.w.at(address, 8 * k))

    def alike(self, number: str, scalar: str = "double") -> str:
        """A number in every lane of a vector."""
        w, width, kind = self.w, self.plan.lanes.width, self.plan.lanes.of(scalar)
        if width == 1:
            return number
        first = w.let(f"insertelement {kind} poison, {scalar} {number}, i64 0")
        return w.let(f"shufflevector {kind} {first}, {kind} poison, <{width} x i32> zeroinitializer")

    def fresh_attempt(self) -> None:
        """Nothing is known of this attempt yet."""
        self.put(ONE.number(FAR), "reference")
        self.put("0", "count", "i64")
        self.put(self.told("patience"), "left", "i64")


class _Nearest(_Part):
    """`@nearest(table, scratch, lane)`: the row of the table whose key is nearest, of those not yet tried.

    Keys lie in blocks of as many rows as a vector has lanes, number after number.
    """

    def function(self) -> str:
        w, lanes = self.w, self.plan.lanes
        t, bits, truth, size = lanes.type, lanes.bits, lanes.truth, 8 * lanes.width
        wanted = [(weight, self.alike(self.get(self.goal + k))) for k, weight in self.roles.keys]
        rows, keys, used = self.told("rows"), self.told("keys", "ptr"), self.alike(self.get("distance"))
        best, where = "%best", "%where"
        before, head, done = w.block, w.fresh("head"), w.fresh("done")
        w.put(f"br label %{head}")
        w.label(head)
        w.put(f"%start = phi i64 [ 0, %{before} ], [ %later, %{head} ]")
        w.put(f"{best} = phi {t} [ {lanes.number(FAR)}, %{before} ], [ %nearest, %{head} ]")
        w.put(f"{where} = phi {bits} [ {lanes.integer(0)}, %{before} ], [ %row, %{head} ]")
        block = w.at(keys, w.let(f"mul i64 %start, {8 * len(wanted)}"))
        total = self._distance([w.load(lanes, w.at(block, size * i)) for i in range(len(wanted))], wanted)
        nearer = w.let(f"fcmp olt {t} {total}, {best}")
        better = w.let(f"and {truth} {nearer}, {w.let(f'fcmp ogt {t} {total}, {used}')}")
        w.put(f"%nearest = select {truth} {better}, {t} {total}, {t} {best}")
        w.put(f"%row = select {truth} {better}, {bits} {self._numbers('%start')}, {bits} {where}")
        w.put(f"%later = add i64 %start, {lanes.width}")
        w.put(f"br i1 {w.let(f'icmp slt i64 %later, {rows}')}, label %{head}, label %{done}")
        w.label(done)
        return self._least("%nearest", "%row")

    def _distance(self, keys: list[str], wanted: list[tuple[float, str]]) -> str:
        """The weighted sum of squares, in three sums that do not wait for each other."""
        w, lanes = self.w, self.plan.lanes
        sums = [lanes.number(0.0)] * 3
        for i, (key, (weight, goal)) in enumerate(zip(keys, wanted, strict=True)):
            apart = w.let(f"fsub {lanes.type} {key}, {goal}")
            scaled = w.let(f"fmul {lanes.type} {apart}, {lanes.number(weight)}")
            sums[i % 3] = w.let(fma(lanes, scaled, apart, sums[i % 3]))
        two = w.let(f"fadd {lanes.type} {sums[0]}, {sums[1]}")
        return w.let(f"fadd {lanes.type} {two}, {sums[2]}")

    def _numbers(self, start: str) -> str:
        """start, start + 1, … in the lanes of a vector."""
        lanes = self.plan.lanes
        if lanes.width == 1:
            return start
        steps = ", ".join(f"i64 {k}" for k in range(lanes.width))
        return self.w.let(f"add {lanes.bits} {self.alike(start, 'i64')}, <{steps}>")

    def _least(self, best: str, where: str) -> str:
        """The least of the lanes, the first row of equals; the distance is remembered."""
        w = self.w
        distance, row = ONE.number(FAR), "0"
        lanes = self.plan.lanes
        for k in range(lanes.width):
            other, index = best, where
            if lanes.width > 1:
                other = w.let(f"extractelement {lanes.type} {best}, i64 {k}")
                index = w.let(f"extractelement {lanes.bits} {where}, i64 {k}")
            less = w.let(f"fcmp olt double {other}, {distance}")
            same = w.let(f"fcmp oeq double {other}, {distance}")
            earlier = w.let(f"and i1 {same}, {w.let(f'icmp slt i64 {index}, {row}')}")
            wins = w.let(f"or i1 {less}, {earlier}")
            distance = w.let(f"select i1 {wins}, double {other}, double {distance}")
            row = w.let(f"select i1 {wins}, i64 {index}, i64 {row}")
        self.put(distance, "distance")
        head = "internal i64 @nearest(ptr %table, ptr %scratch, i64 %lane) nounwind noinline"
        return w.function(head, f"i64 {row}")


class _Begin(_Part):
    """`@begin(table, scratch, lane)`: the next attempt at a lane's problem, from the table of starts."""

    def function(self) -> str:
        w = self.w
        row = w.let("call i64 @nearest(ptr %table, ptr %scratch, i64 %lane)")
        self.bring(self.row("starts", row, self.roles.n), self.state, self.roles.n)
        self.fresh_attempt()
        return w.function("internal void @begin(ptr %table, ptr %scratch, i64 %lane) nounwind noinline")


class _Take(_Part):
    """`@take(table, scratch, lane, next, end)`: the next problem for a lane; whether there is one."""

    def function(self) -> str:
        w, roles = self.w, self.roles
        problem = w.let("load i64, ptr %next")
        self.put("-1", "problem", "i64")
        with w.when(w.let(f"icmp sge i64 {problem}, %end"), leaves="ret i1 false"):
            pass
        w.put(f"store i64 {w.let(f'add i64 {problem}, 1')}, ptr %next")
        self.put(problem, "problem", "i64")
        self.put("0", "attempts", "i64")
        self.put("0", "phase", "i64")
        self.put(ONE.number(-1.0), "distance")
        self.put(self.told("damping", "double"), self.damping)
        self.bring(self.row("goals", problem, roles.goal), self.goal, roles.goal)
        if roles.relaxes:
            self.bring(self._strided("posture", problem), self.plan.inputs[3], roles.n)
            self.put(ONE.number(0.0), self.plan.inputs[4])
        given = w.let(f"icmp ne i64 {self.told('first')}, 0")
        with w.when(given, leaves="ret i1 true"):
            self.bring(self._strided("first", problem), self.state, roles.n)
            self.fresh_attempt()
        w.put("call void @begin(ptr %table, ptr %scratch, i64 %lane)")
        told = "ptr %table, ptr %scratch, i64 %lane, ptr %next, i64 %end"
        return w.function(f"internal i1 @take({told}) nounwind noinline", "i1 true")

    def _strided(self, name: str, problem: str) -> str:
        """The row of an array whose rows may all be the same."""
        offset = self.w.let(f"mul i64 {problem}, {self.told(name + '_stride')}")
        return self.w.let(f"getelementptr i8, ptr {self.told(name, 'ptr')}, i64 {offset}")


class _Settle(_Part):
    """`@settle(table, scratch, lane)`: an attempt has ended; whether the lane is done with its problem."""

    def function(self) -> str:
        w = self.w
        problem, self.square = self.get("problem", "i64"), self.get(self.error)
        self.problem = problem
        arrived = w.let(f"fcmp olt double {self.square}, {self.told('tolerance', 'double')}")
        if self.roles.relaxes:
            self._relaxed(arrived)
        best = w.let(f"load double, ptr {self.row('errors', problem, 1)}")
        with w.when(w.let(f"fcmp olt double {self.square}, {best}")):
            self._write()
        attempts = w.let(f"add i64 {self.get('attempts', 'i64')}, 1")
        self.put(attempts, "attempts", "i64")
        w.put(f"store i64 {attempts}, ptr {self.row('tries', problem, 1)}")
        if self.roles.relaxes:
            with w.when(arrived, leaves="ret i1 false"):
                self._enter(1, 1.0)
        over = w.let(f"icmp sge i64 {attempts}, {self.told('most')}")
        done = w.let(f"or i1 {arrived}, {over}")
        with w.when(w.let(f"xor i1 {done}, true")):
            w.put("call void @begin(ptr %table, ptr %scratch, i64 %lane)")
        head = "internal i1 @settle(ptr %table, ptr %scratch, i64 %lane) nounwind noinline"
        return w.function(head, f"i1 {done}")

    def _write(self) -> None:
        w = self.w
        w.store(ONE, self.square, self.row("errors", self.problem, 1))
        self.give(self.state, self.row("found", self.problem, self.roles.n), self.roles.n)

    def _relaxed(self, arrived: str) -> None:
        """After arriving comes relaxing, then arriving again; what does not arrive again leaves the first answer."""
        w, phase = self.w, self.get("phase", "i64")
        with w.when(w.let(f"icmp eq i64 {phase}, 1"), leaves="ret i1 false"):
            self._enter(2, 0.0)
        with w.when(w.let(f"icmp eq i64 {phase}, 2"), leaves="ret i1 true"), w.when(arrived):
            self._write()

    def _enter(self, phase: int, pull: float) -> None:
        self.put(str(phase), "phase", "i64")
        self.put(ONE.number(pull), self.plan.inputs[4])
        self.fresh_attempt()


class _Search(_Part):
    """`@search`: fill the lanes, then iterate until no lane has a problem."""

    def function(self) -> str:
        w, tile = self.w, self.plan.tile
        following, busy = w.let("alloca i64"), w.let("alloca i64")
        w.put(f"store i64 %first, ptr {following}")
        w.put(f"store i64 0, ptr {busy}")
        with w.loop(tile) as lane:
            self._take(lane, following, busy)
        head, done = w.fresh("head"), w.fresh("done")
        w.put(f"br label %{head}")
        w.label(head)
        w.put(f"call void @tile(ptr %scratch, i64 {tile})")
        with w.loop(tile, self.plan.lanes.width) as start:
            ended = self._step(Columns(w, self.plan, start))
            with self._each_bit(ended, start) as lane:
                told = f"ptr %table, ptr %scratch, i64 {lane}"
                with w.when(w.let(f"call i1 @settle({told})")):
                    self._add("-1", busy)
                    self._take(lane, following, busy)
        more = w.let(f"icmp sgt i64 {w.let(f'load i64, ptr {busy}')}, 0")
        w.put(f"br i1 {more}, label %{head}, label %{done}")
        w.label(done)
        return w.function("void @search(ptr %table, i64 %first, i64 %end, ptr %scratch) nounwind")

    def _take(self, lane: str, following: str, busy: str) -> None:
        w = self.w
        told = f"ptr %table, ptr %scratch, i64 {lane}, ptr {following}, i64 %end"
        found = w.let(f"zext i1 {w.let(f'call i1 @take({told})')} to i64")
        self._add(found, busy)

    def _add(self, number: str, place: str) -> None:
        old = self.w.let(f"load i64, ptr {place}")
        self.w.put(f"store i64 {self.w.let(f'add i64 {old}, {number}')}, ptr {place}")

    @contextmanager
    def _each_bit(self, truth: str, start: str) -> Iterator[str]:
        """Only for the lanes where a comparison holds."""
        w, lanes = self.w, self.plan.lanes
        mask = w.let(f"bitcast {lanes.truth} {truth} to i{lanes.width}") if lanes.width > 1 else truth
        with w.when(w.let(f"icmp ne i{lanes.width} {mask}, 0")):
            wide = w.let(f"zext i{lanes.width} {mask} to i64")
            with w.loop(lanes.width) as k:
                bit = w.let(f"and i64 {w.let(f'lshr i64 {wide}, {k}')}, 1")
                with w.when(w.let(f"icmp ne i64 {bit}, 0")):
                    yield w.let(f"add i64 {start}, {k}")

    def _step(self, columns: Columns) -> str:
        """Move a vector of lanes on, but for those whose attempt has ended; which those are."""
        w, lanes = self.w, self.plan.lanes
        t, bits, truth = lanes.type, lanes.bits, lanes.truth
        error = columns.load(self.error)
        small = w.let(f"fcmp olt {t} {error}, {self._alike('tolerance')}")
        lost = w.let(f"fcmp uno {t} {error}, {error}")
        count = w.let(f"add {bits} {self._whole(columns, 'count')}, {lanes.integer(1)}")
        left = w.let(f"sub {bits} {self._whole(columns, 'left')}, {lanes.integer(1)}")
        due = w.let(f"icmp sle {bits} {left}, {lanes.integer(0)}")
        reference = columns.load(self.column("reference"))
        least = w.let(f"fmul {t} {reference}, {self._alike('shrink')}")
        stuck = w.let(f"and {truth} {due}, {w.let(f'fcmp ogt {t} {error}, {least}')}")
        long = w.let(f"icmp sge {bits} {count}, {self._alike('longest', whole=True)}")
        ended = self._any(small, lost, stuck, long)
        if self.roles.relaxes:
            ended = self._or_relaxed(columns, ended, count)
        busy = w.let(f"icmp sge {bits} {self._whole(columns, 'problem')}, {lanes.integer(0)}")
        ended = w.let(f"and {truth} {ended}, {busy}")
        patience = self._alike("patience", whole=True)
        left = w.let(f"select {truth} {due}, {bits} {patience}, {bits} {left}")
        reference = w.let(f"select {truth} {due}, {t} {error}, {t} {reference}")
        columns.store(reference, self.column("reference"))
        for name, value in (("count", count), ("left", left)):
            w.put(f"store {bits} {value}, ptr {columns.place(self.column(name))}, align 8")
        for k in range(self.roles.n):
            old, new = columns.load(self.state + k), columns.load(self.following + k)
            columns.store(w.let(f"select {truth} {ended}, {t} {old}, {t} {new}"), self.state + k)
        return ended

    def _or_relaxed(self, columns: Columns, ended: str, count: str) -> str:
        """While a lane relaxes, only a small drift or many iterations end it."""
        w, lanes = self.w, self.plan.lanes
        phase = w.let(f"icmp eq {lanes.bits} {self._whole(columns, 'phase')}, {lanes.integer(1)}")
        drift = columns.load(self.plan.outputs[2])
        still = w.let(f"fcmp olt {lanes.type} {drift}, {lanes.number(STILL)}")
        lost = w.let(f"fcmp uno {lanes.type} {drift}, {drift}")
        long = w.let(f"icmp sge {lanes.bits} {count}, {self._alike('relaxing', whole=True)}")
        relaxed = self._any(still, lost, long)
        return w.let(f"select {lanes.truth} {phase}, {lanes.truth} {relaxed}, {lanes.truth} {ended}")

    def _any(self, *truths: str) -> str:
        total = truths[0]
        for truth in truths[1:]:
            total = self.w.let(f"or {self.plan.lanes.truth} {total}, {truth}")
        return total

    def _whole(self, columns: Columns, name: str) -> str:
        return self.w.let(f"load {self.plan.lanes.bits}, ptr {columns.place(self.column(name))}, align 8")

    def _alike(self, name: str, *, whole: bool = False) -> str:
        """A number of the table in every lane."""
        scalar = "i64" if whole else "double"
        return self.alike(self.told(name, scalar), scalar)
