"""Put the lines of a formulation beside the equations of its page, by tag, and its table of symbols.

A page docs/papers/<stem>.md typesets each equation of the paper and marks the place for our lines with

    <!-- lines (12) -->

alone on a line. This script writes, after each mark, a block of the statements of
src/forearm/formulations/<stem>.py that carry the tag `# (12)`, and after the mark `<!-- symbols -->` the table
of symbols from the module's docstring. Run `python docs/pull_tags.py` after a change of a formulation; a test
says when it is due, and that every tag has its place on the page and every place its lines.
"""

import ast
import re
import textwrap
from pathlib import Path

HERE = Path(__file__).parent
PAPERS = HERE / "papers"
FORMULATIONS = HERE.parent / "src" / "forearm" / "formulations"

TAGS = re.compile(r"\s*#\s*((?:\([^()\s]+\)[,;]?\s*)+)$")
BLOCK = re.compile(r"^<!-- lines \(([^()\s]+)\) -->$(?:\n```python\n.*?^```$)?", re.DOTALL | re.MULTILINE)
SYMBOLS = re.compile(r"^<!-- symbols -->$(?:\n```text\n.*?^```$)?", re.DOTALL | re.MULTILINE)


def tagged_lines(source: str) -> dict[str, list[str]]:
    """Tag -> the statements that carry it, in order, each once, without the tag itself."""
    lines = source.splitlines()
    found: dict[str, list[str]] = {}
    for node in _statements(source):
        text = lines[node.lineno - 1 : node.end_lineno]
        marks = [TAGS.search(line) for line in text]
        tags = [tag for mark in marks if mark for tag in re.findall(r"\(([^()\s]+)\)", mark[1])]
        shown = textwrap.dedent("\n".join(TAGS.sub("", line) for line in text))
        for tag in dict.fromkeys(tags):
            if shown not in found.setdefault(tag, []):
                found[tag].append(shown)
    return found


def _statements(source: str) -> list[ast.stmt]:
    """Simple statements (not loops, branches or functions), in the order of the file."""
    simple = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)
    found = [node for node in ast.walk(ast.parse(source)) if isinstance(node, simple)]
    return sorted(found, key=lambda node: node.lineno)


def places(page: str) -> list[str]:
    """Tags that have a place on the page, in order."""
    return [match[1] for match in BLOCK.finditer(page)]


def symbols(source: str) -> str:
    """The rows of the docstring's table of symbols."""
    docstring = ast.get_docstring(ast.parse(source)) or ""
    match = re.search(r"^Symbols[^\n]*\n(.*?)\n\n", docstring, re.DOTALL | re.MULTILINE)
    return textwrap.dedent(match[1]) if match else "(no table of symbols)"


def filled(page: str, source: str) -> str:
    """The page with every block filled from the source."""
    found = tagged_lines(source)

    def block(match: re.Match[str]) -> str:
        body = "\n".join(found.get(match[1], ["(no line carries this tag)"]))
        return f"<!-- lines ({match[1]}) -->\n```python\n{body}\n```"

    page = BLOCK.sub(block, page)
    return SYMBOLS.sub(lambda _: f"<!-- symbols -->\n```text\n{symbols(source)}\n```", page)


def pages() -> dict[str, Path]:
    """Stem -> page, for every formulation that has one."""
    stems = {path.stem for path in FORMULATIONS.glob("*.py")}
    return {path.stem: path for path in sorted(PAPERS.glob("*.md")) if path.stem in stems}


def source_of(stem: str) -> str:
    """Text of a formulation's module."""
    return (FORMULATIONS / f"{stem}.py").read_text(encoding="utf-8")


def main() -> None:
    """Fill every page."""
    for stem, path in pages().items():
        text = path.read_text(encoding="utf-8")
        new = filled(text, source_of(stem))
        if new != text:
            path.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
