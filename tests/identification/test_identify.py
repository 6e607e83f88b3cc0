"""Synthetic logs: intervals are honest, bodies are bodies, a fresh motion is predicted."""

import re
import runpy
import sys
import time
from dataclasses import replace
from pathlib import Path

import mpmath
import numpy as np
import pytest

import forearm as fa
from arms import random_arm
from forearm.identification.consistent_fit import believed, ten_of_pseudo
from identification.synthetic import log_of, motion_of, somewhat_wrong, with_drives

ARMS = ["rr", "generic_3r", "ur5e", "iiwa14", "panda"]


@pytest.fixture(scope="module")
def three():
    true = with_drives(fa.load("generic_3r"))
    return true, somewhat_wrong(true), motion_of(true, duration=10.0, seed=1)


@pytest.mark.parametrize(
    "name", [n if n == "generic_3r" else pytest.param(n, marks=pytest.mark.more) for n in ARMS]
)
def test_intervals_hold_the_truth_and_fresh_motions_are_predicted(name):
    true = with_drives(fa.load(name))
    start, motion = somewhat_wrong(true), motion_of(true, seed=1)
    fresh = motion_of(true, seed=77).sample(200)
    want = fa.inverse_dynamics(true, fresh.q, fresh.qd, fresh.qdd)
    noise = 0.01 * np.ptp(fa.inverse_dynamics(true, *motion.sample(400)[1:]), axis=0)
    inside, friction = [], []
    for seed in range(6):
        found = fa.identify(start, log_of(true, motion, seed=seed, jitter=0.1))
        z = np.abs(found.base.values - found.base.of(true)) / found.base.std
        inside.extend(z < 1.96)
        friction.extend(z[[name[:2] in ("FV", "FC") for name in found.base.names]] < 3)
        rest = found.torques(fresh.q, fresh.qd, fresh.qdd) - want
        assert np.all(np.sqrt(np.mean(rest**2, axis=0)) < 2 * noise)
        assert min(found.smallest) > 0
    assert 0.90 <= np.mean(inside) <= 0.99
    assert np.mean(friction) > 0.98


def test_every_body_is_one_to_fifty_digits(three):
    true, start, motion = three
    found = fa.identify(start, log_of(true, motion))
    with mpmath.workdps(50):
        for link in found.arm.links:
            values = mpmath.eigsy(mpmath.matrix(link.pseudo_inertia.tolist()), eigvals_only=True)
            assert min(values) > 0


def test_a_start_of_no_body_is_mended_and_said():
    true = with_drives(fa.load("puma560"))
    found = fa.identify(somewhat_wrong(true), log_of(true, motion_of(true, seed=1)))
    assert any("no body's inertia" in note for note in found.notes)
    assert not found.arm.defects
    assert min(found.smallest) > 0


def test_offsets_and_directions_are_found(three):
    true, _, _ = three
    links = [x.replace(drive=x.drive.replace(coulomb=(1.2, 0.8), smoothing=0.3)) for x in true.links]
    true = true.replace(links=tuple(links))
    motion = motion_of(true, duration=10.0, seed=1)
    log = log_of(true, motion, offset=np.array([0.5, -0.25, 0.0]), noise=0.001)
    found = fa.identify(somewhat_wrong(true), log, directions=True)
    assert np.allclose(found.offset, [0.5, -0.25, 0.0], atol=0.1)
    assert np.allclose([link.drive.coulomb for link in found.arm.links], (1.2, 0.8), atol=0.1)


def test_what_is_only_prior_is_told(three):
    true, start, motion = three
    found = fa.identify(start, log_of(true, motion))
    source = dict(zip(found.parameters.names, found.parameters.source, strict=True))
    assert source["M1"] == "prior"  # the mass of a link that turns about an upright axis
    assert source["FV1"] == "data"


def test_a_parameter_that_torques_tell_only_in_a_sum_is_not_called_determined(three):
    """The prior shares sums out; however small the error then is, the data have not told it."""
    true, start, motion = three
    found = fa.identify(start, log_of(true, motion))
    groups = dict(zip(found.base.names, found.base.groups, strict=True))
    determined = [name for names in found.determined.values() for name in names.split()]
    assert all(groups.get(name) == name for name in determined)
    narrow = dict(zip(found.parameters.names, found.parameters.std / found.parameters.prior_std, strict=True))
    assert narrow["MY3"] < 0.3
    assert groups["MY3"] != "MY3"


def test_currents_and_coupled_motors(three):
    true, start, motion = three
    log = log_of(true, motion)
    joints = np.array([[100.0, 0, 0], [0, 80.0, 0], [0, 50.0, 50.0]])  # q_motor = joints @ q_joint
    B, gains = np.linalg.inv(joints), np.array([0.1, 0.2, 0.1])
    motors = {
        "t": log["t"],
        "q": log["q"] @ joints.T,
        "current": log["tau"] @ B / gains,
    }
    found = fa.identify(start, motors, gains=gains, coupling=B)
    assert set(found.coupled) == {"FVm3", "FCm3", "IAm3"}
    plain = fa.identify(start, log)
    fresh = motion.sample(50)
    a, b = (x.torques(fresh.q, fresh.qd, fresh.qdd) for x in (found, plain))
    assert np.max(np.abs(a - b)) < 0.02 * np.max(np.abs(b))


