"""Records and outcomes: what a simulation says about itself, and that nothing computed is lost."""

import numpy as np
import pytest

import forearm as fa
from close import assert_close
from forearm.simulation import (
    ComputedTorque,
    Outcome,
    PDWithGravity,
    Quintic,
    advise_step,
    payload_numbers,
    simulate,
)

RR = fa.load("rr")
LIMITED = RR.replace(links=[RR.links[0].replace(limits=(-1.0, 1.2)), RR.links[1].replace(limits=(-2.0, 2.0))])


def test_a_record_holds_the_motion():
    run = simulate(RR, [0.4, -1.1], [0.7, 1.3], law=[1.0, -0.5], duration=0.1, dt=1e-3, record_every=30)
    assert_close(run.t, [0, 0.03, 0.06, 0.09, 0.1])
    assert run.q.shape == run.qd.shape == run.qdd.shape == run.tau.shape == (5, 2)
    assert_close(run.q[0], [0.4, -1.1])
    assert_close(run.qdd, fa.forward_dynamics(RR, run.q, run.qd, run.tau))
    assert_close(run.poses, fa.pose(RR, run.q))
    energy = fa.energy(RR, run.q, run.qd)
    assert_close(run.kinetic, energy.kinetic)
    assert_close(run.potential, energy.potential)
    assert_close(run.drift, np.zeros(5), scale=run.kinetic.max(), eps=1e6, because="integration")
    assert run.outcome == Outcome("finished", 0.1)
    assert str(run) == ("a motion of 'rr', 0.1 s by rk4, dt = 0.001 s; finished at t = 0.1 s; law open loop")


def test_npz_csv_xarray(tmp_path):
    run = simulate(RR, [0.4, -1.1], duration=0.05, dt=1e-3)
    with np.load(run.to_npz(tmp_path / "run")) as back:
        for name, array in run.arrays().items():
            np.testing.assert_array_equal(back[name], array)
    lines = run.to_csv(tmp_path / "run.csv").read_text().splitlines()
    assert lines[0].split(",")[:3] == ["t", f"q:{RR.joint_names[0]}", f"q:{RR.joint_names[1]}"]
    assert len(lines) == 52
    batch = simulate(RR, np.zeros((3, 2)), duration=0.05, dt=1e-3)
    with pytest.raises(fa.StateFault, match=r"to_csv: this record has \(3,\) motions; CSV takes one"):
        batch.to_csv(tmp_path / "batch.csv")
    with pytest.raises(fa.StateFault, match=r"plot: this record has \(3,\) motions"):
        batch.plot()
    pytest.importorskip("xarray")
    data = batch.to_xarray()
    assert data.q.dims == ("row0", "t", "joint")
    assert_close(data.q.sel(joint=RR.joint_names[1]).values, batch.q[..., 1], scale=1.0)
    assert run.to_xarray().kinetic.dims == ("t",)


def test_a_picture(tmp_path):
    pytest.importorskip("matplotlib")
    figure = simulate(RR, [0.4, -1.1], duration=0.05).plot()
    figure.savefig(tmp_path / "run.png")
    assert (tmp_path / "run.png").stat().st_size > 10_000


@pytest.mark.parametrize(("dt", "every"), [(1e-3, 1000), (0.25, 4)])
def test_adaptive_steps_note_a_limit_between_two_records(dt, every):
    arm = RR.replace(links=(RR.links[0].replace(limits=(-9.0, 0.5)), RR.links[1]))
    swing = dict(duration=1.0, method="dop853", rtol=1e-6)
    fine = simulate(arm, [0.4, 0.0], [3.0, 0.0], dt=1e-3, **swing)
    run = simulate(arm, [0.4, 0.0], [3.0, 0.0], dt=dt, record_every=every, **swing)
    assert np.all(run.q[:, 0] < 0.5), "no record shows it"
    assert (run.outcome.kind, run.outcome.joint) == ("limit hit", "q1")
    passed = np.argmax(fine.q[:, 0] > 0.5) + 1
    assert run.outcome.t == pytest.approx(np.interp(0.5, fine.q[:passed, 0], fine.t[:passed]), abs=1e-4)
    at_once = simulate(arm, [0.6, 0.0], dt=dt, record_every=every, **swing).outcome
    assert (at_once.kind, at_once.t) == ("limit hit", 0.0)


