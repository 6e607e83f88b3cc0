"""What a model has and an arm has not is said, wherever it stands: in an included file, in a default class."""

import pytest

from forearm.readers import load

mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")

DRIVEN = """<mujoco model="driven">
  <default>
    <general armature="0.3"/>
    <default class="strong"><motor forcerange="-5 5" armature="0"/></default>
  </default>
  <option><flag passive="disable"/></option>
  <worldbody>
    <body name="upper">
      <joint name="lift" axis="0 1 0" damping="0.1"/>
      <geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0" mass="1"/>
      <body name="lower" pos="0.3 0 0">
        <joint name="bend" axis="0 1 0"/>
        <geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0" mass="1"/>
      </body>
    </body>
  </worldbody>
  <equality><connect body1="lower" body2="world" anchor="0.3 0 0"/></equality>
  <tendon>
    <fixed name="belt" stiffness="10"><joint joint="lift" coef="1"/><joint joint="bend" coef="-1"/></fixed>
  </tendon>
  <actuator><general joint="lift"/><motor class="strong" joint="bend"/></actuator>
</mujoco>
"""
SAID = (
    "1 equality constraints are not part of an arm, and left out",
    "1 tendons are not part of an arm, and left out",
    "armature or damping in the actuators of lift is left out; joints carry it",
    "limits in the actuators of bend are not read; torques are limited by a joint's actuatorfrcrange",
)


def test_armature_that_an_actuator_has_from_its_class_is_said_to_be_left_out(tmp_path):
    path = tmp_path / "driven.xml"
    path.write_text(DRIVEN)
    notes = load(path).notes
    assert [said for said in SAID if said not in notes] == []


def test_what_an_included_file_has_beside_an_arm_is_said(tmp_path):
    (tmp_path / "driven.xml").write_text(DRIVEN.replace("<flag passive", "<flag damper"))
    path = tmp_path / "scene.xml"
    path.write_text('<mujoco model="scene"><include file="driven.xml"/></mujoco>')
    notes = load(path, allow_files=True).notes
    assert [said for said in SAID if said not in notes] == []


def test_damping_is_off_where_an_older_file_switches_passive_forces_off(tmp_path):
    path = tmp_path / "driven.xml"
    path.write_text(DRIVEN)
    assert load(path).links[0].drive.viscous == 0
    path.write_text(DRIVEN.replace('passive="disable"', 'passive="enable"'))
    assert load(path).links[0].drive.viscous == 0.1
