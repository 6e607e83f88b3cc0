"""The traps that users of other libraries fell into, each impossible here or diagnosed.

Numbers are those of the project's list of traps; what concerns readers, kernels and simulation is tested there.
"""

import inspect

import numpy as np
import pytest

import forearm as fa
from arms import random_arm, random_body, random_rotation
from close import assert_close
from forearm.algebra import parallel_axis
from forearm.arm import Arm
from forearm.faults import ArmFault, NoDynamics, StateFault, size_hint, state
from forearm.formulations import FORMULATIONS
from forearm.frames import Pose
from forearm.inertia import Inertia
from forearm.kinematics import frame_pose
from forearm.link import Drive, Link

torques = FORMULATIONS["luh_walker_paul_1980"].joint_torques
ROD = dict(mass=1.0, com=(-0.5, 0, 0), inertia=Inertia.rod(1.0, 1.0))


def pendulum(**rest):
    return Arm("pendulum", [Link.dh("revolute", a=1.0, alpha=np.pi / 2, **ROD)], **rest)


# -- inertia ---------------------------------------------------------------------------------------------


def test_trap_04_inertia_without_its_point_is_refused():
    for bare in (np.eye(3), [1, 1, 1], 0.1):
        with pytest.raises(ArmFault, match="the point matters"):
            Link("revolute", mass=1, inertia=bare)
    with pytest.raises(ArmFault, match="numbers cannot tell which point"):
        Inertia(np.eye(3))


def test_trap_04_both_points_give_one_torque():
    mass, com, about_com = 2.0, np.array([-0.4, 0.1, 0.2]), np.diag([0.1, 0.2, 0.15])
    at_origin = about_com + parallel_axis(mass, com)
    arms = [
        Arm("a", [Link.dh("revolute", a=1, mass=mass, com=com, inertia=inertia)] * 2)
        for inertia in (Inertia.about_com(about_com), Inertia.about_origin(at_origin))
    ]
    q, qd, qdd = arms[0].random_state(1)
    assert_close(torques(arms[1], q, qd, qdd), torques(arms[0], q, qd, qdd))


def test_trap_05_products_of_inertia_need_their_sign():
    with pytest.raises(ArmFault, match=r"add products='tensor' .* or products='cad'"):
        Inertia.about_com(Ixx=1, Iyy=1, Izz=1, Iyz=0.1)
    points = np.array([[1.0, 1, 0], [-1, -1, 0]]) / 2
    integral = np.sum(points[:, 0] * points[:, 1])
    cad = Inertia.about_com(Ixx=0.5, Iyy=0.5, Izz=1.0, Ixy=integral, products="cad")
    assert_close(cad.tensor, sum(parallel_axis(1.0, p) for p in points), eps=4)


def test_trap_06_six_numbers_have_no_order():
    with pytest.raises(ArmFault, match="no agreed order; name them"):
        Inertia.about_com([1, 1, 1, 0, 0, 0])
    with pytest.raises(ArmFault, match="no agreed order"):
        Inertia.about_origin(list(range(9)))
    with pytest.raises(TypeError):
        Inertia.about_com(1, 1, 1, 0, 0, 0)


@pytest.mark.parametrize("seed", range(3))
def test_trap_07_inertia_in_its_own_axes_is_turned_the_right_way(seed):
    """A body drawn in its own axes and a body drawn in link axes: one cloud of points, equal torques."""
    rng = np.random.default_rng(seed)
    R, points = random_rotation(rng), rng.normal(size=(5, 3)) * 0.1
    points -= points.mean(axis=0)
    own = sum(parallel_axis(0.4, p) for p in points)
    seen = sum(parallel_axis(0.4, R @ p) for p in points)
    a, b = (
        Arm("a", [Link.dh("revolute", a=0.3, alpha=0.4, mass=2, com=(0.1, 0, 0), inertia=x)] * 2)
        for x in (Inertia.about_com(own, axes=R), Inertia.about_com(seen))
    )
    q, qd, qdd = a.random_state(seed)
    assert_close(torques(a, q, qd, qdd), torques(b, q, qd, qdd))
    back = Inertia.about_com(Inertia.about_com(own, axes=R).tensor, axes=R.T)
    assert_close(back.tensor, own, eps=32)


