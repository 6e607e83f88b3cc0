"""Notebooks: each is its source, executed; exercises have solutions; nothing tells of the machine that ran them."""

import importlib.util
import json
import re

import pytest

from house.pages import ROOT

FOLDER = ROOT / "examples" / "notebooks"
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?")


def maker():
    spec = importlib.util.spec_from_file_location("make_notebooks", FOLDER / "make_notebooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SOURCES = maker().SOURCES


def printed(book):
    """What each cell prints; it may come in several pieces."""
    return [
        "".join("".join(out["text"]) for out in cell.get("outputs", ()) if out["output_type"] == "stream")
        for cell in book["cells"]
    ]


def test_there_are_five_and_the_list_has_them():
    listed = re.findall(r"\((\w+)\.ipynb\)", (FOLDER / "README.md").read_text(encoding="utf-8"))
    assert sorted(listed) == [path.stem for path in SOURCES]
    assert len(listed) == 5


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.stem)
def test_a_notebook_is_its_source_executed(path):
    text = path.with_suffix(".ipynb").read_text(encoding="utf-8")
    book = json.loads(text)
    kept = [(cell["cell_type"], "".join(cell["source"])) for cell in book["cells"]]
    assert kept == maker().cells(path), "run python examples/notebooks/make_notebooks.py"
    assert len(text) < 200_000
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    assert not any(out["output_type"] == "error" for cell in code for out in cell["outputs"])
    assert not re.search(
        "/(?:" + "|".join(("ho" + "me", "tm" + "p", "wo" + "rk", "ro" + "ot")) + r")\b", text
    )


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.stem)
def test_exercises_have_solutions(path):
    headings = re.findall(
        r"^# (#{2,3} (?:Exercise|Solution).*)$", path.read_text(encoding="utf-8"), re.MULTILINE
    )
    exercises = [h for h in headings if "Exercise" in h]
    assert [int(h.split()[-1]) for h in exercises] == list(range(1, len(exercises) + 1))
    assert len(exercises) >= 3
    assert len([h for h in headings if "Solution" in h]) >= 3


@pytest.mark.more
@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.stem)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_notebook_runs_and_prints_what_it_says(path, tmp_path):
    pytest.importorskip("nbclient", reason="nbclient is in the extra test-more")
    kept = json.loads(path.with_suffix(".ipynb").read_text(encoding="utf-8"))
    again = maker().executed(path, tmp_path)
    for was, now in zip(printed(kept), printed(again), strict=True):
        assert NUMBER.sub("#", was) == NUMBER.sub("#", now)
        for a, b in zip(NUMBER.findall(was), NUMBER.findall(now), strict=True):
            assert float(b) == pytest.approx(float(a), rel=0.02, abs=2e-3)
