"""Closed forms of arms with odd angles, whose coefficients are floats, and with links of very different sizes."""

from typing import Any

import numpy as np
import pytest

import forearm as fa


def heavy_with_a_small_link(size: float, formulation: str | None) -> tuple[fa.Arm, Any]:
    """A ton of a metre, and a link of so many metres and kilograms at its end."""
    big = fa.Link.dh(
        "revolute", a=1.0, alpha=0.3, mass=1e3, com=(-0.5, 0, 0), inertia=fa.Inertia.box(1e3, 1, 1, 1)
    )
    body = fa.Inertia.box(size, size, size, 0.5 * size)
    small = fa.Link.dh("revolute", a=size, mass=size, com=(-0.4 * size, 0, 0.1 * size), inertia=body)
    arm = fa.Arm("big and small", (big, small))
    return arm, fa.derive(arm, formulation)


@pytest.mark.parametrize("formulation", [None, "luh_walker_paul_1980"])
@pytest.mark.parametrize("size", [1.0, 1e-3, 1e-4])
def test_a_small_link_on_a_heavy_arm_lost_terms_of_its_own(size, formulation):
    """Its torque was wrong by 7e-5 of itself: what is dropped as round-off was held against the heavy arm."""
    arm, closed = heavy_with_a_small_link(size, formulation)
    q, qd, qdd = np.array([0.3, 0.4]), np.array([0.3, 0.8]), np.array([1.0, 2.0])
    want = fa.inverse_dynamics(arm, q, qd, qdd)
    np.testing.assert_allclose(closed.lambdify("tau")(q, qd, qdd), want, rtol=1e-10)


def test_round_off_is_dropped_still():
    """M of the small link is a constant, and what is left has no more terms than that of equal links."""
    forms = [heavy_with_a_small_link(size, None)[1] for size in (1.0, 1e-3)]
    assert forms[0].M[1, 1].size == forms[1].M[1, 1].size == 1
    assert forms[1].size <= forms[0].size == 17
