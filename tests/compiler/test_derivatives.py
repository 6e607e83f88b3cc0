"""Derivatives on the graph, against complex steps, 50-digit differences, laws and each other."""

import cmath

import mpmath
import numpy as np
import pytest

from arms import random_arm
from close import assert_close
from compiler.programs import STATE, random_graph, random_inputs, small_arms, torques
from forearm.compiler.graph.derivatives import jacobian, jvp, vjp
from forearm.compiler.graph.interpreter import Semantics, interpret, scalars
from forearm.compiler.graph.passes import form_fma
from forearm.compiler.graph.trace import trace
from forearm.faults import TraceFault
from forearm.formulations import FORMULATIONS

CANCELS = "sums of a hundred products of all sizes"


COMPLEX = Semantics(
    "complex",
    fma=lambda a, b, c: a * b + c,
    sin=cmath.sin,
    cos=cmath.cos,
    sqrt=cmath.sqrt,
    select=lambda x, a, b: a if complex(x).real > 0 else b,
    const=complex,
)


def by_complex_steps(graph, output, name, state):
    """The Jacobian from the imaginary part of f(x + ih): no cancellation, exact to roundoff."""
    blocks = []
    for place in np.ndindex(np.shape(state[name])):
        moved = {k: np.array(v, dtype=complex) for k, v in state.items()}
        moved[name][place] += 1e-40j
        blocks.append(interpret(graph, moved, COMPLEX)[output].astype(complex).imag / 1e-40)
    return np.moveaxis(np.array(blocks), 0, -1).reshape(np.shape(blocks[0]) + np.shape(state[name]))


def by_differences(graph, output, name, state):
    """The Jacobian by central differences in 50 digits: another way, exact to 1e-20 and more."""
    with mpmath.workdps(50):
        step = mpmath.mpf(10) ** -15
        exact = {k: np.vectorize(mpmath.mpf, otypes=[object])(v) for k, v in state.items()}
        blocks = []
        for place in np.ndindex(exact[name].shape):
            sides = []
            for sign in (1, -1):
                moved = {k: v.copy() for k, v in exact.items()}
                moved[name][place] += sign * step
                sides.append(interpret(graph, moved, scalars)[output])
            blocks.append(np.asarray((sides[0] - sides[1]) / (2 * step), dtype=object).astype(float))
        return np.moveaxis(np.array(blocks), 0, -1).reshape(np.shape(blocks[0]) + exact[name].shape)


def test_fifty_digits():
    graph = torques(random_arm(2, 1, "RP"))
    state = random_inputs(graph, 4)
    found = interpret(jacobian(graph, "tau", STATE), state)
    for name in STATE:
        assert_close(found[f"dtau_d{name}"], by_differences(graph, "tau", name, state))


@pytest.mark.parametrize("mode", ["forward", "reverse", "cheaper"])
@pytest.mark.parametrize("arm", small_arms(), ids=lambda arm: arm.name)
def test_torques(arm, mode):
    graph = torques(arm, base_parameters=True)
    state = random_inputs(graph, 4)
    found = interpret(jacobian(graph, "tau", STATE, mode=mode), state)
    assert_close(found["tau"], interpret(graph, state)["tau"])
    for name in STATE:
        want = by_complex_steps(graph, "tau", name, state)
        assert_close(found[f"dtau_d{name}"], want, eps=256, because=CANCELS)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("effort", [0, 1])
def test_every_operation(seed, effort):
    graph = random_graph(seed, size=40, fma=True)
    state = random_inputs(graph, seed)
    for mode in ("forward", "reverse"):
        found = interpret(jacobian(graph, "y", ("x", "s"), mode=mode, effort=effort), state)
        for name in ("x", "s"):
            want = by_complex_steps(graph, "y", name, state)
            scale = max(1.0, float(np.max(np.abs(want))), float(np.max(np.abs(found["y"]))))
            assert_close(found[f"dy_d{name}"], want, eps=2048, scale=scale, because=CANCELS)


def test_the_jacobian_of_a_linear_function_does_not_read_that_input():
    arm = random_arm(3, 1, "RP")
    graph = jacobian(torques(arm), "tau", ("qdd",), keep=False)
    read = {graph.inputs[node.at[0]].name for node in graph.nodes if node.at}
    assert read == {"q"}
    assert [p.name for p in graph.outputs] == ["dtau_dqdd"]