@pytest.mark.parametrize(("method", "limits"), [("rk4", "stop"), ("dop853", "note")])
def test_a_joint_that_rests_at_its_limit_was_told_as_beyond_it(method, limits):
    arm = RR.replace(links=(RR.links[0], RR.links[1].replace(limits=(0.0, 0.04))))
    law = ComputedTorque(arm, Quintic([0.0, 0.0], [0.5, 0.0], 0.05))
    how = dict(duration=0.05, dt=1e-3, method=method, limits=limits)
    assert simulate(arm, [0.0, 0.0], law=law, **how).outcome.kind == "finished"
    beyond = simulate(arm, [0.0, 0.0], [0.0, -0.5], **how).outcome
    kind = "limit hit" if limits == "note" else "stopped at a limit"
    assert (beyond.kind, beyond.joint) == (kind, "q2")


@pytest.mark.parametrize("method", ["rk4", "euler", "symplectic", "dop853", "papers"])
def test_a_limit_is_noted(method):
    run = simulate(LIMITED, [1.1, 0.0], [1.0, 0.0], law=[25.0, 4.0], duration=0.12, dt=1e-3, method=method)
    outcome = run.outcome
    assert (outcome.kind, outcome.joint) == ("limit hit", RR.joint_names[0])
    first = run.t[np.argmax(run.q[:, 0] > 1.2)]
    assert abs(outcome.t - first) <= 2e-3
    assert "its limits are -1 to 1.2 rad" in outcome.advice
    assert run.q[-1, 0] > 1.2
    ignored = simulate(
        LIMITED,
        [1.1, 0.0],
        [1.0, 0.0],
        law=[25.0, 4.0],
        duration=0.12,
        dt=1e-3,
        method=method,
        limits="ignore",
    )
    assert ignored.outcome.finished


@pytest.mark.parametrize("method", ["rk4", "euler", "symplectic"])
def test_a_row_stops_at_its_limit_and_the_others_go_on(method):
    q = np.array([[0.0, 0.0], [1.1, 0.0]])
    qd = np.array([[0.0, 0.0], [1.0, 0.0]])
    options = dict(law=[25.0, 4.0], duration=0.12, dt=1e-3, method=method, record_every=10)
    run = simulate(LIMITED, q, qd, limits="stop", **options)
    assert [o.kind for o in run.outcomes] == ["finished", "stopped at a limit"]
    assert 1.2 <= run.q[1, -1, 0] < 1.21
    free = simulate(LIMITED, q, qd, limits="ignore", **options)
    assert_close(run.q[0], free.q[0], eps=1e3, because="another graph")
    assert free.q[1, -1, 0] > 1.21


def test_a_step_too_large_says_which_would_do():
    law = PDWithGravity(RR, [0.0, 0.0], kp=1e5, kd=3e3)
    run = simulate(RR, [0.1, 0.1], law=law, duration=1.0, dt=1e-3)
    outcome = run.outcome
    assert outcome.kind == "step too large"
    assert 0 < outcome.t < 0.5
    better = float(outcome.advice.split("try dt = ")[1].split(" s")[0])
    assert better < 1e-3
    steps = int(np.ceil(0.05 / better))
    again = simulate(RR, [0.1, 0.1], law=law, duration=0.05, dt=0.05 / steps)
    assert again.outcome.finished
    assert np.abs(again.qd).max() < 100
    assert np.isfinite(run.q[run.t < outcome.t]).all()


def test_wrong_signs_diverge():
    def unstable(t, q, qd):
        return fa.bias_torque(RR, q, qd) + 2e4 * qd

    run = simulate(RR, [0.1, 0.1], [0.1, 0.0], law=unstable, duration=0.2, dt=1e-6, record_every=1000)
    assert run.outcome.kind == "diverged"
    assert "signs and gains of the law" in run.outcome.advice


