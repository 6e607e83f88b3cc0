"""Rows with labels: arrays of one call whose rows are told apart by an index, or by axes that have names."""

from itertools import pairwise
from typing import Any

import numpy as np

from forearm.faults.kinds import StateFault


def rows_alike(where: str, names: Any, values: Any) -> None:
    """Refuse tables and arrays of xarray whose rows have other labels, or another order: taken by place they differ."""
    labelled = [
        (name, found) for name, value in zip(names, values, strict=False) if (found := _rows_of(value))
    ]
    for (first, known), (second, others) in pairwise(labelled):
        shared = [axis for axis in known if axis in others]
        if shared != [axis for axis in others if axis in known]:
            raise StateFault(
                f"{where}: axes of {first} are {', '.join(known)}, those of {second} {', '.join(others)}, and rows are "
                f"taken by place; give both in one order: {second}.transpose(*{first}.dims)."
            )
        for axis in shared:
            one, two = known[axis], others[axis]
            if one is None or two is None or len(one) != len(two) or np.array_equal(one, two):
                continue
            k = int(np.argmax(np.asarray(one != two)))
            raise StateFault(
                f"{where}: row {k + 1} along {axis} is {one[k]!s:.40} in {first} and {two[k]!s:.40} in {second}, and "
                "rows are taken by place; bring them into one order, or give numbers without labels: .to_numpy()."
            )


def _rows_of(value: Any) -> dict[str, Any]:
    """Labels of the rows by the name of their axis; None where an axis has a name and no labels."""
    if isinstance(value, (np.ndarray, list, tuple, dict, float, int)):
        return {}
    if hasattr(value, "columns") and hasattr(value, "index"):
        return {"index": np.asarray(value.index)}
    dims = [axis for axis in getattr(value, "dims", ()) if isinstance(axis, str)]
    if len(dims) < 2:
        return {}
    labels = {axis: np.asarray(value.coords[axis]) if axis in value.coords else None for axis in dims}
    joints = [axis for axis in dims if axis in ("joint", "joints") or _words(labels[axis])]
    return {axis: labels[axis] for axis in dims if axis not in (joints or dims[-1:])}


def _words(labels: Any) -> bool:
    return labels is not None and labels.dtype.kind in "UOT"
