"""What needs processes of its own: two threads against two processes, and the first torque of a new process."""

import multiprocessing
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

import forearm as fa

SHARE = 50_000
"""States in one call of a process; two threads get twice as many."""

SECONDS = 0.25
"""How long each side of a round works."""


def threads_case(quick):
    """Two threads of one process, then two processes side by side, in turns; each process has its own arrays.

    The processes stay and wait between rounds, so that both sides work for the same while and close in time.
    """
    rounds, seconds = (2, 0.02) if quick else (25, SECONDS)
    context = multiprocessing.get_context("spawn")
    pipes = []
    for _ in range(2):
        here, there = context.Pipe()
        context.Process(target=_serve, args=(there, seconds), daemon=True).start()
        here.recv()
        pipes.append(here)
    work = _work(2 * SHARE, 2)
    threads, processes = [], []
    for _ in range(rounds):
        threads.append(_rate(work, 2 * SHARE, time.perf_counter(), seconds))
        start = time.perf_counter() + 0.01
        for pipe in pipes:
            pipe.send(start)
        processes.append(sum(pipe.recv() for pipe in pipes))
    for pipe in pipes:
        pipe.send(None)
    low, middle, high = np.quantile(np.array(threads) / np.array(processes), [0.25, 0.5, 0.75])
    return {
        "quantity": "inverse_dynamics",
        "arm": "iiwa14",
        "boundary": f"two threads against two processes, {SHARE} states each in a call",
        "two_threads_M_per_s": float(np.median(threads)) / 1e6,
        "two_processes_M_per_s": float(np.median(processes)) / 1e6,
        "share": float(middle),
        "quartiles": [float(low), float(high)],
        "rounds": rounds,
    }


def _work(states, threads):
    arm = fa.load("iiwa14").without_drives()
    state = arm.random_state(0, (states,))
    out = np.empty_like(state[0])

    def work():
        fa.inverse_dynamics(arm, *state, out=out, threads=threads)

    for _ in range(3):
        work()
    return work


def _rate(work, states, start, seconds):
    """States a second from `start` on."""
    calls = 0
    while time.perf_counter() < start:
        pass
    while (now := time.perf_counter()) < start + seconds:
        work()
        calls += 1
    return calls * states / (now - start)


def _serve(pipe, seconds):
    """A process that works when it is told to."""
    work = _work(SHARE, 1)
    pipe.send("ready")
    while (start := pipe.recv()) is not None:
        pipe.send(_rate(work, SHARE, start, seconds))


TORQUE = """
import forearm as fa
arm = fa.load("iiwa14")
fa.inverse_dynamics(arm, [0.1] * 7, [0.0] * 7, [0.0] * 7)
"""


def first_case(quick):
    """A new process until its first torque: interpreter and imports included; cache empty, then filled."""
    rounds, cold, warm, numpy = (1 if quick else 11), [], [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o700)
            settings = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
            settings["FOREARM_CACHE"] = folder
            cold.append(_seconds(TORQUE, settings))
            warm.append(_seconds(TORQUE, settings))
            numpy.append(_seconds("import numpy", settings))
    return {
        "quantity": "inverse_dynamics",
        "arm": "iiwa14",
        "boundary": "a new process until its first torque, interpreter and imports included",
        "first_s": {
            k: float(np.median(v)) for k, v in {"cold": cold, "warm": warm, "import numpy": numpy}.items()
        },
        "rounds": rounds,
    }


def _seconds(code, settings):
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env=settings)
    return time.perf_counter() - start
