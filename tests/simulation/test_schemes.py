"""The schemes: golden motion, orders of convergence by regression, energy, rows, payloads, sticking."""

from functools import cache

import numpy as np
import pytest

import forearm as fa
from arms import GOLDEN, golden_arm, golden_states
from close import assert_close
from forearm.compiler import pipeline
from forearm.simulation import PDWithGravity, payload_numbers, simulate
from forearm.simulation.schemes.papers import accelerations, eliminate, four_point_step

RR = fa.load("rr")
START = np.array([0.4, -1.1]), np.array([0.7, 1.3])


def with_friction(arm, smoothing=0.1):
    drives = [fa.Drive(viscous=0.4 + 0.1 * i, coulomb=(0.6, 0.5), smoothing=smoothing) for i in range(arm.n)]
    return arm.replace(links=[k.replace(drive=d) for k, d in zip(arm.links, drives, strict=True)])


@cache
def g6r():
    """The golden arm, once, with its kernels."""
    return golden_arm("G6R")


def test_golden_simulation():
    want, state = GOLDEN["extra"]["simulation_G6R"], golden_states("G6R")[0]
    run = simulate(g6r(), state["q"], state["qd"], duration=0.2, dt=1e-3)
    assert run.outcome.finished
    assert np.abs(run.q[-1] - want["rk4_h0.001_q"]).max() < 1e-12
    assert np.abs(run.qd[-1] - want["rk4_h0.001_qd"]).max() < 1e-11
    assert np.abs(run.q[-1] - want["reference_q"]).max() < want["tolerance"]


@pytest.mark.parametrize(("rtol", "atol"), [(1e-10, 1e-12), (1e-13, 1e-14)])
def test_golden_simulation_with_adaptive_steps(rtol, atol):
    """Errors are those of its tolerance: two decades of steps, each wrong by less than it."""
    want, state = GOLDEN["extra"]["simulation_G6R"], golden_states("G6R")[0]
    options = dict(duration=0.2, dt=1e-3, method="dop853", rtol=rtol, atol=atol)
    run = simulate(g6r(), state["q"], state["qd"], **options)
    assert run.outcome.finished
    for found, exact in ((run.q[-1], want["reference_q"]), (run.qd[-1], want["reference_qd"])):
        assert np.abs(found - exact).max() < rtol * np.abs(exact).max() + 1e-13


@pytest.mark.parametrize("patience", [1e-9, 1e9])
@pytest.mark.parametrize(
    "law",
    ["none", "within", *(pytest.param(law, marks=pytest.mark.more) for law in ("held", "for each step"))],
)
def test_adaptive_steps_do_not_depend_on_how_busy_the_machine_is(monkeypatch, patience, law):
    """A busy machine makes shorter calls; the motion is the same to rounding, not to the tolerance."""
    arm, options = with_friction(golden_arm("STAN")), dict(duration=0.1, dt=1e-3, method="dop853", rtol=1e-6)
    state = golden_states("STAN")[0]
    if law in ("within", "held"):
        options["law"] = lambda t, q, qd: -3.0 * q - qd
        options["control_dt"] = 5e-3 if law == "held" else None
    elif law == "for each step":
        options["law"] = np.random.default_rng(1).normal(size=(100, arm.n))
    want = simulate(arm, state["q"], state["qd"], **options)
    monkeypatch.setattr("forearm.simulation.run.PATIENCE", patience)
    found = simulate(arm, state["q"], state["qd"], **options)
    # twenty restarts, each with a first step chosen anew, make more of a rounded time
    how = {"eps": 2**14, "because": "it starts anew with each sample"} if law == "held" else {}
    assert_close(found.q, want.q, **how)
    assert_close(found.qd, want.qd, **how)
    assert_close(found.work, want.work, scale=np.abs(want.work).max(), **how)


def test_the_papers_scheme_is_the_golden_one():
    """The first 20 ms in plain Python, then the same to the end by the kernel: the golden motion."""
    want, state, arm = GOLDEN["extra"]["simulation_G6R"], golden_states("G6R")[0], g6r()
    slow = simulate(arm, state["q"], state["qd"], duration=0.02, method="papers")
    fast = simulate(arm, state["q"], state["qd"], duration=0.02)
    assert_close(slow.q, fast.q)
    assert_close(slow.qd, fast.qd)
    assert_close(slow.work, fast.work, scale=1.0)
    rest = simulate(arm, *slow.end, duration=0.18)
    assert np.abs(rest.q[-1] - want["rk4_h0.001_q"]).max() < 1e-13


