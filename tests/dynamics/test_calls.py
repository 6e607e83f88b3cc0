"""How the functions are called: batches, broadcasting, out=, threads=, names, other scalars, and what they refuse."""

import logging
from decimal import Decimal
from fractions import Fraction
from inspect import signature

import mpmath
import numpy as np
import pytest

import forearm as fa
from arms import golden_arm, golden_states, random_arm
from close import assert_close

ARM = fa.load("ur5e")
RR = fa.load("rr")


def batch(*shape, seed=1):
    return ARM.random_state(seed, shape)


def test_golden_torques():
    for name in ("G6R", "STAN"):
        arm = golden_arm(name)
        for state in golden_states(name):
            assert_close(fa.inverse_dynamics(arm, state["q"], state["qd"], state["qdd"]), state["tau"])


def test_a_batch_is_its_rows():
    q, qd, qdd = batch(5)
    tau = fa.inverse_dynamics(ARM, q, qd, qdd)
    M = fa.mass_matrix(ARM, q)
    for row in range(5):
        assert_close(tau[row], fa.inverse_dynamics(ARM, q[row], qd[row], qdd[row]))
        assert_close(M[row], fa.mass_matrix(ARM, q[row]))


def test_leading_axes_broadcast():
    q, qd, qdd = batch(4, 1)[0], batch(3)[1], batch()[2]
    tau = fa.inverse_dynamics(ARM, q, qd, qdd)
    assert tau.shape == (4, 3, 6)
    assert_close(tau[2, 1], fa.inverse_dynamics(ARM, q[2, 0], qd[1], qdd))
    assert fa.mass_matrix(ARM, q).shape == (4, 1, 6, 6)
    assert fa.energy(ARM, q, qd).kinetic.shape == (4, 3)


def test_out_is_written_and_returned():
    q, qd, qdd = batch(7)
    out = np.full((7, 6), np.nan)
    assert fa.inverse_dynamics(ARM, q, qd, qdd, out=out) is out
    assert_close(out, fa.inverse_dynamics(ARM, q, qd, qdd))
    single = np.full(6, np.nan)
    assert fa.forward_dynamics(ARM, q[0], qd[0], out[0], out=single) is single
    assert_close(single, qdd[0], eps=1e5, because="the condition number of M")
    M = np.full((6, 6), np.nan)
    assert fa.mass_matrix(ARM, q[0], out=M) is M
    assert np.all(np.isfinite(M))


def test_threads_give_the_same_bits():
    q, qd, qdd = batch(3000)
    one = fa.inverse_dynamics(ARM, q, qd, qdd)
    np.testing.assert_array_equal(fa.inverse_dynamics(ARM, q, qd, qdd, threads=2), one)


def test_states_by_joint_name():
    q, qd, qdd = batch()
    named = dict(zip(ARM.joint_names, q, strict=True))
    shuffled = dict(sorted(named.items(), reverse=True))
    np.testing.assert_array_equal(
        fa.inverse_dynamics(ARM, shuffled, qd, qdd), fa.inverse_dynamics(ARM, q, qd, qdd)
    )
    np.testing.assert_array_equal(fa.mass_matrix(ARM, shuffled), fa.mass_matrix(ARM, q))
    with pytest.raises(fa.StateFault, match=r"q by joint name: missing .* and unknown hip; arm 'ur5e' has"):
        fa.inverse_dynamics(ARM, {**{k: v for k, v in list(named.items())[1:]}, "hip": 0.0}, qd, qdd)


def test_nan_rows_stay_alone():
    q, qd, qdd = batch(9)
    clean = fa.inverse_dynamics(ARM, q, qd, qdd)
    q[4, 2] = np.nan
    dirty = fa.inverse_dynamics(ARM, q, qd, qdd)
    assert np.isnan(dirty[4]).any()
    np.testing.assert_array_equal(np.delete(dirty, 4, 0), np.delete(clean, 4, 0))


@pytest.mark.parametrize("function", [fa.mass_matrix, fa.gravity_torque, fa.pose, fa.jacobian])
def test_a_single_nan_is_a_fault_that_names_the_joint(function):
    q = np.zeros(6)
    q[2] = np.nan
    with pytest.raises(
        fa.StateFault, match=rf"q of joint 3 '{ARM.joint_names[2]}' is nan; give finite numbers"
    ):
        function(ARM, q)


