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
from forearm.identification import log_checks
from forearm.identification.base_columns import BaseColumns, base_parameters
from forearm.identification.consistent_fit import ConsistentFit, consistent_fit, exactly_consistent
from forearm.identification.drive_columns import DriveColumns, drive_columns
from forearm.identification.filters import filtered
from forearm.identification.identified import BaseFit, Identified, Parameters, Residuals
from forearm.identification.least_squares import LeastSquares, least_squares
from forearm.identification.logs import Log, LogSource, coupling_matrix, read_log
from forearm.identification.torque_rows import Equations, equations_of


@dataclass(frozen=True, eq=False)
class Asked:
    """What `identify` was asked for, checked."""

    arm: Arm
    drives: DriveColumns
    base: BaseColumns
    cutoff: float | None
    mend: tuple[str, ...]
    check: bool


def identify(
    arm: Arm,
    log: LogSource,
    *,
    validate: LogSource | None = None,
    gains: ArrayLike | None = None,
    coupling: ArrayLike | None = None,
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
        gains: Torque of each joint for one ampere (n,), where the log has currents.
        coupling: B with q_joint = B q_motor (n, n), or the reductions (n,), for a log of motors; torques turn the other
            way round, and a motor that turns with several joints has friction and rotor of its own.
        degrees: Whether angles without a unit are in degrees; None for radians, refused where they cannot be.
        time_unit: Unit of a file's time: 's', 'ms', 'us', 'ns'.
        cutoff: Cut-off of the filters [Hz]; chosen from the data otherwise.
        rotors: Whether rotor inertias are looked for.
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
        "degrees": degrees,
        "time_unit": time_unit,
    }
    first, equations, delay, signs = _prepared(asked, read_log(log, arm, **options))
    fit, held = _fitted(asked, first, equations)
    start = np.concatenate([parameters(arm), drives.of(arm)])
    best = consistent_fit(arm, equations, fit.weights, drives, start, prior)
    other = None
    if validate is not None:
        second = _moved(read_log(validate, arm, **options), delay, signs)
        other = equations_of(arm, drives, filtered(second, equations.motion.cutoff))
    return _result(asked, first, equations, other, fit, best, prior, held)


def _prepared(asked: Asked, log: Log) -> tuple[Log, Equations, float, Vector]:
    """Rows of a log whose faults are refused or mended, and what was mended: delay, signs."""
    arm, mend = asked.arm, asked.mend
    log, marked = log_checks.without_clipping(arm, log, mend)
    equations = equations_of(arm, asked.drives, filtered(log, asked.cutoff))
    signs = np.ones(arm.n)
    if asked.check and arm.dynamics:
        signs = log_checks.check_torques(arm, log.label, equations, mend)
        if np.any(signs < 0):
            log = _moved(log, 0.0, signs)
            equations = equations_of(arm, asked.drives, filtered(log, asked.cutoff))
    delay, remains = 0.0, 1.0
    if asked.check:
        weights = 1.0 / least_squares(equations, asked.base.kept).noise
        delay, remains = log_checks.time_shift(equations, asked.base.kept, weights)
        if "shift" not in mend:
            log_checks.refuse_shift(log.label, delay, remains)
    if "shift" in mend and abs(delay) > log_checks.LEAST_SHIFT:
        log = _moved(log, delay, np.ones(arm.n))
        equations = equations_of(arm, asked.drives, filtered(log, asked.cutoff))
    else:
        delay = 0.0
    left_out = log_checks.marked_rows(equations.motion, log, marked)
    if left_out.size:
        keep = ~left_out
        equations = replace(equations, X=equations.X * keep[:, :, None], tau=equations.tau * keep)
    return log, equations, delay, signs


def _moved(log: Log, delay: float, signs: Vector) -> Log:
    """The log with torques turned round and earlier by so much."""
    notes, tau = list(log.notes), log.tau * signs
    if np.any(signs < 0):
        notes.append(
            f"torques turned round: joints {', '.join(str(i + 1) for i in np.flatnonzero(signs < 0))}"
        )
    if delay:
        tau = np.stack([np.interp(log.t + delay, log.t, column) for column in tau.T], axis=1)
        notes.append(f"torques moved by {delay * 1e3:.3g} ms")
    return replace(log, tau=tau, notes=tuple(notes))


def _fitted(asked: Asked, log: Log, equations: Equations) -> tuple[LeastSquares, list[int]]:
    """Least squares on base parameters; those that the log does not show are refused, or held where they were."""
    arm, base = asked.arm, asked.base
    fit = least_squares(equations, base.kept)
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
    equations: Equations,
    other: Equations | None,
    fit: LeastSquares,
    best: ConsistentFit,
    prior: float,
    held: list[int],
) -> Identified:
    arm, drives, base = asked.arm, asked.drives, asked.base
    made = arm_of_parameters(arm, drives, best.theta)
    smallest = exactly_consistent(made)
    kept = list(base.kept)

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
    return Identified(
        arm=made,
        offset=drives.part(best.theta[10 * arm.n :], "OF"),
        base=BaseFit(base, fit.values, fit.std, base.grouping @ best.theta),
        residuals=residuals,
        parameters=Parameters(base.all_names, best.theta, best.std, best.prior_std),
        coupled={
            base.all_names[k]: float(best.theta[k])
            for k in range(len(best.theta))
            if "m" in base.all_names[k]
        },
        drives=drives,
        smallest=smallest,
        cutoff=equations.motion.cutoff,
        log=log.label,
        notes=tuple(notes),
        equations=equations,
        validation=other,
    )


def _relative(equations: Equations, theta: Vector) -> Vector:
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
