"""URDF: folding, holding, axes, right angles, defects, notes; and what the reader will not open."""

import time
from pathlib import Path

import numpy as np
import pytest
from lxml import etree

from close import assert_close
from forearm.faults import ReadFault
from forearm.formulations import FORMULATIONS
from forearm.frames import Pose
from forearm.readers.urdf import from_urdf, read_urdf

SOUND = (Path(__file__).parent / "museum" / "sound.urdf").read_text()
torques = FORMULATIONS["luh_walker_paul_1980"].joint_torques


def joint(name, parent, child, kind="continuous", axis="0 0 1", origin="", more=""):
    """A <joint>."""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<axis xyz="{axis}"/>{origin}{more}</joint>'
    )


def body(name, mass=1.0, xyz="0.1 0.02 -0.03", moment=0.01):
    """A <link> with a ball of some inertia."""
    return (
        f'<link name="{name}"><inertial><origin xyz="{xyz}"/><mass value="{mass}"/>'
        f'<inertia ixx="{moment}" ixy="0" ixz="0" iyy="{moment}" iyz="0" izz="{moment}"/></inertial></link>'
    )


def robot(*parts):
    """A <robot> of these parts, with a base."""
    return f'<robot name="r"><link name="base"/>{"".join(parts)}</robot>'


def hand(*mimic):
    """An arm of one joint with two sliding fingers."""
    limit = '<limit lower="0" upper="1" effort="1" velocity="1"/>'
    return robot(
        joint("turn", "base", "palm", axis="0 1 0"),
        body("palm"),
        joint("left", "palm", "finger1", "prismatic", "0 1 0", more=limit),
        body("finger1", 0.2),
        joint("right", "palm", "finger2", "prismatic", "0 -1 0", more=limit + "".join(mimic)),
        body("finger2", 0.2),
    )


def test_negative_axis_is_a_flip_and_keeps_the_frames():
    arm = from_urdf(robot(joint("a", "base", "l", axis="0 0 -1"), body("l")))
    assert arm.links[0].flip
    assert arm.links[0].pose == Pose()


@pytest.mark.parametrize("axis", ["1 0 0", "-1 0 0", "0 1 0", "0 -1 0", "0 0 1", "0 0 -1"])
def test_coordinate_axes_give_permutations(axis):
    arm = from_urdf(robot(joint("a", "base", "l", axis=axis), body("l")))
    assert set(np.ravel(arm.base.R)) == {0.0, 1.0}
    want = np.array([float(x) for x in axis.split()])
    assert np.array_equal(arm.base.R @ arm.links[0].z, want)


def test_any_axis_becomes_z_of_the_frame_before():
    arm = from_urdf(robot(joint("a", "base", "l", axis="0.6 0 -0.8"), body("l")))
    assert_close(arm.base.R @ arm.links[0].z, [0.6, 0, -0.8], eps=8)
    assert_close(arm.links[0].axis, [0.6, 0, -0.8], eps=8)


def test_an_axis_that_is_not_a_unit_vector_is_normalised_with_a_note():
    arm = from_urdf(robot(joint("a", "base", "l", axis="0 0 2"), body("l")))
    assert any("axis of length 2" in note for note in arm.notes)
    assert_close(torques(arm, [0.0], [0.0], [1.0]), [0.01 + 1.0 * (0.1**2 + 0.02**2)])


def test_fixed_links_are_merged_and_the_note_says_so():
    arm = read_urdf(Path(__file__).parent / "museum" / "sound.urdf")
    assert arm.links[2].mass == 0.8
    assert any("hand merged into rod: 0.3 kg" in note for note in arm.notes)


def test_held_joints_ride_where_they_are_held():
    tucked = from_urdf(hand(), tip="palm")
    apart = from_urdf(hand(), lock={"left": 0.3, "right": 0.1})
    assert tucked.n == apart.n == 1
    assert tucked.total_mass == pytest.approx(1.4, rel=1e-15)
    center = np.array(apart.links[0].com) - np.array(tucked.links[0].com)
    assert_close(center * 1.4, [0.0, 0.2 * 0.3 - 0.2 * 0.1, 0.0])
    assert any("held: left at 0.3, right at 0.1" in note for note in apart.notes)


@pytest.mark.parametrize(
    ("name", "position", "doubt"),
    [
        ("left", 1.0, ""),
        ("left", 20.0, ", beyond its limits of 0 to 1 m: millimetres?"),
        ("turn", -3.0, ""),
        ("turn", 90.0, " rad, 14.3 turns: degrees?"),
    ],
)
def test_a_joint_held_where_it_cannot_be_is_asked_about(name, position, doubt):
    """Degrees were radians, and millimetres metres, without a word."""
    text = f"held: {name} at {position:g}{doubt}"
    assert text in from_urdf(hand(), lock={name: position}).notes


def test_a_slide_without_limits_held_at_millimetres_was_not_asked_about():
    text = hand().replace('lower="0" upper="1"', 'lower="0" upper="0"')
    assert "held: left at 35 m: millimetres?" in from_urdf(text, lock={"left": 35.0}).notes


