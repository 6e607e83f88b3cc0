"""Variants in the structure of a published table compute what their formulation computes."""

import pytest

from arms import random_arm
from close import assert_close
from forearm.counting.as_counted import (
    hollerbach_1980_3x3_gravity_4x4,
    hollerbach_1980_3x3_proximal,
    horn_raibert_1978_sums,
    simulation_steps,
    turney_mudge_lee_1980_table_3,
    turney_mudge_lee_1980_table_3_last,
    turney_mudge_lee_1980_table_4,
    turney_mudge_lee_1980_table_4_moment,
)
from forearm.formulations import FORMULATIONS
from forearm.strobing import strobe

VARIANTS = [
    (hollerbach_1980_3x3_proximal, "hollerbach_1980_3x3"),
    (hollerbach_1980_3x3_gravity_4x4, "hollerbach_1980_3x3"),
    (turney_mudge_lee_1980_table_3, "turney_mudge_lee_1980_newton_euler"),
    (turney_mudge_lee_1980_table_3_last, "turney_mudge_lee_1980_newton_euler"),
    (turney_mudge_lee_1980_table_4, "turney_mudge_lee_1980_modified"),
    (turney_mudge_lee_1980_table_4_moment, "turney_mudge_lee_1980_modified"),
]


@pytest.mark.parametrize(
    ("variant", "stem"), VARIANTS, ids=lambda x: getattr(x, "__name__", x).split(".")[-1]
)
@pytest.mark.parametrize("seed", range(4))
def test_variant_equals_its_formulation(variant, stem, seed):
    arm = random_arm(1 + 2 * seed, seed, general=seed % 2 == 0, flips=seed > 1)
    state = arm.random_state(seed)
    want = FORMULATIONS[stem].joint_torques(arm, *state)
    assert_close(
        variant.joint_torques(arm, *state), want, eps=512, because="other sums, links of many kilograms"
    )


def test_horn_raibert_with_sums_from_zero():
    arm = random_arm(4, 5)
    q, qd, qdd = arm.random_state(5)
    known = strobe(arm, q)
    want = FORMULATIONS["horn_raibert_1978"].joint_torques(arm, q, qd, qdd, coefficients=known)
    got = horn_raibert_1978_sums.joint_torques(arm, q, qd, qdd, coefficients=known)
    assert_close(got, want, eps=512, because="other sums")


def test_elimination_solves():
    import numpy as np

    arm = random_arm(5, 2)
    M = strobe(arm, arm.random_state(2)[0]).M
    b = np.arange(1.0, 6.0)
    x = simulation_steps.solution(M, b)
    assert_close(M @ x, b, eps=4096, because="conditioning of M")


def test_four_point_step_is_of_fourth_order():
    import numpy as np

    def error(h):
        y = np.array([1.0, 0.0])

        def slope(y):
            return np.array([y[1], -y[0]])

        for _ in range(round(1 / h)):
            h1 = h * slope(y)
            h2 = h * slope(y + 0.5 * h1)
            h3 = h * slope(y + 0.5 * h2)
            y = simulation_steps.next_state(y, np.array([slope(y), h2 / h, h3 / h, slope(y + h3)]), h)[0]
        return np.abs(y - [np.cos(1), -np.sin(1)]).max()

    assert 3.8 < np.log2(error(0.1) / error(0.05)) < 4.3
