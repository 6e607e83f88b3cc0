"""Mass matrices that are singular are said to be, however many joints there are."""

import numpy as np
import pytest

import forearm as fa
from arms import random_body, random_rotation

LINK = dict(mass=1.0, com=(-0.05, 0.01, 0.02), inertia=fa.Inertia.box(1.0, 0.1, 0.05, 0.07))


def chain(n, *last):
    links = [fa.Link.dh("revolute", a=0.1, d=0.02, alpha=np.pi / 2, **LINK) for _ in range(n - len(last))]
    return fa.Arm(f"chain of {n}", (*links, *last))


@pytest.mark.parametrize("n", [4, 12, pytest.param(40, marks=pytest.mark.more)])
def test_a_stretched_massless_link_of_a_long_chain_gives_no_accelerations_of_1e17(n):
    """A point mass on two parallel joints cannot be pushed along the line of both."""
    point = dict(mass=1.5, inertia=fa.Inertia.point())
    arm = chain(n, fa.Link.dh("revolute", a=0.3), fa.Link.dh("revolute", a=0.2, **point, name="point"))
    q, qd, tau = np.random.default_rng(n).normal(size=(3, 5, n))
    q[2, -1], q[3, -1] = 0.0, np.pi
    status = np.zeros(5, dtype=bool)
    qdd = fa.forward_dynamics(arm, q, qd, tau, status=status)
    np.testing.assert_array_equal(status, [False, False, True, True, False])
    np.testing.assert_array_equal(np.isfinite(qdd).all(axis=1), ~status)
    with pytest.raises(fa.SingularInertia, match=f"joint {n - 1} "):
        fa.forward_dynamics(arm, q[2], qd[2], tau[2])
    again = fa.inverse_dynamics(arm, q[0], qd[0], qdd[0])
    np.testing.assert_allclose(again, tau[0], atol=1e-9 * np.abs(tau[0]).max())


@pytest.mark.parametrize("about", ["com", "origin"])
@pytest.mark.parametrize("n", [4, 12, pytest.param(40, marks=pytest.mark.more)])
def test_a_rod_along_the_last_axis_of_a_long_chain_is_named(n, about):
    center, rod = np.array([-0.3, 0, 0]), np.diag([0.01, 0.01, 0.0])
    tensor = rod + (about == "origin") * (center @ center * np.eye(3) - np.outer(center, center))
    body = dict(mass=1.0, com=tuple(center), inertia=getattr(fa.Inertia, f"about_{about}")(tensor))
    arm = chain(n, fa.Link.dh("revolute", a=0.3, **body, name="rod"))
    with pytest.raises(fa.SingularInertia, match=f"joint {n} 'rod' has no inertia"):
        fa.forward_dynamics(arm, *np.zeros((2, n)), np.ones(n))


def on_the_axis(rng, tensor):
    """A link in frames of any direction whose mass is all on its joint's axis, up to the rounding of its numbers."""
    pose = fa.Pose(tuple(map(tuple, random_rotation(rng))), tuple(rng.normal(size=3)))
    center = pose.R.T @ (np.array([0.0, 0.0, 0.4]) - pose.p)
    turned = pose.R.T @ tensor @ pose.R
    about = fa.Inertia.about_com((turned + turned.T) / 2)
    return fa.Link("revolute", pose, mass=1.3, com=tuple(center), inertia=about, name="idle")


@pytest.mark.parametrize("tensor", [np.zeros((3, 3)), np.diag([0.02, 0.02, 0.0])], ids=["point", "rod"])
@pytest.mark.parametrize("kind", ["arm", "leaf", "leaf of a free robot"])
def test_a_mass_on_the_axis_of_its_joint_in_tilted_frames_gave_accelerations_of_1e16(kind, tensor):
    """M[2, 2] was the rounding of the way there, 1e-17, and what was divided by it was finite."""
    rng = np.random.default_rng(9)
    solid = fa.Link("revolute", **random_body(rng))
    idle = on_the_axis(rng, tensor)
    if kind == "arm":
        robot = fa.Arm("two", (solid, idle))
    else:
        free = kind != "leaf"
        mount = fa.Pose(tuple(map(tuple, random_rotation(rng))), (0.1, 0.2, 0.3))
        trunk = fa.Body(3.0, inertia=fa.Inertia.sphere(3.0, 0.2))
        body = dict(free=True, trunk=trunk) if free else {}
        robot = fa.Robot("tree", (solid, idle, solid), (0, 1, 1), (mount,) * 3, **body)
    q, qd, tau = robot.random_state(1)
    for call in (lambda: fa.forward_dynamics(robot, q, qd, tau), lambda: fa.solve_mass(robot, q, tau)):
        with pytest.raises(fa.SingularInertia, match="'idle' has no inertia"):
            call()
    with pytest.raises(fa.SingularInertia, match="'idle' has no inertia"):
        fa.forward_derivatives(robot, q, qd, tau)


def test_a_thin_disc_on_the_last_joint_of_a_long_arm_keeps_its_inertia():
    """What is small because the body is small is no rounding: 1e-9 kg m² behind links of ten metres."""
    far = [fa.Link.dh("revolute", a=10.0, mass=1e3, com=(-5.0, 0, 0), inertia=fa.Inertia.rod(1e3, 10.0))] * 2
    disc = fa.Link.dh("revolute", mass=1e-3, inertia=fa.Inertia.cylinder(1e-3, 1.4e-3, 1e-4))
    M = fa.mass_matrix(fa.Arm("crane", (*far, disc)), np.zeros(3))
    assert M[2, 2] == pytest.approx(disc.about_com.inertia[2, 2], rel=1e-12)


@pytest.mark.parametrize("kind", ["arm", "fixed", "free"])
def test_a_stretched_massless_link_in_single_precision_gave_accelerations_of_1e7(kind):
    """Rounding of float32 leaves 1e-7 of a pivot, which was held against what float64 leaves."""
    rng = np.random.default_rng(0)
    tilted = [fa.Pose(tuple(map(tuple, random_rotation(rng))), (0.1, 0.2, 0.3)) for _ in range(2)]
    before = [fa.Link("revolute", pose, **random_body(rng)) for pose in tilted]
    point = fa.Link.dh("revolute", a=0.27, mass=1.5, name="point")
    links = (*before, fa.Link.dh("revolute", a=0.31, name="massless"), point)
    robot = fa.Arm("stretched", links)
    if kind != "arm":
        trunk = fa.Body(3.0, inertia=fa.Inertia.sphere(3.0, 0.2))
        body = dict(free=True, trunk=trunk) if kind == "free" else {}
        robot = fa.Robot("stretched", links, range(4), **body)
    q, qd, tau = (x.astype(np.float32) for x in robot.random_state(0, (200,)))
    q[100:, -1], status = 0.0, np.zeros(200, dtype=bool)
    qdd = fa.forward_dynamics(robot, q, qd, tau, status=status)
    assert qdd.dtype == np.float32
    np.testing.assert_array_equal(status[100:], True)
    np.testing.assert_array_equal(np.isfinite(qdd[100:]).all(axis=1), False)
    bent = np.abs(np.sin(q[:100, -1])) > 0.1
    assert bent.sum() > 50
    assert not status[:100][bent].any()
    for call in (fa.solve_mass, lambda arm, q, tau: fa.forward_dynamics(arm, q, qd[150], tau)):
        with pytest.raises(fa.SingularInertia, match="'massless' has no inertia"):
            call(robot, q[150], tau[150])
