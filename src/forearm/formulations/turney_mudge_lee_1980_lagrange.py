"""Turney, Mudge and Lee (1980): Lagrange with 4x4 matrices, evaluated in O(n³).

Paper
    J. L. Turney, T. N. Mudge, C. S. G. Lee, Equivalence of two formulations for robot arm dynamics, Systems
    Engineering Laboratory, University of Michigan, Ann Arbor, December 1980.  Equation numbers below are the
    report's own; the order of evaluation is that of its appendix. The terms that Table 2 counts apart in
    equation 2.11 are tagged (2.11-delta), (2.11-trace), (2.11-M) and (2.11-C).

Gives       joint torques tau(q, qd, qdd), mass matrix M, Christoffel symbols C^i_jk, gravity torque G.
            Cost  O(n³); Table 1 of the report: 27/2 n³ + 165/2 n² + 5n | 40/3 n³ + 58 n² - 64/3 n.
Accepts     serial arms with revolute joints.
Frames      frame i fixed in link i at its far end, joint i along z of frame i-1; T_j^i takes augmented
            vectors (x, y, z, 1) from frame i to frame j. Drawing in
            docs/papers/turney_mudge_lee_1980_lagrange.md.

Symbols     (paper -> here; the report's link q is p in the code, where q is the joint position)
    T_j^i      T[j, i]      (4, 4)  frame i to frame j: rotation R_j^i and displacement p_j^i
    ∂T_0^i/∂ϑ_j        dT[i, j]       (4, 4)  change of T_0^i with joint j
    ∂²T_0^i/∂ϑ_j∂ϑ_k   d2T[i, j, k]   (4, 4)  change of T_0^i with joints j and k, j <= k
    Q          Q_left, Q_right      z × on rows, or columns: moves and negates entries, costs nothing
    m_q r̄_q^a  m_r_bar      (4,)    mass times the centre of link q in frame q, augmented with 1  [kg m, kg]
    J_q^a      J[q]         (4, 4)  ∫ d dᵗ dm of link q about origin q, augmented             [kg m², …]
    [...]_δ    delta[q]     (4, 4)  inertial and velocity terms of link q, times J_q^a        [N m, N]
    τ_i, G_i   tau_i, G_i           torque of joint i, and the part of it that carries weight     [N m]
    M_ij, C^i_jk   M[i, j], C[i, j, k]   what ϑ̈_j and ϑ̇_jϑ̇_k cost at joint i                   [kg m²]
    g z_0      -arm.gravity_in_base                                                               [m/s²]

Order       gravity is the vector -g z_0 of the report, from the arm, in any direction.
Departs     1. ϑ̇_jϑ̇_k with j < k is formed once and doubled, as the symmetry of C^i allows.
            2. Inertias may be full (the report assumes principal axes parallel to the frame, T14).
            3. Gravity may point anywhere: one row of ∂T_0^q/∂ϑ_i for each of its components that is not zero,
               so one row for the report's z_0, as its appendix counts.
            4. A wrench on the hand is added by virtual work; the report has none here.
Misprints   2.1 and 2.7 carry one wrong sign each, and these cancel (T9). 2.6 lacks the sum over k and
            ϑ̇_jϑ̇_k (T13). The gravity term of 2.11 prints ∂T_i^q/∂ϑ_i; read ∂T_0^q/∂ϑ_i, since T_i^q does
            not depend on ϑ_i (T6). The elements of C^i print indices i, j and a sum from q = i; read C^i_jk,
            ∂²T/∂ϑ_j∂ϑ_k and q >= max(i, j, k) (T12). 1.27 prints I = Tr{X} = -(X); read Tr{X} E - X (T8).
See also    uicker_kahn_1969, euler_lagrange_notes
"""

import numpy as np

from forearm.algebra import is_zero, one_based, second_moment
from forearm.arm import outward


