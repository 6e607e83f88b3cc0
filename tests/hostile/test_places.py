"""Places that results go to: looked at before anything is computed, and no way to what is no file of ours."""

import errno
import os
from pathlib import Path

import pytest

from cli.verbs import forearm
from forearm.outside.output_files import write_text

LONG = ("simulate", "rr", "--duration", "1e5", "--dt", "1e-4", "--every", "100000000")
"""A minute of work."""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _refuse_new_files(monkeypatch):
    """A folder into which this user may write nothing; root may write into all."""
    really = os.open

    def denied(path, *rest, **more):
        if str(path).endswith(".part"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return really(path, *rest, **more)

    monkeypatch.setattr(os, "open", denied)


@pytest.mark.parametrize("place", ["a folder without permission", "a name too long", "a picture's folder"])
def test_a_place_that_cannot_be_written_was_told_after_all_was_computed(capsys, monkeypatch, place):
    name = "a" * 300 + ".csv" if place == "a name too long" else "out.csv"
    if place != "a name too long":
        _refuse_new_files(monkeypatch)
    out = ("--plot", "out.png") if place == "a picture's folder" else ("-o", name)
    said = forearm(capsys, *LONG, *out)
    assert said.code == 2
    assert "Permission denied" in said.err or "too long" in said.err
    assert said.out == ""
    assert not list(Path().iterdir())


def test_a_demo_for_a_folder_without_permission_was_told_after_a_minute(capsys, monkeypatch):
    Path("out").mkdir()
    _refuse_new_files(monkeypatch)
    said = forearm(capsys, "demo")
    assert said.code == 2
    assert "out: Permission denied" in said.err
    assert "report" not in said.out


def test_a_file_of_somebody_else_in_a_folder_for_all_is_told_before_anything_is_computed(capsys, monkeypatch):
    Path("all").mkdir()
    Path("all/out.csv").write_text("theirs")
    os.chmod("all", 0o1777)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    said = forearm(capsys, *LONG, "-o", "all/out.csv")
    assert said.code == 2
    assert "not permitted" in said.err
    assert Path("all/out.csv").read_text() == "theirs"


def test_a_file_that_is_mounted_alone_lost_the_result(monkeypatch):
    Path("out.csv").write_text("something that was longer")

    def busy(source, target):
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), str(source))

    monkeypatch.setattr(os, "replace", busy)
    write_text("out.csv", "new")
    assert Path("out.csv").read_text() == "new"
    assert [path.name for path in Path().iterdir()] == ["out.csv"]


@pytest.mark.parametrize("verb", [("view", "rr"), ("emit", "rr")])
def test_a_link_under_a_name_that_is_written_unasked_led_to_a_device(capsys, verb):
    os.mkfifo("pipe")  # as a disk would, it takes what is written; and who opens it waits
    Path("out").mkdir()
    for name in ("arm.html", "out/rr.h"):
        Path(name).symlink_to(Path("pipe").absolute())
    said = forearm(capsys, *verb)
    assert said.code == 2
    assert "no plain file" in said.err
