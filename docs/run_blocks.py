"""Run the Python blocks of a page and put what they print into the text block after each.

    python docs/run_blocks.py docs/compiler.md

A block is fenced as ```python; the ```text block that follows it at once holds its output. All blocks of a page share
one namespace. `refreshed` is what the tests use to see that a page tells the truth. Blocks run in a folder that goes
away, with the examples and robots to read in it: what they write stays out of the repository.
"""

import contextlib
import io
import re
import shutil
import sys
import tempfile
from pathlib import Path

BLOCK = re.compile(r"```python\n(?P<code>.*?)```\n(?:\n```text\n(?P<output>.*?)```\n)?", re.DOTALL)


def refreshed(page):
    """The page with every output made anew."""
    space = {"__name__": "page"}

    def run(found):
        heard = io.StringIO()
        with contextlib.redirect_stdout(heard):
            exec(compile(found["code"], "<page>", "exec"), space)
        text = "\n".join(line.rstrip() for line in heard.getvalue().strip("\n").splitlines())
        if not text:
            return f"```python\n{found['code']}```\n"
        return f"```python\n{found['code']}```\n\n```text\n{text}\n```\n"

    return BLOCK.sub(run, page)


if __name__ == "__main__":
    root = Path(__file__).parents[1]
    for path in [Path(name).resolve() for name in sys.argv[1:]]:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            for part in ("examples", "tests/readers/museum"):
                shutil.copytree(root / part, part)
            path.write_text(refreshed(path.read_text(encoding="utf-8")), encoding="utf-8")
