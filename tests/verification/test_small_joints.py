"""verify judges each joint by what is added up for it: a fault in a small joint shows beside large ones."""

import sys

import numpy as np
import pytest

from arms import random_arm
from forearm import dynamics
from forearm.arm import Arm
from forearm.frames import Pose
from forearm.inertia import Inertia
from forearm.link import Link
from forearm.readers import load
from forearm.readers.urdf import from_urdf
from forearm.verification.proof.examination import verify
from forearm.verification.proof.magnitudes import magnitudes
from robots.random_trees import random_urdf
from verification.injected_bugs import MUTANT, mutate

THREE = (MUTANT, "newton_euler_notes", "hollerbach_1980_3x3")


def scara():
    """Two links, a slide and a small wrist: forces beside torques, a hundredth of a kilogram beside ten."""
    rows = [("revolute", 0.4, 10.0), ("revolute", 0.3, 6.0), ("prismatic", 0.0, 1.0), ("revolute", 0.0, 0.01)]
    links = [
        Link(kind, Pose.at((a, 0, 0), (0, 0, 0)), mass=m, com=(-a / 2, 0, 0), inertia=Inertia.sphere(m, 0.02))
        for kind, a, m in rows
    ]
    return Arm("scara", tuple(links))


ROBOTS = {
    "ur5e": lambda: load("ur5e"),
    "puma560": lambda: load("puma560"),
    "scara": scara,
    "branched": lambda: from_urdf(random_urdf(2, joints=3)),
}


@pytest.mark.parametrize("name", ROBOTS)
def test_a_formulation_off_by_a_billionth_in_the_last_joint_passed(name, monkeypatch):
    robot = ROBOTS[name]()
    mutate(monkeypatch, "return np.array(tau)", "tau[-1] = tau[-1] * (1 + 1e-9)\n    return np.array(tau)")
    proof = verify(robot, formulations=THREE, states=2, compiled=False)
    assert {row.subject for row in proof.failures if row.group == "agreement"} == {MUTANT}, str(proof)


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("quantity", ["inverse_dynamics", "mass_matrix"])
def test_a_kernel_off_by_a_billionth_in_the_last_joint_passed(name, quantity, monkeypatch):
    robot, right = ROBOTS[name](), getattr(dynamics, quantity)

    def wrong(arm, *inputs):
        found = np.array(right(arm, *inputs))
        found[..., -1] *= 1 + 1e-9
        return found

    monkeypatch.setattr(dynamics, quantity, wrong)
    proof = verify(robot, formulations=[MUTANT], states=2)
    assert {row.check for row in proof.failures} == {f"compiled {quantity} = interpreted"}


def test_a_wrong_coriolis_matrix_was_held_against_itself_alone(monkeypatch):
    """Its product with qd is right, so that torques do not show it."""
    name = "euler_lagrange_notes"
    mutate(monkeypatch, "def coriolis_matrix(", "def right(", name)
    module = sys.modules[f"forearm.formulations.{name}"]
    module.coriolis_matrix = lambda arm, q, qd: module.right(arm, q, qd) + np.array([[qd[1], -qd[0]]] * 2)
    proof = verify(load("rr"), formulations=[name], states=1, compiled=False)
    assert {row.check for row in proof.failures} == {
        "all agree on Coriolis matrix",
        "the oracle's Coriolis matrix",
    }


def test_a_light_tip_is_no_singular_arm():
    arm = scara()
    tip = arm.links[-1].replace(mass=1e-9, inertia=Inertia.sphere(1e-9, 1e-4))
    proof = verify(arm.replace(links=(*arm.links[:-1], tip)), formulations=[MUTANT], states=1, compiled=False)
    assert proof.passed
    assert not proof.skipped


def small(arm, size):
    """The arm with all lengths times a size, masses times its cube."""
    links = [
        k.replace(
            mass=k.mass * size**3,
            com=tuple(size * np.array(k.com)),
            d=k.d * size,
            pose=Pose(k.pose.rotation, tuple(size * np.array(k.pose.translation))),
            inertia=Inertia(tuple(map(tuple, np.array(k.inertia.tensor) * size**5)), k.inertia.about),
            limits=None,
            offset=0.0,
        )
        for k in arm.links
    ]
    return arm.replace(links=tuple(links))


@pytest.mark.parametrize("size", [1e-3, 1e2])
@pytest.mark.parametrize("far", [0.0, 1e3])
def test_sound_code_passes_on_arms_of_any_size(size, far):
    arm = small(random_arm(4, 5, "RP", general=True, flips=True), size)
    proof = verify(
        arm.replace(base=Pose.at((far, -far, far), (0.1, 0.2, 0.3))),
        states=1,
        formulations=THREE,
        compiled=False,
    )
    assert proof.passed, str(proof)


def test_scales_have_the_units_of_their_joints():
    """Lengths in millimetres and masses in grams: each scale changes as its joint's torque or force does."""
    arm = scara()
    q, qd, qdd = (np.array(x) for x in ([0.3, 0.4, 0.1, 0.2], [1.0, 2, 0.3, 0.7], [1.0, 0.2, 0.5, 3]))
    unit = np.array([1.0, 1, 1e3, 1])
    links = [
        k.replace(
            mass=1e3 * k.mass,
            com=tuple(1e3 * np.array(k.com)),
            pose=Pose(k.pose.rotation, tuple(1e3 * np.array(k.pose.translation))),
            inertia=Inertia(tuple(map(tuple, 1e9 * np.array(k.inertia.tensor))), k.inertia.about),
        )
        for k in arm.links
    ]
    other = arm.replace(links=tuple(links), gravity=(0.0, 0.0, -9810.0))
    ours, theirs = magnitudes(arm, q), magnitudes(other, q * unit)
    force = 1e9 / unit
    np.testing.assert_allclose(
        theirs.torques(qd * unit, qdd * unit), force * ours.torques(qd, qdd), rtol=1e-12
    )
    np.testing.assert_allclose(theirs.mass, force[:, None] * ours.mass / unit, rtol=1e-12)
    np.testing.assert_allclose(
        theirs.christoffel, force[:, None, None] * ours.christoffel / unit[:, None] / unit, rtol=1e-12
    )
    np.testing.assert_allclose(theirs.kinetic(qd * unit), 1e9 * ours.kinetic(qd), rtol=1e-12)
    np.testing.assert_allclose(theirs.pace(qd * unit), ours.pace(qd), rtol=1e-12)
