"""compile(formulation=…): the formulation that was asked for computes the quantity, drives and all, or nobody does."""

import numpy as np
import pytest

import forearm as fa
from agreement.door_arms import arm as arm_with_everything
from close import assert_close
from forearm.compiler.model.free_parameters import current
from forearm.compiler.model.quantities import QUANTITIES
from forearm.faults import KernelFault
from forearm.formulations import FORMULATIONS
from shares import shared_out

PUMA, RR = fa.load("puma560"), fa.load("rr")


def test_accelerations_by_featherstone_left_the_rotors_out():
    """Of a PUMA 560 they were several times too large."""
    assert any(link.drive.reflected_inertia for link in PUMA.links)
    with pytest.raises(KernelFault, match="of the rigid arm, without the rotors of 'puma560'"):
        fa.compile(PUMA, "forward_dynamics", formulation="featherstone_1983")
    rigid, state = PUMA.without_drives(), PUMA.random_state(0)
    kernel = fa.compile(rigid, "forward_dynamics", formulation="featherstone_1983")
    want = fa.forward_dynamics(rigid, *state)
    assert_close(
        kernel(*state), want, scale=np.linalg.cond(fa.mass_matrix(rigid, state[0])) * abs(want).max()
    )


def test_friction_without_rotors_is_in_the_accelerations_by_featherstone():
    rubbing = RR.with_drives(fa.Drive(viscous=0.5, coulomb=(0.2, 0.3)))
    state = rubbing.random_state(0)
    kernel = fa.compile(rubbing, "forward_dynamics", formulation="featherstone_1983")
    want = fa.forward_dynamics(rubbing, *state)
    assert_close(kernel(*state), want, scale=np.linalg.cond(fa.mass_matrix(RR, state[0])) * abs(want).max())
    assert abs(want - fa.forward_dynamics(RR, *state)).max() > 0.01


@pytest.mark.parametrize(
    ("quantity", "stem", "told"),
    [
        ("gravity_torque", "walker_orin_1982", "gives mass_matrix, and gravity_torque takes joint_torques"),
        ("mass_matrix", "featherstone_1983", "mass_matrix takes mass_matrix or joint_torques"),
        ("forward_derivatives", "featherstone_1983", "gives joint_accelerations alone"),
        ("pose", "newton_euler_notes", "pose is computed by no formulation"),
        ("reactions", "newton_euler_notes", "reactions is computed by no formulation"),
        ("inverse_dynamics", "horn_raibert_1978", "must be given coefficients"),
        ("regressor", "newton_euler_notes", "regressor takes ten numbers of each"),
    ],
)
def test_another_formulation_computed_what_this_one_does_not_give(quantity, stem, told):
    with pytest.raises(KernelFault, match=told):
        fa.compile(RR, quantity, formulation=stem)


def test_bodies_left_free_ended_in_an_attribute_error():
    with pytest.raises(KernelFault, match="newton_euler_notes takes masses and centres"):
        fa.compile(RR, "inverse_dynamics", formulation="newton_euler_notes", free=["payload"])
    kernel = fa.compile(RR, "inverse_dynamics", formulation="khalil_kleinfinger_1987", free=["payload"])
    state = RR.random_state(0)
    assert_close(kernel(*state, np.zeros(10)), fa.inverse_dynamics(RR, *state))


FREE = ((), ("inertial",), ("gravity",), ("friction",), ("links[0].mass",), ("links[1].offset",))
PLAIN = {"q", "qd", "qdd", "tau", "b", "v"}


def unlike(arm, quantity, stem, free, state):
    """What is wrong with a quantity by a formulation; nothing where it is refused."""
    inputs = [state[name] for name in QUANTITIES[quantity].inputs]
    try:
        kernel = fa.compile(arm, quantity, formulation=stem, free=free)
    except KernelFault:
        return ""
    got = kernel(*inputs, *(current(arm, path) for path in free))
    want = fa.compile(arm, quantity)(*inputs)
    pairs = zip(*(x if isinstance(x, tuple) else (x,) for x in (got, want)), strict=True)
    off = max(np.max(np.abs(g - w)) / max(1.0, np.max(np.abs(w))) for g, w in pairs)
    named = stem in kernel.why.chosen
    return (
        "" if named and off < 1e-11 else f"{quantity} by {stem}, free={free}: {off:.3g}, {kernel.why.chosen}"
    )


@pytest.mark.parametrize(
    ("name", "stem"),
    shared_out([(name, stem) for name in ("rr", "everything", "tree") for stem in FORMULATIONS], 8),
)
def test_every_quantity_by_every_formulation_is_the_quantity_or_refused(stem, name):
    arm = RR if name == "rr" else arm_with_everything("chain" if name == "everything" else name)
    q, qd, qdd = arm.random_state(0)
    state = {"q": q, "qd": qd, "qdd": qdd, "tau": 3 * qd, "b": qdd, "v": qd}
    names = [
        "inverse_dynamics",
        "forward_dynamics",
        "mass_matrix",
        "gravity_torque",
        "momentum",
        "solve_mass",
    ]
    if name == "rr":
        names = [x for x, row in QUANTITIES.items() if set(row.inputs) <= PLAIN and not _twofold(row)]
    found = [
        unlike(arm, x, stem, free, state) for x in names for free in (FREE if x in names[:2] else FREE[:1])
    ]
    assert not any(found), "\n".join(filter(None, found))


def _twofold(row):
    return row.derivative is not None and row.derivative.twofold
