"""Journals of sweeps: damaged, of a stranger, or torn by Ctrl-C. One sentence, and no block counted twice."""

import errno
import json
import os

import pytest

import forearm as fa
from forearm.sweeps import journal as journals
from forearm.sweeps.axes import axis_of
from forearm.sweeps.problem import Problem
from forearm.sweeps.reductions import CELLS, reductions_of
from hostile.every_opcode import interrupted

KEEP = ("extremes", "moments", "quantiles", fa.Histogram(-1.0, 1.0, 4))
OVER = {"x": fa.Uniform(0, 1)}
FILES = ("sweeps/journal.py", "sweeps/reductions.py", "sweeps/problem.py")


def squares(values):
    return values["x"] ** 2


def swept(path):
    return fa.sweep(squares, OVER, samples=40_000, keep=KEEP, executor="threads", workers=1, journal=path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("journals") / "sweep.json"
    swept(path)
    return json.loads(path.read_text())


def written(path, document):
    """A journal whose checksum fits, as a stranger would write it."""
    document["checksum"] = journals._checksum(journals._body(document["done"], document["total"]))
    path.write_text(json.dumps(document))
    return path


TEXTS = {
    "deep lists": "[" * 200_000,
    "deep objects": '{"kind":' * 100_000,
    "bytes": b"\xff\xfe\x00",
    "null": "null",
    "too many digits": '{"kind": ' + "9" * 10_000 + "}",
}


@pytest.mark.parametrize("what", TEXTS)
def test_a_text_that_is_no_journal_gets_one_sentence(what, tmp_path):
    text = TEXTS[what]
    (tmp_path / "j.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(fa.StateFault, match="is no journal of a sweep"):
        swept(tmp_path / "j.json")


def test_a_journal_longer_than_its_sweep_can_fill_is_not_read(whole, tmp_path, monkeypatch):
    """A gibibyte of JSON was parsed whole before anybody asked what it was."""
    path = tmp_path / "j.json"
    with path.open("wb") as file:
        file.write(json.dumps(whole).encode())
        file.truncate(1 << 29)  # of which nothing is on the disk
    monkeypatch.setattr(journals.json, "loads", None)
    with pytest.raises(
        fa.StateFault, match=r"j.json' has more than \d+ bytes, which no journal of this sweep has"
    ):
        swept(path)


@pytest.mark.parametrize("what", ["[],", "{},", "[[]],"])
def test_a_journal_of_many_empty_lists_takes_no_memory(what, tmp_path, monkeypatch):
    """Two bytes that become sixty."""
    path = tmp_path / "j.json"
    monkeypatch.setattr(journals.json, "loads", lambda text: pytest.fail("it was parsed"))
    path.write_text("[" + what * 100_000 + "0]")
    with pytest.raises(fa.StateFault, match="is no journal of a sweep"):
        journals.Journal(problem_of(KEEP), path)


def problem_of(keep, samples=40_000):
    axes = {name: axis_of(name, values) for name, values in OVER.items()}
    return Problem(squares, None, axes, (), {}, samples, 0, reductions_of(keep), ("y", ()))


WORST = -1.2345678901234567e-308


@pytest.mark.parametrize("kept", [*reductions_of(KEEP), fa.Extremes(9), fa.Histogram(-1.0, 1.0, 4000)])
def test_the_longest_journal_of_a_sweep_is_read(kept, tmp_path):
    """All that a reduction may ever hold, with the longest numbers there are."""
    problem = problem_of([kept])
    total = problem.empty()
    for held in total["states"]:
        for name in held:
            if name in ("low", "high"):
                held[name] = [[(WORST, 39_999)] * kept.worst]
            elif name == "cells":
                held[name] = [{str(k): 1 for k in range(2 * CELLS + 1)}]
            elif name == "counts":
                held[name] = [[40_000 // len(held[name][0])] * len(held[name][0])]
            else:
                held[name] = [{"count": 40_000, "total": -40_000 << 2098, "squares": 40_000 << 4196}[name]]
    path = tmp_path / "j.json"
    kept_so_far = journals.Journal(problem, path)
    kept_so_far.total, kept_so_far.done = total, [[0, 1], [2, 3]]
    kept_so_far.write()
    assert journals.Journal(problem, path).blocks_done == 2


INFINITE = float("inf")
CHANGES = {
    "done": [[[INFINITE, 1]], [[0, INFINITE]], "ab", [[0, 10**400]], [None]],
    "total": [None, [], {"states": None, "not_finite": [0], "spoiled": None}],
    "low": [[[[10**400, 1]]], [[[1.0, INFINITE]]], None],
    "cells": [
        [None],
        ["x"],
        [[]],
        [{"x": 1}],
        [{"1": INFINITE}],
        [{"1": -1}],
        [{"1": 0}],
        [{"-1": 1}],
        [{str(2 * CELLS + 1): 1}],
        [{"1": 40_001}],
    ],
    "not_finite": [[INFINITE], None, ["x"], [-1], [40_001], [1]],
    "spoiled": ["x", -1, 40_000, 7],
    "high": [[[[1.0, 40_000]]], [[[1.0, -1]]], [[["nan", 1]]], [[["inf", 1]]]],
    "count": [[-1], [40_001], [0]],
    "squares": [[1 << 4400], [-1 << 4400]],
    "counts": [[[-1, 1, 0, 0, 0, 0]], [[40_001, 0, 0, 0, 0, 0]]],
}


@pytest.mark.parametrize("probes", [None, "x", [[0.0]], [[[0.0]]], {}, [10**400]])
def test_probes_of_a_stranger_get_one_sentence(probes, whole, tmp_path):
    (tmp_path / "j.json").write_text(json.dumps(whole | {"probes": probes}))
    with pytest.raises(fa.StateFault, match=r"is no journal of a sweep|gives other numbers now"):
        swept(tmp_path / "j.json")


@pytest.mark.parametrize("what", CHANGES)
def test_a_journal_of_a_stranger_gets_one_sentence(what, whole, tmp_path):
    for value in CHANGES[what]:
        changed = json.loads(json.dumps(whole))
        places = [changed, changed["total"], *changed["total"]["states"]]
        next(place for place in places if what in place)[what] = value
        with pytest.raises(fa.StateFault, match="is damaged"):
            swept(written(tmp_path / "j.json", changed))


def test_a_journal_with_one_digit_changed_is_not_believed(whole, tmp_path):
    changed = json.loads(json.dumps(whole))
    changed["total"]["states"][0]["high"][0][0][0] += 1.0
    (tmp_path / "j.json").write_text(json.dumps(changed))
    with pytest.raises(fa.StateFault, match="is damaged"):
        swept(tmp_path / "j.json")


def test_ctrl_c_while_a_journal_is_kept_counts_no_block_twice(whole, tmp_path, monkeypatch):
    """An interrupt at every bytecode that adds a block, then the same sweep again."""
    monkeypatch.setattr(journals, "EVERY", 0.0)
    monkeypatch.setattr(os, "fsync", lambda number: None)  # a disk that is slow shows nothing more
    problem = problem_of(KEEP[:2], samples=80_000)
    part = {**whole["total"], "states": whole["total"]["states"][:2]}
    k, there, path = 0, True, tmp_path / "j.json"
    while there:
        k += 1
        path.unlink(missing_ok=True)
        kept = journals.Journal(problem, path)
        kept.add(0, 1, part)
        before = path.read_bytes()
        there = interrupted(k, FILES, lambda kept=kept: kept.add(1, 2, part))
        kept.write()
        again = journals.Journal(problem, path)
        count = again.total["states"][1]["count"]
        assert count == [part["states"][1]["count"][0] * again.blocks_done], f"at bytecode {k}"
        assert again.blocks_done == 2 or path.read_bytes() == before
    assert k > 100


def test_a_disk_that_fills_up_takes_the_journal_and_not_the_result(tmp_path, monkeypatch, caplog):
    path, write, calls = tmp_path / "j.json", journals.write_text, []

    def full(*given):
        calls.append(given)
        if len(calls) > 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return write(*given)

    monkeypatch.setattr(journals, "write_text", full)
    monkeypatch.setattr(journals, "EVERY", 0.0)
    found = swept(path)
    assert len(calls) > 2
    assert found.greatest == swept(None).greatest
    told = [record.getMessage() for record in caplog.records if "cannot be written" in record.getMessage()]
    assert told == [f"the journal {path} cannot be written ({os.strerror(errno.ENOSPC)}); the sweep goes on"]


def test_memory_that_was_not_there_for_a_journal_took_the_result(tmp_path, monkeypatch, caplog):
    path, write, calls = tmp_path / "j.json", journals.write_text, []

    def short(*given):
        calls.append(given)
        if len(calls) > 1:
            raise MemoryError
        return write(*given)

    monkeypatch.setattr(journals, "write_text", short)
    monkeypatch.setattr(journals, "EVERY", 0.0)
    assert swept(path).greatest == swept(None).greatest
    told = [record.getMessage() for record in caplog.records if "cannot be written" in record.getMessage()]
    assert told == [f"the journal {path} cannot be written (no memory for it); the sweep goes on"]


def test_a_journal_that_cannot_be_written_is_told_before_anything_is_computed(tmp_path):
    seen = []
    with pytest.raises(FileNotFoundError, match="nosuch"):
        fa.sweep(
            squares,
            OVER,
            samples=10,
            executor="threads",
            journal=tmp_path / "nosuch" / "j.json",
            progress=lambda done, of: seen.append(done),
        )
    assert seen == []
