"""compare: ten injected differences alone and in pairs are named right, or not at all."""

import csv
import itertools
import json

import numpy as np
import pytest

from arms import random_arm
from forearm.algebra import parallel_axis
from forearm.arm import Arm, Inertia, Pose
from forearm.faults import NoDynamics, ReadFault, StateFault
from forearm.readers import load
from forearm.simulation import simulate
from forearm.verification.comparing import compare
from forearm.verification.others import other_of

# -- ten differences, each as a change of (arm, how the other takes and gives vectors) ---------------------------


def each(arm, change):
    return arm.replace(links=tuple(change(i, link) for i, link in enumerate(arm.links)))


def armature(arm, f):
    return each(
        arm, lambda i, k: k.replace(drive=k.drive.replace(rotor_inertia=0.3 + 0.1 * i, side="joint"))
    ), f


def gravity_sign(arm, f):
    return arm.replace(gravity=tuple(-np.array(arm.gravity))), f


def base_rotation(arm, f):
    turn = Pose.at(rpy=(0.4, -0.3, 0.2))
    return arm.replace(gravity=tuple(turn.R @ np.array(arm.gravity))), f


def inertia_about_origin(arm, f):
    def shifted(i, k):
        mass, r, tensor = k.about_com
        return k.replace(inertia=Inertia(np.array(tensor) + parallel_axis(mass, r), "com"))

    return each(arm, shifted), f


def products_sign(arm, f):
    def flipped(i, k):
        tensor = np.array(k.about_com.inertia)
        return k.replace(inertia=Inertia(2 * np.diag(np.diag(tensor)) - tensor, "com"))

    return each(arm, flipped), f


def last_link(arm, f):
    return arm.with_payload(1.3, (0.05, 0.1, 0.2), Inertia.sphere(1.3, 0.08), frame="flange"), f


def joint_zero(arm, f):
    links = list(arm.links)
    links[1] = links[1].replace(offset=links[1].offset + 0.7)
    return arm.replace(links=tuple(links)), f


def friction(arm, f):
    return each(arm, lambda i, k: k.replace(drive=k.drive.replace(viscous=0.5 + i, coulomb=(0.8, 0.8)))), f


def joint_order(arm, f):
    def exchanged(q, qd, qdd):
        swap = [0, 2, 1, *range(3, len(q))]
        return f(q[swap], qd[swap], qdd[swap])[swap]

    return arm, exchanged


def joint_direction(arm, f):
    def turned(q, qd, qdd):
        s = np.ones(len(q))
        s[2] = -1
        return s * f(s * q, s * qd, s * qdd)

    return arm, turned


DIFFERENCES = {
    "armature": armature,
    "gravity sign": gravity_sign,
    "base rotation": base_rotation,
    "inertia about origin": inertia_about_origin,
    "products sign": products_sign,
    "last link": last_link,
    "joint zero": joint_zero,
    "friction": friction,
    "joint order": joint_order,
    "joint direction": joint_direction,
}


def mild(seed=5, n=4):
    """An arm whose tensors stay possible when their products change sign."""
    arm = random_arm(n, seed, "R", general=True, tilted=False)
    tensor = np.array([[0.10, 0.010, -0.02], [0.010, 0.12, 0.015], [-0.02, 0.015, 0.14]])
    near = [tuple(0.4 * np.array(link.com)) for link in arm.links]
    return each(
        arm, lambda i, k: k.replace(mass=2.0 + i, com=near[i], inertia=Inertia(tensor * (2 + 0.4 * i), "com"))
    )


def someone_else(arm, keys):
    """The torques of somebody who differs by these things: changes of the arm first, then of its vectors."""
    changed = arm
    for key in keys:
        changed, _ = DIFFERENCES[key](changed, None)
    batch = other_of(arm, changed).torques

    def torques(q, qd, qdd):
        return batch(q[None], qd[None], qdd[None])[0]

    for key in keys:
        _, torques = DIFFERENCES[key](arm, torques)
    return torques


def test_an_arm_is_the_same_as_itself():
    arm = load("puma560")
    result = compare(arm, arm)
    assert result.same
    assert result.verdict == "the same within rounding"
    assert "mass matrix: the same" in str(result)
    assert result.causes == ()


@pytest.mark.parametrize("key", DIFFERENCES)
def test_each_difference_alone_is_named(key):
    arm = mild()
    result = compare(arm, someone_else(arm, [key]))
    assert not result.same
    assert result.keys == (key,), str(result)


PAIRS = list(itertools.combinations(DIFFERENCES, 2))


