# ruff: noqa: E501  (one refusal per line reads as a table)
"""Can the arm do it: planted violations are found, dynamic scaling is bisection, refusals."""

import dataclasses

import numpy as np
import pytest

import forearm as fa
from forearm.motion.motions import Fourier, MotionFormula, Quintic, Samples, Trapezoid, ViaPoints
from forearm.simulation import ComputedTorque, payload_numbers

UR = fa.load("ur5e")
HOME = np.array([0.0, -1.2, 1.0, -0.5, 0.3, 0.2])
AWAY = np.array([0.6, -0.8, 0.7, 0.1, -0.2, 0.5])
CALM = {
    "quintic": Quintic(HOME, AWAY, 2.0),
    "trapezoid": Trapezoid(HOME, AWAY, 2.0),
    "via": ViaPoints([0.0, 1.0, 2.0], [HOME, AWAY, HOME]),
    "profile": fa.point_to_point(UR, HOME, AWAY, accelerations=2.0, jerks=20.0),
}


class Planted(MotionFormula):
    """A calm motion in which one joint does something for a tenth of it."""

    def __init__(self, calm, joint, add):
        self.calm, self.joint, self.add, self.duration = calm, joint, add, calm.duration

    def __call__(self, t):
        q, qd, qdd = (np.array(x) for x in self.calm(t))
        z = np.clip((np.asarray(t) / self.duration - 0.6) / 0.1, 0.0, 1.0)
        inside = (z > 0) & (z < 1)
        for values, key in ((q, "q"), (qd, "qd"), (qdd, "qdd")):
            values[..., self.joint : self.joint + 1] += np.where(inside, self.add.get(key, 0.0), 0.0)
        return q, qd, qdd


VIOLATIONS = {"position": {"q": 8.0}, "speed": {"qd": 4.0}, "torque": {"qdd": 150.0}}


@pytest.mark.parametrize("what", VIOLATIONS)
@pytest.mark.parametrize("name", CALM)
def test_a_planted_violation_is_found(name, what):
    """Twelve motions, each with one thing wrong, in one joint, for a tenth of its time."""
    calm = CALM[name]
    assert fa.feasible(UR, calm), str(fa.feasible(UR, calm))
    joint = 1
    report = fa.feasible(UR, Planted(calm, joint, VIOLATIONS[what]))
    assert not report
    assert (UR.joint_names[joint], what) in {(excess.joint, excess.what) for excess in report.excesses}
    found = next(e for e in report.excesses if e.what == what and e.joint == UR.joint_names[joint])
    assert 0.6 <= found.t / calm.duration <= 0.7
    assert what in report.loads[joint].beyond
    assert "BEYOND" in str(report)


def test_peaks_rms_and_power_are_those_of_the_motion():
    motion = CALM["quintic"]
    report = fa.feasible(UR, motion)
    samples = motion.sample(2001)
    tau = fa.inverse_dynamics(UR, *samples[1:])
    for i, load in enumerate(report.loads):
        assert load.peak == np.max(np.abs(tau[:, i]))
        assert np.abs(tau[:, i])[np.searchsorted(samples.t, load.peak_at)] == load.peak
        assert load.rms == pytest.approx(np.sqrt(np.mean(tau[:, i] ** 2)), rel=1e-3)
        assert load.peak_power == np.max(np.abs(tau[:, i] * samples.qd[:, i]))
        assert load.limit == UR.links[i].effort_limit
    for of_rows, load in zip(fa.feasible(UR, report.samples).loads, report.loads, strict=True):
        assert dataclasses.replace(of_rows, rms=load.rms) == load
        assert of_rows.rms == pytest.approx(load.rms, rel=1e-6)


def test_limits_may_be_given_those_of_motors_too():
    motion = CALM["quintic"]
    rms = [load.rms for load in fa.feasible(UR, motion).loads]
    report = fa.feasible(UR, motion, rms_torques=[0.9 * rms[0], *(1.1 * np.array(rms[1:]))], powers=1e-3)
    assert {e.what for e in report.excesses} == {"rms torque", "power"}
    assert [e.joint for e in report.excesses if e.what == "rms torque"] == [UR.joint_names[0]]
    assert fa.feasible(UR, motion, torques={name: 1e3 for name in UR.joint_names}, speeds=10.0)
    peak = fa.feasible(UR, motion).loads[1].peak
    assert fa.feasible(UR, motion, torques=[999, peak / 1.0005, 999, 999, 999, 999])
    assert not fa.feasible(UR, motion, torques=[999, peak / 1.0005, 999, 999, 999, 999], tolerance=0.0)


