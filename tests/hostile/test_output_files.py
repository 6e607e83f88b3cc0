"""What we write is whole or not there: full disks, interrupts, odd places, files of others."""

import errno
import io
import os
import re
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import forearm as fa
from cli.verbs import MOTION, forearm
from forearm import plots
from forearm.compiler.sources.controller import emit_c
from forearm.outside import output_files
from forearm.simulation import simulate

RR = fa.load("rr")
RECORD = simulate(RR, [0.1, 0.2], [0.0, 0.0], duration=0.02)

WRITERS = {
    "toml": lambda path: fa.write_toml(RR, path.with_suffix(".toml")),
    "urdf": lambda path: fa.write_urdf(RR, path.with_suffix(".urdf"), lossy=True),
    "csv": lambda path: RECORD.to_csv(path.with_suffix(".csv")),
    "npz": lambda path: RECORD.to_npz(path),
    "png": lambda path: plots.save(plots.arm_figure(RR, [0.1, 0.2]), path.with_suffix(".png")),
    "c": lambda path: emit_c(RR, path.parent)[0],
}


class Full:
    """A disk that has room for so many bytes, and takes at most a thousand at a time."""

    def __init__(self, room):
        self.room, self.real = room, os.fdopen

    def fdopen(self, descriptor, mode, **more):
        if mode != "wb":
            return self.real(descriptor, mode, **more)
        return io.BufferedWriter(Short(self, descriptor), 512)


class Short(io.FileIO):
    """A file on such a disk."""

    def __init__(self, disk, descriptor):
        super().__init__(descriptor, "wb")
        self.disk = disk

    def write(self, data):
        taken = bytes(data)[:1000]
        if len(taken) > self.disk.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.disk.room -= len(taken)
        return super().write(taken)


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("room", [0, 300])
def test_a_full_disk_leaves_the_old_file_and_no_litter(kind, room, tmp_path, monkeypatch):
    path = WRITERS[kind](tmp_path / "thing")
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    assert path.name in before
    monkeypatch.setattr(output_files.os, "fdopen", Full(room).fdopen)
    with pytest.raises(OSError, match="No space left on device") as told:
        WRITERS[kind](tmp_path / "thing")
    monkeypatch.undo()
    assert str(told.value.filename) == str(path)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


def test_short_writes_are_written_on(tmp_path, monkeypatch):
    monkeypatch.setattr(output_files.os, "fdopen", Full(10**9).fdopen)
    content = os.urandom(50_000)
    assert output_files.write_bytes(tmp_path / "x", content).read_bytes() == content


