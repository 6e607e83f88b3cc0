"""Logs whose rows are wrong: what is said is what happened, and what to do about it helps."""

import numpy as np
import pytest

import forearm as fa
from forearm.motion.motion_files import write_columns
from identification.synthetic import log_of, motion_of, somewhat_wrong, with_drives

TRUE = with_drives(fa.load("ur5e"))
START = somewhat_wrong(TRUE)
NAMES = TRUE.joint_names


@pytest.fixture(scope="module")
def whole():
    return log_of(TRUE, motion_of(TRUE, seed=1), rate=200.0)


@pytest.fixture
def log(whole):
    return {name: values.copy() for name, values in whole.items()}


def file_of(log, path):
    columns = {"t": log["t"]}
    columns |= {f"q{i + 1}": log["q"][:, i] for i in range(6)} | {
        f"tau{i + 1}": log["tau"][:, i] for i in range(6)
    }
    write_columns(path, columns)
    return path


def test_one_joint_in_newton_millimetres_is_not_called_pound_feet(log):
    log["tau"][:, 1] *= 1000
    with pytest.raises(fa.StateFault, match=rf"by these factors: {NAMES[1]} [\d.e+]+\. In N mm\? Give N m"):
        fa.identify(START, log)


def test_kilogram_metres_may_be_those_or_motors(log):
    log["tau"] /= 9.81
    with pytest.raises(fa.StateFault, match=r"In kgf m\? Give N m\. On the motors' side"):
        fa.identify(START, log)


def test_half_a_second_is_too_short_and_not_of_the_wrong_sign(log):
    short = {name: values[:100] for name, values in log.items()}
    with pytest.raises(fa.StateFault, match=r"lasts 0\.49 s; .* some seconds"):
        fa.identify(START, short)


def test_milliseconds_taken_for_seconds_are_asked_about(log, tmp_path):
    log["t"] = 1000 * log["t"]
    with pytest.raises(
        fa.StateFault, match=r"rows are 5 s apart.*In ms\? .* time_unit='ms' \(--time-unit ms\)"
    ):
        fa.identify(START, file_of(log, tmp_path / "log.csv"))
    with pytest.raises(fa.StateFault, match=r"rows are 5 s apart.*In ms\? Give t in seconds"):
        fa.identify(START, log)


def test_one_wrong_reading_is_named(log):
    log["tau"][300, 2] = 1e6
    with pytest.raises(fa.StateFault, match=rf"tau of joint '{NAMES[2]}' is 1e\+06 at 1\.5 s.*wrong reading"):
        fa.identify(START, log)
    log["tau"][300, 2] = log["tau"][299, 2]
    log["q"][301, 0] = -500.0
    with pytest.raises(
        fa.StateFault, match=rf"q of joint '{NAMES[0]}' is -500 at 1\.505 s.*Leave that row out"
    ):
        fa.identify(START, log)


def test_swapped_columns_of_torques_are_named(log):
    log["tau"][:, [0, 1]] = log["tau"][:, [1, 0]]
    with pytest.raises(fa.StateFault, match=rf"torques of {NAMES[0]} look like those of {NAMES[1]}"):
        fa.identify(START, log)


def test_positions_of_motors_in_a_file_are_not_called_degrees_alone(log, tmp_path):
    log["q"], log["tau"] = 100 * log["q"], log["tau"] / 100
    path = file_of(log, tmp_path / "motors.csv")
    with pytest.raises(fa.StateFault, match=r"In degrees\? .* Positions of motors before their gears\?"):
        fa.identify(START, path)
    assert fa.identify(START, path, coupling=np.full(6, 100.0)).residuals.train_total < 0.05


def test_swapped_columns_of_small_wrists_are_named(log):
    """Friction is nearly all of them; they were accepted, with a warning about the geometry or with none."""
    log["tau"][:, [4, 5]] = log["tau"][:, [5, 4]]
    with pytest.raises(fa.StateFault, match=rf"torques of {NAMES[4]} look like those of {NAMES[5]}.*swapped"):
        fa.identify(START, log)


def test_swapped_columns_of_positions_are_not_called_another_sign(log):
    log["q"][:, [0, 1]] = log["q"][:, [1, 0]]
    with pytest.raises(fa.StateFault, match=rf"where positions of {NAMES[0]} and {NAMES[1]} change places"):
        fa.identify(START, log)


def test_a_light_wrist_in_another_unit_is_beyond_its_drive(log):
    log["tau"][:, 5] *= 3000  # counts of a converter
    with pytest.raises(fa.StateFault, match=rf"'{NAMES[5]}' goes to .* N m, its limit is 28: .* N mm"):
        fa.identify(START, log)


def test_a_wrist_turned_round_is_mended_where_only_friction_tells(log):
    log["tau"][:, 5] *= -1
    with pytest.raises(fa.StateFault, match=rf"{NAMES[5]} have the other sign .*friction would drive it"):
        fa.identify(START, log)
    found = fa.identify(START, log, mend="sign")
    assert any("turned round: joints 6" in note for note in found.notes)
    assert found.residuals.train[5] < 0.3


def test_a_joint_that_nothing_explains_is_warned_of(log):
    """A joint in another unit came out with nine tenths of its torque left, and no word about it."""
    log["tau"][:, 4] = np.random.default_rng(1).normal(size=len(log["t"])).cumsum() * 0.01
    found = fa.identify(START, log, check=False)
    assert any(f"leaves this much of a joint's torque: {NAMES[4]}" in note for note in found.notes)


def test_columns_of_objects_were_a_raw_error(log):
    given = {name: values.astype(object) for name, values in log.items()}
    assert str(fa.watch(TRUE, given)) == str(fa.watch(TRUE, log))
