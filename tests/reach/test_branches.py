"""All solutions: as many as an independent search finds, from geometry that nobody declared."""

import math

import numpy as np
import pytest

import forearm as fa
from forearm.reach.programs import programs_of
from forearm.reach.subproblems import angle, apart, level, onto, turned, two_turns


def without_limits(arm):
    return arm.replace(links=[link.replace(limits=None) if link.revolute else link for link in arm.links])


def searched(arm, pose, starts=300, steps=30):
    """Distinct solutions by plain Newton steps from many random starts, with nothing of the solver's."""
    rng = np.random.default_rng(1)
    span = np.array([np.pi if link.revolute else 1.2 for link in arm.links])
    q = rng.uniform(-span, span, (starts, arm.n))
    for _ in range(steps):
        T = fa.pose(arm, q)
        D = pose[:3, :3] @ np.swapaxes(T[:, :3, :3], 1, 2)
        turn = 0.5 * np.stack(
            [D[:, 2, 1] - D[:, 1, 2], D[:, 0, 2] - D[:, 2, 0], D[:, 1, 0] - D[:, 0, 1]], axis=-1
        )
        e = np.concatenate([pose[:3, 3] - T[:, :3, 3], turn], axis=-1)
        J = fa.jacobian(arm, q)
        Jt = np.swapaxes(J, 1, 2)
        mu = 1e-3 * np.sum(e * e, axis=-1)[:, None, None] + 1e-13
        dq = (Jt @ np.linalg.solve(J @ Jt + mu * np.eye(6), e[..., None]))[..., 0]
        q = q + np.clip(dq, -0.7, 0.7)
    good = np.abs(fa.pose(arm, q) - pose).max(axis=(1, 2)) < 1e-8
    kept = []
    for x in q[good]:
        turning = np.array([link.revolute for link in arm.links])
        x = np.where(turning, (x + np.pi) % (2 * np.pi) - np.pi, x)
        if not any(same(x, y) for y in kept):
            kept.append(x)
    return kept


def same(x, y):
    off = x - y
    return np.abs(off - 2 * np.pi * np.round(off / (2 * np.pi))).max() < 1e-5


@pytest.mark.parametrize("name", ["puma560", "ur10e", pytest.param("stanford", marks=pytest.mark.more)])
def test_as_many_solutions_as_an_independent_search_finds(name):
    """Within the limits; the Stanford arm's sliding joint goes one way only."""
    arm = fa.load(name)
    poses = fa.pose(arm, arm.random_state(9, (2,))[0])
    found = fa.inverse_kinematics(arm, poses, every=True)
    assert found.error[found.solved].max() < 1e-12
    for pose, q, solved in zip(poses, found.q, found.solved, strict=True):
        others = [x for x in searched(arm, pose) if _folds(arm, x)]
        assert len(others) == solved.sum()
        for x in others:
            assert any(same(x, y) for y in q[solved])


@pytest.mark.more
@pytest.mark.parametrize("name", ["puma560", "ur10e", "stanford"])
def test_all_eight_branches_without_limits(name):
    arm = without_limits(fa.load(name))
    poses = fa.pose(arm, fa.load(name).random_state(3, (6,))[0])
    found = fa.inverse_kinematics(arm, poses, every=True)
    low, high = arm.links[2].limits or (-np.inf, np.inf)
    counts = []
    for pose, solved in zip(poses, found.solved, strict=True):
        others = [x for x in searched(arm, pose, starts=800, steps=50) if low <= x[2] <= high]
        counts.append(len(others))
        assert len(others) == solved.sum()
    assert max(counts) == (4 if name == "stanford" else 8)


def _folds(arm, x):
    """Whether some whole turns bring joint values within the limits."""
    for link, value in zip(arm.links, x, strict=True):
        low, high = link.limits or (-np.inf, np.inf)
        turns = (-1, 0, 1) if link.revolute else (0,)
        if not any(low <= value + 2 * np.pi * k <= high for k in turns):
            return False
    return True


@pytest.mark.parametrize("name", ["puma560", "ur10e"])
def test_every_branch_of_many_poses_is_right_and_distinct(name):
    arm = fa.load(name)
    q = arm.random_state(6, (300,))[0]
    poses = fa.pose(arm, q)
    found = fa.inverse_kinematics(arm, poses, every=True)
    low, high = np.array([link.limits for link in arm.links]).T
    for pose, branches, solved, own in zip(poses, found.q, found.solved, q, strict=True):
        assert np.isnan(branches[~solved]).all()
        x = branches[solved]
        assert np.abs(fa.pose(arm, x) - pose).max() < 1e-10
        assert np.all((x >= low - 1e-12) & (x <= high + 1e-12))
        assert any(same(own, y) for y in x)
        assert not any(same(x[i], x[j]) for i in range(len(x)) for j in range(i))


def test_an_arm_without_closed_form_is_searched_for_all():
    """A planar pair has two ways to a point, a SCARA two to a pose, within its limits."""
    arm = fa.load("rr")
    points = fa.pose(arm, arm.random_state(1, (10,))[0])[:, :3, 3]
    found = fa.inverse_kinematics(arm, points, every=True)
    assert np.array_equal(found.solved.sum(axis=-1), np.full(10, 2))
    assert np.abs(fa.pose(arm, found.q)[..., :3, 3] - points[:, None]).max() < 1e-9
    scara = fa.load("cobra600")
    poses = fa.pose(scara, scara.random_state(1, (10,))[0])
    every = fa.inverse_kinematics(scara, poses, every=True)
    assert set(every.solved.sum(axis=-1)) <= {1, 2}


