"""`feasible`: whether an arm can do a motion; what each joint gives for it, beside what it has."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from forearm import dynamics, faults
from forearm.algebra import Vector, is_number
from forearm.arm import Arm
from forearm.faults import StateFault
from forearm.motion.between_rows.missed_peaks import between
from forearm.motion.instants import averaging, looked_at, shares_of_time, with_peaks
from forearm.motion.limit_excesses import (
    SLACK,
    TOLERANCE,
    UNITS,
    LimitExcess,
    followers,
    limit_excesses,
    noted_between,
)
from forearm.motion.motions import Motion, Samples
from forearm.motion.profiles.joint_limits import joint_limit
from forearm.motion.slope_checks import row_notes
from forearm.outside.text_table import text_table
from forearm.robot import Robot


@dataclass(frozen=True)
class JointLoad:
    """What a motion asks of one joint, beside its limits (None where there is none)."""

    joint: str
    """Its name."""
    peak: float
    """Greatest |torque| [N m or N]."""
    peak_at: float | None
    """When [s]."""
    rms: float
    """Root of the mean square of the torque: what heats a motor [N m or N]."""
    limit: float | None
    """Limit of the torque."""
    rms_limit: float | None
    """Limit of its root mean square: what the motor gives for ever."""
    peak_speed: float
    """Greatest |speed| [rad/s or m/s]."""
    speed_at: float | None
    """When [s]."""
    speed_limit: float | None
    """Limit of the speed."""
    peak_power: float
    """Greatest |power| at the joint [W]."""
    power_at: float | None
    """When [s]."""
    power_limit: float | None
    """Limit of the power."""
    beyond: tuple[str, ...]
    """What is beyond its limit: 'position', 'speed', 'torque', 'rms torque', 'power'."""


@dataclass(frozen=True, eq=False)
class Feasibility:
    """Whether an arm can do a motion: true or false, and why."""

    arm: Arm | Robot
    """The arm, with the limits that were used."""
    samples: Samples
    """The motion as it was looked at."""
    tau: Vector
    """Its torques (K, n)."""
    loads: tuple[JointLoad, ...]
    """Each joint."""
    excesses: tuple[LimitExcess, ...]
    """What is beyond its limit, worst value, when and how often."""
    notes: tuple[str, ...] = ()
    """What of a motion that was given by rows is between them."""

    def __bool__(self) -> bool:
        """Whether nothing is beyond its limit."""
        return not self.excesses

    @cached_property
    def worst(self) -> LimitExcess | None:
        """What is furthest beyond its limit, in shares of it."""
        return max(
            self.excesses, key=lambda e: abs(e.worst - e.limit) / max(abs(e.limit), 1e-300), default=None
        )

    @property
    def unlimited(self) -> tuple[str, ...]:
        """Joints without a torque limit: nothing is said about their drives."""
        return tuple(load.joint for load in self.loads if load.limit is None)

    def __str__(self) -> str:
        header = ("joint", "peak", "at [s]", "rms", "limit", "speed", "limit", "power", "")
        rows = [
            (
                load.joint,
                *map(
                    _number,
                    (load.peak, load.peak_at, load.rms, load.limit, load.peak_speed, load.speed_limit),
                ),
                _number(load.peak_power),
                f"BEYOND: {', '.join(load.beyond)}" if load.beyond else "",
            )
            for load in self.loads
        ]
        verdict = "within its limits" if self else "beyond its limits"
        if self and self.unlimited:
            verdict += f" (no torque limit: {', '.join(self.unlimited)})"
        lines = [f"{self.arm.name}: the motion is {verdict}", *text_table(header, rows, left=(0, 8))]
        return "\n".join([*lines, *(f"joint {excess}" for excess in self.excesses), *self.notes])


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


@faults.explained
def feasible(
    arm: Arm,
    motion: Any,
    *,
    samples: int = 2001,
    torques: Any = None,
    speeds: Any = None,
    rms_torques: Any = None,
    powers: Any = None,
    tolerance: float = TOLERANCE,
) -> Feasibility:
    """Whether the arm can do a motion: position, speed and torque of each joint beside its limits, as a report.

    The report is true or false; it holds the peaks, when they are, the rms torques and the powers.

    Args:
        arm: The arm, with what it carries.
        motion: A Motion, or what has t, q, qd and qdd: Samples, a Record of a simulation. Samples are looked at between
            their rows, too, where their speeds are the slopes of their positions; `notes` says what the rows miss. Of a
            record of this very arm (its limits aside) the torques are those that its drives gave, against what it held
            and what pushed it. Of the steps that a record leaves out only its outcome knows: `notes` says so.
        samples: At how many times a Motion is looked at, besides the ends of its pieces; short ones more closely.
        torques: Limits of |tau| in place of the arm's own: a number, (n,) or a dict by joint.
        speeds: Limits of |qd| in place of the arm's own.
        rms_torques: Limits of the root of the mean square torque, such as a motor's continuous torque.
        powers: Limits of |tau qd| [W].
        tolerance: Share of a limit (not of position) that may be passed: a thousandth, which nobody measures, and to
            which `fastest` keeps its limits.

    >>> import forearm as fa
    >>> arm = fa.load("ur5e")
    >>> motion = fa.point_to_point(arm, [0] * 6, [1, -1, 1, 0, 0, 0], accelerations=8)
    >>> report = fa.feasible(arm, motion)
    >>> bool(report), report.worst is None
    (True, True)
    """
    faults.needs_arm(arm)
    given = {"torques": torques, "speeds": speeds, "rms_torques": rms_torques, "powers": powers}
    limits = {name: joint_limit(arm, "feasible", name, value) for name, value in given.items()}
    if not (is_number(tolerance) and 0 <= tolerance < np.inf):
        raise StateFault(f"feasible: tolerance is {tolerance!r}; give a share of the limits, 0 or more.")
    if hasattr(motion, "until_stopped"):
        motion = motion.until_stopped()  # what comes then repeats one row
    averages = None
    if isinstance(motion, Motion):
        rows, tau = rows_with_peaks(arm, motion, samples)
        averages = _averaged(arm, motion), shares_of_time(rows.t)
        return judged(
            _limited(arm, limits), rows, tau, limits["rms_torques"], limits["powers"], tolerance, averages
        )
    rows = _given_rows(arm, motion)
    tau, own = _torques(arm, motion, rows)
    judge = judged if own else judged_between
    limited = _limited(arm, limits)
    found = judge(limited, rows, tau, limits["rms_torques"], limits["powers"], tolerance)
    found = found if own else replace(found, notes=(*found.notes, *row_notes(arm, rows)))
    return _with_steps_left_out(limited, motion, found, own) if hasattr(motion, "until_stopped") else found


def _with_steps_left_out(arm: Arm | Robot, record: Any, found: Feasibility, own: bool) -> Feasibility:
    """The report on a record that leaves out steps with what its outcome knows of them."""
    steps = float(np.max(np.diff(record.t), initial=0.0)) / record.dt
    if not steps > 1.5:
        return found
    more = noted_between(arm, record, found.excesses, ("position", "speed", *(["torque"] if own else [])))
    loads = tuple(
        replace(load, beyond=(*load.beyond, *(e.what for e in more if e.joint == load.joint)))
        for load in found.loads
    )
    note = (
        f"the record has a row for every {steps:.0f} steps: peaks, rms torques and powers are those of its rows, and "
        "between them limits are those that the simulation was held against; record_every=1 shows every step"
    )
    return replace(found, loads=loads, excesses=(*found.excesses, *more), notes=(*found.notes, note))


def _given_rows(arm: Arm, motion: Any) -> Samples:
    if not all(hasattr(motion, name) for name in ("t", "q", "qd", "qdd")):
        raise StateFault(
            f"feasible: motion is {faults.a_or_an(type(motion).__name__)}; give a Motion, Samples or a Record "
            "(one with t, q, qd, qdd)."
        )
    given = {name: getattr(motion, name) for name in ("q", "qd", "qdd")}
    if isinstance(motion.q, np.ndarray):  # what has labels may have its axes in another order
        _refuse_other_shapes(arm, np.shape(motion.t), motion.q.shape)
    rows = Samples(faults.floats("feasible: t", motion.t), **faults.states(arm, "feasible", **given))
    _refuse_wrong_rows(arm, rows)
    return rows


def _refuse_wrong_rows(arm: Arm | Robot, rows: Samples) -> None:
    _refuse_other_shapes(arm, rows.t.shape, rows.q.shape)
    for name, values in (("qd", rows.qd), ("qdd", rows.qdd)):
        if values.shape != rows.q.shape:
            raise StateFault(
                f"feasible: the motion has {name} of shape {values.shape} beside positions of shape {rows.q.shape}; "
                "give as many rows of each."
            )
    faults.motion_rows("feasible", arm, **rows._asdict())


def _refuse_other_shapes(arm: Arm | Robot, times: tuple[int, ...], positions: tuple[int, ...]) -> None:
    """Refuse what is not one motion of the arm, (K, n) at K times."""
    if len(positions) != 2 or positions[1] != arm.n or times != positions[:1] or times[0] < 1:
        raise StateFault(
            f"feasible: the motion has positions of shape {positions} at {times} times; give one motion of arm "
            f"{arm.name!r}, (K, {arm.n})."
        )


def rows_with_peaks(arm: Arm | Robot, motion: Motion, count: Any) -> tuple[Samples, Vector]:
    """Rows of a motion with their torques, those among them where it asks for most."""

    def asked(rows: Samples) -> tuple[Vector]:
        _refuse_wrong_rows(arm, rows)
        return (dynamics.inverse_dynamics(arm, rows.q, rows.qd, rows.qdd),)

    def sizes(rows: Samples, values: tuple[Vector, ...]) -> Vector:
        (tau,), qd = values, rows.qd
        return np.abs(np.concatenate([qd @ joints, tau, tau * qd], axis=1))

    _refuse_wrong_rows(arm, motion.sample(2))
    joints = np.column_stack([np.eye(arm.n), *(row for _, row, _ in followers(arm))])
    rows, (tau,) = with_peaks(motion, looked_at(motion, count, "feasible"), asked, sizes, joints)
    return rows, tau


def _torques(arm: Arm | Robot, motion: Any, rows: Samples) -> tuple[Vector, bool]:
    """Torques (K, n) of rows; and whether they are those of a record of this arm, which may have been pushed."""
    made, tau = getattr(motion, "arm", None), getattr(motion, "tau", None)
    if tau is None or not isinstance(made, (Arm, Robot)) or _unlimited(made) != _unlimited(arm):
        return dynamics.inverse_dynamics(arm, rows.q, rows.qd, rows.qdd), False
    tau = np.asarray(tau, dtype=float)
    faults.motion_rows("feasible", arm, t=rows.t, tau=tau)
    return tau, True


def _unlimited(arm: Arm | Robot) -> Arm | Robot:
    """The arm without limits: how it moves, and nothing else."""
    none: dict[str, Any] = {"limits": None, "speed_limit": None, "effort_limit": None}
    return arm.replace(links=tuple(link.replace(**none) for link in arm.links))


def _limited(arm: Arm, limits: dict[str, Vector]) -> Arm:
    """The arm with these limits of speed and torque."""
    own = {
        link.name: link.replace(speed_limit=_or_none(speed), effort_limit=_or_none(torque))
        for link, speed, torque in zip(arm.state_links, limits["speeds"], limits["torques"], strict=True)
    }
    links = [own.get(link.name, link) for link in arm.links]
    return arm if list(arm.links) == links else arm.replace(links=tuple(links))


def _or_none(limit: float) -> float | None:
    return float(limit) if np.isfinite(limit) else None


def judged_between(
    arm: Arm | Robot,
    rows: Samples,
    tau: Vector,
    rms_limits: Vector,
    power_limits: Vector,
    tolerance: float = TOLERANCE,
) -> Feasibility:
    """The report on rows whose torques are known, t may be None: on the motion between them where its peaks are."""
    found = between(arm, rows, tau)
    if found is None or found.tau is None or found.rms is None:
        return judged(arm, rows, tau, rms_limits, power_limits, tolerance)
    averages = found.rms, shares_of_time(found.samples.t)
    report = judged(arm, found.samples, found.tau, rms_limits, power_limits, tolerance, averages)
    return replace(report, notes=found.notes)


def judged(
    arm: Arm | Robot,
    rows: Samples,
    tau: Vector,
    rms_limits: Vector,
    power_limits: Vector,
    tolerance: float = TOLERANCE,
    averages: tuple[Vector, Vector] | None = None,
) -> Feasibility:
    """The report on a motion whose torques are known, t may be None; of a Motion with their rms, and shares of time."""
    t: Any = rows.t
    tolerance = max(tolerance, SLACK)
    rms, weights = (_rms(t, tau), None) if averages is None else averages
    excesses = list(limit_excesses(arm, t, rows.q, rows.qd, tau, tolerance=tolerance, weights=weights)[()])
    power = tau * rows.qd
    joints = list(enumerate(arm.state_links, -arm.n))  # the joints are last in a state
    for i, link in joints:
        excesses += _beyond(link, "power", power[:, i], power_limits[i], t, tolerance, weights)
        excesses += _beyond(link, "rms torque", rms[[i]], rms_limits[i], None, tolerance)
    loads = []
    for i, link in joints:
        peaks = [_greatest(np.abs(x[:, i])) for x in (tau, rows.qd, power)]
        when = [None if t is None else float(t[k]) for k in peaks]
        sizes = [abs(float(x[k, i])) for x, k in zip((tau, rows.qd, power), peaks, strict=True)]
        loads.append(
            JointLoad(
                joint=link.name,
                peak=sizes[0],
                peak_at=when[0],
                rms=float(rms[i]),
                limit=link.effort_limit,
                rms_limit=_or_none(rms_limits[i]),
                peak_speed=sizes[1],
                speed_at=when[1],
                speed_limit=link.speed_limit,
                peak_power=sizes[2],
                power_at=when[2],
                power_limit=_or_none(power_limits[i]),
                beyond=tuple(e.what for e in excesses if e.joint == link.name),
            )
        )
    return Feasibility(arm, rows, tau, tuple(loads), tuple(excesses))


def _greatest(sizes: Vector) -> int:
    """Row of the greatest number; the first where none is one."""
    return int(np.argmax(np.where(np.isnan(sizes), -1.0, sizes)))


def _rms(t: Vector | None, tau: Vector) -> Vector:
    """Root of the mean square over time (n,); over rows without times."""
    if t is None or len(t) < 2:
        return np.sqrt(np.mean(tau**2, axis=0))
    return np.sqrt(np.trapezoid(tau**2, t, axis=0) / (t[-1] - t[0]))


def _averaged(arm: Arm | Robot, motion: Motion) -> Vector:
    """Root of the mean square torque of a motion over time (n,)."""
    t, weights = averaging(motion)
    return np.sqrt(weights @ dynamics.inverse_dynamics(arm, *motion.rows(t)) ** 2)  # type: ignore[no-any-return]


def _beyond(
    link: Any,
    what: str,
    values: Vector,
    most: float,
    t: Vector | None,
    tolerance: float,
    weights: Vector | None = None,
) -> list[LimitExcess]:
    """An excess of a limit that links do not have."""
    over = np.abs(values) - most
    beyond = over > tolerance * most
    if not np.any(beyond):
        return []
    k, first = int(np.argmax(over)), int(np.argmax(beyond))
    found = LimitExcess(
        joint=link.name,
        what=what,
        worst=float(values[k]),
        limit=float(np.copysign(most, values[k])),
        unit=UNITS[what][0 if link.revolute else 1],
        row=k,
        first_row=first,
        share=float(np.mean(beyond) if weights is None else beyond @ weights),
        of_time=weights is not None,
    )
    return [found if t is None else replace(found, t=float(t[k]), first=float(t[first]))]
