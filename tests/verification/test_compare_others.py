"""compare: with whom: other libraries, a CSV file, a function; and who is refused."""

import csv

import numpy as np
import pytest

from arms import random_arm
from close import assert_close
from forearm.faults import NoDynamics, ReadFault, StateFault
from forearm.readers import load
from forearm.simulation import simulate
from forearm.verification.difference.comparison import compare
from forearm.verification.difference.counterparts import other_of
from verification.differences import mild, someone_else

# -- other libraries -------------------------------------------------------------------------------------------


def test_pinocchio():
    pin = pytest.importorskip("pinocchio", reason="Pinocchio has no wheel for this platform")
    from forearm.writers.urdf import to_urdf

    arm = random_arm(4, 3, "RRPR", general=True)
    model = pin.buildModelFromXML(to_urdf(arm))
    assert compare(arm, model).same
    model.armature = np.array([0.1, 0.2, 0.3, 0.4])
    assert compare(arm, model).keys == ("armature",)
    model.armature[:] = 0
    model.gravity.linear = np.array([0, 0, 9.81])
    assert compare(arm, model).keys == ("gravity sign",)


def test_mujoco():
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    from forearm.writers.urdf import to_urdf

    arm = random_arm(3, 4, "R", general=True)
    model = mujoco.MjModel.from_xml_string(to_urdf(arm))
    flags = model.opt.disableflags
    assert compare(arm, model).same
    assert model.opt.disableflags == flags
    model.dof_damping[:] = [[0.5], [0.6], [0.7]] if model.dof_damping.ndim == 2 else [0.5, 0.6, 0.7]
    result = compare(arm, model)
    assert result.keys == ("friction",)
    assert "viscous by (0.5, 0.6, 0.7)" in result.causes[0]
    model.opt.enableflags |= (
        mujoco.mjtEnableBit.mjENBL_INVDISCRETE
    )  # rotors of damping times step were named, too
    assert compare(arm, model).keys == ("friction",)
    assert model.opt.enableflags == mujoco.mjtEnableBit.mjENBL_INVDISCRETE


def test_dry_friction_of_mujocos_tendons_was_called_the_same():
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    links = (
        '<worldbody><body><joint name="a" axis="0 1 0"/><geom type="box" size=".1 .2 .1" pos="1 0 0"/><body>'
        '<joint name="b" axis="0 1 0"/><geom type="box" size=".1 .1 .2"/></body></body></worldbody>'
    )
    tendon = '<tendon><fixed frictionloss="2"><joint joint="a" coef="3"/><joint joint="b" coef="-1"/></fixed></tendon>'
    bare, dry = (mujoco.MjModel.from_xml_string(f"<mujoco>{links}{more}</mujoco>") for more in ("", tendon))
    q, qd, qdd = np.random.default_rng(5).uniform(-1, 1, (3, 20, 2))
    without, found = (other_of(random_arm(2, 1, "R"), model).torques(q, qd, qdd) for model in (bare, dry))
    ways = np.array([3.0, -1.0])
    assert_close(found, without + 2 * np.sign(qd @ ways)[:, None] * ways)


BOUND = """<mujoco><worldbody><body><joint name="a" axis="0 0 1"/><geom size="0.1" mass="1" pos="0.1 0 0"/><body{lift}>
<joint name="b" axis="0 1 0"/><geom size="0.1" mass="1" pos="0.2 0 0"/></body></body></worldbody>{rest}</mujoco>"""


@pytest.mark.parametrize(
    ("lift", "rest", "words"),
    [
        ("", '<equality><joint joint1="b" joint2="a"/></equality>', "1 equality constraint: left out"),
        (' name="c" gravcomp="1"', "", "takes weight off c (gravcomp)"),
        ("", '<equality><joint joint1="b" joint2="a" active="false"/></equality>', ""),
    ],
)
def test_what_binds_a_mujoco_model_was_left_out_without_a_word(tmp_path, lift, rest, words):
    """Two joints held together by an equality had the torques of two free ones: the same within rounding."""
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    path = tmp_path / "free.xml"
    path.write_text(BOUND.format(lift="", rest=""))
    found = compare(load(path), mujoco.MjModel.from_xml_string(BOUND.format(lift=lift, rest=rest)))
    said = [note for note in found.notes if "the MuJoCo model" in note]
    assert found.same is not bool(lift)
    assert len(said) == bool(words)
    assert all(words in note for note in said)


