"""Libraries that may not be here: what comes in while one is loaded is not taken for its absence."""

import os
import signal
import subprocess
import sys

import pytest

from forearm.outside.libraries import optional_libraries
from forearm.outside.libraries.optional_libraries import mujoco, optional

MODEL = """<mujoco><worldbody><body><joint name="j"/><geom size="0.1"/></body></worldbody></mujoco>"""
LIBRARY = """
try:
    {how}
except BaseException:
    raise ImportError("initialization failed")
"""
HANDLER = """
import signal

def late(*_):
    raise {error}("a limit")

signal.signal(signal.SIGUSR1, late)
signal.raise_signal(signal.SIGUSR1)
"""


@pytest.fixture
def library(tmp_path, monkeypatch):
    """A library whose machine code makes an ImportError of whatever comes in while it is loaded."""
    monkeypatch.syspath_prepend(tmp_path)

    def made(name, how):
        (tmp_path / f"{name}.py").write_text(LIBRARY.format(how=how.replace("\n", "\n    ")))
        return name

    return made


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_ctrl_c_while_a_library_was_loaded_was_told_as_its_absence(library, kind):
    name = library(f"stopped_by_{kind.__name__}", f"raise {kind.__name__}")
    with pytest.raises(kind):
        optional(name)


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="Windows has no such signal")
def test_a_time_limit_while_a_library_was_loaded_was_told_as_its_absence(library):
    before = signal.getsignal(signal.SIGUSR1)
    try:
        with pytest.raises(TimeoutError):
            optional(library("stopped_by_a_limit", HANDLER.format(error="TimeoutError")))
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_an_absent_library_is_absent_also_for_who_has_just_been_interrupted(library):
    damaged = library("damaged", "raise OSError")
    for name in ("no_such_library", damaged):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            with pytest.raises(ImportError):
                optional(name)


@pytest.mark.parametrize("drawing", ["nonsense", "osmesa"])
def test_a_variable_of_mujoco_s_pictures_ended_the_reading_of_every_model(drawing, tmp_path):
    """On machines without a window it is set, and the library that it names is not always there."""
    pytest.importorskip("mujoco")
    (tmp_path / "m.xml").write_text(MODEL)
    for words in (["show", "m.xml"], ["compare", "m.xml", "mujoco"]):
        done = subprocess.run(
            [sys.executable, "-m", "forearm", *words],
            cwd=tmp_path,
            env={**os.environ, "MUJOCO_GL": drawing},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr


def test_the_variable_of_pictures_stays_as_it_was(monkeypatch):
    monkeypatch.setenv(optional_libraries.PICTURES, "osmesa")
    asked = []

    def load(name):
        asked.append(os.environ[optional_libraries.PICTURES])
        if len(asked) == 1:
            raise AttributeError("no such library")
        return name

    monkeypatch.setattr(optional_libraries, "optional", load)
    assert mujoco() == "mujoco"
    assert asked == ["osmesa", "disable"]
    assert os.environ[optional_libraries.PICTURES] == "osmesa"
