"""Every verb: it succeeds, it speaks JSON, and three kinds of bad input get one sentence and exit code 2."""

import io
import json
from pathlib import Path

import numpy as np
import pytest

import forearm as fa
from cli.verbs import MOTION, forearm
from close import assert_close
from forearm.cli.verbs import VERBS
from forearm.formulations import FORMULATIONS

MOVING = Path(__file__).parents[1] / "data" / "rr_motion.csv"

QUICK = {
    "arms": (),
    "show": ("rr",),
    "convert": ("rr", "-"),
    "reactions": ("rr", "--q", "0.5", "0.7"),
    "torque": ("rr", "--q", 0.4, -1.1),
    "reach": ("rr", "--pose", 0.5, 0.2, 0),
    "simulate": ("rr", "--duration", 0.02, "--dt", 0.001),
    "sweep": ("rr", MOVING, "--payload", 0, 1, "--samples", 20),
    "verify": ("rr", "--states", 1),
    "check": ("rr",),
    "compare": ("rr", "rr"),
    "count": ("newton_euler_notes",),
    "derive": ("rr",),
    "cite": ("luh_walker_paul_1980",),
    "emit": ("rr", "--to", "llvm"),
    "bench": ("rr", "--batch", 10, "--seconds", 0.001),
    "doctor": (),
    "completion": ("bash",),
}
"""Words with which each verb succeeds quickly; demo has a test of its own."""

BAD = {
    "arms": [("--nothing",), ("extra",), ("--json", "more")],
    "show": [(), ("no_such_arm",), ("missing.toml",), ("rr", "--q", 1, "--plot", "x.png")],
    "convert": [("rr",), ("rr", "rr.step"), ("no_such_arm", "-"), ("puma560", "-", "--to", "urdf")],
    "reactions": [("rr", "--q", "1"), ("no_such_arm",), ("rr", "--link", 3, "--plot", "x.svg")],
    "torque": [
        ("rr", "--q", 1),
        ("rr", "missing.csv"),
        ("cobra600",),
        ("rr", "--payload", 1, 2),
        ("rr", "--q", "one"),
        ("rr", "--q", 90, 0, "--degrees"),
        ("rr", "--q", 1, 0, "--time-unit", "ms"),
        ("rr", "--q", 1, 0, "--out", "x.csv"),
        ("rr", "{tmp}/motion.csv", "--degrees", "--radians"),
    ],
    "simulate": [("rr", "--q0", 1), ("rr", "--method", "guess"), ("rr", "--duration", -1), ("rr", "--dt", 0)],
    "reach": [
        ("rr",),
        ("rr", "--pose", 1, 2),
        ("no_such_arm", "--pose", 1, 2, 3),
        ("rr", "--pose", 1, 0, "x"),
    ],
    "sweep": [("rr",), ("rr", "missing.csv"), ("rr", MOVING, "--payload", 1), ("no_such_arm", MOVING)],
    "verify": [("cobra600",), ("no_such_arm",), ("rr", "--states", "many")],
    "check": [("no_such_arm",), (), ("rr", "--seed", "x")],
    "compare": [("rr",), ("rr", "puma560"), ("rr", "missing.csv")],
    "count": [
        ("no_such_paper",),
        ("newton_euler_notes", "--quantity", "mass_matrix"),
        ("--published", "waters_1979"),
    ],
    "derive": [("no_such_arm",), ("rr", "--formulation", "nobody_1900"), ("rr", "--as", "prose")],
    "cite": [("nobody_1900",), ("missing.urdf",), ("--bibliography",)],
    "emit": [
        ("rr", "--functions", "inverse_kinematics", "-o", "{tmp}"),
        ("rr", "--to", "fortran"),
        ("rr", "--dtype", "int"),
    ],
    "bench": [("rr", "--quantity", "beauty"), ("rr", "--batch", 0), ("no_such_arm",)],
    "doctor": [("who",), ("--pulse",), ("--json", "x")],
    "completion": [(), ("tcsh",), ("bash", "zsh")],
}