def test_rows_diverge_alone():
    q = np.array([[0.1, 0.1], [0.1, 0.1], [np.inf, 0.0]])
    kp = np.array([10.0, 1e6, 10.0])
    law = PDWithGravity(RR, [0.0, 0.0], kp=0.0, kd=1.0)
    run = simulate(RR, q, law=law, gains={"kp": kp}, duration=0.2, dt=1e-3)
    assert [o.kind for o in run.outcomes] == ["finished", "step too large", "diverged"]
    assert run.outcome is run.outcomes[1]
    assert "1 finished, 1 step too large, 1 diverged" in str(run)


def test_progress_and_ctrl_c_keep_what_was_computed():
    shares = []

    def progress(share):
        shares.append(share)
        if share > 0.2:
            raise KeyboardInterrupt

    q = np.zeros((200, 2))
    run = simulate(RR, q, duration=200.0, dt=1e-3, record_every=100, progress=progress)
    assert shares == sorted(shares)
    assert 0 < run.t[-1] < 200
    assert all(o.kind == "interrupted" for o in run.outcomes)
    assert run.q.shape == (200, len(run.t), 2)
    assert np.isfinite(run.q).all()
    short = simulate(RR, q[0], duration=float(run.t[-1]), dt=1e-3, record_every=100)
    assert_close(run.q[0, -1], short.q[-1], scale=1.0)


def test_an_interrupted_law_keeps_what_was_computed():
    def law(t, q, qd):
        if t > 0.03:
            raise KeyboardInterrupt
        return 0 * q

    run = simulate(RR, [0.1, 0.2], law=law, duration=0.1, dt=1e-3, control_dt=1e-3, trace=False)
    assert run.outcome.kind == "interrupted"
    assert abs(run.t[-1] - 0.031) < 1e-9


def test_progress_ends_with_all():
    shares = []
    simulate(RR, [0.0, 0.0], duration=0.05, progress=shares.append)
    assert shares[-1] == 1.0  # a slow machine hears of the way there, too
    assert shares == sorted(set(shares))


def test_a_step_is_not_advised_that_was_never_tried():
    """Of a motion that no step follows so closely, it gave one beside the error of another, after hours."""
    slide = fa.Link("prismatic", mass=1.0, drive=fa.Drive(viscous=0.7))
    far = fa.Arm("far away", [slide], gravity=(0, 0, 0))
    with pytest.raises(fa.StateFault, match=r"no step ends within 1e-12 .* tried, down to .* law that jumps"):
        advise_step(far, [1e6], [3.0], duration=0.3, tolerance=1e-12)


