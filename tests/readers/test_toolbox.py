"""Robots of the Robotics Toolbox: the same torques, poses, limits; drives that are given to an arm."""

import subprocess
import sys

import numpy as np
import pytest

import forearm as fa

rtb = pytest.importorskip("roboticstoolbox", reason="the Robotics Toolbox is not installed")


def states(n, count=20, seed=0):
    """Positions, speeds away from zero, accelerations."""
    rng = np.random.default_rng(seed)
    return rng.uniform(0.2, 2, (3, count, n)) * rng.choice([-1, 1], (3, count, n))


def assert_same_torques(robot, arm):
    q, qd, qdd = states(arm.n)
    want = robot.rne(q, qd, qdd)
    assert np.abs(fa.inverse_dynamics(arm, q, qd, qdd) - want).max() < 1e-9 * max(1.0, np.abs(want).max())
    assert np.abs(fa.pose(arm, q[0]) - robot.fkine(q[0]).A).max() < 1e-14


@pytest.mark.parametrize("name", ["Puma560", "Stanford", "IRB140", "Panda", "TwoLink", "UR5"])
def test_its_robots_have_its_torques(name):
    robot = getattr(rtb.models.DH, name)()
    arm = fa.load(robot)
    assert_same_torques(robot, arm)
    for link, theirs in zip(arm.links, robot.links, strict=True):
        if theirs.qlim is not None:
            assert link.limits == pytest.approx(tuple(np.ravel(theirs.qlim)))


@pytest.mark.parametrize("modified", [False, True])
def test_base_tool_gravity_motors_and_friction_come_along(modified):
    from spatialmath import SE3

    kinds = (rtb.RevoluteMDH, rtb.PrismaticMDH) if modified else (rtb.RevoluteDH, rtb.PrismaticDH)
    body = {"m": 2.0, "r": [0.1, -0.05, 0.2], "I": [0.2, 0.3, 0.25, 0.01, 0.02, -0.03]}
    motor = {"Jm": 2e-4, "G": -60.0, "B": 1.5e-3, "Tc": [0.3, -0.4]}
    links = [
        kinds[0](a=0.3, alpha=0.4, d=0.1, offset=0.7, qlim=[-1, 2], **body, **motor),
        kinds[1](a=0.2, alpha=-0.3, theta=0.5, offset=0.2, **body, **motor),
        kinds[0](a=0.1, alpha=1.2, d=-0.2, **body),
    ]
    base, tool = SE3.Rx(0.4) * SE3(0.1, 0.2, 0.3), SE3.Ry(0.3) * SE3(0.0, 0.1, 0.2)
    robot = rtb.DHRobot(links, name="mine", base=base, tool=tool)
    arm = fa.load(robot)
    assert_same_torques(robot, arm)
    assert arm.links[0].drive.coulomb == pytest.approx((18.0, 24.0))
    assert arm.links[0].drive.viscous == pytest.approx(5.4)
    robot.gravity = -np.array(robot.gravity)  # an older Toolbox has the other sign; the robot is asked
    assert_same_torques(robot, fa.load(robot))


def test_a_robot_whose_compiled_rne_is_wrong_is_loaded_by_the_one_in_python():
    """P8, a PUMA on two slides: with a prismatic first joint the Toolbox's two recursions disagree."""
    robot = rtb.models.DH.P8()
    arm = fa.load(robot)
    for q, qd, qdd in zip(*states(arm.n, 5), strict=True):
        want = robot.rne_python(q, qd, qdd)
        assert np.abs(fa.inverse_dynamics(arm, q, qd, qdd) - want).max() < 1e-9 * np.abs(want).max()
        assert np.abs(fa.pose(arm, q) - robot.fkine(q).A).max() < 1e-14
    assert "differs from its own rne_python by up to" in " ".join(arm.remarks)


def test_a_robot_neither_of_whose_recursions_fits_its_links_is_refused():
    robot = rtb.models.DH.P8()
    robot.rne_python = lambda q, qd, qdd: 2 * rtb.DHRobot.rne_python(robot, q, qd, qdd)
    with pytest.raises(fa.ReadFault, match="its rne does not fit its own description"):
        fa.load(robot)


def test_what_does_not_fit_is_refused():
    robot = rtb.models.DH.TwoLink()
    with pytest.raises(fa.ReadFault, match="tip= does nothing in this format"):
        fa.load(robot, tip="hand")
    with pytest.raises(fa.ReadFault, match=r"parameters= belongs to TOML"):
        fa.load(robot, parameters={"m": 1.0})
    with pytest.raises(
        fa.ReadFault, match=r"load: source is a builtins.int; give a name, the path of a file"
    ):
        fa.load(3)
    robot.links[0].Tc = [-1.0, 1.0]
    with pytest.raises(fa.ReadFault, match=r"link 1: Coulomb friction Tc is \(-1, 1\), which pushes"):
        fa.load(robot)


