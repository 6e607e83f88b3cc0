"""Motions that show parameters, within the limits."""

import numpy as np
import pytest

import forearm as fa
from identification.synthetic import log_of, somewhat_wrong, with_drives


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


def test_errors_are_as_foretold(design):
    true = with_drives(fa.load("iiwa14"))
    log = log_of(true, design, periods=3, seed=1)
    noise = 0.01 * np.ptp(fa.inverse_dynamics(true, *design.sample(500)[1:]), axis=0)
    found = fa.identify(somewhat_wrong(true), log)
    names, std = fa.identification.Excitation.deviations(
        fa.identification.Excitation(
            design.center, design.sines, design.cosines, design.period, arm=somewhat_wrong(true)
        ),
        noise,
        3 * 500.0,
    )
    assert names == found.base.names
    assert abs(np.median(found.base.std / std) - 1) < 0.2


def test_arguments():
    with pytest.raises(fa.StateFault, match="give a positive time"):
        fa.excite(fa.load("rr"), duration=-1.0)


def test_torques_beyond_the_drives_are_refused():
    arm = fa.load("rr")
    weak = arm.replace(links=tuple(link.replace(effort_limit=0.01) for link in arm.links))
    with pytest.raises(fa.StateFault, match="would need"):
        fa.excite(weak, generations=2)
