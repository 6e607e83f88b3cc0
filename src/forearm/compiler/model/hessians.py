"""Second derivatives of torques and of accelerations, whole or contracted, as plain functions of one state.

Torques are differentiated as graphs (`slopes`). Accelerations follow from what they are: the accelerations at which
the torques are the given ones. With A = d qdd and τ(q, qd, qdd), differentiated twice,

    M d²qdd/dq dq   = -(τ_qq + τ_q,qdd A_q + (τ_q,qdd A_q)ᵀ)        M d²qdd/dqd dqd = -τ_qd,qd
    M d²qdd/dq dqd  = -(τ_q,qd + τ_q,qdd A_qd)                      M d²qdd/dq dtau = -τ_q,qdd M⁻¹

because torques are linear in qdd, with a factor M that depends on q alone: all other blocks are zero. Whole tensors
have τ_qd,qd from τ_q,qdd, which is dM/dq: it is twice the Christoffel symbols.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from forearm.algebra import Matrix, Vector
from forearm.compiler.model.arm_model import Model
from forearm.factorisation import factor, solve_factored

Slopes: TypeAlias = Callable[..., dict[str, Any]]
"""The differentiated graph as a function of its inputs, by name."""
Blocks: TypeAlias = dict[str, Any]
"""Second derivatives by the name of their output."""

PAIRS = (("q", "q"), ("qd", "qd"), ("q", "qd"), ("q", "qdd"))
"""By which inputs torques are differentiated twice; the other pairs give zero."""
FEWER_PAIRS = tuple(pair for pair in PAIRS if pair != ("qd", "qd"))
"""By which inputs whole tensors are: slopes of M give the block of velocities, but for friction."""


def weighted_torque(model: Model, q: Vector, qd: Vector, qdd: Vector, weights: Vector) -> Any:
    """The number λᵀ τ."""
    return weights @ model.inverse_dynamics(q, qd, qdd)


def weighted_acceleration(model: Model, q: Vector, qd: Vector, tau: Vector, weights: Vector) -> Any:
    """The number λᵀ qdd."""
    solve = _solver(model, q)
    return weights @ solve(tau - model.bias_torque(q, qd))


def friction(model: Model, qd: Vector) -> Vector:
    """What torques have beside a polynomial of second degree in qd."""
    return model.friction_torque(qd)


def second_derivatives(model: Model, slopes: Slopes, q: Vector, qd: Vector, qdd: Vector) -> Blocks:
    """Second derivatives of torques, [i, j, k] = d² tau_i / d_j d_k."""
    return _whole(slopes(q=q, qd=qd, qdd=qdd))


def weighted_second_derivatives(
    model: Model, slopes: Slopes, q: Vector, qd: Vector, qdd: Vector, weights: Vector
) -> Blocks:
    """Second derivatives of λᵀ τ, [j, k]."""
    return _named(slopes(q=q, qd=qd, qdd=qdd, weights=weights), "s")


def hessian_times(model: Model, slopes: Slopes, **state: Vector) -> Blocks:
    """The rate of the gradient of a weighted sum along a direction, input by input."""
    found = slopes(**{name.replace("along_", "d"): value for name, value in state.items()})
    return {name.replace("dds_d", "by_"): rate for name, rate in found.items() if name.startswith("dds_d")}


def second_forward_derivatives(model: Model, slopes: Slopes, q: Vector, qd: Vector, tau: Vector) -> Blocks:
    """Second derivatives of accelerations, [i, j, k] = d² qdd_i / d_j d_k."""
    solve = _solver(model, q)
    found = slopes(q=q, qd=qd, qdd=solve(tau - model.bias_torque(q, qd)))
    T, by_q, by_qd, inverse = _whole(found), *_first(found, solve)
    turns = _solved(solve, T["dqqdd"], False)  # M⁻¹ dM/dq_j
    n = range(len(by_q))
    follows = np.array([[turns[i, j] @ by_q for j in n] for i in n])
    by_tau = [[[turns[i, j] @ inverse[:, k] for k in n[: i + 1]] for j in n] for i in n]
    return {
        "dqq": -_solved(solve, T["dqq"], True)
        - _mirrored(follows, lambda a, i, j, k: a[i, j, k] + a[i, k, j]),
        "dqdqd": -_solved(solve, T["dqdqd"], True),
        "dqqd": -_solved(solve, T["dqqd"], False) - np.array([[turns[i, j] @ by_qd for j in n] for i in n]),
        "dqtau": -np.array([[[by_tau[max(i, k)][j][min(i, k)] for k in n] for j in n] for i in n]),
    }


def weighted_second_forward_derivatives(
    model: Model, slopes: Slopes, q: Vector, qd: Vector, tau: Vector, weights: Vector
) -> Blocks:
    """Second derivatives of λᵀ qdd: those of (M⁻¹ λ)ᵀ τ, at the acceleration that tau gives."""
    solve = _solver(model, q)
    found = slopes(q=q, qd=qd, qdd=solve(tau - model.bias_torque(q, qd)), weights=solve(weights))
    T = {name: block[None] for name, block in _named(found, "s").items()}
    return {name: -block for name, block in _turned(T, 0, *_first(found, solve)).items()}


def _solver(model: Model, q: Vector) -> Callable[[Vector], Vector]:
    """M⁻¹ times a vector, by factors."""
    rows, inverse = factor(model.mass_matrix(q), model.singular, model.arm)
    return lambda b: solve_factored(rows, inverse, b)


def _named(found: dict[str, Any], output: str) -> Blocks:
    return {f"d{a}{b}": found[f"dd{output}_d{a}_d{b}"] for a, b in PAIRS}


def _whole(found: dict[str, Any]) -> Blocks:
    """The blocks of torques: d² tau_i/dqd_j dqd_k = dM_ik/dq_j + dM_ij/dq_k - dM_jk/dq_i + friction's, M symmetric."""
    slopes, n = found["ddtau_dq_dqdd"], range(len(found["ddtau_dq_dqdd"]))
    slopes = np.array([[[slopes[min(i, k), j, max(i, k)] for k in n] for j in n] for i in n])
    twice = _mirrored(slopes, lambda a, i, j, k: a[i, j, k] + a[i, k, j] - a[j, i, k])
    return {
        "dqq": found["ddtau_dq_dq"],
        "dqdqd": twice + found["ddf_dqd_dqd"],
        "dqqd": found["ddtau_dq_dqd"],
        "dqqdd": slopes,
    }


