"""Streams and words that the command line may meet: one sentence or the answer, never "a bug of forearm"."""

import errno
import io
import json
import os
import select
import subprocess
import sys
import time
from contextlib import suppress

import numpy as np
import pytest

import forearm as fa
from cli.verbs import MOTION, forearm
from forearm.cli.process import run
from forearm.compiler.call.arguments import check_threads
from forearm.outside.escapes import terminal, xml_comment
from forearm.simulation import read_motion
from forearm.writers.toml import to_toml
from forearm.writers.urdf import to_urdf

FOREARM = f"{sys.executable} -m forearm"


def shell(line, given=b"", **environment):
    return subprocess.run(
        ["sh", "-c", line], input=given, capture_output=True, env={**os.environ, **environment}, check=False
    )


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize(
    "verb", ["arms", "show puma560", "convert rr -", "show rr --json", "torque rr --q 1 2"]
)
def test_a_full_disk_behind_stdout_is_told(verb):
    done = shell(f"{FOREARM} {verb} > /dev/full")
    assert done.returncode == 2
    said = [line for line in done.stderr.decode().splitlines() if not line.startswith("note:")]
    assert said == ["forearm: stdout: No space left on device."]


def test_closed_streams_are_told():
    done = shell(f"{FOREARM} arms >&-")
    assert (done.returncode, done.stderr) == (2, b"forearm: stdout: it is closed.\n")
    done = shell(f"{FOREARM} torque rr - <&-")
    assert (done.returncode, done.stderr) == (2, b"forearm: stdin: it is closed.\n")
    done = shell(f"{FOREARM} show nothing 2>&-")
    assert (done.returncode, done.stdout) == (2, b"")
    done = shell(f"{FOREARM} show rr 2>&- <&-")
    assert done.returncode == 0
    assert b"rr" in done.stdout


WATCHED = """
import os
os.close(0)
before = os.listdir("/dev/fd")
from forearm.cli import stop_signals
stop_signals.heed()
print(sorted(set(map(int, os.listdir("/dev/fd"))) - set(map(int, before)))[0])
"""


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="open files have no names here")
def test_a_pipe_of_our_own_was_read_for_ever_as_stdin_and_took_torques_for_a_file():
    """`torque rr /dev/stdin <&-` waited for ever; `--out /dev/fd/4`, which nobody had opened, was told as written."""
    done = subprocess.run([sys.executable, "-c", WATCHED], capture_output=True, text=True)
    assert int(done.stdout) >= 200, done.stderr


PART, WHOLE = 2000, 20000
"""Rows that are written first, and in all: more than a pipe holds."""


def _rows(first, end):
    return b"".join(b"%.3f,0.1,0.2,0,0,0,0\n" % (k / 1000) for k in range(first, end))


def _settled(pipe, running, empty=False):
    """Wait until a pipe is empty, or full, or a process is gone."""
    fcntl, termios = pytest.importorskip("fcntl"), pytest.importorskip("termios")
    before = -1
    while running.poll() is None:
        held = int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)
        if held == 0 if empty else 0 < held == before:
            return
        before = held
        time.sleep(0.2)


@pytest.mark.skipif(not hasattr(select, "poll"), reason="pipes of POSIX")
def test_a_stdin_that_does_not_block_ended_where_its_writer_paused():
    """Torques of the rows that were there by then, and exit code 0."""
    read, write = os.pipe()
    os.set_blocking(read, False)
    with subprocess.Popen(
        [sys.executable, "-m", "forearm", "torque", "rr", "-", "--quiet"], stdin=read, stdout=subprocess.PIPE
    ) as verb:
        os.write(write, b"t,q1,q2,qd1,qd2,qdd1,qdd2\n" + _rows(0, PART))
        _settled(read, verb, empty=True)
        with suppress(subprocess.TimeoutExpired):  # it asks again, and nothing is there
            verb.wait(2)
        os.write(write, _rows(PART, PART + 5))
        os.close(write)
        assert verb.stdout.read().count(b"\n") == PART + 6
    os.close(read)
    assert verb.returncode == 0