def test_a_record_of_a_simulation_is_judged():
    run = fa.simulate(UR, HOME, law=[0.0] * 6, duration=0.2)
    assert isinstance(bool(fa.feasible(UR, run)), bool)


@pytest.mark.parametrize(
    "options", [{"payload": payload_numbers(10.0)}, {"wrench": fa.Wrench((0, -100, 0))}, {"limits": "stop"}]
)
def test_a_record_is_judged_by_the_torques_that_its_drives_gave(options):
    """A payload of 10 kg that the simulation had was left out: peaks of 569 and 36 N m, applied were 196 and 196."""
    arm = fa.load("rr")
    arm = arm.replace(links=tuple(link.replace(limits=(-1.5, 1.5)) for link in arm.links))
    run = fa.simulate(arm, [0.1, 0.2], law=[60.0, -2.0], duration=0.3, **options)
    rows = run.until_stopped()
    peaks = np.abs(rows.tau).max(axis=0)
    for limits in ({}, {"torques": 70.0}):
        report = fa.feasible(arm, run, **limits)
        np.testing.assert_array_equal([load.peak for load in report.loads], peaks)
        assert len(report.samples.t) == len(rows.t)
    heavier = fa.feasible(
        arm.with_payload(5.0, frame="flange"), run
    )  # what another arm would need for this motion
    np.testing.assert_allclose(
        heavier.tau, fa.inverse_dynamics(heavier.arm, rows.q, rows.qd, rows.qdd), atol=1e-9
    )


@pytest.mark.parametrize("thinned", [False, True])
def test_a_record_that_leaves_out_steps_does_not_hide_what_it_noted(thinned):
    """A joint that swings at 10 Hz, a row each tenth of a second: speeds of 6.3 rad/s were 'within its limits'."""
    arm = fa.load("rr")
    arm = arm.replace(links=tuple(link.replace(speed_limit=3.0, limits=(-0.05, 0.3)) for link in arm.links))
    swing = Fourier([0.1, 0.0], [[0.0, 0.0]], [[0.1, -0.1]], 0.1)
    start = swing.sample([0.0])

    def simulated(every):
        law = ComputedTorque(arm, swing, 900.0, 60.0)
        return fa.simulate(arm, start.q[0], start.qd[0], law=law, duration=0.5, dt=1e-3, record_every=every)

    run = simulated(1).thinned(100) if thinned else simulated(100)
    assert np.abs(run.qd).max() < 0.1
    report = fa.feasible(arm, run)
    assert not report
    passed = {(excess.joint, excess.what) for excess in report.excesses}
    assert {(name, "speed") for name in arm.joint_names} <= passed
    assert "position" in {what for _, what in passed}
    assert [load.joint for load in report.loads if "speed" in load.beyond] == list(arm.joint_names)
    assert "a row for every 100 steps" in str(report)
    assert "between the recorded instants" in str(report) or thinned
    wide = fa.feasible(arm, run, speeds=100.0)  # held against other limits: nobody knows, and that is said
    assert "speed" not in {excess.what for excess in wide.excesses}
    assert "record_every=1" in wide.notes[-1]
    assert not fa.feasible(arm, simulated(1)).notes


LIMITS = {"iiwa14": None, "ur10e": None, "puma560": np.array([97.6, 186.4, 89.4, 24.2, 20.1, 21.3])}


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("rigid", [True, False])
def test_the_largest_speed_up_is_that_of_bisection_with_full_dynamics(name, rigid):
    arm = fa.load(name)
    arm = arm.without_drives() if rigid else arm
    torques = LIMITS[name]
    motion = Quintic(np.zeros(arm.n), np.linspace(0.3, -1.0, arm.n), 1.0)
    found = fa.speed_up(arm, motion, torques=torques, speeds=1e9)
    _, q, qd, qdd = motion.sample(1001)
    limits = np.array([link.effort_limit for link in arm.links]) if torques is None else torques
    low, high = 0.01, 100.0
    for _ in range(100):
        k = (low + high) / 2
        holds = np.all(np.abs(fa.inverse_dynamics(arm, q, k * qd, k * k * qdd)) <= limits)
        low, high = (k, high) if holds else (low, k)
    assert found.factor == pytest.approx(low, rel=1e-13)
    assert found.motion.duration == pytest.approx(motion.duration / low, rel=1e-13)


