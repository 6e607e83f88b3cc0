"""Every formulation, quantity and arm: all agree, or this says which two do not, where, by how much."""

import numpy as np
import pytest

from agreement.sources import (
    BUILT_IN,
    LONG,
    QUANTITIES,
    ROWS,
    WITH_WRENCH,
    arm_named,
    formulation,
    gives,
    state_named,
    values,
)
from arms import golden_states
from close import EPS, assert_close, error_in_eps
from forearm.energies import kinetic_energy
from forearm.formulations import FORMULATIONS
from forearm.strobing import strobe

LIMIT = 64
"""Machine epsilons of the largest magnitude met on the way; the worst of the long sweep is below 50."""


FEW = ("puma560", "stanford", "iiwa14", "rr")
"""Built-in arms that are compared every time; the others with the hundred random ones."""


def cases(arms):
    """(formulation, quantity, arm) for all that the registry declares."""
    return [
        pytest.param(stem, quantity, name, id=f"{stem}-{quantity}-{name}")
        for name in arms
        for stem, row in FORMULATIONS.items()
        if row.accepts(arm_named(name))
        for quantity in QUANTITIES
        if gives(stem, quantity)
    ]


def largest(name, quantity, consensus):
    """The largest magnitude met on the way to a quantity, in its unit.

    Torques and reactions are sums of terms as large as the kinetic energy, even where these cancel (one joint
    that turns fast has no centrifugal torque); Christoffel symbols are differences of derivatives of M; an
    acceleration carries the torque's error through the inverse of M.
    """
    size = np.max(np.abs(consensus))
    arm, state = arm_named(name), state_named(name)
    if quantity in ("joint_torques", WITH_WRENCH, "reactions"):
        return max(size, 2 * kinetic_energy(arm, state.q, state.qd))
    if quantity in ("mass_matrix", "gravity_torque"):
        return size
    M = strobe(arm, state.q).M
    if quantity == "joint_accelerations":
        return np.linalg.norm(np.linalg.inv(M), 2) * max(np.max(np.abs(state.tau)), state.qd @ M @ state.qd)
    return max(size, np.max(np.abs(M)) * (1 if quantity == "christoffel" else np.max(np.abs(state.qd))))


def disagreement(who, found, scale, limit=LIMIT):
    """'' if `who` is close to the others' centre; else a sentence: which two differ, and by how much.

    The centre is the source with the least distance to all of them.
    """

    def distance(name):
        return sum(error_in_eps(found[name], value, scale) for value in found.values())

    centre = min((name for name in found if name != who), key=distance)
    error = error_in_eps(found[who], found[centre], scale)
    return (
        "" if error <= limit else f"{who} and {centre} differ by {error:.3g} eps ({error * EPS:.3g} relative)"
    )


def check(stem, quantity, name):
    found = values(name, quantity)
    consensus = np.median(np.array(list(found.values())), axis=0)
    verdict = disagreement(stem, found, largest(name, quantity, consensus))
    assert not verdict, f"{verdict} in {quantity} of arm {name!r}"


@pytest.mark.parametrize(("stem", "quantity", "name"), cases((*ROWS, *FEW)))
def test_formulations_agree(stem, quantity, name):
    check(stem, quantity, name)


@pytest.mark.more
@pytest.mark.parametrize(("stem", "quantity", "name"), cases((*LONG, *sorted(set(BUILT_IN) - set(FEW)))))
def test_formulations_agree_on_a_hundred_more_arms(stem, quantity, name):
    check(stem, quantity, name)


@pytest.mark.parametrize("name", FEW)
def test_two_libraries_or_one_are_among_the_sources(name):
    assert "Pinocchio" in values(name, "joint_torques")
    if name not in ("puma560", "rr"):  # links without volume, which MuJoCo refuses
        assert "MuJoCo" in values(name, "joint_torques")


def test_the_verdict_names_the_two_that_differ_and_the_error():
    found = {"a": np.array([1.0, 2.0]), "b": np.array([1.0, 2.0]), "c": np.array([1.0, 2.0 + 2e-9])}
    assert disagreement("a", found, 2.0) == ""
    verdict = disagreement("c", found, 2.0)
    assert verdict.startswith("c and a differ by 4.5e+06 eps (1e-09 relative)")


# -- golden values ---------------------------------------------------------------------------------------

GOLDEN_KEYS = {
    "joint_torques": "tau",
    WITH_WRENCH: "tau_with_wrench",
    "mass_matrix": "M",
    "gravity_torque": "tau_gravity_only",
    "christoffel": "C_ijk",
}


@pytest.mark.parametrize(
    ("stem", "quantity", "name"), [case for case in cases(["G6R", "STAN"]) if case.values[1] in GOLDEN_KEYS]
)
def test_golden_values(stem, quantity, name):
    arm = arm_named(name)
    function = formulation(stem, quantity)
    compared = 0
    for state in golden_states(name):
        want = state[GOLDEN_KEYS[quantity]]
        if want.shape == ():  # the Christoffel symbols are given for the first state only
            continue
        got = function(arm, *(state[k] for k in QUANTITIES[quantity]))
        assert_close(got, want, eps=64, label=f"{stem}, {quantity} of {name}")
        compared += 1
    assert compared
