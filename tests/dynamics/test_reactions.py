"""Of the six numbers that a joint carries the drive supplies one and the bearing five."""

import copy
import pickle

import numpy as np
import pytest

import forearm as fa
from arms import random_arm
from close import assert_close

ARMS = {
    "rr": lambda: fa.load("rr"),
    "puma560": lambda: fa.load("puma560"),
    "stanford": lambda: fa.load("stanford"),
    "flipped and sliding": lambda: random_arm(4, 11, "RP", general=True, flips=True),
}


@pytest.mark.parametrize("name", ARMS)
def test_the_drive_supplies_the_torque_and_nothing_is_lost(name):
    arm = ARMS[name]()
    q, qd, qdd = arm.random_state(3, (5, 2))
    loads = fa.reactions(arm, q, qd, qdd)
    rigid = fa.inverse_dynamics(arm.without_drives(), q, qd, qdd)
    scale = float(np.abs(loads.moment).max() + np.abs(loads.force).max())
    assert_close(loads.drive, rigid, scale=scale)
    for i, link in enumerate(arm.links):
        axis, turns = np.asarray(link.axis, dtype=float), link.revolute
        along = loads.drive[..., i, None] * axis
        assert_close(
            loads.bearing_force[..., i, :] + (0 if turns else along), loads.force[..., i, :], scale=scale
        )
        assert_close(
            loads.bearing_moment[..., i, :] + (along if turns else 0), loads.moment[..., i, :], scale=scale
        )
        free = loads.bearing_moment if turns else loads.bearing_force
        assert_close(free[..., i, :] @ axis, np.zeros((5, 2)), scale=scale)


def test_a_planar_arm_loads_its_bearings_by_forces_alone():
    arm = fa.load("planar_3r")
    loads = fa.reactions(arm, *arm.random_state(1))
    assert_close(loads.bearing_moment, np.zeros((3, 3)), scale=float(np.abs(loads.moment).max()))
    assert_close(loads.bearing_force, loads.force)


def test_it_is_still_the_pair_that_it_was():
    arm = fa.load("rr")
    state = arm.random_state(1)
    loads = fa.reactions(arm, *state)
    force, moment = loads
    assert loads._fields == ("force", "moment")
    assert len(loads) == 2
    for again in (pickle.loads(pickle.dumps(loads)), copy.deepcopy(loads)):
        np.testing.assert_array_equal(again.drive, loads.drive)
    out = (np.empty((2, 3)), np.empty((2, 3)))
    written = fa.reactions(arm, *state, out=out)
    assert written.force is out[0]
    np.testing.assert_array_equal(written.drive, loads.drive)
    single = fa.reactions(arm, *(x.astype(np.float32) for x in state))
    assert single.drive.dtype == single.bearing_force.dtype == np.float32
    assert force.shape == moment.shape == (2, 3)
