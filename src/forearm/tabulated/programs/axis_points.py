"""The points around a state on every axis, and their weights: `stencils` as LLVM's text, for a vector of states."""

from __future__ import annotations

from forearm.tabulated.grids import Axis
from forearm.tabulated.programs.scratch_areas import PER_AXIS, ProgramPart
from forearm.tabulated.stencils import MARGIN


class Stencils(ProgramPart):
    """`@stencils(table, scratch, count)`: places and weights on every axis, as `stencils` has them."""

    def function(self) -> str:
        """The text."""
        w, lanes, area = self.w, self.lanes, self.area
        limits = {
            axis: {
                what: self.everywhere(self.told((axis, what), "double"), "double", lanes.width)
                for what in PER_AXIS[:-1]
            }
            | {"points": self.everywhere(self.told((axis, "points"), "i64"), "i64", lanes.width)}
            for axis in area.axes
        }
        outside = self.told(("outside",), "ptr")
        with w.loop("%count", lanes.width) as state:
            at = w.let(f"mul i64 {state}, 8")
            for axis in area.axes:
                x = w.load(lanes, self.where(area.state(axis.what, axis.joint), at))
                u = self.does("fdiv", self.does("fsub", x, limits[axis]["low"]), limits[axis]["step"])
                u, within = self._within(axis, u, limits[axis])
                if not axis.circular:
                    self._tell(within, outside)
                self._points(axis, u, self.chosen(within, u, lanes.number(0.0), lanes.type), limits[axis], at)
        return w.function(
            "internal void @stencils(ptr noalias %table, ptr noalias %scratch, i64 %count) nounwind noinline"
        )

    def _within(self, axis: Axis, u: str, limits: dict[str, str]) -> tuple[str, str]:
        """The value in steps, on a circle within one turn; and whether it is on the axis, which no NaN is."""
        lanes, low = self.lanes, -MARGIN
        if axis.circular:  # as np.mod, bit by bit, while a number of turns is a whole number
            turns = self.w.let(
                f"call {lanes.type} @llvm.floor.{lanes.suffix}({lanes.type} {self.does('fdiv', u, limits['top'])})"
            )
            rest = self.does("fsub", u, self.does("fmul", limits["top"], turns))
            below = self.does("fcmp olt", rest, lanes.number(0.0))
            u, low = self.chosen(below, self.does("fadd", rest, limits["top"]), rest, lanes.type), 0.0
        above = self.does("fcmp oge", u, lanes.number(low))
        return u, self.w.let(f"and {lanes.truth} {above}, {self.does('fcmp ole', u, limits['top'])}")

    def _tell(self, within: str, outside: str) -> None:
        """Set the mark that some state is not on the table."""
        w, lanes = self.w, self.lanes
        bad = w.let(f"xor {lanes.truth} {within}, {'true' if lanes.width == 1 else 'splat (i1 true)'}")
        if lanes.width > 1:
            bad = w.let(f"call i1 @llvm.vector.reduce.or.v{lanes.width}i1({lanes.truth} {bad})")
        with w.when(bad):
            w.put(f"store i64 1, ptr {outside}")

    def _points(self, axis: Axis, u: str, safe: str, limits: dict[str, str], at: str) -> None:
        """Store the places of the points around u, and their weights."""
        w, lanes, area, order = self.w, self.lanes, self.area, self.area.order
        rounded = "rint" if order == 1 else "floor"
        first = w.let(f"call {lanes.type} @llvm.{rounded}.{lanes.suffix}({lanes.type} {safe})")
        if order == 4:
            first = self.does("fsub", first, lanes.number(1.0))
        if order > 1 and not axis.circular:
            low = self.chosen(self.does("fcmp olt", first, limits["last"]), first, limits["last"], lanes.type)
            first = self.chosen(
                self.does("fcmp ogt", low, lanes.number(0.0)), low, lanes.number(0.0), lanes.type
            )
        whole = w.let(f"fptosi {lanes.type} {first} to {lanes.bits}")
        for k in range(order):
            place = w.let(f"add {lanes.bits} {whole}, {lanes.integer(k)}") if k else whole
            if axis.circular:
                place = self._round_and_round(place, limits["points"])
            w.put(f"store {lanes.bits} {place}, ptr {self.where(area.place(axis, k), at)}, align 8")
        if order > 1:
            for k, weight in enumerate(self._weights(self.does("fsub", u, first))):
                w.store(lanes, weight, self.where(area.weight(axis, k), at))

    def _round_and_round(self, place: str, points: str) -> str:
        w, lanes = self.w, self.lanes
        late = w.let(f"icmp sge {lanes.bits} {place}, {points}")
        place = self.chosen(late, w.let(f"sub {lanes.bits} {place}, {points}"), place, lanes.bits)
        early = w.let(f"icmp slt {lanes.bits} {place}, {lanes.integer(0)}")
        return self.chosen(early, w.let(f"add {lanes.bits} {place}, {points}"), place, lanes.bits)

    def _weights(self, t: str) -> list[str]:
        does, number = self.does, self.lanes.number
        if self.area.order == 2:
            return [does("fsub", number(1.0), t), t]
        a, (b, c, d) = t, (does("fsub", t, number(k)) for k in (1.0, 2.0, 3.0))
        minus_b, minus_a = (self.w.let(f"fneg {self.lanes.type} {x}") for x in (b, a))
        products = [
            does("fmul", does("fmul", x, y), z)
            for x, y, z in ((minus_b, c, d), (a, c, d), (minus_a, b, d), (a, b, c))
        ]
        return [does("fdiv", x, number(by)) for x, by in zip(products, (6.0, 2.0, 2.0, 6.0), strict=True)]
