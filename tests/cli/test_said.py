"""What was asked for and would not be done is refused; what of a file is not in the numbers is said."""

from dataclasses import replace

import numpy as np
import pytest

import forearm as fa
from cli.verbs import MOTION, forearm
from forearm.writers.toml import write_toml
from forearm.writers.urdf import to_urdf

SPRING = """<mujoco model="sprung"><compiler angle="radian"/><worldbody><body name="a"><joint name="one" axis="0 0 1"
damping="0.7" armature="0.2"/><inertial pos="0.1 0 0" mass="2" diaginertia="0.02 0.03 0.04"/><body name="b"
pos="0.3 0 0"><joint name="two" axis="0 1 0.2" frictionloss="0.5" {0}/><inertial pos="0.1 0.05 0" mass="1"
diaginertia="0.02 0.03 0.04"/></body></body></worldbody></mujoco>"""
MILLIMETRES = """name = "long"
convention = "standard"
[[link]]
name = "one"
joint = "revolute"
theta = 0
d = 0
a = 431.8
alpha = "pi/2"
mass = 2
com = [-200, 0, 0]
inertia = { about = "com", Ixx = 0.02, Iyy = 0.02, Izz = 0.03 }
"""


@pytest.fixture
def motion(tmp_path):
    path = tmp_path / "motion.csv"
    path.write_text(MOTION)
    return path


# -- what an arm's file leaves open ------------------------------------------------------------------------


def test_torques_of_an_arm_in_millimetres_come_with_a_question(capsys, tmp_path):
    path = tmp_path / "long.toml"
    path.write_text(MILLIMETRES)
    said = forearm(capsys, "torque", path, "--q", "0.1")
    assert "long: link 1 'one': 431.8 m long: millimetres?" in said.err
    assert "millimetres?" in forearm(capsys, "torque", path, "--q", "0.1", "--json").json["notes"][0]
    assert forearm(capsys, "torque", path, "--q", "0.1", "--quiet").err == ""


@pytest.mark.parametrize("verb", ["torque", "reactions", "simulate", "compare", "convert"])
def test_a_spring_that_is_not_in_the_torques_is_said_by_every_verb(capsys, tmp_path, verb):
    path = tmp_path / "sprung.xml"
    path.write_text(SPRING.format('stiffness="3"'))
    more = {
        "simulate": ("--duration", "0.01"),
        "compare": (path,),
        "convert": (tmp_path / "sprung.toml",),
    }.get(verb, ())
    assert (
        "sprung: joint two: the spring is not part of an arm, and left out"
        in forearm(capsys, verb, path, *more).err
    )


def test_compare_rigid_takes_drives_out_of_mujoco_too(capsys, tmp_path):
    path = tmp_path / "sprung.xml"
    path.write_text(SPRING.format(""))
    assert forearm(capsys, "compare", path, "mujoco", "--rigid").code == 0


def test_compare_does_not_say_that_mujoco_has_no_dry_friction(capsys, tmp_path):
    path = tmp_path / "sprung.xml"
    path.write_text(SPRING.format(""))
    said = forearm(capsys, "compare", path, "mujoco").out
    assert "dry by" not in said, said
    assert "dry friction follows another law: c sign(qd)" in said


def test_slides_in_millimetres_were_metres_without_a_word(capsys, caplog, tmp_path):
    """300 rad were asked about, 300 m were not, and limits of 200 m were taken as well."""
    path = tmp_path / "rail.toml"
    body = 'alpha = 0\na = 0\ntheta = 0\nmass = 1\ncom = [0, 0, 0]\ninertia = "point"\n'
    path.write_text(f'name = "rail"\nconvention = "standard"\n[[link]]\njoint = "prismatic"\n{body}')
    asked = " reaches 300 m: millimetres?"
    for words in (("torque", "--q"), ("move", "--speeds", "1", "--accelerations", "1", "--to")):
        forearm(capsys, words[0], path, *words[1:], "300mm")
        assert asked not in caplog.text
        forearm(capsys, words[0], path, *words[1:], "300")
        assert asked in caplog.text
        caplog.clear()
    path.write_text(path.read_text() + "limits = [0, 200]\n")
    assert "limits reach 200 m: millimetres?" in forearm(capsys, "torque", path, "--q", "1").err


