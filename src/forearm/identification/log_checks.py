"""What is wrong with a log: found, named, and refused unless it is mended on request. Nothing is guessed in silence.

clipping    torques that stay at their largest value: an amplifier at its limit
sign        torques of the other sign
unit        torques in another unit, or on the motors' side of the gears
shift       torques earlier or later than positions
unexcited   parameters that this motion does not show
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from forearm.algebra import Matrix, Vector
from forearm.arm import Arm
from forearm.dynamics import inverse_dynamics
from forearm.faults import StateFault
from forearm.identification.base_columns import BaseColumns, full_columns
from forearm.identification.drive_columns import DriveColumns
from forearm.identification.least_squares import LeastSquares
from forearm.identification.measured.filters import Filtered
from forearm.identification.measured.logs import Log
from forearm.identification.torque_rows import TorqueEquations, torques_of

MENDED = ("clipping", "sign", "shift", "unexcited")
"""What can be mended on request."""
CLIPPED = 0.003
"""Share of rows at the largest torque from which on it looks clipped."""
TOGETHER = 5
"""So many of them in a row."""
CROWDED = 4.0
"""So many times more rows than at any of the next three values: a coarse converter stays at its peaks, too."""
OFF = 5.0
"""A given arm is not wrong by more than this factor; torques are."""
UNITS = {"N mm": 1e3, "N cm": 100.0, "kgf cm": 10.197, "inch pounds": 8.851, "kgf m": 0.10197, "kN m": 1e-3}
"""Units that torques are given in by mistake, and how many of them are one N m."""
COUNTS = 0.05
"""A joint counts where the given arm needs this share of the largest torque."""
FARTHEST = 0.06
"""Shifts that are looked for [s]."""
BETTER = 0.5
"""A shift is believed where it leaves less than this of the residual's square."""
LEAST_SHIFT = 2e-3
"""Shorter ones are not worth a word [s]."""
DOUBTED = 0.97
"""A shift is worth a word where it leaves less than this (a real log of two arms on one clock each leaves 0.98)."""


def check_names(mend: Any) -> tuple[str, ...]:
    """The names of what to mend, checked."""
    names = (mend,) if isinstance(mend, str) else tuple(mend)
    for name in names:
        if name not in MENDED:
            raise StateFault(f"mend is {name!r}; give some of {', '.join(MENDED)}.")
    return names


def without_clipping(arm: Arm, log: Log, mend: Sequence[str]) -> tuple[Log, Matrix]:
    """Refuse torques that stay at their limit, or mark the rows (K, n) that do."""
    marked = np.zeros(log.tau.shape, dtype=bool)
    for i, link in enumerate(arm.links):
        tau = log.tau[:, i]
        values, counts = np.unique(tau, return_counts=True)
        for extreme, near in ((float(values[-1]), counts[-4:]), (float(values[0]), counts[3::-1])):
            at = np.abs(tau - extreme) <= 1e-9 * max(abs(extreme), 1e-300)
            changes = np.flatnonzero(np.diff(np.concatenate([[0], at.astype(int), [0]])))
            longest = int(np.max(changes[1::2] - changes[::2], initial=0))
            crowded = near[-1] > CROWDED * np.max(near[:-1], initial=0)
            if extreme == 0 or longest < TOGETHER or at.mean() < CLIPPED or np.ptp(log.q[:, i]) == 0:
                continue
            if not crowded:
                continue
            if "clipping" not in mend:
                raise StateFault(
                    f"{log.label}: the torque of joint {link.name!r} stays at {extreme:.5g} in {at.mean():.1%} of the "
                    f"rows (up to {longest} in a row): clipped, so it is not what moved the arm. Log a gentler motion, "
                    "or leave those rows out: mend=['clipping'] (--mend clipping)."
                )
            marked[:, i] |= at
    if marked.any():
        log = log.with_note(f"clipped torques left out: {marked.mean():.2%} of them")
    return log, marked


def marked_rows(motion: Filtered, log: Log, marked: Matrix) -> Matrix:
    """Which thinned rows (K', n) have a marked one in the reach of their filter."""
    if not marked.any():
        return np.zeros((0, 0), dtype=bool)
    near = np.stack([np.interp(motion.t, log.t, column.astype(float)) for column in marked.T], axis=1)
    spread = replace(motion.thinning, weights=np.abs(motion.thinning.weights))
    return spread(near) > 1e-3


