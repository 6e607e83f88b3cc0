"""Counted scalars: floats that tell a meter about every operation done to them.

The value is computed as the float run computes it; the meter decides what the operation costs under its
convention, and records it with its operands, so that the record is also the graph of operations.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from forearm.counting.meter.conventions import Convention
from forearm.counting.meter.line_tags import SUM, site
from forearm.faults import StateFault

MULTIPLY, ADD, DIVIDE, NEGATE, TRIG, ROOT = range(6)
KINDS = ("multiplications", "additions", "divisions", "negations", "trigonometry", "square_roots")
"""Names of the kinds of operation, in the order of the numbers above."""
MOST_OPERATIONS = 2_000_000
"""Operations that are counted, each of them kept: half a gigabyte, and some seconds."""


class Operation(NamedTuple):
    """One charged operation."""

    kind: int
    """MULTIPLY … ROOT."""
    tag: str
    """The equation it belongs to; empty for bookkeeping."""
    direction: str
    """'outward', 'inward', or '' outside the walks."""
    link: int
    """Link that the walk is at; 0 outside."""
    operands: tuple[int, ...]
    """Earlier operations whose results it takes."""
    times: int
    """How often it is charged (2 where a written sum starts from an accumulator)."""


class Meter:
    """Records operations; also a `Walk`, so that it knows which link a formulation is at."""

    def __init__(self, convention: Convention) -> None:
        """Start with nothing recorded."""
        self.convention = convention
        self.operations: list[Operation] = []
        self.direction = ""
        self.link = 0

    def at_link(self, direction: str, i: int) -> None:
        """Called by `outward` and `inward`; i = 0 when the walk is over."""
        self.direction, self.link = (direction, i) if i else ("", 0)

    def number(self, value: float, *, constant: bool = False, structural: bool = False) -> Counted:
        """A scalar that nothing was done to; zeros and ones are free where `structural`."""
        fixed = structural and value in (0.0, 1.0, -1.0)
        return Counted(float(value), self, -1, constant, float(value) if fixed else None)

    def array(self, values: Any, *, constant: bool = False, structural: bool = False) -> Any:
        """An object array of such scalars."""
        flat = np.asarray(values, dtype=float)
        out = np.empty(flat.shape, dtype=object)
        for index, value in np.ndenumerate(flat):
            out[index] = self.number(float(value), constant=constant, structural=structural)
        return out

    def free_here(self, depth: int) -> bool:
        """Whether a zero or one written in the formulation is free at this place, `depth` frames up."""
        c = self.convention
        spot, first = site(depth + 1)
        kind = first.kind
        if kind == SUM and c.accumulates(spot.tag):
            return False
        return kind in (c.free_at_base if self.direction == "outward" else c.free_at_tip)

    def note(self, kind: int, operands: tuple[int, ...], depth: int) -> int:
        """Record an operation and give its index; the formulation is `depth` frames up."""
        spot, first = site(depth)
        if len(self.operations) >= MOST_OPERATIONS:
            raise StateFault(f"count: there are more than {MOST_OPERATIONS:,} operations; give fewer joints.")
        twice = kind == ADD and first.opens_sum and self.convention.accumulates(spot.tag)
        self.operations.append(
            Operation(kind, spot.tag, self.direction, self.link, operands, 2 if twice else 1)
        )
        return len(self.operations) - 1


class Counted:
    """A float under counting."""

    __slots__ = ("constant", "fixed", "meter", "node", "value")

    def __init__(self, value: float, meter: Meter, node: int, constant: bool, fixed: float | None) -> None:
        """Stand for a value; `node` is the operation that made it (-1: none)."""
        self.value = value
        self.meter = meter
        self.node = node
        self.constant = constant
        self.fixed = fixed

    @property
    def is_zero(self) -> bool:
        """Whether this is zero by structure."""
        return self.fixed == 0.0

    def _pair(self, other: Any) -> tuple[Counted, bool] | None:
        """The other operand as a counted scalar, and whether it was a plain number."""
        if type(other) is Counted:
            return other, False
        if isinstance(other, (int, float, np.floating, np.integer)):
            value = float(other)
            fixed = value in (0.0, 1.0, -1.0) and self.meter.free_here(3)
            return Counted(value, self.meter, -1, True, value if fixed else None), True
        return None

    def _charged(self, kind: int, value: float, other: Counted) -> Counted:
        """The result of an operation that costs something, unless both are constants of the links."""
        meter = self.meter
        constant = self.constant and other.constant
        if constant and meter.convention.constants == "free":
            return Counted(value, meter, -1, True, None)
        a, b = self.node, other.node
        operands = (a, b) if a >= 0 <= b else (a,) if a >= 0 else (b,) if b >= 0 else ()
        return Counted(value, meter, meter.note(kind, operands, 5), constant, None)

    def _product(self, other: Counted) -> Counted:
        for x, y in ((self, other), (other, self)):
            if x.fixed == 0.0:
                return Counted(0.0, self.meter, -1, True, 0.0)
            if x.fixed == 1.0:
                return y
            if x.fixed == -1.0:
                return -y
        return self._charged(MULTIPLY, self.value * other.value, other)

    def _sum(self, other: Counted, sign: float) -> Counted:
        if other.fixed == 0.0:
            return self
        if self.fixed == 0.0:
            return other if sign > 0 else -other
        return self._charged(ADD, self.value + sign * other.value, other)

    def _quotient(self, other: Counted) -> Counted:
        if self.fixed == 0.0:
            return self
        if other.fixed is not None and other.fixed != 0.0:
            return self if other.fixed == 1.0 else -self
        ratio = self.value / other.value if other.value else math.nan  # a singular M has its operations too
        return self._charged(DIVIDE, ratio, other)

    def __add__(self, other: Any) -> Any:
        """Sum."""
        pair = self._pair(other)
        return NotImplemented if pair is None else self._sum(pair[0], 1.0)

    def __radd__(self, other: Any) -> Any:
        """Sum."""
        pair = self._pair(other)
        return NotImplemented if pair is None else pair[0]._sum(self, 1.0)

    def __sub__(self, other: Any) -> Any:
        """Difference."""
        pair = self._pair(other)
        return NotImplemented if pair is None else self._sum(pair[0], -1.0)

    def __rsub__(self, other: Any) -> Any:
        """Difference."""
        pair = self._pair(other)
        return NotImplemented if pair is None else pair[0]._sum(self, -1.0)

    def __mul__(self, other: Any) -> Any:
        """Product."""
        pair = self._pair(other)
        if pair is None:
            return NotImplemented
        return 0.0 if _seed_zero(self, *pair) else self._product(pair[0])

    def __rmul__(self, other: Any) -> Any:
        """Product."""
        pair = self._pair(other)
        if pair is None:
            return NotImplemented
        return 0.0 if _seed_zero(self, *pair) else pair[0]._product(self)

    def __truediv__(self, other: Any) -> Any:
        """Quotient."""
        pair = self._pair(other)
        return NotImplemented if pair is None else self._quotient(pair[0])

    def __rtruediv__(self, other: Any) -> Any:
        """Quotient."""
        pair = self._pair(other)
        return NotImplemented if pair is None else pair[0]._quotient(self)

    def __neg__(self) -> Counted:
        """The opposite; noted, but nothing waits for it: the result stands for the same operation."""
        if self.fixed is not None:
            return Counted(-self.value, self.meter, -1, True, -self.value + 0.0)
        if not (self.constant and self.meter.convention.constants == "free"):
            self.meter.note(NEGATE, (), 3)
        return Counted(-self.value, self.meter, self.node, self.constant, None)

    def __pos__(self) -> Counted:
        """Itself."""
        return self

    def __pow__(self, power: Any) -> Any:
        """Squares and small whole powers, by repeated multiplication."""
        whole = int(power)
        if whole != power or whole < 1:
            return NotImplemented
        result = self
        for _ in range(whole - 1):
            result = result * self
        return result

    def _function(self, kind: int, value: float) -> Counted:
        if self.constant and self.meter.convention.constants == "free":
            return Counted(value, self.meter, -1, True, None)
        operands = (self.node,) if self.node >= 0 else ()
        return Counted(value, self.meter, self.meter.note(kind, operands, 4), self.constant, None)

    def sin(self) -> Counted:
        """Sine."""
        return self._function(TRIG, math.sin(self.value))

    def cos(self) -> Counted:
        """Cosine."""
        return self._function(TRIG, math.cos(self.value))

    def sqrt(self) -> Counted:
        """Square root."""
        return self._function(ROOT, math.sqrt(self.value))

    def where_positive(self, a: Any, b: Any) -> Any:
        """`a` where this is positive, `b` elsewhere."""
        return a if self.value > 0 else b

    def conjugate(self) -> Counted:
        """Itself: counted values are real."""
        return self

    def __repr__(self) -> str:
        """The value, marked."""
        return f"<counted {self.value!r}>"


def _seed_zero(x: Counted, other: Counted, plain: bool) -> bool:
    """Whether x times a plain zero stays a zero of the formulation: its next use asks again whether it is free."""
    return plain and other.fixed == 0.0 and x.fixed != 0.0


def values(array: Any) -> Any:
    """The floats behind an array (or a tuple of arrays) of counted scalars."""
    if isinstance(array, tuple):
        return tuple(values(x) for x in array)
    flat = np.asarray(array, dtype=object)
    out = np.array([x.value if type(x) is Counted else float(x) for x in flat.ravel()], dtype=float)
    return out.reshape(flat.shape)
