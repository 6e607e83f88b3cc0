"""Crews: every state once, whoever works, however many call, however the process ends."""

import ctypes
import itertools
import os
import subprocess
import sys
import threading
import time

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
        crew.run(threads.Job(address, 0, count, 16, 16, 100), 1 + turn % 4)
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
    names = [t.name for t in threading.enumerate() if t.name.startswith("forearm-")]
    assert len(names) <= 6 * 15  # crews stay; nobody makes one for each call


def lingering(running):
    """A share that the caller ends as soon as another thread has begun one, which takes a tenth of a second."""

    @SHARE
    def slow(table, first, end, scratch):
        if threading.current_thread() is not threading.main_thread():
            running.set()
            time.sleep(0.1)
            running.clear()
        else:
            running.wait(5)

    return slow


def test_an_interrupt_waits_for_the_others(kernel, monkeypatch):
    """Whatever comes while the caller waits, nobody writes into the arrays afterwards."""
    crew = threads.Crew()
    running = threading.Event()
    slow = lingering(running)

    def interrupted(seconds):
        raise KeyboardInterrupt

    monkeypatch.setattr(threads.time, "sleep", lambda s: interrupted(s) if s == 1e-5 else REAL_SLEEP(s))
    with pytest.raises(KeyboardInterrupt):
        crew.run(threads.Job(address_of(slow), 0, 2, 1, 1, 8), 2)
    assert not running.is_set()
    monkeypatch.undo()
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
    publish, serve, late = crew._code["publish"], crew._code["serve"], []

    def watched(*given):
        if late:
            serve(crew._at, 1, late.pop(), 1)  # as one that slept through the old job
        publish(*given)

    crew._code = {**crew._code, "publish": watched}
    crew.run(threads.Job(address, 0, 32, 16, 16, 100), 2)
    done[:] = 0
    late.append((crew._now.value >> 32) - 1)
    crew.run(threads.Job(address, 0, 4000, 16, 16, 100), 2)
    assert not late
    assert (done == 1).all()
    crew.dismiss()


def test_an_interrupt_just_after_the_callers_own_share_waits_too():
    crew = threads.Crew()
    running, real = threading.Event(), crew._code["work"]
    slow = lingering(running)

    def interrupted(*given):
        crew._code = {**crew._code, "work": real}
        real(*given)
        raise KeyboardInterrupt

    crew._code = {**crew._code, "work": interrupted}
    with pytest.raises(KeyboardInterrupt):
        crew.run(threads.Job(address_of(slow), 0, 2, 1, 1, 8), 2)
    assert not running.is_set()
    crew.dismiss()


def test_an_interrupt_while_others_are_called_leaves_nothing_behind():
    crew = threads.Crew()
    done, _function, address = counting(4000)
    job = threads.Job(address, 0, 4000, 16, 16, 100)
    crew.run(job, 3)
    time.sleep(0.1)  # everybody sleeps
    calls = crew._calls

    class Interrupted:
        def put(self, word):
            calls[0].put(word)
            raise KeyboardInterrupt

        def get(self):
            return calls[0].get()

    crew._calls = [Interrupted(), calls[1]]
    with pytest.raises(KeyboardInterrupt):
        crew.run(job, 3)
    assert (done == 2).all()
    crew._calls = calls
    crew.run(job, 3)
    assert (done == 3).all()
    crew.dismiss()


def test_a_machine_that_gives_no_more_threads_has_fewer(kernel, monkeypatch, caplog):
    """The caller does the work alone, or with those who came; later calls try again."""
    q, refusals = angles(5000), []
    real = threading.Thread.start

    def refused(thread):
        if thread.name.startswith("forearm-") and not refusals:
            refusals.append(thread)
            raise RuntimeError("can't start new thread")
        real(thread)

    monkeypatch.setattr(threads, "_IDLE", [threads.Crew()])
    monkeypatch.setattr(threading.Thread, "start", refused)
    want = kernel(q)
    with caplog.at_level("WARNING", logger="forearm"):
        np.testing.assert_array_equal(kernel(q, threads=3), want)
    assert "1 threads work instead of 3: can't start new thread" in caplog.text
    np.testing.assert_array_equal(kernel(q, threads=3), want)
    (crew,) = threads._IDLE
    assert len(crew._threads) == 2
    crew.dismiss()


REAL_SLEEP = time.sleep

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
