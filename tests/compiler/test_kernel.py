"""Kernels as functions of arrays: shapes, layouts, borders of memory, threads, faults."""

import ctypes
import pickle
from types import SimpleNamespace

import numpy as np
import pytest

from close import assert_close
from compiler.crowd import at_once
from forearm.compiler.call.processor import ProcessorKernel
from forearm.compiler.graph.interpreter import interpret
from forearm.compiler.graph.passes import lower
from forearm.compiler.graph.trace import trace
from forearm.faults import KernelFault, StateFault


def mix(q, qd, load):
    """Sines, products and a parameter, seven outputs."""
    return {"tau": [q[i].sin() * qd[(i + 1) % 7] + load * q[(i + 2) % 7] for i in range(7)]}


GRAPH = lower(trace(mix, {"q": (7,), "qd": (7,), "load": ()}, name="mix"))
PAIR = lower(
    trace(lambda q, m: {"M": np.outer(m, m) + q.cos(), "h": m * q}, {"q": (), "m": (3,)}, name="pair")
)


def formula(q, qd, load):
    """The same in NumPy."""
    return np.sin(q) * np.roll(qd, -1, -1) + np.asarray(load)[..., None] * np.roll(q, -2, -1)


@pytest.fixture(scope="module")
def kernel():
    return ProcessorKernel(GRAPH, keep=False)


def draw(*shape, seed=0):
    return np.random.default_rng(seed).uniform(-2, 2, shape)


@pytest.mark.parametrize(
    ("q", "qd", "load"),
    [
        ((7,), (7,), ()),
        ((1, 7), (7,), ()),
        ((5, 7), (5, 7), (5,)),
        ((100, 7), (7,), ()),
        ((100, 7), (1, 7), (100,)),
        ((4, 1, 7), (3, 7), (4, 3)),
        ((2, 3, 4, 7), (3, 1, 7), ()),
        ((0, 7), (7,), ()),
    ],
)
def test_leading_axes_broadcast(kernel, q, qd, load):
    given = draw(*q), draw(*qd, seed=1), draw(*load, seed=2)
    lead = np.broadcast_shapes(q[:-1], qd[:-1], load)
    found = kernel(*given)
    assert found.shape == (*lead, 7)
    if found.size:
        assert_close(found, np.broadcast_to(formula(*given), found.shape), eps=4)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100])
@pytest.mark.parametrize("layout", ["rows", "columns"])
@pytest.mark.parametrize("width", [1, 4, 8])
def test_nothing_outside_the_arrays_is_touched(width, layout, count):
    """Arrays that end where their memory page ends, before a page that must not be read or written."""
    kernel = _kernel(width, layout)
    q, qd, load = draw(count, 7), draw(count, 7, seed=1), draw(count, seed=2)
    want = formula(q, qd, load)
    given = (q, qd, load) if layout == "rows" else (q.T, qd.T, load)
    pages = [guarded(a) for a in given]
    out = guarded(np.full(want.shape if layout == "rows" else want.T.shape, np.nan))
    kernel(*(array for array, _ in pages), out=out[0])
    found = out[0] if layout == "rows" else out[0].T
    assert_close(found.copy(), want, eps=4)


_KERNELS = {}


def _kernel(width, layout):
    if (width, layout) not in _KERNELS:
        _KERNELS[width, layout] = ProcessorKernel(GRAPH, width=width, layout=layout, keep=False)
    return _KERNELS[width, layout]


