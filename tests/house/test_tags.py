"""Equation tags in the formulations and the pages in docs/papers stay in step."""

import re
from pathlib import Path

import pytest

from forearm.formulations import FORMULATIONS
from house.pages import script

DOCS = Path(__file__).parents[2] / "docs"
SECTIONS = ["Story", "Frames", "Symbols", "Equations", "Misprints", "Cost"]
"""How the sections of a page begin, in order; there may be others between."""


pull_tags = script("pull_tags")
PAGES = pull_tags.pages()


def test_every_formulation_has_its_page():
    assert set(PAGES) == set(FORMULATIONS)


@pytest.mark.parametrize("stem", PAGES)
def test_symbols_are_those_of_the_module(stem):
    """The table is pulled, not typed, so that it cannot fall behind (its text: the test of lines below)."""
    assert PAGES[stem].read_text(encoding="utf-8").count("<!-- symbols -->") == 1
    rows = pull_tags.symbols(pull_tags.source_of(stem)).splitlines()
    assert len(rows) >= 4, f"{stem}.py has {len(rows)} rows of symbols"


@pytest.mark.parametrize("stem", PAGES)
def test_every_tag_has_its_place_and_every_place_its_lines(stem):
    tags = pull_tags.tagged_lines(pull_tags.source_of(stem))
    places = pull_tags.places(PAGES[stem].read_text(encoding="utf-8"))
    assert len(places) == len(set(places)), f"{stem}.md shows a tag twice: {places}"
    assert set(places) == set(tags), (
        f"only in {stem}.py: {sorted(set(tags) - set(places))}; only in {stem}.md: {sorted(set(places) - set(tags))}"
    )


@pytest.mark.parametrize("stem", PAGES)
def test_pages_show_the_lines_as_they_are(stem):
    text = PAGES[stem].read_text(encoding="utf-8")
    assert pull_tags.filled(text, pull_tags.source_of(stem)) == text, (
        f"{stem}.md: run python docs/pull_tags.py"
    )


@pytest.mark.parametrize("stem", PAGES)
def test_pages_have_all_sections(stem):
    text = PAGES[stem].read_text(encoding="utf-8")
    headings = [line[3:].split()[0] for line in text.splitlines() if line.startswith("## ")]
    assert [word for word in headings if word in SECTIONS] == SECTIONS


@pytest.mark.parametrize("name", script("drawings").DRAWINGS)
def test_drawings_are_as_their_script_draws_them(name):
    drawn = script("drawings").DRAWINGS[name]()
    kept = (DOCS / "figures" / name).read_text(encoding="utf-8")
    assert kept == drawn, f"{name}: run python docs/drawings.py"


@pytest.mark.parametrize("stem", PAGES)
def test_links_of_a_page_lead_somewhere(stem):
    for target in re.findall(r"\]\(([^)#\s]+)\)", PAGES[stem].read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (PAGES[stem].parent / target).exists(), f"{stem}.md links to {target}, which is not there"


@pytest.mark.parametrize("stem", FORMULATIONS)
def test_tags_are_at_the_end_of_statements(stem):
    """Every comment that looks like a tag is one that the counter and the pages can find."""
    source = pull_tags.source_of(stem)
    looks = set(re.findall(r"#\s*\(([^()\s]+)\)\s*$", source, re.MULTILINE))
    assert looks == set(pull_tags.tagged_lines(source))
    assert looks, f"{stem}.py has no tagged line"


def test_a_changed_line_is_noticed():
    page = "<!-- lines (1) -->\n```python\nold\n```\n"
    assert pull_tags.filled("<!-- lines (1) -->\n", "x = a @ b  # (1)\n") == pull_tags.filled(
        page, "x = a @ b  # (1)\n"
    )
    assert pull_tags.filled(page, "x = a @ b  # (1)\n") == "<!-- lines (1) -->\n```python\nx = a @ b\n```\n"
    assert pull_tags.places(page) == ["1"]
    assert pull_tags.tagged_lines("for i in j:\n    y = (\n        a\n        + b\n    )  # (2), (3)\n") == {
        "2": ["y = (\n    a\n    + b\n)"],
        "3": ["y = (\n    a\n    + b\n)"],
    }
