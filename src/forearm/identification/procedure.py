"""Identification, step by step: read, check, filter, fit, check again."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from forearm import faults
from forearm.algebra import Matrix, Vector
from forearm.arm import Arm
from forearm.dynamics import parameters
from forearm.faults import StateFault
from forearm.identification.base_columns import BaseColumns, base_parameters
from forearm.identification.broken_logs import clocks, log_checks
from forearm.identification.consistent_fit import ConsistentFit, consistent_fit, exactly_consistent
from forearm.identification.drive_columns import DriveColumns, drive_columns
from forearm.identification.drive_gains import DriveGains, Load, drive_gains, given_gains, load_parameters
from forearm.identification.identified import BaseFit, Identified, Parameters, Residuals
from forearm.identification.least_squares import LeastSquares, information_root, least_squares
from forearm.identification.measured.filters import filtered
from forearm.identification.measured.logs import Log, LogSource, coupling_matrix, read_log
from forearm.identification.torque_rows import TorqueEquations, equations_of
from forearm.outside.text_table import instant
from forearm.outside.whole_process.blas_threads import ONE_BLAS_THREAD

OUTSIDE = 10.0
"""Residuals that are so many times the usual are no noise."""
DEAR = 1.15
"""Bodies that leave so many times more than least squares are a sign of another geometry."""
FEW = 0.7
"""Share of a joint's rows without which the others tell too little of a delay."""
MUCH = 0.5
"""From this share of its torque on, what bodies leave of one joint counts by itself."""


@dataclass(frozen=True, eq=False)
class Asked:
    """What `identify` was asked for, checked."""

    arm: Arm
    drives: DriveColumns
    base: BaseColumns
    cutoff: float | None
    mend: tuple[str, ...]
    check: bool


@ONE_BLAS_THREAD.inside()
@faults.explained
def identify(
    arm: Arm,
    log: LogSource,
    *,
    validate: LogSource | None = None,
    gains: ArrayLike | None = None,
    loaded: LogSource | None = None,
    load: Load | None = None,
    coupling: ArrayLike | None = None,
    zero: ArrayLike | None = None,
    degrees: bool | None = None,
    time_unit: str | None = None,
    cutoff: float | None = None,
    rotors: bool = True,
    directions: bool | None = None,
    smoothing: float | None = None,
    prior: float = 1.0,
    mend: Sequence[str] | str = (),
    check: bool = True,
) -> Identified:
    """The arm whose numbers explain a log of a real motion, with intervals; physically consistent by construction.

    Args:
        arm: What is known before: geometry and gravity, which are believed, and inertias, which are a start.
        log: A path (CSV with t, q…, tau…, also gzipped), or a mapping with t (K,), q (K, n), optionally qd, and tau or
            current.
        validate: Another log that is not fitted to, for honest residuals.
        gains: Torque of each joint for one ampere (n,), where the log has currents; with `loaded`, NaN for those that
            are to be found, all of them by default.
        loaded: A second log of currents, with a load that is known: the gains are found with it.
        load: That load: (mass, centre) or (mass, centre, Inertia), in the tool's axes.
        coupling: B with q_joint = B q_motor (n, n), or the reductions (n,), for a log of motors; torques turn the other
            way round, and a motor that turns with several joints has friction and rotor of its own.
        zero: Where the joints are when the log reads zero (n,), if that is not where the description has its zero.
        degrees: Whether angles without a unit are in degrees; None for radians, refused where they cannot be.
        time_unit: Unit of a file's time: 's', 'ms', 'us', 'ns'.
        cutoff: Cut-off of the filters [Hz]; chosen from the data otherwise.
        rotors: Whether rotor inertias are looked for; those of the given arm are believed otherwise.
        directions: Whether dry friction forth and back is told apart (then from an offset only by slow rows); as in the
            given arm by default.
        smoothing: Speed over which dry friction turns over; the given arm's by default.
        prior: How well the given inertias are believed, 1 for within about their own size.
        mend: What to mend instead of refusing: 'clipping', 'sign', 'shift', 'unexcited'.
        check: Whether torques are held against the given arm, to find wrong units and signs.
    """
    faults.needs_arm(arm)
    faults.needs_chain(arm, "identify")
    if not (np.isfinite(prior) and prior > 0):
        raise StateFault(f"prior is {prior!r}; give a positive number, 1 for 'within about their own size'.")
    B = None if coupling is None else coupling_matrix(arm, coupling)
    drives = drive_columns(arm, rotors=rotors, directions=directions, smoothing=smoothing, coupling=B)
    base = base_parameters(arm, drives=drives)
    asked = Asked(arm, drives, base, cutoff, log_checks.check_names(mend), check)
    options: dict[str, Any] = {
        "gains": gains,
        "coupling": coupling,
        "zero": zero,
        "degrees": degrees,
        "time_unit": time_unit,
    }
    if loaded is None and load is None:
        told = None
        first, equations, delay, signs = _prepared(asked, read_log(log, arm, **options))
    else:
        told, (first, equations, delay, signs) = _with_gains(asked, log, loaded, load, options)
        options["gains"] = told.values
    fit, held = _fitted(asked, first, equations, None if told is None else told.fit)
    start = np.concatenate([parameters(arm), drives.of(arm)])
    known = None if told is None or held else _information(base, fit)
    best = consistent_fit(arm, equations, fit.weights, drives, start, prior, known)
    other = None
    if validate is not None:
        second = read_log(validate, arm, **options).moved(delay, signs)
        twice = first.twice(second, "its residuals are those of the fit, and validate nothing")
        first = replace(first, notes=(*first.notes, *twice))
        second = second if first.qd is not None else replace(second, qd=None)
        other = equations_of(arm, drives, filtered(second, equations.motion.cutoff))
    return _result(asked, first, equations, other, fit, best, prior, held, told)


