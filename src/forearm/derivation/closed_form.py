"""M, the Christoffel symbols and g of an arm of expressions: from energies, or from a paper's torques.

From energies: with the ten parameters (m, h, J) of link i about its origin and the columns v_j, w_j of its
Jacobian in link axes, M_jk = Σ m v_j·v_k + v_j·(w_k × h) + v_k·(w_j × h) + w_j·J w_k, the potential is -Σ
g·(m p + R h), and everything else is differentiation, which is exact and cheap in the normal form.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from forearm.algebra import Matrix, Vector, cross, product
from forearm.derivation.expressions.expression import Expression, Ring
from forearm.derivation.expressions.terms import refuse_length

MOST_SYMBOLS = 2_000_000
"""Terms of M, times n: there are about twice as many in the Christoffel symbols, 400 bytes each."""
Tell = Callable[[str, int, int], None]
"""Told the stage, how much of it is done, and of how much."""


@dataclass(frozen=True)
class Dynamics:
    """The three pieces of tau = M qdd + Σ christoffel qd qd + g."""

    M: Matrix
    """Mass matrix (n, n) of expressions."""
    christoffel: Matrix
    """Christoffel symbols (n, n, n): [i, j, k] multiplies qd_j qd_k in tau_i, symmetric in j, k."""
    g: Vector
    """Gravity torque (n,)."""


def expressions(ring: Ring, array: Any) -> Matrix:
    """An array whose entries are all expressions (plain zeros included), quotients cancelled."""
    flat = [(x if isinstance(x, Expression) else ring.constant(x)).reduced() for x in np.ravel(array)]
    out = np.empty(len(flat), dtype=object)
    out[:] = flat
    return out.reshape(np.shape(array))


# -- from energies ---------------------------------------------------------------------------------------


def from_energies(
    arm: Any, ring: Ring, q: list[Expression], coordinates: tuple[str, ...], S: Matrix, tell: Tell
) -> Dynamics:
    """Closed form in the coordinates x, where q = S x."""
    n = arm.n
    M = _mass_matrix(arm, ring, q, tell)
    if not np.array_equal(S, np.eye(n)):
        M = product(product(S.T.astype(object), M), S.astype(object))
    M = expressions(ring, M)
    V = potential(arm, ring, q)
    g = expressions(ring, [V.derivative(name) for name in coordinates])
    weights = weight_scales(arm, ring, q, S)
    return _without_roundoff(Dynamics(M, christoffel_of(M, ring, coordinates, tell), g), weights)


def _mass_matrix(arm: Any, ring: Ring, q: list[Expression], tell: Tell) -> Matrix:
    n = arm.n
    M = [[ring.constant(0) for _ in range(n)] for _ in range(n)]
    v: list[Vector] = []
    w: list[Vector] = []
    for i, (link, q_i) in enumerate(zip(arm.links, q, strict=True)):
        tell("mass matrix", i, n)
        A, p_star, axis = link.rotation(q_i), link.p_star(q_i), link.axis
        w = [product(A.T, w_j) for w_j in w]
        v = [product(A.T, v_j) + cross(w_j, p_star) for v_j, w_j in zip(v, w, strict=True)]
        w.append(axis if link.revolute else np.zeros(3))
        v.append(cross(axis, p_star) if link.revolute else axis)
        m, h, J = link.ten
        momentum = [m * v_k + cross(w_k, h) for v_k, w_k in zip(v, w, strict=True)]
        spin = [product(J, w_k) + cross(h, v_k) for v_k, w_k in zip(v, w, strict=True)]
        for j in range(i + 1):
            for k in range(j, i + 1):
                M[j][k] = M[j][k] + _dot(v[j], momentum[k]) + _dot(w[j], spin[k])
    return np.array([[M[min(j, k)][max(j, k)] for k in range(n)] for j in range(n)], dtype=object)


def _dot(a: Vector, b: Vector) -> Any:
    return product(a[None, :].astype(object), b.astype(object))[0]


def potential(arm: Any, ring: Ring, q: list[Expression]) -> Expression:
    """Potential energy -Σ g·(m p + R h), zero at the origin of frame 0."""
    total: Expression = sum(_potentials(arm, ring, q), ring.constant(0))
    return total.reduced()


def weight_scales(arm: Any, ring: Ring, q: list[Expression], S: Matrix) -> Vector:
    """Largest coefficient in the potential energy of a link that a coordinate moves, for each of them (n,)."""
    largest = np.array([part.largest for part in _potentials(arm, ring, q)])
    beyond = np.maximum.accumulate(largest[::-1])[::-1]  # joint i moves link i and all that come after it
    found: Vector = np.max(np.where(S != 0, beyond[:, None], 0.0), axis=0)
    return found


def _potentials(arm: Any, ring: Ring, q: list[Expression]) -> list[Expression]:
    """Potential energy of each link."""
    g = arm.gravity_in_base.astype(object)  # gravity in the axes of the link at hand
    height: Any = 0.0  # g · p
    found = []
    for link, q_i in zip(arm.links, q, strict=True):
        height = height + _dot(g, link.p_before(q_i))
        g = product(g[None, :], link.rotation(q_i))[0]
        m, h, _ = link.ten
        found.append(ring.constant(0) - m * height - _dot(g, h))
    return found


def christoffel_of(M: Matrix, ring: Ring, coordinates: tuple[str, ...], tell: Tell) -> Matrix:
    """[i, j, k] = (∂M_ij/∂q_k + ∂M_ik/∂q_j - ∂M_jk/∂q_i)/2."""
    n = len(M)
    refuse_length(n * sum(entry.size for entry in M.ravel()), MOST_SYMBOLS)
    half = ring.trigonometry.half
    dM = np.empty((n, n, n), dtype=object)
    for i in range(n):
        tell("Christoffel symbols", i, n)
        for j in range(i, n):
            for k, name in enumerate(coordinates):
                dM[i, j, k] = dM[j, i, k] = M[i, j].derivative(name)
    symbols = np.empty((n, n, n), dtype=object)
    for i in range(n):
        for j in range(n):
            for k in range(j, n):
                ring.tick()
                symbols[i, j, k] = symbols[i, k, j] = (dM[i, j, k] + dM[i, k, j] - dM[j, k, i]) * half
    return symbols


# -- from a formulation ----------------------------------------------------------------------------------


def from_torques(
    tau: Vector,
    ring: Ring,
    speeds: tuple[str, ...],
    accelerations: tuple[str, ...],
    weights: Vector | None = None,
) -> Dynamics:
    """M, Christoffel symbols and g read off torques that are polynomials in speeds and accelerations."""
    n = len(tau)
    zero = ring.constant(0)
    M, symbols = np.full((n, n), zero), np.full((n, n, n), zero)
    g = np.full(n, zero)
    for i, tau_i in enumerate(tau):
        for powers, rest in tau_i.coefficients((*speeds, *accelerations)).items():
            places = [place for place, power in enumerate(powers) for _ in range(power)]
            if not places:
                g[i] = rest
            elif len(places) == 1 and places[0] >= n:
                M[i, places[0] - n] = rest
            elif len(places) == 2 and max(places) < n:
                j, k = places
                symbols[i, j, k] = symbols[i, k, j] = rest if j == k else rest * ring.trigonometry.half
            else:
                raise ArithmeticError(
                    f"torque {i + 1} has a term that no rigid arm has: {rest} times powers {powers}"
                )
    return _without_roundoff(Dynamics(M, symbols, g), weights)


def _without_roundoff(d: Dynamics, weights: Vector | None) -> Dynamics:
    """Terms at the level of round-off dropped, beside what an entry is made of itself (floats only).

    A small link on a heavy arm has terms that are nothing beside the arm's, and all there is to its joint. |M_ij| is at
    most the root of M_ii M_jj, and its slopes are at most so large for the heaviest and the lightest of their joints;
    gravity is held against the weights (n,) that a joint carries, or against all of it where nobody knows them.
    """
    if d.g[0].ring.exact:
        return d
    n = len(d.g)
    roots = np.sqrt([d.M[i, i].largest for i in range(n)])
    three = np.stack(np.broadcast_arrays(roots[:, None, None], roots[:, None], roots))
    all_of_it = np.full(n, max(x.largest for x in d.g))

    def clean(array: Matrix, scales: Matrix) -> Matrix:
        out = np.empty(array.size, dtype=object)
        out[:] = [x.without_roundoff(scale) for x, scale in zip(array.ravel(), scales.ravel(), strict=True)]
        return out.reshape(array.shape)

    return Dynamics(
        clean(d.M, np.outer(roots, roots)),
        clean(d.christoffel, three.max(axis=0) * three.min(axis=0)),
        clean(d.g, all_of_it if weights is None else weights),
    )


def torques_of(d: Dynamics, qd: list[Expression], qdd: list[Expression]) -> list[Expression]:
    """Torques M qdd + Σ christoffel qd qd + g, as expressions."""
    n = len(qd)
    tau = []
    for i in range(n):
        total = d.g[i]
        for j in range(n):
            total = total + d.M[i, j] * qdd[j]
            for k in range(j, n):
                total = total + d.christoffel[i, j, k] * (qd[j] * qd[k]) * (1 if j == k else 2)
        tau.append(total)
    return tau
