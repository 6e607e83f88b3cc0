"""The branches of a closed form: which are within limits, refined to rounding, one of them or all."""

from dataclasses import replace

import numpy as np

from forearm.algebra import Vector
from forearm.dynamics import jacobian
from forearm.reach.answers import (
    HASTY,
    NOT_FOUND,
    OUT_OF_LIMITS,
    OUT_OF_REACH,
    SMALL,
    SOLVED,
    Rows,
    same_place,
    turned_nearest,
)
from forearm.reach.closed_forms import INSIDE, TURN, whole_turns
from forearm.reach.programs import FAR, THERE, Programs

DOUBLE = 1e-9
"""Margins nearer to zero than this are double roots: branches may be the same."""
APART = 1e-6
"""Branches nearer to each other are one [rad, m]."""
ROUNDED = 1e-13
"""Errors above this are worth a few steps of Newton's method [m, rad]."""
IN_LINE = 1e-4
"""Axes of which the sine is below this are taken to be in line where it is to be judged what cannot be reached."""
POLISH = replace(HASTY, tolerance=1e-15, damping=1e-3, most=1, longest=12, patience=12)


def chosen_branches(programs: Programs, goals: Vector, reference: Vector, rows: Rows, threads: int) -> None:
    """The branch nearest to the reference, for each goal; or why there is none."""
    if _beyond_a_turn(programs, reference):
        _nearest_of_all(programs, goals, reference, rows, threads)
        return
    q, far, askew, away = programs.branch(goals, reference, threads=threads)
    square, there = np.maximum(far, askew), away < FAR
    rough = np.flatnonzero(there & ~(square <= ROUNDED**2))
    if len(rough):
        q[rough], far[rough], askew[rough] = _polished(
            programs, goals[rough], q[rough], far[rough], askew[rough], threads
        )
        square[rough] = np.maximum(far[rough], askew[rough])
    solved = there & (square <= SMALL**2)
    if solved.all():
        rows.q[:], rows.error[:, 0], rows.error[:, 1], rows.status[:] = (
            q,
            np.sqrt(far),
            np.sqrt(askew),
            SOLVED,
        )
        return
    found = np.flatnonzero(solved)
    rows.q[found], rows.status[found] = q[found], SOLVED
    rows.error[found] = np.sqrt(np.stack([far[found], askew[found]], axis=-1))
    left = np.flatnonzero(~solved & (rows.status == NOT_FOUND))
    q, _, _, exists, good = evaluated(programs, goals[left], rows_or_all(reference, left), threads)
    _say_why(
        programs, rows, left, q, exists, good
    )  # a branch that is good, but not the nearest, is left to the search


def _say_why(programs: Programs, rows: Rows, left: Vector, q: Vector, exists: Vector, good: Vector) -> None:
    """Of rows without a good branch: whether there is one outside the limits; nothing where that is not certain."""
    alone: Vector = ~np.asarray(good.any(axis=-1))
    alone[alone] = ~_one_of_many(programs, q[alone], exists[alone])
    rows.status[left[alone & exists.any(axis=-1)]] = OUT_OF_LIMITS
    rows.status[left[alone & ~exists.any(axis=-1)]] = OUT_OF_REACH


def _one_of_many(programs: Programs, q: Vector, exists: Vector) -> Vector:
    """Goals (N,) of which some branch (N, K, n) is one of infinitely many, of which another may be within limits.

    The arm moves there and its frame does not; or axes 4 and 6 are in line, and what the form takes for joint 6 decides
    whether the others reach as far.
    """
    J = jacobian(programs.arm, np.nan_to_num(q))[..., : programs.moving]
    J[..., :3, :] /= programs.unit
    J[..., [not link.revolute for link in programs.arm.links[: programs.moving]]] *= programs.unit
    sizes = np.linalg.svd(J, compute_uv=False)
    free = exists & (sizes[..., -1] < IN_LINE * sizes[..., 0])
    if programs.moving > 5:
        across = np.cross(J[..., 3:, 3], J[..., 3:, 5], axis=-1)
        free |= np.linalg.norm(across, axis=-1) < IN_LINE
    return np.asarray(free.any(axis=-1))


def _beyond_a_turn(programs: Programs, reference: Vector) -> bool:
    """Whether the reference is further away than kernels look: one turn around the middle of the limits."""
    away = np.abs(reference - np.array(whole_turns(programs.arm)))
    return bool(np.any(away[..., programs.manifold] > TURN))


