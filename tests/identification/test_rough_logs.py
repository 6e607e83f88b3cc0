"""Logs as real arms write them: friction that no model has, coarse currents, jitter, slow noise, headers of others."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import lfilter

import forearm as fa
from forearm.identification.least_squares import least_squares
from forearm.identification.measured.filters import filtered
from forearm.identification.measured.logs import read_log
from forearm.identification.torque_rows import equations_of
from forearm.motion.motion_files import write_columns
from identification.synthetic import log_of, motion_of, somewhat_wrong, with_drives

GAINS = np.array([13.0, 13.0, 11.0, 9.0, 9.0, 9.0])


def rough_log(arm, motion, *, seed=0, held=None, offset=0.0, rate=100.0):
    """Currents of an arm with Stribeck's friction, friction that grows with the load, jitter and coarse converters."""
    rng = np.random.default_rng(seed)
    t = np.arange(0.0, motion.duration, 1 / rate)
    s = motion.sample(t + 0.1 / rate * rng.uniform(-1, 1, len(t)))
    alone, rigid = (fa.inverse_dynamics(x, s.q, s.qd, s.qdd) for x in (arm, held or arm))
    size = np.sqrt(np.mean(alone**2, axis=0))
    size = np.maximum(size, 0.03 * size.max())
    way = np.tanh(s.qd / 0.01)
    dry = 0.15 * size * way * (1 + 0.5 * np.exp(-((s.qd / 0.1) ** 2)))
    tau = rigid + dry + 0.12 * size * np.abs(s.qd) ** 0.8 * way + 0.05 * np.abs(rigid) * way + offset
    tau += 0.02 * size * rng.normal(size=tau.shape)
    tick = 2 * np.pi / 2**16
    return {"t": s.t, "q": np.round(s.q / tick) * tick, "current": np.round(tau / GAINS / 0.01) * 0.01}


@pytest.fixture(scope="module")
def ur():
    drive = fa.Drive(rotor_inertia=0.3, side="joint", smoothing=0.01)
    true = fa.load("ur10e").with_drives(drive)
    return true, somewhat_wrong(true), motion_of(true, seed=1), motion_of(true, duration=15.0, seed=5)


def test_friction_that_no_model_has(ur):
    true, start, motion, other = ur
    log, fresh = rough_log(true, motion, offset=1.0), rough_log(true, other, seed=9, offset=1.0)
    found = fa.identify(start, log, validate=fresh, gains=GAINS)
    assert found.residuals.validation_total < 0.06
    assert not any("WARNING" in note for note in found.notes)
    z = np.abs(found.base.values - found.base.of(true)) / found.base.std
    body = [name[:2] not in ("FV", "FC", "OF") for name in found.base.names]
    assert np.mean(z[body] < 1.96) > 0.85


def test_gains_and_payload_of_rough_logs(ur):
    true, start, motion, other = ur
    load = (8.0, (0.02, 0.03, 0.1))
    held = true.with_payload(*load, frame="tool")
    loaded = rough_log(true, motion, seed=4, held=held)
    found = fa.identify(start, rough_log(true, motion), loaded=loaded, load=load)
    assert np.max(np.abs(found.gains / GAINS - 1)) < 0.04
    assert np.max(np.abs(found.gains / GAINS - 1) / (found.gains_std / GAINS)) < 3.5
    short = rough_log(true, other, seed=3, held=held)
    body = fa.identify_payload(found.arm, short, gains=found.gains, offsets=True)
    assert abs(body.mass - 8.0) < 0.3
    assert np.max(np.abs(body.com - load[1])) < 0.015


def test_coarse_currents_are_not_clipped_ones(ur):
    true, start, motion, _ = ur
    log = rough_log(true, motion)
    log["current"] = np.round(log["current"] / 0.03) * 0.03  # the last joint has some ten values
    fa.identify(start, log, gains=GAINS)
    limit = np.round(0.6 * np.max(np.abs(log["current"][:, 1])) / 0.03) * 0.03
    log["current"][:, 1] = np.clip(log["current"][:, 1], -limit, limit)
    with pytest.raises(fa.StateFault, match="clipped"):
        fa.identify(start, log, gains=GAINS)


