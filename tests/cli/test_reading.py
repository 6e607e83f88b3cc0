"""Options that readers' messages name exist where the message is read, and nothing asked for is ignored."""

import io
import re

import pytest

import forearm as fa
from cli.verbs import forearm
from forearm.outside.option_names import FLAGS, held, of_the_shell, option
from forearm.readers import load
from forearm.writers.urdf import to_urdf

LINK = (
    '<link name="{0}"><inertial><mass value="1"/>'
    '<inertia ixx="{1}" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>'
)
JOINT = (
    '<joint name="{0}" type="continuous"><parent link="{1}"/><child link="{2}"/>'
    '<origin rpy="{3} 0 0" xyz="0 0 0.3"/><axis xyz="0 0 1"/></joint>'
)


def urdf(tmp_path, *parts):
    path = tmp_path / "arm.urdf"
    path.write_text('<robot name="r"><link name="base"/>' + "".join(parts) + "</robot>")
    return path


def chain(tmp_path, ixx=1, roll="0"):
    links = [LINK.format("a", 1), LINK.format("b", ixx)]
    return urdf(tmp_path, *links, JOINT.format("one", "base", "a", 0), JOINT.format("two", "a", "b", roll))


def fork(tmp_path):
    links = [LINK.format(name, 1) for name in "abc"]
    joints = [
        JOINT.format(f"j{child}", parent, child, 0)
        for parent, child in (("base", "a"), ("a", "b"), ("a", "c"))
    ]
    return urdf(tmp_path, *links, *joints)


def test_every_flag_of_a_message_is_an_option_of_the_verbs(capsys):
    said = forearm(capsys, "show", "--help").out
    for flag in FLAGS.values():
        assert re.search(rf"{flag}\b", said), flag


def test_a_branch_lists_the_ends_of_arms_first_and_names_flags_in_the_shell(capsys, tmp_path):
    path = fork(tmp_path)
    said = forearm(capsys, "derive", path)
    assert said.code == 2
    assert "it has 2 branches" in said.err
    assert "Choose where it ends, --tip b: 'b', 'c', 'a'" in said.err
    assert "├─ jb -> b" in forearm(capsys, "show", path).out
    assert load(path).tips == ("b", "c")
    assert forearm(capsys, "show", path, "--tip", "b").code == 0
    assert forearm(capsys, "show", path, "--lock", "jc=0.3").code == 0
    assert (
        "--lock has 'jc'; give a joint and its position" in forearm(capsys, "show", path, "--lock", "jc").err
    )


def test_impossible_inertias_are_refused_by_show_and_reported_by_check(capsys, tmp_path):
    path = chain(tmp_path, ixx=100)
    assert "with --keep-defects" in forearm(capsys, "show", path).err
    assert forearm(capsys, "show", path, "--keep-defects").code == 0
    said = forearm(capsys, "check", path)
    assert (said.code, said.err) == (1, "")
    assert re.search(r"error +2 two .*no rigid body has that", said.out)


def test_impossible_inertias_of_a_toml_file_are_reported_by_check(capsys, tmp_path):
    path = tmp_path / "arm.toml"
    text = forearm(capsys, "convert", "rr", "-").out
    path.write_text(re.sub(r'(about = "com".*?Ixx = )[\d.e-]+', r"\g<1>99.0", text, count=1))
    assert forearm(capsys, "show", path).code == 2
    said = forearm(capsys, "check", path)
    assert (said.code, said.err) == (1, "")
    assert "no rigid body has that" in said.out


def test_nearly_right_angles_are_noted_and_checked_and_can_be_snapped(capsys, tmp_path):
    path = chain(tmp_path, roll="1.5708")
    assert "--snap-right-angles 1e-3 makes them exact" in forearm(capsys, "show", path).out
    assert "right_angles=1e-3 makes them exact" in " ".join(load(path).notes)
    assert re.search(
        r"note +1 one .*rad from right angles.*--snap-right-angles 1e-3", forearm(capsys, "check", path).out
    )
    assert "right angles" not in forearm(capsys, "check", path, "--snap-right-angles", "1e-3").out


def test_nearly_right_angles_of_a_toml_file_are_noted(tmp_path, capsys):
    path = tmp_path / "arm.toml"
    text = forearm(capsys, "convert", "puma560", "-").out
    path.write_text(text.replace('alpha = "pi/2"', "alpha = 1.5708"))
    assert any("right angles are rounded in" in note for note in load(path).notes)


def test_an_option_that_a_format_does_not_have_is_not_ignored(capsys):
    said = forearm(capsys, "show", "puma560", "--tip", "hand")
    assert (said.code, said.out) == (2, "")
    assert "puma560: --tip does nothing in this format" in said.err


