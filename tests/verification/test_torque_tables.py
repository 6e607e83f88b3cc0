"""The tables of a batch give the torques of the formulations, and are linear in what they should be."""

import time

import numpy as np
import pytest

from arms import random_arm
from close import assert_close
from forearm.drives import friction_torque, rotor_torque
from forearm.formulations import FORMULATIONS
from forearm.readers import load
from forearm.readers.urdf import from_urdf
from forearm.verification.difference.torque_tables import (
    Tables,
    drive_torques,
    largest_parts,
    numbers_of,
    rigid_torques,
    tables,
)
from robots.random_trees import random_urdf

torques = FORMULATIONS["luh_walker_paul_1980"].joint_torques


@pytest.mark.parametrize(
    "arm", [random_arm(n, n, "RP", general=True, flips=True) for n in (1, 3, 6)], ids=str
)
def test_tables_give_torques(arm):
    q, qd, qdd = arm.random_state(1, (5,))
    found = tables(arm, q, qd, qdd).torques(numbers_of(arm), arm.gravity_in_base)
    want = np.array([torques(arm, *row) for row in zip(q, qd, qdd, strict=True)])
    assert_close(found, want, scale=10 * np.max(np.abs(want)))


def test_drives_are_rotors_and_friction():
    arm = load("puma560")
    _, qd, qdd = arm.random_state(1, (4,))
    want = np.array([rotor_torque(arm, a) + friction_torque(arm, v) for v, a in zip(qd, qdd, strict=True)])
    assert_close(drive_torques(arm, qd, qdd), want)


def test_tables_are_quick():
    arm = load("puma560")
    states = arm.random_state(1, (40,))
    tables(arm, *states)
    start = time.perf_counter()
    for _ in range(5):
        tables(arm, *states)
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize("coupled", [0, 2])
def test_torques_and_sums_of_parts_need_no_table(coupled):
    robot = from_urdf(random_urdf(3, joints=9, coupled=coupled))
    states = robot.random_state(1, (4,))
    numbers, pull, found = numbers_of(robot), np.array(robot.gravity_in_base), tables(robot, *states)
    want = found.torques(numbers, pull)
    assert_close(rigid_torques(robot, *states), want, scale=10 * np.max(np.abs(want)))
    sizes = Tables(np.abs(found.inertial), np.abs(found.weight)).torques(np.abs(numbers), np.abs(pull))
    assert_close(largest_parts(robot, *states), sizes)
