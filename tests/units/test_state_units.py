"""Every state, limit, push, load, log and stream in another unit: refused or asked about, or on a list of what nobody
can see; the same numbers in the right one pass in silence.
"""

import numpy as np
import pytest

import forearm as fa
from cli.verbs import forearm
from forearm.arm_calls import hint_sizes
from forearm.faults import Fault, size_hint
from forearm.simulation import read_motion
from units.honest_arms import honest

DEG = 180 / np.pi


def states(arm, seed=0):
    """States as an arm has them: within its limits, its speeds, its torques."""
    q, qd, qdd = (np.random.default_rng(seed).uniform(-1, 1, (16, arm.n)) for _ in range(3))
    most = [x.speed_limit or (3.0 if x.revolute else 1.0) for x in arm.links]
    low, high = np.array([x.limits or ((-3.0, 3.0) if x.revolute else (-1.0, 1.0)) for x in arm.links]).T
    q = (low + high) / 2 + q * (np.minimum(high, 1e4) - np.maximum(low, -1e4)) / 2
    q, qd, qdd = np.clip(q, -6, 20), qd * np.minimum(most, 60), qdd * np.minimum(most, 20)
    found = {"q": q, "qd": qd, "qdd": qdd}
    return found | {"tau": fa.inverse_dynamics(arm, q, qd, qdd)} if arm.dynamics else found


@pytest.mark.more
@pytest.mark.parametrize("name", honest())
def test_states_of_arms_of_all_sizes_are_asked_about_nothing(name):
    arm = honest()[name]
    assert [hint for kind, x in states(arm).items() if (hint := size_hint(arm, kind, x))] == []


KINDS = [
    # kind, a good number for a joint that turns and for one that slides, the wrong factor, and whether it shows
    ("q", 1.2, 0.3, 1e3, "slides and turns"),
    ("q", 1.2, 0.3, DEG, "turns"),
    ("qd", 1.0, 0.3, 1e3, "slides and turns"),
    ("qd", 1.0, 0.3, DEG, "turns"),
    ("qd", 1.0, 0.3, 30 / np.pi, ""),  # 10 rad/s is the speed of a light arm
    ("qdd", 20.0, 2.0, 1e3, "slides and turns"),
    ("qdd", 20.0, 2.0, DEG, ""),  # 1000 rad/s² is a light finger's
    ("tau", 40.0, 90.0, 1e3, "slides and turns"),
    ("tau", 40.0, 90.0, 1 / 1e3, ""),  # small torques are those of small motions
    ("tau", 40.0, 90.0, 9.81, ""),  # and so are ten times larger ones of quick ones
    ("q", 1.2, 0.3, 1e-3, ""),  # a thousandth of a radian is a small motion
]


@pytest.mark.parametrize(("kind", "turns", "slides", "factor", "shows"), KINDS)
def test_states_in_other_units_are_asked_about(kind, turns, slides, factor, shows):
    """A PUMA 560 turns, Stanford's arm has a slide among its joints, which is asked about by itself."""
    arm = fa.load("puma560")
    assert size_hint(arm, kind, np.full((2, 6), turns)) is None
    assert bool(size_hint(arm, kind, np.full((2, 6), turns * factor))) == ("turns" in shows)
    arm, one = fa.load("stanford"), np.zeros((2, 6))
    one[1, 2] = slides * factor
    assert bool(size_hint(arm, kind, one)) == ("slides" in shows), size_hint(arm, kind, one)


