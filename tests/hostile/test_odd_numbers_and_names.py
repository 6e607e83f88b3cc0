"""Numbers and names that a file may have and hardly any has: each verb answers, or says why not."""

import json
import re

import pytest

import forearm as fa
from cli.verbs import forearm
from forearm.readers import from_toml

HEAD = 'name = "x"\nconvention = "standard"\n'
LINK = (
    '[[link]]\nname = "{0}"\njoint = "revolute"\na = {1}\nalpha = 0\nd = 0\nmass = {2}\ncom = [{1}, 0, 0]\n'
    'inertia = {{ about = "com", Ixx = {3}, Iyy = {3}, Izz = {3} }}\n'
)
ON_AXIS = LINK.format("j1", 0, 1, 0) + LINK.format("j2", 0, 1, 0)
NEXT_TO_NOTHING = LINK.format("j1", "5e-324", "5e-324", "5e-324") + LINK.format("j2", 0.5, "5e-324", 0)


@pytest.fixture
def file(tmp_path):
    def written(links):
        path = tmp_path / "arm.toml"
        path.write_text(HEAD + links)
        return path

    return written


@pytest.mark.parametrize("links", [ON_AXIS, NEXT_TO_NOTHING])
@pytest.mark.parametrize("words", [("verify",), ("count", "--arm"), ("check",), ("compare", "rr")])
def test_masses_that_resist_nothing_are_no_bug_of_ours(links, words, file, capsys):
    """Points on their axes, masses next to nothing: `verify` and `count` divided by zero, `compare` found no SVD."""
    found = forearm(capsys, *words, file(links))
    assert found.code in (0, 1, 2), found.err


@pytest.mark.parametrize("links", [NEXT_TO_NOTHING, LINK.format("j1", 0.5, 1, 0.1) + "speed_limit = inf\n"])
def test_a_page_shows_arms_whose_numbers_json_does_not_know(links):
    """A limit of speed that is infinite was a ValueError of `view`."""
    page = fa.view(from_toml(HEAD + links + "effort_limit = inf\n")).html
    data = json.loads(re.search(r"id='data'>(.*?)</script>", page)[1])
    assert data["joints"][0]["speed"] is None
    assert data["joints"][-1]["effort"] is None


@pytest.mark.parametrize("letter", ["\uffff", "\ufffe", "\ufdd0", "\U0001ffff"])
def test_names_have_no_letters_that_unicode_has_not(letter):
    """XML cannot hold them: `convert` to URDF was a ValueError."""
    with pytest.raises(fa.ArmFault, match="give printable characters alone"):
        fa.load("rr").replace(name=f"a{letter}")


def test_a_state_whose_torques_overflow_was_called_a_bug_of_ours(capsys):
    said = forearm(capsys, "torque", "rr", "--q", "0", "0", "--qd", "1e200", "1")
    assert (said.code, said.out) == (2, "")
    assert "overflows" in said.err