def _mirrored(block: Any, element: Callable[..., Any]) -> Any:
    """The elements [i, j, k] made of a block, symmetric in j and k."""
    n = range(len(block))
    made = [[[element(block, i, j, k) for k in n[: j + 1]] for j in n] for i in n]
    return np.array([[[made[i][max(j, k)][min(j, k)] for k in n] for j in n] for i in n])


def _first(found: dict[str, Any], solve: Callable[[Vector], Vector]) -> tuple[Matrix, Matrix, Matrix]:
    """d qdd/d q, d qdd/d qd and M⁻¹, from the first derivatives of torques."""
    by_q, by_qd = (np.array([solve(-c) for c in found[name].T]).T for name in ("dtau_dq", "dtau_dqd"))
    return by_q, by_qd, np.array([solve(e) for e in np.eye(len(by_q))]).T


def _turned(T: Blocks, i: int, by_q: Matrix, by_qd: Matrix, inverse: Matrix) -> Blocks:
    """Blocks of torque i, with accelerations that move along: [j, k] by q, qd and tau."""
    Q = T["dqqdd"][i]
    follows = Q @ by_q
    n = len(Q)
    qq = [[T["dqq"][i][j, k] + follows[j, k] + follows[k, j] for k in range(j + 1)] for j in range(n)]
    return {
        "dqq": np.array([[qq[max(j, k)][min(j, k)] for k in range(n)] for j in range(n)]),
        "dqdqd": T["dqdqd"][i],
        "dqqd": T["dqqd"][i] + Q @ by_qd,
        "dqtau": Q @ inverse,
    }


def _solved(solve: Callable[[Vector], Vector], block: Any, symmetric: bool) -> Any:
    """M⁻¹ times every column [:, j, k]."""
    n = len(block)
    last = {(j, k): solve(block[:, j, k]) for j in range(n) for k in range(j + 1 if symmetric else n)}
    at = {(j, k): (max(j, k), min(j, k)) if symmetric else (j, k) for j in range(n) for k in range(n)}
    return np.array([[[last[at[j, k]][i] for k in range(n)] for j in range(n)] for i in range(n)])