def test_the_mass_matrix_is_the_derivative_by_accelerations():
    arm = random_arm(4, 6, "RP")
    graph = jacobian(torques(arm), "tau", ("qdd",))
    state = random_inputs(graph, 1, 2.0)
    M = interpret(graph, state)["dtau_dqdd"]
    assert_close(M, FORMULATIONS["walker_orin_1982"].mass_matrix(arm, state["q"]))
    assert_close(M, M.T)


def test_forward_and_reverse_agree():
    graph = torques(random_arm(3, 8), base_parameters=True)
    state = random_inputs(graph, 2)
    one, other = (
        interpret(jacobian(graph, "tau", ("q", "qd"), mode=m), state) for m in ("forward", "reverse")
    )
    for name in one:
        assert_close(one[name], other[name])


def test_the_cheaper_mode_is_no_dearer():
    wide = trace(lambda x: np.array([x @ x]), {"x": (30,)}, "wide", ("y",))
    tall = trace(lambda x: np.sin(x[0] * np.arange(1.0, 31.0)), {"x": (1,)}, "tall", ("y",))
    for graph in (wide, tall):
        for effort in (0, 1):
            modes = ("forward", "reverse", "cheaper")
            costs = [jacobian(graph, "y", ("x",), mode=m, effort=effort).counts.operations for m in modes]
            assert costs[2] <= min(costs)


def test_second_derivatives():
    graph = trace(lambda x: x[0] ** 2 * np.sin(x[1]), {"x": (2,)}, "f", ("f",))
    twice = jacobian(jacobian(graph, "f", ("x",)), "df_dx", ("x",))
    x, y = 0.3, 0.7
    want = [[2 * np.sin(y), 2 * x * np.cos(y)], [2 * x * np.cos(y), -(x**2) * np.sin(y)]]
    assert_close(interpret(twice, {"x": [x, y]})["ddf_dx_dx"], want)


def test_rates_along_a_direction():
    graph = torques(random_arm(3, 3))
    moving = jvp(graph, ("q", "qd"))
    assert [p.name for p in moving.inputs] == [*STATE, "dq", "dqd"]
    state = random_inputs(moving, 5)
    found = interpret(moving, state)
    full = interpret(jacobian(graph, "tau", ("q", "qd")), {k: state[k] for k in STATE})
    assert_close(found["dtau"], full["dtau_dq"] @ state["dq"] + full["dtau_dqd"] @ state["dqd"])
    assert_close(found["tau"], full["tau"])


def test_slopes_of_a_weighted_output():
    graph = torques(random_arm(3, 3))
    weighted = vjp(graph, "tau", ("q", "qdd"))
    state = random_inputs(weighted, 5)
    found = interpret(weighted, state)
    full = interpret(jacobian(graph, "tau", ("q", "qdd")), {k: state[k] for k in STATE})
    assert_close(found["q_slope"], state["tau_weight"] @ full["dtau_dq"])
    assert_close(found["qdd_slope"], state["tau_weight"] @ full["dtau_dqdd"])


def test_fused_graphs_have_derivatives_too():
    graph = form_fma(torques(random_arm(2, 3)))
    state = random_inputs(graph, 5)
    found = interpret(jacobian(graph, "tau", ("q",)), state)["dtau_dq"]
    assert_close(found, by_complex_steps(graph, "tau", "q", state))


def test_outputs_that_share_an_element():
    graph = trace(lambda x: np.array([x[0] * x[1], x[0] * x[1], x[0], 3.0]), {"x": (2,)}, "shared", ("y",))
    want = [[2.0, 1.0], [2.0, 1.0], [1.0, 0.0], [0.0, 0.0]]
    for mode in ("forward", "reverse"):
        assert interpret(jacobian(graph, "y", ("x",), mode=mode), {"x": [1.0, 2.0]})["dy_dx"].tolist() == want
    weighted = vjp(graph, "y", ("x",))
    found = interpret(weighted, {"x": [1.0, 2.0], "y_weight": [1.0, 10.0, 100.0, 1000.0]})["x_slope"]
    assert found.tolist() == [122.0, 11.0]


def test_unknown_names_are_refused():
    graph = torques(random_arm(2, 3))
    with pytest.raises(TraceFault, match="there is no output 'M'; it has tau"):
        jacobian(graph, "M", ("q",))
    with pytest.raises(TraceFault, match="there is no input 'x'; it has q, qd, qdd"):
        jacobian(graph, "tau", ("x",))
    with pytest.raises(TraceFault, match="mode='sideways'; expected one of forward, reverse, cheaper"):
        jacobian(graph, "tau", ("q",), mode="sideways")
