"""One reader of motion files: ten ways to write one log, and what is refused, with the line and the column."""

import io
import re
import time
import tracemalloc

import numpy as np
import pytest

import forearm as fa
from forearm.faults import ReadFault, refuse_other_units
from forearm.motion.differentiation import chosen_cutoff, derivatives, gain, low_pass
from forearm.motion.motion_files import read_motion_file, with_derivatives
from forearm.simulation import Quintic, read_motion
from forearm.verification import compare

ARM = fa.load("puma560")
N, NAMES = ARM.n, ARM.joint_names
SAMPLES = Quintic([0.1, -0.4, 0.3, 0.2, 0.5, -0.3], [0.9, 0.4, -0.5, 1.0, -0.6, 0.4], 1.0).sample(101)
TAU = fa.inverse_dynamics(ARM, *SAMPLES[1:])


def table(titles, columns, separator=",", number=repr, head=""):
    lines = [separator.join(titles)]
    lines += [separator.join(number(float(x)) for x in row) for row in np.column_stack(columns)]
    return (head + "\n".join(lines) + "\n").encode()


def titles(form, *kinds):
    return [form(kind, i) for kind in kinds for i in range(N)]


T, STATES = SAMPLES.t, SAMPLES[1:]
ROS = {"q": "position", "qd": "velocity", "qdd": "acceleration"}
NUMBERED = titles(lambda k, i: f"{k}{i + 1}", "q", "qd", "qdd")
VARIANTS = {
    "numbers": table(["t", *NUMBERED], [T, *STATES]),
    "joint names": table(["time", *titles(lambda k, i: f"{k}_{NAMES[i]}", "q", "qd", "qdd")], [T, *STATES]),
    "our own": table(["t", *titles(lambda k, i: f"{k}:{NAMES[i]}", "q", "qd", "qdd")], [T, *STATES]),
    "ROS arrays": table(
        ["timestamp", *titles(lambda k, i: f"{ROS[k]}[{i}]", "q", "qd", "qdd")], [T + 100, *STATES]
    ),
    "ROS names": table(
        ["t", *titles(lambda k, i: f"joint_{i + 1}.{ROS[k]}", "q", "qd", "qdd")], [T, *STATES]
    ),
    "a topic before": table(
        ["t", *titles(lambda k, i: f"/joint_states/{NAMES[i]}/{ROS[k]}", "q", "qd", "qdd")], [T, *STATES]
    ),
    "semicolons, decimal commas": table(
        ["t", *NUMBERED], [T, *STATES], ";", lambda x: repr(x).replace(".", ",")
    ),
    "tabs, a BOM, ms": table(["t_ms", *NUMBERED], [1000 * T, *STATES], "\t", head="\ufeff"),
    "spaces, t [ms]": table(["t [ms]", *NUMBERED], [1000 * T, *STATES], "  "),
    "degrees": table(
        [
            "t",
            *titles(lambda k, i: f"{k}{i + 1}_deg" if k == "q" else f"{k}{i + 1} [deg/s]", "q", "qd", "qdd"),
        ],
        [T, *map(np.rad2deg, STATES)],
    ).replace(b"qdd1 [deg/s]", "qdd1 [deg/s²]".encode()),
    "quotes, other columns": table(
        ['"t"', *(f'"{name}"' for name in NUMBERED), "temperature"],
        [T, *STATES, T],
        number=lambda x: f'"{x!r}"',
    ),
}


def backwards():
    """Columns from the last to the first, by name."""
    flat = [T, *(column for part in STATES for column in part.T)]
    return table(["t", *NUMBERED][::-1], flat[::-1]).replace(b"\n", b"\r\n")


VARIANTS["backwards, CRLF"] = backwards()


