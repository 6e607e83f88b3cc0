"""The payload: mass, centre and inertia of what is in the gripper, from a short motion of a known arm.

The arm's own torques are taken off the log; what is left is linear in the ten parameters of a body at the tool
(Atkeson, An, Hollerbach, Int. J. Robotics Research 5 (1986) 101-119), and in an offset of each joint where sensors have
one.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from forearm import faults
from forearm.algebra import Matrix, Vector
from forearm.arm import Arm
from forearm.dynamics import inverse_dynamics
from forearm.faults import StateFault
from forearm.identification.base_columns import full_columns
from forearm.identification.drive_columns import DriveColumns
from forearm.identification.filters import filtered
from forearm.identification.least_squares import WIDTH, LeastSquares, least_squares
from forearm.identification.log_checks import refuse_shift, time_shift, without_clipping
from forearm.identification.logs import LogSource, read_log
from forearm.identification.torque_rows import Equations
from forearm.inertia import TEN, Inertia, moved_ten, numbers_of, ten_from
from forearm.text_table import text_table

KNOWN = 0.1
"""A number is known where its interval is narrower than this, of a body of that mass and the arm's wrist's size."""
RADIUS = 0.1
"""The size of a thing in a gripper [m], that errors are held against."""


@dataclass(frozen=True, eq=False)
class Payload:
    """What is in the gripper, in the axes of `frame`."""

    frame: str | int
    """Where it is seen from."""
    mass: float
    """Mass [kg]."""
    com: Vector
    """Centre of mass (3,) [m]."""
    inertia: Matrix
    """Tensor about the centre of mass (3, 3) [kg m²]."""
    mass_std: float
    """Standard deviation of the mass [kg]."""
    com_std: Vector
    """Standard deviations of the centre (3,) [m]."""
    inertia_std: Matrix
    """Standard deviations of the tensor about the frame's origin (3, 3) [kg m²]."""
    ten: Vector
    """The ten parameters, in the order of `TEN` (10,)."""
    ten_std: Vector
    """Their standard deviations (10,)."""
    offset: Vector
    """Offsets of the torques (n,), zero where they were not looked for."""
    residual: Vector
    """What is left of the torque that the payload makes, for each joint (n,)."""
    notes: tuple[str, ...]
    """What was filtered, and what the arm cannot tell."""

    @property
    def mass_interval(self) -> tuple[float, float]:
        """95 % interval of the mass [kg]."""
        return self.mass - WIDTH * self.mass_std, self.mass + WIDTH * self.mass_std

    @property
    def com_intervals(self) -> Matrix:
        """95 % intervals of the centre (3, 2) [m]."""
        return np.stack([self.com - WIDTH * self.com_std, self.com + WIDTH * self.com_std], axis=1)

    def on(self, arm: Arm) -> Arm:
        """The arm holding it: the tensor where it is a body's, a point mass otherwise."""
        values = np.linalg.eigvalsh(self.inertia)
        body = values[0] > 0 and values[0] + values[1] >= values[2]
        tensor = Inertia.about_com(self.inertia) if body else None
        return arm.with_payload(self.mass, tuple(self.com), tensor, frame=self.frame)

    def __str__(self) -> str:
        rows = [["mass [kg]", f"{self.mass:.5g}", f"{self.mass_std:.2g}"]]
        rows += [[f"{x} [m]", f"{self.com[k]:.4f}", f"{self.com_std[k]:.1g}"] for k, x in enumerate("xyz")]
        for k, name in enumerate(TEN[4:], 4):
            rows.append([f"{name} [kg m²]", f"{self.ten[k]:.4g}", f"{self.ten_std[k]:.1g}"])
        head = f"payload, axes of {self.frame!r} (moments about its origin)"
        lines = [head, *text_table(["", "value", "std"], rows), *(f"  - {note}" for note in self.notes)]
        return "\n".join(lines)


