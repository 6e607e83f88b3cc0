"""Interrupt threaded batches by a timer, at random moments: run as a program, it says how many interrupts came.

    python timed_interrupts.py count seed

After each: nobody writes into the arrays any more, the next call is right, and the interrupt was answered in time.
It says how many there were; the slowest answer in ms of this thread's own time, since others may keep it waiting; and
the median and the slowest in ms of the clock on the wall.
"""

import signal
import sys
import time

import numpy as np

import forearm as fa
from forearm.compiler.call import threads

STATES, SLOWEST = 3000, 0.5


def ring(number, frame):
    """What Ctrl-C does."""
    raise KeyboardInterrupt


def main(count, seed):
    """So many interrupts, a quarter of them of calls that must hire first."""
    arm, rng = fa.load("rr"), np.random.default_rng(seed)
    state = [rng.uniform(-3, 3, (STATES, 2)) for _ in range(3)]
    want, out = fa.inverse_dynamics(arm, *state), np.empty((STATES, 2))
    signal.signal(signal.SIGALRM, ring)
    walls, slowest = [], 0.0
    for turn in range(count):
        delay = float(rng.uniform(2e-5, 1e-3))
        if turn % 4 == 0:
            threads._IDLE.clear()
        wall, began = time.perf_counter(), time.thread_time()
        try:
            signal.setitimer(signal.ITIMER_REAL, delay)
            while True:
                fa.inverse_dynamics(arm, *state, out=out, threads=1 + turn % 5)
        except KeyboardInterrupt:
            slowest = max(slowest, time.thread_time() - began)
            walls.append(time.perf_counter() - wall - delay)
        out[:] = 7.0
        time.sleep(1e-4)
        assert (out == 7.0).all(), f"somebody wrote after interrupt {turn}"
        fa.inverse_dynamics(arm, *state, out=out, threads=3)
        np.testing.assert_array_equal(out, want, err_msg=f"after interrupt {turn}")
    assert slowest < SLOWEST, f"an interrupt was answered after {slowest:.2f} s"
    print(count, round(1e3 * slowest), *(f"{1e3 * x:.2f}" for x in (np.median(walls), max(walls))))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
