# ruff: noqa: E501  (one refusal per line reads as a table)
"""The fastest motion along a path: TOPP-RA's durations, limits kept everywhere, friction, batches, refusals."""

import numpy as np
import pytest

import forearm as fa
from close import assert_close
from forearm.motion.motions import MotionFormula, Quintic, ViaPoints, where
from forearm.motion.profiles.joint_limits import joint_limit
from forearm.motion.time_optimal.reachability import Lines, fastest_profiles
from forearm.motion.time_optimal.splines import spline_pieces

GRID = np.linspace(0.0, 1.0, 201)


def unlimited(name):
    """An arm whose joints may go anywhere: random splines overshoot."""
    arm = fa.load(name)
    return arm.replace(links=tuple(link.replace(limits=None) for link in arm.links))


def random_path(arm, seed, knots=5, size=1.6):
    points = np.random.default_rng(seed).uniform(-size, size, (knots, arm.n))
    return ViaPoints(np.linspace(0.0, 1.0, knots), points, at_rest=False)


def limits_of(arm, path, share):
    """Speeds of the arm, and a share of its torques that still holds it."""
    speeds, torques = (joint_limit(arm, "test", name, None) for name in ("speeds", "torques"))
    hold = np.max(np.abs(fa.gravity_torque(arm, path.sample(301).q)), axis=0)
    return speeds, np.maximum(share * torques, 1.3 * hold)


def toppra_duration(arm, path, speeds, torques):
    """TOPP-RA on the same spline, grid and limits, each kept at both ends of an interval."""
    toppra = pytest.importorskip(
        "toppra", reason="toppra is not installed: the peer for fastest motions is missing"
    )
    from toppra import algorithm, constraint

    def both(values):
        return np.stack([-values, values], axis=1)

    def torque(q, qd, qdd):
        return fa.inverse_dynamics(arm, q, qd, qdd)

    kept = [
        constraint.JointVelocityConstraint(both(speeds)),
        constraint.JointTorqueConstraint(
            torque,
            both(torques),
            np.zeros(arm.n),
            discretization_scheme=constraint.DiscretizationType.Interpolation,
        ),
    ]
    spline = toppra.SplineInterpolator(path.times, path.points)
    found = algorithm.TOPPRA(kept, spline, gridpoints=GRID, solver_wrapper="seidel").compute_parameterization(
        0, 0
    )
    speed = np.asarray(found[1])
    return float(np.sum(2 * np.diff(GRID) / (speed[1:] + speed[:-1])))


def excess(arm, motion, speeds, torques):
    """The largest share of a limit that any sample passes."""
    samples = motion.sample(4001)
    tau = fa.inverse_dynamics(arm, *samples[1:])
    return max(np.max(np.abs(tau) / torques), np.max(np.abs(samples.qd) / speeds)) - 1


@pytest.mark.parametrize("name", ["iiwa14", "ur10e"])
@pytest.mark.parametrize("share", [1.0, 0.5])
def test_durations_are_those_of_toppra_and_limits_are_kept(name, share):
    arm = unlimited(name).without_drives()
    for seed in range(10):
        path = random_path(arm, seed)
        speeds, torques = limits_of(arm, path, share)
        motion = fa.fastest(arm, path, speeds=speeds, torques=torques, grid=GRID)
        assert abs(motion.duration / toppra_duration(arm, path, speeds, torques) - 1) < 1e-3
        assert excess(arm, motion, speeds, torques) < 1e-3
        assert motion.excess < 1e-3


