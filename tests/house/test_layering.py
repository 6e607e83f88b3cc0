"""Imports point one way: each module uses only what stands below it, and no formulation knows another."""

import ast
from pathlib import Path

import pytest

import forearm

HOME = Path(forearm.__file__).parent

LAYERS = [
    ("algebra", "escapes", "output_files"),
    ("faults",),
    ("factorisation", "frames", "description"),
    ("inertia",),
    ("link",),
    ("arm",),
    ("readers",),
    ("writers",),
    ("kinematics", "drives"),
    ("energies",),
    ("formulations",),
    ("strobing",),
    ("compiler",),
    ("counting", "derivation", "gradients"),
    ("dynamics",),
    ("taskspace",),
    ("simulation", "verification"),
    ("plots", "reports", "studio"),
    ("demo",),
    ("cli",),
    ("__main__",),
]
"""From the ground up; modules in one row do not import each other."""

LATE: dict[tuple[str, str], str] = {}
"""Imports against the order, inside a function, with the reason."""

HEIGHT = {name: height for height, row in enumerate(LAYERS) for name in row}
FILES = sorted(p for p in HOME.rglob("*.py") if p != HOME / "__init__.py")


def component(path):
    """The module of the first level that a file belongs to."""
    return path.relative_to(HOME).parts[0].removesuffix(".py")


def imports(path):
    """(dotted module, whether at the top of the file) of every import of a file."""
    tree = ast.parse(path.read_text())
    top = set(map(id, tree.body))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, id(node) in top) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}:{node.lineno}: say the whole module name"
            if node.module == "forearm":
                yield from ((f"forearm.{alias.name}", id(node) in top) for alias in node.names)
            else:
                yield node.module, id(node) in top


def test_every_module_has_its_place():
    there = {component(path) for path in FILES}
    assert there <= set(HEIGHT), f"place {sorted(there - set(HEIGHT))} in LAYERS"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(HOME)))
def test_imports_point_down(path):
    me = component(path)
    for module, at_top in imports(path):
        if not module.startswith("forearm.") or module == "forearm.__version__":
            continue
        other = module.split(".")[1]
        if other == me or HEIGHT[other] < HEIGHT[me]:
            continue
        assert (me, other) in LATE, f"{path.name} imports {module}, which stands above {me}"
        assert not at_top, f"{path.name} imports {module} at the top; only a late import may point up"


@pytest.mark.parametrize("path", sorted((HOME / "formulations").glob("[a-z]*.py")), ids=lambda p: p.stem)
def test_a_formulation_knows_numpy_the_arm_and_algebra_only(path):
    used = {module for module, _ in imports(path)}
    assert used <= {"numpy", "forearm.arm", "forearm.algebra"}


@pytest.mark.parametrize("name", ["readers", "writers"])
def test_readers_and_writers_stand_left_of_kinematics(name):
    for path in (HOME / name).rglob("*.py"):
        for module, _ in imports(path):
            if module.startswith("forearm."):
                assert HEIGHT[module.split(".")[1]] < HEIGHT["kinematics"], f"{path.name} imports {module}"


def test_the_oracle_shares_no_code():
    """The second opinion imports nothing of ours."""
    path = HOME / "verification" / "oracle.py"
    assert not [module for module, _ in imports(path) if module.split(".")[0] == "forearm"]


def test_no_module_has_the_name_of_a_public_function():
    names = {name for name in forearm.__all__ if name.islower()}
    modules = {path.stem for path in HOME.glob("*.py")} | {p.name for p in HOME.iterdir() if p.is_dir()}
    assert not names & modules


def test_late_imports_are_needed():
    seen = {
        (component(path), module.split(".")[1])
        for path in FILES
        for module, _ in imports(path)
        if "." in module
    }
    assert not [pair for pair in LATE if pair not in seen], "an entry of LATE is no longer used"
