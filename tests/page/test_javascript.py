"""The page's JavaScript: small, formatted, linted, typed; and its mathematics, run in Node."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import forearm
from forearm.simulation import Quintic

HOME = Path(forearm.__file__).parent
SOURCES = [*sorted((HOME / "page" / "js").glob("*.js")), HOME / "compiler" / "wasm" / "loader.js"]
TOOLS = Path(sys.prefix) / "node"
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="no node on this machine")


def code_lines(path):
    """Lines that are neither empty nor comments."""
    lines = (line.strip() for line in path.read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line and not line.startswith(("//", "/*", "*"))]


def test_it_is_small():
    assert sum(len(code_lines(path)) for path in SOURCES) <= 1500
    assert all(len(path.read_text(encoding="utf-8").splitlines()) <= 400 for path in SOURCES)


def test_it_has_no_way_out():
    text = "".join(path.read_text(encoding="utf-8") for path in SOURCES)
    words = (
        "fetch(",
        "XMLHttpRequest",
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
    )
    assert [word for word in (*words, "localStorage", "cookie", "console.") if word in text] == []


def tool(name, *arguments):
    """Run a tool; skip where it is not installed."""
    path = TOOLS / "node_modules" / ".bin" / name
    if not path.exists():
        pytest.skip(f"{name} is not installed; tests/install_node_packages.sh brings it")
    done = subprocess.run(
        [path, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NODE_TOOLS": str(TOOLS)},
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.more
def test_it_is_formatted():
    config = HOME / "page" / "js" / ".prettierrc.json"
    tool("prettier", "--config", config, "--check", *SOURCES)


@pytest.mark.more
def test_its_types_hold():
    tool("tsc", "-p", HOME / "page" / "js" / "tsconfig.json")


@pytest.mark.more
def test_it_is_linted():
    tool("eslint", "--config", Path(__file__).with_name("eslint.config.mjs"), *SOURCES)


SCRIPT = """
import { dampedStep, lookAt, project, solve, times, perspective } from "HERE/linear.js";
import { Motion, tenNumbers } from "HERE/model.js";
import { easeAxes } from "HERE/scene.js";
const given = JSON.parse(process.argv[2]);
const motion = Motion.between(given.a, given.b, 1.5);
const matrix = times(perspective(0.7, 1.5, 0.1, 50), lookAt([3, 1, 2], [0, 0, 1], [0, 0, 1]));
console.log(JSON.stringify({
  solved: solve(given.A, given.b), step: dampedStep(given.J, [0.1, 0.2, -0.3], 0.1),
  at: given.times.map((t) => motion.at(t)), ten: tenNumbers({ mass: 2, x: 0.1, y: -0.2, z: 0.3 }),
  seen: project(matrix, [0, 0, 1]), ease: easeAxes([...given.J, [0, 0, 0], [0, 0, 0], [0, 0, 0]], given.A),
}));
"""


@needs_node
def test_its_mathematics(tmp_path):
    """Solves, damped steps, motions between samples and ellipsoids, beside NumPy's."""
    rng = np.random.default_rng(3)
    half = rng.normal(size=(4, 4))
    A, J, a, b = half @ half.T + np.eye(4), rng.normal(size=(3, 4)), rng.normal(size=4), rng.normal(size=4)
    times = [0.0, 0.2, 0.777, 1.5]
    (tmp_path / "package.json").write_text('{"type": "module"}')
    shutil.copytree(HOME / "page" / "js", tmp_path / "js")
    (tmp_path / "run.mjs").write_text(SCRIPT.replace("HERE", "./js"))
    given = {"A": A.tolist(), "J": J.tolist(), "a": a.tolist(), "b": b.tolist(), "times": times}
    done = subprocess.run(
        ["node", tmp_path / "run.mjs", json.dumps(given)], capture_output=True, text=True, check=True
    )
    told = json.loads(done.stdout)
    np.testing.assert_allclose(told["solved"], np.linalg.solve(A, b), atol=1e-12)
    step = J.T @ np.linalg.solve(J @ J.T + 0.01 * np.eye(3), [0.1, 0.2, -0.3])
    np.testing.assert_allclose(told["step"], step, atol=1e-12)
    for t, state in zip(times, told["at"], strict=True):
        for name, want in zip(("q", "qd", "qdd"), Quintic(a, b, 1.5)(t), strict=True):
            np.testing.assert_allclose(state[name], want, atol=1e-11, err_msg=f"{name} at {t}")
    assert told["ten"][:4] == [2, 0.2, -0.4, 0.6]
    np.testing.assert_allclose(told["ten"][4:], [0.26, 0.04, -0.06, 0.2, 0.12, 0.1], atol=1e-15)
    np.testing.assert_allclose(told["seen"][:2], [0, 0], atol=1e-12)
    shape = J @ np.linalg.solve(A, J.T)
    sizes, axes = np.linalg.eigh(shape)
    directions, long, _ = np.linalg.svd(np.transpose(told["ease"]))
    np.testing.assert_allclose(long[::-1], sizes / np.linalg.norm(sizes) + 0.02, atol=1e-12)
    np.testing.assert_allclose(np.abs(np.sum(directions[:, ::-1] * axes, axis=0)), 1, atol=1e-12)


LIMITED = """
import { Model, Motion } from "./js/model.js";
const joints = [[0, null], [null, 0.5], [-1, 2], [null, null]].map((limits) => ({ limits }));
const model = new Model({ joints, gravity: [0, 0, -9.81] }, {});
const motion = new Motion([0, 1, 2], [[0], [1], [3]], [[0], [1], [2]], [[0], [1], [-4]]);
console.log(JSON.stringify({
  low: joints.map((_, j) => model.within(j, -9)), high: joints.map((_, j) => model.within(j, 9)),
  end: motion.at(2), behind: motion.at(2.001), end_again: motion.sample(3).states[2],
}));
"""


@needs_node
def test_a_motion_rests_behind_its_end_and_joints_keep_limits_with_one_end(tmp_path):
    """Targets kept the last speed and acceleration: an arm stood beside the goal of its motion for ever."""
    (tmp_path / "package.json").write_text('{"type": "module"}')
    shutil.copytree(HOME / "page" / "js", tmp_path / "js")
    (tmp_path / "run.mjs").write_text(LIMITED)
    done = subprocess.run(["node", tmp_path / "run.mjs"], capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    assert (told["low"], told["high"]) == ([0, -9, -1, -9], [9, 0.5, 2, 9])
    assert told["behind"] == {"q": [3], "qd": [0], "qdd": [0]}
    for name, want in {"q": 3.0, "qd": 2.0, "qdd": -4.0}.items():
        np.testing.assert_allclose([told["end"][name], told["end_again"][name]], want, atol=1e-12)