def test_speeds_are_kept_between_the_points_that_are_looked_at():
    """Torques so large that path speeds change a lot within an interval: 0.5 % too fast, and said to be 0.05 %."""
    arm, speeds = fa.load("iiwa14"), np.array([0.41, 1.61, 0.87, 1.09, 1.01, 0.57, 0.28])
    path = [
        [0.06, 1.15, 0.05, -1.0, -1.02, 0.23, 0.56],
        [0.31, 0.58, -0.49, -0.31, -0.56, -0.31, -0.56],
        [0.8, -0.85, -0.7, 0.51, -0.24, -0.38, 1.14],
        [0.95, -0.67, -0.83, -0.02, 0.18, -0.37, 0.22],
        [0.43, 0.76, -0.62, 0.35, -1.06, -1.04, -1.07],
    ]
    motion = fa.fastest(arm, path, speeds=speeds, ease=0.05)
    most = np.max(np.abs(motion.sample(40001).qd) / speeds) - 1
    assert most < 1e-3
    assert motion.excess == pytest.approx(most, abs=1e-4)


@pytest.mark.parametrize("payload", [0.0, 2.5])
def test_friction_payload_and_gravity_count(payload):
    arm = unlimited("puma560").with_payload(payload, frame="tool")
    torques, speeds = np.array([97.6, 186.4, 89.4, 24.2, 20.1, 21.3]), np.array([8, 10, 10, 5, 5, 5.0])
    for seed in range(6):
        points = np.random.default_rng(seed).uniform(-1.2, 1.2, (5, 6))
        motion = fa.fastest(arm, points, torques=torques, speeds=speeds)
        assert excess(arm, motion, speeds, torques) < 1e-3
        assert np.mean([name != "" for name in motion.binding]) > 0.95  # something binds nearly everywhere
        without = fa.fastest(arm.without_drives(), points, torques=torques, speeds=speeds)
        assert motion.duration > without.duration


def test_one_joint_is_bang_bang():
    """A prismatic mass without gravity: full force, then full force back; the closed form."""
    link = fa.Link("prismatic", mass=2.0, name="slide")
    arm = fa.Arm("slide", [link], gravity=(0, 0, 0))
    motion = fa.fastest(arm, [[0.0], [1.0]], torques=8.0)
    assert motion.duration == pytest.approx(2 * np.sqrt(1.0 / 4.0), rel=1e-6)
    assert set(motion.binding) == {"torque of 'slide'"}
    limited = fa.fastest(arm, [[0.0], [1.0]], torques=8.0, speeds=1.0)
    assert limited.duration == pytest.approx(1.0 + 0.25, rel=1e-3)
    eased = fa.fastest(arm, [[0.0], [1.0]], torques=8.0, ease=0.1)
    samples = eased.sample(4001)
    assert np.max(np.abs(samples.qdd)) < 4.0 * (1 + 1e-9)
    assert np.max(np.abs(samples.qdd[[0, -1]])) < 0.1
    assert motion.duration < eased.duration < 1.4 * motion.duration


def test_no_faster_profile_is_within_limits_on_the_grid():
    """Raising ṡ² anywhere by a thousandth leaves the set that can end well, or asks for more than is allowed."""
    arm = unlimited("iiwa14").without_drives()
    path = random_path(arm, 3)
    speeds, torques = limits_of(arm, path, 0.5)
    motion = fa.fastest(arm, path, speeds=speeds, torques=torques)
    faster = motion.faster(1.002)
    assert excess(arm, faster, speeds, torques) > 1e-3


def test_a_motion_is_taken_as_a_path_and_a_fastest_one_is_its_own():
    arm = fa.load("iiwa14")
    goal = np.array([1, 0.5, 0, -1, 0, 0.3, 0])
    slow = Quintic(np.zeros(7), goal, 5.0)
    motion, direct = fa.fastest(arm, slow), fa.fastest(arm, [np.zeros(7), goal])
    assert motion.duration == pytest.approx(direct.duration, rel=1e-3)
    again = fa.fastest(arm, motion)
    assert again.duration == pytest.approx(motion.duration, rel=1e-9)
    assert_close(motion(0.0)[0], np.zeros(7), scale=1.0)
    assert_close(motion(motion.duration)[0], goal)
    assert_close(motion(9.0)[1], np.zeros(7), scale=1.0)


