"""All solutions of an arm without a closed form: a search from every start of the table, equals counted once."""

from dataclasses import replace

import numpy as np

from forearm.algebra import Vector
from forearm.faults import StateFault
from forearm.outside.option_names import option
from forearm.reach.answers import HASTY, SMALL, measured, same_place, turned_nearest
from forearm.reach.branch_choice import packed
from forearm.reach.programs import STARTS, Programs

MOST = 16
"""Solutions that are kept of one goal: no arm of six joints has more (Primrose, 1986), but for whole turns."""
FROM_EACH = replace(HASTY, most=1, longest=100, patience=10)
APART = 1e-4
"""Solutions nearer to each other are one [rad, m]: at a double root an error of 1e-11 leaves 3e-6."""
AT_ONCE = 64
"""Goals whose searches are held in memory together."""


def every_distinct(
    programs: Programs, goals: Vector, reference: Vector, seed: int, threads: int
) -> tuple[Vector, Vector, Vector]:
    """q (N, K, n), errors (N, K, 2), solved (N, K); refused where solutions are not separate points."""
    arm = programs.arm
    if programs.moving > programs.rows:
        raise StateFault(
            f"inverse_kinematics: {programs.moving} joints of arm {arm.name!r} move frame {programs.frame!r}, and the "
            f"goal fixes {programs.rows} numbers, so solutions have no number; leave {option('every', 'True')} out, "
            f"and give {option('posture', '…')} or {option('q0', '…')} to say which one you want."
        )
    count = len(goals)
    q, error = np.full((count, MOST, arm.n), np.nan), np.full((count, MOST, 2), np.nan)
    known = np.zeros(count, np.int64)
    for begin in range(0, count, AT_ONCE):
        rows = np.arange(begin, min(count, begin + AT_ONCE))
        found, missing = _from_every_start(programs, goals[rows], reference, rows, seed, threads)
        for k in range(STARTS):
            _enter(programs, rows, found[:, k], missing[:, k], q, error, known)
    return packed(q, error[..., 0], error[..., 1], np.arange(MOST) < known[:, None])


def _from_every_start(
    programs: Programs, goals: Vector, reference: Vector, rows: Vector, seed: int, threads: int
) -> tuple[Vector, Vector]:
    """What each start leads to: q (N, STARTS, n), errors (N, STARTS, 2)."""
    table, n = programs.table(seed), programs.arm.n
    every = np.repeat(goals, STARTS, axis=0)
    first = np.ascontiguousarray(np.broadcast_to(table.states, (len(goals), STARTS, n))).reshape(-1, n)
    q, _, _ = programs.search(every, table, FROM_EACH, first=first, wanted=threads)
    beside = reference if reference.ndim == 1 else np.repeat(reference[rows], STARTS, axis=0)
    q = turned_nearest(programs, q, beside)
    error = measured(programs, q, every, threads)
    return q.reshape(len(goals), STARTS, n), error.reshape(len(goals), STARTS, 2)


def _enter(
    programs: Programs, rows: Vector, found: Vector, missing: Vector, q: Vector, error: Vector, known: Vector
) -> None:
    """Keep a solution of each row if it is one, and new."""
    old = same_place(programs, q[rows], found[:, None], APART).any(axis=-1)
    new = (missing <= SMALL).all(axis=-1) & ~old & (known[rows] < MOST)
    at = rows[new], known[rows[new]]
    q[at], error[at] = found[new], missing[new]
    known[rows[new]] += 1
