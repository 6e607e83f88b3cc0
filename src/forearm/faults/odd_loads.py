"""Payloads and pushes whose size hardly an arm bears: grams, millimetres, N mm. Asked about, not refused."""

from typing import Any

import numpy as np

from forearm.algebra import is_number
from forearm.faults.odd_arms import APART, BODIES, LENGTHS, SMALL, STRONG, gyration, norm_of, size_of

LOADED, AT_HAND = 10.0, 0.5
"""A payload is so many times heavier than the arm, or its centre farther than this [m] and than the arm reaches."""
PUSHED = 1.0
"""Forces and moments [N, N m] that are not held against an arm's weight."""


def payload_doubts(arm: Any, mass: Any, com: Any, tensor: Any) -> list[str]:
    """Questions about what an arm is to hold: mass [kg], centre in its frame [m], tensor about that [kg m²]."""
    if not all(is_number(x) for x in (mass, *com, *np.ravel(tensor))):
        return []
    size, asked = size_of(arm), []
    if 0 < LOADED * size.mass < mass:
        asked.append(f"the payload is {mass:g} kg on an arm of {size.mass:.3g} kg: grams?")
    far = max(AT_HAND, size.reach)
    if (away := norm_of(com)) > far:
        asked.append(f"the payload's centre is {away:.6g} m from where it is held: millimetres?")
    if mass > 0 and (radius := gyration(float(mass), np.array(tensor, dtype=float))) > far:
        asked.append(f"the payload's radius of gyration is {radius:.3g} m: {BODIES}")
    return asked


def wrench_doubts(arm: Any, force: Any, moment: Any, point: Any) -> list[str]:
    """Questions about what pushes an arm: force [N], moment [N m], and the point of its link where it does [m]."""
    push, twist, away = norm_of(force), norm_of(moment), norm_of(point)
    if push <= PUSHED and twist <= PUSHED and away <= AT_HAND:
        return []
    size, asked = size_of(arm), []
    if 0 < STRONG * 9.81 * size.mass < push:
        asked.append(
            f"a wrench pushes with {push:g} N, {push / 9.81 / size.mass:.0f} times the arm's weight: mN?"
        )
    if 0 < STRONG * size.weight < twist:
        whole = f"{twist / size.weight:.0f} times what holds the whole arm stretched out"
        asked.append(f"a wrench has a moment of {twist:g} N m, {whole}: N mm?")
    if away > max(SMALL, APART * size.reach):
        asked.append(f"a wrench acts {away:g} m from the frame of its link: {LENGTHS}")
    return asked


def loads_doubts(arm: Any, name: str, values: Any) -> list[str]:
    """Questions about masses of payloads that vary: numbers, or rows of ten."""
    if name.partition("@")[0] != "payload" or not values.size:
        return []
    masses = values[..., 0] if values.shape[-1:] == (10,) else values
    nothing = np.zeros((3, 3))
    return payload_doubts(arm, float(np.max(masses)), (0, 0, 0), nothing) if arm.dynamics else []
