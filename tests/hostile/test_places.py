"""Places that results go to: looked at before anything is computed, and no way to what is no file of ours."""

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import forearm as fa
from cli.verbs import forearm
from forearm.outside.file_places import is_mounted
from forearm.outside.output_files import replacing, write_text
from forearm.outside.whole_process.environment import NO_ODD_DATE
from forearm.page.document import MARK
from forearm.simulation.run import _Run

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


@pytest.mark.parametrize("said", ["abc", "1e9", "9" * 20, "9" * 5000])
def test_a_date_of_builds_that_is_none_was_told_as_a_bug_when_all_was_computed(capsys, monkeypatch, said):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", said)
    for name in ("out.svg", "out.pdf"):
        told = forearm(capsys, *LONG, "--plot", name)
        assert told.code == 2
        assert "SOURCE_DATE_EPOCH is" in told.err
        assert "give seconds since 1970, or unset it." in told.err
    assert forearm(capsys, "simulate", "rr", "--duration", "0.01", "--plot", "out.png").code == 0


def test_a_date_of_builds_that_is_none_ended_verbs_that_draw_nothing():
    """SciPy has NumPy look at it while it is loaded."""
    code = "from forearm.outside.libraries.scipy_parts import scipy_part; scipy_part('special')"
    within = {**os.environ, "SOURCE_DATE_EPOCH": "abc"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=within, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("said", [None, "abc", "", "9" * 17, "9" * 5000, "1700000000"])
def test_a_date_of_builds_stays_what_it_is(monkeypatch, said):
    if said is None:
        monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    else:
        monkeypatch.setenv("SOURCE_DATE_EPOCH", said)
    with NO_ODD_DATE.inside():
        assert os.environ.get("SOURCE_DATE_EPOCH") == (said if said == "1700000000" else None)
    assert os.environ.get("SOURCE_DATE_EPOCH") == said


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


@pytest.fixture
def mounted_alone(monkeypatch):
    """A file that cannot be replaced, only filled."""
    place = Path("out.csv")
    place.write_text("something that was longer")

    def busy(source, target):
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), str(source))

    monkeypatch.setattr(os, "replace", busy)
    return place


def test_a_file_that_is_mounted_alone_lost_the_result(mounted_alone):
    write_text("out.csv", "new")
    assert mounted_alone.read_text() == "new"
    assert [path.name for path in Path().iterdir()] == ["out.csv"]


def test_a_full_disk_below_a_file_that_is_mounted_alone_left_half_of_the_new_one(mounted_alone, monkeypatch):
    def full(number, start, length):
        os.truncate(number, 100)  # of the three thousand that are wanted
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(OSError, match="No space left on device"):
        write_text("out.csv", "new" * 1000)
    assert mounted_alone.read_text() == "something that was longer"
    assert [path.name for path in Path().iterdir()] == ["out.csv"]


def test_a_disk_that_fails_while_a_file_is_filled_took_the_result_with_it(mounted_alone, monkeypatch):
    def broken(whole, place):
        place.write(whole.read(100))
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(shutil, "copyfileobj", broken)
    with pytest.raises(
        OSError, match=r"Input/output error; half of it is there, and all of it in .*\.whole"
    ) as told:
        write_text("out.csv", "new" * 1000)
    assert told.value.filename == "out.csv"
    assert next(Path().glob(".out.csv.*.whole")).read_text() == "new" * 1000
    assert not list(Path().glob(".*.part"))


def test_a_file_system_that_sets_no_room_aside_is_written_to_all_the_same(mounted_alone, monkeypatch):
    def unable(number, start, length):
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))

    monkeypatch.setattr(os, "posix_fallocate", unable)
    write_text("out.csv", "new")
    assert mounted_alone.read_text() == "new"


