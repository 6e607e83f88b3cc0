"""Joints that rest: there dry friction is any torque up to what it is in motion, and no file says more."""

import math

import numpy as np

from forearm.algebra import Matrix, Vector
from forearm.arm import Arm
from forearm.identification.least_squares import WIDTH, LeastSquares
from forearm.identification.measured.filters import Filtered
from forearm.identification.torque_rows import TorqueEquations
from forearm.outside.libraries.scipy_parts import scipy_part

SLOW, STILL = 3.0, 0.01
"""A joint rests below so many times the speed over which dry friction turns over, and this part of its top speed,"""
RESTS = 0.15
"""for at least so long [s]: one that turns round is soon on its way again."""
WORTH = 0.01
"""What may be off by less than this share of a payload's mass, or of a thing's size, is not told."""


def resting(arm: Arm, motion: Filtered) -> Matrix:
    """Where a joint rests (K, n), with the rows beside it that filters smear into one another."""
    ndimage = scipy_part("ndimage")
    width = np.array([float(link.drive.smoothing) for link in arm.links])
    speed = np.abs(motion.qd)
    still = speed < np.maximum(SLOW * width, STILL * np.max(speed, axis=0))
    dt = float(np.median(np.diff(motion.t)))
    reach = 2 * math.ceil(0.5 / motion.cutoff / dt) + 1
    still = ndimage.binary_opening(still, np.ones((math.ceil(RESTS / dt), 1), dtype=bool))
    found: Matrix = ndimage.binary_dilation(still, np.ones((reach, 1), dtype=bool))
    return found


def told_of_rests(
    arm: Arm, equations: TorqueEquations, fit: LeastSquares, ten: Vector, com_std: Vector, size: float
) -> list[str]:
    """A warning where dry friction at rest may have changed a payload by more than its intervals say.

    Args:
        arm: Whose friction it is.
        equations: Rows of the payload.
        fit: Their least squares.
        ten: The payload's ten numbers, as they were found.
        com_std: Standard deviations of its centre (3,) [m].
        size: Of a thing that the arm holds [m].
    """
    dry = np.array([max(map(float, np.ravel(link.drive.coulomb)), default=0.0) for link in arm.links])
    rests = equations.motion.thinning(resting(arm, equations.motion).astype(float)) > 0.5
    if not np.any(rests * dry):
        return []
    changes = _changes(equations, fit, rests * dry)
    mass = float(np.sum(np.abs(changes[:, 0])))
    com = np.sum(np.abs(changes[:, 1:4] - ten[1:4] / ten[0] * changes[:, :1]), axis=0) / ten[0]
    away = float(np.max(com))
    if mass <= max(WIDTH * fit.std[0], WORTH * ten[0]) and np.all(
        com <= np.maximum(WIDTH * com_std, WORTH * size)
    ):
        return []
    said = ", ".join(
        f"{name} {share:.0%} of the time, dry friction {most:.3g}"
        for name, share, most in zip(arm.joint_names, np.mean(rests, axis=0), dry, strict=True)
        if share and most
    )
    return [
        f"WARNING: joints rest ({said}), and dry friction of a joint that rests is any torque up to that: the mass "
        f"may be off by {mass:.2g} kg and the centre by {away:.2g} m, whatever the intervals say. Move every joint "
        "that carries the payload."
    ]


def _changes(equations: TorqueEquations, fit: LeastSquares, held: Matrix) -> Matrix:
    """What friction (K, n) of one sign in each rest of each joint would change in the ten numbers (rests, 10)."""
    X, _ = equations.rows(fit.weights, slice(0, len(fit.values)))
    sizes = np.linalg.norm(X, axis=0)
    sizes = np.where(sizes > 0, sizes, np.inf)
    tall = X / sizes
    by_row = (tall @ np.linalg.pinv(tall.T @ tall, rcond=1e-10, hermitian=True) / sizes)[:, :10]
    by_row = by_row.reshape(*held.shape, 10) * (held * fit.weights)[:, :, None]
    found = []
    for joint in np.flatnonzero(np.any(held, axis=0)):
        begins = np.flatnonzero(np.diff(held[:, joint] > 0, prepend=False, append=False))[::2]
        found.append(np.add.reduceat(by_row[:, joint], begins, axis=0))
    return np.concatenate(found)
