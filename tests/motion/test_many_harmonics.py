"""Motions of many harmonics: even steps fall where such a motion is always the same."""

import numpy as np
import pytest

import forearm as fa
from forearm.simulation import Fourier

RR = fa.load("rr")


def shaken(harmonics: int) -> tuple[Fourier, np.ndarray]:
    """A slow swing with a shake of 40 and 10 rad/s² at its highest harmonic, and the peaks of its torques."""
    sines = np.zeros((harmonics, 2))
    sines[0] = 0.3, 0.2
    sines[-1] += np.array([40.0, 10.0]) / (2 * np.pi * harmonics / 20.0) ** 2
    motion = Fourier([0.0, 0.0], sines, 0 * sines, 20.0)
    rows = motion.sample(80 * harmonics + 1)
    return motion, np.max(np.abs(fa.inverse_dynamics(RR, rows.q, rows.qd, rows.qdd)), axis=0)


@pytest.mark.parametrize("harmonics", [200, pytest.param(1000, marks=pytest.mark.more)])
def test_a_shake_was_feasible_because_all_instants_fell_where_it_is_nothing(harmonics):
    """A peak of 110 N m was told as 22 N m."""
    motion, peak = shaken(harmonics)
    assert not fa.feasible(RR, motion, torques=0.97 * peak, speeds=1000.0)
    assert fa.feasible(RR, motion, torques=1.001 * peak, speeds=1000.0)


@pytest.mark.parametrize("harmonics", [100, pytest.param(500, marks=pytest.mark.more)])
def test_a_shake_at_its_limits_could_be_run_35_times_faster(harmonics):
    motion, peak = shaken(harmonics)
    assert 0.999 < fa.speed_up(RR, motion, torques=peak, speeds=1000.0).factor < 1.003


@pytest.mark.parametrize("harmonics", [100, pytest.param(400, marks=pytest.mark.more)])
def test_what_a_shake_asks_for_was_of_no_significance(harmonics):
    """With 201 samples, and with more breaks than there is room for."""
    motion, _ = shaken(harmonics)
    found = fa.significance(RR, motion).shares["inertial"].peak
    rows = motion.sample(80 * harmonics + 1)
    inertial = np.einsum("kij,kj->ki", fa.mass_matrix(RR, rows.q), rows.qdd)
    np.testing.assert_allclose(found, np.max(np.abs(inertial), axis=0), rtol=0.02)


def test_the_fastest_pace_along_many_harmonics_passed_limits_by_four_thousandths():
    """Its excess was said to be 0.0005."""
    sines = np.zeros((20, 2))
    sines[0], sines[-1] = (0.3, 0.2), (0.05, 0.02)
    path = Fourier([0.0, 0.0], sines, 0 * sines, 20.0)
    motion = fa.fastest(RR, path, torques=[120.0, 40.0], speeds=20.0)
    rows = motion.sample(40001)
    tau = fa.inverse_dynamics(RR, rows.q, rows.qd, rows.qdd)
    assert np.max(np.abs(tau) / [120.0, 40.0]) < 1.001
