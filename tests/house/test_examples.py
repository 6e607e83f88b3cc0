"""Every example has a title, a paragraph and main(), is short, and is run by a test of its subject."""

import ast

import pytest

from house.pages import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
LONGER = {
    "13_reach_by_ilqr.py": 110,
    "15_crocoddyl.py": 120,
}  # a whole optimiser, a whole adapter: one piece each
TESTS = {path: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.name)
def test_an_example_is_short_and_says_what_it_shows(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) < LONGER.get(path.name, 60)
    title, _, paragraph = ast.get_docstring(ast.parse(text)).partition("\n\n")
    assert title.endswith((".", "?"))
    assert len(title.splitlines()) <= 2
    assert len(paragraph) > 60
    assert "def main(" in text


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.name)
def test_an_example_is_run_by_a_test(path):
    running = [test for test, text in TESTS.items() if f'"{path.name}"' in text and "run" in text]
    assert running, f"no test runs examples/{path.name}"


def test_numbers_have_no_gap():
    assert [int(path.name[:2]) for path in EXAMPLES] == list(range(1, len(EXAMPLES) + 1))
