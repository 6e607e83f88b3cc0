"""Pinocchio models of the built-in arms (joint axes along z where the arm's are: its fastest joint type)."""

import numpy as np
import pinocchio as pin


def pinocchio_model(arm):
    """The arm, motors off, as Pinocchio has it."""
    model = pin.Model()
    model.gravity = pin.Motion(np.array(arm.gravity_in_base, dtype=float), np.zeros(3))
    parent, R, p = 0, np.eye(3), np.zeros(3)
    for link in arm.links:
        c, s = np.cos(link.theta), np.sin(link.theta)
        turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        place = pin.SE3(R @ turn, p + R @ (0, 0, link.d))
        assert not link.flip
        assert link.offset == 0
        joint = pin.JointModelRZ() if link.revolute else pin.JointModelPZ()
        parent = model.addJoint(parent, joint, place, link.name)
        mass, r, tensor = link.about_com
        X = link.pose
        tensor = X.R @ tensor @ X.R.T
        model.appendBodyToJoint(
            parent, pin.Inertia(float(mass), X.R @ r + X.p, (tensor + tensor.T) / 2), pin.SE3.Identity()
        )
        R, p = X.R, X.p
    return model
