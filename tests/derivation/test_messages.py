"""What derive refuses, and what it says."""

import sys

import numpy as np
import pytest
import sympy as sp

from forearm.arm import Arm
from forearm.derivation import closed_form, derive, symbolic, with_values
from forearm.derivation.expressions import terms
from forearm.derivation.expressions.expression import Ring
from forearm.derivation.expressions.terms import refuse_length
from forearm.faults import ArmFault, Fault, NoDynamics, StateFault
from forearm.inertia import Inertia
from forearm.link import Link
from forearm.readers import load


@pytest.fixture(scope="module")
def rr():
    return symbolic(load("rr"))


def test_without_sympy_one_sentence(monkeypatch):
    arm = load("rr")
    monkeypatch.setitem(sys.modules, "sympy", None)
    with pytest.raises(Fault, match=r"derive needs SymPy; pip install 'forearm\[derive\]'"):
        symbolic(arm)
    eq = derive(arm)  # numbers need no SymPy
    assert eq.check.passed
    with pytest.raises(ImportError, match="derive needs SymPy"):
        eq.to_sympy("M")


def test_unknown_formulation(rr):
    with pytest.raises(
        StateFault,
        match=r"derive: there is no formulation 'newton' that gives joint torques "
        r"\(did you mean 'newton_euler_notes'\?\); give one of uicker_kahn_1969, ",
    ):
        derive(rr, "newton")


def test_sliding_joints_where_a_paper_has_none():
    with pytest.raises(
        StateFault, match="turney_mudge_lee_1980_lagrange is written for revolute joints only"
    ):
        derive(load("stanford"), "turney_mudge_lee_1980_lagrange")


def test_grouping_by_a_paper(rr):
    with pytest.raises(StateFault, match="group=True with formulation='newton_euler_notes'"):
        derive(rr, "newton_euler_notes", group=True)


@pytest.mark.parametrize("S", [np.eye(3), [[1, 1], [1, 1]]])
def test_coordinates_of_another_shape(rr, S):
    with pytest.raises(StateFault, match=r"needs an invertible \(2, 2\) matrix S with q = S x"):
        derive(rr, coordinates=S)


def test_half_angles(rr):
    with pytest.raises(StateFault, match=r"row \[0.5, 0.0\] for the turning joint 'q1'; give whole numbers"):
        derive(rr, coordinates=[[0.5, 0], [0, 1]])


@pytest.mark.parametrize("names", [("a",), ("a", "a"), ("a b", "c")])
def test_names(rr, names):
    with pytest.raises(StateFault, match="give 2 different names"):
        derive(rr, names=names)


def test_a_parameter_with_the_name_of_a_coordinate():
    arm = Arm("clash", [Link.dh("revolute", a=0.5, mass=sp.Symbol("q1"), com=(-0.2, 0, 0))])
    with pytest.raises(
        StateFault, match="arm 'clash' has a symbol 'q1', which is also a coordinate; give names="
    ):
        derive(arm)


@pytest.mark.parametrize(
    ("names", "match"),
    [
        (("x", "xd"), "'xd' would be a coordinate and also the rate of another"),
        (("x1", "xdd1"), "'xdd1' would be a coordinate and also the rate of another"),
        (("qd1", "q1"), "'qd1' would be a coordinate and also the rate of another"),
        (("a", "pi"), "'pi' is 3.14159"),
    ],
)
def test_a_coordinate_was_also_the_rate_of_another_or_pi(rr, names, match):
    """The torques then had one letter for two things, and gravity its cosine of 3.14159."""
    with pytest.raises(StateFault, match=f"derive: names is .*{match}"):
        derive(rr, names=names)
    assert derive(rr, names=("x1", "xd")).check.passed


def test_a_letter_called_pi_was_taken_for_the_number():
    first, second = load("rr").links
    arm = load("rr").replace(links=(first.replace(theta=sp.Symbol("pi")), second))
    with pytest.raises(StateFault, match="arm 'rr' has a symbol 'pi', which is read as"):
        derive(arm)
    assert derive(arm.replace(links=(first.replace(theta=sp.pi), second))).check.passed


def test_pi_in_a_mass_is_a_number():
    first, second = load("rr").links
    mass = 2 * sp.pi * sp.Symbol("r")
    eq = derive(load("rr").replace(links=(first, second.replace(mass=mass))))
    assert eq.check.passed
    assert derive(eq.arm, group=True).check.passed
    assert eq.lambdify("g")([0.0, 0.0], r=1.0)[1] == pytest.approx(2 * np.pi * 9.81 * 0.25)