@pytest.mark.parametrize("name", VARIANTS)
def test_ten_ways_to_write_one_log_have_the_same_torques(name, tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(VARIANTS[name])
    file = read_motion_file(path, ARM, needs=("t", "q"))
    tau = fa.inverse_dynamics(ARM, file.q, file.qd, file.qdd)
    assert np.abs(tau - TAU).max() < 1e-9
    np.testing.assert_allclose(file.t - file.t[0], T, atol=1e-12)
    again = read_motion(path, ARM)
    np.testing.assert_array_equal(again.samples.q, file.q)
    said = " ".join(file.notes)
    assert ("temperature" in said) == (name == "quotes, other columns")
    assert ("decimal commas" in said) == ("commas" in name)
    assert ("0.001 s" in said) == ("ms" in name)
    assert ("converted to rad" in said) == (name == "degrees")


def test_the_command_line_and_compare_read_the_same_files(tmp_path):
    from forearm.cli.inputs import motion_of

    path = tmp_path / "log.csv"
    path.write_bytes(
        table(["t_ms", *titles(lambda k, i: f"{k}[{i}]", "q", "qd", "qdd", "tau")], [1000 * T, *STATES, TAU])
    )
    assert compare(ARM, path).same
    t, q, *_, remarks = motion_of(ARM, str(path))
    np.testing.assert_allclose(t, T, atol=1e-12)
    np.testing.assert_array_equal(q, SAMPLES.q)
    assert any("t_ms" in remark for remark in remarks)


RR = fa.load("rr")
HEAD = b"t,q1,q2\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", r"log:1: the file is empty: 0 rows of numbers; expected a header"),
        (b"\n \n", r"the file is empty"),
        (HEAD, r"log:1: 0 rows of numbers; expected a header and a row"),
        (HEAD + b"0,1,2,\n", r"log:2: 4 cells; expected 3.*decimal commas\? then put semicolons"),
        (HEAD + b"0,1,0,5,0,2\n1,1,0,5,0,2\n", r"log:2: 6 cells; expected 3, as in the first line"),
        (HEAD + b"0,1,2\n1,2\n", r"log:3: 2 cells; expected 3"),
        (b"t,q1,q2,q1\n0,1,2,3\n", r"log:1: column 'q1' appears 2 times; expected each column once"),
        (
            b"t,q1,q2,position[1]\n0,1,2,3\n",
            r"log:1: columns 'q1' and 'position\[1\]' are both q of joint 'q1'",
        ),
        (b"t,time,q1,q2\n0,1,2,3\n", r"log:1: columns 't' and 'time' are both the time"),
        (HEAD + b"0,1,1_000\n", r"log:2: column 'q2' holds '1_000'; expected a number"),
        (HEAD + "0,1,٣\n".encode(), r"log:2: column 'q2' holds '٣'; expected a number"),
        (HEAD + b"0,inf,2\n", r"log:2: column 'q1' is inf; expected a finite number"),
        (HEAD + b"0,1e999,2\n", r"log:2: column 'q1' is 1e999; expected a finite number"),
        (HEAD + b"0,,2\n", r"log:2: column 'q1' is empty; expected a number"),
        (HEAD + b"0,0x1p3,2\n", r"log:2: column 'q1' holds '0x1p3'"),
        (  # a thousand and a quarter, where commas are decimal
            b"t;q1;q2\n0,1;0,5;1.250\n",
            r"log:2: column 'q2' holds '1\.250'; expected decimal points or commas",
        ),
        (
            b"t;q1;q2\n0.1;0;1\n0.2;0,5;1\n",
            r"log:3: column 'q1' holds '0,5'; expected decimal points or commas",
        ),
        (
            b"t;q1;q2\n0;1.234,5;2\n",
            r"log:2: column 'q1' holds '1\.234,5'; expected decimal points or commas",
        ),
        (b"0,1,2\n1,2,3\n", r"log:1: the first line is numbers \(0, …\); expected a header"),
        (b"t [h],q1,q2\n0,1,2\n", r"log:1: column 't \[h\]' is in 'h'; expected one of s"),
        (
            b"t,q1 [mm],q2\n0,1,2\n",
            r"column 'q1 \[mm\]' is in 'mm', but joint 'q1' is revolute; expected one of rad",
        ),
        (b"t,q1,q2,qd1\n0,1,2,3\n", r"log:1: no column qd2; give a header"),
        (b"t,a,b\n0,1,2\n", r"log:1: no column q1, q2; .*\(ignored: 'a', 'b'\)"),
        (b"\xff\xfet\x00", r"log: is not text in UTF-8"),
        (HEAD + b"0,1,\xff\n", r"log: is not text in UTF-8"),
        (
            HEAD + b"0,1,2\n1,57.3,90\n2,120,45\n",
            r"joint 'q1' goes to 120 rad.*looks like degrees.*--degrees",
        ),
    ],
)
def test_a_bad_file_is_refused_with_its_line_and_column(text, message):
    with pytest.raises(ReadFault, match=message):
        read_motion_file(io.BytesIO(text), RR, label="log")


def test_a_long_field_and_strange_names_are_refused_plainly():
    for text in (
        HEAD + b"0," + b"1" * 200_000 + b",2\n",
        HEAD + b"0," + b"x" * 200_000 + b",2\n",
        "t,q²,q2\n0,1,2\n".encode(),
    ):
        with pytest.raises(ReadFault) as fault:
            read_motion_file(io.BytesIO(text), RR, label="log")
        assert len(str(fault.value)) < 500


def test_degrees_and_units_of_time_by_option():
    text = b"time,q1,q2\n0,30,0\n500,60,90\n1000,90,120\n"
    file = read_motion_file(io.BytesIO(text), RR, label="log", degrees=True, time_unit="ms")
    np.testing.assert_allclose(file.q, np.deg2rad([[30, 0], [60, 90], [90, 120]]))
    np.testing.assert_allclose(file.t, [0, 0.5, 1])
    with pytest.raises(ReadFault, match="unit of time is 'h'"):
        read_motion_file(io.BytesIO(text), RR, label="log", time_unit="h")
    with pytest.raises(ReadFault, match="says its unit"):
        read_motion_file(io.BytesIO(text.replace(b"time", b"t_us")), RR, label="log", time_unit="ms")
    kept = read_motion_file(io.BytesIO(text), RR, label="log", degrees=False)
    assert kept.q.max() == 120


