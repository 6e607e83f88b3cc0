"""Hollerbach (1980), 3x3 recursion with origin i at joint i: (17), (18), (B1)-(B3) exactly as printed.

The paper's D_i carries ⁱp_{i+1} e_{i+1}; with the origin of frame i at the *proximal* joint (its axes as before) that
is right, and (16) becomes p̈_j = p̈_{j-1} + Ẅ_{j-1} ʲ⁻¹p_j, so that p̈_1 is zero. r* is then measured from joint i,
and J about it. In this reading nothing has to be corrected but the sign of (16) and the translation in c_i.
"""

from typing import Any

import numpy as np

from forearm.algebra import one_based, parallel_axis, product, second_moment, skew
from forearm.arm import inward, outward


def joint_torques(arm: Any, q: Any, qd: Any, qdd: Any) -> Any:
    """Joint torques (n,) of an arm with revolute joints."""
    n_links, g = len(arm.links), arm.gravity_in_base
    A, dW, p, n, traces = inertial(arm, q, qd, qdd)
    c, M, F = {n_links + 1: np.zeros(3)}, {n_links + 1: 0.0}, {}
    for i in inward(arm):
        moment = n[i] + M[i + 1] * p[i]
        M[i] = arm.links[i - 1].mass + M[i + 1]
        c[i] = moment + A[i + 1] @ c[i + 1]  # (13)
        F[i] = traces[i] - g @ dW[i] @ c[i]  # (17)
    return np.array([F[i] for i in range(1, n_links + 1)])


def inertial(arm: Any, q: Any, qd: Any, qdd: Any) -> Any:
    """Rotations, ∂W_i/∂q_i, levers, first moments, and the trace of (17) for every joint."""
    n_links, q, qd, qdd = len(arm.links), one_based(q), one_based(qd), one_based(qdd)
    W, Wd, Wdd = {0: np.eye(3)}, {0: np.zeros((3, 3))}, {0: np.zeros((3, 3))}
    A: dict[int, Any] = {n_links + 1: np.eye(3)}
    dA, p, m, n, J, pdd = {}, {}, {}, {}, {}, {}
    for i in outward(arm):
        link = arm.links[i - 1]
        A[i], z, p[i] = link.rotation(q[i]), skew(link.z), link.p_star(q[i])
        m[i], r, inertia = link.about_com
        n[i], dA[i] = m[i] * (p[i] + r), product(z, A[i])
        J[i], ddA = second_moment(inertia + parallel_axis(m[i], p[i] + r)), product(z, dA[i])

        W[i] = W[i - 1] @ A[i]  # (8)
        Wd[i] = Wd[i - 1] @ A[i] + W[i - 1] @ dA[i] * qd[i]  # (9)
        Wdd[i] = (
            Wdd[i - 1] @ A[i]
            + Wd[i - 1] @ dA[i] * (2 * qd[i])
            + W[i - 1] @ ddA * (qd[i] * qd[i])
            + W[i - 1] @ dA[i] * qdd[i]
        )  # (10)
        if i == 1:
            pdd[i] = 0.0 * p[1]
        else:
            pdd[i] = pdd[i - 1] + Wdd[i - 1] @ p[i - 1]  # (16)

    e, D, dW, traces = {n_links + 1: np.zeros(3)}, {n_links + 1: np.zeros((3, 3))}, {}, {}
    for i in inward(arm):
        D[i] = (
            A[i + 1] @ D[i + 1] + np.outer(p[i], e[i + 1]) + np.outer(n[i], pdd[i]) + J[i] @ Wdd[i].T
        )  # (18)
        e[i] = e[i + 1] + m[i] * pdd[i] + Wdd[i] @ n[i]  # (18)
        dW[i] = W[i - 1] @ dA[i]  # (17)
        traces[i] = np.trace(dW[i] @ D[i])  # (17)
    return A, dW, p, n, traces
