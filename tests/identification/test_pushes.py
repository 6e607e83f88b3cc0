"""Pushes in rough logs: seen when and where they are, and not where none is."""

import numpy as np
import pytest

import forearm as fa
from cli.verbs import forearm
from identification.synthetic import log_of, motion_of, somewhat_wrong
from identification.test_rough_logs import GAINS, rough_log

SPAN = (6.0, 6.5)


@pytest.fixture(scope="module")
def case():
    true = fa.load("ur10e").with_drives(fa.Drive(rotor_inertia=0.3, side="joint", smoothing=0.01))
    found = fa.identify(somewhat_wrong(true), rough_log(true, motion_of(true, seed=1)), gains=GAINS)
    return true, found, motion_of(true, duration=15.0, seed=5)


def pushed(true, motion, force, last=5, seed=3):
    """A push at the tool, which joints up to `last` feel."""
    log = rough_log(true, motion, seed=seed)
    s = motion.sample(log["t"])
    now = (s.t > SPAN[0]) & (s.t < SPAN[1])
    tau = np.einsum("kij,i->kj", fa.jacobian(true, s.q)[:, :3], force) * now[:, None]
    tau[:, last:] = 0.0
    log["current"] = log["current"] - tau / GAINS
    return log, tau


@pytest.mark.parametrize("with_quiet", [False, True])
def test_a_push_is_seen_when_and_where_it_is(case, with_quiet):
    true, found, motion = case
    quiet = rough_log(true, motion_of(true, duration=15.0, seed=11), seed=77) if with_quiet else None
    log, tau = pushed(true, motion, (60.0, 30.0, 0.0), last=4)
    (push,) = fa.watch(found.arm, log, quiet=quiet, gains=GAINS).pushes
    assert abs(push.start - SPAN[0]) < 0.1
    assert abs(push.end - SPAN[1]) < 0.2
    assert push.joint == true.joint_names[3]
    most = np.abs(tau).max(axis=0)
    assert np.max(np.abs(np.abs(push.peak) - most)) < 0.35 * most.max()
    assert np.argmax(np.abs(push.peak)) == np.argmax(most)


def test_nothing_is_seen_where_nothing_is(case):
    true, found, motion = case
    for seed in (3, 4):
        assert fa.watch(found.arm, rough_log(true, motion, seed=seed), gains=GAINS).pushes == ()


def test_a_log_with_a_push_is_said_by_identify(case):
    true, found, _ = case
    motion = motion_of(true, seed=1)
    log, _ = pushed(true, motion, (60.0, 30.0, 0.0))
    notes = fa.identify(found.arm, log, gains=GAINS).notes
    (said,) = [note for note in notes if "was the arm touched" in note]
    assert "at 6" in said or "at 5.9" in said
    calm = fa.identify(found.arm, rough_log(true, motion), gains=GAINS)
    assert not any("was the arm touched" in note for note in calm.notes)


def test_text_and_arguments(case):
    true, found, motion = case
    log, _ = pushed(true, motion, (60.0, 30.0, 0.0))
    text = str(fa.watch(found.arm, log, gains=GAINS, threshold=30.0))
    assert "1 push" in text
    with pytest.raises(fa.StateFault, match="positive torque"):
        fa.watch(found.arm, log, gains=GAINS, threshold=-1.0)


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_friction_that_turns_over_is_no_push_of_another_joint(noise):
    """A clean log: the spread was next to nothing, and what filters leave of dry friction was a push of the wrist."""
    drive = fa.Drive(rotor_inertia=0.4, side="joint", viscous=2.0, coulomb=(3.0, 3.0), smoothing=0.01)
    given = fa.load("ur5e")
    arm = given.replace(links=tuple(link.replace(drive=drive) for link in given.links))
    t = np.arange(0.0, 10.0, 0.002)
    rates, phase = np.array([1.1, 1.7, 2.1, 2.6, 1.9, 3.1]), np.arange(6)
    q = 0.5 * np.sin(np.outer(t, rates) + phase)
    qd, qdd = 0.5 * rates * np.cos(np.outer(t, rates) + phase), -(rates**2) * q
    tau = fa.inverse_dynamics(arm, q, qd, qdd) + noise * np.random.default_rng(0).normal(size=q.shape)
    assert fa.watch(arm, {"t": t, "q": q, "tau": tau}).pushes == ()
    tau[2000:2500, 1] -= 10.0
    (push,) = fa.watch(arm, {"t": t, "q": q, "tau": tau}).pushes
    assert push.joints == ("shoulder_lift_joint",)
    assert abs(push.start - 4.0) < 0.05
    assert abs(push.end - 5.0) < 0.15


