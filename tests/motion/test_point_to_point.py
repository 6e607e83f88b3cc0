# ruff: noqa: E501  (one refusal per line reads as a table)
"""Point to point and through points: durations as Ruckig's, limits kept, derivatives right, refusals."""

from functools import partial

import numpy as np
import pytest

import forearm as fa
from close import assert_close
from forearm.compiler.graph.interpreter import interpret
from forearm.compiler.graph.trace import trace
from forearm.motion.profiles.path_profiles import Joined
from forearm.motion.profiles.via_splines import spline_peaks

IIWA = fa.load("iiwa14").replace(links=tuple(link.replace(limits=None) for link in fa.load("iiwa14").links))
UR = fa.load("ur5e")


def cases(count, seed=0):
    """Random ends and limits over orders of magnitude; every fourth without a jerk limit."""
    rng = np.random.default_rng(seed)
    for k in range(count):
        start, goal = rng.uniform(-2, 2, (2, 7)) * 10 ** rng.uniform(-3, 0, 7)
        speeds, accelerations = 10 ** rng.uniform(-1, 1, 7), 10 ** rng.uniform(-1, 1.5, 7)
        jerks = np.full(7, np.inf) if k % 4 == 0 else 10 ** rng.uniform(-1, 2.5, 7)
        yield start, goal, speeds, accelerations, jerks


def test_durations_are_those_of_ruckig():
    ruckig = pytest.importorskip(
        "ruckig", reason="ruckig is not installed: the peer for durations is missing"
    )
    for start, goal, speeds, accelerations, jerks in cases(200):
        asked = ruckig.InputParameter(7)
        asked.current_position, asked.target_position = list(start), list(goal)
        asked.max_velocity, asked.max_acceleration = list(speeds), list(accelerations)
        asked.max_jerk = list(jerks)
        found = ruckig.Trajectory(7)
        ruckig.Ruckig(7).calculate(asked, found)
        ours = fa.point_to_point(IIWA, start, goal, speeds=speeds, accelerations=accelerations, jerks=jerks)
        assert abs(ours.duration / found.duration - 1) < 1e-9


def test_speeds_and_accelerations_keep_their_limits_and_are_derivatives():
    for start, goal, speeds, accelerations, jerks in cases(40, seed=1):
        motion = fa.point_to_point(IIWA, start, goal, speeds=speeds, accelerations=accelerations, jerks=jerks)
        samples = motion.sample(801)
        assert np.max(np.abs(samples.qd) / speeds) < 1 + 1e-12
        assert np.max(np.abs(samples.qdd) / accelerations) < 1 + 1e-12
        assert_close(samples.q[[0, -1]], [start, goal])
        assert_close(samples.qd[[0, -1]], np.zeros((2, 7)), scale=1.0)
        step = 1e-6 * motion.duration
        t = np.random.default_rng(0).uniform(0.001, 0.999, 200) * motion.duration
        before, here, after = (motion.sample(t + h) for h in (-step, 0, step))
        wrong = np.abs((after.q - before.q) / (2 * step) - here.qd) / motion.peaks[0]
        assert np.quantile(wrong, 0.99) < 1e-6  # but for the corners of trapezoids
        wrong = np.abs((after.qd - before.qd) / (2 * step) - here.qdd) / motion.peaks[1]
        assert np.quantile(wrong, 0.97) < 1e-5


def test_the_slowest_joint_uses_one_of_its_limits_up():
    for start, goal, speeds, accelerations, jerks in cases(40, seed=2):
        motion = fa.point_to_point(IIWA, start, goal, speeds=speeds, accelerations=accelerations, jerks=jerks)
        limits = (speeds, accelerations, jerks)
        used = [
            peak / limit
            for peak, limit in zip(motion.peaks, limits, strict=True)
            if np.all(np.isfinite(limit))
        ]
        assert np.max(used) > 1 - 1e-9
        assert np.max(used) < 1 + 1e-9


