"""SIGTERM, SIGHUP and Ctrl-C of the command line: an answer within seconds, and no half file beside its place."""

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from forearm.outside import output_files

PATIENT = 20.0
FOREARM = "from forearm.cli.process import main; main()"
DEAF = """
import ctypes, sys
from forearm.cli import process
from forearm.outside.output_files import replacing

def deaf(words):
    with replacing(sys.argv[1]) as file:
        file.write(b"half")
        file.flush()
        print("ready", flush=True)
        lock = ctypes.CDLL(None).pthread_mutex_lock
        room = ctypes.create_string_buffer(64)
        lock(room), lock(room)  # for ever, and deaf

process.run = deaf
process.main()
"""

LOST = """
import os, signal, sys, time
from forearm.cli import process
from forearm.outside.output_files import replacing

class Callback:
    def __del__(self):
        os.kill(os.getpid(), int(sys.argv[2]))
        sum(range(1000))

def working(words):
    try:
        with replacing(sys.argv[1]) as file:
            file.write(b"half")
            thing = Callback()
            del thing
            time.sleep(30)
    except KeyboardInterrupt:
        return 130

process.run = working
process.main()
"""


UNREAD = """
import sys
from forearm.cli import process

def working(words):
    for stream in (sys.stdout, sys.stderr):
        for _ in range(200):
            stream.write("a line that nobody reads\\n")
    if sys.argv[1] == "fails":
        raise OSError(2, "there is none", "picture.png")

process._run = working
process.main()
"""

LIMITED = """
import signal, sys
from forearm.outside.output_files import replacing

def limit(*_):
    raise TimeoutError("too long")

signal.signal(signal.SIGALRM, limit)
signal.alarm(2)
try:
    with replacing(sys.argv[1]) as file:
        for _ in range(400):
            file.write(b"a line that nobody reads\\n")
except TimeoutError:
    print("given up", flush=True)
"""


@contextmanager
def started(folder, *words, program=FOREARM):
    """A process that does not outlive its test."""
    command = [sys.executable, "-c", program, *map(str, words)]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for_part(folder, process):
    late = time.monotonic() + PATIENT
    while not any(p.name.endswith(".part") for p in folder.iterdir()):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < late
        time.sleep(0.001)


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """Rows of zeros that take no disk, and some seconds to stream."""
    path = tmp_path_factory.mktemp("rows") / "rows.npy"
    np.lib.format.open_memmap(path, "w+", dtype=float, shape=(4_000_000, 6)).flush()
    return path


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
@pytest.mark.parametrize("place", ["tau.csv", pytest.param("tau.zarr", marks=pytest.mark.more)])
def test_a_signal_leaves_no_part_beside_the_place(name, place, rows, tmp_path):
    number = getattr(signal, name)
    with started(tmp_path, "torque", "rr", rows, "-o", place) as process:
        wait_for_part(tmp_path, process)
        process.send_signal(number)
        _, said = process.communicate(timeout=PATIENT)
    assert process.returncode == 128 + number, said
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="needs a call that hears nothing")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_signal_is_heard_while_a_foreign_library_hears_nothing(name, tmp_path):
    number = getattr(signal, name)
    with started(tmp_path, tmp_path / "x.csv", program=DEAF) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.2)
        process.send_signal(number)
        _, said = process.communicate(timeout=PATIENT)
    assert process.returncode == 128 + number
    assert said == "forearm: interrupted\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="needs a call that hears nothing")
def test_an_end_that_nobody_read_of_was_none(tmp_path):
    """The process that hears nothing is ended all the same, where its stderr is full."""
    import fcntl

    read, write = os.pipe()
    fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 4096)
    os.write(write, b"x" * 4096)
    command = [sys.executable, "-c", DEAF, tmp_path / "x.csv"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=write, text=True) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENT) in (130, -signal.SIGALRM)
            assert list(tmp_path.iterdir()) == []
        finally:
            process.kill()
            os.close(read)
            os.close(write)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_what_is_ignored_stays_ignored(tmp_path):
    """nohup: the verb goes on to its end."""
    ignore = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN); print('ready', flush=True)"
    with started(tmp_path, "torque", "rr", "--q", "0.1", "0.2", program=f"{ignore}; {FOREARM}") as process:
        assert process.stdout.readline() == "ready\n"
        for _ in range(10):
            process.send_signal(signal.SIGHUP)
            time.sleep(0.05)
        _, said = process.communicate(timeout=PATIENT)
    assert process.returncode == 0, said


