"""Small arms whose numbers have sixty digits, for laws and comparisons far below the rounding of floats."""

from functools import cache

import mpmath
import numpy as np

from agreement.sources import State
from arms import seed_of
from forearm.arm import Arm
from forearm.frames import Pose
from forearm.inertia import Inertia
from forearm.link import Link

DIGITS = 50
"""Digits that are asked for; ten more are carried."""


def _exact(rng, low, high):
    return mpmath.mpf(repr(rng.uniform(low, high)))


@cache
def exact_arm(letters):
    """A small arm whose numbers, sines and cosines have sixty digits; Denavit-Hartenberg, tilted base."""
    rng = np.random.default_rng(seed_of(letters))
    links = []
    for letter in letters:
        a, b, c = (_exact(rng, 0.05, 0.2) for _ in range(3))
        tensor = [[b + c, -a / 9, a / 7], [-a / 9, c + a, -b / 8], [a / 7, -b / 8, a + b]]
        links.append(
            Link.dh(
                "revolute" if letter == "R" else "prismatic",
                a=_exact(rng, -0.5, 0.5),
                alpha=_exact(rng, -3, 3),
                d=_exact(rng, -0.5, 0.5),
                theta=_exact(rng, -3, 3),
                mass=_exact(rng, 1, 5),
                com=[_exact(rng, -0.3, 0.3) for _ in range(3)],
                inertia=Inertia.about_com(tensor),
            )
        )
    base = Pose.at(rpy=[_exact(rng, -1, 1) for _ in range(3)])
    arm = Arm(f"exact {letters}", links, base=base, gravity=(mpmath.mpf("0.1"), 0.0, mpmath.mpf("-9.81")))
    q, qd, qdd, tau = np.array([[_exact(rng, -2, 2) for _ in letters] for _ in range(4)])
    return arm, State(q, qd, qdd, tau)
