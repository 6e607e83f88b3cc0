"""Mass matrices that are singular are said to be, however many joints there are."""

import numpy as np
import pytest

import forearm as fa

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
