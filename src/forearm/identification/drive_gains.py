"""Gains of drives that nobody knows, from two logs of currents: one without, one with a known load.

    i_j = g_j (X_j theta + L_j),    g = 1 / gains

X are the columns of all base parameters, L the torque that the known load makes (zero in the first log), and rotors
where they are not looked for. One load sets
the scale of everything: without it, gains and masses could all be larger together (Gautier, Briot, Global
identification of joint drive gains and dynamic parameters of robots, J. Dynamic Systems, Measurement and Control 136
(2014) 051025). Currents have the noise, so they are what is explained; taking them as columns, as linear least squares
would, makes every gain too small by the share of noise in them. The linear problem is the start, Gauss-Newton the rest,
and errors of gains and base parameters come out of it together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from forearm.algebra import Matrix, Vector
from forearm.arm import Arm
from forearm.dynamics import parameters
from forearm.faults import StateFault, for_joints
from forearm.identification.least_squares import LeastSquares, autocorrelation_factor
from forearm.identification.torque_rows import TorqueEquations
from forearm.inertia import Inertia

Load = tuple[float, ArrayLike] | tuple[float, ArrayLike, Inertia]
"""Mass, centre and, if known, inertia of a load, in the tool's axes."""
STEPS = 30
"""Gauss-Newton steps at most."""
UNSURE = 0.2
"""A gain with a larger standard deviation, of itself, is not told by the logs."""


@dataclass(frozen=True, eq=False)
class DriveGains:
    """Gains, and the base parameters that were found with them."""

    values: Vector
    """Torque of each joint for one ampere (n,)."""
    std: Vector
    """Standard deviations (n,), zero where a gain was given."""
    fit: LeastSquares
    """Base parameters; their covariance has the errors of the gains in it."""

    def said(self, names: Sequence[str]) -> str:
        """A sentence for the notes."""
        told = [
            f"{name} {value:.4g}" + (f" ± {std:.2g}" if std else " (given)")
            for name, value, std in zip(names, self.values, self.std, strict=True)
        ]
        return (
            f"gains found with the known load: {', '.join(told)}; intervals of parameters hold their errors"
        )


def load_parameters(arm: Arm, load: Any) -> Vector:
    """What a known load in the tool adds to the ten parameters of each link (10 n,)."""
    parts = tuple(load) if isinstance(load, Sequence) else ()
    if len(parts) not in (2, 3) or (len(parts) == 3 and not isinstance(parts[2], Inertia)):
        raise StateFault(
            f"load is {load!r}; give (mass, centre) or (mass, centre, fa.Inertia…) of it, in the tool's axes."
        )
    holding = arm.with_payload(*parts, frame="tool")
    added = parameters(holding) - parameters(arm)
    if not float(parts[0]) > 0:
        raise StateFault(f"load has a mass of {parts[0]!r} kg; give one above zero.")
    return np.asarray(added, dtype=float)


def given_gains(arm: Arm, gains: Any) -> Vector:
    """Gains (n,) with NaN for those that are to be found; all of them where none was given."""
    found = np.full(arm.n, np.nan) if gains is None else for_joints(arm, "gains", gains)
    if found.shape not in ((), (arm.n,)) or np.any(np.isinf(found)) or np.any(found == 0):
        raise StateFault(
            f"gains are {gains}; give a torque for one ampere for each of the {arm.n} joints, nan where it is to be "
            "found."
        )
    spread = np.broadcast_to(found, (arm.n,)).copy()
    if not np.any(np.isnan(spread)):
        raise StateFault(
            "loaded= and load= find gains, but all are given; leave out gains=, or give nan for some."
        )
    return spread


