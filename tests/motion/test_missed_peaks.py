"""Verdicts about a motion that is given by rows: its peaks are between them."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from tests.cli.verbs import forearm

import forearm as fa
from forearm.motion.motion_files import read_motion
from forearm.motion.motions import Quintic, Samples, Trapezoid

POINTS = np.array([[0, 0, 0], [0.5, 0.5, 0.3], [1, 1, -0.5], [1.5, 0.2, 0.1]])
"""t, q1, q2."""
ARM = """name = "b"
convention = "standard"
[[link]]
name = "j1"
joint = "revolute"
a = 0
alpha = "pi/2"
d = 0.3
mass = 3
com = [0, -0.1, 0]
inertia = { about = "com", Ixx = 0.01, Iyy = 0.02, Izz = 0.02 }
effort_limit = 1.2
[[link]]
name = "j2"
joint = "revolute"
a = 0.4
alpha = 0
d = 0
mass = 2
com = [-0.2, 0, 0]
inertia = { about = "com", Ixx = 0.01, Iyy = 0.02, Izz = 0.02 }
"""


def by_hand():
    """The first joint's torque along SciPy's spline: a closed form, at many times."""
    t = np.linspace(0, 1.5, 200_001)
    q1, q2 = (CubicSpline(POINTS[:, 0], POINTS[:, k]) for k in (1, 2))
    c, s = np.cos(q2(t)), np.sin(q2(t))
    tau = (0.03 + 0.09 * c**2) * q1(t, 2) - 0.18 * s * c * q1(t, 1) * q2(t, 1)
    k = int(np.argmax(np.abs(tau)))
    return t[k], abs(tau[k]), float(np.sqrt(np.mean(tau**2)))


@pytest.fixture
def files(tmp_path):
    (tmp_path / "arm.toml").write_text(ARM)
    rows = "\n".join(",".join(map(str, row)) for row in POINTS.tolist())
    (tmp_path / "few.csv").write_text(f"t,q1,q2\n{rows}\n")
    return tmp_path / "arm.toml", tmp_path / "few.csv"


def test_a_summary_of_a_few_points_said_that_limits_are_kept_which_the_spline_passes(capsys, files):
    at, peak, rms = by_hand()
    said = forearm(capsys, "torque", *files, "--summary", "--json")
    assert said.code == 1
    load, found = said.json["joints"][0], said.json["beyond_limits"][0]
    assert load["peak"] == pytest.approx(peak, rel=1e-3)
    assert load["peak_at"] == pytest.approx(at, abs=0.02)
    assert load["rms"] == pytest.approx(rms, rel=1e-3)
    assert (found["joint"], found["what"]) == ("j1", "torque")
    assert said.json["rows"] == len(POINTS)
    assert any("the 4 rows miss peaks of the motion between them" in note for note in said.json["notes"])
    plain = forearm(capsys, "torque", *files, "--summary")
    assert plain.code == 1
    assert "the 4 rows miss peaks" in plain.err


def test_every_door_has_the_same_verdict_of_a_few_points(capsys, files, tmp_path):
    arm = fa.load(files[0])
    recorded = read_motion(files[1], arm)
    assert not fa.feasible(arm, recorded.motion)
    assert not fa.feasible(arm, recorded.samples)
    assert "miss peaks" in str(fa.feasible(arm, recorded.samples))
    said = forearm(capsys, "report", *files, "-o", tmp_path / "r.html")
    assert said.code == 1
    assert "miss peaks" in (tmp_path / "r.html").read_text()
    assert fa.report(arm, files[1]).excesses
    assert any("'j1': torque" in note for note in fa.view(arm, files[1]).notes)
    assert forearm(capsys, "sweep", *files, "--density", 1, 1, "--samples", 1).code == 1


def test_rows_with_speeds_are_judged_between_them_too():
    """A joint turns round between two rows, beyond its limit."""
    arm = fa.Arm("one", [fa.Link("revolute", mass=1.0, com=(0.1, 0, 0), name="j", limits=(-0.95, 0.95))])
    t = np.linspace(0.2, 1.4, 4)
    rows = Samples(t, np.sin(2 * t)[:, None], 2 * np.cos(2 * t)[:, None], -4 * np.sin(2 * t)[:, None])
    assert np.max(rows.q) < 0.95
    (found,) = fa.feasible(arm, rows).excesses
    assert found.worst == pytest.approx(1.0, abs=2e-3)
    assert found.t == pytest.approx(np.pi / 4, abs=0.02)


@pytest.mark.parametrize("rows", [15, 51, 201, 2001])
@pytest.mark.parametrize("name", ["trapezoid", "quintic", "s-curve"])
def test_what_keeps_its_limits_is_not_beyond_them_between_rows(name, rows):
    """Motions at their limits of speed, whose accelerations jump between two rows."""
    arm = fa.load("ur5e")
    a, b = [0, -1.2, 1, -0.5, 0.3, 0.2], [0.6, -0.8, 0.7, 0.1, -0.2, 0.5]
    motion = {
        "trapezoid": Trapezoid(a, b, 2.0, ramp=0.11),
        "quintic": Quintic(a, b, 2.0),
        "s-curve": fa.point_to_point(arm, a, b, accelerations=2.0, jerks=20.0),
    }[name]
    speeds = [load.peak_speed for load in fa.feasible(arm, motion).loads]
    ends = [tuple(sorted(pair)) for pair in zip(a, b, strict=True)]
    links = [
        link.replace(limits=end, speed_limit=speed)
        for link, end, speed in zip(arm.links, ends, speeds, strict=True)
    ]
    tight = arm.replace(links=links)
    assert fa.feasible(tight, motion)
    assert fa.feasible(tight, motion.sample(rows)), str(fa.feasible(tight, motion.sample(rows)))


def test_an_arm_without_masses_is_held_against_its_limits_between_rows(capsys, files, tmp_path):
    """`view` and `sweep` tell what goes beyond limits of position."""
    t = np.linspace(0.2, 1.4, 4)
    rows = Samples(t, np.sin(2 * t)[:, None], 2 * np.cos(2 * t)[:, None], -4 * np.sin(2 * t)[:, None])
    bare = fa.Arm("bare", [fa.Link("revolute", name="j", limits=(-0.95, 0.95))], dynamics=False)
    assert any("position" in note and "beyond" in note for note in fa.view(bare, rows).notes)
    low = tmp_path / "low.toml"
    low.write_text(f"{ARM}limits = [-0.55, 0.55]\n")
    told = forearm(capsys, "sweep", low, files[1], "--density", 1, 1, "--samples", 1).err
    assert "joint 'j2': position -0.58" in told


def test_states_that_are_no_motion_are_taken_as_they_are():
    rng = np.random.default_rng(1)
    arm = fa.load("rr")
    rows = Samples(np.arange(9.0), *(rng.normal(size=(9, 2)) for _ in range(3)))
    assert not fa.feasible(arm, rows).notes
    assert len(fa.feasible(arm, rows).tau) == 9


@pytest.mark.parametrize("name", ["puma560", "panda", "rr"])
def test_rows_with_a_joints_greatest_speed_one_way_hid_how_fast_it_runs_the_other_way(name):
    """A fifth of the shoulder's power was missing: speeds and torques kept both ends of the rows, for they had one."""
    arm, rng = fa.load(name), np.random.default_rng(3)
    low, high = np.array([link.limits or (-2, 2) for link in arm.links]).T
    points = rng.uniform(0.4 * np.maximum(low, -2), 0.4 * np.minimum(high, 2), (8, arm.n))
    spline = CubicSpline(np.arange(8.0), points)
    given, many = (
        Samples(t, spline(t), spline(t, 1), spline(t, 2)) for t in (np.arange(8.0), np.linspace(0, 7, 40_001))
    )
    found, tau = fa.feasible(arm, given), fa.inverse_dynamics(arm, *many[1:])
    for got, want in ((found.tau, tau), (found.samples.qd, many.qd), (found.samples.q, many.q)):
        for end in (np.min, np.max):
            assert np.all(np.abs(end(got, axis=0) - end(want, axis=0)) < 5e-3 * np.abs(want).max(axis=0))
    power = [load.peak_power for load in found.loads]
    np.testing.assert_allclose(power, np.abs(tau * many.qd).max(axis=0), rtol=5e-3)
