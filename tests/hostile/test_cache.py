"""The kernels on disk, by every accident: no home, odd files, full disks, kills, forks; torques stay right."""

import errno
import logging
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import forearm as fa
from cli.verbs import forearm
from forearm.compiler.call.processor import ProcessorKernel
from forearm.compiler.graph.trace import trace
from forearm.compiler.store import files, machine_locks

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes, modes and kills are a matter of POSIX")

GRAPH = trace(lambda x: [x[0] * x[1] + 2.0, x[0].sin()], {"x": (2,)}, name="small", outputs=("y",))
X, WANT = np.array([[3.0, 4.0], [0.5, 2.0]]), np.array([[14.0, np.sin(3.0)], [3.0, np.sin(0.5)]])
TORQUE = """
import numpy as np, forearm as fa
q = np.array([0.3, -0.4])
print(fa.inverse_dynamics(fa.load("rr"), q, q, q).tolist(), fa.mass_matrix(fa.load("rr"), q).tolist())
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("FOREARM_CACHE", str(tmp_path / "kernels"))
    return tmp_path / "kernels"


def right():
    np.testing.assert_allclose(ProcessorKernel(GRAPH)(X), WANT, rtol=1e-15)


def torque(**keywords):
    return subprocess.Popen(
        [sys.executable, "-c", TORQUE], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **keywords
    )


def test_no_home_switches_the_cache_off_and_says_so(monkeypatch, caplog):
    def nobody(*given):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("FOREARM_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(Path, "home", nobody)
    files._tell_once.cache_clear()
    assert files.cache_folder() is None
    right()
    says = "no kernels are kept: Could not determine home directory. Set FOREARM_CACHE to a folder."
    assert [r.getMessage() for r in caplog.records if "kept:" in r.getMessage()] == [says]


def test_the_home_of_nobody_switches_the_cache_off(monkeypatch, capsys):
    monkeypatch.setenv("FOREARM_CACHE", "~nosuch/x")
    assert files.cache_folder() is None
    right()
    assert files.clear_cache() == 0
    assert forearm(capsys, "cache", "list").code == 0


def directory(path):
    path.unlink()
    path.mkdir()


def full_directory(path):
    directory(path)
    (path / "x").write_text("x")


def pipe(path):
    path.unlink()
    os.mkfifo(path)


def loop(path):
    path.unlink()
    path.symlink_to(path)


def huge(path):
    os.truncate(path, 10**10)


def unreadable(path):
    path.chmod(0)


def cut(path):
    path.write_bytes(path.read_bytes()[: random.Random(0).randrange(len(path.read_bytes()))])


ACCIDENTS = [directory, full_directory, pipe, loop, huge, unreadable, cut]


@pytest.mark.parametrize("accident", ACCIDENTS, ids=lambda f: f.__name__)
def test_whatever_is_in_a_files_place_neither_raises_nor_hangs(folder, accident, capsys):
    right()
    (path,) = folder.glob("*.kernel")
    for file in list(folder.iterdir()):  # digests too
        accident(file)
    files.code_version.cache_clear()
    began = time.monotonic()
    right()
    right()
    assert time.monotonic() - began < 5
    assert forearm(capsys, "cache", "list").code == 0
    if accident is not full_directory:
        assert path.is_file()
        assert path.stat().st_size < files.LONGEST
        assert forearm(capsys, "cache", "clear").out == "1 kernels deleted\n"
        assert list(folder.iterdir()) == []


@pytest.mark.parametrize("accident", [directory, pipe, loop, cut], ids=lambda f: f.__name__)
def test_clear_removes_what_is_damaged_too_and_nothing_of_others(folder, accident):
    right()
    (path,) = folder.glob("*.kernel")
    accident(path)
    (folder / "forearm-abc123.tmp").write_bytes(b"half")
    (folder / "other.tmp").write_text("not ours")
    (folder / "notes.kernel").write_text("not ours")
    assert files.clear_cache() == 2
    assert sorted(p.name for p in folder.iterdir()) == ["notes.kernel", "other.tmp"]


def test_what_a_killed_process_left_half_written_is_cleared_away_and_counts(folder, monkeypatch):
    right()
    for name, age in (("forearm-old.tmp", 2 * files.STALE), ("forearm-new.tmp", 0)):
        (folder / name).write_bytes(bytes(1000))
        os.utime(folder / name, (time.time() - age,) * 2)
    files._ROOM.clear()  # a process looks through the folder when it stores for the first time
    files.store(files.key_of("a"), "a", bytes(1000))
    assert not (folder / "forearm-old.tmp").exists()
    assert (folder / "forearm-new.tmp").exists()
    monkeypatch.setattr(files, "LIMIT_BYTES", 1500)
    files.store(files.key_of("b"), "b", bytes(1000))
    assert sum(p.stat().st_size for p in folder.iterdir()) <= 1500


def test_files_exchanged_for_each_other_are_not_believed(folder, caplog):
    rr, q = fa.load("rr"), np.array([0.3, -0.4])
    want = fa.inverse_dynamics(rr, q, q, q)
    kept = sorted(folder.glob("*.kernel"))
    assert len(kept) > 1
    contents = [path.read_bytes() for path in kept]
    for path, content in zip(kept, contents[1:] + contents[:1], strict=True):
        path.write_bytes(content)
    found = torque()
    said, wrong = found.communicate(timeout=60)
    assert found.returncode == 0, wrong
    assert said.startswith(str(want.tolist()))
    assert "damaged or of another make" not in caplog.text


def test_a_full_disk_costs_the_cache_alone(folder, monkeypatch, caplog):
    real = os.fdopen

    def full(descriptor, mode="r", **more):
        file = real(descriptor, mode, **more)
        if mode == "wb":
            file.write(b"some")

            class Full:
                def __enter__(self):
                    return self

                def __exit__(self, *given):
                    file.close()

                def write(self, content):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

            return Full()
        return file

    monkeypatch.setattr(files.os, "fdopen", full)
    with caplog.at_level(logging.INFO, logger="forearm"):
        right()
    monkeypatch.undo()
    assert "No space left on device" in caplog.text
    assert list(folder.iterdir()) == []


def crowd(folder, count, killed, seed):
    """So many processes at once on a cold cache, some killed at random moments; what the others said."""
    rng, said = random.Random(seed), []
    running = [torque() for _ in range(count)]
    end = time.monotonic() + 60
    while not any(folder.glob("*")) and time.monotonic() < end:  # on a busy machine imports take longest
        time.sleep(0.01)
    for process in running[:killed]:
        time.sleep(rng.uniform(0, 0.15))
        process.send_signal(signal.SIGKILL)
    for k, process in enumerate(running):
        out, wrong = process.communicate(timeout=300)
        if k >= killed:
            assert process.returncode == 0, wrong
            said.append(out)
    return said


def check_whole(folder):
    for path in folder.glob("*.kernel"):
        key = path.read_bytes().split(b"\n")[2].decode()
        assert files.load(key) is not None, path
    assert sum(p.stat().st_size for p in folder.iterdir()) < files.LIMIT_BYTES


@pytest.mark.parametrize(
    ("count", "killed"), [(4, 2), pytest.param(20, 10, marks=pytest.mark.more)], ids=["4", "20"]
)
def test_many_cold_processes_half_of_them_killed(folder, count, killed):
    said = crowd(folder, count, killed, count)
    assert len(set(said)) == 1
    check_whole(folder)
    late = torque()
    assert late.communicate(timeout=60)[0] == said[0]


@pytest.mark.more
def test_kills_at_random_moments_leave_a_cache_that_is_whole(folder, monkeypatch):
    rng = random.Random(7)
    want = torque(env={**os.environ, "FOREARM_CACHE": "off"}).communicate()[0]
    for _ in range(40):
        process = torque()
        time.sleep(rng.uniform(0.1, 0.9))
        process.kill()
        process.communicate()
        if rng.random() < 0.3:
            files.clear_cache()
    check_whole(folder)
    assert torque().communicate()[0] == want


FORKS = """
import os, sys, threading, time, warnings
import numpy as np, forearm as fa
from forearm.compiler.call.processor import ProcessorKernel
from forearm.compiler.graph.trace import trace