def test_step_advice_is_checked_by_halving():
    law = PDWithGravity(RR, [0.5, -0.3], kp=400.0, kd=30.0)
    advice = advise_step(RR, [0.1, 0.2], duration=0.5, law=law, tolerance=1e-7)
    assert advice.error <= 1e-7
    steps = round(0.5 / advice.dt)
    run = simulate(RR, [0.1, 0.2], law=law, duration=0.5, dt=0.5 / steps)
    want = simulate(RR, [0.1, 0.2], law=law, duration=0.5, dt=0.05, method="dop853", rtol=1e-12)
    assert np.abs(run.q[-1] - want.q[-1]).max() < 3e-7
    stiff = advise_step(
        RR, [0.1, 0.2], duration=0.5, law=PDWithGravity(RR, [0.5, -0.3], 400.0, 300.0), tolerance=1e-7
    )
    assert stiff.fastest_rate > 3 * advice.fastest_rate
    assert stiff.dt < advice.dt
    assert "by halving" in str(advice)
    for options, message in (
        ({"method": "dop853"}, "method is 'dop853'"),
        ({"tolerance": 0}, "tolerance is 0"),
    ):
        with pytest.raises(fa.StateFault, match=message):
            advise_step(RR, [0.1, 0.2], duration=0.5, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"duration": 0.0}, r"duration is 0.0; give a positive time"),
        ({"dt": -1e-3}, r"dt is -0.001; give a positive time"),
        ({"dt": np.nan}, r"dt is nan"),
        ({"dt": 0.3}, r"duration 0.1 s is not a whole number of steps of 0.3 s; give dt=0.1"),
        ({"dt": 0.03}, r"not a whole number of steps of 0.03 s; give dt=0.025"),
        ({"control_dt": 1.5e-3}, r"control_dt 0.0015 s is not a whole number of steps"),
        ({"control_dt": 0}, r"control_dt is 0; give a positive time"),
        ({"method": "rk5"}, r"method is 'rk5'; give one of 'rk4', 'euler'"),
        ({"limits": "yes"}, r"limits is 'yes'; give one of 'note', 'stop', 'ignore'"),
        ({"record_every": 0}, r"record_every is 0; give a whole number"),
        ({"q0": [0.0, 0.0, 0.0]}, r"q0 has shape \(3,\), but arm 'rr' has 2 joints"),
        ({"qd0": [0.0, np.nan]}, r"qd0 of joint 2 .* is nan"),
        (
            {"q0": np.zeros((3, 2)), "qd0": np.zeros((4, 2))},
            r"the batches of q0 \(3, 2\), qd0 \(4, 2\), .* do not broadcast",
        ),
        ({"payload": [1.0, 2.0]}, r"payload has shape \(2,\); give \(\.\.\., 10\)"),
        ({"torque_limits": "arm"}, r"arm 'rr' has no effort limit for"),
        ({"torque_limits": [-1.0, 1.0]}, r"torque_limits are .* give sizes, zero or positive"),
        ({"sticking": True}, r"sticking=True with method='rk4'; joints can stick with method='euler' only"),
        ({"method": "dop853", "q0": np.zeros((3, 2))}, r"dop853 takes one motion; give q0 \(n,\)"),
        ({"method": "papers", "payload": np.zeros(10)}, r"papers does not take payload for each row"),
        ({"method": "dop853", "limits": "stop"}, r"dop853 does not take limits='stop'"),
    ],
)
def test_refusals(options, message):
    given = {"q0": [0.0, 0.0], "duration": 0.1, **options}
    with pytest.raises(fa.StateFault, match=message):
        simulate(RR, **given)


def test_payloads_that_are_refused():
    with pytest.raises(fa.StateFault, match=r"payload: com has shape \(2,\)"):
        payload_numbers(1.0, (0.0, 0.0))
    with pytest.raises(fa.StateFault, match=r"payload: the least mass is -1 kg"):
        payload_numbers([-1.0, 2.0])


def test_arms_that_cannot_move():
    with pytest.raises(fa.NoDynamics):
        simulate(fa.load("cobra600"), [0.0] * 4, duration=0.1)
    stub = fa.Arm("stub", [RR.links[0], fa.Link("revolute", name="wrist")])
    with pytest.raises((fa.SingularInertia, fa.Fault), match="singular"):
        simulate(stub, [0.0, 0.0], duration=0.1)


def test_a_law_that_is_sampled_too_slowly_says_so():
    law = PDWithGravity(RR, [0.0, 0.0], kp=400.0, kd=60.0)
    run = simulate(RR, [0.1, 0.1], law=law, duration=5.0, dt=1e-3, control_dt=0.02)
    assert run.outcome.kind == "step too large"
    assert "the law is held for control_dt = 0.02 s; try control_dt = " in run.outcome.advice
    assert run.t[-1] < 5.0  # it ends when nothing is left to compute
    better = float(run.outcome.advice.split("try control_dt = ")[1].split(" s")[0])
    again = simulate(RR, [0.1, 0.1], law=law, duration=3000 * better, dt=better, control_dt=better)
    assert again.outcome.finished


def test_a_singular_beginning_names_the_joint():
    """A slider on the axis of a turning joint has no inertia about it there."""
    arm = fa.Arm(
        "crank",
        [
            fa.Link("revolute", fa.Pose.at((0, 0, 0), (0, np.pi / 2, 0)), name="turn"),
            fa.Link("prismatic", mass=1.0, name="slide"),
        ],
    )
    run = simulate(arm, [[0.3, 0.5], [0.3, 0.0]], duration=0.01)
    assert [o.kind for o in run.outcomes] == ["finished", "diverged"]
    assert (
        "the mass matrix is singular: joint 1 'turn' has no inertia about its axis" in run.outcomes[1].advice
    )


