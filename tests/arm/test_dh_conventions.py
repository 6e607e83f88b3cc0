"""Standard and modified Denavit-Hartenberg tables of one physical arm: equal torques, by hand and by Pinocchio."""

import numpy as np
import pytest

from arms import random_body
from close import assert_close
from forearm.arm import Arm
from forearm.formulations import FORMULATIONS
from forearm.frames import Pose
from forearm.inertia import Inertia
from forearm.kinematics import frame_pose
from forearm.link import Link

torques = FORMULATIONS["luh_walker_paul_1980"].joint_torques


def rx(angle):
    s, c = np.sin(angle), np.cos(angle)
    return np.array([[1, 0, 0], [0, c, -s], [0, s, c]])


def rz(angle):
    s, c = np.sin(angle), np.cos(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def random_rows(n, seed, letters):
    """A standard table with bodies in standard frames."""
    rng = np.random.default_rng(seed)
    rows = []
    for letter in letters:
        a, alpha, d, theta = (
            rng.uniform(-0.6, 0.6),
            rng.uniform(-3, 3),
            rng.uniform(-0.5, 0.5),
            rng.uniform(-3, 3),
        )
        kind = "revolute" if letter == "R" else "prismatic"
        rows.append(dict(kind=kind, a=a, alpha=alpha, d=d, theta=theta, **random_body(rng)))
    assert len(rows) == n
    return rows


def modified_by_hand(rows):
    """The modified table of the same arm: a and alpha move one row down, bodies are seen from the joint.

    What the last row loses, Tx(a_n) Rx(alpha_n), is the tool.
    """
    table = []
    a, alpha = 0.0, 0.0
    for row in rows:
        R, p = rx(row["alpha"]), np.array([row["a"], 0, 0])
        body = dict(mass=row["mass"], com=R @ row["com"] + p)
        body["inertia"] = Inertia.about_com(R @ np.array(row["inertia"].tensor) @ R.T)
        table.append(dict(kind=row["kind"], a=a, alpha=alpha, d=row["d"], theta=row["theta"], **body))
        a, alpha = row["a"], row["alpha"]
    return table, Pose(rx(alpha), (a, 0, 0))


@pytest.mark.parametrize(
    ("letters", "seed"), [("R", 1), ("RR", 2), ("RPR", 3), ("PRRP", 4), ("RRRRRR", 5), ("RRPRRR", 6)]
)
def test_trap_01_and_02_both_tables_give_equal_torques(letters, seed):
    rows = random_rows(len(letters), seed, letters)
    table, tool = modified_by_hand(rows)
    base = Pose.at((0.1, 0.2, 0.3), (0.4, -0.5, 0.6))
    standard = Arm.from_dh("arm", rows, convention="standard", base=base)
    modified = Arm.from_dh("arm", table, convention="modified", base=base, tool=tool)
    for k in range(5):
        q, qd, qdd = standard.random_state(k)
        want = torques(standard, q, qd, qdd)
        assert_close(torques(modified, q, qd, qdd), want)
        for got, expected in zip(frame_pose(modified, q), frame_pose(standard, q), strict=True):
            assert_close(got, expected, scale=4)
    assert modified.total_mass == standard.total_mass
    assert_close(modified.center_of_mass(q), standard.center_of_mass(q), scale=4)


def test_reading_a_table_in_the_other_convention_gives_other_torques():
    """Why there is no default: the wrong reading is plausible and wrong."""
    rows = random_rows(3, 7, "RRR")
    standard, modified = (Arm.from_dh("arm", rows, convention=c) for c in ("standard", "modified"))
    q, qd, qdd = standard.random_state(1)
    right, wrong = torques(standard, q, qd, qdd), torques(modified, q, qd, qdd)
    assert np.max(np.abs(right - wrong)) > 0.1 * np.max(np.abs(right))


@pytest.mark.parametrize(("letters", "seed"), [("RRRRRR", 11), ("RPRRPR", 12)])
def test_modified_table_against_pinocchio(letters, seed):
    """Pinocchio's joints carry their frames as modified tables do: its model is written from the rows directly."""
    pin = pytest.importorskip("pinocchio")
    rows = random_rows(len(letters), seed, letters)
    model, parent = pin.Model(), 0
    for i, row in enumerate(rows):
        before = pin.SE3(rx(row["alpha"]), rx(row["alpha"]) @ [row["a"], 0, 0])
        placement = before * pin.SE3(rz(row["theta"]), np.array([0, 0, row["d"]]))
        joint = pin.JointModelRZ() if row["kind"] == "revolute" else pin.JointModelPZ()
        parent = model.addJoint(parent, joint, placement, f"joint{i}")
        body = pin.Inertia(row["mass"], np.array(row["com"]), np.array(row["inertia"].tensor))
        model.appendBodyToJoint(parent, body, pin.SE3.Identity())
    data = model.createData()
    arm = Arm.from_dh("arm", rows, convention="modified")
    for k in range(5):
        q, qd, qdd = arm.random_state(k)
        assert_close(torques(arm, q, qd, qdd), pin.rnea(model, data, q, qd, qdd), label=letters)


def test_standard_rows_are_dh_links():
    rows = random_rows(3, 8, "RPR")
    arm = Arm.from_dh("arm", rows, convention="standard")
    assert arm.links == tuple(Link.dh(**row).replace(name=f"joint{i}") for i, row in enumerate(rows, 1))
    table = [[row[k] for k in ("a", "alpha", "d", "theta")] for row in rows]
    assert_close(arm.dh_table(), table, eps=8)


def test_rows_are_not_changed():
    rows = random_rows(2, 9, "RR")
    before = [dict(row) for row in rows]
    Arm.from_dh("arm", rows, convention="modified")
    assert [set(row) for row in rows] == [set(row) for row in before]
