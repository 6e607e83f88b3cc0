"""Much: sweeps on processes and on Dask, files past memory, ten thousand arms; each beside what it is held against.

    python benchmarks/large.py --states 1e8 --rows 10_000_000 --out benchmarks/results/large.json

Stopwatches are around whole calls. What is compared is measured alternately in one run.
"""

import argparse
import json
import os
import platform
import resource
import shutil
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

import forearm as fa
from forearm.compiler.call.grouped_states import groups_of
from forearm.compiler.model.free_parameters import current
from forearm.motion.motions import Samples
from forearm.sweeps.run import _problem


def motions(arm, count, instants):
    found = []
    for k in range(count):
        (a, _, _), (b, _, _) = arm.random_state(2 * k), arm.random_state(2 * k + 1)
        t = np.linspace(0.0, 2.0, instants)[:, None]
        s, c, half = np.sin(np.pi * t / 2), np.cos(np.pi * t / 2), np.pi / 2
        found.append(Samples(t[:, 0], a + (b - a) * s, (b - a) * half * c, -(b - a) * half**2 * s))
    return found


def question(arm):
    return {
        "motion": motions(arm, 1000, 100),
        "payload": fa.Uniform([0, -0.05, -0.05, 0], [14, 0.05, 0.05, 0.2]),
        "mount": fa.Uniform([-np.pi, -1, 0], [np.pi, 1, 0]),
        "friction": fa.Uniform([0, 0], [2, 5]),
    }


def kernel_seconds(blocks):
    """The kernel alone, on the states of so many blocks, parameters ready: what a worker could do at best."""
    arm = fa.load("iiwa14")
    problem = _problem("inverse_dynamics", question(arm), arm, 10_000, ("extremes",), 0, 100)
    problem.prepare()
    choices = problem.choices(0, problem.block)
    given = problem._given(choices)
    groups, states, shared = problem._group_inputs(given, problem.block)
    out = np.empty((problem.block, 100, 7))
    groups.run(states, shared, [out], 1, choices["motion"])
    begin = time.perf_counter()
    for _ in range(blocks):
        groups.run(states, shared, [out], 1, choices["motion"])
    return time.perf_counter() - begin, blocks * problem.block * 100


def peak_mb():
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return own / 1024


