"""Frames that ride on the base itself, and velocities of robots of very many branches."""

from unittest.mock import patch

import numpy as np

import forearm as fa
from close import assert_close
from forearm import energies, kinematics

BODY = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def branched(path, branches):
    """A base that carries a camera, and branches of one joint."""
    text = f'<robot name="r"><link name="base">{BODY}</link><link name="camera"/>'
    text += '<joint name="eye" type="fixed"><parent link="base"/><child link="camera"/>'
    text += '<origin xyz="0.3 0.2 0.1"/></joint>'
    for k in range(branches):
        text += f'<link name="l{k}">{BODY}</link><joint name="j{k}" type="continuous"><parent link="base"/>'
        text += f'<child link="l{k}"/><origin xyz="0.1 0 {k}"/><axis xyz="0 {k % 2} {1 - k % 2}"/></joint>'
    path.write_text(text + "</robot>")
    return path


def test_the_rate_of_a_frame_on_a_free_base_has_its_lever_once(tmp_path):
    """dJ/dt qd of a camera on the trunk took its lever twice."""
    robot = fa.load(branched(tmp_path / "r.urdf", 2), base="free")
    q, qd, _ = robot.random_state(1)
    step = 1e-6 * robot.position_rates(q, qd)
    ahead, back = (fa.jacobian(robot, q + sign * step, "camera") @ qd for sign in (1, -1))
    assert_close(
        fa.jacobian_rate(robot, q, qd, "camera"),
        (ahead - back) / 2e-6,
        eps=2**22,
        because="a difference of neighbours",
    )
    motion = kinematics.frame_motion(robot, q, qd, None, "camera")
    assert_close(motion[0], fa.jacobian(robot, q, "camera") @ qd)


def test_the_speeds_of_many_branches_take_a_step_for_each(tmp_path):
    """All joints' frames were made anew for each link: verify of 299 branches took ten minutes."""
    robot = fa.load(branched(tmp_path / "r.urdf", 40))
    q, qd, _ = robot.random_state(0)
    with patch.object(kinematics, "_moved", wraps=kinematics._moved) as moved:
        energies.kinetic_energy(robot, q, qd)
    assert moved.call_count <= 6 * 40
    assert np.isfinite(energies.kinetic_energy(robot, q, qd))
