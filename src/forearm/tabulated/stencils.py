"""Weights of the points around a state: the nearest one; linear between two; a cubic through four.

In several dimensions the weights of the axes multiply. All three are exact at the points; on a grid of step h the
error falls as h, h² and h⁴. Near the end of an axis the cubic takes the last four points, so its order holds there.
"""

from typing import NamedTuple

import numpy as np

from forearm.algebra import Vector
from forearm.faults import StateFault
from forearm.tabulated.grids import Axis

ORDERS = {"nearest": 1, "linear": 2, "cubic": 4}
"""Interpolation -> order of its error, which is also the number of points that it looks at on an axis."""

MARGIN = 1e-9
"""How far beyond an axis rounding may carry a state, in steps."""


class Stencil(NamedTuple):
    """Where to look on one axis, for a batch."""

    places: Vector
    """Positions on the axis (s, B)."""
    weight: Vector
    """Their weights (s, B)."""


def order_of(interpolation: str) -> int:
    """The number of points on an axis."""
    if interpolation not in ORDERS:
        raise StateFault(f"tabulate: interpolation is {interpolation!r}; give one of {', '.join(ORDERS)}.")
    return ORDERS[interpolation]


def stencil(axis: Axis, values: Vector, order: int) -> Stencil:
    """The points around each value (B,) and their weights."""
    u = (values - axis.low) / axis.step
    if axis.circular:
        u = np.mod(u, axis.points)
    else:
        _refuse_outside(axis, values, u)
    if order == 1:
        index = np.rint(u).astype(np.intp)[None]
        return Stencil(_on(axis, index), np.ones_like(u)[None])
    first = np.floor(u).astype(np.intp) - (order // 2 - 1)
    if not axis.circular:
        first = np.clip(first, 0, axis.points - order)
    t = u - first
    weight = np.stack([1 - t, t]) if order == 2 else _cubic(t)
    return Stencil(_on(axis, first + np.arange(order)[:, None]), weight)


def _cubic(t: Vector) -> Vector:
    """Lagrange's weights of the points 0, 1, 2, 3 at t."""
    a, b, c, d = t, t - 1, t - 2, t - 3
    return np.stack([-b * c * d / 6, a * c * d / 2, -a * b * d / 2, a * b * c / 6])


def _on(axis: Axis, index: Vector) -> Vector:
    return index % axis.points if axis.circular else np.clip(index, 0, axis.points - 1)


def _refuse_outside(axis: Axis, values: Vector, u: Vector) -> None:
    outside = ~((u >= -MARGIN) & (u <= axis.points - 1 + MARGIN))
    if np.any(outside):
        first = int(np.argmax(outside))
        raise StateFault(
            f"table: {axis.name} is {values[first]:.6g} in state {first} ({int(outside.sum())} are outside), "
            f"and the table ends at {axis.low:.6g} and {axis.high:.6g}; tabulate a wider range, or compute the torque."
        )
