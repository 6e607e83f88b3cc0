"""Crocoddyl solves a reach, and forearm does the dynamics: with friction, which Crocoddyl's own have not.

`Dynamics` stands where Crocoddyl's users write `DifferentialActionModelFreeFwdDynamics`; state, costs, integrator and
solver stay as they are. Crocoddyl 3.2.1 works with pin 4.0.0 and crashes with 4.1.0, so it has an environment of its
own: `pip install crocoddyl==3.2.1 pin==4.0.0` and forearm. An action model in Python wants one thread.
"""

import tempfile
from pathlib import Path

import crocoddyl
import numpy as np
import pinocchio as pin

import forearm as fa


class Dynamics(crocoddyl.DifferentialActionModelAbstract):
    """An arm under torques, and costs of Crocoddyl's, which look into Pinocchio's data."""

    def __init__(self, state, arm, costs):
        super().__init__(state, arm.n, costs.nr)
        theirs, ours = list(state.pinocchio.names)[1:], list(arm.joint_names)
        if theirs != ours or state.nq != arm.n:
            raise ValueError(
                f"the state has {state.nq} numbers for joints {theirs}, arm {arm.name!r} one for each of {ours}: "
                "take both from one file, and give continuous joints (two numbers in Pinocchio) limits"
            )
        self.arm, self.costs, self.actuation = arm, costs, crocoddyl.ActuationModelFull(state)
        self.ahead, self.slopes = (fa.compile(arm, f"forward_{what}") for what in ("dynamics", "derivatives"))

    def createData(self):
        return Data(self)

    def calc(self, data, x, u=None):
        q, qd = x.reshape(2, -1)
        pin.computeAllTerms(self.state.pinocchio, data.pinocchio, q, qd)
        if u is not None:
            data.xout = self.ahead(q[None], qd[None], u[None])[0]  # as a batch: what overflows is NaN
            data.joint.a, data.joint.tau = data.xout, u
            self.actuation.calc(data.actuation, x, u)
        self.costs.calc(data.costs, *([x] if u is None else [x, u]))
        data.cost = data.costs.cost

    def calcDiff(self, data, x, u=None):
        q, qd = x.reshape(2, -1)
        pin.computeForwardKinematicsDerivatives(self.state.pinocchio, data.pinocchio, q, qd, data.xout)
        if u is not None:
            by_q, by_qd, data.Fu = self.slopes(q, qd, u)
            data.Fx = np.hstack([by_q, by_qd])
            data.joint.da_dx, data.joint.da_du = data.Fx, data.Fu
            self.actuation.calcDiff(data.actuation, x, u)
        self.costs.calcDiff(data.costs, *([x] if u is None else [x, u]))

    def quasiStatic(self, data, x, rounds=100, tolerance=1e-9):
        return fa.gravity_torque(self.arm, x[: self.nu])


class Data(crocoddyl.DifferentialActionDataAbstract):
    """What Crocoddyl keeps for each node."""

    def __init__(self, model):
        super().__init__(model)
        self.pinocchio, self.actuation = model.state.pinocchio.createData(), model.actuation.createData()
        self.joint = crocoddyl.JointDataAbstract(model.state, model.actuation, model.nu)
        self.joint.dtau_du = np.eye(model.nu)
        shared = crocoddyl.DataCollectorJointActMultibody(self.pinocchio, self.actuation, self.joint)
        self.costs = model.costs.createData(shared)
        self.costs.shareMemory(self)


def solve(state, dynamics, start, goal, nodes):
    """Crocoddyl's solver after a reach to a point, as its users write it; `dynamics` makes a model of costs."""
    n, hand, rest = state.nv, state.pinocchio.getFrameId("tool"), np.concatenate([start, np.zeros(state.nv)])

    def total(posture, speed, **terms):
        activation = crocoddyl.ActivationModelWeightedQuad(np.repeat([posture, speed], n))
        costs, near = crocoddyl.CostModelSum(state, n), crocoddyl.ResidualModelState(state, rest, n)
        costs.addCost("state", crocoddyl.CostModelResidual(state, activation, near), 1.0)
        for name, (weight, residual) in terms.items():
            costs.addCost(name, crocoddyl.CostModelResidual(state, residual), weight)
        return costs

    running = total(1.0, 0.1, torque=(1e-4, crocoddyl.ResidualModelControl(state, n)))
    last = total(0.0, 1.0, goal=(1e3, crocoddyl.ResidualModelFrameTranslation(state, hand, goal, n)))
    step = crocoddyl.IntegratedActionModelEuler(dynamics(running), 0.01)
    end = crocoddyl.IntegratedActionModelEuler(dynamics(last), 0.0)
    problem = crocoddyl.ShootingProblem(rest, [step] * nodes, end)
    hold = problem.quasiStatic([rest] * nodes)
    solver = crocoddyl.SolverFDDP(problem)
    solver.th_stop = 1e-12
    solver.solve(problem.rollout(hold), hold, 200)
    return solver


def main(nodes: int = 100) -> None:
    arm = fa.load("iiwa14").with_payload(5.0, frame="tool")
    drive = fa.Drive(rotor_inertia=0.5, side="joint", viscous=5.0, coulomb=(3.0, 3.0), smoothing=0.1)
    rough = arm.replace(links=[link.replace(drive=drive) for link in arm.links])
    with tempfile.TemporaryDirectory() as folder:  # a URDF of your own serves both: fa.load(path)
        path = fa.write_urdf(arm, Path(folder) / "arm.urdf")
        state = crocoddyl.StateMultibody(pin.buildModelFromUrdf(str(path)))
    start, goal = np.array([0.0, 0.5, 0.0, -1.2, 0.0, 0.8, 0.0]), np.array([0.2, 0.5, 0.6])
    actuation = crocoddyl.ActuationModelFull(state)
    for name, dynamics in {
        "Crocoddyl's own": lambda x: crocoddyl.DifferentialActionModelFreeFwdDynamics(state, actuation, x),
        "forearm's": lambda x: Dynamics(state, arm, x),
        "forearm's, with drives": lambda x: Dynamics(state, rough, x),
    }.items():
        solver = solve(state, dynamics, start, goal, nodes)
        print(f"{name}: cost {solver.cost:.10f} after {solver.iter + 1} iterations")


if __name__ == "__main__":
    main()
