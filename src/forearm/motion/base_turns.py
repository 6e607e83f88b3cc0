"""How a free base is turned, in a log: quaternions that were rounded are brought back to length one, others refused."""

import numpy as np

from forearm.algebra import Vector
from forearm.arm import Arm
from forearm.free_base import unit_rows
from forearm.motion.number_tables import NumberTable, refuse
from forearm.robot import Robot

ROUNDED = 1e-2
"""How far from one the length of a quaternion may be: two digits."""
EXACT = 1e-6
"""What is brought back without a word: six digits."""


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
