"""Laws and functions that ask what kind of number they are given: traced along another branch than numbers take."""

import numpy as np
import pytest

import forearm as fa
from forearm.simulation import simulate

RR = fa.load("rr")
ARGUMENTS = dict(q0=[0.1, 0.2], duration=0.01)


def by_float(t, q, qd):
    return -10 * q if isinstance(t, float) else 0 * q


def by_dtype(t, q, qd):
    return -10 * q if q.dtype == float else q


def by_type(t, q, qd):
    return -10 * q if type(q) is np.ndarray else 5 - q


def by_refusal_of_numpy(t, q, qd):
    try:
        np.isnan(q)
    except TypeError:
        return 3.0 * q
    return -10 * q


@pytest.mark.parametrize("law", [by_float, by_dtype, by_type, by_refusal_of_numpy])
@pytest.mark.parametrize("options", [{}, dict(control_dt=2e-3), dict(q0=[[np.nan, 0.2], [0.1, 0.2]])])
def test_a_law_that_asks_for_types_was_traced_along_the_other_branch(law, options):
    record = simulate(RR, **ARGUMENTS | options, law=law)
    python = simulate(RR, **ARGUMENTS | options, law=law, trace=False)
    np.testing.assert_array_equal(record.q, python.q)
    assert "runs in Python, because tau[" in record.law


def test_a_law_that_is_another_later_in_the_motion_is_refused():
    def law(t, q, qd):
        return -10 * q if q.dtype == float else -10 * q * (1 + fa.where(t - 0.005, 1.0, 0.0))

    with pytest.raises(fa.StateFault, match=r"law.*at t = 0\.0\d+ s.*in Python.*trace=False"):
        simulate(RR, **ARGUMENTS, law=law)
    assert simulate(RR, **ARGUMENTS, law=law, trace=False).law == "law: trace=False was given"


def test_a_law_that_fails_on_numbers_fails_in_its_own_words():
    def law(t, q, qd):
        return -q if q.dtype == object else q.no_such_thing

    with pytest.raises(AttributeError, match="no_such_thing"):
        simulate(RR, **ARGUMENTS, law=law)


def test_the_gradient_by_gains_of_a_law_that_asks_for_types_is_refused():
    def law(t, q, qd, kp):
        return -kp * q if isinstance(t, float) else -2 * kp * q

    record = simulate(RR, **ARGUMENTS, law=law, gains={"kp": 5.0}, trace=False)
    other = simulate(RR, **ARGUMENTS, law=lambda t, q, qd, kp: -2 * kp * q, gains={"kp": 5.0})
    for q, qd in ((record.q, record.qd), (other.q, other.qd)):
        with pytest.raises(fa.Fault, match=r"in Python"):
            fa.rollout_gain_gradient(RR, q, qd, law, {"kp": 5.0}, 0 * q, 0 * qd, dt=1e-3)


def switching(t, q, qd):
    s = 3.0 * (q - np.array([0.1, 0.2])) + 0.1 * qd
    return np.array([fa.where(x, -5.0, 5.0) for x in s])


def at_the_goal(t, q, qd):
    return 1e6 * (np.array([0.1, 0.2]) - q) - 1e3 * qd


def with_differences(t, q, qd, h=1e-7):
    return (np.cos(q + h) - np.cos(q)) / h - qd


def without_limit(t, q, qd):
    return np.clip(-10 * q, -1e12, 1e12)


def no_quotient(t, q, qd):
    return -q + np.clip(qd / qd, -1, 1)


@pytest.mark.parametrize("law", [switching, at_the_goal, with_differences, without_limit, no_quotient])
@pytest.mark.parametrize("control_dt", [None, 1e-3])
def test_good_laws_are_compiled_as_they_were(law, control_dt):
    record = simulate(RR, [0.1, 0.2], law=law, duration=0.1, control_dt=control_dt)
    assert record.law.startswith(f"{law.__name__}: traced")


@pytest.mark.parametrize(
    "function",
    [
        lambda x: 2 * x if x.dtype == float else x,
        lambda x: np.array(2.0) * x if type(x) is np.ndarray else x,
        lambda x: np.where(np.isfinite(x), 0.0, x) if x.dtype == float else x,
    ],
)
def test_a_function_that_asks_for_types_was_compiled_along_the_other_branch(function):
    with pytest.raises(fa.TraceFault, match=r"compile_function: .*result\[0\] is .* in Python"):
        fa.compile_function(function, {"x": 2})
