"""verify passes on sound code, and names the law that a bug breaks: nine real bugs, injected one at a time."""

import json

import numpy as np
import pytest

from arms import random_arm
from forearm import drives
from forearm.arm import Arm
from forearm.derivation import symbolic
from forearm.faults import ArmFault, NoDynamics, StateFault
from forearm.inertia import Inertia
from forearm.link import Link
from forearm.readers import known_arms, load
from forearm.readers.urdf import read_urdf
from forearm.verification.proof.examination import verify
from forearm.verification.proof.mechanical_laws import LAWS
from forearm.writers.urdf import write_urdf
from verification.injected_bugs import (
    CODE_BUGS,
    MUTANT,
    ONLY,
    SOME,
    broken_laws,
    change,
    mutate,
    with_origin_inertia,
)


@pytest.fixture(scope="module")
def arm():
    return random_arm(4, 21, "R", general=True, tilted=False)


@pytest.mark.parametrize("name", ["rr", "generic_3r"])
def test_small_built_in_arms_pass(name):
    proof = verify(load(name))
    assert proof.passed, str(proof)
    assert {row.group for row in proof.rows} == {"agreement", "oracle", "law", "compiled"}


@pytest.mark.more
@pytest.mark.parametrize("name", known_arms())
def test_every_built_in_arm_passes(name):
    if not load(name).dynamics:
        with pytest.raises(NoDynamics, match="no torques to verify"):
            verify(load(name))
        return
    proof = verify(load(name), states=3, seed=7)
    assert proof.passed, str(proof)


def test_an_arm_with_slides_flips_and_a_tilted_base_passes():
    proof = verify(random_arm(5, 3, "RP", general=True, flips=True), states=1, compiled=False)
    assert proof.passed, str(proof)
    assert len(proof.rows) > 100


def test_the_oracle_can_read_the_file_itself(tmp_path, arm):
    path = write_urdf(arm, tmp_path / "arm.urdf")
    proof = verify(read_urdf(path), source=path, formulations=SOME, states=1, compiled=False)
    assert proof.passed
    assert {row.shares for row in proof.rows if row.check == "the oracle's torques"} == {
        "nothing: it read the file itself"
    }
    other = write_urdf(
        arm.replace(links=(arm.links[0].replace(mass=9.0), *arm.links[1:])), tmp_path / "b.urdf"
    )
    proof = verify(read_urdf(path), source=other, formulations=SOME, states=1, compiled=False)
    assert {row.check for row in proof.failures} >= {"the oracle's torques"}
    assert not broken_laws(proof)


def test_the_proof_prints_and_is_json(arm):
    steps = []
    proof = verify(
        arm, formulations=SOME, states=1, compiled=False, progress=lambda *step: steps.append(step)
    )
    content = json.loads(proof.to_json())
    assert content["passed"] is True
    assert len(content["rows"]) == len(proof.rows)
    assert content["states"][0]["q"] == proof.states[0]["q"]
    text = str(proof)
    assert "PASS" in text
    assert "shares" in text
    assert steps[0][:2] == (0, steps[-1][1])
    assert steps[-1][0] == steps[-1][1]


def test_what_cannot_be_verified_is_refused(arm):
    with pytest.raises(StateFault, match="there is no formulation 'newton'"):
        verify(arm, formulations=["newton"])
    with pytest.raises(ArmFault, match="has symbols; verify compares numbers"):
        verify(symbolic(load("rr")))


def test_a_massless_tip_skips_accelerations_and_says_so(arm):
    light = arm.replace(links=(*arm.links[:-1], arm.links[-1].replace(mass=0.0, inertia=Inertia.point())))
    proof = verify(light, formulations=SOME, states=1, compiled=False)
    assert any("M is singular" in reason for reason in proof.skipped)
    assert [row for row in proof.failures if row.check != LAWS["round_trip"].says] == []


# -- bugs in one formulation ---------------------------------------------------------------------------------


@pytest.mark.parametrize("bug", CODE_BUGS)
def test_a_bug_in_one_formulation_is_named(bug, arm, monkeypatch):
    old, new, laws = CODE_BUGS[bug]
    mutate(monkeypatch, old, new)
    proof = verify(
        with_origin_inertia(arm) if "about the origin" in bug else arm,
        formulations=SOME,
        states=1,
        compiled=False,
    )
    assert not proof.passed
    found = broken_laws(proof, MUTANT)
    assert laws <= found, f"expected {laws}, found {found}"
    if bug in ONLY:
        assert found - {"power", "turned"} <= laws, found
    assert broken_laws(proof) == found, "the other formulations are sound"
    disagreeing = {
        row.subject for row in proof.failures if row.group == "agreement" and "torques" in row.check
    }
    assert disagreeing in ({MUTANT}, set()), "the odd one out is named, and no other"
    if "base" not in bug:
        assert disagreeing == {MUTANT}