def test_measured_speeds_and_uneven_times(three):
    true, start, motion = three
    log = log_of(true, motion, jitter=0.4)
    log["qd"] = motion.sample(log["t"]).qd
    found = fa.identify(start, log)
    assert any("uneven" in note for note in found.notes)
    assert found.residuals.train_total < 0.02
    log["qd"] = log["qd"] * 1.5
    again = fa.identify(start, log)
    assert any("not those of its positions" in note for note in again.notes)


def test_validation_text_and_page(three, tmp_path):
    true, start, motion = three
    log, other = (log_of(true, motion, seed=k) for k in (0, 1))
    found = fa.identify(start, log, validate=other)
    assert found.residuals.validation.shape == (3,)
    assert found.residuals.validation_total < 0.03
    assert "consistent, validation" in str(found)
    page = found.write(tmp_path / "report.html").read_text()
    assert "<svg" in page
    assert "Base parameters" in page
    assert "Warnings" not in page
    doubted = replace(found, notes=("WARNING: torques <may> come late", *found.notes)).html()
    order = [doubted.index(f"<h2>{title}") for title in ("Warnings", "Measured and predicted torques")]
    assert order[0] < doubted.index("torques &lt;may&gt; come late") < order[1]


def test_a_coupled_motor_has_its_numbers_under_their_names(three):
    true, start, motion = three
    log = log_of(true, motion)
    turns = np.eye(3)
    turns[2, 1] = 1.0
    motors = {"t": log["t"], "q": log["q"] @ turns.T, "tau": log["tau"] @ np.linalg.inv(turns)}
    found = fa.identify(start, motors, coupling=np.linalg.inv(turns))
    row = re.search(r"motor 3, with several joints(.*?)</tr>", found.html(), re.DOTALL)[1]
    cells = re.findall(r">([^<>]*)</td>", row)
    assert [cell != "" for cell in cells] == [True, True, False, True, False]
    assert float(cells[0]) == pytest.approx(found.coupled["FVm3"], rel=0.01, abs=1e-12)


@pytest.mark.parametrize("order", [[1, 0, 2], [2, 0, 1]])
def test_a_log_of_motors_in_another_order_ended_in_words_of_numpy(three, order):
    """Which column a motor has in the log is its own affair: B tells, and what is found is the same."""
    true, start, motion = three
    log = log_of(true, motion)
    turns = np.eye(3)
    turns[2, 1] = 1.0
    found = []
    for mixed in (turns, turns[order]):
        motors = {"t": log["t"], "q": log["q"] @ mixed.T, "tau": log["tau"] @ np.linalg.inv(mixed)}
        found.append(fa.identify(start, motors, coupling=np.linalg.inv(mixed)))
    assert set(found[1].coupled) == {"FVm3", "FCm3", "IAm3"}
    np.testing.assert_allclose(found[1].theta, found[0].theta, rtol=1e-6, atol=1e-9)


def test_two_motors_that_share_two_joints_are_named_for_one_each(three):
    """CoreXY: both belts move both carriages, and their columns may come in either order."""
    true, start, motion = three
    log = log_of(true, motion)
    turns = np.array([[1.0, 1.0, 0.0], [1.0, -1.0, 0.0], [0.0, 0.0, 1.0]])
    for order in ([0, 1, 2], [1, 0, 2], [2, 0, 1]):
        mixed = turns[order]
        motors = {"t": log["t"], "q": log["q"] @ mixed.T, "tau": log["tau"] @ np.linalg.inv(mixed)}
        found = fa.identify(start, motors, coupling=np.linalg.inv(mixed))
        assert {"FVm1", "FVm2"} <= set(found.coupled)
        fresh = motion.sample(50)
        a, b = (x.torques(fresh.q, fresh.qd, fresh.qdd) for x in (found, fa.identify(start, log)))
        assert np.max(np.abs(a - b)) < 0.02 * np.max(np.abs(b))


def test_the_identified_arm_is_an_arm_like_any_other(three, tmp_path):
    true, start, motion = three
    found = fa.identify(start, log_of(true, motion))
    path = fa.write_toml(found.arm, tmp_path / "identified.toml")
    again = fa.load(tmp_path / "identified.toml")
    assert again.links[1].drive.viscous == found.arm.links[1].drive.viscous
    assert fa.verify(again).passed
    assert path is None or path.exists()


def test_twenty_thousand_states_in_two_seconds():
    true = with_drives(fa.load("iiwa14"))
    start, log = somewhat_wrong(true), log_of(true, motion_of(true, seed=1), rate=1000.0)
    fa.identify(start, log)  # compiles
    best = np.inf
    for _ in range(3):
        began = time.process_time()
        fa.identify(start, log)
        best = min(best, time.process_time() - began)
    assert len(log["t"]) == 20000
    assert best < 4  # seconds of all threads together; other work on the machine does not count


