"""What an identification gives: the arm, its numbers with intervals, residuals, what is determined and what is not."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from forearm.algebra import Matrix, Vector
from forearm.arm import Arm
from forearm.dynamics import inverse_dynamics
from forearm.faults import explained
from forearm.identification.base_columns import BaseColumns
from forearm.identification.drive_columns import DriveColumns
from forearm.identification.least_squares import WIDTH
from forearm.identification.torque_rows import TorqueEquations
from forearm.outside.text_table import text_table

DETERMINED, PRIOR = 0.3, 0.9
"""Below the first share of its prior error a parameter is determined by the data, if these can tell it by itself at
all; above the second it is only prior."""


@dataclass(frozen=True, eq=False)
class BaseFit:
    """Base parameters by weighted least squares, with errors."""

    columns: BaseColumns
    """Which combinations they are."""
    values: Vector
    """Weighted least squares (rank,)."""
    std: Vector
    """Standard deviations (rank,)."""
    covariance: Matrix
    """Covariance of the values (rank, rank)."""
    consistent: Vector
    """Those of the identified arm (rank,): what consistency and prior make of them."""

    @property
    def names(self) -> tuple[str, ...]:
        """The parameter that each group is kept in."""
        return self.columns.names

    @property
    def groups(self) -> tuple[str, ...]:
        """Each group as a sum of parameters."""
        return self.columns.groups

    @property
    def intervals(self) -> Matrix:
        """95 % intervals (rank, 2)."""
        return np.stack([self.values - WIDTH * self.std, self.values + WIDTH * self.std], axis=1)

    def of(self, arm: Arm) -> Vector:
        """The same combinations of another arm (rank,)."""
        return self.columns.of(arm)


@dataclass(frozen=True, eq=False)
class Residuals:
    """What is not explained, of the filtered torque: for each joint, then for all together."""

    joints: tuple[str, ...]
    """Names of the joints."""
    fits: dict[str, Vector]
    """'ordinary', 'weighted' and 'consistent' fit -> (n + 1,), on the log."""
    validated: dict[str, Vector] | None
    """The same on the log that was not fitted to."""
    noise: Vector
    """Standard deviation of what is left, for each joint (n,) [N m or N]."""

    @property
    def train(self) -> Vector:
        """Of the identified arm on the log, for each joint (n,)."""
        return self.fits["consistent"][:-1]

    @property
    def validation(self) -> Vector | None:
        """Of the identified arm on the other log, for each joint (n,)."""
        return None if self.validated is None else self.validated["consistent"][:-1]

    @property
    def train_total(self) -> float:
        """Of the identified arm on the log, all joints together."""
        return float(self.fits["consistent"][-1])

    @property
    def validation_total(self) -> float | None:
        """Of the identified arm on the other log, all joints together."""
        return None if self.validated is None else float(self.validated["consistent"][-1])


@dataclass(frozen=True, eq=False)
class Parameters:
    """All parameters of the identified arm, and where each comes from."""

    names: tuple[str, ...]
    """M1 … ZZn, then those of the drives."""
    values: Vector
    """Their values."""
    std: Vector
    """Standard deviations from data and prior together."""
    prior_std: Vector
    """Standard deviations from the prior alone."""
    alone: frozenset[int]
    """Places of those that torques can tell by themselves; of the others they tell sums, which the prior shares out."""

    @cached_property
    def source(self) -> tuple[str, ...]:
        """'data', 'both' or 'prior' for each: how much of the prior's error is left, and whether data alone did it."""
        share = self.std / np.maximum(self.prior_std, 1e-300)
        return tuple(
            "prior" if x > PRIOR else "data" if x < DETERMINED and k in self.alone else "both"
            for k, x in enumerate(share)
        )


