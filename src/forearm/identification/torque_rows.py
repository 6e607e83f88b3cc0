"""The rows that are solved: a regressor of all parameters and the torques, filtered alike, of one log."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from forearm.algebra import Matrix, Vector
from forearm.arm import Arm
from forearm.dynamics import inverse_dynamics
from forearm.identification.base_columns import full_columns
from forearm.identification.drive_columns import DriveColumns, drive_columns
from forearm.identification.measured.filters import Filtered

MOST_ROWS = 4000
"""Rows of a regressor that are held at once, before they are thinned out."""


@dataclass(frozen=True, eq=False)
class TorqueEquations:
    """X theta = tau, row by row."""

    X: Matrix
    """(K, n, number of parameters)."""
    tau: Matrix
    """Torques (K, n), filtered like the columns."""
    t: Vector
    """Times (K,) [s]."""
    motion: Filtered
    """What they were made from."""
    kept: Matrix | None = None
    """Which torques count (K, n), where some were left out: X and tau are zero there. All of them if None."""
    known: Matrix | float = 0.0
    """Torques (K, n) of what is not looked for and is believed as given: rotors, where they are not."""

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.tau.shape[1]

    @property
    def sought(self) -> Matrix:
        """Torques that the parameters have to explain (K, n)."""
        return self.tau - self.known

    @cached_property
    def scale(self) -> Vector:
        """Root mean square of each joint's torque (n,)."""
        return np.sqrt(np.mean(self.tau**2, axis=0))

    def rows(self, weights: Vector, kept: Any = slice(None)) -> tuple[Matrix, Vector]:
        """Weighted rows (K n, columns) and torques (K n,)."""
        X = self.X[:, :, kept] * weights[:, None]
        return X.reshape(-1, X.shape[2]), (self.sought * weights).ravel()

    @property
    def counts(self) -> Vector:
        """How many torques of each joint count (n,)."""
        return np.full(self.n, len(self.tau)) if self.kept is None else np.sum(self.kept, axis=0)

    def without(self, left_out: Matrix) -> "TorqueEquations":
        """The rows without some torques (K, n); as they are where that is empty."""
        if not left_out.size:
            return self
        keep = ~left_out
        return replace(
            self, X=self.X * keep[:, :, None], tau=self.tau * keep, kept=keep, known=self.known * keep
        )

    def residual(self, theta: Vector) -> Matrix:
        """Torques that parameters do not explain (K, n)."""
        return self.sought - self.X @ theta


def equations_of(arm: Arm, drives: DriveColumns, motion: Filtered) -> TorqueEquations:
    """The rows of a filtered log."""
    thin = motion.thinning
    step = max(1, MOST_ROWS // thin.factor) * thin.factor
    overlap = len(thin.weights) - 1
    turnover = motion.coarsening(drives.turnover(motion.fine_qd))
    parts = []
    for start in range(0, len(motion.t) - overlap, step):
        span = slice(start, start + step + overlap)
        states = (motion.q[span], motion.qd[span], motion.qdd[span])
        columns = full_columns(arm, drives, *states, turnover[span])
        part = thin(columns)
        parts.append(part[: -(-step // thin.factor)])
    X = np.concatenate(parts)
    rotors = [0.0 if "IA" in drives.kinds else float(link.drive.reflected_inertia) for link in arm.links]
    known = thin(motion.qdd * rotors) if any(rotors) else 0.0
    return TorqueEquations(X, thin(motion.tau), thin(motion.t), motion, known=known)


def torques_of(arm: Arm, motion: Filtered) -> Matrix:
    """What the arm as it is given needs for a motion (K', n), filtered as the measured torques were."""
    drives = drive_columns(arm, rotors=False, directions=True, smoothing=None, coupling=None)
    dry = [drives.part(drives.of(arm), kind) for kind in ("FC", "FD")]
    turnover = motion.coarsening(drives.turnover(motion.fine_qd)) - drives.turnover(motion.qd)
    late = sum(friction * part for friction, part in zip(dry, np.split(turnover, 2, axis=1), strict=True))
    return motion.thinning(inverse_dynamics(arm, motion.q, motion.qd, motion.qdd) + late)
