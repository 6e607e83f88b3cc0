"""A museum of broken URDF files: each is refused, with its line, what was found and what to do."""

import re
from pathlib import Path

import pytest

from forearm.faults import ArmFault, ReadFault
from forearm.readers import load

MUSEUM = Path(__file__).parent / "museum"

# file, exception, line (None where a message has none, or it depends on the XML library), words, options
EXHIBITS = [
    ("empty", ReadFault, None, "the file is empty", {}),
    ("only_spaces", ReadFault, None, "the file is empty", {}),
    ("truncated", ReadFault, None, "not well-formed XML", {}),
    ("mismatched_tag", ReadFault, 11, "not well-formed XML: .*mismatch", {}),
    ("not_xml", ReadFault, 1, "not well-formed XML", {}),
    ("utf16", ReadFault, None, "zero bytes", {}),
    ("wrong_encoding", ReadFault, None, "not well-formed XML", {}),
    ("billion_laughs", ReadFault, 2, "DOCTYPE or ENTITY", {}),
    ("external_entity", ReadFault, 2, "DOCTYPE or ENTITY", {}),
    ("external_dtd", ReadFault, None, "DOCTYPE or ENTITY|not well-formed", {}),
    ("undefined_entity", ReadFault, 2, "not well-formed XML", {}),
    ("too_deep", ReadFault, 1, "not well-formed XML: Excessive depth", {}),
    ("duplicate_attribute", ReadFault, 15, "not well-formed XML: .*redefined", {}),
    ("mjcf_inside", ReadFault, 1, "root element is <mujoco>", {}),
    ("sdf_inside", ReadFault, 2, "root element is <sdf>", {}),
    ("other_root", ReadFault, 1, "root element is <machine>; a URDF file has <robot", {}),
    ("no_robot_name", ReadFault, 2, "<robot> has no name", {}),
    ("no_links", ReadFault, 1, "the file has no <link>", {}),
    ("xacro_macro", ReadFault, 3, "<xacro:property> is xacro", {}),
    ("xacro_expression", ReadFault, 15, r"'\$\{m1\}' is xacro", {}),
    ("link_without_name", ReadFault, 12, "<link> has no name", {}),
    ("joint_without_name", ReadFault, 19, "<joint> has no name", {}),
    ("duplicate_link", ReadFault, 56, "link 'upper' is there already, in line 12", {}),
    ("duplicate_joint", ReadFault, 32, "joint 'elbow' is there already, in line 19", {}),
    ("unknown_parent", ReadFault, 32, "has parent 'lowr', which is no link", {}),
    ("unknown_child", ReadFault, 32, "has child 'rd', which is no link", {}),
    ("joint_without_parent", ReadFault, 32, "has no <parent>", {}),
    ("joint_without_child", ReadFault, 32, "has no <child>", {}),
    ("parent_without_link", ReadFault, 33, "<parent>: has no link", {}),
    ("two_parents", ReadFault, 56, "link 'lower' has two parents, joints 'elbow' and 'strut'", {}),
    ("joined_to_itself", ReadFault, 32, "joins link 'lower' to itself", {}),
    ("loop", ReadFault, None, "links go round in a loop", {}),
    ("two_trees", ReadFault, 56, "links 'base', 'table' all have no parent", {}),
    ("nothing_moves", ReadFault, None, "no joint moves after 'base'", {}),
    (
        "unknown_tip",
        ReadFault,
        None,
        "tip='tool0' is no link of this file; it has 'hand', 'base', 'upper'",
        {"tip": "tool0"},
    ),
    ("unknown_root", ReadFault, None, "root='world' is no link of this file", {"root": "world"}),
    (
        "tip_before_root",
        ReadFault,
        None,
        "no way from 'lower' to tip='upper'",
        {"root": "lower", "tip": "upper"},
    ),
    (
        "lock_of_unknown_joint",
        ReadFault,
        None,
        "lock names 'finger', which is no joint",
        {"lock": {"finger": 0.0}},
    ),
    (
        "lock_of_fixed_joint",
        ReadFault,
        45,
        "lock names joint 'mount', which is fixed",
        {"lock": {"mount": 0.0}},
    ),
    ("lock_at_nan", ReadFault, None, "lock gives nan for joint 'slide'", {"lock": {"slide": float("nan")}}),
    (
        "floating",
        ReadFault,
        19,
        "joint 'elbow' is floating, and it is not the one joint between the root.*start after it with root=",
        {},
    ),
    ("planar", ReadFault, 19, "joint 'elbow' is 'planar'.*two prismatic joints", {}),
    ("ball_joint", ReadFault, 19, "has type 'spherical'; URDF has revolute", {}),
    ("type_with_capital", ReadFault, 19, "has type 'Continuous'", {}),
    ("no_type", ReadFault, 19, "joint 'elbow' has no type", {}),
    (
        "mimic_on_the_chain",
        ReadFault,
        32,
        r"joint 'slide' mimics 'elbow'.*lock=\{'slide': 0.0\}",
        {"tip": "hand"},
    ),
    ("mimic_of_nobody", ReadFault, 32, "mimics 'elbo', which is no joint of this file", {}),
    ("mimic_in_a_circle", ReadFault, 32, "mimics 'slide', which is itself, in a circle", {}),
    ("zero_axis", ReadFault, 36, "'0 0 0' has no direction", {}),
    ("axis_without_xyz", ReadFault, 36, "<axis>: has no xyz; give xyz=", {}),
    ("two_axes", ReadFault, 37, "has 2 <axis>, where one belongs", {}),
    ("no_limit", ReadFault, 4, "is revolute but has no <limit>.*make it continuous", {}),
    ("limits_swapped", ReadFault, 9, "lower=2 is above upper=-2; swap them", {}),
    ("negative_velocity", ReadFault, 9, "velocity=-3 is negative", {}),
    ("negative_damping", ReadFault, 10, "damping=-0.1 is negative", {}),
    ("decimal_comma", ReadFault, 15, "value='3,0' is not a number.*point, not a comma", {}),
    ("commas_between", ReadFault, 14, "has 1 numbers; give three.*separated by spaces", {}),
    ("two_numbers", ReadFault, 14, "xyz='0.1 0' has 2 numbers", {}),
    ("four_numbers", ReadFault, 14, "rpy='1 0 0 0' has 4 numbers", {}),
    ("word_for_number", ReadFault, 15, "value='heavy' is not a number", {}),
    ("nan_mass", ReadFault, 15, "value='nan' is not a number", {}),
    ("infinite_inertia", ReadFault, 16, "izz='inf' is not a number", {}),
    ("overflow", ReadFault, 16, "is beyond 1e.50, larger than anything", {}),
    ("hexadecimal", ReadFault, 15, "value='0x3' is not a number", {}),
    ("unit_in_number", ReadFault, 15, "value='3.0 kg' is not a number", {}),
    ("empty_number", ReadFault, 15, "value='' is not a number", {}),
    ("underscore", ReadFault, 15, "value='3_0' is not a number", {}),
    ("degrees", ReadFault, 22, "rpy has 90, beyond.*degrees", {}),
    ("millimetres", ReadFault, 22, "xyz has 300, beyond.*millimetres", {}),
    ("grams", ReadFault, 15, r"value has 3e\+06, beyond.*grams", {}),
    ("square_millimetres", ReadFault, 16, "a moment has 300000, beyond.*kg mm²", {}),
    ("missing_inertial", ReadFault, 25, "link 'lower' moves but has no <inertial>.*allow_massless=True", {}),
    ("missing_mass", ReadFault, 13, "<inertial>: has no <mass>", {}),
    ("missing_inertia", ReadFault, 13, "<inertial>: has no <inertia>", {}),
    ("missing_moment", ReadFault, 16, "<inertia>: has no iyz", {}),
    ("mass_without_value", ReadFault, 15, "<mass>: has no value", {}),
    ("two_inertials", ReadFault, 17, "has 2 <inertial>", {}),
    ("negative_mass", ArmFault, 13, "link 'upper': mass is -3 kg", {}),
    ("negative_moment", ArmFault, 13, "are not all positive", {}),
    ("impossible_inertia", ArmFault, 13, "break the triangle inequality.*keep_defects=True", {}),
    ("large_products", ArmFault, 13, "are not all positive", {}),
    ("massless_with_inertia", ArmFault, 40, "mass is 0 but principal moments", {}),
]


def test_the_sound_file_is_sound():
    arm = load(MUSEUM / "sound.urdf")
    assert [link.kind for link in arm.links] == ["revolute", "revolute", "prismatic"]
    assert arm.total_mass == 5.8


@pytest.mark.parametrize(
    ("name", "kind", "line", "words", "options"), EXHIBITS, ids=[row[0] for row in EXHIBITS]
)
def test_broken_file_is_refused_with_its_line(name, kind, line, words, options):
    path = MUSEUM / f"{name}.urdf"
    with pytest.raises(kind) as caught:
        load(path, **options)
    message = str(caught.value)
    assert re.search(words, message), message
    assert message.startswith(f"{path}:{line}:" if line else f"{path}:"), message


def test_every_exhibit_is_labelled():
    labelled = {row[0] for row in EXHIBITS} | {"sound"}
    assert {path.stem for path in MUSEUM.glob("*.urdf")} == labelled
    assert len(labelled) > 60