def test_speed_limits_count_and_a_swing_has_a_least_speed():
    motion = Quintic(HOME, AWAY, 2.0)
    found = fa.speed_up(UR, motion)
    fast = np.max(np.abs(motion.sample(1001).qd) / np.pi, axis=0)
    assert found.factor <= 1 / np.max(fast) * (1 + 1e-12)
    # a pendulum thrown through a height at which its drive cannot hold it
    link = fa.Link("revolute", fa.Pose.at((1.0, 0, 0)), mass=1.0, com=(0, 0, 0), name="swing")
    arm = fa.Arm("swing", [link], gravity=(0, -9.81, 0))

    class Thrown(MotionFormula):
        duration = 1.0

        def __call__(self, t):
            q = 0 * t + np.array([0.0]) + 1e-3 * t
            return q, 0 * q + 1e-3, 0 * q - 4.0

    found = fa.speed_up(arm, Thrown(), torques=8.0)
    assert found.slowest == pytest.approx(np.sqrt((9.81 - 8) / 4), rel=1e-3)
    assert found.factor == pytest.approx(np.sqrt((9.81 + 8) / 4), rel=1e-3)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("which", ["t", "q", "qd", "qdd"])
def test_a_motion_with_rows_that_are_no_numbers_is_not_within_its_limits(which, bad):
    rows = {name: values.copy() for name, values in CALM["quintic"].sample(50)._asdict().items()}
    rows[which][20] = bad
    named = (
        "the time of row 21 is"
        if which == "t"
        else f"{which} of joint 'shoulder_pan_joint' is {bad} in row 21"
    )
    with pytest.raises(fa.StateFault, match=named):
        fa.feasible(UR, Samples(**rows))
    with pytest.raises(fa.StateFault, match=named):
        fa.report(UR, Samples(**rows))


def test_times_that_run_back_or_stand_still_are_refused():
    t, *rest = CALM["quintic"].sample(50)
    for times in (t[::-1].copy(), 0 * t):
        with pytest.raises(
            fa.StateFault, match=r"time of row 2 is .* s; give finite times, each after the one before"
        ):
            fa.feasible(UR, Samples(times, *rest))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: fa.feasible(UR, [1, 2]), r"feasible: motion is a list; give a Motion, Samples or a Record"),
        (lambda: fa.feasible(UR, CALM["via"], samples=1), r"samples is 1; give a number of times"),
        (lambda: fa.feasible(UR, CALM["via"], torques=0), r"limit in torques of joint .* is 0"),
        (lambda: fa.feasible(UR, CALM["via"], tolerance=-1), r"tolerance is -1; give a share"),
        (lambda: fa.feasible(fa.load("rr"), Samples(*CALM["via"].sample(5))), r"give one motion of arm 'rr', \(K, 2\)"),
        (lambda: fa.feasible(UR, CALM["via"].sample(5)._replace(qd=np.zeros((1, 6)))), r"qd of shape \(1, 6\) beside positions of shape \(5, 6\); give as many rows of each"),
        (lambda: fa.speed_up(UR, CALM["via"], samples=1), r"speed_up: samples is 1; give a number of times, 2 or more"),
        (lambda: CALM["via"].faster(np.inf), r"the factor of faster is inf; give a positive number"),
        (lambda: fa.speed_up(UR, 3), r"speed_up: motion is an int; give a Motion"),
        (lambda: fa.speed_up(fa.load("rr"), Quintic([0, 0], [1, 1], 1.0)), r"has no limits, and none were given"),
        (lambda: fa.speed_up(UR, ViaPoints([0, 1], [HOME, HOME])), r"the motion stays where it is"),
        (lambda: fa.speed_up(UR, CALM["via"], torques=1.0), r"no speed of this motion keeps within the torque limits: joint"),
    ],
)  # fmt: skip
def test_refusals(make, message):
    with pytest.raises(fa.StateFault, match=message):
        make()


@pytest.mark.parametrize("made", ["one by one", "straight", "through points", "trapezoid"])
def test_a_short_ramp_between_the_samples_was_within_its_limits(made):
    """Slow, with ramps of a millisecond or so: only who looks into them sees the torques of accelerating."""
    arm, a, b = fa.load("ur5e"), [0, -1.5, 1.5, 0, 0, 0], [1, -1, 1, 0.5, 0.5, 0.5]
    if made == "trapezoid":
        motion = Trapezoid(np.array(a), np.array(b), 20.0, ramp=1e-4)
    elif made == "through points":
        motion = fa.via_points(arm, [a, b, a], speeds=0.05, accelerations=50, blend=0.1)
    else:
        motion = fa.point_to_point(arm, a, b, speeds=0.05, accelerations=50, straight=made == "straight")
    _, q, qd, qdd = motion.sample((motion.breaks[:-1] + motion.breaks[1:]) / 2)
    worst = np.abs(fa.inverse_dynamics(arm, q, qd, qdd)).max(axis=0)
    report = fa.feasible(arm, motion, torques=0.9 * worst)
    assert not report
    assert worst[0] > 3.0


