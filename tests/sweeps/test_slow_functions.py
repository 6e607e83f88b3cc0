"""Functions that take long for a sample: simulations, controllers. Few samples are many tasks."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import forearm as fa


def test_a_few_samples_of_a_slow_function_were_all_done_by_one_worker():
    together, rows, told = threading.Barrier(2), [], []

    def slow(choices):
        rows.append(len(choices["x"]))
        if len(rows) > 1:  # the first is a trial, to see what a result looks like
            together.wait(timeout=20)  # for another that runs at the same time
        return choices["x"]

    over = {"x": fa.Uniform(0, 1)}
    fa.sweep(slow, over, samples=8, executor="threads", workers=2, progress=lambda *of: told.append(of))
    assert rows == [1] * 9
    assert [done for done, _ in told] == list(range(1, 9))


def test_a_slow_function_that_was_stopped_had_written_nothing_down(tmp_path):
    over, path, calls = {"x": fa.Uniform(0, 1)}, tmp_path / "journal.json", []

    def slow(choices):
        calls.append(len(choices["x"]))
        return choices["x"]

    def stop(done, of):
        if done >= 300:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fa.sweep(slow, over, samples=1000, executor="threads", workers=1, journal=path, progress=stop)
    done = sum(b - a for a, b in json.loads(path.read_text())["done"])
    assert 300 <= done < 310
    calls.clear()
    again = fa.sweep(slow, over, samples=1000, executor="threads", workers=1, journal=path)
    assert (
        sum(calls) == 4 + 1000 - done
    )  # what it gives is tried once, and three samples before a journal is trusted
    assert again.greatest == fa.sweep(slow, over, samples=1000, executor="threads", workers=2).greatest


@pytest.mark.parametrize("samples", [1000, 5000])
def test_a_fast_function_is_given_many_samples_at_once(samples):
    sizes = []

    def fast(choices):
        sizes.append(len(choices["x"]))
        return np.sin(choices["x"])

    fa.sweep(fast, {"x": fa.Uniform(0, 1)}, samples=1000 * samples, executor="threads", workers=1)
    assert len(sizes) <= 1 + 1024 + 1
    assert max(sizes) >= 950


def test_the_class_of_an_executor_is_not_an_executor():
    with pytest.raises(
        fa.StateFault, match=r"executor is the class ThreadPoolExecutor; make one of it: Thread"
    ):
        fa.sweep(lambda choices: choices["x"], {"x": [1.0]}, executor=ThreadPoolExecutor)