def _nearest_of_all(programs: Programs, goals: Vector, reference: Vector, rows: Rows, threads: int) -> None:
    """The same from all branches, each turned towards the reference before they are compared."""
    left = np.flatnonzero(rows.status == NOT_FOUND)
    beside = rows_or_all(reference, left)
    q, far, askew, exists, good = evaluated(programs, goals[left], beside, threads)
    away = np.sum((q - (beside if beside.ndim == 1 else beside[:, None])) ** 2, axis=-1)
    best = np.argmin(np.where(good, away, np.inf), axis=-1)[:, None]
    some = np.flatnonzero(good.any(axis=-1))
    rows.q[left[some]] = np.take_along_axis(q, best[..., None], axis=1)[some, 0]
    error = np.sqrt([np.take_along_axis(x, best, axis=1)[some, 0] for x in (far, askew)])
    rows.error[left[some]], rows.status[left[some]] = error.T, SOLVED
    _say_why(programs, rows, left, q, exists, good)


def rows_or_all(values: Vector, rows: Vector) -> Vector:
    """Values of some rows, or those for all."""
    return values if values.ndim == 1 else values[rows]


def evaluated(
    programs: Programs, goals: Vector, reference: Vector, threads: int
) -> tuple[Vector, Vector, Vector, Vector, Vector]:
    """q (N, 8, n), squared misses (N, 8) twice, which branches exist, which of those are within limits (N, 8)."""
    q, margin, slack, far, askew = programs.branches(goals, reference, threads=threads)
    exists = margin > THERE
    fits = exists & (slack > -INSIDE)
    rough = np.nonzero(fits & ~(np.maximum(far, askew) <= ROUNDED**2))
    if len(rough[0]):
        wanted = goals[rough[0]]
        q[rough], far[rough], askew[rough] = _polished(
            programs, wanted, q[rough], far[rough], askew[rough], threads
        )
    if _beyond_a_turn(programs, reference):
        q = turned_nearest(programs, q, reference if reference.ndim == 1 else reference[:, None])
    small = np.maximum(far, askew) <= SMALL**2
    exists &= small | ~fits
    good = fits & small
    double = np.flatnonzero((np.abs(margin) < DOUBLE).any(axis=-1))
    return q, far, askew, exists, good & _first_of_equals(programs, q, good, double)


def _polished(
    programs: Programs, goals: Vector, q: Vector, far: Vector, askew: Vector, threads: int
) -> tuple[Vector, Vector, Vector]:
    """A few steps of Newton's method, where they gain something."""
    start = np.clip(q, *programs.bounds)
    better, _, _ = programs.search(goals, programs.table(0), POLISH, first=start, wanted=threads)
    off, turn = programs.miss(better, goals, threads=threads)
    wins = np.maximum(off, turn) < np.maximum(far, askew)
    return np.where(wins[:, None], better, q), np.where(wins, off, far), np.where(wins, turn, askew)


def _first_of_equals(programs: Programs, q: Vector, good: Vector, rows: Vector) -> Vector:
    """False for branches that are the same as one before them, looked for in some rows only."""
    first = np.ones(good.shape, bool)
    if len(rows):
        for k in range(1, q.shape[1]):
            for j in range(k):
                same = same_place(programs, q[rows, k], q[rows, j], APART) & good[rows, j]
                first[rows[same], k] = False
    return first


def every_branch(
    programs: Programs, goals: Vector, reference: Vector, threads: int
) -> tuple[Vector, Vector, Vector]:
    """q (N, K, n), errors (N, K, 2), solved (N, K) of all branches within limits."""
    q, far, askew, _, good = evaluated(programs, goals, reference, threads)
    return packed(q, np.sqrt(far), np.sqrt(askew), good)


def packed(q: Vector, off: Vector, turn: Vector, good: Vector) -> tuple[Vector, Vector, Vector]:
    """What is good of (N, k, …), moved to the front, NaN behind: q, errors, and which rows are good."""
    known = np.count_nonzero(good, axis=-1)
    most = max(1, int(known.max(initial=0)))
    front = np.arange(most) < known[:, None]
    at = np.zeros(
        front.shape, np.intp
    )  # one gather by row numbers: masks of whole rows cost five times as much
    at.reshape(-1)[np.flatnonzero(front)] = np.flatnonzero(good)
    packed_q = q.reshape(-1, q.shape[-1]).take(at, axis=0)
    error = np.stack([off.reshape(-1).take(at), turn.reshape(-1).take(at)], axis=-1)
    behind = np.flatnonzero(~front)
    packed_q.reshape(-1, q.shape[-1])[behind] = np.nan
    error.reshape(-1, 2)[behind] = np.nan
    return packed_q, error, front
