"""Positions, speeds and torques that were not read at the same time."""

import numpy as np
import pytest

import forearm as fa
from forearm.identification.broken_logs.clocks import speed_lag
from forearm.identification.measured.logs import read_log
from identification.synthetic import TICK, motion_of, somewhat_wrong, with_drives

RATE = 100.0
REAL = with_drives(fa.load("generic_3r"))
START = somewhat_wrong(REAL)


@pytest.fixture(scope="module")
def motion():
    return motion_of(REAL, duration=10.0, harmonics=6)


def filtered_speeds(motion, t, corner):
    """What a controller logs that filters its speeds: a first-order low-pass, late by 1 / (2 pi corner)."""
    from scipy.signal import butter, lfilter

    fine = np.arange(t[0] - 1.0, t[-1] + 5e-4, 1e-3)
    late = lfilter(*butter(1, corner, fs=1e3), motion.sample(fine % motion.period).qd, axis=0)
    return np.stack([np.interp(t, fine, column) for column in late.T], axis=1)


def log_with_speeds(motion, corner, arm=REAL, seed=0, late=0.0):
    t = np.arange(0.0, 20.0, 1 / RATE)
    s = motion.sample(t)
    then = motion.sample((t - late) % motion.period)
    tau = fa.inverse_dynamics(arm, then.q, then.qd, then.qdd)
    noise = 0.01 * np.ptp(tau, axis=0) * np.random.default_rng(seed).normal(size=tau.shape)
    return {
        "t": t,
        "q": np.round(s.q / TICK) * TICK,
        "qd": filtered_speeds(motion, t, corner),
        "tau": tau + noise,
    }


def apart(found, kind):
    """Distances from the truth of the numbers of one kind, in standard deviations."""
    k = [i for i, name in enumerate(found.base.names) if name.startswith(kind)]
    return np.abs((found.base.values - found.base.of(REAL)) / found.base.std)[k]


@pytest.mark.parametrize("corner", [10.0, 15.0])
def test_the_lag_of_filtered_speeds_is_measured(motion, corner):
    log = read_log(log_with_speeds(motion, corner), START)
    assert speed_lag(log) == pytest.approx(1 / (2 * np.pi * corner), rel=0.1)


def test_late_speeds_are_not_taken_for_early_torques(motion):
    """They made rotors too large by many deviations, and torques were said to come earlier than positions."""
    found = fa.identify(START, log_with_speeds(motion, 15.0), validate=log_with_speeds(motion, 15.0, seed=1))
    assert not [note for note in found.notes if "torques may come" in note]
    assert [note for note in found.notes if note.startswith("speeds come 11 ms later than positions")]
    assert np.all(apart(found, "IA") < 3.5)
    assert found.residuals.validation_total < 1.2 * found.residuals.train_total


def test_torques_that_go_with_late_speeds_are_left_with_them(motion):
    log = log_with_speeds(motion, 30.0, late=1 / (2 * np.pi * 30.0))
    log["q"] = log["q"] + 2e-3 * np.random.default_rng(5).normal(size=log["q"].shape)
    found = fa.identify(START, log)
    assert [note for note in found.notes if "torques go with the speeds" in note]


def test_speeds_in_step_are_taken(motion):
    found = fa.identify(START, log_with_speeds(motion, 400.0))
    assert not [note for note in found.notes if "speeds" in note and "late" in note]


def test_late_speeds_beside_a_payload_and_gains(motion):
    held = (2.0, (0.0, 0.02, 0.05))
    loaded = log_with_speeds(motion, 15.0, REAL.with_payload(*held, frame="tool"), seed=2)
    body = fa.identify_payload(REAL, loaded)
    assert body.mass == pytest.approx(2.0, abs=4 * body.mass_std)
    assert [note for note in body.notes if note.startswith("speeds come 11 ms later")]
    logs = [{**log, "current": log["tau"] / 7.0} for log in (log_with_speeds(motion, 15.0), loaded)]
    for log in logs:
        del log["tau"]
    both = fa.identify(START, logs[0], loaded=logs[1], load=held)
    assert np.all(np.abs(both.gains - 7.0) < 4 * both.gains_std)
    assert len([note for note in both.notes if note.startswith("speeds come 11 ms later")]) == 1
    assert np.all(apart(both, "IA") < 3.5)


@pytest.mark.parametrize("speeds", ["noisy", "five percent too large", "right"])
def test_speeds_that_explain_torques_worse_than_slopes_are_left_out(motion, speeds):
    log = log_with_speeds(motion, 400.0)
    s = motion.sample(log["t"])
    noise = 0.05 * np.random.default_rng(1).normal(size=s.qd.shape)
    log["qd"] = {"noisy": s.qd + noise, "five percent too large": 1.05 * s.qd, "right": s.qd}[speeds]
    found = fa.identify(START, log)
    told = any("speeds explain the torques worse" in note for note in found.notes)
    assert told or speeds == "right"
    off = np.abs((found.base.values - found.base.of(REAL)) / found.base.std)
    assert np.mean(off < 1.96) > 0.85


def test_a_lone_sine_tells_no_delay():
    """Its columns explain every delay; what rounding left was explained best by one of 8 ms."""
    t = np.arange(0.0, 12.0, 0.002)
    q = np.sin(np.pi * t)[:, None]
    arm = fa.Arm("slide", (fa.Link("prismatic", mass=2.0),))
    tau = fa.inverse_dynamics(arm, q, np.pi * np.cos(np.pi * t)[:, None], -(np.pi**2) * q)
    found = fa.identify(arm, {"t": t, "q": q, "tau": tau})
    assert not any("than positions" in note for note in found.notes)