def test_nan_velocity_and_torque_of_a_single_state():
    good, bad = np.zeros(6), np.array([0, 0, 0, 0, np.inf, 0.0])
    with pytest.raises(fa.StateFault, match="qd of joint 5"):
        fa.inverse_dynamics(ARM, good, bad, good)
    with pytest.raises(fa.StateFault, match="tau of joint 5"):
        fa.forward_dynamics(ARM, good, good, bad)


def test_wrong_sizes_are_named():
    with pytest.raises(fa.StateFault, match=r"q has shape \(7,\), but arm 'ur5e' has 6 joints"):
        fa.gravity_torque(ARM, np.zeros(7))
    with pytest.raises(fa.StateFault, match=r"qdd has shape \(5,\)"):
        fa.inverse_dynamics(ARM, np.zeros(6), np.zeros(6), np.zeros(5))


OF_AN_ARM = [fa.inverse_dynamics, fa.forward_dynamics, fa.solve_mass, fa.mass_matrix_rate, fa.coriolis_matrix]
OF_AN_ARM += [fa.mass_matrix, fa.coriolis_transpose_times, fa.christoffel, fa.gravity_torque, fa.bias_torque]
OF_AN_ARM += [fa.momentum, fa.energy, fa.reactions, fa.derivatives, fa.forward_derivatives, fa.regressor]
OF_AN_ARM += [fa.second_derivatives, fa.second_forward_derivatives]
OF_AN_ARM += [fa.parameters, fa.parameter_names, fa.pose, fa.jacobian, fa.jacobian_rate, fa.terms]


@pytest.mark.parametrize("function", OF_AN_ARM, ids=lambda f: f.__name__)
def test_a_name_in_place_of_an_arm_is_refused(function):
    required = [p for p in signature(function).parameters.values() if p.default is p.empty]
    with pytest.raises(fa.StateFault, match=r"^arm is a str 'panda'; give an Arm: fa.load\('panda'\)\.$"):
        function("panda", *[np.zeros(7)] * (len(required) - 1))


@pytest.mark.parametrize("options", [{"wrench": fa.Wrench((0, 0, 1))}, {"threads": 2}])
@pytest.mark.parametrize("function", [fa.inverse_dynamics, fa.forward_dynamics])
def test_a_name_in_place_of_an_arm_is_refused_on_every_way(function, options):
    with pytest.raises(fa.StateFault, match=r"^arm is a str 'panda'; give an Arm"):
        function("panda", np.zeros(7), np.zeros(7), np.zeros(7), **options)


def singular_arm():
    rod = dict(mass=1.0, com=(-0.5, 0, 0), inertia=fa.Inertia.rod(1.0, 1.0))
    return fa.Arm(
        "stub", [fa.Link.dh("revolute", a=1.0, name="hip", **rod), fa.Link("revolute", name="wrist")]
    )


def test_singular_mass_matrix_names_the_joint():
    arm = singular_arm()
    with pytest.raises(fa.SingularInertia, match=r"joint 2 .*has no inertia about"):
        fa.forward_dynamics(arm, np.zeros(2), np.zeros(2), np.ones(2))
    with pytest.raises(fa.SingularInertia, match=r"joint 2 .*has no inertia about"):
        fa.solve_mass(arm, np.zeros(2), np.ones(2))


def test_status_marks_singular_rows():
    """A slider on the axis of a turning joint, its mass at the axis: singular there only."""
    body = dict(mass=1.0, inertia=fa.Inertia.point())
    arm = fa.Arm(
        "crank",
        [
            fa.Link("revolute", fa.Pose.at((0, 0, 0), (0, np.pi / 2, 0)), name="turn"),
            fa.Link("prismatic", **body),
        ],
    )
    q = np.array([[0.3, 0.5], [0.3, 0.0], [0.3, -0.5]])
    status = np.zeros(3, dtype=bool)
    qdd = fa.forward_dynamics(arm, q, 0 * q, np.ones((3, 2)), status=status)
    np.testing.assert_array_equal(status, [False, True, False])
    assert np.all(np.isfinite(qdd[[0, 2]]))
    with pytest.raises(fa.SingularInertia, match="joint 1 'turn'"):
        fa.forward_dynamics(arm, q[1], np.zeros(2), np.ones(2))


