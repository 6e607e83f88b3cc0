"""Rows of Zarr stores: one array of numbers, or a group that has them by name."""

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from forearm.algebra import Vector
from forearm.arm import Arm
from forearm.faults import ReadFault, refuse_other_units
from forearm.outside.escapes import one_line
from forearm.outside.signal_errors import pass_on_signals
from forearm.streams.file_libraries import library
from forearm.streams.row_files import (
    READ,
    ROWS,
    RowBlock,
    RowSource,
    columns_of_rows,
    native,
    split,
    timed_rows,
)
from forearm.streams.zarr_names import (
    refuse_other_rows,
    refuse_turned,
    told_of_columns,
    told_of_titles,
)
from forearm.streams.zarr_stores import (
    IN_SI,
    check_array,
    checked_chunks,
    chunk_files,
    marks_of_nothing,
    rows_at_once,
    rows_of,
    told_of_all,
)


class ZarrRows(RowSource):
    """A Zarr array (N, width), or a group of arrays (N, n) by name."""

    def __init__(self, path: Path, arm: Arm, inputs: Sequence[str]) -> None:
        """Open it, and look at its shapes."""
        zarr = library("zarr", "zarr")
        self.label, self.n, self.count = str(path), arm.nv, len(inputs)
        self.files = chunk_files(self.label, path)
        try:
            # what all arrays say of themselves, gathered in one place, is not renewed when rows are appended
            found = zarr.open(str(path), mode="r", use_consolidated=False)
            alone = hasattr(found, "shape")
            named = {} if alone else {name: found[name] for name in (*inputs, "t") if name in found}
        except Exception as reason:  # whatever the library raises for what is no store
            pass_on_signals()
            raise ReadFault(f"{path}: is no Zarr store ({one_line(str(reason))[:200]}).") from None
        if alone:
            check_array(self.label, found, self.files)
            refuse_turned(self.label, found)
            self.parts, self.times = [found], None
            shape = found.shape
            if len(shape) != 2:
                raise ReadFault(f"{path}: the array has shape {shape}; give rows (N, {self.n * self.count}).")
            self.timed, self.titled = timed_rows(self.label, shape[1], self.n, inputs), False
            told = told_of_titles(self.label, found, arm, columns_of_rows(self.n, inputs, self.timed))
        else:
            missing = [name for name in inputs if name not in named]
            if missing:
                raise ReadFault(
                    f"{path}: the group has no array {', '.join(missing)}; give {', '.join(inputs)}."
                )
            self.parts, self.times = [named[name] for name in inputs], named.get("t")
            self.timed = self.times is not None
            self._check_group(inputs)
            refuse_other_units(self.label, told_of_all(self.label, found), IN_SI)
            refuse_other_rows(self.label, named)
            told = self._told_of_columns(path, found, arm)
        parts = [part for part in (*self.parts, self.times) if part is not None]
        self.marks = {id(part): marks_of_nothing(self.label, part) for part in parts}
        self.rows = self.parts[0].shape[0]
        self.bytes = 0
        self.notes = [*told, *(note for part in parts for note in checked_chunks(self.label, path, part))]

    def _told_of_columns(self, path: Path, group: Any, arm: Arm) -> list[str]:
        """What is to be said of the names that a group has for the columns of its arrays."""
        alone = [("", i) for i in range(self.n)]
        told = [told_of_columns(self.label, path, group, part, arm.joint_names) for part in self.parts]
        told += [told_of_titles(f"{self.label}/{part.basename}", part, arm, alone) for part in self.parts]
        return list(dict.fromkeys(itertools.chain(*told)))

    def _check_group(self, inputs: Sequence[str]) -> None:
        """Refuse groups in an array's place, and arrays that are not as long as each other."""
        for name, part in zip((*inputs, "t"), (*self.parts, self.times), strict=True):
            if part is not None:
                if not hasattr(part, "shape"):
                    raise ReadFault(f"{self.label}: {name} is a group; give an array.")
                check_array(f"{self.label}/{name}", part, self.files)
        shapes = {part.shape for part in self.parts}
        right = len(shapes) == 1 and all(shape[1:] == (self.n,) for shape in shapes)
        if not right or (self.times is not None and self.times.shape != self.parts[0].shape[:1]):
            told = ", ".join(f"{name} {part.shape}" for name, part in zip(inputs, self.parts, strict=True))
            times = "" if self.times is None else f", t {self.times.shape}"
            raise ReadFault(
                f"{self.label}: the arrays have shapes {told}{times}; give (N, {self.n}) each, and N times."
            )

    def blocks(self) -> Iterator[RowBlock]:
        """Whole chunks of the store, in blocks."""
        step = max(rows_at_once(part, READ * ROWS) for part in self.parts)
        assert self.rows is not None
        for first in range(0, self.rows, step):
            here = slice(first, min(first + step, self.rows))
            try:
                parts = [self._numbers(part, here) for part in self.parts]
                t = None if self.times is None else self._numbers(self.times, here)
            except Exception as reason:  # whatever a codec raises for a chunk that is not what it says
                pass_on_signals()
                where, told = f"{self.label}: rows {first} to {here.stop - 1}", one_line(str(reason))[:200]
                raise ReadFault(f"{where} cannot be unpacked ({told}).") from None
            for at in range(0, len(parts[0]), ROWS):
                rows = slice(at, at + ROWS)
                if len(self.parts) == 1 and self.times is None and self.count * self.n <= parts[0].shape[1]:
                    yield split(parts[0][rows], self.n, self.count, self.timed)
                else:
                    yield RowBlock(None if t is None else t[rows], [part[rows] for part in parts])

    def _numbers(self, part: Any, rows: slice) -> Vector:
        """Rows of an array; what the store marks as missing is no number."""
        stored = np.ascontiguousarray(rows_of(part, rows))
        numbers = native(stored)
        for mark in self.marks[id(part)]:
            numbers = np.where(stored == mark, np.nan, numbers)
        return numbers
