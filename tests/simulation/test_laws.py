"""Control laws: traced and in Python, sampled and held, limits, closed forms, and what is refused."""

import numpy as np
import pytest

import forearm as fa
from close import assert_close
from forearm.simulation import ComputedTorque, FeedforwardPD, PDWithGravity, Quintic, simulate
from forearm.simulation import run as simulation_run
from forearm.simulation.traced_laws import make_law

RR = fa.load("rr")
GOAL = np.array([0.5, -0.3])
SPAN = dict(duration=0.4, dt=1e-3)


def spring(t, q, qd):
    """A user's law of five lines: gravity compensation, a spring with a soft stop, and a wobble."""
    error = GOAL - q
    soft = error / np.sqrt(1 + error**2)
    wobble = 0.2 * np.sin(7 * t) * np.array([1.0, -1.0])
    return fa.gravity_torque(RR, q) + 30 * soft - 4 * qd + wobble


@pytest.mark.parametrize("method", ["rk4", "euler"])
@pytest.mark.parametrize("control_dt", [None, 5e-3])
def test_a_law_traced_is_the_same_law_in_python(method, control_dt):
    options = dict(law=spring, method=method, control_dt=control_dt, **SPAN)
    traced, python = (simulate(RR, [0.1, 0.2], trace=wanted, **options) for wanted in (True, False))
    assert "traced" in traced.law
    assert "trace=False was given" in python.law
    for name in ("q", "qd", "tau", "work"):
        assert np.abs(getattr(traced, name) - getattr(python, name)).max() < 1e-12, name


def test_a_law_that_cannot_be_traced_says_why_and_runs():
    def bang(t, q, qd):
        return np.array([3.0, 1.0]) if q[0] < 0.3 else np.array([-3.0, -1.0])

    run = simulate(RR, [0.0, 0.0], law=bang, duration=0.05)
    assert "bang: runs in Python, because it cannot be traced: test_laws.py" in run.law
    assert "compared a traced value" in run.law
    np.testing.assert_array_equal(run.tau[0], [3, 1])
    for method in ("symplectic", "euler"):
        held = simulate(RR, [0.0, 0.0], law=bang, duration=0.05, control_dt=1e-3, method=method)
        assert held.outcome.finished
    with pytest.raises(
        fa.StateFault, match=r"symplectic runs in the kernel, and this law .* give control_dt="
    ):
        simulate(RR, [0.0, 0.0], law=bang, duration=0.05, method="symplectic")


def test_a_law_that_simulates_what_will_come_was_refused_as_no_numbers():
    def ahead(t, q, qd):
        return -3.0 * simulate(RR, q, qd, duration=0.02, dt=0.01).q[-1]

    run = simulate(RR, [0.4, -0.2], law=ahead, duration=0.02, dt=0.01, method="euler")
    assert "ahead: runs in Python, because it cannot be traced: " in run.law
    np.testing.assert_array_equal(run.tau[0], ahead(0.0, run.q[0], run.qd[0]))


@pytest.mark.parametrize("method", ["rk4", "symplectic", "dop853", "papers"])
def test_every_scheme_takes_a_law(method):
    for control_dt in (None, 0.01):
        options = dict(law=spring, duration=0.05, dt=1e-3, control_dt=control_dt)
        want = simulate(RR, [0.1, 0.2], method="dop853", rtol=1e-12, **options)
        run = simulate(RR, [0.1, 0.2], method=method, **options)
        assert np.abs(run.q[-1] - want.q[-1]).max() < (1e-5 if method == "symplectic" else 1e-8)
        assert np.abs(run.tau[-1] - want.tau[-1]).max() < (1e-2 if method == "symplectic" else 1e-5)
    assert_close(run.tau[:50].reshape(5, 10, 2), run.tau[:50:10, None] * np.ones((1, 10, 1)))


def test_computed_torque_is_a_spring_and_a_mass():
    """With the right model each joint's error obeys e'' + 20 e' + 100 e = 0: (e0 + (v0 + 10 e0) t) exp(-10 t)."""
    run = simulate(RR, [0.1, 0.2], law=ComputedTorque(RR, GOAL, kp=100.0, kd=20.0), **SPAN)
    e0 = np.array([0.1, 0.2]) - GOAL
    want = GOAL + (e0 + 10 * e0 * run.t[:, None]) * np.exp(-10 * run.t[:, None])
    assert np.abs(run.q - want).max() < 1e-8


