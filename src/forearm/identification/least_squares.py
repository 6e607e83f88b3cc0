"""Ordinary and weighted least squares on base parameters, with intervals that do not promise too much.

Joints differ in noise: weights are one over each joint's residual. Residuals that hang together in time tell less than
their number: their variance is multiplied by f = 1 + 2 Σ ρ_k, the sum of their autocorrelations until these vanish
(never less than 1), joint by joint, and by what the fit has taken from them: K rows are worth K / f, of which fitted
numbers use up as many as they are.
"""

from dataclasses import dataclass, replace

import numpy as np

from forearm.algebra import Matrix, Vector
from forearm.identification.torque_rows import TorqueEquations

LEAST_WORTH = 0.2
"""No more than the other part of the rows is taken to be used up by fitted numbers."""
FEWEST_PAIRS = 16
"""A correlation of fewer residuals with later ones is not looked at."""
MOST_ROUNDS = 10
"""How often weights are found anew from the residuals that they leave."""
WIDTH = 1.959964
"""Half of a 95 % interval, in standard deviations."""


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """Base parameters and what is known about their errors."""

    values: Vector
    """Weighted least squares (rank,)."""
    ordinary: Vector
    """Ordinary least squares (rank,): every joint counts the same."""
    covariance: Matrix
    """Of the weighted ones (rank, rank)."""
    noise: Vector
    """Standard deviation of each joint's residual (n,)."""
    inflation: Vector
    """By how much autocorrelation multiplies each joint's variance (n,)."""

    @property
    def std(self) -> Vector:
        """Standard deviations (rank,)."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def weights(self) -> Vector:
        """One over each joint's noise, correlation in time included (n,)."""
        return 1.0 / (self.noise * np.sqrt(self.inflation))


def least_squares(
    equations: TorqueEquations, kept: tuple[int, ...], held: dict[int, float] | None = None
) -> LeastSquares:
    """Fit base parameters, the columns `kept`; those `held` (place among them -> value) are not fitted."""
    fixed = held or {}
    free = [k for k in range(len(kept)) if k not in fixed]
    columns = [kept[k] for k in free]
    if fixed:
        known = equations.X[:, :, [kept[k] for k in fixed]] @ np.array(list(fixed.values()))
        equations = replace(equations, tau=equations.tau - known)
    ordinary, _ = _solved(equations, np.ones(equations.n), columns)
    values, noise = _weighted(equations, ordinary, columns)
    rest = equations.sought - equations.X[:, :, columns] @ values
    inflation = autocorrelation_factor(rest, len(columns), kept=equations.kept)
    values, root = _solved(equations, 1.0 / (noise * np.sqrt(inflation)), columns)
    covariance = np.diag(np.full(len(kept), np.inf))
    covariance[np.ix_(free, free)] = root @ root.T
    both = [np.array([fixed.get(k, 0.0) for k in range(len(kept))]) for _ in range(2)]
    both[0][free], both[1][free] = values, ordinary
    return LeastSquares(both[0], both[1], covariance, noise, inflation)


def _weighted(equations: TorqueEquations, values: Vector, kept: list[int]) -> tuple[Vector, Vector]:
    """Weighted solution and each joint's noise (n,), from an ordinary solution.

    Where every joint counts the same, a small wrist's residuals are mostly errors of parameters that larger joints
    told. Weights from them count the wrist too little; so both are found again until they hold.
    """
    noise = _noise(equations, values, kept)
    for _ in range(MOST_ROUNDS):
        before = noise
        values, _ = _solved(equations, 1.0 / noise, kept)
        noise = _noise(equations, values, kept)
        if np.all(np.abs(noise / before - 1.0) < 1e-3):
            break
    return values, noise


def _solved(equations: TorqueEquations, weights: Vector, kept: list[int]) -> tuple[Vector, Matrix]:
    """Solution, and a root of the inverse of the normal matrix; columns are scaled to length one on the way."""
    X, tau = equations.rows(weights, kept)
    sizes = np.linalg.norm(X, axis=0)
    sizes[sizes == 0] = 1.0
    R: Matrix = np.asarray(np.linalg.qr(np.column_stack([X / sizes, tau]), mode="r"))
    U, s, Vt = np.linalg.svd(R[:-1, :-1])
    inverse = 1.0 / np.maximum(s, 1e-13 * s[0] or 1.0)  # columns of nothing but zeros tell nothing
    return (Vt.T * inverse) @ (U.T @ R[:-1, -1]) / sizes, (Vt.T * inverse) / sizes[:, None]


def _noise(equations: TorqueEquations, values: Vector, kept: list[int]) -> Vector:
    """Standard deviation of residuals of each joint (n,); fitted numbers cost freedom, shared among the joints."""
    rest = equations.sought - equations.X[:, :, kept] @ values
    counts = equations.counts
    rows = np.maximum(1.0, counts * (1.0 - len(kept) / max(float(np.sum(counts)), 1.0)))
    found = np.sqrt(np.sum(rest**2, axis=0) / rows)
    scale = float(np.max(equations.scale))
    return np.maximum(found, 1e-9 * (scale if scale > 1e-100 else 1.0))  # torques may all be zero


def information_root(covariance: Matrix) -> Matrix:
    """R with RᵀR the inverse of a covariance, also of a nearly singular one."""
    std = np.sqrt(np.diag(covariance))
    values, axes = np.linalg.eigh(covariance / np.outer(std, std))
    return (axes / np.sqrt(np.maximum(values, 1e-14 * values[-1]))).T / std


def autocorrelation_factor(rest: Matrix, fitted: int, most: int = 50, kept: Matrix | None = None) -> Vector:
    """1 + 2 Σ ρ_k of each column (n,), summed until the correlation is within its own noise; at least 1.

    `fitted` numbers have taken their share of residuals (K, n), the larger the fewer rows they are worth. Those that
    were left out (not `kept`) are zero, and neither they nor pairs with them count.
    """
    many, n = rest.shape
    there = np.ones(rest.shape) if kept is None else kept.astype(float)
    rows = np.maximum(np.sum(there, axis=0), 1.0)
    x = (rest - np.sum(rest, axis=0) / rows) * there
    power = np.maximum(np.sum(x**2, axis=0), 1e-300)
    factor, open_ = np.ones(n), np.ones(n, dtype=bool)
    for k in range(1, min(most, many // 4)):
        rho = np.sum(x[k:] * x[:-k], axis=0) / power
        if kept is not None:  # as many pairs are expected as there are without gaps
            pairs = np.sum(there[k:] * there[:-k], axis=0)
            open_ &= pairs >= FEWEST_PAIRS
            rho *= rows * (many - k) / many / np.maximum(pairs, 1.0)
        open_ &= rho > 1.0 / np.sqrt(rows)
        if not open_.any():
            break
        factor[open_] += 2 * rho[open_]
    each = fitted * rows / np.sum(rows)
    worth = np.maximum(rows - each * factor, LEAST_WORTH * rows)
    return factor * np.maximum((rows - each) / worth, 1.0)