@pytest.mark.skipif(not hasattr(select, "poll"), reason="pipes of POSIX")
@pytest.mark.parametrize("out", ["-", "/dev/stdout"])
def test_a_stdout_that_does_not_block_lost_what_its_reader_did_not_take_at_once(out, tmp_path):
    """A fifth of the rows came, and exit code 0."""
    (tmp_path / "motion.csv").write_bytes(b"t,q1,q2,qd1,qd2,qdd1,qdd2\n" + _rows(0, WHOLE))
    read, write = os.pipe()
    os.set_blocking(write, False)
    words = ["torque", "rr", str(tmp_path / "motion.csv"), "--out", out, "--quiet"]
    with subprocess.Popen([sys.executable, "-m", "forearm", *words], stdout=write) as verb:
        os.close(write)
        _settled(read, verb)
        with os.fdopen(read, "rb") as pipe:
            assert pipe.read().count(b"\n") == WHOLE + 1
    assert verb.returncode == 0


@pytest.mark.parametrize(
    "environment",
    [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}],
)
def test_a_stdout_without_unicode_gets_every_answer(environment):
    for verb in ("show puma560", "arms --json"):
        done = shell(f"{FOREARM} {verb}", **environment)
        assert done.returncode in (0, 1), done.stderr
        assert b"bug of forearm" not in done.stderr
        if "--json" in verb:
            json.loads(done.stdout.decode("ascii"))


def test_stdin_is_utf_8_with_or_without_a_mark():
    for given in (MOTION.encode(), b"\xef\xbb\xbf" + MOTION.encode()):
        done = shell(f"{FOREARM} torque rr - --quiet", given, PYTHONIOENCODING="ascii")
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(b"t,tau1,tau2\n")
    done = shell(f"{FOREARM} torque rr -", b"t,q1\xff")
    assert done.returncode == 2
    assert b"stdin: is not text in UTF-8" in done.stderr


def test_an_arm_on_stdin_may_have_a_mark_and_must_have_an_end():
    rr = to_toml(fa.load("rr")).encode()
    for given in (rr, b"\xef\xbb\xbf" + rr, b"\xef\xbb\xbf" + to_urdf(fa.load("rr"), lossy=True).encode()):
        done = shell(f"{FOREARM} show -", given)
        assert done.returncode == 0, done.stderr
    done = shell(f"{FOREARM} show - < /dev/zero")
    assert done.returncode == 2
    assert done.stderr.startswith(
        b"forearm: stdin: the file has 16 MiB; robots' files up to 16 MiB are read."
    )


@pytest.mark.parametrize("name", ["a\0b", "a\ud800"], ids=ascii)
def test_what_is_no_name_of_a_file_is_told(name, tmp_path):
    for suffix in (".toml", ".urdf", ".xml"):
        with pytest.raises(fa.ReadFault, match="is no name of a file"):
            fa.load(f"{tmp_path}/{name}{suffix}")
    with pytest.raises(fa.ReadFault, match="is no name of a file"):
        read_motion(f"{tmp_path}/{name}.csv", fa.load("rr"))


@pytest.mark.parametrize("verb", ["verify", "check", "compare"])
def test_a_negative_seed_is_refused(capsys, verb):
    said = forearm(capsys, verb, "rr", *(["rr"] if verb == "compare" else []), "--seed", "-1")
    assert said.code == 2
    assert "--seed" in said.err
    assert "bug" not in said.err


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("t,q²,q1\n0,1,2\n", "m.csv:1: no column q2; give a header"),
        ("t,q1,q2\n0,1," + "1" * 200_000 + "\n", "m.csv:2: column 'q2' is 111"),
        ("t,q1,q2," + "x" * 100_000 + "\n0,1,2,3\n", "the title 'xxx"),
        ("t,q1,q2,a" + " " * 100_000 + "[\n0,1,2,3\n", "letters; expected 200 at most"),
        ("t,q1,q2," + ",".join(map(str, range(10**5))) + "\n", "100003 columns; expected 10000 at most"),
        ("t,q1,q2\n0,1,\x1b[31mred\n", r"\x1b[31mred"),
    ],
    ids=["superscript", "long field", "long title", "long gap", "many columns", "escape sequence"],
)
@pytest.mark.parametrize("verb", ["torque", "compare"])
def test_tables_that_are_none_are_told_in_one_harmless_sentence(capsys, tmp_path, verb, text, says):
    path = tmp_path / "m.csv"
    path.write_text(text if verb == "torque" else text.replace("t,", "qd1,"))
    said = forearm(capsys, verb, "rr", path)
    assert said.code == 2
    assert "bug" not in said.err
    assert "\x1b" not in said.err
    assert len(said.err) < 1000
    assert len(said.err.splitlines()) == 1
    if verb == "torque":
        assert says in said.err.replace("\\\\", "\\")


