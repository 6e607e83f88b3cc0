"""Arm: payloads, bases, tools, replacing, hashing, pickling; both Denavit-Hartenberg conventions; what it knows."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arms import golden_arm, random_arm, random_body, random_rotation
from close import assert_close
from forearm.arm import Arm, Defect
from forearm.formulations import FORMULATIONS
from forearm.frames import Pose
from forearm.inertia import Inertia
from forearm.link import Drive, Link
from forearm.readers import known_arms, load

torques = FORMULATIONS["luh_walker_paul_1980"].joint_torques

seeds = st.integers(0, 10_000)
masses = st.floats(0.0, 20)
points = st.tuples(*[st.floats(-0.5, 0.5)] * 3)


def same_torques(a, b, eps=64, because=None, seed=0):
    q, qd, qdd = a.random_state(seed)
    want = torques(b, q, qd, qdd)
    assert_close(torques(a, q, qd, qdd), want, eps, because=because)


# -- payload ---------------------------------------------------------------------------------------------


def test_zero_payload_is_the_arm_itself():
    arm = random_arm(4, 1, "RP")
    for frame in ("flange", "tool"):
        assert arm.with_payload(0.0, (0.1, 0.2, 0.3), frame=frame) is arm
        assert arm.with_payload(0, inertia=Inertia.about_com(np.zeros((3, 3))), frame=frame) is arm


@given(masses, points, masses, points)
@settings(max_examples=40, deadline=None)
def test_payloads_combine(m1, c1, m2, c2):
    """Two payloads one after the other, in either order, and their sum: one body."""
    arm = golden_arm("STAN")
    box = Inertia.box(1.0, 0.1, 0.2, 0.3)
    ab = arm.with_payload(m1, c1, box, frame="flange").with_payload(m2, c2, frame="flange")
    ba = arm.with_payload(m2, c2, frame="flange").with_payload(m1, c1, box, frame="flange")
    scale = np.max(np.abs(ab.links[-1].ten.inertia))
    for x, y in zip(ab.links[-1].ten, ba.links[-1].ten, strict=True):
        assert_close(x, y, eps=64, scale=max(scale, float(ab.links[-1].mass)))
    assert ab.total_mass == pytest.approx(arm.total_mass + m1 + m2, rel=1e-14)


@given(st.floats(0.1, 20), points)
@settings(max_examples=25, deadline=None)
def test_minus_a_payload_takes_it_off(mass, com):
    arm = golden_arm("G6R")
    box = np.array(Inertia.box(mass, 0.1, 0.2, 0.3).tensor)
    loaded = arm.with_payload(mass, com, Inertia.about_com(box), frame="tool")
    again = loaded.with_payload(-mass, com, Inertia.about_com(-box), frame="tool")
    scale = np.max(np.abs(loaded.links[-1].ten.inertia)) + mass
    for x, y in zip(again.links[-1].ten, arm.links[-1].ten, strict=True):
        assert_close(x, y, eps=64, scale=scale)


def test_payload_is_a_body_at_the_end_of_the_arm():
    """The same as one more link whose joint does not move."""
    arm = random_arm(3, 7, "RPR")
    rng = np.random.default_rng(8)
    body = random_body(rng)
    loaded = arm.with_payload(body["mass"], body["com"], body["inertia"], frame="flange")
    longer = arm.replace(links=(*arm.links, Link("revolute", **body)))
    q, qd, qdd = arm.random_state(9)
    want = torques(longer, *(np.append(x, 0.0) for x in (q, qd, qdd)))[:3]
    assert_close(torques(loaded, q, qd, qdd), want)


def test_payload_in_the_tool_frame():
    rng = np.random.default_rng(10)
    arm = random_arm(3, 11)
    tool = Pose(random_rotation(rng), rng.normal(size=3))
    body = random_body(rng)
    there = arm.with_tool(tool).with_payload(body["mass"], body["com"], body["inertia"], frame="tool")
    center = tool.R @ body["com"] + tool.p
    turned = Inertia.about_com(body["inertia"].tensor, axes=tool.R)
    same_torques(there, arm.with_payload(body["mass"], center, turned, frame="flange"))


def test_payload_inertia_about_the_frame_origin():
    arm, com, mass = random_arm(3, 12), np.array([0.1, -0.2, 0.3]), 2.0
    about_com = np.diag([0.1, 0.2, 0.15])
    about_origin = about_com + mass * ((com @ com) * np.eye(3) - np.outer(com, com))
    a = arm.with_payload(mass, com, Inertia.about_com(about_com), frame="flange")
    b = arm.with_payload(mass, com, Inertia.about_origin(about_origin), frame="flange")
    same_torques(a, b)


# -- values ----------------------------------------------------------------------------------------------


@given(seeds)
@settings(max_examples=20, deadline=None)
def test_arms_compare_hash_copy_and_pickle(seed):
    arm = random_arm(3, seed, "RP", general=seed % 2 == 0, flips=True)
    for again in (pickle.loads(pickle.dumps(arm)), copy.copy(arm), copy.deepcopy(arm), arm.replace()):
        assert again == arm
        assert hash(again) == hash(arm)
        assert again.digest == arm.digest
        assert again.notes == arm.notes
    other = arm.replace(gravity=(0, 0, -1.62))
    assert other != arm
    assert other.digest != arm.digest


def test_pickles_carry_no_kernels():
    arm = random_arm(2, 3)
    arm.kernels["x"] = lambda: None
    assert pickle.loads(pickle.dumps(arm)).kernels == {}
    assert arm.replace().kernels == {}


def test_lists_and_arrays_become_tuples():
    arm = Arm("a", [Link("revolute", mass=1, com=[1, 0, 0])], gravity=np.array([0, 0, -9.81]), defects=[])
    assert isinstance(arm.links, tuple)
    assert arm.gravity == (0.0, 0.0, -9.81)
    assert arm.links[0].com == (1.0, 0.0, 0.0)


def test_replace_checks_like_a_new_arm():
    arm = random_arm(2, 4)
    with pytest.raises(ValueError, match="has no links"):
        arm.replace(links=())


def test_unnamed_joints_are_numbered():
    arm = Arm("a", [Link("revolute", mass=1), Link("revolute", mass=1, name="elbow")])
    assert arm.joint_names == ("joint1", "elbow")


def test_turning_base_and_gravity_together_changes_nothing():
    arm = random_arm(4, 5, "RP", tilted=False)
    R = random_rotation(np.random.default_rng(6))
    turned = arm.with_base(Pose(R)).replace(gravity=R @ arm.gravity)
    assert_close(turned.gravity_in_base, arm.gravity_in_base, eps=8)
    same_torques(turned, arm)


def test_without_drives():
    arm = load("puma560")
    rigid = arm.without_drives()
    assert arm.has_drives
    assert not rigid.has_drives
    assert not Arm("x", [Link("revolute", mass=1, drive=Drive(smoothing=0.1))]).has_drives
    assert all(link.drive == Drive() for link in rigid.links)
    assert rigid.replace(links=arm.links) == arm


def test_random_states_stay_within_limits():
    limits = [(0.5, 0.7), None, (-np.inf, -4.0), (5.0, np.inf)]
    arm = Arm(
        "a",
        [Link(kind, mass=1, limits=x) for x, kind in zip(limits, ("revolute", "prismatic") * 2, strict=True)],
    )
    q, qd, qdd = arm.random_state(1, (1000,))
    assert q.shape == qd.shape == qdd.shape == (1000, 4)
    assert np.all((q[:, 0] >= 0.5) & (q[:, 0] <= 0.7))
    assert np.all(np.abs(q[:, 1]) <= 1)
    assert np.all(q[:, 2] <= -4)
    assert np.all(q[:, 3] >= 5)
    assert np.all(arm.random_state(1)[0] == arm.random_state(1)[0])


def test_center_of_mass_of_a_stretched_arm():
    rod = dict(a=1.0, mass=2.0, com=(-0.5, 0, 0), inertia=Inertia.rod(2.0, 1.0))
    arm = Arm("rr", [Link.dh("revolute", **rod)] * 2, base=Pose.at((0, 0, 3)))
    assert_close(arm.center_of_mass([0, 0]), [1, 0, 3], eps=4)
    assert_close(arm.center_of_mass([np.pi / 2, 0]), [0, 1, 3], eps=4)
    assert_close(arm.center_of_mass([0, np.pi / 2]), [0.75, 0.25, 3], eps=4)


def test_symbolic_arm_prints_and_sums():
    sympy = pytest.importorskip("sympy")
    m1, m2, length = sympy.symbols("m1 m2 l1")
    links = [Link.dh("revolute", a=length, mass=m1), Link.dh("revolute", a=0.5, mass=m2, com=(-0.2, 0, 0))]
    arm = Arm("rr", links)
    assert arm.total_mass == m1 + m2
    assert "l1" in str(arm)
    assert arm.dh_table()[0, 0] == length


def test_masses_given_later_bring_dynamics():
    bones = Arm("bones", [Link.dh("revolute", a=1.0)])
    assert not bones.dynamics
    dressed = bones.replace(links=[link.replace(mass=1.0) for link in bones.links])
    assert dressed.dynamics
    assert not bones.without_drives().dynamics
    half = Arm("half", [Link("revolute", mass=1), Link("revolute")], dynamics=False)
    assert not half.without_drives().dynamics, "declared unknown stays unknown"


def test_defects_survive_replacing():
    body = dict(mass=1.0, inertia=Inertia.about_com(Ixx=1, Iyy=0.1, Izz=0.1))
    arm = Arm("old", [Link("revolute", **body)], defects=[Defect(1, "triangle", "printed so")])
    assert arm.with_base(Pose.at((0, 0, 1))).notes == arm.notes


@pytest.mark.parametrize("name", known_arms())
def test_built_in_arms_are_plain_values(name):
    arm = load(name)
    again = pickle.loads(pickle.dumps(arm))
    assert again == arm
    assert hash(again) == hash(arm)
    assert str(again) == str(arm)