@pytest.mark.parametrize(
    ("name", "head", "silent", "said"),
    [
        ("rr", "q1 [deg],q2,qd1 [deg/s],qd2 [deg/s]", "q2", r"q1 \[deg\]"),
        ("rr", "q1 [deg],q2 [deg],qd1,qd2", "qd1", r"q1 \[deg\]"),
        ("rr", "q1,q2,qd1 [deg/s],qd2 [deg/s]", "q1", r"qd1 \[deg/s\]"),
        ("stanford", "q1,q2,q3 [mm],q4,q5,q6,qd1,qd2,qd3,qd4,qd5,qd6", "qd3", r"q3 \[mm\]"),
    ],
)
def test_a_unit_in_some_titles_left_the_others_in_radians_without_a_word(name, head, silent, said):
    arm, count = fa.load(name), head.count(",") + 1
    content = (head + "\n" + ",".join(["0.5"] * count) + "\n").encode()
    with pytest.raises(
        ReadFault, match=rf"x:1: column '{silent}' says no unit, and '{said}' is not in (rad|m);"
    ):
        read_motion_file(io.BytesIO(content), arm, label="x")
    plain = read_motion_file(io.BytesIO(content), arm, label="x", degrees=False)
    values = plain.qd if silent.startswith("qd") else plain.q
    assert values[0, int(silent[-1]) - 1] == 0.5
    if name == "rr":
        turned = read_motion_file(io.BytesIO(content), arm, label="x", degrees=True)
        np.testing.assert_allclose([*turned.q[0], *turned.qd[0]], np.radians(0.5))


def test_degrees_that_are_said_are_not_left_out_where_columns_bear_names_of_joints():
    text = b"t,q:q1,q:q2\n0,30,0\n0.5,60,90\n1,90,120\n"
    file = read_motion_file(io.BytesIO(text), RR, label="log", degrees=True)
    np.testing.assert_allclose(file.q, np.deg2rad([[30, 0], [60, 90], [90, 120]]))
    assert any("converted to rad" in note for note in file.notes)
    flying = fa.Robot("flying", RR.links, (0, 1), (fa.Pose(), fa.Pose()), free=True)
    with pytest.raises(ReadFault, match="degrees were said, and the base of robot 'flying' is free"):
        read_motion_file(io.BytesIO(text), flying, label="log", degrees=True)
    with pytest.raises(ReadFault, match="unit of time is 'h'"):
        read_motion_file(io.BytesIO(text), flying, label="log", time_unit="h")


@pytest.mark.parametrize("head", ["t,q:q1,q:q2", "q:q2,t,q:q1,qd:q1,qd:q2,qdd:q1,qdd:q2"])
def test_degrees_are_asked_about_where_columns_bear_names_of_joints(head):
    """They were radians without a word, as if the file were ours."""
    text = f"{head}\n{','.join(['90'] * (head.count(',') + 1))}\n".encode()
    with pytest.raises(ReadFault, match=r"goes to 90 rad.*looks like degrees"):
        read_motion_file(io.BytesIO(text), RR, label="log")


def test_a_joint_whose_name_begins_with_s_is_no_plural():
    swapped = RR.replace(links=tuple(x.replace(name=f"s{2 - i}") for i, x in enumerate(RR.links)))
    file = read_motion_file(io.BytesIO(b"t,qs1,qs2\n0,1,2\n1,3,4\n"), swapped, label="log")
    np.testing.assert_array_equal(file.q, [[2, 1], [4, 3]])
    plural = read_motion_file(io.BytesIO(b"t,positions1,positions2\n0,1,2\n1,3,4\n"), RR, label="log")
    np.testing.assert_array_equal(plural.q, [[1, 2], [3, 4]])


@pytest.mark.parametrize("form", ["q{}", "q_j{}", "axis{}.position", "q_Joint_{}", "position[{}]"])
def test_numbers_are_refused_where_names_of_joints_count_in_another_order(form):
    """The second joint from the base was taken, and joint2 is the third."""
    arm = fa.load("planar_3r")
    links = [x.replace(name=f"joint{k}") for x, k in zip(arm.links, (1, 3, 2), strict=True)]
    arm = arm.replace(links=links)
    head = ",".join(form.format(i) for i in (1, 2, 3))
    with pytest.raises(
        ReadFault, match=r"'joint3', and 'joint2' has that number; expected titles by joint, q:joint1"
    ):
        read_motion_file(io.BytesIO(f"t,{head}\n0,1,2,3\n".encode()), arm, label="log")
    file = read_motion_file(io.BytesIO(b"t,q:joint1,joint2.position,q_joint3\n0,1,2,3\n"), arm, label="log")
    np.testing.assert_array_equal(file.q, [[1, 3, 2]])


