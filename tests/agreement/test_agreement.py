"""Every formulation, quantity and arm: all agree, or this says which two do not, where, by how much."""

import re
from functools import cache

import numpy as np
import pytest

from agreement import libraries
from agreement.sources import (
    BUILT_IN,
    LONG,
    QUANTITIES,
    ROWS,
    WITH_WRENCH,
    arm_named,
    formulation,
    gives,
    sources,
    state_named,
    values,
)
from arms import golden_states
from as_printed import as_printed
from close import EPS, assert_close, error_in_eps
from forearm.energies import kinetic_energy
from forearm.formulations import FORMULATIONS
from forearm.strobing import strobe
from shares import shared_out

LIMIT = 64
"""Machine epsilons of the largest magnitude met on the way; the worst of the long sweep is 26."""


FEW = ("puma560", "stanford", "iiwa14", "rr")
OTHERS = (*LONG, *sorted(set(BUILT_IN) - set(FEW)))
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


def by_centrality(found, scale):
    """Names of the sources, the one with the least distance to all of them first."""
    return sorted(found, key=lambda who: sum(error_in_eps(found[who], x, scale) for x in found.values()))


def disagreement(who, found, scale, order):
    """'' if `who` is close to the most central of the others; else which two differ, and by how much."""
    centre = next(name for name in order if name != who)
    error = error_in_eps(found[who], found[centre], scale)
    if error <= LIMIT:
        return ""
    return f"{who} and {centre} differ by {error:.3g} eps ({error * EPS:.3g} relative)"


@cache
def evidence(name, quantity):
    """What all sources say about a quantity of an arm, the scale to compare at, and who is most central."""
    found = values(name, quantity)
    scale = largest(name, quantity, np.median(np.array(list(found.values())), axis=0))
    return found, scale, by_centrality(found, scale)


def check(stem, quantity, name):
    verdict = disagreement(stem, *evidence(name, quantity))
    assert not verdict, f"{verdict} in {quantity} of arm {name!r}"


@pytest.mark.parametrize(("stem", "quantity", "name"), cases((*ROWS, *FEW)))
def test_formulations_agree(stem, quantity, name):
    check(stem, quantity, name)


@pytest.mark.parametrize(
    ("stem", "quantity", "name"), shared_out(cases(OTHERS), 4, of=lambda case: case[2], always=BUILT_IN)
)
def test_formulations_agree_on_a_hundred_more_arms(stem, quantity, name):
    check(stem, quantity, name)


def witnesses(name):
    """(quantity, source) for every source that is not a formulation: other libraries, and strobing."""
    return [
        (quantity, who)
        for quantity in QUANTITIES
        for who in sources(arm_named(name), quantity)
        if who not in FORMULATIONS
    ]


@pytest.mark.parametrize("name", [*ROWS, *FEW])
def test_other_libraries_and_strobing_agree(name):
    """They are not only asked: what they say is compared like what a formulation says."""
    for quantity, who in witnesses(name):
        check(who, quantity, name)


@pytest.mark.parametrize("name", shared_out(OTHERS, 4, always=BUILT_IN))
def test_other_libraries_and_strobing_agree_on_a_hundred_more_arms(name):
    for quantity, who in witnesses(name):
        check(who, quantity, name)


@pytest.mark.parametrize("name", FEW)
def test_other_libraries_are_among_the_sources(name):
    without_volume = name in ("puma560", "rr")  # which MuJoCo refuses
    for library in libraries.NAMES:
        assert library in values(name, "joint_torques") or (library == "MuJoCo" and without_volume)


def test_a_library_that_differs_is_named():
    """Our formulations agree with each other whatever a library says; it is the library's own check that fails."""
    name, who = "stanford", "strobing"
    found = dict(values(name, "mass_matrix"))
    found[who] = found[who] + 1e-6
    scale = np.max(np.abs(found["walker_orin_1982"]))
    verdict = disagreement(who, found, scale, by_centrality(found, scale))
    assert re.match(r"strobing and \S+ differ by \S+ eps", verdict)


def test_a_wrong_formulation_is_named():
    """One sign in one formulation: it and its best witness are named, and nobody else is blamed."""
    wrong = as_printed("waters_1979", ("Wd[j - 1] @ dA[j] * (2 * qd[j])", "Wd[j - 1] @ dA[j] * (-2 * qd[j])"))
    name = "puma560"
    found = dict(values(name, "joint_torques"))
    found["waters_1979"] = wrong.joint_torques(arm_named(name), *state_named(name).of("joint_torques"))
    scale = np.max(np.abs(found["luh_walker_paul_1980"]))
    order = by_centrality(found, scale)
    verdicts = {who: disagreement(who, found, scale, order) for who in found}
    assert [who for who, verdict in verdicts.items() if verdict] == ["waters_1979"]
    assert re.match(
        r"waters_1979 and (?!waters)\S+ differ by \S+ eps \(\S+ relative\)", verdicts["waters_1979"]
    )


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
