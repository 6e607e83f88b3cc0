"""Names in a robot's file mean what they say: a link called flange is frame 'flange', wherever it is."""

import numpy as np
import pytest

import forearm as fa
from close import assert_close
from forearm.faults import ArmFault, StateFault
from forearm.simulation import payload_numbers

BODY = (
    '<inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>'
)
LIMIT = '<limit lower="-2" upper="2" velocity="1" effort="1"/>'
FILE = f"""<robot name="named"><link name="base"/>
<joint name="j1" type="revolute"><parent link="base"/><child link="upper"/>
<origin xyz="0 0 0.3"/><axis xyz="0 1 0"/>{LIMIT}</joint>
<link name="upper">{BODY}</link>
<joint name="j2" type="revolute"><parent link="upper"/><child link="lower"/>
<origin xyz="0.5 0 0"/><axis xyz="0 1 0"/>{LIMIT}</joint>
<link name="lower">{BODY}</link>
<joint name="f1" type="fixed"><parent link="lower"/><child link="flange"/><origin xyz="0.16 0 0" rpy="0 1.5 0"/></joint>
<link name="flange"/>
<joint name="f2" type="fixed"><parent link="upper"/><child link="camera"/>
<origin xyz="0.1 0.2 0.3" rpy="0.1 0.2 0.3"/></joint>
<link name="camera"/></robot>
"""


@pytest.fixture
def arm(tmp_path):
    (tmp_path / "named.urdf").write_text(FILE)
    return fa.load(tmp_path / "named.urdf")


def test_flange_is_the_link_of_that_name_and_not_frame_n(arm):
    q = np.zeros(2)
    assert_close(fa.pose(arm, q, "flange")[:3, 3], (0.66, 0.0, 0.3))
    for frame_n in (2, "#2", "#n"):
        assert_close(fa.pose(arm, q, frame_n)[:3, 3], (0.5, 0.0, 0.3))
    assert_close(fa.pose(fa.load("panda"), np.zeros(7), "flange"), fa.pose(fa.load("panda"), np.zeros(7), 7))


def test_every_link_of_the_file_is_a_frame(arm):
    q = np.array([0.3, -0.4])
    assert_close(fa.pose(arm, q, "upper")[:3, 3], (0.0, 0.0, 0.3))
    assert_close(fa.pose(arm, q, "base"), np.eye(4), scale=1.0)
    expected = fa.pose(arm, q, "upper") @ fa.Pose.at((0.1, 0.2, 0.3), (0.1, 0.2, 0.3)).matrix
    assert_close(fa.pose(arm, q, "camera"), expected)
    step = 1e-6
    slope = (fa.pose(arm, q + [step, 0], "camera") - fa.pose(arm, q - [step, 0], "camera"))[:3, 3] / (
        2 * step
    )
    assert np.allclose(fa.jacobian(arm, q, "camera")[:3, 0], slope, atol=1e-9)
    assert not np.any(fa.jacobian(arm, q, "camera")[:, 1])


def test_a_payload_at_the_flange_of_the_file_hangs_there(arm):
    q = np.zeros(2)
    held = arm.with_payload(8.0, frame="flange")
    added = fa.gravity_torque(held, q) - fa.gravity_torque(arm, q)
    assert_close(added, [-8 * 9.81 * 0.66, -8 * 9.81 * 0.16], scale=60)
    kernel = fa.compile(arm, "gravity_torque", free=["payload@flange"])
    assert_close(kernel(q, payload_numbers(8.0)), fa.gravity_torque(held, q), scale=100)
    moved = payload_numbers(8.0, arm=arm, frame="flange")
    assert_close(
        fa.compile(arm, "gravity_torque", free=["payload"])(q, moved), fa.gravity_torque(held, q), scale=100
    )
    on_upper = fa.gravity_torque(arm.with_payload(8.0, frame="camera"), q) - fa.gravity_torque(arm, q)
    assert_close(on_upper, [-8 * 9.81 * 0.1, 0.0], scale=60)
    upper = fa.compile(arm, "gravity_torque", free=["payload@camera"])
    assert_close(upper(q, payload_numbers(8.0)) - fa.gravity_torque(arm, q), on_upper, scale=60)
    with pytest.raises(ArmFault, match="stands on the base"):
        arm.with_payload(8.0, frame="base")
    with pytest.raises(StateFault, match="rides on link 1"):
        payload_numbers(8.0, arm=arm, frame="camera")
    with pytest.raises(StateFault, match="give arm= too"):
        payload_numbers(8.0, frame="camera")


