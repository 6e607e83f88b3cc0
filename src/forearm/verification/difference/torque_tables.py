"""Torques of many states at once, linear in what a hypothesis may change.

Rigid-body torques are linear in the ten numbers of each link and linear in gravity, so for given joint positions
they are two tables: tau = (Y + Σ g_k G_k) π. A hypothesis about inertias or gravity then costs one product, and
unknown numbers come out of a linear fit.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from forearm.algebra import Matrix, Vector
from forearm.arm import Arm
from forearm.drives import friction_torque
from forearm.frames import Pose
from forearm.inertia import numbers_of as ten_numbers
from forearm.link import Link
from forearm.robot import Robot
from forearm.verification.numbers.sampled_motion import moved


@dataclass(frozen=True)
class Tables:
    """Regressors of a batch of S states."""

    inertial: Any
    """Y (S, n, 10 n): torques without gravity for a unit of each number."""
    weight: Any
    """G (3, S, n, 10 n): torques of a unit of gravity along each axis of the base."""

    def torques(self, numbers: Vector, gravity: Vector) -> Matrix:
        """tau (S, n)."""
        return np.asarray(self.inertial @ numbers + np.tensordot(gravity, self.weight @ numbers, 1))


def numbers_of(arm: Arm | Robot) -> Vector:
    """The ten numbers of each link, m, h (3), xx xy xz yy yz zz about the origin: (10 n,)."""
    return np.array([x for link in arm.links for x in ten_numbers(link.ten)], dtype=float)


def all_joints(arm: Arm | Robot, rates: Matrix) -> Matrix:
    """Rates (S, n) of every joint, of those that follow others too."""
    return rates @ arm.coupling_map[0].T if isinstance(arm, Robot) else rates


def independent(arm: Arm | Robot, tau: Any) -> Any:
    """Torques (S, n) of every joint as those of the independent ones feel them."""
    return tau @ arm.coupling_map[0] if isinstance(arm, Robot) else tau


@dataclass(frozen=True)
class _Moving:
    """How a link moves, base axes, S states."""

    R: Any
    p: Any
    w: Any
    wd: Any
    acceleration: Any

    def at(self, reach: Any) -> Any:
        """Acceleration of a point that is `reach` from the origin and moves with the link."""
        return self.acceleration + _cross(self.wd, reach) + _cross(self.w, _cross(self.w, reach))


class _Felt(NamedTuple):
    """What the joints on the way to a body feel of a unit of each of its ten numbers; no other joint feels any."""

    path: list[int]
    """Those joints, from the base on."""
    inertial: Any
    """Without gravity (S, len(path), 10)."""
    weight: Any
    """Of a unit of gravity along each axis of the base (3, S, len(path), 10)."""


def tables(arm: Arm | Robot, q: Matrix, qd: Matrix, qdd: Matrix) -> Tables:
    """Regressors of a batch: each body's wrench is linear in its numbers; joints feel it through their screws."""
    S, n = len(q), len(arm.links)
    inertial, weight = np.zeros((S, n, 10 * n)), np.zeros((3, S, n, 10 * n))
    for i, felt in enumerate(_felt(arm, q, qd, qdd)):
        place = slice(10 * i, 10 * i + 10)
        inertial[:, felt.path, place] = felt.inertial
        weight[:, :, felt.path, place] = felt.weight
    if not _coupled(arm):
        return Tables(inertial, weight)
    B = arm.coupling_map[0].T
    return Tables(B @ inertial, B @ weight)


def rigid_torques(arm: Arm | Robot, q: Matrix, qd: Matrix, qdd: Matrix) -> Matrix:
    """Torques (S, n) without drives: the sum over bodies, of which no table is made."""
    numbers, pull = numbers_of(arm).reshape(-1, 10), np.array(arm.gravity_in_base, dtype=float)
    tau = np.zeros((len(q), len(arm.links)))
    for ten, felt in zip(numbers, _felt(arm, q, qd, qdd), strict=True):
        tau[:, felt.path] += felt.inertial @ ten + np.einsum("k,ksi->si", pull, felt.weight @ ten)
    return np.asarray(independent(arm, tau))


def largest_parts(arm: Arm | Robot, q: Matrix, qd: Matrix, qdd: Matrix) -> Matrix:
    """Sums of the sizes of all parts that make the torques (S, n): what rounding of torques is relative to."""
    numbers = np.abs(numbers_of(arm)).reshape(-1, 10)
    pull = np.abs(np.array(arm.gravity_in_base, dtype=float))
    sums = np.zeros((len(q), arm.n))
    B = arm.coupling_map[0] if _coupled(arm) else None
    for ten, (path, inertial, weight) in zip(numbers, _felt(arm, q, qd, qdd), strict=True):
        here: Any = path
        if B is not None:
            here, inertial, weight = slice(None), B[path].T @ inertial, B[path].T @ weight
        sums[:, here] += np.abs(inertial) @ ten + np.einsum("k,ksi->si", pull, np.abs(weight) @ ten)
    return sums


def _coupled(arm: Arm | Robot) -> TypeGuard[Robot]:
    """Whether joints follow others: where none does, the map from the independent ones changes nothing."""
    return isinstance(arm, Robot) and bool(arm.couplings)


