"""forearm move: to a position, through points, along a line, as fast as possible; and what it refuses."""

import numpy as np
import pytest

import forearm as fa
from cli.verbs import forearm
from forearm.motion.motion_files import read_motion

POINTS = "q1,q2,q3,q4,q5,q6\n0,-1.5,1.5,0,0,0\n.5,-1,1,0,0,0\n1,-1.2,1.2,0,.3,0\n"
ENDS = ("--from", "0", "-1.5", "1.5", "0", "0", "0", "--to", "1", "-1", "1", "0", "0", ".5")


def test_to_a_position(capsys, tmp_path):
    said = forearm(
        capsys, "move", "ur5e", *ENDS, "--accelerations", "4", "--jerks", "40", "-o", tmp_path / "a.csv"
    )
    assert said.code == 0
    assert "1.10499 s" in said.err
    motion = read_motion(tmp_path / "a.csv", fa.load("ur5e"))
    np.testing.assert_allclose(motion.samples.q[-1], [1, -1, 1, 0, 0, 0.5], atol=1e-12)


def test_the_fastest_through_points_with_a_picture(capsys, tmp_path):
    (tmp_path / "via.csv").write_text(POINTS)
    words = ("move", "ur5e", "--via", tmp_path / "via.csv", "--fastest", "--payload", "3")
    said = forearm(capsys, *words, "-o", tmp_path / "b.csv", "--plot", tmp_path / "b.png")
    assert said.code == 0
    assert "limited by" in said.err
    assert (tmp_path / "b.png").stat().st_size > 10_000
    assert forearm(capsys, *words, "-o", tmp_path / "b.csv", "--plot", tmp_path / "phase.svg").code == 0
    judged = forearm(capsys, "torque", "ur5e", tmp_path / "b.csv", "--payload", "3", "--summary")
    assert judged.code == 0, judged.out
    told = forearm(capsys, *words, "--json").json
    assert told["within_limits"] is True
    assert told["binding"]
    slow = forearm(
        capsys,
        "move",
        "ur5e",
        "--via",
        tmp_path / "via.csv",
        "--accelerations",
        "5",
        "--blend",
        "0.2",
        "--json",
    )
    assert slow.json["duration"] > told["duration"]


def test_along_a_line(capsys):
    arm, start = fa.load("ur5e"), [0.3, -1.2, 1.4, -1.8, -1.57, 0.0]
    to = fa.pose(arm, start)[:3, 3] + [0, 0.2, 0]
    words = ("move", "ur5e", "--line", "--from", *start, "--to", *to)
    said = forearm(capsys, *words, "--json")
    assert said.code == 0
    np.testing.assert_allclose(fa.pose(arm, said.json["q"][-1])[:3, 3], to, atol=1e-9)
    assert forearm(capsys, *words, "--fastest", "--json").json["duration"] < said.json["duration"]


def test_a_motion_beyond_limits_ends_with_code_1(capsys):
    said = forearm(capsys, "move", "ur5e", *ENDS, "--accelerations", "400", "--speeds", "3")
    assert said.code == 1
    assert "torque" in said.err
    assert "beyond its limit" in said.err


def test_limits_wider_than_the_arms_own_do_not_hide_them(capsys):
    """What `torque --summary` calls beyond its limit, `move` does too."""
    said = forearm(capsys, "move", "ur5e", *ENDS, "--accelerations", "15", "--speeds", "9")
    assert said.code == 1
    assert "'shoulder_pan_joint': speed" in said.err
    assert "beyond its limit of 3.14159" in said.err


def test_rows_that_miss_the_peaks_of_a_motion_say_so(capsys):
    words = ("move", "ur5e", *ENDS, "--accelerations", "15", "--speeds", "3", "--json")
    few, many = (forearm(capsys, *words, "--rows", rows).json for rows in (9, 4001))
    assert few["peak_torques"] == many["peak_torques"]
    assert few["peak_speeds"] == many["peak_speeds"]
    speed = np.abs(many["qd"]).max(axis=0)
    torque = np.abs(fa.inverse_dynamics(fa.load("ur5e"), many["q"], many["qd"], many["qdd"])).max(axis=0)
    np.testing.assert_allclose(few["peak_speeds"], speed, rtol=1e-3)
    np.testing.assert_allclose(few["peak_torques"], torque, rtol=2e-3, atol=1e-3)
    assert "the 9 rows miss peaks of the motion between them" in few["notes"][0]
    assert not many.get("notes")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "give the end as --to, or waypoints as --via FILE"),
        (("--to", "1", "0", "0", "0", "0", "0"), "give --accelerations, a number or one for each joint"),
        (("--to", "1", "0", "0", "0", "0", "0", "--accelerations", "0"), "is 0; give a positive number"),
        (("--line", "--to", "1", "0"), "--to has 2 numbers; with --line give the tool's place"),
        (("--via", "none.csv"), "none.csv: cannot be read"),
        (("--via", "none.csv", "--line"), "leave --from and --line out"),
        (("--to", "1", "0", "0", "0", "0", "0", "--degrees"), "--degrees goes with a file of a motion"),
    ],
)
def test_refusals(capsys, words, message):
    said = forearm(capsys, "move", "ur5e", *words)
    assert said.code == 2
    assert message in said.err


@pytest.mark.parametrize(
    ("rows", "words"),
    [("-1", "Must be >= 2"), ("0", "Must be >= 2"), ("1000000000000", "does not fit into memory")],
)
def test_rows_that_cannot_be_are_no_bug_of_ours(capsys, tmp_path, rows, words):
    limits = ("--speeds", "1", "--accelerations", "1")
    out = ("-o", tmp_path / "m.csv")
    said = forearm(capsys, "move", "rr", "--to", "1", "1", *limits, "--rows", rows, *out)
    assert said.code == 2
    assert words in said.err


def test_waypoints_in_degrees_were_told_of_an_option_that_move_had_not(capsys, tmp_path):
    path = tmp_path / "via.csv"
    path.write_text("q1,q2\n0,0\n45,30\n90,60\n")
    words = ("move", "rr", "--via", path, "--speeds", 1, "--accelerations", 1, "--json")
    assert "give --degrees" in forearm(capsys, *words).err
    np.testing.assert_allclose(forearm(capsys, *words, "--degrees").json["q"][-1], np.deg2rad([90, 60]))


def test_what_is_said_of_waypoints_is_in_json_too(capsys, tmp_path):
    path = tmp_path / "via.csv"
    path.write_text("t,q1,q2\n0,0,0\n1,1,0.5\n2,2,1.5\n")
    said = forearm(
        capsys, "move", "rr", "--via", path, "--speeds", "1", "--accelerations", "1", "--json"
    ).json
    assert "its t is not used, the motion has its own times" in said["notes"][0]


def test_a_log_for_waypoints_filled_the_memory(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("forearm.outside.memory_size.machine_memory", lambda: 1e9)
    path = tmp_path / "log.csv"
    path.write_text("q1,q2\n" + "".join(f"{0.001 * k},{0.002 * k}\n" for k in range(50_000)))
    said = forearm(capsys, "move", "rr", "--via", path, "--speeds", 1, "--accelerations", 1, "--radians")
    assert said.code == 2
    assert "a motion through 50000 waypoints of 2 joints takes 0.6 GB, and this machine has 1 GB" in said.err
