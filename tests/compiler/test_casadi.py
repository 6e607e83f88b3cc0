"""Graphs as CasADi functions: the same values, and CasADi's derivatives equal ours."""

import sys

import numpy as np
import pytest

import forearm as fa
from arms import random_arm
from close import assert_close
from compiler.programs import STATE, largest, random_graph, random_inputs, torques
from forearm.compiler.graph.derivatives import jacobian
from forearm.compiler.graph.interpreter import interpret
from forearm.compiler.graph.passes import lower
from forearm.compiler.graph.trace import trace
from forearm.compiler.sources.casadi_symbols import to_casadi
from forearm.faults import KernelFault


def test_torques_are_the_same():
    pytest.importorskip("casadi", reason="CasADi is not installed")
    graph = torques(random_arm(4, 1, "RP"))
    function = to_casadi(lower(graph))
    assert function.name_in() == list(STATE)
    state = random_inputs(graph, 1)
    found = function(*(state[k] for k in STATE)).full().ravel()
    assert_close(found, interpret(graph, state)["tau"])


def test_a_quantity_of_an_arm_is_a_public_function():
    pytest.importorskip("casadi", reason="CasADi is not installed")
    arm = fa.load("ur5e")
    q, qd, qdd = arm.random_state(2)
    torque = fa.casadi_function(arm)
    assert torque.name_in() == ["q", "qd", "qdd"]
    assert_close(torque(q, qd, qdd).full().ravel(), fa.inverse_dynamics(arm, q, qd, qdd))
    assert_close(fa.casadi_function(arm, "mass_matrix")(q).full(), fa.mass_matrix(arm, q))
    assert_close(fa.casadi_function(arm, "pose", frame=3)(q).full(), fa.pose(arm, q, 3))
    loaded = fa.casadi_function(arm, "gravity_torque", free=["payload"])
    held = arm.with_payload(2.0, frame="flange")
    assert_close(loaded(q, [2.0, *[0.0] * 9]).full().ravel(), fa.gravity_torque(held, q))


def test_every_operation_and_every_shape():
    pytest.importorskip("casadi", reason="CasADi is not installed")
    for seed in range(5):
        graph = random_graph(seed, fma=True)
        state = random_inputs(graph, seed)
        found = to_casadi(graph, "f")(*state.values()).full()
        assert found.shape == (2, 3)
        assert_close(found, interpret(graph, state)["y"], scale=largest(graph, state))


def test_matrix_inputs_keep_their_order():
    pytest.importorskip("casadi", reason="CasADi is not installed")
    graph = trace(lambda A, s: A * s + np.arange(6.0).reshape(2, 3), {"A": (2, 3), "s": ()}, "shapes", ("B",))
    A = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert_close(to_casadi(graph)(A, 2.0).full(), 2 * A + np.arange(6.0).reshape(2, 3))


def test_derivatives_of_casadi_are_ours():
    casadi = pytest.importorskip("casadi", reason="CasADi is not installed")
    graph = torques(random_arm(3, 2))
    function = to_casadi(graph, "tau_of")
    symbols = [casadi.SX.sym(k, 3) for k in STATE]
    slope = casadi.Function("slope", symbols, [casadi.jacobian(function(*symbols), symbols[0])])
    state = random_inputs(graph, 3)
    want = interpret(jacobian(graph, "tau", ("q",)), state)["dtau_dq"]
    assert_close(slope(*(state[k] for k in STATE)).full(), want)


def test_hessians_of_casadi_are_slopes_of_our_slopes():
    casadi = pytest.importorskip("casadi", reason="CasADi is not installed")
    arm = fa.load("rr")
    state = arm.random_state(3)
    x = [casadi.SX.sym(k, 2) for k in STATE]
    twice = casadi.hessian(casadi.sum1(fa.casadi_function(arm)(*x)), x[0])[0]
    found = casadi.Function("twice", x, [twice])(*state).full()
    ahead, behind = (
        [fa.derivatives(arm, state[0] + s * step, *state[1:]).dq.sum(axis=0) for step in np.eye(2)]
        for s in (1e-6, -1e-6)
    )
    np.testing.assert_allclose(found, np.subtract(ahead, behind) / 2e-6, rtol=1e-6, atol=1e-6)


def test_more_axes_are_refused():
    pytest.importorskip("casadi", reason="CasADi is not installed")
    graph = trace(lambda x: x, {"x": (2, 2, 2)}, "cube", ("y",))
    with pytest.raises(
        KernelFault, match=r"'x' has shape \(2, 2, 2\); CasADi has scalars, vectors and matrices only"
    ):
        to_casadi(graph)


def test_without_casadi_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "casadi", None)
    with pytest.raises(KernelFault, match=r"pip install 'forearm\[casadi\]'"):
        to_casadi(trace(lambda x: x, {"x": ()}))


def test_names_that_casadi_reserves_are_made_words_of_its_own():
    pytest.importorskip("casadi", reason="CasADi is not installed")
    shapes = {"jac": (), "lambda": (), "a__b": (), "a_b": (), "2x": ()}
    graph = trace(lambda **given: sum(given.values()), shapes, name="null", outputs=("jac",))
    function = to_casadi(graph)
    assert len({*function.name_in(), *function.name_out()}) == 6
    assert float(function(1, 2, 3, 4, 5)) == 15
