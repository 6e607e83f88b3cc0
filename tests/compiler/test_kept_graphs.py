"""Simplified graphs on disk: found again, and made anew when something does not fit."""

import logging

import pytest

from arms import random_arm
from compiler.programs import random_graph, torques
from forearm.compiler.graph import passes
from forearm.compiler.graph.passes import simplify
from forearm.compiler.pipeline import compile
from forearm.compiler.store import files
from forearm.compiler.store.graphs import keep, packed, recall, simplified, unpacked
from forearm.faults import KernelFault


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("FOREARM_CACHE", str(tmp_path / "kept"))
    return tmp_path / "kept"


@pytest.fixture
def runs(monkeypatch):
    """How often `simplify` really ran."""
    seen = []

    def counted(graph, effort):
        seen.append(effort)
        return simplify(graph, effort)

    monkeypatch.setattr(passes, "simplify", counted)
    return seen


@pytest.mark.parametrize("seed", range(5))
def test_text_keeps_every_bit(seed):
    graph = random_graph(seed, fma=True)
    again = unpacked(packed(graph), graph.name, graph.inputs, graph.outputs)
    assert again == graph
    assert again.digest == graph.digest


def test_the_second_time_it_is_read(folder, runs):
    graph = torques(random_arm(3, 1))
    first, second = simplified(graph), simplified(graph)
    assert first == second == simplify(graph)
    assert runs == [1]
    assert second.effort == 1
    assert second.name == graph.name
    assert [entry.name for entry in files.list_cache()] == [f"simplified graph: {graph.name}"]


def test_other_graphs_efforts_and_passes_are_other_files(folder, runs, monkeypatch):
    graph = torques(random_arm(2, 1))
    simplified(graph)
    simplified(torques(random_arm(2, 2)))
    simplified(graph, 2)
    monkeypatch.setattr(files, "code_version", lambda: "other passes")
    simplified(graph)
    assert runs == [1, 1, 2, 1]


def test_what_is_simplified_already_is_left_alone(folder, runs):
    graph = simplify(torques(random_arm(2, 1)))
    assert simplified(graph) is graph
    assert runs == []


@pytest.mark.parametrize(
    "text", [b"no json", b"{}", b'{"nodes": [["add", [4, 5], null, null]], "results": [[0]]}']
)
def test_a_file_that_does_not_fit_is_made_anew(folder, runs, caplog, text):
    graph = torques(random_arm(2, 1))
    key = files.graph_key("simplified", 1, graph.digest)
    files.store(key, "bad", text)
    with caplog.at_level(logging.WARNING, logger="forearm"):
        assert simplified(graph) == simplify(graph)
    assert "cannot be read" in caplog.text
    assert runs == [1]
    assert simplified(graph) == simplify(graph)
    assert runs == [1]


def test_without_a_cache_it_still_works(runs, monkeypatch):
    monkeypatch.setenv("FOREARM_CACHE", "off")
    graph = torques(random_arm(2, 1))
    assert simplified(graph) == simplified(graph)
    assert runs == [1, 1]


def test_a_whole_graph_comes_back_with_what_was_said_of_it(folder):
    graph = simplify(torques(random_arm(3, 1)))
    keep("0" * 64, graph, ["why", [1, 2]])
    again, more = recall("0" * 64)
    assert (again, again.effort, again.name, more) == (graph, graph.effort, graph.name, ["why", [1, 2]])
    assert recall("1" * 64) is None


@pytest.mark.parametrize(
    "text", [b"", b"no json\n{}", b'{"name": "x"}\n{}', b'{"ports": [[["q", [2]]]]}\n{}']
)
def test_a_whole_graph_that_cannot_be_read_is_made_anew(folder, caplog, text):
    files.store("2" * 64, "bad", text)
    with caplog.at_level(logging.WARNING, logger="forearm"):
        assert recall("2" * 64) is None
    assert "cannot be read" in caplog.text


def test_the_second_kernel_of_an_arm_is_not_traced(folder, monkeypatch):
    """Another process finds the graph by the arm's fingerprint; other arms, options and sources make others."""
    from forearm.compiler.model import choice

    seen, real = [], choice.best_graph
    monkeypatch.setattr(choice, "best_graph", lambda *given: seen.append(given[1]) or real(*given))
    arm = random_arm(3, 1)
    first, second = compile(arm, "inverse_dynamics"), compile(arm, "inverse_dynamics")
    assert seen == ["inverse_dynamics"]
    assert second.graph == first.graph
    assert (second.graph.name, second.name) == (first.graph.name, first.name)
    assert second.why == first.why
    assert str(second.why) == str(first.why)
    compile(random_arm(3, 2), "inverse_dynamics")
    compile(arm.replace(name="another"), "inverse_dynamics")
    compile(arm.replace(gravity=(0.0, 9.0, 0.0)), "inverse_dynamics")
    compile(arm, "mass_matrix")
    compile(arm, "pose", frame=1)
    compile(arm, "pose", frame=2)
    compile(arm, "inverse_dynamics", free=("payload",))
    compile(arm, "inverse_dynamics", formulation="luh_walker_paul_1980")
    made = len(seen)
    assert made == 9
    monkeypatch.setattr(files, "code_version", lambda: "other source")
    compile(arm, "inverse_dynamics")
    assert len(seen) == made + 1


def test_a_formulation_called_none_is_not_the_default_one(folder):
    arm = random_arm(2, 1)
    compile(arm, "inverse_dynamics")
    with pytest.raises(KernelFault, match="no formulation 'None'"):
        compile(arm, "inverse_dynamics", formulation="None")
