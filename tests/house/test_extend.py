"""docs/extend.md keeps its word: a toy reader and a toy verb are added by their file and their row alone."""

import sys
import types
from pathlib import Path

import forearm as fa
from cli.verbs import forearm
from forearm.cli import application, verbs
from forearm.readers import FORMATS


def module(name, **content):
    made = types.ModuleType(name)
    made.__dict__.update(content)
    return made


def test_a_reader_is_a_file_and_a_row(tmp_path, monkeypatch, capsys):
    def read_pendulum(path, *, keep_defects: bool = False):
        length = float(Path(path).read_text())
        link = fa.Link.dh(
            "revolute",
            a=length,
            alpha=0.0,
            d=0.0,
            theta=0.0,
            mass=1.0,
            com=(0, 0, 0),
            inertia=fa.Inertia.point(),
        )
        return fa.Arm("pendulum", links=[link])

    name = "forearm.readers.pendulum"
    monkeypatch.setitem(sys.modules, name, module(name, read_pendulum=read_pendulum))
    monkeypatch.setitem(FORMATS, ".pendulum", "pendulum")
    path = tmp_path / "one.pendulum"
    path.write_text("0.5")
    assert fa.load(path).links[0].pose.translation[0] == 0.5
    assert "pendulum: 1 joint" in forearm(capsys, "show", path).out


def test_a_verb_is_a_file_and_a_row(monkeypatch, capsys):
    def greet(arm: str, /):
        """Greet an arm."""
        print(f"good morning, {arm}")

    name = "forearm.cli.verbs.toy_verbs"
    monkeypatch.setitem(sys.modules, name, module(name, greet=greet))
    monkeypatch.setitem(verbs.VERBS, "Toys", {"greet": "toy_verbs"})
    application.application.cache_clear()
    try:
        assert forearm(capsys, "greet", "rr").out == "good morning, rr\n"
        assert "greet" in forearm(capsys, "--help").out
    finally:
        application.application.cache_clear()