def test_degrees_are_logged(caplog):
    with caplog.at_level(logging.WARNING, logger="forearm"):
        fa.gravity_torque(ARM, [[90.0, -45, 30, 0, 0, 0]])
    assert "q reaches 90 rad, 14.3 turns: degrees?" in caplog.text


@pytest.mark.parametrize("kinds", ["R", "RP"])
def test_forward_and_inverse_are_each_others_inverse(kinds):
    for seed, n in enumerate((2, 4)):
        arm = random_arm(n, seed, kinds, general=True, flips=True)
        q, qd, qdd = arm.random_state(seed, (20,))
        tau = fa.inverse_dynamics(arm, q, qd, qdd)
        condition = np.linalg.cond(fa.mass_matrix(arm, q))[:, None]
        error = np.abs(fa.forward_dynamics(arm, q, qd, tau) - qdd) / np.abs(qdd).max()
        assert np.all(error <= 1e-10 * np.maximum(condition, 1))
        back = fa.inverse_dynamics(arm, q, qd, fa.forward_dynamics(arm, q, qd, tau))
        assert np.all(np.abs(back - tau) <= 1e-10 * np.maximum(condition, 1) * np.abs(tau).max())


def test_terms_add_up():
    drive = fa.Drive(1e-4, 50, "motor", 0.2, (0.4, 0.3), 0.01)
    arm = fa.load("generic_3r")
    arm = arm.replace(links=[link.replace(drive=drive) for link in arm.links])
    q, qd, qdd = arm.random_state(3, (4,))
    push = fa.Wrench((3, -2, 5), (0.4, -0.3, 0.2), at=arm.joint_names[1], frame="local")
    parts = fa.terms(arm, q, qd, qdd, wrench=push)
    assert_close(parts.total, fa.inverse_dynamics(arm, q, qd, qdd, wrench=push))
    assert_close(parts.gravity, fa.gravity_torque(arm, q))
    assert_close(parts.rotor, 0.25 * qdd)
    single = np.zeros_like(qd)
    single[:, 2] = qd[:, 2]
    assert_close(fa.terms(arm, q, single, 0 * qdd).coriolis, 0 * qd, scale=np.abs(parts.centrifugal).max())


@pytest.mark.parametrize("at", ["tool", "flange", 3, (2, (0.1, -0.2, 0.3))])
@pytest.mark.parametrize("frame", ["world", "local"])
def test_a_wrench_does_the_work_of_its_point(at, frame):
    """Virtual work: tau . dq = f . dx + m . dphi, the motion by finite differences of poses."""
    arm, place = golden_arm("STAN"), at
    if at == 3 or isinstance(at, tuple):
        name = arm.joint_names[(at if at == 3 else at[0]) - 1]
        place = name if at == 3 else (name, at[1])
    wrench = fa.Wrench((3, -2, 5), (0.4, -0.3, 0.2), at=place, frame=frame)
    q, dq = golden_states("STAN")[0]["q"], np.array([0.3, -0.2, 0.4, 0.1, 0.5, -0.7])
    where, point = place if isinstance(place, tuple) else (place, (0, 0, 0))
    h = 1e-6
    before, here, after = (fa.pose(arm, q + k * h * dq, where) for k in (-1, 0, 1))
    spot = np.array([*point, 1.0])
    velocity = (after @ spot - before @ spot)[:3] / (2 * h)
    spin = (after[:3, :3] - before[:3, :3]) / (2 * h) @ here[:3, :3].T
    turning = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
    R = here[:3, :3] if frame == "local" else np.eye(3)
    work = (R @ wrench.force) @ velocity + (R @ wrench.moment) @ turning
    assert abs(fa.external_torque(arm, q, wrench) @ dq - work) < 1e-8
    zero = np.zeros(6)
    without = fa.inverse_dynamics(arm, q, zero, zero)
    assert_close(
        without - fa.inverse_dynamics(arm, q, zero, zero, wrench=wrench), fa.external_torque(arm, q, wrench),
        scale=np.abs(without).max(),
    )  # fmt: skip


