"""docs/complexity.md is written from the counts."""

import importlib.util
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def script():
    """docs/make_complexity.py as a module."""
    spec = importlib.util.spec_from_file_location("make_complexity", DOCS / "make_complexity.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_schedules_and_tables_on_the_page_are_the_measured_ones(script):
    text = (DOCS / "complexity.md").read_text(encoding="utf-8")
    for part in (script.concurrency(), script.strobing()):
        assert part.strip() in text, "run python docs/make_complexity.py"


def test_pictures_are_there(script):
    text = (DOCS / "complexity.md").read_text(encoding="utf-8")
    named = {line.split("(figures/")[1].rstrip(")") for line in text.splitlines() if line.startswith("![")}
    assert named == {
        f"{name}.png" for name in ("cost_against_joints", "breakdown", "time_against_units", "gantt", "macro")
    }
    for name in named:
        assert (DOCS / "figures" / name).read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


@pytest.mark.more
def test_the_whole_page_is_up_to_date(script):
    assert (DOCS / "complexity.md").read_text(encoding="utf-8") == script.page(), (
        "run python docs/make_complexity.py"
    )
