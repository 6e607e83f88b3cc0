"""Poses at which axes are in line: one of infinitely many answers is no proof that the others are beyond reach."""

import numpy as np
import pytest

import forearm as fa

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