def test_fifty_digits_go_through_the_same_functions():
    with mpmath.workdps(50):
        q, qd, qdd = (
            np.array([mpmath.mpf(x) for x in v], dtype=object) for v in ([0.4, -1.1], [0.7, 1.3], [-0.5, 2.1])
        )
        tau = fa.inverse_dynamics(RR, q, qd, qdd)
        assert isinstance(tau[0], mpmath.mpf)
        back = fa.forward_dynamics(RR, q, qd, tau)
        assert (
            max(abs(a - b) for a, b in zip(back, qdd, strict=True)) < 1e-14
        )  # constants are folded in floats
        assert fa.energy(RR, q, qd).kinetic > 0
    with pytest.raises(fa.StateFault, match=r"q has shape \(1, 2\) and type object; .* one state at a time"):
        fa.gravity_torque(RR, q[None])


def test_functions_remember_nothing():
    """The same call gives the same bits, whatever was asked in between (no stale state)."""
    q, qd, qdd = batch()
    first = fa.inverse_dynamics(ARM, q, qd, qdd).copy()
    heavy = ARM.with_payload(5.0, frame="flange")
    assert np.abs(fa.gravity_torque(heavy, q) - fa.gravity_torque(ARM, q)).max() > 1
    fa.inverse_dynamics(heavy, q, qd, qdd)
    np.testing.assert_array_equal(fa.inverse_dynamics(ARM, q, qd, qdd), first)


def test_kinematics_alone_has_no_torques():
    with pytest.raises(fa.NoDynamics, match="has no masses or inertias"):
        fa.inverse_dynamics(fa.load("cobra600"), [0.0] * 4, [0.0] * 4, [0.0] * 4)


def test_status_and_threads():
    status, tau = np.zeros(3, bool), np.zeros((3, 2))
    tau[1, 0] = np.nan
    fa.forward_dynamics(RR, np.zeros((3, 2)), np.zeros((3, 2)), tau, status=status)
    assert status.tolist() == [False, True, False]
    q, qd, qdd = batch(7)
    with pytest.raises(fa.StateFault, match="threads is 0"):
        fa.inverse_dynamics(ARM, q, qd, qdd, threads=0)
    assert_close(fa.inverse_dynamics(ARM, q, qd, qdd, threads=2), fa.inverse_dynamics(ARM, q, qd, qdd))


def test_six_bare_numbers_are_no_wrench():
    q, qd, qdd = batch()
    with pytest.raises(fa.StateFault, match=r"wrench is a list; give a Wrench\(force=, moment="):
        fa.inverse_dynamics(ARM, q, qd, qdd, wrench=[0, 0, -20, 0, 0, 0])


def test_torques_under_a_wrench_may_overwrite_the_positions():
    q, qd, qdd = batch(4)
    push = fa.Wrench((0, 0, -50.0))
    want = fa.inverse_dynamics(ARM, q, qd, qdd, wrench=push)
    got = fa.inverse_dynamics(ARM, q, qd, qdd, wrench=push, out=q)
    assert got is q
    assert_close(got, want)


def test_a_contact_point_that_moves_compiles_once():
    arm, q = fa.load("ur5e"), ARM.random_state(1)[0]
    for x in np.linspace(0.0, 0.3, 20):
        fa.external_torque(arm, q, fa.Wrench((1.0, 2.0, 3.0), at=("wrist_3_joint", (x, 0.0, 0.1))))
    assert len(arm.kernels) == 1


def test_single_precision_stays_single():
    q, qd, qdd = (x.astype(np.float32) for x in batch(5))
    got, want = fa.inverse_dynamics(ARM, q, qd, qdd), fa.inverse_dynamics(ARM, *map(np.float64, (q, qd, qdd)))
    assert (got.dtype, want.dtype) == (np.float32, np.float64)
    assert_close(got, want, eps=1e10, because="float32 has 1e-7")
    assert fa.inverse_dynamics(ARM, q, qd, np.float64(qdd)).dtype == np.float64
    assert fa.inverse_dynamics(ARM, q, qd, [0.0] * 6).dtype == np.float32


def test_every_function_of_states_takes_out_and_threads():
    for function in OF_AN_ARM:
        if function in (fa.parameters, fa.parameter_names, fa.terms):
            continue
        takes = signature(function).parameters
        assert {"out", "threads"} <= set(takes), function.__name__
        assert "target" not in takes
    assert "No `out` or `threads`" in fa.terms.__doc__


