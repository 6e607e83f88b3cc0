"""Types at the door: a user's type checker knows every public name, and what is misspelt is an error."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import forearm
from house import typed_user

MISTAKES = {
    "fa.invers_dynamics(arm, q, q, q)": "attr-defined",
    "fa.inverse_dynamics(arm, q, q)": "call-arg",
    "fa.inverse_dynamics('puma560', q, q, q)": "arg-type",
    "fa.inverse_dynamics(arm, q, q, q, thread=2)": "call-arg",
    "fa.mass_matrix(arm, q, out=[0.0])": "arg-type",
    "fa.derivatives(arm, q, q, q).dtau": "attr-defined",
    "fa.load(3)": "arg-type",
    "fa.Wrench(force=3.0)": "arg-type",
    "fa.compile(arm)": "call-arg",
    "fa.parameter_names(arm) + 1": "operator",
    "fa.verify(arm).pased": "attr-defined",
    "from forearm import Link, Limb": "attr-defined",
}
"""What a user may write by mistake -> mypy's code for it."""

ANYTHING = {
    "Coordinates": "S and offset are kept as arrays, whatever they came as",
    "compare": "the models of other libraries, which have no types",
    "derive": "a matrix or Coordinates, which stand above derivation",
    "fastest": "a path is points, many paths or a motion; limits are numbers, arrays or dicts by joint",
    "feasible": "a motion is whatever answers at(t), or a table of states",
    "point_to_point": "states and limits are numbers, arrays or dicts by joint",
    "prove_equal": "a matrix or Coordinates, which stand above derivation",
    "significance": "a motion is whatever answers at(t)",
    "simulate": "a payload is numbers by name, for one motion or for each",
    "speed_up": "a motion is whatever answers at(t)",
    "sweep": "values of any kind, and executors that share an interface, not a class",
    "tool_path": "a leg is a point, a pose, an Arc, or a list of them",
    "via_points": "states and limits are numbers, arrays or dicts by joint",
    "where": "anything that has a sign: numbers, symbols, traced and counted scalars",
}
"""Functions with an argument that may be anything, and why."""


def mypy(folder, **files):
    """What mypy --strict says to a user about these files, as lines."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir=.cache"]
    run = subprocess.run(
        [*command, *(f"{name}.py" for name in files)], cwd=folder, capture_output=True, text=True, check=False
    )
    assert run.returncode in (0, 1), run.stderr
    return run.stdout.splitlines()


def test_a_users_file_is_checked_and_a_misspelt_name_is_an_error(tmp_path):
    mistakes = [
        "import forearm as fa",
        'arm, q = fa.load("rr"), [0.1, 0.2]',
        *MISTAKES,
    ]
    said = mypy(
        tmp_path, right=Path(typed_user.__file__).read_text(encoding="utf-8"), wrong="\n".join(mistakes)
    )
    assert not [line for line in said if line.startswith("right.py")]
    for number, (line, code) in enumerate(MISTAKES.items(), 3):
        assert any(s.startswith(f"wrong.py:{number}: error") and f"[{code}]" in s for s in said), line


def test_a_users_file_runs(tmp_path):
    typed_user.main(tmp_path)


def test_no_public_name_is_any(tmp_path):
    lines = ["import forearm as fa", *(f"reveal_type(fa.{name})" for name in forearm.__all__)]
    said = "\n".join(mypy(tmp_path, names="\n".join(lines)))
    seen = dict(re.findall(r'^names\.py:(\d+): note: Revealed type is "(.*)"$', said, re.M))
    types = {name: seen.get(str(line), "Any") for line, name in enumerate(forearm.__all__, 2)}
    assert [name for name, text in types.items() if text == "Any" or text.endswith("-> Any")] == []
    functions = {n: text for n, text in types.items() if n.islower() and text.startswith("def")}
    loose = {name for name, text in functions.items() if re.search(r"[(,] ?\w+: Any\b(?! \|)", text)}
    assert loose == set(ANYTHING) & set(functions)


def test_what_checkers_see_is_what_is_there():
    """The two tables of the front door agree; a star is what `dynamics` lists."""
    tree = ast.parse(Path(forearm.__file__).read_text(encoding="utf-8"))
    seen = {
        alias.name: node.module.removeprefix("forearm.")
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        for alias in node.names
    }
    assert seen.pop("*") == "dynamics"
    assert seen == forearm._NAMES


def test_results_of_several_outputs_have_their_class():
    arm = forearm.load("rr")
    state = arm.random_state(seed=0)
    found = (
        forearm.energy(arm, *state[:2]),
        forearm.reactions(arm, *state),
        forearm.derivatives(arm, *state),
        forearm.forward_derivatives(arm, *state),
        forearm.compile(arm, "derivatives")(*state),
        forearm.second_derivatives(arm, *state),
        forearm.second_forward_derivatives(arm, *state),
    )
    names = [type(result).__name__ for result in found]
    assert names == [
        *("Energy", "JointReactions", "Derivatives", "ForwardDerivatives", "Derivatives"),
        *("SecondDerivatives", "SecondForwardDerivatives"),
    ]
