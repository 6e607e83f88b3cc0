"""Limits hold between the places that a time-optimal motion is looked at, too: in the corners of a path above all."""

import numpy as np
import pytest

import forearm as fa


@pytest.mark.parametrize("seed", [14, 28, 39, 103, 218, 350])
def test_a_peak_within_a_corner_is_no_more_than_the_motion_says(seed):
    arm = fa.load("iiwa14")
    rng = np.random.default_rng(seed)
    points = rng.uniform(-1, 1, (5, arm.n))
    path = fa.via_points(arm, points, speeds=1, accelerations=3, blend=rng.uniform(0.02, 0.3))
    motion = fa.fastest(arm, path, speeds=rng.uniform(0.5, 2.5), accelerations=rng.uniform(2, 20), grid=50)
    _, qd, qdd = motion.rows(np.linspace(0.0, motion.duration, 60_001))
    passed = (
        max(np.max(np.abs(qd) / motion.limits.speeds), np.max(np.abs(qdd) / motion.limits.accelerations)) - 1
    )
    assert passed < 1e-3
    assert passed < motion.excess + 2e-4
