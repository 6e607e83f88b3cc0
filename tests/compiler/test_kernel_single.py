"""One state: the builtin entry, what it refuses to look at, and what happens then."""

import gc
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from forearm.compiler.call.door import Door
from forearm.compiler.call.entries import builtin_functions
from forearm.compiler.call.processor import ProcessorKernel
from forearm.compiler.graph.passes import lower
from forearm.compiler.graph.trace import trace
from forearm.faults import StateFault


def product(q, m):
    """A matrix and a vector in, a vector out; 1/q[0] may be infinite."""
    return {"y": m @ q + 1.0 / q[0]}


GRAPH = lower(trace(product, {"q": (3,), "m": (3, 3)}, name="product"))
Q, M = np.array([1.0, 2.0, 3.0]), np.arange(9.0).reshape(3, 3)
WANT = M @ Q + 1.0


@pytest.fixture(params=["float64", "float32"])
def kernel(request):
    return ProcessorKernel(GRAPH, dtype=request.param, keep=False)


@pytest.fixture
def entry():
    kernel = ProcessorKernel(GRAPH, keep=False)
    if not builtin_functions.usable():
        pytest.skip("this interpreter has no builtin entry")
    return kernel.entry("single", kernel.general).function


class Poisoned:
    """Any look at it is an error."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("looked")


def test_the_entry_is_a_builtin_function(entry):
    assert type(entry).__name__ == "builtin_function_or_method"
    np.testing.assert_array_equal(entry(Q, M), WANT)


def test_calls_go_to_the_entry_after_the_first_single_state(kernel):
    q, m = Q.astype(kernel.dtype), M.astype(kernel.dtype)
    first = kernel(q, m)
    assert type(kernel).__call__ is not Door.__call__ or not builtin_functions.usable()
    assert isinstance(kernel, ProcessorKernel)
    again = kernel(q, m)
    assert again.dtype == kernel.dtype
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(kernel(np.stack([q, q]), m), [first, first])


def test_out_is_filled_and_returned(entry):
    out = np.full(3, np.nan)
    before = sys.getrefcount(out)
    assert entry(Q, M, out=out) is out
    np.testing.assert_array_equal(out, WANT)
    assert sys.getrefcount(out) == before
    q = Q.copy()
    assert entry(q, M, out=q) is q  # in place
    np.testing.assert_array_equal(q, WANT)


def test_new_arrays_are_ordinary(entry):
    y = entry(Q, M)
    assert y.flags.owndata
    assert y.flags.writeable
    assert y.flags.c_contiguous
    assert sys.getrefcount(y) == 2
    kept = [entry(Q, M) for _ in range(1000)]
    assert len({a.ctypes.data for a in kept}) == 1000


class Sub(np.ndarray):
    """A subclass of arrays."""


@pytest.mark.parametrize(
    "q",
    [
        [1.0, 2.0, 3.0],
        (1, 2, 3),
        np.array([1, 2, 3]),
        Q.astype(np.float32),
        Q.astype(">f8"),
        np.repeat(Q, 2)[::2],
        np.frombuffer(b"x" + Q.tobytes(), dtype=np.uint8)[1:].view(float),
        Q.view(Sub),
        np.ma.array(Q),
    ],
    ids=["list", "tuple", "int", "float32", "big endian", "strided", "unaligned", "subclass", "masked"],
)
def test_other_arguments_go_the_general_way(entry, q):
    np.testing.assert_array_equal(np.asarray(entry(q, M)), WANT)
    out = np.empty(3)
    assert entry(q, M, out=out) is out
    np.testing.assert_array_equal(out, WANT)


@pytest.mark.parametrize(
    ("given", "fault", "message"),
    [
        ((None, M), StateFault, "q is of type object"),
        ((Q, None), StateFault, "m is of type object"),
        ((Q[:2], M), StateFault, r"q has shape \(2,\); give \(3,\)"),
        ((Q, M[:2]), StateFault, r"m has shape \(2, 3\); give \(3, 3\)"),
        ((np.empty(0), M), StateFault, r"q has shape \(0,\)"),
        ((Q,), StateFault, "got 1 arrays; give 2: q, m"),
        ((), StateFault, "got 0 arrays; give 2"),
        ((Q, M, Q), StateFault, "got 3 arrays; give 2"),
        ((Q + 1j, M), StateFault, "q is complex"),
        (("abc", M), StateFault, "q is of type <U3"),
        ((object(), M), StateFault, "q is of type object"),
        ((Poisoned(), M), StateFault, "gives no array of numbers .RuntimeError: looked."),
    ],
)
def test_wrong_arguments_are_faults_not_crashes(entry, given, fault, message):
    with pytest.raises(fault, match=message):
        entry(*given)
    with pytest.raises(fault, match=message):
        entry(*given, out=np.empty(3))


def frozen():
    out = np.empty(3)
    out.flags.writeable = False
    return out


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (frozen(), "out for y must be writable"),
        (np.empty(2), r"out for y is float64 of shape \(2,\)"),
        (np.empty((1, 3)), r"out for y is float64 of shape \(1, 3\)"),
        (np.empty(3, np.float32), "out for y is float32"),
        (np.empty(6)[::2], "out for y must be writable, contiguous"),
        ([0, 0, 0], "out for y is list"),
        (np.ma.masked_all(3), "out for y is MaskedArray"),
        ("abc", "out for y is str"),
    ],
)
def test_wrong_outs_are_faults(entry, out, message):
    with pytest.raises(StateFault, match=message):
        entry(Q, M, out=out)


def test_keywords(entry):
    np.testing.assert_array_equal(entry(Q, M, out=None), WANT)
    np.testing.assert_array_equal(entry(Q, M, threads=1), WANT)
    out = np.empty(3)
    assert entry(Q, M, threads=1, out=out) is out
    with pytest.raises(TypeError, match="unexpected keyword argument 'outt'"):
        entry(Q, M, outt=out)
    with pytest.raises(TypeError):
        entry(q=Q, m=M)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_single_state_that_is_not_finite_is_a_fault(kernel, bad):
    q, m = Q.astype(kernel.dtype), M.astype(kernel.dtype)
    q[1] = bad
    out = np.full(3, 7, kernel.dtype)
    for _ in range(2):  # the first call and the entry
        with pytest.raises(StateFault, match=rf"product: q\[1\] is {bad}; give finite numbers"):
            kernel(q, m)
        with pytest.raises(StateFault, match=r"In a batch a NaN would stay in its own row"):
            kernel(q, m, out=out)
        kernel(Q.astype(kernel.dtype), m)
    assert (out == 7).all()  # nothing was written


def test_a_result_that_is_not_finite_is_given(kernel):
    q, m = np.array([0, 2, 3], kernel.dtype), M.astype(kernel.dtype)
    out = np.empty(3, kernel.dtype)
    for _ in range(2):
        assert np.isinf(kernel(q, m)).all()
        assert np.isinf(kernel(q, m, out=out)).all()
    assert np.isinf(kernel(q, m, out=q)).all()  # in place, although the entry gives up after computing


SEVERAL = lower(
    trace(lambda q, s: {"y": q * s, "z": np.outer(q, q) + 1.0 / s}, {"q": (3,), "s": ()}, name="several")
)


def test_several_outputs_and_plain_floats():
    if not builtin_functions.usable():
        pytest.skip("this interpreter has no builtin entry")
    kernel = ProcessorKernel(SEVERAL, keep=False)
    entry = kernel.entry("single", kernel.general).function
    for s in (2.0, np.array(2.0), np.float64(2.0), 2):
        found = entry(Q, s)
        assert type(found).__name__ == "Results"
        np.testing.assert_array_equal(found.y, 2 * Q)
        np.testing.assert_array_equal(found.z, np.outer(Q, Q) + 0.5)
        assert (sys.getrefcount(found.y), sys.getrefcount(found.z)) == (2, 2)  # the tuple's, and the call's
    out = np.empty(3), np.empty((3, 3))
    found = entry(Q, 2.0, out=out)
    assert found.y is out[0]
    assert found.z is out[1]
    np.testing.assert_array_equal(out[1], np.outer(Q, Q) + 0.5)
    assert np.isinf(entry(Q, 0.0).z).all()
    with pytest.raises(StateFault, match=r"several: s is nan; give finite numbers"):
        entry(Q, float("nan"))
    with pytest.raises(StateFault, match=r"give a tuple of 2 arrays: y, z"):
        entry(Q, 2.0, out=list(out))
    with pytest.raises(StateFault, match=r"give a tuple of 2 arrays: y, z"):
        entry(Q, 2.0, out=out[:1])
    block = np.empty(12)
    with pytest.raises(StateFault, match=r"two of the arrays in out overlap"):
        entry(Q, 2.0, out=(block[7:10], block[:9].reshape(3, 3)))
    apart = block[9:], block[:9].reshape(3, 3)
    assert entry(Q, 2.0, out=apart).y is apart[0]


def test_another_function_may_take_the_rest():
    kernel = ProcessorKernel(GRAPH, keep=False)
    entry = kernel.entry("single", lambda *given, **options: ("other", len(given), options)).function
    del kernel
    gc.collect()
    np.testing.assert_array_equal(entry(Q, M), WANT)
    assert entry([1, 2, 3], M, threads=2) == ("other", 2, {"threads": 2})


def test_the_entry_outlives_its_kernel_and_goes_away_with_it():
    for _ in range(3):
        kernel = ProcessorKernel(GRAPH, keep=False)
        entry = kernel.entry("single", kernel.general).function
        kernel(Q, M)
        del kernel
        gc.collect()
        np.testing.assert_array_equal(entry(Q, M), WANT)
        del entry
        gc.collect()


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("sys.implementation", SimpleNamespace(name="pypy"), "pypy is not CPython"),
        ("sys.abiflags", "t", "free-threaded"),
        ("sys.byteorder", "big", "little-endian"),
        ("TUPLE_ITEMS", 40, "tuples are laid out otherwise"),
    ],
)
def test_other_interpreters_take_the_general_call(monkeypatch, name, value, reason):
    monkeypatch.setattr(f"forearm.compiler.call.entries.builtin_functions.{name}", value)
    builtin_functions.usable.cache_clear()
    try:
        assert not builtin_functions.usable()
        assert reason in builtin_functions._reason_against()
        kernel = ProcessorKernel(GRAPH, keep=False)
        np.testing.assert_array_equal(kernel(Q, M), WANT)
        assert type(kernel).__call__ is Door.__call__
    finally:
        builtin_functions.usable.cache_clear()


@pytest.mark.parametrize(
    ("field", "reason"),
    [("DATA", "lays arrays out otherwise"), ("FLAGS", "otherwise"), ("PYARRAY_NEW", "")],
)
def test_the_self_test_notices_another_layout(monkeypatch, field, reason):
    if field == "PYARRAY_NEW":
        monkeypatch.setattr(builtin_functions, "_numpy_function", lambda place: 1 / 0)
        assert "the self-test failed" in builtin_functions._reason_against()
    else:
        monkeypatch.setattr(builtin_functions, field, getattr(builtin_functions, field) + 8)
        assert reason in builtin_functions._reason_against()
