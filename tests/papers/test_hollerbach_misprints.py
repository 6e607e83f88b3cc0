"""Hollerbach (1980): each class A misprint is real. The printed reading fails, the corrected one holds.

The ids are those of the errata: H1 … H8 change torques (H13 … H16 are about operation counts). A reading is our
formulation with the printed line in place of the corrected one, so nothing else can make the difference. The
documented errors are relative to the largest torque, over eight random arms of six joints; other arms give
errors of the same order, so a factor of three is allowed on both sides.
"""

import numpy as np
import pytest

from arms import random_arm
from as_printed import as_printed
from close import assert_close
from forearm.formulations import FORMULATIONS
from forearm.link import Link

SEEDS = range(8)
RIGHT = FORMULATIONS["luh_walker_paul_1980"].joint_torques

J_ABOUT_THE_JOINT = (
    "J[i] = second_moment(I)",
    "p = p_star[i]; J[i] = second_moment(I) + np.outer(p, n[i]) + np.outer(n[i], p) + m[i] * np.outer(p, p)",
)

# id -> (formulation, documented errors, (ours, as printed) ...)
PRINTED = {
    "H1: minus in (16)": (
        "hollerbach_1980_3x3",
        (0.24, 2.1),
        (
            "pdd[i] = pdd[i - 1] + Wdd[i] @ p_star[i]  # (16)",
            "pdd[i] = pdd[i - 1] - Wdd[i] @ p_star[i]  # (16)",
        ),
    ),
    "H2: J about the proximal joint": ("hollerbach_1980_3x3", (0.03, 0.85), J_ABOUT_THE_JOINT),
    "H3: first moment r*/m": (
        "hollerbach_1980_3x3",
        (0.04, 0.9),
        ("J[i] = second_moment(I)", "J[i] = second_moment(I); n[i] = n[i] / m[i] / m[i]"),
    ),
    "H4: p_{i+1} e_{i+1} in (18)": (
        "hollerbach_1980_3x3",
        (0.12, 1.1),
        ("np.outer(p_star[i], e[i])", "np.outer(A[i + 1] @ p_star[i + 1], e[i + 1])"),
        ("A[n_links + 1], c", "p_star[n_links + 1] = np.zeros(3)\n    A[n_links + 1], c"),
    ),
    "H5: c_i as in (13)": (
        "hollerbach_1980_3x3",
        (0.44, 2.5),
        ("moment = n[i] + M[i] * p_star[i]", "moment = n[i]"),
    ),
    "H6: (5) without left superscripts": (
        "uicker_kahn_1969",
        (0.9, 6.6),
        ("dW[j, k] = WdA[k] @ W[k, j]", "dW[j, k] = WdA[k] @ W[0, j]"),
        ("WddA[k, j] = dW[j - 1, k] @ dA[j]", "WddA[k, j] = WdA[k] @ W[0, j - 1] @ dA[j]"),
        ("ddW[j, k, l] = WddA[k, l] @ W[l, j]", "ddW[j, k, l] = WddA[k, l] @ W[0, j]"),
    ),
    "H7: r_j in base coordinates, (4)": (
        "uicker_kahn_1969",
        (0.28, 3.0),
        ("F[i] - m[j] * (g.T @ (dW[j, i] @ r[j]))", "F[i] - m[j] * (g.T @ (dW[j, i] @ W[0, j] @ r[j]))"),
    ),
    "H7: r_j in base coordinates, (6)": ("waters_1979", (0.28, 3.0), ("(dW @ r[j])", "(dW @ W[j] @ r[j])")),
    "H7: r_j in base coordinates, (11)": (
        "hollerbach_1980_4x4",
        (0.28, 3.0),
        ("m[i] * r[i] +", "m[i] * (W[i] @ r[i]) +"),
    ),
    "H8: no gravity, link coordinates": (
        "luh_walker_paul_1980",
        (0.6, 1.6),
        ("-arm.gravity_in_base", "0 * arm.gravity_in_base"),
    ),
    "H8: no gravity, base coordinates": (
        "luh_walker_paul_1980_base",
        (0.6, 1.6),
        ("-arm.gravity_in_base", "0 * arm.gravity_in_base"),
    ),
}


def test_without_link_lengths_the_printed_18_is_right():
    """H4 again: all a_i = 0 puts every p*_i on the axis of its joint, where the missing term has no moment."""
    _, _, *changes = PRINTED["H4: p_{i+1} e_{i+1} in (18)"]
    printed = as_printed("hollerbach_1980_3x3", *changes).joint_torques
    for seed in SEEDS:
        arm = random_arm(6, seed, "R", tilted=False)
        links = (
            Link.dh("revolute", alpha=0.4 + i, d=link.d, **body(link)) for i, link in enumerate(arm.links)
        )
        straight = arm.replace(links=tuple(links))
        q, qd, qdd = straight.random_state(7)
        assert_close(printed(straight, q, qd, qdd), RIGHT(straight, q, qd, qdd))


def body(link):
    """Mass, centre and inertia of a link, to be given to another."""
    return dict(mass=link.mass, com=link.com, inertia=link.inertia)


def error(function, arm):
    """Relative to the largest torque, at a slow state where gravity and motion both count."""
    q, qd, qdd = arm.random_state(7)
    want = RIGHT(arm, q, qd, qdd)
    return np.max(np.abs(function(arm, q, qd, qdd) - want)) / np.max(np.abs(want))


@pytest.mark.parametrize("which", PRINTED)
def test_the_printed_reading_fails_and_the_corrected_one_holds(which):
    stem, (low, high), *changes = PRINTED[which]
    printed = as_printed(stem, *changes).joint_torques
    for seed in SEEDS:
        arm = random_arm(6, seed, "R", tilted=seed % 2 == 1)
        assert low / 3 < error(printed, arm) < 3 * high, f"{which} on {arm.name}"
        assert error(FORMULATIONS[stem].joint_torques, arm) < 1e-13, f"{stem} on {arm.name}"