def guarded(array):
    """A copy that ends at the end of a page followed by one without access; and what keeps it alive."""
    if not hasattr(ctypes.CDLL(None), "mprotect"):
        return np.ascontiguousarray(array), None
    import mmap

    array = np.ascontiguousarray(array)
    page = mmap.PAGESIZE
    pages = -(-array.nbytes // page)
    memory = mmap.mmap(-1, (pages + 1) * page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    assert libc.mprotect(start + pages * page, page, 0) == 0
    offset = pages * page - array.nbytes
    copy = np.frombuffer(memory, array.dtype, array.size, offset).reshape(array.shape)
    copy[...] = array
    return copy, memory


@pytest.mark.parametrize(
    "view", ["every other row", "backwards", "transposed", "inner column", "fortran", "int", "f4"]
)
def test_arrays_of_other_kinds_give_the_same(kernel, view):
    base, qd, load = draw(24, 7), draw(12, 7, seed=1), draw(12, seed=2)
    q = {
        "every other row": base[::2],
        "backwards": base[11::-1],
        "transposed": draw(7, 12).T,
        "inner column": draw(12, 9)[:, 1:8],
        "fortran": np.asfortranarray(base[:12]),
        "int": (10 * base[:12]).astype(int),
        "f4": base[:12].astype(np.float32),
    }[view]
    assert_close(kernel(q, qd, load), formula(q.astype(float), qd, load), eps=4)


def test_output_buffers_are_used_never_read_and_may_be_an_input(kernel):
    q, qd = draw(50, 7), draw(50, 7, seed=1)
    want = kernel(q, qd, 0.5)
    out = np.full((50, 7), np.nan)
    assert kernel(q, qd, 0.5, out=out) is out
    np.testing.assert_array_equal(out, want)
    same = q.copy()
    kernel(same, qd, 0.5, out=same)
    np.testing.assert_array_equal(same, want)
    shifted = np.zeros((60, 7))
    shifted[:50] = q
    kernel(shifted[:50], qd, 0.5, out=shifted[1:51])  # overlaps, one row further
    np.testing.assert_array_equal(shifted[1:51], want)
    one = q[0].copy()
    kernel(one, qd[0], 0.5, out=one)
    np.testing.assert_array_equal(one, want[0])


def test_several_outputs_come_as_a_named_tuple():
    kernel = ProcessorKernel(PAIR, keep=False)
    q, m = draw(20), draw(20, 3, seed=1)
    found = kernel(q, m)
    assert_close(found.M, m[:, :, None] * m[:, None, :] + np.cos(q)[:, None, None], eps=4)
    assert_close(found.h, m * q[:, None], eps=2)
    out = np.empty((20, 3, 3)), np.empty((20, 3))
    again = kernel(q, m, out=out)
    assert again.M is out[0]
    np.testing.assert_array_equal(out[0], found.M)
    single = kernel(q[3], m[3])
    np.testing.assert_array_equal(single.M, found.M[3])


def test_columns_layout_shares_values():
    kernel = ProcessorKernel(GRAPH, layout="columns", keep=False)
    q, qd, load = draw(7, 30), draw(7, 30, seed=1), draw(30, seed=2)
    assert_close(kernel(q, qd, load), formula(q.T, qd.T, load).T, eps=4)
    assert_close(kernel(q, qd[:, 0], 2.0), formula(q.T, qd[:, 0], 2.0).T, eps=4)
    wide = draw(7, 90)
    np.testing.assert_array_equal(kernel(wide[:, 10:40], qd, load), kernel(wide[:, 10:40].copy(), qd, load))
    assert kernel(q[:, 0], qd[:, 0], 2.0).shape == (7,)


@pytest.mark.parametrize("count", [1, 15, 16, 17, 33])
@pytest.mark.parametrize("shift", [0, 1, 3])
@pytest.mark.parametrize("n", [4, 7, *(pytest.param(n, marks=pytest.mark.more) for n in (5, 6))])
@pytest.mark.parametrize("how", [{}, {"width": 1}, {"width": 2}, {"width": 8}, {"dtype": "float32"}])
def test_wide_results_are_written_whole_and_nothing_else(count, shift, n, how):
    """Rows go straight from registers to memory, in pieces: odd and even, aligned or not, in full tiles or not."""
    square = lower(trace(lambda q: {"M": np.outer(q, q), "p": 2 * q}, {"q": (n,)}, name="square"))
    kernel = ProcessorKernel(square, keep=False, **how)
    q, size = draw(count, n).astype(kernel.dtype), n * n
    block = np.full(count * size + 8, np.nan, kernel.dtype)
    out = block[shift : shift + count * size].reshape(count, n, n)
    kernel(q, out=(out, np.full((count, n), np.nan, kernel.dtype)))
    np.testing.assert_array_equal(out, q[:, :, None] * q[:, None, :])
    assert np.isnan(block[:shift]).all()
    assert np.isnan(block[shift + count * size :]).all()
    whole = np.full((count, n, n), np.nan, kernel.dtype)
    found = kernel(q, out=(guarded(whole)[0], np.empty_like(q)))
    np.testing.assert_array_equal(found.p, 2 * q)


@pytest.mark.parametrize("wanted", [2, 3, 8])
def test_threads_give_the_same_bits(kernel, wanted):
    q, qd = draw(5000, 7), draw(5000, 7, seed=1)
    out = np.full((5000, 7), np.nan)
    kernel(q, qd, 0.5, out=out, threads=wanted)
    np.testing.assert_array_equal(out, kernel(q, qd, 0.5))


def test_many_callers_at_once(kernel):
    q, qd = draw(400, 7), draw(400, 7, seed=1)
    want = kernel(q, qd, 0.5)

    def caller():
        for _ in range(30):
            np.testing.assert_array_equal(kernel(q, qd, 0.5, threads=2), want)

    at_once(caller, 4)


def test_accuracy_measures_float32_and_float64(kernel):
    given = draw(200, 7), draw(200, 7, seed=1), draw(200, seed=2)
    single = ProcessorKernel(GRAPH, dtype="float32", keep=False).accuracy(*given)
    double = kernel.accuracy(*given)
    assert single.compared_with == "float64"
    assert 1e-9 < single.relative["tau"] < 1e-6
    assert 1e-18 < double.relative["tau"] < 1e-15
    assert "largest relative error against float64: tau" in str(single)
    assert (
        ProcessorKernel(PAIR, layout="columns", keep=False).accuracy(draw(9), draw(3, 9)).relative["M"]
        < 1e-15
    )


def test_repr_and_pickle(kernel):
    assert "<Kernel mix: (q[7], qd[7], load[]) -> tau[7]; float64, rows," in repr(kernel)
    given = draw(3, 7), draw(3, 7, seed=1), 0.1
    kernel(given[0][0], given[1][0], 0.1)  # has an entry of its own by now
    again = pickle.loads(pickle.dumps(kernel))
    assert isinstance(again, ProcessorKernel)
    np.testing.assert_array_equal(again(*given), kernel(*given))


def test_sources(kernel):
    assert "@llvm.fma.v" in kernel.source("llvm")
    assert (
        "<" not in ProcessorKernel(GRAPH, width=1, keep=False).source("llvm").split("@tile")[1].split("}")[0]
    )
    assert "batch" in kernel.source("asm")
    assert "def mix(" in kernel.source("numpy")
    assert "void forearm_mix(" in kernel.source("c")
    assert ".entry batch" in kernel.source("ptx")
    with pytest.raises(
        KernelFault, match=r"source\('java'\) is not known; ask for llvm, asm, numpy, c or ptx"
    ):
        kernel.source("java")


def test_without_llvm_numpy_serves(monkeypatch):
    for layout in ("rows", "columns"):
        kernel = ProcessorKernel(GRAPH, layout=layout, keep=False)
        monkeypatch.setitem(kernel.__dict__, "compiled", False)
        q, qd = draw(9, 7), draw(9, 7, seed=1)
        found = kernel(q, qd, 0.5) if layout == "rows" else kernel(q.T, qd.T, 0.5).T
        assert_close(found, formula(q, qd, 0.5), eps=4)
        assert_close(kernel(q[0], qd[0], 0.5), formula(q[0], qd[0], 0.5), eps=4)
        assert "because llvmlite is missing" in repr(kernel)
        want = interpret(GRAPH, {"q": q[0], "qd": qd[0], "load": 0.5})["tau"]
        assert_close(kernel(q[0], qd[0], 0.5), want, eps=4)


def test_without_llvm_one_state_in_columns(monkeypatch):
    kernel = ProcessorKernel(PAIR, layout="columns", keep=False)
    q, m = np.array(0.5), np.array([1.0, 2.0, 3.0])
    want = kernel(q, m)
    monkeypatch.setitem(kernel.__dict__, "compiled", False)
    for got, right in zip(kernel.general(q, m), want, strict=True):
        assert_close(got, right, eps=4)
    numbers = ProcessorKernel(lower(trace(lambda q: {"y": q + 1.0}, {"q": ()})), layout="columns", keep=False)
    monkeypatch.setitem(numbers.__dict__, "compiled", False)
    assert numbers(2.0) == 3.0


STATE = np.zeros(7)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((STATE, STATE), r"mix: got 2 arrays; give 3: q, qd, load\."),
        ((STATE[:6], STATE, 0.0), r"mix: q has shape \(6,\); give \(7,\) or a batch \(\.\.\., 7\)\."),
        ((STATE, 3.0, 0.0), r"mix: qd has shape \(\); give \(7,\) or a batch"),
        ((STATE + 1j, STATE, 0.0), r"mix: q is complex; give real numbers, shape \(7,\)"),
        ((STATE, ["a"] * 7, 0.0), r"mix: qd is of type <U1; give real numbers"),
        (([[0.0] * 7, [0.0]], STATE, 0.0), r"mix: q is no array of numbers \(.*\); give \(7,\) or a batch"),
        ((None, STATE, 0.0), r"mix: q is of type object; give real numbers"),
        (
            (np.zeros((3, 7)), np.zeros((4, 7)), 0.0),
            r"axes of q \(3, 7\), qd \(4, 7\), load \(\) do not broadcast",
        ),
        ((STATE, STATE, np.longdouble(1.5)), None),
        (
            (STATE.astype(np.longdouble), STATE, 0.0),
            r"mix: q is float128, but the kernel computes in float64; round",
        ),
    ],
)
def test_faults_say_what_was_given_and_what_to_do(kernel, given, message):
    if message is None:
        assert kernel(*given).shape == (7,)
        return
    if "float128" in message and np.dtype(np.longdouble).name != "float128":
        message = message.replace("float128", np.dtype(np.longdouble).name)
    with pytest.raises(StateFault, match=message):
        kernel(*given)


