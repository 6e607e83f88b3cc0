"""Labels and masks: what arrays say beside their numbers, which is looked at or refused, never passed over."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from forearm.faults.call_arguments import attribute
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
    dims = [axis for axis in attribute(value, "dims", ()) if isinstance(axis, str)]
    if len(dims) < 2:
        return {}
    labels = {axis: np.asarray(value.coords[axis]) if axis in value.coords else None for axis in dims}
    joints = [axis for axis in dims if axis in ("joint", "joints") or _has_words(labels[axis])]
    return {axis: labels[axis] for axis in dims if axis not in (joints or dims[-1:])}


def _has_words(labels: Any) -> bool:
    return labels is not None and labels.dtype.kind in "UOT"


# -- labels of joints ----------------------------------------------------------------------------------------


def by_labels(name: str, value: Any, names: list[str]) -> Any:
    """What has labels as a dict by them, where they name joints: their order is the value's own, not the arm's."""
    titles = attribute(value, "columns", None)
    if not (titles is None or callable(titles)) and any(title in names for title in titles):
        return {title: value[title] for title in _once(name, titles)}
    index = attribute(value, "index", None)
    if not (index is None or callable(index)) and any(k in names for k in index):
        if np.ndim(value) != 1:
            raise StateFault(f"{name} has the joints as its rows; give one row for each state: {name}.T.")
        return dict(zip(_once(name, index), np.asarray(value), strict=True))
    for axis in attribute(value, "dims", ()):
        labels = value.coords[axis].values.tolist() if axis in value.coords else ()
        if any(label in names for label in labels):
            rows = np.moveaxis(np.asarray(value), value.dims.index(axis), 0)
            return dict(zip(_once(name, labels), rows, strict=True))
        if axis in ("joint", "joints"):
            return np.moveaxis(np.asarray(value), value.dims.index(axis), -1)
    _refuse_words(name, value, names)
    return value


def _once(name: str, labels: Any) -> list[Any]:
    """Labels, each of which stands there once: of two numbers for one joint none is the right one."""
    found = list(labels)
    twice = [str(label) for label in dict.fromkeys(found) if found.count(label) > 1]
    if twice:
        raise StateFault(
            f"{name} has the label {', '.join(twice)} more than once; give each joint one number."
        )
    return found


def _words_of(value: Any) -> list[str]:
    """Labels of a table, a series or an array of xarray that are words, not places."""
    if isinstance(value, (np.ndarray, list, tuple, dict, float, int)):
        return []
    axes = [attribute(value, name, ()) for name in ("columns", "index")]
    axes += [value.coords[axis].values for axis in attribute(value, "dims", ()) if axis in value.coords]
    return [label for axis in axes if isinstance(axis, Iterable) for label in axis if isinstance(label, str)]


def _refuse_words(name: str, value: Any, names: list[str]) -> None:
    """Refuse labels that name no joint, unless they are numbered as the joints are: by place they might be anything."""
    words = _words_of(value)
    ends = ["".join(filter(str.isdigit, word[-3:])) for word in words]
    numbers = [int(end) for end in ends if end]
    if words and numbers not in (list(range(len(words))), list(range(1, len(words) + 1))):
        raise StateFault(
            f"{name} has labels ({', '.join(words[:8])}) that are no joints ({', '.join(names[:8])}); rename them, or "
            f"give numbers without labels, in the order of the joints: {name}.to_numpy()."
        )


# -- by place ------------------------------------------------------------------------------------------------


def not_masked(value: Any, name: str, fault: type[Exception] = StateFault) -> None:
    """Refuse an array with masked entries: what is computed from them would pass for numbers."""
    if type(value) in (np.ndarray, list, tuple, float) or attribute(value, "mask") is None:
        return  # numpy.ma is imported for its own arrays alone: it costs a first torque 20 ms
    if np.ma.is_masked(value):
        raise fault(
            f"{name} has {int(np.sum(np.ma.getmaskarray(value)))} masked entries, which have no value; leave out their "
            f"rows, or fill them: {name.rpartition(': ')[2]}.filled(numpy.nan) stays NaN in its own row."
            if fault is StateFault
            else f"{name} has masked entries, which have no value; give numbers."
        )


def not_labelled(
    value: Any, name: str, fault: type[Exception] = StateFault, known: Sequence[str] = ()
) -> None:
    """Refuse words as labels where numbers are taken by place, unless they are the known ones: nobody would look."""
    words = _words_of(value)
    if words and words != list(known):
        raise fault(
            f"{name} has labels ({', '.join(words[:8])}), and is taken by place; give numbers without labels, in the "
            "right order: .to_numpy()."
        )
