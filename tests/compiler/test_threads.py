"""Crews: every state once, whoever works, however many call, however the process ends."""

import ctypes
import itertools
import os
import signal
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

from compiler.crowd import at_once
from forearm.compiler.call import threads
from forearm.compiler.call.processor import ProcessorKernel
from forearm.compiler.graph.passes import lower
from forearm.compiler.graph.trace import trace

SHARE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)
"""What does a share: (table, first, end, scratch)."""

GRAPH = lower(trace(lambda q: {"y": np.sin(q) * q}, {"q": (3,)}, name="wave"))


@pytest.fixture(scope="module")
def kernel():
    return ProcessorKernel(GRAPH, keep=False)


def address_of(function):
    return ctypes.cast(function, ctypes.c_void_p).value


def angles(count):
    return np.random.default_rng(count).uniform(-3, 3, (count, 3))


@pytest.mark.parametrize("members", [2, 3, 8])
def test_shares_cover_everything_once(members):
    for count in (1, 255, 512, 5000, 100_001):
        marks = list(threads._marks(count, members, 16, 256))
        assert (marks[0], marks[-1]) == (0, count)
        assert all(a < b for a, b in itertools.pairwise(marks))
        assert all(mark % 16 == 0 for mark in marks[:-1])
        assert max(b - a for a, b in itertools.pairwise(marks)) <= max(256, count // (2 * members) + 16)


def test_every_share_is_done_once():
    """Count, in a table of one number for each state, how often a state was done."""
    crew = threads.Crew()
    count = 20_000
    done = np.zeros(count, np.int32)
    lock = threading.Lock()
    seen = set()

    @SHARE
    def function(table, first, end, scratch):
        with lock:
            seen.add(scratch)
            done[first:end] += 1

    address = address_of(function)
    for turn in range(1, 200):
        crew.run(threads.Job(address, 0, count, 16, 16, 100, 10**9), 1 + turn % 4)
        assert (done == turn).all()
    assert len(seen) <= 4 + 3 * 3  # scratch areas: one for each member, moved when the crew grew
    crew.dismiss()


@pytest.mark.parametrize("wanted", [2, 3, 16])
def test_same_bits_as_one_thread(kernel, wanted):
    for count in (1, 511, 512, 513, 4097, 30_000):
        q, out = angles(count), np.full((count, 3), np.nan)
        want = kernel(q)
        for _ in range(5):
            out[:] = np.nan
            kernel(q, out=out, threads=wanted)
            np.testing.assert_array_equal(out, want)


def test_after_a_rest_the_crew_comes_back(kernel):
    q = angles(5000)
    want = kernel(q)
    for rest in (0, 0.0002, 0.002, 0.05) * 3:
        time.sleep(rest)
        np.testing.assert_array_equal(kernel(q, threads=2), want)


def test_many_callers_have_crews_of_their_own(kernel):
    q = angles(3000)
    want = kernel(q)

    def caller():
        for _ in range(40):
            np.testing.assert_array_equal(kernel(q, threads=3), want)

    at_once(caller, 6)
    assert (
        sum(len(crew._berths) for crew in threads._IDLE) <= 6 * 15
    )  # crews stay; nobody makes one for each call


def lingering(running):
    """A share that the caller ends as soon as another thread has begun one, which takes a third of a second."""

    @SHARE
    def slow(table, first, end, scratch):
        if threading.current_thread() is not threading.main_thread():
            running.set()
            time.sleep(0.3)
            running.clear()
        else:
            running.wait(5)

    return slow


def run_and_rest(crew, job):
    crew.run(job, 2)
    time.sleep(1)


def test_an_interrupt_waits_for_the_others():
    """A signal that comes while the caller waits: when it is served, nobody writes into the arrays."""
    crew = threads.Crew()
    running, sent = threading.Event(), threading.Event()
    slow = lingering(running)

    def send():
        running.wait(5)
        time.sleep(0.1)  # the caller has done its own share
        sent.set()
        signal.raise_signal(signal.SIGINT)

    sender = threading.Thread(target=send)
    sender.start()
    with pytest.raises(KeyboardInterrupt):
        run_and_rest(crew, threads.Job(address_of(slow), 0, 2, 1, 1, 8, 10**9))
    assert sent.is_set()
    assert not running.is_set()
    sender.join()
    crew.dismiss()


def counting(states):
    """How often each state was done, and a function that counts; (array, function to keep, address)."""
    done, lock = np.zeros(states, np.int32), threading.Lock()

    @SHARE
    def function(table, first, end, scratch):
        with lock:
            done[first:end] += 1

    return done, function, address_of(function)


def test_a_thread_that_comes_late_takes_nothing_of_the_job_that_is_being_written():
    """A thread that looks at the old job while the next one is on its way must not take a share by its fields."""
    crew = threads.Crew()
    done, _function, address = counting(4000)
    serve = crew._code["serve"]
    crew.run(threads.Job(address, 0, 32, 16, 16, 100, 10**9), 2)
    done[:] = 0
    serve(crew._at, 1, (crew._now.value >> 32) - 1, 1)  # as one that slept through the old job
    assert not done.any()
    crew.run(threads.Job(address, 0, 4000, 16, 16, 100, 10**9), 2)
    assert (done == 1).all()
    crew.dismiss()


@pytest.mark.parametrize("after", [False, True])
def test_an_interrupt_around_the_job_leaves_nothing_behind(after):
    """Before it nothing was begun, after it everything is done; the crew is as good as before."""
    crew = threads.Crew()
    done, _function, address = counting(4000)
    job, real = threads.Job(address, 0, 4000, 16, 16, 100, 10**9), crew._code["perform"]
    crew.run(job, 3)

    def interrupted(*given):
        if after:
            real(*given)
        raise KeyboardInterrupt

    crew._code = {**crew._code, "perform": interrupted}
    with pytest.raises(KeyboardInterrupt):
        crew.run(job, 3)
    assert (done == 1 + after).all()
    crew._code = {**crew._code, "perform": real}
    crew.run(job, 3)
    assert (done == 2 + after).all()
    crew.dismiss()


def test_wakes_that_nobody_owed_do_no_harm():
    """Locks that a stranger gives, again and again, while jobs come: every state once."""
    crew = threads.Crew()
    done, _function, address = counting(4000)
    job = threads.Job(address, 0, 4000, 16, 16, 100, 10**9)
    release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(("PyThread_release_lock", ctypes.pythonapi))
    for turn in range(1, 400):
        crew.run(job, 3)
        assert (done == turn).all()
        for berth in crew._berths:
            release(berth._lock.value)
        if turn % 40 == 0:
            time.sleep(0.005)
    crew.dismiss()


def test_a_crew_that_nobody_holds_lets_its_threads_go():
    crew = threads.Crew()
    done, _function, address = counting(4000)
    crew.run(threads.Job(address, 0, 4000, 16, 16, 100, 10**9), 5)
    berths = [weakref.ref(berth) for berth in crew._berths]  # each thread holds its own as long as it lives
    assert len(berths) == 4
    del crew
    end = time.monotonic() + 10
    while any(berth() for berth in berths) and time.monotonic() < end:
        time.sleep(0.01)
    assert not any(berth() for berth in berths)
    assert (done == 1).all()


def test_a_machine_that_gives_no_more_threads_has_fewer(kernel, monkeypatch, caplog):
    """The caller does the work alone, or with those who came; later calls try again."""
    q, refusals = angles(5000), []
    real = threads.start_new_thread

    def refused(*given):
        if not refusals:
            refusals.append(given)
            raise RuntimeError("can't start new thread")
        return real(*given)

    monkeypatch.setattr(threads, "_IDLE", [threads.Crew()])
    monkeypatch.setattr(threads, "start_new_thread", refused)
    want = kernel(q)
    with caplog.at_level("WARNING", logger="forearm"):
        np.testing.assert_array_equal(kernel(q, threads=3), want)
    assert "1 threads work instead of 3: can't start new thread" in caplog.text
    np.testing.assert_array_equal(kernel(q, threads=3), want)
    (crew,) = threads._IDLE
    assert len(crew._berths) == 2
    crew.dismiss()


SCRIPT = """
import os, sys, threading
import numpy as np
from forearm.compiler.call.processor import ProcessorKernel
from forearm.compiler.graph.passes import lower
from forearm.compiler.graph.trace import trace
kernel = ProcessorKernel(lower(trace(lambda q: {"y": np.sin(q) * q}, {"q": (3,)}, name="wave")), keep=False)
q = np.ones((20000, 3))
want = kernel(q)
assert np.array_equal(kernel(q, threads=3), want)
"""


@pytest.mark.parametrize(
    "end",
    [
        "",
        "kernel(q, threads=2)",
        "sys.exit(0)",
        "threading.Thread(target=lambda: [kernel(q, threads=2) for _ in range(300)], daemon=True).start()",
        "import time; time.sleep(0.01)",
    ],
)
def test_the_process_ends_in_peace(end):
    done = subprocess.run([sys.executable, "-c", SCRIPT + end], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_process_has_crews_of_its_own():
    fork = """
child = os.fork()
same = np.array_equal(kernel(q, threads=3), want)
if child == 0:
    os._exit(0 if same else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0 and same
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT + fork], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
