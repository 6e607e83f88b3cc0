"""A step of a rollout, differentiated: backwards, from the gradient by the state after it to that by what was before
it, and as a whole.

The stages of the step are computed again; what is pulled back through each is one reverse sweep over the torques,
because λᵀ d qdd = -(M⁻¹ λ)ᵀ d tau. So a step backwards costs about three forwards. By the inertial parameters, in which
torques are linear, it is one more sweep a stage.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from forearm.algebra import Matrix, Vector
from forearm.compiler.graph.step_rules import RK4
from forearm.compiler.model.arm_model import Model
from forearm.compiler.model.hessians import Slopes
from forearm.factorisation import factor, solve_factored
from forearm.inertia import TEN


def weighted_torque_of_parameters(
    model: Model, q: Vector, qd: Vector, qdd: Vector, weights: Vector, pi: Matrix
) -> Any:
    """The number λᵀ τ of bodies with any ten parameters."""
    return weights @ model.torques_of_parameters(q, qd, qdd, pi)


def rk4_pullback(
    model: Model,
    slopes: Slopes,
    q: Vector,
    qd: Vector,
    tau: Vector,
    dt: Any,
    weights_q: Vector,
    weights_qd: Vector,
) -> dict[str, Vector]:
    """Gradients by q, qd and tau of weights_q · q' + weights_qd · qd', the state after a step under constant tau.

    And that state: whoever has another one there has another motion.
    """
    by_q, by_qd, by_tau = weights_q, weights_qd, tau * 0.0
    stages = _stages(model, q, qd, tau, dt)
    for _, back, weights in _stages_backwards(stages, slopes, dt, weights_q, weights_qd):
        by_q, by_qd, by_tau = by_q + back[0], by_qd + back[1], by_tau + weights
    return {"by_q": by_q, "by_qd": by_qd, "by_tau": by_tau, **_after(stages, q, qd, dt)}


def rk4_parameter_pullback(
    model: Model,
    slopes: Slopes,
    q: Vector,
    qd: Vector,
    tau: Vector,
    dt: Any,
    weights_q: Vector,
    weights_qd: Vector,
) -> dict[str, Any]:
    """The same by q, qd and the ten parameters of every body."""
    zero = np.zeros((len(model.arm.bodies), len(TEN)))
    by_q, by_qd, by_parameters = weights_q, weights_qd, zero
    stages = _stages(model, q, qd, tau, dt)
    for found, back, _ in _stages_backwards(stages, partial(slopes, pi=zero), dt, weights_q, weights_qd):
        by_q, by_qd = by_q + back[0], by_qd + back[1]
        by_parameters = by_parameters - found["dp_dpi"]
    return {"by_q": by_q, "by_qd": by_qd, "by_parameters": by_parameters, **_after(stages, q, qd, dt)}


def rk4_step_slopes(
    model: Model, slopes: Slopes, q: Vector, qd: Vector, tau: Vector, dt: Any
) -> dict[str, Any]:
    """Derivatives of the state [q'; qd'] after a step under constant tau by q, qd and tau, side by side: (2n, 3n).

    And that state itself.
    """
    n = len(q)
    by_q, by_qd, by_tau = (np.eye(n, 3 * n, k * n) for k in range(3))
    rates: list[tuple[Vector, Vector, Matrix, Matrix]] = []  # of q and qd, at a stage, and their derivatives
    for i in range(RK4.stages):
        reaches = zip(RK4.reaches[i - 1] if i else (), rates, strict=True)
        moves = [(dt * reach, rate) for reach, rate in reaches if reach]
        at_q, at_qd, on_q, on_qd = _moved((q, qd, by_q, by_qd), moves)
        factors = factor(model.mass_matrix(at_q), model.singular, model.arm)
        qdd = solve_factored(*factors, tau - model.bias_torque(at_q, at_qd))
        found = slopes(q=at_q, qd=at_qd, qdd=qdd)
        pushed = by_tau - found["dtau_dq"] @ on_q - found["dtau_dqd"] @ on_qd
        rates.append((at_qd, qdd, on_qd, np.array([solve_factored(*factors, c) for c in pushed.T]).T))
    weighted = [(dt * weight, rate) for weight, rate in zip(RK4.weights, rates, strict=True)]
    q_next, qd_next, *on_start = _moved((q, qd, by_q, by_qd), weighted)
    return {"slopes": np.concatenate(on_start), "q_next": q_next, "qd_next": qd_next}


def _moved(start: tuple[Any, ...], moves: list[tuple[Any, tuple[Any, ...]]]) -> tuple[Any, ...]:
    """A state and its derivatives after times at rates."""
    for time, rates in moves:
        start = tuple(x + rate * time for x, rate in zip(start, rates, strict=True))
    return start


Stages = list[tuple[Vector, Vector, Any, Vector]]
"""Of each stage of a step the state where it is taken, the factors of M there, and qdd."""


def _stages(model: Model, q: Vector, qd: Vector, tau: Vector, dt: Any) -> Stages:
    """The stages of a step, from the first to the last."""
    stages: Stages = []
    for i in range(RK4.stages):
        at_q, at_qd = q, qd
        for reach, (_, rate, _, push) in zip(RK4.reaches[i - 1] if i else (), stages, strict=True):
            if reach:
                at_q, at_qd = at_q + rate * (dt * reach), at_qd + push * (dt * reach)
        factors = factor(model.mass_matrix(at_q), model.singular, model.arm)
        stages.append((at_q, at_qd, factors, solve_factored(*factors, tau - model.bias_torque(at_q, at_qd))))
    return stages


def _after(stages: Stages, q: Vector, qd: Vector, dt: Any) -> dict[str, Vector]:
    """The state after a step of these stages."""
    moves = [
        (dt * weight, (rate, push)) for weight, (_, rate, _, push) in zip(RK4.weights, stages, strict=True)
    ]
    return dict(zip(("q_next", "qd_next"), _moved((q, qd), moves), strict=True))


def _stages_backwards(
    stages: Stages, slopes: Slopes, dt: Any, on_q: Vector, on_qd: Vector
) -> Iterator[tuple[dict[str, Any], tuple[Vector, Vector], Vector]]:
    """From the last stage to the first: slopes of its weighted torque, gradients by its state, those by its torques."""
    back: dict[int, tuple[Vector, Vector]] = {}  # gradients by the state at which a stage is taken
    for i in reversed(range(RK4.stages)):
        at_q, at_qd, (rows, inverse), qdd = stages[i]
        of_rate, of_push = on_q * (dt * RK4.weights[i]), on_qd * (dt * RK4.weights[i])
        for later, (by_q, by_qd) in back.items():
            if RK4.reaches[later - 1][i]:
                share = dt * RK4.reaches[later - 1][i]
                of_rate, of_push = of_rate + by_q * share, of_push + by_qd * share
        weights = solve_factored(rows, inverse, of_push)
        found = slopes(q=at_q, qd=at_qd, qdd=qdd, weights=weights)
        back[i] = -found["ds_dq"], of_rate - found["ds_dqd"]
        yield found, back[i], weights
