"""check doubts bodies that are possible, but were evidently read another way; sound robots it leaves alone."""

import numpy as np
import pytest

from forearm.algebra import parallel_axis
from forearm.arm import Arm
from forearm.inertia import Inertia
from forearm.link import Link
from forearm.readers import known_arms, load
from forearm.verification.numbers.misread_bodies import misread
from forearm.verification.numbers.plausibility import check


def bars(slip=None):
    """Three links of slender bars of different lengths, along -x of their frames, with a slip in some of them."""
    links = []
    for i, length in enumerate((0.5, 0.4, 0.3)):
        width, mass = 0.05, 2700 * length * 0.05**2
        com, tensor = np.array([-length / 2, 0, 0]), np.array(Inertia.box(mass, length, width, width).tensor)
        if slip == "about the link's origin":
            tensor = tensor + parallel_axis(mass, com)
        if slip == "about the joint":
            tensor = tensor + parallel_axis(mass, com + [length, 0, 0])
        if slip == "axes" and i == 1:
            tensor = tensor[np.ix_([1, 0, 2], [1, 0, 2])]
        if slip == "sign" and i == 1:
            com = -com
        links.append(
            Link.dh(
                "revolute", a=length, alpha=0.3, mass=mass, com=tuple(com), inertia=Inertia.about_com(tensor)
            )
        )
    return Arm("bars", links)


SLIPS = {
    None: {},
    "about the link's origin": {1: "about_origin"},
    "about the joint": {1: "about_origin"},
    "axes": {2: "axes"},
    "sign": {2: "com_side"},
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_possible_body_that_was_misread_passed(slip):
    found = check(bars(slip)).findings
    assert {x.link: x.kind for x in found if x.level == "warning"} == SLIPS[slip]


@pytest.mark.parametrize("name", known_arms())
def test_built_in_arms_are_not_doubted(name):
    arm = load(name)
    assert not arm.dynamics or list(misread(arm)) == []
