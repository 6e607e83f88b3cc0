"""Singularities of a tool path that lie between the places at which it is followed."""

import numpy as np
import pytest

import forearm as fa
from forearm.faults import StateFault
from shares import quickly

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


NEAR_SINGULARITIES = {
    "0.0104 instead of 0.0006": (
        "panda",
        [-1.5956687, 1.5850520, -0.1653981, -2.1887525, -1.1741371, 2.8456133, 1.4320608],
        [
            [0.04116437, 0.02040263, -0.19250859],
            [0.04380899, 0.07229922, -0.073788],
            [0.2239152, 0.22833717, 0.01947252],
        ],
    ),
    "0.0046 instead of 0.0006": (
        "panda",
        [-2.0333713, -0.1785785, -1.9509694, -1.4743330, -0.8703600, 1.4649250, -0.8247399],
        [
            [-0.3559574, 0.4748609, 0.49120343],
            [-0.24278991, 0.48479044, 0.64108067],
            [-0.26472783, 0.41369121, 0.8008384],
        ],
    ),
    "0.0011 instead of 0.0006": (
        "iiwa14",
        [1.1155571, 0.1943074, 1.383012, -0.2273903, -1.7804308, -1.7306372, -1.3706883],
        [[-0.254738, 0.117843, 1.078103], [-0.206567, 0.00149, 1.040596]],
    ),
}


@pytest.mark.parametrize("passed", quickly(NEAR_SINGULARITIES, lambda passed: passed.startswith("0.0011")))
def test_a_limit_was_passed_by_more_than_the_motion_said_along_a_tool_path_near_a_singularity(passed):
    """Accelerations of joints that turn fast there rise and fall again between the places that were looked at."""
    name, start, places = NEAR_SINGULARITIES[passed]
    arm = fa.load(name)
    motion = fa.fastest(arm, fa.tool_path(arm, start, places, blend=0.03), accelerations=20.0)
    over = np.max(np.abs(motion.sample(100_001).qdd)) / 20.0 - 1.0
    assert over < 1e-3
    assert over < motion.excess + 2e-4
