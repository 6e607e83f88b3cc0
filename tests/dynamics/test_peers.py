"""Every function of `dynamics` against Pinocchio and MuJoCo on five real arms, with everything switched on."""

import importlib.util

import numpy as np
import pytest

import forearm as fa
from arms import seed_of
from shares import shared_out

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("pinocchio") is None or importlib.util.find_spec("mujoco") is None,
    reason="pin has no wheel here",
)
if importlib.util.find_spec("pinocchio") is not None:
    import pinocchio as pin

    from dynamics.peers import (
        ALL,
        ARMS,
        PLAIN,
        TILT,
        TOOL,
        VARIANTS,
        WRENCH,
        arm_of,
        friction,
        friction_slope,
        mujoco_accelerations,
        mujoco_mass,
        mujoco_torques,
        pin_mass,
        pin_of,
        pin_torques,
        rotors,
        tool_pose,
    )
    from peers.pin_models import pin_q
else:
    ARMS = VARIANTS = ()
    ALL = PLAIN = None

TOLERANCE = 1e-11


def near(got, want, scale=None, tolerance=TOLERANCE):
    """Within 1e-11 of the largest number."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape
    scale = np.abs(want).max() if scale is None else scale
    assert np.abs(got - want).max() <= tolerance * scale, np.abs(got - want).max() / scale


def states(name, variant, count=3):
    return zip(*arm_of(name, variant).random_state(seed_of(f"{name} {variant}"), (count,)), strict=True)


def check_torques(name, variant):
    arm = arm_of(name, variant)
    for q, qd, qdd in states(name, variant):
        tau = fa.inverse_dynamics(arm, q, qd, qdd)
        near(tau, pin_torques(name, variant, q, qd, qdd))
        near(tau, mujoco_torques(name, variant, q, qd, qdd))
        near(
            fa.inverse_dynamics(arm, q, qd, qdd, wrench=WRENCH),
            pin_torques(name, variant, q, qd, qdd, WRENCH),
        )


def check_forward(name, variant):
    arm = arm_of(name, variant)
    for q, qd, qdd in states(name, variant):
        M = fa.mass_matrix(arm, q)
        near(M, pin_mass(name, variant, q))
        near(M, mujoco_mass(name, variant, q))
        np.testing.assert_array_equal(M, M.T)
        tau = pin_torques(name, variant, q, qd, qdd)
        # accelerations carry the condition number of M, the peers' too
        slack = 1e-13 * np.linalg.cond(M) * np.abs(tau).max() / np.linalg.norm(M, 2)
        found = fa.forward_dynamics(arm, q, qd, tau)
        near(found, qdd, scale=1.0, tolerance=1e-12 + slack)
        near(found, mujoco_accelerations(name, variant, q, qd, tau), scale=1.0, tolerance=1e-12 + 2 * slack)
        pushed = pin_torques(name, variant, q, qd, qdd, WRENCH)
        found = fa.forward_dynamics(arm, q, qd, pushed, wrench=WRENCH)
        near(found, qdd, scale=1.0, tolerance=1e-12 + slack)


@pytest.mark.parametrize("name", ARMS)
def test_torques_with_everything_on(name):
    check_torques(name, ALL)


@pytest.mark.parametrize("name", ARMS)
def test_mass_matrix_and_accelerations_with_everything_on(name):
    check_forward(name, ALL)


@pytest.mark.parametrize("name", ["puma560"])
def test_torques_and_accelerations_of_the_plain_arm(name):
    check_torques(name, PLAIN)
    check_forward(name, PLAIN)


@pytest.mark.parametrize(
    ("name", "variant"),
    shared_out(
        [pytest.param(a, v, id=f"{a}-{v}") for a in ARMS for v in VARIANTS], 4, of=lambda c: f"{c[0]}-{c[1]}"
    ),
)
def test_every_combination(name, variant):
    check_torques(name, variant)
    check_forward(name, variant)
    check_terms_of_the_equation(name, variant)
    check_frames(name, variant)
    check_derivatives(name, variant)


def check_terms_of_the_equation(name, variant):
    arm = arm_of(name, variant)
    model, _ = pin_of(name, variant)
    data = model.createData()
    for q, qd, qdd in states(name, variant, 2):
        at = pin_q(model, q)
        g = pin.computeGeneralizedGravity(model, data, at).copy()
        bias = pin.nle(model, data, at, qd) + friction(name, variant, qd)
        scale = max(np.abs(bias).max(), np.abs(g).max())
        near(fa.gravity_torque(arm, q), g, scale)
        near(fa.bias_torque(arm, q, qd), bias, scale)
        M = pin_mass(name, variant, q)
        near(fa.momentum(arm, q, qd), M @ qd)
        energy = fa.energy(arm, q, qd)
        near(energy.kinetic, qd @ M @ qd / 2)
        C = fa.coriolis_matrix(arm, q, qd)
        velocity = pin.nle(model, data, at, qd) - g
        near(C @ qd, velocity, scale)
        near(fa.coriolis_transpose_times(arm, q, qd, qdd), C.T @ qdd)
        unit = np.eye(arm.n)
        nle = lambda v: pin.nle(model, data, at, v) - g  # noqa: B023  (used at once)
        columns = [(nle(qd + e) - nle(qd) - nle(e)) / 2 for e in unit]
        near(C, np.array(columns).T, scale)
        near(fa.mass_matrix_rate(arm, q, qd), C + C.T)
        near(fa.solve_mass(arm, q, M @ qdd), qdd, tolerance=1e-14 * np.linalg.cond(M) + 1e-12)


def check_frames(name, variant):
    arm = arm_of(name, variant)
    model, last = pin_of(name, variant)
    data = model.createData()
    R = TILT.R if variant.tilted else np.eye(3)
    for q, qd, qdd in states(name, variant, 2):
        near(fa.pose(arm, q), tool_pose(name, variant, q).homogeneous)
        at = pin_q(model, q)
        pin.forwardKinematics(model, data, at, qd, qdd)
        frame = last * pin.SE3(TOOL.R, TOOL.p)
        v = frame.actInv(data.v[-1])
        a = frame.actInv(data.a[-1])
        turn = R @ data.oMi[-1].rotation @ frame.rotation
        twist = np.concatenate([turn @ v.linear, turn @ v.angular])
        J = fa.jacobian(arm, q)
        near(J @ qd, twist)
        classical = np.concatenate([turn @ (a.linear + np.cross(v.angular, v.linear)), turn @ a.angular])
        near(J @ qdd + fa.jacobian_rate(arm, q, qd), classical)
        force, moment = fa.reactions(arm, q, qd, qdd)
        pin.rnea(model, data, at, qd, qdd)
        lengths = np.linalg.norm([f.linear for f in data.f[1:]], axis=1)
        near(np.linalg.norm(force, axis=1), lengths)
        tau = pin_torques(name, variant, q, qd, qdd)
        along = [link.axis @ m for link, m in zip(arm.links, moment, strict=True)]
        near(along + rotors(name, variant) * qdd + friction(name, variant, qd), tau)


def check_derivatives(name, variant):
    arm = arm_of(name, variant)
    model, _ = pin_of(name, variant)
    data = model.createData()
    for q, qd, qdd in states(name, variant, 2):
        dq, dqd, _ = pin.computeRNEADerivatives(model, data, pin_q(model, q), qd, qdd)
        dq, dqd = dq.copy(), dqd + np.diag(friction_slope(name, variant, qd))
        found = fa.derivatives(arm, q, qd, qdd)
        near(found.dq, dq)
        near(found.dqd, dqd)
        tau = pin_torques(name, variant, q, qd, qdd)
        M = pin_mass(name, variant, q)
        forward = fa.forward_derivatives(arm, q, qd, tau)
        slack = 1e-12 + 1e-14 * np.linalg.cond(M)
        for got, want in ((forward.dq, -dq), (forward.dqd, -dqd), (forward.dtau, np.eye(arm.n))):
            near(M @ got, want, tolerance=slack)


def test_terms_of_the_equation_of_motion():
    check_terms_of_the_equation("generic_3r", ALL)


def test_frames_and_reactions():
    check_frames("panda", ALL)


def test_derivatives():
    check_derivatives("generic_3r", ALL)


@pytest.mark.parametrize("name", ["generic_3r", pytest.param("iiwa14", marks=pytest.mark.more)])
def test_christoffel_symbols_and_the_regressor(name):
    arm = arm_of(name)
    model, _ = pin_of(name)
    data = model.createData()
    q, qd, qdd = next(iter(states(name, PLAIN, 1)))
    at = pin_q(model, q)
    C = fa.christoffel(arm, q)
    near(C, np.swapaxes(C, -1, -2), tolerance=1e-15)
    near(np.einsum("ijk,j,k->i", C, qd, qd), pin.nle(model, data, at, qd) - pin.nle(model, data, at, 0 * qd))
    Y = fa.regressor(arm, q, qd, qdd)
    near(Y @ fa.parameters(arm), pin_torques(name, PLAIN, q, qd, qdd))
    assert len(fa.parameter_names(arm)) == Y.shape[1] == 10 * arm.n
