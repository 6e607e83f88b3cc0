"""Robots written as TOML come back equal; as URDF they have the same torques for us and for Pinocchio."""

from pathlib import Path

import numpy as np
import pytest

import forearm as fa
from forearm.compiler.model.chosen_model import plain_model
from forearm.compiler.model.quantity_graphs import evaluated
from forearm.faults import ArmFault, ReadFault
from forearm.kinematics import frame_pose
from forearm.readers.toml import from_toml
from forearm.readers.urdf import from_urdf
from forearm.writers.toml import to_toml
from forearm.writers.urdf import to_urdf
from robots.random_trees import random_urdf

FORK = Path(__file__).parents[2] / "examples" / "fork.urdf"


def tree(seed):
    """A random tree, every second free and away from the world's origin."""
    robot = from_urdf(random_urdf(seed, joints=7 + seed, coupled=1 + seed % 3), base="free")
    away = fa.Pose.at((1, 2, 3), (0.3, 0.4, 0.5))
    return robot.replace(base=away) if seed % 2 else robot.fixed()


def torques(robot, seed):
    return evaluated(plain_model(robot), "inverse_dynamics", *robot.random_state(seed))


@pytest.mark.parametrize("seed", range(4))
def test_toml_gives_an_equal_robot(seed):
    robot = tree(seed)
    robot = robot.replace(configurations=(("home", tuple(robot.neutral())),))
    assert from_toml(to_toml(robot)) == robot


def test_toml_keeps_defects_drives_and_several_leaders():
    fork = fa.load(FORK)
    robot = fork.with_couplings(
        [fa.Coupling("second", (("elbow", 0.5), ("shoulder", -1.0)), 0.2)]
    ).with_drives(fa.Drive(1e-3, 50.0, "motor", 0.1, (0.2, 0.3)))
    robot = robot.replace(defects=(fa.Defect(2, "triangle", "so it is"),))
    assert from_toml(to_toml(robot)) == robot


@pytest.mark.parametrize("seed", range(4))
def test_urdf_has_the_same_torques_and_frames(seed):
    robot = tree(seed)
    again = from_urdf(to_urdf(robot))
    assert (again.free, again.joint_names, again.couplings) == (
        robot.free,
        robot.joint_names,
        robot.couplings,
    )
    np.testing.assert_allclose(torques(again, seed), torques(robot, seed), rtol=0, atol=1e-11)
    q = robot.random_state(seed)[0]
    for frame in (*robot.tips, *(frame.name for frame in robot.frames)):
        for mine, theirs in zip(frame_pose(robot, q, frame), frame_pose(again, q, frame), strict=True):
            np.testing.assert_allclose(theirs, mine, atol=1e-13)


@pytest.mark.parametrize("seed", range(4))
def test_pinocchio_reads_it_alike(seed):
    pytest.importorskip("pinocchio", reason="Pinocchio has no wheel for this platform")
    import pinocchio as pin

    from robots.pinocchio_trees import Peer

    robot = tree(seed)
    model = pin.buildModelFromXML(to_urdf(robot))  # it knows the floating joint itself
    q, qd, qdd = robot.random_state(seed)
    if robot.free:  # its joint counts from where the file puts the base, ours from the world
        q = np.concatenate([robot.neutral()[:7], q[7:]])
    at = np.concatenate([[0, 0, 0, 0, 0, 0, 1], q[7:]]) if robot.free else q
    found = Peer(robot, model).torques(at, qd, qdd)
    want = evaluated(plain_model(robot), "inverse_dynamics", q, qd, qdd)
    np.testing.assert_allclose(want, found, rtol=0, atol=1e-11 * np.abs(found).max())


def test_a_robot_made_here_is_written_with_names_of_its_own():
    link = fa.Link.dh("revolute", a=0.3, name="turn", mass=1.0, inertia=fa.Inertia.sphere(1.0, 0.1))
    robot = fa.Robot(
        "pair", [link, link.replace(name="other")], (0, 0), tools=(fa.NamedFrame("hand", 1, fa.Pose()),)
    )
    again = from_urdf(to_urdf(robot))
    assert again.tips == ("hand", "other_link")
    np.testing.assert_allclose(torques(again, 0), torques(robot, 0), atol=1e-13)


def test_what_urdf_cannot_say_of_a_robot_is_refused_or_left_out():
    robot = fa.load(FORK).with_couplings([fa.Coupling("second", (("elbow", 0.5), ("shoulder", -1.0)))])
    with pytest.raises(ArmFault, match=r"that 'second' follows several joints \(elbow, shoulder\)"):
        to_urdf(robot)
    assert "follows several joints" in to_urdf(robot, lossy=True)


BROKEN = [
    ('parent = "shoulder"', 'parent = "sholder"', "parent is 'sholder' (did you mean 'shoulder'?)"),
    ('parent = "shoulder"', 'parent = "slide"', "link that stands before: base, shoulder."),
    ('parent = "shoulder"', "parent = 3", "parent is 3; give the name"),
    ('parent = "shoulder"\n', "", "'parent' is missing"),
    ("after = {", "before = {", "unknown key 'before'"),
    ('leaders = { elbow = -0.5 }', "leaders = {}", "give pairs (joint that leads, factor)"),
    ('leaders = { elbow = -0.5 }\n', "", "'leaders' is missing; give leaders"),
    ('leaders = { elbow = -0.5 }', "leaders = { elbo = -0.5 }", "a coupling names joint 'elbo'"),
    ('link = 4', 'link = "finger"', "link is 'finger'"),
    ('convention = "tree"', 'convention = "tree"\nfree = 1', "free is 1; give true or false"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "says"), BROKEN)
def test_a_broken_tree_in_toml_is_refused_in_a_sentence(old, new, says):
    text = to_toml(fa.load(FORK).with_couplings({"second": ("elbow", -0.5)}))
    assert old in text
    with pytest.raises((ReadFault, ArmFault)) as caught:
        from_toml(text.replace(old, new, 1), "robot.toml")
    assert says in str(caught.value)
    assert "robot.toml" in str(caught.value)


def test_free_said_with_the_robots_own_word_left_the_base_fixed():
    branched, chain = random_urdf(3, joints=5), random_urdf(3, joints=1)
    for text in (branched, chain):
        assert from_urdf(text, free=True) == from_urdf(text, base="free")
        assert from_urdf(text, free=False) == from_urdf(text)
    with pytest.raises(fa.ReadFault, match="exclude each other"):
        from_urdf(branched, free=True, tip=from_urdf(branched).tips[0])