def identify_payload(
    arm: Arm,
    log: LogSource,
    *,
    frame: str | int = "tool",
    offsets: bool = False,
    gains: ArrayLike | None = None,
    coupling: ArrayLike | None = None,
    degrees: bool | None = None,
    time_unit: str | None = None,
    cutoff: float | None = None,
) -> Payload:
    """Mass, centre and inertia of what the arm holds, with intervals.

    Args:
        arm: The arm without it, friction and all, as `identify` gives it.
        log: A path or a mapping, as in `identify`: some seconds of motion with the payload.
        frame: Whose axes: 'tool', 'flange' or another frame's name.
        offsets: Whether torques may have an offset that is not the arm's.
        gains: Torque of each joint for one ampere (n,), where the log has currents.
        coupling: B with q_joint = B q_motor, or the reductions, for a log of motors.
        degrees: Whether angles without a unit are in degrees; None for radians, refused where they cannot be.
        time_unit: Unit of a file's time: 's', 'ms', 'us', 'ns'.
        cutoff: Cut-off of the filters [Hz]; chosen from the data otherwise.
    """
    faults.needs_arm(arm)
    faults.needs_chain(arm, "identify_payload")
    faults.needs_dynamics(arm, "payload")
    number, pose = arm.place_of(frame)
    if not number:
        raise StateFault(
            f"payload: frame {frame!r} is the base, which does not move; give 'tool' or 'flange'."
        )
    options: dict[str, Any] = {
        "gains": gains,
        "coupling": coupling,
        "degrees": degrees,
        "time_unit": time_unit,
    }
    found, _ = without_clipping(arm, read_log(log, arm, **options), ())
    kinds = ("OF",) if offsets else ()
    drives = DriveColumns(kinds, np.full(arm.n, 1e-3), np.zeros((0, arm.n)), ())
    motion = filtered(found, cutoff)
    thin, states = motion.thinning, (motion.q, motion.qd, motion.qdd)
    every = full_columns(arm, drives, *states)
    body = every[:, :, 10 * number - 10 : 10 * number] @ _moves(pose)
    columns = np.concatenate([body, every[:, :, 10 * arm.n :]], axis=2)
    own = inverse_dynamics(arm, *states)
    extra = replace(motion, tau=motion.tau - own)
    equations = Equations(thin(columns), thin(extra.tau), thin(motion.t), extra)
    fit = least_squares(equations, tuple(range(columns.shape[2])))
    shown = replace(equations, motion=motion)
    refuse_shift(
        found.label,
        *time_shift(_with_own(shown, thin(own)), tuple(range(columns.shape[2] + 1)), 1 / fit.noise),
    )
    return _payload(frame, fit, equations, (*found.notes, *motion.notes))


def _with_own(equations: Equations, own: Matrix) -> Equations:
    """The rows with the arm's own torque as one more column: the whole torque is looked at for a shift."""
    return replace(equations, X=np.concatenate([equations.X, own[:, :, None]], axis=2))


def _moves(pose: Any) -> Matrix:
    """From the ten parameters in a frame that is at `pose` in the link's to those in the link's frame (10, 10)."""
    back = pose.inverse()
    return np.array([numbers_of(moved_ten(ten_from(list(row)), back)) for row in np.eye(10)], dtype=float).T


def _payload(frame: str | int, fit: LeastSquares, equations: Equations, notes: tuple[str, ...]) -> Payload:
    ten, std = fit.values[:10], fit.std[:10]
    mass, h, tensor = ten_from(list(ten))
    if mass < WIDTH * std[0]:
        raise StateFault(
            f"payload: its mass is {mass:.3g} ± {std[0]:.2g} kg, which may be nothing. Is the log one with the "
            "payload, and the arm the one without? Then log a longer or livelier motion."
        )
    com = h / mass
    slopes = np.zeros((3, 10))
    slopes[:, 0] = -com / mass
    slopes[:, 1:4] = np.eye(3) / mass
    com_std = np.sqrt(np.einsum("ij,jk,ik->i", slopes, fit.covariance[:10, :10], slopes))
    about = tensor - mass * (com @ com * np.eye(3) - np.outer(com, com))
    unsure = [name for name, s in zip(TEN, std, strict=True) if s > KNOWN * mass * RADIUS ** _power(name) * 5]
    said = [f"the motion does not tell {', '.join(unsure)}: move the wrist more and faster"] if unsure else []
    six = np.array(ten_from(list(std)).inertia)
    rest = equations.residual(fit.values)
    residual = np.linalg.norm(rest, axis=0) / np.maximum(np.linalg.norm(equations.tau, axis=0), 1e-300)
    offset = fit.values[10:] if len(fit.values) > 10 else np.zeros(equations.n)
    return Payload(
        frame,
        float(mass),
        com,
        about,
        float(std[0]),
        com_std,
        six,
        ten,
        std,
        offset,
        residual,
        (*notes, *said),
    )


def _power(name: str) -> int:
    """Of length in a parameter's unit."""
    return 0 if name == "M" else 1 if len(name) == 2 and name[0] == "M" else 2