def outcome(pair, seed=5):
    arm = mild(seed)
    result = compare(arm, someone_else(arm, pair), states=32)
    return set(result.keys), result


QUICK = (
    ("armature", "products sign"),
    ("armature", "friction"),
    ("gravity sign", "joint direction"),
    ("inertia about origin", "products sign"),
    ("joint order", "joint direction"),
)


@pytest.mark.parametrize("pair", QUICK, ids=" and ".join)
def test_some_pairs_are_named(pair):
    keys, result = outcome(pair)
    assert keys == set(pair), str(result)


@pytest.mark.more
@pytest.mark.parametrize("seed", [5, 8])
def test_forty_of_the_forty_five_pairs_are_named_and_none_wrongly(seed):
    outcomes = {pair: outcome(pair, seed)[0] for pair in PAIRS}
    wrong = {pair: keys for pair, keys in outcomes.items() if keys - set(pair)}
    assert not wrong
    right = [pair for pair, keys in outcomes.items() if keys == set(pair)]
    assert len(right) >= 40, {pair: keys for pair, keys in outcomes.items() if pair not in right}


# -- what it says ----------------------------------------------------------------------------------------------


def test_terms_show_what_each_difference_looks_like():
    arm = mild()
    terms = {name: how for name, _, how in compare(arm, someone_else(arm, ["armature"])).terms}
    assert terms["mass matrix"] == "a constant diagonal (0.3, 0.4, 0.5, 0.6)"
    assert terms["gravity torques"] == ""
    terms = {name: how for name, _, how in compare(arm, someone_else(arm, ["gravity sign"])).terms}
    assert terms["gravity torques"] == "the other sign"
    assert terms["mass matrix"] == ""


def test_causes_come_with_numbers():
    arm = mild()
    assert "by (0.3, 0.4, 0.5, 0.6) kg m²" in compare(arm, someone_else(arm, ["armature"])).causes[0]
    assert (
        "the zero of joint 2 'joint2' is shifted by 0.7"
        in compare(arm, someone_else(arm, ["joint zero"])).causes[0]
    )
    assert "mass by 1.3 kg" in compare(arm, someone_else(arm, ["last link"])).causes[0]
    assert (
        "viscous by (0.5, 1.5, 2.5, 3.5), dry by (0.8, 0.8"
        in compare(arm, someone_else(arm, ["friction"])).causes[0]
    )
    assert "joint2 and joint3 are exchanged" in compare(arm, someone_else(arm, ["joint order"])).causes[0]


def test_what_nothing_explains_is_not_named():
    arm = mild(n=2)
    stranger = random_arm(2, 77, "R", general=True)
    result = compare(arm, stranger, states=24)
    assert result.verdict == "cannot tell"
    assert result.causes == ()
    assert len(result.evidence) > 10
    assert "tested:" in str(result)
    assert json.loads(result.to_json())["verdict"] == "cannot tell"


def test_a_base_turned_by_more_than_a_right_angle_could_be_a_sign_too():
    arm = mild()
    turned = arm.replace(gravity=tuple(Pose.at(rpy=(2.5, 0, 0)).R @ np.array(arm.gravity)))
    assert compare(arm, turned).verdict == "cannot tell"


def test_drives_that_only_one_side_has():
    arm = load("puma560")
    result = compare(arm, arm.without_drives(), states=24)
    assert set(result.keys) == {"armature", "friction"}
    assert result.causes == (
        "rotor inertia (armature) only in puma560, not in the other",
        "friction only in puma560, not in the other",
    )


def test_torques_shifted_by_one_joint():
    arm = mild()
    batch = other_of(arm, arm).torques
    result = compare(arm, lambda q, qd, qdd: np.roll(batch(q[None], qd[None], qdd[None])[0], 1))
    assert result.keys == ("torque index",)


def test_one_factor():
    arm = mild()
    batch = other_of(arm, arm).torques
    result = compare(arm, lambda q, qd, qdd: 1000 * batch(q[None], qd[None], qdd[None])[0])
    assert result.keys == ("scale",)
    assert "1000" in result.causes[0]


KNOWN = ("rr", "puma560", "stanford", "ur5e")


def own_torques(arm):
    """The arm's own torques as a function of one state."""
    batch = other_of(arm, arm).torques
    return lambda q, qd, qdd: batch(q[None], qd[None], qdd[None])[0]