Prepared = tuple[Log, TorqueEquations, float, Vector]


def _with_gains(
    asked: Asked, log: LogSource, loaded: LogSource | None, load: Load | None, options: dict[str, Any]
) -> tuple[DriveGains, Prepared]:
    """Gains from a log without and one with a load, and the rows of the first with torques in the place of currents."""
    arm, drives = asked.arm, asked.drives
    if loaded is None or load is None:
        raise StateFault(
            "identify: loaded= (a log) and load= (mass, centre) are given together, or not at all."
        )
    if drives.motors:
        raise StateFault("identify: gains of motors that turn several joints cannot be found; give gains=.")
    added, given = load_parameters(arm, load), given_gains(arm, options["gains"])
    plain = options | {"gains": np.ones(arm.n)}
    (first, marked), (second, marked2) = (
        log_checks.without_clipping(arm, read_log(x, arm, **plain), asked.mend) for x in (log, loaded)
    )

    def rows(log: Log, marked: Matrix, cutoff: float | None) -> TorqueEquations:
        made = equations_of(arm, drives, filtered(log, cutoff))
        return made.without(log_checks.marked_rows(made.motion, log, marked))

    def found(first: Log, second: Log, delay: float = 0.0) -> DriveGains:
        free = rows(first, log_checks.moved_marks(first.t, marked, delay), asked.cutoff)
        holding = rows(second, log_checks.moved_marks(second.t, marked2, delay), free.motion.cutoff)
        return drive_gains(arm, free, holding, added, asked.base.kept, given)

    def torques(told: DriveGains) -> Prepared:
        notes = tuple(note for note in first.notes if not note.startswith("torques are currents"))
        return _prepared(asked, replace(first, tau=first.tau * told.values, notes=notes))

    told = found(first, second)
    made = torques(told)
    late = [
        note for note in made[0].notes if first.qd is not None and made[0].qd is None and note[:6] == "speeds"
    ]
    if made[2] or late:  # the clocks were apart: again, with both logs mended
        first, second = (x.with_note(late[0], qd=None) if late else x for x in (first, second))
        first_moved, second_moved = (x.moved(made[2], np.ones(arm.n)) for x in (first, second))
        told = found(first_moved, second_moved, made[2])
        made = torques(told)
    return told, made


def _information(base: BaseColumns, fit: LeastSquares) -> tuple[Matrix, Vector]:
    """R and z with ½ ‖R theta - z‖² for what is known of base parameters."""
    root = information_root(fit.covariance)
    return root @ base.grouping, root @ fit.values


def _prepared(asked: Asked, log: Log) -> Prepared:
    """Rows of a log whose faults are refused or mended, and what was mended: delay, signs."""
    arm, mend = asked.arm, asked.mend
    log, marked = log_checks.without_clipping(arm, log, mend)
    equations = equations_of(arm, asked.drives, filtered(log, asked.cutoff))
    log_checks.refuse_silence(log.label, equations.tau)
    signs = np.ones(arm.n)
    if asked.check and arm.dynamics:
        signs = log_checks.check_torques(arm, log.label, equations, mend)
        if np.any(signs < 0):
            log = log.moved(0.0, signs)
            equations = equations_of(arm, asked.drives, filtered(log, asked.cutoff))
    log, equations, shift = _in_step(asked, log, equations, marked)
    delay = 0.0
    if asked.check:
        for doubt in [*clocks.refuse_shift(log.label, shift, mend), *log_checks.one_factor(arm, equations)]:
            log = log.with_note(doubt)
        if "shift" in mend and shift.worth_mending:
            delay = shift.delay
            log, marked = log.moved(delay, np.ones(arm.n)), log_checks.moved_marks(log.t, marked, delay)
            equations = equations_of(arm, asked.drives, filtered(log, asked.cutoff))
    left_out = log_checks.marked_rows(equations.motion, log, marked)
    return log, equations.without(left_out), delay, signs