def test_columns_of_joints_that_follow_or_are_held_are_taken_for_no_others():
    names = [x.replace(name=f"j{i}") for i, x in enumerate((*RR.links, *RR.links), 1)]
    follows = fa.Coupling("j3", (("j2", 1.0),))
    hand = fa.Robot("hand", tuple(names), (0, 1, 2, 3), (fa.Pose(),) * 4, couplings=(follows,))
    rest = RR.replace(links=names[1:], configurations=())  # j1 is held
    for arm in (hand, rest):
        with pytest.raises(ReadFault, match="'q4' counts joints, and 3 move of themselves here"):
            read_motion_file(io.BytesIO(b"t,q1,q2,q3,q4\n0,1,2,3,4\n"), arm, label="log")
        file = read_motion_file(io.BytesIO(b"t,q_j1,q_j2,q_j3,q_j4\n0,1,2,3,4\n"), arm, label="log")
        np.testing.assert_array_equal(file.q, [[1, 2, 4] if arm is hand else [2, 3, 4]])
        assert file.notes[0] == ("columns ignored: q_j3" if arm is hand else "columns ignored: q_j1")
        assert any("'j3' follows other joints, and is up to 1 rad" in x for x in file.notes) == (arm is hand)
    own = read_motion_file(io.BytesIO(b"t,q:j1,q:j2,q:j3,q:j4\n0,1,2,2,4\n"), hand, label="log")
    assert own.notes == ("columns ignored: q:j3",)  # it was refused as strange
    with pytest.raises(ReadFault, match="no column q:j4"):
        read_motion_file(io.BytesIO(b"t,q:j1,q:j2,q:j3\n0,1,2,3\n"), hand, label="log")
    one_more = read_motion_file(io.BytesIO(b"t,q1,q2,q3\n0,1,2,3\n"), RR, label="log")
    assert one_more.notes[0] == "columns ignored: q3"
    assert (
        "q3 counts more joints than move here; numbers are taken in their order: q1, q2." in one_more.notes[1]
    )


@pytest.mark.parametrize("named", ["right", "Right", "right_joint", "hand/right"])
def test_the_column_of_a_joint_that_follows_the_only_one_was_taken_for_that_one(named):
    """Of right.position the last word alone was read: the position, of whichever joint moves of itself."""
    right = named if "/" in named else "right"
    names = [x.replace(name=name) for x, name in zip(RR.links, ("left", right), strict=True)]
    follows = fa.Coupling(right, (("left", -2.0),))
    grip = fa.Robot("grip", tuple(names), (0, 0), (fa.Pose(),) * 2, couplings=(follows,))
    with pytest.raises(ReadFault, match=f"no column q1.*ignored: 'states/{named}.position'"):
        read_motion_file(io.BytesIO(f"t,states/{named}.position\n0,1\n".encode()), grip, label="log")
    for left in ("left.position", "states.position"):
        both = f"t,{left},states/{named}.position\n0,-0.5,1\n"  # it was refused as the same twice
        file = read_motion_file(io.BytesIO(both.encode()), grip, label="log")
        np.testing.assert_array_equal(file.q, [[-0.5]])


def test_many_turns_of_our_own_simulation_are_radians(tmp_path):
    run = fa.simulate(RR, [0.0, 0.0], [60.0, 0.0], duration=1.0, limits="ignore")
    assert np.abs(run.q).max() > 30
    np.testing.assert_array_equal(read_motion(run.to_csv(tmp_path / "run.csv"), RR).samples.q, run.q)


# -- what looks like one thing and is another ---------------------------------------------------------------


def rr(text, **how):
    return read_motion_file(io.BytesIO(text.encode()), RR, label="log", **how)


def test_time_stamps_in_nanoseconds_are_not_taken_for_seconds():
    """ROS's: speeds would be a billionth of what they are."""
    rows = "".join(f"{1_700_000_000_000_000_000 + 2_000_000 * k},{0.01 * k},0.2\n" for k in range(60))
    with pytest.raises(
        ReadFault, match=r"times go to 1.7e\+18 s, rows 2e\+06 s apart: that looks like milliseconds"
    ):
        rr(f"timestamp,q1,q2\n{rows}")
    for how, title in (({"time_unit": "ns"}, "timestamp"), ({}, "timestamp [ns]")):
        full = with_derivatives(rr(f"{title},q1,q2\n{rows}", **how))
        assert np.allclose(full.qd, [5.0, 0.0], atol=1e-3)


def test_counted_milliseconds_without_a_unit_are_said_to_be_read_as_seconds():
    file = rr("t,q1,q2\n" + "".join(f"{2 * k},{0.01 * k},0.2\n" for k in range(60)))
    assert "times read as seconds, rows 2 s apart; if they are not, give --time-unit" in file.notes[-1]
    assert not rr("t_s,q1,q2\n" + "".join(f"{2 * k},{0.01 * k},0.2\n" for k in range(60))).notes


