"""Turney, Mudge and Lee (1980), section 7: elimination without pivoting, and one step of the four point integration."""

from typing import Any

import numpy as np


def solution(M: Any, b: Any) -> Any:
    """x with M x = b, by elimination and back substitution; M is positive definite: nothing is exchanged."""
    n = len(b)
    rows, right = [list(row) for row in M], list(b)
    for k in range(n):
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]  # (eliminate)
            rows[i] = [
                *rows[i][: k + 1],
                *(rows[i][j] - factor * rows[k][j] for j in range(k + 1, n)),
            ]  # (eliminate)
            right[i] = right[i] - factor * right[k]  # (eliminate)
    x: list[Any] = []
    for i in reversed(range(n)):
        rest = right[i]
        for j, known in zip(range(n - 1, i, -1), x, strict=True):
            rest = rest - rows[i][j] * known  # (substitute)
        x.append(rest / rows[i][i])  # (substitute)
    return np.array(x[::-1])


def next_state(y: Any, slopes: Any, step: Any) -> Any:
    """The state after one step from four slopes g(y), g(y + h1/2), g(y + h2/2), g(y + h3), and the points between."""
    h1 = step * slopes[0]  # (integrate)
    y2 = y + 0.5 * h1  # (integrate)
    h2 = step * slopes[1]  # (integrate)
    y3 = y + 0.5 * h2  # (integrate)
    h3 = step * slopes[2]  # (integrate)
    y4 = y + h3  # (integrate)
    h4 = step * slopes[3]  # (integrate)
    after = y + (h1 + 2.0 * h2 + 2.0 * h3 + h4) / 6.0  # (integrate)
    return after, y2, y3, y4
