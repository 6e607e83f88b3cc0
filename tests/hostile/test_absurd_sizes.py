"""Simulations that no machine can run or keep are refused in a sentence, before anything is taken."""

import resource
import time

import numpy as np
import pytest

import forearm as fa
from cli.verbs import forearm
from forearm.compiler.call.rollout import Rollout
from forearm.compiler.graph.trace import trace
from forearm.simulation import Quintic

Q = [0.1, 0.2]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (dict(duration=1e18), r"duration 1e\+18 s in steps of 0.001 s is 1e\+21 steps"),
        (dict(duration=1e308, dt=1e-308), r"is inf steps"),
        (dict(duration=1.0, dt=5e-324), r"is inf steps"),
        (dict(duration=1e300, dt=1e300 / 7), None),
        (
            dict(duration=1e8),
            r"record of 1e\+11 states of a motion takes 1.12e\+04 GB to make, and this machine has",
        ),
        (dict(duration=1e18, q0=np.zeros((4, 2))), r"1e\+21 steps"),
        (dict(duration=1e6, q0=np.zeros((4, 2)), record_every=1), r"record of 1e\+09 states of 4 motions"),
        (dict(duration=1e18, record_every=10**18), r"1e\+21 steps"),
        (dict(duration=1e18, method="dop853"), r"1e\+21 steps"),
    ],
)
def test_a_simulation_that_has_no_end_or_no_room_is_refused_at_once(options, said):
    given = {"q0": Q, **options}
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    if said is None:
        fa.simulate(fa.load("rr"), **given)
        return
    with pytest.raises(fa.StateFault, match=said) as caught:
        fa.simulate(fa.load("rr"), **given)
    assert "\n" not in str(caught.value)
    assert time.process_time() - began < 2.0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000


@pytest.mark.parametrize("words", [("--duration", "1e18"), ("--duration", "1e10", "--every", "1")])
def test_the_shell_says_so_too(words, capsys):
    said = forearm(capsys, "simulate", "rr", *words)
    assert said.code == 2
    assert "steps" in said.err
    assert "bug of" not in said.err
    assert "--every" in said.err or "duration" in said.err


def raising(name, error):
    def method(self, *_, **__):
        raise error

    return type("Theirs", (), {name: method})()


WAYS = {
    "torque": lambda arm, x: fa.inverse_dynamics(arm, x, Q, Q),
    "pose": lambda arm, x: fa.pose(arm, x),
    "kernel": lambda arm, x: fa.compile(arm, "gravity_torque")(x),
    "q0": lambda arm, x: fa.simulate(arm, x, duration=0.01),
    "gain": lambda arm, x: fa.simulate(arm, Q, law=lambda t, q, qd, k: k * q, gains={"k": x}, duration=0.01),
    "limits": lambda arm, x: fa.simulate(arm, Q, torque_limits=x, duration=0.01),
    "payload": lambda arm, x: fa.simulate(arm, Q, payload=x, duration=0.01),
    "points": lambda arm, x: Quintic(x, [1.0, 1.0], 1.0),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("error", [KeyError("mine"), OSError("mine"), ZeroDivisionError("mine")], ids=repr)
def test_an_object_whose_array_raises_is_a_fault_with_its_own_error_as_the_cause(way, error):
    with pytest.raises(fa.Fault, match=r"gives no array of numbers \(\w+: '?mine'?\)") as caught:
        WAYS[way](fa.load("rr"), raising("__array__", error))
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("dt", [None, "x", [0.01], 1j, 0.0, -0.01, float("nan"), float("inf")])
def test_a_gradient_through_time_takes_a_step_of_time(dt):
    arm, states, pushes = fa.load("rr"), np.zeros((3, 2)), np.zeros((2, 2))
    said = r"dt is .*; give the step of the motion in seconds"
    with pytest.raises(fa.StateFault, match=said):
        fa.rollout_gradient(arm, states, states, pushes, states, states, dt=dt)
    with pytest.raises(fa.StateFault, match=said):
        fa.rollout_sensitivity(arm, states, states, pushes, dt=dt)
    with pytest.raises(fa.StateFault, match=said):
        fa.rollout_gain_gradient(
            arm, states, states, lambda t, q, qd, K: -K * q, {"K": 1.0}, states, states, dt=dt
        )


def test_a_gradient_through_no_time_at_all_gets_a_sentence():
    arm, state, none = fa.load("rr"), np.zeros((1, 2)), np.zeros((0, 2))
    for call in (fa.rollout_gradient, fa.rollout_parameter_gradient):
        with pytest.raises(fa.StateFault, match="tau has no step"):
            call(arm, state, state, none, state, state, dt=0.01)
    with pytest.raises(fa.StateFault, match="q has 1 states; give those of one step or more"):
        fa.rollout_gain_gradient(
            arm, state, state, lambda t, q, qd, K: -K * q, {"K": 1.0}, state, state, dt=0.01
        )


@pytest.mark.parametrize("every", [2**63 - 1, 2**63, 2**64, 2**64 + 1, 10**30])
def test_a_record_at_a_number_that_no_register_holds_writes_no_further(every):
    for start in (Q, np.tile(Q, (8, 1))):
        record = fa.simulate(fa.load("rr"), start, duration=1.0, record_every=every)
        want = fa.simulate(fa.load("rr"), start, duration=1.0, record_every=1000)
        assert record.q.shape[-2:] == (2, 2)
        np.testing.assert_array_equal(record.q, want.q)


def test_steps_that_no_register_holds_are_refused():
    graph = trace(lambda x, v: (v, -x), {"x": (), "v": ()}, outputs=("a", "b"), name="wave")
    roll = Rollout(graph, {"x": "a", "v": "b"}, keep=False)
    for steps in (2**62, 2**64 + 5, 10**30):
        with pytest.raises(fa.StateFault, match="give one whole number of steps"):
            roll(1.0, 0.0, dt=1e-3, steps=steps)
    for every in (2**64 + 1, 10**30):
        assert roll(1.0, 0.0, dt=1e-3, steps=50, every=every).record.x.shape == (1,)
