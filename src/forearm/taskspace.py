"""Dynamics in other coordinates: at the tool, and in linear combinations of the joints."""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from forearm import dynamics, faults
from forearm.algebra import Matrix, States, Vector, is_number
from forearm.arm import Arm
from forearm.compiler.call.foreign_arrays import on_natives
from forearm.frames import frozen_array
from forearm.robot import Robot


@dataclass(frozen=True)
class Task:
    """The equation of motion at a frame: force = inertia @ acceleration + bias + gravity."""

    inertia: Matrix
    """Λ = (J M⁻¹ Jᵀ + damping² E)⁻¹ (..., 6, 6)."""
    bias: Vector
    """Λ (J M⁻¹ (C qd + friction) - dJ/dt qd) (..., 6); `arm.without_drives()` has no friction."""
    gravity: Vector
    """Λ J M⁻¹ g (..., 6)."""
    jacobian: Matrix
    """J (..., 6, n), [linear; angular], world axes."""
    jacobian_rate: Vector
    """dJ/dt qd (..., 6)."""
    condition: Vector
    """Condition number of J M⁻¹ Jᵀ (...): large near a singular pose."""


@faults.explained
def task(arm: Arm | Robot, q: States, qd: States, frame: str | int = "tool", *, damping: float = 0.0) -> Task:
    """Operational-space inertia, bias and gravity of a frame; `damping` is explicit, never added silently."""
    faults.needs_arm(arm)
    if not is_number(damping) or not 0 <= damping < math.inf:
        raise faults.StateFault(
            f"task of {arm.name}: damping is {damping!r}; give a number, zero or positive."
        )
    result: Task = on_natives(f"task of {arm.name}", {"q": q, "qd": qd}, partial(_task, arm, frame, damping))
    return result


def _task(arm: Arm | Robot, frame: str | int, damping: float, xp: Any, q: Any, qd: Any) -> Task:
    if xp is np:
        q, qd = faults.joint_floats(arm, "q", q), faults.joint_floats(arm, "qd", qd)
    batch = faults.joint_batch(arm, "task", q=q, qd=qd)
    kind = q.dtype if q.dtype == qd.dtype == np.float32 else np.dtype(float)
    # in double precision whatever the state is: digits are lost to the condition, and a singular pose must show
    q, qd = (xp.broadcast_to(x, (*batch, x.shape[-1])).astype(float) for x in (q, qd))
    J, rate = dynamics.jacobian(arm, q, frame), dynamics.jacobian_rate(arm, q, qd, frame)
    columns = xp.moveaxis(J, -2, 0)  # (6, ..., n)
    carried = xp.moveaxis(dynamics.solve_mass(arm, q, columns), 0, -1)  # M⁻¹ Jᵀ (..., n, 6)
    with np.errstate(invalid="ignore"):
        mobility = J @ carried
    if xp is np and not np.all(np.isfinite(mobility)):
        row = tuple(np.argwhere(~np.isfinite(mobility).all(axis=(-2, -1)))[0])
        dynamics.solve_mass(arm, q[row], J[row][0])  # says what is wrong there
    stretches = xp.linalg.svd(mobility, compute_uv=False)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        condition = stretches[..., 0] / stretches[..., -1]
        damped = (stretches[..., 0] + damping**2) / (stretches[..., -1] + damping**2)
    if bool(xp.any(~(damped <= 1e14))):
        faults.singular_pose(arm, frame, float(xp.max(condition)))
    inertia = xp.linalg.inv(mobility + damping**2 * xp.eye(6, dtype=mobility.dtype))
    gravity = dynamics.gravity_torque(arm, q)
    velocity = dynamics.bias_torque(arm, q, qd) - gravity
    project = xp.swapaxes(carried, -1, -2)
    bias = inertia @ (project @ velocity[..., None] - rate[..., None])
    weight = inertia @ project @ gravity[..., None]
    found = (inertia, bias[..., 0], weight[..., 0], J, rate, condition)
    return Task(*(x if kind == x.dtype else x.astype(kind) for x in found))


