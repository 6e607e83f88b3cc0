"""The user's functions of the second order: whole tensors, weighted sums of them, and Hessians times directions.

Exact, from the graph of the torques, like `derivatives`; arrays, `out=` and `threads=` as everywhere (see dynamics).
"""

from typing import Any

from forearm.algebra import AnyArray, States
from forearm.arm import Arm
from forearm.arm_calls import arm_call
from forearm.faults import StateFault
from forearm.results import ForwardHessianTimes, HessianTimes, SecondDerivatives, SecondForwardDerivatives
from forearm.robot import Robot

Direction = tuple[States, States, States]
"""A direction: one array (..., n) for each of the three inputs."""


def second_derivatives(
    arm: Arm | Robot,
    q: States,
    qd: States,
    qdd: States,
    *,
    weights: States | None = None,
    out: tuple[AnyArray, ...] | None = None,
    threads: int = 1,
) -> SecondDerivatives:
    """Second derivatives of the torques, as a named tuple (dqq, dqdqd, dqqd, dqqdd).

    [..., i, j, k] = d² tau_i / d_j d_k, the two inputs in the order of the name; all other pairs give zero. With
    `weights` (..., n) the four are (..., n, n): second derivatives of the number λᵀ tau, for a fraction of the cost
    and of the memory. Whole tensors are for small arms: seven joints give 1372 numbers a state.

    >>> import forearm as fa
    >>> arm = fa.load("rr")
    >>> fa.second_derivatives(arm, [0.4, -1.1], [0, 0], [0, 0], weights=[1, 0]).dqq.round(6)
    array([[-15.815983,  -3.751131],
           [ -3.751131,  -3.751131]])
    """
    if weights is None:
        return arm_call(arm, "second_derivatives").enter(q, qd, qdd, out=out, threads=threads)  # type: ignore[no-any-return]
    call = arm_call(arm, "weighted_second_derivatives")
    return call.enter(q, qd, qdd, weights, out=out, threads=threads)  # type: ignore[no-any-return]


def second_forward_derivatives(
    arm: Arm | Robot,
    q: States,
    qd: States,
    tau: States,
    *,
    weights: States | None = None,
    out: tuple[AnyArray, ...] | None = None,
    threads: int = 1,
) -> SecondForwardDerivatives:
    """Second derivatives of the accelerations, as a named tuple (dqq, dqdqd, dqqd, dqtau).

    [..., i, j, k] = d² qdd_i / d_j d_k, the two inputs in the order of the name; all other pairs give zero. With
    `weights` (..., n) the four are (..., n, n): second derivatives of the number λᵀ qdd.
    """
    if weights is None:
        return arm_call(arm, "second_forward_derivatives").enter(q, qd, tau, out=out, threads=threads)  # type: ignore[no-any-return]
    call = arm_call(arm, "weighted_second_forward_derivatives")
    return call.enter(q, qd, tau, weights, out=out, threads=threads)  # type: ignore[no-any-return]


def hessian_times(
    arm: Arm | Robot,
    q: States,
    qd: States,
    qdd: States,
    weights: States,
    along: Direction,
    *,
    out: tuple[AnyArray, ...] | None = None,
    threads: int = 1,
) -> HessianTimes:
    """The Hessian of λᵀ tau times a direction, as a named tuple (by_q, by_qd, by_qdd) of (..., n).

    `along` is the direction, (dq, dqd, dqdd): three arrays (..., n). No Hessian is formed.
    """
    call = arm_call(arm, "hessian_times")
    return call.enter(q, qd, qdd, weights, *_three(along, "dq, dqd, dqdd"), out=out, threads=threads)  # type: ignore[no-any-return]


def forward_hessian_times(
    arm: Arm | Robot,
    q: States,
    qd: States,
    tau: States,
    weights: States,
    along: Direction,
    *,
    out: tuple[AnyArray, ...] | None = None,
    threads: int = 1,
) -> ForwardHessianTimes:
    """The Hessian of λᵀ qdd times a direction, as a named tuple (by_q, by_qd, by_tau) of (..., n).

    `along` is the direction, (dq, dqd, dtau): three arrays (..., n). No Hessian is formed.
    """
    call = arm_call(arm, "forward_hessian_times")
    return call.enter(q, qd, tau, weights, *_three(along, "dq, dqd, dtau"), out=out, threads=threads)  # type: ignore[no-any-return]


def _three(along: Any, names: str) -> Direction:
    """Refuse what is not one array for each input: an array (3, n) would be taken row by row."""
    if not isinstance(along, (tuple, list)) or len(along) != 3:
        raise StateFault(
            f"along is a {type(along).__name__}; give the direction as three arrays (..., n), ({names})."
        )
    return along[0], along[1], along[2]