def swung(t, n):
    """A motion that is under way when a log begins and ends: positions, speeds, accelerations."""
    pace, phase = 0.8 * np.arange(1, 5)[:, None, None], np.arange(n) + np.arange(4)[:, None, None]
    wide = 0.4 / np.arange(1, 5)[:, None, None]
    at = pace * t[:, None] + phase
    waves = wide * np.sin(at), wide * pace * np.cos(at), -wide * pace**2 * np.sin(at)
    return [np.sum(wave, axis=0) for wave in waves]


def test_the_ends_of_a_log_cut_out_of_a_motion_were_pushes():
    arm, t, rng = fa.load("ur5e"), np.arange(0, 10, 0.004), np.random.default_rng(0)
    q, qd, qdd = swung(t, 6)
    tau = fa.inverse_dynamics(arm, q, qd, qdd)
    tau = tau + 0.005 * np.max(np.abs(tau), axis=0) * rng.normal(size=tau.shape)
    assert fa.watch(arm, {"t": t, "q": q + 1e-5 * rng.normal(size=q.shape), "tau": tau}).pushes == ()


def test_clipped_torques_that_come_late_are_left_out_where_they_are():
    arm, t, rng, delay = fa.load("rr"), np.arange(0, 20, 0.002), np.random.default_rng(0), 0.05
    q, _, _ = swung(1.5 * t, 2)
    pace = [1.5**k * x for k, x in enumerate(swung(1.5 * (t - delay), 2))]
    tau = fa.inverse_dynamics(arm, *pace)
    tau = tau + 0.002 * tau.std(axis=0) * rng.normal(size=tau.shape)
    most = np.quantile(np.abs(tau), 0.9, axis=0)
    log = {"t": t, "q": q + 1e-5 * rng.normal(size=q.shape), "tau": np.clip(tau, -most, most)}
    found = fa.identify(arm, log, mend=["clipping", "shift"], rotors=False).base
    assert (
        np.max(np.abs(found.values - found.columns.of(arm)) / found.std) < 4
    )  # it was refused as 60 ms or more


@pytest.fixture(scope="module")
def paused():
    """An arm with dry friction that swings, rests for some seconds, and swings on."""
    drive = fa.Drive(viscous=0.5, coulomb=(2.0, 2.0), smoothing=0.01)
    arm = fa.load("generic_3r").with_drives(drive)
    t = np.arange(0.0, 12.0, 0.004)

    def law(x):
        x = np.clip(x, 0.0, 1.0)
        return x**3 * (10 - 15 * x + 6 * x**2), 30 * x**2 * (1 - x) ** 2

    (down, slope), (up, climb) = law(t - 4.0), law(t - 8.0)
    pace, change = 1 - down + up, climb - slope
    q, qd, qdd = swung(np.cumsum(pace) * 0.004, 3)
    qdd = qdd * pace[:, None] ** 2 + qd * change[:, None]
    qd = qd * pace[:, None]
    tau = fa.inverse_dynamics(arm, q, qd, qdd)
    tau = tau + 0.005 * tau.std(axis=0) * np.random.default_rng(0).normal(size=tau.shape)
    return arm, {"t": t, "q": q, "tau": tau}, (t > 5.0) & (t < 8.0)