def test_a_straight_motion_is_straight_in_joint_space():
    start, goal = np.array([0, -1.5, 1.5, 0, 0, 0]), np.array([1, -1, 1, 0, 0, 0.5])
    motion = fa.point_to_point(UR, start, goal, accelerations=[4, 1, 4, 4, 4, 4], jerks=30, straight=True)
    way = (motion.sample(301).q - start) @ (goal - start) / np.sum((goal - start) ** 2)
    assert_close(motion.sample(301).q, start + way[:, None] * (goal - start))
    assert (
        motion.duration
        >= fa.point_to_point(UR, start, goal, accelerations=[4, 1, 4, 4, 4, 4], jerks=30).duration
    )


@pytest.mark.parametrize("jerks", [None, 40.0])
def test_profiles_can_be_traced(jerks):
    motion = fa.point_to_point(
        UR, [0, -1.5, 1.5, 0, 0, 0], [1, -1, 1, 0, 0, 0.5], accelerations=4, jerks=jerks
    )
    graph = trace(lambda t: dict(zip(("q", "qd", "qdd"), motion(t), strict=True)), {"t": ()}, name="motion")
    for t in (-0.3, 0.01, 0.2, 0.6, 0.9, motion.duration - 0.01, 2.5):
        found = interpret(graph, {"t": t})
        for got, want in zip((found["q"], found["qd"], found["qdd"]), motion(t), strict=True):
            assert_close(got, want, scale=10.0)


POINTS = np.array(
    [[0, -1.5, 1.5, 0, 0, 0], [0.5, -1, 1, 0, 0, 0], [1, -1.2, 1.2, 0, 0.3, 0], [0.3, -0.5, 1, 0.2, 0.1, 0.4]]
)


@pytest.mark.parametrize("rest", [{}, {"jerks": 20.0}, {"blend": 0.2}])
def test_through_points_within_limits(rest):
    motion = fa.via_points(UR, POINTS, speeds=1.5, accelerations=4.0, **rest)
    samples = motion.sample(4001)
    assert np.max(np.abs(samples.qd)) <= 1.5 * (1 + 1e-9)
    assert np.max(np.abs(samples.qdd)) <= 4.0 * (1 + 1e-9)
    assert_close(samples.q[[0, -1]], POINTS[[0, -1]])
    t = np.linspace(0.01, 0.99, 300) * motion.duration
    before, here, after = (motion.sample(t + h) for h in (-1e-6, 0, 1e-6))
    assert np.max(np.abs((after.q - before.q) / 2e-6 - here.qd)) < 1e-7
    assert np.quantile(np.abs((after.qd - before.qd) / 2e-6 - here.qdd), 0.98) < 1e-6
    near = np.min(np.linalg.norm(samples.q[:, None] - POINTS[1:-1], axis=2), axis=0)
    assert np.all(near < 2e-3) == ("blend" not in rest)


def test_a_spline_uses_a_limit_up_and_its_peaks_are_exact():
    motion = fa.via_points(UR, POINTS, accelerations=4.0, jerks=20.0)
    speed, acceleration, jerk = spline_peaks(motion)
    samples = motion.sample(20001)
    assert np.max(np.abs(np.max(np.abs(samples.qd), axis=0) - speed)) < 1e-6
    assert np.max(np.abs(np.max(np.abs(samples.qdd), axis=0) - acceleration)) < 5e-3  # not quite at the ends
    assert max(np.max(acceleration) / 4.0, np.max(jerk) / 20.0) == pytest.approx(1.0, abs=1e-9)


def test_joined_motions_follow_each_other():
    there = fa.point_to_point(UR, POINTS[0], POINTS[1], accelerations=4)
    back = fa.point_to_point(UR, POINTS[1], POINTS[0], accelerations=4)
    both = Joined((there, back))
    assert both.duration == there.duration + back.duration
    assert_close(both(there.duration + 0.1)[0], back(0.1)[0])
    assert_close(both.sample(101).q[[0, 50, 100]], [POINTS[0], POINTS[1], POINTS[0]])
    with pytest.raises(fa.StateFault, match=r"motion 1 begins .* from where motion 0 ends"):
        Joined((there, there))


