"""M and gravity torques of a chain at several positions at once, for `check`: long chains are not worth a compilation.

Composite bodies, tip to base, each about the origin of its own joint (moved there step by step, so that a light hand
far from the base loses no digits).
"""

from typing import Any

import numpy as np

from forearm.algebra import Matrix, Vector
from forearm.arm import Arm


def weights_and_matrices(arm: Arm, q: Matrix) -> tuple[Matrix, Any]:
    """Gravity torques (S, n) and mass matrices (S, n, n) of the rigid arm at positions (S, n)."""
    S, n = q.shape
    axes, origins, frames = _placed(arm, q)
    pull = np.array(arm.gravity_in_base, dtype=float)
    weights, matrices = np.zeros((S, n)), np.zeros((S, n, n))
    mass, moment, tensor = 0.0, np.zeros((S, 3)), np.zeros((S, 3, 3))
    for i in reversed(range(n)):
        link, (R, p) = arm.links[i], frames[i]
        own, com, inertia = link.about_com
        if i + 1 < n:
            moment, tensor = _shifted(mass, moment, tensor, origins[:, i + 1] - origins[:, i])
        centre = np.einsum("sij,j->si", R, np.array(com, dtype=float)) + p - origins[:, i]
        mass += float(own)
        moment = moment + float(own) * centre
        tensor = (
            tensor + R @ np.array(inertia, dtype=float) @ R.transpose(0, 2, 1) + float(own) * _square(centre)
        )
        z = axes[:, i]
        if link.revolute:  # turning about its origin: momentum and angular momentum of all that is beyond
            force, spin = np.cross(z, moment), np.einsum("sij,sj->si", tensor, z)
            weights[:, i] = -np.sum(z * np.cross(moment, pull), axis=1)
        else:
            force, spin = mass * z, np.cross(moment, z)
            weights[:, i] = -mass * (z @ pull)
        felt = _felt(arm, axes[:, : i + 1], origins[:, i : i + 1] - origins[:, : i + 1], force, spin)
        matrices[:, i, : i + 1] = matrices[:, : i + 1, i] = felt
    return weights, matrices


def _placed(arm: Arm, q: Matrix) -> tuple[Any, Any, list[tuple[Any, Any]]]:
    """Axes and origins of the joints (S, n, 3), and rotation and origin of each link, base axes."""
    S = len(q)
    R, p = np.broadcast_to(np.eye(3), (S, 3, 3)), np.zeros((S, 3))
    axes, origins, frames = [], [], []
    for i, link in enumerate(arm.links):
        axes.append(R[:, :, 2] * link.z[2])
        origins.append(p)
        turn, step = moved(link, q[:, i])
        R, p = R @ turn, p + np.einsum("sij,sj->si", R, step)
        frames.append((R, p))
    return np.stack(axes, axis=1), np.stack(origins, axis=1), frames


def moved(link: Any, q: Vector) -> tuple[Any, Any]:
    """Rotation and step of a link for a batch of joint positions, in the frame before the joint."""
    sign = -1.0 if link.flip else 1.0
    moved = sign * (q + link.offset)
    angle = link.theta + (moved if link.revolute else 0.0 * q)
    along = link.d + (moved if link.prismatic else 0.0 * q)
    c, s, one, zero = np.cos(angle), np.sin(angle), np.ones_like(q), np.zeros_like(q)
    turn = np.array([[c, -s, zero], [s, c, zero], [zero, zero, one]]).transpose(2, 0, 1)
    offset = np.array(link.pose.translation, dtype=float) + np.outer(along, [0.0, 0.0, 1.0])
    return turn @ np.array(link.pose.rotation, dtype=float), np.einsum("sij,sj->si", turn, offset)


def _felt(arm: Arm, axes: Any, reach: Any, force: Any, spin: Any) -> Any:
    """What the joints up to one feel of a wrench at its origin (S, i + 1)."""
    turning = np.array([link.revolute for link in arm.links[: axes.shape[1]]])
    moments = spin[:, None] + np.cross(reach, force[:, None])
    return np.sum(axes * np.where(turning[:, None], moments, force[:, None]), axis=2)


def _shifted(mass: float, moment: Any, tensor: Any, by: Any) -> tuple[Any, Any]:
    """First moment and tensor of a body about a point from which its own point is `by` away."""
    both = _outer(moment, by)
    mixed = 2 * np.einsum("sii->s", both)[:, None, None] * np.eye(3) - both - both.transpose(0, 2, 1)
    return moment + mass * by, tensor + mixed + mass * _square(by)


def _square(c: Any) -> Any:
    """|c|² 1 - c cᵀ, row by row."""
    return np.sum(c * c, axis=1)[:, None, None] * np.eye(3) - _outer(c, c)


def _outer(a: Any, b: Any) -> Any:
    return a[:, :, None] * b[:, None, :]