@pytest.mark.parametrize(("dt", "error"), [(0.02, 8.5e-6), (0.01, 8.5e-7), (0.005, 6.2e-8), (0.0025, 4.2e-9)])
def test_golden_errors_of_longer_steps(dt, error):
    """Largest error of the state after 0.2 s, to the digits noted with the golden values."""
    want, state = GOLDEN["extra"]["simulation_G6R"], golden_states("G6R")[0]
    run = simulate(g6r(), state["q"], state["qd"], duration=0.2, dt=dt)
    found = max(
        np.abs(run.q[-1] - want["reference_q"]).max(), np.abs(run.qd[-1] - want["reference_qd"]).max()
    )
    assert abs(found - error) < 0.06 * error


@pytest.mark.more
def test_the_papers_scheme_all_the_way():
    want, state = GOLDEN["extra"]["simulation_G6R"], golden_states("G6R")[0]
    run = simulate(g6r(), state["q"], state["qd"], duration=0.2, method="papers")
    assert np.abs(run.q[-1] - want["rk4_h0.001_q"]).max() < 1e-14


def test_parts_of_the_papers_scheme():
    M = np.array([[4.0, 1, 0.5], [1, 3, 0.2], [0.5, 0.2, 2]])
    assert_close(eliminate(M, M @ [1.0, -2, 3]), np.array([1.0, -2, 3]))
    y = np.array([1.0])
    for _ in range(10):
        y = four_point_step(lambda y: -y, y, 0.1)
    assert abs(y[0] - np.exp(-1)) < 4e-7
    arm = with_friction(golden_arm("STAN"))
    state = golden_states("STAN")[0]
    found = accelerations(arm, state["q"], state["qd"], state["tau"])
    assert_close(
        found, fa.forward_dynamics(arm, state["q"], state["qd"], state["tau"]), eps=1e4, because="cond M"
    )


@cache
def exact_end(arm):
    return simulate(arm, *START, duration=0.5, dt=0.1, method="dop853", rtol=1e-13, atol=1e-14).end


@pytest.mark.parametrize(
    ("method", "order", "steps"),
    [("rk4", 4, (160, 320, 640)), ("symplectic", 2, (50, 100, 200)), ("euler", 1, (200, 400, 800))],
)
@pytest.mark.parametrize("friction", [False, True])
def test_order_of_convergence(method, order, steps, friction):
    arm = with_friction(RR) if friction else RR
    q, qd = exact_end(arm)
    errors = []
    for count in steps:
        end = simulate(arm, *START, duration=0.5, dt=0.5 / count, method=method, record_every=count).end
        errors.append(max(np.abs(end[0] - q).max(), np.abs(end[1] - qd).max()))
    slope = -np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert abs(slope - order) < 0.25, (slope, errors)


