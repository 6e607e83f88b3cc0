"""A walk along the tree itself: where branches meet, forces and composite bodies are added before they go on inward.

The sum over chains (tree_model) carries each branch's forces through a shared trunk on its own; the sum is the same.
The equations are those of khalil_kleinfinger_1987 (K1 to K9) and walker_orin_1982 (W1 to W5), with the joint before in
place of joint j-1; a test holds them against the sums over chains. Measured, before factoring: Baxter's torques take
1725 operations instead of 2001, its accelerations 3563 instead of 5145.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from forearm.algebra import Matrix, Scalar, Vector, cross, parallel_axis, product
from forearm.compiler.model.trees.tree_frames import TreeFrames
from forearm.formulations import khalil_kleinfinger_1987, walker_orin_1982

K: Any = khalil_kleinfinger_1987
W: Any = walker_orin_1982


def walked_torques(tree: TreeFrames, gravity: Vector, q: Vector, qd: Vector, qdd: Vector) -> Vector:
    """Torques (n,) of all joints, gravity in the axes of frame 0."""
    w: list[Any] = [np.zeros(3)]
    wd: list[Any] = [np.zeros(3)]
    vd: list[Any] = [-gravity]
    U: list[Any] = [np.zeros((3, 3))]
    forces, moments = [np.zeros(3)], [np.zeros(3)]
    for j, (joint, parent) in enumerate(zip(tree.joints, tree.parents, strict=True)):
        turn, X, P = _way(tree, j, q)
        sign = joint.z[2]
        rate, push = sign * qd[j], sign * qdd[j]
        w_before, wd_before = K.into(turn, X, w[parent]), K.into(turn, X, wd[parent])
        at_joint = K.into(turn, X, vd[parent] + U[parent] @ P)
        if joint.revolute:
            w.append(np.array([w_before[0], w_before[1], w_before[2] + rate]))
            x, y, z = wd_before
            wd.append(np.array([x + w_before[1] * rate, y - w_before[0] * rate, z + push]))
            vd.append(at_joint)
        else:
            w.append(w_before)
            wd.append(wd_before)
            vd.append(at_joint + np.array([2 * rate * w_before[1], -2 * rate * w_before[0], push]))
        U.append(K.field(w[-1], wd[-1]))
        M, MS, J = joint.ten_at_joint
        forces.append(M * vd[-1] + U[-1] @ MS)
        moments.append(K.moment(J, w[-1], wd[-1]) + cross(MS, vd[-1]))
    return _collected(tree, q, forces, moments)


def _collected(tree: TreeFrames, q: Vector, forces: list[Any], moments: list[Any]) -> Vector:
    """Inward: each joint's torque, and its forces added to those of the joint before."""
    tau: list[Scalar] = [0.0] * len(tree.joints)
    for j in range(len(tree.joints) - 1, -1, -1):
        joint, parent, (turn, X, P) = tree.joints[j], tree.parents[j], _way(tree, j, q)
        f, m = forces[j + 1], moments[j + 1]
        tau[j] = joint.z[2] * (m[2] if joint.revolute else f[2])
        if parent:
            carried = K.out_of(turn, X, f)
            forces[parent] = forces[parent] + carried
            moments[parent] = moments[parent] + K.out_of(turn, X, m) + cross(P, carried)
    return np.array(tau)


def walked_mass_matrix(tree: TreeFrames, q: Vector) -> Matrix:
    """M (n, n) of all joints; zero between joints of different branches."""
    n = len(tree.joints)
    total: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
    composite: list[Sequence[Any]] = [joint.ten_at_joint for joint in tree.joints]
    for j in range(n - 1, -1, -1):
        joint, parent, (turn, X, P) = tree.joints[j], tree.parents[j], _way(tree, j, q)
        mass, h, J = composite[j]
        f, m = _asked(joint, mass, h, J)
        i = j
        while i >= 0:
            here = tree.joints[i]
            total[i][j] = total[j][i] = here.z[2] * (m[2] if here.revolute else f[2])
            along = _way(tree, i, q)
            f = K.out_of(*along[:2], f)
            m = K.out_of(*along[:2], m) + cross(along[2], f)
            i = tree.parents[i] - 1
        if parent:
            own_mass, own_h, own_J = composite[parent - 1]
            h = K.out_of(turn, X, h)
            J = product(product(X, W.turned_about_z(turn, J)), X.T) + W.shifted(h, P) + parallel_axis(mass, P)
            composite[parent - 1] = own_mass + mass, own_h + h + mass * P, own_J + J
    return np.array(total)


def _asked(joint: Any, mass: Scalar, h: Vector, J: Matrix) -> tuple[Vector, Vector]:
    """The force and moment that one unit of acceleration of a joint asks for."""
    sign = joint.z[2]
    if joint.revolute:
        return sign * np.array([-h[1], h[0], 0.0]), sign * np.array([J[0, 2], J[1, 2], J[2, 2]])
    return sign * np.array([0.0, 0.0, mass]), sign * np.array([h[1], -h[0], 0.0])


def _way(tree: TreeFrames, j: int, q: Vector) -> tuple[tuple[Scalar, Scalar], Matrix, Vector]:
    """Sine and cosine of joint j from 0, the constant rotation before it, and the step from the joint before."""
    joint, pose = tree.joints[j], tree.steps[j]
    return joint.turn(q[j]), pose.R, pose.p + pose.R[:, 2] * joint.length(q[j])
