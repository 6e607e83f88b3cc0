"""Joints that follow others, as a log has them, held against the couplings that say where they are."""

from collections.abc import Iterable

import numpy as np

from forearm.algebra import Vector
from forearm.robot import Robot

APART = 1e-3
"""So far [rad, m] a joint may be from where its coupling puts it."""


def follower_notes(robot: Robot, joints: Iterable[int], q: Vector, values: Vector) -> tuple[str, ...]:
    """A note for each of these joints (from 0, of all) whose positions (K, joints) are not what q (K, n) makes them."""
    matrix, shift = robot.coupling_map
    told = []
    for joint, column in zip(joints, values.T, strict=True):
        apart = float(np.max(np.abs(column - (q @ matrix[joint] + shift[joint])), initial=0.0))
        if apart > APART:
            link = robot.links[joint]
            unit = "rad" if link.revolute else "m"
            told.append(
                f"WARNING: {link.name!r} follows other joints, and is up to {apart:.3g} {unit} from where they put it; "
                "torques take it where they do. Look at its coupling (factor, offset), and at units"
            )
    return tuple(told)