ZERO, ONE = [0.0] * 6, [1.0] * 6


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: fa.point_to_point(UR, ZERO, ONE), r"no limit in accelerations for joints .* give accelerations="),
        (lambda: fa.point_to_point(UR, ZERO, ONE, accelerations=0.0), r"limit in accelerations of joint .* is 0; give a positive"),
        (lambda: fa.point_to_point(UR, ZERO, ONE, accelerations=1, speeds=[1, 1, -2, 1, 1, 1]), r"limit in speeds of joint 'elbow_joint' is -2"),
        (lambda: fa.point_to_point(UR, ZERO, ZERO, accelerations=1), r"start and goal are the same"),
        (lambda: fa.point_to_point(UR, ZERO, [7.0] * 6, accelerations=1), r"the goal has joint 'shoulder_pan_joint' at 7 rad, outside its limits"),
        (lambda: fa.point_to_point(UR, ZERO, [np.nan] * 6, accelerations=1), r"goal has entries that are not finite"),
        (lambda: fa.point_to_point(fa.load("puma560"), ZERO, [0.5] * 6, accelerations=1), r"no limit in speeds .* has none of its own\); give speeds="),
        (lambda: fa.via_points(UR, [ZERO, ONE, ONE], accelerations=1), r"points 1 and 2 \(from 0\) are the same; leave one out"),
        (lambda: fa.via_points(UR, [ZERO], accelerations=1), r"points have shape \(1, 6\); give \(K, 6\), K ≥ 2"),
        (lambda: fa.via_points(UR, [ZERO, ONE], accelerations=1, blend=0.8), r"blend is 0.8; give a share"),
        (lambda: fa.via_points(UR, [ZERO, ONE], accelerations=1, blend=0.2, jerks=3), r"jerks and blend were both given"),
        (lambda: fa.via_points(UR, [ZERO, [9.0] * 6], accelerations=1), r"point 1 \(from 0\) has joint 'shoulder_pan_joint' at 9 rad"),
    ],
)  # fmt: skip
def test_refusals(make, message):
    with pytest.raises(fa.StateFault, match=message):
        make()


@pytest.mark.parametrize(("points", "blend"), [((0.0, 1.0, 0.3), 1e-4), ((0.0, 1.0, 1.0001, 0.0), 0.3)])
def test_a_sharp_corner_keeps_the_limits_of_acceleration(points, blend):
    """It was looked for among a few hundred places: a corner between two of them was taken at hundreds of times it."""
    turned = np.where(np.arange(6) < 3, np.array(points)[:, None], 0.5 * np.array(points)[::-1, None] ** 2)
    motion = fa.via_points(UR, turned, accelerations=5, blend=blend)
    profile = motion.profile
    for corner in np.cumsum(motion.path.lengths)[:-1]:
        u = np.linspace(0.0, motion.duration, 100_001)
        near = np.interp(corner, profile.rows(u)[0][:, 0], u) + np.linspace(-1, 1, 100_001) * 1e-2
        assert np.abs(motion.rows(near)[2]).max() <= 5 * (1 + 1e-9)


@pytest.mark.parametrize("motion", [partial(fa.fastest, grid=6), partial(fa.via_points, accelerations=5)])
def test_a_spline_leaves_no_limit_between_the_places_that_were_looked_at(motion):
    links = (UR.links[0].replace(limits=(-1.0, 1.0)), *UR.links[1:])
    arm, points = UR.replace(links=links), np.zeros((4, 6))
    points[1:, 0], points[1:, 1] = (0.9999, 0.9999, 0.5), (3.0, 2.9, -3.0)
    with pytest.raises(fa.StateFault, match=r"'shoulder_pan_joint' at 1\.\d+ rad, outside its limits"):
        motion(arm, points)


def test_joints_that_brake_from_the_middle_on_begin_to_do_so_at_one_instant():
    """Sums of their phases differed in the last digit: one still sped up where the others braked already."""
    rng = np.random.default_rng(0)
    for _ in range(40):
        a, b = rng.uniform(-1.5, 1.5, (2, 6))
        motion = fa.point_to_point(UR, a, b, accelerations=2, speeds=100)
        middle = motion.duration / 2
        times = middle + np.arange(-4, 5) * np.spacing(middle)
        ahead = motion.rows(times)[2] * np.sign(b - a)
        assert np.all(np.sign(ahead) == np.where(times < middle, 1.0, -1.0)[:, None])
