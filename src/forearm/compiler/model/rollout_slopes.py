"""A step of a rollout, backwards: from the gradient by the state after a step to that by what was before it.

The stages of the step are computed again; what is pulled back through each is one reverse sweep over the torques,
because λᵀ d qdd = -(M⁻¹ λ)ᵀ d tau. So a step backwards costs about three forwards.
"""

from typing import Any

from forearm.algebra import Vector
from forearm.compiler.graph.step_rules import RK4
from forearm.compiler.model.arm_model import SINGULAR, Model
from forearm.compiler.model.hessians import Slopes
from forearm.factorisation import factor, solve_factored


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
    """Gradients by q, qd and tau of weights_q · q' + weights_qd · qd', the state after a step under constant tau."""
    stages: list[tuple[Vector, Vector, Any, Vector]] = []  # where, the factors of M there, qdd
    for i in range(RK4.stages):
        at_q, at_qd = q, qd
        for reach, (_, rate, _, push) in zip(RK4.reaches[i - 1] if i else (), stages, strict=True):
            if reach:
                at_q, at_qd = at_q + rate * (dt * reach), at_qd + push * (dt * reach)
        factors = factor(model.mass_matrix(at_q), SINGULAR, model.arm)
        stages.append((at_q, at_qd, factors, solve_factored(*factors, tau - model.bias_torque(at_q, at_qd))))
    by_q, by_qd, by_tau = weights_q, weights_qd, tau * 0.0
    back: dict[int, tuple[Vector, Vector]] = {}  # gradients by the state at which a stage is taken
    for i in reversed(range(RK4.stages)):
        at_q, at_qd, (rows, inverse), qdd = stages[i]
        of_rate, of_push = weights_q * (dt * RK4.weights[i]), weights_qd * (dt * RK4.weights[i])
        for later, (on_q, on_qd) in back.items():
            if RK4.reaches[later - 1][i]:
                share = dt * RK4.reaches[later - 1][i]
                of_rate, of_push = of_rate + on_q * share, of_push + on_qd * share
        weights = solve_factored(rows, inverse, of_push)
        found = slopes(q=at_q, qd=at_qd, qdd=qdd, weights=weights)
        back[i] = -found["ds_dq"], of_rate - found["ds_dqd"]
        by_q, by_qd, by_tau = by_q + back[i][0], by_qd + back[i][1], by_tau + weights
    return {"by_q": by_q, "by_qd": by_qd, "by_tau": by_tau}
