"""Several sweeps in one process, and a process that is copied in the middle of one."""

import asyncio
import multiprocessing
import pickle
import subprocess
import sys
import threading
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import numpy as np
import pytest

import forearm as fa
from forearm.compiler import fork_locks
from forearm.outside.option_names import of_the_shell
from forearm.sweeps import executors, own_workers
from forearm.sweeps import problem as problems
from sweeps import questions


def test_many_sweeps_at_once_in_threads_keep_their_own_functions(monkeypatch):
    monkeypatch.setattr(problems, "BLOCK_SAMPLES", 64)
    monkeypatch.setitem(sys.modules, "cloudpickle", None)  # what a thread has need not travel
    found, all_are_here = {}, threading.Barrier(4)

    def one(k):
        def multiple(values):
            return k * values["x"]

        try:
            found[k] = fa.sweep(
                multiple,
                {"x": fa.Uniform(0, 1)},
                samples=1000,
                executor="threads",
                workers=1,
                progress=lambda done, of: done <= 64 and all_are_here.wait(20),
            ).greatest
        except Exception as error:
            found[k] = error

    crowd = [threading.Thread(target=one, args=(k,)) for k in range(1, 5)]
    for thread in crowd:
        thread.start()
    for thread in crowd:
        thread.join()
    assert {k: found[k] / k for k in found} == dict.fromkeys(range(1, 5), found[1])


COPIED = """
import multiprocessing, threading
import forearm as fa
from forearm.sweeps import executors, own_workers

fork, held, over = multiprocessing.get_context("fork"), threading.Event(), threading.Event()


def unpacking():
    with executors._LOCK:
        held.set()
        over.wait(30)


def sweep_in_a_copy():
    assert executors._known(executors.BlockStretch("none", 0, 1)) is None
    fa.sweep("gravity_torque", {"q": [[0.1, 0.2]]}, arm=fa.load("rr"), executor="threads")


thread = threading.Thread(target=unpacking)
thread.start()
held.wait()
child = fork.Process(target=sweep_in_a_copy)
child.start()
child.join(20)
over.set()
thread.join()
child.kill()
print("exit code", child.exitcode)
"""


def test_a_process_copied_while_another_thread_unpacks_a_sweep_is_not_stuck():
    """In a process of its own: where other tests have loaded JAX, a copy would have its threads' locks as well."""
    done = subprocess.run([sys.executable, "-c", COPIED], capture_output=True, text=True, timeout=60)
    assert done.stdout == "exit code 0\n", done.stderr


SHORT_OF_FILES = """
import resource, sys
import forearm as fa


arm = fa.load("rr")
least = len(__import__("os").listdir("/proc/self/fd"))
resource.setrlimit(resource.RLIMIT_NOFILE, (least + int(sys.argv[1]), least + int(sys.argv[1])))
try:
    fa.sweep("gravity_torque", {"q": [[0.1, 0.2]]}, arm=arm, samples=100, executor="processes", workers=4)
except (fa.StateFault, OSError) as fault:
    print(fault)
"""


@pytest.mark.parametrize("spare", [9, 11, 13])
def test_too_few_open_files_for_all_workers_do_not_hang_the_process_at_its_end(spare):
    root = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", SHORT_OF_FILES, str(spare)],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=root,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    if done.stdout:  # the system's words alone named no way on
        assert "processes cannot be begun here" in done.stdout
        assert "executor='threads'" in done.stdout


def triple(values):
    return 3 * values["x"]


def test_a_sweep_of_more_samples_than_anybody_computes_begins_at_once():
    class Enough(Exception):
        pass

    def stop(done, of):
        raise Enough

    with pytest.raises(Enough):  # a list of all its tasks took all the memory
        fa.sweep(triple, {"x": fa.Uniform(0, 1)}, samples=2**61, executor="threads", workers=1, progress=stop)


def test_no_more_workers_begin_than_there_is_work_for(monkeypatch):
    begun = []
    monkeypatch.setitem(
        executors.KINDS,
        "threads",
        lambda workers, make=own_workers._threads: begun.append(workers) or make(workers),
    )
    over = {"x": fa.Uniform(0, 1)}
    fa.sweep(triple, over, samples=10, executor="threads", workers=5000)
    assert begun == [10]
    with pytest.raises(
        fa.StateFault, match=r"workers is 5000, and this machine has \d+ processors; give as many"
    ):
        fa.sweep(triple, over, samples=2**61, executor="threads", workers=5000)


def test_ctrl_c_right_after_a_fork_leaves_no_lock_held(monkeypatch):
    """Python drops what is raised while a fork is set up, and the rest of the locks stayed as they were."""
    calls, free = [], fork_locks._free_all

    def torn():
        calls.append(None)
        if len(calls) == 1:
            raise KeyboardInterrupt
        free()

    monkeypatch.setattr(fork_locks, "_free_all", torn)
    fork_locks.free_all()
    assert len(calls) == 2


@pytest.mark.parametrize("executor", ["processes", "threads"])
def test_an_error_that_cannot_be_unpickled_was_told_as_a_want_of_memory(executor):
    over = {"x": [float(x) for x in range(8)]}
    kind = questions.Picky if executor == "threads" else fa.StateFault
    with pytest.raises(kind, match=r"x is 7\.0") as told:
        fa.sweep(questions.picky, over, executor=executor, workers=2)
    if executor == "processes":
        assert str(told.value) == "sweep: the function raised Picky: x is 7.0"
        assert "in picky" in "".join(told.value.__notes__)
        assert "in samples 7 to 7 of a sweep" in told.value.__notes__


