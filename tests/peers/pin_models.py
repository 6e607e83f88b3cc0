"""Pinocchio models of the originals, from a URDF or from Denavit-Hartenberg rows. Uses nothing of forearm."""

import math
import re
from pathlib import Path

import numpy as np
import pinocchio as pin

DESCRIPTIONS = Path(__file__).parent / "descriptions"
NEAR = 1e-4
"""Descriptions round right angles to 1.5708 or 3.1416: closer than this they are meant to be right."""


def urdf_text(name, exact):
    """The description, with its right angles made exact or left as they were published."""
    text = (DESCRIPTIONS / f"{name}.urdf").read_text()
    return re.sub(r'rpy="([^"]*)"', lambda m: f'rpy="{_right_angles(m[1])}"', text) if exact else text


def _right_angles(rpy):
    turned = []
    for angle in map(float, rpy.split()):
        quarter = round(angle / (math.pi / 2)) * math.pi / 2
        turned.append(repr(quarter if abs(angle - quarter) < NEAR else angle))
    return " ".join(turned)


def from_urdf(name, exact=True):
    """(model, pose after the last joint) of a description in this folder."""
    return pin.buildModelFromXML(urdf_text(name, exact)), pin.SE3.Identity()


def from_rows(rows, gravity):
    """(model, pose after the last joint) of standard Denavit-Hartenberg rows with bodies.

    A row has kind, a, alpha, d, theta, mass, com, inertia (3x3) and about, 'com' or 'origin'.
    """
    model = pin.Model()
    model.gravity = pin.Motion(np.array(gravity, dtype=float), np.zeros(3))
    parent, place = 0, pin.SE3.Identity()
    for i, row in enumerate(rows, 1):
        joint = pin.JointModelRZ() if row["kind"] == "revolute" else pin.JointModelPZ()
        parent = model.addJoint(parent, joint, place, f"joint{i}")
        place = _constant_part(row)
        mass, com, inertia = (
            row["mass"],
            np.array(row["com"], dtype=float),
            np.array(row["inertia"], dtype=float),
        )
        if row["about"] == "origin":
            inertia = inertia - mass * (com @ com * np.eye(3) - np.outer(com, com))
        # a massless body that has inertia (PUMA 560, link 1) can only be given through its matrix
        body = pin.Inertia(mass, com, inertia)
        model.appendBodyToJoint(parent, body, place)
    return model, place


def _constant_part(row):
    """Rz(theta) Tz(d) Tx(a) Rx(alpha): what follows the joint's own motion."""
    a, alpha, d, theta = (row[k] for k in ("a", "alpha", "d", "theta"))
    turn = pin.utils.rotate("z", theta) @ pin.utils.rotate("x", alpha)
    return pin.SE3(turn, np.array([a * math.cos(theta), a * math.sin(theta), d]))


def from_record(record, exact=True):
    """The model that a reference file describes."""
    original = record["original"]
    return (
        from_urdf(original["urdf"], exact)
        if "urdf" in original
        else from_rows(original["rows"], record["gravity"])
    )


def pin_q(model, q):
    """Joint values as Pinocchio wants them: an endless joint takes a cosine and a sine."""
    values = []
    for joint, x in zip(model.joints[1:], q, strict=True):
        values.extend([x] if joint.nq == 1 else [math.cos(x), math.sin(x)])
    return np.array(values)


def quantities(model, last, q, qd, qdd):
    """Mass matrix, gravity torque, torque, energies and pose of frame n at one state."""
    data = model.createData()
    qp, v, a = pin_q(model, q), np.array(qd, dtype=float), np.array(qdd, dtype=float)
    M = pin.crba(model, data, qp)
    M = np.triu(M) + np.triu(M, 1).T
    out = {
        "M": M.tolist(),
        "g": pin.computeGeneralizedGravity(model, data, qp).tolist(),
        "tau": pin.rnea(model, data, qp, v, a).tolist(),
        "kinetic": float(pin.computeKineticEnergy(model, data, qp, v)),
    }
    pin.forwardKinematics(model, data, qp)
    out["pose"] = (data.oMi[model.njoints - 1] * last).homogeneous.tolist()
    return out
