"""Rows of a log that are no positions of the motion, and positions with noise."""

import numpy as np
import pytest

import forearm as fa
from forearm.simulation import read_motion

RR = fa.load("rr")
T = 1e-3 * np.arange(3000)


def positions():
    return np.stack([np.sin(2 * T), 0.5 * np.cos(3 * T)], axis=1)


def read(tmp_path, q, *more):
    rows = np.column_stack([T, q, *more]).tolist()
    titles = ["t", "q1", "q2", "qd1", "qd2", "qdd1", "qdd2"][: len(rows[0])]
    lines = "\n".join(",".join(map(repr, row)) for row in rows)
    (tmp_path / "log.csv").write_text(f"{','.join(titles)}\n{lines}\n")
    return read_motion(tmp_path / "log.csv", RR)


def spoil(what):
    q = positions()
    if what == "zero":
        q[2000] = 0.0
    elif what == "spike":
        q[2000, 0] += 0.1
    else:
        q[2000:2050] = q[2000]
    return q


@pytest.mark.parametrize("what", ["zero", "spike", "stall"])
def test_a_row_that_jumps_gave_accelerations_of_any_size_without_a_word(tmp_path, what):
    assert not any("jumps by" in note for note in read(tmp_path, positions()).notes)
    found = read(tmp_path, spoil(what))
    assert np.abs(found.samples.qdd).max() > 1e4
    assert any("WARNING" in note and "position 1 jumps by" in note for note in found.notes)


def test_a_speed_that_jumps_is_told_too(tmp_path):
    qd = np.stack([2 * np.cos(2 * T), -1.5 * np.sin(3 * T)], axis=1)
    assert not any("jumps by" in note for note in read(tmp_path, positions(), qd).notes)
    qd[1000, 1] = 0.0
    assert any("speed 2 jumps by" in note for note in read(tmp_path, positions(), qd).notes)


@pytest.mark.parametrize("digits", [3, 12])
def test_noise_and_few_digits_are_no_jumps(tmp_path, digits):
    noise = 1e-4 * np.random.default_rng(0).normal(size=(len(T), 2))
    rest = np.where(T < 2.0, 0.0, T - 2.0)[:, None] * [0.05, 0.0]
    for q in (positions() + noise, rest, rest + noise):
        assert not any("jumps by" in note for note in read(tmp_path, q.round(digits)).notes)


@pytest.mark.parametrize("given", [False, True], ids=["q alone", "with speeds and accelerations"])
def test_the_motion_of_a_noisy_log_had_other_accelerations_than_its_samples(tmp_path, given):
    noise = 1e-4 * np.random.default_rng(0).normal(size=(len(T), 2))
    qd = np.stack([2 * np.cos(2 * T), -1.5 * np.sin(3 * T)], axis=1)
    qdd = np.stack([-4 * np.sin(2 * T), -4.5 * np.cos(3 * T)], axis=1)
    found = read(tmp_path, positions() + noise, *((qd, qdd) if given else ()))
    moved = found.motion.sample(T)
    assert np.abs(moved.qdd - qdd)[200:-200].max() < 0.3
    assert np.abs(moved.q - found.samples.q).max() < 1e-3
    assert any("motion between the rows goes through q" in note for note in found.notes)


def test_the_motion_of_a_smooth_log_goes_through_its_rows(tmp_path):
    found = read(tmp_path, positions())
    assert np.array_equal(found.motion.points, found.samples.q)
    assert not any("motion between the rows" in note for note in found.notes)
