"""Arguments that were taken for something else: widened, rounded, read past their mask, or believed by their truth."""

from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import forearm as fa
from close import assert_close
from forearm.motion.motion_files import write_motion
from forearm.simulation import PDWithGravity, Samples, payload_numbers
from gradients.framework_cases import needs_torch

PUMA, RR = fa.load("puma560"), fa.load("rr")
Q, QD, TAU = PUMA.random_state(0)
PUSH = fa.Wrench(force=(1, 2, 3))
TURNED = fa.Coordinates.absolute(RR)
HIDDEN = np.ma.array([1.0, 2.0], mask=[1, 0])
TABLE = np.ma.array(np.eye(3), mask=np.eye(3) > 0.5)


def pushed(tau, **given):
    """Accelerations under a push."""
    return fa.forward_dynamics(PUMA, Q, QD, tau, wrench=PUSH, **given)


@pytest.mark.parametrize("tau", [np.array([3.0]), np.array(3.0), np.ones((4, 1)), np.ones(6, bool)], ids=str)
def test_one_torque_beside_a_wrench_was_taken_for_all_joints(tau):
    with pytest.raises(fa.StateFault, match="tau has"):
        pushed(tau)


def test_torques_beside_a_wrench_keep_their_kind_and_their_batch():
    want = pushed(TAU)
    assert np.array_equal(pushed(TAU.tolist()), want)
    assert np.array_equal(pushed(dict(zip(PUMA.joint_names, TAU, strict=True))), want)
    assert np.array_equal(pushed(np.stack([TAU, 2 * TAU]))[0], want)
    with pytest.raises(fa.StateFault, match="do not broadcast"):
        fa.forward_dynamics(PUMA, np.zeros((2, 6)), QD, np.zeros((3, 6)), wrench=PUSH)


@pytest.mark.parametrize("out", [np.zeros(6, int), np.zeros(6, np.float32), np.zeros((3, 6))], ids=str)
def test_several_wrenches_were_rounded_into_whole_numbers(out):
    with pytest.raises(fa.StateFault, match="out for tau is"):
        fa.external_torque(PUMA, Q, [PUSH, PUSH], out=out)


def test_several_wrenches_may_be_written_over_q():
    three = [PUSH, fa.Wrench(moment=(0, 1, 0), at=2), fa.Wrench(force=(1, 0, 0), frame="local")]
    want, q = fa.external_torque(PUMA, Q, three), Q.copy()
    assert fa.external_torque(PUMA, q, three, out=q) is q
    assert np.array_equal(q, want)


@pytest.mark.parametrize(
    "status", [np.zeros((2, 5), bool), np.zeros(3, bool), np.zeros(5), [False] * 5], ids=str
)
def test_a_status_of_another_shape_or_kind_is_refused(status):
    with pytest.raises(fa.StateFault, match=r"status is .*give a bool array of the batch's shape"):
        fa.forward_dynamics(PUMA, np.zeros((5, 6)), QD, TAU, status=status)


@pytest.mark.parametrize(
    "make",
    [
        lambda: fa.Link("revolute", flip="no"),
        lambda: fa.Arm("a", [fa.Link("revolute", mass=1.0)], dynamics="no"),
        lambda: fa.Robot("r", [fa.Link("revolute", mass=1.0)], (0,), dynamics="no"),
        lambda: fa.simulate(RR, [0, 0], duration=0.01, method="euler", sticking="no"),
        lambda: fa.simulate(RR, [0, 0], duration=0.01, trace="no"),
    ],
    ids=["flip", "arm", "robot", "sticking", "trace"],
)
def test_the_word_no_was_taken_for_yes(make):
    with pytest.raises(ValueError, match="'no'; give True or False"):
        make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: fa.Inertia.about_com(TABLE),
        lambda: fa.Inertia.about_origin(Ixx=1.0, axes=TABLE),
        lambda: fa.Pose(TABLE),
        lambda: fa.Pose.from_matrix(np.ma.array(np.eye(4), mask=np.eye(4) > 0.5)),
        lambda: TURNED.inverse_dynamics(HIDDEN, [0, 0], [0, 0]),
        lambda: TURNED.forward_dynamics([0, 0], [0, 0], HIDDEN),
        lambda: fa.Coordinates(RR, np.eye(2), offset=HIDDEN),
        lambda: fa.simulate(RR, [0, 0], law=lambda t, q, qd: HIDDEN, duration=0.01, trace=False),
        lambda: payload_numbers(HIDDEN),
        lambda: payload_numbers(1.0, np.ma.array([1.0, 2.0, 3.0], mask=[1, 0, 0])),
        lambda: fa.strobe(RR, HIDDEN),
        lambda: fa.gravity_torque(RR, [HIDDEN, HIDDEN]),
        lambda: fa.via_points(RR, [HIDDEN, [1.0, 1.0]], speeds=1.0, accelerations=1.0),
        lambda: fa.inverse_kinematics(PUMA, [np.ma.array([0.4, 0.1, 0.2], mask=[1, 0, 0])]),
        lambda: fa.sweep("gravity_torque", {"q": [HIDDEN]}, arm=RR),
        lambda: fa.feasible(RR, Samples(np.arange(2.0), [HIDDEN, HIDDEN], *np.zeros((2, 2, 2)))),
        lambda: write_motion(Samples(np.arange(1.0), HIDDEN[None], *np.zeros((2, 1, 2))), RR, "out.csv"),
        lambda: fa.simulate(RR, [0, 0], law=PDWithGravity(RR, [0, 0], HIDDEN, 1.0), duration=0.01),
        lambda: fa.compare(RR, lambda q, qd, qdd: HIDDEN),
        lambda: fa.view(RR, q=HIDDEN),
    ],
)
def test_what_a_mask_hides_was_computed_with(make):
    with pytest.raises(ValueError, match="masked entries, which have no value"):
        make()


