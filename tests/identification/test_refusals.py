"""Broken logs: found, named, with what to do; and mended where that was asked for."""

import gzip

import numpy as np
import pytest

import forearm as fa
from forearm.motion.motion_files import write_columns
from identification.synthetic import TICK, log_of, motion_of, somewhat_wrong, with_drives

TRUE = with_drives(fa.load("ur5e"))
START = somewhat_wrong(TRUE)


@pytest.fixture(scope="module")
def motion():
    return motion_of(TRUE, seed=1)


@pytest.fixture
def log(motion):
    return log_of(TRUE, motion)


def test_a_joint_that_stands_still_is_named(log, motion):
    log["q"][:, 5] = 0.3
    s = motion.sample(log["t"])
    s.q[:, 5], s.qd[:, 5], s.qdd[:, 5] = 0.3, 0.0, 0.0
    log["tau"] = fa.inverse_dynamics(TRUE, s.q, s.qd, s.qdd)
    log["tau"] += 0.01 * np.random.default_rng(0).normal(size=log["tau"].shape)
    name = TRUE.joint_names[5]
    with pytest.raises(fa.StateFault, match=rf"does not show .*FV6.*{name} hardly moves.*fa.excite"):
        fa.identify(START, log)
    found = fa.identify(START, log, mend="unexcited")
    assert any("kept as given" in note and "FV6" in note for note in found.notes)
    assert np.isinf(found.base.std[list(found.base.names).index("FV6")])


def test_torques_of_the_other_sign(log):
    log["tau"] = -log["tau"]
    with pytest.raises(fa.StateFault, match=r"torques of all joints have the other sign .* mend=\['sign'\]"):
        fa.identify(START, log)
    assert fa.identify(START, log, mend=["sign"]).residuals.train_total < 0.05


@pytest.mark.parametrize("call", [fa.identify, fa.watch])
def test_a_file_that_says_degrees_of_some_joints_was_read_in_radians_for_the_others(call, tmp_path):
    """A log that `torque` refuses gave an arm's numbers without a word."""
    titles = ["t", "q1 [deg]", "q2", "tau1", "tau2"]
    path = write_columns(tmp_path / "log.csv", {title: np.linspace(0, 2, 100) for title in titles})
    with pytest.raises(fa.ReadFault, match=r"column 'q2' says no unit, and 'q1 \[deg\]' is not in rad"):
        call(fa.load("rr"), path)


def test_one_torque_of_the_other_sign(log):
    log["tau"][:, 2] *= -1
    with pytest.raises(fa.StateFault, match=rf"torques of {TRUE.joint_names[2]} have the other sign"):
        fa.identify(START, log)


def test_a_sign_that_only_friction_shows(log):
    log["tau"][:, 5] *= -1
    with pytest.raises(fa.StateFault, match="other sign"):
        fa.identify(START, log)


def test_newton_millimetres(log):
    log["tau"] = 1000 * log["tau"]
    with pytest.raises(fa.StateFault, match="In N mm"):
        fa.identify(START, log)


def test_torques_of_motors(log):
    log["tau"] = log["tau"] / np.array([101.0, 101, 101, 101, 101, 101])
    with pytest.raises(fa.StateFault, match="motors' side of the gears"):
        fa.identify(START, log)


def test_degrees(log):
    log["q"] = np.degrees(log["q"])
    with pytest.raises(fa.StateFault, match=r"In degrees\? Then give degrees=True"):
        fa.identify(START, log)
    assert fa.identify(START, log, degrees=True).residuals.train_total < 0.05


