"""Limits of robots: of joints that follow others, of several joints in one step, and in pictures."""

import numpy as np
import pytest

import forearm as fa
from forearm import plots
from forearm.simulation import Quintic


def joint(name, effort=50.0, **rest):
    return fa.Link(
        "revolute",
        fa.Pose.at((0.2, 0, 0)),
        mass=1.0,
        inertia=fa.Inertia.box(1.0, 0.2, 0.05, 0.05),
        name=name,
        effort_limit=effort,
        **rest,
    )


def coupled():
    """The middle joint turns back twice as far as the first one forth, and may turn less far."""
    links = [
        joint("lead", limits=(-3, 3), speed_limit=5.0),
        joint("follow", effort=2.0, limits=(-0.5, 0.5), speed_limit=1.0),
        joint("last", effort=99.0),
    ]
    return fa.Robot("coupled", links, (0, 1, 2), couplings=[fa.Coupling("follow", (("lead", -2.0),), 0.1)])


def floating():
    trunk = fa.Body(5.0, inertia=fa.Inertia.box(5.0, 0.2, 0.2, 0.2))
    return fa.Robot("floating", [joint("a"), joint("b", 60.0)], (0, 1), free=True, trunk=trunk)


def test_a_follower_beyond_its_own_limits_is_not_feasible():
    report = fa.feasible(coupled(), Quintic([0.0, 0.0], [1.0, 0.0], 1.0))
    found = {(e.joint, e.what): e.worst for e in report.excesses}
    assert not report
    assert found[("follow", "position")] == pytest.approx(-1.9)
    assert found[("follow", "speed")] == pytest.approx(-2 * 1.875, rel=1e-5)


def test_a_simulation_stops_where_a_follower_leaves_its_limits():
    robot = coupled()
    noted = fa.simulate(robot, [0.0, 0.0], [2.0, 0.0], duration=0.5, dt=0.01)
    assert noted.outcome.kind == "limit hit"
    assert noted.outcome.joint == "follow"
    stopped = fa.simulate(robot, [0.0, 0.0], [2.0, 0.0], duration=0.5, dt=0.01, limits="stop")
    assert stopped.outcome.kind == "stopped at a limit"
    assert stopped.outcome.joint == "follow"
    assert np.abs(0.1 - 2 * stopped.q[-1, 0]) < 0.56


