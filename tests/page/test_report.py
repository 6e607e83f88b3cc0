"""The report of any motion of any arm."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import forearm as fa
from forearm.cli import main
from forearm.page.evidence import agreement
from forearm.simulation import Quintic, write_motion

FORK = Path(__file__).parents[2] / "examples" / "fork.urdf"


def test_a_report_of_a_small_arm(tmp_path):
    arm = fa.load("rr")
    found = fa.report(arm, Quintic([0.0, 0.0], [0.8, -0.5], 1.0))
    assert found.agreed
    assert found.passed
    html = found.html
    assert html.count("<iframe") == 1
    assert {"Torques", "Limits", "Agreement", "Operations", "Speed"} <= set(
        re.findall(r"<h2>(.*?)</h2>", html)
    )
    links = [x for x in re.findall(r"https?://[^\"' <)]+", html) if "w3.org" not in x]
    assert links == []
    assert found.save(tmp_path / "rr.html").stat().st_size < 3_000_000


def test_the_report_failed_a_motion_that_feasible_passes():
    motion = Quintic([0.0, 0.0], [0.8, -0.5], 1.0)
    peak = fa.feasible(fa.load("rr"), motion).loads[0].peak
    links = fa.load("rr").links
    arm = fa.load("rr").replace(links=(links[0].replace(effort_limit=peak / 1.0005), *links[1:]))
    found, judged = fa.report(arm, motion), fa.feasible(arm, motion)
    assert (found.passed, bool(judged)) == (True, True)
    assert found.excesses == judged.excesses == ()


def test_what_a_report_cannot_be_of():
    motion = Quintic([0.0, 0.0], [0.8, -0.5], 1.0)
    with pytest.raises(fa.StateFault, match="arm is a str 'rr'; give an Arm"):
        fa.report("rr", motion)
    with pytest.raises(fa.StateFault, match="report takes one chain"):
        fa.report(fa.load(FORK), motion)


def code(*words):
    """The exit code of a verb."""
    try:
        return main(list(map(str, words))) or 0
    except SystemExit as ended:
        return ended.code or 0


@pytest.mark.more
def test_the_verbs(tmp_path, capsys):
    """A prismatic arm that goes beyond its limits: said, and exit code 1; a wrong file gets its sentence."""
    arm = fa.load("stanford")
    path = write_motion(Quintic(np.full(6, 0.2), np.full(6, 3.0), 0.5), arm, tmp_path / "fast.csv")
    out = tmp_path / "report.html"
    assert code("report", "stanford", path, "-o", out) == 1
    assert "beyond its limit" in capsys.readouterr().err, "an exit code needs its sentence"
    assert "beyond its limit" in out.read_text(encoding="utf-8")
    assert code("view", "stanford", path, "-o", tmp_path / "arm.html") == 0
    capsys.readouterr()
    assert code("view", "stanford", out, "-o", tmp_path / "other.html") == 2
    assert "report.html" in capsys.readouterr().err
    slow = write_motion(Quintic([0.0, 0.0], [0.8, -0.5], 1.0), fa.load("rr"), tmp_path / "slow.csv")
    assert code("report", "rr", slow, "-o", tmp_path / "rr.html", "--json") == 0
    assert json.loads(capsys.readouterr().out)["passed"] is True
    assert code("view", "no_such_arm", "-o", tmp_path / "no.html") == 2
    assert "no_such_arm" in capsys.readouterr().err


def test_times_of_a_page_were_not_those_of_a_file_whose_clock_began_earlier(tmp_path, capsys):
    """`torque --summary` said 100.5 s of the same peak; where the page's zero is, nothing said."""
    motion = Quintic([0.0, 0.0], [0.8, -0.5], 1.0).sample(41)
    for first in (0.0, 100.0):
        log = write_motion(motion._replace(t=motion.t + first), fa.load("rr"), tmp_path / "log.csv")
        for verb, out in (("view", "view.html"), ("report", "report.html")):
            assert code(verb, "rr", log, "-o", tmp_path / out) == 0
            told = (
                "the page counts time from the first row, where the file has t = 100 s"
                in capsys.readouterr().err
            )
            assert told == (first > 0)
    assert "where the file has t = 100 s" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_report_of_a_motion_without_any_torque_divided_by_nothing():
    arm, rest = fa.load("rr").replace(gravity=(0.0, 0.0, -9.81)), np.zeros((2, 2))
    assert {row.verdict for row in agreement(arm, rest, rest, rest)} == {"PASS"}
