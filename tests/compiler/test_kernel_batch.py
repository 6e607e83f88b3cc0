"""Batches: the builtin entry, what it takes, and what it hands to the general call."""

import gc
import subprocess
import sys

import numpy as np
import pytest

from compiler.crowd import at_once
from forearm.compiler.call.entries import builtin_functions
from forearm.compiler.call.processor import ProcessorKernel
from forearm.compiler.graph.passes import lower
from forearm.compiler.graph.trace import trace
from forearm.compiler.llvm.batches import STREAMED
from forearm.faults import StateFault

pytestmark = pytest.mark.skipif(
    not builtin_functions.usable(), reason="this interpreter has no builtin entry"
)

GRAPH = lower(trace(lambda q, m: {"y": m @ q + 1.0 / q[0]}, {"q": (3,), "m": (3, 3)}, name="product"))
SEVERAL = lower(
    trace(lambda q, s: {"y": q * s, "z": np.outer(q, q) + 1.0 / s}, {"q": (3,), "s": ()}, name="several")
)
COUNTS = [1, 2, 15, 16, 17, 511, 512, 5000]


def states(count, dtype="float64"):
    rng = np.random.default_rng(count)
    return rng.uniform(1, 2, (count, 3)).astype(dtype), rng.uniform(1, 2, (count, 3, 3)).astype(dtype)


def refuse(*given, **options):
    """The general call of an entry that should have taken everything."""
    raise AssertionError(f"handed over: {[np.shape(g) for g in given]}, {options}")


def entry_of(graph=GRAPH, rest=refuse, **options):
    return ProcessorKernel(graph, keep=False, **options).entry("batch", rest).function


@pytest.fixture(scope="module")
def entry():
    return entry_of()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_plain_batches_are_taken_and_equal_the_general_call(dtype):
    kernel = ProcessorKernel(GRAPH, dtype=dtype, keep=False)
    entry = kernel.entry("batch", refuse).function
    for count in COUNTS:
        q, m = states(count, dtype)
        want = kernel.general(q, m)
        np.testing.assert_array_equal(entry(q, m), want)
        out = np.full((count, 3), np.nan, dtype)
        for options in ({}, {"threads": 1}, {"threads": 2}):
            assert entry(q, m, out=out, **options) is out
            np.testing.assert_array_equal(out, want)
            np.testing.assert_array_equal(entry(q, m, **options), want)
        np.testing.assert_array_equal(entry(q, m[0]), kernel.general(q, m[0]))  # shared by all rows
        np.testing.assert_array_equal(entry(q[0], m), kernel.general(q[0], m))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_plain_columns_are_taken_and_equal_rows(dtype):
    rows = ProcessorKernel(GRAPH, dtype=dtype, keep=False)
    kernel = ProcessorKernel(GRAPH, dtype=dtype, layout="columns", keep=False)
    entry = kernel.entry("batch", refuse).function
    for count in [*COUNTS, 63, 64, 65]:
        q, m = states(count, dtype)
        want = rows.general(q, m).T
        turned = np.ascontiguousarray(q.T), np.ascontiguousarray(np.moveaxis(m, 0, -1))
        for given in turned:
            given.flags.writeable = False  # inputs are only read
        np.testing.assert_array_equal(kernel.general(*turned), want)
        np.testing.assert_array_equal(entry(*turned), want)
        block = np.full(3 * count + 2, np.nan, dtype)
        out = block[1:-1].reshape(3, count)
        for options in ({}, {"threads": 2}):
            assert entry(*turned, out=out, **options) is out
            np.testing.assert_array_equal(out, want)
        assert np.isnan(block[[0, -1]]).all()
        np.testing.assert_array_equal(entry(turned[0], m[0]), rows.general(q, m[0]).T)  # shared by all


def test_columns_in_place_and_large_angles():
    graph = lower(trace(lambda q: {"y": np.sin(q) * q[::-1]}, {"q": (3,)}, name="wave"))
    kernel = ProcessorKernel(graph, layout="columns", keep=False)
    q = np.random.default_rng(1).uniform(-3, 3, (3, 200))
    q[1, [5, 70, 199]] = 1e9, -3e7, 2e5  # beyond the branch-free path
    want = np.sin(q) * q[::-1]
    frozen = q.copy()
    frozen.flags.writeable = False
    np.testing.assert_allclose(kernel(frozen), want, rtol=1e-15)
    np.testing.assert_array_equal(kernel(frozen), kernel.general(frozen))
    assert kernel(q, out=q) is q  # copied first: columns are read after others were written
    np.testing.assert_allclose(q, want, rtol=1e-15)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("shift", [0, 1, 5])