def test_friction_of_a_joint_that_rests_is_no_push(paused):
    arm, log, rests = paused
    tau = log["tau"].copy()
    tau[rests] += [1.8, -1.7, 1.9]
    for quiet in (None, log):
        assert fa.watch(arm, {**log, "tau": tau}, quiet=quiet).pushes == ()
    tau[(log["t"] > 6.0) & (log["t"] < 6.5), 1] -= 8.0
    (push,) = fa.watch(arm, {**log, "tau": tau}).pushes
    assert push.joints == ("joint2",)
    assert abs(push.start - 6.0) < 0.1


@pytest.mark.parametrize("with_quiet", [False, True])
def test_an_offset_is_no_push_at_the_start_and_hides_none(paused, with_quiet):
    arm, log, _ = paused
    beside = {**log, "tau": log["tau"] + [5.0, -4.0, 3.0]}
    quiet = beside if with_quiet else None
    assert fa.watch(arm, beside, quiet=quiet).pushes == ()
    tau = beside["tau"].copy()
    tau[(log["t"] > 2.0) & (log["t"] < 2.5), 2] -= 2.0
    (push,) = fa.watch(arm, {**log, "tau": tau}, quiet=quiet).pushes
    assert push.joints == ("joint3",)
    assert abs(push.peak[2] - 2.0) < 0.2


def test_a_push_in_a_log_without_noise_was_said_to_be_at_a_joint_that_felt_a_millionth(tmp_path, capsys):
    """What filters leave of nothing, 4e-7 N m at the last joint, was eight times what was usual there."""
    arm = fa.load("ur5e")
    path = tmp_path / "motion.csv"
    places = "--from 0 -1 1 0 0 0 --to 1 -0.5 0.5 0 0 0 --accelerations 2".split()
    assert forearm(capsys, "move", "ur5e", *places, "-o", path).code == 0
    rows = np.loadtxt(path, delimiter=",", skiprows=1)
    t, (q, qd, qdd) = rows[:, 0], np.split(rows[:, 1:19], 3, axis=1)
    tau = fa.inverse_dynamics(arm, q, qd, qdd)
    tau[80:110, 1] -= 20.0
    (push,) = fa.watch(arm, {"t": t, "q": q, "qd": qd, "tau": tau}).pushes
    assert push.joint == arm.joint_names[1]


def test_a_log_in_degrees_had_no_pushes():
    """Thresholds of ten times the joints' own torques were told like any others."""
    arm = fa.load("rr")
    t = np.arange(0.0, 20.0, 0.004)
    phase = 2 * np.pi / 10 * t[:, None] * np.array([3, 4]) + np.array([0, 1])
    q = np.radians(3.0) * np.sin(phase) + np.radians(1.0) * np.sin(2 * phase)
    qd = np.gradient(q, t, axis=0)
    tau = fa.inverse_dynamics(arm, q, qd, np.gradient(qd, t, axis=0))
    tau += 0.02 * np.random.default_rng(0).normal(size=tau.shape)
    tau[(t > 8) & (t < 9)] += (2.0, 1.5)
    log = {"t": t, "q": q, "tau": tau}
    seen = fa.watch(arm, log)
    assert len(seen.pushes) == 1
    assert not any("WARNING" in note for note in seen.notes)
    (told,) = [n for n in fa.watch(arm, log | {"q": np.degrees(q)}).notes if "WARNING" in n]
    assert "thresholds are larger than the torques of the joints themselves: q1 " in told
    assert "Positions in degrees or millimetres" in told


def rotated(x):
    return np.roll(x, 1, axis=1)


