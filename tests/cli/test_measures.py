"""Numbers with units on the command line, and limits that are passed: said, marked, and an exit code."""

import math

import numpy as np
import pytest

import forearm as fa
from cli.verbs import MOTION, forearm


def fast_motion(path, arm, span=1.0):
    """A motion of ur5e far beyond its speeds and torques."""
    t = np.linspace(0, 1, 60)
    q = span * np.sin(9 * t)[:, None] * np.ones(arm.n)
    rows = np.column_stack([t, q, 9 * span * np.cos(9 * t)[:, None] * np.ones(arm.n), -81 * q])
    names = ["t", *(f"{kind}{i + 1}" for kind in ("q", "qd", "qdd") for i in range(arm.n))]
    np.savetxt(path, rows, delimiter=",", header=",".join(names), comments="")
    return path


def test_degrees_and_millimetres_are_said_with_the_number(capsys):
    want = fa.gravity_torque(fa.load("rr"), [math.radians(10), math.radians(-20)])
    said = forearm(capsys, "torque", "rr", "--q", "10deg", "-20deg", "--json").json
    assert np.allclose(said["tau"], want, rtol=1e-14)
    arm = fa.load("stanford").without_drives()
    want = fa.gravity_torque(arm, [0.1, 0.2, 0.25, 0.0, 0.0, math.pi])
    words = ("--q", "0.1rad", "0.2", "250mm", "0deg", "0", "180deg")
    said = forearm(capsys, "torque", "stanford", "--rigid", *words, "--json").json
    assert np.allclose(said["tau"], want, rtol=1e-13, atol=1e-13)
    said = forearm(
        capsys, "torque", "rr", "--q", "1", "2", "--payload", "500g", "0", "0", "100mm", "--json"
    ).json
    held = fa.load("rr").with_payload(0.5, (0, 0, 0.1), frame="tool")
    assert np.allclose(said["tau"], fa.gravity_torque(held, [1, 2]))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--q", "10mm", "1"), r"--q has 10mm for joint 'q1' of 'rr', which takes an angle; give rad, deg"),
        (("--qd", "10deg", "1"), r"which takes an angle a second; give rad/s, deg/s"),
        (("--q", "10grad", "1"), r"--q has '10grad'; give a number. A unit may follow it: 0.5rad, 10deg"),
        (("--q", "1_0", "1"), r"--q has '1_0'; give a number"),
        (("--q", "١", "1"), r"give a number"),
        (("--q", "1,2"), r"--q has '1,2'; give numbers with spaces between: --q 1 2"),
        (("--payload", "5deg"), r"--payload has 5deg for a mass; give kg, g"),
    ],
)
def test_a_unit_that_does_not_fit_is_refused(capsys, words, says):
    said = forearm(capsys, "torque", "rr", *words)
    assert said.code == 2
    assert says in said.err


def test_a_summary_marks_what_is_beyond_its_limit(capsys, tmp_path):
    path = fast_motion(tmp_path / "fast.csv", fa.load("ur5e"))
    said = forearm(capsys, "torque", "ur5e", path, "--summary")
    assert said.code == 1
    assert "speed, torque" in said.out
    assert (
        "BEYOND LIMITS: joint 'shoulder_pan_joint': speed 9 rad/s at t = 0 s, beyond its limit of 3.14159"
        in said.out
    )
    data = forearm(capsys, "torque", "ur5e", path, "--summary", "--json")
    assert data.code == 1
    worst = {(x["joint"], x["what"]): x for x in data.json["beyond_limits"]}
    assert worst["shoulder_lift_joint", "torque"]["limit"] in (150.0, -150.0)
    assert "torque" in data.json["joints"][1]["beyond"]
    slow = fast_motion(tmp_path / "slow.csv", fa.load("ur5e"), span=0.01)
    said = forearm(capsys, "torque", "ur5e", slow, "--summary")
    assert (said.code, "BEYOND" in said.out) == (0, False)


def test_one_state_beyond_a_limit_is_noted(capsys):
    said = forearm(capsys, "torque", "ur5e", "--q", *"0 0 7 0 0 0".split())
    assert said.code == 0
    assert "joint 'elbow_joint': position 7 rad in row 1, beyond its limit of 3.14159" in said.err


