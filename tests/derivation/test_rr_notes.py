"""Every printed equation (1) to (33) of the RR notes, derived and compared term by term."""

import numpy as np
import pytest
import sympy as sp

from derivation_printed import assert_all_printed, assert_printed
from forearm.derivation import derive, prove_equal, symbolic
from forearm.readers import load

m1, m2, l1, l2, lc1, lc2, I1z, I2z, g = sp.symbols("m1 m2 l1 l2 lc1 lc2 I1z I2z g")
q1, q2, qd1, qd2, qdd1, qdd2 = sp.symbols("q1 q2 qd1 qd2 qdd1 qdd2")
s1, c1, s2, c2 = sp.sin(q1), sp.cos(q1), sp.sin(q2), sp.cos(q2)
s12, c12 = sp.sin(q1 + q2), sp.cos(q1 + q2)


@pytest.fixture(scope="module")
def rr():
    return symbolic(load("rr"))


@pytest.fixture(scope="module")
def energies(rr):
    return derive(rr)


@pytest.fixture(scope="module")
def newton(rr):
    return derive(rr, "newton_euler_notes")


@pytest.fixture(scope="module")
def lagrange(rr):
    return derive(rr, "euler_lagrange_notes")


def test_1_and_2_jacobians(energies):
    (J_v1, J_w1), (J_v2, J_w2) = energies.jacobians
    assert_all_printed(J_w1, [[0, 0], [0, 0], [1, 0]], "(1)")
    assert_all_printed(J_w2, [[0, 0], [0, 0], [1, 1]], "(1)")
    assert_all_printed(J_v1, [[-lc1 * s1, 0], [lc1 * c1, 0], [0, 0]], "(2)")
    printed = [[-lc2 * s12 - l1 * s1, -lc2 * s12], [lc2 * c12 + l1 * c1, lc2 * c12], [0, 0]]
    assert_all_printed(J_v2, printed, "(2)")


def test_jacobians_are_steps_of_the_lagrange_notes(lagrange, energies):
    for i, (J_v, J_w) in enumerate(energies.jacobians):
        assert np.all(lagrange.steps["J_v"][i].astype(str) == J_v.astype(str))
        assert np.all(lagrange.steps["J_w"][i].astype(str) == J_w.astype(str))


@pytest.mark.parametrize("way", ["energies", "newton", "lagrange"])
def test_3_to_7_mass_matrix(way, request):
    M = request.getfixturevalue(way).M
    d11 = m2 * l1**2 + 2 * m2 * c2 * l1 * lc2 + m1 * lc1**2 + m2 * lc2**2 + I1z + I2z  # (5)
    d12 = m2 * lc2**2 + l1 * m2 * c2 * lc2 + I2z  # (6)
    d22 = m2 * lc2**2 + I2z  # (7)
    assert_all_printed(M, [[d11, d12], [d12, d22]], "(4)")


@pytest.mark.parametrize("way", ["energies", "newton", "lagrange"])
def test_8_and_9_christoffel_symbols(way, request):
    ours = request.getfixturevalue(way).christoffel
    h = l1 * lc2 * m2 * s2
    # c_ijk of the notes has the output index last, ours has it first
    printed = {(1, 1, 2): h, (1, 2, 1): -h, (2, 1, 1): -h, (2, 2, 1): -h}
    for i, j, k in np.ndindex(2, 2, 2):
        assert_printed(ours[k, i, j], printed.get((i + 1, j + 1, k + 1), 0), f"(9) c_{i + 1}{j + 1}{k + 1}")


def test_10_to_14_coriolis_matrix(energies):
    C11 = -l1 * lc2 * m2 * qd2 * s2  # (11)
    C12 = -l1 * lc2 * m2 * qd1 * s2 - l1 * lc2 * m2 * qd2 * s2  # (12)
    C21 = l1 * lc2 * m2 * qd1 * s2  # (13)
    assert_all_printed(energies.C, [[C11, C12], [C21, 0]], "(10)")


def test_15_potential_energy(energies):
    assert_printed(energies.potential, g * m2 * (lc2 * s12 + l1 * s1) + g * lc1 * m1 * s1, "(15)")


def test_16_gravity(energies):
    printed = [g * m2 * (lc2 * c12 + l1 * c1) + g * lc1 * m1 * c1, g * lc2 * m2 * c12]
    assert_all_printed(energies.g, printed, "(16)")


def test_17_the_three_pieces_make_the_torques(energies):
    M, C, gravity = (energies.to_sympy(x) for x in ("M", "C", "g"))
    tau = M * sp.Matrix([qdd1, qdd2]) + C * sp.Matrix([qd1, qd2]) + gravity
    assert_all_printed(energies.tau, list(tau), "(17)")


