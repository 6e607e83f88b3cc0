"""How many processors this process may use."""

import os


def processors() -> int:
    """As many as the system lets it run on, or as there are where nobody says."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        return os.cpu_count() or 1
