"""A motion whose energy comes from nowhere is said to be doubtful."""

import json

import pytest

import forearm as fa
from cli.verbs import forearm


@pytest.mark.parametrize(
    ("method", "dt", "doubted"), [("rk4", "0.001", False), ("rk4", "0.1", True), ("symplectic", "0.05", True)]
)
def test_steps_too_long_made_energy_from_nothing_and_the_motion_was_finished_without_a_word(
    capsys, tmp_path, method, dt, doubted
):
    words = (
        "simulate",
        "rr",
        "--q0",
        "1",
        "1",
        "--method",
        method,
        "--dt",
        dt,
        "-o",
        str(tmp_path / "m.csv"),
    )
    assert ("try dt = " in forearm(capsys, *words).err) is doubted
    notes = json.loads(forearm(capsys, "--json", *words).out).get("notes", [])
    assert any("the steps are too long" in one or "steps are too long" in one for one in notes) is doubted


def test_motions_of_a_batch_are_counted():
    record = fa.simulate(
        fa.load("rr"), [[1.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]], duration=1.0, dt=0.1
    )
    assert "of 1 of 2 motions" in record.doubt_of_energy or "of 2 of 2 motions" in record.doubt_of_energy
