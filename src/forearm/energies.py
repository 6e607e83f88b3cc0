"""Kinetic and potential energy and momentum from forward kinematics alone, on any scalar, one state.

No formulation is used here, so that the laws of `verify` have something independent to hold on to.
"""

from typing import Any

import numpy as np

from forearm.algebra import Matrix, Scalar, Vector, cross, product
from forearm.arm import Arm
from forearm.faults import needs_dynamics
from forearm.free_base import base_columns
from forearm.kinematics import frame_velocities, joint_axes, joint_frames, link_poses, link_velocities
from forearm.link import Link
from forearm.robot import Robot


def kinetic_energy(arm: Arm | Robot, q: Vector, qd: Vector) -> Scalar:
    """½ Σ (m v·v + ω·I ω) [J], the links' and the reflected rotors'."""
    needs_dynamics(arm, "kinetic energy")
    total: Scalar = 0.0
    for link, (R, _), (v, w), rate in _bodies(arm, q, qd):
        mass, _, inertia = link.about_com
        w_link = product(R.T, w)
        total = total + (mass * (v @ v) + w_link @ (inertia @ w_link)) / 2
        total = total + link.drive.reflected_inertia * rate * rate / 2
    return total


def potential_energy(arm: Arm | Robot, q: Vector) -> Scalar:
    """-Σ m g·c [J], zero at the world's origin."""
    needs_dynamics(arm, "potential energy")
    gx, gy, gz = arm.gravity
    total: Scalar = 0.0
    for link, (R, p) in _placed(arm, q):
        mass, center, _ = link.about_com
        c = p + product(R, center)
        total = total - mass * (gx * c[0] + gy * c[1] + gz * c[2])
    return total


def center_of_mass(arm: Arm | Robot, q: Vector) -> Vector:
    """Σ m c / Σ m (3,), world axes [m]."""
    needs_dynamics(arm, "centre of mass")
    moments = [link.mass * (p + product(R, link.about_com.center)) for link, (R, p) in _placed(arm, q)]
    return np.add.reduce(moments) / arm.total_mass  # type: ignore[no-any-return]


def center_of_mass_jacobian(arm: Arm | Robot, q: Vector) -> Matrix:
    """J (3, n) of the centre of mass, world axes: each joint moves the mass beyond it."""
    needs_dynamics(arm, "centre of mass")
    poses = link_poses(arm, q)
    masses: list[Any] = [link.mass for link in arm.links]
    moments: list[Any] = [
        link.mass * (p + product(R, link.about_com.center))
        for link, (R, p) in zip(arm.links, poses[1:], strict=True)
    ]
    for i in range(len(arm.links) - 1, -1, -1):
        if parent := arm.parents[i]:
            masses[parent - 1] = masses[parent - 1] + masses[i]
            moments[parent - 1] = moments[parent - 1] + moments[i]
    total, columns = arm.total_mass, []
    frames, axes = joint_frames(arm, poses), joint_axes(arm, poses)
    for link, axis, (_, p), mass, moment in zip(arm.links, axes, frames, masses, moments, strict=True):
        columns.append((cross(axis, moment - mass * p) if link.revolute else axis * mass) / total)
    if not isinstance(arm, Robot):
        return np.array(columns).T
    J = np.array([arm.independent(row) for row in np.array(columns).reshape(-1, 3).T])
    if not arm.free:
        return J
    R, p = poses[0]
    return np.concatenate([base_columns(R, center_of_mass(arm, q) - p)[:3], J], axis=1)


def linear_momentum(arm: Arm | Robot, q: Vector, qd: Vector) -> Vector:
    """Σ m v (3,), world axes [kg m/s]."""
    needs_dynamics(arm, "momentum")
    return np.add.reduce([link.mass * v for link, _, (v, _), _ in _bodies(arm, q, qd)])


def angular_momentum(arm: Arm | Robot, q: Vector, qd: Vector, about: Any = None) -> Vector:
    """Σ (c × m v + R I Rᵀ ω) (3,) about the world's origin (or another point), world axes [kg m²/s]."""
    needs_dynamics(arm, "angular momentum")
    parts = []
    for link, (R, p), (v, w), _ in _bodies(arm, q, qd):
        mass, center, inertia = link.about_com
        spin = product(R, inertia @ product(R.T, w))
        lever = p + product(R, center)
        parts.append(cross(lever if about is None else lever - about, mass * v) + spin)
    return np.add.reduce(parts)


def _placed(arm: Arm | Robot, q: Vector) -> list[tuple[Link, tuple[Matrix, Vector]]]:
    """Every body that moves, as a link, with the pose of its frame."""
    poses = link_poses(arm, q)
    base = [(arm.trunk.as_link, poses[0])] if isinstance(arm, Robot) and arm.free else []
    return [*base, *zip(arm.links, poses[1:], strict=True)]


def _bodies(arm: Arm | Robot, q: Vector, qd: Vector) -> list[tuple[Link, Any, tuple[Vector, Vector], Scalar]]:
    """Every body that moves, the pose of its frame, the velocities of its centre of mass, and its joint's rate."""
    rates, base = qd, []
    if isinstance(arm, Robot):
        rates = arm.joint_rates(qd)
        if arm.free:
            pose, (v, w) = link_poses(arm, q)[0], frame_velocities(arm, q, qd)[0]
            moving = v + cross(w, product(pose[0], arm.trunk.as_link.about_com.center)), w
            base = [(arm.trunk.as_link, pose, moving, 0.0)]
    poses, velocities = link_poses(arm, q)[1:], link_velocities(arm, q, qd)
    return [*base, *zip(arm.links, poses, velocities, rates, strict=True)]
