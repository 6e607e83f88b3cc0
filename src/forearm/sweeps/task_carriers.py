"""How tasks get to an executor, and what came of them: one by one, or many at once where it can.

Dask's own executor sends every task as a graph of its own and fetches every result by itself, which costs Dask several
times as much as the same tasks sent together. So of Dask the client is used, which each of its executors has.
"""

import os
import warnings
from collections.abc import Callable, Iterator
from concurrent import futures
from typing import Any

from forearm.faults import StateFault
from forearm.outside.signal_errors import pass_on_signals
from forearm.outside.whole_process.shared_changes import SharedChange

Outcome = tuple[BaseException | None, Any]
"""What went wrong, or None; and what came back."""


def own_name() -> str:
    """A new name for a problem of this process."""
    return f"{os.getpid()}-{os.urandom(16).hex()}"


def is_own(name: str) -> bool:
    """Whether a problem is this process's, and not that of the one that it was sent from or is a copy of."""
    return name.startswith(f"{os.getpid()}-")


def _ignore(_: Any) -> None:
    warnings.filterwarnings("ignore", message="Sending large graph")  # once to each worker, as meant


def _filter_again(before: list[Any]) -> None:
    warnings.filters[:] = before  # type: ignore[index]


NO_WARNING = SharedChange(lambda: list(warnings.filters), _ignore, _filter_again)
"""Within this Dask does not warn of the length of what it sends."""


class ExecutorTasks:
    """Tasks of anything with the interface of concurrent.futures."""

    def __init__(self, executor: Any) -> None:
        """Tasks of an executor."""
        self.executor = executor

    @property
    def size(self) -> int | None:
        """How many work for it, where that is known."""
        return getattr(self.executor, "_max_workers", None)

    def send(self, function: Callable[[Any], Any], tasks: list[Any]) -> Iterator[Any]:
        """Send tasks; their futures."""
        for task in tasks:
            try:
                yield self.executor.submit(function, task)
            except futures.BrokenExecutor as error:
                broken = futures.Future[Any]()
                broken.set_exception(error)
                yield broken

    def outcomes(self, done: list[Any]) -> list[Outcome]:
        """What came of tasks that are done."""
        return [_outcome(future) for future in done]

    def cancel(self, flying: list[Any]) -> None:
        """Nobody waits for these any more."""
        for future in flying:
            future.cancel()


class DaskTasks(ExecutorTasks):
    """Tasks of a Dask client."""

    def __init__(self, executor: Any, client: Any) -> None:
        """Tasks of a client, or of an executor that has it."""
        super().__init__(executor)
        self.client = client

    @property
    def size(self) -> int | None:
        """Threads of its workers now."""
        try:
            return sum(self.client.nthreads().values())
        except Exception:  # closed: sending says so
            pass_on_signals()
            return None

    def send(self, function: Callable[[Any], Any], tasks: list[Any]) -> Iterator[Any]:
        """Send tasks in one graph, as the executor would send each."""
        options = {"pure": False}
        if self.executor is not self.client:
            if getattr(self.executor, "_shutdown", False):
                raise RuntimeError("cannot schedule new futures after shutdown")
            options |= getattr(self.executor, "_kwargs", {})
        with NO_WARNING.inside():
            yield from self.client.map(function, tasks, **options)

    def outcomes(self, done: list[Any]) -> list[Outcome]:
        """What came of tasks that are done, fetched together unless something went wrong."""
        if all(future.status == "finished" for future in done):
            try:
                return [(None, result) for result in self.client.gather(done)]
            except Exception:  # of one of them: found out below
                pass_on_signals()
        return [_outcome(future) for future in done]

    def cancel(self, flying: list[Any]) -> None:
        """Nobody waits for these any more."""
        if flying:
            self.client.cancel(flying)


def _outcome(future: Any) -> Outcome:
    try:
        error = future.exception()
        return error, None if error is not None else future.result()
    except Exception as reason:  # cancelled, or lost on the way
        pass_on_signals()
        return reason, None


def unanswered(task: Any, samples: str) -> Any:
    """A task that nothing came of, because who had it did not know the problem; refuse one that had it in it."""
    if task.content is not None:  # it would be asked for ever
        raise StateFault(
            f"sweep: the executor gave nothing for {samples}; give one whose submit(function, x) gives a future of "
            "what function(x) returns."
        )
    return task


def tasks_of(executor: Any) -> ExecutorTasks:
    """How tasks get to this executor."""
    for client in (executor, getattr(executor, "_client", None)):
        if all(callable(getattr(client, name, None)) for name in ("map", "gather", "cancel", "nthreads")):
            return DaskTasks(executor, client)
    return ExecutorTasks(executor)
