"""Poses and Jacobians of any frame, on any scalar, one state. World axes; 6-vectors are [linear; angular]."""

from typing import Any

import numpy as np

from forearm.algebra import Matrix, Scalar, Vector, cross, product
from forearm.arm import Arm
from forearm.chain_cuts import path_to
from forearm.frames import SAME, Pose
from forearm.free_base import base_columns
from forearm.robot import Robot


def link_poses(arm: Arm | Robot, q: Vector) -> list[tuple[Matrix, Vector]]:
    """(R_world_frame, p_world_frame) of frames 0 … n."""
    R, p, joints = arm.base.R, arm.base.p, q
    if isinstance(arm, Robot):
        (R, p), joints = arm.base_pose(q), arm.joint_positions(q)
    poses = [(R, p)]
    for link, parent, mount, qi in zip(arm.links, arm.parents, _mounts(arm), joints, strict=True):
        R, p = poses[parent] if mount == SAME else _moved(poses[parent], mount)
        p = p + product(R, link.p_before(qi))
        R = product(R, link.rotation(qi))
        poses.append((R, p))
    return poses


def _mounts(arm: Arm | Robot) -> tuple[Pose, ...]:
    return arm.mounts if isinstance(arm, Robot) else (SAME,) * len(arm.links)


def _moved(pose: tuple[Matrix, Vector], step: Pose) -> tuple[Matrix, Vector]:
    R, p = pose
    return product(R, step.R), p + product(R, step.p)


def joint_frames(arm: Arm | Robot, poses: list[tuple[Matrix, Vector]]) -> list[tuple[Matrix, Vector]]:
    """The frame along whose z each joint acts: that of the link before, moved by the joint's mount."""
    befores = (poses[parent] for parent in arm.parents)
    return [x if m == SAME else _moved(x, m) for x, m in zip(befores, _mounts(arm), strict=True)]


def frame_names(arm: Arm | Robot) -> tuple[str, ...]:
    """Frames that can be asked for by name: 'base', each joint's and each of the file's links, 'flange', 'tool'."""
    return arm.frame_names


def frame_number(arm: Arm | Robot, frame: str | int) -> int:
    """Number 0 … n of the frame that carries a frame (see `Arm.place_of`)."""
    return arm.place_of(frame)[0]


def frame_pose(arm: Arm | Robot, q: Vector, frame: str | int = "tool") -> tuple[Matrix, Vector]:
    """R_world_frame (3, 3) and p_world_frame (3,) of one frame."""
    number, pose = arm.place_of(frame)
    found = link_poses(arm, q)[number]
    return found if pose == SAME else _moved(found, pose)


def joint_axes(arm: Arm | Robot, poses: list[tuple[Matrix, Vector]]) -> list[Vector]:
    """World direction of each joint's axis."""
    return [product(R, link.z) for link, (R, _) in zip(arm.links, joint_frames(arm, poses), strict=True)]


def jacobian_at(arm: Arm | Robot, q: Vector, point: Vector, number: int) -> Matrix:
    """J (6, n) of a world point carried by link `number`: [linear; angular] velocity = J qd, world axes."""
    poses = link_poses(arm, q)
    frames, zero = joint_frames(arm, poses), np.zeros(3)
    carriers = set(path_to(arm.parents, number))
    columns = []
    for i, (link, axis) in enumerate(zip(arm.links, joint_axes(arm, poses), strict=True), 1):
        if i not in carriers:
            columns.append(np.concatenate([zero, zero]))
        elif link.revolute:
            columns.append(np.concatenate([cross(axis, point - frames[i - 1][1]), axis]))
        else:
            columns.append(np.concatenate([axis, zero]))
    if not isinstance(arm, Robot):
        return np.array(columns).T
    J = np.array([arm.independent(row) for row in np.array(columns).reshape(-1, 6).T])
    if not arm.free:
        return J
    R, p = poses[0]
    return np.concatenate([base_columns(R, point - p), J], axis=1)


def frame_jacobian(arm: Arm | Robot, q: Vector, frame: str | int = "tool") -> Matrix:
    """Geometric Jacobian (6, n) of a frame's origin, [linear; angular], world axes."""
    _, p = frame_pose(arm, q, frame)
    return jacobian_at(arm, q, p, frame_number(arm, frame))


