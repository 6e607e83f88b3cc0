"""Logs of robots: whose columns they hold, joints that follow others, and how a free base is turned."""

import re
from collections.abc import Iterable, Sequence

import numpy as np

from forearm.algebra import Vector
from forearm.arm import Arm
from forearm.free_base import unit_rows
from forearm.motion.columns import LOGGED, WORDS, Header
from forearm.motion.number_tables import NumberTable, refuse
from forearm.outside.escapes import one_line
from forearm.robot import Robot

APART = 1e-3
"""So far [rad, m] a joint may be from where its coupling puts it."""
ROUNDED = 1e-2
"""How far from one the length of a quaternion may be: two digits."""
EXACT = 1e-6
"""What is brought back without a word: six digits."""

QUANTITIES = frozenset(word for words in WORDS.values() for word in words.split())
"""Words that say what a column is, not whose."""


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


def source_notes(titles: Sequence[str], columns: Header) -> tuple[str, ...]:
    """A note where quantities come from different topics or structures: of two arms, or wanted and measured ones."""
    named: dict[str, list[str]] = {}
    for (kind, _), column in columns.places.items():
        if kind != "t":
            named.setdefault(kind, []).append(titles[column.at])
    sources = {kind: _source(found) for kind, found in named.items()}
    if len(set(sources.values())) < 2:
        return ()
    told = ", ".join(f"{kind} of {one_line(source) or 'no name'!r}" for kind, source in sources.items())
    return (f"columns come from more than one source ({told}): taken as of one arm, measured together",)


def _source(titles: Sequence[str]) -> str:
    """What stands before joints and quantities in some titles: left. of left.q1, /joint_states/ of a message."""
    bare = [rest if kind in LOGGED else title for title in titles for kind, _, rest in [title.partition(":")]]
    found = []
    for levels in zip(*(re.findall(r"[^/.]*[/.]", title) for title in bare), strict=False):
        if len(set(levels)) > 1 or levels[0][:-1].lower().removesuffix("s") in QUANTITIES:
            break
        found.append(levels[0])
    return "".join(found)