def drive_gains(
    arm: Arm,
    free: TorqueEquations,
    loaded: TorqueEquations,
    added: Vector,
    kept: tuple[int, ...],
    given: Vector,
) -> DriveGains:
    """Find gains and base parameters; the rows have currents in the place of torques.

    Args:
        arm: The arm, for its names.
        free: Rows of the log without a load.
        loaded: Rows of the log with it.
        added: What the load adds to the parameters of the links (10 n,).
        kept: Columns of the base parameters.
        given: Gains (n,), NaN for those that are to be found.
    """
    X = np.concatenate([free.X, loaded.X])[:, :, list(kept)]
    i = np.concatenate([free.tau, loaded.tau])
    known = (free.known, loaded.X[:, :, : len(added)] @ added + loaded.known)
    L = np.concatenate([np.broadcast_to(x, y.tau.shape) for x, y in zip(known, (free, loaded), strict=True)])
    counts = np.maximum(free.counts + loaded.counts, 1)
    there = np.concatenate([np.ones(x.tau.shape, bool) if x.kept is None else x.kept for x in (free, loaded)])
    whole = None if there.all() else there
    problem = _Problem(X, i, L, np.isnan(given))
    theta, g = problem.start(given)
    noise, factor = np.ones(arm.n), np.ones(arm.n)
    for step in range(STEPS):
        J, rest = problem.linear(theta, g)
        noise = np.sqrt(np.sum(rest**2, axis=0) / counts)
        noise = np.maximum(noise, 1e-9 * np.sqrt(np.mean(i**2, axis=0)) + 1e-300)
        if step == 0:
            factor = autocorrelation_factor(rest, J.shape[2], kept=whole)
        change, root = _solved(J, rest, noise * np.sqrt(factor))
        theta, g = theta + change[: len(kept)], g + problem.spread(change[len(kept) :])
        if np.all(np.abs(change) <= 1e-9 * np.sqrt(np.sum(root**2, axis=1)) + 1e-300):
            break
    J, rest = problem.linear(theta, g)
    rows = np.maximum(1.0, counts * (1.0 - (len(kept) + problem.unknown.sum()) / np.sum(counts)))
    noise = np.sqrt(np.sum(rest**2, axis=0) / rows)
    factor = autocorrelation_factor(rest, J.shape[2], kept=whole)
    _, root = _solved(J, rest, noise * np.sqrt(factor))
    covariance = root @ root.T
    std = problem.spread(np.sqrt(np.diag(covariance)[len(kept) :])) / g**2
    _refuse_unsure(arm, 1 / g, std)
    torque = np.abs(noise / g)
    fit = LeastSquares(theta, theta, covariance[: len(kept), : len(kept)], torque, factor)
    return DriveGains(1 / g, std, fit)


class _Problem:
    """i = g (X theta + L), linear in each of the two; some of g are known."""

    def __init__(self, X: Matrix, i: Matrix, L: Matrix, unknown: Vector) -> None:
        self.X, self.i, self.L, self.unknown = X, i, L, unknown

    def spread(self, values: Vector) -> Vector:
        """Values of the unknown gains at the places of their joints (n,), zero elsewhere."""
        found = np.zeros(self.i.shape[1])
        found[self.unknown] = values
        return found

    def start(self, given: Vector) -> tuple[Vector, Vector]:
        """X theta - k i = -L by linear least squares: near enough."""
        rows, n, width = self.X.shape
        known = np.where(self.unknown, 0.0, np.nan_to_num(given))
        currents = (self.i[:, :, None] * np.eye(n))[:, :, self.unknown]
        A = np.concatenate([self.X, -currents], axis=2).reshape(rows * n, -1)
        sizes = np.maximum(np.linalg.norm(A, axis=0), 1e-300)
        right = (known * self.i - self.L).ravel()
        found = np.linalg.lstsq(A / sizes, right, rcond=1e-12)[0] / sizes
        k = known + self.spread(found[width:])
        k = np.where(k == 0, np.max(np.abs(k)) or 1.0, k)
        return found[:width], 1.0 / k

    def linear(self, theta: Vector, g: Vector) -> tuple[Matrix, Matrix]:
        """Slopes (rows, n, unknowns) and what is left (rows, n)."""
        torque = self.X @ theta + self.L
        by_gain = (torque[:, :, None] * np.eye(len(g)))[:, :, self.unknown]
        return np.concatenate([g[:, None] * self.X, by_gain], axis=2), self.i - g * torque


def _solved(J: Matrix, rest: Matrix, noise: Vector) -> tuple[Vector, Matrix]:
    """One step, and a root of the covariance; columns are scaled to length one on the way."""
    A = (J / noise[:, None]).reshape(-1, J.shape[2])
    sizes = np.maximum(np.linalg.norm(A, axis=0), 1e-300)
    R: Matrix = np.asarray(np.linalg.qr(np.column_stack([A / sizes, (rest / noise).ravel()]), mode="r"))
    U, s, Vt = np.linalg.svd(R[:-1, :-1])
    inverse = 1.0 / np.maximum(s, 1e-13 * s[0])
    return (Vt.T * inverse) @ (U.T @ R[:-1, -1]) / sizes, (Vt.T * inverse) / sizes[:, None]


def _refuse_unsure(arm: Arm, gains: Vector, std: Vector) -> None:
    unsure = [
        f"{name!r} ({k:.3g} ± {s:.2g})"
        for name, k, s in zip(arm.joint_names, gains, std, strict=True)
        if not s <= UNSURE * abs(k)
    ]
    if unsure:
        raise StateFault(
            f"gains of joints {', '.join(unsure)} are not told by these two logs. Log a livelier motion with a heavier "
            "load, its centre off the last axis, or give the gains that are known and nan for the others: gains=."
        )
