"""Rates on an NVIDIA GPU, checked and timed in one call.

    PYTHONPATH=src python benchmarks/gpu.py --robots FOLDER --out benchmarks/results/gpu_h200.json

FOLDER holds the robots of example-robot-data (share/example-robot-data/robots); without it only arms are timed.

Stopwatch: CUDA events around one launch on resident arrays, median of 15 warm launches, random states; the
bandwidth beside it is a device-to-device copy of 4 GB in the same run (read and write counted). Before each check
outputs are filled with NaN; errors are relative to the largest torque, against the float64 kernel on the CPU.
"""

import argparse
import json
import math
import platform
import time
from pathlib import Path

import cupy as cp
import numpy as np

import forearm
from forearm.compiler.call.rollout import Rollout
from forearm.compiler.cuda.gpu_rollout import GpuRollout
from forearm.compiler.graph.passes import form_fma, schedule, simplify
from forearm.compiler.graph.trace import trace
from forearm.compiler.model.arm_model import Model
from forearm.compiler.model.base_parameters import regrouped
from forearm.compiler.model.choice import quantity_graph
from forearm.compiler.model.quantities import forward_dynamics, inverse_dynamics
from forearm.compiler.pipeline import compile
from forearm.readers import load
from robots import ROBOTS


def seconds(launch, repeats=15, warm=3):
    """Median time of a launch by events."""
    for _ in range(warm):
        launch()
    found = []
    for _ in range(repeats):
        start, end = cp.cuda.Event(), cp.cuda.Event()
        start.record()
        launch()
        end.record()
        end.synchronize()
        found.append(cp.cuda.get_elapsed_time(start, end) / 1e3)
    return float(np.median(found))


def copy_bandwidth():
    a = cp.zeros(1 << 29, cp.float64)  # 4 GB
    b = cp.empty_like(a)
    return 2 * a.nbytes / seconds(lambda: cp.copyto(b, a))


def states(arm, count, dtype, seed=0):
    rng = cp.random.default_rng(seed)
    span = np.array([link.limits or (-np.pi, np.pi) for link in arm.links], dtype=float)
    low, high = cp.asarray(span[:, :1]), cp.asarray(span[:, 1:])
    q = low + (high - low) * rng.random((arm.n, count))
    return [
        cp.ascontiguousarray(x.astype(dtype))
        for x in (q, 4 * rng.random((arm.n, count)) - 2, 10 * rng.random((arm.n, count)) - 5)
    ]


def batch_case(name, quantity, dtype, count, bandwidth, threads, layout="columns"):
    arm = load(name).without_drives()
    kernel = compile(arm, quantity, dtype=dtype, target="cuda", layout=layout)
    kernel.threads = threads
    inputs = states(arm, count, dtype)[: len(kernel.graph.inputs)]
    shape = kernel.graph.outputs[0].shape
    few = slice(0, 20000)
    want = compile(arm, quantity)(*(cp.asnumpy(x[:, few]).T.astype(float) for x in inputs))
    if layout == "rows":
        inputs = [cp.ascontiguousarray(x.T) for x in inputs]
        out = cp.full((count, *shape), cp.nan, dtype)
        kernel(*inputs, out=out)
        got = cp.asnumpy(out[few])
    else:
        out = cp.full((*shape, count), cp.nan, dtype)
        kernel(*inputs, out=out)
        got = np.moveaxis(cp.asnumpy(out[..., few]), -1, 0)
    error = float(np.max(np.abs(got - want)) / np.max(np.abs(want)))
    return figures(name, quantity, dtype, layout, kernel, inputs, out, error, bandwidth)


