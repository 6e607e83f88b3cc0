"""Imports point one way: each module uses only what stands below it, and no formulation knows another."""

import pytest

import forearm
from house.sources import FILES, HOME, circles, component, imports, links, module_of

LAYERS = [
    ("outside",),
    ("algebra",),
    ("faults", "angles"),
    ("denavit_hartenberg",),
    ("factorisation", "frames", "description", "results"),
    ("inertia",),
    ("link",),
    ("random_states",),
    ("arm", "couplings", "free_base"),
    ("chain_cuts",),
    ("robot",),
    ("readers",),
    ("writers",),
    ("kinematics", "drives"),
    ("energies",),
    ("plots",),
    ("formulations",),
    ("strobing",),
    ("compiler",),
    ("counting", "derivation", "frameworks"),
    ("arm_calls",),
    ("dynamics", "second_order", "rollout_gradients"),
    ("reach",),
    ("motion", "taskspace", "tabulated"),
    ("stopwatch",),
    ("simulation", "verification", "streams", "sweeps"),
    ("page",),
    ("identification",),
    ("demo",),
    ("cli",),
    ("__main__",),
]
"""From the ground up; modules in one row do not import each other."""

ROOMS = {
    "compiler": (
        "graph",
        "fork_locks",
        "store",
        "kernel",
        "model",
        "llvm",
        "sources",
        "call",
        "cuda",
        "wasm",
        "pipeline",
        "function_kernels",
        "browser_modules",
    ),
    "counting": ("meter", "as_counted", "schedules", "costs", "published_tables", "answers"),
    "derivation": (
        "expressions",
        "symbols",
        "closed_form",
        "parameter_groups",
        "sympy_matrices",
        "texts",
        "numeric_check",
        "symbolic_states",
        "preparation",
        "recursion_steps",
        "equivalence",
        "lagrange_steps",
        "equations",
        "arm_derivation",
    ),
    "motion": (
        "limit_excesses",
        "differentiation",
        "slope_checks",
        "motions",
        "between_rows",
        "instants",
        "plain_numbers",
        "number_tables",
        "column_units",
        "columns",
        "robot_rows",
        "row_times",
        "motion_files",
        "profiles",
        "time_optimal",
        "tool_paths",
        "speed_ups",
        "feasibility",
    ),
    "reach": (
        "iteration",
        "goals",
        "subproblems",
        "closed_forms",
        "programs",
        "answers",
        "branch_choice",
        "distinct",
        "solver",
    ),
    "simulation": (
        "interrupts",
        "plant",
        "records",
        "traced_laws",
        "law_gradients",
        "control_laws",
        "row_blocks",
        "terms",
        "double_meanings",
        "request",
        "stability",
        "engines",
        "schemes",
        "outcomes",
        "run",
        "step_advice",
    ),
    "streams": (
        "file_libraries",
        "npy_headers",
        "zarr_stores",
        "row_files",
        "zarr_names",
        "zarr_rows",
        "row_sources",
        "source_states",
        "row_sinks",
        "limit_watch",
        "file_stream",
    ),
    "sweeps": (
        "fingerprints",
        "axes",
        "parameters",
        "summaries",
        "reductions",
        "problem",
        "journal",
        "task_carriers",
        "executors",
        "swept",
        "sweep_run",
        "sweep_plans",
    ),
    "verification": ("proof", "numbers", "difference"),
}
"""The rooms inside a package, from the ground up; a room may use those before it."""

LATE: dict[tuple[str, str], str] = {}
"""Imports against the order, inside a function, with the reason."""

HEIGHT = {name: height for height, row in enumerate(LAYERS) for name in row}


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
    path = HOME / "verification" / "proof" / "oracle.py"
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


def test_no_module_imports_itself_in_a_circle():
    """Imports inside functions count; those for type checkers alone do not."""
    assert [sorted(circle) for circle in circles(links())] == []


@pytest.mark.parametrize("package", ROOMS)
def test_every_room_has_its_place(package):
    there = {
        path.stem
        for path in (HOME / package).iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert there - {"__init__"} == set(ROOMS[package])


@pytest.mark.parametrize("package", ROOMS)
def test_rooms_stand_on_those_before_them(package):
    height = {room: k for k, room in enumerate(ROOMS[package])}
    climbs = set()
    for path in (HOME / package).rglob("*.py"):
        me = module_of(path)
        for module, _ in imports(path, for_checkers=False):
            parts = module.split(".")
            if parts[:2] != ["forearm", package] or len(parts) < 3 or me.count(".") < 2:
                continue
            if height[parts[2]] > height[me.split(".")[2]]:
                climbs.add((me.removeprefix("forearm."), module.removeprefix("forearm.")))
    assert climbs == set()
