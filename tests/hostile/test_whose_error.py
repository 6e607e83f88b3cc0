"""Whose error it was: a mistake of ours, or of a function that was given, is never told as that of an argument."""

import os
import signal
import tomllib
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Literal

import numpy as np
import pytest
from numpy.typing import ArrayLike

import forearm as fa
from forearm.compiler.browser_modules import emit_wasm
from forearm.compiler.llvm import jit
from forearm.compiler.sources.controller import emit_c
from forearm.compiler.store import files, graphs, machine_locks
from forearm.compiler.store.machine_locks import one_at_a_time
from forearm.faults import declared, explained
from forearm.motion.number_tables import opened
from forearm.outside import output_files
from forearm.outside.memory_size import own_memory
from forearm.outside.signal_errors import suppressed
from forearm.readers.toml_format import toml_values
from forearm.sweeps.journal import Journal
from hostile.zoo import ZOO

RR = fa.load("rr")
Q = fa.Uniform([0, 0], [1, 1])
OWN = [TypeError, ValueError, AttributeError, KeyError, ZeroDivisionError, IndexError, OSError, MemoryError]
GIVEN_TO = {
    "law": lambda f: fa.simulate(RR, [0.3, 0.2], law=f, duration=np.float64(0.01), control_dt=1e-3),
    "progress": lambda f: fa.simulate(RR, np.array([0.3, 0.2]), duration=0.01, progress=f),
    "swept": lambda f: fa.sweep(f, {"q": Q}, samples=3),
    "told of a sweep": lambda f: fa.sweep("gravity_torque", {"q": Q}, arm=RR, samples=3, progress=f),
    "compared": lambda f: fa.compare(RR, f, states=2),
    "told of a derivation": lambda f: fa.derive(RR, progress=f, names=None),
}


@pytest.mark.parametrize("error", OWN)
@pytest.mark.parametrize("ask", GIVEN_TO.values(), ids=GIVEN_TO)
def test_an_error_of_a_function_that_was_given_is_its_own(ask, error):
    mine = error("mine")

    def failing(*given, **named):
        raise mine

    with pytest.raises(error) as caught:
        ask(failing)
    assert caught.value is mine


class Bell:
    """An argument that takes long enough for an alarm."""

    shape = (2,)

    def ring(self, *_, **__):
        if callable(signal.getsignal(signal.SIGALRM)):  # else it would end the process
            signal.raise_signal(signal.SIGALRM)
        return [0.1, 0.2]

    __array__ = __len__ = __iter__ = __index__ = __float__ = ring


WHILE = {
    "a state is read": lambda bell: fa.gravity_torque(RR, bell),
    "a state of three is read": lambda bell: fa.inverse_dynamics(RR, bell, [0, 0], [0, 0]),
    "a law is traced": lambda bell: fa.simulate(RR, [0.1, 0.2], law=bell.ring, duration=0.01),
    "a law is called": lambda bell: fa.simulate(
        RR, [0.1, 0.2], law=bell.ring, duration=0.01, control_dt=1e-3
    ),
    "threads are counted": lambda bell: fa.gravity_torque(RR, [0.1, 0.2], threads=bell),
    "a link is made": lambda bell: RR.links[0].replace(com=bell),
    "a task is sent": lambda bell: fa.sweep(
        "gravity_torque", {"q": Q}, arm=RR, samples=3, executor=SimpleNamespace(submit=bell.ring)
    ),
    "a function is traced": lambda bell: fa.compile_function(bell.ring, {"q": (2,)}),
}


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="no alarms here")
@pytest.mark.parametrize("error", [TimeoutError, MemoryError, ValueError])
@pytest.mark.parametrize("bound", [False, True], ids=["a function", "with an argument bound"])
@pytest.mark.parametrize("ask", WHILE.values(), ids=WHILE)
def test_a_time_limit_of_the_callers_was_told_as_the_fault_of_an_argument_or_forgotten(ask, bound, error):
    mine = error("too late")

    def handler(*_):
        raise mine

    before = signal.signal(signal.SIGALRM, partial(handler, "5 s") if bound else handler)
    try:
        with pytest.raises(error) as caught:
            ask(Bell())
    finally:
        signal.signal(signal.SIGALRM, before)
    assert caught.value is mine


