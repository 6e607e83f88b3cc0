"""Rows of files, a block at a time: NumPy (.npy), Zarr (.zarr), Parquet (.parquet), text (.csv).

Arrays of NumPy and Zarr have no titles: their columns are q, qd and qdd of all joints in this order (or whatever inputs
the quantity has), a column of times before them if there is one more. A Zarr group has them by name. Parquet and CSV
have titles (motion/columns.py). Numbers are read into a buffer, not mapped: what a process holds is what it works on.
"""

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from forearm.algebra import Vector
from forearm.arm import Arm
from forearm.faults import ReadFault
from forearm.motion.column_units import refuse_other_units, refuse_units_of_fields
from forearm.motion.columns import KINDS, columns_of
from forearm.motion.motion_files import header_notes
from forearm.motion.number_tables import MOST_COLUMNS, PieceReader, check_titles, opened
from forearm.motion.row_times import cut_notes
from forearm.outside.escapes import one_line
from forearm.outside.option_names import option
from forearm.outside.signal_errors import pass_on_signals
from forearm.streams.file_libraries import library
from forearm.streams.npy_headers import npy_header
from forearm.streams.zarr_stores import (
    IN_SI,
    check_array,
    checked_chunks,
    chunk_files,
    rows_at_once,
    rows_of,
    told_of_all,
    told_of_columns,
)

ROWS = 8192
"""Rows of a block: inputs and outputs of an arm stay in the cache."""
READ = 8
"""Blocks that are asked of a compressed file at once."""
NUMBERS = ("int", "uint", "float", "double", "halffloat", "decimal")
"""How the types of columns begin that hold one number a row; what is true or false is none."""


class RowBlock(NamedTuple):
    """Some rows."""

    t: Vector | None
    """Times (k,), if there are any."""
    inputs: list[Vector]
    """One array (k, n) for each input."""


class RowSource(ABC):
    """A file of rows."""

    rows: int | None
    """How many there are; None where that is not known before the end."""
    bytes: int
    """Size of the file, for progress where rows are not known."""
    timed: bool
    """Whether it has times."""
    titled: bool = True
    """Whether the file says what its columns are; by their number otherwise, a time first if there is one more."""
    stated: Sequence[bool] = ()
    """For each joint, whether the file says the unit of its positions; none where it says nothing of any."""
    notes: Sequence[str] = ()
    """What of its titles is ignored, in other units or an order to look at; after the last block, how it ends."""

    @abstractmethod
    def blocks(self) -> Iterator[RowBlock]:
        """The rows, in order; arrays may be used until the next block."""

    def at(self) -> int:
        """Bytes read so far, where rows are not known."""
        return 0

    def close(self) -> None:
        """Let go of the file, if there is one open."""
        file = getattr(self, "file", None)
        if file is not None:
            file.close()


def split(block: Vector, n: int, count: int, timed: bool) -> RowBlock:
    """Columns (k, width) taken apart."""
    start = int(timed)
    return RowBlock(
        block[:, 0] if timed else None, [block[:, start + i * n : start + (i + 1) * n] for i in range(count)]
    )


def _timed(label: str, width: int, n: int, inputs: Sequence[str]) -> bool:
    """Whether rows of this width have a time before them; refuse those that are none.

    Rows may go on as a motion's do (q, qd, qdd, tau) after what is asked for; with one joint such a row cannot be told
    from one with a time.
    """
    if width > MOST_COLUMNS:
        raise ReadFault(f"{label}: rows have {width} numbers; {MOST_COLUMNS} are read at most.")
    for groups in _groups(inputs) if n > 1 else (len(inputs),):
        if width - n * groups in (0, 1):
            return width == n * groups + 1
    least = n * len(inputs)
    raise ReadFault(
        f"{label}: rows have {width} numbers; give {least} ({', '.join(inputs)} of {n} joints, in this order), or "
        f"{least + 1} with the time first."
    )


