"""Files that rows are written to, a block at a time: beside their place, and renamed when they are complete.

So nothing is half there: an interrupt, a full disk or an error leaves the old file as it was, or none.
"""

import errno
import io
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from forearm.algebra import Vector
from forearm.faults import StateFault
from forearm.motion.motion_files import write_titles
from forearm.outside.exchanged_places import exchanged
from forearm.outside.file_places import place_of
from forearm.outside.output_files import is_begun_here, refuse_copy, refuse_what_stays, replacing, unfinished
from forearm.outside.signal_errors import pass_on_signals
from forearm.streams.file_libraries import library
from forearm.streams.row_files import READ, ROWS
from forearm.streams.row_sources import suffix_of
from forearm.streams.zarr_stores import check_replaceable

WRITERS_LAST = 100
"""How often a folder is taken away that comes back, twenty milliseconds apart."""


class RowSink(Protocol):
    """What rows are given to."""

    def put(self, t: Vector | None, values: Vector) -> None:
        """Some rows: times (k,) or None, values (k, m)."""


class _Npy:
    """An array (N, m), or (N, 1 + m) with times first."""

    def __init__(self, file: Any, width: int) -> None:
        self.file, self.width, self.rows = file, width, 0
        self._header()

    def _header(self) -> None:
        shape = {"descr": "<f8", "fortran_order": False, "shape": (self.rows, self.width)}
        np.lib.format.write_array_header_1_0(self.file, shape)

    def put(self, t: Vector | None, values: Vector) -> None:
        rows = values if t is None else np.column_stack([t, values])
        self.file.write(np.ascontiguousarray(rows).data)
        self.rows += len(rows)

    def close(self) -> None:
        """The header again, now that the rows are counted: NumPy leaves room for it to grow."""
        self.file.seek(0)
        self._header()
        self.file.seek(0, os.SEEK_END)


class _Text:
    """A CSV file with titles."""

    def __init__(self, file: Any, titles: Sequence[str]) -> None:
        self.file, header = file, io.StringIO()
        write_titles(header, titles, "\n")
        file.write(header.getvalue().encode())

    def put(self, t: Vector | None, values: Vector) -> None:
        rows = (values if t is None else np.column_stack([t, values])).tolist()
        self.file.write("".join(",".join(map(repr, row)) + "\n" for row in rows).encode())


class _Parquet:
    """A Parquet file with titles."""

    def __init__(self, file: Any, titles: Sequence[str]) -> None:
        self.arrow, parquet = library("pyarrow", "parquet"), library("pyarrow.parquet", "parquet")
        self.titles = list(titles)
        self.schema = self.arrow.schema([(title, self.arrow.float64()) for title in titles])
        self.writer = parquet.ParquetWriter(file, self.schema)
        self.held: list[Vector] = []

    def put(self, t: Vector | None, values: Vector) -> None:
        self.held.append((values if t is None else np.column_stack([t, values])).copy())
        if len(self.held) >= READ * 4:
            self._flush()

    def _flush(self) -> None:
        if self.held:
            rows = np.concatenate(self.held)
            arrays = [self.arrow.array(np.ascontiguousarray(column)) for column in rows.T]
            self.writer.write_table(self.arrow.Table.from_arrays(arrays, schema=self.schema))
            self.held.clear()

    def close(self) -> None:
        """What is left, and the file's own end."""
        self._flush()
        self.writer.close()


class _Zarr:
    """A Zarr array (N, m), or (N, 1 + m) with times first, in chunks of many rows."""

    def __init__(self, folder: Path, width: int, rows: int) -> None:
        zarr = library("zarr", "zarr")
        self.array = zarr.create_array(
            store=str(folder), shape=(rows, width), chunks=(max(1, min(rows, READ * ROWS)), width), dtype="f8"
        )
        self.held: list[Vector] = []
        self.rows = 0

    def put(self, t: Vector | None, values: Vector) -> None:
        self.held.append((values if t is None else np.column_stack([t, values])).copy())
        if len(self.held) >= READ:
            self.close()

    def close(self) -> None:
        """What is held, into the store; blocks but the last are whole, so chunks are written once."""
        if self.held:
            rows = np.concatenate(self.held)
            self.array[self.rows : self.rows + len(rows)] = rows
            self.rows += len(rows)
            self.held.clear()


@contextmanager
def row_sink(path: Any, titles: Sequence[str], rows: int | None) -> Iterator[RowSink]:
    """A file to put rows into, which takes the place of `path` when the block ends well; if not, nothing changes."""
    kind = suffix_of(path)
    if kind == ".zarr":
        with _replacing_folder(Path(path)) as folder:
            store = _Zarr(folder, len(titles), rows or 0)
            yield store
            store.close()
            if not (
                folder / "zarr.json"
            ).is_file():  # the library makes folders anew, for what is left to come
                raise FileNotFoundError(errno.ENOENT, "its folder was taken away while it was written")
        return
    with replacing(path) as file:
        if kind == ".npy" and not file.seekable():
            raise StateFault(f"stream: {path} is a pipe, and an array says first how long it is; give .csv.")
        if kind == ".csv":
            yield _Text(file, titles)
            return
        made: Any = _Npy(file, len(titles)) if kind == ".npy" else _Parquet(file, titles)
        yield made
        made.close()


@contextmanager
def _replacing_folder(path: Path) -> Iterator[Path]:
    """A folder beside the path, which takes its place when the block ends well; if not, the old one is there again."""
    try:
        target = place_of(path)  # a Path, which has no slash behind it: a folder's name may
        check_replaceable(target)
        if not target.parent.is_dir():  # the library would make it
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        refuse_what_stays(target)
    except OSError as error:
        pass_on_signals()
        raise OSError(error.errno, error.strerror, str(path)) from None
    with unfinished(target) as beside:
        old = beside.with_name(f"{beside.name}.old")
        try:
            yield beside
            refuse_copy(beside, target)
            check_replaceable(target)  # once more: somebody may have put something there meanwhile
            if not (target.exists() and exchanged(beside, target)):
                if target.exists():
                    os.rename(target, old)
                os.rename(beside, target)
        except BaseException as error:
            if not is_begun_here(beside):
                raise
            if old.exists() and not target.exists():
                os.rename(old, target)
            _take_away(beside)
            if isinstance(error, OSError) and error.errno is not None and error.filename is None:
                raise OSError(
                    error.errno, error.strerror, str(path)
                ) from error  # a full disk, without its name
            raise
        finally:
            if target.exists() and is_begun_here(beside):
                try:
                    _take_away_old(beside, old)
                finally:  # once more for an interrupt, which is passed on when nothing is left
                    _take_away_old(beside, old)


def _take_away_old(*places: Path) -> None:
    """Remove the old store, from where it went when the new one took its place."""
    for place in places:
        shutil.rmtree(place, ignore_errors=True)


def _take_away(folder: Path) -> None:
    """Remove a folder that threads of Zarr may still be writing to: until it stays away."""
    for _ in range(WRITERS_LAST):
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(0.02)
        if not folder.exists():
            return
