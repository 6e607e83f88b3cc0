"""verify names the same nine bugs on robots with branches, fixed and free, as it does on arms."""

import pytest

from forearm import drives
from forearm.readers.urdf import from_urdf
from forearm.verification.proof.examination import verify
from forearm.verification.proof.mechanical_laws import USER
from robots.random_trees import random_urdf
from verification.injected_bugs import CODE_BUGS, MUTANT, ONLY, broken_laws, mutate, with_origin_inertia

TREE = from_urdf(random_urdf(2, joints=4))
THREE = (MUTANT, "newton_euler_notes", "hollerbach_1980_3x3")
LIGHT = list(CODE_BUGS)[4]


def tree(bug):
    """A robot of four joints; its bodies have every number that a bug can get wrong."""
    return with_origin_inertia(TREE) if "about the origin" in bug else TREE


def found_on(robot):
    return verify(robot, formulations=THREE, states=1, compiled=False)


def names(bug, robot, monkeypatch):
    old, new, laws = CODE_BUGS[bug]
    mutate(monkeypatch, old, new)
    proof = found_on(robot)
    assert not proof.passed
    found = broken_laws(proof, MUTANT)
    assert laws <= found, f"expected {laws}, found {found}"
    if bug in ONLY:
        tilted = {"gravity"} if "tilt" in bug else set()  # a chain's first joint stands in any direction
        assert found - {"power", "turned"} - tilted <= laws, found
    others = {row.subject for row in proof.failures} - {MUTANT}
    assert not others, "the other formulations, the walk along the tree and the user's functions are sound"


def test_a_bug_in_one_formulation_is_named_on_a_tree(monkeypatch):
    names(LIGHT, tree(LIGHT), monkeypatch)


@pytest.mark.more
@pytest.mark.parametrize("bug", [bug for bug in CODE_BUGS if bug != LIGHT])
def test_every_bug_in_one_formulation_is_named_on_a_tree(bug, monkeypatch):
    names(bug, tree(bug), monkeypatch)


def test_rotors_in_m_but_not_in_the_torques_of_a_tree(monkeypatch):
    monkeypatch.setattr(drives, "rotor_torque", lambda arm, qdd: 0.0 * qdd)
    proof = found_on(TREE)
    assert "linear" in broken_laws(proof)
    assert {row.subject for row in proof.failures} == {USER}


@pytest.mark.more
def test_a_bug_is_named_on_a_free_and_coupled_tree(monkeypatch):
    robot = TREE.with_couplings({"joint4": ("joint1", -0.5, 0.1)}).freed()
    assert found_on(robot).passed
    names(LIGHT, robot, monkeypatch)


def test_what_is_not_asked_of_a_long_robot_is_said():
    robot = from_urdf(random_urdf(2, joints=5), base="free")
    assert len(verify(robot, formulations=THREE[:1], states=1, compiled=False).skipped) == 1
