"""Each column of torques held against the motion of every joint: whose it is, and which way round.

A joint's torque is nearly a sum of what the given arm needs there and of its own dry friction, speed, acceleration and
an offset, each times a number of any size and sign. So a column that the motion of another joint explains, and its own
does not, belongs to that joint, whatever unit it is in; and where friction would have to drive the arm, the column has
the other sign. Both hold for small wrists too, of which the given arm needs next to nothing, and where friction is
nearly all there is.
"""

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from forearm.algebra import Matrix, Vector
from forearm.arm import Arm
from forearm.dynamics import inverse_dynamics
from forearm.faults import StateFault
from forearm.identification.drive_columns import drive_columns
from forearm.identification.torque_rows import TorqueEquations
from forearm.outside.libraries.scipy_parts import scipy_part

MUCH = 0.25
"""Share of a torque's square, from which on its own joint does not explain it."""
SWAPPED = 0.2
"""Columns are swapped where the other way round leaves less than this of what they leave as they are."""
DEGREES = 0.04
"""Positions are in degrees or millimetres where the given arm, if they are, leaves less than this of what it leaves,"""
EXPLAINED = 0.25
"""and less than this of the torques (squares, both)."""
RULES = 0.15
"""A joint's torque may have the other sign where more than this share of it is left as it is,"""
TURNED, BY_FRICTION = 0.85, 0.5
"""and turned round less than this of that: where the given arm says so too, and where friction alone does."""


@dataclass(frozen=True, eq=False)
class JointMotion:
    """What the torque of a joint is made of, each (K, n), filtered as the torques are."""

    need: Matrix
    """What the bodies of the given arm need."""
    turnover: Matrix
    """What dry friction is proportional to."""
    qd: Matrix
    """Speeds."""
    qdd: Matrix
    """Accelerations."""

    def columns(self, joint: int) -> Matrix:
        """Those of one joint, dry friction and speed at first, each of length one (K, 5)."""
        parts = [x[:, joint] for x in (self.turnover, self.qd, self.need, self.qdd)]
        found = np.stack([*parts, np.ones(len(self.qd))], axis=1)
        return found / np.maximum(np.linalg.norm(found, axis=0), 1e-300)

    def unexplained(self, tau: Matrix) -> Matrix:
        """Share of the square of each column (n,) that the motion of each joint leaves (n, n)."""
        each = tau - tau.mean(axis=0)
        left = []
        for joint in range(tau.shape[1]):
            Q = np.linalg.qr(self.columns(joint))[0]
            left.append(np.sum((each - Q @ (Q.T @ each)) ** 2, axis=0))
        return np.stack(left, axis=1) / np.maximum(np.sum(each**2, axis=0), 1e-300)[:, None]


def joint_motion(arm: Arm, equations: TorqueEquations) -> JointMotion:
    """The motion of every joint along a log."""
    motion, thin = equations.motion, equations.motion.thinning
    drives = drive_columns(arm, rotors=False, directions=False, smoothing=None, coupling=None)
    dry = motion.coarsening(drives.turnover(motion.fine_qd)[:, : arm.n])
    need = inverse_dynamics(arm.without_drives(), motion.q, motion.qd, motion.qdd)
    return JointMotion(*(thin(x) for x in (need, dry, motion.qd, motion.qdd)))


def refuse_other_positions(arm: Arm, label: str, equations: TorqueEquations) -> None:
    """Refuse positions of a small motion in degrees or millimetres that could be SI, but not of the arm's torques."""
    motion, thin = equations.motion, equations.motion.thinning
    turns = np.array([link.revolute for link in arm.links])
    states = motion.q, motion.qd, motion.qdd

    def left(factor: Vector | float) -> float:
        need = thin(inverse_dynamics(arm, *(x * factor for x in states)))
        return float(np.sum(((need - equations.tau) / np.max(equations.scale)) ** 2))

    whole = float(np.sum((equations.tau / np.max(equations.scale)) ** 2))
    most = min(DEGREES * left(1.0), EXPLAINED * whole)
    units = {
        "degrees": ("radians", np.where(turns, np.pi / 180.0, 1.0), "degrees=True"),
        "millimetres": ("metres", np.where(turns, 1.0, 1e-3), "metres"),
        "degrees and millimetres": ("SI units", np.where(turns, np.pi / 180.0, 1e-3), "radians and metres"),
    }
    for unit, (ours, factor, instead) in units.items():
        if np.any(factor != 1.0) and left(factor) < most:
            raise StateFault(
                f"{label}: arm {arm.name!r} explains these torques where its positions are in {unit}, and does not "
                f"where they are in {ours}. In {unit}? Then give {instead}; if the given arm is that far off, "
                "check=False (--no-check)."
            )


def refuse_swapped(arm: Arm, label: str, equations: TorqueEquations, moved: JointMotion) -> None:
    """Refuse torques, or positions, of two joints that stand in each other's columns."""
    left = moved.unexplained(equations.tau)
    own = np.diag(left)
    if not np.any(own > MUCH):
        return
    name = arm.joint_names
    for i, j in combinations(range(arm.n), 2):
        if max(own[i], own[j]) > MUCH and left[i, j] + left[j, i] < SWAPPED * (own[i] + own[j]):
            raise StateFault(
                f"{label}: torques of {name[i]} look like those of {name[j]}, and the other way round (their own "
                f"motion leaves {own[i]:.0%} and {own[j]:.0%} of their squares, the other's {left[i, j]:.0%} and "
                f"{left[j, i]:.0%}): are columns swapped? Give each joint its own; if the given arm is that far off, "
                "check=False (--no-check)."
            )
    for i, j in combinations(range(arm.n), 2):
        after = np.diag(_swapped(arm, equations, moved, i, j).unexplained(equations.tau))
        if after.sum() < SWAPPED * own.sum():
            raise StateFault(
                f"{label}: torques are explained where positions of {name[i]} and {name[j]} change places, and are not "
                f"as they are ({after.mean():.0%} of their squares are left, {own.mean():.0%} now): are columns "
                "swapped? Give each joint its own; if the given arm is that far off, check=False (--no-check)."
            )


def _swapped(arm: Arm, equations: TorqueEquations, moved: JointMotion, i: int, j: int) -> JointMotion:
    order = np.arange(arm.n)
    order[[i, j]] = j, i
    motion = equations.motion
    states = (x[:, order] for x in (motion.q, motion.qd, motion.qdd))
    need = motion.thinning(inverse_dynamics(arm.without_drives(), *states))
    return replace(moved, need=need, **{k: getattr(moved, k)[:, order] for k in ("turnover", "qd", "qdd")})


def turned_round(equations: TorqueEquations, moved: JointMotion, counts: Vector) -> Vector:
    """Which joints (n,) have torques that their motion explains the other way round, and not as they are.

    Friction resists, and what the given arm needs at a joint that counts is needed; neither tells a sign where an
    offset says the same, as while a joint goes one way only.
    """
    found = []
    for joint in range(equations.n):
        columns, tau = moved.columns(joint), equations.tau[:, joint]
        signed = 3 if counts[joint] else 2
        free = np.linalg.qr(columns[:, signed:])[0]
        each, rest = (x - free @ (free.T @ x) for x in (columns[:, :signed], tau))
        left, turned = (scipy_part("optimize").nnls(each, x)[1] for x in (rest, -rest))
        size = float(np.linalg.norm(tau - tau.mean()))
        found.append(left > RULES * size and turned < (TURNED if counts[joint] else BY_FRICTION) * left)
    return np.array(found)