@pytest.mark.parametrize("title", ["t_min", "t [min]", "time_h"])
def test_times_in_minutes_are_refused_instead_of_ignored(title):
    with pytest.raises(ReadFault, match=r"is in '(min|h)'; expected one of s, sec"):
        rr(f"{title},q1,q2\n0,0.1,0.2\n1,0.3,0.4\n")


def test_one_numbered_column_more_than_joints_is_not_guessed_at():
    with pytest.raises(ReadFault, match=r"columns 'q0' and 'q2': q of 3 joints, not 2; expected q1 to q2"):
        rr("t,q0,q1,q2\n0,9,0.1,0.2\n1,9,0.3,0.4\n")


def test_the_percent_sign_of_a_header_is_not_part_of_its_first_title():
    np.testing.assert_array_equal(rr("% t,q1,q2\n0,0.1,0.2\n1,0.3,0.4\n").t, [0.0, 1.0])
    np.testing.assert_array_equal(rr("%time,q1,q2\n0,0.1,0.2\n1000000,0.3,0.4\n").t, [0.0, 1e-3])


# -- columns that have to be worked out --------------------------------------------------------------------

LONG = Quintic([0.1, -0.4, 0.3, 0.2, 0.5, -0.3], [0.9, 0.4, -0.5, 1.0, -0.6, 0.4], 2.0).sample(1001)  # 500 Hz
RIGID = ARM.without_drives()  # dry friction turns over with the sign of qd, which noise decides at rest
WANT = fa.inverse_dynamics(RIGID, *LONG[1:])


def worked_out(q, digits):
    text = table(["t", *NUMBERED[:N]], [LONG.t, q], number=lambda x: f"{x:.{digits}f}")
    return with_derivatives(read_motion_file(io.BytesIO(text), ARM, label="log"))


def error(file):
    tau = fa.inverse_dynamics(RIGID, LONG.q, file.qd, file.qdd)
    return (np.abs(tau - WANT).max(axis=0) / np.abs(WANT).max(axis=0)).max()


def test_clean_positions_go_through_a_spline():
    file = worked_out(LONG.q, 12)
    assert file.notes == ("log has no qd and no qdd: worked out by a cubic spline through q",)
    assert error(file) < 1e-3


def test_positions_rounded_to_a_microradian_are_filtered_and_said():
    file = worked_out(LONG.q, 6)
    assert error(file) < 0.02
    assert "filtered without delay at" in file.notes[-1]
    assert "Hz" in file.notes[-1]
    assert "its last digit is 1e-06" in file.notes[-1]


def test_noise_of_a_tenth_of_a_milliradian_is_a_loud_warning():
    noise = np.random.default_rng(3).normal(0, 1e-4, LONG.q.shape)
    file = worked_out(LONG.q + noise, 9)
    assert file.notes[-1].startswith("WARNING: log has no qd and no qdd")
    assert "noisy by about 0.0001" in file.notes[-1]
    assert error(file) < 0.1


@pytest.mark.parametrize("noise", [0.0, 1e-5])
@pytest.mark.parametrize("pace", [0.3, 1.5])
def test_small_motions_of_one_joint_are_not_lost_in_the_noise_beside_large_ones(pace, noise):
    """Six joints at six frequencies: a noise that is small for the fastest is large for the slowest."""
    w = 2 * np.pi * pace * np.arange(1, 7) / 3
    swing, shift = np.array([0.8, 0.6, 0.5, 0.4, 0.5, 0.6]), LONG.t[:, None] * w + 0.7
    want = fa.inverse_dynamics(
        RIGID, swing * np.sin(shift), swing * w * np.cos(shift), -swing * w**2 * np.sin(shift)
    )
    q = swing * np.sin(shift) + np.random.default_rng(8).normal(0, noise, shift.shape)
    file = worked_out(q, 9 if noise else 6)
    tau = fa.inverse_dynamics(RIGID, swing * np.sin(shift), file.qd, file.qdd)
    apart = np.abs(tau - want) / np.abs(want).max(axis=0)
    assert apart.max() < 0.08  # 0.09 to 0.5 of a spline
    assert apart[100:-100].max() < 0.02
    assert "of the speeds' power lies below" in file.notes[-1]


def test_the_noise_of_a_slow_motion_is_not_taken_for_a_fast_one():
    slow = Quintic(LONG.q[0], LONG.q[-1], 10.0).sample(5001)
    q = slow.q + np.random.default_rng(9).normal(0, 1e-4, slow.q.shape)
    assert chosen_cutoff(q, 500.0)[0] == 8.0
    assert chosen_cutoff(np.gradient(q, slow.t, axis=0), 500.0, speeds=True)[0] == 8.0


@pytest.mark.parametrize("order", [1, 2])
def test_the_noise_that_is_said_to_be_left_is_left(order):
    rows = np.random.default_rng(10).normal(size=(20_001, 1))
    from scipy.interpolate import CubicSpline

    t = np.arange(20_001.0)
    found = CubicSpline(t, low_pass(rows, 1.0, 0.05))(t, order)[50:-50].std()
    assert found == pytest.approx(gain(order, 0.05), rel=0.03)


