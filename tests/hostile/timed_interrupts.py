"""Interrupt threaded batches by a timer, at random moments: run as a program, it says how many interrupts came.

    python timed_interrupts.py count seed

After each: nobody writes into the arrays any more, the next call is right, and the interrupt was answered in time.
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
    slowest = 0.0
    for turn in range(count):
        delay = float(rng.uniform(2e-5, 1e-3))
        if turn % 4 == 0:
            threads._IDLE.clear()
        began = time.perf_counter()
        try:
            signal.setitimer(signal.ITIMER_REAL, delay)
            while True:
                fa.inverse_dynamics(arm, *state, out=out, threads=1 + turn % 5)
        except KeyboardInterrupt:
            slowest = max(slowest, time.perf_counter() - began - delay)
        out[:] = 7.0
        time.sleep(1e-4)
        assert (out == 7.0).all(), f"somebody wrote after interrupt {turn}"
        fa.inverse_dynamics(arm, *state, out=out, threads=3)
        np.testing.assert_array_equal(out, want, err_msg=f"after interrupt {turn}")
    assert slowest < SLOWEST, f"an interrupt was answered after {slowest:.2f} s"
    print(count, round(1e3 * slowest))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