@pytest.mark.parametrize("name", ["pose", "jacobian", "jacobian_rate", "energy", "reactions", "derivatives"])
def test_out_is_written_and_returned_by_the_others(name):
    function = getattr(fa, name)
    states = batch(3)[: len([p for p in signature(function).parameters.values() if p.default is p.empty]) - 1]
    want = function(ARM, *states)
    several = isinstance(want, tuple)
    out = tuple(np.full_like(x, np.nan) for x in want) if several else np.full_like(want, np.nan)
    got = function(ARM, *states, out=out)
    for a, b, c in zip(*((x if several else (x,)) for x in (got, out, want)), strict=True):
        assert a is b
        np.testing.assert_array_equal(b, c)


def test_numbers_that_overflow_are_said_to_have_diverged():
    q = np.array([0.0, 1e252, 0.0, 0.0, 0.0, 0.0])
    says = r"qd of joint 2 'shoulder_lift_joint' is 1e\+252, and what is computed from it overflows"
    for function in (fa.inverse_dynamics, fa.forward_dynamics):
        with pytest.raises(fa.StateFault, match=says):
            function(ARM, np.zeros(6), q, np.zeros(6))
    rows = fa.inverse_dynamics(ARM, np.zeros((2, 6)), [q, 0 * q], np.zeros(6))
    assert np.isfinite(rows).all(axis=1).tolist() == [False, True]


def test_a_list_is_no_frame_and_long_doubles_are_not_rounded_in_silence():
    with pytest.raises(fa.ArmFault, match=r"^arm 'rr' has no frame \[1\]; it has base"):
        fa.pose(RR, [0.1, 0.2], [1])
    if np.longdouble is not np.float64 and np.dtype(np.longdouble).itemsize > 8:
        with pytest.raises(
            fa.StateFault,
            match=r"the kernel computes in float64; round it yourself \(q.astype\('float64'\)\)\.$",
        ):
            fa.gravity_torque(RR, np.zeros(2, np.longdouble))


class Table:
    """As a data frame is: columns by name, and an array in the order of its columns."""

    def __init__(self, columns):
        self.values, self.columns = columns, list(columns)

    def __getitem__(self, name):
        return self.values[name]

    def __array__(self, dtype=None, copy=None):
        return np.stack([self.values[name] for name in self.columns], axis=-1)


@pytest.mark.parametrize("kind", [dict, Table])
@pytest.mark.parametrize("rows", [1, 5, 6])
def test_a_batch_by_joint_name_is_not_transposed_nor_in_the_order_of_its_columns(kind, rows):
    """As many rows as joints: a square of numbers, which was taken the wrong way round."""
    arm = fa.load("ur5e")
    q, qd, qdd = arm.random_state(5, (rows,))
    names = arm.joint_names[::-1]
    named = kind({name: q[:, arm.joint_names.index(name)] for name in names})
    np.testing.assert_array_equal(
        fa.inverse_dynamics(arm, named, qd, qdd), fa.inverse_dynamics(arm, q, qd, qdd)
    )
    np.testing.assert_array_equal(fa.mass_matrix(arm, named), fa.mass_matrix(arm, q))


def test_one_joint_of_many_rows_by_name_and_the_others_held():
    arm = fa.load("rr")
    named = {"q1": np.linspace(0, 1, 4), "q2": 0.5}
    want = fa.gravity_torque(arm, [[x, 0.5] for x in np.linspace(0, 1, 4)])
    np.testing.assert_array_equal(fa.gravity_torque(arm, named), want)
    with pytest.raises(fa.StateFault, match=r"q of joint 'q1' has 1 masked"):
        fa.gravity_torque(arm, {"q1": np.ma.array([0.0, 1.0], mask=[0, 1]), "q2": 0.5})


@pytest.mark.parametrize("what", [None, Fraction(1, 2), Decimal("0.5")])
def test_what_has_no_sine_is_a_fault_and_no_bare_type_error(what):
    with pytest.raises(
        fa.StateFault,
        match=r"q, qd, qdd hold .*which cannot be computed with .*; give floats|q holds None; give numbers",
    ):
        fa.inverse_dynamics(fa.load("rr"), [what] * 2, [0, 0], [0, 0])
