"""Robots as values, as numbers and as kernels: chains, couplings, payloads, several wrenches, C, refusals."""

import pickle
from pathlib import Path

import numpy as np
import pytest

import forearm as fa
from forearm.compiler.model.chosen_model import plain_model
from forearm.compiler.model.quantity_graphs import evaluated
from forearm.faults import ArmFault, Fault, KernelFault, StateFault
from forearm.readers.urdf import from_urdf, read_urdf
from robots.random_trees import random_urdf

FORK = Path(__file__).parents[2] / "examples" / "fork.urdf"


@pytest.fixture(scope="module")
def fork():
    return read_urdf(FORK)


def test_a_robot_is_a_value(fork):
    again = read_urdf(FORK)
    assert again == fork
    assert hash(again) == hash(fork)
    assert pickle.loads(pickle.dumps(fork)) == fork
    assert fork.digest == again.digest
    assert fork.replace(gravity=(0, 0, 0)).digest != fork.digest


def test_its_tree_is_drawn(fork):
    assert "├─ " in str(fork)
    assert "<pre>base\n└─ " in fork._repr_html_()
    assert fork.tips == ("hand", "other")


def test_each_body_is_on_one_chain(fork):
    assert len(fork.chains()) == 2
    assert sum(float(arm.total_mass) for arm in fork.chains()) == pytest.approx(float(fork.total_mass))


def test_one_chain_is_what_the_reader_gives_for_its_tip(fork):
    mine, theirs = fork.arm("hand"), read_urdf(FORK, tip="hand")
    assert mine.joint_names == theirs.joint_names
    q, qd, qdd = theirs.random_state(0)
    torques = fa.FORMULATIONS["luh_walker_paul_1980"].joint_torques
    np.testing.assert_allclose(torques(mine, q, qd, qdd), torques(theirs, q, qd, qdd), rtol=1e-12)


def test_a_joints_name_was_another_place_in_a_chain_without_a_word(fork):
    q, arm = np.full(fork.n, 0.3), fork.arm("hand")
    at = np.array([fork.joint_names.index(name) for name in arm.joint_names])
    # the file's links are where they were
    for link in ("upper", "lower", "rod"):
        np.testing.assert_allclose(fa.pose(arm, q[at], link), fa.pose(fork, q, link), atol=1e-15)
    # frames of the chain are at the joints after them, those of the file at their own
    np.testing.assert_allclose(
        fa.pose(arm, q[at], "shoulder")[:3, 3], fa.pose(fork, q, "elbow")[:3, 3], atol=1e-15
    )
    assert not np.allclose(fa.pose(arm, q[at], "shoulder"), fa.pose(fork, q, "shoulder"))
    assert any("a joint's name or number means another place than in the robot" in note for note in arm.notes)


def test_a_chain_whose_frames_stay_says_nothing_of_them():
    link = fa.Link.dh("revolute", a=0.4, mass=2.0, inertia=fa.Inertia.box(2.0, 0.4, 0.05, 0.05))
    robot = fa.Robot("two", (link, link, link), parents=(0, 1, 1))
    arm = robot.arm(robot.tips[0])
    assert not any("another place" in note for note in arm.notes)
    for name in arm.joint_names:
        np.testing.assert_allclose(
            fa.pose(arm, [0.3, 0.3], name), fa.pose(robot, [0.3] * 3, name), atol=1e-15
        )


def test_couplings_fold_torques_and_the_mass_matrix(fork):
    first, second = fork.joint_names[1], fork.joint_names[-1]
    coupled = fork.with_couplings({second: (first, -2.0, 0.3)})
    B, b = coupled.coupling_map
    q, qd, qdd = coupled.random_state(2)
    tau = evaluated(plain_model(fork), "inverse_dynamics", B @ q + b, B @ qd, B @ qdd)
    np.testing.assert_allclose(
        evaluated(plain_model(coupled), "inverse_dynamics", q, qd, qdd), B.T @ tau, rtol=1e-12
    )
    M = evaluated(plain_model(fork), "mass_matrix", B @ q + b)
    np.testing.assert_allclose(evaluated(plain_model(coupled), "mass_matrix", q), B.T @ M @ B, rtol=1e-12)


def test_a_payload_is_held_by_any_hand(fork):
    q, qd, qdd = fork.random_state(3)
    body = fa.Inertia.box(0.7, 0.1, 0.2, 0.3)
    loaded = fork.with_payload(0.7, (0.1, 0, 0.05), body, frame="other")
    ten = [0.7, 0.07, 0.0, 0.035, *np.zeros(6)]
    held = fork.with_payload(0.7, (0.1, 0, 0.05), body, frame="other").links[-1]
    assert held.mass > fork.links[-1].mass
    kernel = fa.compile(fork, "inverse_dynamics", free=("payload@other",))
    about = fa.Link("revolute", mass=0.7, com=(0.1, 0, 0.05), inertia=body).ten.inertia
    ten[4:] = [about[i, j] for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))]
    want = evaluated(plain_model(loaded), "inverse_dynamics", q, qd, qdd)
    np.testing.assert_allclose(kernel(q, qd, qdd, np.array(ten)), want, rtol=1e-10)