@pytest.mark.parametrize("name", KNOWN)
def test_one_torque_with_the_other_sign(name):
    arm = load(name)
    torques = own_torques(arm)
    for i, joint in enumerate(arm.joint_names):
        signs = np.where(np.arange(arm.n) == i, -1.0, 1.0)
        result = compare(arm, lambda *state, signs=signs: signs * torques(*state), states=24)
        assert result.keys == ("torque sign",), str(result)
        wanted = f"the torque of joint {i + 1} {joint!r} has the other sign, its position has not"
        assert result.causes == (wanted,)


@pytest.mark.parametrize("name", KNOWN)
def test_angles_in_degrees(name):
    arm = load(name)
    torques = own_torques(arm)
    unit = np.array([np.pi / 180 if link.revolute else 1.0 for link in arm.links])
    result = compare(arm, lambda q, qd, qdd: torques(unit * q, unit * qd, unit * qdd), states=24)
    assert result.causes == ("angles of the other are in degrees (q, qd and qdd)",)
    result = compare(arm, lambda q, qd, qdd: torques(unit * q, qd, qdd), states=24)
    assert result.causes == ("angles of the other are in degrees (q; qd and qdd are not)",)
    assert result.keys == ("degrees",)


def test_degrees_and_another_cause():
    arm = mild()
    torques = someone_else(arm, ["gravity sign"])
    result = compare(arm, lambda *state: torques(*map(np.deg2rad, state)), states=24)
    assert set(result.keys) == {"degrees", "gravity sign"}, str(result)


def test_a_sliding_arm_has_no_angles():
    arm = random_arm(2, 9, "P", general=True)
    torques = own_torques(arm)
    result = compare(arm, lambda *state: 57 * torques(*state), states=24)
    assert result.keys == ("scale",)
    assert not any("degrees" in tried.cause for tried in result.evidence)


def test_one_link_in_the_middle():
    arm = mild()
    links = list(arm.links)
    links[1] = links[1].replace(mass=links[1].mass * 1.5)
    assert compare(arm, arm.replace(links=tuple(links))).keys == ("link 2",)


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
    with pytest.raises(StateFault, match=r"other is a builtins.int; give an Arm, a Pinocchio"):
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
    with pytest.raises(ReadFault, match="0 lines; give a header"):
        compare(arm, path)
    path.write_text(
        ",".join(f"{w}{i}" for w in ("q", "qd", "qdd", "tau") for i in range(1, 5)) + "\n" + "x," * 15 + "1\n"
    )
    with pytest.raises(ReadFault, match="every row has to have a number in each column"):
        compare(arm, path)


@pytest.mark.parametrize("kinds", ["R", "P"])
def test_one_joint(kinds):
    arm = random_arm(1, 3, kinds, general=True, tilted=False)
    heavier = arm.replace(links=(arm.links[0].replace(mass=arm.links[0].mass + 1.0),))
    assert compare(arm, arm).same
    assert not compare(arm, heavier).same


def test_patience_ends_the_search_for_pairs():
    arm = mild(n=6)
    result = compare(arm, random_arm(6, 78, "R", general=True), states=16, patience=0.0)
    assert result.verdict == "cannot tell"


def test_rows_read_in_the_other_convention():
    rng = np.random.default_rng(4)
    rows = [
        dict(
            kind="revolute", a=a, alpha=alpha, d=d, theta=0.0, mass=2.0, com=tuple(rng.uniform(-0.2, 0.2, 3))
        )
        for a, alpha, d in rng.uniform(0.1, 1.0, (3, 3))
    ]
    standard = Arm.from_dh("rows", rows, convention="standard")
    modified = Arm.from_dh("rows", rows, convention="modified")
    assert compare(standard, modified).keys == ("convention",)


def test_a_mass_is_told_only_where_torques_tell_it():
    arm = load("ur5e")
    heavier = [
        arm.replace(
            links=tuple(k.replace(mass=1.1 * k.mass) if i == j else k for i, k in enumerate(arm.links))
        )
        for j in (1, 2)
    ]
    upper, fore = (compare(arm, other).verdict for other in heavier)
    assert "link 2 differ" in upper
    assert upper.endswith("the torques do not tell by how much mass")
    assert fore.endswith(f"mass by {0.1 * arm.links[2].mass:.4g} kg")


def test_two_causes_that_do_equally_well_are_both_named():
    arm = load("ur5e")
    loaded = arm.with_payload(1.5, frame="tool")  # on the last axis: it might as well be part of link 5
    verdict = compare(arm, loaded).verdict
    assert verdict.startswith("cannot tell which: ")
    assert "link 5 differ" in verdict
    assert "last link or tool" in verdict


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