def _groups(inputs: Sequence[str]) -> range:
    """How many values of all joints a row may have: the inputs, or as many as a motion's rows that begin with them."""
    begins = tuple(inputs) == KINDS[: len(inputs)]
    return range(len(inputs), (len(KINDS) if begins else len(inputs)) + 1)


class NumpyRows(RowSource):
    """A .npy file, (N, width) or (N, inputs, n)."""

    titled = False

    def __init__(self, path: Path, arm: Arm, inputs: Sequence[str]) -> None:
        """Read the header, and hold it against the size of the file."""
        self.label, self.n, self.count = str(path), arm.nv, len(inputs)
        self.file = opened(path).__enter__()
        try:
            shape, fortran, dtype = npy_header(self.file, self.label)
            width = math.prod(shape[1:])
            if dtype.kind not in "fiu" or len(shape) < 2 or (fortran and shape[0] > 1 and width > 1):
                what = "in Fortran order" if fortran else f"of {dtype}, shape {shape}"
                raise ReadFault(
                    f"{self.label}: the array is {what}; give rows of numbers, (N, {self.n * self.count}), in C order: "
                    "np.save(path, np.ascontiguousarray(rows))."
                )
            if len(shape) > 2 and (len(shape) > 3 or shape[2] != self.n or shape[1] not in _groups(inputs)):
                raise ReadFault(
                    f"{self.label}: the array has shape {shape}; give rows (N, {self.n * self.count}), or (N, "
                    f"{self.count}, {self.n}): {', '.join(inputs)} one after the other, each of {self.n} joints."
                )
            self.timed = len(shape) == 2 and _timed(self.label, width, self.n, inputs)
            self.rows, self.dtype, self.width = shape[0], dtype, width
            self.bytes = os.fstat(self.file.fileno()).st_size - self.file.tell()
            whole = shape[0] * width * dtype.itemsize
            if self.bytes < whole:
                raise ReadFault(
                    f"{self.label}: its header says {shape[0]} rows, {whole} bytes, and {self.bytes} are there; the "
                    "file was cut off: write it anew."
                )
        except BaseException:
            self.file.close()
            raise

    def blocks(self) -> Iterator[RowBlock]:
        """Read into one buffer, over and over."""
        buffer = np.empty((ROWS, self.width), self.dtype)
        assert self.rows is not None
        with self.file as file:
            for first in range(0, self.rows, ROWS):
                part = buffer[: min(ROWS, self.rows - first)]
                if file.readinto(part.view(np.uint8).data) != part.nbytes:  # type: ignore[attr-defined]
                    raise ReadFault(f"{self.label}: the file became shorter while it was read.")
                yield split(_native(part), self.n, self.count, self.timed)


def _native(part: Vector) -> Vector:
    return part if part.dtype == np.dtype(float) else part.astype(float)


class ZarrRows(RowSource):
    """A Zarr array (N, width), or a group of arrays (N, n) by name."""

    def __init__(self, path: Path, arm: Arm, inputs: Sequence[str]) -> None:
        """Open it, and look at its shapes."""
        zarr = library("zarr", "zarr")
        self.label, self.n, self.count = str(path), arm.nv, len(inputs)
        self.files = chunk_files(self.label, path)
        try:
            found = zarr.open(str(path), mode="r")
            alone = hasattr(found, "shape")
            named = {} if alone else {name: found[name] for name in (*inputs, "t") if name in found}
        except Exception as reason:  # whatever the library raises for what is no store
            pass_on_signals()
            raise ReadFault(f"{path}: is no Zarr store ({one_line(str(reason))[:200]}).") from None
        if alone:
            check_array(self.label, found, self.files)
            self.parts, self.times, told = [found], None, list[str]()
            shape = found.shape
            if len(shape) != 2:
                raise ReadFault(f"{path}: the array has shape {shape}; give rows (N, {self.n * self.count}).")
            self.timed, self.titled = _timed(self.label, shape[1], self.n, inputs), False
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
            told = told_of_columns(self.label, found, self.parts[0], arm.joint_names)
        parts = [part for part in (*self.parts, self.times) if part is not None]
        self.rows = self.parts[0].shape[0]
        self.bytes = 0
        self.notes = [*told, *(note for part in parts for note in checked_chunks(self.label, path, part))]

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
                parts = [_native(np.ascontiguousarray(rows_of(part, here))) for part in self.parts]
                t = None if self.times is None else np.asarray(rows_of(self.times, here), dtype=float)
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