def test_an_offset_of_coordinates_made_a_batch_and_could_be_changed_from_outside():
    with pytest.raises(fa.StateFault, match=r"offset has shape \(2, 1\)"):
        fa.Coordinates(RR, np.eye(2), offset=np.zeros((2, 1)))
    shift = np.array([0.1, 0.2])
    moved = fa.Coordinates(RR, np.eye(2), offset=shift)
    shift[:] = 9.0
    assert np.array_equal(moved.joints([0.0, 0.0]), [0.1, 0.2])


def test_a_singular_pose_in_single_precision_had_an_inertia():
    wrist = np.array([0.3, 0.4, 0.5, 0.6, 0.0, 0.7], np.float32)
    with pytest.raises(fa.StateFault, match="singular pose"):
        fa.task(PUMA, wrist, wrist)
    near = np.float32(Q)
    found, want = fa.task(PUMA, near, near), fa.task(PUMA, near.astype(float), near.astype(float))
    for name in ("inertia", "bias", "gravity", "jacobian", "condition"):
        assert np.array_equal(getattr(found, name), np.float32(getattr(want, name))), name


def table_of(q):
    return pytest.importorskip("pandas").DataFrame(q, columns=list(PUMA.joint_names))


def columns_of(q):
    return dict(zip(PUMA.joint_names, q.T, strict=True))


@pytest.mark.parametrize("made", [table_of, columns_of])
def test_columns_of_double_precision_beside_arrays_of_single_precision_were_rounded(made):
    q, qd, _ = PUMA.random_state(3, (4,))
    single = np.float32(qd)
    want = fa.bias_torque(PUMA, q, single)
    assert want.dtype == np.float64
    assert np.array_equal(fa.bias_torque(PUMA, made(q), single), want)
    assert fa.bias_torque(PUMA, made(np.float32(q)), single).dtype == np.float32
    with pytest.raises(fa.StateFault, match="q is float64, but the kernel computes in float32"):
        fa.compile(PUMA, "bias_torque", dtype="float32")(made(q), single)


def test_a_dict_of_plain_numbers_has_no_precision_of_its_own():
    named = dict.fromkeys(PUMA.joint_names, 0.1)
    assert fa.bias_torque(PUMA, named, np.float32(QD)).dtype == np.float32
    assert fa.compile(PUMA, "bias_torque", dtype="float32")(named, np.float32(QD)).dtype == np.float32


def test_a_wrench_in_single_precision_gave_double_precision():
    q, qd, tau = (np.float32(x) for x in PUMA.random_state(3, (4,)))
    found = np.empty_like(q)
    assert fa.external_torque(PUMA, q, PUSH).dtype == np.float32
    assert fa.forward_dynamics(PUMA, q, qd, tau, wrench=PUSH, out=found) is found
    wide = fa.forward_dynamics(PUMA, *(x.astype(float) for x in (q, qd, tau)), wrench=PUSH)
    assert np.max(np.abs(found - wide)) < 1e-4 * np.max(np.abs(wide))
    assert fa.forward_dynamics(PUMA, q, qd, tau.tolist(), wrench=PUSH).dtype == np.float32


@pytest.mark.parametrize("made", [np.asarray, table_of, columns_of])
def test_a_wrench_was_rounded_where_positions_alone_were_single_precision(made):
    rough, qd, qdd = PUMA.random_state(3, (4,))
    rough = np.float32(rough)
    q, given = rough.astype(float), made(rough)
    want = fa.inverse_dynamics(PUMA, q, qd, qdd, wrench=PUSH)
    assert_close(fa.inverse_dynamics(PUMA, given, qd, qdd, wrench=PUSH), want)
    assert_close(fa.forward_dynamics(PUMA, given, qd, want, wrench=PUSH), qdd, eps=1e5, because="M divides")


