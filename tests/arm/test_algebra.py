"""Algebra on any scalar: functions, structural zeros, products, vectors, tensors."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arms import random_rotation
from close import assert_close
from forearm.algebra import (
    cos,
    cross,
    is_number,
    is_one,
    is_scalar,
    is_zero,
    one_based,
    parallel_axis,
    product,
    rotation_x,
    rotation_y,
    rotation_z,
    second_moment,
    sin,
    sin_cos_of_constant,
    skew,
    sqrt,
    turned_tensor,
    where,
)

sympy = pytest.importorskip("sympy")
mpmath = pytest.importorskip("mpmath")

vectors = st.lists(st.floats(-10, 10), min_size=3, max_size=3).map(np.array)


def test_functions_of_any_scalar():
    x = sympy.Symbol("x")
    assert sin(0.3) == math.sin(0.3)
    assert cos(x) == sympy.cos(x)
    assert sqrt(sympy.Integer(4)) == 2
    with mpmath.workdps(40):
        assert sin(mpmath.mpf("0.3")) == mpmath.sin(mpmath.mpf("0.3"))
    assert sqrt(np.float64(4)) == 2.0
    with pytest.raises(
        TypeError, match="no sin for a str; give a number, or something that has a method sin"
    ):
        sin("x")


def test_own_scalars_bring_their_own_functions():
    class Angle:
        def sin(self):
            return "its sine"

    assert sin(Angle()) == "its sine"


def test_where_chooses_by_sign():
    x = sympy.Symbol("x")
    assert where(0.1, "a", "b") == "a"
    assert where(0.0, "a", "b") == "b"
    assert where(mpmath.mpf(-1), "a", "b") == "b"
    assert where(x, 1, 2).subs(x, 3) == 1
    assert where(x, 1, 2).subs(x, -3) == 2


def test_what_is_a_scalar():
    x = sympy.Symbol("x")
    for number in (1, 1.0, np.float32(1), np.int64(1)):
        assert is_number(number)
        assert is_scalar(number)
    for symbol in (x, mpmath.mpf(1)):
        assert not is_number(symbol)
        assert is_scalar(symbol)
    for other in (True, 1j, "1", None, [1], np.array(1.0), {}):
        assert not is_scalar(other)


def test_zero_and_one_by_structure():
    x = sympy.Symbol("x")
    assert is_zero(0)
    assert is_zero(0.0)
    assert is_zero(x - x)
    assert not is_zero(x)
    assert is_one(1.0)
    assert is_one(sympy.Integer(1))
    assert not is_one(x)


@pytest.mark.parametrize("k", range(-8, 9))
def test_right_angles_are_exact(k):
    s, c = sin_cos_of_constant(k * math.pi / 2)
    assert (s, c) == ([0.0, 1.0, 0.0, -1.0][k % 4], [1.0, 0.0, -1.0, 0.0][k % 4])


@given(st.floats(-7, 7))
@settings(max_examples=40, deadline=None)
def test_other_angles_are_as_they_are(angle):
    s, c = sin_cos_of_constant(angle)
    assert abs(s - math.sin(angle)) < 2e-15
    assert abs(c - math.cos(angle)) < 2e-15


def test_product_leaves_out_zeros_and_ones():
    x, y = sympy.symbols("x y")
    a = np.array([[1.0, 0.0], [0.0, x]], dtype=object)
    assert product(a, np.array([y, 2.0], dtype=object)).tolist() == [y, 2.0 * x]
    assert product(a, np.array([[y, 0.0], [0.0, 1.0]], dtype=object)).tolist() == [[y, 0.0], [0.0, x]]
    b = np.arange(6.0).reshape(2, 3)
    assert np.all(product(b, b.T) == b @ b.T)


@given(vectors, vectors)
@settings(max_examples=40, deadline=None)
def test_cross_is_numpys(a, b):
    assert_close(cross(a, b), np.cross(a, b), eps=2, scale=200)
    assert_close(skew(a) @ b, cross(a, b), eps=4, scale=200)


@given(vectors, st.floats(0, 10))
@settings(max_examples=40, deadline=None)
def test_parallel_axis_is_a_point_mass(r, mass):
    tensor = parallel_axis(mass, r)
    assert_close(tensor, -mass * skew(r) @ skew(r), eps=8, scale=3000)
    assert np.all(tensor == tensor.T)
    assert_close(second_moment(tensor), mass * np.outer(r, r), eps=8, scale=3000)


def test_rotations_turn_the_next_axis():
    s, c = math.sin(0.3), math.cos(0.3)
    assert_close(rotation_x(s, c) @ [0, 1, 0], [0, c, s], eps=1)
    assert_close(rotation_y(s, c) @ [0, 0, 1], [s, 0, c], eps=1)
    assert_close(rotation_z(s, c) @ [1, 0, 0], [c, s, 0], eps=1)


def test_turned_tensors_stay_symmetric():
    rng = np.random.default_rng(1)
    tensor = np.cov(rng.normal(size=(3, 9)))
    turned = turned_tensor(random_rotation(rng), tensor)
    assert np.all(turned == turned.T)
    assert_close(np.linalg.eigvalsh(turned), np.linalg.eigvalsh(tensor), eps=32)


def test_one_based_leaves_slot_zero_empty():
    assert one_based(np.array([3.0, 4.0])) == [None, 3.0, 4.0]
