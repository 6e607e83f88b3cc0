"""Time us and the peers in one run, on one core, and write JSON.

    python benchmarks/run.py [--filter REGEX] [--out results/NAME.json] [--quick]

Boundaries. Batches: one call from Python on (N, n) arrays in C order for us, the peer's batch call in its own best
layout (Pinocchio: columns of a Fortran-order matrix), a C loop over rows for generated C, a Python loop where the peer
has nothing else. One state: one Python call, arrays ready. Rounds of us and of the peers alternate, each of them at
least 15 ms long, so that a noisy neighbour meets both, and all cases are gone through several times, because machines
have slow minutes; a ratio is the median over all rounds, its quartiles beside it, and times are medians too. Compile
time and first call are apart.
"""

import argparse
import json
import os
import platform
import re
import sys
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from cases import BATCHES, CHAINS, SINGLE, SMALL  # noqa: E402
from processes import First, Threads  # noqa: E402

import forearm as fa  # noqa: E402

ROUND = 0.015
"""Seconds that a function runs in one round, at least."""


PASSES, ROUNDS = 4, 8
"""How often all cases are gone through, and how many rounds each has then."""


class Case:
    """Functions to be timed in turns, and what their times are made into."""

    def __init__(self, functions, finish):
        self.functions, self.finish = functions, finish
        self.times = {name: [] for name in functions}
        self.often = {}
        for name, function in functions.items():
            function()
            start = time.perf_counter()
            function()
            self.often[name] = max(1, int(ROUND / (time.perf_counter() - start)))

    def go_through(self, rounds):
        """Time every function once in each round."""
        for _ in range(rounds):
            for name, function in self.functions.items():
                start = time.perf_counter()
                for _ in range(self.often[name]):
                    function()
                self.times[name].append((time.perf_counter() - start) / self.often[name])

    def row(self):
        """What is reported."""
        return self.finish({name: np.array(times) for name, times in self.times.items()})


def ratio_of(peer, ours):
    """Median and quartiles of the rounds' ratios."""
    low, middle, high = np.quantile(peer / ours, [0.25, 0.5, 0.75])
    return {"ratio": float(middle), "quartiles": [float(low), float(high)]}


def shape_of(quantity, n):
    return {"mass_matrix": (n, n), "derivatives": (2, n, n)}.get(quantity, (n,))


def ours(arm, quantity, state):
    """Our call with `out=` (several outputs: allocated)."""
    kernel = fa.compile(arm, quantity)
    given = state[: len(kernel.graph.inputs)]
    ports = kernel.graph.outputs
    outs = tuple(np.full((len(state[0]), *p.shape), np.nan) for p in ports)
    out = outs[0] if len(outs) == 1 else outs
    return (lambda: kernel(*given, out=out)), outs


def peers_of(arm, quantity, state):
    """Name -> (function, array that it fills, states in it)."""
    import pinocchio as pin
    from peers.models import pinocchio_model

    from peers import casadi_c

    model = pinocchio_model(arm)
    q, qd, third = state
    n, rows = arm.n, len(q)
    found = {}
    if quantity in ("inverse_dynamics", "forward_dynamics"):
        pool = pin.ModelPool(model, 1)
        columns = [np.asfortranarray(x.T) for x in state]
        call = pin.rneaInParallel if quantity == "inverse_dynamics" else pin.abaInParallel
        out = np.zeros((n, rows), order="F")
        name = "pinocchio rneaInParallel" if quantity == "inverse_dynamics" else "pinocchio abaInParallel"
        found[name] = (lambda: call(1, pool, *columns, out), lambda: out.T)
    if quantity in ("inverse_dynamics", "forward_dynamics", "mass_matrix"):
        run, run_columns, instructions = casadi_c.build(model, quantity)
        result = np.empty((rows, *shape_of(quantity, n)))
        turned = [np.ascontiguousarray(x.T) for x in state]
        across = np.empty((*shape_of(quantity, n), rows))
        found["the same C in columns, vectorised by gcc -ffast-math"] = (
            lambda: run_columns(*turned, across),
            lambda: np.moveaxis(across, -1, 0),
        )
        found[f"spatial algorithm, CasADi-generated C ({instructions} instructions)"] = (
            lambda: run(q, qd, third, result),
            lambda: result,
        )
    if quantity in ("mass_matrix", "derivatives"):
        data, few = model.createData(), min(rows, 2000)
        got = np.empty((few, *shape_of(quantity, n)))

        def loop():
            for i in range(few):
                if quantity == "mass_matrix":
                    got[i] = pin.crba(model, data, q[i])
                else:
                    pin.computeRNEADerivatives(model, data, q[i], qd[i], third[i])
                    got[i, 0], got[i, 1] = data.dtau_dq, data.dtau_dv

        found["pinocchio in a Python loop"] = (loop, lambda: got)
    if quantity == "inverse_dynamics" and arm.name == "puma560":
        robot = toolbox_puma()
        result_rtb = {}

        def rne():
            result_rtb["tau"] = robot.rne(q, qd, third)

        found["Robotics Toolbox rne (C)"] = (rne, lambda: result_rtb["tau"])
    return found


