"""RK4 steps a second of a batch, open-loop torques, one thread: us, MuJoCo's rollout, generated C, in one run.

    python benchmarks/simulation.py --out benchmarks/results/simulation.json

All integrate iiwa 14, 1 ms steps, constant torques for each row, from the same states; ends are compared. MuJoCo runs
its own `rollout` with the RK4 integrator, contacts and constraints off. The C is a spatial-vector RK4 step generated
by CasADi (peers/casadi_c.py), called in a C loop, one call a step for all rows.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from peers.models import pinocchio_model  # noqa: E402
from run import Case, machine, ratio_of  # noqa: E402

import forearm as fa  # noqa: E402
from peers import casadi_c  # noqa: E402

DT = 1e-3


def mujoco_model():
    """The description that the arm was read from, as MuJoCo has it."""
    import mujoco

    text = (HERE.parent / "tests" / "peers" / "descriptions" / "iiwa14.urdf").read_text()
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.timestep = DT
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    flags = mujoco.mjtDisableBit
    model.opt.disableflags |= int(flags.mjDSBL_CONTACT | flags.mjDSBL_CONSTRAINT | flags.mjDSBL_LIMIT)
    model.dof_damping[:] = 0
    model.dof_armature[:] = 0
    return mujoco, model


def mujoco_rollout(q, qd, tau, steps):
    from mujoco import rollout

    mujoco, model = mujoco_model()
    data = mujoco.MjData(model)
    size = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    first = np.zeros((len(q), size))
    first[:, 1 : 1 + model.nq], first[:, 1 + model.nq : 1 + 2 * model.nq] = q, qd
    control = np.ascontiguousarray(np.broadcast_to(tau[:, None, :], (len(q), steps, tau.shape[1])))
    spec = int(mujoco.mjtState.mjSTATE_QFRC_APPLIED)
    kept = {}

    def run():
        state, _ = rollout.rollout(model, data, first, control, control_spec=spec, skip_checks=False)
        kept["q"] = state[:, -1, 1 : 1 + model.nq]

    return run, kept


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", default="")
    parser.add_argument("--rows", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    rows, steps = options.rows, options.steps
    arm = fa.load("iiwa14").without_drives()
    q, qd, third = arm.random_state(0, (rows,))
    qd, tau = 0.2 * qd, third
    from forearm.compiler.call.rollout import Rollout

    graph = fa.compile(arm, "forward_dynamics").graph
    roll = Rollout(graph, {"q": "qd", "qd": "qdd"})
    ends = {}

    def ours():
        ends["forearm"] = roll(q, qd, tau, dt=DT, steps=steps).end.q

    step, _, instructions = casadi_c.build(pinocchio_model(arm), "rk4")
    n = arm.n
    after = np.empty((rows, 2 * n))

    def generated():
        x, v = q.copy(), qd.copy()
        for _ in range(steps):
            step(x, v, tau, after)
            x, v = np.ascontiguousarray(after[:, :n]), np.ascontiguousarray(after[:, n:])
        ends["generated C"] = x

    simulate, kept = mujoco_rollout(q, qd, tau, steps)
    functions = {
        "forearm": ours,
        "MuJoCo rollout": simulate,
        f"generated C ({instructions} instructions)": generated,
    }
    case = Case(functions, dict)
    case.go_through(options.rounds)
    times = case.row()
    ends["MuJoCo"] = kept["q"]
    for name in ("MuJoCo", "generated C"):
        print(name, "end differs by", float(np.max(np.abs(ends[name] - ends["forearm"]))))
    count = rows * steps
    found = [
        {"what": k, "M_steps_per_s": count / float(np.median(t)) / 1e6} | ratio_of(t, times["forearm"])
        for k, t in times.items()
    ]
    long = arm.random_state(1, (10_000,))
    roll(*long, dt=DT, steps=2, threads=2)
    start = time.perf_counter()
    roll(long[0], 0.2 * long[1], long[2], dt=DT, steps=20 * steps, threads=2)
    seconds = time.perf_counter() - start
    title = f"forearm: 10,000 arms, {20 * steps} steps of 1 ms, two threads ({seconds:.2f} s)"
    found.append({"what": title, "M_steps_per_s": 0.2 * steps / seconds, "ratio": None})
    for row in found:
        print(row)
    if options.out:
        Path(options.out).write_text(
            json.dumps({"kind": "simulation", "machine": machine(), "rows": found}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
