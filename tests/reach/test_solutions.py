"""Joint values for poses: right by another library's kinematics, within limits, the same in any batch."""

import numpy as np
import pytest

import forearm as fa
from forearm.reach.goals import goals_of
from forearm.reach.programs import programs_of

FEW = ["panda", "puma560", "ur10e", "rr"]


def limits(arm):
    return np.array([link.limits or (-np.inf, np.inf) for link in arm.links]).T


def reachable(arm, count, seed=0, frame="tool"):
    q = arm.random_state(seed, (count,))[0]
    return q, fa.pose(arm, q, frame)


def assert_reached(arm, found, poses, least=1.0, frame="tool"):
    """Every row that is solved reaches its pose within the limits, and so many are."""
    low, high = limits(arm)
    off = np.abs(fa.pose(arm, found.q, frame) - poses).max(axis=(-2, -1))
    assert np.mean(found.solved) >= least, f"{arm.name}: {np.mean(found.solved):.2%}, {set(found.status)}"
    assert off[found.solved].max(initial=0) < 2e-9
    assert np.all((found.q >= low - 1e-12) & (found.q <= high + 1e-12)), arm.name
    assert found.error[found.solved].max(initial=0) <= 1e-9
    assert np.array_equal(found.solved, found.status == "solved")


@pytest.mark.parametrize("name", FEW)
def test_random_poses_are_reached(name):
    arm = fa.load(name)
    _, poses = reachable(arm, 200)
    assert_reached(arm, fa.inverse_kinematics(arm, poses), poses)


@pytest.mark.more
@pytest.mark.parametrize("name", fa.known_arms())
def test_a_thousand_poses_of_every_arm(name):
    arm = fa.load(name)
    _, poses = reachable(arm, 1000, seed=5)
    assert_reached(arm, fa.inverse_kinematics(arm, poses), poses, least=0.999)


@pytest.mark.more
@pytest.mark.parametrize("name", ["panda", "ur10e"])
def test_the_robotics_toolbox_finds_the_tool_where_it_was_wanted(name):
    rtb = pytest.importorskip("roboticstoolbox", reason="the Robotics Toolbox is not installed")
    arm = fa.load(name)
    chain, constant = rtb.ETS(), arm.base.matrix
    for link in arm.links:
        before = fa.Pose.at((0, 0, float(link.d)), (0, 0, float(link.theta))).matrix
        chain = chain * rtb.ET.SE3(constant @ before) * rtb.ET.Rz(qlim=list(link.limits))
        constant = link.pose.matrix
    chain = chain * rtb.ET.SE3(constant @ arm.tool.matrix)
    _, poses = reachable(arm, 40)
    found = fa.inverse_kinematics(arm, poses)
    theirs = np.array([chain.fkine(q).A for q in found.q])
    assert np.abs(theirs - poses).max() < 1e-9
    if name == "ur10e":  # its numerical solutions are among our branches
        every = fa.inverse_kinematics(arm, poses, every=True)
        for T, branches in zip(poses, every.q, strict=True):
            theirs = chain.ik_LM(T, tol=1e-16)
            apart = np.abs((branches - theirs.q + np.pi) % (2 * np.pi) - np.pi).max(axis=-1)
            assert theirs.success
            small = np.linalg.svd(fa.jacobian(arm, theirs.q), compute_uv=False)[-1]
            assert np.nanmin(apart) < 1e-5 / small, "near a singular pose an error of 1e-8 is wide"


@pytest.mark.parametrize("name", ["panda", "ur10e"])
def test_singular_poses_are_reached(name):
    """Stretched elbows, aligned wrists, joints at their limits."""
    arm = fa.load(name)
    low, high = limits(arm)
    rng = np.random.default_rng(3)
    q = np.clip(rng.integers(-2, 3, (60, arm.n)) * np.pi / 2, low, high)
    ends = np.where(rng.integers(0, 2, (20, arm.n)) > 0, np.maximum(low, -3), np.minimum(high, 3))
    poses = fa.pose(arm, np.concatenate([np.clip(np.zeros((1, arm.n)), low, high), q, ends]))
    assert_reached(arm, fa.inverse_kinematics(arm, poses), poses)


