"""A process that is copied while its threads are at work: the copy computes, too."""

import os
import subprocess
import sys

import pytest

WHILE_LOADING = """
import os, sys, threading, time
import forearm
from forearm.outside import forks
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
