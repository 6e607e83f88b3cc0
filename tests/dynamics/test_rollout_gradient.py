"""Gradients through a rollout against 50-digit rollouts, differenced, and what does not fit."""

from functools import partial

import mpmath
import numpy as np
import pytest

import forearm as fa
from arms import random_arm
from forearm.compiler.graph.interpreter import apply
from forearm.link import Drive
from forearm.simulation import payload_numbers

DT, STEPS = 0.02, 6


def exact(x):
    return np.vectorize(mpmath.mpf, otypes=[object])(x)


def exact_rollout(accelerations, q, qd, tau, dt):
    """States along the classical Runge-Kutta scheme, written out, in 50 digits."""
    found = [(q, qd)]
    for push in tau:
        a1 = accelerations(q, qd, push)
        a2 = accelerations(q + dt / 2 * qd, qd + dt / 2 * a1, push)
        v2 = qd + dt / 2 * a1
        v3 = qd + dt / 2 * a2
        a3 = accelerations(q + dt / 2 * v2, v3, push)
        v4 = qd + dt * a3
        a4 = accelerations(q + dt * v3, v4, push)
        q = q + dt / 6 * (qd + 2 * v2 + 2 * v3 + v4)
        qd = qd + dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        found.append((q, qd))
    return np.array([x for x, _ in found]), np.array([x for _, x in found])


def rubbing(arm):
    drive = Drive(rotor_inertia=0.02, side="joint", viscous=0.3, coulomb=0.4, smoothing=0.2)
    return arm.replace(links=tuple(link.replace(drive=drive) for link in arm.links))


@pytest.mark.parametrize("arm", [fa.load("rr"), rubbing(random_arm(2, 4, "RP"))], ids=["rr", "rubbing"])
def test_fifty_digits(arm):
    rng = np.random.default_rng(7)
    start, tau = rng.uniform(-1, 1, (2, arm.n)), rng.uniform(-3, 3, (STEPS, arm.n))
    record = fa.simulate(arm, *start, law=tau, duration=STEPS * DT, dt=DT, record_every=1)
    weights = rng.normal(size=(2, STEPS + 1, arm.n))
    got = fa.rollout_gradient(arm, record.q, record.qd, tau, *weights, dt=DT)
    along = rng.normal(size=(2, arm.n)), rng.normal(size=tau.shape)
    with mpmath.workdps(50):
        step, sides = mpmath.mpf(10) ** -15, []
        for sign in (1, -1):
            moved = [exact(x) + sign * step * exact(y) for x, y in zip((start, tau), along, strict=True)]
            q, qd = exact_rollout(partial(fa.forward_dynamics, arm), *moved[0], moved[1], mpmath.mpf(DT))
            sides.append((exact(weights[0]) * q).sum() + (exact(weights[1]) * qd).sum())
        want = float((sides[0] - sides[1]) / (2 * step))
        assert np.abs(record.q - q.astype(float)).max() < 1e-12, "another motion than the one recorded"
    found = got.by_q0 @ along[0][0] + got.by_qd0 @ along[0][1] + (got.by_tau * along[1]).sum()
    assert abs(found - want) <= 1e-12 * sum(np.abs(x).sum() for x in got)


