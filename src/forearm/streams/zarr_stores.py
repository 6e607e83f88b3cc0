"""Zarr stores from anywhere, and those that are written over: what an array may be before a number of it is read.

A store names the codecs that unpack it. Among those that libraries know is one that unpickles, which runs whatever its
bytes say; only codecs of numbers are let through.
"""

import base64
import hashlib
import itertools
import json
import math
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from forearm.faults import ReadFault, StateFault, refuse_other_units
from forearm.outside.escapes import one_line
from forearm.outside.signal_errors import pass_on_signals, suppressed

CODECS = frozenset(
    "adler32 bitround blosc bytes bz2 crc32 crc32c delta fixedscaleoffset fletcher32 gzip lz4 lzma quantize shuffle "
    "transpose zlib zstd".split()
)
"""Codecs that give numbers for bytes, and do nothing else."""
LARGEST_CHUNK = 1 << 28
"""Bytes of a chunk once it is unpacked; a whole one is in memory."""
MOST_PARTS = 1 << 20
"""Chunks in a shard, whose places are read at once."""
LONGEST_TEXT = 1 << 24
"""Bytes of what a store says of itself."""
SHORT_TEXT, MOST_CODECS = 1 << 16, 100
"""In a longer text codecs are counted: a library takes a time that grows with the square of their number."""
MOST_AXES, LONGEST_AXIS = 32, 1 << 62
"""Of an array."""
MOST_ABSENT = 10**8
"""Rows that no chunk holds, which stand for one number; more of them need a tenth of the chunks to be there."""

MOST_PIECES = 100_000
"""Files that an array would have and has not; more of them need a tenth to be there: each is looked for."""
PIECES = 4096
"""Chunks that are read at once; a library that unpacks them side by side holds some kilobytes for each."""


IN_SI = "write the numbers themselves, in SI units and without it"
"""What to do about units that a store says."""


def chunk_files(label: str, folder: Path) -> int:
    """How many files a store has; refuse one that leads elsewhere by a link, or to a pipe or a device.

    Archives hold links and pipes too: a link reads any file as rows, a pipe is waited for without end.
    """
    count, waiting = 0, [os.path.realpath(folder)]
    try:
        while waiting:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    elif not entry.is_file(follow_symlinks=False):
                        where = one_line(os.path.relpath(entry.path, os.path.realpath(folder)))[:200]
                        raise ReadFault(
                            f"{label}: {where} in it is no plain file (a link, a pipe or a device); give a store that "
                            "holds its chunks itself."
                        )
                    elif entry.name.endswith(TEXTS):
                        _refuse_long_text(label, entry)
                    count += 1
    except OSError as reason:
        pass_on_signals()
        raise ReadFault(f"{label}: is no Zarr store ({one_line(str(reason))[:200]}).") from None
    return count


TEXTS = ("zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata")
"""Files in which a store says what it is."""


def _refuse_long_text(label: str, entry: os.DirEntry[str]) -> None:
    """Refuse a text of a store that is too long, or names more codecs than anybody packs numbers with."""
    size = entry.stat(follow_symlinks=False).st_size
    if size > LONGEST_TEXT:
        raise ReadFault(f"{label}: is no Zarr store ({entry.name} is too long).")
    if size <= SHORT_TEXT:
        return
    try:
        waiting = [json.loads(_own_words(Path(entry.path)))]
    except (ValueError, RecursionError):  # the library says so, where it reads this
        return
    count = 0
    while waiting and count <= MOST_CODECS:
        node = waiting.pop()
        for key in ("codecs", "index_codecs", "filters") if isinstance(node, dict) else ():
            named = node.get(key) if isinstance(node.get(key), list) else []
            count += len(named)
            waiting += [codec.get("configuration") for codec in named if isinstance(codec, dict)]
    if count > MOST_CODECS:
        raise ReadFault(f"{label}: is no Zarr store ({entry.name} names more than {MOST_CODECS} codecs).")


def check_array(label: str, array: Any, files: int) -> None:
    """Refuse an array that holds what are no numbers, needs other codecs, or is not in pieces of a sensible size.

    Args:
        label: The array, for messages.
        array: The array.
        files: How many files its store has.
    """
    said = told_of_all(label, array)
    if len(array.shape) > MOST_AXES or max(array.shape, default=0) > LONGEST_AXIS:
        raise ReadFault(f"{label}: says a size that no array has; write the store anew.")
    _refuse_other_codecs(label, array, CODECS)
    if array.dtype.kind not in "fiu":
        raise ReadFault(f"{label}: the array is of {one_line(str(array.dtype))[:60]}; give rows of numbers.")
    refuse_other_units(label, said, IN_SI)
    _refuse_sizes(label, array, files)


def _refuse_other_codecs(label: str, array: Any, known: frozenset[str]) -> None:
    """Refuse an array that needs other codecs than these."""
    codecs = [*array.filters, *([] if array.serializer is None else [array.serializer]), *array.compressors]
    for outer in getattr(array.metadata, "codecs", ()):
        codecs += getattr(outer, "index_codecs", ())  # how a shard says where its chunks are
    odd = sorted({name for name in map(_name, codecs) if name not in known})
    if odd:
        raise ReadFault(
            f"{label}: the store is packed by {', '.join(odd)}, which are not let through; give one packed by zstd, "
            "blosc, gzip or nothing."
        )