def test_several_wrenches_add_up(fork):
    q = fork.random_state(4)[0]
    one, two = fa.Wrench((1, 2, 3), at="hand"), fa.Wrench((0, -1, 0), (0.1, 0, 0), at="other", frame="local")
    both = fa.external_torque(fork, q, [one, two])
    np.testing.assert_allclose(
        both, fa.external_torque(fork, q, one) + fa.external_torque(fork, q, two), atol=1e-14
    )


def test_c_code_of_a_robot_is_written(fork, tmp_path):
    files = fa.emit_c(fork, tmp_path, ["inverse_dynamics"])
    assert "double q[" in files[0].read_text() or "const double" in files[0].read_text()


def test_numbers_of_a_robot_are_questioned(fork):
    report = fa.check(fork)
    assert dict(report.facts)["total mass"]


def test_a_link_of_a_chain_moves_with_its_own_joints_alone(fork):
    J = fa.jacobian(fork, np.zeros(fork.n), "hand")
    others = [k for k, name in enumerate(fork.joint_names) if name not in fork.arm("hand").joint_names]
    assert others
    assert not np.any(J[:, others])


@pytest.mark.parametrize(
    "call",
    [
        fa.derive,
        fa.base_parameters,
        fa.tabulate,
        lambda robot: fa.strobe(robot, np.zeros(robot.n)),
        lambda robot: fa.FORMULATIONS["luh_walker_paul_1980"].joint_torques(robot, [0], [0], [0]),
        lambda robot: fa.Coordinates(robot, np.eye(robot.n)),
    ],
)
def test_what_takes_one_chain_says_so_and_names_the_ends(fork, call):
    with pytest.raises(StateFault, match=r"takes one chain on a fixed base.*robot\.arm\('hand'\)"):
        call(fork)


def test_what_a_free_base_cannot_have_is_refused(fork):
    with pytest.raises(KernelFault, match="have no gradient of their own"):
        fa.jax_function(fork.freed())


def test_verify_sums_chains_by_every_formulation(fork):
    proof = fa.verify(fork, compiled=False, states=1)
    assert proof.passed, proof
    assert {row.subject for row in proof.rows} >= {
        "uicker_kahn_1969",
        "luh_walker_paul_1980",
        "oracle, Lagrange",
    }


@pytest.mark.more
def test_verify_proves_a_free_and_coupled_robot():
    robot = from_urdf(random_urdf(11, joints=5, coupled=1), base="free")
    assert fa.verify(robot).passed


def test_a_bug_in_a_formulation_is_named_on_a_tree(fork, monkeypatch):
    from forearm.formulations import hollerbach_1980_3x3 as module

    right = module.joint_torques
    monkeypatch.setattr(module, "joint_torques", lambda *args, **rest: right(*args, **rest) * (1 + 1e-6))
    proof = fa.verify(fork, compiled=False, states=1)
    assert {row.subject for row in proof.rows if not row.passed} == {"hollerbach_1980_3x3"}


def test_a_robot_without_mass_has_kinematics_only():
    bones = fa.Robot("bones", [fa.Link("revolute")] * 2, (0, 0))
    assert not bones.dynamics
    with pytest.raises(Fault):
        fa.inverse_dynamics(bones, np.zeros(2), np.zeros(2), np.zeros(2))


def test_names_twice_are_refused():
    with pytest.raises(ArmFault, match="joint name 'a' is used 2 times"):
        fa.Robot("twins", [fa.Link("revolute", name="a")] * 2, (0, 0))


def test_factors_that_overflow_along_followers_are_refused(fork):
    first, second, third, *_ = fork.all_joint_names
    with pytest.raises(ArmFault, match=rf"joint '{third}' follows others .* overflow together"):
        fork.with_couplings({second: (first, 1e200, 0.0), third: (second, 1e200, 0.0)})


def test_couplings_of_one_chain_are_not_left_out_in_silence():
    with pytest.raises(Fault, match=r"tip= and couplings= exclude each other"):
        read_urdf(FORK, tip="hand", couplings={"a": "b"})


def test_a_link_called_tool_within_a_tree_is_said_not_to_be_the_frame_tool():
    robot = from_urdf(FORK.read_text().replace('"hand"', '"tool"'))
    assert any("frame 'tool' is not the link 'tool'" in note for note in robot.notes)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        (
            "provenance",
            (("all", "\x1b[31mred"),),
            r"the provenance of 'all' has the control character U\+001B",
        ),
        ("provenance", (("a\nb", "x"),), r"the subject of a provenance has the control character"),
        ("configurations", {"a\x1b": (0, 0, 0)}, r"the name of a configuration has the control character"),
        (
            "configurations",
            {"home": ("x", 0, 0)},
            r"configuration 'home' is \('x', 0, 0\); give numbers",
        ),
    ],
)
def test_the_texts_of_a_robot_are_checked_as_those_of_an_arm(fork, field, value, words):
    """A file's name goes into the provenance: an escape sequence in it moved the terminal that `show` printed to."""
    with pytest.raises(Fault, match=words):
        fork.replace(**{field: value})
