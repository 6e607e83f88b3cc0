"""Variables of the environment that are other while something foreign is begun: a library is loaded, workers start.

Each is one change for the whole process, because two that changed the same variable would restore each other's.
"""

import os
import time
from collections.abc import Callable

from forearm.outside.whole_process.shared_changes import SharedChange

VARIABLE = "PYTHONSAFEPATH"
"""What tells a Python that begins not to look for modules in the present folder."""
DATE = "SOURCE_DATE_EPOCH"
"""When a reproducible build was made; NumPy and SciPy look at it while they are loaded, whatever they are asked for."""


def _variable(name: str, value_within: Callable[[str | None], str | None]) -> SharedChange:
    def put(value: str | None) -> None:
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value

    return SharedChange(lambda: os.environ.get(name), lambda before: put(value_within(before)), put)


def _date(said: str | None) -> str | None:
    """A date as it is, and none where it is no time."""
    try:
        time.gmtime(int(said or ""))
    except (ValueError, OverflowError, OSError):
        return None
    return said


SAFE_PATH = _variable(VARIABLE, lambda before: "1")
"""A Python that is begun within this imports nothing out of the folder where somebody works.

It would look there first, before it is told where this process looks, and the folder may be a stranger's.
"""
NO_ODD_DATE = _variable(DATE, _date)
"""Within this a date of builds that is no time is not there: only pictures need one, and they say what is wrong."""
