"""What a file of rows is, whatever its format: rows a block at a time, and which of its columns are what.

Arrays of NumPy and Zarr have no titles: their columns are q, qd and qdd of all joints in this order (or whatever inputs
the quantity has), a column of times before them if there is one more.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from forearm.algebra import Vector
from forearm.faults import ReadFault
from forearm.motion.columns import KINDS
from forearm.motion.number_tables import MOST_COLUMNS

ROWS = 8192
"""Rows of a block: inputs and outputs of an arm stay in the cache."""
READ = 8
"""Blocks that are asked of a compressed file at once."""


class RowBlock(NamedTuple):
    """Some rows."""

    t: Vector | None
    """Times (k,), if there are any."""
    inputs: list[Vector]
    """One array (k, n) for each input."""


class RowSource(ABC):
    """A file of rows."""

    rows: int | None
    """How many there are; None where that is not known before the end."""
    bytes: int
    """Size of the file, for progress where rows are not known."""
    timed: bool
    """Whether it has times."""
    titled: bool = True
    """Whether the file says what its columns are; by their number otherwise, a time first if there is one more."""
    stated: Sequence[bool] = ()
    """For each joint, whether the file says the unit of its positions; none where it says nothing of any."""
    notes: Sequence[str] = ()
    """What of its titles is ignored, in other units or an order to look at; after the last block, how it ends."""

    @abstractmethod
    def blocks(self) -> Iterator[RowBlock]:
        """The rows, in order; arrays may be used until the next block."""

    def at(self) -> int:
        """Bytes read so far, where rows are not known."""
        return 0

    def close(self) -> None:
        """Let go of the file, if there is one open."""
        file = getattr(self, "file", None)
        if file is not None:
            file.close()


def split(block: Vector, n: int, count: int, timed: bool) -> RowBlock:
    """Columns (k, width) taken apart."""
    start = int(timed)
    return RowBlock(
        block[:, 0] if timed else None, [block[:, start + i * n : start + (i + 1) * n] for i in range(count)]
    )


def timed_rows(label: str, width: int, n: int, inputs: Sequence[str]) -> bool:
    """Whether rows of this width have a time before them; refuse those that are none.

    Rows may go on as a motion's do (q, qd, qdd, tau) after what is asked for; with one joint such a row cannot be told
    from one with a time.
    """
    if width > MOST_COLUMNS:
        raise ReadFault(f"{label}: rows have {width} numbers; {MOST_COLUMNS} are read at most.")
    for groups in input_counts(inputs) if n > 1 else (len(inputs),):
        if width - n * groups in (0, 1):
            return width == n * groups + 1
    least = n * len(inputs)
    raise ReadFault(
        f"{label}: rows have {width} numbers; give {least} ({', '.join(inputs)} of {n} joints, in this order), or "
        f"{least + 1} with the time first."
    )


def input_counts(inputs: Sequence[str]) -> range:
    """How many values of all joints a row may have: the inputs, or as many as a motion's rows that begin with them."""
    begins = tuple(inputs) == KINDS[: len(inputs)]
    return range(len(inputs), (len(KINDS) if begins else len(inputs)) + 1)


def columns_of_rows(n: int, inputs: Sequence[str], timed: bool) -> list[tuple[str, int]]:
    """What rows without titles are read as, column by column: a quantity and a joint, ("t", 0) for the time."""
    kinds = KINDS if len(input_counts(inputs)) > 1 else inputs
    return [("t", 0)] * timed + [(kind, i) for kind in kinds for i in range(n)]


def native(part: Vector) -> Vector:
    """The numbers as this machine computes with them."""
    return part if part.dtype == np.dtype(float) else part.astype(float)