CALLS = {
    "inverse_dynamics, qd": lambda arm, q: fa.inverse_dynamics(arm, q, q * 1e3, q),
    "inverse_dynamics, qdd": lambda arm, q: fa.inverse_dynamics(arm, q, q, q * 1e5),
    "forward_dynamics, tau": lambda arm, q: fa.forward_dynamics(arm, q, q, q * 1e5),
    "mass_matrix, q": lambda arm, q: fa.mass_matrix(arm, q * DEG),
    "simulate, q0": lambda arm, q: fa.simulate(arm, q * DEG, duration=0.002, dt=1e-3),
    "simulate, qd0": lambda arm, q: fa.simulate(arm, q, q * 500, duration=0.002, dt=1e-3),
    "simulate, payload": lambda arm, q: fa.simulate(
        arm, q, duration=0.002, dt=1e-3, payload=[500.0] + [0.0] * 9
    ),
    "point_to_point, goal": lambda arm, q: fa.point_to_point(arm, q, q * DEG, accelerations=3.0),
    "point_to_point, speeds": lambda arm, q: fa.point_to_point(
        arm, q, q + 1, speeds=180.0, accelerations=3.0
    ),
    "point_to_point, accelerations": lambda arm, q: fa.point_to_point(arm, q, q + 1, accelerations=3e4),
    "via_points": lambda arm, q: fa.via_points(arm, [q, q * DEG, q], accelerations=3.0),
    "feasible, torques": lambda arm, q: fa.feasible(arm, _motion(arm, q), torques=56e3, samples=11),
    "speed_up, torques": lambda arm, q: fa.speed_up(arm, _motion(arm, q), torques=56e3, samples=11),
    "wrench, force": lambda arm, q: fa.external_torque(arm, q, fa.Wrench((0, 0, -5e4))),
    "wrench, moment": lambda arm, q: fa.external_torque(arm, q, fa.Wrench((0, 0, 0), (0, 1e5, 0))),
    "wrench, point": lambda arm, q: fa.external_torque(
        arm, q, fa.Wrench((0, 0, -50), at=("wrist_3_joint", (0, 0, 150)))
    ),
    "sweep, payload": lambda arm, q: fa.sweep(
        "gravity_torque", {"q": [q] * 2, "payload": fa.Uniform(0, 500)}, arm=arm, samples=2, workers=1
    ),
    "inverse_kinematics, q0": lambda arm, q: fa.inverse_kinematics(
        arm, fa.Pose.at((0.4, 0.1, 0.3)), q0=q * DEG
    ),
    "Pose.at, rpy": lambda arm, q: fa.Pose.at((0.4, 0.1, 0.3), (90, 0, 0)),
    "payload": lambda arm, q: fa.gravity_torque(arm.with_payload(500.0, frame="tool"), q),
    "lengths": lambda arm, q: fa.gravity_torque(arm.with_tool(fa.Pose.at((0, 0, 150))), q),
}


QUICK = (
    "payload",
    "wrench, force",
    "point_to_point, speeds",
    "point_to_point, accelerations",
    "Pose.at, rpy",
)
"""Calls that share what they compile, or compile nothing."""


def _motion(arm, q):
    return fa.point_to_point(arm, q, q + 1, accelerations=3.0)


@pytest.mark.parametrize(
    "call", [pytest.param(c, marks=() if c in QUICK else pytest.mark.more) for c in CALLS]
)
def test_a_call_with_other_units_is_refused_or_asked_about(call, caplog):
    arm, q = fa.load("ur5e"), np.array([0.1, -0.8, 1.2, 0.3, 0.4, 0.2])
    try:
        CALLS[call](arm, q)
    except Fault:
        return
    asked = caplog.text
    if call == "payload":
        asked = " ".join(arm.with_payload(500.0, frame="tool").notes)
    assert "?" in asked, asked


@pytest.mark.more
def test_good_calls_are_asked_about_nothing(caplog):
    arm, q = fa.load("ur5e"), np.array([0.1, -0.8, 1.2, 0.3, 0.4, 0.2])
    fa.inverse_dynamics(arm, q, q, 20 * q)
    fa.forward_dynamics(arm, q, q, 100 * q)
    fa.feasible(
        arm, fa.point_to_point(arm, q, q + 1, speeds=3.0, accelerations=40.0), torques=150.0, samples=11
    )
    fa.external_torque(arm, q, fa.Wrench((0, 0, -2000), (0, 40, 0), at=("wrist_3_joint", (0, 0, 0.4))))
    fa.sweep("gravity_torque", {"q": [q] * 2, "payload": fa.Uniform(0, 5)}, arm=arm, samples=2, workers=1)
    hint_sizes(arm, "q", dict.fromkeys(arm.joint_names, 6.2))
    assert caplog.messages == []


# -- files -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rows():
    """A motion of a UR5e for 4 s, with its torques."""
    arm, t = fa.load("ur5e"), np.linspace(0, 4, 200)
    w = 1 + 0.3 * np.arange(6)
    angle = np.outer(t, w)
    q, qd, qdd = 0.5 * np.sin(angle), 0.5 * w * np.cos(angle), -0.5 * w**2 * np.sin(angle)
    return {"t": t, "q": q, "qd": qd, "qdd": qdd, "tau": fa.inverse_dynamics(arm, q, qd, qdd)}


def written(path, rows):
    titles = [
        name if name == "t" else f"{name}{j}" for name in rows for j in range(1, 2 if name == "t" else 7)
    ]
    np.savetxt(
        path, np.column_stack(list(rows.values())), delimiter=",", header=",".join(titles), comments=""
    )
    return path