WRONG = {
    "newton millimetres": lambda q, tau: (q, 1e3 * tau),
    "inch pounds": lambda q, tau: (q, 8.85 * tau),
    "half of them": lambda q, tau: (q, 0.5 * tau),
    "amperes": lambda q, tau: (q, 0.02 * tau),
    "the other sign": lambda q, tau: (q, -tau),
    "the other way round": lambda q, tau: (-q, tau),
    "another order of torques": lambda q, tau: (q, rotated(tau)),
    "another order of positions": lambda q, tau: (rotated(q), tau),
    "another zero": lambda q, tau: (q + 0.5, tau),
}


@pytest.mark.parametrize("quiet", [False, True])
@pytest.mark.parametrize("what", WRONG)
def test_a_log_that_the_arm_does_not_explain_had_no_pushes_without_a_word(what, quiet):
    """Torques of a thousand times, of the other sign, of other columns made thresholds that no push reaches."""
    arm = fa.load("rr").with_drives(fa.Drive(viscous=0.5, coulomb=(0.4, 0.4), smoothing=0.01))
    t, rng = np.arange(0.0, 10.0, 0.004), np.random.default_rng(0)
    q, qd, qdd = swung(t, 2)
    calm = fa.inverse_dynamics(arm, q, qd, qdd) + 0.02 * rng.normal(size=q.shape)
    tau = calm - (3.0, 1.5) * ((t > 4) & (t < 5))[:, None]

    def told(wrong):
        logs = [dict(zip(("q", "tau"), wrong(q, x), strict=True), t=t) for x in (tau, calm)]
        seen = fa.watch(arm, logs[0], quiet=logs[1] if quiet else None)
        return len(seen.pushes), any("thresholds are larger than the torques of" in x for x in seen.notes)

    assert told(lambda q, tau: (q, tau)) == (1, False)
    assert told(WRONG[what]) in [(1, True), (0, True)]


def swinging(arm, push=lambda t: 0.0, seconds=6.0):
    """A log of smooth waves with noise, pushed at the second joint."""
    t = np.arange(0.0, seconds, 0.004)
    w = 2 * np.pi * np.linspace(0.4, 0.9, arm.n)
    q = 0.5 * np.sin(t[:, None] * w) + [0.0, -1.2, 1.2, 0.0, 0.5, 0.0]
    qd, qdd = 0.5 * w * np.cos(t[:, None] * w), -0.5 * w**2 * np.sin(t[:, None] * w)
    tau = fa.inverse_dynamics(arm, q, qd, qdd) + np.random.default_rng(5).normal(0.0, 0.2, q.shape)
    tau[:, 1] -= push(t)
    return {"t": t, "q": q, "qd": qd, "tau": tau}


def test_a_push_that_lasts_all_the_log_was_no_push_without_a_word(capsys, tmp_path):
    """What stands in every row is usual for a log alone: it is told how much that is, and asked about."""
    arm = fa.load("ur5e")
    calm = fa.watch(arm, swinging(arm))
    assert not any("taken off" in note for note in calm.notes)
    assert np.max(np.abs(calm.offset)) < 0.1
    for push in (lambda t: 60.0, lambda t: 15.0 * (t > 0.8) * (t < 5.2)):
        seen = fa.watch(arm, swinging(arm, push))
        assert seen.offset[1] == pytest.approx(push(3.0), rel=0.02)
        assert f"shoulder_lift_joint {seen.offset[1]:.3g}" in str(seen)
        (said,) = [note for note in seen.notes if "taken off as usual is large" in note]
        assert said.startswith("WARNING")
        assert "shoulder_lift_joint" in said
        assert "elbow" not in said
    quiet = fa.watch(arm, swinging(arm, lambda t: 60.0), quiet=swinging(arm))
    assert len(quiet.pushes) == 1
    assert not any("taken off" in note for note in quiet.notes)
    given = fa.watch(arm, swinging(arm, lambda t: 60.0), threshold=5.0)
    assert any("taken off as usual is large" in note for note in given.notes)
    assert any("its median" in note for note in given.notes)
    log = swinging(arm, lambda t: 60.0)
    names = ["t", *(f"{kind}{i}" for kind in ("q", "qd", "tau") for i in range(1, 7))]
    rows = np.column_stack(list(log.values()))
    np.savetxt(tmp_path / "log.csv", rows, delimiter=",", header=",".join(names), comments="")
    told = forearm(capsys, "watch", "ur5e", tmp_path / "log.csv", "--json").json
    assert told["offset"][1] == pytest.approx(60.0, rel=0.02)