class ParquetRows(RowSource):
    """A Parquet file whose columns have titles, as those of a CSV file."""

    def __init__(
        self, path: Path, arm: Arm, inputs: Sequence[str], *, degrees: bool | None, time_unit: str | None
    ) -> None:
        """Read its titles."""
        parquet = library("pyarrow.parquet", "parquet")
        self.label, self.n, self.inputs = str(path), arm.nv, inputs
        try:
            self.file = parquet.ParquetFile(path)
        except Exception as reason:
            pass_on_signals()
            raise ReadFault(f"{path}: is no Parquet file ({one_line(str(reason))[:200]}).") from None
        check_titles(self.label, 1, titles := tuple(self.file.schema_arrow.names))
        self.columns = columns_of(arm, self.label, titles, needs=inputs, degrees=degrees, time_unit=time_unit)
        self.timed, self.stated = self.columns.has("t"), self.columns.stated("q", self.n)
        self.notes = header_notes(arm, titles, self.columns)
        self.rows, self.bytes = self.file.metadata.num_rows, 0
        wanted = [("t", 0)] * self.timed + [(kind, j) for kind in inputs for j in range(self.n)]
        self.wanted = [titles[self.columns.places[key].at] for key in wanted]
        self.factors = np.array([self.columns.places[key].factor for key in wanted])
        self._refuse_other_than_numbers()
        keys = [key for key in wanted if not self.columns.places[key].stated]
        silent = [titles[self.columns.places[key].at] for key in keys]
        refuse_units_of_fields(self.label, self.file.schema_arrow, silent)

    def _refuse_other_than_numbers(self) -> None:
        """Before anything is unpacked: a few bytes are lists of any length, and a text of any form is no number."""
        for title in self.wanted:
            held = str(self.file.schema_arrow.field(title).type)
            if not held.removeprefix("dictionary<values=").startswith(NUMBERS):
                told = f"{self.label}: column {one_line(title)[:80]!r} holds {one_line(held)[:80]}"
                raise ReadFault(f"{told}; give numbers, in seconds and SI units.")

    def blocks(self) -> Iterator[RowBlock]:
        """Batch after batch."""
        with self.file as file:
            for batch in self._batches(file):
                columns = [batch.column(title).to_numpy(zero_copy_only=False) for title in self.wanted]
                try:
                    table = np.column_stack(columns).astype(float) * self.factors
                except (TypeError, ValueError):  # nothing, among decimals
                    raise ReadFault(f"{self.label}: a column holds what is no number.") from None
                for at in range(0, len(table), ROWS):
                    yield split(table[at : at + ROWS], self.n, len(self.inputs), self.timed)

    def _batches(self, file: Any) -> Iterator[Any]:
        try:
            yield from file.iter_batches(batch_size=READ * ROWS, columns=self.wanted)
        except (OSError, ValueError, MemoryError) as reason:  # of a page that is damaged, or says any size
            pass_on_signals()
            raise ReadFault(
                f"{self.label}: a page cannot be unpacked ({one_line(str(reason))[:200]}); write the file anew."
            ) from None


