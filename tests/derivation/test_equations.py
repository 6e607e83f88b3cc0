"""What an Equations object can do: evaluate, compile, go to SymPy, tabulate, report."""

import re

import numpy as np
import pytest
import sympy as sp

from close import assert_close
from forearm.derivation import derive, symbolic, with_values
from forearm.faults import StateFault
from forearm.formulations import FORMULATIONS
from forearm.link import Drive
from forearm.readers import load

VALUES = dict(
    m1=2.0, m2=1.5, l1=0.8, l2=0.6, lc1=0.35, lc2=0.25, I1y=0.12, I1z=0.12, I2y=0.07, I2z=0.07, g=9.81
)
STATE = np.array([0.4, -1.1]), np.array([0.7, 1.3]), np.array([-0.5, 2.1])
GOLDEN = [20.6689471339077, 2.87661629632994]


@pytest.fixture(scope="module")
def eq():
    return derive(symbolic(load("rr")))


def test_golden_torques(eq):
    got = eq.lambdify()(*STATE, **VALUES)
    assert_close(got, GOLDEN, because="published to 15 digits", eps=100)


def test_batches_and_batches_of_parameters(eq):
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.uniform(-2, 2, (3, 7, 4, 2))
    tau = eq.lambdify()(q, qd, qdd, **VALUES)
    assert tau.shape == (7, 4, 2)
    assert_close(tau[3, 2], eq.lambdify()(q[3, 2], qd[3, 2], qdd[3, 2], **VALUES))
    masses = np.linspace(1, 2, 4)
    spread = eq.lambdify("M")(q, **{**VALUES, "m2": masses})
    assert spread.shape == (7, 4, 2, 2)
    assert_close(spread[0, 3], eq.lambdify("M")(q[0, 3], **{**VALUES, "m2": 2.0}))


def test_pieces_sum_to_the_torques(eq):
    q, qd, qdd = STATE
    M, C, g, S = (eq.lambdify(x) for x in ("M", "C", "g", "christoffel"))
    tau = M(q, **VALUES) @ qdd + C(q, qd, **VALUES) @ qd + g(q, **VALUES)
    assert_close(tau, eq.lambdify()(q, qd, qdd, **VALUES))
    assert_close(np.einsum("ijk,j,k", S(q, **VALUES), qd, qd), C(q, qd, **VALUES) @ qd)


def test_missing_values_are_named(eq):
    with pytest.raises(StateFault, match=r"tau of arm 'rr' needs q, qd, qdd and values for .*missing: m2"):
        eq.lambdify()(*STATE, **{k: v for k, v in VALUES.items() if k != "m2"})
    with pytest.raises(StateFault, match="missing: a state"):
        eq.lambdify()(STATE[0], **VALUES)


def test_compiled_with_parameters_as_inputs(eq):
    kernel = eq.compile("tau")
    assert_close(
        kernel(*STATE, *(VALUES[name] for name in eq.parameters)), GOLDEN, because="15 digits", eps=100
    )
    graph = eq.to_graph("M")
    assert [port.name for port in graph.inputs] == ["q", *eq.parameters]


def test_sympy_gives_the_same_numbers(eq):
    subs = {sp.Symbol(k): v for k, v in VALUES.items()}
    for names, values in zip((eq.coordinates, eq.speeds, eq.accelerations), STATE, strict=True):
        subs.update({sp.Symbol(n): v for n, v in zip(names, values, strict=True)})
    assert_close(
        np.array(eq.to_sympy("tau").subs(subs), dtype=float).ravel(), GOLDEN, because="15 digits", eps=100
    )
    assert eq.to_sympy("M").shape == (2, 2)
    assert eq.to_sympy("christoffel")[1, 0, 0] == eq.christoffel[1, 0, 0].to_sympy()
    assert eq.to_sympy("C")[1, 1] == 0


