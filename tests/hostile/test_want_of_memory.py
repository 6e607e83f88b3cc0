"""A process to which the system gives no more memory: one sentence, where LLVM would end it."""

import io
import json
import math
import mmap
import os
import re
import subprocess
import sys
import tracemalloc
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import forearm as fa
from forearm.cli.output import plain, print_json
from forearm.outside.libraries.scipy_parts import threads_to_begin
from forearm.outside.memory_size import group_memory, own_memory, refuse_without_room

SHORT = """
import os, resource, sys
import forearm as fa

arm = fa.load("rr")
fa.compile(arm, "gravity_torque")([0.1, 0.2])
kernels = [fa.compile(arm, name) for name in ("mass_matrix", "gravity_torque")]
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
for spare in range(0, 48_000, 8_000):
    child = os.fork()
    if child == 0:
        pages = int(open("/proc/self/statm").read().split()[0])
        most = pages * os.sysconf("SC_PAGE_SIZE") + 1024 * spare
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        try:
            fa.compile(arm, "mass_matrix")([0.1, 0.2])
            print("computed", flush=True)
        except MemoryError as error:
            print(error, flush=True)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, f"ended by a signal with {spare} kB to spare"
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
@pytest.mark.parametrize(
    "cold", [True, pytest.param(False, marks=pytest.mark.soak)], ids=["compiling", "loading"]
)
def test_llvm_without_memory_ended_the_process(cold, tmp_path, monkeypatch):
    """SIGABRT out of LLVM's own handler, wherever memory ended."""
    monkeypatch.setenv("FOREARM_CACHE", "off" if cold else str(tmp_path))
    words = [sys.executable, "-W", "ignore", "-c", SHORT]
    if not cold:
        subprocess.run([*words[:-1], SHORT.replace("48_000", "0") + "kernels[0]([0.1, 0.2])"], check=True)
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "mass_matrix of rr needs up to" in done.stdout
    assert "computed" in done.stdout


PIECES = """
import ctypes, mmap
import forearm as fa

arm = fa.load("rr")
kernels = [fa.compile(arm, "gravity_torque")]
told = kernels[0]([0.1, 0.2])

most = int(open("/proc/sys/vm/max_map_count").read())
there = sum(1 for _ in open("/proc/self/maps"))
pages = most - there - 150
ground = mmap.mmap(-1, pages * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
at = ctypes.addressof(ctypes.c_char.from_buffer(ground))
protect = ctypes.CDLL(None).mprotect
for page in range(1, pages, 2):  # one map becomes as many as there are pages
    assert not protect(ctypes.c_void_p(at + page * mmap.PAGESIZE), ctypes.c_size_t(mmap.PAGESIZE), 1)
try:
    for _ in range(200):
        kernels.append(fa.compile(arm, "gravity_torque"))
        kernels[-1]([0.1, 0.2])
except MemoryError as error:
    print(error)
print(len(kernels) > 2, kernels[0]([0.1, 0.2]) == told, flush=True)
"""


@pytest.mark.skipif(not os.path.exists("/proc/sys/vm/max_map_count"), reason="a limit of Linux")
def test_a_process_that_held_twenty_thousand_kernels_was_ended_by_the_next(tmp_path, monkeypatch):
    """SIGSEGV in LLVM: each kernel is three maps of memory, of which Linux gives a process 65530."""
    if int(Path("/proc/sys/vm/max_map_count").read_text()) > 1 << 20:
        pytest.skip("more maps than a test can take")
    monkeypatch.setenv("FOREARM_CACHE", str(tmp_path))
    words = [sys.executable, "-W", "ignore", "-c", PIECES]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    told, rest = done.stdout.split("\n", 1)
    assert re.fullmatch(
        r"loading gravity_torque of rr needs 32 maps of memory, which the system does not give "
        r"\(\d+ of 65530 are taken, vm.max_map_count\); let go of arms and kernels that are not needed any "
        r"more, or raise the limit.",
        told.replace(Path("/proc/sys/vm/max_map_count").read_text().strip(), "65530"),
    )
    assert rest.split() == ["True", "[", "True", "True]"]


LIMITED = """
import os, resource, sys
from forearm.outside.libraries.scipy_parts import scipy_part
import numpy

pages = int(open("/proc/self/statm").read().split()[0])
most = pages * os.sysconf("SC_PAGE_SIZE") + 60_000_000
resource.setrlimit(resource.RLIMIT_AS, (most, most))
try:
    scipy_part("interpolate")
except MemoryError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
def test_scipy_without_address_space_was_loaded_for_ever():
    """Its OpenBLAS asked again and again, and no Ctrl-C was heard."""
    done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True, timeout=20)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(
        r"loading scipy.interpolate needs up to \d+ MB, which the system does not give \(ulimit -v leaves "
        r"\d+ MB of \d+ MB\); raise the limit(, or set OPENBLAS_NUM_THREADS=1)?.\n",
        done.stdout,
    )


@pytest.mark.parametrize(
    ("said", "want"),
    [
        ({}, 7),
        ({"OPENBLAS_NUM_THREADS": "1"}, 0),
        ({"OMP_NUM_THREADS": "3"}, 2),
        ({"OMP_NUM_THREADS": "x"}, 7),
    ],
)
def test_threads_of_linear_algebra_are_counted(monkeypatch, said, want):
    for name in ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in said.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    assert threads_to_begin() == want


def test_what_there_is_room_for_is_not_refused():
    refuse_without_room("nothing much", 1 << 20)
    with pytest.raises(MemoryError, match=r"all of it needs up to \d+ MB, which the system does not give"):
        refuse_without_room("all of it", 1 << 62)


HARDENED = """
import ctypes, sys
if ctypes.CDLL(None).prctl(65, 1, 0, 0, 0):  # PR_SET_MDWE, of Linux 6.3
    sys.exit("not to be had")
