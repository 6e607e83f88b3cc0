"""Gravity, mass matrix and velocity torques of two sides, compared one by one."""

from typing import Any

import numpy as np

from forearm.algebra import Matrix
from forearm.arm import Arm
from forearm.robot import Robot
from forearm.verification.difference.causes.cause_texts import listed
from forearm.verification.difference.causes.hypotheses import Bench
from forearm.verification.difference.counterparts import Other, other_of

ROUNDING = 1e-14
"""A part of a torque that is so small beside the whole is its rounding."""


def terms_apart(
    arm: Arm | Robot, other: Other, bench: Bench, ours: Matrix
) -> tuple[tuple[str, float, str], ...]:
    """Gravity, mass matrix and velocity torques compared, where the other can be asked."""
    mine_of, theirs_of = other_of(arm, arm).torques, other.torques
    assert mine_of is not None
    if theirs_of is None:
        weight = mine_of(bench.q, 0 * bench.qd, 0 * bench.qd)  # what is added up, and may cancel
        return (("torques", *_difference(ours, bench.tau, float(np.max(np.abs(weight), initial=0.0)))),)
    q, qd = bench.q[:6], bench.qd[:6]
    mine, theirs = (_split(f, q, qd) for f in (mine_of, theirs_of))
    names = ("gravity torques", "mass matrix", "velocity torques")
    size = float(np.max(np.abs(bench.tau), initial=0.0))
    sizes = (size, 0.0, size)
    return tuple(
        (name, *_difference(a, b, s)) for name, a, b, s in zip(names, mine, theirs, sizes, strict=True)
    )


def _split(torques: Any, q: Matrix, qd: Matrix) -> tuple[Any, Any, Any]:
    still = 0 * q
    weight = torques(q, still, still)
    S, n = q.shape
    every = np.repeat(q, n, axis=0)  # all columns of M at once: one by one they take as long as each other
    columns = torques(every, 0 * every, np.tile(np.eye(n), (S, 1))) - np.repeat(weight, n, axis=0)
    return weight, columns.reshape(S, n, n).transpose(0, 2, 1), torques(q, qd, still) - weight


def _difference(mine: Any, theirs: Any, torque: float) -> tuple[float, str]:
    """Largest difference relative to the larger of the two, and what it looks like; rounding of a torque is none."""
    apart = np.asarray(theirs) - np.asarray(mine)
    apart = np.where(np.abs(apart) <= ROUNDING * torque, 0.0, apart)
    scale = max(float(np.max(np.abs(mine))), float(np.max(np.abs(theirs))), 1e-300)
    size = float(np.max(np.abs(apart))) / scale
    return size, _pattern(np.asarray(mine), np.asarray(theirs), apart, 1e-7 * scale) if size > 1e-7 else ""


def _pattern(mine: Any, theirs: Any, apart: Any, small: float) -> str:
    if np.max(np.abs(theirs)) < small:
        return "absent in the other"
    if np.max(np.abs(theirs + mine)) < small:
        return "the other sign"
    if (
        apart.ndim == 3
        and np.max(np.abs(apart - apart[0])) < small
        and np.max(np.abs(apart[0] - np.diag(np.diag(apart[0])))) < small
    ):
        return f"a constant diagonal {listed(np.diag(apart[0]))}"
    rows = np.max(np.abs(apart), axis=tuple(i for i in range(apart.ndim) if i != 1))
    joints = [str(i + 1) for i in np.flatnonzero(rows > small)]
    if len(joints) < len(rows):
        return f"only in joint {', '.join(joints)}"
    factor = float(np.sum(mine * theirs) / max(float(np.sum(mine * mine)), 1e-300))
    return f"a factor {factor:.6g}" if np.max(np.abs(theirs - factor * mine)) < small else ""
