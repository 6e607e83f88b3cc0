"""Tables in files: compressed to be small, or plain, to be mapped instead of read where they are large.

Both begin with one line of JSON (the header: arm, method, axes) after a magic word. In a plain file the numbers follow
at multiples of 64 bytes, and a large table that is opened maps them: a look-up reads the pages that it touches. A
smaller one is read, so that its numbers stay those that fitted their checksums, whatever becomes of the file. In a
compressed file each grid follows as one zlib stream.
"""

import json
import os
import zlib
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from forearm.arm import Arm
from forearm.faults import ReadFault, explained, limit
from forearm.outside.signal_errors import pass_on_signals
from forearm.tabulated.log_domains import LogDomain
from forearm.tabulated.lookup_tables import LookupTable
from forearm.tabulated.plans import MOST_BYTES, TablePlan
from forearm.tabulated.table_headers import ALIGNED, MAGIC, plan_of

LONGEST_HEADER = 1 << 24
"""Bytes of a header; a longer one is no table of ours."""
LARGEST_CHECKED = 1 << 26
"""Bytes up to which all numbers are compared with their checksums; a larger plain file is mapped unseen."""


def _opened(path: str | Path) -> BinaryIO:
    try:
        return Path(path).open("rb")  # a number would be an open file, and be closed
    except OSError as error:
        pass_on_signals()
        raise ReadFault(f"{path}: {error.strerror}; give a file that table.save wrote.") from None


@explained
def open_table(path: str | Path, arm: Arm, *, most_bytes: float = MOST_BYTES) -> LookupTable:
    """The table in a file, for the arm it was filled for; a plain file above 64 MiB is mapped, any other is read.

    Args:
        path: What `table.save` wrote.
        arm: The arm; another one, or one with another load, is refused.
        most_bytes: A compressed table that would need more memory is refused.
    """
    with _opened(path) as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise ReadFault(f"{path}: this is no table; give a file that table.save wrote.")
        line = file.readline(LONGEST_HEADER)
        place = file.tell()
        try:
            header = json.loads(line)
            if header["digest"] != arm.digest:
                raise ReadFault(
                    f"{path}: the table was filled for arm {str(header['arm'])[:60]!r} as it was then; arm "
                    f"{arm.name!r} differs (a load, a parameter or a limit), so every number in it is void. Fill it "
                    "again with fa.tabulate."
                )
            plan = plan_of(header, arm)
            packed, sums = header["compressed"], _counts(header["checksums"], len(plan.grids))
            packed = packed if packed is None else _counts(packed, len(plan.grids))
            domain = None if header.get("domain") is None else LogDomain.of_header(header["domain"])
            if domain is not None and (len(domain.errors) != arm.n or not header["learnt"]):
                raise ValueError(f"a domain of {len(domain.errors)} joints, learnt {header['learnt']!r}")
        except ReadFault:
            raise
        except (ValueError, KeyError, TypeError, IndexError, RecursionError, OverflowError) as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            raise ReadFault(
                f"{path}: the header of the table cannot be read ({reason}); save it again."
            ) from None
        if packed is not None and plan.bytes > limit(most_bytes, "most_bytes"):
            raise ReadFault(
                f"{path}: {plan}, more than the {float(most_bytes):.3g} bytes allowed; give most_bytes=, or save it "
                "with compressed=False to map it."
            )
        numbers = _plain(path, file, plan, place) if packed is None else _unpacked(path, file, plan, packed)
    if plan.bytes <= LARGEST_CHECKED:
        found = [zlib.crc32(x.data.cast("B") if x.size else b"") for x in numbers]
        if found != sums:
            _refuse_short(path)
    return LookupTable(plan, numbers, learnt=header["learnt"], domain=domain)


def _counts(value: Any, count: int) -> list[int]:
    """So many whole numbers, from zero."""
    if not isinstance(value, list) or len(value) != count or any(type(x) is not int or x < 0 for x in value):
        raise ValueError(f"not {count} whole numbers")
    return value


def _plain(path: str | Path, file: Any, plan: TablePlan, place: int) -> tuple[Any, ...]:
    size = os.fstat(file.fileno()).st_size
    found: list[Any] = []
    for grid in plan.grids:
        place += -place % ALIGNED
        shape = (grid.cells, len(grid.entries))
        needed = grid.size * np.dtype(plan.dtype).itemsize
        if place + needed > size:
            _refuse_short(path)
        if plan.bytes > LARGEST_CHECKED:
            found.append(np.memmap(file, plan.dtype, "r", place, shape))
        else:
            file.seek(place)
            content = file.read(needed)
            if len(content) != needed:  # cut at this very moment
                _refuse_short(path)
            found.append(np.frombuffer(content, plan.dtype).reshape(shape))
        place += needed
    return tuple(found)


def _unpacked(path: str | Path, file: Any, plan: TablePlan, sizes: list[int]) -> tuple[Any, ...]:
    found, there = [], Path(path).stat().st_size
    for grid, size in zip(plan.grids, sizes, strict=True):
        needed = grid.size * np.dtype(plan.dtype).itemsize
        if size > min(there, needed + needed // 1000 + 64):  # nothing that zlib packs becomes longer
            _refuse_short(path)
        stream = zlib.decompressobj()
        try:
            content = stream.decompress(file.read(size), needed + 1)
        except zlib.error:
            content = b""
        if len(content) != needed or not stream.eof:
            _refuse_short(path)
        found.append(np.frombuffer(content, plan.dtype).reshape(grid.cells, len(grid.entries)))
    return tuple(found)


def _refuse_short(path: str | Path) -> None:
    raise ReadFault(f"{path}: the table's numbers are not all there (cut off, or changed); save it again.")
