"""Singularities of a tool path that lie between the places at which it is followed."""

import numpy as np
import pytest

import forearm as fa
from forearm.faults import StateFault

CASES = {
    "ur5e": ([0.1062, 2.1848, 0.4954, 0.4615, 1.3299, 1.7223], [0.0146, 0.2275, -0.0296]),
    "xarm7": ([-0.288, 1.3373, -0.4124, 0.2272, -2.9152, 0.5497, -0.6577], [0.0186, 0.1221, -0.0035]),
}


@pytest.mark.parametrize("name", CASES)
def test_a_line_through_a_singularity_between_knots_turned_joints_thousands_of_times_too_fast(name):
    """9940 rad/s of a joint whose limit is 3.14, without a word."""
    start, end = CASES[name]
    with pytest.raises(StateFault, match="passes a singularity"):
        fa.tool_path(fa.load(name), start, [end])


def test_a_line_away_from_singularities_is_followed():
    arm = fa.load("ur5e")
    start = [0.0, -1.2, 1.5, -1.0, -1.5, 0.0]
    motion = fa.tool_path(arm, start, [fa.pose(arm, start)[:3, 3] + [0.05, 0.1, 0.05]])
    limits = np.array([link.speed_limit for link in arm.links])
    assert np.all(np.abs(motion.sample(20001).qd) <= limits * (1 + 1e-3))


def test_a_joint_was_a_fifth_too_fast_between_the_places_that_were_looked_at_near_a_singularity():
    """Joint 1 went to 2.58 rad/s, and its limit is 2.18: now the whole is slower."""
    arm = fa.load("panda")
    start = [1.32228777, 0.89322775, -1.0662638, -2.0531276, -0.6348203, 1.8393174, -2.4928266]
    places = [
        [0.45415875, 0.09953083, 0.23798617],
        fa.Arc([0.59788216, 0.189161, 0.20798684], [0.40721142, 0.11074691, 0.23233046]),
        fa.Arc([0.38065605, 0.20078606, 0.30072865], [0.35346125, 0.01809919, 0.28796104]),
    ]
    motion = fa.tool_path(
        arm, start, places, speed=2.0859402525, acceleration=1.26682959, blend=0.05, turn_speed=0.1
    )
    limits = np.array([link.speed_limit for link in arm.links])
    assert np.max(np.abs(motion.sample(100001).qd) / limits) < 1.0
