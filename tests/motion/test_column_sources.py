"""Headers whose columns are of other arms, wanted or in units of something else: said, ignored, or refused."""

import re

import numpy as np
import pytest

import forearm as fa
from forearm.faults import ReadFault
from forearm.motion.motion_files import read_motion_file

ARM = fa.load("rr")
ROWS = np.linspace(0.0, 1.0, 6)


def read(tmp_path, *titles):
    path = tmp_path / "log.csv"
    table = np.stack([ROWS, *(np.sin((k + 1) * ROWS) for k in range(len(titles)))], axis=1)
    np.savetxt(path, table, delimiter=",", header=",".join(["t", *titles]), comments="", fmt="%.9f")
    return read_motion_file(path, ARM)


@pytest.mark.parametrize(
    ("position", "torque", "source"),
    [
        ("/left/q{}", "/right/tau{}", "q of '/left/', tau of '/right/'"),
        ("leader.position[{}]", "follower.effort[{}]", "q of 'leader.', tau of 'follower.'"),
        ("q{}", "model/tau{}", "q of 'no name', tau of 'model/'"),
        ("/c/feedback/positions[{}]", "/c/output/effort[{}]", "q of '/c/feedback/', tau of '/c/output/'"),
    ],
)
def test_positions_of_one_arm_and_torques_of_another_were_one_log_without_a_word(
    tmp_path, position, torque, source
):
    found = read(tmp_path, *(x.format(k) for x in (position, torque) for k in (1, 2)))
    assert found.tau is not None
    (said,) = [note for note in found.notes if "more than one source" in note]
    assert source in said


@pytest.mark.parametrize(
    ("position", "torque"),
    [
        ("q{}", "tau{}"),
        ("/joint_states/position[{}]", "/joint_states/effort[{}]"),
        ("/left/q{}/position", "/left/q{}/effort"),
        ("position.q{}", "effort.q{}"),
        ("/arm/positions/q{}", "/arm/efforts/q{}"),
        ("q:q{}", "tau:q{}"),
    ],
)
def test_one_source_is_none_to_speak_of(tmp_path, position, torque):
    found = read(tmp_path, *(x.format(k) for x in (position, torque) for k in (1, 2)))
    assert not any("source" in note for note in found.notes)


@pytest.mark.parametrize("topic", ["/effort_controller/commands/", "targets.", "setpoints/"])
def test_what_was_wanted_was_measured_where_its_topic_is_in_the_plural(tmp_path, topic):
    found = read(tmp_path, "q1", "q2", f"{topic}effort[1]", f"{topic}effort[2]")
    assert found.tau is None
    assert any("columns ignored" in note for note in found.notes)


@pytest.mark.parametrize("topic", ["ext/", "coriolis.", "/contacts/", "computed/", "disturbance."])
def test_a_part_of_the_torque_or_one_that_was_worked_out_was_read_as_the_measured_one(tmp_path, topic):
    found = read(tmp_path, "q1", "q2", f"{topic}tau1", f"{topic}tau2")
    assert found.tau is None
    assert any("columns ignored" in note for note in found.notes)


@pytest.mark.parametrize("unit", ["deg/s^2", "rad/s²", "rad_s2"])
def test_speeds_in_units_of_accelerations_were_read_without_a_word(tmp_path, unit):
    with pytest.raises(ReadFault, match=rf"is in '{re.escape(unit)}'.*each /s\."):
        read(tmp_path, "q1", "q2", f"qd1 [{unit}]", f"qd2 [{unit}]")
