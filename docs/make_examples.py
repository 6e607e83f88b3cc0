"""Write docs/examples.md from the examples' own titles, paragraphs and code.

    python docs/make_examples.py

A test keeps the page in step.
"""

import ast
from pathlib import Path

PAGE = Path(__file__).parent / "examples.md"
EXAMPLES = Path(__file__).parents[1] / "examples"

HEAD = """# Examples

<!-- written by docs/make_examples.py; do not edit -->

Each is one short file in `examples/`, run by the tests: `python examples/01_first_torque.py`.
Five notebooks to teach with, with exercises and solutions, are in `examples/notebooks/`.
"""


def entry(path: Path) -> str:
    """One example."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    title, _, paragraph = (ast.get_docstring(tree) or "").partition("\n\n")
    code = "\n".join(text.splitlines()[tree.body[0].end_lineno :]).strip()
    name = path.stem[3:].replace("_", " ")
    return f"## {path.name[:2]} {name}\n\n{title}\n\n{paragraph}\n\n```python\n{code}\n```\n"


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *(entry(path) for path in sorted(EXAMPLES.glob("*.py")))])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
