"""Arms small enough to write down by hand: 1R, RP, PP, PPP, 3R planar, a SCARA, spherical pendulum."""

import itertools

import numpy as np
import pytest
import sympy as sp

from close import assert_close
from derivation_printed import assert_all_printed, assert_printed
from forearm.arm import Arm
from forearm.derivation import derive, prove_equal, symbolic
from forearm.derivation.symbols import KINDS
from forearm.dynamics import inverse_dynamics
from forearm.frames import Pose
from forearm.inertia import Inertia
from forearm.link import Link
from forearm.readers import load

DOWN_Y = (0, -9.81, 0)
m1, m2, m3, g, l1, lc1, x1, x2, z2, I1z, I2z, I2y, I3z = sp.symbols(
    "m1 m2 m3 g l1 lc1 x1 x2 z2 I1z I2z I2y I3z"
)
q1, q2, q3, qd1, qd2, qdd1, qdd2 = sp.symbols("q1 q2 q3 qd1 qd2 qdd1 qdd2")


def body(mass=1.0, com=(-0.2, 0, 0), moments=(0.1, 0.1, 0.1)):
    return dict(mass=mass, com=com, inertia=Inertia.about_com(np.diag(moments)))


def test_one_revolute_joint_is_the_physical_pendulum():
    arm = symbolic(Arm("1R", [Link.dh("revolute", a=0.5, **body())], gravity=DOWN_Y))
    eq = derive(arm)
    assert_all_printed(eq.tau, [(m1 * lc1**2 + I1z) * qdd1 + m1 * g * lc1 * sp.cos(q1)])
    assert eq.C[0, 0].is_zero


def test_revolute_then_prismatic_joint():
    # link 1 turns about z, link 2 slides along z of frame 1, which is turned to lie in the plane
    links = [
        Link.dh(
            "revolute", alpha=np.pi / 2, mass=1.0, com=(0, 0, 0.2), inertia=Inertia.about_com(np.eye(3) * 0.1)
        ),
        Link.dh("prismatic", mass=1.0, com=(0, 0, -0.1), inertia=Inertia.about_com(np.eye(3) * 0.1)),
    ]
    eq = derive(symbolic(Arm("RP", links, gravity=DOWN_Y)))
    z1, I1y = sp.symbols("z1 I1y")
    r = q2 + z2  # distance of the second mass from the axis
    assert_all_printed(eq.M, [[m1 * z1**2 + I1y + m2 * r**2 + I2y, 0], [0, m2]])
    assert_all_printed(eq.tau[1:], [m2 * qdd2 - m2 * r * qd1**2 - m2 * g * sp.cos(q1)])
    assert_printed(eq.christoffel[0, 0, 1], m2 * r)
    assert eq.check.passed


@pytest.mark.parametrize("n", [2, 3])
def test_prismatic_joints_have_constant_equations(n):
    turns = (-np.pi / 2, -np.pi / 2, 0.0)
    links = [Link.dh("prismatic", alpha=turns[i], theta=-np.pi / 2, **body()) for i in range(n)]
    eq = derive(symbolic(Arm("P" * n, links)))
    assert all(x.is_zero for x in eq.christoffel.ravel())
    masses = sp.symbols("m1 m2 m3")[:n]
    for i in range(n):
        assert_printed(eq.M[i, i], sum(masses[i:]))
        assert all(eq.M[i, j].is_zero for j in range(n) if j != i)
    assert_printed(eq.g[0], g * sum(masses))
    assert all(x.is_zero for x in eq.g[1:])


def test_three_parallel_joints_fold_into_sums():
    arm = symbolic(Arm("3R planar", [Link.dh("revolute", a=0.5, **body()) for _ in range(3)], gravity=DOWN_Y))
    eq = derive(arm)
    lc3, l2 = sp.symbols("lc3 l2")
    c3, c23 = sp.cos(q3), sp.cos(q2 + q3)
    assert_printed(eq.M[0, 2], m3 * lc3**2 + I3z + m3 * l2 * lc3 * c3 + m3 * l1 * lc3 * c23)
    assert_printed(eq.g[2], m3 * g * lc3 * sp.cos(q1 + q2 + q3))
    assert str(eq.christoffel[2, 0, 0]) == "m3*l2*lc3*s3 + m3*l1*lc3*s23"
    assert not any("q1" in x.names for x in eq.M.ravel()), "M does not depend on the first angle"


def test_scara_folds_across_its_sliding_joint():
    eq = derive(symbolic(load("cobra600"), style="full"))
    assert eq.ring.trigonometry.groups[0] == ("q1", "q2", "q4")
    assert set(eq.coefficient_table().dimensions) == {"q2", "q4"}
    assert_printed(eq.M[2, 2], sp.Symbol("m3") + sp.Symbol("m4"))


