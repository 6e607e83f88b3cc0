"""Functions of one's own as kernels: the values of the plain function, on every shape, and refusals that say why."""

import time

import numpy as np
import pytest

import forearm as fa
from close import assert_close

RR = fa.load("rr")
SOME_MASKED = np.ma.masked_array([1.0, 2.0], mask=[False, True])


def push(q, qd, goal, K):
    """A law with gains, a clip and dynamics in it; a matrix and a number come out beside the torques."""
    tau = fa.gravity_torque(RR, q) + np.clip(K @ (goal - q) - 2.0 * qd, -5.0, 5.0)
    return {"tau": tau, "M": fa.mass_matrix(RR, q) @ K, "power": tau @ qd}


def test_a_kernel_gives_what_the_function_gives():
    rng = np.random.default_rng(0)
    q, qd, goal, K = (rng.normal(size=(40, *shape)) for shape in ((2,), (2,), (2,), (2, 2)))
    kernel = fa.compile_function(push, {"q": 2, "qd": (2,), "goal": [2], "K": (2, 2)})
    many = kernel(q, qd, goal, K)
    assert many.tau.shape == (40, 2)
    assert many.M.shape == (40, 2, 2)
    assert many.power.shape == (40,)
    for i in range(40):
        one = push(q[i], qd[i], goal[i], K[i])
        for name, want in one.items():
            assert_close(getattr(many, name)[i], want)
    alone = kernel(q[0], qd[0], goal[0], K[0])
    assert_close(alone.tau, many.tau[0])
    assert kernel.counts.operations > 0


def test_derivatives_of_forearm_are_part_of_a_function():
    def slope(q, qd, tau, weights):
        return weights @ fa.forward_derivatives(RR, q, qd, tau).dq

    q, qd, tau = RR.random_state(0, (9,))
    kernel = fa.compile_function(slope, {"q": 2, "qd": 2, "tau": 2, "weights": 2}, ("slope",))
    want = np.einsum("i,kij->kj", [1.0, -2.0], fa.forward_derivatives(RR, q, qd, tau).dq)
    assert_close(kernel(q, qd, tau, [1.0, -2.0]), want)


def test_what_cannot_be_a_kernel_says_why():
    with pytest.raises(fa.TraceFault, match="compared a traced value"):
        fa.compile_function(lambda q: q if q[0] > 0 else -q, {"q": 2})
    with pytest.raises(fa.TraceFault, match="solve1"):
        fa.compile_function(lambda q: np.linalg.solve(np.outer(q, q) + np.eye(2), q), {"q": 2})
    with pytest.raises(fa.TraceFault, match="unexpected keyword argument 'x'"):
        fa.compile_function(lambda q: q, {"x": 2})
    with pytest.raises(fa.TraceFault, match=r"the shape 2\.5"):
        fa.compile_function(lambda q: q, {"q": 2.5})
    with pytest.raises(fa.TraceFault, match="give a function"):
        fa.compile_function("inverse_dynamics", {"q": 2})
    with pytest.raises(fa.KernelFault, match="target is 'fpga'"):
        fa.compile_function(lambda q: q, {"q": 2}, target="fpga")
    with pytest.raises(fa.TraceFault, match="names 2"):
        fa.compile_function(lambda q: q, {"q": 2}, ("a", "b"))
    with pytest.raises(fa.TraceFault, match=r"inputs of <lambda> are \['q'\]; give shapes by name"):
        fa.compile_function(lambda q: q, ["q"])
    for outputs in (None, "ab"):
        with pytest.raises(fa.TraceFault, match="give a list of names"):
            fa.compile_function(lambda q: q, {"q": 2}, outputs)


@pytest.mark.parametrize(
    ("function", "word"),
    [
        (lambda q: q * SOME_MASKED, "masked entries"),
        (lambda q: SOME_MASKED * q, "masked entries"),
        (lambda q: q[0] * SOME_MASKED, "masked entries"),
        (lambda q: np.concatenate([q, SOME_MASKED])[:2], "masked entries"),
        (lambda q: np.nan_to_num(q), "nan_to_num"),
    ],
)
def test_a_function_does_not_compute_with_what_a_mask_hides_nor_lets_nan_through(function, word):
    with pytest.raises(fa.TraceFault, match=word):
        fa.compile_function(function, {"q": 2})


def test_a_law_with_a_mask_in_it_is_refused_and_one_that_fills_nan_goes_on_in_python():
    with pytest.raises(fa.StateFault, match="what law returned has 1 masked entries"):
        fa.simulate(RR, [0.1, 0.2], law=lambda t, q, qd: q * SOME_MASKED, duration=2e-3)
    run = fa.simulate(RR, [0.1, 0.2], law=lambda t, q, qd: np.nan_to_num(q), duration=2e-3)
    assert "np.nan_to_num takes a symbol as it is" in run.law


