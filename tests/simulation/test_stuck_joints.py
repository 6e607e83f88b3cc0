"""Which joints stick: against all possibilities, one by one, and in motions against a solver of another library."""

from itertools import product

import numpy as np
import pytest

import forearm as fa
from forearm.simulation import simulate
from forearm.simulation.schemes import stuck_joints
from forearm.simulation.schemes.stuck_joints import StuckJoints


def planar_inertia(rng, n):
    """The mass matrix of a chain of rods in a plane, which couples joints strongly: condition numbers of thousands."""
    lengths, masses = rng.uniform(0.1, 0.5, n), 10.0 ** rng.uniform(-1, 0.5, n)
    angles, M = np.cumsum(rng.uniform(-1, 1, n)), np.zeros((n, n))
    for k in range(n):
        arms = np.where(np.arange(n) == k, 0.5, 1.0) * lengths * (np.arange(n) <= k)
        bars = arms * np.array([-np.sin(angles), np.cos(angles)])
        J = np.array([bars[:, i:].sum(axis=1) for i in range(n)]).T * (np.arange(n) <= k)
        turns = (np.arange(n) <= k) * 1.0
        M += masses[k] * (J.T @ J + lengths[k] ** 2 / 12 * np.outer(turns, turns))
    return M


def the_one_that_fits(M, free, h, levels):
    """Torques of the one choice (each joint forth, back or still) that contradicts nothing; all are tried."""
    momentum = M @ free
    for sides in product((0, 1, -1), repeat=len(free)):
        side = np.array(sides)
        turning = side != 0
        speed, torque = np.zeros(len(free)), np.where(side > 0, levels[:, 0], -levels[:, 1])
        block = M[np.ix_(turning, turning)]
        speed[turning] = np.linalg.solve(block, (momentum - h * torque)[turning])
        torque = np.where(turning, torque, (momentum - M @ speed) / h)
        inside = (torque <= levels[:, 0] * (1 + 1e-9)) & (torque >= -levels[:, 1] * (1 + 1e-9))
        if np.all(np.where(turning, speed * side >= 0, inside)):
            return torque, speed
    raise AssertionError("a positive definite problem has a solution")


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_friction_was_half_converged_where_joints_are_strongly_coupled(n):
    rng = np.random.default_rng(n)
    for _ in range(40):
        M, h = planar_inertia(rng, n), 10.0 ** rng.uniform(-4, -2)
        free = rng.normal(size=n)
        levels = (np.abs(M @ free) / h * 10.0 ** rng.uniform(-1, 1, n))[:, None] * rng.uniform(0.5, 1, (n, 2))
        torque, speed = the_one_that_fits(M, free, h, levels)
        found = StuckJoints(dict(enumerate(levels)), M, np.linalg.inv(M), free, h).settled()
        assert found[2] == 0
        np.testing.assert_allclose(found[0], torque, atol=1e-9 * levels.max())
        np.testing.assert_allclose(found[1], speed, atol=1e-9 * np.abs(free).max())
        assert np.all((found[1] == 0) == (speed == 0))


def rods(n, name):
    """Links of 0.3 m and 1 kg without rotors, in a vertical plane."""
    drives = [fa.Drive(coulomb=(c, 0.8 * c)) for c in np.random.default_rng(n).uniform(0.2, 3, n)]
    body = dict(a=0.3, mass=1.0, com=(-0.15, 0, 0), inertia=fa.Inertia.box(1.0, 0.3, 0.02, 0.02))
    links = [fa.Link.dh("revolute", drive=drive, **body) for drive in drives]
    return fa.Arm(name, links, gravity=(0, -9.81, 0))


def test_a_motion_with_sticking_was_wrong_by_half_without_a_word():
    """Each step minimises the kinetic energy that is left, over torques within bounds: SciPy's solver has the same."""
    from scipy.optimize import lsq_linear

    arm, h, n = rods(6, "rods"), 1e-3, 6
    rng = np.random.default_rng(2)
    q, v = rng.uniform(-0.3, 0.3, n), np.zeros(n)
    tau = fa.gravity_torque(arm, q) * rng.uniform(0.8, 1.2, n)
    run = simulate(arm, q, law=tau, duration=0.02, dt=h, method="euler", sticking=True)
    forth, back = np.array([link.drive.coulomb for link in arm.links]).T
    bare = arm.replace(links=[link.replace(drive=fa.Drive()) for link in arm.links])
    for k in range(20):
        M = fa.mass_matrix(bare, q)
        L = np.linalg.cholesky(M)
        free = v + h * np.linalg.solve(M, tau - fa.inverse_dynamics(bare, q, v, 0 * v))
        scaled = h * np.linalg.inv(L)
        f = lsq_linear(scaled, L.T @ free, bounds=(-back, forth), method="bvls", tol=1e-15).x
        v = free - h * np.linalg.solve(M, f)
        q = q + h * v
        np.testing.assert_allclose(run.qd[k + 1], v, atol=1e-10)
    assert np.abs(v).max() > 0.01
    assert run.outcome.advice == ""


def test_what_is_not_settled_is_told(monkeypatch):
    monkeypatch.setattr(stuck_joints, "SWEEPS", 0)
    monkeypatch.setattr(stuck_joints, "MOST_ROUNDS", 1)
    arm = rods(5, "rods without rounds")
    run = simulate(arm, np.full(5, 0.2), duration=0.05, dt=1e-3, method="euler", sticking=True)
    assert "% of the time it was not settled which joints stick" in run.outcome.advice