def test_a_simulation_beyond_its_speeds_is_told_in_flags(capsys, tmp_path):
    said = forearm(capsys, "simulate", "ur5e", "-o", tmp_path / "o.csv")
    assert said.code == 1
    assert "speed" in said.err
    assert "beyond its limit" in said.err
    assert "--limits stop ends it" in said.err
    said = forearm(capsys, "simulate", "ur5e", "--limits", "ignore", "-o", tmp_path / "o.csv")
    assert said.code == 0


def test_bench_times_a_formulation(capsys):
    few = ("--seconds", "0.01", "--batch", "100", "--json")
    said = forearm(capsys, "bench", "rr", "--formulation", "hollerbach_1980_3x3", *few)
    assert said.json["formulation"].startswith("hollerbach_1980_3x3")
    said = forearm(capsys, "bench", "rr", "--formulation", "walker_orin_1982", *few)
    assert "walker_orin_1982 gives mass_matrix, not joint_torques" in said.err
    said = forearm(
        capsys, "bench", "rr", "--quantity", "mass_matrix", "--formulation", "hollerbach_1980_3x3", *few
    )
    assert said.json["formulation"].startswith("hollerbach_1980_3x3")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ("move", "rr", "--to", "1", "1", "--speeds", "500mm/s"),
            "--speeds has 500mm/s for joint 'q1' of 'rr'",
        ),
        (
            ("move", "rr", "--to", "1", "1", "--accelerations", "90deg/s"),
            "which takes an angle a second squared",
        ),
        (
            ("move", "rr", "--to", "1", "1", "--fastest", "--torques", "9deg"),
            "--torques has 9deg, and takes numbers",
        ),
        (("move", "ur5e", "--line", "--to", "1deg", "1", "1"), "--to has 1deg, and takes a length"),
        (
            ("sweep", "rr", "m.csv", "--lengths", "300mm", "350mm"),
            "--lengths has 300mm, and takes numbers without",
        ),
        (("sweep", "rr", "m.csv", "--tilt", "0mm", "5mm"), "--tilt has 0mm, and takes an angle; give it so."),
    ],
)
def test_a_unit_that_does_not_fit_was_taken_as_a_number(capsys, tmp_path, monkeypatch, words, says):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.csv").write_text("t,q1,q2\n0,0,0\n1,1,1\n2,1,0\n")
    said = forearm(capsys, *words)
    assert said.code == 2
    assert says in said.err


def test_limits_of_each_joint_take_their_unit(capsys):
    words = ("move", "rr", "--to", "1", "1", "--json", "--speeds")
    rest = ("--accelerations", "1", "1")
    one = forearm(capsys, *words, "30deg/s", "60deg/s", *rest).json["duration"]
    assert one == forearm(capsys, *words, repr(math.pi / 6), repr(math.pi / 3), *rest).json["duration"]


def test_a_sweep_along_a_noisy_log_gave_two_hundred_times_its_torques(capsys, tmp_path):
    t = np.arange(0.0, 2.0, 0.002)
    noise = 1e-4 * np.random.default_rng(0).normal(size=(len(t), 2))
    q = 0.3 * np.sin(np.pi * t)[:, None] + noise
    np.savetxt(tmp_path / "log.csv", np.column_stack([t, q]), delimiter=",", header="t,q1,q2", comments="")
    once = ("--density", "1", "1", "--samples", "1", "--instants", "1000")
    said = forearm(capsys, "sweep", "rr", tmp_path / "log.csv", *once, "--json")
    peaks = [max(abs(joint["least"]), joint["greatest"]) for joint in said.json["joints"]]
    quiet = fa.inverse_dynamics(
        fa.load("rr"), q - noise, np.gradient(q - noise, t, axis=0), -(np.pi**2) * (q - noise)
    )
    assert peaks == pytest.approx(np.abs(quiet).max(axis=0), rel=0.05)
    assert "log.csv has no qd and no qdd: worked out through q, filtered" in said.json["notes"][0]


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        ("torque rr --qd 0 -90", "qd reaches 90 rad/s, 859 turns a minute: degrees or turns?"),
        ("simulate rr --qd0 90 0 --duration 0.01 -o {}", "qd reaches 90 rad/s"),
        ("move rr --to 1 0 --speeds 90 --accelerations 99 -o {}", "speeds reaches 90 rad/s"),
        ("torque rr --qd 20 90deg/s --qdd 500 0", ""),
    ],
)
def test_degrees_a_second_were_taken_for_radians(capsys, tmp_path, words, asked):
    said = forearm(capsys, *words.format(tmp_path / "m.csv").split(), "--json").json
    told = " ".join(said["notes"])
    assert (asked in told, "degrees" in told) == (True, bool(asked))


