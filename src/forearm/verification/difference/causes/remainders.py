"""Whether what a cause leaves of a difference is noise, and whether its numbers can be.

Noise has nothing to do with the motion. What is left does, where it follows positions, speeds, accelerations or
torques, or its own value of the row before, more closely than the same numbers do in any other order of the rows. Then
something else is in it, and the cause is a part at most.
"""

from typing import Any

import numpy as np

from forearm.algebra import Matrix, Vector
from forearm.arm import Arm
from forearm.robot import Robot
from forearm.verification.difference.causes.hypotheses import Bench, Cause, Fit
from forearm.verification.difference.causes.unknowns import symmetric
from forearm.verification.difference.torque_tables import rigid_torques

ORDERS = 199
"""Other orders of the rows that are tried: noise outdoes all of them once in so many times."""
ENOUGH = 20
"""Rows from which on it shows whether something that is left has to do with the motion."""
SHARE = 3
"""Rows for each function of the motion that is held against what is left, at least."""
NONE = 1e-9
"""A factor of torques that is none."""


def is_noise(bench: Bench, cause: Cause, found: Fit) -> bool:
    """Whether what a cause leaves has nothing to do with the motion, as far as so many rows show it."""
    left = found.left.reshape(-1, bench.arm.n)
    room = bench.room[found.rows]
    seen = np.flatnonzero(np.any(np.abs(left) > room, axis=0))
    if len(left) < ENOUGH or not len(seen):
        return False
    state = [part[found.rows] for part in bench.seen(cause.apply(bench.plain))]
    bases = [_basis(functions) for functions in _functions(bench.arm, state, seen, len(left) // SHARE)]
    taken = _span(found, bench.arm.n)

    def traces(rest: Matrix) -> Any:
        """How closely each joint follows the motion, and itself a row before; sums over joints, and the most."""
        rest = (rest - np.mean(rest, axis=0))[:, seen]
        sizes = np.maximum(np.sum(rest**2, axis=0), 1e-300)
        follows = [np.sum((basis.T @ rest[:, k]) ** 2) for k, basis in enumerate(bases)] / sizes
        lasts = np.sum(rest[1:] * rest[:-1], axis=0) / sizes
        return np.array([np.sum(follows), np.max(follows), np.sum(lasts), np.max(lasts)])

    rng, most = np.random.default_rng(0), np.full(4, -np.inf)
    for _ in range(ORDERS):
        mixed = left[rng.permutation(len(left))].ravel()
        mixed = mixed - taken @ (taken.T @ mixed)  # as the fit does it with noise
        most = np.maximum(most, traces(mixed.reshape(left.shape)))
    return bool(np.all(traces(left) <= most))


def _functions(arm: Arm | Robot, state: Any, joints: Any, count: int) -> Any:
    """For each of these joints, functions of the motion at each row (S, c): its own first, so many at most."""
    q, qd, qdd, _ = state
    still = 0 * qd
    whole = rigid_torques(arm, q, qd, qdd)
    weight = rigid_torques(arm, q, still, still)
    turning = rigid_torques(arm, q, qd, still) - weight
    one = np.ones(len(q))
    for i in joints:
        own = [one, whole[:, i], weight[:, i], turning[:, i], qdd[:, i]]
        own += [qd[:, i], np.sign(qd[:, i]), np.sin(q[:, i]), np.cos(q[:, i]), qd[:, i] * np.abs(qd[:, i])]
        near = sorted((j for j in range(arm.n) if j != i), key=lambda j, i=i: abs(j - i))  # type: ignore[misc]
        for part in (qdd, whole, qd, np.sin(q), np.cos(q), np.sign(qd), qd * np.abs(qd)):
            own += [part[:, j] for j in near]
        yield np.stack(own[: max(count, 4)], axis=1)


def _basis(columns: Matrix) -> Any:
    """Orthonormal columns of the same span, the mean taken off."""
    columns = columns - np.mean(columns, axis=0)
    sizes = np.linalg.norm(columns, axis=0)
    columns = columns / np.where(sizes > 1e-12 * np.max(sizes, initial=0.0), sizes, np.inf)
    u, s, _ = np.linalg.svd(columns, full_matrices=False)
    return u[:, s > 1e-9 * np.max(s, initial=1e-300)]


def _span(found: Fit, n: int) -> Any:
    """Orthonormal directions that the unknowns of a fit have taken up (S n, w)."""
    if not found.slopes:
        return np.zeros((found.left.size, 0))
    wide = found.wide / np.maximum(np.linalg.norm(found.wide, axis=0), 1e-300)
    u, s, _ = np.linalg.svd(wide, full_matrices=False)
    return u[:, s > 1e-9 * np.max(s, initial=1e-300)]


def can_be(found: Fit, arm: Arm | Robot) -> bool:
    """Whether the numbers that were found are possible: no rotor inertia, mass or stiffness of the other is below 0."""
    if "scale" in found.unknowns and abs(1 + float(found.unknowns["scale"][0])) < NONE:
        return False  # no torques at all, which any other cause would do as well
    for extra, values in found.unknowns.items():
        sizes = _sizes(extra, values, arm)
        small = 1e-6 * float(max(np.max(np.abs(values)), np.max(np.abs(sizes), initial=0.0)))
        below = [int(i) for i in np.flatnonzero(sizes < -small)]
        if extra == "coupled" and below:  # an eigenvalue may be off by as much as the entries together
            if sizes[0] < -sum(found.spread(extra, place) for place in range(len(values))):
                return False
        elif any(sizes[i] < -found.spread(extra, i) for i in below):
            return False
    return True


def _sizes(extra: str, values: Vector, arm: Arm | Robot) -> Any:
    """What the other has, of all that cannot be below zero in an extra: ours and the difference together."""
    own = np.array([float(link.drive.reflected_inertia) for link in arm.links])
    own = own @ arm.coupling_map[0] ** 2 if isinstance(arm, Robot) else own
    if extra == "armature":
        return own + values
    if extra == "coupled":
        return np.linalg.eigvalsh(np.diag(own) + symmetric(values, arm.n))
    if extra.startswith("link"):
        return values[:1] + float(arm.links[int(extra.split()[1]) - 1].mass)
    return values[: arm.n] if extra == "springs" else np.zeros(0)