def _keep_a_journal(tmp_path):
    problem = fa.sweep("gravity_torque", {"q": Q}, arm=RR, samples=3).problem
    Journal(problem, tmp_path / "journal.json").keep()


WHILE_THE_SYSTEM = {
    "reads the cache": (files.os, "open", lambda _: files.load("0" * 64)),
    "writes the cache": (files.os, "replace", lambda _: files.store("0" * 64, "nothing", b"")),
    "locks the cache": (machine_locks.os, "open", lambda _: one_at_a_time("nothing").__enter__()),
    "writes a journal": (output_files.os, "fsync", _keep_a_journal),
    "reads an arm's file": (Path, "open", lambda _: fa.load("rr")),
    "reads a motion's file": (Path, "open", lambda _: opened("motion.csv")),
    "tells of memory": (Path, "read_text", lambda _: own_memory()),
    "tries a place": (output_files.os, "open", lambda place: output_files.check_writable(place / "new")),
}


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="no alarms here")
@pytest.mark.parametrize("while_", WHILE_THE_SYSTEM.values(), ids=WHILE_THE_SYSTEM)
def test_a_time_limit_was_taken_for_an_error_of_the_system_and_forgotten(while_, tmp_path, monkeypatch):
    """TimeoutError is an OSError: the cache was given up for it, or the journal, and the work went on."""
    where, name, ask = while_
    mine = TimeoutError("too late")

    def handler(*_):
        raise mine

    monkeypatch.setenv("FOREARM_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir(mode=0o700)
    before = signal.signal(signal.SIGALRM, handler)
    try:
        monkeypatch.setattr(where, name, Bell().ring)
        with pytest.raises(TimeoutError) as caught:
            ask(tmp_path)
    finally:
        monkeypatch.undo()
        signal.signal(signal.SIGALRM, before)
    assert caught.value is mine


class Late(RuntimeError, ValueError):
    """What LLVM, and what JSON and formulas complain with."""


def _kept_graph(monkeypatch):
    monkeypatch.setattr(graphs, "load", lambda key: b"{}\n")
    graphs.recall("0" * 64)


WHILE_OTHERS = {
    "reads a kept graph": (graphs.json, "loads", _kept_graph),
    "reads TOML": (tomllib, "loads", lambda _: fa.load("rr")),
    "reads a formula": (toml_values, "syntax_tree", lambda _: fa.load("puma560")),
    "asks LLVM": (jit.llvm, "parse_assembly", lambda _: jit.object_code("", "nothing")),
}


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="no alarms here")
@pytest.mark.parametrize("while_", WHILE_OTHERS.values(), ids=WHILE_OTHERS)
def test_a_time_limit_was_told_as_a_bug_of_ours_or_forgotten_while_a_text_was_read(while_, monkeypatch):
    where, name, ask = while_
    mine = Late("too late")

    def handler(*_):
        raise mine

    before = signal.signal(signal.SIGALRM, handler)
    try:
        monkeypatch.setattr(where, name, Bell().ring)
        with pytest.raises(Late) as caught:
            ask(monkeypatch)
    finally:
        monkeypatch.undo()
        signal.signal(signal.SIGALRM, before)
    assert caught.value is mine


def test_errors_of_the_system_are_dropped_where_nothing_depends_on_them():
    with suppressed(OSError, ValueError):
        os.stat("")
    with pytest.raises(KeyError), suppressed(OSError):
        raise KeyError


@explained
def _mistaken(
    number: float = 1.0, rows: object = None, limit: float = np.inf, *, error: object = None
) -> None:
    raise error


@pytest.mark.parametrize("error", [*OWN, RuntimeError, RecursionError, StopIteration, KeyboardInterrupt])
@pytest.mark.parametrize(
    "rows", [ZOO[k]() for k in ("set", "namespace", "lambda of any", "Generator", "a robot")]
)
def test_a_mistake_of_ours_is_not_the_fault_of_an_odd_argument(rows, error):
    """Nothing in such an error points to the argument, though nobody declared what it may be."""
    mine = error("of ours")
    with pytest.raises(error) as caught:
        _mistaken(2.0, rows, 1.0, error=mine)
    assert caught.value is mine