# -- files beside JSON and summaries -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ("torque", "rr", "MOTION", "--json"),
        ("torque", "rr", "MOTION", "--summary", "--json"),
        ("torque", "rr", "MOTION", "--summary"),
        ("simulate", "rr", "--duration", "0.01", "--json"),
        ("move", "rr", "--to", "1", "1", "--speeds", "1", "--accelerations", "1", "--json"),
        ("emit", "rr", "--to", "numpy", "--json"),
        ("derive", "rr", "--json"),
    ],
)
def test_a_file_that_was_asked_for_is_written_beside_json_and_a_summary(capsys, tmp_path, motion, words):
    out = tmp_path / "asked.csv"
    words = [motion if word == "MOTION" else word for word in words]
    beside = forearm(capsys, *words, "-o", out)
    assert beside.code == 0
    if "--json" in words:
        assert beside.json["written"] == str(out)
    plain = tmp_path / "plain.csv"
    assert forearm(capsys, *[w for w in words if w not in ("--json", "--summary")], "-o", plain).code == 0
    assert out.read_bytes() == plain.read_bytes()


# -- options without use -----------------------------------------------------------------------------------

TO = ("--to", 1, 1, 1, 1, 1, 1)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            (*TO, "--accelerations", 3, "--blend", 0.2),
            "--blend rounds the corners between waypoints; give --via",
        ),
        (
            (*TO, "--accelerations", 3, "--tool-speed", 0.2),
            "--tool-speed is for the tool on a line; add --line",
        ),
        ((*TO, "--accelerations", 3, "--jerks", 9, "--fastest"), "--jerks is not kept by --fastest"),
        (("--line", "--to", 0.3, 0.2, 0.4, "--accelerations", 1), "--accelerations is not kept on a line"),
        (
            ("--line", "--to", 0.3, 0.2, 0.4, "--fastest", "--tool-acceleration", 1),
            "--tool-acceleration is not kept by --fastest",
        ),
    ],
)
def test_move_refuses_limits_that_its_motion_would_not_keep(capsys, words, sentence):
    said = forearm(capsys, "move", "ur5e", *words)
    assert (said.code, said.out) == (2, "")
    assert sentence in said.err


def test_move_judges_by_the_torques_that_were_given(capsys):
    words = ("move", "ur5e", *TO, "--accelerations", 3)
    assert forearm(capsys, *words).code == 0
    said = forearm(capsys, *words, "--torques", 0.2)
    assert said.code == 1
    assert "beyond its limit of 0.2" in said.err


def test_move_says_where_a_payload_and_limits_of_jerks_are_not_heeded(capsys, motion):
    limits = ("--speeds", 1, "--accelerations", 1)
    light = ("move", "rr", "--to", 0.1, 0.2, *limits, "--payload", 50, "--rigid")
    told = "--payload and --rigid changed nothing: rr has no limits of torques"
    assert told in forearm(capsys, *light).err
    assert told not in forearm(capsys, *light, "--torques", 1e4).err
    assert any(told in said for said in forearm(capsys, *light, "--json").json["notes"])
    via = ("move", "rr", "--via", motion, *limits)
    ends = "at both ends the spline's acceleration begins and ends at once"
    assert ends in forearm(capsys, *via, "--jerks", 1).err
    assert ends not in forearm(capsys, *via).err


def test_move_says_that_times_of_waypoints_are_not_used(capsys, tmp_path, motion):
    words = ("move", "rr", "--via", motion, "--speeds", 1, "--accelerations", 1)
    said = forearm(capsys, *words)
    assert "motion.csv: waypoints are positions; its t is not used, the motion has its own times" in said.err
    assert "would be written over" in forearm(capsys, *words, "-o", motion).err
    degrees = tmp_path / "degrees.csv"
    degrees.write_text("q1 [deg],q2 [deg],x\n0,0,1\n10,20,1\n30,40,1\n")
    said = forearm(capsys, "move", "rr", "--via", degrees, "--speeds", 1, "--accelerations", 1).err
    assert "columns ignored: x" in said
    assert "converted to rad or m: q1 [deg]" in said


@pytest.mark.parametrize("given", [("--goal", 0, 0), ("--payload", 1), ()])
def test_simulate_refuses_a_controller_that_is_unaware_of_nothing(capsys, given):
    said = forearm(capsys, "simulate", "rr", "--unaware", "--duration", "0.01", *given)
    assert said.code == 2
    assert f"and {'--payload' if '--goal' in given else '--goal'} is missing" in said.err


# -- URDF --------------------------------------------------------------------------------------------------


