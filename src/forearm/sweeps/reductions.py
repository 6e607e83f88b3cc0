"""What is kept of the results of a sweep. Every reduction merges exactly, in any order: counts and sums are whole
numbers, extremes remember the number of their sample. So results do not depend on who computed what.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from forearm.algebra import Vector
from forearm.faults import StateFault, explained_parts

WIDE = 32
"""Rows that are looked at side by side."""
EXACT = 1074
"""Every float64 is a whole number of 2^-1074."""


class Piece(NamedTuple):
    """Results of consecutive samples, finite ones only summed up."""

    first: int
    """Number of the first sample."""
    least: Vector
    """Least value of each sample over its instants (S, m); inf where none is finite."""
    greatest: Vector
    """Greatest (S, m); -inf where none is finite."""
    about: Vector
    """A value (m,) among the results, from which sums are counted."""
    total: Any
    """Sum (m,) over all states of what they differ from it, where a reduction asks for it; None otherwise."""
    squares: Any
    """Sum of squares (m,), likewise."""
    finite: Vector
    """Finite values (m,)."""
    spoiled: int | None
    """Number of the first sample with a result that is not finite."""
    values: Any
    """All values (S, T, m), where a reduction asks for them; None otherwise."""


State = dict[str, Any]
"""What a reduction has so far: whole numbers, and floats that are copied, never computed with."""


NUMBER, EXACT_SUM = 32, 1_500
"""Letters of a number in a journal at most, with what stands around it; of an exact sum of squares."""


class Room(NamedTuple):
    """How much may be written down."""

    letters: int
    """Letters of it."""
    lists: int
    """Lists and tables in it: the short texts that take much memory."""


class Reduction(ABC):
    """Something to keep of all results."""

    needs_values = False
    """Whether every value is looked at, not only extremes and sums of a sample."""
    needs_sums = False
    """Whether sums are asked for."""

    def __init_subclass__(cls) -> None:
        explained_parts(cls, at_border=True)

    @abstractmethod
    def empty(self, m: int) -> State:
        """Nothing yet, for m numbers in a result."""

    @abstractmethod
    def room(self, m: int) -> Room:
        """How much a state is at most, written down."""

    @abstractmethod
    def take(self, state: State, piece: Piece) -> None:
        """Add results to a state."""

    @abstractmethod
    def merge(self, state: State, other: State) -> None:
        """Add another state; in whatever order, the outcome is the same."""

    @abstractmethod
    def possible(self, state: State, samples: int, values: int) -> bool:
        """Whether so many samples, with so many values of each number of a result, may have given this state."""


def _of_columns(end: np.ufunc, values: Vector) -> Vector:
    """Least or greatest of each column (S, m), many rows side by side: NumPy is slow along narrow ones."""
    whole, m = len(values) // WIDE * WIDE, values.shape[1]
    if whole:
        side_by_side = end.reduce(values[:whole].reshape(-1, WIDE * m), axis=0).reshape(WIDE, m)
        values = np.concatenate([side_by_side, values[whole:]])
    return end.reduce(values, axis=0)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Extremes(Reduction):
    """Least and greatest values, and the samples that gave them."""

    worst: int = 1
    """How many samples to remember for each number of a result, at either end."""

    def __post_init__(self) -> None:
        if not 1 <= self.worst <= 10_000:
            raise StateFault(f"Extremes: worst is {self.worst!r}; give a whole number from 1 to 10000.")

    def empty(self, m: int) -> State:
        """No sample yet."""
        return {"low": [[] for _ in range(m)], "high": [[] for _ in range(m)]}

    def room(self, m: int) -> Room:
        """Two numbers for each sample."""
        return Room(4 * m * (self.worst + 1) * NUMBER, 2 * m * (self.worst + 1))

    def take(self, state: State, piece: Piece) -> None:
        """Samples that are among the worst."""
        ends = (("low", piece.least, 1.0, np.minimum), ("high", piece.greatest, -1.0, np.maximum))
        for side, values, sign, end in ends:
            best = sign * _of_columns(end, values)
            for j, kept in enumerate(state[side]):
                full = len(kept) == self.worst
                if math.isfinite(best[j]) and not (full and best[j] >= sign * kept[-1][0]):
                    self._insert(kept, sign * values[:, j], values[:, j], piece.first, sign)

    def _insert(self, kept: list[Any], keyed: Vector, values: Vector, first: int, sign: float) -> None:
        if self.worst == 1:
            places = keyed.argmin(axis=0, keepdims=True)
        else:
            bound = sign * kept[-1][0] if len(kept) == self.worst else math.inf
            places = np.flatnonzero(keyed < bound)
            places = places[np.argsort(keyed[places], kind="stable")[: self.worst]]
        kept += [(float(values[k]), first + int(k)) for k in places]
        self._trim(kept, sign)

    def _trim(self, kept: list[Any], sign: float) -> None:
        kept.sort(key=lambda case: (sign * case[0], case[1]))
        del kept[self.worst :]

    def merge(self, state: State, other: State) -> None:
        """The worst of both."""
        for side, sign in (("low", 1.0), ("high", -1.0)):
            for kept, more in zip(state[side], other[side], strict=True):
                kept += [(float(value), int(sample)) for value, sample in more]
                self._trim(kept, sign)

    def possible(self, state: State, samples: int, values: int) -> bool:
        """Values are finite, and of samples that there are."""
        cases = [case for side in ("low", "high") for kept in state[side] for case in kept]
        return all(math.isfinite(value) and 0 <= sample < samples for value, sample in cases)


@dataclass(frozen=True)
class Moments(Reduction):
    """Mean and standard deviation. Sums of blocks are added as whole numbers: exactly, in any order.

    A block's sums are about a value of its own; what they are about zero follows in whole numbers, without rounding,
    squares as a number of 2^-2148. So the deviation is as exact as the results, however large the mean.
    """

    needs_sums = True

    def empty(self, m: int) -> State:
        """Nothing counted."""
        return {"count": [0] * m, "total": [0] * m, "squares": [0] * m}

    def room(self, m: int) -> Room:
        """A count and two sums."""
        return Room(3 * m * EXACT_SUM, 0)

    def take(self, state: State, piece: Piece) -> None:
        """Sums of a block."""
        if not np.isfinite(piece.squares).all():
            raise StateFault(
                f"sweep: results from sample {piece.first} on are so large that their squares overflow; leave "
                '"moments" out of keep, or ask what makes them.'
            )
        for j in range(len(piece.total)):
            count, total, about = int(piece.finite[j]), _whole(piece.total[j]), _whole(piece.about[j])
            state["count"][j] += count
            state["total"][j] += total + count * about
            state["squares"][j] += (_whole(piece.squares[j]) << EXACT) + (2 * total + count * about) * about

    def merge(self, state: State, other: State) -> None:
        """Sums of both."""
        for name, sums in state.items():
            state[name] = [a + int(b) for a, b in zip(sums, other[name], strict=True)]

    def possible(self, state: State, samples: int, values: int) -> bool:
        """No more than there are, none larger than a float."""
        sums = zip(state["count"], state["total"], state["squares"], strict=True)
        return all(
            0 <= count <= values
            and abs(total) <= count << (EXACT + 1024)
            and abs(squares) <= count << 2 * (EXACT + 1024)
            for count, total, squares in sums
        )


def _whole(x: float) -> int:
    """A float64 as a whole number of 2^-1074."""
    top, bottom = float(x).as_integer_ratio()
    return top * (2**EXACT // bottom)


def moments(state: State) -> tuple[Vector, Vector]:
    """Mean and standard deviation (m,), rounded once; NaN where nothing was finite."""
    mean, deviation = [], []
    for count, total, squares in zip(state["count"], state["total"], state["squares"], strict=True):
        if not count:
            mean.append(math.nan)
            deviation.append(math.nan)
            continue
        middle = Fraction(total, count * 2**EXACT)
        spread = Fraction(squares, count * 4**EXACT) - middle * middle
        mean.append(float(middle))
        deviation.append(_root(spread))
    return np.array(mean), np.array(deviation)


def _root(square: Fraction) -> float:
    """The square root of a number of any size; its square may be too large, or too small, for a float."""
    twos = (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    return math.ldexp(math.sqrt(max(0.0, float(square / Fraction(4) ** twos))), twos)


MANTISSA, LOWEST, HIGHEST = 7, -64, 64
"""A sketch has 2^7 cells for each power of two from 2^-64 to 2^64, for either sign; what is smaller counts as zero,
what is larger as infinite."""
CELLS = (HIGHEST - LOWEST) << MANTISSA


@dataclass(frozen=True)
class Quantiles(Reduction):
    """Quantiles within 0.4 % of their value, of any number of results, in a table of counts.

    Sizes below 5e-20 count as zero, those beyond 1.8e19 as infinite.

    The cells are those of a float's exponent and first seven bits, so that counting is a shift; quantile sketches with
    a bound on the relative error are DDSketch's (Masson, Rim and Lee 2019, doi:10.14778/3352063.3352135).
    """

    needs_values = True

    def empty(self, m: int) -> State:
        """Nothing counted: cells by number, few of them used."""
        return {"cells": [{} for _ in range(m)]}

    def room(self, m: int) -> Room:
        """A name and a count for each cell."""
        return Room(m * (2 * CELLS + 2) * (NUMBER + 10), m)

    def take(self, state: State, piece: Piece) -> None:
        """Count values."""
        for j, cells in enumerate(state["cells"]):
            counts = np.bincount(cell_numbers(piece.values[..., j]), minlength=1)
            for cell in np.flatnonzero(counts).tolist():
                cells[cell] = cells.get(cell, 0) + int(counts[cell])

    def merge(self, state: State, other: State) -> None:
        """Counts of both."""
        for cells, more in zip(state["cells"], other["cells"], strict=True):
            for cell, count in more.items():
                cells[int(cell)] = cells.get(int(cell), 0) + int(count)

    def possible(self, state: State, samples: int, values: int) -> bool:
        """Cells that there are, with no more values than there are."""
        return all(
            sum(cells.values()) <= values
            and all(0 <= cell <= 2 * CELLS and count > 0 for cell, count in cells.items())
            for cells in state["cells"]
        )


def cell_numbers(values: Vector) -> Vector:
    """The cell of each finite value, in order of value: negative ones first, zero in the middle."""
    finite = values[np.isfinite(values)]
    bits = np.ascontiguousarray(finite, dtype=float).view(np.int64)
    size = ((bits & 0x7FFFFFFFFFFFFFFF) >> (52 - MANTISSA)) - ((1023 + LOWEST) << MANTISSA)
    size = np.clip(size + 1, 0, CELLS)
    return np.where(bits < 0, CELLS - size, CELLS + size)


def quantile(cells: dict[int, int], share: float) -> float:
    """The value below which a share of all lies: the middle of its cell."""
    total, passed = sum(cells.values()), 0
    if not total:
        return math.nan
    rank = share * (total - 1)
    for cell in sorted(cells):
        passed += cells[cell]
        if passed > rank:
            return math.copysign(math.inf, cell - CELLS) if cell in (0, 2 * CELLS) else _middle(cell - CELLS)
    raise AssertionError("a rank beyond all counts")


def _middle(number: int) -> float:
    """The middle of a cell, by its number from zero."""
    if number == 0:
        return 0.0
    size = abs(number) - 1
    exponent, part = (size >> MANTISSA) + LOWEST, size & ((1 << MANTISSA) - 1)
    return math.copysign(math.ldexp(1.0 + (part + 0.5) / (1 << MANTISSA), exponent), number)


@dataclass(frozen=True)
class Histogram(Reduction):
    """How many values lie in each of equal cells between two bounds, and beyond them."""

    low: float
    """Where the first cell begins."""
    high: float
    """Where the last one ends."""
    bins: int = 100
    """How many cells."""

    needs_values = True

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise StateFault(
                f"Histogram: from {self.low!r} to {self.high!r}; give finite bounds, the lower one first."
            )
        if not 1 <= self.bins <= 1_000_000:
            raise StateFault(f"Histogram: bins is {self.bins!r}; give a whole number from 1 to 1000000.")

    def empty(self, m: int) -> State:
        """Nothing counted; the first and the last count are of what lies beyond."""
        return {"counts": [[0] * (self.bins + 2) for _ in range(m)]}

    def room(self, m: int) -> Room:
        """A count for each cell."""
        return Room(m * (self.bins + 3) * NUMBER, m)

    def take(self, state: State, piece: Piece) -> None:
        """Count values."""
        for j, counts in enumerate(state["counts"]):
            values = piece.values[..., j]
            values = values[np.isfinite(values)]
            place = np.floor((values - self.low) * (self.bins / (self.high - self.low))).clip(-1, self.bins)
            found = np.bincount(self._settled(values, place.astype(np.int64)) + 1, minlength=self.bins + 2)
            state["counts"][j] = [a + b for a, b in zip(counts, found.tolist(), strict=True)]

    @property
    def edges(self) -> Vector:
        """Where cells begin and end (bins + 1,)."""
        return np.linspace(self.low, self.high, self.bins + 1)

    def _settled(self, values: Vector, place: Vector) -> Vector:
        """Cells as their edges have it, which a product may miss by a rounding; the last is closed, as NumPy has it."""
        edges = np.concatenate([[-np.inf], self.edges, [np.inf]])
        place = place - (values < edges[place + 1]) + (values >= edges[place + 2])
        place[values == self.high] = self.bins - 1
        return place

    def merge(self, state: State, other: State) -> None:
        """Counts of both."""
        pairs = zip(state["counts"], other["counts"], strict=True)
        state["counts"] = [[a + int(b) for a, b in zip(x, y, strict=True)] for x, y in pairs]

    def possible(self, state: State, samples: int, values: int) -> bool:
        """No more values than there are."""
        return all(min(counts) >= 0 and sum(counts) <= values for counts in state["counts"])


REDUCTIONS = {"extremes": Extremes(), "moments": Moments(), "quantiles": Quantiles()}
"""Reductions that need nothing else said."""


def reductions_of(keep: Any) -> tuple[Reduction, ...]:
    """What a caller wants to keep: names and reductions, one of each kind."""
    found = []
    for one in (keep,) if isinstance(keep, (str, Reduction)) else keep:
        if isinstance(one, str) and one in REDUCTIONS:
            one = REDUCTIONS[one]
        if not isinstance(one, Reduction):
            raise StateFault(
                f"sweep: keep has {one!r}; give {', '.join(map(repr, REDUCTIONS))}, or fa.Extremes(worst), "
                "fa.Histogram(low, high, bins)."
            )
        found.append(one)
    if len({type(r) for r in found}) < len(found) or not found:
        raise StateFault("sweep: keep names a reduction twice, or none; name each kind once.")
    return tuple(found)
