"""Pinocchio's answers in our coordinates: states by joint name, couplings by B."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from forearm.robot import Robot


@dataclass(frozen=True)
class Peer:
    """A robot beside Pinocchio's model of the same text."""

    robot: Robot
    model: Any

    @classmethod
    def of(cls, text: str, robot: Robot) -> "Peer":
        free = (pin.JointModelFreeFlyer(),) if robot.free else ()
        return cls(robot, pin.buildModelFromXML(text, *free))

    @property
    def columns(self) -> np.ndarray:
        """T (Pinocchio's nv, our nv): its rates from ours."""
        robot, before = self.robot, self.robot.nv - self.robot.n
        T = np.zeros((self.model.nv, robot.nv))
        T[:before, :before] = np.eye(before)
        for name, row in zip(robot.all_joint_names, robot.coupling_map[0], strict=True):
            T[self.model.joints[self.model.getJointId(name)].idx_v, before:] = row
        return T

    def position(self, q: np.ndarray) -> np.ndarray:
        """Its q from ours."""
        robot, before = self.robot, self.robot.nq - self.robot.n
        found = pin.neutral(self.model)
        found[:before] = q[:before]
        for name, value in zip(robot.all_joint_names, robot.joint_positions(q), strict=True):
            joint = self.model.joints[self.model.getJointId(name)]
            found[joint.idx_q : joint.idx_q + joint.nq] = (
                value if joint.nq == 1 else (np.cos(value), np.sin(value))
            )
        return found

    def torques(self, q: Any, qd: Any, qdd: Any) -> np.ndarray:
        T = self.columns
        return T.T @ pin.rnea(self.model, self.model.createData(), self.position(q), T @ qd, T @ qdd)

    def mass_matrix(self, q: Any) -> np.ndarray:
        M = pin.crba(self.model, self.model.createData(), self.position(q))
        return self.columns.T @ (np.triu(M) + np.triu(M, 1).T) @ self.columns

    def gravity(self, q: Any) -> np.ndarray:
        return self.columns.T @ pin.computeGeneralizedGravity(
            self.model, self.model.createData(), self.position(q)
        )

    def jacobian(self, q: Any, frame: str) -> np.ndarray:
        number, data = self.model.getFrameId(frame), self.model.createData()
        world = pin.LOCAL_WORLD_ALIGNED
        return pin.computeFrameJacobian(self.model, data, self.position(q), number, world) @ self.columns

    def pose(self, q: Any, frame: str) -> np.ndarray:
        data = self.model.createData()
        pin.framesForwardKinematics(self.model, data, self.position(q))
        return data.oMf[self.model.getFrameId(frame)].homogeneous
