"""Tasks on their way to executors: many at once to Dask, the problem to few workers at a time."""

import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from types import SimpleNamespace

import pytest

import forearm as fa
from forearm.sweeps import problem as problems
from forearm.sweeps.sweep_run import _problem
from forearm.sweeps.task_carriers import pickled, unpickled
from sweeps import questions

OVER = {"x": fa.Uniform(0, 1), "y": [1.0, 2.0, 5.0]}


@pytest.fixture
def want(monkeypatch):
    monkeypatch.setattr(problems, "BLOCK_SAMPLES", 64)
    return fa.sweep(questions.squares, OVER, samples=3000, executor="threads", workers=1)._total


class Strangers(ThreadPoolExecutor):
    """Workers that do not have the problem until it is sent to each of them."""

    def __init__(self, workers):
        super().__init__(workers)
        self.own, self.lock, self.carried, self.tasks = threading.local(), threading.Lock(), 0, 0

    def submit(self, function, stretch):
        with self.lock:
            self.tasks += 1
            self.carried += stretch.content is not None

        def met():
            time.sleep(
                0.005
            )  # so that every worker gets some, and one that has not heard of the problem not most
            if stretch.content is None and not hasattr(self.own, "known"):
                return None
            self.own.known = True
            return function(stretch._replace(content=None))

        return super().submit(met)


def test_a_problem_travels_to_workers_not_with_tasks(want):
    with Strangers(4) as pool:
        found = fa.sweep(questions.squares, OVER, samples=3000, executor=pool)
    assert found._total == want
    assert pool.tasks > 40
    assert pool.carried <= 24  # for 4 workers, each of which may have been passed over a few times


class DaskFuture(Future):
    @property
    def status(self):
        return "pending" if not self.done() else "error" if self.exception() else "finished"


class DaskClient:
    """The part of Dask's client that is used; its second fetching fails, and one result with it."""

    def __init__(self):
        self.pool, self.maps, self.gathers, self.cancelled = ThreadPoolExecutor(2), [], 0, []

    async def _shutdown(self):
        """There as well, as something else."""

    def nthreads(self):
        return {"tcp://one": 1, "tcp://two": 1}

    def submit(self, *_):
        raise AssertionError("one by one")

    def map(self, function, tasks, *, pure):
        assert not pure  # two tasks alike are two tasks
        self.maps.append(len(tasks))
        return [self._flying(function, task) for task in tasks]

    def _flying(self, function, task):
        future = DaskFuture()

        def run():
            try:
                future.set_result(function(task))
            except Exception as error:
                future.set_exception(error)

        self.pool.submit(run)
        return future

    def gather(self, futures):
        self.gathers += 1
        if self.gathers == 2:
            raise OSError("the worker went with its results")
        return [future.result() for future in futures]

    def cancel(self, futures):
        self.cancelled += futures


class DaskExecutor:
    def __init__(self, client):
        self._client, self._kwargs, self._shutdown = client, {}, False

    def submit(self, *_):
        raise AssertionError("one by one")


@pytest.mark.parametrize("wrapped", [True, False])
def test_dask_is_sent_many_tasks_at_once(want, wrapped):
    client = DaskClient()
    found = fa.sweep(
        questions.squares, OVER, samples=3000, executor=DaskExecutor(client) if wrapped else client
    )
    assert found._total == want
    assert client.maps[0] == 2  # as many as there are workers, until one has answered
    assert max(client.maps) >= 8
    assert not client.cancelled


def test_a_shut_executor_of_dask_refuses():
    executor = DaskExecutor(DaskClient())
    executor._shutdown = True
    with pytest.raises(fa.StateFault, match="cannot schedule new futures after shutdown"):
        fa.sweep(questions.squares, OVER, samples=30, executor=executor)


def test_a_closed_client_of_dask_refuses():
    class Closed(DaskClient):
        def nthreads(self):
            raise RuntimeError("closed")

        def map(self, *_, **__):
            raise RuntimeError("closed")

    with pytest.raises(fa.StateFault, match="the executor refused a task"):
        fa.sweep(questions.squares, OVER, samples=30, executor=Closed())


def test_what_is_on_its_way_when_a_task_fails_is_cancelled(monkeypatch):
    monkeypatch.setattr(problems, "BLOCK_SAMPLES", 64)
    client = DaskClient()
    client.pool = ThreadPoolExecutor(1)
    with pytest.raises(ZeroDivisionError) as told:
        fa.sweep(questions.failing, OVER, samples=3000, executor=client)
    assert "of a sweep" in told.value.__notes__[0]
    assert client.cancelled


def test_an_executor_whose_tasks_give_nothing_was_asked_for_ever():
    class Silent:
        def submit(self, function, task):
            done = Future()
            done.set_result(None)
            return done

    with pytest.raises(
        fa.StateFault, match=r"the executor gave nothing for samples 0 to \d of a sweep; give one whose"
    ):
        fa.sweep(questions.positive, {"x": [1.0, 2.0, 3.0, 4.0]}, executor=Silent())


@pytest.fixture
def of_the_main_module(monkeypatch):
    """A question whose function the main module defines."""

    def double(values):
        return 2 * values["x"]

    double.__module__, double.__qualname__ = "__main__", "double"
    monkeypatch.setattr(sys.modules["__main__"], "double", double, raising=False)
    return _problem(double, {"x": [1.0, 2.0]}, None, 1, "extremes", 0, None)


def test_a_function_of_a_notebook_was_sent_by_a_name_that_its_workers_do_not_have(
    of_the_main_module, monkeypatch
):
    with_its_code = SimpleNamespace(dumps=lambda problem, protocol: b"with its code")
    monkeypatch.setitem(sys.modules, "cloudpickle", with_its_code)
    assert pickled(of_the_main_module, elsewhere=True) == b"with its code"
    monkeypatch.setattr(sys.modules["__main__"], "__file__", "script.py", raising=False)
    assert b"__main__" in pickled(of_the_main_module)  # its workers read the script
    monkeypatch.delattr(sys.modules["__main__"], "__file__")
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", None)
    assert pickled(of_the_main_module) == b"with its code"


def test_a_worker_without_the_functions_module_was_an_error_of_pickle(of_the_main_module, monkeypatch):
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    content = pickled(of_the_main_module, elsewhere=True)
    monkeypatch.delattr(sys.modules["__main__"], "double")
    with pytest.raises(
        fa.StateFault, match=r"a worker does not have .*double.*; define the function in a module"
    ):
        unpickled(content)