def test_what_is_no_polynomial_of_letters_is_refused_in_a_sentence():
    first, second = load("rr").links
    arm = load("rr").replace(links=(first, second.replace(mass=sp.sqrt(sp.Symbol("a")))))
    with pytest.raises(StateFault, match=r"arm 'rr' has sqrt\(a\), which is no sum of products of letters"):
        derive(arm)


def test_a_new_letter_took_the_name_of_one_that_stays():
    """The pendulum's l1 is half a length: with whole ones called l1 too, its first mass was gone."""
    own = {x: sp.Symbol(x) for x in ("m1", "m2", "l1", "l2", "I1", "I2", "g")}
    pendulum = load("double_pendulum", parameters=own)
    with pytest.raises(StateFault, match="arm 'double_pendulum' keeps a letter l1 of its own, and another"):
        symbolic(pendulum, ["lengths"])
    assert symbolic(pendulum, ["masses"]).links[0].mass == sp.Symbol("m1"), (
        "the same letter for the same thing"
    )
    twice = symbolic(symbolic(load("rr")), ["lengths"])
    assert [link.com for link in twice.links] == [link.com for link in symbolic(load("rr")).links]
    assert symbolic(load("cobra600"), style="full").dynamics


@pytest.mark.parametrize("name", ["q", "qd", "qdd"])
def test_a_parameter_with_the_name_of_the_state(name):
    arm = Arm("clash", [Link.dh("revolute", a=0.5, mass=sp.Symbol(name), com=(-0.2, 0, 0))])
    with pytest.raises(
        StateFault, match=f"has a symbol '{name}', which is what functions .* call the whole state"
    ):
        derive(arm)


def test_timeout_says_where_it_was():
    arm = symbolic(load("panda"), style="full")
    with pytest.raises(
        TimeoutError, match=r"arm 'panda' took longer than timeout=0.01 s \(it was at: mass matrix\)"
    ):
        derive(arm, timeout=0.01)
    with pytest.raises(StateFault, match="timeout is -1; give seconds"):
        derive(arm, timeout=-1)


def test_an_arm_without_masses():
    with pytest.raises(NoDynamics, match="it has no equations of motion"):
        derive(load("cobra600"))


def test_symbolic_words(rr):
    with pytest.raises(ArmFault, match="symbolic what is 'weights'"):
        symbolic(load("rr"), ["weights"])
    with pytest.raises(ArmFault, match="symbolic style is 'short'"):
        symbolic(load("rr"), style="short")


def test_values_that_are_missing(rr):
    with pytest.raises(
        StateFault, match=r"symbols without a value: I1y, I1z, l1, m1, lc1, .*; give a number for each"
    ):
        with_values(rr, {})


def test_unknown_quantity(rr):
    with pytest.raises(ArmFault, match="what is 'K'; it must be one of 'M', 'christoffel', 'C', 'g', 'tau'"):
        derive(rr).lambdify("K")


def generic(n):
    """An arm of n joints without right angles."""
    rng = np.random.default_rng(0)
    body = {"mass": 1.0, "com": (0.1, 0.2, 0.3), "inertia": Inertia.about_com(Ixx=1.0, Iyy=1.0, Izz=1.0)}
    rows = rng.uniform(0.1, 1.0, (n, 3))
    return Arm("generic", [Link.dh("revolute", a=a, alpha=alpha, d=d, **body) for a, alpha, d in rows])


def test_a_closed_form_that_fills_the_memory_is_given_up_in_a_sentence(monkeypatch):
    """Eight joints without right angles took gigabytes, and more with each joint."""
    arm = generic(4)
    derive(arm)
    monkeypatch.setattr(closed_form, "MOST_SYMBOLS", 1000)
    with pytest.raises(
        Fault, match=r"derive: the closed form passes 1,000 terms, .* or compute with numbers"
    ):
        derive(arm)
    with pytest.raises(Fault, match="the closed form passes 300,000 terms"):
        refuse_length(300_001)
    x = Ring().generator("x")
    monkeypatch.setattr(terms.refuse_length, "__defaults__", (10,))
    with pytest.raises(Fault, match="the closed form passes 10 terms"):
        (x + 1) ** 20
