"""Base parameters by numbers: which combinations of parameters torques can tell, for any arm.

Columns of a regressor at many random states are gone through in a fixed order; one that those before it explain is
grouped with them (Gautier, Numerical calculation of the base inertial parameters of robots, J. Robotic Systems 8 (1991)
485-506). Drives come first, then what the symbolic rules keep (turning joints: moments and first moments across the
axis), so that masses are what is grouped away.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from forearm.algebra import Matrix, Vector
from forearm.arm import Arm
from forearm.compiler.model.base_parameters import reach_of
from forearm.dynamics import parameter_names, parameters, regressor
from forearm.faults import Seed, explained, needs_chain
from forearm.identification.drive_columns import DriveColumns, drive_columns
from forearm.inertia import TEN
from forearm.outside.whole_process.blas_threads import ONE_BLAS_THREAD

STATES = 400
"""Random states that show the structure."""
RANK = 1e-6
"""A column that leaves less than this, of its own length, is explained by others."""
SMALL = 1e-7
"""A column of which a group would have less than this, of its own length, has no part in it: rounding."""
ONE = 1e-7
"""A coefficient that is nearer to one is written as one."""
ORDER = ("ZZ", "XX", "XY", "XZ", "YZ", "MX", "MY", "YY", "MZ", "M")
"""Which of a link's ten parameters are kept first."""


@dataclass(frozen=True, eq=False)
class BaseColumns:
    """The parameters that torques can tell: `grouping @ theta`."""

    all_names: tuple[str, ...]
    """Names of all parameters, ten for each link, then those of the drives."""
    kept: tuple[int, ...]
    """Places of the columns that stand for the groups."""
    grouping: Matrix
    """(rank, number of parameters): base parameters = grouping @ parameters."""
    drives: DriveColumns
    """The columns of the drives."""

    @property
    def rank(self) -> int:
        """How many base parameters there are."""
        return len(self.kept)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Each group by the parameter that it is kept in."""
        return tuple(self.all_names[k] for k in self.kept)

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """Each group as a sum: 'ZZ1 + IA1 + 0.1024 M2 …'."""
        return tuple(_sum_of(self.all_names, row, k) for row, k in zip(self.grouping, self.kept, strict=True))

    @cached_property
    def alone(self) -> frozenset[int]:
        """Places of the parameters that torques tell by themselves: groups of one."""
        return frozenset(
            k for k, row in zip(self.kept, self.grouping, strict=True) if np.count_nonzero(row) == 1
        )

    def of(self, arm: Arm) -> Vector:
        """The base parameters of an arm (rank,), offsets taken as zero."""
        return self.grouping @ np.concatenate([parameters(arm), self.drives.of(arm)])


@ONE_BLAS_THREAD.inside()
@explained
def base_parameters(
    arm: Arm, *, rotors: bool = True, drives: DriveColumns | None = None, seed: Seed = 0
) -> BaseColumns:
    """The combinations of parameters that torques of this arm can tell, those of its drives among them.

    Args:
        arm: The arm; only its geometry and gravity matter.
        rotors: Whether rotor inertias are among them.
        drives: Which columns of drives; by default viscous and dry friction, offsets and, where asked, rotors.
        seed: Which random states.
    """
    needs_chain(arm, "base_parameters")
    chosen = drives or drive_columns(arm, rotors=rotors, directions=None, smoothing=None, coupling=None)
    q, qd, qdd = arm.random_state(seed, (STATES,))
    X = full_columns(arm, chosen, q, qd, qdd) / _units(arm)[:, None]
    names = (*parameter_names(arm), *chosen.names)
    kept, grouping = _grouped(X.reshape(STATES * arm.n, -1), _order(arm, chosen))
    return BaseColumns(names, kept, grouping, chosen)


def full_columns(
    arm: Arm, drives: DriveColumns, q: Matrix, qd: Matrix, qdd: Matrix, turnover: Matrix | None = None
) -> Matrix:
    """Regressor of all parameters at many states (K, n, 10 n + drives)."""
    return np.concatenate([regressor(arm, q, qd, qdd), drives.columns(qd, qdd, turnover)], axis=2)


def _order(arm: Arm, drives: DriveColumns) -> list[int]:
    """Friction and offsets first, which nothing else explains; then bodies, rotors, and what may be grouped away."""
    width = 10 * arm.n
    kinds = drives.kind_of
    first = [width + k for k, kind in enumerate(kinds) if kind not in ("IA", "IAm")]
    last = [width + k for k, kind in enumerate(kinds) if kind in ("IA", "IAm")]
    bodies = [10 * i + TEN.index(name) for name in ORDER for i in range(arm.n)]
    moments = 7 * arm.n
    return [*first, *bodies[:moments], *last, *bodies[moments:]]


def _units(arm: Arm) -> Vector:
    """Of each joint's torque (n,): a moment is measured by the arm's own length, so that forces do not drown it."""
    length = reach_of(arm) + max(float(np.linalg.norm(link.com)) for link in arm.links)
    return np.array([length if link.revolute and length else 1.0 for link in arm.links])


def _grouped(X: Matrix, order: list[int]) -> tuple[tuple[int, ...], Matrix]:
    R = np.linalg.qr(X, mode="r")  # the same angles between columns, in fewer rows
    sizes = np.linalg.norm(R, axis=0)
    sizes[sizes <= RANK**2 * sizes.max()] = 0.0  # rounding of frames: such a column is none
    scaled = np.where(sizes > 0, R, 0.0) / np.where(sizes > 0, sizes, 1.0)
    basis = np.zeros((len(R), 0))
    kept: list[int] = []
    for k in order:
        if sizes[k] <= 0:
            continue
        rest = scaled[:, k]
        for _ in range(2):  # once more: what rounding left
            rest = rest - basis @ (basis.T @ rest)
        length = float(np.linalg.norm(rest))
        if length > RANK:
            basis = np.column_stack([basis, rest / length])
            kept.append(k)
    kept.sort()
    grouping = np.linalg.lstsq(scaled[:, kept], scaled, rcond=None)[0]
    grouping[np.abs(grouping) < SMALL] = 0.0  # shares: a coefficient in m² is small on any small arm
    grouping = grouping * sizes / sizes[kept][:, None]
    grouping[:, kept] = np.eye(len(kept))
    return tuple(kept), grouping


def _sum_of(names: tuple[str, ...], row: Vector, first: int) -> str:
    others = [k for k in np.flatnonzero(row) if k != first]
    words = [names[first]]
    for k in others:
        size = abs(row[k])
        factor = "" if abs(size - 1) < ONE else f"{size:.6g} "
        words.append(f"{'+' if row[k] > 0 else '-'} {factor}{names[k]}")
    return " ".join(words)
