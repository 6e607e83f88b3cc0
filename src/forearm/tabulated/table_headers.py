"""What a table's file begins with, and how it is written; `table_files` says how a file looks and reads it."""

import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from forearm.arm import Arm
from forearm.output_files import replacing
from forearm.tabulated.grids import Axis, Grid
from forearm.tabulated.methods import METHODS, entries_of, frictionless
from forearm.tabulated.plans import TablePlan
from forearm.tabulated.stencils import ORDERS

MAGIC = b"forearm table 1\n"
ALIGNED = 64
"""The numbers of a grid begin at a multiple of so many bytes."""


def write_table(
    plan: TablePlan, numbers: Sequence[Any], learnt: bool, path: str | Path, *, compressed: bool = True
) -> Path:
    """Write a table whole or not at all."""
    parts = [np.ascontiguousarray(x) for x in numbers]
    packed = [zlib.compress(x.tobytes(), 6) for x in parts] if compressed else []
    header = _header(plan, learnt) | {"compressed": [len(x) for x in packed] if compressed else None}
    line = json.dumps(header, separators=(",", ":")).encode() + b"\n"
    with replacing(path) as file:
        place = file.write(MAGIC + line)
        for part in packed or parts:
            if not compressed:
                place += file.write(bytes(-place % ALIGNED))
            place += file.write(part)  # type: ignore[arg-type]
    return Path(path)


def _header(plan: TablePlan, learnt: bool) -> dict[str, Any]:
    return {
        "arm": plan.arm.name,
        "digest": plan.arm.digest,
        "method": plan.method,
        "interpolation": plan.interpolation,
        "dtype": plan.dtype,
        "learnt": learnt,
        "grids": [
            [[a.what, a.joint, a.low, a.high, a.points, a.circular] for a in grid.axes] for grid in plan.grids
        ],
    }


def plan_of(header: dict[str, Any], arm: Arm) -> TablePlan:
    """The plan of a header; what is stored follows from the arm."""
    if header["digest"] != arm.digest:
        return TablePlan(arm, str(header["method"]), str(header["interpolation"]), "float64", ())
    if header["method"] not in METHODS or header["interpolation"] not in ORDERS:
        raise ValueError(f"method {header['method']!r}, interpolation {header['interpolation']!r}")
    if header["dtype"] not in ("float64", "float32"):
        raise ValueError(f"dtype {header['dtype']!r}")
    entries = entries_of(frictionless(arm), header["method"])
    grids = []
    for rows in header["grids"]:
        axes = tuple(
            Axis(str(w), int(j), float(lo), float(hi), int(p), bool(c)) for w, j, lo, hi, p, c in rows
        )
        if any(axis.points < 2 or not axis.high > axis.low for axis in axes):
            raise ValueError("an axis without points")
        over = tuple((axis.what, axis.joint) for axis in axes)
        grids.append(Grid(axes, tuple(entry for entry in entries if entry.over == over)))
    if sum(len(grid.entries) for grid in grids) != len(entries):
        raise ValueError("entries are missing")
    return TablePlan(arm, header["method"], header["interpolation"], header["dtype"], tuple(grids))
