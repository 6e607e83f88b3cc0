"""Who works on a sweep: threads, processes, or anything with the interface of concurrent.futures.

A task is a stretch of blocks and the name of the problem. A worker that does not have the problem says so and is sent
it, so that a thousand motions travel once to a worker, not with every task. A worker that dies takes its tasks with it:
they are done again by others.
"""

import pickle
import queue
import threading
import traceback
from collections import Counter, OrderedDict, deque
from collections.abc import Iterable, Iterator
from concurrent import futures
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

from forearm.compiler.fork_locks import fork_safe_lock
from forearm.faults import StateFault, of_somebody_else
from forearm.outside.option_names import option
from forearm.outside.processors import processors
from forearm.outside.running_log import LOG
from forearm.outside.signal_errors import pass_on_signals
from forearm.sweeps.own_workers import KINDS, end, is_over, is_python_ending
from forearm.sweeps.problem import Problem
from forearm.sweeps.task_carriers import (
    TasksInTurn,
    is_own,
    own_name,
    pickled,
    tasks_of,
    unanswered,
    unpickled,
)

MOST_DEATHS = 3
"""How often workers may die on the same blocks, or the pool break without a result in between."""
LOST = ("KilledWorker", "CancelledError", "FutureCancelledError", "FuturesCancelledError")
"""What Dask calls it when a worker has gone with a task."""
MOST_WORKERS = 256
"""Threads or processes that are begun here, or four for each processor: each takes its memory."""
AHEAD = 32
"""Tasks for each worker that wait or run: the way to a scheduler and back takes as long as many short ones."""
_OVER, _NO_WORKERS = "the sweep that this one is a part of is over", "a copy of the process has no workers"


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


_OWN: dict[str, Problem] = {}
"""Problems that somebody in this process waits for; a process that is forked has them too."""
_KNOWN: OrderedDict[str, Problem] = OrderedDict()
"""Problems that were sent to this process, the last two."""
_ENDED: deque[str] = deque(maxlen=64)
"""Problems of this process that nobody waits for any more."""
_LOCK = fork_safe_lock()


def work(stretch: BlockStretch) -> Any:
    """What a worker does: the blocks of a stretch, or None where the problem is not known to it, or is over."""
    problem = _known(stretch)
    if problem is None:
        return None
    total = problem.empty()
    told: Exception | None = None
    for block in range(stretch.first, stretch.end):
        if stretch.name in _ENDED or (is_over() and not is_own(stretch.name)):
            return None
        try:
            problem.take(total, block)
        except BaseException as error:
            if _misunderstood(error):
                told = _in_words(error)
            elif not isinstance(error, Exception) or is_own(stretch.name):
                raise
            else:
                told = _able_to_travel(error)
        if told is not None:
            raise told  # here, where the error that it tells of is not its context: that may be what cannot travel
    return total


def _able_to_travel(error: Exception) -> Exception:
    """An error as it is, or in words where it does not survive being pickled: that would break a pool."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return _in_words(error)
    return error


def _misunderstood(error: BaseException) -> bool:
    """Whether an executor would take a function's error for a worker that has gone, or for the word to go."""
    return isinstance(error, (futures.BrokenExecutor, SystemExit)) or type(error).__name__ in LOST


def _in_words(error: BaseException) -> StateFault:
    told = StateFault(f"sweep: the function raised {type(error).__name__}: {error}")
    told.add_note("".join(traceback.format_exception(error)))
    return told


