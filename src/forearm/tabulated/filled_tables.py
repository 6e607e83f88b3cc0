"""The table from compiled kernels, in batches."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from forearm.arm import Arm
from forearm.faults import explained
from forearm.tabulated.grids import Grid
from forearm.tabulated.lookup_tables import LookupTable
from forearm.tabulated.methods import frictionless
from forearm.tabulated.plans import (
    MOST_BYTES,
    MOST_SECONDS,
    TablePlan,
    entries_at,
    plan_table,
    refuse_too_much,
)


@explained
def tabulate(
    arm: Arm,
    method: str = "horn_raibert",
    *,
    points: int | Mapping[str, int] = 17,
    interpolation: str = "linear",
    speeds: ArrayLike | None = None,
    accelerations: ArrayLike | None = None,
    dtype: str = "float64",
    most_bytes: float = MOST_BYTES,
    most_seconds: float = MOST_SECONDS,
) -> LookupTable:
    """A table of torques, filled from the compiled dynamics; `plan_table` says beforehand how large it would be.

    Args:
        arm: The arm, with its load: another load needs another table.
        method: 'albus' (tau over q, qd, qdd), 'raibert' (J(q), K(q, qd)) or 'horn_raibert' (M, C, g over q).
        points: Values on each axis; or by kind: {"q": 33, "qd": 9, "qdd": 3}.
        interpolation: 'nearest', 'linear' or 'cubic'.
        speeds: Greatest |qd|, where speeds are an axis; the joints' speed limits by default.
        accelerations: Greatest |qdd|, where accelerations are an axis.
        dtype: 'float64' or 'float32', as stored.
        most_bytes: A larger table is refused.
        most_seconds: A table that takes longer to fill is refused.

    >>> import forearm as fa
    >>> arm = fa.load("rr")
    >>> table = fa.tabulate(arm, points=64, interpolation="cubic")
    >>> table.torques(arm, [0.4, -1.1], [0.7, 1.3], [-0.5, 2.1]).round(3)
    array([20.669,  2.877])
    """
    plan = plan_table(
        arm,
        method,
        points=points,
        interpolation=interpolation,
        speeds=speeds,
        accelerations=accelerations,
        dtype=dtype,
    )
    refuse_too_much(plan, most_bytes, most_seconds)
    return filled(plan)


def filled(plan: TablePlan) -> LookupTable:
    """The table of a plan."""
    free = frictionless(plan.arm)
    return LookupTable(plan, tuple(_numbers(free, grid, plan.dtype) for grid in plan.grids))


def _numbers(arm: Arm, grid: Grid, dtype: str) -> np.ndarray[Any, Any]:
    """What a grid stores (cells, entries)."""
    stored = np.empty((grid.cells, len(grid.entries)), dtype)
    for which, state in grid.states(arm.n):
        stored[which] = entries_at(arm, grid, state)
    return stored