def test_points_far_apart_are_not_taken_for_noise():
    rng = np.random.default_rng(4)
    text = table(["t", "q1", "q2"], [np.arange(60.0), rng.uniform(-1, 1, (60, 2))])
    file = with_derivatives(read_motion_file(io.BytesIO(text), RR, label="log"))
    from scipy.interpolate import CubicSpline

    np.testing.assert_allclose(file.qdd, CubicSpline(file.t, file.q)(file.t, 2))
    assert "rows are 1 s apart" in file.notes[-1]


def test_uneven_times_are_filtered_too():
    rng = np.random.default_rng(5)
    t = np.sort(LONG.t + rng.uniform(-4e-4, 4e-4, len(LONG.t)))
    motion = Quintic(LONG.q[0], LONG.q[-1], 2.0)
    q = motion.sample(t).q.round(6)
    text = table(["t", *NUMBERED[:N]], [t, q])
    file = with_derivatives(read_motion_file(io.BytesIO(text), ARM, label="log"))
    want = motion.sample(t).qdd
    assert np.abs(file.qdd - want)[20:-20].max() < 0.05 * np.abs(want).max()


def test_a_hundred_thousand_rows_are_streamed(tmp_path):
    """A tenth of a million rows: in a tenth of five seconds on a quiet machine, five times that on a busy one."""
    row = b",".join(b"%.9f" % x for x in np.random.default_rng(6).uniform(-1, 1, 12))
    path = tmp_path / "long.csv"
    with path.open("wb") as file:
        file.write(b"t," + ",".join(NUMBERED[:12]).encode() + b",temperature\n")
        file.writelines(b"%.4f," % (1e-3 * k) + row + b",20.5\n" for k in range(100_000))
    tracemalloc.start()
    began = time.perf_counter()
    found = read_motion_file(path, ARM)
    took, peak = time.perf_counter() - began, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.q.shape == (100_000, 6)
    assert took < 5.0
    assert peak < 60e6


def test_speeds_worked_out_from_positions_say_what_dry_friction_makes_of_them():
    arm = RR.with_drives(fa.Drive(coulomb=(1.0, 1.0)))
    rows = "".join(f"{0.01 * k:.2f},{np.sin(0.1 * k):.9f},0.5\n" for k in range(60))
    file = read_motion_file(io.BytesIO(f"t,q1,q2\n{rows}".encode()), arm, label="log")
    said = " ".join(with_derivatives(file, arm=arm).notes)
    assert "have dry friction: near rest its sign is that of a speed worked out from positions" in said
    assert "dry friction" not in " ".join(with_derivatives(file, arm=RR.without_drives()).notes)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ('0,"1,5"', r"x:2: 2 cells; expected 3"),
        ('0,1"2,3', r"x:2: column 'q1' holds '1\"2'"),
        ('0,""1,3', r"x:2: column 'q1' holds"),
        ('0,1.5,3"', r"x:2: column 'q2' holds '3\"'"),
    ],
)
def test_quotes_within_cells_make_no_other_numbers(row, words):
    """They were taken out, wherever they stood: a quoted decimal comma became two columns."""
    with pytest.raises(fa.ReadFault, match=words):
        read_motion_file(io.BytesIO(f"t,q1,q2\n{row}\n".encode()), fa.load("rr"), label="x")


def test_more_rows_than_memory_are_refused_while_they_come(monkeypatch):
    """An archive of some megabytes may hold rows without end."""

    class Endless(io.RawIOBase):
        def __init__(self):
            self.rest = b"t,q1,q2\n"
            self.lines = (f"{k},0,0\n" for k in range(10**9))

        def readable(self):
            return True

        def readinto(self, into):
            self.rest += b"".join(next(self.lines).encode() for _ in range(1000))
            given, self.rest = self.rest[: len(into)], self.rest[len(into) :]
            into[: len(given)] = given
            return len(given)

    monkeypatch.setattr("forearm.motion.number_tables.machine_memory", lambda: 1e7)
    with pytest.raises(fa.ReadFault, match=r"log: the first .* rows take .* GB, .* give the file in parts"):
        read_motion_file(io.BufferedReader(Endless()), fa.load("rr"), label="log")


def test_a_gap_in_a_log_is_said_with_its_time():
    t = np.concatenate([np.arange(0.0, 1.0, 0.01), np.arange(2.5, 4.0, 0.01)])
    rows = "".join(f"{x:.4f},{np.sin(x):.17g},{np.cos(x):.17g}\n" for x in t)
    file = read_motion_file(io.BytesIO(("t,q1,q2\n" + rows).encode()), fa.load("rr"), label="log.csv")
    (note,) = [note for note in file.notes if "no rows between" in note]
    assert "no rows between 0.99 and 2.5 s (rows are 0.01 s apart elsewhere)" in note
    whole = "".join(f"{x:.4f},{np.sin(x):.17g},{np.cos(x):.17g}\n" for x in np.arange(0.0, 2.0, 0.01))
    assert not read_motion_file(
        io.BytesIO(("t,q1,q2\n" + whole).encode()), fa.load("rr"), label="log.csv"
    ).notes


