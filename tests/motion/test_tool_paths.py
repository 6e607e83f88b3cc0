# ruff: noqa: E501  (one refusal per line reads as a table)
"""Lines and arcs of the tool: straight and round to rounding, orientation with them, derivatives, refusals."""

import numpy as np
import pytest

import forearm as fa
from close import assert_close

UR, START = fa.load("ur5e"), [0.3, -1.2, 1.4, -1.8, -1.57, 0.0]
HERE = fa.pose(UR, START)
P = HERE[:3, 3]
IIWA, BENT = fa.load("iiwa14"), [0.2, 0.5, 0.1, -1.2, 0.1, 0.8, 0.0]
Q = fa.pose(IIWA, BENT)[:3, 3]


def derivatives_agree(motion):
    t = np.linspace(0.013, 0.987, 100) * motion.duration
    before, here, after = (motion.sample(t + h) for h in (-1e-5, 0, 1e-5))
    assert np.max(np.abs((after.q - before.q) / 2e-5 - here.qd)) < 1e-7
    assert np.quantile(np.abs((after.qd - before.qd) / 2e-5 - here.qdd), 0.95) < 1e-6


@pytest.mark.parametrize("jerk", [None, 30.0])
def test_the_tool_keeps_its_acceleration_in_rounded_corners(jerk):
    """It slowed down for a corner and left it with five times the acceleration that was given, and nothing said so."""
    places = [P + [0, 0.15, 0], P + [0, 0.02, 0.05]]
    motion = fa.tool_path(UR, START, places, speed=0.45, acceleration=2.5, jerk=jerk, blend=0.015)
    t = np.linspace(0.0, motion.duration, 3001)
    samples = motion.sample(t)
    speed = np.linalg.norm((fa.jacobian(UR, samples.q) @ samples.qd[..., None])[:, :3, 0], axis=1)
    change = np.diff(speed) / np.diff(t)
    assert np.max(np.abs(change)) < 1.01 * 2.5
    if jerk is None:
        assert np.max(np.abs(change)) > 0.99 * 2.5
    else:
        assert np.max(np.abs(np.diff(change) / np.diff(t)[1:])) < 1.02 * jerk


@pytest.mark.parametrize(
    ("arm", "start", "p", "way"), [(UR, START, P, [0, 0.2, 0.05]), (IIWA, BENT, Q, [-0.1, 0.15, 0.1])]
)
def test_a_line_is_straight_and_keeps_its_orientation(arm, start, p, way):
    motion = fa.tool_path(arm, start, [p + way], speed=0.3, jerk=8.0)
    samples = motion.sample(501)
    poses = fa.pose(arm, samples.q)
    off = poses[:, :3, 3] - p
    along = np.array(way) / np.linalg.norm(way)
    assert np.max(np.linalg.norm(off - np.outer(off @ along, along), axis=1)) < 1e-9
    assert np.max(np.abs(poses[:, :3, :3] - fa.pose(arm, start)[:3, :3])) < 1e-9
    assert_close(poses[-1, :3, 3], p + way, eps=1e4, because="Newton's last step")
    speeds = np.linalg.norm((fa.jacobian(arm, samples.q) @ samples.qd[..., None])[:, :3, 0], axis=1)
    assert np.max(speeds) <= 0.3 * (1 + 1e-9)
    assert np.max(np.abs(samples.qd) / [link.speed_limit for link in arm.links]) <= 1
    derivatives_agree(motion)


def test_an_arc_is_round_and_a_turn_is_even():
    motion = fa.tool_path(UR, START, fa.Arc(through=P + [0, 0.1, 0.1], to=P + [0, 0.2, 0]))
    places = fa.pose(UR, motion.sample(301).q)[:, :3, 3]
    assert_close(
        np.linalg.norm(places - (P + [0, 0.1, 0]), axis=1),
        np.full(301, 0.1),
        eps=1e5,
        because="Newton's last step",
    )
    assert np.min(np.linalg.norm(places - (P + [0, 0.1, 0.1]), axis=1)) < 2e-3
    derivatives_agree(motion)
    goal = fa.Pose.from_matrix(HERE) @ fa.Pose.at((0.05, 0.1, 0.02), (0.3, 0.2, 0.5))
    turned = fa.tool_path(UR, START, [goal], turn_speed=0.5)
    samples = turned.sample(301)
    assert np.max(np.abs(fa.pose(UR, samples.q[-1]) - goal.matrix)) < 1e-9
    spin = (fa.jacobian(UR, samples.q) @ samples.qd[..., None])[:, 3:, 0]
    axis = spin[150] / np.linalg.norm(spin[150])
    assert np.max(np.abs(spin - np.outer(spin @ axis, axis))) < 1e-9  # about one axis, as slerp has it
    assert np.max(np.linalg.norm(spin, axis=1)) <= 0.5 * (1 + 1e-9)
    derivatives_agree(turned)