@pytest.mark.parametrize(
    ("tilt", "code", "says"),
    [
        (("-10", "10"), 2, "--tilt is -10 10, in radians without a unit"),
        (("0", "181deg"), 2, "--tilt is 0 181deg, in radians"),
        (("-3", "3"), 0, "note: --tilt is in radians, from -172 to 172 degrees"),
        (("-170deg", "170deg"), 0, ""),
        (("-0.1", "0.1"), 0, ""),
    ],
)
def test_tilts_in_degrees_were_taken_for_radians(capsys, tmp_path, tilt, code, says):
    path = tmp_path / "m.csv"
    path.write_text(MOTION)
    said = forearm(capsys, "sweep", "rr", path, "--samples", 1, "--instants", 8, "--tilt", *tilt)
    assert (said.code, says in said.err, "--tilt" in said.err) == (code, True, bool(says))


def test_a_sweep_takes_speeds_and_accelerations_of_its_file(capsys, tmp_path):
    (tmp_path / "log.csv").write_text(
        "t,q1,q2,qd1,qd2,qdd1,qdd2\n" + "".join(f"{k / 10},0.1,0.2,3,-4,5,6\n" for k in range(30))
    )
    said = forearm(
        capsys, "sweep", "rr", tmp_path / "log.csv", "--density", "1", "1", "--samples", "1", "--json"
    )
    assert said.json["not_finite"] == 0
    want = fa.inverse_dynamics(fa.load("rr"), [0.1, 0.2], [3, -4], [5, 6])
    assert "WARNING: qd of" in said.json["notes"][0]
    # rows whose speeds are not their slopes are met at their own times, among them the first
    assert all(
        joint["least"] <= x <= joint["greatest"] for joint, x in zip(said.json["joints"], want, strict=True)
    )


def test_a_force_is_not_shown_in_newton_metres(capsys, tmp_path):
    (tmp_path / "log.csv").write_text(
        "t,"
        + ",".join(f"q{i}" for i in range(1, 7))
        + "\n"
        + "".join(f"{k / 10},0,0,0.2,0,0,0\n" for k in range(9))
    )
    said = forearm(capsys, "torque", "stanford", tmp_path / "log.csv", "--summary")
    assert "peak [N m, N]" in said.out
    assert "peak speed [rad/s, m/s]" in said.out


def test_options_that_a_payload_has_no_use_for_were_ignored(capsys):
    said = forearm(capsys, "identify", "rr", "log.csv", "--payload", "--validate", "other.csv")
    assert said.code == 2
    assert "--validate is for finding the arm, and --payload takes it as known" in said.err


def test_a_payload_in_grams_was_held_in_kilograms_without_a_word(capsys, tmp_path):
    """Two hundred times what an arm of 3.5 kg weighs; masses of links were asked about from 350 kg on a metre on."""
    asked = "the payload is 200 kg on an arm of 3.5 kg: grams? Give 200g; if not, 200kg"
    assert asked in forearm(capsys, "torque", "rr", "--payload", "200").err
    for sure in ("200g", "200kg", "20"):
        assert "grams?" not in forearm(capsys, "torque", "rr", "--payload", sure).err
    motion = tmp_path / "motion.csv"
    motion.write_text("t,q1,q2\n0,0,0\n1,0.5,0.5\n2,0,0\n")
    assert asked in forearm(capsys, "sweep", "rr", motion, "--payload", "0", "200", "--samples", "2").err