def toolbox_puma():
    """The Toolbox's PUMA 560 without motors and friction."""
    import roboticstoolbox as rtb

    robot = (
        rtb.models.DH.Puma560().nofriction(True, True)
        if hasattr(rtb.models.DH.Puma560(), "nofriction")
        else None
    )
    for link in robot.links:
        link.Jm = 0.0
    robot.dynchanged()
    return robot


def batch_case(case):
    arm = fa.load(case.arm).without_drives()
    state = arm.random_state(0, (case.states,))
    started = time.perf_counter()
    mine, outs = ours(arm, case.quantity, state)
    mine()
    compiled = time.perf_counter() - started
    peers = peers_of(arm, case.quantity, state)
    counts = fa.compile(arm, case.quantity).counts

    def finish(times):
        mine_ns = times["forearm"] / case.states * 1e9
        rows = []
        got = np.stack(outs, axis=1) if len(outs) > 1 else outs[0]
        for name, (_, result) in peers.items():
            want = np.asarray(result())
            few = len(want)
            difference = float(np.max(np.abs(got[:few] - want)) / np.max(np.abs(want)))
            peer_ns = times[name] / few * 1e9
            row = {"peer": name, "peer_ns": float(np.median(peer_ns)), "difference": difference}
            rows.append(row | ratio_of(peer_ns, mine_ns))
        return {
            "arm": case.arm,
            "quantity": case.quantity,
            "states": case.states,
            "boundary": "one call on (N, n) arrays, one thread",
            "forearm_ns": float(np.median(mine_ns)),
            "first_call_s": compiled,
            "operations": counts.operations,
            "peers": rows,
        }

    return Case({"forearm": mine, **{k: v[0] for k, v in peers.items()}}, finish)


def single_case(name):
    import pinocchio as pin
    from peers.models import pinocchio_model

    arm = fa.load(name).without_drives()
    model = pinocchio_model(arm)
    data = model.createData()
    q, qd, qdd = arm.random_state(1)
    tau = np.empty(arm.n)
    kernel = fa.compile(arm, "inverse_dynamics")
    kernel(q, qd, qdd, out=tau)
    functions = {
        "fa.inverse_dynamics(arm, q, qd, qdd)": lambda: [
            fa.inverse_dynamics(arm, q, qd, qdd) for _ in range(1000)
        ],
        "kernel(q, qd, qdd, out=tau)": lambda: [kernel(q, qd, qdd, out=tau) for _ in range(1000)],
        PEER: lambda: [pin.rnea(model, data, q, qd, qdd) for _ in range(1000)],
    }
    return Case(
        functions,
        lambda times: {
            "arm": name,
            "quantity": "inverse_dynamics",
            "boundary": "one state, Python call",
            "us": {k: float(np.median(v)) * 1e3 for k, v in times.items()},
            "ratio_to_pinocchio": {k: ratio_of(times[PEER], v) for k, v in times.items()},
        },
    )


PEER = "pin.rnea(model, data, q, qd, qdd)"


def small_case(name, states):
    """A few states in one call, where calling costs as much as computing."""
    import pinocchio as pin
    from peers.models import pinocchio_model

    arm = fa.load(name).without_drives()
    model = pinocchio_model(arm)
    pool, data = pin.ModelPool(model, 1), model.createData()
    state = arm.random_state(1, (states,))
    columns, out = [np.asfortranarray(x.T) for x in state], np.zeros((arm.n, states), order="F")
    fa.inverse_dynamics(arm, *state)
    peers = {
        "pin.rneaInParallel": lambda: [pin.rneaInParallel(1, pool, *columns, out) for _ in range(50)],
        "pin.rnea in a loop": lambda: [pin.rnea(model, data, *row) for row in zip(*state, strict=True)],
    }
    per_call = {"forearm": 50, "pin.rneaInParallel": 50, "pin.rnea in a loop": 1}
    functions = {"forearm": lambda: [fa.inverse_dynamics(arm, *state) for _ in range(50)], **peers}

    def finish(times):
        times = {k: v / per_call[k] for k, v in times.items()}
        return {
            "arm": name,
            "quantity": "inverse_dynamics",
            "boundary": f"{states} states, one Python call",
            "small_us": {k: float(np.median(v)) * 1e6 for k, v in times.items()},
            "ratios": {k: ratio_of(times[k], times["forearm"]) for k in peers},
        }

    return Case(functions, finish)


