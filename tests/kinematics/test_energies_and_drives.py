"""Energies and momenta against M, g and differences; friction and rotors as curves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arms import random_arm
from close import assert_close
from forearm.arm import Arm
from forearm.drives import dissipated_power, dry_friction, friction_torque, rotor_inertias, rotor_torque
from forearm.energies import angular_momentum, kinetic_energy, linear_momentum, potential_energy
from forearm.faults import NoDynamics
from forearm.formulations import FORMULATIONS
from forearm.inertia import Inertia
from forearm.kinematics import link_velocities
from forearm.link import Drive, Link
from forearm.readers import load

torques = FORMULATIONS["luh_walker_paul_1980"].joint_torques
ARMS = [random_arm(4, 1, "RP", general=True, flips=True), random_arm(6, 2), random_arm(3, 3, "PRP")]
STEP = "central difference, step 1e-5"


@pytest.mark.parametrize("arm", ARMS, ids=lambda arm: arm.name)
def test_kinetic_energy_is_half_qd_M_qd(arm):
    q, qd, _ = arm.random_state(1)
    weightless = arm.replace(gravity=(0, 0, 0))
    momentum = torques(weightless, q, 0 * qd, qd)
    assert_close(kinetic_energy(arm, q, qd), qd @ momentum / 2)


@pytest.mark.parametrize("arm", ARMS, ids=lambda arm: arm.name)
def test_gravity_torque_is_the_slope_of_the_potential(arm):
    q, _, _ = arm.random_state(2)
    h, zero = 1e-5, np.zeros(arm.n)
    slope = [
        (potential_energy(arm, q + h * e) - potential_energy(arm, q - h * e)) / (2 * h) for e in np.eye(arm.n)
    ]
    assert_close(slope, torques(arm, q, zero, zero), 1e8, because=STEP)


@pytest.mark.parametrize("arm", ARMS, ids=lambda arm: arm.name)
def test_momentum_is_mass_times_velocity_of_the_centre(arm):
    q, qd, _ = arm.random_state(3)
    h = 1e-5
    velocity = (arm.center_of_mass(q + h * qd) - arm.center_of_mass(q - h * qd)) / (2 * h)
    assert_close(linear_momentum(arm, q, qd), arm.total_mass * velocity, 1e7, because=STEP)


def test_angular_momentum_of_one_spinning_body():
    """About the world's origin: c × m v + I ω, written out."""
    arm = Arm(
        "top", [Link.dh("revolute", a=0.5, mass=2.0, inertia=Inertia.about_com(np.diag([0.1, 0.2, 0.25])))]
    )
    assert_close(angular_momentum(arm, [0.3], [1.7]), [0, 0, (2.0 * 0.25 + 0.25) * 1.7], eps=8)
    assert_close(linear_momentum(arm, [0.0], [1.7]), [0, 2.0 * 0.5 * 1.7, 0], eps=8)


def test_power_is_what_the_torques_do():
    """dE/dt = tau · qd for the rigid arm, along a motion with given q, qd, qdd."""
    arm, h = ARMS[0], 1e-5
    q, qd, qdd = arm.random_state(4)

    def total(t):
        return kinetic_energy(arm, q + qd * t + qdd * t * t / 2, qd + qdd * t) + potential_energy(
            arm, q + qd * t + qdd * t * t / 2
        )

    assert_close((total(h) - total(-h)) / (2 * h), torques(arm, q, qd, qdd) @ qd, 1e8, because=STEP)


@pytest.mark.parametrize("function", [kinetic_energy, linear_momentum, angular_momentum, link_velocities])
def test_arm_without_masses(function):
    arm = load("cobra600")
    q, qd, _ = arm.random_state(5)
    if function is link_velocities:
        assert len(function(arm, q, qd)) == 4
        return
    with pytest.raises(NoDynamics, match="cobra600"):
        function(arm, q, qd)


def test_potential_energy_without_masses():
    with pytest.raises(NoDynamics, match="no potential energy"):
        potential_energy(load("cobra600"), np.zeros(4))


# -- drives ----------------------------------------------------------------------------------------------

speeds = st.floats(-100, 100)
sizes = st.floats(0, 10)


@given(sizes, sizes, st.floats(1e-4, 1), speeds)
@settings(max_examples=60, deadline=None)
def test_dry_friction_never_drives(forth, back, smoothing, v):
    drive = Drive(coulomb=(forth, back), smoothing=smoothing)
    f = dry_friction(drive, v)
    assert f * v >= 0
    assert abs(f) <= max(forth, back) * (1 + 1e-12)
    assert dry_friction(drive, 0.0) == 0


def test_dry_friction_tends_to_its_two_levels():
    drive = Drive(coulomb=(0.4, 0.7), smoothing=1e-3)
    assert dry_friction(drive, 10.0) == pytest.approx(0.4, rel=1e-7)
    assert dry_friction(drive, -10.0) == pytest.approx(-0.7, rel=1e-7)
    even = Drive(coulomb=0.5, smoothing=0.1)
    assert dry_friction(even, 0.1) == pytest.approx(0.5 / np.sqrt(2), rel=1e-14)


def test_friction_and_rotor_torques():
    arm = load("puma560")
    _, qd, qdd = arm.random_state(6)
    assert_close(rotor_torque(arm, qdd), rotor_inertias(arm) * qdd, eps=1)
    assert dissipated_power(arm, qd) > 0
    viscous = [link.drive.viscous for link in arm.links]
    dry = [dry_friction(link.drive, v) for link, v in zip(arm.links, qd, strict=True)]
    assert_close(friction_torque(arm, qd), np.multiply(viscous, qd) + dry, eps=4)
    assert np.all(friction_torque(arm.without_drives(), qd) == 0)


def test_rotors_are_in_the_kinetic_energy():
    arm = load("puma560")
    q, qd, _ = arm.random_state(7)
    extra = kinetic_energy(arm, q, qd) - kinetic_energy(arm.without_drives(), q, qd)
    assert_close(extra, rotor_inertias(arm) @ qd**2 / 2, scale=kinetic_energy(arm, q, qd))


@given(st.floats(0.1, 10), st.floats(1 / 3, 3), speeds, speeds)
@settings(max_examples=60, deadline=None)
def test_dry_friction_rises_with_speed(level, ratio, v, w):
    """Monotone while the two levels differ by no more than a factor of three."""
    drive = Drive(coulomb=(level, level * ratio), smoothing=0.5)
    low, high = sorted((v, w))
    assert dry_friction(drive, low) <= dry_friction(drive, high) + 1e-14 * level
