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


SHARES = 4
"""Into how many shares a piece is cut: a thread that is held up leaves its next shares to the others."""


def run(work: Callable[[int, int], Any], parts: list[tuple[int, int]], grain: int = 1) -> None:
    """Do all parts, one thread for each, in shares that whoever is free takes next; the caller is one of them."""
    shares = [share for a, b in parts for share in _shares(a, b, grain)]
    left = iter(shares)

    def busy() -> None:
        for share in left:  # a list's iterator hands out each item once, whoever asks
            work(*share)

    waiting: list[Future[Any]] = [pool(len(parts) - 1).submit(busy) for _ in parts[:-1]]
    try:
        busy()
    finally:
        for future in waiting:
            future.result()


def _shares(first: int, end: int, grain: int) -> list[tuple[int, int]]:
    """A piece in shares of whole grains."""
    size = max(grain, -(-(end - first) // (SHARES * grain)) * grain)
    return [(a, min(end, a + size)) for a in range(first, end, size)]


def check_threads(where: str, threads: Any) -> int:
    """A positive whole number."""
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise StateFault(f"{where}: threads is {threads!r}; give a whole number of threads, 1 or more.")
    return threads
