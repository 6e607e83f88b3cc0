"""Laws that keep something between calls: found where they are to be compiled, told of where calls are many."""

from collections import deque

import numpy as np
import pytest

import forearm as fa
from forearm.simulation import simulate

RR = fa.load("rr")
GOAL = np.array([0.5, -0.3])


class Counting:
    """A law that pushes from its sixth call on; `stubborn` asks for a value, so that it cannot be traced."""

    def __init__(self, stubborn=False):
        self.calls, self.stubborn = 0, stubborn

    def __call__(self, t, q, qd):
        self.calls += 1
        if self.stubborn and q[0] > 100:
            return 0 * q
        return np.array([-20.0, 5.0]) * (self.calls > 5)


def delayed():
    line = deque([np.zeros(2)] * 5)

    def law(t, q, qd):
        line.append(-10 * q)
        return line.popleft()

    return law


def listed():
    pushes = iter([np.zeros(2)] * 5 + [np.ones(2)] * 100)
    return lambda t, q, qd: next(pushes)


def seldom():
    chance = np.random.default_rng(0)
    return lambda t, q, qd: -q * (chance.random() > 0.999)


@pytest.mark.parametrize("law", [Counting(), Counting(stubborn=True), delayed(), listed(), seldom()])
def test_what_a_law_keeps_was_forgotten_where_two_traces_were_alike(law):
    with pytest.raises(fa.StateFault, match=r"changed what it keeps.*trace=False"):
        simulate(RR, [0.1, 0.2], law=law, duration=0.01)


def test_what_a_law_makes_at_its_first_call_is_no_memory():
    class Lazy:
        gains = None

        def __call__(self, t, q, qd):
            self.gains = np.diag([20.0, 10.0]) if self.gains is None else self.gains
            return self.gains @ (GOAL - q)

    assert "traced" in simulate(RR, [0.1, 0.2], law=Lazy(), duration=0.01).law


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (dict(), "law Counting keeps something between calls, and rk4 asks it several times in a step"),
        (dict(method="dop853"), "dop853 asks it several times in a step (give control_dt="),
        (dict(method="euler"), ""),
        (dict(control_dt=1e-3), ""),
        (
            dict(control_dt=1e-3, q0=[[0.1, 0.2], [0.3, 0.4], [0, 0]]),
            "3 motions ask it in turn and share that",
        ),
    ],
)
def test_an_integral_was_four_times_too_large_in_silence(caplog, options, told):
    given = dict(q0=[0.1, 0.2], duration=0.004) | options
    simulate(RR, **given, law=Counting(), trace=False)
    assert told in caplog.text if told else not caplog.text


def test_random_numbers_are_no_memory_that_motions_share(caplog):
    draws = np.random.default_rng(0)
    simulate(RR, [0.1, 0.2], law=lambda t, q, qd: draws.normal(size=2), trace=False, duration=0.004)
    assert not caplog.text
