"""Two folders or files that change places in one step, where the system can: nobody finds one of them missing."""

import ctypes
import os
from functools import cache
from typing import Any

HERE, EXCHANGE = -100, 2
"""AT_FDCWD and RENAME_EXCHANGE of Linux."""


def exchanged(one: Any, other: Any) -> bool:
    """Whether the two changed places; False where the system, or this disk, cannot do it, and nothing happened."""
    rename = _renameat2()
    return rename is not None and rename(HERE, os.fsencode(one), HERE, os.fsencode(other), EXCHANGE) == 0


@cache
def _renameat2() -> Any:
    try:
        found: Any = ctypes.CDLL(None).renameat2
    except (OSError, TypeError, AttributeError):  # another system, or a C library that has no name for it
        return None
    found.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    found.restype = ctypes.c_int
    return found
