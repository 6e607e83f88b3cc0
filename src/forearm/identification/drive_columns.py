"""What drives add to a regressor, one column for each number of each joint.

    FV    viscous friction                          [N m s/rad]
    FC    dry friction, mean of both directions     [N m]
    FD    half of what forth has more than back     [N m]
    OF    offset: what a torque sensor or an amplifier shows at rest   [N m]
    IA    rotor inertia, as the joint feels it      [kg m²]

Dry friction is the smooth curve of `drives`: with s = v / sqrt(v² + smoothing²) it is FC s + FD s². Fast enough, s² is
1: then FD and OF cannot be told apart, and only rows slower than the smoothing speed do so.

A motor that turns with several joints (coupled wrists) has columns of its own, FVm, FCm and IAm: they act on its speed,
counted in turns of the joint that it is named for, and on every joint that it turns with.
"""

import math
from dataclasses import dataclass

import numpy as np

from forearm.algebra import Matrix, Vector
from forearm.arm import Arm
from forearm.faults import StateFault
from forearm.outside.libraries.scipy_parts import scipy_part

KINDS = ("FV", "FC", "FD", "OF", "IA")
MOTOR_KINDS = ("FVm", "FCm", "IAm")
NEVER_NEGATIVE = ("FV", "FC", "IA", *MOTOR_KINDS)


@dataclass(frozen=True, eq=False)
class DriveColumns:
    """Which numbers of drives are looked for."""

    kinds: tuple[str, ...]
    """Kinds for each joint, of KINDS."""
    smoothing: Vector
    """Speed over which dry friction turns over (n,)."""
    turns: Matrix
    """For each coupled motor, its turns per turn of each joint (m, n)."""
    motors: tuple[int, ...]
    """The joint, from 0, that each coupled motor is named for."""

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.smoothing)

    @property
    def of_joints(self) -> int:
        """How many columns the joints' own drives have; those of coupled motors follow."""
        return len(self.kinds) * self.n

    @property
    def names(self) -> list[str]:
        """FV1, FV2, …, IAn, then those of coupled motors."""
        joints = [f"{kind}{i}" for kind in self.kinds for i in range(1, self.n + 1)]
        return joints + [f"{kind}{i + 1}" for kind in MOTOR_KINDS for i in self.motors]

    @property
    def kind_of(self) -> list[str]:
        """The kind of each column."""
        joints = [kind for kind in self.kinds for _ in range(self.n)]
        return joints + [kind for kind in MOTOR_KINDS for _ in self.motors]

    def turnover(self, qd: Matrix) -> Matrix:
        """What dry friction depends on (K, 2 n + m): s and s² of each joint, s of each coupled motor."""
        s = qd / np.sqrt(qd**2 + self.smoothing**2)
        v, width = qd @ self.turns.T, self.smoothing[list(self.motors)]
        return np.concatenate([s, s**2, v / np.sqrt(v**2 + width**2)], axis=1)

    def columns(self, qd: Matrix, qdd: Matrix, turnover: Matrix | None = None) -> Matrix:
        """The columns at many states (K, n, number of columns); `turnover`: as filtered, where torques were."""
        dry = self.turnover(qd) if turnover is None else turnover
        s, square, of_motors = np.split(dry, [self.n, 2 * self.n], axis=1)
        values = {"FV": qd, "FC": s, "FD": square, "OF": np.ones_like(qd), "IA": qdd}
        parts = [values[kind][:, :, None] * np.eye(self.n) for kind in self.kinds]
        if self.motors:
            for each in (qd @ self.turns.T, of_motors, qdd @ self.turns.T):
                parts.append(each[:, None, :] * self.turns.T)
        return np.concatenate(parts, axis=2) if parts else np.zeros((*qd.shape, 0))

    def of(self, arm: Arm) -> Vector:
        """The numbers that an arm's drives have; offsets and coupled motors are in no arm, and zero."""
        found = {kind: np.zeros(self.n) for kind in KINDS}
        for i, link in enumerate(arm.links):
            forth, back = link.drive.coulomb
            found["FV"][i] = link.drive.viscous
            found["FC"][i], found["FD"][i] = (forth + back) / 2, (forth - back) / 2
            found["IA"][i] = link.drive.reflected_inertia
        return np.concatenate([*(found[kind] for kind in self.kinds), np.zeros(3 * len(self.motors))])

    def part(self, values: Vector, kind: str) -> Vector:
        """The numbers of one kind, for each joint (or coupled motor); zeros where it was not looked for."""
        picked = np.array([k == kind for k in self.kind_of])
        if not picked.any():
            return np.zeros(len(self.motors) if kind in MOTOR_KINDS else self.n)
        return values[picked]


def drive_columns(
    arm: Arm, *, rotors: bool, directions: bool | None, smoothing: float | None, coupling: Matrix | None
) -> DriveColumns:
    """Choose columns: both directions of dry friction apart where asked, or where the arm has them apart."""
    if smoothing is not None and not 0 < smoothing < math.inf:
        raise StateFault(f"smoothing is {smoothing!r}; give a positive speed in rad/s, or leave it out.")
    apart = any(link.drive.coulomb[0] != link.drive.coulomb[1] for link in arm.links)
    both = apart if directions is None else directions
    kinds = ("FV", "FC", *(("FD",) if both else ()), "OF", *(("IA",) if rotors else ()))
    width = [link.drive.smoothing if smoothing is None else smoothing for link in arm.links]
    turns, motors = np.zeros((0, arm.n)), []
    if coupling is not None:
        motor_turns = np.linalg.inv(coupling)
        named = _joint_of_each(motor_turns)
        rows = [k for k, turned in enumerate(_turned(motor_turns)) if np.count_nonzero(turned) > 1]
        motors = [named[k] for k in rows]
        turns = np.array([motor_turns[k] / motor_turns[k, named[k]] for k in rows]).reshape(-1, arm.n)
    return DriveColumns(kinds, np.array(width, dtype=float), turns, tuple(motors))


def _turned(motor_turns: Matrix) -> Matrix:
    """Which joints each motor turns with (n, n); what an inverse leaves of a zero is none."""
    return np.abs(motor_turns) > 1e-12


def _joint_of_each(motor_turns: Matrix) -> list[int]:
    """The joint that each motor is named for: its own where it turns with that, and each joint once.

    Motors may be logged in another order than joints, and need not turn with the joint of their own number (CoreXY).
    """
    turned = _turned(motor_turns)
    cost = np.where(turned, 1.0, len(turned) + 1.0) - turned * np.eye(len(turned))
    return [int(i) for i in scipy_part("optimize").linear_sum_assignment(cost)[1]]
