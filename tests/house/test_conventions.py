"""CONVENTIONS.md: every convention names tests that exist, and the drawing is what its script draws."""

import ast
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONVENTIONS.md").read_text()
NAMED = re.findall(r"`(\w+/\w+\.py)::(\w+)`", TEXT)


@pytest.mark.parametrize(("file", "test"), sorted(set(NAMED)), ids=lambda x: x)
def test_named_tests_exist(file, test):
    tree = ast.parse((ROOT / "tests" / file).read_text())
    assert test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_convention_names_a_test():
    bullets = re.split(r"\n- ", TEXT)[1:]
    assert len(bullets) > 25
    assert [b.splitlines()[0] for b in bullets if "::test_" not in b] == []


def test_messages_point_to_headings_that_exist():
    headings = set(re.findall(r"^## (.+)$", TEXT, re.M))
    sources = [p.read_text() for p in (ROOT / "src" / "forearm").rglob("*.py")]
    pointed = {h for s in sources for h in re.findall(r"CONVENTIONS\.md, ([A-Z]\w+)", s)}
    assert pointed
    assert pointed <= headings


def test_the_drawing_is_what_the_script_draws():
    script = ROOT / "docs" / "conventions_drawing.py"
    subprocess.run([sys.executable, str(script), "--check"], check=True)


def test_the_drawing_is_well_formed():
    tree = ET.parse(ROOT / "docs" / "figures" / "conventions.svg")
    words = "".join("".join(node.itertext()) for node in tree.iter("{http://www.w3.org/2000/svg}text"))
    for said in ("gravity", "frame n", "tool", "τ", "com"):
        assert said in words