def _refuse_sizes(label: str, array: Any, files: int) -> None:
    """Refuse an array that is not in pieces of a sensible size, or says far more than its store holds."""
    chunks = array.chunks
    size = array.dtype.itemsize * math.prod(chunks)
    shards = getattr(array, "shards", None) or chunks
    if (
        min((*chunks, *shards), default=0) < 1
        or size > LARGEST_CHUNK
        or math.prod(shards) > MOST_PARTS * math.prod(chunks)
    ):
        raise ReadFault(
            f"{label}: its chunks have {size:.3g} bytes; give a store with chunks of up to {LARGEST_CHUNK >> 20} MiB."
        )
    rows = array.shape[0] if array.shape else 0
    if rows > max(MOST_ABSENT, 10 * files * shards[0]):
        raise ReadFault(f"{label}: says {rows:.3g} rows, and has {files} files; write the store anew.")
    if (pieces := math.prod(_grid(array))) > max(MOST_PIECES, 10 * files):
        raise ReadFault(
            f"{label}: says {pieces:.3g} chunks, and has {files} files; write the store anew, with larger chunks."
        )


MOST_MARKS = 16
"""Numbers that may stand for no number, of each kind: every row is held against each."""


def marks_of_nothing(label: str, array: Any) -> list[float]:
    """The numbers that stand for no number in an array, as xarray and netCDF say it beside them.

    Args:
        label: The store, for messages.
        array: The array.
    """
    where, marks = f"{label}/{one_line(array.basename)[:60]}" if array.basename else label, []
    for key in ("_FillValue", "missing_value"):
        given = np.atleast_1d(np.asarray(array.attrs.get(key, []), dtype=object))
        if len(given) > MOST_MARKS:
            raise ReadFault(
                f"{where}: says {len(given)} numbers in {key}, and one is usual; give at most {MOST_MARKS}."
            )
        for said in given:
            try:
                marks.append(
                    np.frombuffer(base64.b64decode(said, validate=True), "<f8").item()
                    if isinstance(said, str)
                    else float(said)
                )
            except (TypeError, ValueError, OverflowError):
                raise ReadFault(
                    f"{where}: says {key}={repr(said)[:40]}, which is no number; write the array without it."
                ) from None
    if (
        getattr(array.metadata, "zarr_format", 3) == 2 and array.fill_value
    ):  # there xarray has no other place for it
        marks.append(float(array.fill_value))
    return [mark for mark in marks if not math.isnan(mark)]


def told_of_all(label: str, node: Any) -> Mapping[str, Any]:
    """What an array or a group says of itself, in a table."""
    if not isinstance(getattr(node.metadata, "attributes", {}), Mapping):
        raise ReadFault(f"{label}: is no Zarr store (its attributes are no table); write it anew.")
    said: Mapping[str, Any] = node.attrs
    return said


