"""A few threads that stay, for kernels that run with the GIL released."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from typing import Any

from forearm.faults import StateFault

_POOL: list[tuple[int, ThreadPoolExecutor]] = []


def pool(threads: int) -> ThreadPoolExecutor:
    """The pool of this process, with room for as many threads as were ever asked for."""
    if not _POOL or _POOL[0][0] < threads:
        _POOL[:] = [(threads, ThreadPoolExecutor(threads, thread_name_prefix="forearm"))]
    return _POOL[0][1]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_POOL.clear)  # threads do not survive a fork


def pieces(count: int, threads: int, grain: int, smallest: int) -> list[tuple[int, int]]:
    """Split states among threads: (first, end) of each piece, in whole grains, none below `smallest`."""
    threads = max(1, min(threads, count // smallest))
    grains = -(-count // grain)
    marks = [min(count, grains * i // threads * grain) for i in range(threads + 1)]
    return [(a, b) for a, b in pairwise(marks) if b > a]


def run(work: Callable[[int, int], Any], parts: list[tuple[int, int]]) -> None:
    """Do all parts, the last one in the calling thread."""
    waiting: list[Future[Any]] = [pool(len(parts) - 1).submit(work, *part) for part in parts[:-1]]
    try:
        work(*parts[-1])
    finally:
        for future in waiting:
            future.result()


def check_threads(where: str, threads: Any) -> int:
    """A positive whole number."""
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise StateFault(f"{where}: threads is {threads!r}; give a whole number of threads, 1 or more.")
    return threads