def test_convert_does_not_lose_the_smoothing_of_dry_friction_in_silence():
    rubbing = fa.load("rr").replace(gravity=(0.0, 0.0, -9.81))
    drive = fa.Drive(viscous=1.0, coulomb=(2.0, 2.0), smoothing=0.5)
    rubbing = rubbing.replace(links=[link.replace(drive=drive) for link in rubbing.links])
    with pytest.raises(
        fa.ArmFault, match=r"over which speed the dry friction of 'q1' turns over, 0\.5 \(it becomes 0\.001\)"
    ):
        to_urdf(rubbing)
    assert "left out: over which speed" in to_urdf(rubbing, lossy=True)
    to_urdf(
        rubbing.replace(
            links=[link.replace(drive=replace(drive, coulomb=(0.0, 0.0))) for link in rubbing.links]
        )
    )


def test_convert_says_that_a_slide_without_limits_gets_a_range_of_nothing(capsys, tmp_path):
    stanford = fa.load("stanford").without_drives()
    free = stanford.replace(links=[link.replace(limits=None) for link in stanford.links])
    told = "'joint3' has no limit of position and speed and effort, and 0 stands for it"
    assert f"<!-- not known: {told} -->" in to_urdf(free)
    assert "not known" not in to_urdf(fa.load("ur5e").without_drives())
    write_toml(free, tmp_path / "free.toml")
    assert told in forearm(capsys, "convert", tmp_path / "free.toml", tmp_path / "free.urdf").err
    assert told not in forearm(capsys, "convert", tmp_path / "free.toml", tmp_path / "again.toml").err


def test_convert_says_that_urdf_has_no_place_for_named_positions(capsys, tmp_path):
    arm = fa.load("rr").without_drives().replace(configurations={"home": (0.1, 0.2)}, gravity=(0, 0, -9.81))
    told = "left out: named positions (home), which URDF has no place for"
    assert f"<!-- {told} -->" in to_urdf(arm)
    write_toml(arm, tmp_path / "a.toml")
    assert told in forearm(capsys, "convert", tmp_path / "a.toml", tmp_path / "a.urdf").err
    assert told not in forearm(capsys, "convert", tmp_path / "a.toml", tmp_path / "b.toml").err


def test_convert_names_what_it_leaves_out(capsys, tmp_path):
    """The refusal named it, and with --lossy nobody did."""
    said = forearm(capsys, "convert", "rr", tmp_path / "rr.urdf", "--lossy")
    assert "left out: gravity (0.0, -9.81, 0.0)" in said.err
    said = forearm(capsys, "convert", "stanford", tmp_path / "s.urdf", "--lossy", "--json")
    assert any(told.startswith("left out: the rotor inertia of 'joint1'") for told in said.json["notes"])


# -- reports -----------------------------------------------------------------------------------------------


def test_a_report_says_how_its_motion_was_read_and_calls_no_limits_kept_that_nobody_gave(
    capsys, tmp_path, motion
):
    out = tmp_path / "report.html"
    assert forearm(capsys, "report", "rr", motion, "--payload", "2", "-o", out).code == 0
    text = out.read_text(encoding="utf-8")
    assert "motion.csv has no qd and no qdd: worked out by a cubic spline through q" in text
    assert "the arm holds 2 kg, centre (0, 0, 0) m in the tool&#x27;s axes" in text
    assert "not given" in text
    assert ">kept<" not in text


JSON_VERBS = {
    "torque": ("--q", "0.1"),
    "reactions": (),
    "simulate": ("--duration", "0.01"),
    "reach": ("--pose", "400", "100", "0"),
    "move": ("--to", "0.1", "--speeds", "1", "--accelerations", "1"),
    "sweep": ("{folder}/motion.csv", "--payload", "0", "1", "--samples", "10", "--workers", "1"),
    "derive": (),
    "emit": ("--to", "c"),
    "convert": ("{folder}/again.toml",),
    "view": ("-o", "{folder}/view.html"),
    "compare": ("{folder}/log.csv",),
}


