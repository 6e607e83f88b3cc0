"""iLQR of examples/13_reach_by_ilqr.py beside Crocoddyl's FDDP: python benchmarks/ilqr.py --crocoddyl PYTHON.

PYTHON is an interpreter that has crocoddyl (3.2.1 wants pin 4.0.0, so it has an environment of its own). iiwa 14 with
5 kg, 100 steps of 10 ms, no torque limits, because FDDP knows none; both start from the torques that hold the arm
still. One thread each, seconds of the processor; solves alternate, times are the least of all rounds, and an iteration
is a solve's time by the number of its iterations. Costs are compared goal by goal.
"""

import argparse
import importlib.util
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import forearm as fa

HERE = Path(__file__).parent
ROOT = HERE.parent
START = [0.0, 0.5, 0.0, -1.2, 0.0, 0.8, 0.0]
LOAD, FAR = 5.0, 1e6


def example():
    """The example as a module."""
    spec = importlib.util.spec_from_file_location("ilqr_reach", ROOT / "examples" / "13_reach_by_ilqr.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def problem_of(ilqr, arm, nodes):
    """The problem as Crocoddyl's side reads it."""
    sys.path.insert(0, str(ROOT / "tests" / "peers"))
    from pin_models import urdf_text

    weights = {name: getattr(ilqr, name.upper()) for name in ("posture", "speed", "torque", "goal", "rest")}
    tool = arm.tool.matrix[:3, 3].tolist()
    about = {"urdf": urdf_text("iiwa14", True), "tool": tool, "load": LOAD, "start": START, "dt": ilqr.DT}
    return about | {"nodes": nodes, "weights": weights}


def timed(function):
    """Seconds of this thread, and what the function gave."""
    began = time.thread_time()
    found = function()
    return time.thread_time() - began, found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--crocoddyl", default=sys.executable, help="an interpreter that has crocoddyl")
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--problems", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    if subprocess.run([given.crocoddyl, "-c", "import crocoddyl"], capture_output=True).returncode:
        raise SystemExit(
            f"{given.crocoddyl} has no crocoddyl; make an environment with crocoddyl==3.2.1 and pin==4.0.0, and give "
            "--crocoddyl its interpreter."
        )
    ilqr, arm = example(), fa.load("iiwa14").with_payload(LOAD, frame="tool")
    start, far = np.array(START), np.full(arm.n, FAR)
    made = ilqr.kernels(arm, start, far)
    ilqr.kernels = lambda *_: made  # compiled once, timed apart
    goals = np.array([0.2, 0.5, 0.6]) + np.random.default_rng(0).uniform(-0.15, 0.15, (given.problems, 3))
    theirs = subprocess.Popen(
        [given.crocoddyl, str(HERE / "peers" / "crocoddyl_reach.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    print(json.dumps(problem_of(ilqr, arm, given.nodes)), file=theirs.stdin, flush=True)
    times, apart = {"Crocoddyl": [], "one": [], "many": []}, []
    for k in range(given.rounds):
        print(json.dumps(goals[k].tolist()), file=theirs.stdin, flush=True)
        other = json.loads(theirs.stdout.readline())
        times["Crocoddyl"].append(other["seconds"] / other["iterations"])
        took, one = timed(lambda k=k: ilqr.solve(arm, start, goals[k : k + 1], far, given.nodes))
        times["one"].append(took / (len(one[-1]) - 1))
        took, many = timed(lambda: ilqr.solve(arm, start, goals, far, given.nodes))
        times["many"].append(took / (len(many[-1]) - 1) / len(goals))
        ours = one[-1][-1][0], many[-1][-1][k]
        apart.append(max(abs(c - other["cost"]) for c in ours) / other["cost"])
        print(
            f"goal {k}: cost {other['cost']:.9f} after {other['iterations']} iterations (Crocoddyl), {ours[0]:.9f} "
            f"after {len(one[-1]) - 1}, {ours[1]:.9f} among {len(goals)}"
        )
    theirs.stdin.close()
    theirs.wait()
    least = {name: 1000 * min(values) for name, values in times.items()}
    print(f"costs agree to {max(apart):.1e}; an iteration of {given.nodes} steps takes")
    print(f"  Crocoddyl {least['Crocoddyl']:.2f} ms, one problem of ours {least['one']:.2f} ms,")
    ratio = least["Crocoddyl"] / least["many"]
    print(
        f"  {len(goals)} problems at once {least['many']:.3f} ms each: {ratio:.1f} times less than Crocoddyl's"
    )


if __name__ == "__main__":
    main()
