"""Whether a cause could take a difference away by accident.

Unknowns that are fitted take most of any short smooth motion away, and of many causes that are tried on few numbers
one comes near. So a cause counts where it leaves much less of the difference than it leaves of others that have the
same size in each joint and another kind: the less, the fewer numbers there are that it could have failed on.
"""

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from forearm.verification.difference.hypotheses import Bench, Fit, all_columns

PLAIN = 3.0
"""How many times less a cause must leave than there was, and than of a difference of another kind, at least."""
LUCK = 0.01
"""How often one cause of all that are tried may explain by accident."""
KINDS, ROWS = 9, 60
"""Differences of other kinds that are tried, and rows at which it is seen how many of them are independent."""
ALIKE = 1e-6
"""Slopes that are nearer to each other are one."""


@dataclass(frozen=True)
class Odds:
    """What a difference could be mistaken for."""

    bench: Bench
    plain: Fit
    """The whole difference."""

    @functools.cached_property
    def apart(self) -> Any:
        """Joints that differ at all (n,)."""
        left = np.abs(self.plain.left.reshape(self.bench.tau.shape))
        return np.any(left > self.bench.room, axis=0)

    @functools.cached_property
    def columns(self) -> Any:
        """Torques of everything that could differ (S, n, c), of the same size in each joint."""
        made = all_columns(self.bench, self.bench.plain)
        made = np.where(np.isfinite(made), made, 0.0)
        sizes = np.linalg.norm(made, axis=0)
        return made / np.where(sizes > 0, sizes, 1.0)

    @functools.cached_property
    def others(self) -> Any:
        """Differences of other kinds, of the same size in each joint that differs (S n, KINDS)."""
        left = self.plain.left.reshape(self.bench.tau.shape)
        rng, columns = np.random.default_rng(0), self.columns
        made = np.einsum("sic,ick->sik", columns, rng.normal(size=(*columns.shape[1:], KINDS)))
        sizes = np.linalg.norm(left, axis=0)[:, None] / np.maximum(np.linalg.norm(made, axis=0), 1e-300)
        return (made * sizes * self.apart[:, None]).reshape(left.size, KINDS)

    @functools.cached_property
    def numbers(self) -> int:
        """How many independent numbers differ: of rows that are much alike not all are."""
        S = len(self.bench.q)
        rows = np.unique(np.linspace(0, S - 1, ROWS).astype(int))
        left = self.plain.left.reshape(self.bench.tau.shape) / self.bench.room
        found = 0
        for i in np.flatnonzero(self.apart):
            values = np.linalg.svd(self.columns[rows, i], compute_uv=False)
            shares = values / max(float(np.linalg.norm(values)), 1e-300)
            size = float(np.linalg.norm(left[rows, i]))
            found += max(1, int(np.sum(shares * size > np.sqrt(len(rows)))))
        return found

    def spare(self, found: Fit, parameters: int) -> int:
        """How many of those numbers are left when the unknowns have taken theirs."""
        if not found.slopes:
            return self.numbers - parameters
        wide = found.wide.reshape(*self.bench.tau.shape, -1)[:, self.apart]
        wide = wide.reshape(-1, wide.shape[2])
        sizes = np.linalg.norm(wide, axis=0)
        wide = wide[:, sizes > 0] / sizes[sizes > 0]
        return self.numbers - (int(np.linalg.matrix_rank(wide, tol=ALIKE)) if wide.size else 0)

    def told(self, found: Fit, parameters: int, tries: int) -> bool:
        """Whether this is no accident, where so many causes were tried."""
        spare = self.spare(found, parameters)
        if spare < 1:
            return False
        less = max(PLAIN, (tries / LUCK) ** (1 / spare))
        left = np.linalg.norm(found.left) / np.sqrt(found.left.size)
        return bool(left * less <= self._left_of_others(found))

    def _left_of_others(self, found: Fit) -> float:
        """Root mean square that the unknowns leave of a difference of another kind."""
        left = self.others
        if found.slopes:
            left = left - found.wide @ np.linalg.lstsq(found.wide, left, rcond=1e-12)[0]
        return float(np.median(np.linalg.norm(left, axis=0))) / np.sqrt(len(left))