def test_places_without_semaphores_are_told_of_threads(monkeypatch):
    def nowhere(workers):
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setitem(executors.KINDS, "processes", nowhere)
    told = "cannot be begun here .* give --executor threads, or fewer"
    with pytest.raises(fa.StateFault, match=told), of_the_shell():
        fa.sweep(triple, {"x": [1.0, 2.0]}, executor="processes")


@pytest.mark.parametrize("threads", [0, 1], ids=["fork", "forkserver"])
def test_a_worker_that_may_have_no_workers_was_told_of_an_executor_that_refuses(threads, monkeypatch):
    """Those of multiprocessing.Pool are such; the error was Python's own, or blamed an executor that nobody gave."""
    monkeypatch.setitem(multiprocessing.current_process()._config, "daemon", True)
    waiting = threading.Event()
    others = [threading.Thread(target=waiting.wait) for _ in range(threads)]
    for other in others:
        other.start()
    try:
        with pytest.raises(fa.StateFault, match=r"cannot be begun here .* give executor='threads', or fewer"):
            fa.sweep(triple, {"x": [1.0, 2.0]}, executor="processes")
    finally:
        waiting.set()


def test_a_limit_of_threads_was_told_as_an_executor_that_refuses(monkeypatch):
    def none(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", none)
    with pytest.raises(fa.StateFault, match=r"threads cannot be begun here .* give fewer workers"):
        fa.sweep(triple, {"x": [1.0, 2.0]}, executor="threads")


@pytest.mark.parametrize("kind", [CancelledError, asyncio.CancelledError, BrokenProcessPool, SystemExit])
@pytest.mark.parametrize("executor", ["threads", ThreadPoolExecutor])
def test_an_error_of_the_function_was_taken_for_a_worker_that_died(kind, executor):
    def gone(values):
        if values["x"].max() > 5:
            raise kind("of its own")
        return values["x"]

    executor = executor if isinstance(executor, str) else executor(2)
    with pytest.raises(fa.StateFault, match=f"the function raised {kind.__name__}: of its own"):
        fa.sweep(gone, {"x": [float(x) for x in range(8)]}, executor=executor, workers=2)


class FarAway:
    """An executor whose errors arrive without their frames, as from another process."""

    def submit(self, function, task):
        future = Future()
        try:
            future.set_result(function(task))
        except Exception as error:
            future.set_exception(pickle.loads(pickle.dumps(error)))
        return future


def test_an_error_from_another_process_was_blamed_on_the_executor():
    with pytest.raises(KeyError, match="mass of the gripper") as told:
        fa.sweep(questions.forgetful, {"x": [1.0, 7.0]}, executor=FarAway(), workers=1)
    assert told.value.__notes__ == ["in samples 1 to 1 of a sweep"]


def test_what_tells_of_an_error_that_cannot_travel_does_not_carry_it(monkeypatch):
    found = problems.Problem(questions.picky, None, {}, (), {}, 8, 0, (), ("result", ()))
    monkeypatch.setattr(found, "take", lambda total, block: questions.picky({"x": np.array([7.0])}))
    monkeypatch.setitem(executors._OWN, "another-process", found)
    with pytest.raises(fa.StateFault, match="the function raised Picky") as told:
        executors.work(executors.BlockStretch("another-process", 0, 1))
    assert told.value.__context__ is None


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_sweep_waited_for_ever_where_one_thread_more_could_not_be_begun(monkeypatch):
    """Under `ulimit -u` the thread that gives workers their tasks ended, and with it every answer."""

    def refused(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(multiprocessing.queues.Queue, "_start_thread", refused)
    over = {"q": fa.Uniform([-1.0, -1.0], [1.0, 1.0])}
    before = set(multiprocessing.active_children())
    with pytest.raises(fa.StateFault, match=r"processes cannot be begun here|workers died"):
        fa.sweep("gravity_torque", over, arm=fa.load("rr"), samples=100, executor="processes", workers=1)
    assert set(multiprocessing.active_children()) <= before


LATE = """
import sys, threading, time
import forearm as fa
from forearm.sweeps import problem

problem.BLOCK_STATES = problem.BLOCK_SAMPLES = 100
begun = threading.Event()


def tell(done, of):
    if not begun.is_set():
        begun.set()
        time.sleep(0.5)


def work():
    over = {"q": fa.Uniform([-1.0, -1.0], [1.0, 1.0])}
    kept = {"samples": 20_000, "executor": sys.argv[1], "workers": 2, "progress": tell}
    print(fa.sweep("gravity_torque", over, arm=fa.load("rr"), **kept).greatest.shape)


if __name__ == "__main__":
    threading.Thread(target=work).start()
    begun.wait(60)
"""


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_a_sweep_in_a_thread_was_lost_when_the_main_thread_came_to_its_end(executor):
    """Python waits for that thread, but no pool takes a task any more."""
    done = subprocess.run([sys.executable, "-c", LATE, executor], capture_output=True, text=True, timeout=60)
    assert done.stdout == "(2,)\n", done.stderr


STUCK = """
import signal
import forearm as fa
from forearm.sweeps import own_workers
from sweeps import questions

own_workers.LAST_WORDS = 1.0
if __name__ == "__main__":
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.alarm(3)
    try:
        fa.sweep(questions.stopped, {"x": fa.Uniform(0, 1)}, samples=1000, executor="processes", workers=2)
    except KeyboardInterrupt:
        print("interrupted")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_waited_for_ever_for_a_worker_that_was_stopped():
    root = Path(__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", STUCK], capture_output=True, text=True, timeout=40, cwd=root)
    assert done.stdout == "interrupted\n", done.stderr
