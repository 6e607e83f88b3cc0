"""What the registry of formulations refuses: names that it does not have, states of another size."""

import mpmath
import numpy as np
import pytest
import sympy

import forearm as fa
from close import assert_close
from forearm.formulations import FORMULATIONS

RR = fa.load("rr")
GIVEN = [(stem, quantity) for stem, row in FORMULATIONS.items() for quantity in row.gives if not row.needs]
SECOND = {"joint_accelerations": "tau", "coriolis_matrix": "qd"}


def sizes_of(quantity):
    """How many vectors a quantity takes."""
    return {"mass_matrix": 1, "christoffel": 1, "gravity_torque": 1, "coriolis_matrix": 2}.get(quantity, 3)


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("luh", "luh_walker_paul_1980"),
        ("luh_walker_paul_1981", "luh_walker_paul_1980"),
        ("Featherstone", "featherstone_1983"),
    ],
)
def test_an_unknown_stem_is_refused_with_the_known_ones_and_the_nearest(name, nearest):
    says = rf"^there is no formulation '{name}' \(did you mean '{nearest}'\?\); give one of uicker_kahn_1969, .*\.$"
    with pytest.raises(fa.StateFault, match=says):
        FORMULATIONS[name]
    with pytest.raises(KeyError):
        FORMULATIONS[name]


def test_a_stem_like_none_has_no_nearest():
    with pytest.raises(fa.StateFault, match=r"^there is no formulation 'xyz'; give one of uicker_kahn_1969"):
        FORMULATIONS["xyz"]


def test_the_registry_is_a_dict_otherwise():
    assert FORMULATIONS.get("luh") is None
    assert "luh" not in FORMULATIONS
    assert dict(FORMULATIONS) == FORMULATIONS


@pytest.mark.parametrize(("stem", "quantity"), GIVEN)
def test_states_of_another_size_are_refused(stem, quantity):
    function, count = getattr(FORMULATIONS[stem], quantity), sizes_of(quantity)
    good = np.zeros(2)
    with pytest.raises(
        fa.StateFault, match=r"^q has shape \(3,\), but arm 'rr' has 2 joints and .*; give \(2,\)\.$"
    ):
        function(RR, np.zeros(3), *[good] * (count - 1))
    with pytest.raises(fa.StateFault, match=r"^q has shape \(2, 2\), but arm 'rr' .* one state at a time"):
        function(RR, np.zeros((2, 2)), *[good] * (count - 1))
    if count > 1:
        last = SECOND.get(quantity, "qdd")
        with pytest.raises(fa.StateFault, match=rf"^{last} has shape \(1,\), but arm 'rr' has 2 joints"):
            function(RR, *[good] * (count - 1), [0.0])


def test_a_number_a_keyword_and_a_name_for_the_arm_are_refused():
    torques = FORMULATIONS["luh_walker_paul_1980"].joint_torques
    with pytest.raises(fa.StateFault, match=r"^qd has shape \(\), but arm 'rr' has 2 joints"):
        torques(RR, [0, 0], 0.0, [0, 0])
    with pytest.raises(fa.StateFault, match=r"^qdd has shape \(4,\), but arm 'rr' has 2 joints"):
        torques(RR, [0, 0], [0, 0], qdd=[0] * 4)
    with pytest.raises(fa.StateFault, match=r"^arm is a str 'rr'; give an Arm: fa.load\('rr'\)"):
        torques("rr", [0, 0], [0, 0], [0, 0])


@pytest.mark.parametrize(
    "made", [list, tuple, np.array, sympy.Matrix, mpmath.matrix, lambda x: np.array(x, dtype=object)]
)
def test_every_sequence_of_one_number_per_joint_is_taken(made):
    torques = FORMULATIONS["luh_walker_paul_1980"].joint_torques
    state = [0.4, -1.1], [0.7, 1.3], [-0.5, 2.1]
    got = np.array(torques(RR, *(made(values) for values in state)), dtype=float)
    assert_close(got, torques(RR, *map(np.array, state)))