def test_many_paths_are_the_paths_one_by_one():
    arm = unlimited("ur10e")
    points = np.random.default_rng(0).uniform(-1.5, 1.5, (11, 4, 6))
    many = fa.fastest(arm, points)
    assert len(many) == 11
    for motion, own in zip(many, points, strict=True):
        alone = fa.fastest(arm, own)
        assert motion.duration == pytest.approx(alone.duration, rel=2e-3)
        assert_close(motion(motion.duration)[0], own[-1])
    mixed = fa.fastest(arm, [Quintic(points[0, 0], points[0, 1], 1.0), ViaPoints([0, 1, 2], points[1, :3])])
    assert [type(motion).__name__ for motion in mixed] == ["TimeOptimal", "TimeOptimal"]


def test_samples_are_derivatives_and_the_phase_plane_bounds_the_motion():
    arm = unlimited("iiwa14")
    motion = fa.fastest(arm, random_path(arm, 1), accelerations=20.0)
    t = np.random.default_rng(0).uniform(0.01, 0.99, 200) * motion.duration
    before, here, after = (motion.sample(t + h) for h in (-1e-7, 0, 1e-7))
    assert np.max(np.abs((after.q - before.q) / 2e-7 - here.qd)) < 1e-5
    assert np.quantile(np.abs((after.qd - before.qd) / 2e-7 - here.qdd), 0.98) < 1e-4 * np.max(
        np.abs(here.qdd)
    )
    plane = motion.phase_plane
    for curve in (plane.speed_limit, plane.velocity_curve, plane.controllable):
        assert np.all(plane.speed <= curve * (1 + 1e-3) + 1e-9)


def test_machine_code_and_numpy_agree():
    rng = np.random.default_rng(0)
    a = rng.normal(size=(4, 1, 12)) * np.cos(np.linspace(0, 6, 50))[None, :, None] + rng.normal(
        size=(4, 1, 12)
    )
    b = rng.normal(size=(4, 50, 12)).cumsum(1) * 0.1
    edges = np.sort([1 / a, -1 / a], axis=0)
    lines = Lines((edges[1], -b / a), (edges[0], -b / a), np.full((4, 51), 1e3))
    fast, plain = (fastest_profiles(lines, np.full((4, 50), 0.02), compiled) for compiled in (True, False))
    assert np.all(fast.empty == -1)
    assert_close(fast.x, plain.x, eps=1e4, because="Newton's last step")
    assert_close(fast.sets, plain.sets, eps=1e4, because="Newton's last step")
    narrow = Lines((edges[1] - 5.0, -b / a), (edges[0] + 5.0, -b / a), lines.most)  # nothing left between
    ends = [fastest_profiles(narrow, np.full((4, 50), 0.02), compiled).empty for compiled in (True, False)]
    assert np.all(ends[0] >= 0)
    np.testing.assert_array_equal(*ends)


@pytest.mark.parametrize("knots", [2, 3, 4, 9])
def test_splines_side_by_side_are_those_of_scipy(knots):
    from scipy.interpolate import CubicSpline

    rng = np.random.default_rng(knots)
    times = np.cumsum(rng.uniform(0.2, 1.0, (3, knots)), axis=1)
    points = rng.normal(size=(3, knots, 4))
    for t, q, c in zip(times, points, spline_pieces(times, points), strict=True):
        assert_close(c, CubicSpline(t, q).c, eps=1e4, because="another elimination")


class Kink(MotionFormula):
    """Straight on, then round a corner."""

    duration = 2.0

    def __call__(self, t):
        a, b = np.full(7, 0.3), np.array([0.3, -0.3, 0.3, 0, 0, 0, 0.1])
        return where(t - 1, a + b * (t - 1), a * t), where(t - 1, b + 0 * t, a + 0 * t), 0 * t * a


