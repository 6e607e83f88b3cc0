"""docs/equations.md: every numbered equation of the five papers is somewhere, and the page says where."""

import re

import pytest

from house.pages import DOCS, ROOT, script

make_equations = script("make_equations")
NUMBERS, PLACES = make_equations.numbered(), make_equations.places()


def test_the_page_is_as_generated():
    page = make_equations.PAGE.read_text(encoding="utf-8")
    assert page == make_equations.page(), "run python docs/make_equations.py"


def test_the_papers_have_as_many_equations_as_they_print():
    assert {paper: len(ks) for paper, ks in NUMBERS.items()} == {
        "turney_mudge_lee_1980": 96,
        "newton_euler_notes": 23,
        "hollerbach_1980": 36,
        "giacaglia_kottke_2007": 55,
        "rr_notes": 33,
    }


@pytest.mark.parametrize("paper", NUMBERS)
def test_every_equation_is_computed_or_checked(paper):
    """A mention on the paper's page is not enough."""
    missing = [k for k in NUMBERS[paper] if not PLACES[paper, k]]
    assert not missing, f"{paper}: {missing}"
    told = [k for k in NUMBERS[paper] if all(kind == "page" for kind, _ in PLACES[paper, k])]
    assert not told, f"{paper}: {told}"


def test_the_places_exist():
    """Each place on the page is a line of a file that is there."""
    page = make_equations.PAGE.read_text(encoding="utf-8")
    homes = [DOCS, ROOT / "tests", ROOT / "src" / "forearm" / "formulations"]
    for name, line in set(re.findall(r"`([\w/.]+):(\d+)`", page)):
        path = next(home / name for home in homes if (home / name).exists())
        assert int(line) <= len(path.read_text(encoding="utf-8").splitlines())
