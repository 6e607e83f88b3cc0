"""Hollerbach (1980), 3x3 recursion whose gravity term stays that of the 4x4 section: the structure of 412n-277.

"The recurrence relation for c_i is the same as (13)": here literally so, a homogeneous c_i carried by the 4x4 A_{i+1},
and ∂W_i/∂q_i padded to 4x4. The two products of the gravity term cost 16 each, everything else is 3x3.
"""

from typing import Any

import numpy as np

from forearm.arm import inward
from forearm.counting.as_counted.hollerbach_1980_3x3_proximal import inertial


def joint_torques(arm: Any, q: Any, qd: Any, qdd: Any) -> Any:
    """Joint torques (n,) of an arm with revolute joints."""
    n_links, g = len(arm.links), arm.gravity_in_base
    A, dW, p, _, traces = inertial(arm, q, qd, qdd)
    c, F = {n_links + 1: np.zeros(4)}, {}
    for i in inward(arm):
        mass, r, _ = arm.links[i - 1].about_com
        step, slope = homogeneous(1.0, p[i], A[i + 1]), homogeneous(0.0, np.zeros(3), dW[i])
        s = p[i] + r
        c[i] = np.array([mass, *(mass * s)]) + step @ c[i + 1]  # (13)
        F[i] = traces[i] - g @ (slope @ c[i])[1:]  # (17)
    return np.array([F[i] for i in range(1, n_links + 1)])


def homogeneous(top: float, p: Any, R: Any) -> Any:
    """[[top, 0], [p, R]] on (1, x, y, z)."""
    return np.block([[np.array([[top]]), np.zeros((1, 3))], [p[:, None], R]])
