"""Every formulation, unchanged, on mpmath numbers, SymPy symbols, traced and counted scalars."""

from functools import cache

import mpmath
import numpy as np
import pytest
import sympy

from agreement.exact import DIGITS, exact_arm
from agreement.sources import QUANTITIES, State, formulation, gives
from arms import random_arm, seed_of
from close import assert_close
from forearm.arm import Arm
from forearm.compiler.graph.interpreter import interpret
from forearm.compiler.graph.trace import trace
from forearm.counting.meter.conventions import AS_SET_FORTH
from forearm.counting.meter.counted_arm import run_counted
from forearm.counting.meter.counted_scalar import values as counted_values
from forearm.formulations import FORMULATIONS
from forearm.inertia import Inertia
from forearm.link import Link
from forearm.strobing import strobe, torques_of

REFERENCE = "luh_walker_paul_1980"


def cases(mixed, revolute):
    """(formulation, quantity, kinds of joints) for all that the registry declares; `revolute` for 'R' only."""
    return [
        pytest.param(stem, quantity, letters, id=f"{stem}-{quantity}-{letters}")
        for stem, row in FORMULATIONS.items()
        for letters in (mixed if row.joints == "RP" else revolute)
        for quantity in QUANTITIES
        if gives(stem, quantity)
    ]


@cache
def small(letters):
    """A small arm in floats and a state; general poses, tilted base."""
    arm = random_arm(len(letters), seed_of(letters), letters, general=True, flips=True)
    q, qd, qdd = arm.random_state(seed_of(letters))
    return arm, State(q, qd, qdd, torques_of(REFERENCE)(arm, q, qd, qdd))


# -- fifty digits ----------------------------------------------------------------------------------------


@cache
def exact_reference(letters, quantity):
    """The quantity from the reference formulation, strobing, or a solve, all in sixty digits."""
    arm, state = exact_arm(letters)
    arguments = state.of(quantity)
    if gives(REFERENCE, quantity):
        return np.array(formulation(REFERENCE, quantity)(arm, *arguments))
    strobed = strobe(arm, state.q)
    if quantity == "joint_accelerations":
        bias = torques_of(REFERENCE)(arm, state.q, state.qd, 0 * state.q)
        solved = mpmath.lu_solve(mpmath.matrix(strobed.M.tolist()), mpmath.matrix(list(state.tau - bias)))
        return np.array(list(solved))
    coriolis = strobed.C @ state.qd
    return {
        "mass_matrix": strobed.M,
        "christoffel": strobed.C,
        "coriolis_matrix": coriolis,
        "gravity_torque": strobed.g,
    }[quantity]


@pytest.mark.parametrize(("stem", "quantity", "letters"), cases(["RPR"], ["RRR"]))
def test_fifty_digits(stem, quantity, letters):
    check_fifty_digits(stem, quantity, letters)


@pytest.mark.more
@pytest.mark.parametrize(("stem", "quantity", "letters"), cases(["PRR", "RRP", "RRRR"], ["RRRR"]))
def test_fifty_digits_on_more_arms(stem, quantity, letters):
    check_fifty_digits(stem, quantity, letters)


def check_fifty_digits(stem, quantity, letters):
    with mpmath.workdps(DIGITS + 10):
        arm, state = exact_arm(letters)
        want = exact_reference(letters, quantity)
        got = np.array(formulation(stem, quantity)(arm, *state.of(quantity)))
        scale = max(abs(x) for x in want.ravel())
        error = max(abs(x - y) for x, y in zip(got.ravel(), want.ravel(), strict=True)) / scale
        assert error < mpmath.mpf(10) ** -40, (
            f"{stem} and {REFERENCE} differ by {mpmath.nstr(error, 3)} relative in {quantity} of {arm.name!r}"
        )


# -- symbols ---------------------------------------------------------------------------------------------


@cache
def plain(letters):
    """A small arm with right angles, so that its closed forms are short."""
    links = []
    for i, letter in enumerate(letters, 1):
        body = dict(mass=1.5 * i, com=(-0.2, 0.1, 0.0), inertia=Inertia.box(1.5 * i, 0.1, 0.2, 0.3))
        kind = "revolute" if letter == "R" else "prismatic"
        links.append(Link.dh(kind, a=0.4, alpha=np.pi / 2, d=0.25, **body))
    arm = Arm(f"plain {letters}", links)
    q, qd, qdd = arm.random_state(seed_of(letters))
    return arm, State(q, qd, qdd, torques_of(REFERENCE)(arm, q, qd, qdd))


@pytest.mark.parametrize(("stem", "quantity", "letters"), cases(["RP"], ["RR"]))
def test_symbols(stem, quantity, letters):
    arm, state = plain(letters)
    names = QUANTITIES[quantity]
    symbols = {name: sympy.symbols(f"{name}1:{arm.n + 1}") for name in names}
    expressions = np.array(formulation(stem, quantity)(arm, *(np.array(symbols[name]) for name in names)))
    flat = [symbol for name in names for symbol in symbols[name]]
    assert set().union(*(sympy.sympify(e).free_symbols for e in expressions.ravel())) <= set(flat)
    evaluate = sympy.lambdify(flat, expressions.ravel().tolist(), "math")
    got = np.array(evaluate(*(float(x) for name in names for x in getattr(state, name))))
    want = np.asarray(formulation(stem, quantity)(arm, *state.of(quantity)), dtype=float)
    assert_close(got.reshape(want.shape), want, eps=64)


# -- traced scalars --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("stem", "quantity", "letters"), cases(["RPR"], ["RRR"]))
def test_traced_scalars(stem, quantity, letters):
    arm, state = small(letters)
    names = QUANTITIES[quantity]

    def run(**inputs):
        return np.array(formulation(stem, quantity)(arm, *(inputs[name] for name in names)))

    graph = trace(run, {name: (arm.n,) for name in names}, name=stem, outputs=("value",))
    assert graph.counts.operations > 0
    got = interpret(graph, {name: getattr(state, name) for name in names})["value"]
    want = np.asarray(formulation(stem, quantity)(arm, *state.of(quantity)), dtype=float)
    assert_close(got, want, eps=64)


# -- counted scalars -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stem", "quantity", "letters"),
    [
        case
        for case in cases(["RPR"], ["RRR"])
        if not FORMULATIONS[case.values[0]].needs and " " not in case.values[1]
    ],
)
def test_counted_scalars(stem, quantity, letters):
    arm, state = small(letters)
    meter, got = run_counted(stem, arm, AS_SET_FORTH, quantity, state.of(quantity))
    want = np.array(getattr(FORMULATIONS[stem], quantity)(arm, *state.of(quantity)))
    assert meter.operations
    assert_close(np.array(counted_values(got)), want, eps=64)
