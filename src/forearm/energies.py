"""Kinetic and potential energy and momentum from forward kinematics alone, on any scalar, one state.

No formulation is used here, so that the laws of `verify` have something independent to hold on to.
"""

import numpy as np

from forearm.algebra import Scalar, Vector, cross, product
from forearm.arm import Arm
from forearm.faults import needs_dynamics
from forearm.kinematics import link_poses, link_velocities


def kinetic_energy(arm: Arm, q: Vector, qd: Vector) -> Scalar:
    """½ Σ (m v·v + ω·I ω) [J], the links' and the reflected rotors'."""
    needs_dynamics(arm, "kinetic energy")
    total: Scalar = 0.0
    for link, (R, _), (v, w), rate in zip(
        arm.links, link_poses(arm, q)[1:], link_velocities(arm, q, qd), qd, strict=True
    ):
        mass, _, inertia = link.about_com
        w_link = product(R.T, w)
        total = total + (mass * (v @ v) + w_link @ (inertia @ w_link)) / 2
        total = total + link.drive.reflected_inertia * rate * rate / 2
    return total


def potential_energy(arm: Arm, q: Vector) -> Scalar:
    """-Σ m g·c [J], zero at the world's origin."""
    needs_dynamics(arm, "potential energy")
    gx, gy, gz = arm.gravity
    total: Scalar = 0.0
    for link, (R, p) in zip(arm.links, link_poses(arm, q)[1:], strict=True):
        mass, center, _ = link.about_com
        c = p + product(R, center)
        total = total - mass * (gx * c[0] + gy * c[1] + gz * c[2])
    return total


def linear_momentum(arm: Arm, q: Vector, qd: Vector) -> Vector:
    """Σ m v (3,), world axes [kg m/s]."""
    needs_dynamics(arm, "momentum")
    parts = [link.mass * v for link, (v, _) in zip(arm.links, link_velocities(arm, q, qd), strict=True)]
    return np.add.reduce(parts)


def angular_momentum(arm: Arm, q: Vector, qd: Vector) -> Vector:
    """Σ (c × m v + R I Rᵀ ω) (3,) about the world's origin, world axes [kg m²/s]."""
    needs_dynamics(arm, "angular momentum")
    parts = []
    for link, (R, p), (v, w) in zip(
        arm.links, link_poses(arm, q)[1:], link_velocities(arm, q, qd), strict=True
    ):
        mass, center, inertia = link.about_com
        spin = product(R, inertia @ product(R.T, w))
        parts.append(cross(p + product(R, center), mass * v) + spin)
    return np.add.reduce(parts)