def test_float64_is_not_rounded_to_float32_silently():
    kernel = ProcessorKernel(GRAPH, dtype="float32", keep=False)
    with pytest.raises(
        StateFault, match=r"q is float64, but the kernel computes in float32; round it yourself"
    ):
        kernel(np.zeros((3, 7)), np.zeros((3, 7), np.float32), np.float32(0))
    found = kernel(
        np.zeros((3, 7), np.float32), [[0.5] * 7] * 3, 1
    )  # lists and whole numbers have no dtype to lose
    assert found.dtype == np.float32


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (np.empty((5, 7)), r"out for tau is float64 of shape \(5, 7\); give float64 of shape \(4, 7\)"),
        (np.empty((4, 7), np.float32), r"out for tau is float32 of shape \(4, 7\); give float64"),
        ([0.0], r"out for tau is list; give a NumPy array of shape \(4, 7\)"),
        (
            np.ma.masked_all((4, 7)),
            r"out for tau is MaskedArray, whose mask would hide results; give out\.data",
        ),
        (
            np.empty((4, 14))[:, ::2],
            r"out for tau must be writable, contiguous in C order and aligned; give np\.empty",
        ),
    ],
)
def test_faults_of_out(kernel, out, message):
    with pytest.raises(StateFault, match=message):
        kernel(np.zeros((4, 7)), np.zeros((4, 7)), 0.0, out=out)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (np.zeros(4), {"shape": (4, 7)}),
        (np.zeros((4, 7), np.float16), {"dtype": np.dtype(float)}),
        (np.broadcast_to(0.0, (4, 7)), {"flags": SimpleNamespace(c_contiguous=1, aligned=1, writeable=1)}),
    ],
)
def test_an_array_that_lied_about_itself_was_written_beyond_its_end(kernel, given, says):
    """munmap_chunk(): invalid pointer; numbers in arrays that nobody may write into."""
    liar = given.view(type("Liar", (np.ndarray,), says))
    with pytest.raises(StateFault, match="out for tau"):
        kernel(np.zeros((4, 7)), np.zeros((4, 7)), 0.0, out=liar)


