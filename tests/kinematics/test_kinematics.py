"""Poses, Jacobians, motions and wrenches: by differences, by virtual work, on other scalars."""

import numpy as np
import pytest

from arms import random_arm
from close import assert_close
from forearm.arm import Arm
from forearm.frames import Pose
from forearm.inertia import Inertia
from forearm.kinematics import (
    frame_jacobian,
    frame_motion,
    frame_names,
    frame_number,
    frame_pose,
    link_poses,
    link_velocities,
    wrench_torque,
)
from forearm.link import Link, Wrench

ARMS = [random_arm(5, 1, "RP", general=True, flips=True), random_arm(4, 2, "RPRR"), random_arm(1, 3)]
STEP = "central difference, step 1e-5"


def unskew(S):
    return np.array([S[2, 1] - S[1, 2], S[0, 2] - S[2, 0], S[1, 0] - S[0, 1]]) / 2


@pytest.mark.parametrize("arm", ARMS, ids=lambda arm: arm.name)
@pytest.mark.parametrize("frame", ["tool", "flange", "joint1", 0, 1])
def test_jacobian_is_the_derivative_of_the_pose(arm, frame):
    q, _, _ = arm.random_state(4)
    J, h = frame_jacobian(arm, q, frame), 1e-5
    R, _ = frame_pose(arm, q, frame)
    for k in range(arm.n):
        step = h * np.eye(arm.n)[k]
        (R1, p1), (R0, p0) = frame_pose(arm, q + step, frame), frame_pose(arm, q - step, frame)
        assert_close(J[:3, k], (p1 - p0) / (2 * h), 1e6, 2, STEP)
        assert_close(J[3:, k], unskew((R1 - R0) / (2 * h) @ R.T), 1e6, 2, STEP)


@pytest.mark.parametrize("arm", ARMS, ids=lambda arm: arm.name)
def test_motion_is_jacobian_times_rates(arm):
    q, qd, qdd = arm.random_state(5)
    J, h = frame_jacobian(arm, q), 1e-5
    v, a = frame_motion(arm, q, qd, qdd)
    assert_close(v, J @ qd, scale=10)
    rate = (frame_jacobian(arm, q + h * qd) - frame_jacobian(arm, q - h * qd)) / (2 * h)
    _, bias = frame_motion(arm, q, qd)
    assert_close(bias, rate @ qd, 1e7, 10, STEP)
    assert_close(a, J @ qdd + bias, scale=100)


@pytest.mark.parametrize("arm", ARMS, ids=lambda arm: arm.name)
def test_velocities_of_the_centres(arm):
    q, qd, _ = arm.random_state(6)
    h = 1e-5

    def centers(q):
        poses = link_poses(arm, q)[1:]
        return np.array([p + R @ np.array(link.com) for link, (R, p) in zip(arm.links, poses, strict=True)])

    want = (centers(q + h * qd) - centers(q - h * qd)) / (2 * h)
    assert_close([v for v, _ in link_velocities(arm, q, qd)], want, 1e7, 10, STEP)


def test_frames_have_names():
    arm = ARMS[1]
    assert frame_names(arm) == ("base", "joint1", "joint2", "joint3", "joint4", "flange", "tool")
    assert [frame_number(arm, f) for f in frame_names(arm)] == [0, 1, 2, 3, 4, 4, 4]
    with pytest.raises(ValueError, match="has no frame 'hand'"):
        frame_number(arm, "hand")
    with pytest.raises(ValueError, match="has no frame 9"):
        frame_number(arm, 9)


def test_base_and_tool_are_in_every_pose():
    arm = ARMS[0]
    q, _, _ = arm.random_state(7)
    plain = arm.with_base(Pose()).with_tool(Pose())
    R, p = frame_pose(plain, q)
    want = arm.base @ Pose(R, p) @ arm.tool
    got_R, got_p = frame_pose(arm, q)
    assert_close(got_R, want.R, scale=1)
    assert_close(got_p, want.p, scale=4)


@pytest.mark.parametrize("arm", ARMS, ids=lambda arm: arm.name)
@pytest.mark.parametrize("at", ["tool", "joint1", ("joint1", (0.1, 0.2, 0.3))])
def test_wrench_does_its_work(arm, at):
    """Power of the force and moment at the moving point is torque times joint rates."""
    q, qd, _ = arm.random_state(8)
    force, moment = np.array([1.0, -2.0, 3.0]), np.array([0.5, 0.7, -0.9])
    frame, point = at if isinstance(at, tuple) else (at, (0, 0, 0))
    v = frame_jacobian(arm, q, frame) @ qd
    R, _ = frame_pose(arm, q, frame)
    speed = v[:3] + np.cross(v[3:], R @ point)
    world = wrench_torque(arm, q, Wrench(force, moment, at=at))
    assert_close(world @ qd, force @ speed + moment @ v[3:], scale=30)
    local = wrench_torque(arm, q, Wrench(R.T @ force, R.T @ moment, at=at, frame="local"))
    assert_close(local, world, scale=30)


def test_planar_arm_in_symbols():
    sympy = pytest.importorskip("sympy")
    l1, l2, q1, q2 = sympy.symbols("l1 l2 q1 q2")
    arm = Arm("rr", [Link.dh("revolute", a=x, mass=1, inertia=Inertia.point()) for x in (l1, l2)])
    q = np.array([q1, q2])
    _, p = frame_pose(arm, q)
    assert sympy.simplify(p[0] - l1 * sympy.cos(q1) - l2 * sympy.cos(q1 + q2)) == 0
    J = frame_jacobian(arm, q)
    for i in range(3):
        for k, symbol in enumerate(q):
            assert sympy.simplify(J[i, k] - sympy.diff(sympy.sympify(p[i]), symbol)) == 0


def test_fifty_digits():
    mpmath = pytest.importorskip("mpmath")
    arm = ARMS[1]
    q, _, _ = arm.random_state(9)
    with mpmath.workdps(50):
        exact = frame_jacobian(arm, np.array([mpmath.mpf(x) for x in q]))
    assert_close(frame_jacobian(arm, q), exact.astype(float), eps=16, scale=2)