def test_pd_with_gravity_comes_to_rest_at_its_goal():
    run = simulate(
        RR, [0.1, 0.2], law=PDWithGravity(RR, GOAL, kp=60.0, kd=12.0), duration=6.0, record_every=100
    )
    assert np.abs(run.q[-1] - GOAL).max() < 1e-4
    assert_close(run.tau[-1], fa.gravity_torque(RR, GOAL), eps=1e12, because="still settling")


def test_following_a_motion_with_and_without_feedforward():
    motion = Quintic([0.1, 0.2], GOAL, 0.4)
    follow = simulate(RR, [0.1, 0.2], law=FeedforwardPD(RR, motion, 50.0, 5.0), **SPAN)
    want = motion.sample(follow.t)
    assert np.abs(follow.q - want.q).max() < 1e-8
    assert np.abs(follow.tau - fa.inverse_dynamics(RR, *want[1:])).max() < 1e-5
    lazy = simulate(RR, [0.1, 0.2], law=PDWithGravity(RR, motion, 50.0, 5.0), **SPAN)
    assert 1e-3 < np.abs(lazy.q - want.q).max() < 0.2


def test_gains_of_each_row():
    kp = np.array([20.0, 40.0, 80.0])
    batch = simulate(RR, [0.1, 0.2], law=PDWithGravity(RR, GOAL, 0.0, 5.0), gains={"kp": kp[:, None] * np.ones(2)},
                     free={"links[1].mass": np.full(3, RR.links[1].mass)}, **SPAN)  # fmt: skip
    for row, value in enumerate(kp):
        one = simulate(RR, [0.1, 0.2], law=PDWithGravity(RR, GOAL, value, 5.0), **SPAN)
        assert_close(batch.q[row, -1], one.q[-1], eps=1e4, because="another order of sums")
        assert_close(batch.tau[row, -1], one.tau[-1], eps=1e5, because="another order of sums")
    shared = simulate(RR, [0.1, 0.2], law=PDWithGravity(RR, GOAL, 0.0, 5.0), gains={"kp": 40.0}, **SPAN)
    assert_close(shared.q[-1], batch.q[1, -1], eps=1e4, because="another order of sums")
    q, law = np.full((3, 2), 0.15), PDWithGravity(RR, GOAL, 0.0, 5.0)
    python = simulate(RR, q, law=law, gains={"kp": kp}, trace=False, duration=0.01)
    again = simulate(RR, q, law=law, gains={"kp": kp}, duration=0.01)
    assert np.abs(python.q - again.q).max() < 1e-13


def test_sampled_laws_are_called_once_for_each_sample():
    calls = []

    def law(t, q, qd):
        calls.append(t)
        return -2 * qd

    run = simulate(RR, [0.1, 0.2], law=law, duration=0.1, dt=1e-3, control_dt=0.02, trace=False)
    assert_close(calls, [0, 0.02, 0.04, 0.06, 0.08])
    assert len(np.unique(run.tau[:100, 0])) == 5


def test_records_and_samples_need_not_divide_each_other():
    base = simulate(RR, [0.1, 0.2], law=spring, duration=0.1, dt=1e-3, control_dt=4e-3)
    thin = simulate(RR, [0.1, 0.2], law=spring, duration=0.1, dt=1e-3, control_dt=4e-3, record_every=7)
    steps = [*range(0, 100, 7), 100]
    assert_close(thin.t, base.t[steps])
    for name in ("q", "qd", "tau", "work", "qdd"):
        assert_close(getattr(thin, name), getattr(base, name)[steps], eps=256, because="chunks")


def test_open_loop_torques():
    torques = np.random.default_rng(0).uniform(-2, 2, (50, 2))
    run = simulate(RR, [0.1, 0.2], law=torques, duration=0.05, dt=1e-3)
    np.testing.assert_array_equal(run.tau[:-1], torques)
    q, qd = np.array([0.1, 0.2]), np.zeros(2)
    for tau in torques:
        k = []
        for reach in (0, 0.5, 0.5, 1):
            a, b = (q, qd) if not k else (q + reach * 1e-3 * k[-1][0], qd + reach * 1e-3 * k[-1][1])
            k.append((b, fa.forward_dynamics(RR, a, b, tau)))
        q = q + 1e-3 / 6 * (k[0][0] + 2 * k[1][0] + 2 * k[2][0] + k[3][0])
        qd = qd + 1e-3 / 6 * (k[0][1] + 2 * k[1][1] + 2 * k[2][1] + k[3][1])
    assert_close(run.q[-1], q, eps=256, because="fifty steps")
    held = simulate(RR, [0.1, 0.2], law=torques[:10], duration=0.05, dt=1e-3, control_dt=5e-3)
    np.testing.assert_array_equal(held.tau[:50:5], torques[:10])
    same = simulate(
        RR, [0.1, 0.2], law=torques[:10], duration=0.05, dt=1e-3, control_dt=5e-3, method="dop853"
    )
    assert np.abs(held.q - same.q).max() < 1e-9
    rows = simulate(RR, [0.1, 0.2], law=np.array([[[1.0, 0.5]], [[0.0, 0.0]]]), duration=0.05, dt=1e-3)
    constant = simulate(RR, [0.1, 0.2], law=[1.0, 0.5], duration=0.05, dt=1e-3)
    assert_close(rows.q[0, -1], constant.q[-1])