@pytest.mark.parametrize("arm", [fa.load("rr"), rubbing(random_arm(2, 4, "RP"))], ids=["rr", "rubbing"])
def test_fifty_digits_by_inertial_parameters(arm):
    rng = np.random.default_rng(9)
    start, tau = rng.uniform(-1, 1, (2, arm.n)), rng.uniform(-3, 3, (STEPS, arm.n))
    record = fa.simulate(arm, *start, law=tau, duration=STEPS * DT, dt=DT, record_every=1)
    weights = rng.normal(size=(2, STEPS + 1, arm.n))
    got = fa.rollout_parameter_gradient(arm, record.q, record.qd, tau, *weights, dt=DT)
    ten = fa.parameters(arm).reshape(-1, 10)
    along = rng.normal(size=ten.shape)
    graph = fa.compile(arm, "forward_dynamics", free=("inertial",)).graph
    with mpmath.workdps(50):
        step, sides = mpmath.mpf(10) ** -15, []
        for sign in (1, -1):
            bodies = exact(ten) + sign * step * exact(along)

            def accelerations(q, qd, push, bodies=bodies):
                return apply(graph, q=q, qd=qd, tau=push, inertial=bodies)["qdd"]

            q, qd = exact_rollout(accelerations, *exact(start), exact(tau), mpmath.mpf(DT))
            sides.append((exact(weights[0]) * q).sum() + (exact(weights[1]) * qd).sum())
        want = float((sides[0] - sides[1]) / (2 * step))
    assert abs((got * along).sum() - want) <= 1e-12 * np.abs(got * along).sum()


def test_a_payload_is_ten_numbers_more_for_the_link_that_holds_it():
    arm, rng = fa.load("rr"), np.random.default_rng(10)
    start, tau = rng.uniform(-1, 1, (2, arm.n)), rng.uniform(-3, 3, (STEPS, arm.n))
    weights = rng.normal(size=(2, STEPS + 1, arm.n))
    mass, place = np.array([2.0 + 1e-4, 2.0 - 1e-4, 2.0]), (0.1, 0.0, 0.0)
    ten = payload_numbers(mass, np.tile(place, (3, 1)), np.zeros((3, 3, 3)))
    record = fa.simulate(
        arm, *start, law=tau, payload=ten, duration=STEPS * DT, dt=DT, record_every=1, limits="ignore"
    )
    number = (weights[0] * record.q + weights[1] * record.qd).sum((1, 2))
    held = arm.with_payload(2.0, place, frame=arm.n)
    got = fa.rollout_parameter_gradient(held, record.q[2], record.qd[2], tau, *weights, dt=DT)
    assert got.shape == (2, 10)
    one_more = fa.parameters(held.with_payload(1.0, place, frame=arm.n)) - fa.parameters(held)
    np.testing.assert_allclose(got.ravel() @ one_more, (number[0] - number[1]) / 2e-4, rtol=1e-6)


@pytest.mark.parametrize("arm", [fa.load("rr"), rubbing(random_arm(2, 4, "RP"))], ids=["rr", "rubbing"])
def test_fifty_digits_of_the_whole_end(arm):
    """Every element of the last state, along random directions of start and torques."""
    rng = np.random.default_rng(11)
    start, tau = rng.uniform(-1, 1, (2, arm.n)), rng.uniform(-3, 3, (STEPS, arm.n))
    record = fa.simulate(arm, *start, law=tau, duration=STEPS * DT, dt=DT, record_every=1)
    got = fa.rollout_sensitivity(arm, record.q, record.qd, tau, dt=DT)
    along = rng.normal(size=(2, arm.n)), rng.normal(size=tau.shape)
    with mpmath.workdps(50):
        step, sides = mpmath.mpf(10) ** -15, []
        for sign in (1, -1):
            moved = [exact(x) + sign * step * exact(y) for x, y in zip((start, tau), along, strict=True)]
            q, qd = exact_rollout(partial(fa.forward_dynamics, arm), *moved[0], moved[1], mpmath.mpf(DT))
            sides.append(np.concatenate([q[-1], qd[-1]]))
        want = ((sides[0] - sides[1]) / (2 * step)).astype(float)
    found = got.by_q0 @ along[0][0] + got.by_qd0 @ along[0][1] + np.einsum("tij,tj->i", got.by_tau, along[1])
    np.testing.assert_allclose(found, want, rtol=1e-12, atol=1e-12 * np.abs(want).max())


