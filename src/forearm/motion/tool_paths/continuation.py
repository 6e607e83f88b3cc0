"""Joint positions along poses of the tool: from a start onward in one piece, never from branch to branch.

This is the seam to inverse kinematics: `follow` gives joint positions at the knots of a route, `onto` brings guesses
onto it to rounding, many at once. Both use poses and Jacobians alone.
"""

from typing import Any, NoReturn

import numpy as np

from forearm import dynamics
from forearm.algebra import Matrix, Vector
from forearm.arm import Arm
from forearm.faults import StateFault
from forearm.motion.tool_paths.tool_legs import ToolPoses, ToolRoute

CLOSE = 1e-12
"""Error of a pose that is as good as none [m, rad]."""
FAR = 1e-7
"""Error with which a path counts as left [m, rad]."""
SINGULAR = 5e-3
"""Least singular value of the Jacobian, as a share of its greatest, below which speeds run away."""
HALVINGS = 12
"""How often the way between two knots is halved in search of a singularity."""
MOST_STEPS = 20
"""Newton's steps for a pose nearby."""
STEP = 0.3
"""Greatest change of a joint in one of them [rad, m]."""


def errors(poses: ToolPoses, reached: Matrix, rows: Any) -> Vector:
    """What is missing to poses, linear and angular (K, rows), world axes."""
    apart = poses.R @ np.swapaxes(reached[:, :3, :3], 1, 2)
    twist = 0.5 * np.stack(
        [apart[:, 2, 1] - apart[:, 1, 2], apart[:, 0, 2] - apart[:, 2, 0], apart[:, 1, 0] - apart[:, 0, 1]],
        axis=-1,
    )
    return np.concatenate([poses.p - reached[:, :3, 3], twist], axis=1)[:, rows]


def onto(arm: Arm, q: Vector, poses: ToolPoses, rows: Any) -> tuple[Vector, Vector]:
    """Guesses (K, n) brought onto poses by Newton's method, the shortest way; and the largest error of each (K,)."""
    q = np.array(q, dtype=float)
    for _ in range(MOST_STEPS):
        error = errors(poses, dynamics.pose(arm, q), rows)
        size = np.max(np.abs(error), axis=1)
        if np.all(size < CLOSE):
            break
        J = dynamics.jacobian(arm, q)[:, rows]
        q += np.clip(_solved(J, error), -STEP, STEP)
    return q, size


def _solved(J: Matrix, b: Vector) -> Vector:
    """The shortest x with J x = b, in the least squares sense where there is none."""
    return (np.linalg.pinv(J, rcond=1e-9) @ b[..., None])[..., 0]


def rates(
    arm: Arm, q: Vector, poses: ToolPoses, rows: Any, free: tuple[Vector, Vector]
) -> tuple[Vector, Vector]:
    """q' and q'' (K, n) along poses; what the tool does not ask for follows `free`, as far as the tool allows."""
    J = dynamics.jacobian(arm, q)[:, rows]
    back = np.linalg.pinv(J, rcond=1e-9)

    def with_free(wanted: Vector, other: Vector) -> Vector:
        missing = wanted - (J @ other[..., None])[..., 0]
        return other + (back @ missing[..., None])[..., 0]

    qd = with_free(poses.rate[:, rows], free[0])
    drift = dynamics.jacobian_rate(arm, q, qd)[:, rows]
    return qd, with_free(poses.second[:, rows] - drift, free[1])


def follow(arm: Arm, start: Vector, route: ToolRoute, knots: Vector, rows: Any) -> Vector:
    """Joint positions at knots of a route (M, n), each found from the one before it."""
    found = np.empty((len(knots), arm.n))
    found[0] = start
    whole = route.poses(knots)
    for k in range(len(knots) - 1):
        guess = _ahead(arm, found[k], whole, k, knots[k + 1] - knots[k], rows)
        target = ToolPoses(*(part[k + 1 : k + 2] for part in whole))
        q, error = onto(arm, guess[None], target, rows)
        if not error[0] < FAR:
            _out_of_reach(arm, whole.p[k + 1], knots[k + 1] / knots[-1])
        found[k + 1] = q[0]
    _refuse_singular(arm, found, route, knots, rows)
    return found


def _ahead(arm: Arm, q: Vector, poses: ToolPoses, k: int, step: float, rows: Any) -> Vector:
    """A guess for the next knot: the rates that the tool asks for, half a step ahead (the midpoint rule)."""
    half = q + 0.5 * step * _solved(dynamics.jacobian(arm, q)[rows], poses.rate[k, rows])
    rate = 0.5 * (poses.rate[k, rows] + poses.rate[k + 1, rows])
    return q + np.clip(step * _solved(dynamics.jacobian(arm, half)[rows], rate), -STEP, STEP)


def _out_of_reach(arm: Arm, p: Vector, share: float) -> NoReturn:
    raise StateFault(
        f"tool_path: arm {arm.name!r} does not reach its path {100 * share:.0f} % along it, at ({p[0]:.4g}, "
        f"{p[1]:.4g}, {p[2]:.4g}) m turned as asked; move it nearer, or turn the tool otherwise."
    )


def _refuse_singular(arm: Arm, q: Vector, route: ToolRoute, knots: Vector, rows: Any) -> None:
    """Refuse a singularity at the knots, and between them wherever joints move far enough for one to lie there."""
    s, share = knots, _share(arm, q, rows)
    for _ in range(HALVINGS):
        if np.min(share) < SINGULAR:
            break
        near = np.minimum(share[1:], share[:-1]) - 0.5 * np.sum(np.abs(np.diff(q, axis=0)), axis=1)
        between = np.flatnonzero(near < SINGULAR)
        if not len(between):
            return
        middle = 0.5 * (s[between] + s[between + 1])
        halfway, error = onto(arm, 0.5 * (q[between] + q[between + 1]), route.poses(middle), rows)
        value = np.where(error < FAR, _share(arm, halfway, rows), 0.0)  # lost on the way: as if it were one
        s, q = np.insert(s, between + 1, middle), np.insert(q, between + 1, halfway, axis=0)
        share = np.insert(share, between + 1, value)
    k = int(np.argmin(share))
    if share[k] < SINGULAR:
        p = route.poses(s[k : k + 1]).p[0]
        raise StateFault(
            f"tool_path: arm {arm.name!r} passes a singularity {100 * s[k] / s[-1]:.0f} % along its path, at "
            f"({p[0]:.4g}, {p[1]:.4g}, {p[2]:.4g}) m: there joints would have to turn without bound; go round it, or "
            "begin from another posture."
        )


def _share(arm: Arm, q: Vector, rows: Any) -> Vector:
    """The least singular value of the Jacobian over its greatest (K,)."""
    values = np.linalg.svd(dynamics.jacobian(arm, q)[:, rows], compute_uv=False)
    share: Vector = values[:, -1] / values[:, 0]
    return share