def test_torque_limits():
    law = PDWithGravity(RR, GOAL, kp=500.0, kd=10.0)
    run = simulate(RR, [0.1, 0.2], law=law, torque_limits=[30.0, 4.0], **SPAN)
    assert np.abs(run.tau).max(axis=0).tolist() == [30.0, 4.0]
    python = simulate(RR, [0.1, 0.2], law=law, torque_limits=[30.0, 4.0], trace=False, **SPAN)
    assert np.abs(run.q - python.q).max() < 1e-11
    limited = RR.replace(
        links=[k.replace(effort_limit=m) for k, m in zip(RR.links, (30.0, 4.0), strict=True)]
    )
    own = simulate(limited, [0.1, 0.2], law=law, torque_limits="arm", **SPAN)
    assert_close(own.q, run.q)


def test_the_controller_may_believe_in_another_arm():
    """Computed torque with a payload unknown to the law misses by g of the payload over kp."""
    law = ComputedTorque(RR, GOAL, kp=400.0, kd=40.0)
    run = simulate(RR.with_payload(1.0, frame="flange"), GOAL, law=law, duration=3.0, record_every=3000)
    heavy = RR.with_payload(1.0, frame="flange")
    sag = np.linalg.solve(
        fa.mass_matrix(RR, run.q[-1]), fa.gravity_torque(heavy, run.q[-1]) - fa.gravity_torque(RR, run.q[-1])
    )
    assert_close(GOAL - run.q[-1], sag / 400.0, eps=1e9, because="still settling")


class Integral:
    """A law with memory."""

    def __init__(self):
        self.total = 0.0

    def __call__(self, t, q, qd):
        self.total = self.total + (GOAL - q) * 1e-3
        return self.total + 2 * (GOAL - q)


def test_a_law_with_memory_is_not_compiled_by_mistake():
    with pytest.raises(fa.StateFault, match="keeps something between calls"):
        simulate(RR, [0.1, 0.2], law=Integral(), duration=0.01)
    law = Integral()
    run = simulate(RR, [0.1, 0.2], law=law, duration=0.01, control_dt=1e-3, trace=False)
    assert run.outcome.finished
    assert_close(law.total, np.sum(GOAL - run.q[:10], axis=0) * 1e-3)


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (lambda t, q, qd: q[:1], r"law returned shape \(1,\); it gets one state and must return \(2,\)"),
        (lambda t, q, qd: None, r"law returned None; return the 2 torques of arm 'rr'"),
        (lambda t, q: q, r"law <lambda>\(t, q\) cannot be called with \(t, q, qd\)"),
        ("pd", r"law is a str; give torques"),
        (
            np.zeros((3, 2)),
            r"torques have shape \(3, 2\); this simulation has 10 steps: give \(2,\), \(10, 2\)",
        ),
        (np.zeros(3), r"law \(torques\) has shape \(3,\), but arm 'rr' has 2 joints"),
        ([np.nan, 0.0], r"law \(torques\) of joint 1 .* is nan"),
    ],
)
@pytest.mark.parametrize("trace", [True, False])
def test_laws_that_are_refused(law, message, trace):
    with pytest.raises(fa.StateFault, match=message):
        simulate(RR, [0.1, 0.2], law=law, duration=0.01, trace=trace)


def test_gains_that_are_refused():
    with pytest.raises(fa.StateFault, match=r"gains: 'tau' is a name that the simulation uses itself"):
        simulate(RR, [0.1, 0.2], law=lambda t, q, qd, tau: tau, gains={"tau": [0.0, 0.0]}, duration=0.01)
    with pytest.raises(fa.StateFault, match=r"kp has shape \(3,\); give one number, or one for each joint"):
        simulate(RR, [0.1, 0.2], law=PDWithGravity(RR, GOAL, [1, 2, 3], 1.0), duration=0.01)
    with pytest.raises(fa.StateFault, match=r"target has shape \(2, 2\); give one position"):
        simulate(RR, [0.1, 0.2], law=PDWithGravity(RR, np.zeros((2, 2)), 1.0, 1.0), duration=0.01)