def test_a_current_that_was_not_logged(ur):
    true, start, motion, _ = ur
    log = rough_log(true, motion)
    log["current"][:, 5] = 0.0
    with pytest.raises(fa.StateFault, match=r"'wrist_3_joint' is 0 in every row, but the joint moves"):
        fa.identify(start, log, gains=GAINS)


@pytest.mark.parametrize("seconds", [0.1, 0.3, 1.0])
def test_intervals_hold_where_noise_is_slow(seconds):
    true = with_drives(fa.load("generic_3r"))
    start = somewhat_wrong(true)
    base = fa.base_parameters(start)
    clean = read_log(log_of(true, motion_of(true, seed=1), noise=0.0), start)
    motion = filtered(clean)
    equations = equations_of(start, base.drives, motion)
    rng, inside = np.random.default_rng(0), []
    keep = np.exp(-1 / (500 * seconds))
    for _ in range(10):
        white = rng.normal(size=(5000 + len(clean.t), 3))
        slow = lfilter([np.sqrt(1 - keep**2)], [1, -keep], white, axis=0)[5000:]
        again = filtered(
            replace(clean, tau=clean.tau + 0.01 * np.ptp(clean.tau, axis=0) * slow), motion.cutoff
        )
        fit = least_squares(replace(equations, tau=again.thinning(again.tau)), base.kept)
        inside.extend(np.abs(fit.values - base.of(true)) < 1.96 * fit.std)
    assert 0.9 <= np.mean(inside) <= 0.99


@pytest.mark.parametrize(
    ("t", "q", "i"),
    [
        ("timestamp", "actual_q_{0}", "actual_current_{0}"),
        ("__time", "/joint_states/position[{0}]", "/joint_states/current[{0}]"),
        ("Time", "q_{1}", "I_{1}"),
        ("t", "q_actual_{1}", "motor_current_{1}"),
    ],
)
def test_headers_of_others(ur, tmp_path, t, q, i):
    true, start, motion, _ = ur
    log = rough_log(true, motion)
    columns = {t: log["t"]}
    columns |= {q.format(k, k + 1): log["q"][:, k] for k in range(6)}
    columns |= {i.format(k, k + 1): log["current"][:, k] for k in range(6)}
    columns |= {
        f"target_q_{k}": np.zeros(len(log["t"])) for k in range(6)
    }  # what was asked for, not measured
    path = write_columns(tmp_path / "log.csv", columns)
    read = read_log(path, start, gains=GAINS)
    assert np.allclose(read.q, log["q"])
    assert np.allclose(read.tau, log["current"] * GAINS)
    with pytest.raises(fa.StateFault, match=r"has currents; give gains=.*loaded="):
        read_log(path, start)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda log: log["q"].__setitem__((7, 2), np.nan),
            r"q is not finite in 1 rows \(the first is row 7\)",
        ),
        (lambda log: log["t"].__setitem__(9, log["t"][8]), r"row 9 is at .* leave out all but one"),
        (lambda log: log["t"].__setitem__(9, 0.0), "sort the rows"),
    ],
)
def test_rows_that_are_none(ur, change, words):
    true, start, motion, _ = ur
    log = rough_log(true, motion)
    change(log)
    with pytest.raises(fa.StateFault, match=words):
        fa.identify(start, log, gains=GAINS)


def test_zeros_of_motors(ur):
    true, start, motion, _ = ur
    log = rough_log(true, motion)
    log["q"] = log["q"] - np.array([0.0, -0.5, 0.5, 0.0, 0.0, 0.0])
    wrong = fa.identify(start, log, gains=GAINS)
    assert any("WARNING" in note and "zero=" in note for note in wrong.notes)
    right = fa.identify(start, log, gains=GAINS, zero=[0.0, -0.5, 0.5, 0.0, 0.0, 0.0])
    assert right.residuals.train_total < 0.6 * wrong.residuals.train_total
    with pytest.raises(fa.StateFault, match="give where each of the 6 joints"):
        fa.identify(start, log, gains=GAINS, zero=[1.0])