@pytest.mark.more
@needs_torch
@pytest.mark.parametrize("followed", [False, True])
def test_a_wrench_on_tensors_was_rounded_where_positions_alone_were_single_precision(followed):
    import torch

    q, qd, qdd = PUMA.random_state(3, (4,))
    rough = torch.tensor(q, dtype=torch.float32, requires_grad=followed)
    tau = fa.inverse_dynamics(PUMA, rough, torch.tensor(qd), torch.tensor(qdd), wrench=PUSH)
    want = fa.inverse_dynamics(PUMA, np.float32(q).astype(float), qd, qdd, wrench=PUSH)
    assert_close(tau.detach().numpy(), want)


@pytest.mark.parametrize("damping", [np.nan, 1j, "1", -1, np.ones(6)], ids=str)
def test_a_damping_that_is_none_gave_nan(damping):
    with pytest.raises(fa.StateFault, match=r"damping is .*give a number, zero or positive"):
        fa.task(PUMA, Q, QD, damping=damping)


def law(t, q, qd, k):
    """A spring."""
    return -k * q


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (dict(free={"gravity": 9.81}), r"'gravity' has shape \(\); give \(3,\)"),
        (dict(free={"links[0].com": [0.1]}), r"'links\[0\].com' has shape \(1,\); give \(3,\)"),
        (dict(free={"inertial": np.ones(10)}), r"'inertial' has shape \(10,\); give \(2, 10\)"),
        (dict(free={"gravity": [0, np.nan, 0]}), r"'gravity' is .*give finite numbers"),
        (
            dict(free={"payload": np.zeros(10)}, payload=np.zeros(10)),
            "payload= is given, and free= has a payload",
        ),
        (dict(gains={"k": 1.0}), r"gains are given \(k\), and there is no law that takes them"),
        (dict(gains={"k": np.array(1j)}, law=law), "'k' is complex; give real numbers"),
        (dict(wrench=[PUSH, PUSH]), "wrench is a list; give one Wrench"),
        (dict(torque_limits=np.ones((3, 2))), r"torque_limits has shape \(3, 2\); give \(2,\)"),
        (dict(law=lambda t, q, qd: np.array([1.0, 2j]), trace=False), "law returned numbers of type complex"),
        (dict(method="dop853", rtol=np.nan), "rtol is nan; give a positive number"),  # it never ended
        (dict(method="dop853", atol=np.inf), "atol is inf; give a positive number"),
    ],
)
def test_a_simulation_that_asks_for_something_else_is_refused(given, says):
    with pytest.raises(fa.StateFault, match=says):
        fa.simulate(RR, [0.1, 0.2], duration=0.01, **given)


def test_a_payload_in_the_tool_may_have_its_centre_anywhere():
    left = np.array([1.0, -0.5, 0, 0, 0, 0, 0, 0.25, 0, 0.25])
    light = RR.replace(links=(RR.links[0], RR.links[1].replace(mass=0.1)))
    run = fa.simulate(light, [0.1, 0.2], duration=0.01, free={"payload@tool": left})
    held = light.with_payload(1.0, (-0.5, 0, 0), frame="tool")
    assert abs(run.q - fa.simulate(held, [0.1, 0.2], duration=0.01).q).max() < 1e-12


def test_a_batch_for_the_centre_of_mass_of_one_state_is_refused():
    with pytest.raises(fa.StateFault, match=r"q has shape \(2, 2\)"):
        RR.center_of_mass(np.zeros((2, 2)))


def test_the_terms_of_rotors_alone_were_said_to_need_masses():
    drive = fa.Drive(0.1, 2.0, "motor", viscous=0.3, coulomb=(1.0, 2.0))
    rotors = fa.Arm("rotors", [fa.Link.dh("revolute", a=1.0, drive=drive) for _ in range(2)])
    q, qd, qdd = rotors.random_state(1, (3,))
    parts = fa.terms(rotors, q, qd, qdd)
    assert np.array_equal(parts.rotor, 0.4 * qdd)
    assert abs(parts.total - fa.inverse_dynamics(rotors, q, qd, qdd)).max() < 1e-14


def test_two_terms_that_are_zero_were_one_array():
    parts = fa.terms(RR, [0.1, 0.2], [0, 0], [0, 0])
    parts.friction[:] = 1.0
    assert not parts.external.any()


