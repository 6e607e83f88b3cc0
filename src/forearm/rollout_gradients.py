"""Gradients through time: how a number that depends on a whole motion depends on what made the motion."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from forearm import faults
from forearm.algebra import States
from forearm.arm import Arm
from forearm.arm_calls import arm_call
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
    faults.needs_dynamics(arm, "rollout_gradient")
    if isinstance(arm, Robot) and arm.free:
        raise faults.KernelFault(
            f"rollout_gradient of {arm.name}: the seven numbers of a free base have no gradient of their own; fix the "
            "base (robot.fixed())."
        )
    states = {"q": q, "qd": qd, "weights_q": weights_q, "weights_qd": weights_qd}
    along = {name: _by_step(arm, name, value) for name, value in states.items()}
    pushes = _by_step(arm, "tau", tau)
    steps = len(pushes)
    for name, value in along.items():
        if value.shape != (steps + 1, *pushes.shape[1:]):
            raise faults.StateFault(
                f"rollout_gradient of {arm.name}: {name} has {value.shape[0]} states of shape {value.shape[1:]}, and "
                f"tau {steps} steps of {pushes.shape[1:]}; give one state more than steps, all of one batch."
            )
    batch, n = pushes.shape[1:-1], pushes.shape[-1]
    rows = {name: value.reshape(len(value), -1, n) for name, value in (along | {"tau": pushes}).items()}
    by_q0, by_qd0, by_tau = _backwards(arm, rows, float(dt), threads)
    back = np.moveaxis(by_tau.reshape(pushes.shape), 0, -2)
    return RolloutGradient(by_q0.reshape(*batch, n), by_qd0.reshape(*batch, n), np.ascontiguousarray(back))


def _backwards(arm: Arm | Robot, rows: dict[str, Any], dt: float, threads: int) -> tuple[Any, Any, Any]:
    """The gradients, from arrays (steps, rows, n) by name."""
    call, by_tau = arm_call(arm, "rk4_pullback"), np.empty_like(rows["tau"])
    by_q, by_qd = rows["weights_q"][-1].copy(), rows["weights_qd"][-1].copy()
    into, step = (np.empty_like(by_q), np.empty_like(by_qd)), np.full(len(by_q), dt)
    for k in reversed(range(len(by_tau))):
        state = rows["q"][k], rows["qd"][k], rows["tau"][k]
        call.enter(*state, step, by_q, by_qd, out=(*into, by_tau[k]), threads=threads)
        np.add(into[0], rows["weights_q"][k], out=by_q)
        np.add(into[1], rows["weights_qd"][k], out=by_qd)
    return by_q, by_qd, by_tau


def _by_step(arm: Any, name: str, value: Any) -> Any:
    """(..., steps, n) as (steps, ..., n): what one step needs lies together."""
    array = faults.state(arm, name, value)
    if array.ndim < 2:
        raise faults.StateFault(
            f"rollout_gradient of {arm.name}: {name} has shape {array.shape}; give (..., steps, n), along the motion."
        )
    return np.ascontiguousarray(np.moveaxis(array, -2, 0))