@pytest.mark.more
def test_robotics_toolbox():
    pytest.importorskip("roboticstoolbox", reason="the Robotics Toolbox is not installed")
    from roboticstoolbox.models.DH import Puma560

    assert compare(
        load("puma560").without_drives(), Puma560().nofriction(coulomb=True, viscous=True), states=16
    ).keys == ("armature",)


def written(tmp_path, arm, torques, header, digits):
    rng = np.random.default_rng(2)
    path = tmp_path / "torques.csv"
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(header)
        for _ in range(40):
            q, qd, qdd = rng.uniform(-2, 2, (3, arm.n)).round(6)
            row = np.concatenate([q, qd, qdd, torques(q, qd, qdd)])
            table.writerow([f"{x:.{digits}f}" for x in row])
    return path


def test_a_csv_file(tmp_path):
    arm = mild()
    header = [f"{what}{i}" for what in ("q", "qd", "qdd", "tau") for i in range(1, 5)]
    assert compare(arm, written(tmp_path, arm, someone_else(arm, []), header, 9)).same
    result = compare(arm, written(tmp_path, arm, someone_else(arm, ["gravity sign"]), header, 6))
    assert result.keys == ("gravity sign",)
    names = [f"{what}_{name}" for what in ("q", "qd", "qdd", "tau") for name in arm.joint_names]
    assert compare(arm, written(tmp_path, arm, someone_else(arm, []), names, 6)).same
    torques = someone_else(arm, [])
    turned = written(tmp_path, arm, lambda *state: torques(*map(np.deg2rad, state)), header, 9)
    assert compare(arm, turned).keys == ("degrees",)


def test_what_cannot_be_compared_is_refused(tmp_path):
    arm = mild()
    with pytest.raises(StateFault, match=r"other is a builtins.int; give an Arm or Robot, a Pinocchio"):
        compare(arm, 3)
    with pytest.raises(StateFault, match=r"has 3 degrees of freedom, arm .* has 4 joints; lock or remove"):
        compare(arm, random_arm(3, 1))
    with pytest.raises(NoDynamics, match="torques to compare"):
        compare(load("cobra600"), arm)
    with pytest.raises(ReadFault, match="give a readable CSV file"):
        compare(arm, tmp_path / "none.csv")
    path = tmp_path / "bad.csv"
    path.write_text("q1,q2\n1,2\n")
    with pytest.raises(
        ReadFault, match=r"bad.csv:1: no column q3, q4, qd1, qd2 …; give a header with q1 … q4"
    ):
        compare(arm, path)
    path.write_text("")
    with pytest.raises(ReadFault, match="0 rows of numbers; expected a header"):
        compare(arm, path)
    path.write_text(
        ",".join(f"{w}{i}" for w in ("q", "qd", "qdd", "tau") for i in range(1, 5)) + "\n" + "x," * 15 + "1\n"
    )
    with pytest.raises(
        ReadFault, match=r"column 'q1' holds 'x'; expected a number .* in each column of every row"
    ):
        compare(arm, path)


def test_a_function_that_returns_something_else_is_refused():
    with pytest.raises(StateFault, match=r"returned shape \(\) for one state; return \(2,\)"):
        compare(load("rr"), lambda q, qd, qdd: 0.0)
    with pytest.raises(StateFault, match="compare: states is 0; give a whole number"):
        compare(load("rr"), load("rr"), states=0)


def test_our_own_motion_as_csv_and_a_short_row(tmp_path):
    arm = load("rr")
    run = simulate(arm, [0.4, -1.1], [0.5, 0.2], duration=0.1, dt=1e-3)
    run.to_csv(tmp_path / "run.csv")
    assert compare(arm, tmp_path / "run.csv").same
    text = (tmp_path / "run.csv").read_text()
    (tmp_path / "excel.csv").write_text(text, encoding="utf-8-sig")
    assert compare(arm, tmp_path / "excel.csv").same
    (tmp_path / "short.csv").write_text(text + "0.2,0.1\n")
    with pytest.raises(ReadFault, match="every row has to have a number in each column"):
        compare(arm, tmp_path / "short.csv")
