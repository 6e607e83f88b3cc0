"""Rows of a batch in blocks: one step of a million motions is no call that nobody can interrupt.

Rows know nothing of each other, so the numbers are the same to the bit for any blocks.
"""

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from forearm.algebra import Vector

PATIENCE = 0.1
"""Seconds that a call of the engine should take: between two calls of `progress`, and until Ctrl-C is heard."""
FIRST = 4096
"""Steps of rows in the first call, before it is known how long they take."""

Block = tuple[list[Vector], list[Vector]]
"""Where the states of a block end, and what was recorded of them."""


class Progress:
    """Who wants to know how far a simulation is, and when it was told last."""

    def __init__(self, listener: Callable[[float], None] | None = None) -> None:
        """Nothing is told yet."""
        self.listener, self.share, self.last = listener, 0.0, time.perf_counter()

    def tell(self, share: float) -> None:
        """Tell the share that is done, not too often; the end in any case."""
        self.share, now = share, time.perf_counter()
        if self.listener is not None and (now - self.last > PATIENCE or share == 1.0):
            self.listener(share)
            self.last = now

    def still(self) -> None:
        """No news from what takes long within a step: tell the same again, so that somebody sees that it lives."""
        if self.share < 1.0:
            self.tell(self.share)


class RowBlocks:
    """Calls for blocks of rows, as large as the pace of the calls before allows."""

    def __init__(self) -> None:
        """The pace is not known yet."""
        self.work = FIRST

    def run(
        self,
        call: Callable[[list[Any]], Block],
        inputs: Sequence[Any],
        inner: Sequence[int],
        batch: tuple[int, ...],
        steps: int,
        pause: Callable[[float], None],
    ) -> Block:
        """The results for all rows.

        Args:
            call: Gives the results for some rows, arrays whose first axes are the batch's.
            inputs: Arrays whose first axes broadcast to the batch.
            inner: How many axes of each input are not of the batch.
            batch: Shape of the batch.
            steps: How many steps a call takes.
            pause: Called between two blocks with the share of the rows that is done; may raise.
        """
        axis = int(np.argmax(batch)) if batch else 0
        length = batch[axis] if batch else 1
        each, done = steps * max(1, math.prod(batch) // max(1, length)), 0
        all_rows: Block | None = None
        while all_rows is None or done < length:
            size = min(length - done, max(1, self.work // each))
            rows = slice(done, done + size)
            began = time.perf_counter()
            found = call([*inputs] if size == length else _rows(inputs, inner, len(batch), axis, rows))
            took, done = time.perf_counter() - began, done + size
            # the first may have compiled something, and a short one says little: grow step by step
            self.work = max(1, min(int(PATIENCE * size * each / max(took, 1e-9)), 4 * self.work))
            if size == length:
                return found
            if all_rows is None:
                all_rows = _room(found[0], axis, length), _room(found[1], axis, length)
            for into, some in zip((*all_rows[0], *all_rows[1]), (*found[0], *found[1]), strict=True):
                into[(slice(None),) * axis + (rows,)] = (
                    some  # at once, so that the next block takes its memory
                )
            if done < length:
                pause(done / length)
        return all_rows


def _room(arrays: list[Vector], axis: int, length: int) -> list[Vector]:
    return [np.empty((*a.shape[:axis], length, *a.shape[axis + 1 :]), a.dtype) for a in arrays]


def _rows(inputs: Sequence[Any], inner: Sequence[int], dims: int, axis: int, rows: slice) -> list[Any]:
    """Some rows along one axis of the batch; what all rows share stays as it is."""
    found = []
    for value, own in zip(inputs, inner, strict=True):
        at = axis - (dims - (np.ndim(value) - own))
        shared = at < 0 or value.shape[at] == 1
        found.append(value if shared else value[(slice(None),) * at + (rows,)])
    return found