@pytest.mark.parametrize("verb", JSON_VERBS)
def test_the_json_of_every_verb_has_what_is_doubtful_about_the_arm(capsys, tmp_path, monkeypatch, verb):
    """On stderr it was said, which nobody sees who reads JSON."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "long.toml"
    path.write_text(MILLIMETRES)
    (tmp_path / "log.csv").write_text("q1,qd1,qdd1,tau1,foo\n" + "0.1,0.2,0.3,4,5\n" * 3)
    (tmp_path / "motion.csv").write_text("t,q1\n" + "\n".join(f"{k},{k / 10}" for k in range(5)))
    more = [word.format(folder=tmp_path) for word in JSON_VERBS[verb]]
    said = forearm(capsys, verb, path, *more, "--json")
    assert said.code in (0, 1), said.err
    assert any("millimetres?" in told for told in said.json["notes"])


@pytest.mark.parametrize(
    "words",
    [
        ("torque", "rr", "--q", 90, 45),
        ("reactions", "rr", "--q", 90, 45),
        ("simulate", "rr", "--q0", 90, 45, "--duration", 0.01),
        ("reach", "rr", "--pose", 1, 1, 0, "--q0", 90, 45),
        ("move", "rr", "--to", 90, 45, "--speeds", 1, 1, "--accelerations", 1, 1),
    ],
)
def test_what_the_library_warns_of_was_not_in_json(capsys, words):
    """That angles look like degrees was said on stderr alone."""
    assert any("degrees?" in told for told in forearm(capsys, *words, "--json").json["notes"])
    small = [word / 90 if word in (90, 45) else word for word in words]
    assert not any("degrees?" in told for told in forearm(capsys, *small, "--json").json["notes"])


def test_a_comparison_says_how_it_read_a_file(capsys, tmp_path):
    """Columns that were ignored or converted, speeds that are not those of the positions: no word of it."""
    arm, t = fa.load("rr"), np.linspace(0, 2, 201)[:, None]
    q, qd, qdd = np.sin([2, 3] * t), [2, 3] * np.cos([2, 3] * t), -([4, 9] * np.sin([2, 3] * t))
    tau = fa.inverse_dynamics(arm, q, qd, qdd)
    titles = "t," + ",".join(f"{kind}{i}" for kind in ("q", "qd", "qdd", "tau") for i in (1, 2)) + ",foo"
    rows = np.hstack([t, q, np.degrees(qd), qdd, tau, t])
    np.savetxt(tmp_path / "log.csv", rows, delimiter=",", header=titles, comments="", fmt="%.17g")
    said = forearm(capsys, "compare", "rr", tmp_path / "log.csv")
    assert "note: log.csv: columns ignored: foo" in said.err
    assert "qd of q1, q2 is not the slope of q, but 57.3 times it (degrees?)" in said.err
    assert (
        forearm(capsys, "compare", "rr", tmp_path / "log.csv", "--json").json["notes"][0]
        == "columns ignored: foo"
    )
    assert fa.compare(arm, tmp_path / "log.csv").notes[0] == "columns ignored: foo"


def test_solutions_that_were_searched_are_not_said_to_be_all(capsys):
    said = forearm(capsys, "reach", "rr", "--pose", "1.2", "0.5", "0", "--every")
    assert said.code == 0
    assert "2 solutions" in said.out
    assert "note: rr has no closed form for this: solutions are those that 256 searches found" in said.err
    closed = forearm(capsys, "reach", "ur10e", "--pose", "0.6", "0.2", "0.4", "180deg", "0", "0", "--every")
    assert "searches" not in closed.err
    asked = forearm(capsys, "reach", "rr", "--pose", "1.2", "0.5", "0", "--every", "--json")
    assert "may be missing" in asked.json["notes"][0]


# -- times and names of what is printed ----------------------------------------------------------------------


def test_the_worst_instant_of_a_sweep_is_told_by_the_clock_of_its_file(capsys, tmp_path):
    """It was counted from the first row, beside `torque --summary`, which has the file's own times."""
    start = 1.7e9
    rows = [f"{start + 0.125 * k!r},{0.3 * np.sin(0.7 * k):.9f},{0.1 * k}" for k in range(9)]
    path = tmp_path / "log.csv"
    path.write_text("t,q1,q2\n" + "\n".join(rows) + "\n")
    words = ("sweep", "rr", path, "--payload", "0", "0", "--samples", "1", "--instants", "9")
    worst = [row["at"] for row in forearm(capsys, *words, "--json").json["joints"]]
    assert worst == [
        row["peak_at"] for row in forearm(capsys, "torque", "rr", path, "--summary", "--json").json["joints"]
    ]
    for text in (forearm(capsys, *words).out, forearm(capsys, "torque", "rr", path, "--summary").out):
        assert f"{worst[0]:.3f}".rstrip("0") in text  # it was 1.7e+09