class TextRows(RowSource):
    """A CSV file with titles."""

    def __init__(
        self, path: Path, arm: Arm, inputs: Sequence[str], *, degrees: bool | None, time_unit: str | None
    ) -> None:
        """Read its header."""
        self.label, self.n, self.inputs = str(path), arm.nv, inputs
        self.file = opened(path).__enter__()
        try:
            self.reader = PieceReader(self.file, self.label)
            titles = self.reader.titles
            columns = columns_of(arm, self.label, titles, needs=inputs, degrees=degrees, time_unit=time_unit)
        except BaseException:
            self.file.close()
            raise
        self.timed, self.rows, self.stated = columns.has("t"), None, columns.stated("q", self.n)
        self.notes = header_notes(arm, titles, columns)
        self.bytes = os.fstat(self.file.fileno()).st_size
        wanted = [("t", 0)] * self.timed + [(kind, j) for kind in inputs for j in range(self.n)]
        self.wanted = [columns.places[key].at for key in wanted]
        self.factors = np.array([columns.places[key].factor for key in wanted])

    def at(self) -> int:
        """Bytes read so far; a pipe does not say."""
        return 0 if self.file.closed or not self.file.seekable() else self.file.tell()

    def blocks(self) -> Iterator[RowBlock]:
        """Piece after piece of the text."""
        with self.file:
            for numbers, _ in self.reader.pieces():
                table = numbers[:, self.wanted] * self.factors
                for at in range(0, len(table), ROWS):
                    yield split(table[at : at + ROWS], self.n, len(self.inputs), self.timed)
        self.notes = (*self.notes, *cut_notes(self.reader.last_cell()))


class RowsInDegrees(RowSource):
    """Plain numbers whose angles are in degrees."""

    def __init__(self, rows: RowSource, arm: Arm, inputs: Sequence[str]) -> None:
        """Of these rows, what joints that turn have in q, qd and qdd."""
        self.source, self.rows, self.bytes, self.timed = rows, rows.rows, rows.bytes, rows.timed
        self.titled, self.notes = rows.titled, rows.notes
        per_degree = np.array([math.pi / 180 if link.revolute else 1.0 for link in arm.state_links])
        self.factors = [per_degree if name in ("q", "qd", "qdd") else np.ones(arm.nv) for name in inputs]

    def at(self) -> int:
        """Bytes read so far."""
        return self.source.at()

    def close(self) -> None:
        """Let go of the file."""
        self.source.close()

    def blocks(self) -> Iterator[RowBlock]:
        """The same rows in radians."""
        for block in self.source.blocks():
            yield RowBlock(block.t, [x * f for x, f in zip(block.inputs, self.factors, strict=True)])


UNTITLED = {".npy": NumpyRows, ".zarr": ZarrRows}
"""Readers of plain numbers, by how the file's name ends: SI units and radians."""
TITLED = {".parquet": ParquetRows, ".csv": TextRows}
"""Readers of files whose columns have titles, and units with them."""
SUFFIXES = (*UNTITLED, *TITLED)
"""Files that can be read and written, by how their names end."""


def suffix_of(path: Any) -> str:
    """How a path ends, one of `SUFFIXES`."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise ReadFault(f"{path}: the name ends with {suffix or 'nothing'}; give {', '.join(SUFFIXES)}.")
    return suffix


def row_source(
    path: Any, arm: Arm, inputs: Sequence[str], *, degrees: bool | None = None, time_unit: str | None = None
) -> RowSource:
    """The rows of a file, by how its name ends."""
    kind, path = suffix_of(path), Path(path)
    if not path.exists():
        raise ReadFault(f"{path}: there is no such file; give one that is there ({', '.join(SUFFIXES)}).")
    if kind in TITLED:
        return TITLED[kind](path, arm, inputs, degrees=degrees, time_unit=time_unit)
    if time_unit is not None:
        raise ReadFault(
            f"{path}: {option('time_unit', repr(time_unit))} is for files whose columns have titles "
            f"({', '.join(TITLED)}); times of a {kind} file are copied as they are: leave it out."
        )
    rows = UNTITLED[kind](path, arm, inputs)
    return RowsInDegrees(rows, arm, inputs) if degrees else rows
