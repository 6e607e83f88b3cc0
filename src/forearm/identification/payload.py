"""The payload: mass, centre and inertia of what is in the gripper, from a short motion of a known arm.

The arm's own torques are taken off the log; what is left is linear in the ten parameters of a body at the tool
(Atkeson, An, Hollerbach, Int. J. Robotics Research 5 (1986) 101-119), and in an offset of each joint where sensors have
one. An identified arm has no place for the offsets that `identify` found beside it; so they are looked for here again,
and left out where the log shows none. Where least squares gives ten numbers that no body has, the best ones that a body
can have stand in their place, and that is said.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from forearm import faults
from forearm.algebra import Matrix, Vector
from forearm.arm import Arm
from forearm.faults import StateFault
from forearm.identification.base_columns import full_columns
from forearm.identification.broken_logs import clocks, log_checks
from forearm.identification.consistent_fit import consistent_body, pseudo_inertia
from forearm.identification.drive_columns import DriveColumns
from forearm.identification.least_squares import WIDTH, LeastSquares, least_squares
from forearm.identification.measured.filters import Filtered, filtered
from forearm.identification.measured.logs import Log, LogSource, read_log
from forearm.identification.resting_joints import told_of_rests
from forearm.identification.torque_rows import TorqueEquations, torques_of
from forearm.inertia import TEN, Inertia, moved_ten, numbers_of, ten_from, ten_of
from forearm.link import Link
from forearm.outside.text_table import text_table
from forearm.outside.whole_process.blas_threads import ONE_BLAS_THREAD

KNOWN = 0.1
"""A number is known where its interval is narrower than this, of a body of that mass and of a thing's size."""
SHOWN = 4.0
"""An offset is shown by a log where it is so many standard deviations away from zero."""
THING = 0.1
"""The size of a thing that an arm holds, that errors are held against: so much of the arm's reach."""
NONE = 1e-9
"""Rows tell nothing where their singular value is below this share of the greatest."""
SHARE = 1e-4
"""A parameter is in a sum where its share of it is larger."""
CARRIES, MUCH, TOGETHER = 0.2, 0.2, 3.0
"""A joint carries the payload where that makes this part of what it makes at most; there it is doubted if it leaves so
much of the torque, and what it leaves hangs together in time by this factor, as noise does not."""


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
        """The arm holding it."""
        tensor = Inertia.about_com(self.inertia)
        return arm.with_payload(self.mass, tuple(self.com), tensor, frame=self.frame)

    def __str__(self) -> str:
        rows = [["mass [kg]", f"{self.mass:.5g}", f"{self.mass_std:.2g}"]]
        rows += [[f"{x} [m]", f"{self.com[k]:.4f}", _error(self.com_std[k])] for k, x in enumerate("xyz")]
        for k, name in enumerate(TEN[4:], 4):
            rows.append([f"{name} [kg m²]", f"{self.ten[k]:.4g}", _error(self.ten_std[k])])
        head = f"payload, axes of {self.frame!r} (moments about its origin)"
        lines = [head, *text_table(["", "value", "std"], rows), *(f"  - {note}" for note in self.notes)]
        return "\n".join(lines)


