"""Labels and masks: what arrays say beside their numbers, which is looked at or refused, never passed over."""

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from itertools import pairwise
from typing import Any

import numpy as np

from forearm.faults.call_arguments import attribute
from forearm.faults.kinds import StateFault
from forearm.faults.stated_units import refuse_other_units, said_in

PLAIN = (np.ndarray, np.generic, list, tuple, dict, str, bytes, float, int)
"""What has no labels, or has them looked at elsewhere."""
BARE = (float, int, np.float64, np.ndarray)
"""What stands in lists of numbers, mostly, and has no labels."""
DEEPEST = 8
"""Lists within lists that are looked into; one may hold itself."""
JOINTS = ("joint", "joints", "dof", "dofs", "axis", "axes", "motor", "motors", "actuator", "actuators")
"""What an axis is called that goes through the joints, wherever it stands."""
TIMES = (
    "t",
    "time",
    "times",
    "timestamp",
    "stamp",
    "step",
    "steps",
    "sample",
    "samples",
    "row",
    "rows",
    "instant",
)
"""What an axis is called that does not."""


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
        for one_axis, other in zip(reversed(known), reversed(others), strict=False):
            if one_axis != other and "index" not in (one_axis, other):
                raise StateFault(
                    f"{where}: rows of {first} go along {', '.join(known)}, those of {second} along "
                    f"{', '.join(others)}, and rows are taken by place, from the last; give both the same axes, or "
                    "numbers without names: .to_numpy()."
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
    if isinstance(value, dict):  # of joints: each entry is rows, whatever axes it has
        return next((axes for entry in value.values() if (axes := _axes_of(entry))), {})
    if isinstance(value, PLAIN):
        return {}
    if _titles_of(value) is not None:
        return {axis: labels for axis, labels in _axes_of(value).items() if axis == "index"}
    axes = _axes_of(value)
    if "index" in axes or len(axes) < 2:
        return {}
    worded = [axis for axis in axes if _has_words(axes[axis])]
    joints = [axis for axis in axes if axis.lower() in JOINTS] or worded[-1:] or list(axes)[-1:]
    return {axis: labels for axis, labels in axes.items() if axis not in joints}


def _axes_of(value: Any) -> dict[str, Any]:
    """Labels of every axis of what has any, by its name: a series, a table's rows, an array of xarray."""
    if isinstance(value, PLAIN):
        return {}
    index = attribute(value, "index")
    if isinstance(index, Iterable):
        return {"index": _readable(index)}
    dims = attribute(value, "dims")
    dims = [axis for axis in dims if isinstance(axis, str)] if isinstance(dims, Iterable) else []
    return {axis: _labels_along(value, axis) for axis in dims}


def _labels_along(value: Any, axis: str) -> Any:
    """Labels of an axis of xarray's; words that stand beside it under another name, before its own numbers."""
    own = _readable(value.coords[axis]) if axis in value.coords else None
    if _has_words(own):
        return own
    beside = (value.coords[name] for name in value.coords if name != axis)
    words = (_readable(labels) for labels in beside if tuple(labels.dims) == (axis,))
    return next(filter(_has_words, words), own)


def _readable(labels: Any) -> Any:
    """Labels as an array; bytes are words, as files of HDF5 have them, and so are labels of several levels."""
    array = np.asarray(labels)
    if array.dtype.kind == "S":
        return np.char.decode(array, "utf-8", "replace")
    if array.dtype.kind == "O" and any(_word(label) is not label for label in array.tolist()):
        words = np.empty(len(array), dtype=object)
        words[:] = [_word(label) for label in array.tolist()]
        return words
    return array


def _word(label: Any) -> Any:
    """A label as a word, if it is one: bytes, the text or name of a member of an Enum, the last of several levels."""
    if isinstance(label, bytes):
        return label.decode("utf-8", "replace")
    if isinstance(label, Enum):
        return label.value if isinstance(label.value, str) else label.name
    return _word(label[-1]) if isinstance(label, tuple) and label else label


def fields_of(value: Any) -> tuple[str, ...] | None:
    """The names of a named tuple's places, None for what is none."""
    return getattr(value, "_fields", None) if isinstance(value, tuple) and type(value) is not tuple else None


def _titles_of(value: Any) -> list[Any] | None:
    """Titles of a table's columns, in their order: of pandas, polars, Arrow, xarray; None for what is no table."""
    for name in ("column_names", "data_vars", "columns"):
        titles = attribute(value, name)
        if titles is not None and not callable(titles) and isinstance(titles, Iterable):
            return list(titles)
    return None


def _has_words(labels: Any) -> bool:
    return labels is not None and labels.dtype.kind in "UOT"


def not_in_other_units(value: Any, name: str) -> None:
    """Refuse what says beside its numbers, as arrays of xarray, pint and astropy do, that they are in other units."""
    if type(value) in PLAIN:
        return
    told = attribute(value, "attrs")
    said = dict(told) if isinstance(told, Mapping) else {}
    for key in (
        () if isinstance(told, Mapping) else ("unit", "units")
    ):  # a text, or an object that prints as one
        if (unit := attribute(value, key)) is not None and not callable(unit):
            said[key] = str(unit)
    schema = attribute(value, "schema")  # Arrow's, whose fields have theirs
    fields = [schema, *schema] if isinstance(schema, Iterable) else []
    for each in (said, *(said_in(attribute(field, "metadata")) for field in fields)):
        if each:
            refuse_other_units(name, each, "convert the numbers, and the unit with them", StateFault)


# -- labels of joints ----------------------------------------------------------------------------------------


def by_labels(name: str, value: Any, names: list[str]) -> Any:
    """What has labels as a dict by them, where they name joints: their order is the value's own, not the arm's."""
    not_in_other_units(value, name)
    if (own := fields_of(value)) is not None:
        if any(field in names for field in own):
            return dict(zip(own, value, strict=True))
        _refuse_words(name, value, names)
        return value
    titles = _titles_of(value)
    if titles is not None and any(_word(title) in names for title in titles):
        words = _once(name, [_word(title) for title in titles])
        return {word: value[title] for word, title in zip(words, titles, strict=True)}
    axes = _axes_of(value)
    if "index" in axes and any(k in names for k in axes["index"].tolist()):
        if np.ndim(value) != 1:
            raise StateFault(f"{name} has the joints as its rows; give one row for each state: {name}.T.")
        return dict(zip(_once(name, axes["index"].tolist()), np.asarray(value), strict=True))
    for at, (axis, labels) in enumerate({} if "index" in axes else axes.items()):
        if labels is not None and any(label in names for label in labels.tolist()):
            rows = np.moveaxis(np.asarray(value), at, 0)
            return dict(zip(_once(name, labels.tolist()), rows, strict=True))
        if axis.lower() in JOINTS:
            if _has_words(labels):
                _refuse_words(name, value, names)
            _refuse_other_joints(name, axis, labels)
            return np.moveaxis(np.asarray(value), at, -1)
    _refuse_words(name, value, names)
    if titles is not None:
        _refuse_other_joints(name, "columns", np.asarray(titles))
    elif axes:
        _refuse_other_joints(name, *list(axes.items())[-1])
    return value


def _refuse_other_joints(name: str, axis: str, labels: Any) -> None:
    """Refuse an axis for the joints' that says to be another: it is called time, or counts in another order."""
    kind = "" if labels is None else labels.dtype.kind
    if axis.lower() in TIMES or kind in ("M", "m") or (kind == "f" and np.any(labels != np.round(labels))):
        raise StateFault(
            f"{name} has times along its last axis ({axis}), where one number for each joint is taken; give it the "
            f"other way round, joints last: {name}.T."
        )
    if kind in ("f", "i", "u") and np.any(np.diff(labels.astype(float)) <= 0):
        raise StateFault(
            f"{name} has joints in the order {', '.join(map(str, labels.tolist()[:8]))} along {axis}, and they are "
            f"taken by place; bring them into the order of the arm, or give numbers without labels: {name}.to_numpy()."
        )


def _once(name: str, labels: Any) -> list[Any]:
    """Labels, each of which stands there once: of two numbers for one joint none is the right one."""
    found = list(labels)
    twice = [str(label) for label in dict.fromkeys(found) if found.count(label) > 1]
    if twice:
        raise StateFault(
            f"{name} has the label {', '.join(twice)} more than once; give each joint one number."
        )
    return found


def _words_of(value: Any, depth: int = 0) -> list[str]:
    """Labels of a table, a series, an array of xarray or a named tuple that are words; or of a list of such."""
    if (own := fields_of(value)) is not None:
        return list(own)
    if isinstance(value, (list, tuple)):
        inner = (row for row in value if type(row) not in BARE and depth < DEEPEST)
        return next((words for row in inner if (words := _words_of(row, depth + 1))), [])
    if isinstance(value, PLAIN):
        return []
    axes = [
        [*map(_word, _titles_of(value) or [])],
        *(labels.tolist() for labels in _axes_of(value).values() if labels is not None),
    ]
    return [label for axis in axes for label in axis if isinstance(label, str)]


def rows_with_words(value: Any) -> bool:
    """Whether a list holds series or arrays whose labels are words: each has an order of its own."""
    return fields_of(value) is None and isinstance(value, (list, tuple)) and bool(_words_of(value))


def _refuse_words(name: str, value: Any, names: list[str]) -> None:
    """Refuse labels that name no joint, unless they are numbered as the joints are: by place they might be anything."""
    words = _words_of(value)
    numbers, own = _last_numbers(words), _last_numbers(names)
    known = own is None or _counts(own)
    if words and not (numbers is not None and _counts(numbers) and known):
        raise StateFault(
            f"{name} has labels ({', '.join(words[:8])}) that are no joints ({', '.join(names[:8])}); rename them, or "
            f"give numbers without labels, in the order of the joints: {name}.to_numpy()."
        )


def _last_numbers(words: Sequence[str]) -> list[int | None] | None:
    """The number that each word ends with, None where it has none; None in all where nobody has."""
    ends = ["".join(filter(str.isdecimal, word[-3:])) for word in words]
    return [int(end) if end else None for end in ends] if any(ends) else None


def _counts(numbers: Sequence[int | None]) -> bool:
    return list(numbers) in (list(range(len(numbers))), list(range(1, len(numbers) + 1)))


# -- by place ------------------------------------------------------------------------------------------------


def not_masked(value: Any, name: str, fault: type[Exception] = StateFault, depth: int = 0) -> None:
    """Refuse an array with masked entries, in lists too: what is computed from them would pass for numbers."""
    if type(value) in (list, tuple):
        for row in value:
            if type(row) not in BARE and depth < DEEPEST:
                not_masked(row, name, fault, depth + 1)
        return
    if type(value) in (np.ndarray, float):
        return
    not_emptied(value, name, fault)
    if attribute(value, "mask") is None:
        return  # numpy.ma is imported for its own arrays alone: it costs a first torque 20 ms
    if np.ma.is_masked(value):
        raise fault(
            f"{name} has {int(np.sum(np.ma.getmaskarray(value)))} masked entries, which have no value; leave out their "
            f"rows, or fill them: {name.rpartition(': ')[2]}.filled(numpy.nan) stays NaN in its own row."
            if fault is StateFault
            else f"{name} has masked entries, which have no value; give numbers."
        )


def not_emptied(value: Any, name: str, fault: type[Exception] = StateFault) -> None:
    """Refuse a tensor whose storage is smaller than it says: NumPy would take whatever lies behind for its numbers."""
    if attribute(value, "untyped_storage") is None:
        return
    try:
        last = sum((n - 1) * step for n, step in zip(value.shape, value.stride(), strict=True))
        needed = (value.storage_offset() + last + 1) * value.element_size() if value.numel() else 0
        there = value.untyped_storage().nbytes()
    except (
        NotImplementedError,
        RuntimeError,
    ):  # it has no memory of its own, and says so when it is asked for it
        return
    if there < needed:
        raise fault(
            f"{name} is a tensor of {needed} bytes whose storage has {there}: it was shrunk, or given back (resize_); "
            "give a tensor that has its numbers."
        )


def not_labelled(
    value: Any, name: str, fault: type[Exception] = StateFault, known: Sequence[str] = ()
) -> None:
    """Refuse words as labels where numbers are taken by place, unless they are the known ones: nobody would look."""
    not_in_other_units(value, name)
    words = _words_of(value)
    if words and words != list(known):
        raise fault(
            f"{name} has labels ({', '.join(words[:8])}), and is taken by place; give numbers without labels, in the "
            "right order: .to_numpy()."
        )
