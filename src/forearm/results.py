"""What functions with several outputs give: named tuples, and the terms of a torque.

A kernel with several outputs gives a named tuple of them. Those that users meet have a class here, so that checkers
of types know their fields; the others are made from the names of the outputs.
"""

from collections import namedtuple
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from forearm.algebra import Matrix, Vector


class Energy(NamedTuple):
    """Energies of the whole arm [J]."""

    kinetic: Vector
    """Kinetic energy (...), the rotors' included."""
    potential: Vector
    """Potential energy (...), zero at the world's origin."""


class Reactions(NamedTuple):
    """What each joint carries: link i-1 on link i, axes of link i, at origin i-1."""

    force: Matrix
    """Forces (..., n, 3) [N]."""
    moment: Matrix
    """Moments (..., n, 3) [N m]."""


class JointReactions(Reactions):
    """Reactions that know their joints: of the six numbers of a joint the drive supplies one, the bearing five.

    Still the pair (force, moment); the split is made when it is asked for.
    """

    split: Callable[[Any, Any], tuple[Vector, Matrix, Matrix]]
    """From (force, moment) to what the drive supplies and what the bearing carries."""

    @property
    def drive(self) -> Vector:
        """What the drive supplies along its axis (..., n): the rigid arm's torque [N m], or force [N]."""
        return self.split(*self)[0]

    @property
    def bearing_force(self) -> Matrix:
        """Force that the bearing carries (..., n, 3) [N]: across the axis where the joint slides, else all of it."""
        return self.split(*self)[1]

    @property
    def bearing_moment(self) -> Matrix:
        """Moment that the bearing carries (..., n, 3) [N m]: across the axis where the joint turns, else all of it."""
        return self.split(*self)[2]


class Derivatives(NamedTuple):
    """Derivatives of the torques, [..., i, j] = d tau_i / d q_j."""

    dq: Matrix
    """d tau/d q (..., n, n)."""
    dqd: Matrix
    """d tau/d qd (..., n, n)."""


class ForwardDerivatives(NamedTuple):
    """Derivatives of the accelerations, [..., i, j] = d qdd_i / d q_j."""

    dq: Matrix
    """d qdd/d q (..., n, n)."""
    dqd: Matrix
    """d qdd/d qd (..., n, n)."""
    dtau: Matrix
    """d qdd/d tau (..., n, n): the inverse of M."""


class SecondDerivatives(NamedTuple):
    """Second derivatives of the torques, [..., i, j, k] = d² tau_i / d_j d_k; with `weights`, [..., j, k] of λᵀ τ.

    The two inputs are in the order of the name: j counts the first. All other second derivatives are zero.
    """

    dqq: Matrix
    """By q and q, symmetric (..., n, n, n)."""
    dqdqd: Matrix
    """By qd and qd, symmetric: twice the Christoffel symbols, and the curve of friction."""
    dqqd: Matrix
    """By q and qd."""
    dqqdd: Matrix
    """By q and qdd: [i, j, k] = d M_ik / d q_j."""


class SecondForwardDerivatives(NamedTuple):
    """Second derivatives of the accelerations, [..., i, j, k] = d² qdd_i / d_j d_k.

    With `weights`, those of λᵀ qdd, [..., j, k].
    The two inputs are in the order of the name: j counts the first. All other second derivatives are zero.
    """

    dqq: Matrix
    """By q and q, symmetric (..., n, n, n)."""
    dqdqd: Matrix
    """By qd and qd, symmetric."""
    dqqd: Matrix
    """By q and qd."""
    dqtau: Matrix
    """By q and tau: [i, j, k] = d (M⁻¹)_ik / d q_j."""


class HessianTimes(NamedTuple):
    """The Hessian of λᵀ τ times a direction: how its gradient changes along it."""

    by_q: Vector
    """The rate of the gradient by q (..., n)."""
    by_qd: Vector
    """The rate of the gradient by qd (..., n)."""
    by_qdd: Vector
    """The rate of the gradient by qdd (..., n)."""


class ForwardHessianTimes(NamedTuple):
    """The Hessian of λᵀ qdd times a direction: how its gradient changes along it."""

    by_q: Vector
    """The rate of the gradient by q (..., n)."""
    by_qd: Vector
    """The rate of the gradient by qd (..., n)."""
    by_tau: Vector
    """The rate of the gradient by tau (..., n)."""


class RolloutGradient(NamedTuple):
    """How a number depends on what made a motion."""

    by_q0: Vector
    """By the positions at the beginning (..., n)."""
    by_qd0: Vector
    """By the speeds at the beginning (..., n)."""
    by_tau: Matrix
    """By the torques of each step (..., steps, n)."""


class RolloutSensitivity(NamedTuple):
    """How the state [q; qd] at the end of a motion depends on what made it."""

    by_q0: Matrix
    """By the positions at the beginning (..., 2n, n)."""
    by_qd0: Matrix
    """By the speeds at the beginning (..., 2n, n)."""
    by_tau: Any
    """By the torques of each step (..., steps, 2n, n)."""


class GainGradient(NamedTuple):
    """How a number depends on the gains of the law that made a motion."""

    by_q0: Vector
    """By the positions at the beginning (..., n)."""
    by_qd0: Vector
    """By the speeds at the beginning (..., n)."""
    by_gains: dict[str, Any]
    """By each gain, by name (..., *shape)."""


@dataclass(frozen=True)
class Terms:
    """What the torque is made of; the fields sum to `total`."""

    inertial: Vector
    """M qdd of the rigid arm (..., n)."""
    centrifugal: Vector
    """Σ C[i, j, j] qd_j²."""
    coriolis: Vector
    """Σ C[i, j, k] qd_j qd_k over j different from k."""
    gravity: Vector
    """g(q)."""
    rotor: Vector
    """Reflected rotor inertia times qdd."""
    friction: Vector
    """Viscous and dry friction."""
    external: Vector
    """- Jᵀ f of the wrench."""

    @property
    def total(self) -> Vector:
        """The torque (..., n)."""
        return (
            self.inertial
            + self.centrifugal
            + self.coriolis
            + self.gravity
            + self.rotor
            + self.friction
            + self.external
        )


_DECLARED: tuple[Any, ...] = (
    *(Energy, Reactions, Derivatives, ForwardDerivatives),
    *(SecondDerivatives, SecondForwardDerivatives, HessianTimes, ForwardHessianTimes, RolloutGradient),
)
_CLASSES = {kind._fields: kind for kind in _DECLARED}


def results_of(names: Iterable[str]) -> Any:
    """The named tuple for outputs of these names; kernels on every target give the same one."""
    fields = tuple(names)
    return _CLASSES.get(fields) or namedtuple("Results", fields, rename=True)  # type: ignore[misc]