@ONE_BLAS_THREAD.inside()
@faults.explained
def identify_payload(
    arm: Arm,
    log: LogSource,
    *,
    frame: str | int = "tool",
    offsets: bool | None = None,
    gains: ArrayLike | None = None,
    coupling: ArrayLike | None = None,
    zero: ArrayLike | None = None,
    degrees: bool | None = None,
    time_unit: str | None = None,
    cutoff: float | None = None,
    mend: Sequence[str] | str = (),
    check: bool = True,
) -> Payload:
    """Mass, centre and inertia of what the arm holds, with intervals.

    Args:
        arm: The arm without it, friction and all, as `identify` gives it.
        log: A path or a mapping, as in `identify`: some seconds of motion with the payload.
        frame: Whose axes: 'tool', 'flange' or another frame's name.
        offsets: Whether torques have an offset that is not the arm's; where the log shows one by default.
        gains: Torque of each joint for one ampere (n,), where the log has currents.
        coupling: B with q_joint = B q_motor, or the reductions, for a log of motors.
        zero: Where the joints are when the log reads zero (n,), if that is not where the description has its zero.
        degrees: Whether angles without a unit are in degrees; None for radians, refused where they cannot be.
        time_unit: Unit of a file's time: 's', 'ms', 'us', 'ns'.
        cutoff: Cut-off of the filters [Hz]; chosen from the data otherwise.
        mend: What to mend instead of refusing: 'clipping', 'sign', 'shift'.
        check: Whether torques are held against the arm's own, to find wrong units, signs and clocks.
    """
    faults.needs_arm(arm)
    faults.needs_chain(arm, "identify_payload")
    faults.needs_dynamics(arm, "payload")
    mended = log_checks.check_names(mend)
    number, pose = arm.place_of(frame)
    if not number:
        raise StateFault(
            f"payload: frame {frame!r} is the base, which does not move; give 'tool' or 'flange'."
        )
    options: dict[str, Any] = {
        "gains": gains,
        "coupling": coupling,
        "zero": zero,
        "degrees": degrees,
        "time_unit": time_unit,
    }
    found, marked = log_checks.without_clipping(arm, read_log(log, arm, **options), mended)
    rows = _rows(arm, found, cutoff, offsets is not False, number, pose)
    if check:
        signs = log_checks.check_torques(arm, found.label, rows.whole, mended)
        found, rows = _again(rows, found, 0.0, signs) if np.any(signs < 0) else (found, rows)
    found, rows = _in_step(rows, found)
    if check:
        shift = _shift(rows, rows)
        for doubt in clocks.refuse_shift(found.label, shift, mended):
            found = found.with_note(doubt)
        if "shift" in mended and shift.worth_mending:
            found, rows = _again(rows, found, shift.delay, np.ones(arm.n))
    left_out = log_checks.marked_rows(rows.motion, found, marked)
    equations = rows.extra.without(left_out)
    fit, said = _fitted(arm, equations, offsets)
    made = _payload(frame, fit, equations, _thing(arm), (*found.notes, *rows.motion.notes, *said))
    rests = told_of_rests(arm, equations, fit, made.ten, made.com_std, _thing(arm))
    return replace(made, notes=(*made.notes, *_unexplained(arm, made, fit, equations), *rests))


def _fitted(arm: Arm, equations: TorqueEquations, offsets: bool | None) -> tuple[LeastSquares, list[str]]:
    """The payload, with offsets where they were asked for or the log shows them, and that said."""
    fit = least_squares(equations, tuple(range(equations.X.shape[2])))
    if offsets is not None:
        return fit, []
    values, std = fit.values[10:], fit.std[10:]
    shown = np.flatnonzero(np.abs(values) > SHOWN * std)
    if not shown.size:
        return least_squares(equations, tuple(range(10))), []
    told = ", ".join(f"{arm.joint_names[i]} {values[i]:.3g} ± {std[i]:.1g}" for i in shown)
    return fit, [
        f"torques have offsets that are not the arm's ({told}): found with the payload, those of all joints"
    ]


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows of a log with a payload."""

    make: Callable[[Log], "_Rows"]
    """The same of another log."""
    motion: Filtered
    """What they were made from."""
    whole: TorqueEquations
    """Columns of the payload and of offsets, with the whole torque."""
    own: Matrix
    """The arm's own torques (K, n), filtered alike."""

    @property
    def extra(self) -> TorqueEquations:
        """The rows with what the arm does not need for itself."""
        return replace(self.whole, tau=self.whole.tau - self.own)


def _rows(arm: Arm, log: Log, cutoff: float | None, offsets: bool, number: int, pose: Any) -> _Rows:
    drives = DriveColumns(("OF",) if offsets else (), np.full(arm.n, 1e-3), np.zeros((0, arm.n)), ())
    motion = filtered(log, cutoff)
    thin, states = motion.thinning, (motion.q, motion.qd, motion.qdd)
    every = full_columns(arm, drives, *states)
    body = every[:, :, 10 * number - 10 : 10 * number] @ _moves(pose)
    columns = np.concatenate([body, every[:, :, 10 * arm.n :]], axis=2)
    whole = TorqueEquations(thin(columns), thin(motion.tau), thin(motion.t), motion)

    def make(other: Log) -> _Rows:
        return _rows(arm, other, cutoff, offsets, number, pose)

    return _Rows(make, motion, whole, torques_of(arm, motion))


