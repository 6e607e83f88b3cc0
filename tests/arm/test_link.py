"""Link: the kinematics that formulations read, flips and offsets, the frame at the joint, drives."""

import pickle

import numpy as np
import pytest

from arms import random_body, random_rotation
from close import assert_close
from forearm.algebra import cross
from forearm.arm import Arm
from forearm.frames import Pose
from forearm.inertia import Inertia
from forearm.link import Drive, Link, Wrench, moved_frame


def homogeneous(R=None, p=(0, 0, 0)):
    T = np.eye(4)
    T[:3, :3] = np.eye(3) if R is None else R
    T[:3, 3] = p
    return T


def turn(axis, angle):
    s, c = np.sin(angle), np.cos(angle)
    i, j = {"x": (1, 2), "z": (0, 1)}[axis]
    R = np.eye(3)
    R[i, i], R[i, j], R[j, i], R[j, j] = c, -s, s, c
    return homogeneous(R)


def pose_of(link, q):
    return homogeneous(link.rotation(q), link.p_before(q))


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_dh_is_four_elementary_motions(kind):
    q, a, alpha, d, theta = 0.7, 0.3, -0.8, 0.2, 1.1
    link = Link.dh(kind, a=a, alpha=alpha, d=d, theta=theta)
    angle, length = (theta + q, d) if kind == "revolute" else (theta, d + q)
    want = turn("z", angle) @ homogeneous(p=(0, 0, length)) @ homogeneous(p=(a, 0, 0)) @ turn("x", alpha)
    assert_close(pose_of(link, q), want, eps=4, scale=1)


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_general_pose_comes_after_the_joint(kind):
    rng = np.random.default_rng(1)
    X = Pose(random_rotation(rng), rng.normal(size=3))
    link, q = Link(kind, X, 0.4, -0.3), 0.9
    angle, length = (0.4 + q, -0.3) if kind == "revolute" else (0.4, -0.3 + q)
    assert_close(
        pose_of(link, q), turn("z", angle) @ homogeneous(p=(0, 0, length)) @ X.matrix, eps=8, scale=2
    )


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
@pytest.mark.parametrize("flip", [False, True])
def test_what_formulations_read_hangs_together(kind, flip):
    rng = np.random.default_rng(2)
    X = Pose(random_rotation(rng), rng.normal(size=3))
    link, q, h = Link(kind, X, 0.4, -0.3, flip=flip, offset=0.2), 0.9, 1e-6
    A = link.rotation(q)
    assert_close(A @ link.p_star(q), link.p_before(q), eps=16, scale=2)
    assert_close(A @ link.axis, link.z, eps=16, scale=1)
    dA = (link.rotation(q + h) - link.rotation(q - h)) / (2 * h)
    dp = (link.p_before(q + h) - link.p_before(q - h)) / (2 * h)
    because = "central difference, step 1e-6"
    if kind == "revolute":
        assert_close(dA, np.array([cross(link.z, column) for column in A.T]).T, 1e7, 1, because)
        assert_close(dp, cross(link.z, link.p_before(q)), 1e7, 1, because)
    else:
        assert np.all(dA == 0)
        assert_close(dp, link.z, 1e7, 1, because)


def test_offset_and_flip_change_the_joint_coordinate_alone():
    plain = Link.dh("revolute", a=0.3, alpha=0.5, theta=0.1)
    turned = plain.replace(flip=True, offset=0.25)
    q = 0.7
    assert_close(pose_of(turned, q), pose_of(plain, -(q + 0.25)), eps=4, scale=1)
    slide = Link.dh("prismatic", a=0.3, d=0.2)
    assert_close(
        pose_of(slide.replace(flip=True, offset=0.25), q), pose_of(slide, -(q + 0.25)), eps=4, scale=1
    )


def test_ten_at_joint_is_the_body_seen_from_the_joint():
    rng = np.random.default_rng(3)
    link = Link("revolute", Pose(random_rotation(rng), rng.normal(size=3)), **random_body(rng))
    back = moved_frame(link, link.pose.inverse())
    assert_close(back.pose.matrix, np.eye(4), eps=8, scale=2)
    for got, want in zip(link.ten_at_joint, back.ten, strict=True):
        assert_close(got, want, eps=64, scale=np.max(np.abs(link.ten_at_joint.inertia)))


def test_moving_the_frame_there_and_back():
    rng = np.random.default_rng(4)
    link = Link("revolute", Pose(random_rotation(rng), rng.normal(size=3)), **random_body(rng))
    step = Pose(random_rotation(rng), rng.normal(size=3))
    again = moved_frame(moved_frame(link, step), step.inverse())
    assert_close(again.com, link.com, eps=32, scale=3)
    assert_close(again.inertia.tensor, link.inertia.tensor, eps=32)
    assert_close(again.pose.matrix, link.pose.matrix, eps=16, scale=2)


def test_parts_compare_hash_pickle_and_cannot_change():
    rng = np.random.default_rng(5)
    link = Link("revolute", Pose(random_rotation(rng)), drive=Drive(1e-4, 50, "motor"), **random_body(rng))
    wrench = Wrench(force=[1, 2, 3], at=["tip", [0, 0, 1]])
    for part in (link, link.drive, link.inertia, wrench):
        again = pickle.loads(pickle.dumps(part))
        assert again == part
        assert hash(again) == hash(part)
        with pytest.raises(AttributeError):
            part.name = "other"
    assert link.rotation(0.3) is not None
    assert "R" not in pickle.loads(pickle.dumps(link.pose)).__dict__, "only the fields are pickled"


def test_massless_links_of_no_length_make_a_spherical_joint():
    body = dict(mass=2.0, com=(0, 0, 0.5), inertia=Inertia.sphere(2.0, 0.1))
    links = [
        Link.dh("revolute", alpha=np.pi / 2),
        Link.dh("revolute", alpha=-np.pi / 2),
        Link("revolute", **body),
    ]
    arm = Arm("ball", links)
    assert arm.total_mass == 2.0
    assert arm.notes == ()


def test_reflected_inertia():
    assert Drive(2e-4, -50, "motor").reflected_inertia == pytest.approx(0.5)
    assert Drive(0.5, -50, "joint").reflected_inertia == 0.5
    assert Drive(coulomb=0.3).coulomb == (0.3, 0.3)


def test_limits_may_be_infinite_and_lists():
    link = Link("revolute", limits=[-np.inf, 2], speed_limit=3, effort_limit=0)
    assert link.limits == (-np.inf, 2.0)
    assert (link.speed_limit, link.effort_limit) == (3.0, 0.0)
