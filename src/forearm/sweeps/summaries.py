"""Least, greatest, sum and sum of squares of each sample's results over its instants; what is not finite left out.

Sums are of what results differ from a value among them: squares of the results themselves would lose a spread that is
small beside the mean.
"""

from typing import Any, NamedTuple

import numpy as np

from forearm.algebra import Vector


class Summary(NamedTuple):
    """Of each sample (S, m), finite values only."""

    least: Vector
    """inf where there is none."""
    greatest: Vector
    """-inf where there is none."""
    total: Any
    """Sum, less the value that it is about; None where nobody asks for it."""
    squares: Any
    """Sum of squares, likewise."""
    finite: Vector
    """How many values were finite."""


def first_finite(values: Vector) -> Vector:
    """The first finite value (m,) of each number of results (S, T, m); 0 where there is none."""
    rows = values.reshape(-1, values.shape[-1])
    good = np.isfinite(rows)
    return np.where(good.any(axis=0), rows[good.argmax(axis=0), np.arange(rows.shape[-1])], 0.0)


def summary_of(values: Vector, about: Vector) -> Summary:
    """Summarise results (S, T, m), sums about values (m,)."""
    good = np.isfinite(values)
    if good.all():
        count = np.full((len(values), values.shape[-1]), values.shape[1])
        apart = values - about
        sums = apart.sum(axis=1), (apart * apart).sum(axis=1)
        return Summary(values.min(axis=1), values.max(axis=1), *sums, count)
    zeros = np.where(good, values - about, 0.0)
    return Summary(
        np.where(good, values, np.inf).min(axis=1),
        np.where(good, values, -np.inf).max(axis=1),
        zeros.sum(axis=1),
        (zeros * zeros).sum(axis=1),
        good.sum(axis=1),
    )


def joined(parts: list[Summary]) -> Summary:
    """Of all samples of the parts."""
    return Summary(*(np.concatenate(column) for column in zip(*parts, strict=True)))