@pytest.mark.parametrize(("position", "doubt"), [(0.5, ""), (90.0, " rad, 14.3 turns: degrees?")])
def test_a_joint_held_before_the_first_that_moves_was_not_asked_about(position, doubt):
    chain = from_urdf(hand(), tip="finger1", lock={"turn": position, "right": 0.1})
    assert any(f"turn at {position:g}{doubt}" in note for note in chain.notes)


def test_a_mimic_joint_follows_the_one_that_is_held():
    arm = from_urdf(hand('<mimic joint="left" multiplier="2" offset="0.1"/>'), lock={"left": 0.2})
    assert any("right at 0.5" in note for note in arm.notes)


def test_a_joint_held_elsewhere_than_its_held_leader_puts_it_was_taken():
    text = hand('<mimic joint="left" multiplier="2" offset="0.1"/>')
    assert from_urdf(text, lock={"right": 0.5, "left": 0.2}) == from_urdf(
        text, lock={"left": 0.2, "right": 0.5}
    )
    with pytest.raises(
        ReadFault, match=r"lock holds joint 'right' at 0.6, .* which puts it at 0.5; leave it out"
    ):
        from_urdf(text, lock={"right": 0.6, "left": 0.2})


@pytest.mark.parametrize("tip", [None, "finger1"])
def test_a_follower_held_beside_its_moving_leader_lost_its_coupling_without_a_word(tip):
    found = from_urdf(hand('<mimic joint="left"/>'), lock={"right": 0.5}, tip=tip)
    assert "right is held, and its coupling to left left out: left moves without it" in found.notes


def test_a_mimic_joint_beside_a_moving_master_is_refused():
    with pytest.raises(ReadFault, match=r"'right' hangs on the arm and mimics 'left', which moves.*lock="):
        from_urdf(hand('<mimic joint="left"/>'), tip="finger1")


def test_a_floating_joint_beside_the_chain_is_refused_unless_it_hangs_on_the_base():
    free = joint("free", "palm", "kite", "floating") + body("kite")
    with pytest.raises(ReadFault, match="'free' is 'floating' and hangs on the arm"):
        from_urdf(robot(joint("turn", "base", "palm"), body("palm"), free), tip="palm")
    arm = from_urdf(
        robot(joint("turn", "base", "palm"), body("palm"), free.replace("palm", "base")), tip="palm"
    )
    assert arm.total_mass == 1.0


def test_a_chain_may_begin_at_any_link():
    arm = from_urdf(SOUND, root="upper")
    assert arm.joint_names == ("elbow", "slide")
    assert_close(arm.base.p, [0.3, 0, 0])


def test_the_tool_is_the_only_end_or_the_tip():
    assert_close(from_urdf(SOUND).tool.p, [0.2, 0, 0])
    assert_close(from_urdf(SOUND, tip="rod").tool.p, [0, 0, 0])
    assert from_urdf(SOUND, tip="rod").total_mass == from_urdf(SOUND).total_mass


def test_rounded_right_angles_are_noted_and_can_be_snapped():
    rounded = SOUND.replace("1.5707963267948966 0 0", "1.5708 0 0")
    assert any("right angles are rounded in elbow" in note for note in from_urdf(rounded).notes)
    snapped = from_urdf(rounded, right_angles=1e-3)
    assert snapped.links == from_urdf(SOUND).links
    assert not any("rounded" in note for note in from_urdf(SOUND).notes)
    assert from_urdf(rounded).links != snapped.links


def test_masses_that_cancel_are_refused():
    text = robot(joint("a", "base", "l"), body("l"), joint("f", "l", "m", "fixed"), body("m", -1.0))
    with pytest.raises(ReadFault, match="masses that are welded to link 'l' cancel to zero"):
        from_urdf(text, keep_defects=True)


@pytest.mark.parametrize("tolerance", ["a", -1e-3, 2.0, True])
def test_right_angles_is_a_small_angle(tolerance):
    with pytest.raises(ReadFault, match="give an angle in rad, such as 1e-3, or None"):
        from_urdf(SOUND, right_angles=tolerance)


def test_impossible_inertias_are_kept_when_asked_with_file_and_line():
    impossible = SOUND.replace('izz="0.025"', 'izz="1.676"')
    arm = from_urdf(impossible, "arm.urdf", keep_defects=True)
    assert [(d.link, d.kind) for d in arm.defects] == [(1, "triangle")]
    assert any("so in arm.urdf, line 13" in note for note in arm.notes)


def test_a_file_without_any_inertia_is_kinematics_only():
    arm = from_urdf(robot(joint("a", "base", "l"), '<link name="l"/>'))
    assert not arm.dynamics
    assert any("kinematics only" in note for note in arm.notes)


def test_a_massless_link_when_allowed():
    text = robot(joint("a", "base", "k"), '<link name="k"/>', joint("b", "k", "l", axis="1 0 0"), body("l"))
    arm = from_urdf(text, allow_massless=True)
    assert arm.links[0].mass == 0
    assert any("k has no <inertial>: taken as massless" in note for note in arm.notes)


