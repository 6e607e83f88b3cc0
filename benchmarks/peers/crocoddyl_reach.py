"""The reach of examples/13_reach_by_ilqr.py by Crocoddyl's FDDP: problem and goals in, answers out, as JSON.

Run by `benchmarks/ilqr.py` with an interpreter that has crocoddyl, which wants another Pinocchio than the tests do
(crocoddyl 3.2.1 works with pin 4.0.0 and crashes with 4.1.0). Uses nothing of forearm.
"""

import json
import sys
import time

import crocoddyl
import numpy as np
import pinocchio as pin


def model_of(problem):
    """The arm with its load, and the number of its tool frame."""
    model = pin.buildModelFromXML(problem["urdf"])
    place = pin.SE3(np.eye(3), np.array(problem["tool"]))
    model.appendBodyToJoint(
        model.njoints - 1, pin.Inertia(problem["load"], np.zeros(3), np.zeros((3, 3))), place
    )
    frame = pin.Frame("tool", model.njoints - 1, 0, place, pin.FrameType.OP_FRAME)
    return model, model.addFrame(frame, False)


def shooting(problem, model, frame, goal):
    """Crocoddyl's problem: the same cost, the same semi-implicit steps."""
    state = crocoddyl.StateMultibody(model)
    n, start, weights = model.nv, np.array(problem["start"]), problem["weights"]
    x0 = np.concatenate([start, np.zeros(n)])

    def of_state(posture, speed):
        activation = crocoddyl.ActivationModelWeightedQuad(np.repeat([posture, speed], n))
        return crocoddyl.CostModelResidual(state, activation, crocoddyl.ResidualModelState(state, x0, n))

    running, last = (crocoddyl.CostModelSum(state, n) for _ in range(2))
    running.addCost("state", of_state(weights["posture"], weights["speed"]), 1.0)
    control = crocoddyl.ResidualModelControl(state, n)
    running.addCost("torque", crocoddyl.CostModelResidual(state, control), weights["torque"])
    reach = crocoddyl.ResidualModelFrameTranslation(state, frame, np.array(goal), n)
    last.addCost("goal", crocoddyl.CostModelResidual(state, reach), weights["goal"])
    last.addCost("state", of_state(0.0, weights["rest"]), 1.0)
    actuation = crocoddyl.ActuationModelFull(state)
    step, end = (
        crocoddyl.IntegratedActionModelEuler(
            crocoddyl.DifferentialActionModelFreeFwdDynamics(state, actuation, cost), dt
        )
        for cost, dt in ((running, problem["dt"]), (last, 0.0))
    )
    made = crocoddyl.ShootingProblem(x0, [step] * problem["nodes"], end)
    made.nthreads = 1
    hold = pin.rnea(model, model.createData(), start, np.zeros(n), np.zeros(n))
    return made, [hold] * problem["nodes"]


def main():
    problem = json.loads(sys.stdin.readline())
    model, frame = model_of(problem)
    for line in sys.stdin:
        made, us = shooting(problem, model, frame, json.loads(line))
        solver = crocoddyl.SolverFDDP(made)
        solver.th_stop = 1e-12
        xs = made.rollout(us)
        began = time.process_time()
        solver.solve(list(xs), list(us), 200, False)
        took = time.process_time() - began
        found = {"cost": solver.cost, "iterations": solver.iter + 1, "seconds": took}
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
