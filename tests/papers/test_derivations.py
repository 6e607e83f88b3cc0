"""docs/derivations.md runs: every step is a check, and every equation that it is there for has its line."""

import re

import mpmath
import pytest

from house.pages import DOCS, script

PAGE = DOCS / "derivations.md"


@pytest.fixture(scope="module")
def text():
    return PAGE.read_text(encoding="utf-8")


def test_every_step_of_the_page_holds(text):
    with mpmath.workdps(60):
        assert script("run_blocks").refreshed(text) == text, (
            "run python docs/run_blocks.py docs/derivations.md"
        )


def test_the_page_has_the_equations_that_no_formulation_computes(text):
    told = set(re.findall(r"\((A?B?\d+(?:\.\d+)?)\)", "".join(re.findall(r"#.*|\"\"\".*", text))))
    for first, last in re.findall(r"\((\d+)\) to \((\d+)\)", text):
        assert first in told or last in told
    wanted = {f"2.{k}" for k in range(1, 12)} | {f"3.{k}" for k in range(1, 15)}
    wanted |= {f"A{k}" for k in range(1, 14)} | {f"B{k}" for k in range(1, 6)}
    wanted |= {str(k) for k in (1, 2, 3, 4)} | {str(k) for k in (*range(34, 46), *range(50, 60))}
    assert wanted <= told, sorted(wanted - told)