def test_18_rotations_and_the_vectors_of_the_text(newton):
    assert_all_printed(newton.steps["R"][0], [[c1, -s1, 0], [s1, c1, 0], [0, 0, 1]], "(18)")
    assert_all_printed(newton.steps["R"][1], [[c2, -s2, 0], [s2, c2, 0], [0, 0, 1]], "(18)")
    assert_all_printed(newton.steps["w"][0], [0, 0, qd1], "omega_1")
    assert_all_printed(newton.steps["w"][1], [0, 0, qd1 + qd2], "omega_2")
    assert_all_printed(newton.steps["g"][0], [-g * s1, -g * c1, 0], "g_1")
    assert_all_printed(newton.steps["g"][1], [-g * s12, -g * c12, 0], "g_2")


def test_19_to_21_accelerations(newton):
    a_c, a_e = newton.steps["a_c"], newton.steps["a_e"]
    assert_all_printed(a_c[0], [-lc1 * qd1**2, lc1 * qdd1, 0], "(19)")
    assert_all_printed(a_e[0], [-l1 * qd1**2, l1 * qdd1, 0], "(20)")
    x = l1 * qdd1 * s2 - lc2 * (qd1 + qd2) ** 2 - l1 * qd1**2 * c2
    y = l1 * s2 * qd1**2 + lc2 * (qdd1 + qdd2) + l1 * qdd1 * c2
    assert_all_printed(a_c[1], [x, y, 0], "(21)")


def test_22_to_26_force_and_torque_of_link_2(newton):
    f2x = m2 * (g * s12 - lc2 * (qd1 + qd2) ** 2 + l1 * qdd1 * s2 - l1 * qd1**2 * c2)  # (24)
    f2y = m2 * (l1 * s2 * qd1**2 + g * c12 + lc2 * (qdd1 + qdd2) + l1 * qdd1 * c2)  # (25)
    assert_all_printed(newton.steps["f"][1], [f2x, f2y, 0], "(22)")
    inner = l1 * s2 * qd1**2 + g * c12 + lc2 * (qdd1 + qdd2) + l1 * qdd1 * c2
    assert_all_printed(newton.steps["tau"][1], [0, 0, I2z * (qdd1 + qdd2) + lc2 * m2 * inner], "(26)")


def printed_tau_1():
    """(31) and (32), which are the same."""
    tau = I1z * qdd1 + I2z * qdd1 + I2z * qdd2 + l1**2 * m2 * qdd1 + lc1**2 * m1 * qdd1 + lc2**2 * m2 * qdd1
    tau += lc2**2 * m2 * qdd2 + g * l1 * m2 * c1 + g * lc1 * m1 * c1 + g * lc2 * m2 * c12
    tau += -l1 * lc2 * m2 * qd2**2 * s2 + 2 * l1 * lc2 * m2 * qdd1 * c2 + l1 * lc2 * m2 * qdd2 * c2
    return tau - 2 * l1 * lc2 * m2 * qd1 * qd2 * s2


def test_27_to_31_force_and_torque_of_link_1(newton):
    f1x = g * (m1 + m2) * s1 - l1 * m2 * qd1**2 - lc1 * m1 * qd1**2 - lc2 * m2 * (qdd1 + qdd2) * s2
    f1x += -lc2 * m2 * (qd1**2 + qd2**2) * c2 - 2 * lc2 * m2 * qd1 * qd2 * c2  # (29)
    f1y = -lc2 * m2 * s2 * qd1**2 - 2 * lc2 * m2 * s2 * qd1 * qd2 - lc2 * m2 * s2 * qd2**2 + g * m1 * c1
    f1y += (
        g * m2 * c1 + l1 * m2 * qdd1 + lc1 * m1 * qdd1 + lc2 * m2 * qdd1 * c2 + lc2 * m2 * qdd2 * c2
    )  # (30)
    assert_all_printed(newton.steps["f"][0], [f1x, f1y, 0], "(27)")
    assert_all_printed(newton.steps["tau"][0], [0, 0, printed_tau_1()], "(28)")


@pytest.mark.parametrize("way", ["energies", "newton", "lagrange"])
def test_32_and_33_the_torques(way, request):
    inner = l1 * s2 * qd1**2 + g * c12 + lc2 * (qdd1 + qdd2) + l1 * qdd1 * c2
    u2 = I2z * (qdd1 + qdd2) + lc2 * m2 * inner  # (33)
    assert_all_printed(request.getfixturevalue(way).tau, [printed_tau_1(), u2], "(32)")


def test_both_ways_of_the_notes_are_the_same(rr):
    proof = prove_equal(rr, ["euler_lagrange_notes", "newton_euler_notes"])
    assert proof.holds
    assert proof.exact
    assert proof.terms == (21, 21, 21)


def test_the_check_is_attached_and_shown(newton):
    assert newton.check.passed
    assert newton.check.against == ("newton_euler_notes", "luh_walker_paul_1980", "compiled kernel")
    assert "agrees to round-off" in str(newton)
