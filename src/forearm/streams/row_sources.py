"""Rows of files, a block at a time: NumPy (.npy), Zarr (.zarr), Parquet (.parquet), text (.csv).

Arrays of NumPy and Zarr have no titles (row_files.py, zarr_rows.py); Parquet and CSV have (motion/columns.py). Numbers
are read into a buffer, not mapped: what a process holds is what it works on.
"""

import io
import math
import os
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from forearm.arm import Arm
from forearm.faults import ReadFault
from forearm.motion.column_units import refuse_units_of_fields
from forearm.motion.columns import columns_of
from forearm.motion.motion_files import header_notes
from forearm.motion.number_tables import PieceReader, check_titles, opened
from forearm.motion.row_times import comma_notes, cut_notes
from forearm.outside.escapes import one_line
from forearm.outside.option_names import option
from forearm.outside.signal_errors import pass_on_signals
from forearm.streams.file_libraries import library
from forearm.streams.npy_headers import npy_header
from forearm.streams.row_files import READ, ROWS, RowBlock, RowSource, input_counts, native, split, timed_rows
from forearm.streams.zarr_rows import ZarrRows

NUMBERS = ("int", "uint", "float", "double", "halffloat", "decimal")
"""How the types of columns begin that hold one number a row; what is true or false is none."""


LONGEST_FOOTER = 1 << 28
"""Bytes at the end of a Parquet file in which it says what it holds; a library reads all that it says they are."""


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
            if len(shape) > 2 and (
                len(shape) > 3 or shape[2] != self.n or shape[1] not in input_counts(inputs)
            ):
                raise ReadFault(
                    f"{self.label}: the array has shape {shape}; give rows (N, {self.n * self.count}), or (N, "
                    f"{self.count}, {self.n}): {', '.join(inputs)} one after the other, each of {self.n} joints."
                )
            self.timed = len(shape) == 2 and timed_rows(self.label, width, self.n, inputs)
            self.rows, self.dtype, self.width = shape[0], dtype, width
            self.bytes = os.fstat(self.file.fileno()).st_size - self.file.tell()
            whole = shape[0] * width * dtype.itemsize
            if self.bytes != whole:
                how = "the file was cut off" if self.bytes < whole else "other rows or another array follow"
                raise ReadFault(
                    f"{self.label}: its header says {shape[0]} rows, {whole} bytes, and {self.bytes} are there; {how}: "
                    "write it anew."
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
                yield split(native(part), self.n, self.count, self.timed)


class ParquetRows(RowSource):
    """A Parquet file whose columns have titles, as those of a CSV file."""

    def __init__(
        self, path: Path, arm: Arm, inputs: Sequence[str], *, degrees: bool | None, time_unit: str | None
    ) -> None:
        """Read its titles."""
        parquet = library("pyarrow.parquet", "parquet")
        self.label, self.n, self.inputs = str(path), arm.nv, inputs
        if path.is_file():
            self._refuse_long_footer(path)
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

    def _refuse_long_footer(self, path: Path) -> None:
        with opened(path) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - 8))
            said, mark = int.from_bytes(file.read(4), "little"), file.read(4)
        if mark.startswith(b"PAR") and said > LONGEST_FOOTER:
            raise ReadFault(
                f"{self.label}: is no Parquet file (it says that its last {said} bytes tell what it holds)."
            )

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


class ReadBytes(io.FileIO):
    """A file that knows what was read of it, from its beginning on."""

    count, checksum = 0, 0

    def readinto(self, buffer: Any) -> int:
        """Read, and count."""
        taken = super().readinto(buffer) or 0
        self.count, self.checksum = self.count + taken, zlib.crc32(memoryview(buffer)[:taken], self.checksum)
        return taken

    def is_beginning_of(self, path: Path) -> bool:
        """Whether a file begins with all that was read."""
        left, checksum = self.count, 0
        with path.open("rb") as file:
            while left and (some := file.read(min(left, 1 << 20))):
                left, checksum = left - len(some), zlib.crc32(some, checksum)
        return not left and checksum == self.checksum


class TextRows(RowSource):
    """A CSV file with titles."""

    def __init__(
        self, path: Path, arm: Arm, inputs: Sequence[str], *, degrees: bool | None, time_unit: str | None
    ) -> None:
        """Read its header."""
        self.label, self.n, self.inputs = str(path), arm.nv, inputs
        with opened(path) as found:
            self.read_bytes = ReadBytes(os.dup(found.fileno()), "rb")
        self.file = io.BufferedReader(self.read_bytes)
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
        self.notes = (*self.notes, *comma_notes(self.reader.commas), *cut_notes(self.reader.last_cell()))


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