def test_trap_08_degrees_are_refused_or_asked_about():
    with pytest.raises(ArmFault, match="degrees"):
        Link.dh("revolute", alpha=90)
    with pytest.raises(ArmFault, match=r"link 'wrist': offset is 20 rad, 3\.2 turns: degrees\?"):
        Link("revolute", name="wrist", offset=20)
    assert Link("prismatic", offset=20).offset == 20
    assert "degrees?" in size_hint(pendulum(), "q", np.array([45.0]))
    assert size_hint(pendulum(), "q", np.array([np.pi])) is None
    limited = Arm("a", [Link.dh("revolute", a=1, limits=(-160, 160), **ROD)])
    assert "limits reach 160 rad, 25.5 turns: degrees?" in limited.notes[0]


def test_trap_08_millimetres_grams_and_lost_points_are_asked_about():
    assert "millimetres?" in Arm("a", [Link.dh("revolute", a=431.8, **ROD)]).notes[0]
    light = dict(mass=0.001, com=(-0.1, 0, 0), inertia=Inertia.box(3.0, 0.2, 0.3, 0.4))
    assert "radius of gyration" in Arm("a", [Link.dh("revolute", a=0.2, **light)]).notes[0]
    assert pendulum().notes == ()


def test_trap_08_slides_in_millimetres_were_metres_without_a_word():
    def rail(limits):
        return Arm("rail", [Link.dh("prismatic", mass=1.0, com=(0, 0, 0), limits=limits)])

    assert size_hint(rail(None), "q", np.array([300.0])) == (
        "q reaches 300 m: millimetres? Lengths are in metres."
    )
    assert size_hint(rail(None), "q", np.array([[1.0], [np.nan], [2e9]])).startswith(
        "q reaches 2e+09 m: a motion"
    )
    assert size_hint(rail((0, 40)), "q", np.array([39.0])) is None
    assert rail((0, 200)).notes[0].startswith("link 1 'joint1': limits reach 200 m: millimetres?")
    assert rail((0, 1e16)).notes == rail((0, 2)).notes == ()


def test_trap_09_first_moment_is_no_centre_of_mass():
    """They have different names everywhere, and nothing takes a first moment for a centre."""
    link = Link("revolute", mass=3.0, com=(0.1, 0.2, 0.3))
    assert link.ten._fields == ("mass", "first_moment", "inertia")
    assert link.about_com._fields == ("mass", "center", "inertia")
    assert_close(link.ten.first_moment, 3.0 * np.array(link.com), eps=1)
    with pytest.raises(TypeError):
        Link("revolute", mass=3.0, first_moment=(0.3, 0.6, 0.9))


# -- gravity ---------------------------------------------------------------------------------------------


def test_trap_10_gravity_is_a_vector_and_on():
    with pytest.raises(ArmFault, match="give the acceleration of free fall as a vector"):
        pendulum(gravity=9.81)
    assert pendulum().gravity == (0.0, 0.0, -9.81)
    hanging = torques(pendulum(), np.zeros(1), np.zeros(1), np.zeros(1))
    assert_close(hanging, [0.0], scale=1)
    level = Arm("level", [Link.dh("revolute", a=1.0, **ROD)], base=Pose.at(rpy=(np.pi / 2, 0, 0)))
    assert_close(torques(level, np.zeros(1), np.zeros(1), np.zeros(1)), [9.81 * 0.5], eps=4)


def test_trap_10_upward_gravity_asks_about_the_ceiling():
    notes = pendulum(gravity=(0, 0, 9.81)).notes
    assert len(notes) == 1
    assert "hanging from the ceiling?" in notes[0]
    assert "with_base" in notes[0]


def test_trap_10_gravity_in_another_unit_is_asked_about():
    assert pendulum(gravity=(0, 0, -981)).notes == (
        "gravity is 981 m/s², 100 times the earth's: another unit?",
    )
    assert pendulum(gravity=(0, 0, -24.8)).notes == ()


def test_trap_10_gravity_is_in_world_axes():
    """A turned base turns the arm, not gravity: an arm on the ceiling is one under upward gravity."""
    arm = random_arm(4, 3, tilted=False)
    ceiling = arm.with_base(Pose.at(rpy=(np.pi, 0, 0)))
    up = arm.replace(gravity=(0, 0, 9.81))
    q, qd, qdd = arm.random_state(4)
    assert_close(torques(ceiling, q, qd, qdd), torques(up, q, qd, qdd))


# -- drives ----------------------------------------------------------------------------------------------


def test_trap_17_rotor_inertia_needs_its_side():
    with pytest.raises(ArmFault, match="say side='motor'"):
        Drive(rotor_inertia=2e-4, gear=100)
    assert Drive(2e-4, 100, "motor") != Drive(2e-4, 100, "joint")
    assert Drive(2e-4, -100, "motor").reflected_inertia == Drive(2e-4, 100, "motor").reflected_inertia
    assert "rotor: on (reflected)" in str(fa.load("puma560"))