def _known(stretch: BlockStretch) -> Problem | None:
    if (own := _OWN.get(stretch.name)) is not None:
        return own
    with _LOCK:
        if stretch.name not in _KNOWN and stretch.content is not None:
            problem = unpickled(stretch.content)
            problem.prepare()
            _KNOWN[stretch.name] = problem
            while len(_KNOWN) > 2:
                _KNOWN.popitem(last=False)
        return _KNOWN.get(stretch.name)


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
                "a Dask client."
            )
        if isinstance(self.given, type):
            name = self.given.__name__
            raise StateFault(f"sweep: executor is the class {name}; make one of it: {name}(…).")
        if self.given is not None and not callable(getattr(self.given, "submit", None)):
            raise StateFault(
                f"sweep: executor is {type(self.given).__name__}, which has no submit(); give 'threads', 'processes', "
                "or an executor with the interface of concurrent.futures."
            )
        self.kind, self.problem = kind, problem
        self.tasks = tasks_of(self.given)
        self.workers = workers or self.tasks.size or processors()
        if self.given is None:
            self.workers = min(self.workers, problem.blocks)  # others would have nothing to do
            if self.workers > max(MOST_WORKERS, 4 * processors()):
                raise StateFault(
                    f"sweep: workers is {workers}, and this machine has {processors()} processors; give as many, or "
                    f"up to {max(MOST_WORKERS, 4 * processors())}."
                )
        self.name = own_name()
        self.pool: Any = None
        self.stop: Any = None
        self.content: bytes | None = None
        self.back: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.ahead: Iterator[BlockStretch] = iter(())
        self.waiting: deque[BlockStretch] = deque()
        self.strangers: deque[BlockStretch] = deque()
        self.flying: dict[Any, BlockStretch] = {}
        self.deaths: Counter[int] = Counter()
        self.breaks = 0

    def __enter__(self) -> "Workforce":
        self.problem.prepare()
        _OWN[self.name] = self.problem  # threads have the problem, and so do processes that are forked
        self._hire()
        return self

    def __exit__(self, *_: object) -> None:
        _ENDED.append(self.name)
        if not is_own(self.name):
            return  # a copy of the process whose workers these are: it goes on, and so do they
        if self.stop is not None:
            self.stop.value = 1
        if self.given is None and self.pool is not None:
            end(self.pool)
        _OWN.pop(self.name, None)

    def _hire(self) -> None:
        if self.given is None:
            try:
                self.pool, self.stop = KINDS[self.kind](self.workers)
            except (OSError, ImportError, NotImplementedError, AssertionError, RuntimeError) as reason:
                pass_on_signals()
                if not is_python_ending():
                    raise self._not_begun(reason) from reason
                self.tasks = TasksInTurn(None)
                return
            self.tasks = tasks_of(self.pool)

    def _not_begun(self, reason: Exception) -> StateFault:
        """Processes need shared memory, semaphores, pipes and open files, which not every place has."""
        fewer = f"fewer workers ({option('workers')})"
        instead = f"{option('executor', repr('threads'))}, or {fewer}" if self.kind == "processes" else fewer
        return StateFault(f"sweep: {self.kind} cannot be begun here ({reason}); give {instead}.")

    def results(self, stretches: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int, Any]]:
        """What stretches of blocks gave, in the order in which they come back; they are asked for as work goes on."""
        self.ahead = (BlockStretch(self.name, *pair) for pair in stretches)
        most = self.workers  # until one of them has given something
        try:
            while True:
                if is_over() or not is_own(self.name):
                    raise StateFault(f"sweep: {_OVER if is_over() else _NO_WORKERS}.")
                self.waiting.extend(islice(self.ahead, max(0, most - len(self.waiting))))
                if not (self.waiting or self.strangers or self.flying):
                    break
                self._send_some(1 if isinstance(self.tasks, TasksInTurn) else most)
                done = self._done()
                for future, (error, found) in zip(done, self.tasks.outcomes(done), strict=True):
                    if future not in self.flying:
                        continue  # of a pool that broke
                    stretch = self.flying.pop(future)
                    if error is not None:
                        self._went_wrong(stretch, error)
                    elif found is None:
                        self.strangers.append(unanswered(stretch, self._samples(stretch)))
                    else:
                        self.breaks, most = 0, AHEAD * self.workers
                        yield stretch.first, stretch.end, found
        finally:
            self.tasks.cancel(list(self.flying) if is_own(self.name) else [])

    def _done(self) -> list[Any]:
        """Tasks that are done: one at least, and all that are there."""
        found: list[Any] = []
        while not found:
            headless = self._headless()
            with suppress(queue.Empty):
                found.append(self.back.get(timeout=1.0))
            if headless and not found:
                raise self._not_begun(RuntimeError("the thread that gives workers their tasks has ended"))
        while not self.back.empty():
            found.append(self.back.get())
        return [future for future in found if future in self.flying]

    def _headless(self) -> bool:
        """Whether nobody gives the workers their tasks: that thread could not begin another one that it needs."""
        leader = getattr(self.pool, "_executor_manager_thread", None)
        return isinstance(leader, threading.Thread) and not leader.is_alive()

    def _send_some(self, most: int) -> None:
        """Send what waits, and the problem with what came back from workers that did not have it, to few at a time."""
        carried = sum(s.content is not None for s in self.flying.values()) if self.strangers else 0
        few = [self.strangers.popleft() for _ in range(min(len(self.strangers), self.workers - carried))]
        tasks = [stretch._replace(content=self._content()) for stretch in few]
        room = most - len(self.flying) - len(self.strangers) - len(tasks)
        if room >= most // 4:  # some at once
            tasks += [self.waiting.popleft() for _ in range(min(len(self.waiting), room))]
        if not tasks:
            return
        try:
            for future, stretch in zip(self.tasks.send(work, tasks), tasks, strict=True):
                self.flying[future] = stretch
                future.add_done_callback(self.back.put)
        except Exception as reason:
            pass_on_signals()
            if self.given is None and is_python_ending():
                self._go_on_alone(tasks)
                return
            if self.given is None:
                raise self._not_begun(reason) from reason
            told = f"sweep: the executor refused a task ({reason}); what is done is in the journal, if there is one"
            raise StateFault(f"{told}: start again with an executor that works.") from reason

    def _go_on_alone(self, tasks: list[BlockStretch]) -> None:
        """What was not sent is done in this thread, which Python waits for: nobody else begins anything any more."""
        sent = set(self.flying.values())
        self.waiting.extendleft(task for task in reversed(tasks) if task not in sent)
        self.tasks = TasksInTurn(None)
        self._send_some(1)

    def _went_wrong(self, stretch: BlockStretch, error: BaseException) -> None:
        """A task failed: send it again if its worker is to blame, and say so otherwise."""
        if isinstance(error, futures.BrokenExecutor):
            self.breaks += 1
            self.waiting.extendleft([stretch, *self.flying.values()])
            self.flying.clear()
            self._hire_again(error)
        elif type(error).__name__ in LOST:
            self.deaths[stretch.first] += 1
            self._give_up_after(self.deaths[stretch.first], stretch)
            self.waiting.appendleft(stretch)
        else:
            error.add_note(f"in {self._samples(stretch)}")
            raise of_somebody_else(error) if callable(self.problem.what) else error

    def _content(self) -> bytes:
        if self.content is None:
            self.content = pickled(self.problem, elsewhere=self.given is not None)
        return self.content

    def _hire_again(self, error: BaseException) -> None:
        if self.given is not None:
            raise StateFault(
                f"sweep: the executor broke ({error}); what is done is in the journal, if there is one: start again "
                "with a new executor."
            ) from error
        LOG.warning("a worker died; its blocks are computed again by others")
        if self.breaks > MOST_DEATHS:
            raise StateFault(
                f"sweep: workers died {self.breaks} times without a result in between ({error}); is there enough "
                "memory? Fewer workers= need less."
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
        first, end = (number * self.problem.block for number in (stretch.first, stretch.end))
        return f"samples {first} to {min(end, self.problem.samples) - 1} of a sweep"