def check_torques(arm: Arm, label: str, equations: TorqueEquations, mend: Sequence[str]) -> Vector:
    """Refuse torques of another sign or unit than the given arm needs; signs to multiply with (n,), where mended."""
    need = torques_of(arm, equations.motion)
    size = np.sqrt(np.mean(need**2, axis=0))
    counts = size > COUNTS * size.max()
    slope = np.sum(need * equations.tau, axis=0) / np.maximum(np.sum(need**2, axis=0), 1e-300)
    like = slope * size / np.maximum(equations.scale, 1e-300)
    factor = float(np.median(np.abs(slope[counts])))
    odd = counts & (np.abs(like) > 0.9) & ((np.abs(slope) > OFF) | (np.abs(slope) < 1 / OFF))
    if odd.any() and (not 1 / OFF < factor < OFF or odd.sum() < counts.sum()):
        said = ", ".join(f"{arm.joint_names[i]} {abs(slope[i]):.3g}" for i in np.flatnonzero(odd))
        odd_by = float(np.median(np.abs(slope[odd])))
        raise StateFault(
            f"{label}: torques are not those of arm {arm.name!r}, by these factors: {said}. {_unit(odd_by)} If the "
            "given arm is that far off, check=False (--no-check)."
        )
    _refuse_swapped(arm, label, need, equations.tau, counts)
    wrong = counts & (like < -0.5)
    if not wrong.any():
        return np.ones(arm.n)
    if "sign" in mend:
        whole = wrong.sum() == (counts & (np.abs(like) > 0.5)).sum()
        return np.where(wrong | whole, -1.0, 1.0)
    names = ", ".join(arm.joint_names[i] for i in np.flatnonzero(wrong))
    which = "all joints" if wrong.sum() == counts.sum() else names
    raise StateFault(
        f"{label}: torques of {which} have the other sign than arm {arm.name!r} needs (correlation "
        f"{float(np.min(like[wrong])):.2f}): torques here are what the drives exert on the arm. Turn them round, or "
        "let it be done: mend=['sign'] (--mend sign)."
    )


def _unit(factor: float) -> str:
    unit, value = min(UNITS.items(), key=lambda item: abs(np.log(factor / item[1])))
    said = f"In {unit}? Give N m." if abs(np.log(factor / value)) < 0.4 else ""
    motors = "On the motors' side of the gears? Then give coupling=, the reductions, or gains= for currents."
    if factor < 1:
        return f"{said} {motors}".strip()
    return said or "Another unit, or gains too large? Give N m at the joints."


def _refuse_swapped(arm: Arm, label: str, need: Matrix, tau: Matrix, counts: Vector) -> None:
    """Refuse a column of torques that is another joint's, where that one's own is none of its."""
    sizes = [np.maximum(np.linalg.norm(x, axis=0), 1e-300) for x in (tau, need)]
    like = np.abs((tau / sizes[0]).T @ (need / sizes[1]))  # column of the log, joint of the arm
    for i, name in enumerate(arm.joint_names):
        j = int(np.argmax(like[i]))
        if counts[j] and like[i, j] > 0.9 and max(like[i, i], like[j, j]) < 0.5:
            raise StateFault(
                f"{label}: torques of {name} look like those of {arm.joint_names[j]} (correlation {like[i, j]:.2f}, "
                f"with its own {like[i, i]:.2f}): are columns swapped? Give each joint its own; if the given arm is "
                "that far off, check=False (--no-check)."
            )


def refuse_driving_friction(
    arm: Arm, label: str, base: BaseColumns, fit: LeastSquares, speed: Vector
) -> None:
    """Friction that drives, far beyond its error: that joint's torque has the wrong sign."""
    names = list(base.names)
    for i, name in enumerate(arm.joint_names, 1):
        k = [names.index(f"{kind}{i}") for kind in ("FV", "FC") if f"{kind}{i}" in names]
        weights = np.array([speed[i - 1], 1.0])
        if len(k) < 2 or not np.all(np.isfinite(fit.std[k])):
            continue
        level = float(weights @ fit.values[k])
        error = float(np.sqrt(weights @ fit.covariance[np.ix_(k, k)] @ weights))
        if level < -8 * error and -level > 2 * fit.noise[i - 1]:
            raise StateFault(
                f"{label}: friction of joint {name!r} would be {level:.3g} ± {error:.1g}, driving the arm: its torque "
                "has the other sign, or its speed has. Turn it round."
            )


def refuse_silence(label: str, tau: Vector) -> None:
    """Refuse torques that are nothing but zeros: whatever is fitted to them says nothing."""
    if not np.any(tau):
        raise StateFault(f"{label}: all torques are zero; give a log in which they were measured.")


