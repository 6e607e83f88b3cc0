"""Tracing: what traced scalars do, and what they refuse with file and line."""

import time

import numpy as np
import pytest

from arms import random_arm
from close import assert_close
from compiler.programs import STATE, random_inputs, torques
from forearm.algebra import cross, where
from forearm.compiler.graph import traced_scalar
from forearm.compiler.graph.interpreter import interpret
from forearm.compiler.graph.trace import trace
from forearm.faults import TraceFault
from forearm.formulations import FORMULATIONS


def value(function, shapes, inputs, **options):
    return interpret(trace(function, shapes, **options), inputs)


def test_arrays_scalars_numbers_and_numpy_numbers_mix():
    def function(x, s):
        a = np.array([1.0, 2.0, 3.0])
        M = np.arange(9.0).reshape(3, 3)
        return (
            M @ x + s * a - a / s + np.float64(2.0) * x + x * np.int64(3) + cross(a, x) + np.float64(1.5) - s
        )

    x, s = np.array([0.3, -0.4, 0.5]), 0.7
    assert_close(value(function, {"x": (3,), "s": ()}, {"x": x, "s": s})["tau"], function(x, s), eps=16)


def test_arrays_on_the_left_and_on_the_right():
    a = np.array([1.0, 2.0])
    for function in (
        lambda s: a + s,
        lambda s: a - s,
        lambda s: a * s,
        lambda s: a / s,
        lambda s: s - a,
        lambda s: s / a,
    ):
        assert_close(value(function, {"s": ()}, {"s": 0.7})["tau"], function(0.7), eps=4)


def test_functions_and_powers():
    def function(x):
        return np.array(
            [np.sin(x[0]), np.cos(x[0]), np.sqrt(x[1]), x[0] ** 2, x[0] ** 7, x[1] ** -3, x[1] ** 0.5, +x[0]]
        )

    x = np.array([0.3, 1.7])
    assert_close(value(function, {"x": (2,)}, {"x": x})["tau"], function(x), eps=8)


def test_where_serves_numbers_and_traced_values():
    for w in (where, traced_scalar.where):
        graph = trace(lambda x, w=w: w(x[0], 2 * x[1], x[2]), {"x": (3,)}, outputs=("y",))
        assert interpret(graph, {"x": [1.0, 2.0, 3.0]})["y"] == 4.0
        assert interpret(graph, {"x": [-1.0, 2.0, 3.0]})["y"] == 3.0
        assert w(1.0, "a", "b") == "a"
        assert w(-1.0, "a", "b") == "b"
    assert traced_scalar.where(float("nan"), 1, 2) == 2


def test_results_may_be_dicts_tuples_or_plain_numbers():
    both = trace(lambda x: {"a": x, "b": np.zeros((2, 2))}, {"x": (3,)})
    assert [(p.name, p.shape) for p in both.outputs] == [("a", (3,)), ("b", (2, 2))]
    assert interpret(both, {"x": [1.0, 2.0, 3.0]})["b"].tolist() == [[0.0, 0.0], [0.0, 0.0]]
    pair = trace(lambda x: (x[0], 5.0), {"x": (3,)}, outputs=("a", "b"))
    assert interpret(pair, {"x": [1.0, 2.0, 3.0]}) == {"a": 1.0, "b": 5.0}


def test_only_what_outputs_need_is_kept():
    def function(x):
        np.sin(x[0]) * np.cos(x[1])
        return x[1] + 1

    assert trace(function, {"x": (2,)}).counts.operations == 1


LINE = r"test_trace\.py:\d+ "