def test_base_and_tool_and_flips_enter():
    from arms import random_arm

    arm = random_arm(3, 7, kinds="RP", general=True, tilted=True, flips=True)
    eq = derive(arm)
    assert eq.check.passed
    assert not eq.ring.exact
    assert "floats" in eq.notes[0]


@pytest.mark.parametrize(
    ("name", "kinds"),
    [("1R", "R"), ("RP", "RP"), ("PR", "PR"), ("PP", "PP"), ("RRP", "RRP"), ("RPR", "RPR")],
)
def test_every_formulation_derives_the_same_formula(name, kinds):
    links = [
        Link.dh("revolute" if k == "R" else "prismatic", a=0.3, alpha=np.pi / 2, d=0.2, **body())
        for k in kinds
    ]
    proof = prove_equal(symbolic(Arm(name, links), style="full"))
    assert proof.holds, str(proof)
    assert proof.exact
    assert len(proof.stems) >= (13 if kinds == "R" else 12)


def test_a_difference_is_found_and_told(monkeypatch):
    from forearm.formulations import luh_walker_paul_1980

    true = luh_walker_paul_1980.joint_torques

    def wrong(arm, q, qd, qdd, *, tip_wrench=None):
        tau = true(arm, q, qd, qdd)
        return np.array([tau[0], tau[1] + qd[0] * qd[1] / 1000])

    monkeypatch.setattr(luh_walker_paul_1980, "joint_torques", wrong)
    proof = prove_equal(symbolic(load("rr")), ["luh_walker_paul_1980", "newton_euler_notes"])
    assert not proof
    assert "luh_walker_paul_1980" in str(proof)
    assert "DIFFERS in 1 terms" in str(proof)
    assert str(proof.differences[1][1]) == "0.001*qd1*qd2"


def test_a_base_tilted_by_a_letter():
    tilt = sp.Symbol("beta")
    flat = symbolic(load("rr"))
    eq = derive(flat.with_base(Pose.at(rpy=(tilt, 0, 0))))
    lc2 = sp.Symbol("lc2")
    assert_printed(eq.g[1], m2 * g * lc2 * sp.cos(q1 + q2) * sp.cos(tilt))
    assert eq.M[0, 0].to_sympy() == derive(flat).M[0, 0].to_sympy()
    assert eq.check.passed


def test_letters_for_twists():
    arm = symbolic(load("generic_3r"), (*KINDS, "angles"))
    eq = derive(arm)
    assert eq.ring.exact
    assert {"alpha1", "alpha2"} <= set(eq.parameters)
    assert r"\cos(\alpha_{1})" in eq.to_latex()


def test_payload_combines_and_cancels():
    mp, xp = sp.symbols("mp xp")
    eq = derive(symbolic(load("rr")).with_payload(mp, (xp, 0, 0), frame="flange"))
    l2, lc2 = sp.symbols("l2 lc2")
    reach = mp * (l2 + xp)
    assert_printed(eq.M[1, 1], m2 * lc2**2 + I2z + reach * (l2 + xp))
    assert_printed(eq.g[1], g * (m2 * lc2 + reach) * sp.cos(q1 + q2))


@pytest.mark.parametrize(("name", "about"), [("puma560", "origin"), ("stanford", "com")])
def test_letters_of_inertias_about_the_other_point_left_out_its_products(name, about):
    arm = load(name).without_drives()
    arm = Arm("three", arm.links[:3], defects=[d for d in arm.defects if d.link <= 3])
    letters, values = symbolic(arm, ["inertias"], about=about), {}
    eq = derive(letters)
    for i, (link, lettered) in enumerate(zip(arm.links, letters.links, strict=True), 1):
        tensor = link.ten.inertia if about == "origin" else link.about_com.inertia
        assert np.array_equal(np.array(lettered.inertia.tensor, dtype=object) != 0, tensor != 0)
        for (r, x), (c, y) in itertools.product(enumerate("xyz"), repeat=2):
            values["IL"[about == "origin"] + f"{i}{x if r == c else x + y}"] = tensor[r, c]
    given = {letter: values[letter] for letter in eq.parameters}
    q, qd, qdd = arm.random_state(seed=1)
    assert_close(eq.lambdify()(q, qd, qdd, **given), inverse_dynamics(arm, q, qd, qdd), eps=64)


def test_what_rounding_leaves_of_a_zero_is_no_letter():
    inertia = Inertia.about_com([[0.1, -0.021, 0], [-0.021, 0.1, 0], [0, 0, 0.1]])
    arm = Arm("1R", [Link.dh("revolute", a=0.3, mass=0.7, com=(-0.1, 0.3, 0), inertia=inertia)])
    left = arm.links[0].ten.inertia[0, 1]
    assert 0 < abs(left) < 1e-15
    assert symbolic(arm, about="origin").links[0].inertia.tensor[0][1] == 0