def time_shift(equations: TorqueEquations, kept: tuple[int, ...], weights: Vector) -> tuple[float, float]:
    """How much later torques are than positions [s], and what is left of the residual's square when that is mended."""
    from scipy.interpolate import CubicSpline

    motion = equations.motion
    X, _ = equations.rows(weights, list(kept))
    sizes = np.linalg.norm(X, axis=0)
    Q = np.linalg.qr(X[:, sizes > 0] / sizes[sizes > 0])[0]
    curve = CubicSpline(motion.t, motion.tau, axis=0)
    inside = np.clip(FARTHEST / float(np.mean(np.diff(equations.t))), 1, len(equations.t) // 4)
    inner = slice(int(np.ceil(inside)), -int(np.ceil(inside)))
    mask = np.zeros(equations.tau.shape, dtype=bool)
    mask[inner] = True

    def left(delay: float) -> float:
        later = curve(np.clip(motion.t + delay, motion.t[0], motion.t[-1]))
        tau = (motion.thinning(later) * weights).ravel()
        rest = tau - Q @ (Q.T @ tau)
        return float(np.sum(rest[mask.ravel()] ** 2))

    grid = np.linspace(-FARTHEST, FARTHEST, 25)
    values = np.array([left(delay) for delay in grid])
    k = int(np.argmin(values))
    best = float(grid[k])
    if 0 < k < len(grid) - 1:
        a, b, c = values[k - 1 : k + 2]
        best += 0.5 * (a - c) / max(a - 2 * b + c, 1e-300) * float(grid[1] - grid[0])
    return best, left(best) / max(left(0.0), 1e-300)


def refuse_shift(label: str, delay: float, remains: float, mend: Sequence[str]) -> list[str]:
    """Refuse a log whose torques come earlier or later than its positions; a warning where that is less sure."""
    when = "later" if delay > 0 else "earlier"
    if abs(delay) >= 0.999 * FARTHEST and remains < BETTER:
        raise StateFault(
            f"{label}: torques come {FARTHEST * 1e3:g} ms or more {when} than positions, which is more than is looked "
            "for. Give the two the same clock."
        )
    if "shift" in mend or abs(delay) <= LEAST_SHIFT or remains >= DOUBTED:
        return []
    if remains >= BETTER:
        return [
            f"WARNING: torques may come {abs(delay) * 1e3:.2g} ms {when} than positions (moved by that, {remains:.0%} "
            "of the residual's square is left), or stand still between rows; intervals do not know of that. Give the "
            "two the same clock, or let it be done: mend=['shift'] (--mend shift)"
        ]
    raise StateFault(
        f"{label}: torques come {abs(delay) * 1e3:.3g} ms {when} than positions (moved by that, {remains:.0%} of "
        f"the residual's square is left). Give the two the same clock, or let it be done: mend=['shift'] (--mend "
        "shift)."
    )


def unexcited(arm: Arm, base: BaseColumns, drives: DriveColumns, fit: LeastSquares, tau: Vector) -> list[int]:
    """Base parameters whose error alone would make a torque as large as the joint's own, on ordinary motions."""
    q, qd, qdd = arm.random_state(1, (200,))
    columns = full_columns(arm, drives, q, qd, qdd)[:, :, list(base.kept)]
    size = np.maximum(np.sqrt(np.mean(inverse_dynamics(arm, q, qd, qdd) ** 2, axis=0)), tau)
    size = np.maximum(size, COUNTS * size.max())
    matters = np.max(np.sqrt(np.mean(columns**2, axis=0)) / size[:, None], axis=0)
    return [int(k) for k in np.flatnonzero(fit.std * matters > 1.0)]


def refuse_unexcited(arm: Arm, label: str, base: BaseColumns, found: list[int], motion: Filtered) -> None:
    """Refuse a log that does not show all base parameters."""
    if not found:
        return
    still = [arm.joint_names[i] for i in range(arm.n) if np.ptp(motion.q[:, i]) < 0.02]
    why = f"joint {', '.join(still)} hardly moves" if still else "the motion is too plain, or too short"
    names = ", ".join(base.names[k] for k in found[:8]) + (" …" if len(found) > 8 else "")
    raise StateFault(
        f"{label}: does not show {len(found)} of {base.rank} base parameters ({names}): {why}. Log a motion that moves "
        "all joints at once, at several speeds (fa.excite designs one), or keep the given arm's numbers for them: "
        "mend=['unexcited'] (--mend unexcited)."
    )
