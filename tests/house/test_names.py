"""Names and maps: a module is a noun that no other module has, and its package's __init__ says what it is for."""

import ast
import re
from collections import Counter

import pytest

from house.sources import FILES, HOME, module_of

PACKAGES = sorted(path.parent for path in HOME.rglob("__init__.py"))

SAME_NAME = {
    "toml": "the same format, read and written",
    "urdf": "the same format, read and written",
}
"""Modules of one name, and why: the same thing for two readers."""

GERUNDS = {"strobing": "the word of the paper for its method"}
"""Modules named for what they do, and why."""

BY_REGISTRY = {"formulations": "_ROWS, one row for each paper"}
"""Packages whose modules are named by a table in their __init__ instead of its docstring."""

CROWDED = {".": "one noun a file", "formulations": "one paper, one file"}
"""Folders with more than a dozen files -> the words of their __init__ that say why."""
MANY = 14


def name_of(package):
    return package.relative_to(HOME).as_posix()


def docstring(package):
    return ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8"))) or ""


def modules(package):
    """Names of the modules and rooms of a package."""
    files = {path.stem for path in package.glob("*.py")} - {"__init__", "__main__"}
    return files | {path.parent.name for path in package.glob("*/__init__.py")}


def test_no_two_modules_share_a_name():
    stems = Counter(path.stem for path in FILES if path.stem != "__init__")
    assert {stem for stem, times in stems.items() if times > 1} - set(SAME_NAME) == set()


def test_no_two_public_classes_share_a_name():
    names = Counter(
        node.name
        for path in FILES
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert {name for name, times in names.items() if times > 1} == set()


def test_modules_are_nouns():
    gerunds = {path.stem for path in FILES if path.stem.split("_")[-1].endswith("ing")}
    assert gerunds - set(GERUNDS) == set()


@pytest.mark.parametrize("package", [p for p in PACKAGES if p != HOME], ids=name_of)
def test_every_package_is_a_map(package):
    """Its docstring names each module; the whole house is on docs/architecture.md, which has a test of its own."""
    listed = docstring(package)
    if name_of(package) in BY_REGISTRY:
        listed = (package / "__init__.py").read_text(encoding="utf-8")
    missing = sorted(name for name in modules(package) if not re.search(rf"\b{name}\b", listed))
    assert not missing, f"{module_of(package / '__init__.py')} does not speak of {missing}"


def test_no_folder_is_crowded_without_a_reason():
    crowded = {name_of(p) for p in PACKAGES if len(list(p.glob("*.py"))) - 1 > MANY}
    assert crowded == set(CROWDED)
    for folder, reason in CROWDED.items():
        assert reason in docstring(HOME / folder), f"{folder}/__init__.py does not say why it is so full"
