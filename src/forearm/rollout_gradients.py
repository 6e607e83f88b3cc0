"""Gradients through time: how a number that depends on a whole motion depends on what made the motion."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from forearm import faults
from forearm.algebra import Matrix, States
from forearm.arm import Arm
from forearm.arm_calls import arm_call
from forearm.inertia import TEN
from forearm.results import RolloutGradient
from forearm.robot import Robot


def rollout_gradient(
    arm: Arm | Robot,
    q: States,
    qd: States,
    tau: States,
    weights_q: ArrayLike,
    weights_qd: ArrayLike,
    *,
    dt: float,
    threads: int = 1,
) -> RolloutGradient:
    """The gradient of a number by the initial state and the torques of a motion that `simulate` has made.

    The steps are those of `simulate(…, law=tau, dt=dt, method="rk4", record_every=1)`, gone through backwards from one
    recorded state to the one before: the exact gradient of the discrete motion, not of the differential equation.

    Args:
        arm: The arm, or robot with a fixed base.
        q: Positions along the motion (..., steps + 1, n), as recorded.
        qd: Speeds along it, the same.
        tau: Torques of each step (..., steps, n).
        weights_q: The number's own derivatives by the positions (..., steps + 1, n).
        weights_qd: And by the speeds.
        dt: The step [s].
        threads: How many threads share a batch.

    Returns:
        Gradients (by_q0, by_qd0, by_tau): (..., n), (..., n), (..., steps, n). What the number itself says of the
        torques is to be added.
    """
    rows, batch = _rows("rollout_gradient", arm, q, qd, tau, weights_q, weights_qd, dt)
    call, by_tau = arm_call(arm, "rk4_pullback"), np.empty_like(rows["tau"])
    by_q, by_qd = _backwards(call, rows, float(dt), threads, lambda k: by_tau[k])
    n = by_q.shape[-1]
    back = np.moveaxis(by_tau.reshape(len(by_tau), *batch, n), 0, -2)
    return RolloutGradient(by_q.reshape(*batch, n), by_qd.reshape(*batch, n), np.ascontiguousarray(back))


def rollout_parameter_gradient(
    arm: Arm | Robot,
    q: States,
    qd: States,
    tau: States,
    weights_q: ArrayLike,
    weights_qd: ArrayLike,
    *,
    dt: float,
    threads: int = 1,
) -> Matrix:
    """The gradient of a number by the inertial parameters of the arm that made a motion.

    As `rollout_gradient`, with the same arguments: the start and the torques stay, the bodies change. What an arm
    holds adds its ten numbers to those of the link that holds it, so this is the gradient by a payload as well.

    Args:
        arm: The arm, or robot with a fixed base.
        q: Positions along the motion (..., steps + 1, n), as recorded.
        qd: Speeds along it, the same.
        tau: Torques of each step (..., steps, n).
        weights_q: The number's own derivatives by the positions (..., steps + 1, n).
        weights_qd: And by the speeds.
        dt: The step [s].
        threads: How many threads share a batch.

    Returns:
        The gradient (..., bodies, 10), in the order of `parameters(arm)`: mass, first moment, inertia about the origin
        of the link's frame.
    """
    rows, batch = _rows("rollout_parameter_gradient", arm, q, qd, tau, weights_q, weights_qd, dt)
    call = arm_call(arm, "rk4_parameter_pullback")
    share = np.empty((rows["q"].shape[1], len(arm.bodies), len(TEN)))
    total = np.zeros_like(share)
    _backwards(call, rows, float(dt), threads, lambda k: share, lambda: np.add(total, share, out=total))
    return total.reshape(*batch, *share.shape[1:])


def _rows(
    name: str,
    arm: Arm | Robot,
    q: States,
    qd: States,
    tau: States,
    weights_q: Any,
    weights_qd: Any,
    dt: float,
) -> tuple[dict[str, Any], tuple[int, ...]]:
    """Arrays (steps, rows, n) by name, and the shape of the batch whose rows they are."""
    faults.needs_dynamics(arm, name)
    if isinstance(arm, Robot) and arm.free:
        raise faults.KernelFault(
            f"{name} of {arm.name}: the seven numbers of a free base have no gradient of their own; fix the "
            "base (robot.fixed())."
        )
    states = {"q": q, "qd": qd, "weights_q": weights_q, "weights_qd": weights_qd}
    along = {key: _by_step(name, arm, key, value) for key, value in states.items()}
    pushes = _by_step(name, arm, "tau", tau)
    steps, n = len(pushes), pushes.shape[-1]
    for key, value in along.items():
        if value.shape != (steps + 1, *pushes.shape[1:]):
            raise faults.StateFault(
                f"{name} of {arm.name}: {key} has {value.shape[0]} states of shape {value.shape[1:]}, and "
                f"tau {steps} steps of {pushes.shape[1:]}; give one state more than steps, all of one batch."
            )
    _refuse_other_steps(name, arm, along["q"], along["qd"], dt)
    rows = {key: value.reshape(len(value), -1, n) for key, value in (along | {"tau": pushes}).items()}
    return rows, pushes.shape[1:-1]


def _refuse_other_steps(name: str, arm: Any, q: Any, qd: Any, dt: float) -> None:
    """Refuse a motion whose states are clearly not dt apart: recorded now and then only, or made with another step."""
    moved, gone = np.diff(q, axis=0), 0.5 * (qd[1:] + qd[:-1])
    apart = float(np.sum(moved * gone)) / max(float(np.sum(gone * gone)), 1e-300)
    smooth = np.linalg.norm(moved - apart * gone) < 0.1 * np.linalg.norm(moved)
    if smooth and not 0.7 * dt < apart < 1.5 * dt:
        raise faults.StateFault(
            f"{name} of {arm.name}: states are about {apart:.3g} s apart by their speeds, and dt is {dt:.3g} s; give "
            "every state of the motion (record_every=1), and the dt that it was made with."
        )


def _backwards(
    call: Any,
    rows: dict[str, Any],
    dt: float,
    threads: int,
    into: Callable[[int], Any],
    after: Callable[[], Any] = lambda: None,
) -> tuple[Any, Any]:
    """Gradients by the state at the beginning; what a step says beside goes `into` an array, `after` each."""
    by_q, by_qd = rows["weights_q"][-1].copy(), rows["weights_qd"][-1].copy()
    before, step = (np.empty_like(by_q), np.empty_like(by_qd)), np.full(len(by_q), dt)
    for k in reversed(range(len(rows["tau"]))):
        state = rows["q"][k], rows["qd"][k], rows["tau"][k]
        call.enter(*state, step, by_q, by_qd, out=(*before, into(k)), threads=threads)
        after()
        np.add(before[0], rows["weights_q"][k], out=by_q)
        np.add(before[1], rows["weights_qd"][k], out=by_qd)
    return by_q, by_qd


def _by_step(function: str, arm: Any, name: str, value: Any) -> Any:
    """(..., steps, n) as (steps, ..., n): what one step needs lies together."""
    array = faults.state(arm, name, value)
    if array.ndim < 2:
        raise faults.StateFault(
            f"{function} of {arm.name}: {name} has shape {array.shape}; give (..., steps, n), along the motion."
        )
    return np.ascontiguousarray(np.moveaxis(array, -2, 0))