FILES = [
    ({}, False),
    ({"q": DEG}, True),
    ({"q": DEG, "qd": DEG, "qdd": DEG}, True),
    ({"q": 1e3}, True),
    ({"qd": DEG}, True),
    ({"qd": 1e3}, True),
    ({"qd": 1e-3}, True),
    ({"qd": 30 / np.pi}, True),
    ({"qdd": DEG}, True),
    ({"qdd": 1e3}, True),
    ({"tau": 1e3}, True),
    ({"tau": 1e-3}, False),  # a motion's torques in a file are not compared with the arm's: that is compare's
    ({"t": 1e3}, True),
    ({"t": 1e6}, True),
    ({"t": 1e-3}, True),
    ({"t": 1 / 3600}, True),
]


@pytest.mark.parametrize(
    ("slips", "asked"),
    [pytest.param(*row, marks=() if 1e3 in row[0].values() else pytest.mark.more) for row in FILES],
)
def test_columns_of_a_motion_in_other_units_are_refused_or_asked_about(tmp_path, rows, slips, asked):
    path = written(tmp_path / "m.csv", {name: x * slips.get(name, 1) for name, x in rows.items()})
    try:
        notes = read_motion(path, fa.load("ur5e")).notes
    except Fault:
        notes = ("refused",)
    assert bool(notes) == asked, notes


@pytest.mark.more
@pytest.mark.parametrize(
    "slip", [{"q": DEG}, {"qd": 1e3}, {"qdd": 1e5}, {"tau": 1e3}], ids=lambda slip: next(iter(slip))
)
def test_streams_in_other_units_are_refused_or_asked_about(tmp_path, rows, slip):
    arm, names = fa.load("ur5e"), ("q", "qd", "tau") if "tau" in slip else ("q", "qd", "qdd")
    quantity = "forward_dynamics" if "tau" in slip else "inverse_dynamics"
    for factors, asked in (({}, False), (slip, True)):
        np.save(tmp_path / "rows.npy", np.hstack([rows[name] * factors.get(name, 1) for name in names]))
        try:
            told = fa.stream(arm, quantity, tmp_path / "rows.npy", tmp_path / "out.npy").notes
        except Fault:
            told = ("refused",)
        assert bool(told) == asked, told


@pytest.mark.more
def test_watch_asks_about_torques_in_newton_millimetres(rows):
    log = {name: rows[name] for name in ("t", "q", "qd")}
    for factor in (1, 1e3):
        notes = fa.watch(fa.load("ur5e"), log | {"tau": rows["tau"] * factor}).notes
        assert any("N mm?" in note for note in notes) == (factor > 1)


# -- command line ------------------------------------------------------------------------------------------


VERBS = [
    ("torque stanford --q 0 0 0.3 0 0 0 --qd 0 0 300 0 0 0", "qd reaches 300 m/s: millimetres?"),
    ("torque stanford --q 0 0 0.3 0 0 0 --qd 0 0 300mm/s 0 0 0", ""),
    ("torque ur5e --qd 90 0 0 0 0 0", "degrees or turns?"),
    ("torque ur5e --payload 500", "grams? Give 500g"),
    ("torque ur5e --payload 500g", ""),
    ("torque ur5e --payload 2 0 0 20", "millimetres? Give 20mm"),
    ("torque ur5e --payload 2 0 0 20mm", ""),
    ("move rr --to 1 1 --speeds 180 --accelerations 9 -o {}", "speeds reaches 180 rad/s"),
    ("move rr --to 1 1 --speeds 180deg/s --accelerations 9 -o {}", ""),
    ("move rr --to 90 90 --speeds 1 --accelerations 9 -o {}", "degrees?"),
    ("move rr --to 90deg 90deg --speeds 1 --accelerations 9 -o {}", ""),
    ("simulate rr --qd0 90 0 --duration 0.01 -o {}", "qd reaches 90 rad/s"),
]


@pytest.mark.parametrize(
    ("words", "asked"), [VERBS[0], *(pytest.param(*v, marks=pytest.mark.more) for v in VERBS[1:])]
)
def test_options_in_other_units_are_asked_about_and_in_their_own_are_not(capsys, tmp_path, words, asked):
    notes = " ".join(forearm(capsys, *words.format(tmp_path / "m.csv").split(), "--json").json["notes"])
    assert (asked in notes, "?" in notes) == (True, bool(asked)), notes


def test_check_says_of_absurd_rotors_what_notes_say(capsys, tmp_path):
    arm = fa.load("puma560")
    links = [x.replace(drive=fa.Drive(2.0, 100.0, "motor")) for x in arm.links]
    fa.write_toml(arm.replace(links=tuple(links)), tmp_path / "arm.toml")
    said = forearm(capsys, "check", tmp_path / "arm.toml")
    assert said.code == 1
    assert "its rotor has 2 kg m² before a gear of 100" in said.out