def test_of_two_results_of_one_name_one_was_lost():
    with pytest.raises(fa.TraceFault, match=r"outputs of <lambda> are \('a', 'a'\); give .* each once"):
        fa.compile_function(lambda q: (q, 2 * q), {"q": 2}, ("a", "a"))


PROGRAMS = ("single", "batch")


def many_results(count):
    return fa.compile_function(
        lambda x: tuple(x * (k + 1) for k in range(count)), {"x": 3}, [f"y{k}" for k in range(count)]
    )


def test_two_hundred_results_took_longer_than_anyone_waits():
    texts = [[len(many_results(count).text(program)) for count in (100, 200)] for program in PROGRAMS]
    for half, whole in texts:  # LLVM's time grows faster than its text does
        assert whole < 3 * half
    kernel, x = many_results(200), np.array([1.0, 2.0, 3.0])
    for given in (x, np.tile(x, (600, 1))):
        for _ in range(2):
            for k, result in enumerate(kernel(given)):
                np.testing.assert_array_equal(result, given * (k + 1))
        outs = tuple(np.empty_like(given) for _ in range(200))
        kernel(given, out=outs)
        np.testing.assert_array_equal(outs[199], given * 200)
        with pytest.raises(fa.StateFault, match="overlap"):
            kernel(given, out=(*outs[:199], outs[0]))


def test_ten_thousand_numbers_were_compiled_twice_and_nothing_was_said(monkeypatch, caplog):
    """The code of one state and that of a batch take LLVM half a minute each."""
    monkeypatch.setattr("forearm.compiler.call.processor.MOST_NUMBERS", 100)
    monkeypatch.setattr("forearm.compiler.llvm.jit.LONG_TEXT", 10_000)
    monkeypatch.setenv("FOREARM_CACHE", "off")
    caplog.set_level("INFO", "forearm")
    kernel = fa.compile_function(lambda x: 3.0 * x, {"x": 80})
    for given in (np.arange(80.0), np.ones((5, 80))):
        np.testing.assert_array_equal(kernel(given), 3.0 * given)
    told = [record.message for record in caplog.records]
    assert sum("MB of text for LLVM: this may take minutes, once" in text for text in told) == 1
    assert sum(text.startswith("compiled <lambda>") for text in told) == 1


def test_sines_of_sines_took_minutes_without_a_word():
    """1,200 of them took one and a half, 3,000 more than anybody waited for: one state's code had each in full."""

    def pendulum(x):
        for _ in range(2000):
            x = x + 1e-3 * np.array([x[1], -fa.sin(x[0])])
        return x

    kernel, x = fa.compile_function(pendulum, {"x": 2}), np.array([1.0, 0.5])
    started = time.process_time()
    end = kernel(x)
    assert time.process_time() - started < 20
    for _ in range(2000):
        x = x + 1e-3 * np.array([x[1], -np.sin(x[0])])
    assert_close(end, x, eps=10_000, because="2,000 steps, each of them rounded")


def test_a_whole_number_of_numpy_is_a_shape():
    assert_close(fa.compile_function(lambda q: 2 * q, {"q": np.int64(2)})([1.0, 2.0]), [2.0, 4.0])


def test_a_function_with_a_memory_is_refused():
    calls = []

    def counted(q):
        calls.append(1)
        return q * len(calls)

    with pytest.raises(fa.TraceFault, match="a second time"):
        fa.compile_function(counted, {"q": 2})


def test_a_function_that_counts_its_calls_was_compiled_as_its_first_call():
    calls = [0]

    def late(q):
        calls[0] += 1
        return q * (2.0 if calls[0] > 5 else 1.0)

    with pytest.raises(fa.TraceFault, match="changed what it keeps"):
        fa.compile_function(late, {"q": 2})


SINGULAR = {
    "x / x": lambda x: x / x,
    "0 / x": lambda x: 0.0 / x,
    "0 * (1 / x)": lambda x: 0.0 * (1.0 / x) + 2.0,
    "1 / x - 1 / x": lambda x: (x + 1.0) / x - (x + 1.0) / x,
    "a root that is left out": lambda x: np.sqrt(x - 1.0) - np.sqrt(x - 1.0) + x,
    "what cancels as a whole": lambda x: (x * x + 2.0 / x) - 2.0 / x,
    "a circle": lambda x: np.sin(1.0 / x) ** 2 + np.cos(1.0 / x) ** 2,
    "constants that leave nothing": lambda x: 1e-200 * (1e-200 * x),
}


@pytest.mark.parametrize("what", SINGULAR)
def test_where_a_function_is_no_number_its_kernel_gave_one(what):
    function, x = SINGULAR[what], np.array([0.0, 1.0, -3.0, 1e200])
    with np.errstate(all="ignore"):
        want = [float(function(np.float64(v))) for v in x]
    found = fa.compile_function(lambda x: function(x), {"x": ()})(x)
    np.testing.assert_allclose(found, want, rtol=1e-14)
