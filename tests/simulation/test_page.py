"""docs/simulate.md tells the truth: its blocks run and print what stands there."""

import importlib.util
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_of_simulation():
    spec = importlib.util.spec_from_file_location("run_blocks", DOCS / "run_blocks.py")
    blocks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(blocks)
    page = (DOCS / "simulate.md").read_text(encoding="utf-8")
    made = blocks.refreshed(page)
    assert made == page, "docs/simulate.md is out of date; run: python docs/run_blocks.py docs/simulate.md"
