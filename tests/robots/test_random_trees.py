"""Random trees, fixed and free, coupled and not, equal Pinocchio's; so do all formulations, summed over chains."""

import numpy as np
import pytest

from robots.random_trees import random_urdf

pytest.importorskip("pinocchio", reason="Pinocchio has no wheel for this platform")
import forearm as fa
from forearm.compiler.model.chosen_model import Choice, model_by, plain_model
from forearm.compiler.model.quantity_graphs import evaluated
from forearm.compiler.model.trees.tree_frames import described_tree
from forearm.compiler.model.trees.tree_model import TreeModel
from forearm.kinematics import frame_jacobian, frame_pose
from forearm.readers.urdf import from_urdf
from robots.pinocchio_trees import Peer

TOLERANCE = 1e-11


def peer(seed: int) -> Peer:
    """A random tree of up to 40 joints; every second is free, every third coupled."""
    joints = 3 + (seed * 7) % 38
    text = random_urdf(seed, joints=joints, coupled=joints // 4 if seed % 3 == 0 else 0)
    robot = from_urdf(text, **({"base": "free"} if seed % 2 else {}))
    if isinstance(robot, fa.Arm):  # a chain by chance
        robot = from_urdf(text, base="free")
    return Peer.of(text, robot)


def apart(found, expected) -> float:
    found, expected = np.asarray(found, dtype=float), np.asarray(expected)
    return float(np.max(np.abs(found - expected)) / max(np.max(np.abs(expected)), 1e-9))


def check(seed: int) -> None:
    both = peer(seed)
    robot = both.robot
    q, qd, qdd = robot.random_state(seed)
    tau = both.torques(q, qd, qdd)
    C = both.torques(q, qd, 0 * qdd) - both.gravity(q)
    for model in (plain_model(robot), model_by(robot, Choice())):
        assert apart(evaluated(model, "inverse_dynamics", q, qd, qdd), tau) < TOLERANCE
        assert apart(evaluated(model, "mass_matrix", q), both.mass_matrix(q)) < TOLERANCE
        assert apart(evaluated(model, "gravity_torque", q), both.gravity(q)) < TOLERANCE
        assert apart(evaluated(model, "velocity_torque", q, qd), C) < TOLERANCE
        assert apart(evaluated(model, "forward_dynamics", q, qd, tau), qdd) < TOLERANCE
    for frame in (robot.tips[0], robot.tips[-1], robot.frames[1].name):
        R, p = frame_pose(robot, q, frame)
        assert apart(np.column_stack([R, p]), both.pose(q, frame)[:3]) < TOLERANCE
        assert apart(frame_jacobian(robot, q, frame), both.jacobian(q, frame)) < TOLERANCE


@pytest.mark.parametrize("seed", range(20))
def test_a_random_tree_equals_pinocchio(seed):
    check(seed)


@pytest.mark.more
@pytest.mark.parametrize("seed", range(20, 200))
def test_more_random_trees_equal_pinocchio(seed):
    check(seed)


@pytest.mark.parametrize("base", [{}, {"base": "free"}], ids=["fixed", "free"])
def test_every_formulation_summed_over_chains_agrees(base):
    """No formulation knows of trees: each walks one chain after the other."""
    text = random_urdf(11, joints=5, coupled=1)
    robot = from_urdf(text, **base)
    q, qd, qdd = robot.random_state(3)
    tau = Peer.of(text, robot).torques(q, qd, qdd)
    summed = [
        stem
        for stem, row in fa.FORMULATIONS.items()
        if "joint_torques" in row.gives and row.accepts(robot) and not row.needs
    ]
    assert len(summed) > 6
    for stem in summed:
        for tree in (None, described_tree(robot)) if fa.FORMULATIONS[stem].view == "ten" else (None,):
            assert apart(TreeModel(robot, tree, torques_by=stem).torques(q, qd, qdd), tau) < 1e-12, stem


@pytest.mark.parametrize("seed", [6, 7])
def test_kernels_of_trees_equal_their_plain_functions(seed):
    """Compiled, batched, written into `out`, shared between threads."""
    text = random_urdf(seed, joints=7, coupled=2)
    robot = from_urdf(text, **({"base": "free"} if seed % 2 else {}))
    q, qd, qdd = robot.random_state(seed, (50,))
    tau = fa.inverse_dynamics(robot, q, qd, qdd)
    model = plain_model(robot)
    for k in range(3):
        assert apart(tau[k], evaluated(model, "inverse_dynamics", q[k], qd[k], qdd[k])) < TOLERANCE
    out = np.empty_like(tau)
    assert fa.inverse_dynamics(robot, q, qd, qdd, out=out, threads=2) is out
    np.testing.assert_array_equal(out, tau)
    assert apart(fa.forward_dynamics(robot, q, qd, tau), qdd) < TOLERANCE
    assert apart(fa.inverse_dynamics(robot, q[0], qd[0], qdd[0]), tau[0]) < TOLERANCE
