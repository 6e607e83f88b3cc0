"""Strobing gives the coefficients from any inverse dynamics, and says what it cannot strobe."""

import numpy as np
import pytest

from arms import golden_arm, golden_states, random_arm
from close import assert_close
from forearm.faults import StateFault
from forearm.formulations import FORMULATIONS
from forearm.strobing import strobe, strobed_mass_matrix, torques_of

STROBABLE = [s for s, row in FORMULATIONS.items() if "joint_torques" in row.gives and not row.needs]


@pytest.mark.parametrize("stem", STROBABLE)
@pytest.mark.parametrize("name", ["G6R", "STAN"])
def test_coefficients_are_the_golden_ones(stem, name):
    arm, state = golden_arm(name), golden_states(name)[0]
    if not FORMULATIONS[stem].accepts(arm):
        with pytest.raises(
            StateFault, match=r"is for revolute joints, but joint 3 of arm 'STAN' is prismatic"
        ):
            strobe(arm, state["q"], stem)
        return
    found = strobe(arm, state["q"], stem)
    assert_close(found.M, state["M"])
    assert_close(found.C, state["C_ijk"])
    assert_close(found.g, state["tau_gravity_only"])
    assert_close(strobed_mass_matrix(arm, state["q"], stem), state["M"])


def test_coefficients_rebuild_the_torques():
    arm = random_arm(5, 2, "RP", general=True)
    q, qd, qdd = arm.random_state(2)
    s = strobe(arm, q)
    rebuilt = s.M @ qdd + np.einsum("ijk,j,k", s.C, qd, qd) + s.g
    assert_close(rebuilt, torques_of("luh_walker_paul_1980")(arm, q, qd, qdd))
    assert_close(torques_of("horn_raibert_1978")(arm, q, qd, qdd), rebuilt)


def test_what_cannot_be_strobed_is_said():
    arm = random_arm(2, 1)
    with pytest.raises(StateFault, match=r"'horn_raibert_1978' needs coefficients .* strobe another one"):
        strobe(arm, np.zeros(2), "horn_raibert_1978")
    with pytest.raises(
        StateFault,
        match=r"'luh_walker_paul_1981' that gives joint torques \(did you mean 'luh_walker_paul_1980'\?\)",
    ):
        strobe(arm, np.zeros(2), "luh_walker_paul_1981")
    with pytest.raises(StateFault, match="no formulation 'walker_orin_1982' that gives joint torques"):
        torques_of("walker_orin_1982")
    with pytest.raises(StateFault, match=r"'nothing' .* give one of uicker_kahn_1969, waters_1979"):
        strobe(arm, np.zeros(2), "nothing")
