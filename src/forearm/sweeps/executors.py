"""Who works on a sweep: threads, processes, or anything with the interface of concurrent.futures.

A task is a stretch of blocks and the name of the problem. A worker that does not have the problem says so and is sent
it, so that a thousand motions travel once to a worker, not with every task. A worker that dies takes its tasks with it:
they are done again by others.
"""

import multiprocessing
import os
import pickle
import queue
import signal
import sys
import threading
import warnings
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator
from concurrent import futures
from multiprocessing.context import BaseContext
from multiprocessing.sharedctypes import RawValue
from typing import Any, NamedTuple

from forearm.faults import StateFault
from forearm.outside.running_log import LOG
from forearm.sweeps.problem import Problem

MOST_DEATHS = 3
"""How often workers may die on the same blocks, or the pool break without a result in between."""
LOST = ("KilledWorker", "CancelledError", "FutureCancelledError", "FuturesCancelledError")
"""What Dask calls it when a worker has gone with a task."""
AHEAD = 3
"""Tasks for each worker that wait or run."""


class BlockStretch(NamedTuple):
    """What a worker is sent."""

    name: str
    """Of the problem."""
    first: int
    """First block."""
    end: int
    """The block after the last."""
    content: bytes | None = None
    """The problem, where the worker does not have it."""


_KNOWN: OrderedDict[str, Problem] = OrderedDict()
_ENDED: deque[str] = deque(maxlen=64)
"""Problems of this process that nobody waits for any more."""
_LOCK = threading.Lock()
_stop: Any = None
"""In a worker process: its value is 1 when the sweep is over. Memory alone, because a killed worker keeps a lock."""


def work(stretch: BlockStretch) -> Any:
    """What a worker does: the blocks of a stretch, or None where the problem is not known to it, or is over."""
    problem = _known(stretch)
    if problem is None:
        return None
    total = problem.empty()
    for block in range(stretch.first, stretch.end):
        if stretch.name in _ENDED or (_stop is not None and _stop.value):
            return None
        problem.take(total, block)
    return total


def _known(stretch: BlockStretch) -> Problem | None:
    with _LOCK:
        if stretch.name not in _KNOWN and stretch.content is not None:
            remember(stretch.name, pickle.loads(stretch.content))
        return _KNOWN.get(stretch.name)


def remember(name: str, problem: Problem) -> None:
    """Make a problem known in this process, ready to be worked on."""
    problem.prepare()
    _KNOWN[name] = problem
    while len(_KNOWN) > 2:
        _KNOWN.popitem(last=False)


def pickled(problem: Problem) -> bytes:
    """The problem as it travels."""
    try:
        return pickle.dumps(problem, protocol=5)
    except Exception as reason:  # lambdas, functions inside functions
        try:
            import cloudpickle  # type: ignore[import-untyped]
        except ImportError:
            raise StateFault(
                f"sweep: the function or its values cannot be sent to other processes ({reason}); define the function "
                "in a module, install cloudpickle, or give executor='threads'."
            ) from None
        return bytes(cloudpickle.dumps(problem, protocol=5))


