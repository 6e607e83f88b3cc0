"""The NumPy emitter: readable, batched, the same values."""

import ast

import numpy as np
import pytest

from arms import random_arm
from close import assert_close
from compiler.programs import STATE, largest, random_graph, random_inputs, torques
from forearm.compiler.graph.interpreter import arrays, interpret
from forearm.compiler.graph.passes import lower
from forearm.compiler.graph.trace import trace
from forearm.compiler.sources.identifiers import identifier
from forearm.compiler.sources.numpy_source import numpy_source, to_numpy


def test_batches_equal_the_interpreter_to_the_bit():
    graph = lower(torques(random_arm(3, 1, "RP")))
    rng = np.random.default_rng(0)
    state = {k: rng.normal(size=(4, 5, 3)) for k in STATE}
    found = to_numpy(graph)(*state.values())
    assert found.shape == (4, 5, 3)
    assert np.array_equal(found, interpret(graph, state, arrays)["tau"])


@pytest.mark.parametrize("seed", range(6))
def test_every_operation(seed):
    graph = random_graph(seed, fma=True)
    state = random_inputs(graph, seed)
    assert_close(
        to_numpy(graph)(*state.values()), interpret(graph, state)["y"], eps=16, scale=largest(graph, state)
    )


def test_leading_axes_broadcast():
    graph = trace(
        lambda x, M, s: {"a": M @ x, "b": s * s, "c": np.zeros(2)}, {"x": (2,), "M": (2, 2), "s": ()}, "b"
    )
    a, b, c = to_numpy(graph)(np.ones((3, 1, 2)), np.eye(2), np.arange(4.0))
    assert a.shape == (3, 4, 2)
    assert b.shape == (3, 4)
    assert c.shape == (3, 4, 2)
    assert np.array_equal(a, np.ones((3, 4, 2)))
    assert np.array_equal(b, np.broadcast_to(np.arange(4.0) ** 2, (3, 4)))
    assert np.array_equal(c, np.zeros((3, 4, 2)))


def test_one_state_gives_one_result():
    graph = trace(lambda x: x @ x, {"x": (2,)}, "square", ("s",))
    assert to_numpy(graph)([3.0, 4.0]) == 25.0
    assert to_numpy(graph)([3, 4]).shape == ()


def test_single_precision_stays_single():
    graph = trace(lambda x: 0.1 * np.sin(x), {"x": (2,)}, "s", ("y",))
    assert to_numpy(graph)(np.ones(2, dtype=np.float32)).dtype == np.float32
    assert to_numpy(graph)(np.ones(2, dtype=int)).dtype == np.float64


def test_bad_rows_stay_where_they_are_without_a_warning():
    graph = trace(lambda x: np.array([np.sin(x[0]) / x[1], np.sqrt(x[1])]), {"x": (2,)}, "n", ("y",))
    found = to_numpy(graph)(np.array([[1.0, 1.0], [np.nan, 1.0], [np.inf, 0.0], [2.0, 4.0]]))
    assert np.isfinite(found[[0, 3]]).all()
    assert np.isnan(found[1, 0])
    assert np.isnan(found[2, 0])


def test_the_source_is_a_function_that_says_what_it_is():
    graph = trace(lambda q: 2.5 * np.cos(q), {"q": (1,)}, "puma560 cosine by hand", ("c",))
    text = numpy_source(graph)
    imported, function = ast.parse(text).body
    assert ast.unparse(imported) == "import numpy as np"
    assert function.name == "puma560_cosine_by_hand"
    assert ast.get_docstring(function) == "puma560 cosine by hand: 1 mul, 1 sincos (1 operations)."
    assert "np.cos(q[..., 0])" in text
    assert to_numpy(graph).source == text


def test_names_are_made_legal():
    assert identifier("2R arm / torque") == "_2R_arm_torque"
    assert identifier("lambda") == "_lambda"
    assert identifier("<lambda>") == "_lambda"
    assert identifier("ω") == "graph"
    assert identifier("v12") == "_v12"


@pytest.mark.parametrize(
    ("inputs", "outputs"),
    [(("out_y",), ("y",)), (("a",), ("x y", "x_y")), (("ω", "φ"), ("y",)), (("y", "y_2"), ("y", "out_y"))],
)
def test_names_that_would_be_one_word_stay_two(inputs, outputs):
    def turned(**given):
        total = sum((k + 1) * x for k, x in enumerate(given.values()))
        first = next(iter(given.values()))
        return {name: np.array([first[1], (k + 2) * total[0]]) for k, name in enumerate(outputs)}

    graph = trace(turned, dict.fromkeys(inputs, (2,)), "n", outputs)
    state = {name: np.array([1.0 + k, 10.0 + k]) for k, name in enumerate(inputs)}
    found = to_numpy(graph)(*state.values())
    for got, want in zip([found] if len(outputs) == 1 else found, turned(**state).values(), strict=True):
        np.testing.assert_array_equal(got, want)
