"""Symmetric systems on any scalar: M x = b by M = Lᵀ D L, tip to base, without pivoting.

M is positive definite for a real arm, so no pivoting is needed; eliminating from the last joint lets the work
begin while composite bodies are still being added. The pivots are the effective inertias of the joints.
"""

from typing import Any

import numpy as np

from forearm.algebra import Matrix, Scalar, Vector, is_zero, where
from forearm.faults import always_singular


def factor(M: Matrix, singular: float = 0.0, arm: Any = None) -> tuple[list[list[Scalar]], list[Scalar]]:
    """(L, 1/D): rows of the strictly lower L with unit diagonal, and the inverse pivots.

    With `singular` > 0, a pivot smaller than that fraction of its diagonal entry counts as zero, so that in
    floating point the solution is not finite instead of merely large. `arm` is whose M it is, for the fault's words.
    """
    n = len(M)
    a = [[M[i][j] for j in range(n)] for i in range(n)]
    rows: list[list[Scalar]] = [[] for _ in range(n)]
    inverse: list[Scalar] = [None] * n
    for k in range(n - 1, -1, -1):
        pivot = a[k][k]
        if singular and k < n - 1:
            pivot = where(pivot - singular * M[k][k], pivot, 0.0)
        if is_zero(pivot):
            always_singular(k + 1, arm)
        inverse[k] = 1.0 / pivot
        rows[k] = [a[k][i] * inverse[k] for i in range(k)]
        for i in range(k):
            for j in range(i + 1):
                a[i][j] = a[i][j] - rows[k][i] * a[k][j]
    return rows, inverse


def solve_factored(rows: list[list[Scalar]], inverse: list[Scalar], b: Vector) -> Vector:
    """x with Lᵀ D L x = b."""
    n = len(rows)
    x: list[Any] = list(b)
    for k in range(n - 1, -1, -1):
        for i in range(k):
            x[i] = x[i] - rows[k][i] * x[k]
    x = [value * scale for value, scale in zip(x, inverse, strict=True)]
    for k in range(n):
        for i in range(k):
            x[k] = x[k] - rows[k][i] * x[i]
    return np.array(x)