def robot_case(name, path, free, quantity, dtype, count, bandwidth, threads):
    """A robot with branches; a quarter of a million random states, repeated."""
    options = {"base": "free"} if free else {}
    robot = load(path, keep_defects=True, allow_massless=True, **options).without_drives().with_couplings(())
    kernel = compile(robot, quantity, dtype=dtype, target="cuda")
    kernel.threads = threads
    few = robot.random_state(0, (min(count, 1 << 18),))
    want = compile(robot, quantity)(*(x[:20000] for x in few))
    repeats = -(-count // len(few[0]))
    inputs = [
        cp.ascontiguousarray(cp.tile(cp.asarray(x.T.astype(dtype)), (1, repeats))[:, :count]) for x in few
    ]
    out = cp.full((*kernel.graph.outputs[0].shape, count), cp.nan, dtype)
    kernel(*inputs, out=out)
    got = cp.asnumpy(out[:, : len(want)]).T
    error = float(np.max(np.abs(got - want)) / np.max(np.abs(want)))
    return figures(name, quantity, dtype, "columns", kernel, inputs, out, error, bandwidth)


def figures(name, quantity, dtype, layout, kernel, inputs, out, error, bandwidth):
    """The row of one kernel: its rate, beside the copy's."""
    count = math.prod(out.shape) // math.prod(kernel.graph.outputs[0].shape)
    t = seconds(kernel._prepared(inputs, out)[0])
    moved = sum(x.nbytes for x in inputs) + out.nbytes
    return {
        "arm": name,
        "quantity": quantity,
        "dtype": dtype,
        "states": count,
        "threads": kernel.threads,
        "layout": layout,
        "G_per_s": count / t / 1e9,
        "TB_per_s": moved / t / 1e12,
        "share_of_copy": moved / t / bandwidth,
        "error": error,
        "registers": kernel.registers,
        "spilled_bytes": kernel.spilled_bytes,
        "operations": kernel.counts.operations,
    }


def closed_loop(arm, kp=100.0, kd=20.0):
    """Accelerations under computed torque, the arm holding 1.5 kg that the law does not know of.

    (With the same arm on both sides the passes find out that most of law and arm cancel.)
    """
    n, model = arm.n, Model(arm, regrouped(arm))
    loaded = arm.with_payload(1.5, (0.01, 0.02, 0.1), frame="flange")
    plant = Model(loaded, regrouped(loaded))

    def rates(q, qd, goal):
        tau = inverse_dynamics(model, q, qd, kp * (goal - q) - kd * qd)
        return forward_dynamics(plant, q, qd, tau)

    return simplify(
        trace(
            rates,
            {"q": (n,), "qd": (n,), "goal": (n,)},
            name=f"computed torque of {arm.name}",
            outputs=("qdd",),
        )
    )


def rollout_case(name, kind, dtype, count, steps, threads):
    arm = load(name).without_drives()
    graph = quantity_graph(arm, "forward_dynamics") if kind == "open loop" else closed_loop(arm)
    graph = schedule(form_fma(graph))
    run = GpuRollout(graph, {"q": "qd", "qd": "qdd"}, dtype=dtype, threads=threads)
    q, qd, third = states(arm, count, dtype)
    third = third * 0.1
    # check: 64 rows, 20 steps, against the CPU in float64
    few = [x[:, :64].copy() for x in (q, qd, third)]
    end, _ = run(*few, dt=1e-3, steps=20)
    want = Rollout(graph, {"q": "qd", "qd": "qdd"})(
        *(cp.asnumpy(x).T.astype(float) for x in few), dt=1e-3, steps=20
    ).end
    error = float(np.max(np.abs(cp.asnumpy(end.q).T - want.q)) / np.max(np.abs(want.q)))
    t = seconds(lambda: run(q, qd, third, dt=1e-3, steps=steps), repeats=5, warm=2)
    return {
        "arm": name,
        "quantity": f"RK4 {kind}",
        "dtype": dtype,
        "states": count,
        "steps": steps,
        "threads": threads,
        "G_steps_per_s": count * steps / t / 1e9,
        "error": error,
        "registers": run.registers,
        "spilled_bytes": run.spilled_bytes,
        "operations": graph.counts.operations,
    }


def small_batch(name, count=1024, dtype="float32"):
    arm = load(name).without_drives()
    kernel = compile(arm, "inverse_dynamics", dtype=dtype, target="cuda")
    inputs = states(arm, count, dtype)
    out = cp.empty((arm.n, count), dtype)
    replay = kernel.recorded(*inputs, out=out)
    many = 2000
    for f in (replay,):
        f()
    cp.cuda.Device().synchronize()
    start = time.perf_counter()
    for _ in range(many):
        replay()
    cp.cuda.Device().synchronize()
    return {
        "arm": name,
        "quantity": "inverse_dynamics",
        "dtype": dtype,
        "states": count,
        "us_per_call": (time.perf_counter() - start) / many * 1e6,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default="")
    parser.add_argument("--states", type=int, default=1 << 24)
    parser.add_argument("--robots", type=Path, help="folder of the robots of example-robot-data")
    parser.add_argument("--quick", action="store_true", help="fewer block sizes")
    options = parser.parse_args()
    device = cp.cuda.runtime.getDeviceProperties(0)
    bandwidth = copy_bandwidth()
    about = {
        "device": device["name"].decode(),
        "driver": cp.cuda.runtime.driverGetVersion(),
        "cupy": cp.__version__,
        "python": platform.python_version(),
        "forearm": forearm.__version__,
        "copy_TB_per_s": bandwidth / 1e12,
    }
    print(about, flush=True)
    rows = []

    def add(case):
        rows.append(case)
        print({k: round(v, 9) if isinstance(v, float) else v for k, v in case.items()}, flush=True)

    for dtype in ("float32", "float64"):
        for name, quantity in (
            ("puma560", "inverse_dynamics"),
            ("iiwa14", "inverse_dynamics"),
            ("panda", "inverse_dynamics"),
            ("panda", "forward_dynamics"),
            ("panda", "mass_matrix"),
            ("panda", "packed_mass_matrix"),
        ):
            for threads in (128,) if options.quick else (64, 128, 256):
                add(batch_case(name, quantity, dtype, options.states, bandwidth, threads))
        for threads in (128,) if options.quick else (64, 128, 256):
            add(rollout_case("puma560", "open loop", dtype, 1 << 20, 200, threads))
            add(rollout_case("panda", "open loop", dtype, 1 << 20, 100, threads))
    for name, (file, free) in ROBOTS.items():
        if options.robots and (options.robots / file).exists():
            for quantity in ("inverse_dynamics", "forward_dynamics"):
                for threads in (64,) if options.quick else (32, 64, 128):
                    add(
                        robot_case(
                            name,
                            options.robots / file,
                            free,
                            quantity,
                            "float32",
                            1 << 21,
                            bandwidth,
                            threads,
                        )
                    )
    for dtype in ("float32", "float64"):
        for name in ("puma560", "iiwa14"):
            add(batch_case(name, "inverse_dynamics", dtype, options.states, bandwidth, 64, "rows"))
    for count in (1 << 10, 1 << 14, 1 << 17, 1 << 20, 1 << 22):
        add(batch_case("iiwa14", "inverse_dynamics", "float32", count, bandwidth, 64))
    for threads in (128,) if options.quick else (64, 128, 256):
        add(rollout_case("panda", "computed torque", "float32", 1 << 20, 100, threads))
    add(small_batch("iiwa14"))
    if options.out:
        with open(options.out, "w") as file:
            json.dump({"about": about, "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