def test_a_wrench_acts_at_a_link_of_the_file(arm):
    q = np.zeros(2)
    at = fa.inverse_dynamics(arm, q, q, q, wrench=fa.Wrench((0, 0, 10.0), at="flange"))
    assert_close(at - fa.gravity_torque(arm, q), [6.6, 1.6], scale=20)
    by_number = fa.inverse_dynamics(arm, q, q, q, wrench=fa.Wrench((0, 0, 10.0), at=2))
    assert_close(by_number - fa.gravity_torque(arm, q), [5.0, 0.0], scale=20)


def test_frames_are_kept(arm, tmp_path):
    assert arm.with_payload(1.0, frame="tool").without_drives().frames == arm.frames
    assert fa.load(fa.write_toml(arm, tmp_path / "named.toml")).frames == arm.frames
    again = fa.load(fa.write_urdf(arm, tmp_path / "again.urdf"))
    q = np.array([0.3, -0.4])
    for name in ("base", "upper", "lower", "flange", "camera", "tool"):
        assert_close(fa.pose(again, q, name), fa.pose(arm, q, name), scale=1.0)
    twice = fa.load(fa.write_urdf(again, tmp_path / "twice.urdf"))
    assert {f.name for f in twice.frames} == {f.name for f in again.frames}


def test_mjcf_bodies_are_frames(tmp_path):
    (tmp_path / "arm.xml").write_text(
        '<mujoco><worldbody><body name="one" pos="0 0 1"><joint axis="0 1 0" pos="0.2 0 0"/><geom size="0.1"/>'
        '<body name="eye" pos="0 0 0.5"><geom size="0.01"/></body></body></worldbody></mujoco>'
    )
    arm = fa.load(tmp_path / "arm.xml")
    assert_close(fa.pose(arm, [0.0], "one")[:3, 3], (0, 0, 1.0))
    assert_close(fa.pose(arm, [np.pi / 2], "eye")[:3, 3], (0.7, 0.0, 1.2))


def test_names_that_are_the_arms_own_are_refused(arm):
    for name in ("#1", "tool"):
        with pytest.raises(ArmFault, match="the arm's own"):
            fa.NamedFrame(name, 1)
    with pytest.raises(ArmFault, match="two frames are called 'camera'"):
        arm.replace(frames=(*arm.frames, fa.NamedFrame("camera", 1)))
    with pytest.raises(ArmFault, match="rides on 3; give 0"):
        arm.replace(frames=(fa.NamedFrame("far", 3),))
    with pytest.raises(ArmFault, match=r"no frame 'camra', did you mean 'camera'|camera"):
        fa.pose(arm, np.zeros(2), "camra")


def test_a_link_called_tool_is_the_tool(tmp_path):
    (tmp_path / "tool.urdf").write_text(FILE.replace('"flange"', '"tool"'))
    assert_close(fa.pose(fa.load(tmp_path / "tool.urdf"), np.zeros(2))[:3, 3], (0.66, 0.0, 0.3))
    other = fa.load(tmp_path / "tool.urdf", tip="lower")
    assert any("is not the link 'tool'" in note for note in other.notes)


def test_numbered_frames_are_not_those_of_joints_with_such_names():
    arm = fa.load("rr")
    named = arm.replace(links=tuple(x.replace(name=f"#{1 - i}") for i, x in enumerate(arm.links)))
    for number in (0, 1, 2):
        assert np.array_equal(
            fa.pose(named, [0.3, 0.4], frame=f"#{number}"), fa.pose(arm, [0.3, 0.4], frame=number)
        )


@pytest.mark.parametrize("frame", [["tool"], np.array(["tool", "base"]), None, 1.0, b"tool"])
def test_what_is_no_name_is_no_frame(frame):
    with pytest.raises(fa.Fault, match="has no frame"):
        fa.inverse_kinematics(fa.load("rr"), np.eye(4), frame=frame)
