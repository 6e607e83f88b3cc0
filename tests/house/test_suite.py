"""The tests themselves: none waits for a library that is not there where it would run."""

import ast
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
NEEDED = re.compile(r"importorskip\('(\w+)")


def late_libraries():
    """Libraries that `make test-more` installs and `make test` does not."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    first, later = (
        {re.split(r"[\[<>=]", name)[0] for name in extras[extra]} for extra in ("test", "test-more")
    )
    return later - first | {"torch"}  # the Makefile's own


def skipped_everywhere(tree, late):
    """Tests that need such a library and are not among those that run where it is."""
    marks = [
        ast.unparse(node)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"
    ]
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test"):
            continue
        marked = " ".join([*marks, *map(ast.unparse, node.decorator_list)])
        needed = {*NEEDED.findall(ast.unparse(node)), *(["torch"] if "needs_torch" in marked else [])}
        if needed & late and not re.search(r"mark\.(more|soak)|shared_out|needs_gpu", marked):
            yield node.name


def test_what_needs_a_library_of_the_long_tests_is_one_of_them():
    """Else it is skipped in `make test` for want of the library and left out of `make test-more`: it never runs."""
    late = late_libraries()
    assert {"zarr", "pyarrow", "torch"} <= late
    found = [
        f"{path.relative_to(ROOT)}::{name}"
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        for name in skipped_everywhere(ast.parse(path.read_text(encoding="utf-8")), late)
    ]
    assert not found, f"mark these with pytest.mark.more: {found}"
