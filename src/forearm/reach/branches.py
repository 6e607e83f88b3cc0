"""The branches of a closed form: which are within limits, refined to rounding, one of them or all."""

from dataclasses import replace

import numpy as np

from forearm.algebra import Vector
from forearm.reach.answers import (
    HASTY,
    NOT_FOUND,
    OUT_OF_LIMITS,
    OUT_OF_REACH,
    SMALL,
    SOLVED,
    Rows,
    measured,
    metres_and_radians,
    same_place,
    turned_nearest,
)
from forearm.reach.programs import Programs

THERE = -1e-9
"""A margin above this may be zero: the branch may exist."""
DOUBLE = 1e-9
"""Margins nearer to zero than this are double roots: branches may be the same."""
ROUNDED = 1e-12
"""Errors above this are worth a few steps of Newton's method [m, rad]."""
POLISH = replace(HASTY, tolerance=1e-14, damping=1e-3, most=1, longest=12, patience=12)


def evaluated(programs: Programs, goals: Vector, threads: int) -> tuple[Vector, Vector, Vector, Vector]:
    """q (N, 8, n), errors (N, 8, 2), which branches exist, which of them are within limits (N, 8)."""
    q, margin, slack, far, askew = programs.branches(goals, threads=threads)
    error = metres_and_radians(far, askew)
    there = margin > THERE
    fits = there & (slack > -ROUNDED)
    rough = np.nonzero(fits & ~(error <= ROUNDED).all(axis=-1))
    if len(rough[0]):
        start = np.clip(q[rough], *programs.bounds)
        wanted = goals[rough[0]]
        table = programs.table(0)
        better, _, _ = programs.search(wanted, table, POLISH, first=start, wanted=threads)
        new = measured(programs, better, wanted, threads)
        wins = np.hypot(*new.T) < np.hypot(*error[rough].T)
        at = tuple(index[wins] for index in rough)
        q[at], error[at] = better[wins], new[wins]
    there &= (error <= SMALL).all(axis=-1) | ~fits
    double = np.flatnonzero((np.abs(margin) < DOUBLE).any(axis=-1))
    return q, error, there, fits & there & _first_of_equals(programs, q, fits & there, double)


def _first_of_equals(programs: Programs, q: Vector, good: Vector, rows: Vector) -> Vector:
    """False for branches that are the same as one before them, looked for in some rows only."""
    first = np.ones(good.shape, bool)
    for k in range(1, q.shape[1]):
        for j in range(k):
            same = same_place(programs, q[rows, k], q[rows, j]) & good[rows, j]
            first[rows[same], k] = False
    return first


def chosen_branches(programs: Programs, goals: Vector, reference: Vector, rows: Rows, threads: int) -> None:
    """The branch nearest to the reference, for each goal; or why there is none."""
    q, error, there, good = evaluated(programs, goals, threads)
    reference = reference if reference.ndim == 1 else reference[:, None]
    q = turned_nearest(programs, q, reference)
    away = np.where(good, np.square(q - reference).sum(axis=-1), np.inf)
    best = np.argmin(away, axis=-1)
    found = np.flatnonzero(good.any(axis=-1))
    at = found, best[found]
    rows.q[found], rows.error[found], rows.status[found] = q[at], error[at], SOLVED
    none = (rows.status == NOT_FOUND) & ~good.any(axis=-1)
    rows.status[none & there.any(axis=-1)] = OUT_OF_LIMITS
    rows.status[none & ~there.any(axis=-1)] = OUT_OF_REACH


def every_branch(programs: Programs, goals: Vector, reference: Vector, threads: int) -> tuple[Vector, Vector, Vector]:
    """q (N, K, n), errors (N, K, 2), status (N, K) of all branches within limits, those that exist first."""
    q, error, _, good = evaluated(programs, goals, threads)
    q = turned_nearest(programs, q, reference if reference.ndim == 1 else reference[:, None])
    return packed(q, error, good)


def packed(q: Vector, error: Vector, good: Vector) -> tuple[Vector, Vector, Vector]:
    """What is good of (N, k, …), moved to the front; NaN behind."""
    order = np.argsort(~good, axis=-1, kind="stable")[:, : max(1, int(good.sum(axis=-1).max(initial=0)))]
    rows = np.arange(len(q))[:, None]
    kept = good[rows, order]
    q, error = q[rows, order], error[rows, order]
    q[~kept], error[~kept] = np.nan, np.nan
    return q, error, np.where(kept, SOLVED, "").astype("<U13")
