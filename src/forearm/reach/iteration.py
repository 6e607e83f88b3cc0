"""One iteration of Levenberg and Marquardt towards a pose, on any scalar, one state.

    e(q)   what is missing: metres of position, and 2 sin(θ/2) about the axis of the rotation that is missing
    dq   = Jᵀ (J Jᵀ + μ 1)⁻¹ e      (or (Jᵀ J + μ 1)⁻¹ Jᵀ e where joints are fewer than rows), μ = damping · eᵀ e

A joint that stands at its limit and is pushed outward leaves the system for this iteration; the others do its work.
A step is at most `LONGEST` long, and ends within the limits. With a posture, the step is towards it as far as the
pose leaves it free: dq = z + Jᵀ (J Jᵀ + μ 1)⁻¹ (e - J z).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from forearm import kinematics
from forearm.algebra import Matrix, Scalar, Vector, is_zero, product, sqrt, where
from forearm.arm import Arm
from forearm.factorisation import factor, solve_factored

LONGEST = 2.0
"""Greatest length of a step [rad, m]."""
LONGEST_PULL = 0.5
"""Greatest length of a step towards the posture."""
FLOOR = 1e-14
"""Damping that stays when the error is gone: the system can be solved in a singular pose."""
NEAR = 1e-9
"""How near to its limit a joint stands at it [rad, m]."""
WIDEST = 1e-4
"""Least cos²(θ/2): half a turn away, the axis of the missing rotation is not known."""

ROWS = {
    "pose": ("position", "turn"),
    "position": ("position",),
    "orientation": ("turn",),
    "pointing": ("direction",),
    "position and pointing": ("position", "direction"),
}
"""What can be asked of a frame, and the rows of its error."""
GOAL = 12
"""Numbers of a goal: nine of the rotation, row by row, and the position."""


def iteration(arm: Arm, frame: str | int, asked: str, *, posture: bool) -> Callable[..., dict[str, Any]]:
    """The function to trace: q, goal, damping (and posture, pull) in; next q, squared error (and drift²) out."""

    def plain(q: Vector, goal: Vector, damping: Scalar) -> dict[str, Any]:
        e, J = missing(arm, frame, asked, q, goal)
        square = _dot(e, e)
        J, _ = _released(arm, q, J, [_dot(column, e) for column in J.T])
        dq = _solved(J, e, damping * square + FLOOR)
        return {"next": _within(arm, q, _shortened(dq, LONGEST)), "error": square}

    def relaxing(q: Vector, goal: Vector, damping: Scalar, posture: Vector, pull: Scalar) -> dict[str, Any]:
        e, J = missing(arm, frame, asked, q, goal)
        square = _dot(e, e)
        mu, z = damping * square + FLOOR, _shortened(posture - q, LONGEST_PULL) * pull
        first = z + _solved(J, e - product(J, z), mu)
        J, free = _released(arm, q, J, first)  # by the step itself: near the goal, the error pushes nowhere
        z = np.array([x * share for x, share in zip(z, free, strict=True)])
        dq = z + _solved(J, e - product(J, z), mu)
        following = _within(arm, q, _shortened(dq, LONGEST))
        drift = following - q
        return {"next": following, "error": square, "drift": _dot(drift, drift)}

    return relaxing if posture else plain


def missing(arm: Arm, frame: str | int, asked: str, q: Vector, goal: Vector) -> tuple[Vector, Matrix]:
    """The error of what is asked for, and the Jacobian of what takes it away."""
    R, p = kinematics.frame_pose(arm, q, frame)
    J = kinematics.frame_jacobian(arm, q, frame)
    R_goal, p_goal = goal[:9].reshape(3, 3), goal[9:]
    parts = {
        "position": lambda: (p_goal - p, J[:3]),
        "turn": lambda: (_turn(R, R_goal), J[3:]),
        "direction": lambda: (_direction(R, R_goal[:, 2]), product(R.T[:2], J[3:])),
    }
    rows = [parts[name]() for name in ROWS[asked]]
    return np.concatenate([e for e, _ in rows]), np.concatenate([block for _, block in rows])


def _turn(R: Matrix, R_goal: Matrix) -> Vector:
    """2 sin(θ/2) times the axis of the rotation from R to the goal, world axes."""
    D = product(R_goal, R.T)
    double = np.array([D[2, 1] - D[1, 2], D[0, 2] - D[2, 0], D[1, 0] - D[0, 1]])  # 2 sin(θ) times the axis
    half = (D[0, 0] + D[1, 1] + D[2, 2] + 1.0) * 0.25  # cos²(θ/2)
    return double * (0.5 / sqrt(where(half - WIDEST, half, WIDEST)))


def _direction(R: Matrix, z_goal: Vector) -> Vector:
    """2 sin(θ/2) of the turn that brings z to the goal's: about the frame's own x and y."""
    x, y, z = (_dot(R[:, k], z_goal) for k in range(3))
    half = (z + 1.0) * 0.5
    return np.array([-y, x]) * (1.0 / sqrt(where(half - WIDEST, half, WIDEST)))


def bounds(arm: Arm) -> list[tuple[float, float]]:
    """Least and greatest value of each joint, infinite where it has no limit."""
    return [link.limits or (-np.inf, np.inf) for link in arm.links]


def _released(arm: Arm, q: Vector, J: Matrix, pushes: Any) -> tuple[Matrix, list[Scalar]]:
    """The Jacobian without the joints that are pushed against their limits; 1 or 0 for each joint."""
    columns, free = [], []
    for (low, high), x, column, push in zip(bounds(arm), q, J.T, pushes, strict=True):
        share: Scalar = 1.0
        if np.isfinite(high):
            share = where(x - (high - NEAR), where(push, 0.0, 1.0), share)
        if np.isfinite(low):
            share = where((low + NEAR) - x, where(-push, 0.0, share), share)
        columns.append([a if is_zero(a) else a * share for a in column])
        free.append(share)
    return np.array(columns).T, free


def _solved(J: Matrix, e: Vector, mu: Scalar) -> Vector:
    """The damped step: by the rows' matrix or by the joints', whichever is smaller."""
    rows, n = J.shape
    if n < rows:
        A = [[_dot(J[:, i], J[:, j]) + (mu if i == j else 0.0) for j in range(n)] for i in range(n)]
        return solve_factored(*factor(np.array(A)), np.array([_dot(J[:, j], e) for j in range(n)]))
    A = [[_dot(J[i], J[j]) + (mu if i == j else 0.0) for j in range(rows)] for i in range(rows)]
    y = solve_factored(*factor(np.array(A)), e)
    return np.array([_dot(J[:, j], y) for j in range(n)])


def _shortened(step: Vector, longest: float) -> Vector:
    square = _dot(step, step)
    long = square - longest**2
    return step * where(long, longest / sqrt(where(long, square, 1.0)), 1.0)


def _within(arm: Arm, q: Vector, dq: Vector) -> Vector:
    """q + dq, joints beyond their limits set back to them."""
    found = []
    for (low, high), x in zip(bounds(arm), q + dq, strict=True):
        x = where(x - high, high, x) if np.isfinite(high) else x
        found.append(where(low - x, low, x) if np.isfinite(low) else x)
    return np.array(found)


def _dot(a: Vector, b: Vector) -> Scalar:
    """a · b without the terms that are zero by structure."""
    total: Scalar = 0.0
    for x, y in zip(a, b, strict=True):
        if not (is_zero(x) or is_zero(y)):
            total = x * y if is_zero(total) else total + x * y
    return total