# -- payload ---------------------------------------------------------------------------------------------


def test_trap_21_payload_combines_with_the_last_link():
    arm = random_arm(4, 5, "RPRR")
    body = random_body(np.random.default_rng(6))
    loaded = arm.with_payload(body["mass"], body["com"], body["inertia"], frame="flange")
    assert loaded.links[:-1] == arm.links[:-1]
    assert loaded.total_mass == pytest.approx(arm.total_mass + body["mass"], rel=1e-15)
    q, qd, qdd = arm.random_state(7)
    alone = arm.replace(links=(*(x.replace(mass=0.0, inertia=Inertia.point()) for x in arm.links[:-1]), Link(
        "revolute", arm.links[-1].pose, arm.links[-1].theta, arm.links[-1].d, **body)))  # fmt: skip
    assert_close(torques(loaded, q, qd, qdd), torques(arm, q, qd, qdd) + torques(alone, q, qd, qdd))


def test_trap_21_zero_payload_is_the_identity_to_the_bit():
    arm = random_arm(4, 8)
    assert arm.with_payload(0.0, (1, 2, 3), frame="flange") is arm


def test_trap_22_payload_needs_its_frame():
    arm = pendulum(tool=Pose.at((0, 0, 0.2)))
    with pytest.raises(ArmFault, match=r"say frame='flange' .* or frame='tool'"):
        arm.with_payload(1.0, (0, 0, 0))
    flange, tool = (arm.with_payload(1.0, frame=frame) for frame in ("flange", "tool"))
    assert flange.links[-1].com != tool.links[-1].com


# -- joints ----------------------------------------------------------------------------------------------


def test_trap_24_one_number_per_joint_and_a_fixed_base():
    arm = random_arm(3, 9)
    for wrong in (np.zeros(4), np.zeros(9), np.zeros((3, 1))):
        with pytest.raises(StateFault, match="has 3 joints"):
            state(arm, "q", wrong)
    with pytest.raises(ArmFault, match="a continuous joint is 'revolute' without limits"):
        Link("continuous")
    q, qd, qdd = arm.random_state(10)
    assert torques(arm, q, qd, qdd).shape == (3,)
    assert_close(
        torques(arm, q + 2 * np.pi, qd, qdd), torques(arm, q, qd, qdd), 256, because="q + 2 pi is rounded"
    )


TORQUES_FROM_A_STATE = sorted(
    k for k, f in FORMULATIONS.items() if "joint_torques" in f.gives and not f.needs
)


@pytest.mark.parametrize("stem", TORQUES_FROM_A_STATE)
def test_trap_25_flip_and_offset_act_on_q_qd_qdd_and_tau(stem):
    """The maker's joint runs the other way from another zero: all four quantities follow."""
    formulation = FORMULATIONS[stem]
    arm = random_arm(4, 11, "RRRR" if formulation.joints == "R" else "RPRR")
    flips, offsets = np.array([True, False, True, True]), np.array([0.3, -0.2, 0.0, 1.1])
    maker = arm.replace(
        links=tuple(
            x.replace(flip=bool(f), offset=o) for x, f, o in zip(arm.links, flips, offsets, strict=True)
        )
    )
    sign = np.where(flips, -1.0, 1.0)
    q, qd, qdd = arm.random_state(12)
    got = formulation.joint_torques(maker, q, qd, qdd)
    want = sign * formulation.joint_torques(arm, sign * (q + offsets), sign * qd, sign * qdd)
    assert_close(got, want, 512, because="the slowest formulations add thousands of terms")
    for a, b in zip(frame_pose(maker, q), frame_pose(arm, sign * (q + offsets)), strict=True):
        assert_close(a, b, scale=4)


# -- missing and impossible bodies -----------------------------------------------------------------------


def test_trap_28_missing_masses_are_no_zeros():
    bones = Arm("bones", [Link.dh("revolute", a=1.0)] * 2)
    q = np.zeros(2)
    assert not bones.dynamics
    for ask in (
        lambda: torques(bones, q, q, q),
        lambda: fa.strobe(bones, q),
        lambda: fa.inverse_dynamics(bones, q, q, q),
        lambda: bones.total_mass,
        lambda: bones.center_of_mass(q),
        lambda: bones.with_payload(1.0, frame="tool"),
    ):
        with pytest.raises(NoDynamics, match="arm 'bones' has no masses or inertias"):
            ask()
    assert frame_pose(bones, q)[1][0] == 2.0


