"""The table from a log of torques: least squares, because a torque is linear in what a table stores.

Each measured torque is a sum of stored numbers, times weights of the interpolation, times speeds or accelerations. A
log therefore gives one linear equation for each joint and sample; the least-squares solution of smallest norm is the
table. Numbers that no sample touches stay unknown (nan), and a look-up there is refused. So do those that samples touch
and do not determine: errors of the size that the table leaves of the log could then make much of a joint's torque of
them.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from forearm import faults
from forearm.algebra import States, Vector
from forearm.arm import Arm
from forearm.faults import StateFault, needs_chain
from forearm.outside.libraries.scipy_parts import scipy_part
from forearm.outside.running_log import LOG
from forearm.tabulated.grids import Grid
from forearm.tabulated.log_domains import LogDomain, left_out, log_domain
from forearm.tabulated.lookup_tables import LookupTable, corners, friction_at
from forearm.tabulated.methods import INPUTS
from forearm.tabulated.plans import MOST_BYTES, TablePlan, plan_table, refuse_too_much
from forearm.tabulated.stencils import ORDERS

MISFIT = 0.1
"""Share of a joint's torque that a table may leave over without a word."""
UNSURE = 0.3
"""A number is unknown where its error makes this share of a joint's torque, on motions that go so far:"""
USUAL = {"qd": 2.0, "qdd": 5.0}
"""speeds and accelerations, where none are given, as in random states."""
LEAST = 1e-3
"""No table is believed to say more of a torque than all but this share."""
TRIES = 16
"""Random errors that are tried."""
EXACTLY, ROUGHLY = 1e-14, 1e-8
"""Tolerances of the least squares: of the table, and of the one that tells its error."""
Triplets = list[tuple[Vector, Vector, Vector]]
"""Row, column and value of the equations, in pieces."""


@faults.explained
def learn_table(
    arm: Arm,
    q: States,
    qd: States,
    qdd: States,
    tau: States,
    method: str = "horn_raibert",
    *,
    points: int | Mapping[str, int] = 9,
    interpolation: str = "linear",
    speeds: ArrayLike | None = None,
    accelerations: ArrayLike | None = None,
    most_bytes: float = MOST_BYTES,
) -> LookupTable:
    """A table learnt from measured torques (K, n); how heavy the arm's own links are plays no part.

    What those masses make zero is not stored, so an arm with a tool needs that tool; what the table cannot say of the
    log is told where it is a tenth of a joint's torque or more. Where the log does not determine it, the table is not
    filled, and a look-up is refused. `table.domain` has the errors that were measured on stretches of the log that were
    left out, and how far from the log that was; a look-up of states that are farther says so each time.

    Args:
        arm: Which entries there are, limits of the joints, and their friction, which is taken off the torques first.
        q: Positions (K, n).
        qd: Speeds (K, n).
        qdd: Accelerations (K, n).
        tau: Measured torques (K, n).
        method: As for `tabulate`.
        points: As for `tabulate`.
        interpolation: As for `tabulate`.
        speeds: As for `tabulate`; the log has to determine torques of motions that are so fast.
        accelerations: As for `tabulate`; the same.
        most_bytes: More memory, for the table or for the equations, is refused.
    """
    needs_chain(arm, "a table of torques")
    plan = plan_table(
        arm, method, points=points, interpolation=interpolation, speeds=speeds, accelerations=accelerations
    )
    refuse_too_much(plan, most_bytes, np.inf)
    log = faults.states(arm, "learn_table", q=q, qd=qd, qdd=qdd, tau=tau)
    state = {k: log[k].reshape(-1, arm.n) for k in INPUTS}
    wanted = log["tau"].reshape(-1, arm.n)
    if not len(wanted) == len(state["q"]) == len(state["qd"]) == len(state["qdd"]) > 0:
        sizes = ", ".join(f"{name} {len(x)}" for name, x in (*state.items(), ("tau", wanted)))
        raise StateFault(f"learn_table: the log has rows {sizes}; give as many of each, and at least one.")
    for name, x in (*state.items(), ("tau", wanted)):
        bad = np.flatnonzero(~np.all(np.isfinite(x), axis=1))
        if bad.size:
            raise StateFault(
                f"learn_table: {name} is not finite in {bad.size} rows (the first is row {bad[0]}); leave those out."
            )
    wanted = wanted - friction_at(arm, state["qd"])
    _refuse_many_equations(plan, len(wanted), most_bytes)
    ranges = {"qd": speeds, "qdd": accelerations}
    usual = _sizes(plan, wanted, ranges)
    solution, met, known, left = _solved(plan, state, wanted, usual)
    _tell_unknown(int(np.sum(met & ~known)), int(np.sum(met)))
    _tell_misfit(arm, left, wanted)
    domain = _domain(plan, state, wanted, usual)
    return LookupTable(plan, _stored(plan, solution, known), learnt=True, domain=domain)


