"""Turney, Mudge and Lee (1980), table 4 with Euler's moment I α + ω × I ω in place of the trace Tr{A K σᵗ}.

With a diagonal inertia and at rest, as strobing M has it, I α is 3 | 0 where the trace is 6 | 3. Tags as in table 4.
"""

from typing import Any

import numpy as np

from forearm.algebra import cross, one_based
from forearm.arm import inward, outward
from forearm.counting.as_counted.turney_mudge_lee_1980_table_4 import acceleration_matrix


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
        R_a = R[i].T @ a[i - 1]  # (a)
        m_a[i] = m * (A @ s[i] + R_a)  # (m_a_bar)
        if i < n_links:
            a[i] = A @ r[i] + R_a  # (a)

    R[n_links + 1] = R[n_links]  # any rotation: nothing acts beyond the hand
    f, n, tau = {n_links + 1: np.zeros(3)}, {n_links + 1: np.zeros(3)}, {}
    for i in inward(arm):
        R_f = R[i + 1] @ f[i + 1]  # (f)
        f[i] = m_a[i] + R_f  # (f)
        spin = inertia[i] @ alpha[i] + cross(w[i], inertia[i] @ w[i])  # (moment)
        n[i] = spin + cross(s[i], m_a[i]) + cross(r[i], R_f) + R[i + 1] @ n[i + 1]  # (add_n)
        tau[i] = arm.links[i - 1].axis @ n[i]  # (tau)
    return np.array([tau[i] for i in range(1, n_links + 1)])