def test_trap_29_positive_definite_but_impossible():
    """Decimal point lost in one moment: positive definite, and no body has it."""
    tensor = np.diag([0.0023, 0.0027, 1.676])
    assert np.all(np.linalg.eigvalsh(tensor) > 0)
    with pytest.raises(
        ArmFault, match=r"link 1 'joint1': principal moments \(0.0023, 0.0027, 1.676\) kg m² break"
    ):
        Arm("a", [Link.dh("revolute", a=0.2, mass=1.55, inertia=Inertia.about_com(tensor))])


def test_trap_30_point_masses_load_and_the_culprit_is_named():
    point = Link.dh("revolute", a=1.0, mass=1.0, name="point")
    assert Arm("pendulum", [point]).notes == ()
    q, qd, qdd = (np.array([x]) for x in (0.3, 0.7, -1.1))
    side = Arm("pendulum", [point], gravity=(0, -9.81, 0))
    assert_close(torques(side, q, qd, qdd), [-1.1 + 9.81 * np.cos(0.3)], eps=8)
    bad = Link.dh("revolute", a=1.0, mass=1.0, inertia=Inertia.about_com(Ixx=1, Iyy=1, Izz=3), name="bad")
    with pytest.raises(ArmFault, match=r"^arm 'two', link 2 'bad': principal moments .* triangle") as caught:
        Arm("two", [point, bad])
    assert "'point'" not in str(caught.value)


def test_trap_31_joint_that_moves_nothing_is_named():
    tip = Link.dh("revolute", name="tip")
    arm = Arm("a", [Link.dh("revolute", a=1.0, **ROD), tip])
    assert arm.notes == (
        "joint 2 'tip' has no inertia about its axis (nothing beyond it has any, and its drive has no "
        "rotor_inertia): torques exist, forward dynamics does not.",
    )
    on_axis = Link("revolute", mass=1.0, com=(0, 0, 0.2), name="tip")
    assert "joint 2 'tip'" in Arm("a", [Link.dh("revolute", a=1.0, **ROD), on_axis]).notes[0]
    driven = tip.replace(drive=Drive(0.1, side="joint"))
    assert Arm("a", [Link.dh("revolute", a=1.0, **ROD), driven]).notes == ()
    off_axis = on_axis.replace(com=(0.1, 0, 0.2))
    assert Arm("a", [Link.dh("revolute", a=1.0, **ROD), off_axis]).notes == ()


def test_trap_31_singular_mass_matrix_names_joint_and_link():
    arm = Arm("a", [Link.dh("revolute", a=1.0, **ROD), Link.dh("revolute", name="tip")])
    assert "joint 2 'tip'" in arm.notes[0]
    with pytest.raises(fa.SingularInertia, match=r"joint 2 'tip' has no inertia .* give link 2 its mass"):
        fa.forward_dynamics(arm, [0.1, 0.2], [0.0, 0.0], [1.0, 0.0])


def test_trap_34_arms_cannot_be_changed_in_place():
    arm = pendulum()
    with pytest.raises(AttributeError):
        arm.gravity = (0, 0, 0)
    with pytest.raises(AttributeError):
        arm.links[0].mass = 2.0
    with pytest.raises(ValueError, match="read-only"):
        arm.links[0].about_com.inertia[0, 0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        arm.gravity_in_base[2] = 0.0


def test_required_words_have_no_default():
    """convention=, frame=, side= and products= must be said."""
    assert inspect.signature(Arm.from_dh).parameters["convention"].default is None
    assert inspect.signature(Arm.with_payload).parameters["frame"].default is None
    assert Drive().side is None


GRAMS = [
    "generic_3r",
    "iiwa14",
    "kinova_gen3",
    "panda",
    "planar_3r",
    "puma560",
    "ur10e",
    "ur3e",
    "ur5e",
    "xarm7",
]


@pytest.mark.parametrize("name", GRAMS)
def test_masses_in_grams_were_taken_for_kilograms_without_a_word(name):
    """And no arm that is loaded as it is weighs too much: tests of the built-in arms see their notes."""
    arm = fa.load(name)
    links = [link.replace(mass=1000 * link.mass) for link in arm.links]
    asked = [note for note in arm.replace(links=links).notes if "grams? Masses are in kilograms." in note]
    assert asked
    assert "more than a shaft of solid steel would have" in asked[0]
    assert not [note for note in arm.notes if "grams?" in note]