def processors() -> int:
    """How many this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def _threads(workers: int) -> tuple[Any, Any]:
    return futures.ThreadPoolExecutor(workers), None


def _worker_processes(workers: int) -> tuple[Any, Any]:
    context = _processes()
    stop = RawValue("b", 0)
    return futures.ProcessPoolExecutor(workers, context, initializer=_in_service, initargs=(stop,)), stop


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


class Workforce:
    """An executor, its tasks on their way, and what comes back."""

    def __init__(self, problem: Problem, executor: Any, workers: int | None, by_function: bool) -> None:
        """Find out who works; nobody is asked yet.

        Args:
            problem: What they work on.
            executor: 'threads', 'processes', something with `submit`, or None for what suits the problem.
            workers: How many; None for one on each processor, or what the executor has.
            by_function: Whether Python's own work is most of it.
        """
        kind = ("processes" if by_function else "threads") if executor is None else executor
        self.given = None if isinstance(kind, str) else kind
        if isinstance(kind, str) and kind not in KINDS:
            raise StateFault(
                f"sweep: executor is {kind!r}; give {', '.join(map(repr, KINDS))}, or an executor such as "
                "client.get_executor() of Dask."
            )
        if self.given is not None and not callable(getattr(self.given, "submit", None)):
            raise StateFault(
                f"sweep: executor is {type(self.given).__name__}, which has no submit(); give 'threads', 'processes', "
                "or an executor with the interface of concurrent.futures."
            )
        self.kind, self.problem = kind, problem
        self.workers = workers or getattr(self.given, "_max_workers", None) or processors()
        self.name = os.urandom(16).hex()
        self.pool: Any = None
        self.stop: Any = None
        self.content: bytes | None = None
        self.back: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def __enter__(self) -> "Workforce":
        with _LOCK:  # threads have the problem, and so do processes that are forked
            remember(self.name, self.problem)
        self._hire()
        return self

    def __exit__(self, *_: object) -> None:
        _ENDED.append(self.name)
        if self.stop is not None:
            self.stop.value = 1
        if self.given is None and self.pool is not None:
            self.pool.shutdown(wait=True, cancel_futures=True)
        with _LOCK:
            _KNOWN.pop(self.name, None)

    def _hire(self) -> None:
        self.pool, self.stop = KINDS[self.kind](self.workers) if self.given is None else (self.given, None)

    def results(self, stretches: list[tuple[int, int]]) -> Iterator[tuple[int, int, Any]]:
        """What stretches of blocks gave, in the order in which they come back."""
        waiting = deque(BlockStretch(self.name, *pair) for pair in stretches)
        flying: dict[Any, BlockStretch] = {}
        deaths: Counter[int] = Counter()
        breaks = 0
        try:
            while waiting or flying:
                while waiting and len(flying) < AHEAD * self.workers:
                    stretch = waiting.popleft()
                    flying[self._submitted(stretch)] = stretch
                future = self.back.get()
                if future not in flying:
                    continue  # of a pool that broke
                stretch = flying.pop(future)
                error = _error_of(future)
                if error is None:
                    found = future.result()
                    if found is None:
                        waiting.appendleft(stretch._replace(content=self._content()))
                        continue
                    breaks = 0
                    yield stretch.first, stretch.end, found
                elif isinstance(error, futures.BrokenExecutor):
                    breaks += 1
                    waiting.extendleft([stretch, *flying.values()])
                    flying.clear()
                    self._hire_again(error, breaks)
                elif type(error).__name__ in LOST:
                    deaths[stretch.first] += 1
                    self._give_up_after(deaths[stretch.first], stretch)
                    waiting.appendleft(stretch)
                else:
                    error.add_note(f"in {self._samples(stretch)}")
                    raise error
        finally:
            for future in flying:
                future.cancel()

    def _submitted(self, stretch: BlockStretch) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings(
                    "ignore", message="Sending large graph"
                )  # once to each worker, as meant
                future = self.pool.submit(work, stretch)
        except futures.BrokenExecutor as error:
            future = futures.Future[Any]()
            future.set_exception(error)
        except Exception as reason:
            raise StateFault(
                f"sweep: the executor refused a task ({reason}); what is done is in the journal, if there is one: "
                "start again with an executor that works."
            ) from reason
        future.add_done_callback(self.back.put)
        return future

    def _content(self) -> bytes:
        if self.content is None:
            self.content = pickled(self.problem)
        return self.content

    def _hire_again(self, error: BaseException, breaks: int) -> None:
        if self.given is not None:
            raise StateFault(
                f"sweep: the executor broke ({error}); what is done is in the journal, if there is one: start again "
                "with a new executor."
            ) from error
        LOG.warning("a worker died; its blocks are computed again by others")
        if breaks > MOST_DEATHS:
            raise StateFault(
                f"sweep: workers died {breaks} times without a result in between ({error}); is there enough memory? "
                "Fewer workers= need less."
            ) from error
        self.pool.shutdown(wait=False, cancel_futures=True)
        self._hire()

    def _give_up_after(self, times: int, stretch: BlockStretch) -> None:
        LOG.warning("a worker died with %s; they are computed again", self._samples(stretch))
        if times > MOST_DEATHS:
            raise StateFault(
                f"sweep: {times} workers died on {self._samples(stretch)}; is there enough memory?"
            )

    def _samples(self, stretch: BlockStretch) -> str:
        block = self.problem.block
        return f"samples {stretch.first * block} to {min(stretch.end * block, self.problem.samples) - 1} of a sweep"


def _error_of(future: Any) -> BaseException | None:
    try:
        error: BaseException | None = future.exception()
        return error
    except futures.CancelledError as cancelled:
        return cancelled
