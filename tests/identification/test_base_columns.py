"""Base parameters by numbers, and the way from parameters back to an arm."""

import numpy as np
import pytest

import forearm as fa
from forearm.compiler.model.base_parameters import pattern
from forearm.identification.base_columns import full_columns

KNOWN = {"rr": 6, "iiwa14": 43, "panda": 43, "kinova_gen3": 43, "puma560": 36, "ur5e": 36, "stanford": 33}


@pytest.mark.parametrize(
    "name", [n if n in ("rr", "puma560", "panda") else pytest.param(n, marks=pytest.mark.more) for n in KNOWN]
)
def test_as_many_as_the_symbolic_rules_say(name):
    arm = fa.load(name)
    base = fa.base_parameters(arm, rotors=False)
    bodies = [k for k in base.kept if k < 10 * arm.n]
    assert len(bodies) == KNOWN[name]
    # the rules keep seven of a turning link, also of the first one, whose torque shows but some of them
    assert len(bodies) <= sum(map(sum, pattern(arm)))


@pytest.mark.parametrize("name", ["iiwa14", "stanford", "puma560"])
def test_groups_make_the_same_torques(name):
    arm = fa.load(name)
    base = fa.base_parameters(arm)
    X = full_columns(arm, base.drives, *arm.random_state(5, (40,)))
    theta = np.random.default_rng(0).normal(size=X.shape[2])
    want = X @ theta
    got = X[:, :, list(base.kept)] @ (base.grouping @ theta)
    assert np.max(np.abs(got - want)) < 1e-9 * np.max(np.abs(want))


@pytest.mark.parametrize("first", ["revolute", "prismatic"])
@pytest.mark.parametrize("length", [3e-4, 3e-3, 3e4])
def test_coefficients_in_square_metres_vanished_from_a_small_arm(length, first):
    mass = 1000 * length**3
    body = {"mass": mass, "inertia": fa.Inertia.box(mass, length, length / 3, length / 3)}
    tilted = fa.Pose.at((length, length / 2, 0), (0.3, 0.2, 0.1))
    kinds = {"a": first, "b": "revolute", "c": "revolute"}
    links = [fa.Link(kind, name=n, pose=tilted, com=(-length / 2, 0, 0), **body) for n, kind in kinds.items()]
    for gravity in ((0, 0, 0), (0, -9.81, 0)):
        arm = fa.Arm("small", tuple(links), gravity=gravity)
        base = fa.base_parameters(arm, rotors=False)
        state = arm.random_state(5, (40,))
        X = full_columns(arm, base.drives, *state)
        want = fa.inverse_dynamics(arm, *state)
        got = X[:, :, list(base.kept)] @ base.of(arm)
        assert np.all(np.max(np.abs(got - want), axis=0) < 1e-9 * np.max(np.abs(want), axis=0))


def test_drives_are_columns_too():
    arm = fa.load("puma560")
    base = fa.base_parameters(arm)
    q, qd, qdd = arm.random_state(3, (20,))
    X = full_columns(arm, base.drives, q, qd, qdd)
    theta = np.concatenate([fa.parameters(arm), base.drives.of(arm)])
    want = fa.inverse_dynamics(arm, q, qd, qdd)
    assert np.max(np.abs(X @ theta - want)) < 1e-12 * np.max(np.abs(want))
    assert np.max(np.abs(X[:, :, list(base.kept)] @ base.of(arm) - want)) < 1e-9 * np.max(np.abs(want))


def test_a_rotor_at_the_base_is_grouped_with_the_first_link():
    base = fa.base_parameters(fa.load("generic_3r"))
    assert any("IA1" in group and ("ZZ1" in group or "YY1" in group) for group in base.groups)


def test_a_column_of_rounding_is_no_parameter():
    """Frames turned by a right angle that is not quite one leave 1e-17 in columns that should be zero."""
    arm = fa.load("kinova_gen3")
    base = fa.base_parameters(arm)
    assert np.max(np.abs(base.grouping)) < 100


@pytest.mark.parametrize("name", ["iiwa14", "stanford", "rr"])
def test_parameters_make_the_arm_again(name):
    arm = fa.load(name)
    again = arm.with_parameters(fa.parameters(arm))
    q, qd, qdd = arm.random_state(0, (5,))
    want = fa.inverse_dynamics(arm, q, qd, qdd)
    assert np.allclose(fa.inverse_dynamics(again, q, qd, qdd), want, rtol=1e-12, atol=1e-12)


def test_parameters_of_no_body_are_refused_or_declared():
    arm = fa.load("iiwa14")
    theta = fa.parameters(arm)
    theta[4] = -1.0
    with pytest.raises(fa.ArmFault, match="no rigid body"):
        arm.with_parameters(theta)
    kept = arm.with_parameters(theta, defects="ordinary least squares")
    assert kept.defects[0].link == 1
    assert any("ordinary least squares" in note for note in kept.notes)


@pytest.mark.parametrize("theta", [np.zeros(3), np.full(70, np.nan)])
def test_as_many_parameters_as_the_arm_has(theta):
    with pytest.raises(fa.StateFault, match="give 70 finite numbers"):
        fa.load("iiwa14").with_parameters(theta)


def test_a_first_moment_needs_a_mass():
    arm = fa.load("rr")
    theta = fa.parameters(arm)
    theta[0] = 0.0
    with pytest.raises(fa.ArmFault, match="mass is 0 but its first moment"):
        arm.with_parameters(theta)
