"""Headers of NumPy's files from anywhere: Python's text, read without trust."""

from typing import Any

import numpy as np

from forearm.faults import ReadFault
from forearm.outside.escapes import one_line
from forearm.outside.signal_errors import pass_on_signals

LONGEST = 1 << 20
"""Bytes of a header: NumPy reads all of it before it says that more than 10,000 letters are too many."""


def npy_header(file: Any, label: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, whether in Fortran order, and type of the numbers that follow."""
    if not file.seekable():
        raise ReadFault(f"{label}: is a pipe, and arrays are read from files; give a file, or rows as .csv.")
    try:
        version = np.lib.format.read_magic(file)
        start = file.tell()
        if (length := int.from_bytes(file.read(2 if version == (1, 0) else 4), "little")) > LONGEST:
            raise ValueError(f"its header has {length} bytes")
        file.seek(start)
        read = (
            np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        )
        found = read(file)
        if min(found[0], default=0) < 0:
            raise ValueError(f"shape {found[0]}")
        if max(found[0], default=0) >= 2**63:  # of any length, which Python would not print
            raise ValueError("a shape that no file holds")
        return found
    # a header is Python's text, and what deep or odd text does to Python's parser is an error of any kind
    except Exception as reason:
        pass_on_signals()
        told = one_line(f"{reason}" or type(reason).__name__)[:200]
        raise ReadFault(f"{label}: is no array of NumPy ({told}); give what np.save writes.") from None
