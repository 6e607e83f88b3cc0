"""The steps of a recursion: what a formulation holds for each link when a walk along the chain ends.

Formulations keep their per-link quantities in dictionaries under the paper's names (w[i], f[i] …) and walk
with `outward` and `inward`, which tell a watcher when a walk is over. The watcher then reads the
dictionaries.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from forearm.algebra import Matrix
from forearm.arm import WALK
from forearm.derivation.closed_form import expressions
from forearm.derivation.expressions.expression import Ring

Steps = dict[str, list[Matrix]]
"""Paper's name -> value for each link 1 … n: a scalar, (3,), (3, 3) or, for Jacobians, (3, n)."""


class Watcher:
    """Reads the per-link dictionaries of the function whose walk has just ended."""

    def __init__(self, ring: Ring, n: int) -> None:
        """Nothing seen yet."""
        self.ring, self.n = ring, n
        self.steps: Steps = {}

    def at_link(self, direction: str, i: int) -> None:
        """Called by the walk; i = 0 when it is over."""
        if i:
            return
        frame = sys._getframe(2)  # this method < the walk < the formulation
        for name, value in list(frame.f_locals.items()):
            if isinstance(value, dict) and name not in self.steps and not name.startswith("_"):
                found = [self._entry(value[k]) for k in range(1, self.n + 1) if k in value]
                if len(found) == self.n and all(x is not None for x in found):
                    self.steps[name] = [expressions(self.ring, x) for x in found]

    def _entry(self, value: Any) -> Any:
        if isinstance(value, dict):  # columns by joint, those of later joints zero
            zero = np.zeros(3)
            columns = [value.get(j, zero) for j in range(1, self.n + 1)]
            return np.array(columns).T if all(np.shape(x) == (3,) for x in columns) else None
        return value if isinstance(value, np.ndarray) or np.isscalar(value) else None


@contextmanager
def watching(ring: Ring, n: int) -> Iterator[Steps]:
    """Collect the steps of the formulations that run inside."""
    watcher = Watcher(ring, n)
    token = WALK.set(watcher)
    try:
        yield watcher.steps
    finally:
        WALK.reset(token)
