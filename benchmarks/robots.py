"""Robots with branches beside Pinocchio's batch, in one run: ns a state, one thread, and how many times faster.

    python -m benchmarks.robots [--states 20000] [--runs 3] [--out benchmarks/results/robots.json]

Needs pinocchio and, for the robots, example-robot-data (both from PyPI); a robot whose file is not there is left out.
Both sides are timed in turns, call by call, and the best of each is taken: on a shared machine the two then meet the
same neighbours. `first` is the first torque in a process without a cache, compile included.
"""

import argparse
import itertools
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

ROBOTS = {
    "baxter": ("baxter_description/urdf/baxter.urdf", False),
    "talos fixed": ("talos_data/robots/talos_reduced.urdf", False),
    "solo12 free": ("solo_description/robots/solo12.urdf", True),
    "anymal free": ("anymal_b_simple_description/robots/anymal.urdf", True),
    "tiago": ("tiago_description/robots/tiago.urdf", False),
}
"""Name -> file in example-robot-data, and whether its base is free."""


def folder() -> Path | None:
    """Where example-robot-data lies, if it is installed."""
    for path in sys.path:
        found = Path(path) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
        if found.is_dir():
            return found
    return None


def states_of(robot: Any, model: Any, count: int) -> tuple[list[Any], list[Any]]:
    """Random states for us (rows) and for Pinocchio (columns, in its order of joints)."""
    import pinocchio as pin

    q, qd, qdd = robot.random_state(0, (count,))
    place, speed = robot.nq - robot.n, robot.nv - robot.n
    theirs = [
        np.tile(pin.neutral(model), (count, 1)),
        np.zeros((count, model.nv)),
        np.zeros((count, model.nv)),
    ]
    theirs[0][:, :place], theirs[1][:, :speed], theirs[2][:, :speed] = (
        q[:, :place],
        qd[:, :speed],
        qdd[:, :speed],
    )
    for k, name in enumerate(robot.joint_names):
        joint = model.joints[model.getJointId(name)]
        at = q[:, place + k]
        theirs[0][:, joint.idx_q : joint.idx_q + joint.nq] = (
            at[:, None] if joint.nq == 1 else np.stack([np.cos(at), np.sin(at)], 1)
        )
        theirs[1][:, joint.idx_v], theirs[2][:, joint.idx_v] = qd[:, speed + k], qdd[:, speed + k]
    return [q, qd, qdd], [np.asfortranarray(x.T) for x in theirs]


def in_turns(ours: Any, theirs: Any, rounds: int = 15) -> tuple[float, float]:
    """The best processor time of each of two calls, made in turns [s]: waiting for neighbours does not count."""
    best = [np.inf, np.inf]
    for _ in range(rounds):
        for side, call in enumerate((ours, theirs)):
            began = time.process_time()
            call()
            best[side] = min(best[side], time.process_time() - began)
    return best[0], best[1]


def measured(name: str, path: Path, free: bool, count: int) -> dict[str, Any]:
    """Torques and accelerations of one robot beside Pinocchio's."""
    import pinocchio as pin

    import forearm as fa

    options = {"base": "free"} if free else {}
    robot = fa.load(path, keep_defects=True, allow_massless=True, **options)
    robot = robot.without_drives().with_couplings(())  # Pinocchio's batch knows no couplings
    model = pin.buildModelFromUrdf(str(path), *([pin.JointModelFreeFlyer()] if free else []))
    (q, qd, qdd), (pq, pv, pa) = states_of(robot, model, count)
    pool = pin.ModelPool(model, 1)
    row: dict[str, Any] = {"robot": name, "joints": robot.n, "states": count}
    began, spent = time.perf_counter(), time.process_time()
    fa.inverse_dynamics(robot, q[0], qd[0], qdd[0])
    row["first s"] = round(time.perf_counter() - began, 2)
    row["first, processor s"] = round(time.process_time() - spent, 2)
    tau, ptau, out = fa.inverse_dynamics(robot, q, qd, qdd), np.zeros_like(pv), np.empty_like(qd)
    one, other = in_turns(
        lambda: fa.inverse_dynamics(robot, q, qd, qdd, out=out),
        lambda: pin.rneaInParallel(1, pool, pq, pv, pa, ptau),
    )
    row["torques"] = _row(fa, robot, "inverse_dynamics", one, other, count)
    theirs = np.zeros((count, model.nv))
    fa.forward_dynamics(robot, q, qd, tau)
    one, other = in_turns(
        lambda: fa.forward_dynamics(robot, q, qd, tau, out=out),
        lambda: pin.abaInParallel(1, pool, pq, pv, ptau, theirs.T),
    )
    row["accelerations"] = _row(fa, robot, "forward_dynamics", one, other, count)
    return row


def _row(fa: Any, robot: Any, quantity: str, one: float, other: float, count: int) -> dict[str, Any]:
    kernel = next(k for key, k in robot.kernels.items() if key.quantity == quantity)
    ns, peer = 1e9 * one / count, 1e9 * other / count
    return {
        "operations": kernel.counts.operations,
        "ns": round(ns, 1),
        "pinocchio ns": round(peer, 1),
        "times": round(peer / ns, 1),
    }


def machine() -> dict[str, Any]:
    """What the figures hold for."""
    import pinocchio as pin

    import forearm as fa
    from forearm.compiler.llvm.jit import host

    here = host()
    return {
        "processor": f"{here.cpu}, {8 * here.width('float64')} bytes wide",
        "processors": os.cpu_count(),
        "forearm": fa.__version__,
        "pinocchio": pin.__version__,
        "numpy": np.__version__,
    }


def main() -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--states", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    data, rows = folder(), []
    if data is None:
        raise SystemExit("example-robot-data is not installed: pip install example-robot-data")
    with tempfile.TemporaryDirectory() as cache:
        os.environ["FOREARM_CACHE"] = cache
        for run, (name, (file, free)) in itertools.product(range(given.runs), ROBOTS.items()):
            if given.only in name and (data / file).exists():
                rows.append(measured(name, data / file, free, given.states))
                if run:  # the cache is no longer empty
                    rows[-1] = {key: value for key, value in rows[-1].items() if "first" not in key}
                print(json.dumps(rows[-1]), flush=True)
    if given.out:
        told = {"kind": "robots", "made_by": "benchmarks/robots.py", "machine": machine(), "rows": rows}
        given.out.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
