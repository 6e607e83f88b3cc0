"""Size and tidiness: files and functions a person can read at a sitting, no loose ends, no private places."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

import forearm

HOME = Path(forearm.__file__).parent
ROOT = HOME.parents[1]

FILE_LINES = 400
FUNCTION_LINES = 75
"""Hard limits; the aim is half of the second."""

LONGER_FILES = {"arm.py": "the arm, every copy of it with something changed, and the walk along it"}
LONGER_FUNCTIONS: dict[str, str] = {}

SOURCES = sorted(HOME.rglob("*.py"))


def name_of(path):
    return path.relative_to(HOME).as_posix()


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_files_are_short(path):
    lines = len(path.read_text().splitlines())
    limit = 450 if name_of(path) in LONGER_FILES else FILE_LINES
    assert lines <= limit, f"{name_of(path)} has {lines} lines; split it, or give a reason in LONGER_FILES"


def body_lines(function):
    """Lines of a function without its docstring."""
    first = function.body[0]
    quoted = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    start = first.end_lineno + 1 if quoted else first.lineno
    return function.end_lineno - start + 1


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_functions_are_short(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            lines = body_lines(node)
            known = f"{name_of(path)}:{node.name}" in LONGER_FUNCTIONS
            assert known or lines <= FUNCTION_LINES, f"{name_of(path)}:{node.name} has {lines} lines"


def test_most_functions_are_half_as_short():
    sizes = [
        body_lines(node)
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef)
    ]
    longer = sum(size > 40 for size in sizes)
    assert longer <= 0.03 * len(sizes), f"{longer} of {len(sizes)} functions have more than 40 lines"


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_everything_public_says_what_it_is(path):
    tree = ast.parse(path.read_text())
    assert ast.get_docstring(tree), f"{name_of(path)} has no docstring"
    public = [c for c in tree.body if isinstance(c, ast.ClassDef) and not c.name.startswith("_")]
    for node in [*tree.body, *(member for c in public for member in c.body)]:
        if any(isinstance(d, ast.Name) and d.id == "overload" for d in getattr(node, "decorator_list", ())):
            continue  # types only; the function that follows says what it is
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
            assert ast.get_docstring(node), f"{name_of(path)}:{node.lineno} {node.name} has no docstring"


# -- what may not be in the repository -------------------------------------------------------------------

ENDINGS = {".py", ".md", ".toml", ".cff", ".sh", ".txt", ".cfg", ".yml", ".yaml", ".html", ".css", ".js"}
LOOSE_ENDS = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X")) + r")\b")
PRIVATE = re.compile(
    r"(?<![\w.~-])/(?:" + "|".join(("wo" + "rk", "tm" + "p", "ho" + "me", "ro" + "ot")) + r")/\w"
    r"|"
    + "|".join(("py" + r"pi\.org", "python" + r"hosted\.org", "conda" + r"\.anaconda", "local" + "host:"))
)


def tracked():
    """Text files that git knows."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    files = [ROOT / line for line in listed.splitlines()] or sorted(HOME.rglob("*.py"))
    return [path for path in files if path.suffix in ENDINGS and path.is_file()]


def hits(pattern):
    return [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}"
        for path in tracked()
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
        if pattern.search(line)
    ]


def test_no_loose_ends():
    assert hits(LOOSE_ENDS) == []


def test_no_private_paths_and_no_hosts_of_packages():
    assert hits(PRIVATE) == []