OTHERS = {"cache", "demo", "identify", "excite", "watch", "move", "view", "report"}
"""Verbs with tests of their own: they want a folder, a minute, or a log."""


def test_every_verb_is_tried():
    verbs = {verb.split()[0] for group in VERBS.values() for verb in group}
    assert verbs == set(QUICK) | OTHERS == set(BAD) | OTHERS


@pytest.mark.parametrize("verb", QUICK)
def test_succeeds(capsys, verb):
    said = forearm(capsys, verb, *QUICK[verb])
    assert said.code == 0, said.err
    assert said.out.strip()
    assert "\x1b" not in said.out, "colours in a pipe"
    assert "Traceback" not in said.err


@pytest.mark.parametrize("verb", [verb for verb in QUICK if verb != "convert"])
def test_json_is_one_document(capsys, verb):
    said = forearm(capsys, verb, *QUICK[verb], "--json")
    assert said.code == 0, said.err
    assert said.json
    assert said.err == ""
    assert forearm(capsys, "--json", verb, *QUICK[verb]).code == 0, "flags may stand before the verb"


@pytest.mark.parametrize(("verb", "words"), [(verb, words) for verb in BAD for words in BAD[verb]])
def test_bad_input_is_one_sentence(capsys, tmp_path, verb, words):
    said = forearm(capsys, verb, *(str(word).replace("{tmp}", str(tmp_path)) for word in words))
    assert said.code == 2, said
    assert said.err.startswith("forearm: ")
    assert len(said.err.splitlines()) == 1
    assert "Traceback" not in said.err
    assert "bug" not in said.err


def test_debug_shows_the_traceback_and_leaves_with_the_same_code(capsys):
    said = forearm(capsys, "show", "no_such_arm", "--debug")
    assert said.code == 2, "1 would mean that something was found"
    assert said.err.startswith("Traceback")
    assert "ReadFault: there is no built-in arm 'no_such_arm'" in said.err


def test_a_bug_is_called_one(capsys, monkeypatch):
    def broken():
        raise RuntimeError("out of ideas")

    monkeypatch.setattr("forearm.readers.known_arms", broken)
    said = forearm(capsys, "arms")
    assert said.code == 3
    assert "bug of forearm: RuntimeError: out of ideas" in said.err


def test_an_interrupt_is_no_bug(capsys, monkeypatch):
    def stopped():
        raise KeyboardInterrupt

    monkeypatch.setattr("forearm.readers.known_arms", stopped)
    assert forearm(capsys, "arms").code == 130


# -- verb by verb ------------------------------------------------------------------------------------------


def test_arms_are_all_there(capsys):
    assert [row["name"] for row in forearm(capsys, "arms", "--json").json] == list(fa.known_arms())


def test_show_says_what_print_says(capsys):
    assert forearm(capsys, "show", "puma560").out == f"{fa.load('puma560')}\n"
    told = forearm(capsys, "show", "stanford", "--json").json
    arm = fa.load("stanford")
    assert [link["kind"] for link in told["links"]] == [link.kind for link in arm.links]
    assert_close(told["mass"], float(arm.total_mass))


def test_convert_keeps_the_torques(capsys, tmp_path):
    for name in ("there.toml", "there.urdf"):
        path = tmp_path / name
        assert forearm(capsys, "convert", "ur5e", path).code == 0
        said = forearm(capsys, "compare", "ur5e", path, "--json")
        assert said.code == 0
        assert said.json["same"]


def test_convert_says_how_to_leave_out_what_urdf_cannot_say(capsys):
    said = forearm(capsys, "convert", "puma560", "-", "--to", "urdf")
    assert said.code == 2
    assert "arm 'puma560': URDF cannot say the rotor inertia of 'waist'" in said.err
    assert "Say --lossy to leave it out, or write TOML" in said.err
    assert "lossy=True" not in said.err
    assert forearm(capsys, "convert", "puma560", "-", "--to", "urdf", "--lossy").code == 0