def test_dop853_that_cannot_go_on_keeps_what_it_has():
    def runaway(t, q, qd):
        return fa.bias_torque(RR, q, qd) + fa.momentum(RR, q, qd) * (qd @ qd)

    run = simulate(RR, [0.1, 0.1], [1.0, 1.0], law=runaway, duration=1.0, dt=1e-2, method="dop853", rtol=1e-6)
    assert run.outcome.kind == "diverged"
    assert 0.1 < run.outcome.t < 0.5
    assert np.isfinite(run.q[run.t <= run.outcome.t]).all()


def test_dop853_of_an_arm_in_pitch_did_not_end(monkeypatch):
    """Its steps are then of 1e-45 s, and after t = 0 there is room for any number of them."""
    monkeypatch.setattr("forearm.simulation.schemes.dop853.PACE", 20)
    arm = RR.replace(links=[link.replace(drive=link.drive.replace(viscous=1e45)) for link in RR.links])
    run = simulate(arm, [0.1, 0.1], [1.0, 1.0], duration=1.0, dt=1e-2, method="dop853")
    assert (run.outcome.kind, run.outcome.t) == ("too stiff", 0.0)
    assert "so small that it would not come to an end; look at speeds, damping" in run.outcome.advice


def test_a_law_of_no_number_did_not_end_by_dop853():
    def law(t, q, qd):
        return np.full(2, np.nan) if t > 0.015 else np.zeros(2)

    run = simulate(RR, [0.1, 0.1], law=law, duration=0.1, dt=1e-2, control_dt=1e-2, method="dop853")
    assert run.outcome.kind == "diverged"
    assert run.outcome.t == pytest.approx(0.02)


@pytest.mark.parametrize("word", ["payload", "free"])
def test_energies_of_a_record_were_those_of_what_a_payload_became_later(word):
    numbers = payload_numbers(1.0, (0.05, 0.0, 0.0))
    given = numbers.copy()
    run = simulate(
        RR, [0.4, -1.1], duration=0.1, **{word: given if word == "payload" else {"payload": given}}
    )
    given[:] = 0.0
    np.testing.assert_array_equal(run.free["payload"], numbers)
    assert np.abs(run.drift).max() < 1e-9


def test_names_payloads_and_wrench_of_a_single_motion():
    names = dict(zip(RR.joint_names, (0.1, 0.2), strict=True))
    payload = payload_numbers(1.0, (0.05, 0.0, 0.0))
    push = fa.Wrench((1.0, 2.0, 0.0), at=RR.joint_names[1], frame="local")
    run = simulate(RR, names, payload=payload, wrench=push, duration=0.05)
    heavy = RR.with_payload(1.0, (0.05, 0.0, 0.0), frame="flange")
    want = simulate(heavy, [0.1, 0.2], wrench=push, duration=0.05)
    assert_close(run.q, want.q, eps=1e4, because="another order of sums")
    assert_close(run.qdd, want.qdd, eps=1e5, because="another order of sums")
    assert run.relative_drift < 1e-9


def test_degrees_are_hinted_at(caplog):
    simulate(RR, [30.0, 45.0], duration=1e-3)
    assert "degrees?" in caplog.text


def test_extras_that_are_missing_are_named(monkeypatch):
    run = simulate(RR, [0.1, 0.2], duration=2e-3)
    monkeypatch.setitem(__import__("sys").modules, "xarray", None)
    with pytest.raises(fa.KernelFault, match=r"xarray is not installed; pip install 'forearm\[xarray\]'"):
        run.to_xarray()
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(
        ImportError, match=r"matplotlib, which is not installed; pip install 'forearm\[plot\]'"
    ):
        run.plot()


def test_large_batches_keep_fewer_records():
    run = simulate(RR, np.zeros((30_000, 2)), duration=0.1, dt=1e-3)
    assert run.q.size <= 2**22 + 30_000 * 4
    small = simulate(RR, np.zeros((3, 2)), duration=0.2, dt=1e-3)
    assert len(small.t) == 101


def test_a_record_of_no_motion_could_not_be_printed():
    none = simulate(RR, np.zeros((0, 2)), duration=0.1)
    assert str(none).startswith("0 motions of 'rr', ")
    assert "; nothing moved; " in str(none)


