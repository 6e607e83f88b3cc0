"""Poses and Jacobians of any frame, on any scalar, one state. World axes; 6-vectors are [linear; angular]."""

from typing import Any

import numpy as np

from forearm.algebra import Matrix, Scalar, Vector, cross, product
from forearm.arm import Arm
from forearm.frames import SAME


def link_poses(arm: Arm, q: Vector) -> list[tuple[Matrix, Vector]]:
    """(R_world_frame, p_world_frame) of frames 0 … n."""
    R, p = arm.base.R, arm.base.p
    poses = [(R, p)]
    for link, qi in zip(arm.links, q, strict=True):
        p = p + product(R, link.p_before(qi))
        R = product(R, link.rotation(qi))
        poses.append((R, p))
    return poses


def frame_names(arm: Arm) -> tuple[str, ...]:
    """Frames that can be asked for by name: 'base', each joint's and each of the file's links, 'flange', 'tool'."""
    return arm.frame_names


def frame_number(arm: Arm, frame: str | int) -> int:
    """Number 0 … n of the frame that carries a frame (see `Arm.place_of`)."""
    return arm.place_of(frame)[0]


def frame_pose(arm: Arm, q: Vector, frame: str | int = "tool") -> tuple[Matrix, Vector]:
    """R_world_frame (3, 3) and p_world_frame (3,) of one frame."""
    number, pose = arm.place_of(frame)
    R, p = link_poses(arm, q)[number]
    if pose == SAME:
        return R, p
    return product(R, pose.R), p + product(R, pose.p)


def joint_axes(arm: Arm, poses: list[tuple[Matrix, Vector]]) -> list[Vector]:
    """World direction of each joint's axis."""
    return [product(R, link.z) for link, (R, _) in zip(arm.links, poses, strict=False)]


def jacobian_at(arm: Arm, q: Vector, point: Vector, number: int) -> Matrix:
    """J (6, n) of a world point carried by link `number`: [linear; angular] velocity = J qd, world axes."""
    poses = link_poses(arm, q)
    zero = np.zeros(3)
    columns = []
    for i, (link, axis) in enumerate(zip(arm.links, joint_axes(arm, poses), strict=True), 1):
        if i > number:
            columns.append(np.concatenate([zero, zero]))
        elif link.revolute:
            columns.append(np.concatenate([cross(axis, point - poses[i - 1][1]), axis]))
        else:
            columns.append(np.concatenate([axis, zero]))
    return np.array(columns).T


def frame_jacobian(arm: Arm, q: Vector, frame: str | int = "tool") -> Matrix:
    """Geometric Jacobian (6, n) of a frame's origin, [linear; angular], world axes."""
    _, p = frame_pose(arm, q, frame)
    return jacobian_at(arm, q, p, frame_number(arm, frame))


def frame_motion(
    arm: Arm, q: Vector, qd: Vector, qdd: Any = None, frame: str | int = "tool"
) -> tuple[Vector, Vector]:
    """Velocity and acceleration (6,) of a frame's origin, [linear; angular], world axes, by the chain itself.

    With qdd left out, the acceleration is the Jacobian's rate times qd.
    """
    poses = link_poses(arm, q)
    number = frame_number(arm, frame)
    target = frame_pose(arm, q, frame)[1]
    w, wd, v, vd = np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3)
    for i in range(1, number + 1):
        link, axis = arm.links[i - 1], joint_axes(arm, poses)[i - 1]
        end = poses[i][1] if i < number else target
        step = end - poses[i - 1][1]
        rate, push = axis * qd[i - 1], (axis * qdd[i - 1] if qdd is not None else np.zeros(3))
        if link.revolute:
            wd = wd + push + cross(w, rate)
            w = w + rate
            v, vd = v + cross(w, step), vd + cross(wd, step) + cross(w, cross(w, step))
        else:
            v, vd = (
                v + cross(w, step) + rate,
                vd + cross(wd, step) + cross(w, cross(w, step)) + push + 2 * cross(w, rate),
            )
    return np.concatenate([v, w]), np.concatenate([vd, wd])


def link_velocities(arm: Arm, q: Vector, qd: Vector) -> list[tuple[Vector, Vector]]:
    """(velocity of the centre of mass, angular velocity) of each link, world axes."""
    poses = link_poses(arm, q)
    w: Vector = np.zeros(3)
    v: Vector = np.zeros(3)
    out = []
    for i, link in enumerate(arm.links, 1):
        axis = joint_axes(arm, poses)[i - 1]
        step = poses[i][1] - poses[i - 1][1]
        if link.revolute:
            w = w + axis * qd[i - 1]
            v = v + cross(w, step)
        else:
            v = v + cross(w, step) + axis * qd[i - 1]
        out.append((v + cross(w, product(poses[i][0], link.about_com.center)), w))
    return out


def wrench_torque(arm: Arm, q: Vector, wrench: Any) -> Vector:
    """Jᵀ f (n,): what a Wrench on the arm contributes; joint torques change by minus this."""
    point_in_link: Scalar = np.zeros(3)
    frame: str | int = wrench.at
    if isinstance(wrench.at, tuple):
        frame, point_in_link = wrench.at[0], np.array(wrench.at[1])
    R, p = frame_pose(arm, q, frame)
    p = p + product(R, point_in_link)
    force, moment = np.array(wrench.force), np.array(wrench.moment)
    if wrench.frame == "local":
        force, moment = product(R, force), product(R, moment)
    J = jacobian_at(arm, q, p, frame_number(arm, frame))
    return product(J.T, np.concatenate([force, moment]))