def _grid(array: Any) -> tuple[int, ...]:
    """How many files an array has along each axis, where all are there: a file is a shard, or a chunk."""
    sizes = getattr(array, "shards", None) or array.chunks
    return tuple(-(-length // size) for length, size in zip(array.shape, sizes, strict=True))


def rows_at_once(array: Any, most: int) -> int:
    """How many rows to read at once: whole chunks, about `most` rows of them, PIECES of them if that is less."""
    rows, *others = array.chunks
    across = math.prod(-(-length // size) for length, size in zip(array.shape[1:], others, strict=True))
    return int(rows * max(1, min(most // rows, PIECES // max(1, across))))


def rows_of(array: Any, rows: slice) -> Any:
    """Rows of an array, some chunks after the other."""
    step = rows_at_once(array, rows.stop - rows.start)
    parts = [array[at : min(at + step, rows.stop)] for at in range(rows.start, rows.stop, step)]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _refuse_long_chunks(label: str, folder: Path, array: Any) -> None:
    """Refuse files that are longer than any codec makes them: a library reads all of one, however little it holds."""
    chunks = array.chunks
    shards = getattr(array, "shards", None) or chunks
    numbers, parts = math.prod(shards), math.prod(shards) // math.prod(chunks)
    longest = 16 * (numbers * -(-array.dtype.itemsize // 8) + parts)
    longest = LARGEST_CHUNK if array.dtype.kind in "TO" else longest + (1 << 20)
    for path in _chunk_paths(folder, array):
        with suppressed(FileNotFoundError):
            if (length := os.stat(path).st_size) > longest:
                raise ReadFault(
                    f"{label}: a file has {length / 2**20:.3g} MiB, and its numbers take {longest / 2**20:.3g} MiB "
                    "at most, however they are packed; write the store anew."
                )


def _refuse_lying_chunks(label: str, folder: Path, array: Any) -> None:
    """Refuse chunks of blosc whose head says another length than they have: the library would read beyond their end."""
    codecs = [_name(codec) for codec in (*array.filters, *array.compressors)]
    inner = [_name(codec) for codec in _within_shards(array)]
    if "blosc" not in codecs + inner:
        return
    if "blosc" in inner or codecs.index("blosc") != len(codecs) - 1:
        raise ReadFault(
            f"{label}: the store is packed by blosc within something else, where it cannot be checked; give one packed "
            "by zstd, gzip, blosc alone or nothing."
        )
    least = most = array.dtype.itemsize * math.prod(array.chunks)
    if array.dtype.kind in "TO":  # texts, each as long as it is
        least, most = 0, LARGEST_CHUNK
    for path in _chunk_paths(folder, array):
        try:
            with open(path, "rb") as file:
                head, length = file.read(16), os.fstat(file.fileno()).st_size
        except FileNotFoundError:
            continue
        said = int.from_bytes(head[12:16], "little")
        unpacked = int.from_bytes(head[4:8], "little")
        if len(head) < 16 or said != length or not least <= unpacked <= most:
            raise ReadFault(
                f"{label}: a chunk of blosc says that it has {said} bytes, {unpacked} unpacked, and has {length}; "
                "write the store anew."
            )


def checked_chunks(label: str, folder: Path, array: Any) -> list[str]:
    """Refuse chunks that the library must not be given; a note where some are not there.

    Args:
        label: The array, for messages.
        folder: The store's.
        array: The array.
    """
    _refuse_long_chunks(label, folder, array)
    _refuse_lying_chunks(label, folder, array)
    return _absent_chunks(folder, array)


def _within_shards(array: Any) -> list[Any]:
    """Codecs of the chunks in a shard."""
    return [
        codec for outer in getattr(array.metadata, "codecs", ()) for codec in getattr(outer, "codecs", ())
    ]


def _chunk_paths(folder: Path, array: Any) -> Iterator[str]:
    """Where the files of an array are, if they are there."""
    here = os.path.join(folder, array.path)
    places = itertools.product(*map(range, _grid(array)))
    return (os.path.join(here, array.metadata.encode_chunk_key(place)) for place in places)


class ChunksWritten(NamedTuple):
    """The files of an array at one moment."""

    there: int
    """How many of them are there."""
    digest: bytes
    """When they were written and how long they are; the last along the rows aside, which grow as rows are appended."""


def chunks_written(folder: Path, array: Any) -> ChunksWritten:
    """The files of an array now; whoever writes one of them, or takes it away, changes this."""
    there, digest = 0, hashlib.sha256()
    grid = _grid(array)
    lasting = math.prod(grid) - math.prod(grid[1:])
    for number, path in enumerate(_chunk_paths(folder, array)):
        try:
            about = os.stat(path)
        except OSError:
            pass_on_signals()
            continue
        there += 1
        if number < lasting:
            digest.update(f"{number} {about.st_mtime_ns} {about.st_size};".encode())
    return ChunksWritten(there, digest.digest())


def _absent_chunks(folder: Path, array: Any) -> list[str]:
    """A note where chunks of an array are not there: never written, all of one number, or lost on the way."""
    there, all_of_them = sum(map(os.path.exists, _chunk_paths(folder, array))), math.prod(_grid(array))
    if there >= all_of_them:
        return []
    name = f"{one_line(array.basename)[:60]}: " if array.basename else ""
    number = (
        0.0 if array.fill_value is None else array.fill_value
    )  # what the library takes where none is said
    return [
        f"{name}{all_of_them - there} of {all_of_them} chunks are not in the store, and their rows are read as "
        f"{number:g}: right where these were written so, wrong where the store is not complete"
    ]


def _name(codec: Any) -> str:
    """What a codec is called: by numcodecs, or by Zarr."""
    told = getattr(codec, "codec_id", None) or codec.to_dict()["name"]
    return one_line(str(told).removeprefix("numcodecs."))[:60]


def words_of(label: str, folder: Path, array: Any, count: int) -> tuple[str, ...] | None:
    """The texts of a short array, looked at like any other before it is read; None where it holds anything else."""
    if getattr(array, "shape", None) != (count,) or array.dtype.kind not in "UTO":
        return None
    _refuse_other_codecs(label, array, CODECS | {"vlen-utf8"})
    _refuse_sizes(label, array, count)
    _refuse_long_chunks(label, folder, array)
    _refuse_lying_chunks(label, folder, array)
    return tuple(map(str, array[:].tolist()))


def _own_words(path: Path) -> bytes:
    """What a store says of itself; of a link, a pipe or a device nothing."""
    if not stat.S_ISREG(os.lstat(path).st_mode):
        return b""
    with open(path, "rb") as file:
        return file.read(LONGEST_TEXT)


def check_replaceable(folder: Path) -> None:
    """Refuse to write over what is there and is no array of Zarr: a folder of anything, a group of many arrays."""
    if not folder.exists():
        return
    try:
        told = json.loads(_own_words(folder / "zarr.json"))["node_type"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass_on_signals()
        told = "array" if (folder / ".zarray").is_file() else None
    if told != "array":
        raise StateFault(
            f"stream: {folder} is there and is not a Zarr array alone, and all of it would be lost; give another name."
        )
