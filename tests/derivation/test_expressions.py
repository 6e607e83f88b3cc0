"""The exact scalar: its arithmetic and calculus against floats, its normal form against identities."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from close import assert_close
from forearm.derivation.expressions.expression import Ring


def ring():
    return Ring([("q1", "q2", "q3"), ("q4",)])


def random_expression(r, rng, depth=3):
    """A random polynomial in angles, a parameter and small fractions."""
    if depth == 0:
        choice = rng.randrange(4)
        if choice == 0:
            return r.constant(Fraction(rng.randint(-5, 5), rng.randint(1, 4)))
        if choice == 1:
            return r.generator("m")
        angle = sum(
            (r.generator(f"q{i}") * rng.randint(-2, 2) for i in (1, 2, 3)),
            r.generator("q4") * rng.randint(-2, 2),
        )
        return angle.sin() if choice == 2 else angle.cos()
    a, b = random_expression(r, rng, depth - 1), random_expression(r, rng, depth - 1)
    return rng.choice((lambda: a + b, lambda: a - b, lambda: a * b))()


POINT = {"m": 1.7, "q1": 0.3, "q2": -1.1, "q3": 2.2, "q4": 0.7}


@pytest.mark.parametrize("seed", range(8))
def test_arithmetic_agrees_with_floats(seed):
    r, rng = ring(), random.Random(seed)
    a, b = random_expression(r, rng), random_expression(r, rng)
    x, y = a.evaluate(POINT.get), b.evaluate(POINT.get)
    scale = max(1, abs(x), abs(y)) ** 2 * (1 + a.size + b.size)
    assert_close((a * b).evaluate(POINT.get), x * y, scale=scale)
    assert_close((a - b).evaluate(POINT.get), x - y, scale=scale)


@pytest.mark.parametrize("name", ["q1", "q3", "q4", "m"])
def test_derivative_agrees_with_differences(name):
    r = ring()
    x = random_expression(r, random.Random(5), depth=4)
    step = 1e-6
    ahead, behind = ({**POINT, name: POINT[name] + s} for s in (step, -step))
    slope = (x.evaluate(ahead.get) - x.evaluate(behind.get)) / (2 * step)
    assert abs(x.derivative(name).evaluate(POINT.get) - slope) < 1e-7 * (1 + x.largest * x.size)


def test_normal_form_knows_the_identities():
    r = ring()
    a, b, d = (r.generator(f"q{i}") for i in (1, 2, 4))
    assert (a.sin() * a.sin() + a.cos() * a.cos()) == 1
    assert d.sin() ** 2 + d.cos() ** 2 == 1
    assert (a + b).cos() - a.cos() * b.cos() + a.sin() * b.sin() == 0
    assert str(a.cos() * (a + b).cos() + a.sin() * (a + b).sin()) == "c2"
    assert (d * 3).sin() == 3 * d.sin() - 4 * d.sin() ** 3
    assert (a + d).sin() == a.sin() * d.cos() + a.cos() * d.sin()
    assert (-a).sin() == -a.sin()


def test_right_angles_fold_exactly():
    r = ring()
    q = r.generator("q4")
    assert (q + math.pi / 2).sin() == q.cos()
    assert (q - math.pi / 2).sin() == -q.cos()
    assert (q + math.pi).cos() == -q.cos()


def test_decimals_are_read_as_they_print():
    r = ring()
    assert (r.constant(0.1) + r.constant(0.2)).constant_value == Fraction(3, 10)
    assert r.constant(2.0).constant_value == 2


def test_quotients_cancel():
    r = ring()
    a, b, c = (r.generator(x) for x in "abc")
    assert ((a * c + b * c) / (a + b)).reduced() == c
    assert (1 / a * a).reduced() == 1
    x = (a * c) / (a + b)
    assert_close(x.evaluate({"a": 2.0, "b": 3.0, "c": 5.0}.get), 2.0)


def test_sine_of_something_else_is_refused():
    r = ring()
    with pytest.raises(TypeError, match="no sum of"):
        (r.generator("a") * r.generator("b")).sin()
    with pytest.raises(TypeError, match="whole powers"):
        r.generator("a") ** 0.5
    with pytest.raises(ZeroDivisionError):
        r.constant(1) / r.constant(0)


def test_expressions_of_two_rings_do_not_mix():
    with pytest.raises(TypeError, match="two derivations"):
        ring().generator("a") + ring().generator("a")


def test_object_arrays_carry_expressions():
    r = ring()
    v = np.array([r.generator("a"), 0.0, 1.0], dtype=object)
    assert (np.eye(3) @ v)[0] == r.generator("a")
    assert (np.zeros(3) * r.generator("a"))[1] == 0


def test_text_gathers_terms():
    r = ring()
    a, b, g = (r.generator(x) for x in "abg")
    q = r.generator("q1")
    assert str(g * a * q.cos() + g * b * q.cos()) == "g*(a + b)*c1"
    assert str(-2 * a * (q + r.generator("q2")).sin()) == "-2*a*s12"
    assert str(a * (q - r.generator("q2")).cos()) == "a*cos(q1 - q2)"
    assert str(r.constant(Fraction(1, 2)) * a) == "1/2*a"
    assert str(r.constant(0.4318)) == "0.4318"
    assert str(r.constant(0)) == "0"


def test_a_parameter_called_like_a_cosine_is_not_read_as_one():
    """c1 as the letter of a length and c1 for cos q1 would be one word for two things."""
    import sympy as sp

    from forearm.arm import Arm
    from forearm.derivation import derive
    from forearm.link import Link

    def text_and_latex(name):
        link = Link.dh("revolute", a=0.5, mass=2.0, com=(sp.Symbol(name), 0, 0))
        equations = derive(Arm("clash", [link], gravity=(0, -9.81, 0)))
        return str(equations.tau[0]), equations.to_latex()

    text, latex = text_and_latex("c1")
    assert text == "2*c1^2*qdd1 + 2*c1*qdd1 + 1/2*qdd1 + (9.81 + 981/50*c1)*cos(q1)"
    assert r"\cos(q_{1})" in latex
    assert r"\cos q_i" not in latex
    text, latex = text_and_latex("x1")
    assert text.endswith("*c1")
    assert "c_{1}" in latex


def test_a_power_that_an_exponent_has_no_room_for_is_refused():
    """x^300 became x^44 y."""
    ring = Ring()
    x = ring.generator("x")
    ring.generator("y")
    assert str(x**60) == "x^60"
    with pytest.raises(ArithmeticError, match="powers up to 63; 300 was given"):
        x**300
