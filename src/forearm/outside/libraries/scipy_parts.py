"""SciPy's modules, through one door: none is loaded where the system gives it no room.

The linear algebra that comes with SciPy takes its memory while it is loaded, for each of its threads. Where it gets
none it asks again for ever, and no signal is heard meanwhile, or it ends the process, or sends it a Ctrl-C.
"""

import os
import sys
from typing import Any

from forearm.outside.libraries.optional_libraries import optional
from forearm.outside.memory_size import refuse_without_room
from forearm.outside.processors import processors


def scipy_part(name: str) -> Any:
    """A module of SciPy by its name ("sparse.linalg"); MemoryError where there is no room to load it."""
    whole = f"scipy.{name}"
    if whole not in sys.modules:
        if LINEAR_ALGEBRA in sys.modules:
            refuse_without_room(f"loading {whole}", MODULES)
        else:
            others = threads_to_begin()
            mend = "raise the limit" + (", or set OPENBLAS_NUM_THREADS=1" if others else "")
            refuse_without_room(f"loading {whole}", ROOM + A_THREAD * others, mend)
    return optional(whole)


LINEAR_ALGEBRA = "scipy.linalg"
"""Loaded with most of them; OpenBLAS is then in memory."""
MODULES = 80 << 20
"""Bytes of address space that the modules that we use take, all of them: 70 MB in version 1.17."""
ROOM = MODULES + (112 << 20)
"""The same with OpenBLAS and its first thread: 165 MB."""
A_THREAD = 48 << 20
"""What each of OpenBLAS' threads takes besides: its buffer, and a stack of 8 MB."""
MOST_THREADS = 64
"""For how many SciPy's wheels build OpenBLAS."""


def threads_to_begin() -> int:
    """How many threads OpenBLAS will begin besides the caller's: as the environment says, at most one a core."""
    most = processors()
    for variable in ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS"):
        said = os.environ.get(variable, "").strip()
        if said.isascii() and said.isdigit() and int(said[:9]) > 0:
            most = min(most, int(said[:9]))
            break
    return min(most, MOST_THREADS) - 1