IIWA = fa.load("iiwa14")
ZERO = [0.0] * 7


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: fa.fastest(IIWA, [ZERO]), r"path has shape \(1, 7\); give waypoints \(K, 7\) with K ≥ 2"),
        (lambda: fa.fastest(IIWA, [ZERO, ZERO]), r"all waypoints are the same"),
        (lambda: fa.fastest(IIWA, [ZERO, [0.1] * 7, [0.1] * 7]), r"waypoints 1 and 2 \(from 0\) are the same; leave one out"),
        (lambda: fa.fastest(IIWA, [ZERO, [3.0] * 7]), r"waypoint 1 has joint 'iiwa_joint_1' at 3 rad, outside its limits"),
        (lambda: fa.fastest(IIWA, [ZERO, [0.5] * 7], speeds=0), r"limit in speeds of joint 'iiwa_joint_1' is 0"),
        (lambda: fa.fastest(IIWA, Kink()), r"has a kink at t = 1 s, where it turns by 77°"),
        (lambda: fa.fastest(IIWA.with_payload(40, frame="tool"), [ZERO, [0, 1.5, 0, 0, 0, 0, 0]]), r"joint 'iiwa_joint_2' needs 450.7 N m to hold still, and has 320"),
        (lambda: fa.fastest(fa.load("puma560"), [[0.0] * 6, [0.5] * 6]), r"has no torque limits, and none were given; give torques= or accelerations="),
        (lambda: fa.fastest(IIWA, [ZERO, [0.5] * 7], grid=1), r"grid is 1; give a number of intervals"),
        (lambda: fa.fastest(IIWA, [ZERO, [0.5] * 7], grid=[0, 0.5, 7]), r"grid goes from 0 to 7, but the path from 0 to"),
        (lambda: fa.fastest(IIWA, [ZERO, [0.5] * 7], ease=0.9), r"ease is 0.9; give a share"),
        (lambda: fa.fastest(IIWA, Quintic([0.0] * 6, [1.0] * 6, 1.0)), r"the motion has 6 joints, arm 'iiwa14' has 7"),
        (lambda: fa.fastest(IIWA, ViaPoints([0, 1], [ZERO, ZERO])), r"the motion stays where it is"),
    ],
)  # fmt: skip
def test_refusals(make, message):
    with pytest.raises(fa.StateFault, match=message):
        make()


def test_a_fastest_motion_is_not_compiled_and_says_so():
    motion = fa.fastest(IIWA, [ZERO, [0.5] * 7])
    with pytest.raises(fa.TraceFault, match=r"looked up in Python; give control_dt="):
        motion(object())


@pytest.mark.parametrize("blend", [5e-3, 1e-4])
def test_corners_between_points_of_the_grid_keep_the_limits(blend):
    """Torques were hundreds of times their limits there, beside an excess of 0, and `feasible` did not see it."""
    arm = fa.load("ur5e").without_drives()
    points = [[0.0, -1.5, 1.5, 0, 0, 0], [0.6, -1.0, 1.0, 0, 0, 0], [0.2, -1.4, 1.3, 0.5, 0, 0]]
    rounded = fa.via_points(arm, points, accelerations=1, blend=blend)
    motion = fa.fastest(arm, rounded)
    begin, end = np.interp(motion.path.breaks[1:3], motion.s, motion.times)  # both are points of the grid
    assert np.isclose(motion.breaks[:, None], [begin, end], rtol=1e-12).any(axis=0).all()
    for times in (np.linspace(0.0, motion.duration, 2001), np.linspace(begin, end, 500)):
        tau = fa.inverse_dynamics(arm, *motion.rows(times))
        assert np.all(np.abs(tau) <= 1.001 * np.array([link.effort_limit for link in arm.links]))
    assert fa.feasible(arm, motion)
    assert fa.speed_up(arm, motion).factor == pytest.approx(1.0, abs=1e-3)
    if blend > 1e-3:
        with pytest.raises(fa.StateFault, match=r"bends too sharply for 200 intervals.*grid="):
            fa.fastest(arm, rounded, grid=np.linspace(0.0, rounded.path.duration, 201))