@pytest.mark.parametrize("title", ["position[{}]", "/joint_states/position[{}]", "field.position{}"])
def test_columns_counted_by_a_message_are_said_to_be_taken_in_the_order_of_the_joints(title):
    text = ",".join(title.format(i) for i in (1, 0)) + "\n0.2,0.1\n"
    file = read_motion_file(io.BytesIO(text.encode()), fa.load("rr"), label="log.csv")
    assert file.q.tolist() == [[0.1, 0.2]]
    assert "taken in the order of the joints: q1, q2. A JointState message has" in file.notes[0]


@pytest.mark.parametrize(
    "title",
    [
        *("error/positions[{}]", "/arm/desired.positions[{}]", "target.q{}", "std/q{}", "cmd_vel/q{}"),
        *("predicted.q{}", "delta/q{}", "residual.q{}"),
    ],
)
def test_what_was_wanted_or_is_an_error_was_read_as_measured(title):
    text = ",".join(title.format(i) for i in (0, 1)) + "\n0.2,0.1\n"
    with pytest.raises(ReadFault, match="no column q1, q2"):
        read_motion_file(io.BytesIO(text.encode()), fa.load("rr"), label="log.csv")
    both = ",".join(f"actual/position[{i}],{title.format(i)}" for i in (0, 1)) + "\n0.3,9,0.4,9\n"
    file = read_motion_file(io.BytesIO(both.encode()), fa.load("rr"), label="log.csv")
    assert file.q.tolist() == [[0.3, 0.4]]
    assert "columns ignored" in file.notes[0]


@pytest.mark.parametrize("noise", [1e-7, 1e-5, 1e-4])
def test_what_filtering_spoils_at_the_ends_of_a_log_cut_in_mid_motion_is_said(noise):
    t = np.arange(3000) / 1000
    q = np.sin(3 * t) + 0.3 * np.sin(9 * t + 1)
    noisy = (q + noise * np.random.default_rng(0).normal(size=len(t)))[:, None]
    (found,), (told,) = derivatives("log.csv", t, noisy, (2,), np.zeros(1), "q")
    error = np.abs(found[:, 0] + 9 * np.sin(3 * t) + 24.3 * np.sin(9 * t + 1))
    inner, ends = re.search(r"about ±(\S+) is left .* up to (\S+) in the first and last", told).groups()
    assert error.max() < 2 * float(ends) < 4 * error.max()
    assert error[200:-200].max() < 5 * float(inner)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("1,0.1,0.2,1e51", r":3: qd2 is 1e\+51; expected numbers of an arm, up to 1e\+50"),
        ("1e-300,0.1,0.2,0.3", ":3: t is 1e-300 s after the row before; expected times 1e-15 s apart"),
    ],
)
def test_numbers_that_nobody_measures_are_refused_with_their_line(tmp_path, row, says):
    """They were LinAlgErrors of identify, report, sweep."""
    (tmp_path / "m.csv").write_text(f"t,q1,q2,qd2,qd1\n0,0,0,0,0\n{row},0\n")
    with pytest.raises(ReadFault, match=says):
        read_motion(tmp_path / "m.csv", fa.load("rr"))


def test_a_joint_called_q2_that_is_not_the_second_gets_no_other_column_in_silence(tmp_path):
    whole = fa.load("planar_3r")
    arm = whole.replace(links=[link.replace(name=f"q{i}") for i, link in enumerate(whole.links, 2)])
    path = tmp_path / "log.csv"
    path.write_text("q1,q2,q3,q4\n1,2,3,4\n")
    with pytest.raises(
        fa.ReadFault, match="column 'q2' counts joints, so it would be number 2, and the joint of that"
    ):
        read_motion_file(path, arm)
    path.write_text("q:q2,q:q3,q:q4\n2,3,4\n")
    assert read_motion_file(path, arm).q.tolist() == [[2, 3, 4]]
    path.write_text("q0,q1,q2\n2,3,4\n")
    named = whole.replace(links=[link.replace(name=f"q{i}") for i, link in enumerate(whole.links)])
    assert read_motion_file(path, named).q.tolist() == [[2, 3, 4]]
    assert [link.name for link in whole.links] == ["q1", "q2", "q3"]
    assert read_motion_file(path, whole, degrees=False).q.tolist() == [[2, 3, 4]]


