"""The demo: its parts are right, and in a real browser its report is whole at any width."""

import json
import re

import numpy as np
import pytest

import forearm as fa
from browsers import chromium, listen
from close import assert_close
from forearm.demo import control, run_demo, task
from forearm.page import evidence
from report.test_page import read

WHY = "the gripper points where it should to Newton's last step"


@pytest.fixture(scope="module")
def arm():
    return task.the_arm()


@pytest.fixture(scope="module")
def parts(arm):
    return task.phases(arm)


def test_the_gripper_is_where_it_takes_and_puts(arm, parts):
    reach, carry, back = parts
    for q, place in (
        (reach.points[-1], task.PICK),
        (carry.points[-1], task.PLACE),
        (back.points[0], task.PLACE),
    ):
        assert_close(fa.pose(arm, q)[:3, 3], place, eps=1e6, because=WHY)


def test_the_motion_is_smooth_and_within_limits(arm, parts):
    t, q, qd, qdd = task.sampled(parts, 0.005)
    low, high = np.array([link.limits for link in arm.links]).T
    assert np.all((q > low) & (q < high))
    assert_close(np.gradient(q, t, axis=0)[1:-1], qd[1:-1], eps=1e13, because="a difference quotient")
    assert np.max(np.abs(np.diff(qd, axis=0) - 0.005 * qdd[:-1])) < 5e-3 * np.max(np.abs(qdd))
    for part in parts:
        for end in (part.start, part.end):
            assert_close(np.array(part(end)[1:]), np.zeros((2, 6)), scale=1e3)


def test_a_place_out_of_reach_is_told(arm):
    with pytest.raises(fa.StateFault, match=r"demo: arm 'puma560' does not reach \(3.0, 0.0, 0.0\)"):
        task.reached(arm, (3.0, 0.0, 0.0), np.eye(3), np.zeros(6))


def test_formulations_agree_along_the_motion(arm, parts):
    _, q, qd, qdd = task.sampled(parts, 1.0)
    rows = evidence.agreement(arm, q, qd, qdd)
    assert {row.name for row in rows} == {
        s for s, f in fa.FORMULATIONS.items() if "joint_torques" in f.gives
    } | {"oracle"}
    assert all(row.verdict == "PASS" for row in rows)
    assert evidence.Agreement("x", "", 1e-3, 1.0).verdict == "FAIL"


@pytest.fixture(scope="module")
def short(arm, parts):
    """The carry alone, its first tenth."""
    first = parts[1]
    points = np.array([first(first.start + s)[0] for s in np.linspace(0, 0.24, 4)])
    return [task.Phase("carry", 0.0, 0.24, points, True)]


def test_a_controller_that_knows_its_load_follows(arm, short):
    known, unknown = (control.run(arm, short, believes_in_load=b) for b in (True, False))
    assert np.max(np.abs(known.error)) < 1e-3 < np.max(np.abs(unknown.error))


def test_energy_is_accounted_for(arm, short):
    run = control.run(arm, short, believes_in_load=False)
    total = run.kinetic + run.potential
    missed = total - total[0] - run.work + run.dissipated
    assert np.max(np.abs(missed)) < 1e-6 * np.max(np.abs(run.work) + run.kinetic + 1e-3)
    assert np.all(np.diff(run.dissipated) >= -1e-12)


# -- the whole, and in a browser ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    said = []
    found = run_demo(tmp_path_factory.mktemp("demo"), said.append)
    assert any("open it in a browser" in line for line in said)
    return found


@pytest.mark.more
def test_the_demo_does_the_main_job(result):
    assert result.agreed
    told = json.loads((result.report.parent / "demo.json").read_text())
    assert max(told["agreement"].values()) < 1e-13
    assert told["largest_error_rad"]["load known"] < 1e-3 < told["largest_error_rad"]["load unknown"]
    assert max(told["energy_missed_J"].values()) < 1e-5
    html = result.report.read_text(encoding="utf-8")
    read(html)
    assert len(html) < 3_000_000
    links = [x for x in re.findall(r"https?://[^\"' <)]+", html) if "w3.org" not in x]
    assert links == [], "the report needs no network"


@pytest.mark.more
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1400])
def test_the_report_in_a_browser(result, width, scheme, tmp_path):
    with chromium() as browser:
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        heard = []
        listen(page, heard)
        page.goto(result.report.as_uri())
        assert heard == [result.report.as_uri()], "one file, nothing else, and no word"
        assert page.evaluate("document.documentElement.scrollWidth") <= width, "the page scrolls sideways"
        shown = {
            f.get_attribute("id"): f.query_selector("svg").bounding_box()
            for f in page.query_selector_all("figure")
        }
        assert set(shown) == {"torque", "terms", "cost", "speed", "tracking", "energy"}
        for name, box in shown.items():
            assert box["width"] > 0.4 * min(width, 1100), name
            assert box["x"] + box["width"] <= width, name
        assert page.query_selector(".hero svg").bounding_box()["height"] > 150
        columns = len({round(box["x"]) for box in shown.values()})
        assert columns == 1 if width < 900 else columns > 1
        assert page.screenshot(path=tmp_path / "report.png", full_page=True)[:4] == b"\x89PNG"
