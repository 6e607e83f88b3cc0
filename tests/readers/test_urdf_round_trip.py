"""An arm written as URDF and read again has the same torques; and Pinocchio reads the same arm."""

import numpy as np
import pytest
from sympy import Symbol

import forearm as fa
from arms import random_arm, seed_of
from close import assert_close
from forearm.angles import roll_pitch_yaw
from forearm.faults import ArmFault
from forearm.formulations import FORMULATIONS
from forearm.frames import Pose
from forearm.kinematics import frame_pose
from forearm.link import Drive
from forearm.readers import known_arms, load
from forearm.readers.urdf import from_urdf
from forearm.writers.urdf import to_urdf, write_urdf

torques = FORMULATIONS["luh_walker_paul_1980"].joint_torques
ARMS = [
    random_arm(n, seed, kinds, general=seed % 2 == 0, flips=True)
    for n, kinds in ((1, "R"), (4, "RP"), (7, "R"), (6, "RP"))
    for seed in range(3)
]


def assert_same_arm(got, want, seed):
    rng = np.random.default_rng(seed)
    for _ in range(3):
        q, qd, qdd = rng.uniform(-2, 2, (3, want.n))
        expected = torques(want, q, qd, qdd)
        assert np.max(np.abs(torques(got, q, qd, qdd) - expected)) <= 1e-12 * max(1, np.max(np.abs(expected)))
        for a, b in zip(frame_pose(got, q), frame_pose(want, q), strict=True):
            assert np.max(np.abs(a - b)) < 1e-12


@pytest.mark.parametrize("arm", ARMS, ids=lambda arm: arm.name)
def test_random_arms_survive(arm):
    assert_same_arm(from_urdf(to_urdf(arm)), arm, seed_of(arm.name))


@pytest.mark.parametrize("name", known_arms())
def test_built_in_arms_survive(name):
    arm = load(name).without_drives()
    if not arm.dynamics:
        assert not from_urdf(to_urdf(arm, lossy=True)).dynamics
        return
    again = from_urdf(to_urdf(arm, lossy=True), keep_defects=True, gravity=arm.gravity)
    assert_same_arm(again, arm, seed_of(name))
    assert again.joint_names == arm.joint_names


def test_limits_friction_and_names_survive(tmp_path):
    arm = random_arm(3, 5, "RPR")
    first = arm.links[0].replace(
        limits=(-1.0, 2.0), speed_limit=3.0, effort_limit=4.0, drive=Drive(viscous=0.1, coulomb=(0.2, 0.2))
    )
    arm = arm.replace(links=(first, *arm.links[1:]), provenance=(("masses", "weighed -- twice"),))
    again = load(write_urdf(arm, tmp_path / "arm.urdf"))
    assert again.joint_names == arm.joint_names
    assert (again.links[0].limits, again.links[0].speed_limit, again.links[0].effort_limit) == (
        (-1.0, 2.0),
        3.0,
        4.0,
    )
    assert again.links[0].drive == first.drive
    assert again.links[1].limits is None
    assert again.links[2].limits is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"gravity": (0, 0, -1.62)}, r"URDF cannot say gravity \(0.0, 0.0, -1.62\).*lossy=True"),
        ({"drive": Drive(0.1, 10, "motor")}, "the rotor inertia of 'joint1', 10 kg m² at the joint"),
        (
            {"drive": Drive(coulomb=(0.1, 0.2))},
            "the dry friction of 'joint1', which differs with the direction",
        ),
        ({"limits": (-np.inf, 1.0)}, r"the limits of 'joint1', \(-inf, 1.0\), on one side only"),
        ({"effort_limit": 0.0}, r"the limit of effort 0 of 'joint1' \(0 stands for none\)"),
        ({"speed_limit": 0.0}, r"the limit of speed 0 of 'joint1' \(0 stands for none\)"),
    ],
)
def test_what_urdf_cannot_say_is_refused_or_left_out_in_a_comment(change, words):
    arm = random_arm(2, 1)
    if "gravity" in change:
        arm = arm.replace(**change)
    else:
        arm = arm.replace(links=(arm.links[0].replace(**change), arm.links[1]))
    with pytest.raises(ArmFault, match=words):
        to_urdf(arm)
    text = to_urdf(arm, lossy=True)
    assert "<!-- left out: " in text
    assert_same_arm(from_urdf(text), arm.without_drives().replace(gravity=(0, 0, -9.81)), 1)


def test_symbols_are_refused():
    arm = random_arm(2, 1)
    symbolic = arm.replace(links=(arm.links[0].replace(mass=Symbol("m1", positive=True)), arm.links[1]))
    with pytest.raises(ArmFault, match="link 1 'joint1' has symbols; URDF takes numbers"):
        to_urdf(symbolic)


@pytest.mark.parametrize("pitch", [0.0, 0.3, np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-9, np.pi / 2 + 1e-12])
def test_roll_pitch_yaw_gives_the_rotation_back_also_in_gimbal_lock(pitch):
    for roll, yaw in ((0.0, 0.0), (0.4, -2.0), (3.0, 1.0)):
        R = Pose.at(rpy=(roll, pitch, yaw)).R
        assert_close(Pose.at(rpy=roll_pitch_yaw(R)).R, R, eps=8)


def test_pinocchio_reads_the_written_file_as_we_do():
    pin = pytest.importorskip("pinocchio", reason="Pinocchio has no wheel for this platform")
    arm = random_arm(6, 11, "RP", general=True, flips=True)
    model = pin.buildModelFromXML(to_urdf(arm))
    q, qd, qdd = np.random.default_rng(4).uniform(-2, 2, (3, arm.n))
    want = pin.rnea(model, model.createData(), pin.integrate(model, pin.neutral(model), q), qd, qdd)
    got = torques(arm, q, qd, qdd)
    assert np.max(np.abs(got - want)) <= 1e-12 * np.max(np.abs(want))


def test_joints_to_frames_have_names_that_no_other_joint_has(tmp_path):
    arm = fa.load("rr").replace(gravity=(0.0, 0.0, -9.81))
    links = (arm.links[0].replace(name="to_a"), arm.links[1])
    frames = tuple(fa.NamedFrame(name, 1, fa.Pose(translation=(0.1, 0.0, 0.0))) for name in ("a", "a_"))
    path = fa.write_urdf(arm.replace(links=links, frames=frames), tmp_path / "a.urdf", lossy=True)
    assert {"a", "a_"} <= set(fa.load(path).frame_names)


def test_an_infinite_limit_made_a_file_that_nobody_reads():
    last = ARMS[0].links[-1].replace(speed_limit=np.inf, effort_limit=np.inf)
    arm = ARMS[0].replace(links=(*ARMS[0].links[:-1], last))
    assert "inf" not in to_urdf(arm)
    assert from_urdf(to_urdf(arm)).links[-1].speed_limit is None
    half = arm.replace(links=(*ARMS[0].links[:-1], last.replace(effort_limit=20.0)))
    assert from_urdf(to_urdf(half)).links[-1].effort_limit == 20.0
    assert "has no limit of speed, and 0 stands for it" in to_urdf(half)
