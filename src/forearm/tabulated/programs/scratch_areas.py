"""Where things lie in the scratch area of a look-up, and what its program is told; what its functions share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from forearm.compiler.llvm.lanes import Lanes
from forearm.compiler.llvm.nodes import Writer
from forearm.tabulated.grids import Axis, Grid
from forearm.tabulated.methods import INPUTS
from forearm.tabulated.plans import TablePlan
from forearm.tabulated.stencils import ORDERS

TILE = 32
"""States at a time: their columns stay in the nearest cache."""
ARRAYS = (*INPUTS, "tau", "outside")
"""Addresses that the program is told first."""
PER_AXIS = ("low", "step", "top", "last", "points")
"""What it is told about an axis: doubles but for the last."""


@dataclass(frozen=True)
class ScratchArea:
    """Columns, one number for each state of a tile; then rows, in which a grid leaves its entries state after state."""

    plan: TablePlan
    """What is stored, over what; the number of points does not matter."""
    lanes: Lanes
    """States, or entries, in one value."""

    @property
    def n(self) -> int:
        """Joints."""
        return self.plan.arm.n

    @property
    def order(self) -> int:
        """Points on an axis that a state looks at."""
        return ORDERS[self.plan.interpolation]

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """Each once, whichever grids it is in."""
        return tuple(dict.fromkeys(axis for grid in self.plan.grids for axis in grid.axes))

    @cached_property
    def walked(self) -> list[tuple[int, Grid]]:
        """Grids with axes, by number; what depends on nothing needs no walk."""
        return [(k, grid) for k, grid in enumerate(self.plan.grids) if grid.axes]

    @property
    def stored(self) -> Lanes:
        """One number of the table."""
        return Lanes(self.plan.dtype, 1)

    @cached_property
    def words(self) -> dict[tuple[object, ...], int]:
        """What the program is told -> which word of eight bytes it is."""
        names: list[tuple[object, ...]] = [(name,) for name in ARRAYS]
        names += [(axis, what) for axis in self.axes for what in PER_AXIS]
        for k, grid in enumerate(self.plan.grids):
            names += [(k, "numbers"), *((k, axis) for axis in grid.axes)]
        return {name: k for k, name in enumerate(names)}

    # columns of the scratch area, one number for each state of a tile

    def state(self, what: str, joint: int) -> int:
        """Of a state's coordinate."""
        return INPUTS.index(what) * self.n + joint

    def place(self, axis: Axis, k: int) -> int:
        """Of where the k-th point lies on an axis."""
        return 3 * self.n + self.axes.index(axis) * self.order + k

    def weight(self, axis: Axis, k: int) -> int:
        """Of its weight."""
        return self.place(axis, k) + len(self.axes) * self.order

    def entry(self, grid: int, k: int) -> int:
        """Of an entry between the points."""
        before = sum(len(each.entries) for each in self.plan.grids[:grid])
        return 3 * self.n + 2 * len(self.axes) * self.order + before + k

    @property
    def torque(self) -> int:
        """Of the first torque."""
        return self.entry(len(self.plan.grids), 0)

    @property
    def columns(self) -> int:
        """How many there are."""
        return self.torque + self.n

    @property
    def pitch(self) -> int:
        """Bytes from column to column."""
        return 8 * TILE

    @property
    def rows(self) -> int:
        """Bytes before the rows in which a grid leaves its entries, state after state."""
        return self.columns * self.pitch

    @property
    def scratch(self) -> int:
        """Bytes of the scratch area."""
        return self.rows + self.pitch * max((len(grid.entries) for grid in self.plan.grids), default=0)


class ProgramPart:
    """What the functions of a program share."""

    def __init__(self, area: ScratchArea) -> None:
        """Begin a function."""
        self.area, self.lanes, self.w = area, area.lanes, Writer()

    def told(self, name: tuple[object, ...], kind: str) -> str:
        """A word of the table."""
        return self.w.let(f"load {kind}, ptr {self.w.at('%table', 8 * self.area.words[name])}")

    def everywhere(self, number: str, kind: str, width: int) -> str:
        """A number in every lane."""
        if width == 1:
            return number
        type_ = f"<{width} x {kind}>"
        first = self.w.let(f"insertelement {type_} poison, {kind} {number}, i64 0")
        return self.w.let(f"shufflevector {type_} {first}, {type_} poison, <{width} x i32> zeroinitializer")

    def where(self, column: int, state: str) -> str:
        """The address of a number of a state, or of the vector that begins with it."""
        return self.w.at(self.w.at("%scratch", column * self.area.pitch), state)

    def does(self, what: str, a: str, b: str) -> str:
        """An instruction on two vectors of doubles."""
        return self.w.let(f"{what} {self.lanes.type} {a}, {b}")

    def chosen(self, condition: str, a: str, b: str, kind: str) -> str:
        """One of two vectors, lane by lane."""
        return self.w.let(f"select {self.lanes.truth} {condition}, {kind} {a}, {kind} {b}")