def test_friction_and_limits_are_carried():
    link = from_urdf(SOUND).links[0]
    assert (link.drive.viscous, link.drive.coulomb) == (0.1, (0.2, 0.2))
    assert (link.limits, link.effort_limit, link.speed_limit) == ((-2.0, 2.0), 50.0, 3.0)


def test_unknown_dynamics_are_reported():
    arm = from_urdf(SOUND.replace('friction="0.2"', 'friction="0.2" mu_viscous="16"'))
    assert any("<dynamics> of shoulder has mu_viscous=16: not known, not used" in note for note in arm.notes)


def test_equal_limits_are_taken_as_none():
    arm = from_urdf(SOUND.replace('lower="-2" upper="2"', 'lower="0" upper="0"'))
    assert arm.links[0].limits is None
    assert any("lower and upper limit are both 0" in note for note in arm.notes)


def test_base_and_gravity_are_the_callers():
    base = Pose.at((0, 0, 1), (0.3, 0.2, 0.1))
    arm = from_urdf(SOUND, base=base, gravity=(0, 0, -1.62), name="moon")
    assert arm.name == "moon"
    assert arm.gravity == (0, 0, -1.62)
    assert_close(arm.base.p, base.p + base.R @ [0, 0, 0.4])


def test_unit_checks_can_be_left_out():
    arm = from_urdf(SOUND.replace('xyz="0.3 0 0"', 'xyz="300 0 0"'), check_units=False)
    assert arm.links[0].pose.translation[0] == 300.0


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("package://arm/arm.urdf", "is an address, not a path"),
        ("file:///etc/passwd", "is an address, not a path"),
        ("arm.urdf.xacro", "this is xacro; expand it first"),
        ("nowhere.urdf", "No such file"),
        (".", "Is a directory|Permission denied"),
    ],
)
def test_paths_that_are_not_urdf_files(path, words):
    with pytest.raises(ReadFault, match=words):
        read_urdf(path)


def test_a_huge_file_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "huge.urdf"
    with path.open("wb") as file:
        file.truncate(17 * 2**20)
    with pytest.raises(ReadFault, match=r"the file has 17 MiB; URDF files up to 16 MiB"):
        read_urdf(path)


def test_meshes_are_not_opened():
    mesh = '<visual><geometry><mesh filename="package://../../etc/passwd"/></geometry></visual><inertial>'
    assert from_urdf(SOUND.replace("<inertial>", mesh)).links == from_urdf(SOUND).links


def test_comments_with_a_doctype_do_no_harm():
    assert from_urdf(SOUND.replace("<link", "<!-- <!DOCTYPE x> -->\n<link", 1)).n == 3


@pytest.mark.parametrize("cover", ["<?x <!-- ?>", "<!--> -->", "<?x <!-- ?>\n<!-- <?y -->"])
def test_no_comment_or_instruction_hides_a_doctype(cover):
    with pytest.raises(ReadFault, match="the file has a DOCTYPE or ENTITY"):
        from_urdf(f"{cover}<!DOCTYPE robot [<!ENTITY a 'b'>]><!-- -->{SOUND}")


@pytest.mark.parametrize(
    ("spaces", "words"),
    [(300, "encoding UTF-7 or a DTD"), (2000, "declaration does not end within 1000 letters")],
)
def test_an_encoding_that_was_told_after_many_spaces_was_parsed_before_it_was_refused(
    spaces, words, monkeypatch
):
    """Tags that nobody counted: 567 MB of 16."""
    monkeypatch.setattr(etree, "fromstring", lambda *given: pytest.fail("was parsed"))
    with pytest.raises(ReadFault, match=f":1: .*{words}"):
        from_urdf(f"<?xml version='1.0'{' ' * spaces}encoding='UTF-7'?><robot name='r'>+ADw-a/+AD4-</robot>")


@pytest.mark.parametrize("encoding", ["UTF-7", "HZ", "ISO-2022-JP", "SHIFT_JIS"])
def test_an_encoding_in_which_tags_cannot_be_counted_is_refused_before_it_is_parsed(encoding, monkeypatch):
    monkeypatch.setattr(etree, "fromstring", lambda *given: pytest.fail("was parsed"))
    with pytest.raises(ReadFault, match=f":1: encoding {encoding} or a DTD; save the file as plain UTF-8"):
        from_urdf(f"<?xml version='1.0' encoding='{encoding}'?><robot name='r'>+ADw-a/+AD4-</robot>")


def test_many_open_comments_are_refused_quickly():
    start = time.perf_counter()
    with pytest.raises(ReadFault, match="not well-formed"):
        from_urdf("<robot name='r'>" + "<!-- " * 150_000)
    assert time.perf_counter() - start < 5


def test_a_chain_of_three_thousand_links():
    parts = [
        joint(f"j{i}", f"l{i - 1}" if i else "base", f"l{i}", "fixed" if i % 100 else "continuous")
        for i in range(3000)
    ]
    arm = from_urdf(robot(*parts, *(body(f"l{i}") for i in range(3000))))
    assert arm.n == 30
    assert arm.total_mass == 3000
