"""`stream`: a quantity of every row of a file, into another file, a block of rows at a time."""

import os
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from forearm.algebra import Vector
from forearm.arm import Arm
from forearm.arm_calls import kernel_of
from forearm.compiler.call.arguments import JOINT_INPUTS
from forearm.compiler.model.quantities import QUANTITIES
from forearm.faults import ReadFault, StateFault, coordinates, explained, no_arm
from forearm.motion.columns import counts_otherwise
from forearm.motion.limit_excesses import LimitExcess
from forearm.motion.motion_files import ask_about_degrees
from forearm.motion.slope_checks import lag_notes, size_notes, slope_notes
from forearm.robot import Robot
from forearm.streams.limit_watch import LimitWatch
from forearm.streams.row_files import ROWS, RowSource
from forearm.streams.row_sinks import row_sink
from forearm.streams.row_sources import row_source, suffix_of
from forearm.streams.source_states import SourceState

SEEN = 512
"""So many rows of a block are looked at, all of a short one: enough to tell degrees from radians."""
TOLD = 0.2
"""Seconds between two calls of `progress`."""
RESTARTS = 0.01
"""Share of the rows of a block at which times may fall: where another motion begins."""


@dataclass(frozen=True)
class Streamed:
    """What streaming a file gave: rows, and how many of them are not finite."""

    path: Path
    """The file that was written."""
    rows: int
    """How many rows it has."""
    not_finite: int
    """Rows whose result is NaN or infinite: they were kept, each in its place."""
    seconds: float
    """How long it took."""
    notes: tuple[str, ...] = ()
    """What of the titles was ignored or converted; speeds that are not those of the positions, in the first rows."""
    excesses: tuple[LimitExcess, ...] = ()
    """Limits of position, speed and torque that rows go beyond."""

    def __str__(self) -> str:
        """One line."""
        odd = f", {self.not_finite} of them not finite" if self.not_finite else ""
        rate = self.rows / self.seconds if self.seconds else 0.0
        return f"{self.path}: {self.rows} rows{odd}, {rate:.3g} a second"


