"""Sine and cosine: within 2 units in the last place of the truth, and compiled equal to Python to the bit."""

import math
import random

import mpmath
import numpy as np
import pytest

from forearm.compiler.call.processor import ProcessorKernel
from forearm.compiler.graph.trace import trace
from forearm.compiler.llvm.sines import (
    FLOAT32,
    FLOAT64,
    LIMIT,
    TWO_OVER_PI,
    exact_fma,
    fma32,
    fma_by_fractions,
    sincos32,
    sincos64,
)

GRAPH = trace(lambda x: {"s": [x[0].sin()], "c": [x[0].cos()]}, {"x": (1,)}, name="sincos")
WORST_DOUBLE = 6381956970095103 * 2.0**797  # the double nearest to a multiple of a right angle


def angles():
    """Random, near multiples of right angles, tiny, at the limit, and far beyond it."""
    rng = np.random.default_rng(7)
    multiples = np.concatenate([np.arange(1, 300), rng.integers(1, 63661, 300)]) * (math.pi / 2)
    return np.concatenate(
        [
            rng.uniform(-LIMIT, LIMIT, 600),
            rng.uniform(-7, 7, 600),
            multiples,
            np.nextafter(multiples, 1e9),
            -np.nextafter(multiples, 0),
            10.0 ** -np.arange(0, 308, 5),
            [0.0, 5e-324, LIMIT, -LIMIT, np.nextafter(LIMIT, 1e9)],
            10.0 ** rng.uniform(5, 308, 300) * rng.choice([-1, 1], 300),
            [WORST_DOUBLE, 1e22, 1.7976931348623157e308, -1.7976931348623157e308],
        ]
    )


def worst_ulp(xs, sines, cosines, dtype):
    """Largest error in units of the last place of the true value."""
    worst = 0.0
    with mpmath.workdps(360):
        for x, s, c in zip(xs, sines, cosines, strict=True):
            for got, true in ((s, mpmath.sin(float(x))), (c, mpmath.cos(float(x)))):
                unit = float(np.spacing(np.array(abs(float(true)), dtype)))
                worst = max(worst, float(abs(mpmath.mpf(float(got)) - true) / unit))
    return worst


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_errors_stay_within_two_units_in_the_last_place(dtype):
    with np.errstate(over="ignore"):
        xs = angles().astype(dtype)
    xs = xs[np.isfinite(xs)]
    s, c = ProcessorKernel(GRAPH, dtype=dtype, keep=False)(xs[:, None])
    assert worst_ulp(xs, s[:, 0], c[:, 0], dtype) < 1.5


@pytest.mark.parametrize("width", [1, 4, 8])
@pytest.mark.parametrize(("dtype", "python"), [("float64", sincos64), ("float32", sincos32)])
def test_compiled_equals_python_to_the_bit(dtype, python, width):
    with np.errstate(over="ignore"):
        xs = np.concatenate([angles()[::3], [np.nan, np.inf, -np.inf]]).astype(dtype)
    s, c = ProcessorKernel(GRAPH, dtype=dtype, width=width, keep=False)(xs[:, None])
    want = np.array([python(x) for x in xs], dtype)
    np.testing.assert_array_equal(s[:, 0], want[:, 0])
    np.testing.assert_array_equal(c[:, 0], want[:, 1])


def test_nan_and_infinity_stay_in_their_own_row():
    xs = np.full(21, 0.5)
    xs[[3, 10]] = np.nan, np.inf
    s, c = ProcessorKernel(GRAPH, keep=False)(xs[:, None])
    for values, true in ((s, math.sin(0.5)), (c, math.cos(0.5))):
        assert np.isnan(values[[3, 10], 0]).all()
        assert (np.abs(np.delete(values[:, 0], [3, 10]) - true) <= 2**-52).all()


def test_large_angles_disturb_no_neighbour():
    xs = np.linspace(-3, 3, 16)
    mixed = xs.copy()
    mixed[5] = 1e300
    kernel = ProcessorKernel(GRAPH, keep=False)
    alone, beside = kernel(xs[:, None]), kernel(mixed[:, None])
    np.testing.assert_array_equal(np.delete(alone.s, 5), np.delete(beside.s, 5))
    assert beside.s[5, 0] == sincos64(1e300)[0]


def test_numbers_of_the_recipes():
    with mpmath.workdps(500):
        assert int(mpmath.floor(2 / mpmath.pi * mpmath.mpf(2) ** 1280)) == TWO_OVER_PI
        for recipe, bits in ((FLOAT64, 150), (FLOAT32, 70)):
            assert abs(sum(map(mpmath.mpf, recipe.half_pi)) - mpmath.pi / 2) < mpmath.mpf(2) ** -bits


def test_fma_is_rounded_once():
    draw = random.Random(3)
    fma = exact_fma()
    for _ in range(500):
        a, b = draw.uniform(-2, 2), draw.uniform(-2, 2)
        c = -a * b * (1 + draw.choice([0, 1, 2**20]) * 2.0**-52)
        assert fma(a, b, c) == fma_by_fractions(a, b, c)
        a32, b32 = np.float32(a), np.float32(b)
        c32 = np.float32(-float(a32) * float(b32) * (1 + draw.choice([0, 1e-7, 1e-12])))
        with mpmath.workprec(200):
            true = mpmath.mpf(float(a32)) * float(b32) + float(c32)
        with mpmath.workprec(24):
            assert float(fma32(a32, b32, c32)) == float(+true)
    assert fma(1e308, 10.0, -math.inf) == -math.inf
    assert fma_by_fractions(2.0**600, 2.0**600, 0.0) == math.inf
    assert math.isnan(fma_by_fractions(math.inf, 0.0, 1.0))


def test_an_angle_that_depends_on_a_sine():
    graph = trace(lambda x: [(x[0].sin() * 3.0 + x[1]).cos()], {"x": (2,)}, name="nested", outputs=("y",))
    xs = np.random.default_rng(0).uniform(-3, 3, (37, 2))
    xs[7, 1] = 1e9
    for width in (1, 4, 8):
        y = ProcessorKernel(graph, width=width, keep=False)(xs)[:, 0]
        want = [sincos64(sincos64(a)[0] * 3.0 + b)[1] for a, b in xs]
        np.testing.assert_array_equal(y, want)
    single = ProcessorKernel(graph, keep=False)
    assert [single(x)[0] for x in xs] == want