def test_symplectic_drift_is_bounded_and_rk4s_is_not():
    """A passive double pendulum for 200 s with long steps: regression of the energy error on time."""
    slopes = {}
    for method in ("symplectic", "rk4"):
        run = simulate(
            RR, [0.9, 0.3], duration=200.0, dt=0.01, method=method, record_every=20, limits="ignore"
        )
        drift = run.drift / run.kinetic.max()
        slope = np.polyfit(run.t, drift, 1)[0]
        slopes[method] = abs(slope) * 200.0
        if method == "symplectic":
            halves = np.abs(drift[: len(drift) // 2]).max(), np.abs(drift[len(drift) // 2 :]).max()
            assert halves[1] < 1.5 * halves[0]
            assert halves[0] < 0.02
    assert slopes["symplectic"] < 5e-4
    assert slopes["rk4"] > 5 * slopes["symplectic"]


def passive_puma():
    """PUMA 560 with its rotors and without friction."""
    arm = fa.load("puma560")
    links = [k.replace(drive=k.drive.replace(viscous=0.0, coulomb=(0.0, 0.0))) for k in arm.links]
    return arm.replace(links=links)


def test_passive_puma_keeps_its_energy():
    """10 s at 1 ms from rest at (0, pi/4, pi, 0, pi/4, 0); the drift relative to the greatest kinetic energy."""
    run = simulate(
        passive_puma(),
        [0, np.pi / 4, np.pi, 0, np.pi / 4, 0],
        duration=10.0,
        record_every=10,
        limits="ignore",
    )
    assert run.kinetic.max() > 10
    drift = np.abs(run.drift).max() / run.kinetic.max()
    assert drift < 1e-8, drift


@pytest.mark.parametrize("method", ["rk4", "symplectic", "dop853"])
def test_work_in_less_dissipated_is_the_change_of_energy(method):
    arm = with_friction(RR, smoothing=0.5)
    law = PDWithGravity(arm, [0.2, 0.5], kp=40.0, kd=4.0)
    push = fa.Wrench((2.0, 1.0, 0.0), at="tool")
    options = dict(law=law, duration=1.0, wrench=push, method=method)
    coarse, fine = (simulate(arm, *START, dt=dt, **options).relative_drift for dt in (2e-3, 1e-3))
    order = {"rk4": 4, "symplectic": 2, "dop853": 0}[method]
    assert fine < {"rk4": 1e-7, "symplectic": 1e-3, "dop853": 1e-9}[method]
    if order:
        assert abs(np.log2(coarse / fine) - order) < 0.5
    run = simulate(arm, *START, dt=1e-3, **options)
    assert run.dissipated[-1] > 1
    assert np.all(np.diff(run.dissipated) >= 0)


def test_rows_of_a_batch_are_independent():
    rng = np.random.default_rng(1)
    q, qd = rng.uniform(-1, 1, (5, 2)), rng.uniform(-1, 1, (5, 2))
    q[3, 1] = np.nan
    for method in ("rk4", "symplectic"):
        every = simulate(RR, q, qd, duration=0.1, dt=1e-3, method=method, record_every=25)
        assert every.q.shape == (5, 5, 2)
        assert_close(every.t, [0, 0.025, 0.05, 0.075, 0.1])
        for row in (0, 1, 2, 4):
            one = simulate(RR, q[row], qd[row], duration=0.1, dt=1e-3, method=method, record_every=25)
            assert_close(every.q[row], one.q)
            assert_close(every.qdd[row], one.qdd)
        assert list(every.finished) == [True, True, True, False, True]
        assert every.outcomes[3].kind == "diverged"
        assert "initial state is not finite" in every.outcomes[3].advice


def test_broadcasting_and_threads():
    q, qd = np.zeros((3, 1, 2)), np.linspace(0, 1, 40)[:, None] * np.ones(2)
    one = simulate(RR, q, qd, duration=0.05, dt=1e-3)
    assert one.q.shape[:2] == (3, 40)
    two = simulate(RR, q, qd, duration=0.05, dt=1e-3, threads=2)
    np.testing.assert_array_equal(one.q, two.q)


def test_payload_of_each_row():
    masses, com = np.array([0.0, 0.5, 2.0]), np.array([0.1, -0.05, 0.02])
    inertia = 0.01 * np.eye(3)
    payload = payload_numbers(masses, com, inertia * (masses > 0)[:, None, None])
    for method in ("rk4", "symplectic", "euler"):
        batch = simulate(RR, *START, payload=payload, duration=0.2, dt=1e-3, method=method, record_every=50)
        assert np.all(batch.relative_drift < {"rk4": 1e-10, "symplectic": 1e-5, "euler": 1e-1}[method])
        for row, mass in enumerate(masses):
            body = fa.Inertia.about_com(inertia if mass else 0 * inertia)
            arm = RR.with_payload(mass, com, body, frame="flange")
            one = simulate(arm, *START, duration=0.2, dt=1e-3, method=method, record_every=50)
            assert_close(batch.q[row], one.q, eps=1e4, because="base parameters are grouped otherwise")
            assert_close(batch.kinetic[row], one.kinetic, eps=1e4, because="as above")


def test_other_parameters_of_each_row():
    viscous = np.array([0.0, 0.3, 1.0])
    batch = simulate(RR, *START, free={"links[0].drive.viscous": viscous}, duration=0.3, dt=1e-3)
    for row, value in enumerate(viscous):
        first = RR.links[0].replace(drive=fa.Drive(viscous=value))
        one = simulate(RR.replace(links=(first, RR.links[1])), *START, duration=0.3, dt=1e-3)
        assert_close(batch.q[row, -1], one.q[-1], eps=1e4, because="another order of sums")
        assert_close(batch.dissipated[row, -1], one.dissipated[-1], scale=1.0, eps=1e4, because="as above")


def slider(friction, smoothing=1e-3):
    drive = fa.Drive(coulomb=(friction, friction), smoothing=smoothing)
    return fa.Arm("slider", [fa.Link("prismatic", mass=2.0, drive=drive)], gravity=(0, 0, 0))


def test_a_sliding_block_stops_where_it_must_and_stays():
    """v0²/(2 f/m) with true friction: 1²/(2 · 3/2) = 1/3 m, after 2/3 s, and then exactly zero speed."""
    run = simulate(slider(3.0), [0.0], [1.0], duration=1.0, dt=1e-4, method="euler", sticking=True)
    assert run.method == "euler with sticking"
    assert abs(run.q[-1, 0] - 1 / 3) < 1e-4
    assert np.all(run.qd[run.t > 0.6668] == 0.0)
    assert np.all(run.qd[run.t < 0.66] > 0)
    assert abs(run.dissipated[-1] - 1.0) < 1e-3  # all of the kinetic energy


def test_two_joints_stick_against_gravity():
    """Dry friction above the gravity torque holds; below it, the arm falls; the smooth curve creeps."""
    hold = 1.2 * np.abs(fa.gravity_torque(RR, [0.3, 0.2]))
    for factor, rests in ((1.0, True), (0.7, False)):
        drives = [fa.Drive(coulomb=(factor * h, factor * h)) for h in hold]
        arm = RR.replace(links=[k.replace(drive=d) for k, d in zip(RR.links, drives, strict=True)])
        run = simulate(arm, [0.3, 0.2], duration=0.5, dt=1e-3, method="euler", sticking=True)
        assert np.all(run.q == run.q[0]) == rests
        assert np.all(run.qd == 0) == rests
    smooth = simulate(arm, [0.3, 0.2], duration=0.5, dt=1e-3, method="euler")
    assert np.abs(smooth.qd).max() > 0


def test_sticking_joints_with_payloads_and_rows():
    arm = with_friction(RR)
    payload = payload_numbers(np.array([0.0, 1.0, 3.0]))
    run = simulate(arm, [0.3, 0.2], payload=payload, duration=0.3, dt=1e-3, method="euler", sticking=True)
    assert run.finished.all()
    one = simulate(
        arm.with_payload(3.0, frame="flange"),
        [0.3, 0.2],
        duration=0.3,
        dt=1e-3,
        method="euler",
        sticking=True,
    )
    assert_close(run.q[2, -1], one.q[-1], eps=1e5, because="another order of sums")


def test_friction_that_is_too_steep_for_the_step_is_told():
    arm, q = fa.load("puma560"), [0, np.pi / 4, np.pi, 0, np.pi / 4, 0]
    coarse = simulate(arm, q, duration=0.1, dt=1e-3, limits="ignore")
    assert coarse.outcome.finished
    assert "turns over within 0.001 rad/s or m/s" in coarse.outcome.advice
    assert "look at the drift" in coarse.outcome.advice
    better = float(coarse.outcome.advice.split("give dt = ")[1].split(" s")[0])
    fine = simulate(arm, q, duration=0.1, dt=0.1 / np.ceil(0.1 / better), limits="ignore")
    assert fine.outcome.advice == ""
    assert fine.relative_drift < 1e-3 * coarse.relative_drift
    stuck = simulate(arm, q, duration=0.1, dt=1e-3, limits="ignore", method="euler", sticking=True)
    assert stuck.outcome.advice == ""
    assert np.all(stuck.qd[:, [0, 3, 4, 5]] == 0)  # nothing pulls these hard enough


def test_a_chain_whose_kernels_are_loops_was_not_simulated(monkeypatch):
    """More than thirty joints: the loops were asked for the operations that they are not made of."""
    monkeypatch.setattr(pipeline, "LONG", 3)
    link = fa.load("generic_3r").links[1]
    arm = fa.Arm("snake", tuple(link.replace(name=f"j{k}") for k in range(9)))
    assert not hasattr(fa.compile(arm, "forward_dynamics").graph, "nodes")
    q, h = np.linspace(-0.5, 0.5, arm.n), 1e-4
    run = fa.simulate(arm, q, duration=h, dt=h)

    def rate(x):
        return np.concatenate([x[arm.n :], fa.forward_dynamics(arm, x[: arm.n], x[arm.n :], np.zeros(arm.n))])

    x = np.concatenate([q, np.zeros(arm.n)])
    one = rate(x)
    two = rate(x + h / 2 * one)
    three = rate(x + h / 2 * two)
    x = x + h / 6 * (one + 2 * two + 2 * three + rate(x + h * three))
    assert np.max(np.abs(x[arm.n :])) > 1e-3
    np.testing.assert_allclose(np.concatenate([run.q[-1], run.qd[-1]]), x, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("limits", ["note", "stop", "ignore"])
def test_a_motion_that_left_its_limits_did_not_say_that_friction_is_too_steep_for_the_step(limits):
    """The PUMA 560, let go, was wrong in the third digit, and its outcome spoke of a joint's limit alone."""
    arm = fa.load("puma560")
    run = simulate(arm, np.zeros(6), duration=0.7, dt=1e-3, limits=limits)
    kinds = {"note": "limit hit", "stop": "stopped at a limit", "ignore": "finished"}
    assert run.outcome.kind == kinds[limits]
    assert "turns over within 0.001 rad/s or m/s" in run.outcome.advice
    fine = simulate(arm, np.zeros(6), duration=0.7, dt=5e-5, limits=limits)
    assert "turns over" not in fine.outcome.advice
