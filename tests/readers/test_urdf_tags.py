"""What a URDF file says in words that are not read: misspelt origins were none at all, without a word."""

import pytest

import forearm as fa
from forearm.readers.urdf import from_urdf

BODY = (
    '<inertial><origin xyz=".1 .02 .03"/><mass value="2"/>'
    '<inertia ixx=".02" ixy="0" ixz="0" iyy=".03" iyz="0" izz=".025"/></inertial>'
)
JOINT = '<parent link="w"/><child link="a"/><origin xyz="0 0 .3" rpy="0 .1 0"/><axis xyz="0 1 0"/>'
ROBOT = (
    f'<robot name="r"><link name="w"/><link name="a">{BODY}</link>'
    f'<joint name="j" type="continuous">{JOINT}</joint></robot>'
)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('rpy="0 .1 0"', 'quat_xyzw="0 0 .6 .8"', "has quat_xyzw=.., which is not read; give xyz, rpy"),
        ('rpy="0 .1 0"', 'ryp="0 .1 0"', "has ryp=.., which is not read"),
        (
            '<origin xyz="0 0 .3" rpy="0 .1 0"/>',
            '<Origin xyz="0 0 .3"/>',
            "<Origin> in <joint> is no element",
        ),
        ("inertial>", "Inertial>", "<Inertial> in <link> is no element; write <inertial>"),
        ('value="2"', 'value="2" unit="g"', "has unit=.., which is not read; give value"),
        ("0 0 .3", "0 0 ٣", "is not a number"),
    ],
)
def test_what_is_misspelt_was_taken_as_not_there(old, new, told):
    assert isinstance(from_urdf(ROBOT), fa.Arm)
    with pytest.raises(fa.ReadFault, match=told):
        from_urdf(ROBOT.replace(old, new))


@pytest.mark.parametrize(
    ("extra", "told"),
    [
        ('<loop_joint name="l" type="revolute"/>', "not read: <loop_joint> in <robot>"),
        (
            '<gazebo reference="a"><turnGravityOff>true</turnGravityOff></gazebo>',
            "'a': <turnGravityOff> is left out; gravity is in the torques",
        ),
        (
            '<gazebo><joint name="loop" type="revolute"><parent>a</parent><child>w</child></joint></gazebo>',
            "<joint> in <gazebo> is left out (loop); a loop that it closes is open here",
        ),
        (
            '<gazebo><link name="rod"/><joint name="p"/><joint name="q"/></gazebo><gazebo><joint name="r"/></gazebo>',
            "<link>, <joint> in <gazebo> are left out (rod, p, q, r); a loop that they close is open here",
        ),
        ('<gazebo reference="j"><provideFeedback>1</provideFeedback></gazebo>', ""),
        ('<gazebo><plugin name="p"><joint>j</joint></plugin></gazebo>', ""),
        ('<transmission name="t"><joint name="j"><hardwareInterface/></joint></transmission>', ""),
        ('<gazebo reference="a"><turnGravityOff>false</turnGravityOff></gazebo>', ""),
        (
            '<transmission name="t"><joint name="j"/><actuator name="m"><d:gear_ratio xmlns:d="drake" value="100"/>'
            '<d:rotor_inertia xmlns:d="drake" value="2e-4"/></actuator></transmission>',
            "rotor inertia in <transmission> (<rotor_inertia>) of j is left out; joints carry <dynamics> alone",
        ),
        (
            '<gazebo reference="j"><springStiffness>100</springStiffness><dampingFactor>0.0</dampingFactor></gazebo>',
            "a spring in <gazebo> (<springStiffness>) of j is left out; joints carry <dynamics> alone",
        ),
    ],
)
def test_what_could_change_torques_and_is_not_read_is_named(extra, told):
    notes = from_urdf(ROBOT.replace("</robot>", f"{extra}</robot>")).notes
    assert [note for note in notes if "links ->" not in note and "link ->" not in note] == (
        [told] if told else []
    )


def test_drives_in_words_of_another_library_are_named():
    words = '<drake:rotor_inertia xmlns:drake="http://drake.mit.edu" value="1"/>'
    arm = from_urdf(ROBOT.replace("</joint>", f"{words}</joint>"))
    assert "not read: <rotor_inertia> in <joint>" in arm.notes


def test_a_misspelt_limit_is_said_not_to_be_read(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(
        '<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" '
        'iyy="1" iyz="0" izz="1"/></inertial></link><joint name="j" type="revolute"><parent link="a"/>'
        '<child link="b"/><limit lower="-1" uper="1" effort="1" velocity="1"/></joint></robot>'
    )
    told = "joint 'j': <limit> has uper=1: not read; it has lower, upper, effort, velocity"
    assert told in fa.load(path).notes


@pytest.mark.parametrize(
    ("soft", "said"),
    [
        ('soft_lower_limit="-1" soft_upper_limit="1"', True),
        ('soft_lower_limit="-2" soft_upper_limit="1.5"', True),
        ('soft_lower_limit="-2" soft_upper_limit="2"', False),
        ('soft_lower_limit="-3" soft_upper_limit="3"', False),
        ('soft_lower_limit="x" soft_upper_limit="1"', False),
        ("", False),
    ],
)
def test_soft_limits_that_are_narrower_were_passed_over(tmp_path, soft, said):
    """A controller that keeps to them lets nothing move where the limits that were read allow it."""
    body = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    path = tmp_path / "soft.urdf"
    path.write_text(
        f"""<robot name="r"><link name="a"/><link name="b">{body}</link>
        <joint name="turn" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
        <limit lower="-2" upper="2" effort="1" velocity="1"/><safety_controller k_velocity="10" {soft}/></joint>
        </robot>"""
    )
    found = [note for note in fa.load(path).notes if "safety_controller" in note]
    assert len(found) == said
    assert all("turn (" in note and "not read" in note for note in found)