def test_sympy_torques_are_collected(eq):
    qdd1 = sp.Symbol("qdd1")
    tau1 = eq.to_sympy("tau")[0]
    assert sum(term.has(qdd1) for term in sp.Add.make_args(tau1)) == 1


def test_coefficient_table(eq):
    table = eq.coefficient_table()
    assert [row.name for row in table.rows] == ["M11", "M12", "M22", "C112", "C122", "C211", "g1", "g2"]
    assert table.zeros == 3
    row = next(row for row in table.rows if row.name == "C112")
    assert (row.multiplies, row.depends_on, row.terms) == ("2*qd1*qd2", ("q2",), 1)
    assert "| M22 | qdd2 | nothing | 2 | `m2*lc2^2 + I2z` |" in table.to_markdown()
    assert "and 3 that are zero" in str(table)


def test_markdown_report(eq):
    text = eq.to_markdown()
    for heading in ("Mass matrix", "Christoffel symbols", "Coriolis matrix", "Gravity", "Torques", "Check"):
        assert f"## {heading}" in text
    assert "agrees to round-off" in text
    assert r"g_{2} &= m_{2} g l_{c2} c_{12}" in text


def test_text_is_collected(eq):
    lines = str(eq).splitlines()
    assert lines[2] == (
        "tau2 = (m2*lc2^2 + I2z + m2*l1*lc2*c2)*qdd1 + (m2*lc2^2 + I2z)*qdd2 + m2*l1*lc2*s2*qd1^2 + m2*g*lc2*c12"
    )


def test_kinetic_energy(eq):
    assert eq.kinetic.coefficients(eq.speeds)[2, 0] == eq.M[0, 0] * 0.5


def test_other_names():
    eq = derive(symbolic(load("rr")), names=("theta1", "theta2"))
    assert eq.speeds == ("thetad1", "thetad2")
    assert "cos(theta1 + theta2)" in str(eq.g[1])
    assert r"\ddot{\theta}_{1}" in eq.to_latex()


def test_mixed_letters_and_numbers():
    arm = symbolic(load("rr"), ["masses"])
    eq = derive(arm)
    assert eq.parameters == ("m1", "m2")
    assert str(eq.g[1]) == "2.4525*m2*c12"  # 9.81 * 0.25, exactly
    numeric = with_values(arm, {"m1": 2.0, sp.Symbol("m2"): 1.5})
    want = FORMULATIONS["luh_walker_paul_1980"].joint_torques(numeric, *STATE)
    assert_close(eq.lambdify()(*STATE, m1=2.0, m2=1.5), want)


def test_drives_are_left_out_and_said():
    eq = derive(load("puma560"))
    assert "rotor inertia and friction are left out" in eq.notes[0]
    assert "rotor inertia" in str(eq)
    assert re.search(r"tau1 = … \d+ terms", str(eq)), "what nobody reads in a terminal is only counted"


def test_progress_is_told():
    seen = []
    derive(symbolic(load("rr")), progress=lambda *x: seen.append(x))
    assert {stage for stage, _, _ in seen} == {"mass matrix", "Christoffel symbols", "numeric check"}
    assert all(done <= of for _, done, of in seen)


def test_a_wrong_closed_form_fails_its_check(eq):
    from dataclasses import replace

    from forearm.derivation.numeric_check import numeric_check

    wrong = replace(eq, g=eq.g * 2)
    check = numeric_check(wrong)
    assert not check.passed
    assert "DISAGREES" in str(check)


@pytest.mark.parametrize("lettered", [False, True])
def test_equations_with_letters_did_not_say_that_drives_are_left_out(lettered):
    plain = load("rr")
    driven = plain.replace(links=[link.replace(drive=Drive(viscous=0.1)) for link in plain.links])
    said = [derive(symbolic(arm) if lettered else arm).notes for arm in (plain, driven)]
    assert [any("friction are left out" in note for note in notes) for notes in said] == [False, True]