def seen_closely(motion):
    """Torques and powers where a motion is looked at from very near, both sides of its breaks among them."""
    end, breaks = motion.duration, motion.breaks
    times = np.concatenate([np.linspace(0.0, end, 40_001), breaks - 1e-10 * end, breaks + 1e-10 * end])
    t, q, qd, qdd = motion.sample(np.unique(np.clip(times, 0.0, end)))
    return t, fa.inverse_dynamics(UR, q, qd, qdd), qd


RAMPED = {
    "ramps of nine samples": lambda: Trapezoid(HOME, AWAY, 1.3, ramp=0.0045),
    "spline": lambda: fa.via_points(UR, [HOME, AWAY, HOME + 0.3], accelerations=5),
    "fastest": lambda: fa.fastest(UR, [HOME, AWAY, HOME + 0.3]),
}


@pytest.mark.parametrize("name", RAMPED)
def test_peaks_at_the_end_of_a_ramp_lay_between_the_samples(name):
    """Power was 12 % too small, its rms torque 5 %, and motions were sped up by 2 % beyond their limits."""
    motion = RAMPED[name]()
    t, tau, qd = seen_closely(motion)
    loads = fa.feasible(UR, motion).loads
    assert [load.peak for load in loads] == pytest.approx(np.abs(tau).max(axis=0), rel=1e-3)
    assert [load.peak_power for load in loads] == pytest.approx(np.abs(tau * qd).max(axis=0), rel=1e-3)
    rms = np.sqrt(np.trapezoid(tau**2, t, axis=0) / motion.duration)
    assert [load.rms for load in loads] == pytest.approx(rms, rel=1e-3)
    faster = seen_closely(fa.speed_up(UR, motion, speeds=99.0).motion)[1]
    assert np.max(np.abs(faster) / [link.effort_limit for link in UR.links]) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("even", [True, False])
@pytest.mark.parametrize("pieces", [3000, 12_000])
def test_peaks_of_a_spline_of_thousands_of_pieces_were_told_too_low(even, pieces):
    """Speeds by a hundredth, powers by seven: so many pieces were looked at in six places each, or in one."""
    rng = np.random.default_rng(1)
    sizes = np.full(pieces, 0.02) if even else 10.0 ** rng.uniform(-2, -1, pieces)
    t = np.concatenate([[0.0], np.cumsum(sizes)])
    points = np.cumsum(rng.normal(size=(pieces + 1, 2)) * 0.01, axis=0)
    motion = ViaPoints(t, points - np.linspace(0.0, 1.0, pieces + 1)[:, None] * points[-1])
    arm = fa.load("rr")
    report = fa.feasible(arm, motion)
    rows = motion.sample((t[:-1, None] + np.diff(t)[:, None] * np.arange(64) / 64).ravel())
    tau = fa.inverse_dynamics(arm, rows.q, rows.qd, rows.qdd)
    for name, values in (("peak_speed", rows.qd), ("peak", tau), ("peak_power", tau * rows.qd)):
        told = np.array([getattr(load, name) for load in report.loads])
        assert np.all(told > 0.9995 * np.max(np.abs(values), axis=0)), name


@pytest.mark.parametrize("factor", [1.0, 57.3])
def test_speeds_that_are_not_the_slopes_of_positions_were_within_limits_without_a_word(factor, caplog):
    arm, start = fa.load("ur5e"), np.array([0, -1.5, 1.5, 0, 0, 0.0])
    s = Quintic(start, start + 0.3, 1.0).sample(np.linspace(0, 1.0, 101))
    rows = Samples(s.t, s.q, s.qd / factor, s.qdd / factor)
    said = " ".join(fa.feasible(arm, rows).notes)
    fa.sweep("inverse_dynamics", {"motion": [rows]}, arm=arm)
    assert ("is not the slope of q" in said) == (factor != 1.0)
    assert ("over['motion'][0]: WARNING: qd of shoulder_pan_joint" in caplog.text) == (factor != 1.0)
