"""What a new user met on robots that nobody had chosen: each test is named for what was seen."""

import re
from pathlib import Path

import numpy as np
import pytest

import forearm as fa
from faults.tree_cases import fork, free_body
from forearm.faults import Fault
from forearm.readers.urdf import from_urdf
from robots.test_tree_museum import SOUND, joint, link

THIN = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="90"/></inertial>'
EXAMPLES = Path(__file__).parents[2] / "examples"


def tree(*parts, **options):
    """A robot of the museum's parts."""
    return from_urdf(f'<robot name="r">{"".join(parts)}</robot>', **options)


def with_impossible_base():
    """A free robot whose base has an inertia that no body has, kept."""
    parts = (link("base", THIN), *SOUND[1:], joint("jc", "a", "c"))
    return tree(*parts, base="free", keep_defects=True)


def with_impossible_branch():
    """A robot one of whose branches has an inertia that no body has, kept."""
    parts = (*SOUND[:3], link("c", THIN), *SOUND[4:], joint("jc", "a", "c"))
    return tree(*parts, keep_defects=True)


def test_torques_of_a_robot_whose_free_base_has_a_declared_defect():
    robot = with_impossible_base()
    q, qd, qdd = robot.random_state(0)
    tau = fa.inverse_dynamics(robot, q, qd, qdd)
    assert np.allclose(fa.regressor(robot, q, qd, qdd) @ fa.parameters(robot), tau, rtol=1e-12)
    assert fa.verify(robot, states=1, compiled=False, formulations=("luh_walker_paul_1980",)).passed
    assert any(note.startswith("the base: principal moments (1, 1, 90)") for note in robot.notes)
    assert [x.link for x in fa.check(robot).findings if x.level == "error"] == [0]
    assert not robot.fixed().defects


def test_a_chain_beside_a_branch_with_a_declared_defect_is_had():
    arm = with_impossible_branch().arm("b")
    assert any("'jc', held beside it, so in text" in note for note in arm.notes)
    assert arm.defects[0].kind == "triangle"


def test_named_states_come_along_when_a_base_is_freed_and_fixed():
    robot = fork(configurations={"home": (0.1, 0.2, 0.3)}, base=fa.Pose.at((1, 2, 3)))
    freed = robot.freed()
    assert freed.configuration("home").tolist() == [1, 2, 3, 0, 0, 0, 1, 0.1, 0.2, 0.3]
    assert freed.fixed() == robot
    assert robot.fixed() is robot
    assert freed.freed() is freed


@pytest.mark.parametrize("ask", [fa.forward_dynamics, lambda robot, q, qd, _: fa.task(robot, q, qd, "hand")])
def test_a_free_base_without_mass_is_named_not_link_six(ask):
    robot = fa.load(EXAMPLES / "fork.urdf", base="free")
    q, qd, tau = robot.random_state(0)
    with pytest.raises(fa.SingularInertia, match=r"'base wz'.*give the free base its mass and inertia"):
        ask(robot, q, qd, tau)


def test_counts_of_a_tree_are_those_of_its_chains():
    robot = fork()
    found = fa.count("luh_walker_paul_1980", arm=robot)
    each = [fa.count("luh_walker_paul_1980", arm=arm) for arm in robot.chains()]
    assert found.multiplications == sum(x.multiplications for x in each)
    assert found.additions == sum(x.additions for x in each)
    assert sum(t.multiplications for t in found.by_link.values()) == found.multiplications
    assert {number for _, number in found.by_link} <= {0, 1, 2, 3}
    assert fa.count("luh_walker_paul_1980", arm=free_body()).n == 6


def test_tools_go_before_ends_without_one():
    robot = fork(tools=(fa.NamedFrame("gripper", 3, fa.Pose()),))
    assert robot.tips == ("gripper", "left")


@pytest.mark.parametrize("couplings", [{}, {"left": "right"}, {"right": ("left", -1.0)}])
def test_what_is_advised_where_one_chain_is_needed_works(couplings):
    robot = fork(couplings=couplings)
    with pytest.raises(Fault, match=r"robot\.") as said:
        fa.derive(robot)
    advice = re.search(r"robot\.[^;]*\)(?=\.$)", str(said.value)).group()
    arm = eval(advice, {"robot": robot})  # a sentence of ours, as a user would type it
    assert isinstance(arm, fa.Arm)


def test_the_arm_before_coupled_fingers_is_advised():
    links = [fa.Link.dh("revolute", a=0.3, mass=1.0, name=f"j{i}") for i in (1, 2, 3)]
    fingers = [fa.Link("prismatic", mass=0.1, name=name) for name in ("left", "right")]
    robot = fa.Robot("hand", [*links, *fingers], parents=(0, 1, 2, 3, 3), couplings={"right": "left"})
    with pytest.raises(Fault, match=r"robot\.arm\('j3'\)"):
        fa.view(robot)
    assert robot.arm("j3").n == 3


def test_an_unknown_tip_lists_the_ends_first():
    with pytest.raises(Fault, match=re.escape("(did you mean 'b'?); it has 'b', 'c', 'base', 'a'.")):
        tree(*SOUND, joint("jc", "a", "c"), tip="bb")


def test_a_file_without_joints_is_told_of_the_free_base():
    with pytest.raises(Fault, match="base='free' reads a body that flies"):
        tree(link("base"))
    assert tree(link("base"), base="free").nv == 6


def test_legs_may_be_alike_and_a_chain_of_like_links_is_doubted():
    alike = {finding.kind for finding in fa.check(tree(*SOUND, joint("jc", "a", "c")).freed()).findings}
    assert "placeholder" not in alike
    row = tree(*SOUND, joint("jc", "b", "c"))
    assert "placeholder" in {finding.kind for finding in fa.check(row).findings}
