"""Pinocchio and MuJoCo on the same description, with drives, payload, tilted base and wrench added by hand."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin

from agreement.libraries import mujoco_model
from forearm.arm import Arm
from forearm.frames import Pose
from forearm.inertia import Inertia
from forearm.link import Drive, Wrench
from forearm.readers import load
from peers.pin_models import from_record, pin_q

REFERENCES = Path(__file__).parents[1] / "peers" / "references"
ARMS = ("puma560", "panda", "iiwa14", "ur5e", "kinova_gen3")
TILT = Pose.at((0.3, -0.2, 0.5), (0.4, -0.7, 1.1))
TOOL = Pose.at((0.02, -0.05, 0.13), (0.3, 0.2, -0.5))
LOAD = dict(mass=1.3, com=(0.03, -0.04, 0.09), inertia=Inertia.box(1.3, 0.1, 0.2, 0.15))
WRENCH = Wrench((3.0, -2.0, 5.0), (0.4, -0.3, 0.2))


@dataclass(frozen=True)
class Variant:
    """What is switched on."""

    drives: bool = False
    payload: bool = False
    tilted: bool = False

    def __str__(self):
        return "+".join(k for k, on in vars(self).items() if on) or "plain"


PLAIN, ALL = Variant(), Variant(True, True, True)
VARIANTS = [Variant(bool(k & 4), bool(k & 2), bool(k & 1)) for k in range(8)]


def drives_of(n):
    """Different drives for every joint, both sides of the gear, unequal dry friction."""
    return [
        Drive(2e-4 * (i + 1), 60 - 7 * i, "motor", 0.3 + 0.1 * i, (0.5 + 0.2 * i, 0.4 + 0.1 * i), 0.02)
        for i in range(n)
    ]


@cache
def arm_of(name, variant=PLAIN) -> Arm:
    """The built-in arm, with what the variant asks for."""
    arm = load(name).without_drives().with_tool(TOOL)
    if variant.drives:
        links = [k.replace(drive=d) for k, d in zip(arm.links, drives_of(arm.n), strict=True)]
        arm = arm.replace(links=links)
    if variant.payload:
        arm = arm.with_payload(frame="flange", **LOAD)
    return arm.with_base(TILT @ arm.base) if variant.tilted else arm


@cache
def pin_of(name, variant=PLAIN):
    """(model, pose of the flange after the last joint), from the original description."""
    model, last = from_record(json.loads((REFERENCES / f"{name}.json").read_text()))
    if variant.payload:
        body = pin.Inertia(LOAD["mass"], np.array(LOAD["com"]), np.array(LOAD["inertia"].tensor))
        model.appendBodyToJoint(model.njoints - 1, body, last)
    if variant.tilted:
        model.gravity = pin.Motion(TILT.R.T @ model.gravity.linear, np.zeros(3))
    return model, last


def rotors(name, variant):
    """Diagonal that the rotors add to M."""
    arm = arm_of(name, variant)
    if not variant.drives:
        return np.zeros(arm.n)
    return np.array([d.rotor_inertia * d.gear**2 for d in drives_of(arm.n)])


def friction(name, variant, qd):
    """The friction curve, written out."""
    if not variant.drives:
        return np.zeros_like(qd)
    out = []
    for d, v in zip(drives_of(len(qd)), qd, strict=True):
        s = v / np.sqrt(v * v + d.smoothing**2)
        out.append(d.viscous * v + (sum(d.coulomb) / 2) * s + (d.coulomb[0] - d.coulomb[1]) / 2 * s * s)
    return np.array(out)


def friction_slope(name, variant, qd):
    """d friction / d qd, written out."""
    if not variant.drives:
        return np.zeros_like(qd)
    out = []
    for d, v in zip(drives_of(len(qd)), qd, strict=True):
        root = np.sqrt(v * v + d.smoothing**2)
        s, slope = v / root, d.smoothing**2 / root**3
        out.append(d.viscous + slope * (sum(d.coulomb) / 2 + (d.coulomb[0] - d.coulomb[1]) * s))
    return np.array(out)


def tool_pose(name, variant, q):
    """World pose of the tool, by Pinocchio."""
    model, last = pin_of(name, variant)
    data = model.createData()
    pin.forwardKinematics(model, data, pin_q(model, q))
    base = pin.SE3(TILT.R, TILT.p) if variant.tilted else pin.SE3.Identity()
    return base * data.oMi[model.njoints - 1] * last * pin.SE3(TOOL.R, TOOL.p)


def pin_torques(name, variant, q, qd, qdd, wrench=None):
    """`rnea` plus drives; the wrench as a force in the last joint's own frame."""
    model, last = pin_of(name, variant)
    forces = [pin.Force.Zero() for _ in range(model.njoints)]
    if wrench is not None:
        pose = tool_pose(name, variant, q)
        at_tool = pin.Force(
            pose.rotation.T @ np.array(wrench.force), pose.rotation.T @ np.array(wrench.moment)
        )
        forces[-1] = (last * pin.SE3(TOOL.R, TOOL.p)).act(at_tool)
    tau = pin.rnea(model, model.createData(), pin_q(model, q), qd, qdd, forces)
    return tau + rotors(name, variant) * qdd + friction(name, variant, qd)


