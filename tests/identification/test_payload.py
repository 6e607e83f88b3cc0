"""What is in the gripper."""

import numpy as np
import pytest

import forearm as fa
from identification.synthetic import log_of, motion_of, with_drives

ARM = with_drives(fa.load("panda"))
CENTER = np.array([0.02, -0.01, 0.08])
HOLDING = ARM.with_payload(2.5, CENTER, fa.Inertia.box(2.5, 0.1, 0.12, 0.2), frame="tool")


def test_mass_within_a_percent_and_centre_within_three_millimetres():
    motion = motion_of(ARM, duration=10.0, seed=1)
    inside = []
    for seed in range(6):
        found = fa.identify_payload(ARM, log_of(HOLDING, motion, seed=seed, periods=1))
        assert abs(found.mass - 2.5) < 0.025
        assert np.max(np.abs(found.com - CENTER)) < 0.003
        inside += [abs(found.mass - 2.5) < 1.96 * found.mass_std]
        inside.extend(np.abs(found.com - CENTER) < 1.96 * found.com_std)
    assert np.mean(inside) > 0.8
    held = found.on(ARM)
    assert abs(held.total_mass - HOLDING.total_mass) < 0.025


def test_nothing_held_is_said():
    motion = motion_of(ARM, duration=10.0, seed=1)
    with pytest.raises(fa.StateFault, match="may be nothing"):
        fa.identify_payload(ARM, log_of(ARM, motion, seed=4))


def test_a_payload_on_the_base_is_refused():
    with pytest.raises(fa.StateFault, match="does not move"):
        fa.identify_payload(ARM, {}, frame="base")