def _in_step(
    asked: Asked, log: Log, equations: TorqueEquations, marked: Matrix
) -> tuple[Log, TorqueEquations, clocks.TimeShift]:
    """The log without late speeds, its rows, and how much later its torques are than its positions.

    Rows that a marked torque could belong to count for none of that, unless hardly any others are left.
    """
    kept = asked.base.kept
    wide = log_checks.wide_marks(log.t, marked, clocks.FARTHEST)
    left_out = log_checks.marked_rows(equations.motion, log, wide)
    if left_out.size and np.any(np.mean(left_out, axis=0) > FEW):
        left_out = log_checks.marked_rows(equations.motion, log, marked)
    weights = 1.0 / least_squares(equations.without(left_out), kept).noise

    def rows(of: Log) -> TorqueEquations:
        return equations if of is log else equations_of(asked.arm, asked.drives, filtered(of, asked.cutoff))

    def shift(of: Log) -> clocks.TimeShift:
        return clocks.time_shift(rows(of).without(left_out), kept, weights)

    chosen = clocks.with_speeds_in_step(log, lambda x: shift(x).after)
    equations = rows(chosen) if chosen.qd is not log.qd else equations
    return chosen, equations, shift(chosen)


def _fitted(
    asked: Asked, log: Log, equations: TorqueEquations, done: LeastSquares | None
) -> tuple[LeastSquares, list[int]]:
    """Least squares on base parameters; those that the log does not show are refused, or held where they were."""
    arm, base = asked.arm, asked.base
    fit = done or least_squares(equations, base.kept)
    found = log_checks.unexcited(arm, base, asked.drives, fit, equations.scale)
    if "unexcited" not in asked.mend:
        log_checks.refuse_unexcited(arm, log.label, base, found, equations.motion)
    elif found:
        start = base.of(arm)
        fit = least_squares(equations, base.kept, {k: float(start[k]) for k in found})
    if asked.check:
        speed = np.sqrt(np.mean(equations.motion.qd**2, axis=0))
        log_checks.refuse_driving_friction(arm, log.label, base, fit, speed)
    return fit, found


def _result(
    asked: Asked,
    log: Log,
    equations: TorqueEquations,
    other: TorqueEquations | None,
    fit: LeastSquares,
    best: ConsistentFit,
    prior: float,
    held: list[int],
    told: DriveGains | None,
) -> Identified:
    arm, drives, base = asked.arm, asked.drives, asked.base
    made = arm_of_parameters(arm, drives, best.theta)
    smallest = exactly_consistent(made)
    kept, apart = list(base.kept), 10 * arm.n + drives.of_joints

    def spread(values: Vector) -> Vector:
        full = np.zeros(len(base.all_names))
        full[kept] = values
        return full

    fits = {"ordinary": spread(fit.ordinary), "weighted": spread(fit.values), "consistent": best.theta}
    residuals = Residuals(
        arm.joint_names,
        {name: _relative(equations, theta) for name, theta in fits.items()},
        None if other is None else {name: _relative(other, theta) for name, theta in fits.items()},
        fit.noise,
    )
    notes = [*log.notes, *equations.motion.notes, *_said(asked, fit, best, prior, held, base)]
    notes.extend(_cost_of_consistency(residuals))
    notes.extend(_unexplained(residuals))
    notes.extend(_touched(arm, equations, best.theta))
    if told is not None:
        notes.insert(0, told.said(arm.joint_names))
    return Identified(
        arm=made,
        offset=drives.part(best.theta[10 * arm.n :], "OF"),
        base=BaseFit(base, fit.values, fit.std, fit.covariance, base.grouping @ best.theta),
        residuals=residuals,
        parameters=Parameters(base.all_names, best.theta, best.std, best.prior_std, base.alone),
        coupled=dict(zip(base.all_names[apart:], map(float, best.theta[apart:]), strict=True)),
        drives=drives,
        gains=None if told is None else told.values,
        gains_std=None if told is None else told.std,
        smallest=smallest,
        cutoff=equations.motion.cutoff,
        log=log.label,
        notes=tuple(notes),
        equations=equations,
        validation=other,
    )


def _cost_of_consistency(residuals: Residuals) -> list[str]:
    """A warning where no bodies explain what least squares explains: then the geometry is not that of the log."""
    free, bodies = (residuals.fits[name] for name in ("weighted", "consistent"))
    least = np.append(np.full(len(free) - 1, MUCH), 0.02)  # of one joint, of all
    found = np.flatnonzero((bodies > DEAR * free) & (bodies > least))
    if not len(found):
        return []
    k = int(found[np.argmax(bodies[found] / np.maximum(free[found], 1e-9))])
    where = "" if k == len(residuals.joints) else f" of joint {residuals.joints[k]!r}"
    return [
        f"WARNING: the best that bodies can do leaves {bodies[k]:.1%} of the torque{where}, least squares without "
        f"asking for bodies {free[k]:.1%}: the geometry may not be that of the log. Joints counted from another zero "
        "or the other way round (zero=, coupling=), another base or gravity, a load that the log does not name, or "
        "positions that were not those of the arm all the time?"
    ]


