"""How much memory this machine has, and gives: what needs more is refused before it begins."""

import math
import mmap
import os


def machine_memory() -> float:
    """Bytes of memory that this machine has; infinite where nobody says."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return math.inf


def refuse_without_room(what: str, need: int) -> None:
    """Raise MemoryError where the system does not give so many bytes: for libraries that end the process instead.

    They are asked for and given back untouched, which takes microseconds.
    """
    if not hasattr(mmap, "MAP_PRIVATE"):
        return
    try:
        mmap.mmap(-1, need, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
    except (OSError, OverflowError):
        raise MemoryError(
            f"{what} needs up to {math.ceil(need / 1e6)} MB, which the system does not give (a limit such as "
            "ulimit -v?)"
        ) from None