@pytest.mark.parametrize("name", ["panda", "puma560"])
def test_the_same_to_the_last_bit_in_any_batch_on_any_threads(name):
    arm = fa.load(name)
    _, poses = reachable(arm, 300)
    poses[::7, 0, 3] += 1.0  # some out of reach
    whole = fa.inverse_kinematics(arm, poses)
    for others in (
        fa.inverse_kinematics(arm, poses, threads=3),
        fa.inverse_kinematics(arm, poses.reshape(3, 100, 4, 4)),
    ):
        assert np.array_equal(others.q.reshape(whole.q.shape), whole.q)
    for k in (0, 1, 7, 133):
        alone = fa.inverse_kinematics(arm, poses[k])
        assert np.array_equal(alone.q, whole.q[k])
        assert (alone.solved, alone.status) == (whole.solved[k], whole.status[k])
        assert type(alone.solved) is bool
    other = fa.inverse_kinematics(arm, poses, seed=1)
    assert name == "puma560" or not np.array_equal(other.q, whole.q)


def test_lanes_of_any_width_find_the_same():
    """One state at a time, or two, or as many as the machine has."""
    from forearm.compiler.call.searches import Search
    from forearm.reach.answers import HASTY

    arm = fa.load("panda")
    _, poses = reachable(arm, 40)
    programs = programs_of(arm, "tool", "pose")
    goals, table = goals_of(poses, None).numbers, programs.table(0)
    want = programs.search(goals, table, HASTY)
    for width in (1, 2):
        narrow = Search(programs.search.graph, programs.search.roles.keys, "narrow", width=width)
        for a, b in zip(narrow(goals, table, HASTY), want, strict=True):
            assert np.array_equal(a, b)


def test_a_start_decides_between_solutions():
    arm = fa.load("puma560")
    q, poses = reachable(arm, 100, seed=4)
    found = fa.inverse_kinematics(arm, poses, q0=q)
    assert np.abs(found.q - q).max() < 1e-6
    panda = fa.load("panda")
    q, poses = reachable(panda, 100, seed=4)
    near = fa.inverse_kinematics(panda, poses, q0=np.clip(q + 0.02, *limits(panda)))
    assert np.median(np.abs(near.q - q).max(axis=-1)) < 0.05


def test_whole_turns_follow_the_start():
    arm = fa.load("ur10e")
    q = np.array([[5.0, -1.0, 1.5, -5.5, 1.2, -4.0], [0.3, -1.0, 1.5, 0.2, 1.2, 4.0]])
    found = fa.inverse_kinematics(arm, fa.pose(arm, q), q0=q)
    assert np.abs(found.q - q).max() < 1e-9


def test_posture_is_approached_without_leaving_the_pose():
    arm = fa.load("panda")
    low, high = limits(arm)
    posture = arm.configuration("ready")
    _, poses = reachable(arm, 60)
    free, drawn = fa.inverse_kinematics(arm, poses), fa.inverse_kinematics(arm, poses, posture=posture)
    assert_reached(arm, drawn, poses)
    far = [np.linalg.norm(x.q - posture, axis=-1) for x in (free, drawn)]
    assert np.mean(far[1]) < np.mean(far[0]) - 0.3
    slopes = []
    for q in drawn.q:  # nothing that the pose leaves free leads nearer
        inside = (q > low + 1e-6) & (q < high - 1e-6)
        J = fa.jacobian(arm, q)[:, inside]
        wish = (posture - q)[inside]
        slopes.append(np.linalg.norm(wish - np.linalg.pinv(J) @ (J @ wish)))
    assert np.mean(np.array(slopes) < 1e-5) > 0.9


LONGER = [pytest.param(only, marks=pytest.mark.more) for only in ("position", "orientation", "pointing")]


