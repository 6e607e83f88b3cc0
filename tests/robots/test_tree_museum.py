"""Broken trees, each with its sentence: a sound tree with one thing wrong."""

import re

import pytest

import forearm as fa
from forearm.faults import Fault
from forearm.readers.urdf import from_urdf

BODY = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'


def link(name, body=BODY):
    return f'<link name="{name}">{body}</link>'


def joint(name, parent, child, kind="continuous", more=""):
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return (
        f'<joint name="{name}" type="{kind}">{ends}<origin xyz="0 0 0.3"/><axis xyz="0 0 1"/>{more}</joint>'
    )


def mimic(leader):
    return f'<mimic joint="{leader}"/>'


SOUND = [link("base"), link("a"), link("b"), link("c"), joint("ja", "base", "a"), joint("jb", "a", "b")]
LAST = joint("jc", "a", "c")

EXHIBITS = [
    ("loop", [joint("jc", "a", "c"), joint("jd", "c", "a")], {}, "link 'a' has two parents"),
    ("two roots", [LAST, link("table")], {}, "all have no parent"),
    (
        "mimic of itself",
        [joint("jc", "a", "c", more=mimic("jc"))],
        {},
        "mimics 'jc', which is itself, in a circle",
    ),
    ("mimic of nobody", [joint("jc", "a", "c", more=mimic("jx"))], {}, "which is no joint of this file"),
    (
        "mimics in a circle",
        [joint("jc", "a", "c", more=mimic("jd")), link("d"), joint("jd", "a", "d", more=mimic("jc"))],
        {},
        "itself, in a circle",
    ),
    ("link twice", [LAST, link("b")], {}, "link 'b' is there already"),
    ("joint twice", [LAST, link("d"), joint("jb", "c", "d")], {}, "joint 'jb' is there already"),
    ("branch without mass", [LAST, link("d", ""), joint("jd", "b", "d")], {}, "moves but has no <inertial>"),
    (
        "floating branch",
        [joint("jc", "a", "c", "floating")],
        {},
        "'jc' is floating, and it is not the one joint",
    ),
    ("planar branch", [joint("jc", "a", "c", "planar")], {}, "joint 'jc' is 'planar'"),
    ("to nowhere", [LAST, joint("jd", "c", "d")], {}, "has child 'd', which is no link"),
    ("from nowhere", [LAST, link("d"), joint("jd", "x", "d")], {}, "has parent 'x', which is no link"),
    ("onto itself", [LAST, link("d"), joint("jd", "d", "d")], {}, "joins link 'd' to itself"),
    ("lock of nobody", [LAST], {"lock": {"jx": 0.0}}, "lock names 'jx', which is no joint"),
    ("base of another kind", [LAST], {"base": "floating"}, "base is 'floating'; give a Pose, or 'free'"),
    ("tip of a free base", [LAST], {"base": "free", "tip": "c"}, "exclude each other"),
    (
        "coupling of nobody",
        [LAST],
        {"couplings": {"jx": "ja"}},
        "a coupling names joint 'jx', which is not there",
    ),
    ("coupling onto itself", [LAST], {"couplings": {"jc": "jc"}}, "joint 'jc' is coupled to itself"),
    (
        "coupling twice",
        [joint("jc", "a", "c", more=mimic("jb"))],
        {"couplings": {"jc": "ja"}},
        "has 2 couplings",
    ),
]


@pytest.mark.parametrize(
    ("parts", "options", "says"), [row[1:] for row in EXHIBITS], ids=[row[0] for row in EXHIBITS]
)
def test_a_broken_tree_is_refused_in_a_sentence(parts, options, says):
    text = f'<robot name="r">{"".join([*SOUND, *parts])}</robot>'
    with pytest.raises(Fault, match=re.escape(says)):
        from_urdf(text, **options)


def test_the_tree_itself_is_sound():
    robot = from_urdf(f'<robot name="r">{"".join([*SOUND, LAST])}</robot>')
    assert isinstance(robot, fa.Robot)
    assert robot.parents == (0, 1, 1)
