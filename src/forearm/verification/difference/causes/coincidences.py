"""Whether a cause could take a difference away by accident.

Unknowns that are fitted take most of any short smooth motion away, and of many causes that are tried on few numbers
one comes near. So a cause counts where it leaves much less of the difference than it leaves of others that have the
same size in each joint and another kind: the less, the fewer numbers there are that it could have failed on.
"""

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from forearm.verification.difference.causes.hypotheses import Bench, Fit, all_columns

PLAIN = 3.0
"""How many times less a cause must leave than there was, and than of a difference of another kind, at least."""
CLEAR = 1000.0
"""The same where the unknowns take most of any difference away, because rows are few or alike."""
NOISY, STIFF = 10.0, 0.9
"""The same where something is left that may be noise, unless the unknowns leave at least that share of others."""
LUCK = 0.01
"""How often one cause of all that are tried may explain by accident."""
OWN = 1e-11
"""Share that is rounding: of the sizes of torques, and of a difference that a cause takes wholly away as its own."""
KINDS, ROWS = 9, 60
"""Differences of other kinds that are tried, and rows at which it is seen how many of them are independent."""


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
        return made / np.where(sizes > OWN * np.max(sizes, axis=1, keepdims=True), sizes, np.inf)

    @functools.cached_property
    def others(self) -> tuple[Any, Any]:
        """Differences of other kinds, of this one's size in each joint (S n, KINDS): of bodies alone, of all."""
        bodies = 40 * len(self.bench.arm.links)
        return self._mixed(self.columns[:, :, :bodies]), self._mixed(self.columns)

    def _mixed(self, columns: Any) -> Any:
        left = self.plain.left.reshape(self.bench.tau.shape)
        parts = np.random.default_rng(0).normal(size=(*columns.shape[1:], KINDS))
        made = np.einsum("sic,ick->sik", columns, parts)
        sizes = np.linalg.norm(left, axis=0)[:, None] / np.maximum(np.linalg.norm(made, axis=0), 1e-300)
        return (made * sizes * self.apart[:, None]).reshape(left.size, KINDS)

    def told(self, found: Fit, parameters: int, tries: int) -> bool:
        """Whether this is no accident, where so many causes were tried."""
        spare = self.spare(found, parameters, self._share(found))
        if spare < 1:
            return False
        others = self._share_of_others(found)
        less = max(PLAIN if others > 1 / PLAIN else CLEAR, (tries / LUCK) ** (1 / spare))
        return self._share(found) * less <= others

    def clear(self, found: Fit) -> bool:
        """Whether what these unknowns leave is far less than they leave of differences of another kind."""
        others = self._share_of_others(found)
        return others >= STIFF or self._share(found) * NOISY <= others

    def ample(self, found: Fit, parameters: int) -> bool:
        """Whether there are twice as many independent numbers as unknowns: two causes have many ways to fit fewer."""
        spare = self.spare(found, parameters)
        return 2 * spare >= self._numbers(0.0)

    def _numbers(self, share: float) -> int:
        """How many numbers that differ by more than this share are independent."""
        return sum(max(1, _count(*directions, share)) for directions in self._directions)

    def spare(self, found: Fit, parameters: int, share: float = 0.0) -> int:
        """How many numbers that differ by more than this share are independent, beyond what the unknowns take up."""
        numbers = self._numbers(share)
        if not found.slopes:
            return numbers - parameters
        wide = found.wide.reshape(*self.bench.tau.shape, -1)[self._rows][:, self.apart]
        wide = wide.reshape(-1, wide.shape[2])
        sizes = np.linalg.norm(wide, axis=0)
        wide = wide / np.where(sizes > OWN * np.max(sizes), sizes, np.inf)
        return numbers - int(np.linalg.matrix_rank(wide, tol=OWN * np.sqrt(wide.size)))

    @functools.cached_property
    def _rows(self) -> Any:
        return np.unique(np.linspace(0, len(self.bench.q) - 1, ROWS).astype(int))

    @functools.cached_property
    def _directions(self) -> list[tuple[Any, float]]:
        """Of each joint that differs: how much there is of each direction in all that could differ, and its size."""
        joints = np.flatnonzero(self.apart)
        parts = [np.linalg.svd(self.columns[self._rows, i], compute_uv=False) for i in joints]
        return [(part, self._size(i)) for part, i in zip(parts, joints, strict=True)]

    def _size(self, joints: Any) -> float:
        """Root mean square of the difference in these joints, by what counts as none."""
        left = self.plain.left.reshape(self.bench.tau.shape) / self.bench.room
        return float(np.sqrt(np.mean(left[self._rows][:, joints] ** 2)))

    def _share(self, found: Fit) -> float:
        """Share of the difference that is left."""
        whole = np.linalg.norm(self.plain.left) / np.sqrt(self.plain.left.size)
        return float(np.linalg.norm(found.left) / np.sqrt(found.left.size) / whole)

    def _share_of_others(self, found: Fit) -> float:
        """Share that the unknowns leave of differences that are not wholly their own."""
        if not found.slopes:
            return 1.0
        shares = []
        for others in self.others:
            left = others - found.wide @ np.linalg.lstsq(found.wide, others, rcond=1e-12)[0]
            share = float(np.median(np.linalg.norm(left, axis=0)) / np.median(np.linalg.norm(others, axis=0)))
            shares += [share] if share > OWN else []
        return min(shares, default=0.0)


def _count(parts: Any, size: float, share: float) -> int:
    """How many directions show in a difference of this size, but for a share of it."""
    least = max(1.0, share * size) * max(float(np.linalg.norm(parts)), 1e-300)
    return int(np.sum(parts * size > least))