def frame_motion(
    arm: Arm | Robot, q: Vector, qd: Vector, qdd: Any = None, frame: str | int = "tool"
) -> tuple[Vector, Vector]:
    """Velocity and acceleration (6,) of a frame's origin, [linear; angular], world axes, by the chain itself.

    With qdd left out, the acceleration is the Jacobian's rate times qd.
    """
    poses = link_poses(arm, q)
    number = frame_number(arm, frame)
    target = frame_pose(arm, q, frame)[1]
    (w, wd, v, vd), rates, pushes = _start(arm, poses[0][0], qd, qdd)
    path = path_to(arm.parents, number)
    here = poses[0][1]
    frames, axes = joint_frames(arm, poses), joint_axes(arm, poses)
    if not path:  # a place on the base itself
        reach = target - here
        v, vd = v + cross(w, reach), vd + cross(wd, reach) + cross(w, cross(w, reach))
    for i, after in zip(path, (*path[1:], 0)[: len(path)], strict=True):
        link, axis = arm.links[i - 1], axes[i - 1]
        end = frames[after - 1][1] if after else target
        if isinstance(arm, Robot) and i == path[0]:  # the first joint may be away from the base's origin
            reach = frames[i - 1][1] - here
            v, vd = v + cross(w, reach), vd + cross(wd, reach) + cross(w, cross(w, reach))
        step = end - frames[i - 1][1]
        rate = axis * rates[i - 1]
        push = axis * pushes[i - 1] if pushes is not None else np.zeros(3)
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


def _start(arm: Arm | Robot, R: Matrix, qd: Vector, qdd: Any) -> tuple[tuple[Vector, ...], Vector, Any]:
    """Angular and linear velocity and acceleration of frame 0, world axes; rates and accelerations of all joints."""
    still = (np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3))
    if not isinstance(arm, Robot):
        return still, qd, qdd
    joints = arm.joint_rates(qd), None if qdd is None else arm.joint_rates(qdd)
    if not arm.free:
        return still, *joints
    v, w = qd[:3], qd[3:6]
    vd, wd = (qdd[:3], qdd[3:6]) if qdd is not None else (np.zeros(3), np.zeros(3))
    return tuple(product(R, x) for x in (w, wd, v, vd + cross(w, v))), *joints


def link_velocities(arm: Arm | Robot, q: Vector, qd: Vector) -> list[tuple[Vector, Vector]]:
    """(velocity of the centre of mass, angular velocity) of each link, world axes."""
    return [
        (v + cross(w, product(R, link.about_com.center)), w)
        for link, (v, w), (R, _) in zip(
            arm.links, frame_velocities(arm, q, qd)[1:], link_poses(arm, q)[1:], strict=True
        )
    ]


def frame_velocities(arm: Arm | Robot, q: Vector, qd: Vector) -> list[tuple[Vector, Vector]]:
    """(velocity of its origin, angular velocity) of frames 0 … n, world axes."""
    poses = link_poses(arm, q)
    (w0, _, v0, _), rates, _ = _start(arm, poses[0][0], qd, None)
    mounts = _mounts(arm)
    axes, joints, found = joint_axes(arm, poses), joint_frames(arm, poses), [(v0, w0)]
    for i, (link, parent) in enumerate(zip(arm.links, arm.parents, strict=True), 1):
        v, w = found[parent]
        axis, step = axes[i - 1], poses[i][1] - poses[parent][1]
        if link.prismatic or mounts[i - 1] == SAME:
            if link.revolute:
                w = w + axis * rates[i - 1]
                v = v + cross(w, step)
            else:
                v = v + cross(w, step) + axis * rates[i - 1]
        else:  # the joint is away from the origin of the link before
            at_joint = joints[i - 1][1]
            v = v + cross(w, at_joint - poses[parent][1])
            w = w + axis * rates[i - 1]
            v = v + cross(w, poses[i][1] - at_joint)
        found.append((v, w))
    return found


def wrench_torque(arm: Arm | Robot, q: Vector, wrench: Any) -> Vector:
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
