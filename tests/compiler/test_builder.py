"""Folding as nodes are made: one expression, one node."""

import math

import numpy as np
import pytest

from forearm.compiler.graph.builder import Builder, quarter_turns
from forearm.compiler.graph.graph import Port
from forearm.compiler.graph.trace import trace
from forearm.faults import TraceFault

SAME = [
    ("x + 0", "x"),
    ("x * 1", "x"),
    ("x * 0", "0 * y"),
    ("x - x", "0 * y"),
    ("-(-x)", "x"),
    ("0 / x", "0 * y"),
    ("x / x", "y / y"),
    ("x / 4", "x * 0.25"),
    ("x / -4", "x * -0.25"),
    ("x + y", "y + x"),
    ("x * y", "y * x"),
    ("x - y", "-(y - x)"),
    ("(-x) * y", "-(x * y)"),
    ("(-x) * (-y)", "x * y"),
    ("x + (-y)", "x - y"),
    ("(-x) + y", "y - x"),
    ("(-x) - y", "-(x + y)"),
    ("x - (-y)", "x + y"),
    ("(-x) - (-y)", "y - x"),
    ("(-x) / y", "-(x / y)"),
    ("x / (-y)", "-(x / y)"),
    ("-2 * x", "-(2 * x)"),
    ("3 * (4 * x)", "12 * x"),
    ("3 + (4 + x)", "7 + x"),
    ("3 + (4 - x)", "7 - x"),
    ("3 - (4 - x)", "x - 1"),
    ("3 - (4 + x)", "-1 - x"),
    ("x - 3", "-3 + x"),
    ("x + x", "2 * x"),
    ("2 * x + 3 * x", "5 * x"),
    ("x - 3 * x", "-2 * x"),
    ("3 * x - x", "2 * x"),
    ("x**3", "x * (x * x)"),
    ("x**-2", "1 / (x * x)"),
    ("x**0", "1 + 0 * y"),
    ("x**0.5", "sqrt(x)"),
    ("sin(-x)", "-sin(x)"),
    ("cos(-x)", "cos(x)"),
    ("sin(x + pi/2)", "cos(x)"),
    ("sin(x - pi/2)", "-cos(x)"),
    ("cos(x + pi/2)", "-sin(x)"),
    ("cos(x - pi/2)", "sin(x)"),
    ("sin(x + pi)", "-sin(x)"),
    ("cos(x + 2*pi)", "cos(x)"),
    ("sin(pi/2 - x)", "cos(x)"),
    ("cos(pi - x)", "-cos(x)"),
    ("sin(0.3 - x)", "-sin(x - 0.3)"),
    ("sqrt(4 + 0 * x)", "2 + 0 * x"),
    ("where(x, y, y)", "y"),
    ("where(1 + 0 * x, y, x)", "y"),
    ("where(0 * x, y, x)", "x"),
]


def node_of(text, names):
    def call(name):
        return lambda v: getattr(v, name)()

    space = {"sin": call("sin"), "cos": call("cos"), "sqrt": call("sqrt"), "pi": math.pi, **names}
    space["where"] = lambda c, a, b: c.where_positive(a, b)
    return eval(text, space)


@pytest.mark.parametrize(("one", "other"), SAME)
def test_equal_expressions_are_one_node(one, other):
    seen = []

    def function(x, y):
        seen.extend(node_of(text, {"x": x, "y": y}).index for text in (one, other))
        return x

    trace(function, {"x": (), "y": ()})
    assert seen[0] == seen[1]


def test_no_other_angle_is_taken_for_a_right_one():
    graph = trace(lambda x: np.sin(x + 1.5707963), {"x": ()}, outputs=("y",))
    assert graph.counts.add == 1
    assert quarter_turns(math.pi / 2) == 1
    assert quarter_turns(-7 * math.pi / 2) == -7
    assert quarter_turns(1.5707963) is None


def test_right_angles_give_exact_zeros_and_ones():
    b = Builder()
    for turns in range(-5, 6):
        angle = b.const(turns * math.pi / 2)
        assert b.value[b.sin(angle)] == (0, 1, 0, -1)[turns % 4]
        assert b.value[b.cos(angle)] == (1, 0, -1, 0)[turns % 4]


def test_division_by_other_constants_stays_a_division():
    assert trace(lambda x: x / 3, {"x": ()}).counts.div == 1


def test_fma_with_known_parts_is_folded():
    b = Builder([Port("x", (3,))])
    x, y, z = (b.input(0, k) for k in range(3))
    assert b.fma(x, y, z) == b.fma(y, x, z)
    assert b.fma(b.const(0.0), y, z) == z
    assert b.fma(b.const(1.0), y, z) == b.add(y, z)
    assert b.fma(b.const(-1.0), y, z) == b.sub(z, y)
    assert b.fma(x, y, b.const(0.0)) == b.mul(x, y)
    assert b.fma(b.neg(x), b.neg(y), z) == b.fma(x, y, z)


def test_numbers_without_meaning_are_refused():
    b = Builder([Port("x", ())])
    with pytest.raises(TraceFault, match="a constant came out as inf"):
        b.const(math.inf)
    with pytest.raises(TraceFault, match="a division by the constant 0"):
        b.div(b.input(0, 0), b.const(0.0))
    with pytest.raises(TraceFault, match="the square root of the constant -1"):
        b.sqrt(b.const(-1.0))