def sweeps(states, rounds):
    """A sweep on two processes, and the kernel alone on two processes, alternately."""
    arm = fa.load("iiwa14")
    over, samples = question(arm), max(1, int(states) // 100_000)
    fa.sweep("inverse_dynamics", over, arm=arm, samples=1)
    found = {"states": samples * 100_000, "sweep_s": [], "kernel_s": []}
    for _ in range(rounds):
        begin = time.perf_counter()
        result = fa.sweep("inverse_dynamics", over, arm=arm, samples=samples, executor="processes", workers=2)
        found["sweep_s"].append(time.perf_counter() - begin)
        blocks = max(1, result.states // 2 // (1 << 20))
        with ProcessPoolExecutor(2) as pool:
            alone = list(pool.map(kernel_seconds, [blocks] * 2))
        rate = sum(done / seconds for seconds, done in alone)
        found["kernel_s"].append(result.states / rate)
    begin = time.perf_counter()
    fa.sweep("inverse_dynamics", over, arm=arm, samples=1, executor="processes", workers=2)
    found["start_s"] = time.perf_counter() - begin
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return found | {"peak_mb": peak_mb() + 2 * children, "ratio": min(found["kernel_s"]) / min(found["sweep_s"])}


def dask(tasks):
    """Start-up beyond Dask's own, and what a task costs beyond its work."""
    import distributed

    from forearm.sweeps import problem as problems

    arm = fa.load("iiwa14")
    over = question(arm) | {"motion": motions(arm, 2, 10)}
    problems.BLOCK_STATES, kept = 10, problems.BLOCK_STATES
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        executor = client.get_executor()
        list(executor.map(abs, range(4)))
        begin = time.perf_counter()
        fa.sweep("inverse_dynamics", over, arm=arm, samples=1, executor=executor, workers=2)
        first = time.perf_counter() - begin
        begin = time.perf_counter()
        list(executor.map(abs, range(tasks)))
        plain = time.perf_counter() - begin
        begin = time.perf_counter()
        fa.sweep("inverse_dynamics", over, arm=arm, samples=tasks * 2, executor=executor, workers=2)
        ours = time.perf_counter() - begin
    problems.BLOCK_STATES = kept
    return {"start_s": first, "tasks": tasks, "plain_task_s": plain / tasks, "blocks": tasks * 4, "sweep_s": ours}


def files(rows, rounds):
    """Torques of a long file beside copies of it, of the same run."""
    arm = fa.load("iiwa14")
    found = {"rows": rows, "bytes": rows * 28 * 8, "stream_s": [], "copy_s": []}
    with tempfile.TemporaryDirectory() as folder:
        source, target, copy = (Path(folder) / name for name in ("motion.npy", "tau.npy", "copy"))
        file = np.lib.format.open_memmap(source, "w+", shape=(rows, 21))
        part = np.hstack(arm.random_state(0, (100_000,)))
        for k in range(0, rows, len(part)):
            file[k : k + len(part)] = part[: rows - k]
        file.flush()
        del file
        fa.inverse_dynamics(arm, part[:, :7], part[:, 7:14], part[:, 14:])
        for _ in range(rounds):
            begin = time.perf_counter()
            fa.stream(arm, "inverse_dynamics", source, target)
            found["stream_s"].append(time.perf_counter() - begin)
            begin = time.perf_counter()
            for one in (source, target):
                with open(one, "rb") as there, open(copy, "wb") as here:
                    shutil.copyfileobj(there, here, 1 << 20)
                    here.flush()
                    os.fsync(here.fileno())
            found["copy_s"].append(time.perf_counter() - begin)
    return found | {"peak_mb": peak_mb(), "ratio": min(found["copy_s"]) / min(found["stream_s"])}


def arms(rounds):
    """Ten thousand arms, a thousand states each, beside the fixed arm's kernel on as many states."""
    arm = fa.load("iiwa14")
    q, qd, qdd = arm.random_state(0, (1000,))
    fixed = fa.compile(arm, "inverse_dynamics")
    kernel = fa.compile(arm, "inverse_dynamics", free=("inertial", "geometry"))
    groups = groups_of(kernel, frozenset(("inertial", "geometry")))
    rng = np.random.default_rng(0)
    bodies = current(arm, "inertial") * rng.uniform(0.5, 2, (10_000, 7, 1))
    lengths = current(arm, "geometry") * rng.uniform(0.7, 1.3, (10_000, 6))
    out, found = np.empty((100, 1000, 7)), {"arms": 10_000, "states": 10**7, "arms_s": [], "fixed_s": []}
    states = {name: a[None] for name, a in (("q", q), ("qd", qd), ("qdd", qdd))}

    def all_arms():
        for k in range(0, 10_000, 100):
            here = slice(k, k + 100)
            shared = groups.shared_values({"inertial": bodies[here], "geometry": lengths[here]}, 100)
            groups.run(states, shared, [out])

    def one_arm():
        for k in range(10_000):
            fixed(q, qd, qdd, out=out[k % 100])

    for _ in range(rounds + 1):
        for name, function in (("arms_s", all_arms), ("fixed_s", one_arm)):
            begin = time.perf_counter()
            function()
            found[name].append(time.perf_counter() - begin)
    return found | {"ratio": min(found["fixed_s"]) / min(found["arms_s"])}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--states", type=float, default=1e6)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--tasks", type=int, default=100)
    parser.add_argument("--only", nargs="*", default=["files", "arms", "sweeps", "dask"])
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    about = {"processor": platform.processor() or platform.machine(), "processors": os.cpu_count()}
    found = {"made_by": "benchmarks/large.py", "machine": about, "forearm": fa.__version__}
    calls = {
        "files": lambda: files(given.rows, given.rounds),
        "arms": lambda: arms(given.rounds),
        "sweeps": lambda: sweeps(given.states, given.rounds),
        "dask": lambda: dask(given.tasks),
    }
    for name in given.only:
        found[name] = calls[name]()
        print(name, json.dumps(found[name]), flush=True)
    if given.out:
        given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