def pin_mass(name, variant, q):
    model, _ = pin_of(name, variant)
    M = pin.crba(model, model.createData(), pin_q(model, q))
    return np.triu(M) + np.triu(M, 1).T + np.diag(rotors(name, variant))


def mujoco_torques(name, variant, q, qd, qdd):
    """`mj_inverse` with armature and damping of its own; dry friction, which it models otherwise, by hand."""
    model, data, dry = _mujoco(name, variant, q, qd)
    data.qacc = qdd
    mujoco.mj_inverse(model, data)
    return data.qfrc_inverse + dry


def mujoco_accelerations(name, variant, q, qd, tau):
    model, data, dry = _mujoco(name, variant, q, qd)
    data.qfrc_applied = tau - dry
    mujoco.mj_forward(model, data)
    return data.qacc.copy()


def mujoco_mass(name, variant, q):
    model, data, _ = _mujoco(name, variant, q, 0 * q)
    mujoco.mj_forward(model, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M) if mujoco.__version__ >= "3.5" else mujoco.mj_fullM(model, M, data.qM)
    return M


def _possible(link):
    low, middle, high = np.linalg.eigvalsh(link.about_com.inertia)
    return low > 0 and low + middle >= high


def _principal(link):
    """Axes (as a quaternion in joint axes) and moments of a body."""
    R = link.pose.R
    moments, axes = np.linalg.eigh(R @ link.about_com.inertia @ R.T)
    axes = axes * np.sign(np.linalg.det(axes))
    turn = np.zeros(4)
    mujoco.mju_mat2Quat(turn, np.ascontiguousarray(axes).ravel())
    return turn, moments


@cache
def _mujoco_model(name, variant):
    arm = arm_of(name, variant)
    # MuJoCo's compiler refuses the published PUMA 560 (a link with one moment and no mass, one that breaks the
    # triangle inequality), so such bodies are put into the compiled model
    odd = [i for i, link in enumerate(arm.links) if link.mass == 0 or not _possible(link)]
    ball = Inertia.about_com(np.eye(3))
    links = [k.replace(mass=k.mass or 1.0, inertia=ball) if i in odd else k for i, k in enumerate(arm.links)]
    model = mujoco_model(arm.replace(links=links))
    for i in odd:
        link, (turn, moments) = arm.links[i], _principal(arm.links[i])
        model.body_inertia[i + 1], model.body_iquat[i + 1] = moments, turn
        model.body_mass[i + 1], model.body_sameframe[i + 1] = link.mass, 0
    model.dof_armature[:] = rotors(name, variant)
    if variant.drives:
        model.dof_damping[:] = [d.viscous for d in drives_of(model.nv)]
    return model


def _mujoco(name, variant, q, qd):
    model = _mujoco_model(name, variant)
    data = mujoco.MjData(model)
    data.qpos, data.qvel = q, qd
    viscous = np.array([d.viscous for d in drives_of(len(q))]) * qd if variant.drives else 0.0
    return model, data, friction(name, variant, qd) - viscous