def _again(rows: _Rows, log: Log, delay: float, signs: Vector) -> tuple[Log, _Rows]:
    mended = log.moved(delay, signs)
    return mended, rows.make(mended)


def _in_step(rows: _Rows, log: Log) -> tuple[Log, _Rows]:
    """The log without late speeds, and its rows."""
    chosen = clocks.with_speeds_in_step(log, lambda x: _shift(rows if x is log else rows.make(x), rows).after)
    return chosen, rows if chosen.qd is log.qd else rows.make(chosen)


def _shift(rows: _Rows, weighed: _Rows) -> clocks.TimeShift:
    """How late torques are, and what is left then; the arm's own torque is one more column of the whole one."""
    whole = replace(rows.whole, X=np.concatenate([rows.whole.X, rows.own[:, :, None]], axis=2))
    kept = tuple(range(whole.X.shape[2]))
    return clocks.time_shift(whole, kept, 1 / least_squares(weighed.extra, kept[:-1]).noise)


def _moves(pose: Any) -> Matrix:
    """From the ten parameters in a frame that is at `pose` in the link's to those in the link's frame (10, 10)."""
    back = pose.inverse()
    return np.array([numbers_of(moved_ten(ten_from(list(row)), back)) for row in np.eye(10)], dtype=float).T


def _thing(arm: Arm) -> float:
    """The size of a thing that the arm holds [m]: a crane's load is no gripper's; links of no length have centres."""
    lengths = [np.linalg.norm(np.array(link.p_star(0.0), dtype=float)) + _slide(link) for link in arm.links]
    centers = [np.linalg.norm(np.array(link.com, dtype=float)) for link in arm.links]
    return THING * float(max(sum(lengths), *centers) or 1.0)


def _slide(link: Link) -> float:
    """How far a slide goes, where that is said [m]."""
    low, high = link.limits or (0.0, 0.0)
    return max(abs(low), abs(high)) if link.prismatic and np.isfinite([low, high]).all() else 0.0


def _payload(
    frame: str | int, fit: LeastSquares, equations: TorqueEquations, size: float, notes: tuple[str, ...]
) -> Payload:
    std = fit.std[:10]
    ten, offset, said = _body(fit, equations, size)
    mass, h, tensor = ten_from(list(ten))
    com = h / mass
    slopes = np.zeros((3, 10))
    slopes[:, 0] = -com / mass
    slopes[:, 1:4] = np.eye(3) / mass
    com_std = np.sqrt(np.einsum("ij,jk,ik->i", slopes, fit.covariance[:10, :10], slopes))
    about = tensor - mass * (com @ com * np.eye(3) - np.outer(com, com))
    unsure = [name for name, s in zip(TEN, std, strict=True) if s > KNOWN * mass * size ** _power(name) * 5]
    said += (
        [f"the motion does not tell {', '.join(unsure)}: move the wrist more and faster"] if unsure else []
    )
    rest = equations.tau - equations.X[:, :, : len(fit.values)] @ np.concatenate([ten, offset])
    return Payload(
        frame=frame,
        mass=float(mass),
        com=com,
        inertia=about,
        mass_std=float(std[0]),
        com_std=com_std,
        inertia_std=np.array(ten_from(list(std)).inertia),
        ten=ten,
        ten_std=std,
        offset=offset if len(offset) else np.zeros(equations.n),
        residual=np.linalg.norm(rest, axis=0) / np.maximum(np.linalg.norm(equations.tau, axis=0), 1e-300),
        notes=(*notes, *said),
    )


