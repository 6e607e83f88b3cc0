"""docs/robots.md prints what its own code prints."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_tells_the_truth(monkeypatch):
    monkeypatch.chdir(ROOT)
    spec = importlib.util.spec_from_file_location("run_blocks", ROOT / "docs" / "run_blocks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = (ROOT / "docs" / "robots.md").read_text(encoding="utf-8")
    made = module.refreshed(page)
    assert made == page, "docs/robots.md is out of date; run: python docs/run_blocks.py docs/robots.md"