def test_a_long_field_in_a_recorded_motion_is_a_read_fault(tmp_path):
    (tmp_path / "m.csv").write_text("t,q:1,q:2\n0,1," + "1" * 200_000 + "\n")
    with pytest.raises(fa.ReadFault, match=r"m.csv:2: column 'q:2' is 1{40}; expected a finite number"):
        read_motion(tmp_path / "m.csv", fa.load("rr"))


def test_names_of_files_do_no_harm_to_a_terminal(capsys, tmp_path):
    said = forearm(capsys, "show", tmp_path / "\x1b]0;owned\x07\x9b31m.toml")
    assert said.code == 2
    assert not set(said.err) & {"\x1b", "\x07", "\x9b"}
    said = forearm(capsys, "emit", "rr", "-o", tmp_path / "\x1b[31m\u202ec")
    assert said.code == 0
    assert not set(said.out) & {"\x1b", "\u202e"}
    said = forearm(capsys, "emit", "rr", "-o", tmp_path / "\x1b[31m\u202e\x9bc", "--json")
    assert not set(said.out) & {"\x1b", "\u202e", "\x9b"}
    assert "\x9bc" in said.json["written"][0]


def test_terminal_keeps_lines_and_letters():
    text = "puma: τ = 3 kg m²\n\tnext"
    assert terminal(text) == text
    assert terminal("a\x1b[2Jb\rc\x00") == r"a\x1b[2Jb\rc\x00"


@pytest.mark.parametrize("text", ["---", "a -- b", "ends -", "--->", "<!-- x -->", "-", "a\nb"])
def test_urdf_with_hyphens_in_where_its_numbers_come_from(text, tmp_path):
    arm = fa.load("rr").replace(provenance=(("mass", text),), gravity=(0.0, 0.0, -9.81))
    assert fa.load(fa.write_urdf(arm, tmp_path / "a.urdf")).n == 2
    assert "--" not in xml_comment(text)


@pytest.mark.parametrize("count", [np.int64(2), np.int32(2), np.uint8(2), 2])
def test_any_whole_number_is_a_number_of_threads(count):
    q = np.ones((2000, 2))
    rr = fa.load("rr")
    np.testing.assert_array_equal(
        fa.inverse_dynamics(rr, q, q, q, threads=count), fa.inverse_dynamics(rr, q, q, q)
    )
    assert type(check_threads("x", count)) is int


@pytest.mark.parametrize("count", [True, np.True_, 2.0, np.float64(2), "2", None, 0, -1, np.int64(0)])
def test_what_is_no_number_of_threads(count):
    with pytest.raises(fa.StateFault, match=r"threads is .*; give a whole number of threads, 1 or more"):
        check_threads("x", count)


def test_long_work_is_told_beforehand(tmp_path, caplog):
    rod = {"mass": 1.0, "com": (-0.5, 0, 0), "inertia": fa.Inertia.rod(1.0, 1.0)}
    chain = fa.Arm("chain", [fa.Link.dh("revolute", a=1.0, **rod) for _ in range(21)])
    fa.write_toml(chain, tmp_path / "chain.toml")
    line = f"{FOREARM} emit {tmp_path}/chain.toml --to llvm --functions gravity_torque -o {tmp_path}/g.ll"
    done = shell(line, FOREARM_CACHE="off")
    assert done.returncode == 0, done.stderr
    (said,) = done.stderr.decode().splitlines()
    assert said.startswith("note: gravity_torque of chain, 21 joints, is written out as straight-line code")
    assert shell(f"{line} --force --quiet", FOREARM_CACHE="off").stderr == b""