def chains_case():
    sys.path.insert(0, str(HERE.parent / "tests"))
    from arms import random_arm

    functions, per = {}, {}
    for n in CHAINS:
        arm = random_arm(n, 1, "R")
        rows = 200_000 // n
        kernel = fa.compile(arm, "inverse_dynamics")
        state = arm.random_state(0, (rows,))
        out = np.empty_like(state[0])
        functions[n] = lambda kernel=kernel, state=state, out=out: kernel(*state, out=out)
        per[n] = rows * n

    def finish(times):
        ns = {n: t / per[n] * 1e9 for n, t in times.items()}
        return {
            "quantity": "inverse_dynamics",
            "arm": "dense random chains",
            "boundary": "batch, for each link",
            "ns_per_link": {n: float(np.median(t)) for n, t in ns.items()},
            **ratio_of(ns[CHAINS[-1]], ns[CHAINS[0]]),
        }

    return Case(functions, finish)


def machine():
    cpu = (
        next(
            (
                line.split(":")[1].strip()
                for line in Path("/proc/cpuinfo").read_text().splitlines()
                if "model name" in line
            ),
            platform.processor(),
        )
        if Path("/proc/cpuinfo").exists()
        else platform.processor()
    )
    import casadi
    import llvmlite
    import pinocchio as pin

    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "llvmlite": llvmlite.__version__,
        "pinocchio": pin.__version__,
        "casadi": casadi.__version__,
        "forearm": fa.__version__,
        "gcc flags": "-O3 -march=native -ffp-contract=fast",
    }


def with_ranges(rows, earlier):
    """Every ratio with the range of its medians over this run and earlier ones, where there are any."""
    for row in rows:
        for peer in row.get("peers", ()):
            found = [peer["ratio"]]
            for other in (r for run in earlier for r in run):
                if all(other.get(k) == row[k] for k in ("arm", "quantity", "states")):
                    found += [p["ratio"] for p in other["peers"] if p["peer"] == peer["peer"]]
            if len(found) > 1:
                peer["runs"] = over_runs(found)
        others = [r for run in earlier for r in run]
        if "share" in row and others:
            row["runs"] = over_runs([r["share"] for r in (row, *others) if "share" in r])
        if "first_s" in row and others:
            row["runs"] = over_runs([r["first_s"]["warm"] for r in (row, *others) if "first_s" in r])
    return rows


def over_runs(found):
    """How many, their median, and the range."""
    return {"count": len(found), "median": float(np.median(found)), "range": [min(found), max(found)]}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--filter", default="", help="only cases whose name matches")
    parser.add_argument("--out", default="", help="write JSON here")
    parser.add_argument(
        "--quick", action="store_true", help="few states and rounds: does it run, not how fast"
    )
    parser.add_argument("--again", nargs="*", default=(), help="earlier results, for the range over runs")
    options = parser.parse_args()
    rows, cases = [], []

    def add(name, make):
        if re.search(options.filter, name):
            cases.append(make())

    for case in BATCHES:
        if options.quick:
            case = type(case)(case.arm, case.quantity, 1000)
        add(f"{case.arm} {case.quantity}", lambda case=case: batch_case(case))
    for name in SINGLE:
        add(f"{name} single", lambda name=name: single_case(name))
    for states in SMALL:
        add(f"small {states}", lambda states=states: small_case("iiwa14", states))
    add("chains", chains_case)
    add("threads", lambda: Threads(options.quick))
    add("first torque", First)
    for _ in range(1 if options.quick else PASSES):
        for case in cases:
            case.go_through(1 if options.quick else ROUNDS)
    rows = [case.row() for case in cases]
    earlier = [json.loads(Path(path).read_text())["rows"] for path in options.again]
    for row in with_ranges(rows, earlier):
        print(json.dumps(row, default=float), flush=True)
    if options.out:
        Path(options.out).write_text(
            json.dumps({"machine": machine(), "rows": rows}, indent=1, default=float) + "\n"
        )


if __name__ == "__main__":
    main()