def test_derive_by_an_unknown_paper_names_the_nearest(capsys):
    said = forearm(capsys, "derive", "rr", "--formulation", "luh_walker")
    assert said.code == 2
    nearest = "(did you mean 'luh_walker_paul_1980'?); give one of uicker_kahn_1969, waters_1979"
    assert f"no formulation 'luh_walker' that gives joint torques {nearest}" in said.err


def test_torque_of_a_state(capsys):
    said = forearm(
        capsys, "torque", "rr", "--q", 0.4, -1.1, "--qd", 0.7, 1.3, "--qdd", -0.5, 2.1, "--terms", "--json"
    ).json
    want = fa.inverse_dynamics(fa.load("rr"), [0.4, -1.1], [0.7, 1.3], [-0.5, 2.1])
    assert_close(said["tau"], want)
    terms = ("inertial", "centrifugal", "coriolis", "gravity", "rotor", "friction")
    assert_close(np.sum([said[name] for name in terms], axis=0), want)


@pytest.mark.parametrize(
    ("words", "absent", "sentence"),
    [
        ((), ["q", "qd", "qdd"], "note: q, qd and qdd not given: taken as zero\n"),
        (("--q", 0.4, -1.1), ["qd", "qdd"], "note: qd and qdd not given: taken as zero\n"),
        (("--q", 0.4, -1.1, "--qd", 1, 1), ["qdd"], "note: qdd not given: taken as zero\n"),
        (("--q", 0, 0, "--qd", 0, 0, "--qdd", 0, 0), [], ""),
    ],
)
def test_torque_says_what_it_took_as_zero(capsys, words, absent, sentence):
    said = forearm(capsys, "torque", "rr", *words)
    assert said.err == sentence
    assert "zero" not in said.out
    for more in ((), ("--summary",)):
        told = forearm(capsys, "torque", "rr", *words, "--json", *more)
        assert told.err == ""
        assert told.json["assumed_zero"] == absent
    assert forearm(capsys, "torque", "rr", *words, "--quiet").err == ""


@pytest.mark.parametrize("stem", ["luh_walker_paul_1980", "horn_raibert_1978"])
def test_torque_by_a_paper(capsys, stem):
    words = ("torque", "puma560", "--rigid", "--q", 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, "--json")
    by_paper = forearm(capsys, *words, "--formulation", stem).json["tau"]
    assert_close(by_paper, forearm(capsys, *words).json["tau"], eps=256, because="strobing adds up a matrix")
    said = forearm(capsys, "torque", "puma560", "--formulation", stem)
    assert said.code == 2
    assert "add --rigid" in said.err


def test_torque_of_a_motion(capsys, tmp_path):
    motion, torques, picture = (tmp_path / name for name in ("motion.csv", "tau.csv", "tau.png"))
    motion.write_text(MOTION)
    said = forearm(capsys, "torque", "rr", motion, "-o", torques, "--plot", picture)
    assert said.code == 0
    assert "no qd and no qdd: worked out by a cubic spline" in said.err
    got = np.loadtxt(torques, delimiter=",", skiprows=1)
    assert torques.read_text().startswith("t,tau1,tau2\n")
    t = got[:, 0]
    q, qd, qdd = (
        np.outer(x, [2, -1]) for x in (t**2, 2 * t, 2 + 0 * t)
    )  # the spline meets parabolas exactly
    assert_close(
        got[:, 1:],
        fa.inverse_dynamics(fa.load("rr"), q, qd, qdd),
        eps=4096,
        because="a spline's second derivative",
    )
    assert picture.read_bytes()[:4] == b"\x89PNG"


