"""Torques that are nothing on both sides, and a factor that is all but one."""

import numpy as np

import forearm as fa
from cli.verbs import forearm


def test_torques_that_are_nothing_were_the_same_and_absent_in_the_other(capsys, tmp_path):
    """`the same within rounding` stood above `1.00e+00 apart, absent in the other`."""
    log = tmp_path / "falls.csv"
    forearm(capsys, "simulate", "rr", "--q0", "0.4", "-1.1", "-o", log)
    said = forearm(capsys, "compare", "rr", log)
    assert said.code == 0
    assert "the same within rounding" in said.out
    assert "apart" not in said.out


def test_a_factor_of_a_millionth_was_said_to_be_one(capsys, tmp_path):
    arm = fa.load("ur5e")
    q, qd, qdd = arm.random_state(3, (40,))
    tau = (1 + 1e-6) * fa.inverse_dynamics(arm, q, qd, qdd)
    titles = ",".join(f"{kind}{i}" for kind in ("q", "qd", "qdd", "tau") for i in range(1, 7))
    rows = np.concatenate([q, qd, qdd, tau], axis=1)
    np.savetxt(tmp_path / "log.csv", rows, delimiter=",", header=titles, comments="", fmt="%.17g")
    said = forearm(capsys, "compare", "ur5e", tmp_path / "log.csv")
    assert "one factor, 1.000001" in said.out, said.out
