"""The documentation tells the truth: its snippets run, its links lead somewhere, generated pages are as generated."""

import re
import shutil
import subprocess
import sys

import pytest

import forearm as fa
from house.pages import DOCS, ROOT, script, snippets

refreshed = script("run_blocks").refreshed
PAGES = sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts)
OURS = ["start", "sizing", "motions", "choose", "cheatsheet", "my_numbers_differ", "coming_from", "reach"]
OURS += ["gradients", "large"]
"""Pages whose printed results are compared here."""
ELSEWHERE = {
    "compiler": "compiler/test_story.py",
    "derive": "derivation/test_docs.py",
    "equivalence": "papers/test_equivalence.py",
    "derivations": "papers/test_derivations.py",
    "rr_both_ways": "papers/test_rr_both_ways.py",
    "complexity": "counting/test_page.py",
    "simulate": "simulation/",
    "api": "house/test_public_names.py",
    "examples": "house/test_examples.py",
    "robots": "verification/test_robots_page.py",
}
"""Pages whose snippets are run by tests of their own subject."""


@pytest.fixture
def quiet_place(tmp_path, monkeypatch):
    """A folder to write to, as the current one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").mkdir()
    for name in ("fork.urdf", "palletiser.toml"):
        shutil.copy(ROOT / "examples" / name, tmp_path / "examples")
    return tmp_path


@pytest.mark.parametrize("name", OURS)
def test_snippets_print_what_the_page_says(name, quiet_place):
    text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    assert snippets(text), f"{name}.md has no snippet"
    assert refreshed(text) == text, f"run python docs/run_blocks.py docs/{name}.md"


@pytest.mark.parametrize(
    "name", [p.stem for p in PAGES if p.parent == DOCS and p.stem not in [*OURS, *ELSEWHERE]]
)
def test_other_snippets_run(name, quiet_place):
    """Snippets of all other pages run, in order; a TOML block is the file that they load."""
    text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    for block in re.findall(r"^```toml\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        found = re.search(r'^name = "(\w+)"', block, re.MULTILINE)
        if found:
            (quiet_place / f"{found[1]}.toml").write_text(block, encoding="utf-8")
    space = {"__name__": "page"}
    for block in snippets(text):
        exec(compile(block, f"{name}.md", "exec"), space)


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.relative_to(DOCS).as_posix())
def test_links_lead_somewhere(path):
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if not target.startswith(("http", "mailto")):
            assert (path.parent / target).exists(), f"{path.name} links to {target}, which is not there"


def test_the_index_lists_every_page():
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^(\w+)$", index, re.MULTILINE))
    assert {p.stem for p in PAGES if p.parent == DOCS} - {"index"} == listed
    assert "papers/*" in index


def test_the_command_line_page_is_as_generated():
    module = script("make_cli")
    assert module.PAGE.read_text(encoding="utf-8") == module.page(), "run python docs/make_cli.py"


def test_the_page_of_examples_is_as_generated():
    module = script("make_examples")
    assert module.PAGE.read_text(encoding="utf-8") == module.page(), "run python docs/make_examples.py"


def test_the_cheat_sheet_fits_one_page():
    lines = (DOCS / "cheatsheet.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 75
    assert max(map(len, lines)) <= 125


def test_every_arm_can_be_looked_at():
    text = (DOCS / "arms.md").read_text(encoding="utf-8")
    assert set(re.findall(r'href="views/(\w+)\.html"', text)) == set(fa.known_arms())


@pytest.mark.parametrize("stem", fa.FORMULATIONS)
def test_every_paper_has_an_arm_that_its_equations_move(stem):
    assert (DOCS / "papers" / f"{stem}.md").exists()
    assert f'src="../views/{stem}.html"' in script("live_views").live_section(stem)


@pytest.mark.more
def test_the_site_builds_without_a_warning(tmp_path):
    words = [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", str(DOCS), str(tmp_path / "site")]
    run = subprocess.run(words, capture_output=True, text=True, check=False, cwd=ROOT)
    assert run.returncode == 0, run.stderr
    page = (tmp_path / "site" / "papers" / "hollerbach_1980_3x3.html").read_text(encoding="utf-8")
    assert "<math " in page, "formulas are set"
    assert not re.search(r'src="https?:', page), "and nothing comes over the network"
    for shown in re.findall(r'<iframe [^>]*src="([^"]*)"', page):
        assert (tmp_path / "site" / "papers" / shown).exists(), shown
    assert "../views/hollerbach_1980_3x3.html" in page
