"""Files of strangers, seen by MuJoCo and Pinocchio: no other file is opened or written, no process ends."""

import os
from pathlib import Path

import pytest

from cli.verbs import forearm
from forearm.outside import escapes

ROBOT = """<robot name="m">{more}<link name="base"/><link name="l"><inertial><mass value="{mass}"/>
<inertia ixx="{light}" ixy="0" ixz="0" iyy="{light}" iyz="0" izz="{light}"/></inertial>{inside}</link>
<joint name="j" type="revolute"><parent link="base"/><child link="l"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
HEAVY = """<link name="h"><inertial><mass value="10000"/><inertia ixx="10000" ixy="0" ixz="0" iyy="10000" iyz="0"
izz="10000"/></inertial></link><joint name="k" type="revolute"><parent link="l"/><child link="h"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def robot(**words):
    Path("m.urdf").write_text(
        ROBOT.format(**{"mass": "1", "light": "0.01", "more": "", "inside": "", **words})
    )
    return "m.urdf"


NAMESPACES = {
    "a mesh": (
        "mujoco",
        {"inside": '<visual xmlns="x"><geometry><mesh filename="mesh.stl"/></geometry></visual>'},
    ),
    "sizes": ("mujoco", {"more": '<mujoco xmlns="x"><size memory="40G"/></mujoco>'}),
    "links in a row": (
        "pinocchio",
        {
            "more": "".join(
                f'<link xmlns="x" name="l{k}"/><joint xmlns="x" name="j{k}" type="fixed">'
                f'<parent link="{f"l{k - 1}" if k else "l"}"/><child link="l{k}"/></joint>'
                for k in range(8000)
            )
        },
    ),
}


@pytest.mark.parametrize("what", NAMESPACES)
def test_a_namespace_hid_elements_from_us_that_other_libraries_read(capsys, what):
    peer, words = NAMESPACES[what]
    pytest.importorskip(peer)
    os.mkfifo("mesh.stl")  # whoever opens it waits for ever
    said = forearm(capsys, "compare", robot(**words), peer)
    assert said.code == 2
    assert "namespace" in said.err


def test_names_with_a_prefix_are_nobodys_and_stay(capsys):
    pytest.importorskip("mujoco")
    file = robot(inside='<s:sensor xmlns:s="http://sensors"/>')
    assert forearm(capsys, "compare", file, "mujoco").code == 0


TITLE = "\x9d0;mine\x9c\x9b31m\u202e"
"""What gives a terminal another title, another colour and another direction."""
SHAPES = {
    "a radius": f'<visual><geometry><sphere radius="{TITLE}"/></geometry></visual>',
    "a place": f'<collision><origin xyz="{TITLE} 1 1"/><geometry><sphere radius="1"/></geometry></collision>',
    "an instruction": f"<?x {TITLE} ?>",
}


@pytest.mark.parametrize("what", SHAPES)
def test_pinocchio_printed_what_a_file_says_of_shapes_to_the_terminal(capfd, what):
    pytest.importorskip("pinocchio")
    said = forearm(capfd, "compare", robot(inside=SHAPES[what]), "pinocchio")
    assert said.code == 0, said.err
    assert escapes.terminal(said.out + said.err) == said.out + said.err


def test_what_pinocchio_is_given_has_the_torques_of_the_whole_file(capsys):
    pytest.importorskip("pinocchio")
    more = HEAVY.replace(
        "<axis", '<dynamics damping="1" friction="0.5"/><origin xyz="1 2 3" rpy="1 0 2"/><axis'
    )
    file = Path(robot())
    file.write_text(file.read_text().replace("</robot>", f"{more}</robot>"))
    assert forearm(capsys, "compare", str(file), "pinocchio", "--rigid", "--any-units").code == 0


def test_mujoco_appended_its_warnings_to_what_a_link_leads_to(capsys):
    pytest.importorskip("mujoco")
    Path("mine").write_text("mine")
    Path("MUJOCO_LOG.TXT").symlink_to("mine")
    file = Path(robot(mass="1e-8", light="1e-13"))
    file.write_text(file.read_text().replace("</robot>", HEAVY + "</robot>"))
    assert forearm(capsys, "compare", str(file), "mujoco", "--any-units").code == 0
    assert Path("mine").read_text() == "mine"


@pytest.mark.parametrize("many", ["sites", "tendons"])
def test_a_hundred_thousand_sites_kept_mujoco_busy_for_minutes(capsys, many):
    """They change no torque of an arm, so its own reader leaves them out; `compare` gave them to MuJoCo."""
    pytest.importorskip("mujoco")
    body = '<body name="b"><joint name="j" axis="0 1 0"/><geom size="0.1"/><site name="s"/>{}</body>'
    sites = "<site/>" * 150_000 if many == "sites" else '<site name="e" pos="1 0 0"/>'
    rope = '<spatial><site site="s"/><site site="e"/></spatial>'
    tendons = f"<tendon>{rope * 30_000}</tendon>" if many == "tendons" else ""
    Path("m.xml").write_text(f"<mujoco><worldbody>{body.format(sites)}</worldbody>{tendons}</mujoco>")
    said = forearm(capsys, "compare", "m.xml", "mujoco")
    assert said.code == 2
    assert "elements that could change a torque" in said.err
