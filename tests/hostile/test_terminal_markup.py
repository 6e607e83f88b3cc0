"""Names of a file at a real terminal: text, whatever marks of a library for colours they look like."""

import dataclasses
import re

import pytest

import forearm as fa
from forearm.arm import Defect
from terminals import at_a_terminal

HOSTILE = "a[/x][link=https://example.org]b[/link][bold]"


@pytest.mark.parametrize("verb", ["verify", "check", "bench", "torque"])
def test_a_name_was_taken_for_marks_and_ended_verify_or_became_a_live_link(verb, tmp_path):
    """`[/x]` closes what was never opened: exit 3, "a bug of forearm"; `[link=…]` was a link to anywhere."""
    fa.write_toml(dataclasses.replace(fa.load("rr"), name=HOSTILE), tmp_path / "rr.toml")
    more = {"torque": ["--q", "1", "2", "--summary"], "bench": ["--batch", "64"]}.get(verb, [])
    code, said = at_a_terminal(verb, "rr.toml", *more, cwd=tmp_path)
    assert code in (0, 1), said
    assert "\x1b]8" not in said  # a link of the terminal's
    if verb in ("verify", "bench"):
        assert HOSTILE in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", said)


@pytest.mark.parametrize("part", ["arm", "robot", "defect"])
def test_repr_showed_letters_that_show_nothing_as_they_are(part):
    """str() wrote them by number, repr() did not: two arms that look the same, and are not."""
    hidden = "a\u3164"
    arm = fa.load("rr").replace(provenance=(("mass", hidden),), remarks=(hidden,))
    robot = fa.Robot("r", links=arm.links, parents=(0, 1), remarks=(hidden,))
    one = {"arm": arm, "robot": robot, "defect": Defect(1, "mass", hidden)}[part]
    assert "\u3164" not in repr(one)
    assert "\\u3164" in repr(one)
    assert "\u3164" not in str(one)
