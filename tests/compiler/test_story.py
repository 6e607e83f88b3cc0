"""docs/compiler.md tells the truth: its blocks run and print what stands there."""

import importlib.util
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def runner():
    spec = importlib.util.spec_from_file_location("run_blocks", DOCS / "run_blocks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_story_of_the_compiler_is_what_happens():
    page = (DOCS / "compiler.md").read_text(encoding="utf-8")
    made = runner().refreshed(page)
    assert made == page, "docs/compiler.md is out of date; run: python docs/run_blocks.py docs/compiler.md"


def test_outputs_are_put_after_their_blocks():
    page = "a\n```python\nx = 2\n```\nb\n```python\nprint(x)\nprint()\nprint('y ')\n```\n\n```text\nold\n```\nc\n"
    made = runner().refreshed(page)
    assert (
        made
        == "a\n```python\nx = 2\n```\nb\n```python\nprint(x)\nprint()\nprint('y ')\n```\n\n```text\n2\n\ny\n```\nc\n"
    )
    assert runner().refreshed(made) == made
