"""Workers of our own: threads and processes, begun for a sweep and ended with it."""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable
from concurrent import futures
from contextlib import suppress
from multiprocessing.context import BaseContext
from multiprocessing.sharedctypes import RawValue
from typing import Any

from forearm.outside.whole_process.environment import SAFE_PATH

LAST_WORDS = 10.0
"""Seconds that worker processes have for the block they are at when the sweep is over."""
_stop: Any = None
"""In a worker process: its value is 1 when the sweep is over. Memory alone, because a killed worker keeps a lock."""


def is_over() -> bool:
    """Whether this process works for a sweep that is over."""
    return _stop is not None and bool(_stop.value)


def _threads(workers: int) -> tuple[Any, Any]:
    return futures.ThreadPoolExecutor(workers), None


def _worker_processes(workers: int) -> tuple[Any, Any]:
    context = _processes()
    stop = RawValue("b", 0)
    if context.get_start_method() == "fork":
        return futures.ProcessPoolExecutor(workers, context, _in_service, (stop,)), stop
    with SAFE_PATH.inside():
        pool = futures.ProcessPoolExecutor(workers, context, _in_service, (stop,))
        pool.submit(int)  # now they begin
    return pool, stop


KINDS: dict[str, Callable[[int], tuple[Any, Any]]] = {"threads": _threads, "processes": _worker_processes}
"""Executors by name, made for so many workers, each with what tells them to stop."""


def _processes() -> BaseContext:
    """How worker processes begin: as copies of this one, unless other threads could be copied in mid-air.

    A copy starts at once and has the problem already; that of a process with threads may wait for ever for a lock that
    one of them held. JAX's threads are not Python's: its presence is enough.
    """
    usual = multiprocessing.get_context()
    if usual.get_start_method() == "fork" and (threading.active_count() > 1 or "jax" in sys.modules):
        return multiprocessing.get_context("forkserver")
    return usual


def _in_service(stop: Any) -> None:
    """Ctrl-C is for the process that collects; its workers end the block they are at, and end if it is killed."""
    global _stop
    _stop = stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    master = multiprocessing.parent_process()

    def watch() -> None:
        if master is not None:
            master.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def end(pool: Any) -> None:
    """Let all workers go; those of a pool that nobody leads wait for ever.

    It did not get all it begins with (too many open files), or a signal's handler ended its beginning.
    """
    leader = getattr(pool, "_executor_manager_thread", pool)
    processes = list((getattr(pool, "_processes", None) or {}).values())
    if leader is None or (isinstance(leader, threading.Thread) and not leader.is_alive()):
        pool.shutdown(wait=not processes, cancel_futures=True)
        for process in processes:
            process.terminate()
            process.join()
        return
    late = threading.Timer(LAST_WORDS, _kill, (processes,))
    late.daemon = True
    with suppress(RuntimeError):  # no thread may be begun: nobody looks after them
        if processes:
            late.start()
    try:
        pool.shutdown(cancel_futures=True)
        late.cancel()
        if processes and late.ident is not None:
            late.join()  # a process with threads is not copied for the next sweep
    except BaseException:  # a second Ctrl-C
        _kill(processes)
        raise


def _kill(processes: list[Any]) -> None:
    """End workers that are stopped, or that a function holds for ever: nobody wants what they are at."""
    for process in processes:
        with suppress(OSError, ValueError):
            if process.is_alive():
                process.kill()


def is_python_ending() -> bool:
    """Whether the main thread has come to its end: Python waits for the others, and no pool takes a task any more."""
    return getattr(threading, "_SHUTTING_DOWN", False) or not threading.main_thread().is_alive()
