"""How tasks get to an executor, and what came of them: one by one, or many at once where it can.

Dask's own executor sends every task as a graph of its own and fetches every result by itself, which costs Dask several
times as much as the same tasks sent together. So of Dask the client is used, which each of its executors has.
"""

import os
import pickle
import sys
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


def pickled(problem: Any, *, elsewhere: bool = False) -> bytes:
    """The problem as it travels.

    What the main module defines goes by its name only to workers that read that module's file themselves. Those of a
    notebook have none to read, and those of another machine another one: it goes with its code,
    where there is cloudpickle.

    Args:
        problem: The problem.
        elsewhere: Whether who works was begun by somebody else, and may have another main module.
    """
    by_name, why = b"", None
    try:
        by_name = pickle.dumps(problem, protocol=5)
    except Exception as reason:  # lambdas, functions inside functions
        why = reason
    if by_name and (b"__main__" not in by_name or not (elsewhere or _is_main_in_no_file())):
        return by_name
    try:
        import cloudpickle  # type: ignore[import-untyped]

        return bytes(cloudpickle.dumps(problem, protocol=5))
    except ImportError:
        if why is not None:
            raise StateFault(
                f"sweep: the function or its values cannot be sent to other processes ({why}); {DEFINED}"
            ) from None
    except Exception:
        pass_on_signals()
        if why is not None:
            raise
    return by_name


DEFINED = "define the function in a module, install cloudpickle, or give executor='threads'."
"""What to do about functions that do not travel."""


def _is_main_in_no_file() -> bool:
    """Whether worker processes of our own find no main module to read: in a notebook, of `python -c`."""
    main = sys.modules.get("__main__")
    return getattr(main, "__spec__", None) is None and getattr(main, "__file__", None) is None


def unpickled(content: bytes) -> Any:
    """The problem, where it has come to."""
    try:
        return pickle.loads(content)
    except (AttributeError, ImportError) as reason:
        raise StateFault(
            f"sweep: a worker does not have what the function or its values are defined in ({reason}); {DEFINED}"
        ) from None


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


class TasksInTurn(ExecutorTasks):
    """Tasks that are done where they are asked for, where nobody else can be asked any more."""

    def send(self, function: Callable[[Any], Any], tasks: list[Any]) -> Iterator[Any]:
        """Do tasks, one after the other; their futures."""
        for task in tasks:
            future = futures.Future[Any]()
            try:
                future.set_result(function(task))
            except Exception as error:
                future.set_exception(error)
            yield future


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
