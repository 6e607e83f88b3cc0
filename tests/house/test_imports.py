"""What `import forearm` loads: itself. The rest comes when it is asked for, optional packages last of all."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import forearm
from house.sources import FILES, imports

HOME = Path(forearm.__file__).parent
OPTIONAL = {
    "sympy",
    "mujoco",
    "matplotlib",
    "viser",
    "cupy",
    "xarray",
    "casadi",
    "torch",
    "jax",
    "pinocchio",
    "trimesh",
}
HEAVY = {"scipy", "llvmlite", "lxml", "cyclopts", "rich"}


def loaded_by(code):
    """Top-level packages, and modules of forearm, that a fresh interpreter has after `code`."""
    probe = (
        "import sys, json; before = set(sys.modules)\n"
        f"{code}\n"
        "new = set(sys.modules) - before\n"
        "print(json.dumps([sorted({m.split('.')[0] for m in new}), sorted(m for m in new if m.startswith('forearm'))]))"
    )
    run = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    packages, ours = json.loads(run.stdout)
    return set(packages), ours


def test_import_loads_nothing_else():
    packages, ours = loaded_by("import forearm")
    assert ours == ["forearm"]
    assert not packages & (OPTIONAL | HEAVY | {"numpy"})


def test_building_and_loading_an_arm_needs_numpy_alone():
    packages, ours = loaded_by("import forearm as fa; fa.Arm; fa.Link; arm = fa.load('puma560'); str(arm)")
    assert "numpy" in packages
    assert not packages & (OPTIONAL | HEAVY)
    assert not [
        m for m in ours if m.startswith(("forearm.compiler", "forearm.formulations", "forearm.derivation"))
    ]


def test_torques_need_no_optional_package():
    packages, _ = loaded_by(
        "import forearm as fa; arm = fa.load('rr'); fa.inverse_dynamics(arm, [0.1, 0.2], [0, 0], [0, 0])"
    )
    assert not packages & OPTIONAL


def test_import_is_quick():
    """About 0.25 s is the promise with NumPy; the bare import is far below it."""
    probe = (
        "import time; t = time.process_time(); import forearm; forearm.Arm; print(time.process_time() - t)"
    )
    runs = [
        subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
        for _ in range(3)
    ]
    assert min(float(run.stdout) for run in runs) < 0.5


@pytest.mark.parametrize("path", sorted(HOME.rglob("*.py")), ids=lambda p: str(p.relative_to(HOME)))
def test_optional_packages_are_imported_late(path):
    for node in ast.parse(path.read_text()).body:
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        found = {name.split(".")[0] for name in names} & OPTIONAL
        assert not found, f"{path.name}:{node.lineno} imports {', '.join(found)} at the top"


def test_scipy_is_loaded_through_one_door():
    """Which looks first whether there is room for it."""
    others = {path.name for path in FILES for module, _ in imports(path) if module.split(".")[0] == "scipy"}
    assert others == set()
    asking = [path for path in FILES if re.search(r"(import_module|__import__)\(.*scipy", path.read_text())]
    assert asking == []


def test_dir_lists_the_public_names():
    assert set(forearm.__all__) <= set(dir(forearm))
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        forearm.nothing