def test_corners_are_rounded_or_stopped_at():
    places = [P + [0, 0.2, 0], P + [0, 0.2, 0.1]]
    blended, stopped = fa.tool_path(UR, START, places, blend=0.03), fa.tool_path(UR, START, places)
    assert blended.duration < stopped.duration
    derivatives_agree(blended)
    corner = np.linalg.norm(fa.pose(UR, blended.sample(2001).q)[:, :3, 3] - places[0], axis=1)
    assert 1e-3 < np.min(corner) < 0.03
    at_corner = np.argmin(np.linalg.norm(fa.pose(UR, stopped.sample(2001).q)[:, :3, 3] - places[0], axis=1))
    assert np.max(np.abs(stopped.sample(2001).qd[at_corner])) < 0.05
    assert not np.any(stopped.motions[0](stopped.motions[0].duration)[1])


def test_a_line_can_be_run_as_fast_as_the_drives_allow():
    line = fa.tool_path(IIWA, BENT, [Q + [-0.1, 0.2, 0.1]])
    fast = fa.fastest(IIWA, line)
    assert fast.duration < line.duration
    off = fa.pose(IIWA, fast.sample(301).q)[:, :3, 3] - Q
    along = np.array([-0.1, 0.2, 0.1]) / np.linalg.norm([-0.1, 0.2, 0.1])
    assert np.max(np.linalg.norm(off - np.outer(off @ along, along), axis=1)) < 1e-9
    assert fa.feasible(IIWA, fast)


def test_positions_alone_for_arms_that_cannot_turn():
    arm = fa.load("generic_3r")
    start = [0.3, 0.5, 0.9]
    p = fa.pose(arm, start)[:3, 3]
    motion = fa.tool_path(arm, start, [0.95 * p], with_turn=False, speeds=2.0)
    off = fa.pose(arm, motion.sample(101).q)[:, :3, 3]
    assert np.max(np.abs(np.cross(off, p))) < 1e-9


FLAT = [0.3, -1.2, 1.4, -1.8, 0.0, 0.0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: fa.tool_path(UR, START, [P + [2, 0, 0]]), r"arm 'ur5e' does not reach its path \d+ % along it, at \("),
        (lambda: fa.tool_path(UR, FLAT, [fa.pose(UR, FLAT)[:3, 3] + [0, 0.02, 0.02]]), r"passes a singularity|does not reach"),
        (lambda: fa.tool_path(UR, START, [P]), r"place 0 \(from 0\) is where the tool is already"),
        (lambda: fa.tool_path(UR, START, [fa.Arc(P + [0, 0.1, 0], P + [0, 0.2, 0])]), r"three points on one line"),
        (lambda: fa.tool_path(UR, START, [[1, 2]]), r"place 0 \(from 0\) is a list of shape \(2,\); give a Pose"),
        (lambda: fa.tool_path(UR, START, [P + [0, 0.1, 0], P * np.nan]), r"place 1 \(from 0\) has entries that are not finite"),
        (lambda: fa.tool_path(UR, START, []), r"no places were given"),
        (lambda: fa.tool_path(UR, START, [P + [0, 0.1, 0]], speed=0), r"speed is 0; give a positive number"),
        (lambda: fa.tool_path(UR, START, [P + [0, 0.1, 0]], blend=-1), r"blend is -1; give a distance"),
        (lambda: fa.tool_path(UR, [9.0] * 6, [P]), r"the start has joint 'shoulder_pan_joint' at 9 rad, outside its limits"),
    ],
)  # fmt: skip
def test_refusals(make, message):
    with pytest.raises(fa.StateFault, match=message):
        make()


def test_a_path_that_leaves_the_limits_of_a_joint_is_refused():
    links = list(IIWA.links)
    _, high = links[3].limits
    links[3] = links[3].replace(limits=(-1.25, high))
    with pytest.raises(
        fa.StateFault, match=r"the path has joint 'iiwa_joint_4' at -1\.2.* rad, outside its limits"
    ):
        fa.tool_path(IIWA.replace(links=tuple(links)), BENT, [Q + [-0.15, 0, -0.1]])