def joint_torques(arm, q, qd, qdd, *, tip_wrench=None):
    """Joint torques (n,) by 2.11: the terms of each link are formed once and projected on each joint."""
    n, qd, qdd = len(arm.links), one_based(qd), one_based(qdd)
    T = transformations(arm, q)
    dT = first_derivatives(arm, T)
    d2T = second_derivatives(arm, T, dT)
    J, delta, tau = _pseudo_inertias(arm), {}, []

    for p in outward(arm):
        terms = [dT[p, j] * qdd[j] for j in range(1, p + 1)]  # (2.11-delta)
        for j, k in _pairs(p):
            rates = qd[j] * qd[k]  # (2.11-delta)
            if j < k:
                rates = rates + rates  # (2.11-delta)
            terms.append(d2T[p, j, k] * rates)  # (2.11-delta)
        delta[p] = np.sum(np.array(terms), axis=0) @ J[p]  # (2.11-delta)

    weights = _weights(arm, dT)
    for i in range(1, n + 1):
        traces = [np.sum(delta[p] * dT[p, i]) for p in range(i, n + 1)]  # (2.11-trace)
        tau_i = np.sum(np.array(traces))  # (2.11-trace)
        if weights[i]:
            G_i = np.sum(np.array(weights[i]))  # (2.8)
            tau_i = tau_i + G_i  # (2.11)
        tau.append(tau_i)
    return np.array(tau) - _wrench_on_joints(arm, T, dT, tip_wrench)


def mass_matrix(arm, q):
    """M (n, n): M_ij = Σ_q Tr{∂T_0^q/∂ϑ_j J_q^a (∂T_0^q/∂ϑ_i)ᵗ}."""
    n, J = len(arm.links), _pseudo_inertias(arm)
    dT = first_derivatives(arm, transformations(arm, q))
    M = {}
    for i, j in _pairs(n):
        traces = [np.sum((dT[p, j] @ J[p]) * dT[p, i]) for p in range(j, n + 1)]  # (2.11-M)
        M[i, j] = M[j, i] = np.sum(np.array(traces))  # (2.11-M)
    return np.array([[M[i, j] for j in range(1, n + 1)] for i in range(1, n + 1)])


def christoffel(arm, q):
    """C[i, j, k] = C^i_jk = Σ_q Tr{∂²T_0^q/∂ϑ_j∂ϑ_k J_q^a (∂T_0^q/∂ϑ_i)ᵗ}, symmetric in j and k."""
    n, J = len(arm.links), _pseudo_inertias(arm)
    T = transformations(arm, q)
    dT = first_derivatives(arm, T)
    d2T = second_derivatives(arm, T, dT)
    C = {}
    for i in range(1, n + 1):
        for j, k in _pairs(n):
            above = range(max(i, k), n + 1)
            traces = [np.sum((d2T[p, j, k] @ J[p]) * dT[p, i]) for p in above]  # (2.11-C)
            C[i, j, k] = C[i, k, j] = np.sum(np.array(traces))  # (2.11-C)
    joints = range(1, n + 1)
    return np.array([[[C[i, j, k] for k in joints] for j in joints] for i in joints])


def gravity_torque(arm, q):
    """G (n,): Σ_q g (z_0^a)ᵗ ∂T_0^q/∂ϑ_i m_q r̄_q^a."""
    weights = _weights(arm, first_derivatives(arm, transformations(arm, q)))
    zero = [0.0]
    return np.array([np.sum(np.array(weights[i] or zero)) for i in range(1, len(arm.links) + 1)])  # (2.8)


def transformations(arm, q):
    """T[j, i] (4, 4) for 0 <= j < i <= n: frame i to frame j."""
    T = {}
    for i in outward(arm):
        link, q_i = arm.links[i - 1], q[i - 1]
        R, p = link.rotation(q_i), link.p_before(q_i)
        T[i - 1, i] = _augmented(R, p)  # (1.13)
        for j in range(i - 1):
            T[j, i] = T[j, i - 1] @ T[i - 1, i]  # (1.15)
    return T