NO_THREADS = """
import _thread
from forearm.cli.process import main

def refuse(*_):
    raise RuntimeError("can't start new thread")

_thread.start_new_thread = refuse
main()
"""


def test_every_verb_ended_in_a_traceback_where_no_thread_may_be_started(tmp_path):
    """A user's or a container's limit of processes counts threads, too."""
    with started(tmp_path, "torque", "rr", "--q", "0.1", "0.2", program=NO_THREADS) as process:
        _, said = process.communicate(timeout=PATIENT)
    assert process.returncode == 0, said


def aged(path, seconds):
    os.utime(path, (time.time() - seconds,) * 2)
    return path


def test_what_a_killed_process_left_is_taken_away_by_the_next_writer(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    stale = tmp_path / f".x.csv.{dead.pid}-0123456789ab.part"
    kept = [
        tmp_path / f".x.csv.{os.getpid()}-0123456789ab.part",  # somebody is writing it
        tmp_path / f".y.csv.{dead.pid}-0123456789ab.part",  # of another file
        tmp_path / ".x.csv.part",  # not as we name them
        tmp_path / f".x.csv.{dead.pid}-0123456789ab.part.old",
    ]
    for path in (stale, *kept):
        path.write_text("half")
        aged(path, 7200)
    young = tmp_path / f".x.csv.{dead.pid}-ba9876543210.part"
    young.write_text("half")
    link = tmp_path / f".x.csv.{dead.pid}-aaaaaaaaaaaa.part"
    link.symlink_to(kept[2])
    output_files.write_text(tmp_path / "x.csv", "whole")
    assert not stale.exists()
    assert all(p.exists() for p in (*kept, young, link, tmp_path / "x.csv"))


def test_names_of_unfinished_files_are_those_that_are_looked_for(tmp_path):
    name = output_files.part_of(Path(tmp_path / "a.(b)*.csv")).name
    assert re.fullmatch(r"\.a\.\(b\)\*\.csv\.\d+-[0-9a-f]{12}\.part", name)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_that_came_within_a_destructor_was_told_as_ignored_and_lost(tmp_path, number):
    """So it is with callbacks of pyarrow; a half file stayed when the system ended the process."""
    began = time.monotonic()
    with started(tmp_path, tmp_path / "out.csv", int(number), program=LOST) as process:
        _, said = process.communicate(timeout=PATIENT)
    assert (process.returncode, said) == (128 + number, "")
    assert time.monotonic() - began < 8
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="a pipe whose size is known")
@pytest.mark.parametrize("blocking", [True, False])
@pytest.mark.parametrize("unread", ["stdout", "stderr"])
@pytest.mark.parametrize("end", ["answers", "fails"])
@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.more)])
def test_ctrl_c_while_nobody_read_what_was_said_was_never_answered(number, end, unread, blocking, tmp_path):
    """A pager that waits for its user: what was still held was written at the end, where no signal is heard."""
    import fcntl

    read, write = os.pipe()
    fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 4096)
    os.set_blocking(write, blocking)
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, unread: write}
    held = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with subprocess.Popen([sys.executable, "-c", UNREAD, end], env=held, cwd=tmp_path, **streams) as process:
        try:
            os.close(write)
            wait_for_full(read)
            time.sleep(0.2)
            process.send_signal(number)
            assert process.wait(PATIENT) == 128 + number
        finally:
            process.kill()
            os.close(read)


@pytest.mark.skipif(sys.platform != "linux", reason="a pipe whose size is known")
@pytest.mark.parametrize("blocking", [True, False])
@pytest.mark.parametrize("place", ["/dev/fd/{}", "pipe"])
def test_a_time_limit_over_a_pipe_that_nobody_reads_was_waited_for_for_ever(place, blocking, tmp_path):
    """What was held when the limit came was written when the file was closed."""
    import fcntl

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read, write = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), os.open(pipe, os.O_WRONLY)
    fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 4096)
    os.set_blocking(write, blocking)
    command = [sys.executable, "-c", LIMITED, place.format(write)]
    with subprocess.Popen(command, cwd=tmp_path, pass_fds=[write], stdout=subprocess.PIPE) as process:
        try:
            assert process.communicate(timeout=PATIENT)[0] == b"given up\n"
        finally:
            process.kill()
            os.close(read)
            os.close(write)


def wait_for_full(pipe):
    """Until a pipe of a page takes no further line."""
    import fcntl
    import termios

    late, held = time.monotonic() + PATIENT, 0
    while held < 4000:
        assert time.monotonic() < late
        time.sleep(0.02)
        held = int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)