def _stored(plan: TablePlan, solution: Vector, known: Vector) -> tuple[Vector, ...]:
    """The numbers by grid; those that are not known are no numbers."""
    pieces = np.split(np.where(known, solution, np.nan), np.cumsum([grid.size for grid in plan.grids])[:-1])
    return tuple(x.reshape(grid.cells, len(grid.entries)) for x, grid in zip(pieces, plan.grids, strict=True))


def _domain(plan: TablePlan, state: dict[str, Vector], wanted: Vector, sizes: Vector) -> LogDomain | None:
    """Where the table holds: stretches of the log are left out once, and looked up in what the rest makes."""
    out = left_out(len(wanted))
    try:
        rest = {k: x[~out] for k, x in state.items()}
        solution, _, known, _ = _solved(plan, rest, wanted[~out], sizes, tolerance=ROUGHLY)
    except StateFault:  # too few samples are left
        domain = None
    else:
        table, asked = LookupTable(plan, _stored(plan, solution, known)), [state[k][out] for k in INPUTS]
        found = table.torques(plan.arm, *asked) - friction_at(plan.arm, state["qd"][out])
        domain = log_domain(plan.arm, state, out, found - wanted[out])
    if domain is None:
        LOG.warning(
            "learn_table: how wrong the table is cannot be measured, because this log, without a fifth of it, does not "
            "determine the torques of that fifth; give a log of more states and speeds, or fewer points."
        )
    return domain


def _tell_misfit(arm: Arm, left: Vector, wanted: Vector) -> None:
    """Say where a table leaves much of the torques over: it may lack what the arm's own numbers make zero."""
    whole = np.sqrt(np.mean(wanted**2, axis=0))
    shares = np.sqrt(np.mean(left**2, axis=0)) / np.where(whole > 0, whole, 1.0)
    worst = int(np.argmax(shares))
    if shares[worst] > MISFIT:
        LOG.warning(
            "learn_table: %.0f %% of the torque of joint %d %r is not in the table (rms over the log); it stores what "
            "the arm's own masses do not make zero (give the arm with its tool or payload), at its points (give more).",
            *(100 * shares[worst], worst + 1, arm.links[worst].name),
        )


def _tell_unknown(unknown: int, touched: int) -> None:
    """Say where a log is too plain for its table: then the rest of it holds near the log's own states only."""
    if unknown > MISFIT * touched:
        LOG.warning(
            "learn_table: the log touches %d numbers of the table and does not determine %d of them, which stay "
            "unknown; the others hold near its states. Give a log of more states and speeds, or fewer points.",
            *(touched, unknown),
        )


def _torque_sizes(wanted: Vector) -> Vector:
    """Root mean square of each joint's torque (n,); a joint that needs next to none has a share of the largest."""
    found = np.sqrt(np.mean(wanted**2, axis=0))
    return np.maximum(found, 0.05 * found.max() or 1.0)


def _sizes(plan: TablePlan, wanted: Vector, ranges: Mapping[str, ArrayLike | None]) -> Vector:
    """How large each number may be: what makes a joint's torque by itself, on motions as fast as is asked for."""
    torque = _torque_sizes(wanted)
    far: dict[str, Vector] = {}
    for what, usual in USUAL.items():
        asked = usual if ranges[what] is None else faults.for_joints(plan.arm, what, ranges[what])
        far[what] = np.broadcast_to(np.asarray(asked, dtype=float), (plan.arm.n,)) / np.sqrt(3.0)
    parts = []
    for grid in plan.grids:
        units = [
            max(t.times * math.prod(far[what][j] for what, j in t.factors) / torque[t.joint] for t in e.terms)
            for e in grid.entries
        ]
        parts.append(np.tile(1.0 / np.array(units), grid.cells))
    return np.concatenate(parts)


