"""What tests/gradients/test_crocoddyl.py asks of the example, in an interpreter that has crocoddyl: JSON out."""

import json
import runpy
import sys
import tempfile
from pathlib import Path

import crocoddyl
import numpy as np
import pinocchio as pin

import forearm as fa

EXAMPLE = runpy.run_path(sys.argv[1])


def state_of(arm):
    with tempfile.TemporaryDirectory() as folder:
        path = fa.write_urdf(arm, Path(folder) / "arm.urdf")
        return crocoddyl.StateMultibody(pin.buildModelFromUrdf(str(path)))


def models(state, arm, residual=None):
    """Crocoddyl's own model and ours, with one cost or none."""
    made = []
    for kind in ("own", "ours"):
        costs = crocoddyl.CostModelSum(state, arm.n)
        if residual is not None:
            costs.addCost("one", crocoddyl.CostModelResidual(state, residual), 1.0)
        if kind == "own":
            full = crocoddyl.ActuationModelFull(state)
            made.append(crocoddyl.DifferentialActionModelFreeFwdDynamics(state, full, costs))
        else:
            made.append(EXAMPLE["Dynamics"](state, arm, costs))
    return made


def expansion(model, x, u):
    """All that a node hands to the solver, with torques and at the end."""
    data = model.createData()
    model.calc(data, x, u)
    model.calcDiff(data, x, u)
    parts = [data.cost, data.xout, data.Fx, data.Fu, data.Lx, data.Lu, data.Lxx, data.Lxu, data.Luu, data.r]
    return np.concatenate([np.ravel(part).copy() for part in parts])


def residuals(state, n):
    frame = state.pinocchio.getFrameId("tool")
    yield "state", crocoddyl.ResidualModelState(state, np.zeros(2 * n), n)
    yield "torque", crocoddyl.ResidualModelControl(state, n)
    yield (
        "effort",
        crocoddyl.ResidualModelJointEffort(state, crocoddyl.ActuationModelFull(state), np.zeros(n), n),
    )
    yield "acceleration", crocoddyl.ResidualModelJointAcceleration(state, np.zeros(n), n)
    yield "torque beside gravity", crocoddyl.ResidualModelControlGrav(state, n)
    yield "pose", crocoddyl.ResidualModelFramePlacement(state, frame, pin.SE3.Identity(), n)
    yield "speed", crocoddyl.ResidualModelFrameVelocity(state, frame, pin.Motion.Zero(), pin.LOCAL, n)


def costs_apart(arm):
    """How far our node is from Crocoddyl's, for each cost."""
    rng, state, found = np.random.default_rng(0), state_of(arm), {}
    for name, residual in residuals(state, arm.n):
        x, u = rng.uniform(-1, 1, 2 * arm.n), rng.uniform(-10, 10, arm.n)
        own, ours = (expansion(model, x, u) for model in models(state, arm, residual))
        found[name] = float(np.abs(own - ours).max() / np.abs(own).max())
    return found


def solved(arm):
    """Costs of both at convergence, where the line search has to shorten a step."""
    state, start = state_of(arm), np.array([0.0, 0.5, 0.0, -1.2, 0.0, 0.8, 0.0])
    goal, full = np.array([-0.6, -0.2, 0.1]), crocoddyl.ActuationModelFull(state)
    kinds = (
        lambda costs: crocoddyl.DifferentialActionModelFreeFwdDynamics(state, full, costs),
        lambda costs: EXAMPLE["Dynamics"](state, arm, costs),
    )
    return [EXAMPLE["solve"](state, kind, start, goal, 40).cost for kind in kinds]


def diverged(arm):
    """What comes out of a state that overflows, and what is said of another arm's state."""
    state = state_of(arm)
    _, ours = models(state, arm)
    data = ours.createData()
    ours.calc(data, np.full(2 * arm.n, 1e160), np.ones(arm.n))
    try:
        EXAMPLE["Dynamics"](state, fa.load("panda"), crocoddyl.CostModelSum(state, arm.n))
    except ValueError as fault:
        return [bool(np.isnan(data.xout).all()), str(fault)]
    return [bool(np.isnan(data.xout).all()), ""]


def main():
    arm = fa.load("iiwa14").with_payload(5.0, frame="tool")
    slider = fa.load("stanford").without_drives()
    found = {
        "apart": costs_apart(arm) | {f"{name}, sliding": far for name, far in costs_apart(slider).items()},
        "solved": solved(arm),
        "diverged": diverged(arm),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