@explained
def stream(
    arm: Arm | Robot,
    quantity: str,
    source: str | PathLike[str],
    target: str | PathLike[str],
    *,
    degrees: bool | None = None,
    time_unit: str | None = None,
    threads: int = 1,
    progress: Callable[[float, int, float], None] | None = None,
) -> Streamed:
    """Compute a quantity for every row of a file; a few megabytes are in memory, however long the file.

    Rows with NaN are kept and counted. The target is written beside its place and renamed when it is complete.

    Args:
        arm: The arm.
        quantity: What to compute of a row's joint values: "inverse_dynamics", "forward_dynamics", "gravity_torque", …
        source: A .npy or .zarr array with rows q, qd, qdd (the quantity's inputs, one after the other; a time before
            them or not), a .zarr group of such arrays by name, or a .parquet or .csv file with titles.
        target: A .npy, .zarr, .parquet or .csv file.
        degrees: Whether angles are in degrees, where titles do not say; None for radians, with a fault where they look
            like degrees.
        time_unit: Unit of the times of a file with titles, where these do not say.
        threads: How many threads compute.
        progress: Called now and then with the share that is done, the rows, and the seconds that are left.
    """
    inputs, titles = _checked(arm, quantity)
    read, written = (Path(os.path.realpath(path)) for path in (source, target))
    if written == read or written in read.parents:
        raise StateFault(f"stream: {target} would be written over itself; give another name.")
    if (suffix_of(source), suffix_of(target)) == (".csv", ".zarr"):
        raise ReadFault(
            f"stream: {source} does not say how many rows it has, as {target} needs; give .npy or .parquet."
        )
    rows = row_source(source, arm, inputs, degrees=degrees, time_unit=time_unit)  # type: ignore[arg-type]
    if rows.rows is not None and rows.rows < 0:
        _refuse_other_rows(source, rows.rows, 0)
    found = SourceState(source, rows)
    kernel = kernel_of(arm, quantity)
    out, count, odd = np.empty((ROWS, len(titles))), 0, 0
    notes = _how_read(arm, inputs, rows)
    clock, outputs = _Clock(progress), QUANTITIES[quantity].outputs
    watch = LimitWatch(arm, (*inputs, *outputs))
    with closing(rows), row_sink(target, [*(["t"] if rows.timed else []), *titles], rows.rows) as sink:
        for block in rows.blocks():
            k = len(block.inputs[0])
            if block.t is not None:
                notes += () if count else _slopes(arm, inputs, block.t, block.inputs)
                if not rows.titled:
                    _refuse_no_time(source, block.t, count)
            if (degrees is None or (degrees and rows.stated)) and inputs[0] == "q":
                ask_about_degrees(arm, str(source), rows.stated, block.inputs[0][:: max(1, k // SEEN)])
            notes += () if count else size_notes(arm, dict(zip(inputs, block.inputs, strict=True)))
            here = out[:k]
            kernel(*block.inputs, out=here.reshape(k, *kernel.graph.outputs[0].shape), threads=threads)
            flat = here.ravel()
            if not np.isfinite(
                flat.sum()
            ):  # no dot product: threads of BLAS wait for each other longer than it takes
                odd += int((~np.isfinite(here).all(axis=1)).sum())
            watch.look(block.t, dict(zip((*inputs, *outputs), (*block.inputs, here), strict=True)))
            sink.put(block.t, here)
            count += k
            clock.tell(count / rows.rows if rows.rows else rows.at() / max(1, rows.bytes), count)
        _refuse_other_rows(source, rows.rows, count)
        found.refuse_changed()
    return Streamed(Path(target), count, odd, clock.seconds, (*rows.notes, *notes), watch.excesses)


def _how_read(arm: Arm | Robot, inputs: Sequence[str], rows: RowSource) -> tuple[str, ...]:
    """A note where the number of columns cannot tell a time from a value: of one joint, each is one column."""
    order = ("t", *inputs) if rows.timed else tuple(inputs)
    if rows.titled or arm.nv > 1 or len(order) == 1:
        return ()
    return (
        f"rows have no titles and are read as {', '.join(order)}: of one joint, their number does not tell.",
    )


def _refuse_no_time(source: Any, t: Vector, first: int) -> None:
    """Refuse rows with one number more whose first does not rise: it is no time, and all others are one column off.

    Now and then it may fall, where one motion ends and another begins.
    """
    fallen = np.flatnonzero(~(np.diff(t) > 0))
    if len(fallen) > 1 + RESTARTS * len(t):
        raise ReadFault(
            f"{source}: rows have one number more than the quantity takes, so the first is taken for a time, and it "
            f"does not rise (row {first + fallen[0] + 2}, and {len(fallen) - 1} others of {len(t)}); give the time "
            "first, or none."
        )


def _refuse_other_rows(source: Any, said: int | None, there: int) -> None:
    """Refuse a file that does not hold as many rows as it says: a result of that length lacks some, or has zeros."""
    if said is not None and said != there:
        raise ReadFault(f"{source}: says {said} rows, and {there} are there; write the file anew.")


def _slopes(arm: Arm | Robot, inputs: Sequence[str], t: Vector, values: list[Vector]) -> tuple[str, ...]:
    """Notes where speeds of some rows are not the slope of positions; rows with NaN, or without order, say nothing."""
    given = dict(zip(inputs, values, strict=True))
    if not all(np.isfinite(array).all() for array in (t, *values)) or np.any(np.diff(t) <= 0):
        return ()
    pairs = [pair for pair in (("q", "qd"), ("qd", "qdd")) if set(pair) <= set(inputs)]
    names = coordinates(arm, "qd")
    slopes = [note for a, b in pairs for note in slope_notes(t, names, given[a], given[b], (a, b))]
    return (*slopes, *(note for a, b in pairs for note in lag_notes(t, given[a], given[b], (a, b))))


def _checked(arm: Any, quantity: str) -> tuple[tuple[str, ...], list[str]]:
    """The quantity's inputs, and titles of its results."""
    if not isinstance(arm, (Arm, Robot)):
        no_arm(arm)
    row = QUANTITIES.get(quantity)
    usable = [
        name
        for name, q in QUANTITIES.items()
        if set(q.inputs) <= set(JOINT_INPUTS) and len(q.outputs) == 1 and q.dynamics
    ]
    if row is None or quantity not in usable:
        raise StateFault(f"stream: quantity is {quantity!r}; give one of {', '.join(usable)}.")
    if arm.nq != arm.nv:
        raise StateFault(
            f"stream: the base of {arm.name!r} is free, and its rows are no joint values; fix it."
        )
    port = kernel_of(arm, quantity).graph.outputs[0]
    if port.shape == (arm.n,) and counts_otherwise(arm):
        return row.inputs, [f"{port.name}:{name}" for name in arm.joint_names]
    numbered = ["_".join(str(i + 1) for i in k) for k in np.ndindex(*port.shape)]
    return row.inputs, [f"{port.name}{k}" for k in numbered]


class _Clock:
    """Tells how far it is, not too often."""

    def __init__(self, progress: Callable[[float, int, float], None] | None) -> None:
        self.progress, self.started = progress, time.perf_counter()
        self.last = self.started

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.started

    def tell(self, share: float, rows: int) -> None:
        now = time.perf_counter()
        if self.progress is not None and (now - self.last > TOLD or share >= 1):
            self.last = now
            passed = now - self.started
            self.progress(share, rows, passed * (1 - share) / share if share else np.inf)