def first_derivatives(arm, T):
    """dT[i, j] = ∂T_0^i/∂ϑ_j = T_0^{j-1} Q T_{j-1}^i (4, 4) for j <= i."""
    dT = {}
    for i in outward(arm):
        dT[i, 1] = Q_left(arm.links[0], T[0, i])  # (dT)
        for j in range(2, i + 1):
            dT[i, j] = Q_right(arm.links[j - 1], T[0, j - 1]) @ T[j - 1, i]  # (dT)
    return dT


def second_derivatives(arm, T, dT):
    """d2T[i, j, k] = ∂²T_0^i/∂ϑ_j∂ϑ_k = T_0^{j-1} Q T_{j-1}^{k-1} Q T_{k-1}^i (4, 4) for j <= k <= i."""
    d2T = {}
    for i in outward(arm):
        for j, k in _pairs(i):
            first, second = arm.links[j - 1], arm.links[k - 1]
            if j == 1:
                d2T[i, j, k] = Q_left(first, dT[i, k])  # (d2T)
            elif j == k:
                d2T[i, j, k] = Q_right(first, Q_right(first, T[0, j - 1])) @ T[j - 1, i]  # (d2T)
            else:
                d2T[i, j, k] = Q_right(second, dT[k - 1, j]) @ T[k - 1, i]  # (d2T)
    return d2T


def Q_left(link, T):
    """Q T: z × on the rows of T."""
    zero = np.zeros(4)
    turned = np.array([-T[1], T[0], zero, zero])
    return -turned if link.flip else turned


def Q_right(link, T):
    """T Q: z × on the columns of T."""
    zero = np.zeros(4)
    turned = np.array([T[:, 1], -T[:, 0], zero, zero]).T
    return -turned if link.flip else turned


def _augmented(R, p):
    """[R p; 0 1]."""
    return np.block([[R, p[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]])


def _pseudo_inertias(arm):
    """J[q] (4, 4) of 1.28, constant: second moments about origin q (1.26), first moment, mass."""
    J = {}
    for i, link in enumerate(arm.links, 1):
        m, first_moment, inertia = link.ten
        J3 = second_moment(inertia)
        J[i] = np.block([[J3, first_moment[:, None]], [first_moment[None, :], np.array([[m]])]])
    return J


def _weights(arm, dT):
    """Terms of the gravity torque for each joint: the rows of ∂T_0^q/∂ϑ_i along gravity times m_q g r̄_q^a."""
    n, weights = len(arm.links), {}
    for i in outward(arm):
        weights[i] = []
        for p in range(i, n + 1):
            m, first_moment, _ = arm.links[p - 1].ten
            m_r_bar = np.array([*first_moment, m])
            for axis in range(3):
                g = -arm.gravity_in_base[axis]
                if not is_zero(g):
                    m_g_r_bar = g * m_r_bar
                    weights[i].append(dT[p, i][axis] @ m_g_r_bar)  # (2.8)
    return weights


def _wrench_on_joints(arm, T, dT, tip_wrench):
    """Virtual work of a wrench on the hand at each joint: force · ∂p_0^n/∂ϑ_i + moment · z_{i-1}."""
    n = len(arm.links)
    if tip_wrench is None:
        return np.zeros(n)
    force, moment = np.asarray(tip_wrench)[:3], np.asarray(tip_wrench)[3:]
    axes = [arm.links[0].z] + [T[0, i - 1][:3, :3] @ arm.links[i - 1].z for i in range(2, n + 1)]
    return np.array([force @ dT[n, i][:3, 3] + moment @ axes[i - 1] for i in range(1, n + 1)])


def _pairs(n):
    """All j <= k from 1 to n."""
    return [(j, k) for j in range(1, n + 1) for k in range(j, n + 1)]