@pytest.mark.parametrize("method", ["rk4", "euler"])
def test_a_floating_robot_stops_at_the_same_state_whoever_evaluates_its_law(method):
    robot = floating()
    robot = robot.replace(links=tuple(link.replace(limits=(-0.3, 0.3)) for link in robot.links))
    how = dict(duration=0.06, dt=2e-3, method=method, limits="stop")
    start = [0, 0, 0, 0, 0, 0, 1, 0.2, 0], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 3.0, -2.0]

    def law(t, q, qd):
        return -0.1 * qd

    compiled, called = (fa.simulate(robot, *start, law=law, trace=trace, **how) for trace in (True, False))
    assert compiled.outcome.kind == called.outcome.kind == "stopped at a limit"
    np.testing.assert_allclose(called.q, compiled.q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(called.qd, compiled.qd, rtol=0, atol=1e-12)


def test_torque_limits_of_a_coupled_robot_are_told_by_the_joints_of_its_state():
    record = fa.simulate(
        coupled(),
        [0.0, 0.0],
        law=[0.0, 9.0],
        duration=0.2,
        dt=0.01,
        torque_limits=[50.0, 1.0],
        limits="ignore",
    )
    assert {excess.joint for excess in record.outcome.limits} == {"last"}


@pytest.mark.parametrize("limited", [(0, 2), (0, 1, 2)])
def test_two_joints_that_leave_their_limits_in_one_step_are_not_a_third(limited):
    slide = fa.Pose.at((0, 0, 0), (np.pi / 2, 0, 0))
    links = [
        fa.Link("prismatic", slide, mass=1.0, name=name, limits=(-1, 1) if i in limited else None)
        for i, name in enumerate("xyz")
    ]
    arm = fa.Arm("slides", links, gravity=(0, 0, 0))
    ways = np.linspace(1e-6, 0.2, 40)
    start = np.stack([np.full(40, 1 - 1e-3), np.zeros(40), 1 - ways], axis=-1)
    found = fa.simulate(arm, start, [0.0, 0.0, 1.0], law=[30.0, 0.0, 0.0], duration=0.3, dt=0.1)
    assert {outcome.joint for outcome in found.outcomes} == {"x", "z"}


def test_pictures_of_a_coupled_robot_have_the_names_and_limits_of_its_own_joints():
    robot, t = coupled(), np.linspace(0, 1, 5)
    tau = np.ones((5, 2)) * [1.0, 98.0]
    made = plots.band_figure(robot, t, tau)
    assert ["lead" in a.get_title(loc="left") + a.get_title() for a in made.axes] == [True, False]
    assert "last" in made.axes[1].get_title(loc="left") + made.axes[1].get_title()
    assert made.axes[1].lines[2].get_ydata()[0] == 99.0
    lines = plots.torque_figure(robot, t, tau).axes[1].lines
    assert [line.get_ydata()[0] for line in lines[-2:]] == [-99.0, 99.0]


def test_pictures_of_a_free_robot_show_its_joints_and_not_its_base():
    robot, t = floating(), np.linspace(0, 1, 5)
    tau = np.ones((5, 8)) * np.arange(8)
    for made in (plots.torque_figure(robot, t, tau), plots.band_figure(robot, t, tau)):
        assert [
            any(line.get_ydata()[-1] == k for line in a.lines) for a, k in zip(made.axes, (6, 7), strict=True)
        ]
        assert not any(line.get_ydata()[-1] == 1 for a in made.axes for line in a.lines)
    q = robot.neutral()
    q[-2:] = 0.4, -0.7
    record = fa.simulate(robot, q, duration=0.1, dt=0.01)
    shown = record.plot().axes[0].lines
    assert [line.get_ydata()[0] for line in shown] == [0.4, -0.7]


def test_a_record_of_a_free_robot_goes_to_xarray():
    record = fa.simulate(floating(), floating().neutral(), duration=0.1, dt=0.01)
    data = record.to_xarray()
    assert dict(data.sizes) == {"t": 11, "coordinate": 9, "joint": 8}
    assert data.qd.sel(joint="b").shape == (11,)
    assert data.q.sel(coordinate="b").shape == (11,)


@pytest.mark.parametrize(
    "given",
    [
        {"payload": [-5.0, *[0.0] * 9]},
        {"free": {"links[0].mass": [1.0, -3.0]}},
        {"free": {"links[1].drive.viscous": -0.1}},
    ],
)
def test_arms_that_cannot_be_were_simulated_to_the_end(given):
    with pytest.raises(fa.StateFault, match=r"simulate: .* goes to -\d.*, and no arm has less than"):
        fa.simulate(fa.load("rr"), [0.1, 0.2], duration=0.01, **given)


def test_random_states_leave_no_follower_beyond_its_limits():
    """They were within the leaders' limits alone; a follower of several joints has limits, too."""
    robot = coupled()
    q = robot.random_state(0, (1000,))[0]
    assert np.abs(0.1 - 2 * q[:, 0]).max() <= 0.5 + 1e-12
    assert np.ptp(q[:, 0]) > 0.49
    assert np.ptp(q[:, 1]) > 6
    links = [joint("a"), joint("b"), joint("sum", limits=(0.1, 0.4))]
    both = fa.Robot("both", links, (0, 1, 2), couplings=[fa.Coupling("sum", (("a", 1.0), ("b", -0.5)))])
    a, b = np.moveaxis(both.random_state(0, (20, 50))[0], -1, 0)
    assert (0.1 <= a - 0.5 * b).all()
    assert (a - 0.5 * b <= 0.4).all()
    assert np.ptp(b) > 6


def test_a_leader_without_limits_goes_where_its_follower_may_be():
    links = [joint("a"), joint("b", limits=(0.0, 1.0))]
    robot = fa.Robot("far", links, (0, 1), couplings=[fa.Coupling("b", (("a", 1.0),), 10.0)])
    q = robot.random_state(0, (100,))[0]
    assert (-10 <= q).all()
    assert (q <= -9).all()


@pytest.mark.parametrize("width", [0.01, 1e-4])
@pytest.mark.parametrize("batch", [(), (4, 50)])
def test_random_states_keep_followers_within_limits_that_leave_little_room(width, batch):
    """Of the sums of two joints within ±pi a hundredth of a rad was missed by every fifth."""
    links = [fa.Link.dh("revolute", a=0.1, mass=1.0, name=name) for name in "ab"]
    links += [link.replace(name=name, limits=(-width, width)) for link, name in zip(links, "cd", strict=True)]
    robot = fa.Robot("tight", links, (0, 1, 2, 3), couplings={"c": {"a": 1, "b": 1}, "d": {"a": 2, "b": -1}})
    q = robot.random_state(0, batch)[0]
    assert q.shape == (*batch, 2)
    assert np.abs(q @ np.array([[1, 2], [1, -1]])).max() <= width
    assert not batch or np.std(q[..., 0]) > 0.1 * width


def test_random_states_of_a_robot_without_couplings_are_those_of_before():
    links = [joint("a", limits=(-1, 2)), joint("b", limits=(0.0, np.inf))]
    q, qd, _ = fa.Robot("plain", links, (0, 0)).random_state(3, (4,))
    rng = np.random.default_rng(3)
    np.testing.assert_array_equal(q, rng.uniform([-1, 0], [2, np.pi], (4, 2)))
    np.testing.assert_array_equal(qd, rng.uniform(-2, 2, (4, 2)))


def test_fingers_that_close_against_each_other_have_random_states():
    """PR2's: a follower that turns the other way within the same limits leaves its leader 0.0 to -0.0."""
    links = [
        fa.Link.dh(
            "revolute", a=0.1, name=name, mass=0.1, inertia=fa.Inertia.rod(0.1, 0.1), limits=(0.0, 0.5)
        )
        for name in ("left", "right")
    ]
    robot = fa.Robot("gripper", links, parents=(0, 0), couplings={"right": ("left", -1.0)})
    q, _, _ = robot.random_state(0, (3,))
    np.testing.assert_array_equal(q, 0.0)