# -- bugs in code that everything shares ---------------------------------------------------------------------


def changed_about_com(monkeypatch, tensor):
    """Every reader of inertias, by either view, gets `tensor(I)` about the centre of mass instead of I."""
    plain_com, plain_ten = Link.__dict__["about_com"].func, Link.__dict__["ten"].func

    def about_com(link):
        view = plain_com(link)
        return view._replace(inertia=tensor(link, np.array(view.inertia)))

    def ten(link):
        view, com = plain_ten(link), plain_com(link)
        return view._replace(inertia=view.inertia + tensor(link, np.array(com.inertia)) - com.inertia)

    change(monkeypatch, Link, "about_com", about_com)
    change(monkeypatch, Link, "ten", ten)


SHARED_BUGS = {
    "rotational inertia dropped": lambda link, I: 0 * I,
    "products of inertia with the other sign": lambda link, I: 2 * np.diag(np.diag(I)) - I,
    "inertia about the origin taken for one about the centre": lambda link, I: np.array(link.inertia.tensor),
}


@pytest.mark.parametrize("bug", SHARED_BUGS)
def test_a_common_error_shows_against_the_oracle(bug, arm, monkeypatch):
    about = "origin" if "about the origin" in bug else "com"
    tensor = np.array([[0.10, 0.01, -0.02], [0.01, 0.12, 0.015], [-0.02, 0.015, 0.14]]) + (
        about == "origin"
    ) * np.eye(3)
    links = [k.replace(mass=1.0, com=(0.1, -0.2, 0.15), inertia=Inertia(tensor, about)) for k in arm.links]
    changed_about_com(monkeypatch, SHARED_BUGS[bug])
    subject = arm.replace(name="fresh", links=tuple(k.replace() for k in links))
    proof = verify(subject, formulations=SOME, states=1, compiled=False)
    failing = {row.check for row in proof.failures}
    assert "the oracle's torques" in failing
    assert "the oracle's mass matrix" in failing


@pytest.mark.parametrize("bug", ["ignored", "wrong sign"])
def test_gravity_in_the_base_is_checked_on_a_tilted_base(bug, arm, monkeypatch):
    real = Arm.__dict__["gravity_in_base"].func

    def wrong(arm):
        g = np.array(arm.gravity, dtype=float)
        return g if bug == "ignored" else np.array(real(arm)) * (1 if arm.base.rotation[2][2] == 1 else -1)

    change(monkeypatch, Arm, "gravity_in_base", wrong)
    proof = verify(arm.replace(name="fresh"), formulations=SOME, states=1, compiled=False)
    assert "tilted" in broken_laws(proof)
    assert "gravity" not in broken_laws(proof), "upright, nothing is wrong"


def test_rotors_in_m_but_not_in_the_torques(arm, monkeypatch):
    monkeypatch.setattr(drives, "rotor_torque", lambda arm, qdd: 0.0 * np.asarray(qdd))
    proof = verify(arm, formulations=SOME, states=1, compiled=False)
    assert "linear" in broken_laws(proof)
    assert {row.subject for row in proof.failures} == {"user functions, rotors, friction and payload on"}


def test_rotors_missing_from_m(arm, monkeypatch):
    monkeypatch.setattr(drives, "rotor_inertias", lambda arm: np.zeros(arm.n))
    proof = verify(arm, formulations=SOME, states=1, compiled=False)
    assert {"linear", "kinetic"} <= broken_laws(proof)


def test_a_compiled_kernel_that_differs_is_named(monkeypatch):
    from forearm import dynamics

    right = dynamics.gravity_torque
    monkeypatch.setattr(dynamics, "gravity_torque", lambda arm, q, **rest: right(arm, q, **rest) * (1 + 1e-9))
    proof = verify(load("rr"), formulations=SOME, states=1)
    assert {row.check for row in proof.failures} == {"compiled gravity_torque = interpreted"}


def test_no_states_prove_nothing():
    with pytest.raises(StateFault, match="verify: states is 0; give a whole number from 1 to 100000"):
        verify(load("rr"), states=0)


def test_a_balanced_wheel_failed_for_the_rounding_of_its_potential_energy():
    wheel = Link("revolute", name="wheel", mass=1.0, inertia=Inertia.about_com(Ixx=1.0, Iyy=1.0, Izz=1.5))
    proof = verify(Arm(name="wheel", links=(wheel,)), states=1, compiled=False)
    assert proof.passed, str(proof)
