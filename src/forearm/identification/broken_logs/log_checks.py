"""What is wrong with a log: found, named, and refused unless it is mended on request. Nothing is guessed in silence.

clipping    torques that stay at their largest value: an amplifier at its limit
sign        torques of the other sign
unit        torques in another unit, or on the motors' side of the gears
shift       torques earlier or later than positions (in `clocks`)
unexcited   parameters that this motion does not show
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from forearm.algebra import Matrix, Vector
from forearm.arm import Arm
from forearm.dynamics import inverse_dynamics
from forearm.faults import StateFault
from forearm.identification.base_columns import BaseColumns, full_columns
from forearm.identification.broken_logs.torque_columns import (
    joint_motion,
    refuse_other_positions,
    refuse_swapped,
    turned_round,
)
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
ODD, ALIKE, LIKE = 1.3, 0.15, 0.95
"""One factor on all joints is odd from here on, where theirs are so near each other and torques so much alike."""
UNITS = {"N mm": 1e3, "N cm": 100.0, "kgf cm": 10.197, "inch pounds": 8.851, "kgf m": 0.10197, "kN m": 1e-3}
"""Units that torques are given in by mistake, and how many of them are one N m."""
BEYOND = 3.0
"""Torques so many times beyond the limit of a drive are none that it made."""
COUNTS = 0.05
"""A joint counts where the given arm needs this share of the largest torque."""


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


def moved_marks(t: Vector, marked: Matrix, delay: float) -> Matrix:
    """Marks (K, n) of a log whose torques were moved to be earlier by so much; torques that it has none for, too."""
    if not delay:
        return marked
    later = t + delay
    moved = np.stack([np.interp(later, t, column.astype(float)) > 0 for column in marked.T], axis=1)
    return moved | ((later < t[0]) | (later > t[-1]))[:, None]


def wide_marks(t: Vector, marked: Matrix, width: float) -> Matrix:
    """Marks (K, n) on all rows that a marked one could be moved to, earlier or later by so much [s]."""
    if not marked.any():
        return marked
    reach = max(1, math.ceil(width / float(np.median(np.diff(t)))))
    total = np.cumsum(np.concatenate([np.zeros((1, marked.shape[1])), marked]), axis=0)
    rows = np.arange(len(t))
    return total[np.minimum(rows + reach + 1, len(t))] > total[np.maximum(rows - reach, 0)]


def check_torques(arm: Arm, label: str, equations: TorqueEquations, mend: Sequence[str]) -> Vector:
    """Refuse torques of another sign or unit than the given arm needs; signs to multiply with (n,), where mended."""
    refuse_other_positions(arm, label, equations)
    moved = joint_motion(arm, equations)
    refuse_swapped(arm, label, equations, moved)
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
    _refuse_beyond_drives(arm, label, equations.tau)
    wrong = (~counts | (like < -0.5)) & turned_round(equations, moved, counts)
    if not wrong.any():
        return np.ones(arm.n)
    if "sign" in mend:
        whole = (wrong & counts).sum() == (counts & (np.abs(like) > 0.5)).sum()
        return np.where(wrong | whole, -1.0, 1.0)
    names = ", ".join(arm.joint_names[i] for i in np.flatnonzero(wrong))
    which = "all joints" if np.all(wrong[counts]) else names
    why = (
        f"(correlation {np.min(like[wrong]):.2f})" if np.any(wrong & counts) else "(friction would drive it)"
    )
    raise StateFault(
        f"{label}: torques of {which} have the other sign than arm {arm.name!r} needs {why}: torques here are what the "
        "drives exert on the arm. Turn them round, or let it be done: mend=['sign'] (--mend sign)."
    )


def one_factor(arm: Arm, equations: TorqueEquations) -> list[str]:
    """A warning where torques are those of the given arm but for one factor, as of gains, which no fit can see."""
    need = torques_of(arm, equations.motion) if arm.dynamics else np.zeros((1, arm.n))
    size = np.sqrt(np.mean(need**2, axis=0))
    counts = size > COUNTS * np.max(size)
    if np.sum(counts) < 2 or not np.all(equations.scale[counts] > 0):
        return []
    slope = (np.sum(need * equations.tau, axis=0)[counts]) / np.sum(need**2, axis=0)[counts]
    factor = float(np.median(slope))
    apart = float(np.max(np.abs(slope / factor - 1.0))) if factor > 0 else np.inf
    like = slope * size[counts] / equations.scale[counts]
    if 1 / ODD < factor < ODD or apart > ALIKE or np.min(like) < LIKE:
        return []
    return [
        f"WARNING: torques are {factor:.3g} times those of arm {arm.name!r}, alike at all joints that carry much, and "
        "bodies are found that need them: gains (of peak or of rms current?), a known load that weighs something else, "
        "a load that nobody named, another unit? If the given arm is that far off, all is well."
    ]


def _refuse_beyond_drives(arm: Arm, label: str, tau: Matrix) -> None:
    """Refuse torques that the arm's drives cannot make: another unit, which a light joint shows nowhere else."""
    for i, link in enumerate(arm.links):
        most = float(np.max(np.abs(tau[:, i])))
        if link.effort_limit and most > BEYOND * link.effort_limit:
            unit = "N m" if link.revolute else "N"
            raise StateFault(
                f"{label}: the torque of joint {link.name!r} goes to {most:.4g} {unit}, its limit is "
                f"{link.effort_limit:g}: in another unit, such as N mm? Give N m; if the limit is wrong, check=False "
                "(--no-check)."
            )


def _unit(factor: float) -> str:
    unit, value = min(UNITS.items(), key=lambda item: abs(np.log(factor / item[1])))
    said = f"In {unit}? Give N m." if abs(np.log(factor / value)) < 0.4 else ""
    motors = "On the motors' side of the gears? Then give coupling=, the reductions, or gains= for currents."
    if factor < 1:
        return f"{said} {motors}".strip()
    return said or "Another unit, or gains too large? Give N m at the joints."


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