def test_a_sweep_said_nothing_of_a_motion_beyond_limits_of_position(capsys, tmp_path):
    motion = tmp_path / "motion.csv"
    motion.write_text("t,q1,q2,q3,q4,q5,q6\n" + "".join(f"{t},0,0,{5 + t},0,0,0\n" for t in (0, 1, 2)))
    said = forearm(capsys, "sweep", "stanford", motion, "--payload", "0", "1", "--samples", "2")
    assert f"{motion}: joint 'joint3': position 7 m at t = 2 s, beyond its limit of 1.27" in said.err


def test_how_many_rows_are_written_does_not_change_a_verdict_on_limits(capsys):
    at = ("--q0", *"0 0 0 -1 0 1 0".split(), "--goal", *"1.5 0 0 -1 0 1 0".split(), "--duration", 0.5)
    whole, few = (forearm(capsys, "simulate", "panda", *at, "--every", every, "--json") for every in (1, 250))
    assert (whole.code, few.code) == (1, 1)
    (all_rows,), (three,) = whole.json["beyond_limits"], few.json["beyond_limits"]
    assert three == all_rows | {"row": 1, "first_row": 0, "worst": pytest.approx(all_rows["worst"])}
    assert np.allclose(few.json["q"], whole.json["q"][::250], rtol=1e-9)
    assert (few.json["t"], three["t"]) == ([0, 0.25, 0.5], 0.25)


def test_a_long_simulation_says_which_steps_were_held_against_limits(capsys, monkeypatch):
    monkeypatch.setattr("forearm.cli.verbs.simulation_verbs.MOST_JUDGED", 40)
    said = forearm(capsys, "simulate", "rr", "--duration", 0.1, "--every", 12, "--json").json
    assert said["notes"] == [
        "how far this long motion goes beyond limits of speed and torque is looked at in one of 3 steps; whether it "
        "does, in all"
    ]
    assert np.allclose(said["t"], [*np.arange(0, 0.1, 0.012), 0.1])


def test_a_payload_in_millimetres_was_held_metres_away_without_a_word(capsys):
    """The question about long links is of a link's centre, in which its own mass takes part."""
    asked = "the payload's centre is 34.641 m from where it is held: millimetres? Give 20mm; if not, 20m"
    said = forearm(capsys, "torque", "ur5e", "--payload", "0.5", "20", "20", "20")
    assert asked in said.err
    assert (
        asked
        in forearm(capsys, "torque", "ur5e", "--payload", "0.5", "20", "20", "20", "--json").json["notes"]
    )
    for sure in (("20mm", "20mm", "20mm"), ("3m", "0", "0"), ("0", "0", "0.3")):
        assert "millimetres" not in forearm(capsys, "torque", "ur3e", "--payload", "0.5", *sure).err


def test_how_many_rows_are_written_does_not_change_how_far_energy_drifts(capsys):
    """20 % became 58 %, and could have become nothing."""
    words = ("simulate", "rr", "--q0", "1.5", "0", "--duration", "5", "--dt", "0.05", "--every")
    whole, few = (forearm(capsys, *words, every).err.splitlines()[-1] for every in (1, 100))
    assert "the energy is wrong by up to 20 %" in whole
    assert few == whole
    assert few.removeprefix("note: ") in forearm(capsys, *words, 100, "--json").json["notes"]


def test_a_sweep_names_the_motion_that_asks_most(capsys, tmp_path):
    """It was a number counted from 0: motion=1 was the second file."""
    slow, fast = tmp_path / "slow.csv", tmp_path / "fast.csv"
    for path, pace in ((slow, 0.1), (fast, 1.0)):
        path.write_text("t,q1,q2\n" + "".join(f"{0.1 * k},{pace * (0.1 * k) ** 2},0\n" for k in range(9)))
    words = ("sweep", "rr", slow, fast, "--payload", "0", "1", "--samples", "2")
    assert f"motion={fast}" in forearm(capsys, *words).out
    assert forearm(capsys, *words, "--json").json["joints"][0]["choices"]["motion"] == str(fast)
