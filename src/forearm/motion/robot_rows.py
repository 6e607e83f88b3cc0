"""Logs of robots: joints that follow others, held against their couplings, and how a free base is turned."""

from collections.abc import Iterable

import numpy as np

from forearm.algebra import Vector
from forearm.arm import Arm
from forearm.free_base import unit_rows
from forearm.motion.number_tables import NumberTable, refuse
from forearm.robot import Robot

APART = 1e-3
"""So far [rad, m] a joint may be from where its coupling puts it."""
ROUNDED = 1e-2
"""How far from one the length of a quaternion may be: two digits."""
EXACT = 1e-6
"""What is brought back without a word: six digits."""


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


def unit_turns(
    robot: Arm | Robot, label: str, table: NumberTable, q: Vector
) -> tuple[Vector, tuple[str, ...]]:
    """Positions (K, nq) with quaternions of length one where the base is free; and a note where that changed them."""
    if not (isinstance(robot, Robot) and robot.free):
        return q, ()
    lengths: Vector = np.linalg.norm(q[:, 3:7], axis=1)
    off = np.abs(lengths - 1)
    row = int(np.argmax(off))
    if off[row] > ROUNDED:
        given = f"the base's quaternion has length {lengths[row]:.6g}"
        refuse(label, table.line(row), given, "qx, qy, qz and qw of length one, as they were recorded")
    if off[row] <= EXACT:
        return unit_rows(q), ()
    told = (
        f"the base's quaternions have lengths up to {off[row]:.2g} from one, and were brought to length one"
    )
    return unit_rows(q), (told,)
