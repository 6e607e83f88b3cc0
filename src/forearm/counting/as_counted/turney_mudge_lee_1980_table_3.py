"""Turney, Mudge and Lee (1980), table 3: Newton-Euler as counted, with A_i in place of the double cross products.

Equations 3.17 and 3.18 print ω × (ω × r) + α × r; the table charges the matrix A_i of section 5 once for each link
and a product with it for each acceleration. m ā is formed once; r + r̄ is constant. Tags are the table's rows.
"""

from typing import Any

import numpy as np

from forearm.algebra import cross, one_based
from forearm.arm import inward, outward


def joint_torques(arm: Any, q: Any, qd: Any, qdd: Any) -> Any:
    """Joint torques (n,) of an arm with revolute joints."""
    n_links, q, qd, qdd = len(arm.links), one_based(q), one_based(qd), one_based(qdd)
    R, r, s, inertia, m_a = {}, {}, {}, {}, {}
    w, alpha, a = {0: np.zeros(3)}, {0: np.zeros(3)}, {0: -arm.gravity_in_base}
    for i in outward(arm):
        link = arm.links[i - 1]
        R[i], r[i] = link.rotation(q[i]), link.p_star(q[i])
        m, r_bar, inertia[i] = link.about_com
        s[i], z_qd = r[i] + r_bar, link.z * qd[i]

        w[i] = R[i].T @ (w[i - 1] + z_qd)  # (omega)
        alpha[i] = R[i].T @ (alpha[i - 1] + cross(w[i - 1], z_qd) + link.z * qdd[i])  # (alpha)
        A = acceleration_matrix(w[i], alpha[i])
        a[i] = A @ r[i] + R[i].T @ a[i - 1]  # (a)
        a_bar = A @ r_bar + a[i]  # (a_bar)
        m_a[i] = m * a_bar  # (f)

    R[n_links + 1] = R[n_links]  # any rotation: nothing acts beyond the hand
    f, n, tau = {n_links + 1: np.zeros(3)}, {n_links + 1: np.zeros(3)}, {}
    for i in inward(arm):
        R_f = R[i + 1] @ f[i + 1]  # (f)
        f[i] = m_a[i] + R_f  # (f)
        spun = inertia[i] @ alpha[i]  # (I_alpha)
        turned = cross(w[i], inertia[i] @ w[i])  # (w_x_Iw)
        lever = cross(s[i], m_a[i])  # (s_x_ma)
        carried = cross(r[i], R_f)  # (r_x_Rf)
        R_n = R[i + 1] @ n[i + 1]  # (R_n)
        n[i] = spun + turned + lever + carried + R_n  # (add_n)
        tau[i] = arm.links[i - 1].axis @ n[i]  # (tau)
    return np.array([tau[i] for i in range(1, n_links + 1)])


def acceleration_matrix(w: Any, alpha: Any) -> Any:
    """A with A b = ω × (ω × b) + α × b."""
    x, y, z = w
    ax, ay, az = alpha
    xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z  # (A)
    # fmt: off
    return np.array([
        [-(yy + zz),    xy - az,    xz + ay],
        [   xy + az, -(zz + xx),    yz - ax],
        [   xz - ay,    yz + ax, -(xx + yy)],
    ])  # (A)
    # fmt: on