def _solved(
    plan: TablePlan, state: dict[str, Vector], wanted: Vector, sizes: Vector, tolerance: float = EXACTLY
) -> tuple[Vector, Vector, Vector, Vector]:
    """The stored numbers of smallest norm, which of them equations touch, and determine; what is left over (K, n)."""
    found: Triplets = []
    begin = 0
    for grid in plan.grids:
        _equations(grid, begin, state, ORDERS[plan.interpolation], plan.arm.n, found)
        begin += grid.size
    rows, columns, values = (np.concatenate(parts) for parts in zip(*found, strict=True))
    met = np.zeros(begin, dtype=bool)
    met[columns[values != 0]] = True
    if wanted.size < np.count_nonzero(met):
        raise StateFault(
            f"learn_table: {len(wanted)} samples are {wanted.size} equations for the {np.count_nonzero(met)} numbers "
            "that they touch, so they do not determine them; give more samples, or fewer points."
        )
    sparse, solvers = scipy_part("sparse"), scipy_part("sparse.linalg")
    matrix = sparse.csr_array((values, (rows, columns)), shape=(wanted.size, begin))
    how = {"atol": tolerance, "btol": tolerance, "conlim": 0, "iter_lim": 4 * begin}
    solution = solvers.lsqr(matrix, wanted.reshape(-1), **how)[0]
    left = wanted - (matrix @ solution).reshape(wanted.shape)
    error = np.maximum(np.sqrt(np.mean(left**2, axis=0)), LEAST * _torque_sizes(wanted))
    weight = np.tile(1.0 / error, len(wanted))
    weighed = sparse.csr_array((values * weight[rows] * sizes[columns], (rows, columns)), shape=matrix.shape)
    return solution, met, met & (_strayed(weighed) < UNSURE), left


def _strayed(matrix: Any) -> Vector:
    """How far each number, of its size, may be from the truth (columns,); equations have errors of one.

    Solutions of (1 + AᵀA) x = b + Aᵀ e, with random b and e, have the covariance that numbers have after the log if
    they are of size one before it.
    """
    rng = np.random.default_rng(0)
    count, begin = matrix.shape
    sparse, solvers = scipy_part("sparse"), scipy_part("sparse.linalg")
    turned = sparse.csr_array(matrix.T)
    normal = sparse.csr_array(turned @ matrix) + sparse.eye_array(begin, format="csr")
    near = sparse.diags_array(1.0 / normal.diagonal())
    square = np.zeros(begin)
    for _ in range(TRIES):
        right = rng.normal(size=begin) + turned @ rng.normal(size=count)
        square += solvers.cg(normal, right, rtol=1e-3, maxiter=4 * begin, M=near)[0] ** 2
    return np.sqrt(square / TRIES)


def _equations(grid: Grid, begin: int, state: dict[str, Vector], order: int, n: int, found: Triplets) -> None:
    """What the numbers of a grid add to each measured torque."""
    sample = np.arange(len(state["q"]))
    for where, weight in corners(grid, state, order):
        for k, entry in enumerate(grid.entries):
            for term in entry.terms:
                amount = weight * term.times
                for what, joint in term.factors:
                    amount = amount * state[what][:, joint]
                found.append((sample * n + term.joint, begin + where * len(grid.entries) + k, amount))


def _refuse_many_equations(plan: TablePlan, samples: int, most: float) -> None:
    order = ORDERS[plan.interpolation]
    each = sum(order ** len(g.axes) * sum(len(e.terms) for e in g.entries) for g in plan.grids)
    needed = 48.0 * samples * each  # three numbers of eight bytes, twice while they are sorted
    if needed > most:
        raise StateFault(
            f"learn_table: {samples} samples with {each} weights each need {needed / 2**30:.3g} GiB of equations, more "
            f"than the {most / 2**30:.3g} GiB allowed; give fewer samples, linear interpolation, or most_bytes=."
        )
