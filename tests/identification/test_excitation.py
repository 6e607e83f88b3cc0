"""Motions that show parameters, within the limits."""

from dataclasses import replace

import numpy as np
import pytest

import forearm as fa
from forearm.identification.least_squares import least_squares
from forearm.identification.measured.filters import filtered
from forearm.identification.measured.logs import read_log
from forearm.identification.torque_rows import equations_of, torques_of
from identification.synthetic import TICK, log_of, somewhat_wrong, with_drives


@pytest.fixture(scope="module")
def design():
    return fa.excite(fa.load("iiwa14"), duration=10.0, generations=150)


def test_within_all_limits_and_at_rest_at_first(design):
    arm = fa.load("iiwa14")
    s = design.sample(2001)
    tau = np.abs(fa.inverse_dynamics(arm, s.q, s.qd, s.qdd)).max(axis=0)
    for i, link in enumerate(arm.links):
        assert link.limits[0] <= s.q[:, i].min()
        assert s.q[:, i].max() <= link.limits[1]
        assert np.abs(s.qd[:, i]).max() <= link.speed_limit
        assert tau[i] <= link.effort_limit
        assert np.ptp(s.q[:, i]) > 0.2
    assert np.allclose(s.qd[0], 0, atol=1e-12)
    assert np.allclose(s.qdd[0], 0, atol=1e-12)


def test_much_better_than_random(design):
    assert design.condition < 0.5 * design.start_condition


@pytest.mark.parametrize(
    ("name", "seeds"),
    [
        ("rr", 200),
        pytest.param("generic_3r", 200, marks=pytest.mark.more),
        pytest.param("iiwa14", 400, marks=pytest.mark.more),
    ],
)
def test_every_error_is_as_foretold(name, seeds):
    # what the estimates of many logs scatter by, parameter by parameter, beside what the design foretells
    true = with_drives(fa.load(name))
    start = somewhat_wrong(true)
    design = replace(fa.excite(true, duration=10.0, generations=10), arm=start)
    clean = read_log(log_of(true, design, periods=2, noise=0.0), start)
    noise = 0.01 * np.ptp(clean.tau, axis=0)
    names, foretold = design.deviations(noise, 500.0, periods=2)
    base = fa.base_parameters(start)
    motion = filtered(clean)
    equations = equations_of(start, base.drives, motion)
    rng, found = np.random.default_rng(0), []
    for _ in range(seeds):
        noisy = replace(clean, tau=clean.tau + noise * rng.normal(size=clean.tau.shape))
        again = filtered(noisy, motion.cutoff)
        rows = replace(equations, tau=again.thinning(again.tau))
        found.append(least_squares(rows, base.kept).values)
    assert names == base.names
    ratio = np.std(found, axis=0, ddof=1) / foretold
    assert np.all(np.abs(ratio - 1) < 0.2), dict(zip(names, ratio, strict=True))


@pytest.mark.parametrize(
    ("name", "rate", "tick"),
    [
        ("generic_3r", 500.0, 0.0),
        ("generic_3r", 1000.0, TICK),
        pytest.param("iiwa14", 500.0, TICK, marks=pytest.mark.more),
        pytest.param("iiwa14", 1000.0, TICK, marks=pytest.mark.more),
    ],
)
def test_identify_reports_what_was_foretold(name, rate, tick):
    true = with_drives(fa.load(name))
    start = somewhat_wrong(true)
    design = replace(fa.excite(true, duration=10.0, generations=10), arm=start)
    log = log_of(true, design, rate=rate, periods=2, tick=tick, seed=1)
    noise = 0.01 * np.ptp(fa.inverse_dynamics(true, *design.sample(log["t"])[1:]), axis=0)
    found = fa.identify(start, log)
    names, foretold = design.deviations(noise, rate, periods=2, tick=tick)
    assert names == found.base.names
    assert np.all(np.abs(found.base.std / foretold - 1) < 0.2)


@pytest.mark.parametrize("rate", [200.0, 1000.0])
def test_dry_friction_is_filtered_as_torques_are(rate):
    # it turns over between the rows that are kept: what the filters make of that must be in its column too
    arm = with_drives(fa.load("generic_3r"))
    design = fa.excite(arm, duration=10.0, generations=2)
    log = read_log(log_of(arm, design, rate=rate, noise=0.0, tick=0.0), arm)
    equations = equations_of(arm, fa.base_parameters(arm).drives, filtered(log))
    fit = least_squares(equations, fa.base_parameters(arm).kept)
    assert np.all(fit.noise < 2e-4 * equations.scale)
    assert np.allclose(torques_of(arm, equations.motion), equations.tau, atol=2e-4 * equations.scale.max())


def test_arguments():
    with pytest.raises(fa.StateFault, match="give a positive time"):
        fa.excite(fa.load("rr"), duration=-1.0)


def test_torques_beyond_the_drives_are_refused():
    arm = fa.load("rr")
    weak = arm.replace(links=tuple(link.replace(effort_limit=0.01) for link in arm.links))
    with pytest.raises(fa.StateFault, match="would need"):
        fa.excite(weak, generations=2)


def test_many_harmonics_stay_within_the_limits_between_the_instants():
    """Forty waves a period were looked at 80 times: twice a wave, where their speed is not seen."""
    arm = fa.load("rr")
    motion = fa.excite(arm, harmonics=40, speed=1.0, acceleration=5.0, generations=0)
    s = motion.sample(20_001)
    assert np.abs(s.qd).max() <= 1.0
    assert np.abs(s.qdd).max() <= 5.0


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"speed": -1.0}, "speed is -1.0; give a positive number"),
        ({"speed": 0.0}, "speed is 0.0; give"),
        ({"acceleration": np.nan}, "acceleration is nan; give"),
        ({"duration": 1e300}, "duration is 1e.300"),
        ({"duration": np.nan}, "duration is nan"),
        ({"harmonics": 10**6}, "harmonics 1000000; give .* 2 to 50"),
    ],
)
def test_limits_that_are_none_are_refused(asked, words):
    with pytest.raises(fa.StateFault, match=words):
        fa.excite(fa.load("rr"), generations=0, **asked)
