"""Systems on which little or nothing can be written: what was computed gets out all the same."""

import errno
import io
import os
import sys
import tempfile

import pytest

import forearm as fa
from cli.verbs import MOTION, forearm
from forearm import plots
from forearm.plots import style
from forearm.simulation import simulate
from forearm.writers.toml import to_toml
from forearm.writers.urdf import to_urdf

MOVE = ("move", "rr", "--to", 1, 1, "--speeds", 1, "--accelerations", 1)


@pytest.fixture
def no_temporary_folder(monkeypatch):
    def none(*_, **__):
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    for name in ("mkdtemp", "mkstemp", "gettempdir", "TemporaryFile"):
        monkeypatch.setattr(tempfile, name, none)
    monkeypatch.setenv("FOREARM_CACHE", "off")


@pytest.mark.parametrize("words", [("simulate", "rr", "--duration", 0.02), MOVE], ids=["simulate", "move"])
def test_a_motion_for_stdout_was_lost_without_a_temporary_folder(
    words, tmp_path, capsys, no_temporary_folder
):
    printed = forearm(capsys, *words, "--quiet")
    assert printed.code == 0, printed.err
    assert forearm(capsys, *words, "--quiet", "-o", tmp_path / "same.csv").code == 0
    assert printed.out.encode() == (tmp_path / "same.csv").read_bytes()


@pytest.mark.parametrize("text", [to_toml(fa.load("rr")), to_urdf(fa.load("rr"), lossy=True)])
def test_an_arm_on_stdin_needs_no_temporary_folder(text, monkeypatch, capsys, no_temporary_folder):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert forearm(capsys, "show", "-").code == 0
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"name = 1 2")))
    assert forearm(capsys, "show", "-").err.startswith("forearm: stdin.toml:1:")


def test_a_model_on_stdin_is_not_a_file_of_that_name(tmp_path, monkeypatch, capsys):
    pytest.importorskip("mujoco")
    model = (
        '<mujoco model="NAME"><worldbody><body name="b"><joint name="j"/><inertial pos="0 0 1" mass="1" '
        'diaginertia="1 1 1"/></body></worldbody></mujoco>'
    )
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stdin.xml").write_text(model.replace("NAME", "beside"))
    for more in ((), ("--allow-files",)):
        given = io.TextIOWrapper(io.BytesIO(model.replace("NAME", "given").encode()))
        monkeypatch.setattr(sys, "stdin", given)
        said = forearm(capsys, "show", "-", *more)
        assert said.code == 0, said.err
        assert "given" in said.out
        assert "beside" not in said.out


@pytest.mark.parametrize(
    "words",
    [
        ("torque", "rr", "MOTION"),
        ("torque", "rr", "MOTION", "--summary"),
        MOVE,
        ("simulate", "rr", "--duration", 0.02),
    ],
    ids=["torque", "summary", "move", "simulate"],
)
def test_a_picture_that_could_not_be_written_took_the_numbers_with_it(words, tmp_path, monkeypatch, capsys):
    def full(_, path):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    (tmp_path / "motion.csv").write_text(MOTION)
    words = [tmp_path / "motion.csv" if word == "MOTION" else word for word in words]
    monkeypatch.setattr(plots, "save", full)
    picture, out = tmp_path / "p.png", tmp_path / "out.csv"
    said = forearm(capsys, *words, "--plot", picture, "-o", out)
    assert (said.code, said.err.splitlines()[-1]) == (2, f"forearm: {picture}: No space left on device.")
    assert len(out.read_text().splitlines()) > 2


def test_matplotlib_without_a_folder_of_its_own_was_called_a_bug_of_ours(monkeypatch):
    def refusing(name):
        raise OSError("Matplotlib requires access to a writable cache directory, but there is none")

    monkeypatch.setattr(style, "optional", refusing)
    with pytest.raises(style.NoMatplotlib, match=r"wants a folder to write to .* set MPLCONFIGDIR to one"):
        style.matplotlib()


def test_a_backend_that_matplotlib_does_not_know_was_called_a_bug_of_ours(monkeypatch):
    def refusing(name):
        raise ValueError("Key backend: 'x' is not a valid value for backend")

    monkeypatch.setattr(style, "optional", refusing)
    with pytest.raises(style.NoMatplotlib, match="unset MPLBACKEND"):
        style.matplotlib()


def test_two_archives_whose_names_differ_after_a_point_are_two(tmp_path):
    run = simulate(fa.load("rr"), [0.1, 0.2], duration=0.01)
    names = ["run.1", "run.2", "run", "run.npz"]
    assert [run.to_npz(tmp_path / name).name for name in names] == [
        "run.1.npz",
        "run.2.npz",
        "run.npz",
        "run.npz",
    ]