def test_without_the_solver_one_sentence(three, monkeypatch):
    true, start, motion = three
    monkeypatch.setitem(sys.modules, "clarabel", None)
    with pytest.raises(fa.StateFault, match=r"pip install 'forearm\[identify\]'"):
        fa.identify(start, log_of(true, motion))


def test_the_example_runs(capsys):
    example = Path(__file__).parents[2] / "examples" / "08_identify.py"
    runpy.run_path(str(example.with_name("08_identify.py")))["main"](generations=5)
    assert "within their 95 % intervals" in capsys.readouterr().out


def test_rotors_that_are_not_looked_for_are_believed_and_counted_once(three):
    true, start, motion = three
    true = true.replace(
        links=tuple(link.replace(drive=link.drive.replace(rotor_inertia=0.5)) for link in true.links)
    )
    rotors = [link.drive for link in true.links]
    given = start.replace(
        links=tuple(
            link.replace(drive=link.drive.replace(rotor_inertia=drive.rotor_inertia, side="joint"))
            for link, drive in zip(start.links, rotors, strict=True)
        )
    )
    free = fa.identify(given, log_of(true, motion), rotors=False)
    s = motion.sample(200)
    want = fa.inverse_dynamics(true, s.q, s.qd, s.qdd)
    assert [link.drive.rotor_inertia for link in free.arm.links] == [d.rotor_inertia for d in rotors]
    assert np.max(np.abs(free.torques(s.q, s.qd, s.qdd) - want)) < 0.02 * np.max(np.abs(want))
    gains = np.array([5.0, -3.0, 2.0])
    held = (2.0, (0.05, 0.0, 0.1))
    logs = [
        {"t": log["t"], "q": log["q"], "current": log["tau"] / gains}
        for log in (log_of(true, motion), log_of(true.with_payload(*held, frame="tool"), motion, seed=1))
    ]
    both = fa.identify(given, logs[0], loaded=logs[1], load=held, rotors=False)
    assert np.max(np.abs(both.gains - gains) / both.gains_std) < 4
    assert np.max(np.abs(both.torques(s.q, s.qd, s.qdd) - want)) < 0.05 * np.max(np.abs(want))


def test_friction_of_one_direction_only_is_that_of_the_arm(three):
    true, start, motion = three
    drive = fa.Drive(coulomb=(0.5, 0.0), smoothing=0.01)
    lame = true.replace(links=tuple(link.replace(drive=drive) for link in true.links))
    for seed in range(4):
        found = fa.identify(start, log_of(lame, motion, rate=100.0, seed=seed), directions=True)
        mean, apart = (found.drives.part(found.theta[30:], kind) for kind in ("FC", "FD"))
        arms = np.array([link.drive.coulomb for link in found.arm.links])
        # the arm was given no negative friction, and the numbers beside it had some
        assert np.allclose(arms, np.stack([mean + apart, mean - apart], axis=1), rtol=0, atol=1e-6)


def test_inertias_of_few_rows_a_second_are_not_too_small(three):
    """Accelerations by cubic splines were too small by (ω step)² / 12."""
    true, start, motion = three
    quick = replace(motion, period=4.0)
    off = []
    for seed in range(4):
        found = fa.identify(
            start, log_of(true, quick, rate=50.0, noise=0.0005, tick=0.0, seed=seed, periods=4)
        )
        off.append((found.base.values - found.base.of(true)) / found.base.std)
    assert np.mean(np.abs(off) < 1.96) > 0.9


@pytest.mark.parametrize(("step", "coarse"), [(0.02, False), (2.0, True)])
def test_torques_in_coarse_steps_are_warned_of(three, step, coarse):
    true, start, motion = three
    log = log_of(true, motion, rate=200.0)
    log["tau"][:, 2] = np.round(log["tau"][:, 2] / step) * step
    told = [note for note in fa.identify(start, log).notes if "torques have few values: joint3" in note]
    assert len(told) == coarse


@pytest.mark.parametrize("size", [1.0, 0.1, 1e-3])
def test_links_of_small_arms_were_believed_to_be_a_centimetre_thick(size):
    """What a log did not tell came back as a hundred times what was given."""
    powers = size ** np.array([3, 4, 4, 4, 5, 5, 5, 5, 5, 5])
    given = fa.parameters(random_arm(3, 5)).reshape(3, 10) * powers
    bodies, changed = believed(given)
    assert not changed
    assert np.allclose([ten_of_pseudo(J) / powers for J in bodies], given / powers, rtol=1e-12, atol=1e-12)


def test_a_link_without_thickness_is_believed_to_have_some():
    point = np.array([[2.0, 0.6, 0, 0, 0, 0, 0, 0.18, 0, 0.18]])
    for size in (1.0, 1e-3):
        bodies, _ = believed(point * size ** np.array([3, 4, 4, 4, 5, 5, 5, 5, 5, 5]))
        assert np.linalg.eigvalsh(bodies[0])[0] > 0
        assert np.linalg.cond(bodies[0] / np.sqrt(np.outer(d := np.diag(bodies[0]), d))) < 1e4