@pytest.mark.parametrize("only", [*LONGER, "position and pointing"])
def test_less_than_a_pose(only):
    arm = fa.load("puma560")
    _, poses = reachable(arm, 40, seed=2)
    found = fa.inverse_kinematics(arm, poses, only=only)
    assert found.solved.all()
    off = np.abs(fa.pose(arm, found.q) - poses)
    assert ("position" not in only) or off[:, :3, 3].max() < 1e-9
    assert ("pointing" not in only) or off[:, :3, 2].max() < 1e-9
    assert only != "orientation" or off[:, :3, :3].max() < 1e-9
    triples = {"position": poses[:, :3, 3], "pointing": 2.0 * poses[:, :3, 2]}.get(only)
    if triples is not None:
        assert np.abs(fa.inverse_kinematics(arm, triples, only=only).q - found.q).max() < 1e-6
    if only == "position":
        assert np.array_equal(fa.inverse_kinematics(arm, triples).q, found.q)
        assert not found.error[:, 1].any()


@pytest.mark.more
def test_any_frame():
    arm = fa.load("panda")
    for frame in ("flange", "panda_joint4", 2):
        _, poses = reachable(arm, 20, frame=frame)
        found = fa.inverse_kinematics(arm, poses, frame=frame)
        assert_reached(arm, found, poses, frame=frame)


@pytest.mark.more
def test_a_tilted_base_and_a_tool_change_nothing():
    arm = fa.load("stanford").with_base(fa.Pose.at((0.3, -0.2, 1.0), (0.4, 2.0, -1.0)))
    arm = arm.with_tool(fa.Pose.at((0.05, 0.1, 0.2), (1.0, 0.3, 0.2)))
    _, poses = reachable(arm, 50)
    assert programs_of(arm, "tool", "pose").closed
    assert_reached(arm, fa.inverse_kinematics(arm, poses), poses)


# -- what cannot be reached --------------------------------------------------------------------------------


def test_the_nearest_point_of_a_planar_arm_is_in_line_with_its_links():
    arm = fa.load("rr")
    tip = fa.pose(arm, np.zeros(2))[:3, 3]
    length = np.linalg.norm(tip - np.asarray(arm.base.p))
    direction = fa.pose(arm, np.array([0.7, 0.0]))[:3, 3] / length
    found = fa.inverse_kinematics(arm, 1.5 * length * direction)
    assert (found.solved, found.status) == (False, "out of reach")
    assert abs(found.error[0] - 0.5 * length) < 1e-6
    assert np.abs(fa.pose(arm, found.q)[:3, 3] - length * direction).max() < 1e-3


def test_out_of_reach_by_length_and_by_closed_form():
    arm = fa.load("puma560")
    assert fa.inverse_kinematics(arm, [0.0, 0.0, 9.0]).status == "out of reach"
    assert fa.inverse_kinematics(arm, fa.Pose.at((0.9, 0.9, 0.9))).status == "out of reach"


@pytest.mark.more
def test_out_of_limits_is_told_from_out_of_reach():
    arm = fa.load("puma560")
    tight = arm.replace(links=[link.replace(limits=(-0.3, 0.3)) for link in arm.links])
    pose = fa.pose(arm, [1.5, 0.9, -1.2, 0.4, 0.9, 0.8])
    found = fa.inverse_kinematics(tight, pose)
    assert (found.solved, found.status) == (False, "out of limits")
    assert np.all(np.abs(found.q) <= 0.3)
    error = np.linalg.norm(fa.pose(tight, found.q)[:3, 3] - pose[:3, 3])
    assert abs(found.error[0] - error) < 1e-12


def test_the_nearest_pose_is_a_minimum():
    """Against SciPy from the same place: nothing nearby is nearer."""
    from scipy.optimize import minimize

    arm = fa.load("panda")
    _, poses = reachable(arm, 6, seed=8)
    poses[:, 0, 3] += np.where(poses[:, 0, 3] > 0, 1.2, -1.2)
    found = fa.inverse_kinematics(arm, poses)
    assert not found.solved.any()

    def far(q, pose):
        T = fa.pose(arm, q)
        return np.sum((T - pose)[:3, 3] ** 2) + 0.5 * np.sum((T - pose)[:3, :3] ** 2)

    for q, pose in zip(found.q, poses, strict=True):
        best = minimize(far, q, args=(pose,), bounds=limits(arm).T, method="L-BFGS-B")
        assert far(q, pose) <= best.fun * (1 + 2e-3) + 1e-9


