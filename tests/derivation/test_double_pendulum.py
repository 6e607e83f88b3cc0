"""Giacaglia and Kottke's double pendulum in absolute angles: (50) to (59) as corrected, and what is misprinted."""

import numpy as np
import pytest
import sympy as sp

from close import assert_close
from derivation_printed import assert_all_printed, assert_printed, terms
from forearm.derivation import derive, prove_equal
from forearm.faults import StateFault
from forearm.readers import load
from forearm.taskspace import Coordinates

m1, m2, l1, l2, I1, I2, g = NAMES = sp.symbols("m1 m2 l1 l2 I1 I2 g")
q1, q2, qd1, qd2, qdd1, qdd2 = sp.symbols("q1 q2 qd1 qd2 qdd1 qdd2")
s1, c1, s2, c2 = sp.sin(q1), sp.cos(q1), sp.sin(q2), sp.cos(q2)
c12, s12 = sp.cos(q1 - q2), sp.sin(q1 - q2)  # the paper's c12 and s12 are of the difference
ABSOLUTE = [[1, 0], [-1, 1]]  # joint angles from absolute ones: q = S x


@pytest.fixture(scope="module")
def arm():
    return load("double_pendulum", parameters={x.name: x for x in NAMES})


@pytest.fixture(scope="module")
def pendulum(arm):
    return derive(arm, "giacaglia_kottke_2007", coordinates=ABSOLUTE)


def test_50_and_51_aggregated_velocities(pendulum):
    (v1, w1), (v2, w2) = pendulum.jacobians
    assert_all_printed(v1, [[-l1 * s1, 0], [l1 * c1, 0], [0, 0]], "(36)")
    assert_all_printed(v2, [[-2 * l1 * s1, -l2 * s2], [2 * l1 * c1, l2 * c2], [0, 0]], "(37)")
    assert_all_printed(w1, [[0, 0], [0, 0], [1, 0]], "(39)")
    assert_all_printed(w2, [[0, 0], [0, 0], [0, 1]], "(39)")


def test_52_and_53_weight(pendulum):
    # Q = N - g(q): the weight's part of the generalised force is minus ours
    assert_all_printed(-pendulum.g, [-(m1 + 2 * m2) * g * l1 * c1, -m2 * g * l2 * c2], "(52)")


def test_54_to_57_mass_matrix(pendulum):
    a11 = (m1 + 4 * m2) * l1**2 + I1  # (54)
    a12 = 2 * l1 * l2 * m2 * c12  # (55), (56)
    a22 = m2 * l2**2 + I2  # (57)
    assert_all_printed(pendulum.M, [[a11, a12], [a12, a22]], "(54)")


def test_the_only_nonzero_bracket_is_two(pendulum):
    assert_printed(pendulum.christoffel[0, 1, 1], 2 * m2 * l1 * l2 * s12, "a^1_22")
    assert_printed(
        pendulum.christoffel[1, 0, 0], -2 * m2 * l1 * l2 * s12, "a^2_11, which the paper overlooks"
    )
    others = [x for place, x in np.ndenumerate(pendulum.christoffel) if place not in ((0, 1, 1), (1, 0, 0))]
    assert all(x.is_zero for x in others)


def test_58_and_59_corrected(pendulum):
    left1 = (
        ((m1 + 4 * m2) * l1**2 + I1) * qdd1 + 2 * m2 * l1 * l2 * c12 * qdd2 + 2 * m2 * l1 * l2 * s12 * qd2**2
    )
    left2 = 2 * l1 * l2 * m2 * c12 * qdd1 + (m2 * l2**2 + I2) * qdd2 - 2 * m2 * l1 * l2 * s12 * qd1**2
    N1 = left1 + (m1 + 2 * m2) * g * l1 * c1
    N2 = left2 + m2 * g * l2 * c2
    assert_all_printed(pendulum.tau, [N1, N2], "(58)")


def test_misprint_of_58_is_the_sign_of_the_weight(pendulum):
    left = (
        ((m1 + 4 * m2) * l1**2 + I1) * qdd1 + 2 * m2 * l1 * l2 * c12 * qdd2 + 2 * m2 * l1 * l2 * s12 * qd2**2
    )
    N1_as_printed = left - (m1 + 2 * m2) * g * l1 * c1
    difference = pendulum.tau[0].to_sympy() - N1_as_printed
    assert terms(difference) == terms(2 * g * l1 * (m1 + 2 * m2) * c1)


def test_misprint_of_59_is_a_missing_term(pendulum):
    N2_as_printed = 2 * l1 * l2 * m2 * c12 * qdd1 + (m2 * l2**2 + I2) * qdd2 + m2 * g * l2 * c2
    difference = pendulum.tau[1].to_sympy() - N2_as_printed
    assert terms(difference) == terms(-2 * m2 * l1 * l2 * s12 * qd1**2)


def test_misprint_of_28_is_the_missing_half(pendulum):
    M, x = pendulum.to_sympy("M"), (q1, q2)
    as_printed = sp.diff(M[0, 1], x[1]) + sp.diff(M[0, 1], x[1]) - sp.diff(M[1, 1], x[0])
    assert terms(as_printed / 2) == terms(pendulum.christoffel[0, 1, 1].to_sympy())


def test_three_ways_in_absolute_angles_are_the_same(arm):
    stems = ["euler_lagrange_notes", "newton_euler_notes", "giacaglia_kottke_2007"]
    assert prove_equal(arm, stems, coordinates=ABSOLUTE).holds


def test_coordinates_of_the_numeric_functions_are_accepted():
    numeric = load("double_pendulum")
    absolute = Coordinates.absolute(numeric)
    eq = derive(numeric, coordinates=absolute)
    x, xd, xdd = np.random.default_rng(0).uniform(-2, 2, (3, 5, 2))
    assert_close(eq.lambdify()(x, xd, xdd), absolute.inverse_dynamics(x, xd, xdd))
    assert eq.check.passed
    with pytest.raises(
        StateFault, match=r"coordinates has the offset \[0.1, 0.0\]; give it to the links instead"
    ):
        derive(numeric, coordinates=Coordinates(numeric, ABSOLUTE, offset=[0.1, 0.0]))


def test_golden_accelerations_of_the_corrected_equations(pendulum):
    values = dict(zip("m1 m2 l1 l2 I1 I2 g".split(), (1.2, 0.9, 0.5, 0.4, 0.1, 0.048, 9.81), strict=True))
    q, qd, N = np.array([0.6, -0.2]), np.array([1.1, -0.8]), np.array([0.7, -0.3])
    bias = pendulum.lambdify("tau")(q, qd, np.zeros(2), **values)
    qdd = np.linalg.solve(pendulum.lambdify("M")(q, **values), N - bias)
    assert np.allclose(qdd, [-7.30694087032764, -8.41685786776352], rtol=1e-14, atol=0)
