"""What a table's file begins with, and how it is written; `table_files` says how a file looks and reads it."""

import json
import math
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from forearm.arm import Arm
from forearm.outside.output_files import replacing
from forearm.tabulated.grids import Axis, Grid, position_range
from forearm.tabulated.log_domains import LogDomain
from forearm.tabulated.methods import METHODS, entries_of, frictionless
from forearm.tabulated.plans import TablePlan
from forearm.tabulated.stencils import ORDERS

MAGIC = b"forearm table 1\n"
ALIGNED = 64
"""The numbers of a grid begin at a multiple of so many bytes."""
MOST_POINTS = 2**31
"""On one axis."""


def write_table(
    plan: TablePlan,
    numbers: Sequence[Any],
    learnt: bool,
    domain: LogDomain | None,
    path: str | Path,
    *,
    compressed: bool = True,
) -> Path:
    """Write a table whole or not at all."""
    parts = [np.ascontiguousarray(x) for x in numbers]
    packed = [zlib.compress(x.tobytes(), 6) for x in parts] if compressed else []
    header = _header(plan, learnt) | {
        "domain": None if domain is None else domain.header,
        "compressed": [len(x) for x in packed] if compressed else None,
        "checksums": [zlib.crc32(x.data.cast("B") if x.size else b"") for x in parts],
    }
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
    if str(header["method"]) not in METHODS or str(header["interpolation"]) not in ORDERS:
        raise ValueError(f"method {header['method']!r}, interpolation {header['interpolation']!r}")
    if header["dtype"] not in ("float64", "float32") or not isinstance(header["learnt"], bool):
        raise ValueError(f"dtype {header['dtype']!r}, learnt {header['learnt']!r}")
    fewest = max(2, ORDERS[header["interpolation"]])
    entries = entries_of(frictionless(arm), header["method"])
    grids = []
    if len(header["grids"]) > len(entries):
        raise ValueError(f"{len(header['grids'])} grids of {len(entries)} entries")
    for rows in header["grids"]:
        axes = tuple(_axis(arm, row, fewest) for row in rows)
        over = tuple((axis.what, axis.joint) for axis in axes)
        grids.append(Grid(axes, tuple(entry for entry in entries if entry.over == over)))
    if sorted(tuple((a.what, a.joint) for a in g.axes) for g in grids) != sorted({e.over for e in entries}):
        raise ValueError("grids are missing, there twice, or of nothing")
    return TablePlan(arm, header["method"], header["interpolation"], header["dtype"], tuple(grids))


def _axis(arm: Arm, row: Any, fewest: int) -> Axis:
    """One axis as it can be for this arm: positions have the joint's own range, speeds lie about zero."""
    what, joint, low, high, points, circular = row
    if what not in ("q", "qd", "qdd") or type(joint) is not int or not 0 <= joint < arm.n:
        raise ValueError(f"an axis over {what!r} of joint {joint!r}")
    if type(points) is not int or not fewest <= points <= MOST_POINTS:
        raise ValueError(f"an axis with {str(points)[:20]} points")
    ends = (float(low), float(high), circular)
    about_zero = math.isfinite(ends[1]) and ends[1] > 0 and ends == (-ends[1], ends[1], False)
    if not (ends == position_range(arm, joint) if what == "q" else about_zero):
        raise ValueError(f"an axis of {what}{joint + 1} from {low} to {high}")
    return Axis(what, joint, *ends[:2], points, bool(circular))