def kernel(k):
    graph = trace(lambda x: [x[0] * x[1] + float(k), x[0].sin()], {"x": (2,)}, name="s", outputs=("y",))
    return ProcessorKernel(graph, keep=False)

kernel(0)(np.ones((600, 2)), threads=2)
stop = False
def compile_on():
    k = 1000
    while not stop:
        kernel(k)(np.ones((600, 2)), threads=2)
        k += 1
crowd = [threading.Thread(target=compile_on) for _ in range(2)]
for thread in crowd: thread.start()
bad = 0
for k in range(int(sys.argv[1])):
    time.sleep(0.003 * (k % 7))
    child = os.fork()
    if child == 0:
        good = kernel(k)(np.array([[3.0, 4.0]] * 600), threads=2)[0, 0] == 12.0 + k
        os._exit(0 if good else 1)
    end = time.monotonic() + 10
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done or time.monotonic() > end:
            break
        time.sleep(0.002)
    if not done:
        os.kill(child, 9)
        os.waitpid(child, 0)
    bad += not done or status != 0
stop = True
for thread in crowd: thread.join()
print(bad)
"""


@pytest.mark.parametrize("count", [8, pytest.param(150, marks=pytest.mark.more)])
def test_a_fork_while_others_compile_leaves_a_child_that_compiles(count):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKS, str(count)], capture_output=True, text=True, timeout=600
    )
    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="XDG_CACHE_HOME is of other systems")
@pytest.mark.parametrize("environment", [{"XDG_CACHE_HOME": "there"}, {"XDG_CACHE_HOME": "", "HOME": ""}])
def test_the_present_folder_is_never_taken_for_the_users_cache(environment, tmp_path, monkeypatch):
    """Kernels that came with somebody's archive would be found there."""
    monkeypatch.delenv("FOREARM_CACHE", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    folder = files.cache_folder()
    home = tmp_path / "home" / ".cache" / "forearm"
    assert folder is None or (folder.is_absolute() and (folder == home or tmp_path not in folder.parents))


def test_a_lock_that_a_stopped_process_holds_does_not_stop_a_sweep(folder, monkeypatch):
    fcntl = pytest.importorskip("fcntl")
    folder.mkdir(mode=0o700)
    monkeypatch.setattr(machine_locks, "PATIENCE", 0.2)
    with open(folder / "forearm-sweep.lock", "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        started = time.monotonic()
        with machine_locks.one_at_a_time("sweep"):
            assert 0.2 < time.monotonic() - started < 5
    with (
        machine_locks.one_at_a_time("sweep"),
        open(folder / "forearm-sweep.lock", "w") as other,
    ):  # not so here
        with pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_no_lock_is_waited_for_in_a_folder_that_others_may_write(folder, monkeypatch):
    fcntl = pytest.importorskip("fcntl")
    folder.mkdir()
    folder.chmod(0o777)
    with open(folder / "forearm-sweep.lock", "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        started = time.monotonic()
        with machine_locks.one_at_a_time("sweep"):
            assert time.monotonic() - started < 5


def test_a_lock_of_a_sweep_was_kept_by_a_copy_of_the_process_that_had_let_go_of_it(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")
    from forearm.compiler.store.machine_locks import one_at_a_time

    monkeypatch.setenv("FOREARM_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir(mode=0o700)
    with one_at_a_time("test"):
        path = next((tmp_path / "cache").glob("*.lock"))
        ours = next(n for n in range(3, 1000) if os.path.realpath(f"/dev/fd/{n}") == str(path))
        copied = os.dup(ours)  # as a fork has it
    with path.open("r+") as again:
        fcntl.flock(again, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(copied)