def test_a_small_motion_in_degrees_made_gravity_an_offset():
    """Three degrees could be three radians: masses were a third, or a hundredth, and 0.3 % was left unexplained."""
    arm = with_drives(fa.load("rr"))
    path = [[0, 0], [0.05, -0.04], [-0.03, 0.06], [0.04, 0.02], [0, 0]]
    s = fa.via_points(arm, path, speeds=1.0, accelerations=1.0).sample(4000)
    log = {"t": s.t, "q": np.degrees(s.q), "tau": fa.inverse_dynamics(arm, s.q, s.qd, s.qdd)}
    with pytest.raises(fa.StateFault, match=r"In degrees\? Then give degrees=True"):
        fa.identify(somewhat_wrong(arm), log)


def test_speeds_in_degrees(log, motion):
    log["qd"] = np.degrees(motion.sample(log["t"]).qd)
    with pytest.raises(fa.StateFault, match="degrees a second"):
        fa.identify(START, log)


def test_a_log_of_motors_taken_for_joints(log):
    gear = np.array([101.0, 101, 101, 101, 101, 101])
    motors = {"t": log["t"], "q": log["q"] * gear, "tau": log["tau"] / gear}
    with pytest.raises(fa.StateFault, match=r"motors before their gears\? Then give coupling="):
        fa.identify(START, motors)
    assert fa.identify(START, motors, coupling=gear).residuals.train_total < 0.05


def test_clipped_torques(motion):
    log = log_of(TRUE, motion)
    whole = fa.identify(START, log)
    limit = 0.6 * np.max(np.abs(log["tau"][:, 1]))
    log["tau"][:, 1] = np.clip(log["tau"][:, 1], -limit, limit)
    with pytest.raises(fa.StateFault, match=r"stays at .* clipped.*mend=\['clipping'\]"):
        fa.identify(START, log)
    found = fa.identify(START, log, mend="clipping")
    fresh = motion.sample(100)
    want = fa.inverse_dynamics(TRUE, fresh.q, fresh.qd, fresh.qdd)
    got = found.torques(fresh.q, fresh.qd, fresh.qdd)
    assert np.linalg.norm(got - want) < 0.03 * np.linalg.norm(want)
    noise = found.residuals.noise[1] / whole.residuals.noise[1]
    assert 0.8 < noise < 1.25, "what is left out is no row without noise: intervals would promise too much"


@pytest.mark.parametrize("delay", [0.02, -0.03])
def test_torques_later_or_earlier_than_positions(log, delay):
    late = [np.interp(log["t"] - delay, log["t"], x) for x in log["tau"].T]
    log["tau"] = np.stack(late, axis=1)
    word = "later" if delay > 0 else "earlier"
    with pytest.raises(fa.StateFault, match=rf"ms {word} than positions .* mend=\['shift'\]") as caught:
        fa.identify(START, log)
    told = float(str(caught.value).split("torques come ")[1].split(" ms")[0])
    assert abs(told - abs(delay) * 1e3) < 3
    assert fa.identify(START, log, mend="shift").residuals.train_total < 0.05


@pytest.mark.parametrize("mend", [(), ("shift",)])
def test_torques_beyond_the_shifts_that_are_looked_for_are_not_mended(log, mend):
    """80 ms were called 60, moved by 60, and believed."""
    late = log | {"tau": np.roll(log["tau"], round(0.08 / (log["t"][1] - log["t"][0])), axis=0)}
    with pytest.raises(fa.StateFault, match="60 ms or more later than positions"):
        fa.identify(START, late, mend=mend)


def test_torques_a_row_or_two_late_are_said(log):
    found = fa.identify(START, log | {"tau": np.roll(log["tau"], 2, axis=0)})
    assert any("torques may come" in note and "mend=['shift']" in note for note in found.notes)
    assert not any("torques may come" in note for note in fa.identify(START, log).notes)


def test_a_joint_that_is_counted_the_other_way_is_named(log):
    """Of all torques together its own were too small to be missed."""
    q = log["q"] * ([1.0] * (log["q"].shape[1] - 1) + [-1.0])
    found = fa.identify(START, log | {"q": q}, check=False)
    warnings = [note for note in found.notes if "the best that bodies can do" in note]
    assert len(warnings) == 1
    assert "counted from another zero" in warnings[0]