def _unexplained(residuals: Residuals) -> list[str]:
    """A warning where not even least squares explains a joint's torque."""
    free = residuals.fits["weighted"][:-1]
    found = [f"{name} {x:.0%}" for name, x in zip(residuals.joints, free, strict=True) if x > MUCH]
    if not found:
        return []
    return [
        f"WARNING: least squares leaves this much of a joint's torque: {', '.join(found)}. Its numbers deserve no "
        "belief: another unit or sign than the other joints', the torque of another joint, noise above the torque, or "
        "friction that no column has?"
    ]


def _touched(arm: Arm, equations: TorqueEquations, theta: Vector) -> list[str]:
    """A warning where residuals leave what is usual for a while: something pushed the arm, or a cable did."""
    rest = np.abs(equations.residual(theta))
    counted = rest if equations.kept is None else np.where(equations.kept, rest, np.nan)
    far = rest / np.maximum(1.4826 * np.nanmedian(counted, axis=0), 1e-9 * np.max(equations.scale))
    rows = np.flatnonzero(np.any(far > OUTSIDE, axis=1))
    spans = [x for x in np.split(rows, np.flatnonzero(np.diff(rows) > 3) + 1) if len(x) >= 3]
    if not spans or len(rows) > 0.2 * len(rest):
        return []
    said = ", ".join(f"{instant(equations.t[x[0]])} to {instant(equations.t[x[-1]])} s" for x in spans[:4])
    worst = int(np.argmax(np.max(far[np.concatenate(spans)], axis=0)))
    return [
        f"WARNING: at {said} the torques are up to {np.max(far[:, worst]):.2g} times the usual residual away (most at "
        f"joint {arm.joint_names[worst]!r}): was the arm touched? Leave that time out, and see fa.watch."
    ]


def _relative(equations: TorqueEquations, theta: Vector) -> Vector:
    """Residual of each joint over its torque, then that of all together (n + 1,)."""
    rest = equations.residual(theta)
    each = np.linalg.norm(rest, axis=0) / np.maximum(np.linalg.norm(equations.tau, axis=0), 1e-300)
    whole = np.linalg.norm(rest) / max(float(np.linalg.norm(equations.tau)), 1e-300)
    return np.append(each, whole)


def _said(
    asked: Asked, fit: LeastSquares, best: ConsistentFit, prior: float, held: list[int], base: BaseColumns
) -> list[str]:
    said = []
    if np.max(fit.inflation) > 1:
        worst = int(np.argmax(fit.inflation))
        said.append(
            f"residuals hang together in time: variances are multiplied by up to {fit.inflation[worst]:.2g} (joint "
            f"{asked.arm.joint_names[worst]!r})"
        )
    if held:
        names = ", ".join(base.names[k] for k in held)
        said.append(f"not shown by the log, kept as given: {names}")
    if best.corrected:
        links = ", ".join(map(str, best.corrected))
        said.append(f"links {links} of the given arm have no body's inertia; a near one was believed in")
    said.append(
        f"consistent fit: entropic distance from the given arm, believed to within {prior:g} times its own size; "
        f"{best.iterations} steps of the solver; every pseudo-inertia positive definite, checked in exact arithmetic"
    )
    return said


def arm_of_parameters(arm: Arm, drives: DriveColumns, theta: Matrix) -> Arm:
    """The arm with these bodies and drives; offsets and coupled motors have no place in an arm."""
    u = theta[10 * arm.n :]
    part = {kind: drives.part(u, kind) for kind in ("FV", "FC", "FD", "IA")}
    links = []
    for i, link in enumerate(arm.with_parameters(theta[: 10 * arm.n]).links):
        mean, apart = max(part["FC"][i], 0.0), part["FD"][i]
        apart = float(np.clip(apart, -mean, mean))
        changes: dict[str, Any] = {
            "viscous": max(float(part["FV"][i]), 0.0),
            "coulomb": (float(mean + apart), float(mean - apart)),
            "smoothing": float(drives.smoothing[i]),
        }
        if "IA" in drives.kinds:
            changes |= {"rotor_inertia": max(float(part["IA"][i]), 0.0), "side": "joint"}
        links.append(link.replace(drive=link.drive.replace(**changes)))
    source = ("inertias, friction", "identified from a log of a real motion")
    return arm.replace(links=tuple(links), defects=(), provenance=(*arm.provenance, source))
