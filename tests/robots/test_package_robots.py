"""Branched and free robots from a package: torques, M, g, C qd, accelerations and Jacobians equal Pinocchio's."""

import numpy as np
import pytest

pytest.importorskip("pinocchio", reason="Pinocchio has no wheel for this platform")
import forearm as fa
from forearm.compiler.model.chosen_model import Choice, model_by, plain_model
from forearm.compiler.model.quantity_graphs import evaluated
from forearm.compiler.model.trees.tree_model import TreeModel
from forearm.kinematics import frame_jacobian
from peers.urdf_arms import ERD, Source
from robots.pinocchio_trees import Peer
from robots.urdf_texts import without_shapes

FREE = {"base": "free"}
ANY = {"keep_defects": True, "allow_massless": True}
ROBOTS = (
    Source("baxter", ERD, "baxter_description/urdf/baxter.urdf", 17, ANY),
    Source("panda with fingers that mimic", ERD, "panda_description/urdf/panda.urdf", 8, ANY),
    Source("tiago", ERD, "tiago_description/robots/tiago.urdf", 48, ANY),
    Source("ur5 with gripper", ERD, "ur_description/urdf/ur5_gripper.urdf", 6, FREE),
    Source("talos arm", ERD, "talos_data/robots/talos_left_arm.urdf", 7),
    Source("talos", ERD, "talos_data/robots/talos_reduced.urdf", 32, FREE),
    Source("solo 12", ERD, "solo_description/robots/solo12.urdf", 12, FREE),
    Source("anymal", ERD, "anymal_b_simple_description/robots/anymal.urdf", 12, FREE | ANY),
)
BOTH_WAYS = ("panda with fingers that mimic", "solo 12")


def load(source) -> Peer:
    robot = fa.load(source.path, **source.options)
    if isinstance(robot, fa.Arm):
        robot = fa.load(source.path, **source.options, base="free").fixed()
    assert robot.n == source.n
    return Peer.of(source.path.read_text(), robot.without_drives())


def apart(found, expected) -> float:
    found, expected = np.asarray(found, dtype=float), np.asarray(expected)
    return float(np.max(np.abs(found - expected)) / max(np.max(np.abs(expected)), 1e-9))


@pytest.mark.more
@pytest.mark.parametrize("source", ROBOTS, ids=str)
def test_a_robot_of_a_package_equals_pinocchio(source):
    both = load(source)
    robot = both.robot
    q, qd, qdd = robot.random_state(1)
    tau, gravity = both.torques(q, qd, qdd), both.gravity(q)
    M = both.mass_matrix(q)
    for model in (plain_model(robot), model_by(robot, Choice())):
        assert apart(evaluated(model, "inverse_dynamics", q, qd, qdd), tau) < 1e-11
        assert apart(evaluated(model, "mass_matrix", q), M) < 1e-11
        assert apart(evaluated(model, "gravity_torque", q), gravity) < 1e-11
        assert (
            apart(evaluated(model, "velocity_torque", q, qd), both.torques(q, qd, 0 * qdd) - gravity) < 1e-11
        )
        assert apart(evaluated(model, "forward_dynamics", q, qd, tau), qdd) < 1e-11
    for frame in (*robot.tips[:2], robot.frames[-1].name):
        assert apart(frame_jacobian(robot, q, frame), both.jacobian(q, frame)) < 1e-11


@pytest.mark.more
@pytest.mark.parametrize("source", [x for x in ROBOTS if x.title in BOTH_WAYS], ids=str)
def test_its_chains_summed_by_every_formulation_agree(source):
    both = load(source)
    q, qd, qdd = both.robot.random_state(2)
    tau = both.torques(q, qd, qdd)
    for stem, row in fa.FORMULATIONS.items():
        slow = stem == "uicker_kahn_1969" and len(both.robot.links) > 10
        if "joint_torques" in row.gives and row.accepts(both.robot) and not row.needs and not slow:
            assert apart(TreeModel(both.robot, None, torques_by=stem).torques(q, qd, qdd), tau) < 1e-12, stem


@pytest.mark.parametrize("source", [x for x in ROBOTS if x.title == "panda with fingers that mimic"], ids=str)
def test_a_compiled_robot_equals_pinocchio_and_mujoco(source):
    both = load(source)
    q, qd, qdd = both.robot.random_state(3)
    assert apart(fa.inverse_dynamics(both.robot, q, qd, qdd), both.torques(q, qd, qdd)) < 1e-11
    assert apart(_mujoco_torques(both, source.path, q, qd, qdd), both.torques(q, qd, qdd)) < 1e-11


def _mujoco_torques(both, path, q, qd, qdd):
    """MuJoCo's torques on the same file without its meshes, folded by the couplings, joints by name."""
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo has no wheel for this platform")
    robot = both.robot
    model = mujoco.MjModel.from_xml_string(without_shapes(path))
    data = mujoco.MjData(model)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_CONTACT
    model.dof_damping[:] = 0
    model.dof_frictionloss[:] = 0
    B = robot.coupling_map[0]
    order = [model.joint(name).qposadr[0] for name in robot.all_joint_names]
    data.qpos[order], data.qvel[order], data.qacc[order] = robot.joint_positions(q), B @ qd, B @ qdd
    mujoco.mj_inverse(model, data)
    return B.T @ data.qfrc_inverse[order]
