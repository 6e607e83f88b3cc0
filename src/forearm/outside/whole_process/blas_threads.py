"""How many threads NumPy's linear algebra uses: one, while many small matrices are worked on.

OpenBLAS shares out even a matrix of a hundred columns, and its threads then wait for each other; where a machine is at
other work too that costs many times what it saves. The library is the one that NumPy's and SciPy's wheels carry; where
there is another, nothing is changed.
"""

import ctypes
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from forearm.outside.signal_errors import pass_on_signals
from forearm.outside.whole_process.shared_changes import SharedChange

Control = tuple[Callable[[], int], Callable[[int], Any]]
"""How to ask a library for its number of threads, and how to set it."""


def _numbers() -> list[int]:
    return [ask() for ask, _ in _controls()]


def _one_each(before: list[int]) -> None:
    _set([1] * len(before))


def _set(numbers: list[int]) -> None:
    for (_, give), number in zip(_controls(), numbers, strict=True):
        give(number)


ONE_BLAS_THREAD = SharedChange(_numbers, _one_each, _set)
"""One thread within; what there was before again after the last of those that are inside at the same time."""


@cache
def _controls() -> tuple[Control, ...]:
    """Of each OpenBLAS that came with NumPy or SciPy."""
    found: list[Control | None] = []
    for name in ("numpy", "scipy"):
        file = getattr(sys.modules.get(name), "__file__", None)
        if file is None:
            continue  # not loaded: the folder where somebody works is no place to load libraries from
        home = Path(file).resolve().parent
        for folder in (home.parent / f"{name}.libs", home / ".dylibs"):
            found.extend(_control(path) for path in sorted(folder.glob("*openblas*")))
    return tuple(control for control in found if control is not None)


def _control(path: Path) -> Control | None:
    try:
        library = ctypes.CDLL(str(path))
    except OSError:
        pass_on_signals()
        return None
    for prefix in ("scipy_openblas", "openblas"):
        for suffix in ("64_", ""):
            ask = getattr(library, f"{prefix}_get_num_threads{suffix}", None)
            give = getattr(library, f"{prefix}_set_num_threads{suffix}", None)
            if ask is not None and give is not None:
                return ask, give
    return None
