"""Rows of a motion that a page plays: all of a short one, some of a long one, and how far that is from the others."""

import logging
from pathlib import Path

import numpy as np

from forearm import dynamics
from forearm.arm import Arm
from forearm.faults import StateFault, a_or_an, motion_rows
from forearm.motion.between_rows.missed_peaks import between
from forearm.motion.feasibility import feasible
from forearm.motion.instants import looked_at
from forearm.motion.limit_excesses import LimitExcess, limit_excesses
from forearm.motion.motion_files import Recorded, read_motion
from forearm.motion.motions import Motion, Samples
from forearm.motion.slope_checks import row_notes
from forearm.outside.libraries.scipy_parts import scipy_part

LOG = logging.getLogger("forearm")

AnyMotion = Motion | Samples | Recorded | str | Path
"""A motion, its rows, a recording, or the file of one."""
MOST_SAMPLES = 301
"""Rows of a motion in a page; between them it is a polynomial of fifth degree."""
SHOWN = 8
"""Even rows of each piece of a motion with which a page shows it: where one has fewer, it is looked at closely."""


def samples_of(arm: Arm, motion: AnyMotion) -> Samples:
    """A motion as rows from time zero on: a Motion, Samples, a recording or its file."""
    if isinstance(motion, (str, Path)):
        motion = read_motion(motion, arm)
        for note in motion.notes:
            LOG.warning("%s", note)
    found: object = motion.samples if isinstance(motion, Recorded) else motion
    if isinstance(found, Motion):
        found = found.sample(looked_at(found, MOST_SAMPLES, "motion"))
    if not isinstance(found, Samples):
        raise StateFault(
            f"motion is {a_or_an(type(motion).__name__)}; give a Motion, Samples, or the path of a motion file."
        )
    if found.q.ndim != 2 or found.q.shape[-1] != arm.n or len(found.t) < 2:
        raise StateFault(
            f"motion: q has shape {found.q.shape}; arm {arm.name!r} has {arm.n} joints, so give two rows or more of "
            f"{arm.n} numbers."
        )
    motion_rows("motion", arm, **found._asdict())
    for note in row_notes(arm, found) if found is motion else ():
        LOG.warning("%s", note)
    return Samples(found.t - found.t[0], found.q, found.qd, found.qdd)


def played(arm: Arm, motion: AnyMotion) -> tuple[Samples, tuple[str, ...]]:
    """The rows that a page plays, and notes: limits that they pass, and how far its motion is from rows left out."""
    given = motion
    if (
        isinstance(motion, Motion)
        and np.min(np.diff(motion.breaks)) >= SHOWN * motion.duration / MOST_SAMPLES
    ):
        motion = motion.sample(MOST_SAMPLES)
    samples = samples_of(arm, motion)
    beyond = tuple(f"joint {excess}" for excess in _beyond(arm, given, samples))
    count = len(samples.t)
    if count <= MOST_SAMPLES:
        return samples, beyond
    rows = np.unique(np.linspace(0, count - 1, MOST_SAMPLES).round().astype(int))
    kept = Samples(*(column[rows] for column in samples))
    return kept, (
        *beyond,
        f"the motion has {count} rows, and the page plays {len(rows)} of them, polynomials of fifth degree between: "
        f"{_beside(arm, samples, kept)}",
    )


def _beyond(arm: Arm, motion: AnyMotion, samples: Samples) -> tuple[LimitExcess, ...]:
    """Limits of the arm that a motion passes: a page plays it all the same."""
    if arm.dynamics:
        return feasible(arm, motion if isinstance(motion, Motion) else samples).excesses
    seen = between(arm, samples, None)
    rows = samples if seen is None else seen.samples
    found = limit_excesses(arm, rows.t, rows.q, rows.qd)
    return tuple(found[()])


def _beside(arm: Arm, samples: Samples, kept: Samples) -> str:
    """How far what is played is from the rows, for the joint that is farthest from its torques (or positions)."""
    interpolate = scipy_part("interpolate")
    curve = interpolate.BPoly.from_derivatives(kept.t, np.stack(kept[1:], axis=1))
    shown = [curve(samples.t, order) for order in range(3)]
    far = np.abs(shown[0] - samples.q).max(axis=0)
    if not arm.dynamics:
        j = int(np.argmax(far))
        return f"joint {arm.joint_names[j]!r} is up to {far[j]:.2g} {_unit(arm, j, 'rad', 'm')} beside them"
    tau = np.asarray(dynamics.inverse_dynamics(arm, *samples[1:]))
    off = np.abs(np.asarray(dynamics.inverse_dynamics(arm, *shown)) - tau).max(axis=0)
    largest = np.abs(tau).max(axis=0)
    j = int(np.argmax(off / np.where(largest > 0, largest, 1.0)))
    return (
        f"joint {arm.joint_names[j]!r} is up to {far[j]:.2g} {_unit(arm, j, 'rad', 'm')} beside them, its torque up to "
        f"{off[j]:.2g} of {largest[j]:.3g} {_unit(arm, j, 'N m', 'N')}"
    )


def _unit(arm: Arm, j: int, turning: str, sliding: str) -> str:
    return turning if arm.links[j].revolute else sliding