def test_not_a_number_stays_in_its_row():
    for name in ("panda", "puma560"):
        arm = fa.load(name)
        _, poses = reachable(arm, 20)
        broken = poses.copy()
        broken[3, 1, 2] = np.nan
        found = fa.inverse_kinematics(arm, broken)
        assert found.status[3] == "not finite"
        assert not found.solved[3]
        assert np.isnan(found.q[3]).all()
        assert np.isnan(found.error[3]).all()
        others = np.arange(20) != 3
        assert np.array_equal(found.q[others], fa.inverse_kinematics(arm, poses).q[others])


def test_six_digits_of_a_rotation_are_enough():
    arm = fa.load("ur10e")
    _, poses = reachable(arm, 30)
    rounded = poses.round(7)
    found = fa.inverse_kinematics(arm, rounded)
    assert found.solved.all()
    assert np.abs(fa.pose(arm, found.q) - rounded).max() < 1e-6


def test_no_poses_are_no_poses():
    for name in ("panda", "puma560"):
        arm = fa.load(name)
        for every in (False, True):
            if name == "panda" and every:
                continue
            found = fa.inverse_kinematics(arm, np.empty((0, 4, 4)), every=every)
            assert found.q.shape[0] == 0
            assert found.q.shape[-1] == arm.n


@pytest.mark.parametrize("every", [False, True])
def test_joints_beyond_the_frame_jumped_to_their_middle_where_a_search_began_anew(every):
    """The elbow was asked for, and in some rows of a batch the wrist went somewhere else than it was."""
    arm = fa.load("puma560")
    q, q0 = arm.random_state(seed=4, batch=(12,))[0], np.array([0.3, -0.4, 0.5, 0.7, -0.6, 0.9])
    goals = fa.pose(arm, q, frame=3)
    found = fa.inverse_kinematics(arm, goals, frame=3, q0=q0, every=every)
    reached = found.q[np.asarray(found.solved)]
    assert np.all(found.solved if not every else found.solved.any(axis=-1))
    assert np.array_equal(reached[:, 3:], np.broadcast_to(q0[3:], reached[:, 3:].shape))
    rather = fa.inverse_kinematics(arm, goals, frame=3, q0=q0, posture=0.5 * q0 + 0.1, every=every)
    assert np.array_equal(rather.q[0].reshape(-1, 6)[0, 3:], (0.5 * q0 + 0.1)[3:])
    each = fa.inverse_kinematics(arm, goals, frame=3, q0=q, every=every)
    assert np.array_equal(each.q[5].reshape(-1, 6)[0, 3:], q[5, 3:])


def test_of_many_poses_in_one_object_the_first_alone_was_reached():
    """A trajectory of the Robotics Toolbox; as an array it is its first pose."""
    toolbox = pytest.importorskip("roboticstoolbox")
    from spatialmath import SE3

    arm, q = fa.load("ur5e"), [0.3, -1.0, 1.2, -0.4, 0.7, 0.2]
    ends = [SE3(fa.pose(arm, x), check=False) for x in (q, [0.5, -1.2, 1.0, -0.4, 0.6, 0.1])]
    poses = toolbox.ctraj(*ends, 5)
    found = fa.inverse_kinematics(arm, poses, q0=q)
    assert found.q.shape == (5, 6)
    np.testing.assert_allclose(fa.pose(arm, found.q), np.array(poses.A), atol=1e-6)
    assert fa.inverse_kinematics(arm, poses[4], q0=q).q.shape == (6,)
    assert fa.Pose.from_matrix(poses[4]).translation == tuple(poses[4].t)
    with pytest.raises(fa.ArmFault, match=r"Pose.from_matrix got shape \(5, 4, 4\)"):
        fa.Pose.from_matrix(poses)
