"""How exact compiled torques are, arm by arm: against the formulation itself in fifty digits.

    python benchmarks/accuracy.py            # rewrites benchmarks/results/accuracy.json

Two figures for each arm and precision, the worst over random states: the error relative to the largest torque, and the
error in machine epsilons of the largest intermediate value of the kernel's graph.
"""

import json
from dataclasses import replace
from pathlib import Path

import mpmath
import numpy as np

import forearm as fa
from forearm.compiler.graph.graph import Port
from forearm.compiler.graph.interpreter import arrays, interpret
from forearm.formulations import FORMULATIONS
from forearm.frames import Pose
from forearm.inertia import Inertia
from forearm.readers import known_arms, load

FILE = Path(__file__).parent / "results" / "accuracy.json"
REFERENCE = "luh_walker_paul_1980"


def exact(arm):
    """The arm with the same numbers as fifty-digit ones."""

    def big(value):
        return tuple(big(x) for x in value) if isinstance(value, tuple) else mpmath.mpf(value)

    links = [
        link.replace(
            pose=Pose(big(link.pose.rotation), big(link.pose.translation)),
            theta=big(link.theta),
            d=big(link.d),
            mass=big(link.mass),
            com=big(link.com),
            inertia=Inertia(big(link.inertia.tensor), link.inertia.about),
        )
        for link in arm.links
    ]
    base = Pose(big(arm.base.rotation), big(arm.base.translation))
    return arm.replace(links=tuple(links), base=base, gravity=big(arm.gravity), defects=())


def largest_intermediate(graph, states):
    """The largest value that any node takes."""
    every = replace(
        graph, outputs=(Port("all", (len(graph.nodes),)),), results=(tuple(range(len(graph.nodes))),)
    )
    found = interpret(every, dict(zip(("q", "qd", "qdd"), states, strict=True)), arrays)["all"]
    return np.max(np.abs(np.asarray(found, dtype=float)), axis=-1)


def accuracy(name, count=5, seed=0):
    """Errors of compiled torques of a built-in arm."""
    arm = load(name).without_drives()
    states = arm.random_state(seed, (count,))
    with mpmath.workdps(50):
        big, rows = exact(arm), []
        for row in zip(*states, strict=True):
            state = ([mpmath.mpf(float(x)) for x in part] for part in row)
            rows.append(
                [
                    mpmath.nstr(t, 30)
                    for t in FORMULATIONS[REFERENCE].joint_torques(big, *map(np.array, state))
                ]
            )
    want = np.array(rows, dtype=float)
    kernel = fa.compile(arm, "inverse_dynamics")
    error = np.max(np.abs(kernel(*states) - want), axis=-1)
    single = fa.compile(arm, "inverse_dynamics", dtype="float32")
    rough = single(*(x.astype(np.float32) for x in states))
    fine = kernel(*(x.astype(np.float32).astype(float) for x in states))
    scale = np.max(np.abs(want), axis=-1)
    return {
        "arm": name,
        "relative": float(np.max(error / scale)),
        "eps_of_largest_intermediate": float(
            np.max(error / np.finfo(float).eps / largest_intermediate(kernel.graph, states))
        ),
        "relative_float32": float(np.max(np.abs(rough - fine)) / np.max(scale)),
    }


def main():
    rows = [accuracy(name) for name in known_arms() if load(name).dynamics]
    for row in rows:
        print(row)
    FILE.write_text(json.dumps({"kind": "accuracy", "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
