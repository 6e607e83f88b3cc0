"""What the unknowns of a hypothesis do to torques: torques of a unit of each, and friction as a curve of speed."""

from typing import Any

import numpy as np

from forearm.algebra import Matrix, Vector
from forearm.arm import Arm
from forearm.link import Drive
from forearm.robot import Robot
from forearm.verification.difference.torque_tables import Tables, all_joints, independent


def width_of(arm: Arm | Robot, extra: str) -> int:
    """How many unknowns an extra has."""
    n = arm.n
    own = {
        "armature": n,
        "coupled": n * (n + 1) // 2,
        "viscous": n,
        "dry": n,
        "dry jumps": n,
        "friction": 2 * n,
        "jumps": 2 * n,
        "springs": 2 * n,
    }
    return (own | {"force": 3, "scale": 1, "factors": n, "offset": n}).get(extra, 10)


def unit_torques(
    arm: Arm | Robot,
    extra: str,
    table: Tables,
    numbers: Vector,
    gravity: Vector,
    state: tuple[Matrix, Matrix, Matrix, Matrix],
) -> Any:
    """Torques (S, n, w) of a unit of each unknown of an extra, at q, qd, qdd; for a factor, of all, drives included."""
    q, qd, qdd, drives = state
    if extra == "armature":
        return np.einsum("si,ij->sij", qdd, np.eye(arm.n))
    if extra == "coupled":
        return _coupled_inertia(qdd)
    if extra in ("viscous", "dry", "dry jumps", "friction", "jumps"):
        viscous = np.einsum("si,ij->sij", qd, np.eye(arm.n))
        dry = np.einsum("si,ij->sij", dry_units(arm, qd, extra.endswith("jumps")), np.eye(arm.n))
        both = np.concatenate([viscous, dry], axis=2)
        return {"viscous": viscous, "dry": dry, "dry jumps": dry}.get(extra, both)
    if extra == "springs":
        here = np.einsum("si,ij->sij", q, np.eye(arm.n))
        return np.concatenate([here, np.broadcast_to(np.eye(arm.n), here.shape)], axis=2)
    if extra == "offset":
        return np.broadcast_to(np.eye(arm.n), (len(qd), arm.n, arm.n))
    if extra == "scale":
        return (table.torques(numbers, gravity) + drives)[:, :, None]
    if extra == "factors":
        return np.einsum("si,ij->sij", table.torques(numbers, gravity) + drives, np.eye(arm.n))
    if extra == "force":
        return _weight_at_the_tool(arm, table)
    k = 10 * (int(extra.split()[1]) - 1)
    weight = np.einsum("k,ksic->sic", gravity, table.weight[:, :, :, k : k + 10])
    return table.inertial[:, :, k : k + 10] + weight


def _weight_at_the_tool(arm: Arm | Robot, table: Tables) -> Any:
    """Torques (S, n, 3) that hold a unit of force on the tool along each axis of the base: as of a weight there."""
    assert isinstance(arm, Arm)
    last, point = table.weight[:, :, :, -10:], np.array(arm.tool.translation, dtype=float)
    return np.moveaxis(last[..., 0] + last[..., 1:4] @ point, 0, 2)


def _coupled_inertia(qdd: Matrix) -> Any:
    """Torques (S, n, n (n + 1) / 2) of a unit of each entry of a constant symmetric matrix that M has more."""
    n = qdd.shape[1]
    return np.stack([qdd @ symmetric(unit, n) for unit in np.eye(n * (n + 1) // 2)], axis=2)


def symmetric(entries: Vector, n: int) -> Matrix:
    """The symmetric matrix of these entries on and above its diagonal, row by row."""
    matrix = np.zeros((n, n))
    matrix[np.triu_indices(n)] = entries
    return matrix + np.triu(matrix, 1).T


def dry_units(arm: Arm | Robot, qd: Matrix, jumps: bool) -> Matrix:
    """The dry friction curve of one unit, with each joint's own smoothing or none."""
    unit, widths = Drive(coulomb=(1.0, 1.0)), [float(link.drive.smoothing) for link in arm.state_links]
    return np.array([dry_curve(unit, qd[:, i], 0.0 if jumps else w) for i, w in enumerate(widths)]).T


def dry_curve(drive: Drive, v: Vector, width: float) -> Vector:
    """`drives.dry_friction` of many speeds at once; with no width it jumps, as textbooks have it."""
    s = v / np.sqrt(v * v + width**2) if width else np.sign(v)
    forth, back = (float(c) for c in drive.coulomb)
    return np.asarray(s * ((forth + back) / 2 + (forth - back) / 2 * s))


def own_friction(arm: Arm | Robot, qd: Matrix, width: float | None) -> Any:
    """Friction torques (S, n) of the arm, its dry part smoothed over a width, by default its own."""
    return independent(arm, joint_friction(arm, all_joints(arm, qd), width))


def joint_friction(arm: Arm | Robot, rates: Matrix, width: float | None = None) -> Matrix:
    """Friction torques of every joint, of those that follow others too, by their rates."""
    total = np.zeros_like(rates)
    for i, link in enumerate(arm.links):
        own = float(link.drive.smoothing if width is None else width)
        total[:, i] = float(link.drive.viscous) * rates[:, i] + dry_curve(link.drive, rates[:, i], own)
    return total
