"""Pinocchio and MuJoCo on the same arm: their models, built from ours link by link, in full precision."""

from functools import cache

import numpy as np

try:
    import pinocchio as pin
except ImportError:  # no wheel for Windows
    pin = None
try:
    import mujoco
except ImportError:
    mujoco = None

NAMES = tuple(name for name, module in (("Pinocchio", pin), ("MuJoCo", mujoco)) if module is not None)


def sources(arm, quantity):
    """Name and function of each library that gives the quantity for this arm."""
    found = {}
    if pin is not None and quantity in PINOCCHIO:
        found["Pinocchio"] = PINOCCHIO[quantity]
    if mujoco is not None and quantity in MUJOCO and _has_volume(arm):
        found["MuJoCo"] = MUJOCO[quantity]
    return found


def _has_volume(arm):
    """Whether every link has three moments of inertia above zero: MuJoCo takes no others."""
    return all(np.linalg.eigvalsh(link.about_com.inertia)[0] > 0 for link in arm.links)


def _steps(arm):
    """For each joint: rotation and translation from the joint before it, with theta and d of its own link."""
    R, p = np.eye(3), np.zeros(3)
    for link in arm.links:
        c, s = np.cos(link.theta), np.sin(link.theta)
        turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        yield R @ turn, p + R @ (0, 0, link.d)
        R, p = link.pose.R, link.pose.p


def _body(link):
    """Mass, centre and inertia in the axes of the joint, where these libraries put a link's frame."""
    mass, r, tensor = link.about_com
    X = link.pose
    return mass, X.R @ r + X.p, X.R @ tensor @ X.R.T


def _offsets(arm):
    return np.array([link.offset for link in arm.links])


# -- Pinocchio -------------------------------------------------------------------------------------------


@cache
def pinocchio_model(arm):
    """The arm as Pinocchio has it; axis z, or -z for a flipped joint."""
    model = pin.Model()
    model.gravity = pin.Motion(np.array(arm.gravity_in_base, dtype=float), np.zeros(3))
    parent = 0
    for link, (R, p) in zip(arm.links, _steps(arm), strict=True):
        z = np.array([0, 0, -1.0 if link.flip else 1.0])
        joint = pin.JointModelRevoluteUnaligned(z) if link.revolute else pin.JointModelPrismaticUnaligned(z)
        parent = model.addJoint(parent, joint, pin.SE3(R, p), link.name)
        mass, center, tensor = _body(link)
        model.appendBodyToJoint(
            parent, pin.Inertia(mass, center, (tensor + tensor.T) / 2), pin.SE3.Identity()
        )
    return model


def _pin_mass_matrix(arm, q):
    model = pinocchio_model(arm)
    M = pin.crba(model, model.createData(), q + _offsets(arm))
    return np.triu(M) + np.triu(M, 1).T


def _pin_torques(arm, q, qd, qdd):
    model = pinocchio_model(arm)
    return pin.rnea(model, model.createData(), q + _offsets(arm), qd, qdd)


def _pin_gravity(arm, q):
    model = pinocchio_model(arm)
    return pin.computeGeneralizedGravity(model, model.createData(), q + _offsets(arm))


def _pin_accelerations(arm, q, qd, tau):
    model = pinocchio_model(arm)
    return pin.aba(model, model.createData(), q + _offsets(arm), qd, tau)


PINOCCHIO = {
    "joint_torques": _pin_torques,
    "mass_matrix": _pin_mass_matrix,
    "gravity_torque": _pin_gravity,
    "joint_accelerations": _pin_accelerations,
}


# -- MuJoCo ----------------------------------------------------------------------------------------------


@cache
def mujoco_model(arm):
    """The arm as MuJoCo has it, made by its own editor (no text in between)."""
    spec = mujoco.MjSpec()
    spec.option.gravity = np.array(arm.gravity_in_base, dtype=float)
    spec.compiler.autolimits = False
    spec.compiler.boundinertia = 0
    spec.compiler.boundmass = 0
    spec.compiler.balanceinertia = False
    parent = spec.worldbody
    for link, (R, p) in zip(arm.links, _steps(arm), strict=True):
        mass, center, tensor = _body(link)
        body = parent.add_body(pos=p, quat=_quaternion(R))
        body.explicitinertial = True
        body.mass, body.ipos = mass, center
        T = tensor
        body.fullinertia = [T[0, 0], T[1, 1], T[2, 2], T[0, 1], T[0, 2], T[1, 2]]
        kind = mujoco.mjtJoint.mjJNT_HINGE if link.revolute else mujoco.mjtJoint.mjJNT_SLIDE
        body.add_joint(type=kind, axis=[0, 0, -1.0 if link.flip else 1.0])
        parent = body
    return spec.compile()


def _quaternion(R):
    quaternion = np.zeros(4)
    mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(R, dtype=float).ravel())
    return quaternion


def _at(arm, q, qd, qdd):
    model = mujoco_model(arm)
    data = mujoco.MjData(model)
    data.qpos, data.qvel, data.qacc = q + _offsets(arm), qd, qdd
    return model, data


def _mujoco_torques(arm, q, qd, qdd):
    model, data = _at(arm, q, qd, qdd)
    mujoco.mj_inverse(model, data)
    return data.qfrc_inverse.copy()


def _mujoco_mass_matrix(arm, q):
    model, data = _at(arm, q, 0 * q, 0 * q)
    mujoco.mj_forward(model, data)
    columns = np.zeros((arm.n, arm.n))
    for column, unit in zip(columns, np.eye(arm.n), strict=True):
        mujoco.mj_mulM(model, data, column, unit)
    return columns.T


MUJOCO = {"joint_torques": _mujoco_torques, "mass_matrix": _mujoco_mass_matrix}
