"""What a Zarr store calls its columns, as xarray and others write it: held against the arm's joints, or said."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from forearm.arm import Arm
from forearm.faults import JOINTS, TIMES, ReadFault
from forearm.motion.columns import columns_of
from forearm.motion.number_tables import LONGEST_TITLE
from forearm.outside.escapes import one_line
from forearm.outside.signal_errors import pass_on_signals
from forearm.streams.zarr_stores import words_of

MOST = 20
"""Arrays beside an array, and lists among its attributes, that are looked at for names."""


def axes_of(array: Any) -> list[str]:
    """What an array calls its axes; nothing where it does not say."""
    told = getattr(array.metadata, "dimension_names", None) or array.attrs.get("_ARRAY_DIMENSIONS")
    named = list(told) if isinstance(told, (list, tuple)) else []
    return [f"{name}" for name in named] if len(named) == len(array.shape) else []


def refuse_turned(label: str, array: Any) -> None:
    """Refuse an array that says that its rows are joints, or its columns times."""
    axes = axes_of(array)
    if len(axes) == 2 and (axes[0].lower() in JOINTS or axes[1].lower() in TIMES):
        raise ReadFault(
            f"{label}: its axes are {', '.join(one_line(axis)[:60] for axis in axes)}, and rows are times; write the "
            "array the other way round."
        )


def refuse_other_rows(label: str, arrays: dict[str, Any]) -> None:
    """Refuse arrays, by name, whose rows go along different axes: taken by place they may be of other times."""
    along = {name: axes[0] for name, array in arrays.items() if (axes := axes_of(array))}
    (first, axis), *others = along.items() or [("", "")]
    for name, other in others:
        if other != axis:
            one, two = one_line(axis)[:60], one_line(other)[:60]
            raise ReadFault(
                f"{label}: rows of {first} go along {one}, those of {name} along {two}, and rows are taken by place; "
                "write all along one axis."
            )


def told_of_columns(label: str, folder: Path, group: Any, array: Any, joints: tuple[str, ...]) -> list[str]:
    """What is to be said where a group names the columns of an array; refuse another order of them, or a turned array.

    Args:
        label: The array, for messages.
        folder: Where the store lies.
        group: The group.
        array: One of its arrays (N, n).
        joints: The arm's.
    """
    refuse_turned(label, array)
    notes = []
    for title, names in _names_beside(label, folder, group, array, joints):
        if names == joints:
            continue
        shown = one_line(title)[:60]
        if names is not None and sorted(names) == sorted(joints):
            raise ReadFault(
                f"{label}: its {shown!r} says that the columns are {', '.join(names)}; write them in the order of the "
                f"arm's joints, {', '.join(joints)}."
            )
        said = "cannot be read" if names is None else f"has {one_line(', '.join(names))[:200]}"
        notes.append(
            f"WARNING: {label}: its {shown!r} names the columns and {said}; they are taken for the arm's joints in "
            f"their order, {', '.join(joints)}"
        )
    return notes


def told_of_titles(label: str, array: Any, arm: Arm, read_as: Sequence[tuple[str, int]]) -> list[str]:
    """What is to be said where an array has titles of its columns as a log has them; refuse those of other columns.

    Args:
        label: The array, for messages.
        array: The array (N, width).
        arm: Whose joints they are.
        read_as: For each column the quantity that it is read as, and the joint; no quantity where the array has one.
    """
    notes = []
    lists = ((title, said) for title, said in array.attrs.items() if _are_titles(said, array.shape[1]))
    for title, said in islice(lists, MOST):
        where = f"{label}: its {one_line(title)[:60]!r}"
        try:
            found = columns_of(arm, where, said, needs=(), degrees=None, time_unit=None).places
        except ReadFault:
            told = one_line(", ".join(said))[:200]
            notes.append(f"WARNING: {where} names the columns, {told}; they are taken in their order")
            continue
        for (kind, i), column in found.items():
            read = read_as[column.at]
            if column.factor != 1 or (read != (kind, i) and (read != ("", i) or kind == "t")):
                quantity, joint = read
                named = (
                    "the time" if quantity == "t" else f"{quantity or 'that'} of {arm.joint_names[joint]!r}"
                )
                told = one_line(said[column.at])[:60]
                raise ReadFault(
                    f"{where} says that a column is {told!r}, and it is read as {named}; write the columns as they are "
                    "read, in SI units and radians."
                )
    return notes


def _are_titles(said: Any, width: int) -> bool:
    """Whether something is as many words as there are columns, each of them once, none longer than titles are."""
    if not (isinstance(said, (list, tuple)) and len(said) == width):
        return False
    words = all(isinstance(word, str) and len(word) <= LONGEST_TITLE for word in said)
    return words and len(set(said)) == width


Named = tuple[str, tuple[str, ...] | None]
"""What names the columns, and the names; None where these cannot be read."""


def _names_beside(
    label: str, folder: Path, group: Any, array: Any, joints: tuple[str, ...]
) -> Iterator[Named]:
    """Names of the columns: arrays along the second axis, whatever they are called, and lists among the attributes."""
    axes = axes_of(array)
    if len(axes) == 2:
        others = f"{array.attrs.get('coordinates', '')} {group.attrs.get('coordinates', '')}".split()
        for title in list(dict.fromkeys([axes[1], *others]))[:MOST]:
            yield from _names_of(label, folder, group, title, axes, joints)
    for node in (array, group):
        for title, said in node.attrs.items():
            if isinstance(said, (list, tuple)) and sorted(map(str, said)) == sorted(joints):
                yield title, tuple(map(str, said))


def _names_of(
    label: str, folder: Path, group: Any, title: str, axes: list[str], joints: tuple[str, ...]
) -> Iterator[Named]:
    """The names that an array of the group has, if there is one, and it goes along the columns."""
    try:
        found: Any = group[title] if title in group else None
        if not hasattr(found, "shape") or (axes_of(found) or [title]) != axes[1:]:
            return
        names, worded = words_of(label, folder, found, len(joints)), found.dtype.kind in "UTO"
    # what the library raises for a title that is no name of a file, and codecs for their chunks
    except Exception:
        pass_on_signals()
        names, worded = None, True
    if title == axes[1] or worded:  # numbers beside the names are something else
        yield title, names
