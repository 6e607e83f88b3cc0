"""A scheme is added by its file and its row: a toy scheme, made of these two alone, does all that others do."""

import numpy as np
import pytest

import forearm as fa
from forearm.compiler.graph.step_rules import Tableau
from forearm.faults import KernelFault
from forearm.simulation import SCHEMES, advise_step, simulate
from forearm.simulation.engines import Scheme, by_rule

RR = fa.load("rr")
START = [0.9, 0.3], [0.4, -0.2]

# what heun.py would hold
HEUN = Tableau("heun", times=(0.0, 1.0), reaches=((1.0,),), weights=(0.5, 0.5))
# Kutta's 3/8 rule comes back to the first rate at its last stage, which the classical scheme never does
EIGHTHS = Tableau(
    "three eighths",
    times=(0.0, 1 / 3, 2 / 3, 1.0),
    reaches=((1 / 3,), (-1 / 3, 1.0), (1.0, -1.0, 1.0)),
    weights=(1 / 8, 3 / 8, 3 / 8, 1 / 8),
)
RULES = {"heun": (HEUN, 2), "three eighths": (EIGHTHS, 4)}
TOYS = {
    name: Scheme(name, order=order, make=by_rule(rule), told="a toy", stable=2.0)
    for name, (rule, order) in RULES.items()
}


@pytest.fixture(autouse=True)
def added(monkeypatch):
    for name, scheme in TOYS.items():
        monkeypatch.setitem(SCHEMES, name, scheme)


@pytest.mark.parametrize(
    ("name", "steps"), [("heun", (100, 200, 400)), ("three eighths", (60, 120, 240)), ("rk4", (60, 120, 240))]
)
def test_the_compiled_scheme_has_its_order(name, steps):
    exact = simulate(RR, *START, duration=0.5, dt=0.1, method="dop853", rtol=1e-13, atol=1e-14).end
    errors = []
    for count in steps:
        end = simulate(RR, *START, duration=0.5, dt=0.5 / count, method=name, record_every=count).end
        errors.append(max(np.abs(a - b).max() for a, b in zip(end, exact, strict=True)))
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(np.abs(slopes - SCHEMES[name].order) < 0.2), slopes


@pytest.mark.parametrize("name", TOYS)
def test_it_takes_batches_laws_in_python_and_torques_per_step(name):
    def law(t, q, qd):
        return np.array([1.0, 0.5]) * (1 + 0.2 * t) - 0.3 * qd

    options = dict(duration=0.1, dt=1e-3, method=name)
    traced = simulate(RR, *START, law=law, **options)
    called = simulate(RR, *START, law=law, trace=False, **options)
    np.testing.assert_allclose(traced.q, called.q, rtol=0, atol=1e-13)
    batch = simulate(RR, np.array([START[0], [0.1, 0.2]]), START[1], law=law, record_every=1, **options)
    np.testing.assert_array_equal(batch.q[0], traced.q)
    torques = np.broadcast_to(np.sin(np.arange(100))[:, None], (100, 2))
    stepped = simulate(RR, *START, law=torques, **options)
    assert stepped.outcome.finished
    assert advise_step(RR, *START, duration=0.1, tolerance=1e-4, method=name).error <= 1e-4


@pytest.mark.parametrize("name", TOYS)
def test_its_kernel_for_the_gpu_is_written_too(name):
    from forearm.compiler.llvm.ptx.ptx_rollout import ptx_rollout
    from forearm.compiler.llvm.rollout_steps import Roles
    from forearm.simulation.plant import Plant, rates_graph, rates_of

    plant = Plant(RR)
    text = ptx_rollout(Roles(rates_graph(plant, None), rates_of(plant), RULES[name][0]))
    assert ".entry rollout(" in text


def test_a_misprinted_tableau_is_refused():
    with pytest.raises(KernelFault, match=r"tableau 'bad': weights must add up to 1"):
        Tableau("bad", (0.0, 1.0), ((1.0,),), (0.5, 0.6))
    with pytest.raises(KernelFault, match=r"tableau 'bad': .* \(not so: stage 1\)"):
        Tableau("bad", (0.0, 1.0), ((0.5,),), (0.5, 0.5))
    with pytest.raises(KernelFault, match=r"tableau 'bad': 1 times, reaches of \[1\] numbers, 2 weights"):
        Tableau("bad", (0.0,), ((1.0,),), (0.5, 0.5))


def test_torques_per_step_last_beyond_one_step_of_the_symplectic_scheme():
    torques = np.broadcast_to(np.array([2.0, 0.5]), (80, 2))
    stepped = simulate(RR, *START, law=torques, duration=0.08, dt=1e-3, method="symplectic")
    constant = simulate(RR, *START, law=[2.0, 0.5], duration=0.08, dt=1e-3, method="symplectic")
    np.testing.assert_array_equal(stepped.q, constant.q)
    wave = np.sin(np.arange(80) / 9)[:, None] * [2.0, 1.0]
    midpoint = simulate(RR, *START, law=wave, duration=0.08, dt=1e-3, method="symplectic")
    runge_kutta = simulate(RR, *START, law=wave, duration=0.08, dt=1e-3)
    np.testing.assert_allclose(midpoint.q, runge_kutta.q, atol=1e-6)
    batch = simulate(RR, [START[0]] * 3, START[1], law=wave, duration=0.08, method="symplectic")
    np.testing.assert_array_equal(batch.end[0], np.broadcast_to(midpoint.end[0], (3, 2)))