@dataclass(frozen=True, eq=False)
class Identified:
    """The numbers of a real arm."""

    arm: Arm
    """The identified arm: loads, verifies, checks, compiles like any other."""
    offset: Vector
    """What the torques show beside the arm's own (n,) [N m or N]."""
    base: BaseFit
    """Base parameters with intervals."""
    residuals: Residuals
    """What is not explained."""
    parameters: Parameters
    """All parameters, and where each comes from."""
    coupled: dict[str, float]
    """Friction and rotors of motors that turn with several joints: FVm6, FCm6, IAm6."""
    drives: DriveColumns
    """The columns of the drives."""
    gains: Vector | None
    """Torque of each joint for one ampere (n,), where they were found with a known load."""
    gains_std: Vector | None
    """Their standard deviations (n,), zero where a gain was given."""
    smallest: list[float]
    """Smallest eigenvalue of each link's pseudo-inertia, all positive."""
    cutoff: float
    """Cut-off of the filters [Hz]."""
    log: str
    """The log."""
    notes: tuple[str, ...]
    """What was filtered, mended, left out, and how."""
    equations: TorqueEquations
    """The rows that were fitted to."""
    validation: TorqueEquations | None
    """The rows that were not."""

    @property
    def theta(self) -> Vector:
        """All parameters."""
        return self.parameters.values

    @property
    def determined(self) -> dict[str, str]:
        """Each link's name -> the parameters that the data determine; the others lean on the given arm."""
        names, source = self.parameters.names, self.parameters.source
        found = {}
        for i, link in enumerate(self.arm.links):
            mine = [names[k] for k in range(10 * i, 10 * i + 10) if source[k] == "data"]
            found[link.name] = " ".join(mine)
        return found

    @explained
    def torques(self, q: Any, qd: Any, qdd: Any) -> Matrix:
        """Predicted torques (..., n): the arm's, offsets, and what coupled motors add."""
        rigid = inverse_dynamics(self.arm, q, qd, qdd)
        tau = rigid + self.offset
        if self.coupled:
            v, a = np.asarray(qd, dtype=float), np.asarray(qdd, dtype=float)
            flat = self.drives.columns(v.reshape(-1, self.arm.n), a.reshape(-1, self.arm.n))
            extra = flat[:, :, self.drives.of_joints :] @ np.array(list(self.coupled.values()))
            tau = tau + extra.reshape(v.shape)
        return tau.astype(rigid.dtype, copy=False)

    def __str__(self) -> str:
        return self.text()

    def text(self) -> str:
        """The report as text."""
        n, whole = self.arm.n, self.residuals
        lines = [f"{self.arm.name}: identified from {self.log}", "", *self._residual_lines(), ""]
        part = {kind: self.drives.part(self.theta[10 * n :], kind) for kind in ("FV", "FC", "FD", "IA", "OF")}
        rows = [
            [name, *(f"{part[k][i]:.4g}" for k in ("FV", "FC", "FD", "IA", "OF")), f"{whole.noise[i]:.3g}"]
            for i, name in enumerate(whole.joints)
        ]
        lines += [
            "Drives",
            *text_table(["joint", "viscous", "dry", "± dry", "rotor", "offset", "noise"], rows),
        ]
        lines += [f"  {name} {value:.4g}" for name, value in self.coupled.items()]
        bounds = self.base.intervals
        rows = [
            [name, f"{v:.5g}", f"{s:.2g}", f"{low:.5g}", f"{high:.5g}", f"{c:.5g}"]
            for name, v, s, (low, high), c in zip(
                self.base.names, self.base.values, self.base.std, bounds, self.base.consistent, strict=True
            )
        ]
        header = ["group", "value", "std", "95 % from", "to", "consistent"]
        lines += ["", f"Base parameters ({self.base.columns.rank})", *text_table(header, rows)]
        lines += ["", "Determined by the data; the rest leans on the given arm"]
        lines += [f"  {name}: {found or 'none alone'}" for name, found in self.determined.items()]
        return "\n".join([*lines, "", "Notes", *(f"  - {note}" for note in self.notes)])

    def _residual_lines(self) -> list[str]:
        columns = {f"{name}": values for name, values in self.residuals.fits.items()}
        if self.residuals.validated is not None:
            columns |= {f"{name}, validation": values for name, values in self.residuals.validated.items()}
        rows = [
            [joint, *(f"{values[i]:.2%}" for values in columns.values())]
            for i, joint in enumerate((*self.residuals.joints, "all"))
        ]
        return ["Residual, of the filtered torque", *text_table(["joint", *columns], rows)]

    def html(self) -> str:
        """The report as one HTML page."""
        from forearm.identification.report import report

        return report(self)

    @explained
    def write(self, path: str | Path) -> Path:
        """Write the HTML page; gives the path."""
        from forearm.outside.output_files import replacing_text

        with replacing_text(path) as file:
            file.write(self.html())
        return Path(path)