def _unexplained(arm: Arm, found: Payload, fit: LeastSquares, equations: TorqueEquations) -> list[str]:
    """A warning where no one body explains the torque that the arm does not need for itself."""
    made = np.linalg.norm(equations.X[:, :, :10] @ found.ten, axis=0)
    doubted = (made > CARRIES * np.max(made)) & (found.residual > MUCH) & (fit.inflation > TOGETHER)
    if not doubted.any():
        return []
    told = ", ".join(f"{arm.joint_names[i]} {found.residual[i]:.0%}" for i in np.flatnonzero(doubted))
    return [
        f"WARNING: the payload leaves this much of the torque that is not the arm's own: {told}, and not as noise "
        "does. Its numbers may be much farther off than their intervals say: was it held all the time, is the arm "
        "right (friction, zeros, order of joints, unit of torque), did something touch it, do torques drift?"
    ]


def _body(fit: LeastSquares, equations: TorqueEquations, size: float) -> tuple[Vector, Vector, list[str]]:
    """Ten numbers that a body has (least squares' own, or else the best ones), offsets with them, what there is to say.

    What the rows tell is read off them, not off the covariance: where they tell sums only, it is infinite, and has lost
    the sums.
    """
    ten, offset = fit.values[:10], fit.values[10:]
    many = len(offset)
    X, tau = equations.rows(fit.weights, [*range(10, 10 + many), *range(10)])
    R: Matrix = np.asarray(np.linalg.qr(np.column_stack([X, tau]), mode="r"))
    root, right = R[many:-1, many:-1], R[many:-1, -1]
    sums = _untold(root)
    _refuse_nothing(ten[0], fit.std[0])
    least = float(np.linalg.eigvalsh(pseudo_inertia(ten_from(list(ten))))[0])
    if least > 0 and not len(sums):
        return ten, offset, []
    told = fit.std[1:4] < size * ten[0]
    com = np.where(told, ten[1:4] / ten[0], 0.0)
    usual = ten_of(float(ten[0]), com, np.eye(3) * 0.4 * ten[0] * (size / 2) ** 2)
    found = consistent_body(root, right, np.array(numbers_of(usual), dtype=float))
    if many:
        offset = np.linalg.solve(R[:many, :many], R[:many, -1] - R[:many, many:-1] @ found)
    ball = f"near a ball of {size * 100:.2g} cm (a tenth of the arm) where the motion tells nothing"
    if len(sums):
        return (
            found,
            offset,
            [f"the motion tells sums only; the numbers are those of a body that has them, {ball}"],
        )
    away = (found - ten) / fit.std[:10]
    worst = int(np.argmax(np.abs(away)))
    return (
        found,
        offset,
        [
            f"least squares gives numbers that no body has; the best ones that a body can have, {ball}, stand in their "
            f"place (the farthest, {TEN[worst]}, is {abs(away[worst]):.2g} standard deviations away)"
        ],
    )


def _refuse_nothing(mass: float, std: float) -> None:
    if mass < WIDTH * std:
        words = "may be nothing" if mass > -WIDTH * std else "nothing has"
        raise StateFault(
            f"payload: its mass is {mass:.3g} ± {std:.2g} kg, which {words}. Is the log one with the payload, "
            "and the arm the one without? Then log a longer or livelier motion."
        )


def _untold(root: Matrix) -> Matrix:
    """Directions among ten parameters, each of length one, that rows do not tell (count, 10); refused with the mass."""
    sizes = np.linalg.norm(root, axis=0)
    _, values, axes = np.linalg.svd(root / np.where(sizes > NONE * np.max(sizes), sizes, np.inf))
    found: Matrix = axes[values <= NONE * values[0]]
    if np.any(np.abs(found[:, 0]) > SHARE):
        raise StateFault(
            "payload: torques of this motion tell the mass only in sums with its centre and moments, whatever it is (a "
            "body that turns about one axis does not show its mass). Log a motion of more joints, and against gravity."
        )
    return found


def _error(std: float) -> str:
    """A standard deviation, or that there is none: no column of the log holds the number."""
    return f"{std:.1g}" if std < 1e3 else "not told"


def _power(name: str) -> int:
    """Of length in a parameter's unit."""
    return 0 if name == "M" else 1 if len(name) == 2 and name[0] == "M" else 2
