"""The example of optimal control finds what other ways find: SciPy on the torques, differences of plain rollouts."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

import forearm as fa

EXAMPLE = Path(__file__).parents[2] / "examples" / "13_reach_by_ilqr.py"


@pytest.fixture(scope="module")
def ilqr():
    return runpy.run_path(str(EXAMPLE))


def cost_of(ilqr, arm, start, goal, tau):
    """The example's cost by a plain loop over steps, for torques (..., steps, n)."""
    q, qd = start + np.zeros_like(tau[..., 0, :]), np.zeros_like(tau[..., 0, :])
    total = 0.0
    for push in np.moveaxis(tau, -2, 0):
        square = ilqr["TORQUE"] * push**2 + ilqr["POSTURE"] * (q - start) ** 2 + ilqr["SPEED"] * qd**2
        total = total + ilqr["DT"] / 2 * square.sum(-1)
        qd = qd + ilqr["DT"] * fa.forward_dynamics(arm, q, qd, push)
        q = q + ilqr["DT"] * qd
    missed = fa.pose(arm, q)[..., :3, 3] - goal
    return total + ilqr["GOAL"] / 2 * (missed**2).sum(-1) + ilqr["REST"] / 2 * (qd**2).sum(-1)


def slopes(function, at, step=1e-4):
    """Derivatives by central differences of the fourth order, all in one batch."""
    moves = step * np.eye(at.size).reshape(-1, *at.shape)
    near, far = ((function(at + k * moves) - function(at - k * moves)) / (2 * k * step) for k in (1, 2))
    return ((4 * near - far) / 3).reshape(at.shape)


def pressed(tau, limit, gradient):
    """The gradient, without what pushes a torque further against its limit."""
    return np.where((np.abs(tau) >= limit) & (tau * gradient < 0), 0.0, gradient)


def reach(ilqr, limit, steps):
    """The arm of two joints goes a little up; its weight takes 20 N m."""
    arm, start = fa.load("rr"), np.array([-1.4, 0.3])
    goal = fa.pose(arm, start + [0.1, 0.05])[:3, 3]
    return arm, start, goal, ilqr["solve"](arm, start, goal[None], np.full(2, limit), steps)


@pytest.mark.parametrize("limit", [1e6, 14.0])
def test_no_torque_within_its_limits_can_improve_the_cost(ilqr, limit):
    arm, start, goal, (_, _, tau, _, costs) = reach(ilqr, limit, 15)
    assert costs[-1][0] == pytest.approx(cost_of(ilqr, arm, start, goal, tau[:, 0]), rel=1e-12)
    at_rest = slopes(
        lambda x: cost_of(ilqr, arm, start, goal, x), np.tile(fa.gravity_torque(arm, start), (15, 1))
    )
    left = slopes(lambda x: cost_of(ilqr, arm, start, goal, x), tau[:, 0])
    assert np.abs(pressed(tau[:, 0], limit, left)).max() < 1e-6 * np.abs(at_rest).max()
    assert (np.abs(tau) >= limit).any() == (limit < 100)


def test_a_problem_among_many_is_solved_as_alone(ilqr):
    arm, start, limit = fa.load("rr"), np.array([-1.4, 0.3]), np.full(2, 14.0)
    goals = fa.pose(arm, start + np.random.default_rng(0).uniform(-0.2, 0.2, (5, 2)))[:, :3, 3]
    together = ilqr["solve"](arm, start, goals, limit, 12)
    alone = ilqr["solve"](arm, start, goals[3:4], limit, 12)
    assert together[-1][-1][3] == pytest.approx(alone[-1][-1][0], rel=1e-10)


@pytest.mark.more
def test_scipy_finds_no_better_torques(ilqr):
    limit, steps = 14.0, 10
    arm, start, goal, (_, _, _, _, costs) = reach(ilqr, limit, steps)

    def number(x):
        return cost_of(ilqr, arm, start, goal, x.reshape(*x.shape[:-1], steps, 2))

    found = minimize(
        number,
        np.clip(np.tile(fa.gravity_torque(arm, start), steps), -limit, limit),
        jac=lambda x: slopes(number, x),
        method="L-BFGS-B",
        bounds=[(-limit, limit)] * (2 * steps),
        options={"maxiter": 500, "ftol": 1e-14, "gtol": 1e-8},
    )
    assert costs[-1][0] == pytest.approx(found.fun, rel=1e-6)


@pytest.mark.more
def test_the_example_reaches_and_its_gradient_is_zero(ilqr, capsys):
    ilqr["main"](4, 20)
    assert "4 reaches of 0.2 s" in capsys.readouterr().out
    arm = fa.load("iiwa14").with_payload(5.0, frame="tool")
    start, goal = np.array([0.0, 0.5, 0.0, -1.2, 0.0, 0.8, 0.0]), np.array([0.3, 0.4, 0.7])
    limit = np.array([link.effort_limit for link in arm.links])
    q, _, tau, _, costs = ilqr["solve"](arm, start, goal[None], limit, 30)
    assert np.linalg.norm(fa.pose(arm, q[-1, 0])[:3, 3] - goal) < 0.01
    left = slopes(lambda x: cost_of(ilqr, arm, start, goal, x), tau[:, 0], 1e-2)
    first = slopes(
        lambda x: cost_of(ilqr, arm, start, goal, x), np.tile(fa.gravity_torque(arm, start), (30, 1)), 1e-2
    )
    assert np.abs(pressed(tau[:, 0], limit, left)).max() < 1e-5 * np.abs(first).max()
    assert costs[-1][0] < 0.01 * costs[0][0]


@pytest.mark.more
def test_a_thousand_futures_swing_the_arm_up(capsys):
    runpy.run_path(str(EXAMPLE.parent / "14_swing_up_by_mppi.py"))["main"]()
    last = capsys.readouterr().out.splitlines()[-1]
    assert float(last.split("tip is ")[1].split()[0]) > 0.5  # it hangs at -1.4