def test_torque_reads_stdin_and_names(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("q_waist,q_shoulder,q_elbow,q4,q5,q6\n0,0.5,0,0,0,0\n"))
    said = forearm(capsys, "torque", "puma560", "-", "--json")
    assert_close(said.json["tau"], fa.gravity_torque(fa.load("puma560"), [[0, 0.5, 0, 0, 0, 0]]))
    assert said.json["notes"] == [
        "stdin has no qd and no qdd, and no times to work them out from: taken as zero"
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"stdin:1: the file is empty: 0 rows of numbers; expected a header"),
        ("t,q1\n0,1\n", r"stdin:1: no column q2; give a header with q1 … q2"),
        ("q1,q2\n", r"stdin:1: 0 rows of numbers; expected a header and a row for each instant"),
        ("q1,q2\n1,2\n3,x\n", r"stdin:3: column 'q2' holds 'x'; expected a number"),
        ("q1,q2\n1,nan\n", r"stdin:2: column 'q2' is nan; expected a finite number"),
        ("t,q1,q2\n0,1,1\n2,1,1\n1,1,1\n3,1,1\n", r"stdin:4: t is 1 s after 2 s; expected rising times"),
    ],
)
def test_a_bad_motion_is_told_by_line(capsys, monkeypatch, text, message):
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    said = forearm(capsys, "torque", "rr", "-")
    assert said.code == 2
    assert __import__("re").search(message, said.err), said.err


def test_summary_is_what_a_motor_has_to_give(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(MOTION))
    said = forearm(capsys, "torque", "rr", "-", "--summary", "--payload", 1, "--json").json
    assert said["rows"] == 8
    assert all(row["peak"] >= row["rms"] > 0 for row in said["joints"])


def test_simulate_brings_the_arm_to_its_goal(capsys, tmp_path):
    out = tmp_path / "motion.csv"
    words = ("simulate", "rr", "--q0", 0.4, -1.1, "--goal", 0.1, 0.2)
    assert forearm(capsys, *words, "-o", out).code == 0
    assert_close(
        np.loadtxt(out, delimiter=",", skiprows=1)[-1, 1:3], [0.1, 0.2], eps=1e9, because="feedback at 1e-6"
    )
    aware = forearm(capsys, *words, "--payload", 2, "--json").json
    unaware = forearm(capsys, *words, "--payload", 2, "--unaware", "--json").json
    miss = [np.max(np.abs(np.array(run["q"])[-1] - [0.1, 0.2])) for run in (aware, unaware)]
    assert miss[0] < 1e-6 < 1e-2 < miss[1]


def test_verify_fails_aloud(capsys, monkeypatch):
    """A formulation made wrong on purpose is found, named, and the exit code says so."""
    module = FORMULATIONS["newton_euler_notes"].module
    right = module.joint_torques
    monkeypatch.setattr(module, "joint_torques", lambda *a, **k: 1.001 * right(*a, **k))
    said = forearm(capsys, "verify", "rr", "--states", 1)
    assert said.code == 1
    assert "FAIL: all agree on torques: newton_euler_notes" in said.out


def test_check_fails_for_impossible_numbers(capsys):
    said = forearm(capsys, "check", "puma560", "--json")
    assert said.code == 1
    assert {f["link"] for f in said.json["findings"] if f["level"] == "error"} == {1, 3}


@pytest.mark.parametrize("library", ["pinocchio", "mujoco"])
def test_compare_asks_other_libraries(capsys, library):
    pytest.importorskip(library)
    file = Path(__file__).parents[1] / "peers" / "descriptions" / "ur5e.urdf"
    said = forearm(capsys, "compare", file, library, "--rigid", "--json")
    assert said.json["terms"], said.err
    assert said.code == (0 if said.json["same"] else 1)
    if library == "pinocchio":
        assert said.json["same"], said.json["verdict"]
    said = forearm(capsys, "compare", "rr", library)
    assert said.code == 2
    assert f"compare: {library} reads URDF" in said.err