def _felt(arm: Arm | Robot, q: Matrix, qd: Matrix, qdd: Matrix) -> Iterator[_Felt]:
    """What joints feel of each body in turn."""
    tree, parents = arm if isinstance(arm, Robot) else None, getattr(arm, "parents", range(arm.n))
    if tree:
        q = q @ tree.coupling_map[0].T + tree.coupling_map[1]
    qd, qdd = all_joints(arm, qd), all_joints(arm, qdd)
    S, still = len(q), np.zeros((len(q), 3))
    moving = [_Moving(np.broadcast_to(np.eye(3), (S, 3, 3)), still, still, still, still)]
    axes, points, paths = [], [], [list[int]()]
    for i, (link, parent) in enumerate(zip(arm.links, parents, strict=True)):
        start = _mounted(moving[parent], tree.mounts[i]) if tree else moving[parent]
        axes.append(start.R[:, :, 2] * link.z[2])
        points.append(start.p)
        paths.append([*paths[parent], i])
        moving.append(here := _carried(link, start, axes[-1], q[:, i], qd[:, i : i + 1], qdd[:, i : i + 1]))
        pushed = _wrench(here.R, here.w, here.wd, here.acceleration)
        pulled = np.array([_pull(here.R, -e) for e in np.eye(3)])
        screws = np.array([_screw(arm.links[j].revolute, axes[j], here.p - points[j]) for j in paths[-1]])
        screws = screws.transpose(1, 0, 2)
        yield _Felt(paths[-1], screws @ pushed, screws @ pulled)


def _mounted(on: _Moving, mount: Pose) -> _Moving:
    """The frame of a joint that stands on a link."""
    reach = on.R @ np.array(mount.translation, dtype=float)
    return _Moving(on.R @ np.array(mount.rotation, dtype=float), on.p + reach, on.w, on.wd, on.at(reach))


def _carried(link: Link, start: _Moving, z: Any, q: Vector, qd: Matrix, qdd: Matrix) -> _Moving:
    """How a link moves, from how the frame before its joint does."""
    rate, push = z * qd, z * qdd
    turn, step = moved(link, q)
    reach = np.einsum("sij,sj->si", start.R, step)
    if link.revolute:
        spun = replace(start, wd=start.wd + push + _cross(start.w, rate), w=start.w + rate)
        acceleration = spun.at(reach)
    else:
        spun, acceleration = start, start.at(reach) + push + 2 * _cross(start.w, rate)
    return replace(spun, R=start.R @ turn, p=start.p + reach, acceleration=acceleration)


def _screw(revolute: bool, axis: Any, arm: Any) -> Any:
    """What a joint feels of a wrench [force; moment] at the body's origin, base axes: (S, 6)."""
    if revolute:
        return np.concatenate([_cross(axis, arm), axis], axis=1)
    return np.concatenate([axis, np.zeros_like(axis)], axis=1)


def _wrench(R: Any, w: Any, wd: Any, a: Any) -> Any:
    """Force and moment at the body's origin, base axes, for a unit of each of its ten numbers: (S, 6, 10)."""
    S = len(w)
    lw, lwd, la = (np.einsum("sji,sj->si", R, v) for v in (w, wd, a))
    out = np.zeros((S, 6, 10))
    spin = _hat(lwd) + _hat(lw) @ _hat(lw)
    out[:, :3, 0] = la
    out[:, :3, 1:4] = spin
    out[:, 3:, 1:4] = -_hat(la)
    out[:, 3:, 4:] = _times_tensor(lwd) + _hat(lw) @ _times_tensor(lw)
    return np.concatenate([R @ out[:, :3], R @ out[:, 3:]], axis=1)


def _pull(R: Any, a: Vector) -> Any:
    """The same for a body that is only accelerated along a (base axes): its mass and first moment count."""
    out = np.zeros((len(R), 6, 10))
    out[:, :3, 0] = a
    out[:, 3:, 1:4] = -_hat(a[None])[0] @ R
    return out


def _cross(a: Any, b: Any) -> Any:
    """Row by row a × b; several times quicker than NumPy's for so few rows."""
    x, y, z = a.T
    u, v, w = b.T
    return np.array([y * w - z * v, z * u - x * w, x * v - y * u]).T


def _hat(v: Any) -> Any:
    zero = np.zeros(len(v))
    x, y, z = v.T
    return np.array([[zero, -z, y], [z, zero, -x], [-y, x, zero]]).transpose(2, 0, 1)


def _times_tensor(v: Any) -> Any:
    """The matrix that gives I v when it multiplies (xx, xy, xz, yy, yz, zz)."""
    zero = np.zeros(len(v))
    x, y, z = v.T
    rows = [[x, y, z, zero, zero, zero], [zero, x, zero, y, z, zero], [zero, zero, x, zero, y, z]]
    return np.array(rows).transpose(2, 0, 1)


def drive_torques(arm: Arm | Robot, qd: Matrix, qdd: Matrix) -> Matrix:
    """Rotor and friction torques (S, n)."""
    rotors = np.array([float(link.drive.reflected_inertia) for link in arm.links])
    friction = np.array([friction_torque(arm, row) for row in all_joints(arm, qd)], dtype=float)
    return np.asarray(independent(arm, all_joints(arm, qdd) * rotors + friction))