def test_rows_that_ask_more_than_the_instants_of_a_sweep_are_warned_of(capsys, tmp_path):
    """A pulse of some rows lay between even instants, and the worst torque was a tenth of that at the rows."""
    t = np.sort(np.r_[np.linspace(0, 3, 40), 1.5 + np.linspace(0.0005, 0.0195, 20)])
    pulse = np.where((t > 1.5) & (t < 1.52), 200 * np.sin(np.pi * (t - 1.5) / 0.02) ** 2, 0.0)
    rows = [f"{a!r},0,0,0,0,{b!r},0" for a, b in zip(t.tolist(), pulse.tolist(), strict=True)]
    path = tmp_path / "log.csv"
    path.write_text("t,q1,q2,qd1,qd2,qdd1,qdd2\n" + "\n".join(rows) + "\n")
    words = ("sweep", "rr", path, "--payload", "0", "0", "--samples", "1")
    told = [x for x in forearm(capsys, *words, "--json").json["notes"] if "the worst is between them" in x]
    assert len(told) == 1
    assert "--instants 3001," in told[0]
    assert "the worst is between" not in forearm(capsys, *words, "--instants", "3001").err
    path.write_text(
        "t,q1,q2,qd1,qd2,qdd1,qdd2\n0,0,0,0,0,0,0\n1,0,0,0,0,90,0\n2,0,0,0,0,0,0\n3,0,0,0,0,0,0\n"
    )
    assert "--instants 10," in forearm(capsys, *words, "--instants", "8").err, "4 would be fewer than now"
    assert "the worst is between" not in forearm(capsys, *words, "--instants", "10").err


def test_each_torque_of_a_free_base_has_its_name_in_json(capsys):
    """The names of four joints stood beside ten torques."""
    told = forearm(capsys, "torque", "examples/fork.urdf", "--base", "free", "--json").json
    assert len(told["joints"]) == len(told["tau"]) == 10
    assert told["joints"][5:7] == ["base wz", "shoulder"]


def test_torques_of_robots_with_followers_are_titled_by_joint(capsys, tmp_path):
    """tau2 was the second of four motors, and the third joint of seven."""
    motion = forearm(capsys, "simulate", "examples/palletiser.toml", "--duration", "0.02").out
    path = tmp_path / "run.csv"
    path.write_text(motion)
    first = "t,tau:column,tau:upper,tau:lever,tau:spin"
    assert forearm(capsys, "torque", "examples/palletiser.toml", path).out.splitlines()[0] == first
    fa.stream(fa.load("examples/palletiser.toml"), "inverse_dynamics", path, tmp_path / "tau.csv")
    assert (tmp_path / "tau.csv").read_text().splitlines()[0] == first


def test_reactions_of_robots_with_followers_say_that_every_joint_is_driven(capsys):
    """The drive of the palletiser's upper arm was a twelfth of its motor's torque, without a word."""
    words = ("reactions", "examples/palletiser.toml")
    assert "elbow, rod, plate follow other joints: here each joint has a drive" in forearm(capsys, *words).err
    assert "forearm torque says" in forearm(capsys, *words, "--json").json["notes"][0]


@pytest.mark.parametrize(
    ("more", "apart"), [((), " m; printed"), (("0", "1.5", "0", "--only", "orientation"), " rad; printed")]
)
def test_reach_says_how_near_it_is_in_what_was_asked_for(capsys, more, apart):
    """A position alone was reached *and 0 rad*, beside numbers of six digits to 1e-16 m."""
    said = forearm(capsys, "reach", "puma560", "--pose", "0.5", "0.1", "0.3", *more).out.splitlines()[-1]
    assert apart in said
    assert " and " not in said


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("torque", "rr", "--terms", "--summary"), "--terms would be seen nowhere; give --out for them"),
        (("emit", "rr", "--to", "numpy", "--dtype", "float32"), "computes in the dtype of its inputs"),
    ],
)
def test_an_option_that_another_makes_useless_was_taken_without_a_word(capsys, words, sentence):
    said = forearm(capsys, *words)
    assert said.code == 2
    assert sentence in said.err


@pytest.mark.parametrize(("rate", "warned"), [(3, True), (10, False)])
def test_rows_too_few_for_an_exciting_motion_were_written_without_a_word(capsys, tmp_path, rate, warned):
    words = ("--duration", 2, "--harmonics", 2, "--generations", 1, "--rate", rate)
    said = forearm(capsys, "excite", "rr", tmp_path / "e.csv", *words, "--json").json
    assert any("Give --rate 10 or more" in note for note in said["notes"]) is warned
