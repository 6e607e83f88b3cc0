"""Poses, Jacobians and energies of arms with letters; expressions given to SymPy."""

import numpy as np
import pytest

import forearm as fa
from close import assert_close
from forearm.derivation import derive, symbolic, with_values
from forearm.faults import StateFault

sp = pytest.importorskip("sympy", reason="SymPy is the extra `derive`")

VALUES = {
    "m1": 2.0, "m2": 1.5, "l1": 0.7, "l2": 0.5, "lc1": 0.3, "lc2": 0.2,
    "I1y": 0.1, "I1z": 0.1, "I2y": 0.05, "I2z": 0.05, "g": 9.81,
}  # fmt: skip
Q, QD = [0.3, -0.8], [1.1, 0.4]


@pytest.fixture(scope="module")
def rr():
    return symbolic(fa.load("rr"))


def numbers(array, names="q1 q2 qd1 qd2"):
    known = VALUES | dict(zip(names.split(), (*Q, *QD), strict=True))
    return np.vectorize(lambda x: float(x.evaluate(known.__getitem__)), otypes=[float])(array)


def test_pose_of_an_arm_with_letters_is_a_closed_form_and_no_type_error(rr):
    found = fa.pose(rr, sp.symbols("q1 q2"))
    assert str(found[0, 3]) == "l1*c1 + l2*c12"
    assert_close(numbers(found), fa.pose(with_values(rr, VALUES), Q))


def test_poses_of_other_frames_and_jacobian(rr):
    arm, q = with_values(rr, VALUES), sp.symbols("q1 q2")
    assert_close(numbers(fa.pose(rr, q, frame=1)), fa.pose(arm, Q, frame=1))
    assert_close(numbers(fa.jacobian(rr, q)), fa.jacobian(arm, Q))
    assert str(fa.jacobian(rr, q)[0, 1]) == "-l2*s12"


def test_energies_of_an_arm_with_letters(rr):
    found = fa.energy(rr, sp.symbols("q1 q2"), sp.symbols("qd1 qd2"))
    want = fa.energy(with_values(rr, VALUES), Q, QD)
    assert_close(numbers(found.kinetic), want.kinetic)
    assert_close(numbers(found.potential), want.potential)


def test_rotors_are_in_the_energy_of_an_arm_with_letters():
    arm = fa.load("puma560")
    letters = arm.replace(
        links=tuple(link.replace(mass=sp.Symbol("m")) if i == 5 else link for i, link in enumerate(arm.links))
    )
    q, qd = np.linspace(0.1, 0.6, 6), np.linspace(-1, 1, 6)
    found, want = fa.energy(letters, q, qd), fa.energy(arm, q, qd)
    assert_close(
        float(found.kinetic.evaluate({"m": arm.links[5].mass}.__getitem__)),
        want.kinetic,
        eps=4096,
        because="sums of many terms",
    )


def test_numbers_and_sums_for_the_coordinates(rr):
    q1, a = sp.symbols("q1 a")
    known = VALUES | {"q1": 0.3, "a": 0.1}
    found = fa.pose(rr, [q1, 2 * a + 0.5])
    value = float(found[0, 3].evaluate(known.__getitem__))
    assert_close(value, fa.pose(with_values(rr, VALUES), [0.3, 0.7])[0, 3])
    assert_close(numbers(fa.pose(rr, Q)), fa.pose(with_values(rr, VALUES), Q))


def test_other_quantities_of_an_arm_with_letters_say_where_to_go(rr):
    with pytest.raises(StateFault, match=r"mass_matrix: arm 'rr' has symbols.*derive\(arm\).*with_values"):
        fa.mass_matrix(rr, Q)


def test_a_batch_for_an_arm_with_letters_is_refused(rr):
    with pytest.raises(StateFault, match=r"q has shape \(3, 2\).*one state at a time"):
        fa.pose(rr, np.zeros((3, 2)))


def test_sympify_takes_our_expressions(rr):
    eq = derive(rr)
    assert sp.sympify(eq.M[0, 1]) == eq.to_sympy("M")[0, 1]
    assert sp.Matrix(eq.M) == eq.to_sympy("M")
    assert sp.Matrix(fa.pose(rr, sp.symbols("q1 q2"))).shape == (4, 4)