def test_the_whole_end_and_one_number_of_it_agree():
    arm, rng = fa.load("rr"), np.random.default_rng(12)
    start, tau = rng.uniform(-1, 1, (2, 4, 2)), rng.uniform(-3, 3, (4, STEPS, 2))
    record = fa.simulate(arm, *start, law=tau, duration=STEPS * DT, dt=DT, record_every=1)
    whole = fa.rollout_sensitivity(arm, record.q, record.qd, tau, dt=DT, threads=2)
    assert [x.shape for x in whole] == [(4, 4, 2), (4, 4, 2), (4, STEPS, 4, 2)]
    weights = np.zeros((2, 4, STEPS + 1, 2))
    weights[:, :, -1] = rng.normal(size=(2, 4, 2))
    one = fa.rollout_gradient(arm, record.q, record.qd, tau, *weights, dt=DT)
    last = np.concatenate([weights[0, :, -1], weights[1, :, -1]], -1)
    np.testing.assert_allclose(np.einsum("ri,rij->rj", last, whole.by_q0), one.by_q0, rtol=1e-11)
    np.testing.assert_allclose(np.einsum("ri,rij->rj", last, whole.by_qd0), one.by_qd0, rtol=1e-11)
    np.testing.assert_allclose(np.einsum("ri,rtij->rtj", last, whole.by_tau), one.by_tau, rtol=1e-10)


def pulled_by_springs(t, q, qd, kp, pull, w):
    """A law with a gain of every shape; it depends on the time and is not linear."""
    return np.tanh(w @ (pull * np.sin(3 * t) - q)) * kp - 0.5 * qd


GAINS = {"kp": np.array(2.0), "pull": np.array([0.4, -0.7]), "w": np.array([[1.5, 0.2], [-0.3, 0.8]])}


@pytest.mark.parametrize("arm", [fa.load("rr"), rubbing(random_arm(2, 4, "RP"))], ids=["rr", "rubbing"])
def test_gains_and_start_against_differences_of_simulations(arm):
    """Differences in a direction of all gains and the start at once, extrapolated."""
    rng = np.random.default_rng(13)
    weights, start = rng.normal(size=(2, STEPS + 1, 2)), rng.uniform(-1, 1, (2, 2))
    along = {name: rng.normal(size=value.shape) for name, value in GAINS.items()}
    moved = rng.normal(size=(2, 2))

    def motion(step):
        gains = {name: value + step * along[name] for name, value in GAINS.items()}
        begin = start + step * moved
        return fa.simulate(
            arm, *begin, law=pulled_by_springs, gains=gains, duration=STEPS * DT, dt=DT, record_every=1
        )

    def difference(step):
        low, high = (
            (weights[0] * run.q).sum() + (weights[1] * run.qd).sum() for run in (motion(-step), motion(step))
        )
        return (high - low) / (2 * step)

    run = motion(0.0)
    got = fa.rollout_gain_gradient(arm, run.q, run.qd, pulled_by_springs, GAINS, *weights, dt=DT)
    assert {name: value.shape for name, value in got.by_gains.items()} == {
        "kp": (),
        "pull": (2,),
        "w": (2, 2),
    }
    found = got.by_q0 @ moved[0] + got.by_qd0 @ moved[1]
    found += sum((got.by_gains[name] * along[name]).sum() for name in GAINS)
    want = (4 * difference(1e-3) - difference(2e-3)) / 3
    assert abs(found - want) <= 1e-9 * max(1.0, abs(want))
    rows = [np.stack([x, x]) for x in (run.q, run.qd, *weights)]
    both = fa.rollout_gain_gradient(arm, rows[0], rows[1], pulled_by_springs, GAINS, rows[2], rows[3], dt=DT)
    np.testing.assert_allclose(both.by_gains["w"], [got.by_gains["w"]] * 2, rtol=1e-12)


def test_gains_of_a_law_that_does_not_fit_are_refused():
    arm, states = fa.load("rr"), np.zeros((4, 2))
    with pytest.raises(fa.StateFault, match=r"weights_qd has shape \(3, 2\) \(steps first\), and q \(4, 2\)"):
        fa.rollout_gain_gradient(arm, states, states, pulled_by_springs, GAINS, states, states[:3], dt=DT)

    def asking(t, q, qd, kp):
        return kp * q if q[0] > 0 else qd

    with pytest.raises(fa.TraceFault, match=r"rollout_gain_gradient of rr: the law runs in Python, because"):
        fa.rollout_gain_gradient(arm, states, states, asking, {"kp": 1.0}, states, states, dt=DT)


