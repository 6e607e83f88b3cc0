"""MJCF through MuJoCo's compiler: MuJoCo's torques, armature and damping carried, no files opened."""

import re

import numpy as np
import pytest

import forearm as fa
from arms import seed_of
from forearm.drives import friction_torque, rotor_torque
from forearm.faults import ReadFault
from forearm.formulations import FORMULATIONS
from forearm.kinematics import frame_pose
from forearm.readers import load
from forearm.robot import Robot
from peers.urdf_arms import site_packages

mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")
torques = FORMULATIONS["luh_walker_paul_1980"].joint_torques

ARM = """<mujoco model="bench">
  <compiler angle="radian"/>
  <option gravity="0.3 -0.4 -9.7"/>
  <default><joint damping="0.2"/></default>
  <worldbody>
    <body name="column" pos="0.1 0.2 0.3" quat="0.9 0.1 -0.2 0.3">
      <geom type="box" size="0.1 0.1 0.1" mass="5"/>
      <body name="upper" pos="0 0 0.2" euler="0.1 0.2 0.3">
        <joint name="pan" axis="0 0 1" pos="0.05 0.02 0" armature="0.4" range="-2 2" limited="true"/>
        <joint name="lift" axis="0 -1 0.5" pos="-0.01 0.03 0.02" ref="0.3"/>
        <inertial pos="0.1 0 0.02" mass="2" fullinertia="0.02 0.03 0.025 0.001 -0.002 0.003"/>
        <body name="lower" pos="0.4 0 0" euler="1.5707963267948966 0 0">
          <joint name="extend" type="slide" axis="1 0 0" damping="3" armature="0.1"/>
          <geom type="capsule" fromto="0 0 0 0.3 0.1 0" size="0.04" density="800"/>
          <body name="pad" pos="0.3 0 0.1" euler="0 0.5 0"><geom type="sphere" size="0.03" mass="0.2"/></body>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.fixture
def read(tmp_path):
    def read(text, **options):
        path = tmp_path / "arm.xml"
        path.write_text(text)
        return load(path, **options)

    return read


def mujoco_torques(model, q, qd, qdd):
    """Torques of MuJoCo without constraints and contacts."""
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_CONTACT
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.qacc[:] = q, qd, qdd
    mujoco.mj_inverse(model, data)
    return data.qfrc_inverse.copy(), data


def assert_mujocos_torques(arm, model, seed):
    rng = np.random.default_rng(seed)
    for _ in range(4):
        q, qd, qdd = rng.uniform(-1.5, 1.5, (3, arm.n))
        want, data = mujoco_torques(model, q, qd, qdd)
        smooth = arm.replace(
            links=tuple(k.replace(drive=k.drive.replace(coulomb=(0.0, 0.0))) for k in arm.links)
        )
        got = torques(arm, q, qd, qdd) + rotor_torque(arm, qdd) + friction_torque(smooth, qd)
        assert np.max(np.abs(got - want)) <= 1e-11 * max(1, np.max(np.abs(want)))
    return q, data


def test_torques_are_mujocos_with_armature_and_damping(read):
    arm = read(ARM)
    q, data = assert_mujocos_torques(arm, mujoco.MjModel.from_xml_string(ARM), 1)
    assert arm.joint_names == ("pan", "lift", "extend")
    assert arm.gravity == (0.3, -0.4, -9.7)
    assert [link.drive.reflected_inertia for link in arm.links] == [0.4, 0.0, 0.1]
    assert [link.drive.viscous for link in arm.links] == [0.2, 0.2, 3.0]
    assert arm.links[0].limits == (-2.0, 2.0)
    R, p = frame_pose(arm, q)
    assert np.max(np.abs(p - data.body("pad").xpos)) < 1e-12
    assert np.max(np.abs(R - data.body("pad").xmat.reshape(3, 3))) < 1e-12


@pytest.mark.parametrize(
    "name", ["inverted_pendulum", "inverted_double_pendulum", "reacher", "pusher", "striker"]
)
def test_models_of_pybullet(name):
    path = site_packages() / "pybullet_data" / "mjcf" / f"{name}.xml"
    if not path.exists():
        pytest.skip("pybullet is not installed")
    tips = {"reacher": "fingertip", "pusher": "fingertip", "striker": "fingertip"}
    arm = load(path, tip=tips.get(name))
    spec = mujoco.MjSpec.from_file(str(path))
    for joint in list(spec.joints):
        if joint.name not in arm.joint_names:
            spec.delete(joint)
    assert_mujocos_torques(arm, spec.compile(), seed_of(name))


def test_the_tool_is_the_frame_of_the_tip_also_where_its_joint_is_elsewhere(read):
    moved = ARM.replace('type="slide" axis="1 0 0"', 'type="hinge" axis="1 0.2 0" pos="0.1 -0.2 0.3"')
    arm, model = read(moved, tip="lower"), mujoco.MjModel.from_xml_string(moved)
    q, data = assert_mujocos_torques(arm, model, 3)
    R, p = frame_pose(arm, q)
    assert np.max(np.abs(p - data.body("lower").xpos)) < 1e-12
    assert np.max(np.abs(R - data.body("lower").xmat.reshape(3, 3))) < 1e-12


def test_a_model_without_a_name_is_called_like_its_file(read):
    assert read(ARM.replace(' model="bench"', "")).name == "arm"


def test_friction_loss_is_dry_friction(read):
    arm = read(ARM.replace('name="pan"', 'name="pan" frictionloss="0.7"'))
    assert arm.links[0].drive.coulomb == (0.7, 0.7)


def test_what_is_left_out_is_said(read):
    springy = ARM.replace('name="pan"', 'name="pan" stiffness="3"').replace(
        'name="lower"', 'name="lower" gravcomp="1"'
    )
    notes = read(springy).notes
    assert any("joint pan: the spring" in note for note in notes)
    assert any("body lower: gravcomp 1 is left out" in note for note in notes)


def test_gravity_switched_off_by_a_flag_is_off(read):
    weightless = ARM.replace(' gravity="0.3 -0.4 -9.7"/>', '><flag gravity="disable"/></option>')
    arm = read(weightless)
    assert arm.gravity == (0.0, 0.0, 0.0)
    assert any("switches gravity off" in note for note in arm.notes)
    assert_mujocos_torques(arm, mujoco.MjModel.from_xml_string(weightless), 5)


def test_damping_and_friction_switched_off_by_flags_are_off(read):
    flags = '><flag damper="disable" frictionloss="disable"/></option>'
    smooth = ARM.replace(' gravity="0.3 -0.4 -9.7"/>', flags).replace(
        'name="pan"', 'name="pan" frictionloss="2"'
    )
    arm = read(smooth)
    assert not any(link.drive.viscous or any(link.drive.coulomb) for link in arm.links)
    assert_mujocos_torques(arm, mujoco.MjModel.from_xml_string(smooth), 6)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            'name="pan"',
            'name="pan" damping="0.2 3 1"',
            "joint pan: damping by powers of the speed is left out",
        ),
        ("<option ", '<option density="1000" ', "forces of the air or water .* are left out"),
    ],
)
def test_resistance_that_is_not_linear_in_the_speed_of_one_joint_is_said(read, old, new, words):
    assert any(re.search(words, note) for note in read(ARM.replace(old, new)).notes)


@pytest.mark.parametrize(
    ("compiler", "joint"),
    [("", '<freejoint align="true"/>'), ('alignfree="true"', "<freejoint/>"), ("", "<freejoint/>")],
)
def test_a_free_base_was_not_in_the_frame_that_mujoco_aligns(read, compiler, joint):
    text = (
        f'<mujoco><compiler angle="radian" {compiler}/><worldbody><body pos="1 2 3" euler="0.3 0.2 0.1">{joint}'
        '<geom type="box" size="0.1 0.2 0.3" pos="0.05 0.02 0.03" euler="0.5 0.4 0.3"/></body></worldbody></mujoco>'
    )
    there = mujoco.MjModel.from_xml_string(text)
    robot = read(text)
    assert np.allclose(robot.base.translation, there.qpos0[:3], atol=1e-15)
    assert np.allclose(robot.trunk.com, there.body_ipos[1], atol=1e-15)


def test_the_armature_of_a_free_base_is_said_to_be_left_out(read):
    body = '<joint type="free" armature="0.3"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    robot = read(f'<mujoco><worldbody><body name="a">{body}</body></worldbody></mujoco>')
    assert any("armature, damping and friction of a free base are left out" in note for note in robot.notes)


def test_names_that_mujoco_leaves_out_are_not_those_of_others(read):
    """An unnamed second joint was called joint2, as the first one was: the first was lost."""
    body = '<inertial pos="0.1 0 0.02" mass="2" diaginertia="0.02 0.03 0.03"/>'
    text = (
        '<mujoco><worldbody><body name="body2"><joint name="joint2" axis="0 1 0"/><joint axis="1 0 0"/>'
        f'{body}<body pos="0.5 0 0"><joint axis="0 0 1"/>{body}<body name="body2/1">{body}</body>'
        "</body></body></worldbody></mujoco>"
    )
    arm = read(text)
    assert arm.joint_names == ("joint2", "joint2'", "joint3")
    assert_mujocos_torques(arm, mujoco.MjModel.from_xml_string(text), 7)


def test_equalities_that_are_not_in_force_do_not_couple(read):
    equality = '<equality><joint joint1="lift" joint2="pan" polycoef="0.1 2"/></equality></mujoco>'
    coupled = ARM.replace("</mujoco>", equality)
    assert isinstance(read(coupled), Robot)
    for old, new in (
        ("<default>", '<default><equality active="false"/>'),
        ("polycoef=", 'active="false" polycoef='),
        (' gravity="0.3 -0.4 -9.7"/>', '><flag equality="disable"/></option>'),
        (' gravity="0.3 -0.4 -9.7"/>', '><flag constraint="disable"/></option>'),
        ('"0.1 2"', '"0.1 2 1"'),
    ):
        arm = read(coupled.replace(old, new))
        assert arm.n == 3, new
        assert any("the equality of lift is no linear coupling" in note for note in arm.notes)


@pytest.mark.parametrize(
    ("coefficients", "words"),
    [
        ("x", "MuJoCo refuses it: .*polycoef"),
        ("nan 1", "'nan' is not a number of an arm"),
        ('0 1"/><joint joint1="lift" joint2="extend" polycoef="0 2', "joint 'lift' has two equalities"),
    ],
)
def test_equalities_that_cannot_be_are_refused_in_a_sentence(read, coefficients, words):
    equality = f'<equality><joint joint1="lift" joint2="pan" polycoef="{coefficients}"/></equality></mujoco>'
    with pytest.raises(ReadFault, match=words):
        read(ARM.replace("</mujoco>", equality))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "<worldbody>",
            '<include file="/etc/passwd"/><worldbody>',
            r"arm.xml:5: <include> wants another file.*allow_files=True",
        ),
        (
            "<worldbody>",
            '<asset><mesh file="a.stl"/></asset><worldbody>',
            r"<mesh> wants another file .*'a.stl'",
        ),
        (
            "<worldbody>",
            '<extension><plugin plugin="x"/></extension><worldbody>',
            "<extension> wants another file or a plugin",
        ),
        ('type="slide"', 'type="ball"', r"arm.xml:13: joint 'extend' is a ball joint"),
        (
            '<joint name="extend" type="slide" axis="1 0 0" damping="3" armature="0.1"/>',
            "<freejoint/>",
            "MuJoCo refuses it",
        ),
        ('mass="2"', 'mass="-2"', "MuJoCo refuses it: .*mass"),
        ("<worldbody>", "<worlbody>", "not well-formed XML"),
        ("mujoco", "robot", "root element is <robot>; an MJCF file has <mujoco>"),
        ("<mujoco", "<!DOCTYPE x><mujoco", "DOCTYPE or ENTITY"),
    ],
)
def test_broken_models_are_refused(read, old, new, words):
    with pytest.raises(ReadFault, match=words):
        read(ARM.replace(old, new))


def test_includes_are_followed_when_asked(tmp_path):
    (tmp_path / "part.xml").write_text(ARM)
    path = tmp_path / "whole.xml"
    path.write_text('<mujoco><include file="part.xml"/></mujoco>')
    with pytest.raises(ReadFault, match="<include> wants another file"):
        load(path)
    assert load(path, allow_files=True).n == 3


def test_two_arms_are_a_robot_and_one_is_its_chain(read):
    ball = '<geom type="sphere" size="1"/>'
    second = f'<body name="other"><joint name="spin" axis="0 0 1"/>{ball}</body></worldbody>'
    robot = read(ARM.replace("</worldbody>", second))
    assert isinstance(robot, Robot)
    assert len(robot.tips) == 2
    assert read(ARM.replace("</worldbody>", second), tip="other").joint_names == ("spin",)


def test_without_mujoco_the_message_says_what_to_install(read, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(ReadFault, match=r"pip install 'forearm\[mjcf\]'"):
        read(ARM)


HELD = """<mujoco model="held"><compiler angle="radian"/><worldbody><body name="a" pos="0 0 0.3">
<joint name="j1" axis="0 0.6 0.8" ref="0.3" pos="0.05 0.02 0"/>
<inertial pos="0.1 0 0" mass="2" diaginertia="0.02 0.03 0.04"/>
<body name="b" pos="0.3 0 0" euler="0.2 0.3 0.1"><joint name="j2" axis="0 1 0.2" ref="0.4" pos="0.01 0.02 0.03"/>
<inertial pos="0.1 0.05 0" mass="1" diaginertia="0.02 0.03 0.04"/>
<body name="c" pos="0.2 0 0.1"><joint name="j3" type="slide" axis="1 0 0.5" ref="-0.1"/>
<inertial pos="0.1 0.05 0" mass="1" diaginertia="0.02 0.03 0.04"/></body>
<body name="d" pos="0 0.1 0"><joint name="j4" axis="1 0 0" ref="0.7"/>
<inertial pos="0.1 0.2 0" mass="0.6" diaginertia="0.02 0.03 0.04"/></body></body></body></worldbody></mujoco>"""


@pytest.mark.parametrize(
    ("options", "held"),
    [
        ({"tip": "c"}, {"j4": 0.0}),
        ({"tip": "c", "lock": {"j4": 0.5}}, {"j4": 0.5}),
        ({"lock": {"j2": 0.6}}, {"j2": 0.6}),
        ({"lock": {"j3": 0.2, "j1": -0.3}}, {"j3": 0.2, "j1": -0.3}),
    ],
)
def test_a_joint_with_a_ref_is_held_where_mujoco_has_that_position(tmp_path, options, held):
    path = tmp_path / "held.xml"
    path.write_text(HELD)
    model = mujoco.MjModel.from_xml_string(HELD)
    data, names = mujoco.MjData(model), [f"j{k}" for k in range(1, 5)]
    arm = fa.load(path, **options)
    assert set(arm.joint_names) == set(names) - set(held)
    q = {name: held.get(name, 0.2 + 0.1 * k) for k, name in enumerate(names)}
    data.qpos[:] = list(q.values())
    data.qacc[:] = [0.0 if name in held else 1.0 for name in names]
    mujoco.mj_inverse(model, data)
    here = [q[name] for name in arm.joint_names]
    want = [data.qfrc_inverse[names.index(name)] for name in arm.joint_names]
    got = fa.inverse_dynamics(arm, here, np.zeros(arm.n), np.ones(arm.n))
    np.testing.assert_allclose(got, want, atol=1e-12)
    place = fa.pose(arm, here, frame="d")
    np.testing.assert_allclose(
        np.asarray(getattr(place, "matrix", place))[:3, 3], data.body("d").xpos, atol=1e-12
    )


@pytest.mark.parametrize("tip", [None, "c"])
def test_a_first_joint_that_follows_a_held_one_is_held_too(tmp_path, tip):
    path = tmp_path / "held.xml"
    path.write_text(
        HELD.replace(
            "</worldbody>",
            '</worldbody><equality><joint joint1="j1" joint2="j2" polycoef="0.2 -1.3"/></equality>',
        )
    )
    arm = fa.load(path, tip=tip, lock={"j2": 0.6, "j4": 0.1})
    plain = tmp_path / "plain.xml"
    plain.write_text(HELD)
    same = fa.load(plain, tip=tip, lock={"j1": 0.3 + 0.2 - 1.3 * (0.6 - 0.4), "j2": 0.6, "j4": 0.1})
    assert arm.joint_names == same.joint_names == ("j3",)
    np.testing.assert_allclose(fa.gravity_torque(arm, [0.1]), fa.gravity_torque(same, [0.1]), rtol=1e-14)


def test_limits_of_torque_are_read_and_those_of_actuators_said_not_to_be(tmp_path):
    path = tmp_path / "held.xml"
    path.write_text(
        HELD.replace('ref="0.3"', 'ref="0.3" actuatorfrcrange="-20 20"')
        .replace('ref="0.4"', 'ref="0.4" actuatorfrcrange="-5 8"')
        .replace('ref="-0.1"', 'ref="-0.1" actuatorfrcrange="-5 5" actuatorfrclimited="false"')
        .replace("</worldbody>", '</worldbody><actuator><motor joint="j3" forcerange="-7 7"/></actuator>')
    )
    arm = fa.load(path, tip="c")
    assert [link.effort_limit for link in arm.links] == [20, 5, None]
    assert "joint j2: its actuatorfrcrange is not the same both ways; 5 is taken for both" in arm.notes
    assert any("limits in the actuators of j3 are not read" in note for note in arm.notes)
    path.write_text(HELD.replace('ref="0.4"', 'ref="0.4" actuatorfrcrange="0 8"'))
    one_way = fa.load(path, tip="c")
    assert one_way.links[1].effort_limit is None
    assert any("joint j2: its actuatorfrcrange lets drives push one way alone" in x for x in one_way.notes)
    assert not any("0 is taken for both" in note for note in one_way.notes)