@pytest.mark.parametrize(
    "name", ["left; outer", "axis (1)", "arm [deg]", "no. #2", 'the "big" one', "a/b\\", "x_ms"]
)
def test_our_own_file_was_refused_for_what_a_joint_is_called(name, tmp_path):
    arm = fa.load("rr")
    arm = arm.replace(links=(arm.links[0].replace(name=name), arm.links[1]))
    record = fa.simulate(arm, [0.1, 0.2], duration=0.01)
    found = read_motion(record.to_csv(tmp_path / "r.csv"), arm)
    np.testing.assert_array_equal(found.samples.q, record.q)
    np.testing.assert_array_equal(found.samples.qdd, record.qdd)


@pytest.mark.parametrize(
    ("last", "cut"),
    [
        ("0.12", True),
        ("0.", True),
        ("-0", True),
        ("1.2345e-0", True),
        ("0.1231", False),
        ("-0.1231", False),
        ("12.1231", False),
    ],
)
@pytest.mark.parametrize("end", ["", "\n"])
def test_the_last_number_of_a_file_that_was_cut_off_was_taken_as_it_stood(last, cut, end, tmp_path):
    path, arm = tmp_path / "cut.csv", fa.load("double_pendulum")
    rows = [f"{0.01 * k:.2f},0.1000,0.{1230 + k}" for k in range(9)] + ["0.09,0.1000,1.2345e-03"]
    path.write_text("t,q1,q2\n" + "\n".join([*rows, f"0.10,0.1000,{last}"]) + end)
    said = [note for note in read_motion(path, arm).notes if "newline" in note]
    streamed = fa.stream(arm, "gravity_torque", path, tmp_path / "out.csv").notes
    assert (said != []) == (cut and not end)
    assert said == [note for note in streamed if "newline" in note]
    assert all(f"line 12, q2: {last}" in note for note in said)


@pytest.mark.parametrize(
    "names", [("left1", "right1", "left2"), ("waist", "joint1", "joint2"), ("j2", "j3", "j4")]
)
def test_numbered_columns_of_joints_whose_names_have_other_numbers_were_taken_without_a_word(names):
    arm = fa.load("generic_3r")
    plain = arm.replace(links=[link.replace(name=name) for link, name in zip(arm.links, "abc", strict=True)])
    arm = arm.replace(links=[link.replace(name=name) for link, name in zip(arm.links, names, strict=True)])
    text = "t,q1,q2,q3\n0,1,2,3\n1,1,2,3\n"
    order = f"q1 … taken in the order of the joints: {', '.join(names)}, whose names have other numbers"
    assert any(order in note for note in read_motion(io.BytesIO(text.encode()), arm).notes)
    assert not any("order" in note for note in read_motion(io.BytesIO(text.encode()), plain).notes)
    named = "t," + ",".join(f"q:{name}" for name in names) + text[10:]
    assert not any("order" in note for note in read_motion(io.BytesIO(named.encode()), arm).notes)


def test_stamps_of_a_slow_log_lost_their_nanoseconds():
    text = b"secs,nsecs,q1,q2\n100,0,1,2\n101,500000000,1,2\n103,0,1,2\n"
    with pytest.raises(
        ReadFault, match=r"columns 'secs' and 'nsecs' are one time .* t \[s\], secs \+ 1e-9 nsecs"
    ):
        read_motion(io.BytesIO(text), fa.load("rr"))
    bag = text.replace(b"secs,nsecs", b"Time,stamp.nsecs")
    assert read_motion(io.BytesIO(bag), fa.load("rr")).samples.t.tolist() == [100, 101, 103]


@pytest.mark.parametrize(("step", "said"), [(1, False), (20, True)])
def test_a_few_rows_in_milliseconds_were_read_as_seconds_without_a_word(step, said):
    rows = "".join(f"{step * k},{0.01 * k},0\n" for k in range(5))
    notes = read_motion(io.BytesIO(b"t,q1,q2\n" + rows.encode()), fa.load("rr")).notes
    assert any("times read as seconds" in note for note in notes) == said


@pytest.mark.parametrize(
    "unit", ["N mm", "N·mm", "N cm", "rad/min", "rad/ms", "m/min", "rad*1000", "1/360", "m x 10^-3", "s/1000"]
)
def test_units_that_only_begin_like_si_were_taken_for_it(unit):
    with pytest.raises(ReadFault, match="and numbers are read in SI units and radians"):
        refuse_other_units("x: tau", {"units": unit}, "write SI")


@pytest.mark.parametrize(
    "unit",
    [
        *(
            "rad",
            "Radians",
            "rad/s",
            "rad s-1",
            "rad/s^2",
            "rad s**-2",
            "rad·s⁻²",
            "radians per second",
            "1/s",
        ),
        *(
            "m",
            "metres",
            "m/s/s",
            "m.s-2",
            "N",
            "Nm",
            "N m",
            "N·m",
            "N*m",
            "newton metre",
            "N m s/rad",
            "1",
            "",
        ),
        *("s", "sec", "seconds since 2026-01-01 00:00:00", "m/(s^2)"),
    ],
)
def test_units_of_si_are_taken(unit):
    refuse_other_units("x: tau", {"units": unit}, "write SI")