@pytest.mark.parametrize(
    ("deed", "message"),
    [
        (lambda x: 1 if x else 2, LINE + "asked whether a traced value is true"),
        (lambda x: float(x), LINE + r"asked a traced value for its number \(float\)"),
        (lambda x: int(x), LINE + r"asked a traced value for its number \(int\)"),
        (lambda x: complex(x), LINE + r"asked a traced value for its number \(complex\)"),
        (lambda x: [1, 2][x], LINE + "used a traced value as an index"),
        (lambda x: abs(x), LINE + "took the absolute value of a traced value"),
        (lambda x: x < 1, LINE + "compared a traced value"),
        (lambda x: x >= 1, LINE + "compared a traced value"),
        (lambda x: x == 1, LINE + "compared a traced value"),
        (lambda x: x != 1, LINE + "compared a traced value"),
        (lambda x: max(x, 0.0), LINE + "compared a traced value"),
        (lambda x: x**0.3, LINE + "raised a traced value to the power 0.3"),
        (lambda x: x**99, LINE + "raised a traced value to the power 99; expected at most 16"),
        (lambda x: x.where_positive("a", 1), LINE + "chose between str and int; expected two scalars"),
        (lambda x: np.array([x]) > 0, LINE + "compared a traced value"),
        (lambda x: "text", "returned, in 'tau', a str; numbers and traced scalars were expected"),
        (lambda x: x / 0, "a division by the constant 0"),
    ],
)
def test_refusals_name_the_line(deed, message):
    with pytest.raises(TraceFault, match=message):
        trace(deed, {"x": ()})


def test_the_message_says_what_to_do():
    with pytest.raises(TraceFault, match=r"test the joint's kind, or use where\(x, a, b\)"):
        trace(lambda x: 1 if x else 2, {"x": ()})


def test_values_of_two_traces_do_not_mix():
    kept = []
    trace(lambda x: kept.append(x) or x, {"x": ()})
    with pytest.raises(TraceFault, match="mixed values of two traces"):
        trace(lambda x: x + kept[0], {"x": ()})
    with pytest.raises(TraceFault, match="a value of another trace"):
        trace(lambda x: kept[0], {"x": ()})


def test_the_number_of_results_must_fit_their_names():
    with pytest.raises(TraceFault, match=r"returned 2 result\(s\), but outputs=\('a', 'b', 'c'\) names 3"):
        trace(lambda x: (x, x), {"x": ()}, outputs=("a", "b", "c"))


def test_origins_point_into_the_source():
    graph = trace(lambda x: np.sin(x[0]) * x[1], {"x": (2,)}, outputs=("y",), origins=True)
    lines = {line for place in graph.origins if place for line in [place]}
    assert all(file.endswith("test_trace.py") for file, _ in lines)
    assert len(graph.origins) == len(graph.nodes)
    arm = random_arm(3, 1)
    marked, unmarked = (
        torques(arm, "luh_walker_paul_1980", origins=True),
        torques(arm, "luh_walker_paul_1980"),
    )
    assert marked == unmarked
    files = {place[0].rsplit("/", 1)[-1] for place in marked.origins if place}
    assert "luh_walker_paul_1980.py" in files
    assert "algebra.py" not in files


@pytest.mark.parametrize("stem", ["luh_walker_paul_1980", "khalil_kleinfinger_1987", "waters_1979"])
def test_traced_formulations_equal_their_numbers(stem):
    arm = random_arm(4, 5, "RP")
    graph = torques(arm, stem)
    for seed in range(3):
        state = random_inputs(graph, seed, 2.0)
        want = FORMULATIONS[stem].joint_torques(arm, *(state[k] for k in STATE))
        assert_close(interpret(graph, state)["tau"], want)


def test_representations():
    seen = []

    def function(x):
        seen.extend([repr(x[0]), repr(x[0] * 0 + 2), repr(x[0] * x[1])])
        return x

    trace(function, {"x": (2,)})
    assert seen[0] == "<traced x[0]>"
    assert seen[1] == "<traced 2.0>"
    assert seen[2].endswith("mul of v0, v1>")


def test_tracing_a_seven_joint_arm_is_quick():
    arm = random_arm(7, 3)
    best = min(_timed(lambda: torques(arm, "luh_walker_paul_1980")) for _ in range(5))
    assert best < 0.25, "tracing took a quarter of a second; it takes about 0.02 s"


def _timed(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start
