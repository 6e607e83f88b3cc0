"""Arms in other units of length, mass and time: each number goes with a whole power of each unit, from mm to km."""

import numpy as np
import pytest

import forearm as fa
from laws.similar_arms import Units

SEEN = 1e-9
"""Numbers below this share of a result's largest are rounding."""


def torques(arm, units, q, qd, qdd):
    return fa.inverse_dynamics(arm, q, qd, qdd)


def pushed(arm, units, q, qd, qdd):
    force, moment = (
        tuple(x * unit for x in vector)
        for vector, unit in (((1.0, 2.0, 3.0), units.force), ((0.1, 0.2, 0.3), units.moment))
    )
    push = fa.Wrench(force, moment, at=("tool", (0.1 * units.length, 0.0, 0.0)))
    return fa.inverse_dynamics(arm, q, qd, qdd, wrench=push)


def accelerations(arm, units, q, qd, qdd):
    return fa.forward_dynamics(arm, q, qd, fa.inverse_dynamics(arm, q, qd, qdd))


def slopes(arm, units, q, qd, qdd):
    tau = fa.inverse_dynamics(arm, q, qd, qdd)
    return fa.derivatives(arm, q, qd, qdd), fa.forward_derivatives(arm, q, qd, tau)


def matrices(arm, units, q, qd, qdd):
    return fa.mass_matrix(arm, q), fa.coriolis_matrix(arm, q, qd), fa.christoffel(arm, q)


def parts(arm, units, q, qd, qdd):
    return fa.energy(arm, q, qd), fa.reactions(arm, q, qd, qdd), fa.centroidal_momentum(arm, q, qd)


def places(arm, units, q, qd, qdd):
    return fa.pose(arm, q), fa.jacobian(arm, q), fa.center_of_mass(arm, q)


def parameters(arm, units, q, qd, qdd):
    return fa.regressor(arm, q, qd, qdd), fa.base_parameters(arm, rotors=False).of(arm)


def reached(arm, units, q, qd, qdd):
    return fa.inverse_kinematics(arm, fa.pose(arm, q)).q


def simulated(arm, units, q, qd, qdd):
    record = fa.simulate(arm, q[0], qd[0], duration=0.02 * units.time, dt=1e-3 * units.time)
    return record.q, record.qd


def limits(arm, units):
    """Speeds and accelerations that a motion of the arm keeps."""
    speeds = units.positions(arm) / units.time
    return {"speeds": speeds, "accelerations": 2.0 * speeds / units.time}


def moved(arm, units, q, qd, qdd):
    straight = fa.point_to_point(arm, q[0], q[1], **limits(arm, units))
    fast = fa.fastest(arm, [q[0], q[1], q[2]], torques=100.0 * units.efforts(arm), **limits(arm, units))
    return straight.duration, fast.duration


def judged(arm, units, q, qd, qdd):
    report = fa.feasible(arm, fa.via_points(arm, [q[0], q[1], q[2]], **limits(arm, units)))
    return [[x.peak, x.rms, x.peak_speed, x.peak_power, x.peak_at] for x in report.loads]


QUICK = (torques, pushed, accelerations, matrices, parts, places, parameters)
LONG = (slopes, reached, simulated, moved, judged)


def numbers(result):
    if isinstance(result, (tuple, list)):
        return np.concatenate([numbers(x) for x in result])
    if isinstance(result, dict):
        return numbers(list(result.values()))
    if hasattr(result, "__dataclass_fields__"):
        return numbers([getattr(result, name) for name in result.__dataclass_fields__])
    return np.ravel(np.asarray(result, dtype=float))


def in_units(function, name, units):
    arm = fa.load(name)
    q, qd, qdd = arm.random_state(3, (3,))
    other = units.arm(arm)
    unit = units.positions(arm)
    return numbers(function(other, units, q * unit, qd * unit / units.time, qdd * unit / units.time**2))


def check(function, name, axis, sizes, rtol):
    """By which power of the unit each number goes is what one doubling tells; the others must follow it."""
    first = in_units(function, name, Units())
    seen = np.abs(first) > SEEN * np.max(np.abs(first))
    assert np.any(seen)
    doubled = in_units(function, name, Units(**{axis: 2.0}))
    powers = np.log2(doubled[seen] / first[seen])
    np.testing.assert_allclose(powers, np.round(powers), atol=1e-6)
    for size in sizes:
        got = in_units(function, name, Units(**{axis: size}))
        want = first[seen] * size ** np.round(powers)
        np.testing.assert_allclose(got[seen], want, rtol=rtol, err_msg=f"{axis} in {size:g}")


CASES = [
    pytest.param(name, function, id=f"{name}-{function.__name__}")
    for name in ("rr", "stanford", "puma560")
    for function in (*QUICK, *LONG)
    if (name, function) != ("rr", reached)  # two joints do not turn a tool as asked
]
SIZES = {"length": (2.0**-10, 2.0**10), "mass": (2.0**-14, 2.0**14), "time": (2.0**-3, 2.0**3)}


@pytest.mark.parametrize("function", QUICK, ids=lambda f: f.__name__)
def test_numbers_follow_the_length_of_an_arm(function):
    check(function, "stanford", "length", SIZES["length"], rtol=1e-9)


@pytest.mark.more
@pytest.mark.parametrize("axis", SIZES)
@pytest.mark.parametrize(("name", "function"), CASES)
def test_numbers_follow_the_units_of_more_arms(name, function, axis):
    check(function, name, axis, SIZES[axis], rtol=1e-7)
