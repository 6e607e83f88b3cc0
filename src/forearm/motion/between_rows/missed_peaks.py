"""Peaks of a motion that its rows miss, for they are between them."""

from typing import NamedTuple

import numpy as np

from forearm import dynamics
from forearm.algebra import Matrix, Vector
from forearm.arm import Arm
from forearm.motion.between_rows.row_curves import with_rows_between
from forearm.motion.limit_excesses import UNITS
from forearm.motion.motions import Samples
from forearm.outside.text_table import instant
from forearm.robot import Robot

LITTLE, LOWER = 1e-3, 0.01
"""Share of a peak that rows may miss: as if they had it, and without a word."""
ROUNDING = 1e-12
"""Share of the greatest value of all joints: below it a joint has no peak, it has digits that were lost."""


class Between(NamedTuple):
    """Rows of a motion, and what lies between them where that is more than they show."""

    samples: Samples
    """The rows, and those between them."""
    tau: Vector | None
    """Their torques (K, n), if they are looked at."""
    rms: Vector | None
    """Root of their mean square over time (n,)."""
    notes: tuple[str, ...]
    """Where the rows miss more than a hundredth of a peak."""


def between(arm: Arm | Robot, rows: Samples, tau: Vector | None) -> Between | None:
    """What a motion asks for between its rows; None where they miss no peak of it.

    Args:
        arm: The arm.
        rows: Rows of a motion; their times may be None.
        tau: Torques at them (K, n), if they are looked at.
    """
    if getattr(arm, "free", False):
        return None  # a quaternion is no joint
    full, at = with_rows_between(rows)
    if np.all(at):
        return None
    whole, rms = {"position": full.q, "speed": full.qd}, None
    if tau is not None:
        whole["torque"] = torques = np.empty_like(full.q)
        torques[at] = tau
        torques[~at] = dynamics.inverse_dynamics(arm, *(x[~at] for x in full[1:]))
        whole["power"] = torques * full.qd
        rms = np.sqrt(np.trapezoid(torques**2, full.t, axis=0) / (full.t[-1] - full.t[0]))
    known = {name: values[at] for name, values in whole.items()}
    missed = {name: _missed(values, known[name], name == "position") for name, values in whole.items()}
    if not any(np.any(share > LITTLE) for share in missed.values()):
        return None
    kept = {
        name: np.clip(values, *_ends(values, known[name], name == "position"))
        for name, values in whole.items()
    }
    samples = Samples(full.t, kept["position"], kept["speed"], full.qdd)
    return Between(samples, kept.get("torque"), rms, _told(arm, full.t, whole, known, missed))


def _ends(values: Matrix, known: Matrix, of_way: bool) -> tuple[Vector, Vector]:
    """Between which ends columns stay (n,): those of the rows, each on its own, where they miss little beyond it."""
    least, most = known.min(axis=0), known.max(axis=0)
    size, digits = _sizes(values, of_way)
    little = np.maximum(LITTLE * size, digits)
    return (
        np.where(least - values.min(axis=0) > little, -np.inf, least),
        np.where(values.max(axis=0) - most > little, np.inf, most),
    )


def _missed(values: Matrix, known: Matrix, of_way: bool) -> Vector:
    """By what share the greatest sizes of columns are above those that are known (n,); of positions, of their way."""
    if of_way:
        over = np.maximum(values.max(axis=0) - known.max(axis=0), known.min(axis=0) - values.min(axis=0))
    else:
        over = np.max(np.abs(values), axis=0) - np.max(np.abs(known), axis=0)
    size, digits = _sizes(values, of_way)
    return np.divide(over, size, out=np.zeros_like(size), where=size > digits)


def _sizes(values: Matrix, of_way: bool) -> tuple[Vector, float]:
    """How large columns are (n,), those of positions by their way; and below what they are digits that were lost."""
    size = np.ptp(values, axis=0) if of_way else np.max(np.abs(values), axis=0)
    return size, ROUNDING * float(np.max(np.abs(values), initial=0.0, where=np.isfinite(values)))


def _told(
    arm: Arm | Robot,
    t: Vector,
    whole: dict[str, Matrix],
    known: dict[str, Matrix],
    missed: dict[str, Vector],
) -> tuple[str, ...]:
    """What whoever takes the rows for the motion should know, at most one sentence."""
    most = {(name, j): float(x) for name, share in missed.items() for j, x in enumerate(share) if x > LOWER}
    if not most:
        return ()
    what, j = max(most, key=lambda key: most[key])
    values, rows, link = whole[what][:, j], known[what][:, j], arm.state_links[j]
    middle = (rows.max() + rows.min()) / 2 if what == "position" else 0.0
    k, row = (int(np.argmax(np.abs(x - middle))) for x in (values, rows))
    more = f"; so it is with {len(most) - 1} more" if len(most) > 1 else ""
    return (
        f"the {len(rows)} rows miss peaks of the motion between them: the {what} of joint {link.name!r} reaches "
        f"{values[k]:.4g} {UNITS[what][0 if link.revolute else 1]} at t = {instant(float(t[k]))} s, in the rows "
        f"{rows[row]:.4g}{more}; limits are held against the motion between the rows, too",
    )
