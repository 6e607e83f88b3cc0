"""Poses at which axes are in line: one of infinitely many answers is no proof that the others are beyond reach."""

import numpy as np
import pytest

import forearm as fa
from forearm.reach.subproblems import angle, inclined, turned

ROWS = [
    (0, 0.1, np.pi / 2),
    (-0.4, 0, 0),
    (-0.35, 0, 0),
    (0, 0.12, np.pi / 2),
    (0, 0.1, -np.pi / 2),
    (0, 0.08, 0),
]
CERTAIN = ("out of reach", "out of limits")


def like_a_ur(most):
    links = [
        fa.Link.dh("revolute", a=a, d=d, alpha=turn, mass=1.0, limits=(-most, most)) for a, d, turn in ROWS
    ]
    return fa.Arm("like a UR", links)


@pytest.mark.parametrize(
    ("most", "q"),
    [
        (2.0, [0, 1.9811188109608016, 1.5273784841142346, 0, 0, 1.2799180458234045]),
        (
            2.5,
            [
                2.320807237465605,
                -2.499101221270666,
                -0.37689552257213954,
                -0.6187150363696126,
                4.95e-12,
                -2.2727189853854153,
            ],
        ),
    ],
)
def test_a_pose_made_of_joint_values_was_said_to_be_out_of_reach(most, q):
    """The closed form takes one value for a joint that is free there, and its word was taken for certain."""
    arm = like_a_ur(most)
    found = fa.inverse_kinematics(arm, fa.pose(arm, q))
    assert found.status not in CERTAIN, found
    assert found.solved or found.status == "not found"


@pytest.mark.parametrize("name", ["ur5e", "puma560"])
def test_poses_near_to_axes_in_line_are_not_said_to_be_out_of_reach(name):
    """8 of 20,000 were; the joint that brings axes in line is all but zero in each of these."""
    arm = fa.load(name)
    q, _, _ = arm.random_state(3, (4000,))
    rng = np.random.default_rng(5)
    q[:, 4] = rng.choice([-1.0, 1.0], 4000) * 10.0 ** rng.uniform(-12, -4, 4000)
    found = fa.inverse_kinematics(arm, fa.pose(arm, q))
    assert not np.isin(found.status, CERTAIN).any()
    assert found.solved.mean() > 0.98


def test_what_is_out_of_reach_is_still_said_to_be():
    arm = like_a_ur(3.1)
    far = np.eye(4)
    far[:3, 3] = (3.0, 0.5, 0.2)
    assert fa.inverse_kinematics(arm, far).status == "out of reach"


@pytest.mark.parametrize("name", ["puma560", "ur5e", "stanford"])
@pytest.mark.parametrize("bent", [1e-6, 1e-7, 1e-9])
def test_branches_were_lost_all_but_in_line(name, bent):
    """At 1e-7 rad nearly all poses lost some, and a third of the starts at the very solution led to another."""
    arm = fa.load(name)
    free = arm.replace(links=[link.replace(limits=None) if link.revolute else link for link in arm.links])
    q, _, _ = arm.random_state(3, (100,))
    more, less = q.copy(), q.copy()
    more[:, 4], less[:, 4] = 1e-4, bent
    counts = fa.inverse_kinematics(free, fa.pose(free, more), every=True).solved.sum(axis=-1)
    poses = fa.pose(free, less)
    every = fa.inverse_kinematics(free, poses, every=True)
    assert every.solved.sum() == counts.sum()
    assert every.error[every.solved].max() < 1e-14
    own = fa.inverse_kinematics(free, poses, q0=less)
    assert np.abs(own.q - less).max() < 1e-5 + 1e-12 / bent


def test_an_angle_all_but_zero_between_two_turns_keeps_its_digits():
    """Whatever the axes are to each other, as long as they can come in line at all."""
    rng = np.random.default_rng(0)
    for tilt in rng.uniform(0.2, 2.9, 40):
        k, c, s = np.array([0.0, 0.0, 1.0]), np.cos(tilt), np.sin(tilt)
        h, p = np.array([s, 0.0, c]), np.array([s * np.cos(0.3), s * np.sin(0.3), c])
        for off in (1e-5, 1e-8):
            turn = np.sin(off - 0.3), np.cos(off - 0.3)
            turns, margin = inclined(h, k, p, h, turned(k, turn, p))
            assert margin > 0
            assert min(abs(angle(t) + 0.3 - off) for t in turns) < 1e-14
