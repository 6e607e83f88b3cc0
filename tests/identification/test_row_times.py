"""Rows that were stamped late, stood still or count angles anew: told from pushes, or refused."""

import numpy as np
import pytest

import forearm as fa
from forearm.motion.differentiation import times_taken
from identification.synthetic import log_of, motion_of, somewhat_wrong, with_drives

RATE = 500.0


@pytest.fixture(scope="module")
def case():
    true = with_drives(fa.load("ur5e"))
    return true, log_of(true, motion_of(true, duration=12.0, seed=3), rate=RATE)


def jittered(t):
    """Stamps of a receiver that is busy now and then."""
    return np.maximum.accumulate(t + np.random.default_rng(1).exponential(0.5 / RATE, len(t))) + 1e-8 * t


def in_pairs(t):
    """A row in five hundred comes with the next."""
    late = np.arange(100, len(t) - 2, 500)
    t[late] = t[late + 1] - 2e-5
    return t


def stalled(t):
    """Twenty rows at once after a pause, now and then."""
    for k in range(200, len(t) - 21, 700):
        t[k : k + 20] = t[k + 20] - 5e-5 * np.arange(20, 0, -1)
    return t


@pytest.mark.parametrize("stamped", [jittered, in_pairs, stalled])
def test_rows_that_were_stamped_when_they_came_were_pushes_and_other_rotors(case, stamped):
    true, log = case
    late = log | {"t": stamped(log["t"].copy())}
    watched = fa.watch(true, late)
    assert watched.pushes == ()
    assert any("stamped when they were received" in note for note in watched.notes)
    found, right = (fa.identify(somewhat_wrong(true), x) for x in (late, log))
    for link, other in zip(found.arm.links[:3], right.arm.links[:3], strict=True):
        assert abs(link.drive.rotor_inertia - other.drive.rotor_inertia) < 0.1 * other.drive.rotor_inertia
    assert found.residuals.train_total < 1.5 * right.residuals.train_total


@pytest.mark.parametrize("lost", [0.0, 0.2])
def test_rows_that_are_uneven_or_lost_keep_their_stamps(case, lost):
    true, _ = case
    log = log_of(true, motion_of(true, duration=12.0, seed=3), rate=RATE, jitter=0.0 if lost else 0.3)
    kept = np.random.default_rng(2).random(len(log["t"])) >= lost
    t, said = times_taken(log["t"][kept], log["q"][kept])
    assert said == []
    assert np.array_equal(t, log["t"][kept])


def test_an_arm_that_rests_has_the_times_of_its_stamps():
    t = jittered(np.arange(0.0, 2.0, 1 / RATE))
    assert times_taken(t, np.ones((len(t), 2))) == (t, [])


def held(log):
    log["q"][2000:2040], log["tau"][2000:2040] = log["q"][2000], log["tau"][2000]


def lost(log):
    for name in log:
        log[name] = np.delete(log[name], slice(2000, 2050), axis=0)
    log["t"] = np.arange(len(log["t"])) / RATE


@pytest.mark.parametrize("asked", [fa.watch, fa.identify, fa.identify_payload])
def test_angles_that_were_wrapped_to_one_turn_were_pushes_or_another_payload(case, asked):
    true, log = case
    log = {name: values.copy() for name, values in log.items()}
    log["q"][:, 0] -= np.median(log["q"][:, 0])
    log["q"][:, 0] %= 2 * np.pi
    with pytest.raises(fa.StateFault, match=r"position 1 jumps by .* a whole turn, .*numpy.unwrap"):
        asked(true, log)


@pytest.mark.parametrize("broken", [held, lost])
def test_rows_that_stood_still_or_were_lost_were_a_push_without_a_word(case, broken):
    true, log = case
    log = {name: values.copy() for name, values in log.items()}
    broken(log)
    assert any("rows that were lost or stood still" in note for note in fa.watch(true, log).notes)


def test_a_sound_log_has_no_jumps(case):
    true, log = case
    assert not any("jumps" in note or "stamped" in note for note in fa.watch(true, log).notes)