def test_ctrl_c_while_a_file_that_is_mounted_alone_is_filled_left_half_of_the_new_one(
    mounted_alone, monkeypatch
):
    really, tries = shutil.copyfileobj, []

    def interrupted(whole, place):
        tries.append(place.write(whole.read(7)))
        if len(tries) == 1:
            raise KeyboardInterrupt
        really(whole, place)

    monkeypatch.setattr(shutil, "copyfileobj", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_text("out.csv", "a new table\n")
    assert mounted_alone.read_text() == "a new table\n"
    assert [path.name for path in Path().iterdir()] == ["out.csv"]


@pytest.mark.parametrize("number", [errno.EROFS, errno.EPERM, errno.EACCES])
def test_a_file_that_is_mounted_alone_and_takes_nothing_was_told_when_all_was_computed(
    number, mounted_alone, capsys, monkeypatch
):
    really = os.open

    def refused(path, flags, *mode, **more):
        if Path(path) == mounted_alone.absolute() and flags & os.O_WRONLY:
            raise OSError(number, os.strerror(number), str(path))
        return really(path, flags, *mode, **more)

    monkeypatch.setattr(os, "open", refused)
    monkeypatch.setattr("forearm.outside.output_files.is_mounted", lambda _: True)
    monkeypatch.setattr("forearm.simulation.run._Run._run", lambda _: pytest.fail("it was computed"))
    said = forearm(capsys, "simulate", "rr", "-o", "out.csv")
    assert said.code == 2
    assert said.err == f"forearm: out.csv: {os.strerror(number)}.\n"
    with pytest.raises(OSError, match=r"'out\.csv'"), replacing("out.csv"):
        pytest.fail("it was computed")
    assert mounted_alone.read_text() == "something that was longer"
    assert [path.name for path in Path().iterdir()] == ["out.csv"]


def test_a_file_that_may_not_be_written_and_is_not_mounted_is_replaced():
    place = Path("out \\ 1.csv")
    place.write_text("old")
    place.chmod(0o444)
    write_text(place, "new")
    assert place.read_text() == "new"
    assert not is_mounted(place.absolute())
    assert is_mounted(Path("/proc"))


@pytest.mark.more
@pytest.mark.parametrize("number", [errno.EBUSY, errno.EXDEV])
def test_a_store_that_cannot_be_renamed_was_told_when_all_was_computed(number, capsys, monkeypatch):
    zarr = pytest.importorskip("zarr")
    np.save("motion.npy", np.zeros((3, 6)))
    zarr.create_array("tau.zarr", shape=(1, 2), dtype="f8")[:] = 7.0

    def stays(source, target):
        raise OSError(number, os.strerror(number), str(source))

    monkeypatch.setattr(os, "rename", stays)
    monkeypatch.setattr("forearm.streams.row_sinks._Zarr.put", lambda *_: pytest.fail("it was computed"))
    said = forearm(capsys, "torque", "rr", "motion.npy", "-o", "tau.zarr")
    assert said.code == 2
    assert "tau.zarr: it " in said.err
    assert "cannot be replaced; " in said.err
    with pytest.raises(OSError, match=r"'tau\.zarr'"):
        fa.stream(fa.load("rr"), "inverse_dynamics", "motion.npy", "tau.zarr")
    assert np.all(zarr.open("tau.zarr", mode="r")[:] == 7.0)
    assert sorted(path.name for path in Path().iterdir()) == ["motion.npy", "tau.zarr"]


@pytest.mark.parametrize("verb", [("view", "rr"), ("emit", "rr")])
def test_a_link_under_a_name_that_is_written_unasked_led_to_a_device(capsys, verb):
    os.mkfifo("pipe")  # as a disk would, it takes what is written; and who opens it waits
    Path("out").mkdir()
    for name in ("arm.html", "out/rr.h"):
        Path(name).symlink_to(Path("pipe").absolute())
    said = forearm(capsys, *verb)
    assert said.code == 2
    assert "no plain file" in said.err


@pytest.mark.parametrize("verb", [("view", "rr"), ("emit", "rr"), ("emit", "rr", "--wasm"), ("demo",)])
@pytest.mark.parametrize("what", ["a pipe", "a link to a folder"])
def test_what_stood_under_a_name_that_is_written_unasked_was_waited_for_or_followed(
    capsys, verb, what, monkeypatch
):
    monkeypatch.setattr("forearm.demo.run_demo", lambda *_: pytest.fail("it would have been written"))
    Path("elsewhere").mkdir()
    if what == "a pipe":
        Path("out").mkdir()
        for name in ("arm.html", "out/rr.h", "out/rr.wasm", "out/demo.json"):
            os.mkfifo(name)
    else:
        Path("out").symlink_to("elsewhere")
        Path("arm.html").symlink_to("elsewhere/page.html")
        Path("elsewhere/page.html").write_text(f"<!doctype html>{MARK}")  # a page of ours, and not this one
    said = forearm(capsys, *verb)
    assert said.code == 2
    assert ("no plain file" if what == "a pipe" else "is a link to elsewhere") in said.err
    assert "; give --force" in said.err
    assert [path.name for path in Path("elsewhere").iterdir()] == (["page.html"] if what != "a pipe" else [])


@pytest.mark.parametrize("words", [(), ("--wasm",)])
def test_code_for_a_folder_without_permission_was_computed_first(capsys, monkeypatch, words):
    for name in ("sources.controller.best_graph", "browser_modules.compile"):
        monkeypatch.setattr(f"forearm.compiler.{name}", lambda *_, **__: pytest.fail("it was computed"))
    _refuse_new_files(monkeypatch)
    said = forearm(capsys, "emit", "rr", *words, "-o", "new")
    assert said.code == 2
    assert "new: Permission denied" in said.err
    assert not list(Path().iterdir())


def test_an_interrupt_before_the_first_step_replaced_a_file_by_one_row(capsys, monkeypatch):
    def at_once(run):
        raise KeyboardInterrupt

    monkeypatch.setattr("forearm.simulation.run._Run._run", at_once)
    Path("out.csv").write_text("old")
    said = forearm(capsys, "simulate", "rr", "-o", "out.csv")
    assert (said.code, said.err) == (130, "forearm: interrupted\n")
    assert Path("out.csv").read_text() == "old"


@pytest.fixture
def interrupted_at_40_ms(monkeypatch):
    """A simulation of steps of 1 ms that hears Ctrl-C after 40 of them."""
    whole = _Run._advance

    def once(run, count):
        if run.done:
            raise KeyboardInterrupt
        whole(run, 40)

    monkeypatch.setattr(_Run, "_advance", once)


@pytest.mark.usefixtures("interrupted_at_40_ms")
def test_an_interrupted_motion_is_written_as_far_as_it_came(capsys):
    said = forearm(capsys, "simulate", "rr", "-o", "out.csv")
    assert said.code == 130
    assert "interrupted at t = 0.04 s" in said.err
    assert Path("out.csv").read_text().splitlines()[-1].startswith("0.04,")


@pytest.mark.usefixtures("interrupted_at_40_ms")
def test_an_interrupted_motion_beyond_a_limit_was_written_as_a_whole_one(capsys):
    """Its exit code was that of a motion that went to its end."""
    words = ("--q0", *["0", "-0.78", "0", "0", "0", "0"], "--qd0", *["0", "-3", "0", "0", "0", "0"])
    said = forearm(capsys, "simulate", "puma560", *words, "-o", "out.csv")
    assert said.code == 130
    assert "interrupted at t = 0.04 s" in said.err
    assert "joint 'shoulder' left its limits" in said.err
