"""What is keyed on numbers has a bound: contact points, payloads, wrenches and laws that change with every call."""

import ast
import gc
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import forearm as fa
from forearm.compiler.call.entries import builtin_functions
from forearm.compiler.graph import builder
from forearm.counting.meter import line_tags
from forearm.counting.meter.tallies import count
from forearm.simulation import plant, simulate
from forearm.verification.numbers import plausibility

Q = np.array([0.1, 0.2])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("FOREARM_CACHE", str(tmp_path / "kernels"))
    return tmp_path / "kernels"


def comb(teeth):
    """A robot of a row of links with one more on each."""
    link, parents = fa.load("rr").links[0], (0, *(k for k in range(1, 2 * teeth - 1, 2) for _ in "ab"), 0)
    links = tuple(link.replace(name=f"j{k}") for k in range(2 * teeth))
    return fa.Robot("comb", links, parents, (fa.Pose(),) * (2 * teeth))


def test_m_of_hundreds_of_branches_filled_the_memory(folder, monkeypatch):
    """A file of 100 kB took gigabytes and never ended."""
    monkeypatch.setattr(builder, "MOST_NODES", 1000)
    robot = comb(20)
    with pytest.raises(fa.KernelFault, match=r"more than 1,000 operations.* or for a part of the robot"):
        fa.mass_matrix(robot, np.zeros(robot.n))


def test_check_looked_at_as_many_positions_of_a_large_robot_as_of_a_small_one(monkeypatch):
    robot = comb(2)
    for few, many in ((50, 40), (2, 20), (0, 4)):
        monkeypatch.setattr(plausibility, "FEW_JOINTS", few)
        assert f"largest gravity torque at {many} random positions" in dict(fa.check(robot).facts)


def test_a_wrench_at_a_moving_point_and_a_changing_payload_compile_once(folder):
    arm, rng = fa.load("rr"), np.random.default_rng(0)
    kernel = fa.compile(arm, "inverse_dynamics", free=("payload",))

    def call():
        force, point = (tuple(rng.uniform(-1, 1, 3)) for _ in "ab")
        fa.external_torque(arm, Q, fa.Wrench(force=force, at=("tool", point)))
        kernel(Q, Q, Q, np.r_[rng.uniform(0, 1, 4), np.ones(6)])
        fa.pose(arm, Q, frame="tool")

    call()
    files, kept = len(list(folder.iterdir())), (len(arm.kernels), len(arm.calls))
    for _ in range(1000):
        call()
    assert (len(arm.kernels), len(arm.calls)) == kept
    assert len(list(folder.iterdir())) == files


def test_an_arm_keeps_a_bounded_number_of_loops(monkeypatch):
    monkeypatch.setattr(plant, "MOST_KEPT", 5)
    arm = fa.load("rr")
    want = simulate(fa.load("rr"), Q, duration=0.002, torque_limits=[1.0, 1.0])
    for k in range(12):
        simulate(arm, Q, duration=0.002, torque_limits=[1.0 + k, 1.0])
    assert sum(key[0] == plant.SIMULATION for key in arm.kernels) <= 5
    again = simulate(arm, Q, duration=0.002, torque_limits=[1.0, 1.0])
    np.testing.assert_array_equal(again.q, want.q)


OF_THE_HOUSE = {
    "tags": "our own files",
    "_sums": "our own files",
    "_statements": "files of FORMULATIONS",
    "_checked": "rows of FORMULATIONS",
    "_source": "rows of FORMULATIONS",
    "_measured": "rows of FORMULATIONS and the published tables",
    "_kind": "annotations of our own functions",
    "_addresses": "two precisions",
    "_machine": "four levels",
    "gpu_machine": "kinds of GPU",
    "get": "locals of a module's function, of which engines allow 50,000",
    "put": "the same",
    "tee": "the same",
}
"""Functions that keep every answer, and what they are asked about: there are only so many."""


def test_every_kernel_that_was_gone_left_its_way_in_for_ever(folder):
    """Half a kilobyte each: a server that loads an arm for each question grew without end."""
    arm, files = fa.load("rr"), [tracemalloc.Filter(True, builtin_functions.__file__)]

    def kept(kernels):
        for _ in range(kernels):
            kernel = fa.compile(arm, "gravity_torque")
            assert kernel(Q).tolist() == kernel(Q[None])[0].tolist()
        del kernel
        gc.collect()
        found = tracemalloc.take_snapshot().filter_traces(files)
        return sum(trace.size for trace in found.traces)

    tracemalloc.start()
    try:
        before = kept(3)
        assert kept(30) - before < 2000
    finally:
        tracemalloc.stop()


def cached_for_ever():
    home = Path(fa.__file__).parent
    for path in home.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and (node.args.args or node.args.kwonlyargs):
                for kept in map(ast.unparse, node.decorator_list):
                    if kept in ("cache", "functools.cache", "lru_cache(None)", "lru_cache(maxsize=None)"):
                        yield node.name


def test_what_is_kept_for_ever_is_of_the_house():
    assert set(cached_for_ever()) == set(OF_THE_HOUSE)


def test_code_that_a_program_makes_is_not_kept_for_ever(monkeypatch):
    monkeypatch.setattr(line_tags, "MOST_KEPT", 20)
    line_tags._KEPT.clear()
    line_tags._SPOTS.clear()
    counts = set()
    for k in range(60):
        place = {"count": count}
        exec(f"def made_{k}():\n    return count('luh_walker_paul_1980', 2)", place)
        counts.add(str(place[f"made_{k}"]().total))
        assert len(line_tags._KEPT) <= 20
        assert len(line_tags._SPOTS) <= 20
    assert len(counts) == 1