def test_drives_for_all_joints_for_each_and_by_name():
    arm, drive = fa.load("rr").without_drives(), fa.Drive(viscous=2.0)
    assert all(link.drive == drive for link in arm.with_drives(drive).links)
    other = fa.Drive(rotor_inertia=0.1, side="joint")
    assert [x.drive for x in arm.with_drives([drive, other]).links] == [drive, other]
    named = arm.with_drives(drive).with_drives({"q2": other})
    assert [x.drive for x in named.links] == [drive, other]
    qd = np.array([1.0, -0.5])
    added = fa.inverse_dynamics(arm.with_drives(drive), qd, qd, qd) - fa.inverse_dynamics(arm, qd, qd, qd)
    assert np.allclose(added, 2.0 * qd)
    for wrong, says in [
        ({"q3": drive}, r"with_drives: there is no joint 'q3'"),
        ([drive], "1 drives given; give one Drive for all, 2 of them, or a mapping by joint name"),
        (3.0, "a float given"),
        ([drive, 1.0], "drive 2"),
    ]:
        with pytest.raises(fa.ArmFault, match=says):
            arm.with_drives(wrong)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("fkine", r"what the Robotics Toolbox calls fkine is fa\.pose\(arm, q\)"),
        ("rne", r"fa\.inverse_dynamics\(arm, q, qd, qdd\)"),
        ("jacob0", r"fa\.jacobian\(arm, q\)"),
        ("inertia", r"fa\.mass_matrix"),
        ("coriolis", r"fa\.coriolis_matrix"),
        ("gravload", r"fa\.gravity_torque"),
        ("accel", r"fa\.forward_dynamics"),
        ("ikine", r"is fa\.inverse_kinematics\(arm, pose\)"),
        ("rnea", r"what Pinocchio calls rnea is fa\.inverse_dynamics"),
        ("mj_fullM", r"what MuJoCo calls mj_fullM is fa\.mass_matrix"),
        ("inverse_dynamic", r"did you mean 'inverse_dynamics'\?"),
    ],
)
def test_names_of_other_libraries_are_told_ours(name, says):
    if name == "inertia":  # a module of that name stands in its place once it was imported
        done = subprocess.run(
            [sys.executable, "-c", "import forearm as fa; fa.inertia(1)"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert "mass_matrix" in done.stderr
        return
    with pytest.raises(AttributeError, match=says):
        getattr(fa, name)


def test_every_name_that_is_told_exists():
    import re

    from forearm.outside.libraries.foreign_names import OURS

    for names in OURS.values():
        for said in names.values():
            for word in re.findall(r"fa\.(\w+)", said):
                assert hasattr(fa, word), word


@pytest.mark.parametrize("modified", [False, True])
def test_a_flipped_joint_does_not_turn_gravity_over(modified):
    """The Toolbox turns q of such a joint, neither qd nor tau: its torque looked like gravity upwards."""
    kind = rtb.RevoluteMDH if modified else rtb.RevoluteDH
    body = {"m": 2.0, "r": [0.1, -0.05, 0.2], "I": [0.2, 0.3, 0.25, 0.01, 0.02, -0.03]}

    def robot(flip):
        links = [kind(a=0.3, alpha=0.4, d=0.1, **body), kind(a=0.2, d=0.2, offset=0.3, flip=flip, **body)]
        return rtb.DHRobot(links, name="mine")

    arm, turned = fa.load(robot(True)), np.array([1.0, -1.0])
    assert arm.gravity == (0.0, 0.0, -9.81)
    assert any("link2 run the other way" in note for note in arm.notes)
    q, qd, qdd = states(2)
    want = robot(False).rne(q * turned, qd * turned, qdd * turned) * turned
    np.testing.assert_allclose(fa.inverse_dynamics(arm, q, qd, qdd), want, atol=1e-11)
    np.testing.assert_allclose(fa.pose(arm, q[0]), robot(True).fkine(q[0]).A, atol=1e-14)


def test_letters_and_strangers_are_refused_in_a_sentence():
    from sympy import Symbol

    letters = rtb.DHRobot([rtb.RevoluteDH(a=Symbol("a"), m=1.0)], symbolic=True, name="letters")
    with pytest.raises(fa.ReadFault, match=r"its links are not those of a DHRobot with numbers .*TypeError"):
        fa.load(letters)

    class Stranger:
        mdh, links, name = False, (object(),), "stranger"

        def rne(self, *state):
            return state

    with pytest.raises(fa.ReadFault, match=r"its links are not those .*AttributeError"):
        fa.load(Stranger())
