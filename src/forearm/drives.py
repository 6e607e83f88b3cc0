"""Rotor and friction torques, and the share of a joint's forces that its drive has.

Torques of drives are added once, by compiler/model/quantities.py, to every quantity or to none.

Dry friction is one smooth curve with f(0) = 0: with s = v / sqrt(v² + smoothing²) it is
(c₊ + c₋)/2 s + (c₊ - c₋)/2 s², which tends to c₊ for fast positive and to -c₋ for fast negative speed. It never
drives the joint, and it rises with speed as long as the two levels differ by no more than a factor of three.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from forearm.algebra import Matrix, Scalar, Vector, is_zero, sqrt
from forearm.arm import Arm
from forearm.link import Drive

if TYPE_CHECKING:
    from forearm.robot import Robot


def rotor_torque(arm: Arm | Robot, qdd: Vector) -> Vector:
    """Reflected rotor inertia times joint acceleration (n,)."""
    return np.array([link.drive.reflected_inertia * a for link, a in zip(arm.links, qdd, strict=True)])


def rotor_inertias(arm: Arm | Robot) -> Vector:
    """Reflected rotor inertia of each joint (n,): the diagonal that M gains."""
    return np.array([link.drive.reflected_inertia for link in arm.links])


def rotor_matrix(arm: Arm | Robot) -> Matrix:
    """What M gains by the rotors (nv, nv): a diagonal, unless couplings make one joint's rotor another's."""
    inertias = np.diag(rotor_inertias(arm))
    if isinstance(arm, Arm):
        return inertias
    B, before = arm.coupling_map[0], arm.nv - arm.n
    return np.pad(B.T @ inertias @ B, ((before, 0), (before, 0)))


def dry_friction(drive: Drive, v: Scalar) -> Scalar:
    """The smooth Coulomb curve of one joint."""
    forth, back = drive.coulomb
    if is_zero(forth) and is_zero(back):
        return 0.0
    s = v / sqrt(v * v + drive.smoothing * drive.smoothing)
    return s * ((forth + back) / 2 + (forth - back) / 2 * s)


def friction_torque(arm: Arm | Robot, qd: Vector) -> Vector:
    """Viscous and dry friction (n,), to be added to the torque that moves the arm."""
    return np.array(
        [link.drive.viscous * v + dry_friction(link.drive, v) for link, v in zip(arm.links, qd, strict=True)]
    )


def dissipated_power(arm: Arm | Robot, qd: Vector) -> Scalar:
    """Power lost in friction [W]."""
    rates = qd if isinstance(arm, Arm) else arm.joint_rates(qd)
    return friction_torque(arm, rates) @ rates


def drive_and_bearing(arm: Arm | Robot, xp: Any, force: Any, moment: Any) -> tuple[Any, Any, Any]:
    """What each joint carries: along its axis by the drive (..., n), the rest by the bearing (..., n, 3), twice."""
    axes = np.array([link.axis for link in arm.links], dtype=float)
    turns = np.array([[link.revolute] for link in arm.links])
    turning, sliding = (xp.asarray(np.where(mask, axes, 0.0), dtype=force.dtype) for mask in (turns, ~turns))
    drive = (turning * moment).sum(axis=-1) + (sliding * force).sum(axis=-1)
    along = drive[..., None]
    return drive, force - along * sliding, moment - along * turning
