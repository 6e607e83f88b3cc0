"""One question to several verbs has one answer, and each number of a table stands where it belongs."""

import numpy as np
import pytest

import forearm as fa
from cli.verbs import forearm


def still(folder, n):
    """A file of an arm at rest."""
    path = folder / "still.csv"
    titles = ",".join(["t", *(f"q{i}" for i in range(1, n + 1))])
    path.write_text(titles + "\n" + "".join(f"{k}{',0' * n}\n" for k in range(5)))
    return path


@pytest.mark.parametrize(("share", "code"), [(0.9995, 0), (1.0005, 0), (1.002, 1)])
def test_a_sweep_called_beyond_what_the_summary_called_kept(capsys, tmp_path, share, code):
    """Between a limit and a thousandth more, `sweep` ended with 1, and `torque --summary` and `report` with 0."""
    arm, path = fa.load("ur5e"), still(tmp_path, 6)
    own, one = (
        abs(fa.gravity_torque(some, np.zeros(6))[1]) for some in (arm, arm.with_payload(1, frame="tool"))
    )
    load = (share * 150 - own) / (one - own)
    assert forearm(capsys, "torque", "ur5e", path, "--payload", load, "--summary").code == code
    said = forearm(capsys, "sweep", "ur5e", path, "--payload", load, load, "--samples", 1, "--json")
    assert (said.code, any(row["beyond"] for row in said.json["joints"])) == (code, bool(code))


@pytest.mark.parametrize(("duration", "code"), [(0.5966, 0), (0.59, 1)])
def test_a_simulation_called_beyond_what_the_summary_of_its_file_called_kept(
    capsys, tmp_path, duration, code
):
    """A speed of 0.04 % above its limit: `simulate` ended with 1, `torque --summary` of what it wrote with 0."""
    out = tmp_path / "motion.csv"
    words = ("--q0", 0, -1, 1, 0, 0, 0, "--goal", 1, -1, 1, 0, 0, 0, "--duration", duration, "--dt", 1e-4)
    assert forearm(capsys, "simulate", "ur5e", *words, "--every", 1, "--out", out).code == code
    assert forearm(capsys, "torque", "ur5e", out, "--summary").code == code


def test_the_time_of_the_greatest_torque_stood_beside_the_power(capsys, tmp_path):
    path = tmp_path / "motion.csv"
    t = np.linspace(0, 2, 201)
    columns = [t, np.sin(t), np.cos(2 * t), np.cos(t), -2 * np.sin(2 * t), -np.sin(t), -4 * np.cos(2 * t)]
    titles = "t,q1,q2,qd1,qd2,qdd1,qdd2"
    np.savetxt(path, np.column_stack(columns), delimiter=",", header=titles, comments="", fmt="%.17g")
    header, *rows = forearm(capsys, "torque", "rr", path, "--summary").out.splitlines()
    before, after = header.split("at [s]")
    assert before.split() == ["joint", "peak", "[N", "m]"]
    assert after.split()[0] == "rms"
    loads = forearm(capsys, "torque", "rr", path, "--summary", "--json").json["joints"]
    assert [float(row.split()[2]) for row in rows] == [load["peak_at"] for load in loads]


def test_rounding_was_a_peak_that_rows_miss(capsys, tmp_path):
    """Of a joint that carries 1e-20 N m beside others of 23, and of one that stands still."""
    path = tmp_path / "still.csv"
    path.write_text("t,q1,q2,q3,q4,q5,q6\n" + "".join(f"{k / 10},0,0,3.1415,0,0,0\n" for k in range(11)))
    assert "miss peaks" not in forearm(capsys, "torque", "ur5e", path).err
    path.write_text("t,q1,q2,q3,q4,q5,q6\n" + "".join(f"{k / 10},0,0,3.1425,0,0,0\n" for k in range(11)))
    said = forearm(capsys, "torque", "ur5e", path, "--summary")
    assert (said.code, "miss peaks" in said.err) == (1, False)
    line = ("--from", 1, -1, 1, 1, 1, 1, "--to", 0.4, 0.2, 0.5, "--line")
    assert "miss peaks" not in forearm(capsys, "move", "ur5e", *line, "--out", tmp_path / "line.csv").err


def test_reactions_said_nothing_of_what_torque_says(capsys):
    """Which numbers are zero, that drives have rotors and friction besides, and that a limit is passed."""
    said = forearm(capsys, "reactions", "puma560", "--qd", 1, 1, 1, 1, 1, 1)
    assert "q and qdd not given: taken as zero" in said.err
    assert "rotor inertia and friction are left out" in said.err
    told = forearm(capsys, "reactions", "ur5e", "--payload", 30, "--json").json
    assert told["assumed_zero"] == ["q", "qd", "qdd"]
    assert any("beyond its limit of -150" in remark for remark in told["notes"])
    assert not forearm(capsys, "reactions", "rr", "--q", 0, 0, "--qd", 0, 0, "--qdd", 0, 0).err


def test_a_part_in_twenty_million_was_called_rounding(capsys, tmp_path):
    arm, path = fa.load("rr"), tmp_path / "tau.csv"
    state = arm.random_state(seed=1, batch=(60,))
    tau = fa.inverse_dynamics(arm, *state)
    titles = ",".join(f"{name}{i}" for name in ("q", "qd", "qdd", "tau") for i in (1, 2))
    for factor, words in (
        (1 + 5e-8, "the same within 5e-08 of the largest torque"),
        (1, "the same within rounding"),
    ):
        rows = np.column_stack([*state, factor * tau])
        np.savetxt(path, rows, delimiter=",", header=titles, comments="", fmt="%.17g")
        said = forearm(capsys, "compare", "rr", path)
        assert (said.code, said.out.splitlines()[0]) == (0, f"rr and tau.csv: torques: {words}")
