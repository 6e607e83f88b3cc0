"""A process that is copied while its threads are at work: the copy computes, too."""

import os
import subprocess
import sys

import pytest

WHILE_LOADING = """
import os, sys, threading, time
import forearm
from forearm.outside.whole_process import forks
forks.LONGEST = float(sys.argv[2])
sys.path.insert(0, sys.argv[1])
threading.Thread(target=lambda: __import__("slow")).start()
while not forks.is_loading():
    time.sleep(0.001)
child = os.fork()
if child == 0:
    import slow
    os._exit(slow.ANSWER)
late = time.monotonic() + 15
while time.monotonic() < late:
    found, status = os.waitpid(child, os.WNOHANG)
    if found:
        sys.exit(os.waitstatus_to_exitcode(status))
    time.sleep(0.01)
os.kill(child, 9)
sys.exit("the copy waits for ever")
"""

SLOW = "import time\ntime.sleep(0.2)\nimport concurrent.futures.thread\ntime.sleep(0.2)\nANSWER = 42\n"
"""What it loads has a lock that Python lets go of after every fork, also where it was not taken before."""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("longest", [5.0, 0.0], ids=["waits", "gives up waiting"])
def test_a_copy_made_while_a_thread_loads_a_module_does_not_wait_for_ever(longest, tmp_path):
    """Its lock was held, in the copy, by a thread that the copy does not have: 3 of 21 copies hung.

    So did the copies of a process whose threads loaded for longer than a fork waits.
    """
    (tmp_path / "slow.py").write_text(SLOW)
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WHILE_LOADING, str(tmp_path), str(longest)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert found.returncode == 42, found.stderr
    assert "unlocked" not in found.stderr


WHILE_WRITING = """
import os, sys
import numpy as np
import forearm as fa
from forearm.outside.output_files import replacing
from forearm.streams.row_sinks import _replacing_folder
os.chdir(sys.argv[1])

def leave_in_a_copy(*_):
    global copied
    if not copied and (copied := os.fork() or sys.exit()):
        os.waitpid(copied, 0)

def square(choice):
    return choice["x"] ** 2

this = os.getpid()
try:
    copied = 0
    with replacing("file") as file:
        file.write(b"before ")
        leave_in_a_copy()
        file.write(b"after")
    copied = 0
    with _replacing_folder("folder") as folder:
        folder.mkdir()
        (folder / "chunk").write_text("whole")
        leave_in_a_copy()
    copied = 0
    swept = fa.sweep(square, {"x": fa.Uniform(0, 1)}, samples=60000, executor="processes", workers=1,
                     progress=leave_in_a_copy, keep="moments")
except SystemExit:
    os._exit(0)
assert os.getpid() == this
print(open("file").read(), open("folder/chunk").read(), sorted(os.listdir()))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_copy_that_ended_within_a_callback_took_files_and_workers_with_it(tmp_path):
    """The copy unwound what it was copied in: it removed the file that was being written, and stopped the workers."""
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WHILE_WRITING, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert found.stdout == "before after whole ['file', 'folder']\n", found.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_copy_that_went_on_with_a_sweep_waited_for_ever_for_workers_that_it_has_not():
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WITHOUT_WORKERS], capture_output=True, text=True, timeout=60
    )
    assert found.stdout == "a copy of the process has no workers\nthe process ends\n", found.stderr


WITHOUT_WORKERS = """
import os, signal
import forearm as fa
from forearm.faults import StateFault
copies = []
def copied(done, of):
    if not copies:
        copies.append(os.fork())
        signal.alarm(20)
        if copies[0]:
            os.waitpid(copies[0], 0)
def doubled(choices):
    return 2 * choices["x"]
over = {"x": fa.Uniform(0, 1)}
try:
    fa.sweep(doubled, over, samples=20, executor="threads", workers=2, progress=copied)
    print("the process ends", flush=True)
except StateFault as fault:
    print("a copy" + str(fault).partition("a copy")[2].rstrip("."), flush=True)
    os._exit(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_an_error_of_a_signal_that_came_while_the_process_was_copied_left_the_compiler_locked():
    """Python serves it at the first line after the copy, which was ours, and drops its error: others hung."""
    found = subprocess.run([sys.executable, "-c", SERVED_IN_FORK], capture_output=True, text=True, timeout=60)
    assert found.returncode == 42, found.stderr


SERVED_IN_FORK = """
import os, signal, threading
import forearm as fa
from forearm.outside.whole_process import forks
import forearm.outside.whole_process.blas_threads
class Limit(Exception):
    pass
def on(*_):
    raise Limit
signal.signal(signal.SIGALRM, on)
arm = fa.load("rr")
fa.gravity_torque(arm, [0.1, 0.2])
kill = __import__("functools").partial(os.kill, os.getpid(), signal.SIGALRM)
for moment in ("before", "after_in_parent"):  # C, without a line of Python: served at the next one
    os.register_at_fork(**{moment: kill})
held = []
for _ in range(3):
    try:
        child = os.fork()
        if child == 0:
            os._exit(len(forks._HELD))
    except Limit:
        pass
    held += [os.waitstatus_to_exitcode(os.wait()[1]), len(forks._HELD)]
assert not any(held), held
other = threading.Thread(
    target=lambda: fa.gravity_torque(arm.with_payload(0.7, frame="tool"), [0.1, 0.2]), daemon=True
)
other.start()
other.join(20)
os._exit(1 if other.is_alive() else 42)
"""