def test_a_sharp_corner_is_seen_by_feasible():
    """It lies between two of the times that a motion is looked at."""
    arm, start = fa.load("ur5e"), [0.3, -1.2, 1.4, -1.8, -1.57, 0.0]
    here = fa.pose(arm, start)[:3, 3]
    motion = fa.tool_path(
        arm, start, [here + [0, 0.2, 0], here + [0, 0.2, 0.1]], speed=0.5, acceleration=2e4, blend=1e-5
    )
    report = fa.feasible(arm, motion)
    assert not report
    assert report.worst.what == "torque"


RUBBING = fa.load("rr").replace(
    links=tuple(link.replace(drive=fa.Drive(viscous=0.5, coulomb=2.0)) for link in fa.load("rr").links)
)
BETWEEN = {
    "knots": ([[0.1, -0.3], [-0.1, -0.5], [0.6, -0.2], [0.9, -0.5]], {}, {"grid": 10, "accelerations": 4.0}),
    "corners": ([[0.0, 0.1], [-0.6, -0.2], [-0.5, 0.2], [-1.0, -0.2]], {"blend": 0.3}, {"grid": 20}),
    "turns": ([[0.6, 0.6], [1.0, -0.1], [0.3, -0.4], [0.9, 0.3]], None, {"grid": 5}),
}


@pytest.mark.parametrize("name", BETWEEN)
def test_limits_were_passed_in_silence_between_the_places_that_were_looked_at(name):
    """Accelerations of twice their limit beside an excess of nothing; elsewhere it was sixteen times."""
    path, shape, options = BETWEEN[name]
    if shape is not None:
        path = fa.via_points(RUBBING, path, speeds=2, accelerations=5, **shape)
    motion = fa.fastest(RUBBING, path, torques=[41, 14], speeds=3.0, **options)
    q, qd, qdd = motion.rows(np.union1d(np.linspace(0.0, motion.duration, 20_001), motion.breaks))
    limits = motion.limits
    sizes = (
        (fa.inverse_dynamics(RUBBING, q, qd, qdd), limits.torques),
        (qd, limits.speeds),
        (qdd, limits.accelerations),
    )
    worst = max(np.max(np.abs(values) / most) for values, most in sizes) - 1
    assert worst <= 1e-3
    assert worst <= motion.excess + 1e-3


def test_a_path_with_more_knots_than_the_grid_can_follow_is_refused():
    way = [[-0.7, -0.4], [-0.2, -0.3], [-0.8, -0.4], [-0.9, -0.9]]
    path = fa.via_points(RUBBING, way, speeds=2, accelerations=5)
    assert fa.fastest(RUBBING, path, torques=[41, 14], speeds=3.0, accelerations=4.0).excess < 1e-3
    with pytest.raises(fa.StateFault, match=r"bends too sharply for 10 intervals"):
        fa.fastest(RUBBING, path, torques=[41, 14], speeds=3.0, accelerations=4.0, grid=10)


def test_a_path_of_many_short_pieces_passed_a_limit_inside_one_of_them():
    """By four percent, between two points of the grid and beside an excess of 0.05 %."""
    way = [[0.22, -0.15], [0.0, -0.05], [0.13, -0.25], [0.07, 0.0], [0.1, 0.04]]
    arm, most = RUBBING.without_drives(), np.array([1.5, 8.0])
    path = fa.via_points(arm, way, speeds=2, accelerations=5)
    motion = fa.fastest(arm, path, torques=500.0, speeds=1000.0, accelerations=most, ease=0.2)
    _, _, qdd = motion.rows(np.linspace(0.0, motion.duration, 40_001))
    assert np.max(np.abs(qdd) / most) - 1 <= 1e-3