import forearm as fa
arm = fa.load("rr")
print(fa.inverse_dynamics(arm, [0.1, 0.2], [0.3, 0.4], [0.5, 0.6]))
try:
    fa.simulate(arm, [0.1, 0.2], duration=0.01)
except fa.KernelFault as fault:
    print(fault)
from forearm.cli.process import run
run(["doctor"])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Linux takes this right away for good")
def test_where_no_memory_becomes_executable_the_first_call_ended_the_process():
    """SIGSEGV, with systemd's MemoryDenyWriteExecute: now NumPy serves."""
    done = subprocess.run([sys.executable, "-c", HARDENED], capture_output=True, text=True, timeout=120)
    if done.stderr.strip() == "not to be had":
        pytest.skip("this system does not have it")
    assert done.returncode == 0, done.stderr
    want = fa.inverse_dynamics(fa.load("rr"), [0.1, 0.2], [0.3, 0.4], [0.5, 0.6])
    np.testing.assert_allclose(np.fromstring(done.stdout.split("]")[0][1:], sep=" "), want, rtol=1e-7)
    assert done.stderr.count("kernels run on NumPy, because the system lets no memory become executable") == 1
    assert "rollouts and PTX are not to be had: the system lets no memory become executable" in done.stdout
    assert "no made code may run here; the NumPy emitter serves" in done.stdout


class Unloadable:
    def find_spec(self, name, path=None, target=None):
        if name == "llvmlite.binding":
            raise OSError("libllvmlite.so: cannot allocate memory")


def test_llvm_that_cannot_be_loaded_was_told_as_a_wrong_argument(monkeypatch, caplog):
    """It was: out is None; give finite numbers of usual size."""
    kernel = fa.compile(fa.load("rr").replace(name="unloadable"), "gravity_torque")
    monkeypatch.delitem(sys.modules, "llvmlite.binding", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Unloadable(), *sys.meta_path])
    assert np.isfinite(kernel([0.1, 0.2])).all()
    assert "kernels run on NumPy, because llvmlite cannot be loaded: libllvmlite.so" in caplog.text


@pytest.mark.parametrize(
    ("line", "name", "told", "want"),
    [
        ("0::/box/inner", "box/memory.max", "400000000\n", 4e8),
        ("0::/box/inner", "box/inner/memory.max", "max\n", math.inf),
        ("0::/of/the/host", "memory.max", "400000000\n", 4e8),
        ("5:memory:/box", "memory/box/memory.limit_in_bytes", "400000000\n", 4e8),
        ("5:cpu:/box", "memory/box/memory.limit_in_bytes", "400000000\n", math.inf),
        ("nonsense", "memory.max", "400000000\n", 4e8),
    ],
)
def test_a_container_had_the_memory_of_its_machine(tmp_path, line, name, told, want):
    own = tmp_path / "own"
    own.write_text(f"{line}\n")
    (tmp_path / "groups" / name).parent.mkdir(parents=True)
    (tmp_path / "groups" / name).write_text(told)
    assert group_memory(tmp_path / "groups", own) == want


@pytest.mark.parametrize(("more", "fits"), [(1.2, False), (1.6, True)])
def test_a_record_that_filled_the_memory_ended_the_process_when_the_motion_was_done(monkeypatch, more, fits):
    record = 8 * 1001 * (4 * 2 + 2)
    monkeypatch.setattr("forearm.simulation.records.own_memory", lambda: 1e9)
    monkeypatch.setattr("forearm.simulation.records.machine_memory", lambda: 1e9 + more * record)
    if fits:
        assert fa.simulate(fa.load("rr"), [0.1, 0.2], duration=1.0, record_every=1).q.shape == (1001, 2)
        return
    with pytest.raises(fa.StateFault, match=r"of which this process holds 1 GB; give record_every="):
        fa.simulate(fa.load("rr"), [0.1, 0.2], duration=1.0, record_every=1)


@pytest.mark.parametrize(("more", "fits"), [(0.9, False), (1.1, True)])
def test_a_table_that_filled_the_memory_of_a_container_ended_the_process(monkeypatch, more, fits):
    size = fa.plan_table(fa.load("rr"), points=64).bytes
    monkeypatch.setattr("forearm.tabulated.plans.own_memory", lambda: 1e9)
    monkeypatch.setattr("forearm.tabulated.plans.machine_memory", lambda: 1e9 + more * size)
    if fits:
        assert fa.tabulate(fa.load("rr"), points=64).nbytes == size
        return
    with pytest.raises(fa.StateFault, match=r"of which this process holds 954 MiB; give fewer points"):
        fa.tabulate(fa.load("rr"), points=64)


def test_what_this_process_holds_is_known():
    before = own_memory()
    # from the system: a process that gave much back has room of its own
    with mmap.mmap(-1, 50_000_000, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as taken:
        taken.write(b"x" * len(taken))
        assert own_memory() - before > 0.9 * len(taken) or before == 0.0


def test_a_long_motion_as_json_took_fifteen_times_its_memory(monkeypatch):
    rows = np.arange(30_000.0).reshape(-1, 2)
    rows[7] = np.nan
    value = {"ärm": {1: "a\nb", "none": {}}, "t": rows[:, 0], "few": rows[:2], "q": rows}
    text = json.dumps(plain(value), indent=1, ensure_ascii=False) + "\n"
    monkeypatch.setattr("sys.stdout", SimpleNamespace(write=len))
    tracemalloc.start()
    print_json(value)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 6 * rows.nbytes  # twenty and more, if all of it were text at once
    monkeypatch.setattr("sys.stdout", whole := io.StringIO())
    print_json(value)
    assert whole.getvalue() == text
