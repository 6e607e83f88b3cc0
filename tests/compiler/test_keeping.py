"""Simplified graphs on disk: found again, and made anew when something does not fit."""

import logging

import pytest

from arms import random_arm
from compiler.programs import random_graph, torques
from forearm.compiler import cache, keeping
from forearm.compiler.keeping import packed, simplified, unpacked
from forearm.compiler.passes import simplify


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

    monkeypatch.setattr(keeping, "simplify", counted)
    return seen


@pytest.mark.parametrize("seed", range(5))
def test_text_keeps_every_bit(seed):
    graph = random_graph(seed, fma=True)
    again = unpacked(packed(graph), graph)
    assert again == graph
    assert again.digest == graph.digest


def test_the_second_time_it_is_read(folder, runs):
    graph = torques(random_arm(3, 1))
    first, second = simplified(graph), simplified(graph)
    assert first == second == simplify(graph)
    assert runs == [1]
    assert second.effort == 1
    assert second.name == graph.name
    assert [entry.name for entry in cache.list_cache()] == [f"simplified graph: {graph.name}"]


def test_other_graphs_efforts_and_passes_are_other_files(folder, runs, monkeypatch):
    graph = torques(random_arm(2, 1))
    simplified(graph)
    simplified(torques(random_arm(2, 2)))
    simplified(graph, 2)
    monkeypatch.setattr(keeping, "passes_version", lambda: "other passes")
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
    key = cache.key_of("simplified", keeping.passes_version(), 1, graph.digest)
    cache.store(key, "bad", text)
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
