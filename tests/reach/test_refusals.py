"""What `inverse_kinematics` and `forearm reach` refuse: one sentence each."""

import numpy as np
import pytest

import forearm as fa
from cli.verbs import forearm

GOAL = np.eye(4)
SKEWED = np.eye(4)
SKEWED[0, 1] = 0.01

CASES = [
    (np.full((4, 4), np.nan), {}, "pose holds nan"),
    (np.eye(4)[:3], {}, "has shape"),
    (np.zeros((5, 2)), {}, "or positions"),
    (2 * np.eye(4), {}, "last row"),
    (np.diag([1.0, 1.0, -1.0, 1.0]), {}, "is not a rotation"),
    (np.stack([GOAL, SKEWED]), {}, "3x3 part of pose[1] is not a rotation"),
    (GOAL * 1j, {}, "complex"),
    ("tool", {}, "is a str"),
    (None, {}, "is a NoneType"),
    ([[1, 2], [3]], {}, "no array of numbers"),
    (GOAL, {"only": "posture"}, "only is 'posture'"),
    (GOAL, {"only": 3}, "only is 3"),
    ([0, 0, 0], {"only": "pointing"}, "length zero"),
    ([0, 0, 1], {"only": "orientation"}, "3x3 rotations"),
    (GOAL, {"q0": [1, 2]}, "q0 has shape"),
    (GOAL, {"q0": [np.nan] * 6}, "q0 is not finite"),
    (np.stack([GOAL] * 4), {"posture": np.zeros((3, 6))}, "beside a pose for each of"),
    (GOAL, {"threads": 0}, "threads is 0"),
    (GOAL, {"seed": -1}, "seed is -1"),
    (GOAL, {"attempts": 0}, "attempts is 0"),
    (GOAL, {"frame": "nobody"}, "no frame 'nobody'"),
    (GOAL, {"frame": "base"}, "which no joint moves"),
    (GOAL, {"only": "position", "every": True}, "posture=… or q0=…"),
]


@pytest.mark.parametrize(("pose", "options", "words"), CASES, ids=[words for _, _, words in CASES])
def test_one_sentence(pose, options, words):
    with pytest.raises(fa.Fault) as caught:
        fa.inverse_kinematics(fa.load("puma560"), pose, **options)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_name_is_no_arm():
    with pytest.raises(fa.StateFault, match=r"give an Arm: fa.load\('puma560'\)"):
        fa.inverse_kinematics("puma560", GOAL)


@pytest.mark.more
def test_letters_are_no_numbers():
    with pytest.raises(fa.StateFault, match="letters in place of numbers"):
        fa.inverse_kinematics(fa.symbolic(fa.load("rr")), GOAL)


# -- the verb -----------------------------------------------------------------------------------------------


def test_the_verb_tells_a_solution_and_its_limits(capsys):
    said = forearm(capsys, "reach", "puma560", "--pose", "400mm", "0.2", "0.3", "0", "90deg", "0")
    assert said.code == 0
    assert "waist" in said.out
    assert "low" in said.out
    assert "reached, to" in said.out


def test_a_quaternion_is_the_same_pose_as_angles(capsys):
    words = ("reach", "ur10e", "--every", "--json", "--pose", "0.6", "0.2", "0.4")
    angles = forearm(capsys, *words, "1rad", "0", "0").json
    other = forearm(capsys, *words, str(np.sin(0.5)), "0", "0", str(np.cos(0.5))).json
    assert len(angles["q"]) == 8
    assert np.abs(np.array(angles["q"]) - other["q"]).max() < 1e-12


def test_what_is_not_reached_is_exit_code_1(capsys):
    said = forearm(capsys, "reach", "puma560", "--pose", "3", "0", "0")
    assert said.code == 1
    assert "NOT REACHED: out of reach" in said.out
    told = forearm(capsys, "reach", "puma560", "--pose", "3", "0", "0", "--json")
    assert told.code == 1
    assert told.json["solved"] is False


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--pose", "1", "2"), "--pose has 2 numbers"),
        ((), "--pose has 0 numbers"),
        (("--pose", "1", "2", "30deg"), "30deg for z"),
        (("--pose", "0", "0", "0", "1", "1", "0", "0"), "quaternion of length"),
        (("--pose", "0", "0", "0", "--only", "pointing"), "needs an orientation"),
        (("--pose", "0", "0", "nan"), "give finite numbers"),
        (("--pose", "0.3", "0", "0.3", "--every"), "leave --every out"),
        (
            ("--pose", "0.3", "0", "0.3", "0", "0", "0", "--every", "--attempts", "4"),
            "leave --attempts out",
        ),
        (("--pose", "0.3", "0", "0.3", "--attempts", "300"), "there are 256 starts"),
    ],
)
def test_the_verb_refuses(capsys, words, sentence):
    said = forearm(capsys, "reach", "puma560", *words)
    assert said.code == 2
    assert sentence in said.err


def test_attempts_beyond_the_starts_that_there_are_were_cut_to_them_without_a_word():
    """A search for one pose hears no Ctrl-C; there are 256 starts, and more attempts would begin where others did."""
    arm = fa.load("ur5e")
    with pytest.raises(fa.StateFault, match="attempts is 257; there are 256 starts, give up to so many"):
        fa.inverse_kinematics(arm, fa.pose(arm, [0.1] * 6), attempts=257)


def test_every_solution_was_searched_for_whatever_attempts_were_given():
    arm = fa.load("ur5e")
    with pytest.raises(fa.StateFault, match="every=True searches from all 256 starts; leave attempts= out"):
        fa.inverse_kinematics(arm, fa.pose(arm, [0.1] * 6), every=True, attempts=4)
