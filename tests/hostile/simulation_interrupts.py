"""Interrupt simulations: run as a program, it says how many interrupts there were, and the slowest answer in ms.

    python simulation_interrupts.py opcodes case     at every bytecode of simulate's own loop, one after the other
    python simulation_interrupts.py timed count seed by SIGINT at random moments
    python simulation_interrupts.py large count seed the same of a million motions at once

After each: a record whose numbers are those of an undisturbed run as far as it goes, or KeyboardInterrupt; the
handler of SIGINT is back; the next simulation is right.
"""

import signal
import sys
import time
import traceback

import numpy as np
from every_opcode import interrupted

import forearm as fa

FILES = tuple(f"simulation/{name}.py" for name in ("run", "engines", "interrupts", "row_blocks", "outcomes"))
SLOWEST = 0.5
ARM = fa.load("rr")


def odd_law(t, q, qd):
    """A law that cannot be compiled."""
    return np.array([float(str(-0.3 * x)) for x in qd])


CASES = {
    "batch": dict(q0=np.linspace(-1, 1, 12).reshape(6, 2), duration=0.02, threads=2),
    "one": dict(q0=np.array([0.1, 0.2]), duration=0.02),
    "law": dict(q0=np.linspace(-1, 1, 6).reshape(3, 2), duration=0.002, law=odd_law),
    "sampled": dict(q0=np.linspace(-1, 1, 6).reshape(3, 2), duration=0.02, law=odd_law, control_dt=0.005),
}


def check(record, whole, what):
    """Every number of a record is the undisturbed run's at that time."""
    places = np.searchsorted(whole.t, record.t - 1e-9)
    np.testing.assert_allclose(whole.t[places], record.t, atol=1e-12, err_msg=what)
    assert (np.diff(record.t) > 0).all(), f"{what}: times {record.t}"
    for name in ("q", "qd", "work"):
        got, want = getattr(record, name), getattr(whole, name)
        want = want[..., places, :] if name != "work" else want[..., places]
        np.testing.assert_array_equal(got, want, err_msg=f"{name} {what}")
    kinds = {outcome.kind for outcome in np.ravel(record.outcomes)}
    assert len(kinds) == 1, what
    assert kinds <= {"finished", "interrupted"}, what
    assert kinds == {"interrupted"} or record.t[-1] == whole.t[-1], what
    return kinds.pop()


def opcodes(case):
    """Every k from 1 on; how many led to a record, and how many to KeyboardInterrupt."""
    options = dict(CASES[case])
    q0, k, there, records = options.pop("q0"), 0, True, 0
    whole = fa.simulate(ARM, q0, record_every=1, **options)
    while there:
        k += 1
        found = []
        there = interrupted(k, FILES, lambda into=found: into.append(fa.simulate(ARM, q0, **options)))
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler, f"handler, bytecode {k}"
        for record in found:
            check(record, whole, f"at bytecode {k}")
            records += 1
        if k % 7 == 0:
            assert check(fa.simulate(ARM, q0, **options), whole, f"after bytecode {k}") == "finished"
    assert records > k // 10
    print(k - 1, 0)


def now():
    """The clock on the wall, and this thread's own time: others may keep it waiting."""
    return time.perf_counter(), time.thread_time()


def nothing_was_computed(heard):
    """Ctrl-C came between two simulations, or before the first step: no record is lost."""
    frames = [frame.name for frame in traceback.extract_tb(heard.__traceback__)]
    assert not {"_run_and_record", "_run", "_advance", "_derived"} & set(frames), frames


def large(count, seed):
    """SIGINT in simulations of a million motions: of every row what a small batch gives, as far as it goes."""
    rng, slowest, walls, kept = np.random.default_rng(seed), 0.0, [], 0
    q0 = rng.uniform(-1, 1, (1_000_000, 2))
    few = rng.integers(0, len(q0), 20)
    options = dict(duration=2.0, limits="ignore", record_every=200)
    whole = fa.simulate(ARM, q0[few], **options | dict(record_every=1))
    for turn in range(count):
        told = []
        signal.signal(signal.SIGALRM, lambda *_, told=told: (told.append(now()), signal.raise_signal(2)))
        try:
            signal.setitimer(signal.ITIMER_REAL, float(rng.uniform(0.05, 4.0)))
            record = fa.simulate(ARM, q0, threads=1 + turn % 2, **options)
        except KeyboardInterrupt as heard:
            nothing_was_computed(heard)
        else:
            wall, own = now()
            assert record.outcomes[0].kind == "interrupted"
            places = np.searchsorted(whole.t, record.t - 1e-9)
            np.testing.assert_array_equal(record.q[few], whole.q[:, places])
            np.testing.assert_array_equal(record.tau[few], 0.0)
            kept += 1
            slowest = max(slowest, own - told[0][1])
            walls.append(wall - told[0][0])
    print(count, round(1e3 * slowest), *(f"{1e3 * x:.2f}" for x in (np.median(walls), max(walls))), kept)


def timed(count, seed):
    """SIGINT by a timer, so many times; one motion in three has a law in Python.

    Python and NumPy drop errors that come while they call back (a weak reference, a length): such a Ctrl-C is lost
    without a trace, and a user presses it again. It may happen, seldom.
    """
    rng, slowest, kept, signalled, walls = np.random.default_rng(seed), 0.0, 0, [(0.0, 0.0)], []
    lost = 0
    q0 = rng.uniform(-1, 1, (400, 2))
    cases = [
        dict(threads=1 + turn % 3, law=odd_law if turn % 3 == 2 else None, rows=400 if turn % 3 < 2 else 4)
        for turn in range(3)
    ]
    wholes = []
    for case in cases:
        rows = case.pop("rows")
        wholes.append(fa.simulate(ARM, q0[:rows], duration=0.2, limits="ignore", record_every=1, **case))
        case["q0"] = q0[:rows]
    # the alarm stands for the user: from it on, the time of the answer counts
    signal.signal(signal.SIGALRM, lambda *_: (signalled.append(now()), signal.raise_signal(2)))
    for turn in range(count):
        case, whole, before = dict(cases[turn % 3]), wholes[turn % 3], len(signalled)
        try:
            signal.setitimer(signal.ITIMER_REAL, float(rng.uniform(1e-4, 2e-2)))
            while True:
                record = fa.simulate(
                    ARM, case["q0"], duration=0.2, limits="ignore", law=case["law"], threads=case["threads"]
                )
                if check(record, whole, f"interrupt {turn}") == "interrupted":
                    kept += 1
                    break
                if len(signalled) > before:
                    lost += 1
                    break
        except KeyboardInterrupt as heard:
            nothing_was_computed(heard)
        wall, own = now()
        slowest = max(slowest, own - signalled[-1][1])
        walls.append(wall - signalled[-1][0])
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert len(signalled) == count + 1
    assert lost <= count // 50, lost
    assert kept > count / 3, kept
    print(count, round(1e3 * slowest), *(f"{1e3 * x:.2f}" for x in (np.median(walls), max(walls))), kept)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it from birth
    if sys.argv[1] == "opcodes":
        opcodes(sys.argv[2])
    else:
        {"timed": timed, "large": large}[sys.argv[1]](int(sys.argv[2]), int(sys.argv[3]))
