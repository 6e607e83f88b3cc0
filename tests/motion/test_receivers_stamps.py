"""Rows that were stamped when they came: a few of them made torques of any size, without a word."""

import numpy as np
import pytest

import forearm as fa
from forearm.motion.differentiation import times_taken
from forearm.motion.motion_files import read_motion

TITLES = ",".join(["t", *(f"q{i}" for i in range(1, 7))])


def written(path, t, q):
    np.savetxt(path, np.column_stack([t, q]), delimiter=",", header=TITLES, comments="", fmt="%.9f")
    return path


def test_rows_that_came_two_at_once_were_torques_of_thousands(tmp_path, moving):
    arm, t, q = moving
    late = t.copy()
    late[100::200] = late[101::200] - 2e-5
    right = read_motion(written(tmp_path / "right.csv", t, q), arm)
    found = read_motion(written(tmp_path / "late.csv", late, q), arm)
    assert any("stamped when they were received" in note for note in found.notes)
    assert not any("stamped" in note for note in right.notes)
    inner = slice(50, -50)
    apart = np.abs(found.samples.qdd - right.samples.qdd)[inner]
    assert np.max(apart) < 0.01 * np.max(np.abs(right.samples.qdd))


@pytest.mark.parametrize("rows", [12, 60, 300, 2000])
@pytest.mark.parametrize("pace", ["bang bang", "sine", "any"])
def test_even_places_at_uneven_times_keep_their_times(moving, rows, pace):
    """A path of even places has its times from who timed it, and is no log of even times."""
    q = moving[2]
    s = np.linspace(0.0, 1.0, rows)
    if pace == "any":
        t = np.sort(np.random.default_rng(rows).uniform(0.0, 2.0, rows))
        places = np.stack([np.sin(3 * t), np.cos(2 * t)], axis=1)
    else:
        half = np.where(s < 0.5, np.sqrt(s / 2), 1 - np.sqrt((1 - s) / 2))
        t = half if pace == "bang bang" else np.arccos(1 - 2 * s)
        places = s[:, None] * (q[-1] - q[0])
    assert times_taken(t, places) == (pytest.approx(t, abs=0), [])


@pytest.fixture(scope="module")
def moving():
    arm, t = fa.load("ur5e"), np.arange(0.0, 6.0, 0.002)
    angles = np.multiply.outer(t, np.linspace(1.0, 2.0, 6)) + np.arange(6)
    return arm, t, 0.8 * np.sin(angles)
