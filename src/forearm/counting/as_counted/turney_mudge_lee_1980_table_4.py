"""Turney, Mudge and Lee (1980), tables 4 and 5: the modified set, one line for each row of the table.

The same operations as the formulation `turney_mudge_lee_1980_modified`, taken apart: R a and R f on lines of
their own, because table 5 asks what can be done at the same time. Tags are the rows of table 4; parts of a
row carry its name and their own: R a and A r are (a:R_a) and (a:A_r), A s is (m_a_bar:A_s), R f is (f:R_f).
"""

from typing import Any

import numpy as np

from forearm.algebra import cross, one_based, second_moment
from forearm.arm import inward, outward


def joint_torques(arm: Any, q: Any, qd: Any, qdd: Any) -> Any:
    """Joint torques (n,) of an arm with revolute joints."""
    n_links, q, qd, qdd = len(arm.links), one_based(q), one_based(qd), one_based(qdd)
    R, r, s, A, K, m_a = {}, {}, {}, {}, {}, {}
    w, alpha, a = {0: np.zeros(3)}, {0: np.zeros(3)}, {0: -arm.gravity_in_base}
    for i in outward(arm):
        link = arm.links[i - 1]
        R[i], r[i] = link.rotation(q[i]), link.p_star(q[i])
        m, r_bar, inertia = link.about_com
        s[i], K[i], z_qd = r[i] + r_bar, second_moment(inertia), link.z * qd[i]

        w[i] = R[i].T @ (w[i - 1] + z_qd)  # (omega)
        alpha[i] = R[i].T @ (alpha[i - 1] + cross(w[i - 1], z_qd) + link.z * qdd[i])  # (alpha)
        A[i] = acceleration_matrix(w[i], alpha[i])
        R_a = R[i].T @ a[i - 1]  # (a:R_a)
        A_s = A[i] @ s[i]  # (m_a_bar:A_s)
        m_a[i] = m * (A_s + R_a)  # (m_a_bar)
        if i < n_links:
            A_r = A[i] @ r[i]  # (a:A_r)
            a[i] = A_r + R_a  # (a)

    R[n_links + 1] = R[n_links]  # any rotation: nothing acts beyond the hand
    f, n, tau = {n_links + 1: np.zeros(3)}, {n_links + 1: np.zeros(3)}, {}
    for i in inward(arm):
        R_f = R[i + 1] @ f[i + 1]  # (f:R_f)
        f[i] = m_a[i] + R_f  # (f)
        spin = trace_with_sigma(A[i], K[i])  # (trace)
        lever = cross(s[i], m_a[i])  # (s_x_ma)
        carried = cross(r[i], R_f)  # (r_x_Rf)
        R_n = R[i + 1] @ n[i + 1]  # (R_n)
        n[i] = spin + lever + carried + R_n  # (add_n)
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


def trace_with_sigma(A: Any, K: Any) -> Any:
    """Tr{A K σᵗ}: the moment of a body with second moments K."""
    x = A[2] @ K[:, 1] - A[1] @ K[:, 2]
    y = A[0] @ K[:, 2] - A[2] @ K[:, 0]
    z = A[1] @ K[:, 0] - A[0] @ K[:, 1]
    return np.array([x, y, z])
