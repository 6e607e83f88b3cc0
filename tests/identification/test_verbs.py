"""The verbs `identify` and `excite`."""

import pytest

import forearm as fa
from cli.verbs import forearm
from forearm.motion.motion_files import write_columns
from identification.synthetic import log_of, motion_of, somewhat_wrong, with_drives


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("logs")
    true = with_drives(fa.load("generic_3r"))
    fa.write_toml(somewhat_wrong(true), place / "start.toml")
    fa.write_toml(true, place / "true.toml")
    motion = motion_of(true, duration=10.0, seed=1)
    holding = true.with_payload(2.0, (0.0, 0.0, 0.05), frame="tool")
    for name, arm, seed in (("log", true, 0), ("other", true, 1), ("holding", holding, 2)):
        log = log_of(arm, motion, seed=seed)
        columns = {"t": log["t"]}
        for kind in ("q", "tau"):
            columns |= {f"{kind}{i}": log[kind][:, i - 1] for i in (1, 2, 3)}
        write_columns(place / f"{name}.csv", columns)
    return place


def test_identify(folder, tmp_path, capsys):
    out, page = tmp_path / "identified.toml", tmp_path / "report.html"
    words = ("--validate", folder / "other.csv", "-o", out, "--report", page)
    said = forearm(capsys, "identify", folder / "start.toml", folder / "log.csv", *words)
    assert said.code == 0
    assert "Base parameters" in said.out
    assert fa.load(out).has_drives
    assert "<svg" in page.read_text()
    again = forearm(capsys, "identify", folder / "start.toml", folder / "log.csv", "-o", out)
    assert again.code == 2
    assert "--force" in again.err


def test_identify_as_json(folder, capsys):
    said = forearm(capsys, "identify", folder / "start.toml", folder / "log.csv", "--json")
    assert said.json["residuals"]["train"]["consistent"][-1] < 0.05
    assert min(said.json["smallest_eigenvalues"]) > 0


def test_payload(folder, capsys):
    said = forearm(capsys, "identify", folder / "true.toml", folder / "holding.csv", "--payload", "--json")
    assert abs(said.json["mass"] - 2.0) < 0.2
    assert {"inertia_about_com"} == {
        key for key in said.json if "inertia" in key
    }  # the table's is about the tool


def test_gains_with_a_known_load(folder, tmp_path, capsys):
    true = fa.load(folder / "true.toml")
    motion = motion_of(true, duration=10.0, seed=1)
    holding = true.with_payload(5.0, (0.05, 0.05, 0.1), frame="tool")
    for name, arm in (("free", true), ("loaded", holding)):
        log = log_of(arm, motion, seed=3)
        columns = {"t": log["t"]} | {f"q{i}": log["q"][:, i - 1] for i in (1, 2, 3)}
        columns |= {f"current{i}": log["tau"][:, i - 1] / (2.0 * i) for i in (1, 2, 3)}
        write_columns(tmp_path / f"{name}.csv", columns)
    words = ("--loaded", tmp_path / "loaded.csv", "--load", "5", "0.05", "0.05", "0.1", "--json")
    said = forearm(capsys, "identify", folder / "start.toml", tmp_path / "free.csv", *words)
    assert all(abs(k / (2.0 * i) - 1) < 0.1 for i, k in enumerate(said.json["gains"], 1))
    wrong = forearm(capsys, "identify", folder / "start.toml", tmp_path / "free.csv", *words[:3], "5", "1")
    assert wrong.code == 2
    assert "4 (mass, centre) or 10" in wrong.err


def test_watch(folder, capsys):
    said = forearm(
        capsys, "watch", folder / "true.toml", folder / "log.csv", "--untouched", folder / "other.csv"
    )
    assert said.code == 0
    assert "0 pushes" in said.out
    told = forearm(
        capsys, "watch", folder / "true.toml", folder / "holding.csv", "--threshold", "0.5", "--json"
    )
    assert told.json["pushes"]


def test_a_refusal_says_what_to_do(folder, capsys):
    said = forearm(capsys, "identify", folder / "start.toml", folder / "log.csv", "--cutoff", "1e5")
    assert said.code == 2
    assert "give one below" in said.err


def test_excite(tmp_path, capsys):
    target = tmp_path / "motion.csv"
    said = forearm(capsys, "excite", "rr", target, "--generations", "5", "--duration", "4")
    assert said.code == 0
    assert "condition number" in said.out
    assert len(target.read_text().splitlines()) == 402


def test_a_motion_for_joints_without_limits_did_not_say_how_far_they_go(tmp_path, capsys):
    words = ("--generations", "1", "--duration", "4", "--json")
    said = forearm(capsys, "excite", "rr", tmp_path / "rr.csv", *words).json["notes"]
    assert said == ["no limits of position are known, and these are taken: q1, q2 ±π rad"]
    assert forearm(capsys, "excite", "stanford", tmp_path / "s.csv", *words).json["notes"] == []


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (("--rate", "nan"), "--rate is nan; give a positive number of rows"),
        (("--rate", "1e15"), "--rate 1e+15 in 10 s are 1e+16 rows; give 1e+08 at most"),
        (("--speed", "-1"), "speed is -1.0; give a positive number"),
    ],
)
def test_exciting_motions_that_cannot_be_are_no_bug_of_ours(capsys, tmp_path, asked, words):
    said = forearm(capsys, "excite", "rr", tmp_path / "x.csv", "--generations", "0", *asked)
    assert said.code == 2
    assert words in said.err


def test_watch_is_quiet_as_every_verb_is(capsys, folder):
    said = forearm(capsys, "watch", folder / "true.toml", folder / "log.csv", "--quiet")
    assert "thresholds" in said.out
