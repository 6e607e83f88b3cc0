"""Verbs on robots with branches: what takes them, and what asks for one chain."""

from pathlib import Path

import numpy as np
import pytest

import forearm as fa
from cli.verbs import forearm
from robots.random_trees import random_urdf

FORK = Path(__file__).parents[2] / "examples" / "fork.urdf"
AT = ("--q", "0.3", "-0.5", "0.1", "0.2", "--qd", "1", "2", "0.3", "-1", "--qdd", "0.1", "0.2", "0.3", "0.4")


def test_torques_of_a_state(capsys):
    said = forearm(capsys, "torque", FORK, *AT, "--json").json
    robot = fa.load(FORK)
    q, qd, qdd = (np.array(AT[k + 1 : k + 5], dtype=float) for k in (0, 5, 10))
    assert said["joints"] == list(robot.joint_names)
    np.testing.assert_allclose(said["tau"], fa.inverse_dynamics(robot, q, qd, qdd))


@pytest.mark.parametrize("stem", ["uicker_kahn_1969", "horn_raibert_1978"])
def test_torques_by_a_paper_are_summed_over_chains(capsys, stem):
    plain = forearm(capsys, "torque", FORK, *AT, "--rigid", "--json").json
    paper = forearm(capsys, "torque", FORK, *AT, "--rigid", "--formulation", stem, "--json").json
    np.testing.assert_allclose(paper["tau"], plain["tau"], rtol=1e-12)


def test_a_free_base_comes_first(capsys):
    said = forearm(capsys, "torque", FORK, "--base", "free")
    assert said.out.splitlines()[3].split() == ["base", "vz", "57.879", "N"]
    short = forearm(capsys, "torque", FORK, "--base", "free", "--q", "1", "2")
    assert "the base of robot 'sound' is free: give 11, base x, base y" in short.err
    goal = forearm(capsys, "simulate", FORK, "--base", "free", "--goal", "1")
    assert "nothing drives the free base" in goal.err


def test_a_motion_goes_in_by_joint_names_and_comes_back(capsys, tmp_path):
    path = tmp_path / "motion.csv"
    said = forearm(
        capsys,
        "simulate",
        FORK,
        "--goal",
        "0.2",
        "0.1",
        "0.05",
        "0.1",
        "--duration",
        "0.1",
        "--rigid",
        "-o",
        path,
    )
    assert "finished" in said.err or "limit" in said.err
    torques = forearm(capsys, "torque", FORK, path, "--rigid", "--summary", "--json").json
    assert [row["joint"] for row in torques["joints"]] == list(fa.load(FORK).joint_names)


def test_a_free_robots_motion_goes_in_as_simulate_wrote_it(capsys, tmp_path):
    robot, path, back = tmp_path / "bird.urdf", tmp_path / "flight.csv", tmp_path / "torques.csv"
    robot.write_text(random_urdf(1, joints=1))
    free = ("--base", "free")
    rows = ("--duration", "0.04", "--every", "1")  # enough to be asked whether speeds are late
    made = forearm(capsys, "simulate", robot, *free, "--qd0", *"123456", "0.5", *rows, "-o", path)
    assert made.code == 0, made.err
    assert forearm(capsys, "torque", robot, path, *free, "-o", back).code == 0
    titles, *rows = back.read_text().splitlines()
    assert titles == ",".join(["t", *(f"tau:{x}" for x in fa.load(robot, base="free").coordinates("tau"))])
    torques = np.array([row.split(",") for row in rows], dtype=float)[:, 1:]
    assert np.abs(torques).max() < 1e-11  # nothing drove it

    header, *lines = path.read_text().splitlines()
    slow = [k for k, title in enumerate(header.split(",")) if not title.startswith("qdd:")]
    positions = [k for k, title in enumerate(header.split(",")) if title == "t" or title.startswith("q:")]
    for kept in (slow, positions):
        text = "\n".join(",".join(line.split(",")[k] for k in kept) for line in (header, *lines))
        path.write_text(text)
        said = forearm(capsys, "torque", robot, path, *free)
        assert said.code == (0 if kept is slow else 2), said.err
    assert (
        "its speeds are not the slopes of its quaternion: give qd of the base and of the joints" in said.err
    )
    path.write_text("t,q1\n0,1\n")
    short = forearm(capsys, "torque", robot, path, *free)
    assert (
        "no column q:base x, q:base y, q:base z, q:base qx …; expected the columns of a free base"
        in short.err
    )
    path.write_text(header + "," + header.split(",")[1] + "\n")
    assert "column 'q:base x' appears 2 times" in forearm(capsys, "torque", robot, path, *free).err