WAYS = [
    (method, control_dt, trace)
    for method in ("rk4", "euler", "symplectic", "papers")
    for control_dt in (None, 2e-3)
    for trace in (True, False)
    if (method, control_dt, trace) != ("symplectic", None, False)  # a law in Python is sampled there
]


@pytest.mark.parametrize(("method", "control_dt", "trace"), WAYS)
def test_a_single_motion_that_diverges_is_a_record_all_the_same(method, control_dt, trace):
    law = PDWithGravity(RR, [0.0, 0.0], kp=1e5, kd=3e3)
    duration = 0.02 if method == "papers" else 0.2
    options = dict(duration=duration, method=method, control_dt=control_dt, trace=trace)
    with np.errstate(all="ignore"):
        run = simulate(RR, [0.1, 0.1], law=law, **options)
    assert run.outcome.kind == "step too large"
    assert np.isfinite(run.q[run.t < run.outcome.t]).all()
    assert run.q[0].tolist() == [0.1, 0.1]


def test_a_law_that_gives_nan_is_not_a_step_too_large():
    run = simulate(RR, [0.1, 0.1], law=lambda t, q, qd: [float("nan"), 0.0], duration=0.1, dt=1e-3)
    assert run.outcome.kind == "diverged"
    assert "not finite at the beginning" in run.outcome.advice


def test_torques_that_are_held_at_their_limits_are_said_to_be():
    law = fa.load("rr").n * [100.0]
    run = simulate(RR, [0.1, 0.2], law=np.array(law), torque_limits=[30.0, 400.0], duration=0.1)
    assert (run.outcome.kind, run.outcome.finished, run.outcome.within_limits) == ("saturated", True, False)
    (held,) = run.outcome.limits
    assert (held.joint, held.what, held.limit, held.share, held.first, held.held) == (
        "q1",
        "torque",
        30,
        1,
        0,
        True,
    )
    assert "'q1': torque held at its limit of 30 N m in 100 % of the rows, first at t = 0 s" in str(run)
    free = simulate(RR, [0.1, 0.2], law=np.array(law), torque_limits=[300.0, 400.0], duration=0.1)
    assert (free.outcome.kind, free.outcome.within_limits) == ("finished", True)


def pulse(t, q, qd):
    """More than joint 1 can give, for six milliseconds between two records."""
    return np.array([100.0 * (abs(t - 0.123) < 3e-3), 1.0]) if isinstance(t, float) else pulse_traced(t)


def pulse_traced(t):
    from forearm.algebra import where

    return np.array([where(3e-3**2 - (t - 0.123) ** 2, 100.0, 0.0), 1.0])


@pytest.mark.parametrize(
    ("method", "trace"),
    [
        ("rk4", True),
        ("rk4", False),
        ("euler", True),
        ("euler", False),
        ("symplectic", True),
        ("papers", False),
        ("dop853", True),
    ],
)
def test_torques_held_at_their_limits_between_two_records_are_not_called_finished(method, trace):
    q0 = [[0.1, 0.2], [0.3, -0.4]] if method != "dop853" else [0.1, 0.2]
    options = dict(duration=0.2, record_every=50, method=method, torque_limits=[30.0, 400.0], trace=trace)
    run = simulate(RR, q0, law=pulse, **options)
    assert np.abs(run.tau[..., 0]).max() == 0.0, "no record shows it"
    for outcome in run.outcomes.flat:
        assert (outcome.kind, outcome.finished, outcome.within_limits) == ("saturated", True, False)
        (held,) = outcome.limits
        assert (held.joint, held.limit, held.held, held.between) == ("q1", 30.0, True, True)
        assert held.share == pytest.approx(0.006 / 0.2, rel=0.3)
        assert "% of the time, between the recorded instants" in str(outcome)
    weak = simulate(RR, q0, law=pulse, **{**options, "torque_limits": [101.0, 400.0]})
    assert {o.kind for o in weak.outcomes.flat} == {"finished"}