def test_where_there_is_no_solution_the_first_row_is_the_nearest():
    arm = fa.load("puma560")
    found = fa.inverse_kinematics(
        arm, [fa.Pose.at((3.0, 0, 0)), fa.Pose.at((0.4, 0.2, 0.3), (0, 1.57, 0))], every=True
    )
    assert found.status.tolist() == ["out of reach", "solved"]
    assert not found.solved[0].any()
    assert np.isfinite(found.q[0, 0]).all()
    assert found.error[0, 0, 0] > 1.5
    assert found.solved[1].any()


# -- found from the geometry --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["puma560", "stanford", "ur3e", "ur5e", "ur10e"])
def test_the_geometry_is_recognised(name):
    assert programs_of(fa.load(name), "tool", "pose").closed


@pytest.mark.parametrize("name", ["panda", "rr", "cobra600", "xarm7"])
def test_other_geometry_is_not(name):
    assert not programs_of(fa.load(name), "tool", "pose").closed


@pytest.mark.more
def test_frames_may_be_anywhere_along_the_axes(tmp_path):
    """The same arm by way of URDF, whose frames sit elsewhere, one joint turning the other way."""
    arm = fa.load("puma560")
    path = fa.write_urdf(arm.without_drives(), tmp_path / "puma.urdf", lossy=True) or tmp_path / "puma.urdf"
    other = fa.load(path, keep_defects=True)
    links = list(other.links)
    links[4] = links[4].replace(flip=True, offset=0.2, limits=(-2.0, 2.0))
    other = other.replace(links=links)
    assert programs_of(other, "tool", "pose").closed
    q = other.random_state(3, (50,))[0]
    poses = fa.pose(other, q)
    found = fa.inverse_kinematics(other, poses, q0=q)
    assert found.solved.all()
    assert np.abs(found.q - q).max() < 1e-6


@pytest.mark.more
def test_a_calibrated_arm_is_searched_instead():
    """Axes that miss each other by a tenth of a millimetre have no closed form, but solutions."""
    arm = fa.load("ur10e")
    links = [
        link.replace(pose=link.pose @ fa.Pose.at((1e-4, 2e-4, 0), (1e-4, -2e-4, 0))) for link in arm.links
    ]
    real = arm.replace(links=links)
    assert not programs_of(real, "tool", "pose").closed
    q = real.random_state(3, (50,))[0]
    found = fa.inverse_kinematics(real, fa.pose(real, q))
    assert found.solved.all()
    every = fa.inverse_kinematics(real, fa.pose(real, q[:2]), every=True)
    exact = fa.inverse_kinematics(arm, fa.pose(arm, q[:2]), every=True)
    assert np.array_equal(every.solved.sum(axis=-1), exact.solved.sum(axis=-1))


# -- subproblems --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ur10e", pytest.param("puma560", marks=pytest.mark.soak)])
def test_limits_and_places_to_be_near_to_may_be_many_turns_away(name):
    """Branches beyond a turn of the limits were left out, and of far places not the nearest solution was taken."""
    given = fa.load(name)
    middles, far = np.array([10.0, -12, 9, 20, -8, 14]), np.array([13.0, -20, 16, 9, -14, 30])
    shifted = [x.replace(limits=(m - 2.5, m + 2.5)) for x, m in zip(given.links, middles, strict=True)]
    q = middles + np.random.default_rng(0).uniform(-2.4, 2.4, (20, 6))
    poses = fa.pose(given, q)
    found = fa.inverse_kinematics(given.replace(links=shifted), poses, every=True)
    assert all(any(same(x, y) for y in row) for x, row in zip(q, found.q, strict=True))
    free = without_limits(given)
    every, one = (fa.inverse_kinematics(free, poses, q0=far, every=flag) for flag in (True, False))
    assert np.abs(every.q[every.solved] - far).max() <= np.pi + 1e-9
    nearest = np.nanmin(np.linalg.norm(every.q - far, axis=-1), axis=-1)
    assert np.allclose(np.linalg.norm(one.q - far, axis=-1), nearest)


def unit(rng):
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


def test_subproblems_are_solved():
    rng = np.random.default_rng(0)
    for _ in range(50):
        h, k, p = unit(rng), unit(rng), rng.normal(size=3)
        theta = rng.uniform(-np.pi, np.pi)
        turn = math.sin(theta), math.cos(theta)
        v = turned(k, turn, p)
        assert abs(angle(onto(k, p, v)) - theta) < 1e-13
        turns, margin = level(h, k, p, h @ v)
        assert margin > 0
        assert min(abs(angle(t) - theta) for t in turns) < 1e-6
        for t in turns:
            assert abs(h @ turned(k, t, p) - h @ v) < 1e-13
        q = rng.normal(size=3)
        for t in apart(k, p, q, np.sum((v - q) ** 2))[0]:
            assert abs(np.linalg.norm(turned(k, t, p) - q) - np.linalg.norm(v - q)) < 1e-12
        w = turned(h, turn, turned(k, turn, p))
        for a, b in two_turns(h, k, p, w)[0]:
            assert np.abs(turned(h, a, turned(k, b, p)) - w).max() < 1e-6


def test_margins_tell_where_nothing_is():
    z, x = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])
    turns, margin = level(x, z, x, 1.5)
    assert margin < 0
    assert all(abs(angle(t)) < 1e-9 for t in turns), "the nearest"


def test_angles_are_those_of_the_library():
    for theta in np.linspace(-np.pi, np.pi, 4001)[1:]:
        s, c = math.sin(theta), math.cos(theta)
        assert abs(angle((s, c)) - math.atan2(s, c)) < 5e-16
    assert angle((0.0, 0.0)) == 0.0