@pytest.mark.parametrize(
    "other", [{"record_every": 2}, {"torque_limits": [1.0, 1.0]}, {"control_dt": 4 * DT}]
)
def test_gains_of_a_motion_that_the_law_did_not_make_are_refused(other):
    """Recorded now and then, held at limits, sampled: the gradient was one of another motion, without a word."""
    arm, begin = fa.load("rr"), ([0.4, -1.1], [0.1, 0.2])
    law = {"law": pulled_by_springs, "gains": GAINS, "dt": DT, "record_every": 1}
    run = fa.simulate(arm, *begin, duration=8 * DT, **(law | other))
    with pytest.raises(
        fa.StateFault,
        match=r"a step of 0.02 s under the law with these gains from state \d+ leads to qd? = .*record_every=1",
    ):
        fa.rollout_gain_gradient(arm, run.q, run.qd, pulled_by_springs, GAINS, run.q, run.qd, dt=DT)


def test_batches_of_any_shape_and_threads():
    arm, rng = fa.load("rr"), np.random.default_rng(8)
    weights_q, weights_qd = rng.normal(size=(2, 2, 3, STEPS + 1, 2))
    tau = rng.normal(size=(6, STEPS, 2))
    run = fa.simulate(arm, *rng.normal(size=(2, 6, 2)), law=tau, duration=STEPS * DT, dt=DT, record_every=1)
    q, qd, tau = (x.reshape(2, 3, *x.shape[1:]) for x in (run.q, run.qd, tau))
    got = fa.rollout_gradient(arm, q, qd, tau, weights_q, weights_qd, dt=DT, threads=2)
    assert [x.shape for x in got] == [(2, 3, 2), (2, 3, 2), (2, 3, STEPS, 2)]
    one = fa.rollout_gradient(arm, q[1, 2], qd[1, 2], tau[1, 2], weights_q[1, 2], weights_qd[1, 2], dt=DT)
    for a, b in zip(one, got, strict=True):
        np.testing.assert_allclose(a, b[1, 2], rtol=1e-13, atol=1e-13)


def test_what_does_not_fit_is_said():
    arm, states, tau = fa.load("rr"), np.zeros((4, 2)), np.zeros((3, 2))
    with pytest.raises(fa.StateFault, match=r"q has shape \(2,\); give \(\.\.\., steps, n\)"):
        fa.rollout_gradient(arm, states[0], states, tau, states, states, dt=DT)
    with pytest.raises(fa.StateFault, match=r"weights_qd has 3 states of shape \(2,\), and tau 3 steps"):
        fa.rollout_gradient(arm, states, states, tau, states, states[:3], dt=DT)
    with pytest.raises(fa.StateFault, match=r"weights_q has shape \(4, 3\), but arm 'rr' has 2 joints"):
        fa.rollout_gradient(arm, states, states, tau, np.zeros((4, 3)), states, dt=DT)


def test_a_motion_recorded_now_and_then_gave_a_gradient_of_another_one():
    arm, steps = fa.load("rr"), 40
    tau = np.ones((steps, 2))
    run = fa.simulate(arm, [0.1, 0.2], law=tau, dt=1e-3, duration=steps * 1e-3, record_every=4)
    weights = np.zeros_like(run.q)
    with pytest.raises(
        fa.StateFault, match=r"states are about 0\.004 s apart by their speeds, and dt is 0\.001 s"
    ):
        fa.rollout_gradient(arm, run.q, run.qd, tau[::4], weights, weights, dt=1e-3)