def test_an_option_of_another_format_ended_in_a_bug_report(capsys, tmp_path):
    body = '<body><joint axis="0 1 0"/><geom type="sphere" size="0.1" pos="0.3 0 0"/></body>'
    model = tmp_path / "arm.xml"
    model.write_text(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    for path, flag in (
        (model, "--any-units"),
        (model, "--allow-massless"),
        ("examples/fork.urdf", "--allow-files"),
    ):
        said = forearm(capsys, "show", path, flag)
        assert said.code == 2
        assert f"{flag} does nothing in this format" in said.err


@pytest.mark.parametrize(
    ("value", "shell"),
    [
        ("'hand'", "--tip hand"),
        (repr("left hand"), "--tip 'left hand'"),
        (repr("<script>\"'"), """--tip '<script>"'"'"''"""),
        (repr("$(rm -r ~)"), "--tip '$(rm -r ~)'"),
        ("NAME", "--tip NAME"),
    ],
)
def test_a_name_from_a_file_is_one_word_of_the_shell_in_what_is_advised(value, shell):
    with of_the_shell():
        assert option("tip", value) == shell
    assert option("tip", value) == f"tip={value}"


def test_joints_to_hold_are_words_of_the_shell_too():
    with of_the_shell():
        assert held({"a b": 0.0, "c": 1.5}) == "--lock 'a b=0.0' c=1.5"


FINGER = """<link name="{0}"><inertial><mass value="0.2"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0"
iyz="0"/></inertial></link><joint name="j_{0}" type="prismatic"><parent link="hand"/><child link="{0}"/><axis
xyz="{1}"/><limit lower="0" upper="0.04" effort="9" velocity="1"/></joint>"""
GRASPING = """<robot name="grasping"><link name="base"/><link name="arm"><inertial><mass value="1"/><inertia ixx="0.01"
iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="turn" type="revolute"><parent
link="base"/><child link="arm"/><axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="50" velocity="3"/></joint>
<link name="hand"/><joint name="weld" type="fixed"><parent link="arm"/><child link="hand"/><origin
xyz="0.5 0 0"/></joint>{0}</robot>"""
HELD = ("--lock", "j_left=0.01", "j_right=0.01")


@pytest.mark.parametrize(
    "words",
    [
        ("torque", "--payload", 1),
        ("reactions", "--payload", 1),
        ("simulate", "--payload", 1, "--duration", 0.01),
        ("move", "--payload", 1, "--to", 1, "--accelerations", 1),
        ("reach", "--pose", 0, 0, 0, "--only", "position"),
        ("sweep", "MOTION", "--payload", 1, 2, "--samples", 1),
    ],
)
def test_a_tool_that_a_file_leaves_open_is_told_by_what_uses_it(capsys, tmp_path, words):
    path, motion = tmp_path / "grasping.urdf", tmp_path / "motion.csv"
    path.write_text(GRASPING.format(FINGER.format("left", "0 1 0") + FINGER.format("right", "0 -1 0")))
    motion.write_text("t,q1\n0,0\n0.5,0.2\n1,0.3\n1.5,0.2\n")
    verb, *more = (motion if word == "MOTION" else word for word in words)
    note = "the tool is the frame of arm; --tip names another"
    assert note in forearm(capsys, verb, path, *more, *HELD).err
    assert note in " ".join(forearm(capsys, verb, path, *more, *HELD, "--json").json["notes"])
    assert note not in forearm(capsys, verb, path, *more, "--tip", "hand").err
    assert note not in forearm(capsys, "torque", path, *HELD).err


@pytest.mark.parametrize("head", ["", "<!-- <mujoco> reads it, too -->"])
def test_a_urdf_file_that_speaks_of_mujoco_was_taken_for_mjcf_on_stdin(capsys, tmp_path, monkeypatch, head):
    urdf = to_urdf(fa.load("ur5e"))
    at = urdf.index(">", urdf.index("<robot")) + 1
    start = urdf.index("<robot")
    text = urdf[:start] + head + urdf[start:at] + "<mujoco><compiler/></mujoco>" + urdf[at:]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert forearm(capsys, "show", "-", "--json").json["joints"] == 6


def test_an_arm_on_stdin_was_read_twice_where_its_controller_is_unaware(capsys, monkeypatch):
    arm = forearm(capsys, "convert", "rr", "-").out
    monkeypatch.setattr("sys.stdin", io.StringIO(arm))
    words = "--goal", 0.1, 0.2, "--payload", 1, "--unaware", "--duration", 0.01, "--json"
    said = forearm(capsys, "simulate", "-", *words).json
    assert said["tau"] == forearm(capsys, "simulate", "rr", *words).json["tau"]
