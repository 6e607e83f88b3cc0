"""How much memory this machine has: what needs more is refused before it begins."""

import math
import os


def machine_memory() -> float:
    """Bytes of memory that this machine has; infinite where nobody says."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return math.inf