def test_the_second_of_two_free_bases_had_a_quaternion_that_was_none():
    stone = fa.Robot(
        "stone", (), (), free=True, trunk=fa.Body(2.0, inertia=fa.Inertia.box(2.0, 0.1, 0.3, 0.5))
    )
    start = np.tile(stone.neutral(), (3, 1))
    start[1] = np.nan
    end = fa.simulate(stone, start, duration=0.01).q[:, -1]
    assert np.isnan(end).all(axis=-1).tolist() == [False, True, False]
    start[2, 3:7] *= 1.01
    with pytest.raises(fa.StateFault, match=r"quaternion, .* has length 1\.01"):
        fa.simulate(stone, start, duration=0.01)


def test_a_push_on_a_free_base_beside_torques():
    body = fa.Inertia.box(2.0, 0.1, 0.3, 0.5)
    links = [fa.Link.dh("revolute", a=0.3, mass=1.0, com=(-0.1, 0, 0), inertia=body, name="arm")]
    robot = fa.Robot("floating", links, (0,), free=True, trunk=fa.Body(2.0, inertia=body))
    q, qd, qdd = robot.random_state(0)
    tau = fa.inverse_dynamics(robot, q, qd, qdd, wrench=PUSH)
    assert abs(fa.forward_dynamics(robot, q, qd, tau, wrench=PUSH) - qdd).max() < 1e-12


def test_a_payload_whose_inertia_is_not_symmetric_lost_half_of_it():
    with pytest.raises(fa.StateFault, match="payload: inertia is not symmetric"):
        payload_numbers(1.0, (0, 0, 0), [[1, 2, 3], [0, 1, 0], [0, 0, 1]])
    with pytest.raises(fa.StateFault, match=r"payload: inertia holds Inertia.*; give numbers"):
        payload_numbers(1.0, (0, 0, 0), fa.Inertia.sphere(1.0, 0.1))


def test_fractions_and_decimals_are_numbers_that_are_checked():
    third = fa.Link("revolute", mass=Fraction(1, 3), com=(Decimal("0.1"), 0, 0))
    assert (third.mass, third.com[0]) == (1 / 3, 0.1)
    with pytest.raises(fa.ArmFault, match=r"mass is -0\.333333 kg"):  # it was taken for a symbol
        fa.Arm("a", [third.replace(mass=Fraction(-1, 3))])
    for huge in (10**400, Decimal("1e400"), Decimal("nan")):
        with pytest.raises(fa.ArmFault, match=r"mass is (inf|nan); give a finite number"):
            third.replace(mass=huge)


def test_strobing_a_state_that_is_not_finite_is_refused():
    with pytest.raises(fa.StateFault, match="q of joint 1 'q1' is nan"):
        fa.strobe(RR, [np.nan, 0.0])


def test_out_was_left_as_it_was_where_states_are_objects():
    out, state = np.full(2, 7.0), np.array([0.4, -1.1], dtype=object)
    assert fa.gravity_torque(RR, state, out=out) is out
    assert np.array_equal(out, fa.gravity_torque(RR, [0.4, -1.1]))
    digits, letters = mpmath.matrix([0.4, -1.1]), fa.symbolic(RR)
    with pytest.raises(fa.StateFault, match=r"gravity_torque of rr: out is given, .*; leave it out"):
        fa.gravity_torque(RR, [*digits], out=out)
    with pytest.raises(fa.StateFault, match="pose of rr: out is given"):
        fa.pose(letters, [0.4, -1.1], out=np.empty((4, 4)))
    with pytest.raises(fa.StateFault, match=r"q of joint 2 'q2' is nan"):
        fa.gravity_torque(RR, [digits[0], mpmath.nan])


def test_fifty_digits_by_joint_name_were_rounded_to_sixteen():
    with mpmath.workdps(50):
        q = [mpmath.mpf(1) / 3, mpmath.mpf(-1) / 7]
        by_name = fa.gravity_torque(RR, dict(zip(RR.joint_names[::-1], q[::-1], strict=True)))
        assert list(by_name) == list(fa.gravity_torque(RR, q))
        assert isinstance(by_name[0], mpmath.mpf)


def test_a_law_that_writes_into_an_array_of_its_own_runs_in_python():
    held = np.empty(2)

    def law(t, q, qd):
        return fa.gravity_torque(RR, q, out=held) - 3 * qd

    run = fa.simulate(RR, [0.4, -1.1], [0.1, 0.2], law=law, duration=0.02)
    assert "runs in Python" in run.law
    plain = fa.simulate(
        RR, [0.4, -1.1], [0.1, 0.2], law=lambda t, q, qd: fa.gravity_torque(RR, q) - 3 * qd, duration=0.02
    )
    assert np.allclose(run.q, plain.q, rtol=0, atol=1e-12)
