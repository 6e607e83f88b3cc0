"""docs/rr_both_ways.md runs: every line by hand is the machine's, and its pictures are as drawn."""

import re

import pytest

from house.pages import DOCS, script

PAGE = DOCS / "rr_both_ways.md"


def test_every_line_of_the_page_holds():
    text = PAGE.read_text(encoding="utf-8")
    assert script("run_blocks").refreshed(text) == text, "run python docs/run_blocks.py docs/rr_both_ways.md"


def test_the_page_has_every_equation_of_the_notes():
    text = PAGE.read_text(encoding="utf-8")
    told = "".join(re.findall(r"#.*|\"\"\".*", "".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))))
    found = {int(k) for k in re.findall(r"\((\d+)\)", told)}
    for first, last in re.findall(r"\((\d+)\) to \((\d+)\)", told):
        found |= set(range(int(first), int(last)))
    assert found == set(range(1, 34))


@pytest.mark.parametrize("name", script("make_rr").DRAWINGS)
def test_pictures_are_as_their_script_draws_them(name):
    """Positions to a thousandth of a point: another matplotlib may round otherwise."""
    kept = (DOCS / "figures" / name).read_text(encoding="utf-8")
    drawn = script("make_rr").DRAWINGS[name]()
    number = re.compile(r"-?\d+\.\d+")
    assert number.sub("", kept).split() == number.sub("", drawn).split(), "run python docs/make_rr.py"
    pairs = zip(number.findall(kept), number.findall(drawn), strict=True)
    assert max(abs(float(a) - float(b)) for a, b in pairs) < 1e-3, "run python docs/make_rr.py"
