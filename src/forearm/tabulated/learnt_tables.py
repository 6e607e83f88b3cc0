"""The table from a log of torques: least squares, because a torque is linear in what a table stores.

Each measured torque is a sum of stored numbers, times weights of the interpolation, times speeds or accelerations. A
log therefore gives one linear equation for each joint and sample; the least-squares solution of smallest norm is the
table. Cells that no sample touches stay unknown (nan), and a look-up there is refused.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.sparse.linalg import lsqr

from forearm import faults
from forearm.algebra import States, Vector
from forearm.arm import Arm
from forearm.faults import StateFault, needs_chain
from forearm.outside.running_log import LOG
from forearm.tabulated.grids import Grid
from forearm.tabulated.lookup_tables import LookupTable, corners, friction_at
from forearm.tabulated.methods import INPUTS
from forearm.tabulated.plans import MOST_BYTES, TablePlan, plan_table, refuse_too_much
from forearm.tabulated.stencils import ORDERS

MISFIT = 0.1
"""Share of a joint's torque that a table may leave over without a word."""
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
    log is told where it is a tenth of a joint's torque or more.

    Args:
        arm: Which entries there are, limits of the joints, and their friction, which is taken off the torques first.
        q: Positions (K, n).
        qd: Speeds (K, n).
        qdd: Accelerations (K, n).
        tau: Measured torques (K, n).
        method: As for `tabulate`.
        points: As for `tabulate`.
        interpolation: As for `tabulate`.
        speeds: As for `tabulate`.
        accelerations: As for `tabulate`.
        most_bytes: More memory, for the table or for the equations, is refused.
    """
    needs_chain(arm, "a table of torques")
    plan = plan_table(
        arm, method, points=points, interpolation=interpolation, speeds=speeds, accelerations=accelerations
    )
    refuse_too_much(plan, most_bytes, np.inf)
    state = {k: faults.state(arm, k, x).reshape(-1, arm.n) for k, x in zip(INPUTS, (q, qd, qdd), strict=True)}
    wanted = faults.state(arm, "tau", tau).reshape(-1, arm.n)
    if not len(wanted) == len(state["q"]) == len(state["qd"]) == len(state["qdd"]) > 0:
        sizes = ", ".join(f"{name} {len(x)}" for name, x in (*state.items(), ("tau", wanted)))
        raise StateFault(f"learn_table: the log has rows {sizes}; give as many of each, and at least one.")
    wanted = wanted - friction_at(arm, state["qd"])
    _refuse_many_equations(plan, len(wanted), most_bytes)
    solution, met, left = _solved(plan, state, wanted)
    _tell_misfit(arm, left, wanted)
    solution[~met] = np.nan
    pieces = np.split(solution, np.cumsum([grid.size for grid in plan.grids])[:-1])
    stored = [x.reshape(grid.cells, len(grid.entries)) for x, grid in zip(pieces, plan.grids, strict=True)]
    return LookupTable(plan, tuple(stored), learnt=True)


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


def _solved(plan: TablePlan, state: dict[str, Vector], wanted: Vector) -> tuple[Vector, Vector, Vector]:
    """The stored numbers of smallest norm, which of them any equation has, and what they leave over (K, n)."""
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
    matrix = csr_array((values, (rows, columns)), shape=(wanted.size, begin))
    solution = lsqr(matrix, wanted.reshape(-1), atol=1e-14, btol=1e-14, conlim=0, iter_lim=4 * begin)[0]
    return solution, met, wanted - (matrix @ solution).reshape(wanted.shape)


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