def test_what_tracing_makes_of_a_law():
    law = make_law(RR, spring, {}, True)
    assert law.why == "traced"
    assert law.graph.counts.sincos >= 2


def test_gains_of_as_many_motions_as_joints_are_not_guessed_at():
    """Two numbers for two motions of two joints: of each motion, or of each joint?"""
    q0, options = np.ones((2, 2)), dict(law=lambda t, q, qd, k: -k * q, duration=0.05)
    with pytest.raises(
        fa.StateFault, match=r"gain 'k' has shape \(2,\), and there are 2 motions of 2 joints; give"
    ):
        simulate(RR, q0, gains={"k": [1.0, 100.0]}, **options)
    each = simulate(RR, q0, gains={"k": [[1.0], [100.0]]}, **options)
    shared = simulate(RR, q0, gains={"k": [[1.0, 100.0]]}, **options)
    for row, k in enumerate((1.0, 100.0)):
        np.testing.assert_allclose(each.q[row], simulate(RR, q0[0], gains={"k": k}, **options).q, rtol=1e-12)
        np.testing.assert_allclose(shared.q[row], simulate(RR, q0[0], gains={"k": [1.0, 100.0]}, **options).q)


@pytest.mark.parametrize("trace", [True, False])
def test_a_matrix_of_gains_for_a_grid_of_as_many_motions_was_one_number_for_each(trace):
    """Four motions in a grid of two by two, and u = -K q by `np.dot`, which takes single numbers as well."""
    rng = np.random.default_rng(0)
    q0, K = rng.uniform(-1, 1, (2, 2, 2)), rng.uniform(5, 9, (2, 2))
    options = dict(law=lambda t, q, qd, K: -np.dot(K, q), duration=0.02, trace=trace)
    with pytest.raises(
        fa.StateFault, match=r"shape \(2, 2\), and there are 2 x 2 motions of 2 joints; give \(1, 1, 2, 2\)"
    ):
        simulate(RR, q0, gains={"K": K}, **options)
    shared = simulate(RR, q0, gains={"K": K[None, None]}, **options)
    each = simulate(RR, q0, gains={"K": K[..., None]}, **options | {"law": lambda t, q, qd, K: -K * q})
    for i, j in np.ndindex(2, 2):
        np.testing.assert_allclose(shared.q[i, j], simulate(RR, q0[i, j], gains={"K": K}, **options).q)
        np.testing.assert_allclose(
            each.q[i, j], simulate(RR, q0[i, j], gains={"K": np.diag([K[i, j]] * 2)}, **options).q
        )


@pytest.mark.parametrize("trace", [True, False])
@pytest.mark.parametrize("m", [2, 4])
def test_a_matrix_of_gains_for_as_many_motions_as_joints_is_not_cut_into_rows(m, trace):
    """State feedback u = u0 - K x of two motions of two joints: each had a row of K, and one number for both joints."""
    rng = np.random.default_rng(0)
    q0, K = rng.uniform(-1, 1, (2, 2)), rng.uniform(5, 9, (2, m))

    def law(t, q, qd, K):
        return -K @ np.concatenate([q, qd])[:m] - 0.1 * qd

    options = dict(law=law, duration=0.05, trace=trace)
    with pytest.raises(
        fa.StateFault, match=rf"gain 'K' has shape \(2, {m}\).*; give \(1, 2, {m}\) for a matrix"
    ):
        simulate(RR, q0, gains={"K": K}, **options)
    shared = simulate(RR, q0, gains={"K": K[None]}, **options)
    rows = simulate(RR, q0[:, None], gains={"K": K[:, None]}, **options)
    for row, q in enumerate(q0):
        np.testing.assert_allclose(shared.q[row], simulate(RR, q, gains={"K": K}, **options).q, rtol=1e-12)
        np.testing.assert_allclose(
            rows.q[row, 0], simulate(RR, q, gains={"K": K[row]}, **options).q, rtol=1e-12
        )


def test_numbers_for_each_motion_and_joint_stay_where_no_matrix_is_meant():
    q0, k = np.ones((2, 2)), np.array([[1.0, 100.0], [3.0, 7.0]])

    def choosy(t, q, qd, k):  # cannot be traced
        return -k * q if q[0] > -9 else qd

    for law in (lambda t, q, qd, k: -k * q, choosy):
        run = simulate(RR, q0, gains={"k": k}, law=law, duration=0.05)
        for row in (0, 1):
            one = simulate(RR, q0[0], gains={"k": k[row]}, law=law, duration=0.05)
            np.testing.assert_allclose(run.q[row], one.q, rtol=1e-12)


