"""README.md: its code runs, its table is the registry, its figures are the benchmarks', its picture is there."""

import re

from forearm.formulations import FORMULATIONS
from house.pages import ROOT, script, snippets

README = ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")


def test_generated_parts_are_as_generated():
    assert script("make_readme").filled(TEXT) == TEXT, "run python docs/make_readme.py"


def test_every_formulation_is_in_the_table():
    assert re.findall(r"\[(\w+)\.py\]", TEXT) == list(FORMULATIONS)


def test_the_code_prints_what_the_page_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (block,) = snippets(TEXT)
    lines = [line for line in block.splitlines() if line.strip() and not line.startswith("import")]
    assert len(lines) <= 12
    assert script("run_blocks").refreshed(TEXT) == TEXT


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#\s]+)\)", TEXT):
        assert target.startswith("http") or (ROOT / target).exists(), target


def test_the_two_commands_are_targets_of_make():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for command in re.findall(r"make ([\w-]+)", TEXT):
        assert re.search(rf"^{command}:", makefile, re.MULTILINE), command
