"""Horn and Raibert (1978) as table I of Hollerbach (1980) counts it: sums formed from zero, then joined."""

from typing import Any

import numpy as np


def joint_torques(arm: Any, q: Any, qd: Any, qdd: Any, *, coefficients: Any) -> Any:
    """Joint torques (n,) from the coefficients M, C, g at this q."""
    n, F = len(arm.links), {}
    for i in range(n):
        inertial, coupled = 0.0, 0.0
        for j in range(n):
            inertial = inertial + coefficients.M[i, j] * qdd[j]  # (HR)
        for j in range(n):
            for k in range(n):
                coupled = coupled + coefficients.C[i, j, k] * qd[j] * qd[k]  # (HR)
        F[i] = coefficients.g[i] + inertial + coupled  # (HR)
    return np.array([F[i] for i in range(n)])