def test_a_gap_in_time(log):
    keep = (log["t"] < 5) | (log["t"] > 6)
    with pytest.raises(fa.StateFault, match="no rows between"):
        fa.identify(START, {k: v[keep] for k, v in log.items()})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tau": None}, "tau or current"),
        ({"q": np.zeros((10, 6))}, r"q has shape \(10, 6\)"),
        ({"strange": 1}, "give a mapping with t"),
    ],
)
def test_mappings_that_are_no_logs(log, change, words):
    broken = {k: v for k, v in (log | change).items() if v is not None}
    with pytest.raises(fa.StateFault, match=words):
        fa.identify(START, broken)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"prior": 0}, "prior is 0"),
        ({"mend": "everything"}, "give some of clipping"),
        ({"cutoff": 1e6}, "give one below"),
        ({"coupling": np.ones((6, 6))}, "q_joint = B q_motor"),
    ],
)
def test_arguments(log, options, words):
    with pytest.raises(fa.StateFault, match=words):
        fa.identify(START, log, **options)


def test_currents_need_gains(log):
    log["current"] = log.pop("tau")
    with pytest.raises(fa.StateFault, match="give gains="):
        fa.identify(START, log)


def test_files_plain_and_gzipped(log, tmp_path):
    columns = {"t": log["t"]}
    for kind in ("q", "tau"):
        columns |= {f"{kind}{i}": log[kind][:, i - 1] for i in range(1, 7)}
    path = write_columns(tmp_path / "log.csv", columns)
    packed = tmp_path / "log.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    a, b = fa.identify(START, path), fa.identify(START, str(packed))
    assert np.array_equal(a.theta, b.theta)
    packed.write_bytes(b"no gzip")
    with pytest.raises(fa.ReadFault, match="cannot be unpacked"):
        fa.identify(START, packed)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"smoothing": -1.0}, "smoothing is -1.0; give a positive speed"),
        ({"smoothing": np.nan}, "smoothing is nan; give"),
        ({"cutoff": 1e-308}, "cut-off of 1e-308 Hz"),
        ({"zero": [np.nan] * 6}, r"zero is \[nan, .*give where each of the 6 joints is"),
        ({"zero": "here"}, "zero is 'here'; give numbers, a list of them or a NumPy array"),
        ({"coupling": [[1, 2], [3]]}, "coupling is a list that gives no array of numbers"),
        ({"gains": [2.0] * 6}, "gains are for currents, and it has tau"),
    ],
)
def test_arguments_that_mean_nothing_are_refused(log, asked, words):
    with pytest.raises(fa.StateFault, match=words):
        fa.identify(START, log, **asked)


def test_gains_of_another_number_of_joints(log):
    log["current"] = log.pop("tau")
    with pytest.raises(fa.StateFault, match=r"gains are \[2. 2. 2.\]; give a torque for one ampere"):
        fa.identify(START, log, gains=[2.0] * 3)


def test_masked_entries_of_a_log_are_not_taken_for_numbers(log):
    log["q"] = np.ma.masked_greater(log["q"], 0.5)
    with pytest.raises(fa.StateFault, match=r"log: q has .* masked entries"):
        fa.identify(START, log)


def test_a_damaged_archive_is_refused_in_a_sentence(log, tmp_path):
    rows = "\n".join(f"{k / 100},{','.join(['0.5'] * 12)}" for k in range(500))
    titles = ",".join(["t", *(f"q{i}" for i in range(1, 7)), *(f"tau{i}" for i in range(1, 7))])
    packed = bytearray(gzip.compress(f"{titles}\n{rows}\n".encode()))
    packed[40:60] = bytes(20)
    (tmp_path / "log.csv.gz").write_bytes(bytes(packed))
    with pytest.raises(fa.ReadFault, match=r"cannot be unpacked|is not text|expected"):
        fa.identify(START, tmp_path / "log.csv.gz")


