"""Least, greatest, sum and sum of squares of each sample's results over its instants; what is not finite left out."""

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
    """Sum; None where nobody asks for it."""
    squares: Any
    """Sum of squares, likewise."""
    finite: Vector
    """How many values were finite."""


def summary_of(values: Vector) -> Summary:
    """Summarise results (S, T, m)."""
    good = np.isfinite(values)
    if good.all():
        count = np.full((len(values), values.shape[-1]), values.shape[1])
        squares = (values * values).sum(axis=1)
        return Summary(values.min(axis=1), values.max(axis=1), values.sum(axis=1), squares, count)
    zeros = np.where(good, values, 0.0)
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
