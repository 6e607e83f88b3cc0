"""Base parameters: as many as the regressor's rank, the same torques, their meaning as text."""

import numpy as np
import pytest

from arms import random_arm
from close import assert_close
from forearm.arm import Arm
from forearm.derivation import derive, symbolic
from forearm.formulations import FORMULATIONS
from forearm.inertia import Inertia
from forearm.link import Link
from forearm.readers import known_arms, load


def rank(arm):
    """Rank of the regressor of ten parameters per link, by torques of unit parameters (view `ten`)."""
    torques = FORMULATIONS["luh_walker_paul_1980"].joint_torques
    rng = np.random.default_rng(0)
    states = rng.uniform(-2, 2, (12, 3, arm.n))
    columns = []
    for i in range(arm.n):
        for k in range(10):
            links = [_unit(link, k if j == i else None) for j, link in enumerate(arm.links)]
            bodies = arm.replace(links=tuple(links), defects=_all_defects(arm.n))
            columns.append(np.concatenate([torques(bodies, *s) for s in states]))
    values = np.linalg.svd(np.array(columns).T, compute_uv=False)
    return int(np.sum(values > 1e-9 * values[0]))


def _unit(link, k):
    """A link with one of ten parameters: mass, three mass points, six inertias."""
    mass, com, tensor = 0.0, np.zeros(3), np.zeros((3, 3))
    if k is not None and k < 4:
        mass, com = 1.0, np.eye(3)[k - 1] if k else np.zeros(3)
    elif k is not None:
        a, b = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)][k - 4]
        tensor[a, b] = tensor[b, a] = 1.0
    return link.replace(mass=mass, com=tuple(com), inertia=Inertia(tensor, "com"))


def _all_defects(n):
    from forearm.arm import Defect

    kinds = ("inertia_sign", "triangle", "massless_inertia")
    return tuple(Defect(i, kind, "unit parameters") for i in range(1, n + 1) for kind in kinds)


@pytest.mark.parametrize("name", ["rr", "puma560", "stanford", "cobra600"])
def test_as_many_as_the_rank(name):
    arm = load(name)
    eq = derive(symbolic(arm, style="full"), group=True)
    assert eq.check.passed
    assert len(eq.groupings) == rank(arm)


def test_puma_has_36():
    eq = derive(symbolic(load("puma560"), style="full"), group=True)
    assert len(eq.groupings) == 36
    assert eq.size < derive(eq.arm).size / 2


@pytest.mark.more
@pytest.mark.parametrize("name", known_arms())
def test_as_many_as_the_rank_for_every_arm(name):
    test_as_many_as_the_rank(name)


def test_meaning_is_printed():
    eq = derive(symbolic(load("rr")), group=True)
    text = [str(x) for x in eq.groupings]
    assert "Lzz1R = m1*lc1^2 + m2*l1^2 + I1z" in text
    assert "lx1R = m1*lc1 + m2*l1" in text
    assert "Lzz2 = m2*lc2^2 + I2z" in text
    assert "lx2 = m2*lc2" in text
    assert str(eq.M[0, 0]) == "Lzz1R + Lzz2 + 2*l1*lx2*c2"
    assert all(line in str(eq) for line in text)


def test_a_name_that_the_arm_uses_is_left_alone():
    import sympy as sp

    lx1 = sp.Symbol("lx1")
    body = Inertia.about_com(np.eye(3))
    eq = derive(
        Arm(
            "clash", [Link.dh("revolute", a=lx1, mass=2.0, com=(lx1, 0, 0), inertia=body)], gravity=(0, -1, 0)
        ),
        group=True,
    )
    assert str(eq.groupings[0]) == "lx1b = 4*lx1"
    assert eq.check.passed


def test_random_arms_keep_their_torques():
    for seed in range(3):
        arm = random_arm(4, seed, kinds="RP", general=False, tilted=False)
        eq = derive(arm, group=True)
        assert eq.check.passed, str(eq.check)
        state = arm.random_state(seed)
        want = FORMULATIONS["luh_walker_paul_1980"].joint_torques(arm, *state)
        values = {g.name: g.meaning.evaluate({}.get) for g in eq.groupings}
        assert_close(eq.lambdify()(*state, **values), want, scale=10 * np.max(np.abs(want)))
