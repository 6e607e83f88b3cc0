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

SECONDS = 0.2
"""How long each side of a round works."""


class Threads:
    """Two threads of one process, then two processes side by side, in turns; each process has its own arrays.

    The processes stay and wait between rounds, so that both sides work for the same while and close in time.
    """

    def __init__(self, quick):
        """Start the processes."""
        self.seconds = 0.02 if quick else SECONDS
        context = multiprocessing.get_context("spawn")
        self.pipes = []
        for _ in range(2):
            here, there = context.Pipe()
            context.Process(target=_serve, args=(there, self.seconds), daemon=True).start()
            there.close()  # of this process, so that a child that dies ends the wait
            here.recv()
            self.pipes.append(here)
        self.work = _work(2 * SHARE, 2)
        self.threads, self.processes = [], []

    def go_through(self, rounds):
        """Threads, then processes, in each round."""
        for _ in range(rounds):
            self.threads.append(_rate(self.work, 2 * SHARE, time.perf_counter(), self.seconds))
            start = time.perf_counter() + 0.01
            for pipe in self.pipes:
                pipe.send(start)
            self.processes.append(sum(pipe.recv() for pipe in self.pipes))

    def row(self):
        """What is reported."""
        for pipe in self.pipes:
            pipe.send(None)
        threads, processes = np.array(self.threads), np.array(self.processes)
        low, middle, high = np.quantile(threads / processes, [0.25, 0.5, 0.75])
        return {
            "quantity": "inverse_dynamics",
            "arm": "iiwa14",
            "boundary": f"two threads against two processes, {SHARE} states each in a call",
            "two_threads_M_per_s": float(np.median(threads)) / 1e6,
            "two_processes_M_per_s": float(np.median(processes)) / 1e6,
            "share": float(middle),
            "quartiles": [float(low), float(high)],
            "rounds": len(threads),
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


class First:
    """A new process until its first torque: interpreter and imports included; cache empty, then filled."""

    def __init__(self):
        """Nothing yet."""
        self.times = {"cold": [], "warm": [], "import numpy": []}

    def go_through(self, rounds):
        """An empty cache, the same cache, and NumPy alone, in each round."""
        settings = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as folder:
                os.chmod(folder, 0o700)
                settings["FOREARM_CACHE"] = folder
                for name, code in (("cold", TORQUE), ("warm", TORQUE), ("import numpy", "import numpy")):
                    self.times[name].append(_seconds(code, settings))

    def row(self):
        """What is reported."""
        return {
            "quantity": "inverse_dynamics",
            "arm": "iiwa14",
            "boundary": "a new process until its first torque, interpreter and imports included",
            "first_s": {k: float(np.median(v)) for k, v in self.times.items()},
            "rounds": len(self.times["cold"]),
        }


def _seconds(code, settings):
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env=settings)
    return time.perf_counter() - start
