"""docs/feedback.md is what its results say, and the results are what the experiment gives."""

import json

import numpy as np
import pytest

import forearm as fa
from house.pages import ROOT, script

PAGE = script("make_feedback")
FOUND = json.loads(PAGE.RESULTS.read_text(encoding="utf-8"))


def run_of(**wanted):
    (row,) = PAGE.chosen(FOUND, **wanted)
    return row


def test_the_page_is_what_the_results_say():
    assert PAGE.PAGE.read_text(encoding="utf-8") == PAGE.page(FOUND), "run python docs/make_feedback.py"


@pytest.mark.parametrize(("duration", "frequency"), [(8.0, 20.0), (0.5, 20.0)])
def test_the_experiment_gives_these_results(duration, frequency, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    from corrective_torque import measured

    kept = run_of(drives=False, whole=False, duration=duration, frequency=frequency)
    again = measured(fa.load("puma560").without_drives(), duration, frequency)
    for name in ("corrective", "missing", "torque", "error_deg"):
        np.testing.assert_allclose(again[name], kept[name], rtol=1e-6, atol=1e-12)


def test_the_corrective_torque_is_the_missing_term_whatever_the_gain():
    for frequency in (10.0, 20.0, 40.0, 80.0):
        row = run_of(drives=False, whole=False, duration=2.0, frequency=frequency)
        np.testing.assert_allclose(row["corrective"][:3], row["missing"][:3], rtol=0.12)
    stiff = run_of(drives=False, whole=False, duration=2.0, frequency=80.0)
    np.testing.assert_allclose(stiff["corrective"][:3], stiff["missing"][:3], rtol=0.01)


def test_it_grows_with_the_square_of_the_speed_and_the_error_falls_with_that_of_the_gain():
    rows = [run_of(drives=False, whole=False, duration=d, frequency=20.0) for d in (8.0, 4.0, 2.0)]
    slope = np.polyfit(np.log([r["speed"] for r in rows]), np.log([r["corrective"][2] for r in rows]), 1)[0]
    assert slope == pytest.approx(2.0, abs=0.05)
    rows = [run_of(drives=False, whole=False, duration=2.0, frequency=f) for f in (20.0, 40.0, 80.0)]
    slope = np.polyfit(np.log([r["frequency"] for r in rows]), np.log([r["error_deg"] for r in rows]), 1)[0]
    assert slope == pytest.approx(-2.0, abs=0.1)


def test_with_the_whole_model_there_is_nothing_to_correct():
    for row in PAGE.chosen(FOUND, whole=True):
        assert max(row["corrective"]) < 1e-6 * max(row["torque"])


def test_claims_of_the_page():
    fast = run_of(drives=False, whole=False, duration=0.5, frequency=20.0)
    driven = run_of(drives=True, whole=False, duration=0.5, frequency=20.0)
    assert PAGE.shares(fast)[2] > 1.0  # more than the motion itself takes
    assert PAGE.shares(driven)[2] < 0.3
    held = {(r["duration"], r["whole"]): r["error_deg"] for r in FOUND["sampled"]}
    assert held[0.5, False] > 5 * held[0.5, True]
    assert all(r["frequency"] < FOUND["rate"] for r in FOUND["sampled"])  # what is stiffer is unstable


@pytest.mark.parametrize(("product", "stable"), [(0.99, True), (1.01, False)])
def test_a_critically_damped_loop_is_unstable_from_one_radian_a_sample_on(product, stable):
    """Position and speed from one sample to the next, acceleration -w² x - 2 w v held between."""
    w, dt = product, 1.0
    step = [[1 - w**2 * dt**2 / 2, dt - w * dt**2], [-(w**2) * dt, 1 - 2 * w * dt]]
    assert bool(max(abs(np.linalg.eigvals(step))) < 1) is stable
