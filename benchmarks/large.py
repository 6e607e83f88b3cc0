"""Much: sweeps on processes and on Dask, files past memory, ten thousand arms; each beside what it is held against.

    python benchmarks/large.py --states 1e8 --rows 10_000_000 --out benchmarks/results/large.json

Stopwatches are around whole calls. What is compared is measured alternately in one run.
"""

import argparse
import json
import multiprocessing
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
from forearm.sweeps.sweep_run import _problem


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
    problem = _problem("inverse_dynamics", question(arm), arm, 10_000, ("extremes",), 0, None)
    problem.prepare()
    choices = problem.choices(0, problem.block)
    given = problem._given(choices)
    groups, states, shared = problem._group_inputs(given, problem.block)
    out = np.empty((problem.block, 100, 7))
    groups.run(states, shared, [out], 1, choices["motion"])
    begin, spent = time.perf_counter(), time.process_time()
    for _ in range(blocks):
        groups.run(states, shared, [out], 1, choices["motion"])
    return time.perf_counter() - begin, blocks * problem.block * 100, time.process_time() - spent


def children_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def most_mb(process="self"):
    """The most memory that a process held; getrusage would tell of the process before it, too."""
    text = Path(f"/proc/{process}/status").read_text()
    return int(next(line for line in text.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024


def streamed(source, target):
    """In a process of its own: seconds, and the most memory that it held."""
    arm = fa.load("iiwa14")
    fa.inverse_dynamics(arm, *arm.random_state(0, (1000,)))
    begin = time.perf_counter()
    fa.stream(arm, "inverse_dynamics", source, target)
    seconds = time.perf_counter() - begin
    return seconds, most_mb()


def sweeps(states, rounds):
    """A sweep on two processes, and the kernel alone on two processes, alternately; then how long beginning takes."""
    arm = fa.load("iiwa14")
    over, samples = question(arm), max(1, int(states) // 100_000)
    fa.sweep("inverse_dynamics", over, arm=arm, samples=1)
    names = ("sweep_s", "kernel_s", "start_s", "sweep_cpu_s", "kernel_cpu_s", "start_cpu_s")
    found, held = {"states": samples * 100_000} | {name: [] for name in names}, {}

    def look(done, of):
        held.update({worker.pid: most_mb(worker.pid) for worker in multiprocessing.active_children()})

    def timed(kind, samples):
        begin, spent = time.perf_counter(), children_seconds()
        many = {"samples": samples, "executor": "processes", "workers": 2}
        fa.sweep("inverse_dynamics", over, arm=arm, progress=look, **many)
        found[f"{kind}_s"].append(time.perf_counter() - begin)
        found[f"{kind}_cpu_s"].append(children_seconds() - spent)

    for _ in range(rounds):
        timed("start", 1)
        held.clear()
        timed("sweep", samples)
        with ProcessPoolExecutor(2) as pool:
            alone = list(pool.map(kernel_seconds, [max(1, found["states"] // 2 // (1 << 20))] * 2))
        found["kernel_s"].append(found["states"] / sum(done / seconds for seconds, done, _ in alone))
        cpu = sum(spent for _, _, spent in alone) / sum(done for _, done, _ in alone)
        found["kernel_cpu_s"].append(cpu * found["states"])
    for kind, name in (("", "ratio"), ("cpu_", "cpu_ratio")):
        sweep, kernel, start = (np.array(found[f"{x}_{kind}s"]) for x in ("sweep", "kernel", "start"))
        found[name] = float(kernel.min() / (sweep.min() - start.min()))
        found[f"median_{name}"] = float(np.median(kernel / (sweep - np.median(start))))
    return found | {"all_processes_mb": most_mb() + sum(held.values())}


def nothing(task):
    """What Dask's own tasks do."""


def dask(tasks, rounds):
    """Start-up beyond Dask's own, and what a task costs beyond a task of Dask that does nothing, alternately."""
    import distributed

    from forearm.sweeps import problem as problems
    from forearm.sweeps import sweep_run as run
    from forearm.sweeps.executors import BlockStretch

    arm = fa.load("iiwa14")
    over = question(arm) | {"motion": motions(arm, 1, 10)}
    fa.sweep("inverse_dynamics", over, arm=arm, samples=1)
    problems.BLOCK_STATES, run.LONGEST = 10, 1
    found = {"tasks": tasks}
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        executor = client.get_executor()

        def plain(name, many):
            flying = [executor.submit(nothing, BlockStretch(name, k, k + 1)) for k in range(many)]
            return [future.result() for future in flying]

        def at_once(name, many):
            return client.gather(client.map(nothing, [BlockStretch(name, k, k + 1) for k in range(many)]))

        def swept(_, many):
            fa.sweep("inverse_dynamics", over, arm=arm, samples=many, executor=executor, workers=2)

        def seconds(function, *given):
            begin = time.perf_counter()
            function(*given)
            return time.perf_counter() - begin

        def processor_seconds():  # of client and scheduler, which are one process, and of the workers
            return time.process_time() + sum(client.run(time.process_time).values())

        found["dask_first_s"] = seconds(plain, "first", 4)
        found["first_sweep_s"] = seconds(swept, "first", 4)
        for k in range(rounds):
            for name, function in (("dask_task", plain), ("dask_map", at_once), ("task", swept)):
                spent = processor_seconds()
                found.setdefault(f"{name}_s", []).append(seconds(function, f"{name} {k}", tasks) / tasks)
                found.setdefault(f"{name}_cpu_s", []).append((processor_seconds() - spent) / tasks)
    for kind in ("s", "cpu_s"):
        ours, own = np.array(found[f"task_{kind}"]), np.array(found[f"dask_task_{kind}"])
        found[f"beyond_{kind}"] = float(ours.min() - own.min())
        found[f"median_beyond_{kind}"] = float(np.median(ours - own))
    return found


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
        for _ in range(rounds):
            with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
                seconds, peak = pool.submit(streamed, source, target).result()
            found["stream_s"].append(seconds)
            begin = time.perf_counter()
            for one in (source, target):
                with open(one, "rb") as there, open(copy, "wb") as here:
                    shutil.copyfileobj(there, here, 1 << 20)
                    here.flush()
                    os.fsync(here.fileno())
            found["copy_s"].append(time.perf_counter() - begin)
    return found | {"peak_mb": peak, "ratio": min(found["copy_s"]) / min(found["stream_s"])}


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
    out, found = np.empty((100, 1000, 7)), {"arms_s": [], "fixed_s": []}
    states = {name: a[None] for name, a in (("q", q), ("qd", qd), ("qdd", qdd))}

    def some_arms(here):
        shared = groups.shared_values({"inertial": bodies[here], "geometry": lengths[here]}, 100)
        groups.run(states, shared, [out])

    def one_arm(here):
        for k in range(100):
            fixed(q, qd, qdd, out=out[k])

    for _ in range(rounds):
        for k in range(0, 10_000, 100):  # a slice of each, alternately
            for name, function in (("arms_s", some_arms), ("fixed_s", one_arm)):
                begin = time.perf_counter()
                function(slice(k, k + 100))
                found[name].append(time.perf_counter() - begin)
    least, median = (
        {name: float(f(found[name])) for name in ("arms_s", "fixed_s")} for f in (np.min, np.median)
    )
    ratios = {
        "ratio": least["fixed_s"] / least["arms_s"],
        "median_ratio": median["fixed_s"] / median["arms_s"],
    }
    return {"arms": 10_000, "states": 10**7, "slices_least_s": least, "slices_median_s": median} | ratios


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--states", type=float, default=1e6)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--tasks", type=int, default=100)
    parser.add_argument("--only", nargs="*", default=["sweeps", "files", "arms", "dask"])
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    about = {"processor": platform.processor() or platform.machine(), "processors": os.cpu_count()}
    found = {"kind": "large", "made_by": "benchmarks/large.py", "machine": about, "forearm": fa.__version__}
    calls = {
        "files": lambda: files(given.rows, given.rounds),
        "arms": lambda: arms(given.rounds),
        "sweeps": lambda: sweeps(given.states, given.rounds),
        "dask": lambda: dask(given.tasks, given.rounds),
    }
    for name in given.only:
        found[name] = calls[name]()
        print(name, json.dumps(found[name]), flush=True)
    if given.out:
        given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