def test_torques_of_as_many_motions_as_steps_are_not_guessed_at():
    """Constant torques of each of ten motions were those of the ten steps of all, where there were ten steps."""
    q0, tau = np.zeros((10, 2)), np.arange(20.0).reshape(10, 2)
    options = dict(duration=0.01, dt=1e-3)
    with pytest.raises(fa.StateFault, match=r"10 motions of 10 steps; give \(1, 10, 2\) for torques of each"):
        simulate(RR, q0, law=tau, **options)
    each = simulate(RR, q0, law=tau[:, None], **options)
    shared = simulate(RR, q0, law=tau[None], **options)
    np.testing.assert_allclose(each.q[3], simulate(RR, q0[3], law=tau[3], **options).q, rtol=1e-12)
    np.testing.assert_allclose(shared.q[3], simulate(RR, q0[3], law=tau, **options).q, rtol=1e-12)


def test_a_step_too_large_for_a_law_is_said_where_torque_limits_hide_it():
    """Limits keep the motion bounded, so it ended as if nothing were wrong, far from where it should."""
    rr = fa.load("rr")

    def held(dt, method="rk4"):
        return fa.simulate(
            rr,
            [0.0, 0.0],
            law=lambda t, q, qd: -4000 * (q - 0.3) - 200 * qd,
            duration=0.1,
            dt=dt,
            torque_limits=[60.0, 30.0],
            method=method,
        )

    coarse, fine = held(2e-3), held(1e-4)
    assert coarse.outcome.kind == fine.outcome.kind == "saturated"
    assert np.abs(coarse.q[-1] - held(1e-3, "dop853").q[-1]).max() > 2e-3
    assert "torques swing from limit to limit" in coarse.outcome.advice
    assert "torques swing from limit to limit" in str(coarse.outcome)
    assert not fine.outcome.advice


@pytest.mark.parametrize("method", ["rk4", "euler", "symplectic"])
def test_a_law_that_divides_zero_by_zero_was_simulated_with_a_torque_of_one(method):
    done = simulate(
        fa.load("rr"), [0.0, 0.0], duration=0.002, dt=0.001, law=lambda t, q, qd: q / q, method=method
    )
    assert "not finite" in str(done.outcome)
    assert np.all(np.isnan(done.tau[0]))


@pytest.mark.parametrize("law", [PDWithGravity, ComputedTorque, FeedforwardPD])
def test_laws_of_joints_said_of_a_free_base_that_shapes_do_not_broadcast(law):
    free = fa.Robot(
        "free", RR.links, (0, 1), free=True, trunk=fa.Body(3.0, inertia=fa.Inertia.sphere(3.0, 0.2))
    )
    for target in (free.neutral(), np.zeros(8), Quintic(np.zeros(8), np.ones(8), 1.0)):
        with pytest.raises(fa.StateFault, match="has a free base, and this law is for joints alone"):
            simulate(free, free.neutral(), law=law(free, target, 30.0, 3.0), **SPAN)


@pytest.mark.parametrize("method", ["rk4", "euler", "papers"])
def test_a_law_with_a_schedule_gave_another_motion_at_each_run(method, monkeypatch):
    """Its times were counted from where the clock had cut the steps, an ulp beside those of the steps."""
    asked = []

    def schedule(t, q, qd):
        asked[-1].append(t)
        return np.array([1.0, -0.5]) * (np.floor(t * 20) % 2)

    for patience in (0.0, 1e3):
        monkeypatch.setattr(simulation_run, "PATIENCE", patience)
        asked.append([])
        simulate(RR, [0.1, 0.2], law=schedule, method=method, trace=False, **SPAN)
    assert asked[0] == asked[1]


@pytest.mark.parametrize("method", ["rk4", "euler", "symplectic", "dop853"])
def test_a_torque_limit_without_end_was_told_as_a_fault_of_the_arm(method):
    def law(t, q, qd):
        return 80.0 * (GOAL - q) - 3.0 * qd

    endless, large = (
        simulate(RR, [0.1, 0.2], law=law, torque_limits=[most, 1.0], method=method, **SPAN)
        for most in (np.inf, 1e4)
    )
    assert np.abs(endless.q - large.q).max() < 1e-9
    assert endless.outcome.kind == large.outcome.kind == "saturated"