@dataclass(frozen=True)
class Coordinates:
    """Linear coordinates x of an arm: q = S x + offset, tau_x = Sᵀ tau.

    Absolute angles of a planar arm are S = lower bidiagonal (1 on the diagonal, -1 below); coupled joints are the
    transmission's matrix.
    """

    arm: Arm
    """The arm."""
    S: Any
    """Matrix (n, k) from x to q."""
    offset: Any = 0.0
    """Constant part of q (n,)."""

    @faults.explained
    def __post_init__(self) -> None:
        faults.needs_chain(self.arm, "Coordinates")
        faults.needs_arm(self.arm)
        where = f"coordinates of arm {self.arm.name!r}"
        S, offset = faults.floats(f"{where}: S", self.S), faults.floats(f"{where}: offset", self.offset)
        if offset.shape not in ((), (self.arm.n,)) or not np.all(np.isfinite(offset)):
            raise faults.StateFault(
                f"{where}: offset has shape {offset.shape}; give a finite number, or ({self.arm.n},) of them."
            )
        if S.ndim != 2 or S.shape[0] != self.arm.n or not np.all(np.isfinite(S)):
            faults.coordinate_matrix(self.arm, S.shape)
        if np.linalg.matrix_rank(S) < S.shape[1]:
            faults.coordinate_matrix(self.arm, S.shape)
        object.__setattr__(self, "S", frozen_array(S))
        object.__setattr__(self, "offset", frozen_array(offset))

    @classmethod
    @faults.explained
    def absolute(cls, arm: Arm) -> "Coordinates":
        """Absolute angles: each link's angle is measured from the base instead of from the link before.

        All about the first joint's axis, as that joint counts. For joints that turn about parallel axes; one that
        turns the other way (`flip`, or an axis that points back) has its sign in S.
        """
        faults.needs_chain(arm, "Coordinates")
        faults.needs_arm(arm)
        senses = _turning_senses(arm)
        return cls(arm, senses[:, None] * (np.eye(arm.n) - np.eye(arm.n, k=-1)))

    @faults.explained
    def joints(self, x: ArrayLike) -> Vector:
        """Joint positions of x."""
        return self._numbers("x", x) @ self.S.T + self.offset

    @faults.explained
    def rates(self, xd: ArrayLike) -> Vector:
        """Joint speeds (or accelerations) of xd (or xdd)."""
        return self._numbers("xd", xd) @ self.S.T

    def _numbers(self, name: str, value: ArrayLike) -> Vector:
        """Numbers (..., k), one for each coordinate; symbols and traced scalars stay."""
        traced = isinstance(value, np.ndarray) and value.dtype == object
        values: Any = value if traced else faults.floats(name, value)
        k = self.S.shape[1]
        if values.shape[-1:] != (k,):
            raise faults.StateFault(
                f"coordinates of arm {self.arm.name!r}: {name} has shape {values.shape}; give ({k},) or a batch "
                f"(..., {k})."
            )
        return values  # type: ignore[no-any-return]

    @faults.explained
    def inverse_dynamics(self, x: ArrayLike, xd: ArrayLike, xdd: ArrayLike) -> Vector:
        """Forces tau_x = Sᵀ tau."""
        return dynamics.inverse_dynamics(self.arm, self.joints(x), self.rates(xd), self.rates(xdd)) @ self.S

    @faults.explained
    def mass_matrix(self, x: ArrayLike) -> Matrix:
        """Sᵀ M S."""
        return self.S.T @ dynamics.mass_matrix(self.arm, self.joints(x)) @ self.S

    @faults.explained
    def gravity_torque(self, x: ArrayLike) -> Vector:
        """Sᵀ g."""
        return dynamics.gravity_torque(self.arm, self.joints(x)) @ self.S

    @faults.explained
    def coriolis_matrix(self, x: ArrayLike, xd: ArrayLike) -> Matrix:
        """Sᵀ C S."""
        return self.S.T @ dynamics.coriolis_matrix(self.arm, self.joints(x), self.rates(xd)) @ self.S

    @faults.explained
    def forward_dynamics(self, x: ArrayLike, xd: ArrayLike, force: ArrayLike) -> Vector:
        """Accelerations xdd under forces tau_x."""
        bias = dynamics.bias_torque(self.arm, self.joints(x), self.rates(xd)) @ self.S
        return np.linalg.solve(self.mass_matrix(x), (self._numbers("force", force) - bias)[..., None])[..., 0]


PARALLEL = 1e-6
"""How far apart axes may point that a description means to be parallel [rad]."""


def _turning_senses(arm: Arm) -> Vector:
    """1 for each joint that turns as the first one does, -1 for the other way (n,)."""
    senses, along = [], 1.0
    for number, link in enumerate(arm.links, 1):
        if link.prismatic or abs(along) < 1.0:
            faults.no_absolute_angles(arm, number)
        senses.append(along * link.z[2])
        x, y, z = (float(a) if is_number(a) else math.nan for a in link.pose.R[:, 2])
        along = along * math.copysign(1.0, z) if math.hypot(x, y) < PARALLEL else 0.0
    return np.array(senses) * senses[0]