def test_a_zero_in_degrees_is_asked_about(log):
    with pytest.raises(fa.StateFault, match=r"zero is 90 rad for joint .*, 14\.3 turns: degrees"):
        fa.identify(START, log, zero=[90.0, 0, 0, 0, 0, 0])


def test_the_reduction_of_a_single_joint_was_taken_for_a_matrix():
    from forearm.cli.option_groups import LogReading

    assert LogReading(coupling=(100.0,)).options(1)["coupling"] == [100.0]
    assert LogReading(coupling=(1.0, 0.0, 0.0, 1.0)).options(2)["coupling"] == [(1.0, 0.0), (0.0, 1.0)]


def test_a_log_of_nothing_but_zeros_is_refused_in_a_sentence(tmp_path):
    """It was a LinAlgError: weights were one over a noise of zero."""
    rows = "\n".join(f"{0.005 * k},0,0,0,0" for k in range(1600))
    (tmp_path / "log.csv").write_text(f"t,q1,q2,tau1,tau2\n{rows}\n")
    with pytest.raises(fa.StateFault, match="all torques are zero; give a log in which they were measured"):
        fa.identify(fa.load("rr"), tmp_path / "log.csv")


def test_an_unexcited_log_of_anything_is_mended_without_an_error_of_numpys(tmp_path):
    rng = np.random.default_rng(0)
    rows = "\n".join(f"{0.005 * k},0,0,0,{x!r}" for k, x in enumerate((rng.normal(size=400) * 1e18).tolist()))
    (tmp_path / "log.csv").write_text(f"t,q1,q2,tau1,tau2\n{rows}\n")
    mend = ("clipping", "sign", "shift", "unexcited")
    found = fa.identify(fa.load("rr"), tmp_path / "log.csv", check=False, mend=mend)
    assert np.all(np.isfinite(found.base.values))


@pytest.mark.parametrize("factor", [0.5, 2**0.5, 2.0])
def test_one_factor_on_all_torques_was_taken_for_a_heavier_arm_without_a_word(factor):
    """Gains of peak currents for rms ones, a known load of twice its weight: residuals are as small as ever."""
    arm = with_drives(fa.load("panda"))
    log = log_of(arm, motion_of(arm, duration=10.0, seed=1), rate=200.0)

    def told(log):
        return [note for note in fa.identify(arm, log).notes if "alike at all joints" in note]

    assert told(log) == []
    (said,) = told(log | {"tau": factor * log["tau"]})
    assert f"WARNING: torques are {factor:.3g} times" in said


@pytest.mark.parametrize("seed", range(4))
def test_torques_of_a_single_move_were_said_to_have_the_other_sign(seed):
    """While a joint goes one way only, dry friction is an offset, and the sign of either may come out as it likes."""
    drive = fa.Drive(rotor_inertia=0.4, side="joint", viscous=2.0, coulomb=(3.0, 3.0), smoothing=0.01)
    given = fa.load("ur5e")
    true = given.replace(links=tuple(link.replace(drive=drive) for link in given.links))
    rng = np.random.default_rng(seed)
    there, back = rng.uniform(-1.5, 1.5, (2, 6)) + np.array([0.0, -1.0, 1.0, 0.0, 0.0, 0.0])
    s = fa.point_to_point(given, there, back, accelerations=4, jerks=40).sample(500)
    tau = fa.inverse_dynamics(true, s.q, s.qd, s.qdd) + 0.3 * rng.normal(size=s.q.shape)
    q = np.round(s.q / TICK) * TICK
    start = given.with_parameters(0.8 * fa.parameters(given))
    with pytest.raises(fa.StateFault, match="does not show"):
        fa.identify(start, {"t": s.t, "q": q, "tau": tau}, smoothing=0.01)
    with pytest.raises(fa.StateFault, match="other sign"):
        fa.identify(start, {"t": s.t, "q": q, "tau": -tau}, smoothing=0.01)