def test_a_batch_past_the_caches_is_the_same_to_the_bit_and_stays_within_its_array(shift, threads):
    entry, count = entry_of(SEVERAL), 9 + 2 * STREAMED // 72
    q, s = states(count)[0], np.linspace(1, 2, count)
    block = np.full(9 * count + 16, np.nan)
    out = np.empty((count, 3)), block[shift : shift + 9 * count].reshape(count, 3, 3)
    entry(q, s, out=out, threads=threads)
    for part in (slice(0, 40), slice(count // 2, count // 2 + 40), slice(count - 40, count)):
        np.testing.assert_array_equal(out[1][part], entry(q[part].copy(), s[part].copy()).z)
    assert np.isfinite(out[1]).all()
    assert np.isnan(block[:shift]).all()
    assert np.isnan(block[shift + 9 * count :]).all()


def test_several_outputs():
    entry = entry_of(SEVERAL)
    q, s = states(40)[0], np.linspace(1, 2, 40)
    found = entry(q, s)
    assert type(found).__name__ == "Results"
    np.testing.assert_array_equal(found.y, q * s[:, None])
    assert (sys.getrefcount(found.y), sys.getrefcount(found.z)) == (2, 2)
    out = np.empty((40, 3)), np.empty((40, 3, 3))
    assert entry(q, s, out=out).z is out[1]
    np.testing.assert_array_equal(out[1], found.z)
    assert entry(q + 1, s, out=found).z is found.z  # what a call gave is an `out` like any other
    np.testing.assert_array_equal(found.y, (q + 1) * s[:, None])
    block = np.empty(12 * 40)
    overlapping = block[: 3 * 40].reshape(40, 3), block[100 : 100 + 9 * 40].reshape(40, 3, 3)
    with pytest.raises(AssertionError, match="handed over"):
        entry(q, s, out=overlapping)
    with pytest.raises(AssertionError, match="handed over"):
        entry(q, 2.0)  # shared numbers go the general way


def test_references_are_given_back(entry):
    q, m = states(600)
    out = np.empty((600, 3))
    before = [sys.getrefcount(x) for x in (q, m, out)]
    for _ in range(10):
        entry(q, m, out=out)
        entry(q, m, out=out, threads=2)
        made = entry(q, m)
    assert [sys.getrefcount(x) for x in (q, m, out)] == before
    assert sys.getrefcount(made) == 2  # the name's, and the call's


@pytest.mark.parametrize(
    "change",
    [
        lambda q, m, out: ([*q], m, out),
        lambda q, m, out: (q.astype(np.float32), m, out),
        lambda q, m, out: (q[::2], m[::2], out[::2]),
        lambda q, m, out: (np.asfortranarray(q), m, out),
        lambda q, m, out: (q[:, :2], m, out),
        lambda q, m, out: (q[:7], m, out),
        lambda q, m, out: (q[:0], m[:0], out[:0]),
        lambda q, m, out: (q[None], m[None], out[None]),
        lambda q, m, out: (q, m, out[:5]),
        lambda q, m, out: (q, m, out[:, :2]),
        lambda q, m, out: (q, m, out.astype(np.float32)),
        lambda q, m, out: (q, m, list(out)),
        lambda q, m, out: (q, m, m.reshape(-1, 3)[: len(q)]),  # would be overwritten before it is read
        lambda q, m, out: (q[0], m[0], out[0]),
        lambda q, m, out: (q, None, out),
    ],
)
def test_anything_else_is_handed_over_as_it_came(change):
    seen = []
    entry = entry_of(rest=lambda *given, **options: seen.append((given, options)) or "rest")
    q, m, out = change(*states(16), np.empty((16, 3)))
    assert entry(q, m, out=out, threads=1) == "rest"
    ((given, options),) = seen
    assert given[0] is q
    assert given[1] is m
    assert options["out"] is out


def test_in_place(entry):
    q, m = states(100)
    want = entry(q, m)
    assert entry(q, m, out=q) is q
    np.testing.assert_array_equal(q, want)


@pytest.mark.parametrize("threads", [0, -1, True, 1.5, "two"])
def test_wrong_threads_are_faults(entry, threads):
    q, m = states(16)
    with pytest.raises(StateFault, match="give a whole number of threads"):
        entry(q, m, threads=threads)
    with pytest.raises(StateFault, match="give a whole number of threads"):
        entry(q, m, out=np.empty((16, 3)), threads=threads)


def test_nan_stays_in_its_row(entry):
    q, m = states(50)
    want = entry(q, m)
    q[17, 1] = np.nan
    found = entry(q, m)
    assert np.isnan(found[17]).all()
    np.testing.assert_array_equal(np.delete(found, 17, 0), np.delete(want, 17, 0))


def test_the_kernel_opens_its_entries_one_after_the_other():
    q, m = states(20)
    for first in ("batch", "single"):
        kernel = ProcessorKernel(GRAPH, keep=False)
        calls = {"batch": lambda: kernel(q, m), "single": lambda: kernel(q[0], m[0])}  # noqa: B023
        want = calls.pop(first)()
        assert type(type(kernel).__call__) is type(len)
        np.testing.assert_array_equal(kernel(q, m)[0], kernel(q[0], m[0]))
        np.testing.assert_array_equal(kernel([*q], m), kernel(q, m))  # lists, still
        assert want.shape in {(20, 3), (3,)}


def test_many_python_threads_share_one_entry(entry):
    q, m = states(3000)
    want = entry(q, m)

    def busy():
        for _ in range(30):
            np.testing.assert_array_equal(entry(q, m), want)
            np.testing.assert_array_equal(entry(q, m, threads=2), want)

    at_once(busy, 4)


def test_the_entry_outlives_its_kernel():
    entry = entry_of()
    gc.collect()
    q, m = states(600)
    assert entry(q, m, threads=2).shape == (600, 3)


@pytest.mark.parametrize("order", [1, -1])
def test_a_kernel_that_was_called_by_what_ended_with_it_ended_the_process(order):
    """Its code was gone before the last object that called it, among garbage whose parts hold each other."""
    script = f"""
import gc, numpy as np, forearm as fa
q = np.ones((4, 2))
class Controller:
    def __init__(self):
        self.step = self.torque
    def torque(self, q):
        return self.kernel(q)
    def __del__(self):
        print(self.step(q).shape, self.step(q[0]).shape, self.step([[1, 1]]).shape)
def called():
    kernel = fa.compile(fa.load("rr"), "gravity_torque")
    kernel(q), kernel(q[0])
    return kernel
make = [Controller, called][::{order}]
made = [f() for f in make][::{order}]
made[0].kernel, made[1].owner = made[1], made[0]
del made
gc.collect()
print("the end")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["(4, 2) (2,) (1, 2)", "the end"], done.stderr