def test_compare_names_the_cause(capsys, tmp_path):
    other = tmp_path / "other.toml"
    arm = fa.load("ur5e")
    fa.write_toml(arm.replace(gravity=(0.0, 0.0, 9.81)), other)
    said = forearm(capsys, "compare", "ur5e", other)
    assert said.code == 1
    assert "gravity" in said.out.splitlines()[0]


def test_derive_writes_latex(capsys, tmp_path):
    path = tmp_path / "rr.tex"
    assert forearm(capsys, "derive", "rr", "--symbolic", "--as", "document", "-o", path).code == 0
    assert r"\documentclass" in path.read_text()
    assert forearm(capsys, "derive", "rr", "--symbolic", "--json").json["M"][1][1] == str(
        fa.derive(__import__("forearm.derivation").derivation.symbolic(fa.load("rr"))).M[1, 1]
    )


@pytest.mark.parametrize("stem", FORMULATIONS)
def test_every_formulation_can_be_cited(capsys, stem):
    said = forearm(capsys, "cite", stem)
    assert said.out.startswith(f"{stem}: ")
    assert "Equation numbers" not in said.out
    entries = forearm(capsys, "cite", stem, "--bibtex").out
    assert entries.startswith("@"), f"no entry of bibliography.bib has the keyword {stem}"
    assert entries.count("{") == entries.count("}")


def test_emit_c_compiles_by_its_self_test(capsys, tmp_path):
    said = forearm(capsys, "emit", "rr", "-o", tmp_path / "c", "--functions", "mass_matrix", "--json")
    assert [path.rsplit("/")[-1] for path in said.json["written"]] == ["rr.h", "rr.c", "rr_selftest.c"]


def test_cache_can_be_listed_and_cleared(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("FOREARM_CACHE", str(tmp_path / "kernels"))
    fa.inverse_dynamics(fa.load("rr"), [0, 0], [0, 0], [0, 0])
    listed = forearm(capsys, "cache", "list", "--json").json
    assert listed["folder"] == str(tmp_path / "kernels")
    assert any("rr" in row["name"] for row in listed["kernels"])
    assert "inverse_dynamics" in forearm(capsys, "cache", "list").out
    assert forearm(capsys, "cache", "clear", "--json").json["deleted"] == len(listed["kernels"])
    assert forearm(capsys, "cache", "list", "--json").json["kernels"] == []
    for words in (("cache", "burn"), ("cache", "list", "all"), ("cache", "clear", "--hard")):
        assert forearm(capsys, *words).code == 2


def test_doctor_finds_a_sick_compiler(capsys, monkeypatch):
    assert all(
        row["verdict"] in ("PASS", "none") for row in forearm(capsys, "doctor", "--json").json["tests"]
    )

    def sick(name):
        raise OSError(f"the compiler for {name} is unwell")

    monkeypatch.setattr("forearm.cli.diagnosis._target", sick)
    said = forearm(capsys, "doctor")
    assert said.code == 1
    assert all(f"the compiler for {name} is unwell" in said.out for name in ("cpu", "cuda", "wasm"))


def test_bench_tells_its_boundary(capsys):
    told = forearm(capsys, "bench", "rr", "--batch", 100, "--seconds", 0.001, "--threads", 2, "--json").json
    assert told["boundary"] == "around the Python call, arrays ready"
    assert [row["what"].partition(",")[0] for row in told["rows"]][:3] == [
        "first call",
        "one state",
        "batch of 100",
    ]
    assert json.dumps(told["machine"])


def test_three_rows_are_too_few_for_a_spline(capsys, tmp_path):
    motion = tmp_path / "short.csv"
    motion.write_text("t,q1,q2\n0,0,0\n0.1,0.1,0.2\n0.2,0.3,0.3\n")
    said = forearm(capsys, "torque", "rr", motion)
    assert said.code == 0
    assert "no qd and no qdd, and fewer than four rows to work them out from: taken as zero" in said.err