def test_an_array_of_a_class_of_its_own_is_filled_and_returned(kernel):
    mine = np.full((4, 7), np.nan).view(type("Mine", (np.ndarray,), {}))
    assert kernel(np.ones((4, 7)), np.ones((4, 7)), 0.5, out=mine) is mine
    assert np.array_equal(mine, kernel(np.ones((4, 7)), np.ones((4, 7)), 0.5))


def test_faults_of_several_outs():
    kernel = ProcessorKernel(PAIR, keep=False)
    with pytest.raises(StateFault, match=r"pair: out is ndarray; give a tuple of 2 arrays: M, h"):
        kernel(np.zeros(2), np.zeros((2, 3)), out=np.empty((2, 3, 3)))
    block = np.empty(24)
    overlapping = block[:18].reshape(2, 3, 3), block[12:18].reshape(2, 3)
    with pytest.raises(StateFault, match=r"two of the arrays in out overlap; give separate ones"):
        kernel(np.zeros(2), np.zeros((2, 3)), out=overlapping)


@pytest.mark.parametrize("wanted", [0, -1, 1.5, "2", True])
def test_faults_of_threads(kernel, wanted):
    with pytest.raises(StateFault, match=r"mix: threads is .*; give a whole number of threads, 1 or more"):
        kernel(np.zeros((4, 7)), np.zeros((4, 7)), 0.0, threads=wanted)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dtype": "float16"}, r"mix: dtype is 'float16'; give 'float64' or 'float32'"),
        ({"layout": "tiles"}, r"mix: layout is 'tiles'; give 'rows' \(\.\.\., k\) or 'columns' \(k, N\)"),
        ({"width": 3}, r"mix: width is 3; give a power of two up to 32, or None"),
    ],
)
def test_faults_of_construction(options, message):
    with pytest.raises(KernelFault, match=message):
        ProcessorKernel(GRAPH, **options)
