"""Interrupt a threaded batch at every bytecode, one after the other: run as a program, it says how many there were.

    python every_opcode.py cold|warm file[,file…]

After each interrupt: nobody writes into the arrays any more, and the next call is right.
"""

import sys
import time

import numpy as np

import forearm as fa
from forearm.compiler.call import threads

STATES, WANTED = 2000, 3


class At:
    """Raises KeyboardInterrupt before the k-th bytecode of code in some files."""

    def __init__(self, k, files):
        self.k, self.files, self.seen = k, files, 0

    def __call__(self, frame, event, arg):
        if not frame.f_code.co_filename.endswith(self.files):
            return None
        frame.f_trace_opcodes = True
        return self.step

    def step(self, frame, event, arg):
        if event == "opcode":
            self.seen += 1
            if self.seen == self.k:
                raise KeyboardInterrupt
        return self.step


def interrupted(k, files, call):
    """Whether the call was interrupted at its k-th bytecode; False when it has no so many."""
    at = At(k, files)
    sys._getframe().f_trace_opcodes = True  # from Python 3.12 on nobody is told of bytecodes otherwise
    sys.settrace(at)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)
    return at.seen >= k  # an interrupt in a destructor is told on stderr, and ends there


def main(start, files):
    """Every k from 1 on."""
    arm, rng = fa.load("rr"), np.random.default_rng(0)
    state = [rng.uniform(-3, 3, (STATES, 2)) for _ in range(3)]
    want, out = fa.inverse_dynamics(arm, *state), np.empty((STATES, 2))

    def call():
        fa.inverse_dynamics(arm, *state, out=out, threads=WANTED)

    call()
    k, there, kept = 0, True, []
    while there:
        k += 1
        if start == "cold":
            kept += threads._IDLE[: len(kept) < 60]
            threads._IDLE.clear()
        there = interrupted(k, files, call)
        out[:] = 7.0
        time.sleep(2e-4)
        assert (out == 7.0).all(), f"somebody wrote after the interrupt at bytecode {k}"
        for _ in range(2):
            call()
            np.testing.assert_array_equal(out, want, err_msg=f"after the interrupt at bytecode {k}")
    threads._IDLE.extend(kept)  # the end of the process has to do with crews that saw interrupts
    print(k - 1, 0)


if __name__ == "__main__":
    sys.unraisablehook = lambda said: None  # interrupts in destructors
    main(sys.argv[1], tuple(sys.argv[2].split(",")))
