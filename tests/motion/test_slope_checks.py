"""Speeds that are not those of a log's positions: said, with what it looks like."""

import re

import numpy as np
import pytest

import forearm as fa
from forearm.motion.motion_files import read_motion, write_motion
from forearm.motion.motions import Samples
from forearm.motion.slope_checks import lag_notes, slope_notes

arm = fa.load("generic_3r")
t = np.linspace(0.0, 2.0, 401)
w, phase = np.array([1.0, 2.3, 3.1]), np.array([0.3, 1.0, 2.0])
q, qd, qdd = (0.6 * w**k * np.sin(np.outer(t, w) + phase + k * np.pi / 2) for k in range(3))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (np.degrees(qd), r"joint1, joint2, joint3 is not the slope of q, but 57.3 times it \(degrees\?\)"),
        (-qd, r"but -1 times it \(the other sign\?\)"),
        (qd / 1000, r"but 0.001 times it \(another unit of time\?\)"),
        (qd[:, [1, 0, 2]], "joint1, joint2 is not the slope of q;"),
        (qd * 0, "joint1, joint2, joint3 is not the slope of q"),
    ],
)
def test_speeds_in_another_unit_or_order_were_taken_without_a_word(tmp_path, given, told):
    path = write_motion(Samples(t, q, given, qdd), arm, tmp_path / "log.csv")
    assert re.search(told, "\n".join(read_motion(path, arm).notes))


def test_speeds_of_these_positions_are_taken_without_a_word(tmp_path):
    rng = np.random.default_rng(0)
    rough = [qd, qd + 0.3 * rng.normal(size=qd.shape), qd + 0.05, np.round(qd, 2)]
    for speeds in rough:
        assert not slope_notes(t, arm.joint_names, q, speeds)
        assert not slope_notes(t, arm.joint_names, q + 1e-3 * rng.normal(size=q.shape), speeds)
    path = write_motion(Samples(t, q, qd, qdd), arm, tmp_path / "log.csv")
    assert read_motion(path, arm).notes == ()


def test_a_joint_that_stands_still_says_nothing():
    still = q * [1, 0, 1]
    assert not slope_notes(t, arm.joint_names, still, qd * [1, 0, 1])
    noise = 1e-4 * np.random.default_rng(1).normal(size=t.shape)
    assert not slope_notes(t, arm.joint_names, still, qd * [1, 0, 1] + np.outer(noise, [0, 1, 0]))
    assert "joint2" in slope_notes(t, arm.joint_names, still, qd)[0]


@pytest.mark.parametrize("lag", [0.01, -0.005, 0.004])
def test_speeds_that_a_controller_filtered_came_late_without_a_word(lag, tmp_path):
    """Torques took them as they were; what lags less than two milliseconds, or hardly matters, gets no word."""
    t, rng = np.arange(0, 4, 2e-3), np.random.default_rng(0)
    rates = np.array([1.0, 2.0, 3.0])
    q = np.sin(rates * t[:, None])

    def late(by):
        return rates * np.cos(rates * (t[:, None] - by)) + 1e-3 * rng.normal(size=q.shape)

    (note,) = lag_notes(t, q + 1e-4 * rng.normal(size=q.shape), late(lag))
    when = "later" if lag > 0 else "earlier"
    assert note.startswith(
        f"WARNING: qd comes {abs(lag) * 1e3:g} ms {when} than q (filtered before it was logged?)"
    )
    assert not lag_notes(t, q, late(1e-3))
    assert not lag_notes(20 * t, q, late(5e-4) / 20)
    assert not lag_notes(t, q, np.degrees(late(0.0)))
    csv = tmp_path / "log.csv"
    titles = ",".join(["t", *(f"{kind}{i}" for kind in ("q", "qd", "qdd", "tau") for i in (1, 2))])
    rows = [t[:, None], q[:, :2], late(lag)[:, :2], -(rates**2 * q)[:, :2], q[:, :2]]
    np.savetxt(csv, np.hstack(rows), delimiter=",", header=titles, comments="", fmt="%.12g")
    assert note in read_motion(csv, fa.load("rr")).notes
    assert note in fa.compare(fa.load("rr"), csv, patience=0.1).notes
    assert note in fa.stream(fa.load("rr"), "inverse_dynamics", csv, tmp_path / "tau.npy").notes


@pytest.mark.parametrize("digits", [None, 9, 4])
@pytest.mark.parametrize("curve", [[0.3, 0.0, 0.0], [0.3, 0.4, 0.0], [0.3, 0.4, -0.5]])
def test_rest_even_speed_and_even_acceleration_were_called_slopes_of_something_else(curve, digits, tmp_path):
    """Beside their line such columns are digits that were lost, and those were held against each other."""
    arm, share = fa.load("rr"), np.array([1.0, -0.7])
    rows = [np.outer(np.polyval(np.polyder(curve[::-1], k), t), share) for k in range(3)]
    rows = [x if digits is None else x.round(digits) for x in rows]
    path = write_motion(Samples(t, *rows), arm, tmp_path / "log.csv")
    notes = (*read_motion(path, arm).notes, *fa.feasible(arm, Samples(t, *rows)).notes)
    assert "WARNING" not in " ".join(notes)
    noise = 1e-5 * np.random.default_rng(0).normal(size=rows[0].shape)
    assert not slope_notes(t, arm.joint_names, rows[0] + noise, rows[1])
    assert not slope_notes(t, arm.joint_names, rows[0] + noise, rows[1] + 30 * noise[::-1])


def test_a_joint_that_moves_while_its_speed_says_rest_is_told_beside_joints_that_rest():
    (note,) = slope_notes(t, arm.joint_names, q * [0, 1, 0], qd * 0)
    assert "qd of joint2 is not the slope of q" in note
    (note,) = slope_notes(t, arm.joint_names, q * 0 + t[:, None], qd * [1, 0, 0] + 1)
    assert "qd of joint1 is not the slope of q" in note


@pytest.mark.parametrize(("even", "said"), [(0.0, 3.0), (0.3, 0.0), (0.3, 17.0)])
def test_an_even_speed_that_is_not_the_one_of_the_positions_is_told(even, said):
    rows = [np.outer(even * t, [1, 1, 0]) + 0.1, np.full((len(t), 3), said) * [1, 1, 0]]
    (note,) = slope_notes(t, arm.joint_names, *rows)
    assert "qd of joint1, joint2 is not the slope of q;" in note
