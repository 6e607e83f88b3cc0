"""What the whole process shares is changed for a while by several threads, and is then as it was."""

import contextlib
import gc
import os
import random
import signal
import subprocess
import sys
import threading
import warnings

import pytest

from forearm.outside.whole_process.environment import SAFE_PATH, VARIABLE
from forearm.outside.whole_process.shared_changes import SharedChange


@pytest.mark.parametrize("before", [None, "", "1"])
def test_sweeps_at_once_left_a_variable_behind_that_kept_scripts_from_their_modules(before, monkeypatch):
    """The first to leave restored what had been, the last what the first had changed: `1`, for good."""
    if before is None:
        monkeypatch.delenv(VARIABLE, raising=False)
    else:
        monkeypatch.setenv(VARIABLE, before)
    entered, leave = threading.Barrier(2, timeout=30), threading.Event()

    def second() -> None:
        with SAFE_PATH.inside():
            entered.wait()
            assert leave.wait(30)

    other = threading.Thread(target=second)
    with SAFE_PATH.inside():
        other.start()
        entered.wait()
    assert os.environ[VARIABLE] == "1"  # the other's workers are still being begun
    leave.set()
    other.join()
    assert os.environ.get(VARIABLE) == before


def test_a_change_that_could_not_be_made_was_taken_back_by_the_next():
    """An error while it is made leaves nobody inside, and what there was is put back."""
    done = []

    def make(before):
        done.append(f"changed {before}")
        if len(done) == 1:
            raise ZeroDivisionError

    change = SharedChange(lambda: 7, make, lambda before: done.append(f"again {before}"))
    with pytest.raises(ZeroDivisionError), change.inside():
        pass
    with change.inside(), change.inside():
        pass
    assert done == ["changed 7", "again 7"] * 2


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no such timer here")
def test_a_time_limit_while_it_was_changed_left_it_changed_for_good():
    """One thread for all linear algebra of the process, after 28 calls that a signal's handler ended."""

    class Limit(Exception):
        pass

    def limit(*_):
        raise Limit

    value, limits, left = [2], 0, []
    change = SharedChange(
        lambda: value[0], lambda _: value.__setitem__(0, 1), lambda b: value.__setitem__(0, b)
    )
    rng, before = random.Random(3), signal.signal(signal.SIGALRM, limit)
    gc.disable()  # Python drops an error in what others have called at a collection, and says so
    try:
        for _ in range(4000):
            try:
                signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-6, 2e-5))
                for _ in range(20):
                    with change.inside():
                        pass
            except Limit:
                limits += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            if value != [2]:
                left.append(limits)
                value[0] = 2
    except Limit:  # in a line of this test
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        gc.enable()
    assert limits > 10
    assert not left, f"{len(left)} of {limits}"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("own", [False, True])
def test_a_copy_of_the_process_kept_what_a_thread_that_it_does_not_have_had_changed(own):
    """15 of 969 copies began with PYTHONSAFEPATH=1, for good."""
    now, entered, leave = ["as it was"], threading.Event(), threading.Event()
    change = SharedChange(
        lambda: 1, lambda _: now.append("changed"), lambda length: now.__delitem__(slice(length, None))
    )

    def inside() -> None:
        with change.inside():
            entered.set()
            assert leave.wait(30)

    other = threading.Thread(target=inside)
    other.start()
    assert entered.wait(30)
    mine = change.inside() if own else contextlib.nullcontext()
    mine.__enter__()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # threads and forks
        child = os.fork()
    if child == 0:
        os._exit(len(now))
    _, status = os.waitpid(child, 0)
    mine.__exit__(None, None, None)
    assert now[-1] == "changed"
    leave.set()
    other.join()
    assert now == ["as it was"]
    assert os.waitstatus_to_exitcode(status) == (2 if own else 1)


NESTED = """
import sys, time
import numpy as np
import forearm as fa

def inner():
    axes = {"q": fa.Uniform([-1, -1], [1, 1])}
    return fa.sweep("gravity_torque", axes, arm=fa.load("rr"), samples=4_000_000, workers=1, executor=sys.argv[1])

def one(v):
    if v == 3.0:
        time.sleep(0.3)
        raise ValueError("mine")
    if v == 2.0:
        for _ in range(60):
            inner()
    return 0.0

def many(c):
    return np.array([one(v) for v in np.atleast_1d(c["x"])])

if __name__ == "__main__":
    try:
        fa.sweep(many, {"x": [1.0, 2.0, 3.0, 4.0]}, workers=2)
    except ValueError as error:
        print(error)
"""


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_a_sweep_within_the_function_of_a_sweep_that_is_over_never_ended(executor, tmp_path):
    """Its blocks were answered as those of the outer one, that nobody wants any more, and sent again for ever."""
    script = tmp_path / "nested.py"
    script.write_text(NESTED)
    found = subprocess.run(
        [sys.executable, str(script), executor], capture_output=True, text=True, timeout=30
    )
    assert found.stdout == "mine\n", found.stderr


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="no such signal here")
def test_a_signal_while_the_leader_of_a_pool_begins_left_an_error_of_python_in_its_place(
    monkeypatch, request
):
    """`cannot join thread before it is started`, and `except Limit` of the caller did not catch it."""
    import concurrent.futures.process as processes

    import forearm as fa

    class Limit(Exception):
        pass

    def limit(*_):
        raise Limit

    def start(self):
        signal.raise_signal(signal.SIGALRM)

    before = signal.signal(signal.SIGALRM, limit)
    request.addfinalizer(lambda: signal.signal(signal.SIGALRM, before))
    monkeypatch.setattr(processes._ExecutorManagerThread, "start", start)
    with pytest.raises(Limit):
        fa.sweep(_twice, {"x": [1.0, 2.0]}, workers=2)


def _twice(values):
    return 2 * values["x"]