OTHERS = {
    "euler": {"method": "euler"},
    "symplectic": {"method": "symplectic"},
    "limits of torque": {"torque_limits": [1.5, 1.5]},
    "a load": {"arm": fa.load("rr").with_payload(0.5, frame="#2")},
    "gravity of elsewhere": {"arm": fa.load("rr").replace(gravity=(0.0, 0.0, -1.62))},
}


@pytest.mark.parametrize(
    "function", ["rollout_gradient", "rollout_parameter_gradient", "rollout_sensitivity"]
)
@pytest.mark.parametrize("other", OTHERS)
def test_a_motion_that_these_torques_did_not_make_gave_a_gradient_of_none(other, function):
    """Another scheme, torques at their limits, another arm: only the time between states was looked at."""
    arm, steps, dt = fa.load("rr"), 25, 0.02
    tau = 2 * np.sin(np.arange(steps * 2.0)).reshape(steps, 2)
    made = {"arm": arm, "q0": [0.1, 0.2], "law": tau, "dt": dt, "duration": steps * dt, "record_every": 1}
    good, bad = fa.simulate(**made), fa.simulate(**(made | OTHERS[other]))
    extra = () if function == "rollout_sensitivity" else (good.q, good.q)
    for kind in (np.float64, np.float32):
        getattr(fa, function)(arm, good.q.astype(kind), good.qd.astype(kind), tau, *extra, dt=dt)
    for kind in (np.float64, np.float32)[: 1 if other == "symplectic" else 2]:
        with pytest.raises(
            fa.StateFault, match=rf'{function} of rr: a step of 0\.02 s under tau from .*method="rk4", record'
        ):
            getattr(fa, function)(arm, bad.q.astype(kind), bad.qd.astype(kind), tau, *extra, dt=dt)


def test_a_long_batch_with_one_foreign_state_is_refused_where_it_is():
    arm, steps, dt = fa.load("rr"), 30, 5e-3
    tau = np.random.default_rng(14).normal(size=(5, steps, 2))
    run = fa.simulate(arm, [0.1, 0.2], law=tau, dt=dt, duration=steps * dt, record_every=1)
    q = run.q.copy()
    q[3, 17, 1] += 1e-6
    with pytest.raises(fa.StateFault, match=r"from state 1[67] .*leads to q = .* of joint 2 .*motion 3"):
        fa.rollout_sensitivity(arm, q, run.qd, tau, dt=dt)
    q[3, 17:] = np.nan
    got = fa.rollout_sensitivity(arm, q, run.qd, tau, dt=dt)
    assert np.isnan(got.by_q0[3]).any()
    assert not np.isnan(got.by_q0[[0, 1, 2, 4]]).any()


def test_a_motion_that_diverged_gave_gradients_that_are_no_numbers():
    """A single one; the page on gradients had one. In a batch they stay in their own motion."""
    arm, dt = fa.load("planar_3r"), 0.01
    gains = {"kd": np.full(3, 2.0)}
    law = {
        "law": lambda t, q, qd, kd: -kd * qd,
        "gains": gains,
        "dt": dt,
        "duration": 50 * dt,
        "record_every": 1,
    }
    run = fa.simulate(arm, [0.3, -0.2, 0.1], [0.1, 0.2, 0.3], **law)
    assert run.outcome.kind == "step too large"
    motion, tau = (run.q, run.qd), np.zeros((50, 3))
    said = r"of planar_3r: qd? of step \d+ is not finite, so there is no gradient; a motion that diverged needs a small"
    with pytest.raises(fa.StateFault, match=said):
        fa.rollout_gain_gradient(arm, *motion, law["law"], gains, *motion, dt=dt)
    with pytest.raises(fa.StateFault, match=said):
        fa.rollout_gradient(arm, *motion, tau, *motion, dt=dt)
    still = np.zeros((51, 3))
    weights = still.copy()
    weights[-1, 0] = np.nan
    with pytest.raises(fa.StateFault, match="weights_q of step 50 is not finite"):
        fa.rollout_gradient(arm.replace(gravity=(0, 0, 0)), still, still, tau, weights, still, dt=dt)
