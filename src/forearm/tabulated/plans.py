"""Memory and time of a table, known before it is filled; what is too much is refused."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from forearm import dynamics
from forearm.algebra import Matrix, Vector
from forearm.arm import Arm
from forearm.faults import StateFault, explained, limit, needs_chain, precision
from forearm.outside.memory_size import machine_memory, own_memory
from forearm.tabulated.grids import CHUNK, Grid, checked_ranges, grids_of
from forearm.tabulated.methods import INPUTS, entries_of, frictionless
from forearm.tabulated.stencils import order_of

MOST_BYTES = 1 << 30
"""Largest table unless told otherwise: 1 GiB."""
MOST_SECONDS = 600.0
"""Longest filling unless told otherwise."""


@dataclass(frozen=True)
class TablePlan:
    """A table that has not been filled: what it stores, over what, how large, how long."""

    arm: Arm
    """Whose torques."""
    method: str
    """'albus', 'raibert' or 'horn_raibert'."""
    interpolation: str
    """'nearest', 'linear' or 'cubic'."""
    dtype: str
    """'float64' or 'float32'."""
    grids: tuple[Grid, ...]
    """Entries that depend on the same coordinates share a grid."""

    @property
    def bytes(self) -> int:
        """Memory of the stored numbers."""
        return sum(grid.size for grid in self.grids) * np.dtype(self.dtype).itemsize

    @property
    def states(self) -> int:
        """States at which a quantity is computed to fill it."""
        return sum(grid.cells * len({entry.quantity for entry in grid.entries}) for grid in self.grids)

    @property
    def seconds(self) -> float:
        """How long filling takes on this machine: the first few thousand points of each grid are computed."""
        free = frictionless(self.arm)
        return sum(_seconds_of(free, grid) for grid in self.grids)

    def __str__(self) -> str:
        numbers = sum(len(grid.entries) for grid in self.grids)
        axes = max((grid.axes for grid in self.grids), key=len)
        over = " x ".join(f"{axis.name}: {axis.points}" for axis in axes)
        return (
            f"{self.method} table of {self.arm.name}: {numbers} entries on {len(self.grids)} grids, at most over "
            f"{over or 'nothing'}; {amount(self.bytes)}, {self.interpolation}"
        )


@explained
def plan_table(
    arm: Arm,
    method: str = "horn_raibert",
    *,
    points: int | Mapping[str, int] = 17,
    interpolation: str = "linear",
    speeds: ArrayLike | None = None,
    accelerations: ArrayLike | None = None,
    dtype: str = "float64",
) -> TablePlan:
    """What a table of torques would store, before anything is filled.

    Args:
        arm: The arm, with its load.
        method: 'albus' (tau over q, qd, qdd), 'raibert' (J(q), K(q, qd)) or 'horn_raibert' (M, C, g over q).
        points: Values on each axis; or by kind: {"q": 33, "qd": 9, "qdd": 3}.
        interpolation: 'nearest', 'linear' or 'cubic'.
        speeds: Greatest |qd|, where speeds are an axis; the joints' speed limits by default.
        accelerations: Greatest |qdd|, where accelerations are an axis.
        dtype: 'float64' or 'float32', as stored.
    """
    needs_chain(arm, "a table of torques")
    order = order_of(interpolation)
    dtype = precision(dtype, "tabulate: dtype").name
    free = frictionless(arm)
    ranges = checked_ranges(arm, points, speeds, accelerations, max(2, order))
    grids = grids_of(arm, entries_of(free, method), ranges)
    return TablePlan(arm, method, interpolation, str(np.dtype(dtype)), grids)


def refuse_too_much(plan: TablePlan, most_bytes: float, most_seconds: float) -> None:
    """A fault before memory or time is spent."""
    most_bytes, most_seconds = limit(most_bytes, "most_bytes"), limit(most_seconds, "most_seconds")
    if plan.bytes > most_bytes:
        raise StateFault(
            f"{plan}, more than the {amount(most_bytes)} allowed; give fewer points, float32, a method that tabulates "
            "less (horn_raibert), or most_bytes=."
        )
    if plan.bytes + own_memory() > machine_memory():
        raise StateFault(
            f"{plan}, and this machine has {amount(machine_memory())}, of which this process holds "
            f"{amount(own_memory())}; give fewer points, float32, or a method that tabulates less (horn_raibert)."
        )
    if plan.states > CHUNK and (needed := plan.seconds) > most_seconds:
        raise StateFault(
            f"{plan}: filling it takes about {needed:.0f} s here, more than the {most_seconds:g} s allowed; give fewer "
            "points, or most_seconds=."
        )


def entries_at(arm: Arm, grid: Grid, state: Mapping[str, Vector]) -> Matrix:
    """What a grid stores at these states, computed (B, entries)."""
    found = np.empty((len(state["q"]), len(grid.entries)))
    for quantity in dict.fromkeys(entry.quantity for entry in grid.entries):
        mine = [k for k, entry in enumerate(grid.entries) if entry.quantity == quantity]
        takes = {"inverse_dynamics": 3, "bias_torque": 2}.get(quantity, 1)
        values = getattr(dynamics, quantity)(arm, *(state[name] for name in INPUTS[:takes]))
        found[:, mine] = values.reshape(len(values), -1)[:, [grid.entries[k].place for k in mine]]
    return found


def _seconds_of(arm: Arm, grid: Grid) -> float:
    """From the time of one chunk, after one that compiles."""
    which, state = next(grid.states(arm.n))
    entries_at(arm, grid, state)
    begun = time.perf_counter()
    _, state = next(grid.states(arm.n))
    entries_at(arm, grid, state)
    return (time.perf_counter() - begun) * grid.cells / (which.stop - which.start)


def amount(size: float) -> str:
    """Bytes for people."""
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB"):
        if size < 1000 or unit == "TiB":
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.3g} {unit}"
        size /= 1024
    return ""