@pytest.mark.parametrize("stderr", ["full", "unread"])
def test_notes_that_nobody_can_read_take_no_result_with_them(stderr, tmp_path):
    """The first note on a closed pipe or a full disk ended the verb, and its table was lost."""
    (tmp_path / "m.csv").write_text(MOTION)
    words = [sys.executable, "-P", "-m", "forearm", "torque", "rr", "--rigid"]
    want = subprocess.run([*words, "--quiet"], capture_output=True, check=True).stdout
    if stderr == "full":
        with open("/dev/full", "wb") as nowhere:
            done = subprocess.run(words, stdout=subprocess.PIPE, stderr=nowhere)
    else:
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=write)
        os.close(write)
    assert (done.returncode, done.stdout) == (0, want)


class Gone(io.StringIO):
    """A terminal that goes away after some words."""

    def __init__(self, words):
        super().__init__()
        self.words = words

    def isatty(self):
        return True

    def write(self, text):
        self.words -= 1
        if self.words < 0:
            raise OSError(errno.EIO, "Input/output error")
        return len(text)

    def flush(self):
        self.write("")


@pytest.mark.parametrize("words", [0, 3])
@pytest.mark.parametrize("verb", ["sweep", "verify"])
def test_a_terminal_that_went_away_took_the_result_of_a_verb_with_a_progress_bar(
    verb, words, tmp_path, capsys, monkeypatch
):
    (tmp_path / "m.csv").write_text(MOTION)
    given = {"sweep": [tmp_path / "m.csv", "--payload", 0, 1, "--samples", 9], "verify": []}[verb]
    monkeypatch.setattr(sys, "stderr", Gone(words))
    assert run([verb, "rr", *map(str, given)]) == 0
    assert "q1" in capsys.readouterr().out or verb == "verify"


def test_help_for_a_terminal_of_a_thousand_million_columns_ends(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "1000000000")
    assert run(["--help"]) == 0
    assert len(capsys.readouterr().out) < 1_000_000


@pytest.mark.parametrize("variable", ["COLUMNS", "LINES"])
@pytest.mark.parametrize("said", ["²", "1²", "9" * 5000, "٣", "-1", "", "x"])
def test_a_size_of_a_terminal_that_looks_like_a_number_and_is_none_was_a_bug_of_ours(
    variable, said, monkeypatch, capsys
):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv(variable, said)
    assert run(["--help"]) == 0
    assert "Usage" in capsys.readouterr().out


@pytest.mark.parametrize("columns", [0, 1, 2])
def test_help_for_a_terminal_of_no_columns_never_ended(columns):
    """Some terminals say that they have none; a column of two letters was folded for ever."""
    words = [sys.executable, "-m", "forearm", "identify", "--help"]
    env = {**os.environ, "COLUMNS": str(columns)}
    said = subprocess.run(words, env=env, capture_output=True, text=True, timeout=60, check=True)
    assert "Usage" in said.stdout


@pytest.mark.skipif(os.name != "posix", reason="files behind stdin are a matter of POSIX")
def test_a_log_that_stdin_was_led_from_was_written_over(tmp_path):
    """`torque rr - -o log.csv < log.csv` lost the log."""
    log, other = tmp_path / "log.csv", tmp_path / "other.csv"
    log.write_text(MOTION)
    words = [sys.executable, "-m", "forearm", "torque", "rr", "-", "-o"]
    with log.open("rb") as stdin:
        said = subprocess.run([*words, str(log)], stdin=stdin, capture_output=True, text=True, check=False)
    assert said.returncode == 2
    assert "is what is read here, and would be written over; give another name" in said.stderr
    assert log.read_text() == MOTION
    with log.open("rb") as stdin:
        subprocess.run([*words, str(other)], stdin=stdin, capture_output=True, check=True)
    assert other.read_text().startswith("t,tau1")
