"""Choices and tanh of control laws: what tracing makes of NumPy's functions, against NumPy and 50 digits."""

import mpmath
import numpy as np
import pytest

import forearm as fa
from close import EPS
from forearm.compiler.graph.interpreter import interpret
from forearm.compiler.graph.passes import lower
from forearm.compiler.graph.trace import trace
from forearm.simulation.traced_laws import make_law

ARM = fa.load("rr")
RNG = np.random.default_rng(5)
W, B, V = RNG.normal(size=(8, 4)), RNG.normal(size=8), RNG.normal(size=(2, 8))

LAWS = {
    "clip": lambda t, q, qd: np.clip(-30 * q - 2 * qd, -5, [4, 5]),
    "one_sided": lambda t, q, qd: (-30 * q).clip(-5, None) + (2 * qd).clip(max=1.0),
    "maximum": lambda t, q, qd: np.maximum(-3 * q, qd) - np.fmin(q, 0.3),
    "largest": lambda t, q, qd: q.max() * np.abs(qd) - q.min(),
    "tanh": lambda t, q, qd: -5 * np.tanh(3 * q) - np.tanh(qd[0]),
    "network": lambda t, q, qd: V @ np.tanh(W @ np.concatenate([q, qd]) + B),
    "rectified": lambda t, q, qd: V @ np.maximum(W @ np.hstack([q, qd]) + B, 0.0),
}


@pytest.mark.parametrize("name", LAWS)
def test_a_traced_law_is_the_law(name):
    law = make_law(ARM, LAWS[name], {}, True)
    assert law.why == "traced"
    for _ in range(5):
        q, qd = RNG.normal(size=(2, 2))
        got = next(iter(interpret(law.graph, {"t": 0.0, "q": q, "qd": qd}).values()))
        want = LAWS[name](0.0, q, qd)
        assert np.abs(got.astype(float) - want).max() <= 64 * EPS * max(1.0, np.abs(want).max() * 8)


def test_gains_are_matrices_of_a_network_too():
    def law(t, q, qd, inner, outer):
        return outer @ np.tanh(inner @ np.concatenate([q, qd]))

    gains = {"inner": W[:3], "outer": V[:, :3]}
    traced = fa.simulate(ARM, [0.1, 0.2], law=law, gains=gains, duration=0.05, dt=1e-3)
    plain = fa.simulate(ARM, [0.1, 0.2], law=law, gains=gains, duration=0.05, dt=1e-3, trace=False)
    assert np.abs(traced.q - plain.q).max() < 1e-14


def test_tanh_is_right_to_a_few_roundings_and_never_beyond_one():
    graph = lower(trace(lambda x: np.tanh(x), {"x": (1,)}, outputs=("y",)))
    values = [*np.linspace(-21, 21, 301), *np.logspace(-300, 1, 200), 0.0, np.inf, -np.inf]
    for x in values:
        got = float(interpret(graph, {"x": np.array([x])})["y"][0])
        want = float(mpmath.tanh(mpmath.mpf(float(x))))
        assert abs(got - want) <= 5 * EPS * abs(want)
        assert abs(got) <= 1.0
    assert np.isnan(float(interpret(graph, {"x": np.array([np.nan])})["y"][0]))


def test_a_scalar_that_is_compared_still_says_so():
    law = make_law(ARM, lambda t, q, qd: np.array([max(q[0], 0.0), 0.0]), {}, True)
    assert law.graph is None
    assert "compared a traced value" in law.why


CHOOSERS = {
    "clip": lambda x, y: np.clip(x, -5.0, 5.0),
    "clip between traced bounds": lambda x, y: np.clip(x, y, 7.0),
    "maximum": lambda x, y: np.maximum(x, y),
    "maximum of a number": lambda x, y: np.maximum(0.5, x),
    "minimum": lambda x, y: np.minimum(x, y),
    "minimum of a number": lambda x, y: np.minimum(x, 0.5),
    "fmax": lambda x, y: np.fmax(x, y),
    "fmin": lambda x, y: np.fmin(x, y),
    "abs": lambda x, y: np.abs(x),
    "largest": lambda x, y: np.array([np.concatenate([x, y]).max()]),
}


@pytest.mark.parametrize("name", CHOOSERS)
def test_a_choice_gave_a_bound_where_numpy_gives_nan(name):
    kernel = fa.compile_function(CHOOSERS[name], {"x": 1, "y": 1})
    odd = [np.nan, np.inf, -np.inf, 0.0, 0.5, 5.0, -5.0, 6.0, -1e300, 1e300]
    for x in odd:
        for y in odd:
            want = CHOOSERS[name](np.array([x]), np.array([y]))
            np.testing.assert_array_equal(kernel(np.array([[x]]), np.array([[y]]))[0], want)


def test_a_law_that_catches_what_tracing_refuses_went_another_way():
    def law(t, q, qd):
        try:
            side = 1.0 if q[0] > 0 else -1.0
        except Exception:
            side = 0.0
        return np.array([side, 0.0])

    assert make_law(ARM, law, {}, True).why.startswith("runs in Python, because it cannot be traced")
    with pytest.raises(fa.TraceFault, match="compared a traced value"):
        fa.compile_function(lambda q: law(0.0, q, q), {"q": 2})