def test_a_log_that_was_given_twice_was_taken_for_another(case):
    """It tells no push of itself, and validates nothing."""
    arm = fa.load("ur5e")
    log = swinging(arm, lambda t: 15.0 * (t > 2) * (t < 3))
    assert any("has the same rows" in note for note in fa.watch(arm, log, quiet=log).notes)
    assert not any("same rows" in note for note in fa.watch(arm, log, quiet=swinging(arm)).notes)
    true, _, motion = case
    log = rough_log(true, motion)
    assert any("validate nothing" in note for note in fa.identify(true, log, validate=log, gains=GAINS).notes)


@pytest.mark.more
@pytest.mark.parametrize("seed", [5, 6, 7])
def test_one_row_of_a_wrist_whose_friction_turns_over_named_the_hand_for_a_push_on_the_upper_arm(seed):
    drive = {"rotor_inertia": 0.4, "side": "joint", "viscous": 2.0, "coulomb": (3.0, 3.0)}
    arm, sharp = (
        fa.load("ur5e").with_drives(fa.Drive(**drive, smoothing=smoothing)) for smoothing in (1e-2, 1e-4)
    )
    chance, t = np.random.default_rng(seed), np.arange(0, 60, 0.004)
    w, phase = 2 * np.pi * chance.uniform(0.1, 0.5, (3, 6)), chance.uniform(0, 6, (3, 6))
    angles = t[:, None, None] * w + phase
    q = 0.3 * np.sin(angles).sum(axis=1) + [0, -1.2, 1.2, 0, 0.5, 0]
    qd, qdd = 0.3 * (w * np.cos(angles)).sum(axis=1), -0.3 * (w**2 * np.sin(angles)).sum(axis=1)
    tau = fa.inverse_dynamics(sharp, q, qd, qdd)
    tau[(t > 20) & (t < 40), 1] -= 20.0
    tau += 0.3 * chance.normal(size=tau.shape)
    (push,) = fa.watch(arm, {"t": t, "q": q, "tau": tau}).pushes
    assert push.joints == ("shoulder_lift_joint",)


@pytest.mark.parametrize(("corner", "when"), [(None, ""), (5.0, "later")])
def test_torques_that_were_filtered_before_they_were_logged_were_pushes_without_a_word(corner, when):
    """Late by 30 ms, friction that turns over is where the arm does not expect it."""
    drive = fa.Drive(rotor_inertia=0.4, side="joint", viscous=2.0, coulomb=(3.0, 3.0), smoothing=0.01)
    given = fa.load("ur5e")
    arm = given.replace(links=tuple(link.replace(drive=drive) for link in given.links))
    rng = np.random.default_rng(0)
    log = log_of(arm, motion_of(arm, duration=12.0, seed=3), rate=250.0, noise=0.0)
    log["tau"] = log["tau"] + 0.5 * rng.normal(size=log["tau"].shape)
    if corner is not None:
        keep = np.exp(-2 * np.pi * corner / 250.0)
        for i in range(1, len(log["tau"])):
            log["tau"][i] = keep * log["tau"][i - 1] + (1 - keep) * log["tau"][i]
    found = fa.watch(arm, log)
    said = [note for note in found.notes if "torques may come" in note]
    assert bool(found.pushes) is bool(said) is bool(when)
    assert all(f" ms {when} than positions" in note for note in said)
