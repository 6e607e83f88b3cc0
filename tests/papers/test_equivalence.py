"""docs/equivalence.md runs: section 1 and section 4 of Turney, Mudge and Lee, each identity a check."""

import re
from pathlib import Path

import mpmath
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "equivalence.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def page():
    """The page's names after all its blocks have run, line numbers kept for messages."""
    names, text = {"__name__": "equivalence"}, PAGE.read_text(encoding="utf-8")
    with mpmath.workdps(50):
        for block in BLOCKS:
            first = text[: text.index(block)].count("\n")
            exec(compile("\n" * first + block, str(PAGE), "exec"), names)
    return names


def test_every_step_of_the_page_holds(page):
    assert len(BLOCKS) >= 12
    assert len(page["tau"]) == page["n"] == 4


def test_the_page_covers_the_report():
    """Each equation of section 1 that the derivation uses and each of section 4 has its check."""
    tags = set(re.findall(r"\((\d\.\d+)\)", "".join(re.findall(r"#.*|\"\"\".*", "".join(BLOCKS)))))
    section_1 = {f"1.{k}" for k in (*range(1, 13), *range(13, 29))}
    section_4 = {f"4.{k}" for k in range(1, 35)}
    assert section_1 <= tags, sorted(section_1 - tags)
    assert section_4 <= tags, sorted(section_4 - tags)


def test_the_checks_can_fail(page):
    """`same` refuses a relative error of 1e-9, `differs` refuses equality."""
    page["same"]([1.0, 2.0], [1.0, 2.0])
    with pytest.raises(AssertionError):
        page["same"]([1.0, 2.0], [1.0, 2.0 + 1e-9])
    with pytest.raises(AssertionError):
        page["differs"]([1.0, 2.0], [1.0, 2.0])