@pytest.mark.parametrize("kind", WRITERS)
def test_an_interrupt_before_the_end_leaves_the_old_file(kind, tmp_path, monkeypatch):
    path = WRITERS[kind](tmp_path / "thing")
    path.write_bytes(b"old")
    names = sorted(p.name for p in tmp_path.iterdir())

    def interrupted(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(output_files.os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        WRITERS[kind](tmp_path / "thing")
    assert path.read_bytes() == b"old"
    assert sorted(p.name for p in tmp_path.iterdir()) == names


@pytest.mark.skipif(os.name != "posix", reason="modes of files are a matter of POSIX")
@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_modes_are_those_of_every_file(mask, tmp_path):
    before = os.umask(mask)
    try:
        path = fa.write_toml(RR, tmp_path / "a.toml")
        assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask
        path.chmod(0o640)
        fa.write_toml(RR, path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
    finally:
        os.umask(before)


@pytest.mark.skipif(os.name != "posix", reason="links and pipes are a matter of POSIX")
def test_a_link_stays_a_link_and_a_pipe_is_written_to(tmp_path):
    (tmp_path / "real.toml").write_text("old")
    (tmp_path / "link.toml").symlink_to(tmp_path / "real.toml")
    fa.write_toml(RR, tmp_path / "link.toml")
    assert (tmp_path / "link.toml").is_symlink()
    assert fa.load(tmp_path / "real.toml") == RR
    os.mkfifo(tmp_path / "pipe")
    heard = []
    reader = threading.Thread(target=lambda: heard.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    output_files.write_text(tmp_path / "pipe", "through")
    reader.join()
    assert heard == [b"through"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize(
    ("target", "says"),
    [("", "Is a directory"), ("missing/a.toml", "there is no such folder"), ("/dev/full", "No space left")],
)
def test_places_that_cannot_be_written_to_are_told_in_one_sentence(target, says, tmp_path, capsys):
    place = target if target.startswith("/") else tmp_path / target
    said = forearm(capsys, "convert", "rr", place, "--to", "toml")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith(f"forearm: {place}: {says}")
    assert said.err.count("\n") == 1


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="no /dev/stdout here")
def test_dev_stdout_is_stdout():
    words = [sys.executable, "-m", "forearm", "convert", "rr", "/dev/stdout", "--to", "toml"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith('name = "rr"')


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="no /dev/stdout here")
@pytest.mark.parametrize("how", ["stdout", "fd", "link"])
def test_a_log_that_stdout_is_appended_to_keeps_its_lines(how, tmp_path):
    log = tmp_path / "log.txt"
    log.write_text("an old line\n")
    (tmp_path / "link").symlink_to("/dev/stdout")
    target = {"stdout": "/dev/stdout", "fd": "/dev/fd/1", "link": str(tmp_path / "link")}[how]
    with log.open("ab") as file:
        words = [sys.executable, "-m", "forearm", "convert", "rr", target, "--to", "toml"]
        subprocess.run(words, stdout=file, check=True)
    assert log.read_text().startswith("an old line\n")
    assert 'name = "rr"' in log.read_text()


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="no files in memory here")
def test_a_file_in_memory_is_whole_or_not_there():
    path = Path(f"/dev/shm/forearm-{os.getpid()}.txt")
    try:
        path.write_text("old")
        with output_files.replacing(path) as file:
            file.write(b"half")
            file.flush()
            assert path.read_text() == "old"
    finally:
        path.unlink()


def test_a_description_that_is_there_is_not_written_over_unless_told(tmp_path, capsys):
    path = tmp_path / "arm.toml"
    path.write_text("mine")
    said = forearm(capsys, "convert", "rr", path)
    assert said.code == 2
    assert f"{path} is there already; give --force to write over it, or another name." in said.err
    assert path.read_text() == "mine"
    assert forearm(capsys, "convert", "rr", path, "--force").code == 0
    assert fa.load(path) == RR


def test_generated_code_is_replaced_and_code_of_others_is_not(tmp_path, capsys):
    assert forearm(capsys, "emit", "rr", "-o", tmp_path).code == 0
    assert forearm(capsys, "emit", "rr", "-o", tmp_path).code == 0
    (tmp_path / "rr.c").write_text("int mine;\n")
    assert forearm(capsys, "emit", "rr", "-o", tmp_path).code == 2
    assert (tmp_path / "rr.c").read_text() == "int mine;\n"
    assert forearm(capsys, "emit", "rr", "-o", tmp_path, "--force").code == 0
    assert "forearm" in (tmp_path / "rr.c").read_text()
    (tmp_path / "k.ll").write_text("mine")
    assert forearm(capsys, "emit", "rr", "--to", "llvm", "-o", tmp_path / "k.ll").code == 2
    assert (tmp_path / "k.ll").read_text() == "mine"


def test_results_are_written_over_as_every_tool_does(tmp_path, capsys):
    (tmp_path / "m.csv").write_text(MOTION)
    for _ in range(2):
        assert forearm(capsys, "torque", "rr", tmp_path / "m.csv", "-o", tmp_path / "tau.csv").code == 0
    table = np.loadtxt(tmp_path / "tau.csv", delimiter=",", skiprows=1)
    assert table.shape == (8, 3)


def test_a_failure_halfway_through_the_rows_leaves_the_old_table(tmp_path, monkeypatch):
    (tmp_path / "out.csv").write_text("old")

    def halfway():
        with output_files.replacing_text(tmp_path / "out.csv") as file:
            file.write("a,b\n" * 10_000)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        halfway()
    assert (tmp_path / "out.csv").read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["out.csv"]


@pytest.mark.parametrize("verb", ["torque", "simulate", "move", "via", "derive"])
def test_what_is_read_is_not_written_over(capsys, tmp_path, verb):
    """`torque arm.toml log.csv -o log.csv` lost the log."""
    arm, log = tmp_path / "rr.toml", tmp_path / "log.csv"
    fa.write_toml(RR, arm)
    log.write_text(MOTION)
    (tmp_path / "again.csv").symlink_to(log)
    asked = {
        "torque": (arm, log, "-o", tmp_path / "again.csv"),
        "simulate": (arm, "--duration", "0.01", "-o", arm),
        "move": (arm, "--to", "1", "1", "--speeds", "1", "--accelerations", "1", "-o", arm),
        "via": (arm, "--via", log, "--speeds", "1", "--accelerations", "1", "-o", tmp_path / "again.csv"),
        "derive": (arm, "-o", tmp_path / "." / "rr.toml"),
    }[verb]
    verb = "move" if verb == "via" else verb
    before = arm.read_bytes(), log.read_bytes()
    said = forearm(capsys, verb, *asked)
    assert said.code == 2
    assert "is what is read here, and would be written over; give another name" in said.err
    assert (arm.read_bytes(), log.read_bytes()) == before


@pytest.mark.parametrize(
    "verb", ["excite", "identify", "report", "view", "simulate", "torque", "move", "derive"]
)
def test_a_folder_that_is_not_there_is_told_before_anything_is_computed(capsys, tmp_path, verb, monkeypatch):
    """`excite arm nosuch/motion.csv` searched for a minute, and lost what it found."""
    place, log = tmp_path / "nosuch" / "out.csv", tmp_path / "log.csv"
    log.write_text(MOTION)
    asked = {
        "excite": ("rr", place),
        "identify": ("rr", log, "--report", place),
        "report": ("rr", log, "-o", place),
        "view": ("rr", "-o", place),
        "simulate": ("rr", "--duration", "1", "-o", place),
        "torque": ("rr", log, "--plot", place.with_suffix(".png")),
        "move": ("rr", "--to", "1", "1", "--speeds", "1", "--accelerations", "1", "-o", place),
        "derive": ("rr", "-o", place.with_suffix(".md")),
    }[verb]
    said = forearm(capsys, verb, *asked)
    assert (said.code, said.out) == (2, "")
    assert "there is no such folder to write it into" in said.err


@pytest.mark.more
def test_a_zarr_store_makes_no_folder_that_is_not_there(tmp_path):
    pytest.importorskip("zarr")
    np.save(tmp_path / "rows.npy", np.zeros((3, 6)))
    with pytest.raises(FileNotFoundError, match="nosuch"):
        fa.stream(RR, "inverse_dynamics", tmp_path / "rows.npy", tmp_path / "nosuch" / "tau.zarr")
    assert not (tmp_path / "nosuch").exists()


def test_one_name_for_two_files_is_refused(capsys, tmp_path):
    """Of `identify -o x --report x` the second took the first's place."""
    said = forearm(
        capsys, "identify", "rr", "log.csv", "-o", tmp_path / "x", "--report", tmp_path / "." / "x"
    )
    assert (said.code, said.out) == (2, "")
    assert "is given for two files, and one would be lost; give two names" in said.err


@pytest.mark.parametrize("letter", ["a", "é", "漢", "🦾"])
def test_any_name_that_a_file_may_have_is_written(letter, tmp_path):
    path = tmp_path / (letter * (255 // len(letter.encode())))
    output_files.write_text(path, "text")
    assert path.read_text() == "text"
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_no_toml_is_written_that_is_too_long_to_be_read(tmp_path):
    """A robot of 299 joints became a file of 363 KiB, which `load` refused."""
    panda = fa.load("panda")
    links = tuple(link.replace(name=f"{link.name} {k}") for k in range(200) for link in panda.links)
    with pytest.raises(
        fa.ArmFault, match=r"as TOML it has \d+ KiB \(1400 links, .*write URDF, or fewer frames"
    ):
        fa.write_toml(panda.replace(links=links, configurations=(), frames=()), tmp_path / "long.toml")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("verb", [("view", "rr"), ("report", "rr", "m.csv")])
def test_somebodys_own_page_is_not_written_over_and_one_of_ours_is(verb, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.csv").write_text("t,q1,q2\n0,0,0\n1,1,1\n2,0,1\n")
    page = tmp_path / "index.html"
    for head in ("<!doctype html>", '<!doctype html><meta http-equiv="Content-Security-Policy" content="">'):
        page.write_text(f"{head}<body>years of work</body>")
        said = forearm(capsys, *verb, "-o", "index.html")
        assert said.code == 2
        assert "index.html is there already; give --force" in said.err
        assert "years of work" in page.read_text()
    assert forearm(capsys, *verb, "-o", "index.html", "--force").code == 0
    assert forearm(capsys, *verb, "-o", "index.html").code == 0


def test_somebodys_own_module_is_not_written_over_and_one_of_ours_is(tmp_path, capsys):
    module = tmp_path / "rr.wasm"
    module.write_bytes(b"\0asm\1\0\0\0")
    said = forearm(capsys, "emit", "rr", "--wasm", "-o", tmp_path)
    assert said.code == 2
    assert "rr.wasm is there already; give --force" in said.err
    assert module.read_bytes() == b"\0asm\1\0\0\0"
    assert forearm(capsys, "emit", "rr", "--wasm", "-o", tmp_path, "--force").code == 0
    assert forearm(capsys, "emit", "rr", "--wasm", "-o", tmp_path).code == 0


def test_a_working_folder_that_is_gone_is_told_with_the_name_of_the_file(tmp_path):
    """It was "stdout: No such file or directory"."""
    place = tmp_path / "gone"
    place.mkdir()
    begin = "import os, sys; os.rmdir(os.getcwd()); from forearm.cli.process import run; "
    code = begin + "sys.exit(run(['simulate', 'rr', '--duration', '0.01', '-o', 'x.csv']))"
    done = subprocess.run([sys.executable, "-P", "-c", code], cwd=place, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "forearm: x.csv: there is no such folder to write it into.\n"


DEFAULTS = [
    (("demo",), "out/report.html"),
    (("demo",), "out/demo.json"),
    (("view", "rr"), "arm.html"),
    (("emit", "rr"), "out/rr.c"),
]


@pytest.mark.parametrize("there", [True, False], ids=["there", "not there"])
@pytest.mark.parametrize(
    ("words", "place"), DEFAULTS, ids=[f"{words[0]} {place}" for words, place in DEFAULTS]
)
def test_a_link_in_a_strangers_folder_led_a_verb_to_write_another_file(
    words, place, there, tmp_path, monkeypatch, capsys
):
    victim, folder = tmp_path / "victim", tmp_path / "stranger"
    (folder / place).parent.mkdir(parents=True)
    (folder / place).symlink_to(victim)
    if there:
        victim.write_text("mine")
    monkeypatch.chdir(folder)
    monkeypatch.setattr("forearm.demo.run_demo", lambda *_: pytest.fail("it would have been written"))
    said = forearm(capsys, *words)
    assert said.code == 2
    told = "is there already" if there else "is a link to .*victim, which is not there"
    assert re.search(rf"{place} {told}; give --force", said.err)
    assert victim.read_text() == "mine" if there else not victim.exists()


@pytest.mark.parametrize("words", [(), ("--wasm",)])
def test_code_that_could_not_be_written_left_an_empty_folder(words, tmp_path, monkeypatch, capsys):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(output_files.os, "fsync", full)
    said = forearm(capsys, "emit", "rr", *words, "-o", tmp_path / "new" / "code")
    assert said.code == 2
    assert "No space left on device" in said.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [(), ("--wasm",)])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_code_of_which_a_part_could_not_be_written_stood_beside_the_rest_of_the_old(
    error, words, tmp_path, monkeypatch, capsys
):
    folder, really, calls = tmp_path / "code", os.fsync, []
    assert forearm(capsys, "emit", "rr", *words, "-o", folder).code == 0
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    def full(number):
        calls.append(number)
        if len(calls) == 3:
            raise error
        really(number)

    monkeypatch.setattr(output_files.os, "fsync", full)
    assert forearm(capsys, "emit", "rr", *words, "--free", "payload", "-o", folder, "--force").code != 0
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