def _late(tmp_path):
    np.save(tmp_path / "rows.npy", np.zeros((3, 2)))
    place = tmp_path / "new"
    return {
        "stream": lambda: fa.stream(
            RR, "gravity_torque", tmp_path / "rows.npy", f"{place}.npy", threads=True
        ),
        "sweep": lambda: fa.sweep(
            "gravity_torque", {"q": Q}, arm=RR, samples=3, instants=True, journal=place
        ),
        "a sweep's seed": lambda: fa.sweep(
            "gravity_torque", {"q": Q}, arm=RR, samples=3, seed=True, journal=place
        ),
        "C": lambda: emit_c(RR, place, dtype=None),
        "WebAssembly": lambda: emit_wasm(RR, place, apart=1),
    }


@pytest.mark.parametrize("name", ["stream", "sweep", "a sweep's seed", "C", "WebAssembly"])
def test_an_odd_argument_was_refused_when_the_file_was_written(tmp_path, name):
    with pytest.raises(fa.faults.Fault, match="; give "):
        _late(tmp_path)[name]()
    assert [path.name for path in tmp_path.iterdir()] == ["rows.npy"]


def test_an_odd_argument_was_refused_when_all_was_computed():
    told = []
    with pytest.raises(fa.StateFault, match="duration is True; give a number"):
        fa.simulate(RR, [0.1, 0.2], duration=True, progress=told.append)
    assert told == []


def test_what_may_be_the_reason_is_told_with_the_error_itself():
    mine = ZeroDivisionError("of ours")
    with pytest.raises(
        fa.StateFault, match=r"_mistaken ended in ZeroDivisionError: of ours; limit, which is inf,"
    ) as caught:
        _mistaken(limit=np.inf, error=mine)
    assert caught.value.__cause__ is mine


def test_an_object_that_answers_no_question_hides_no_error():
    class Mute:
        __module__ = None
        __class__ = property(lambda self: 1 / 0)

    with pytest.raises(KeyError, match="of ours"):
        _mistaken(rows=Mute(), error=KeyError("of ours"))


class Gauge(fa.Extremes):
    """A reduction of the caller's own, whose annotations and errors are his."""

    gain: float = None

    def __post_init__(self):
        return [][3]


def test_a_list_that_there_was_no_memory_to_look_at_was_told_as_no_numbers(monkeypatch):
    """With little address space left the result was there, and was withheld."""

    def without(_):
        raise MemoryError

    whole = explained(_total)
    monkeypatch.setattr(np, "asarray", without)
    assert whole([0.5, 0.25]) == 0.75


def _total(x: ArrayLike) -> float:
    """The sum."""
    return sum(x)


def test_an_error_of_a_class_derived_from_ours_is_its_own():
    with pytest.raises(IndexError):
        Gauge(1)


@pytest.mark.parametrize(
    ("annotation", "right", "wrong"),
    [
        (bool, [True, np.True_], ["no", 1, None, 0.0, []]),
        (int, [3, np.int8(3), np.array(3), -1], [True, 3.0, "3", None, np.timedelta64(3, "s"), [3]]),
        (
            float,
            [3, 0.5, np.float32(1), np.array(0.5), np.inf],
            [True, "1", np.nan, 1j, None, [1.0], np.timedelta64(1, "s")],
        ),
        (str | int | None, ["a", 3, None], [True, 0.5, b"a", ["a"]]),
        (
            fa.algebra.States,
            [[1, 2], (0.5,), {"a": [1.0]}, np.zeros(3, "f4"), 3, [], range(3)],
            [
                [True],
                "1",
                ["1"],
                [None],
                1j,
                {1, 2},
                {"a": "1"},
                np.zeros(2, "M8[s]"),
                {1: 2},
                iter([1]),
                int,
            ],
        ),
        (ArrayLike | Literal["arm"] | None, [None, "arm", [1.0, 2.0]], ["own", True, ["arm"]]),
        ("Unheard | None", [None, 3, "x"], []),
        ("Arm | 'Robot'", [None, 3], []),
        ("list[int]", [[1, 2]], [["1"], 3, "1"]),
    ],
    ids=["bool", "int", "float", "frame", "states", "word", "unheard", "quoted", "list"],
)
def test_annotations_say_what_fits(annotation, right, wrong):
    kinds = declared(annotation, {})
    assert [value for value in right if kinds.wanted(value)] == []
    assert [value for value in wrong if not kinds.wanted(value)] == []