def test_a_log_whose_quaternions_were_rounded_gave_rows_of_nan(capsys, tmp_path):
    robot, path = tmp_path / "bird.urdf", tmp_path / "flight.csv"
    robot.write_text(random_urdf(1, joints=1))
    free = ("--base", "free")
    forearm(capsys, "simulate", robot, *free, "--qd0", *"123456", "0.5", "--duration", "0.04", "-o", path)
    exact = forearm(capsys, "torque", robot, path, *free, "--json").json["tau"]
    titles, *rows = path.read_text().splitlines()
    header, rows = titles.split(","), [[float(x) for x in row.split(",")] for row in rows]
    turns = [header.index(f"q:base {x}") for x in ("qx", "qy", "qz", "qw")]

    def torques(changed):
        lines = [",".join(repr(changed(k, j, x)) for j, x in enumerate(row)) for k, row in enumerate(rows)]
        path.write_text("\n".join([titles, *lines]))
        return forearm(capsys, "torque", robot, path, *free, "--json")

    said = torques(lambda k, j, x: round(x, 4) if j in turns else x)
    assert "quaternions have lengths up to" in said.json["notes"][0]
    assert "were brought to length one" in said.json["notes"][0]
    np.testing.assert_allclose(said.json["tau"], exact, atol=1e-1)
    long = torques(lambda k, j, x: 2 * x if j in turns and k == 1 else x)
    assert long.code == 2
    assert (
        f"{path}:3: the base's quaternion has length 2; expected qx, qy, qz and qw of length one" in long.err
    )


def test_counts_of_a_robot_are_sums_over_its_chains(capsys):
    """It advised --tip, which there was not."""
    whole = forearm(capsys, "count", "luh_walker_paul_1980", "--arm", FORK, "--json")
    assert whole.code == 0, whole.err
    one = forearm(capsys, "count", "--customised", "--arm", FORK)
    assert "Choose where it ends, --tip hand" in one.err
    assert forearm(capsys, "count", "--customised", "--arm", FORK, "--tip", "hand").code == 0
    everything = forearm(capsys, "count", "--arm", FORK).out
    assert "walker_orin_1982" in everything
    assert "featherstone_1983" not in everything  # accelerations do not add up over chains
    said = forearm(capsys, "count", "luh_walker_paul_1980", "--tip", "hand")
    assert "say how a file is read; name the file with --arm" in said.err


def test_robots_are_converted_compared_and_drawn(capsys, tmp_path):
    again, drawn = tmp_path / "fork.toml", tmp_path / "fork.svg"
    assert forearm(capsys, "convert", FORK, again).code == 0
    assert fa.load(again).replace(remarks=()) == fa.load(FORK).replace(remarks=())
    assert forearm(capsys, "compare", FORK, again).code == 0
    assert forearm(capsys, "show", again, "--plot", drawn).code == 0
    assert drawn.stat().st_size > 5000


def test_reactions_of_every_joint(capsys):
    said = forearm(capsys, "reactions", FORK)
    assert [line.split()[0] for line in said.out.splitlines()[1:]] == list(fa.load(FORK).joint_names)


@pytest.mark.parametrize(
    "words",
    [
        ("derive", FORK),
        ("move", FORK, "--to", "1"),
        ("view", FORK),
    ],
)
def test_what_takes_one_chain_says_so(capsys, words):
    said = forearm(capsys, *words)
    assert said.code == 2
    assert "Choose where it ends, --tip hand" in said.err


def test_a_payload_needs_a_hand(capsys):
    said = forearm(capsys, "torque", FORK, "--payload", "2")
    assert "has 2 ends (hand, other), and which of them holds it is not said" in said.err