@pytest.mark.parametrize(
    ("method", "trace"),
    [
        ("rk4", True),
        ("rk4", False),
        ("euler", True),
        ("symplectic", True),
        ("papers", False),
        ("dop853", True),
    ],
)
def test_a_limit_of_speed_or_effort_that_is_passed_between_two_records_is_told(method, trace):
    q0 = [[0.1, 0.2], [0.3, -0.4]] if method != "dop853" else [0.1, 0.2]
    weak = RR.replace(links=tuple(link.replace(effort_limit=60.0, speed_limit=20.0) for link in RR.links))
    run = simulate(weak, q0, law=pulse, duration=0.2, record_every=50, method=method, trace=trace)
    assert np.abs(run.tau[..., 0]).max() == 0.0, "no record shows it"
    for outcome in run.outcomes.flat:
        assert (outcome.kind, outcome.within_limits) == ("finished", False)
        (passed,) = outcome.limits
        assert (passed.joint, passed.what, passed.limit, passed.held, passed.between) == (
            *("q1", "torque", 60.0, False, True),
        )
        assert passed.share == pytest.approx(0.006 / 0.2, rel=0.3)
        assert "torque beyond its limit of 60 N m for" in str(outcome)
        assert "% of the time, between the recorded instants" in str(outcome)


def test_a_speed_that_is_too_high_between_the_records_of_a_batch_is_told():
    weak = RR.replace(links=tuple(link.replace(speed_limit=4.0) for link in RR.links))

    def there_and_back(t, q, qd):
        return np.array([0.0, 200.0 * np.cos(2 * np.pi * t / 0.01)])  # speeds are zero at every record

    how = {"duration": 0.2, "dt": 1e-4, "law": there_and_back}
    every, some = (simulate(weak, [[0.0, 0.0]] * 2, record_every=k, **how) for k in (1, 100))
    fast = [o for o in every.outcomes[0].limits if o.what == "speed"]
    (told,) = [o for o in some.outcomes[0].limits if o.what == "speed"]
    assert np.abs(some.qd).max() < 4.0
    assert {e.joint for e in fast} == {told.joint}
    assert told.between
    assert told.share == pytest.approx(fast[0].share, rel=0.1)


def test_gains_that_are_too_stiff_in_a_later_motion_are_told_behind_its_limits_of_torque():
    def law(t, q, qd, kd):
        return np.array([30.0, 30.0]) - kd * qd

    run = simulate(
        *(RR, [[0.0, 0.0]] * 3),
        law=law,
        gains={"kd": [0.1, 2000.0, 0.1]},
        duration=0.1,
        torque_limits=[20.0, 20.0],
    )
    assert {o.kind for o in run.outcomes} == {"saturated"}
    assert ["torques swing from limit to limit" in o.advice for o in run.outcomes] == [False, True, False]


def test_a_torque_is_not_said_to_be_held_after_its_motion_stopped():
    arm = RR.replace(links=tuple(link.replace(limits=(-0.5, 0.5)) for link in RR.links))
    from forearm.algebra import where

    def late(t, q, qd):
        return np.array([where(t - 0.9, 100.0, 0.0), 0.0])

    run = simulate(arm, [[0.0, 0.0]], law=late, duration=1.0, limits="stop", torque_limits=[30.0, 400.0])
    assert run.outcomes[0].kind == "stopped at a limit"
    assert not any(excess.between for excess in run.outcomes[0].limits)


def test_speeds_and_torques_beyond_the_arm_s_own_limits_are_noted():
    links = [link.replace(speed_limit=0.5, effort_limit=20.0) for link in RR.links]
    arm = RR.replace(links=tuple(links))
    batch = simulate(arm, [[0.1, 0.2], [1.0, 0.0]], law=np.array([25.0, 0.0]), duration=0.2)
    for outcome in batch.outcomes:
        found = {(x.joint, x.what): x for x in outcome.limits}
        assert found["q1", "torque"].worst == 25.0
        assert ("q2", "torque") not in found
        assert not outcome.within_limits
    assert "speed" in str(batch.outcome)
    quiet = simulate(arm, [0.1, 0.2], law=np.array([25.0, 0.0]), duration=0.2, limits="ignore")
    assert quiet.outcome.limits == ()
