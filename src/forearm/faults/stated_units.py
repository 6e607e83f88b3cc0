"""Units that numbers say of themselves, as attributes: those that change no number pass, others are refused."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from forearm.faults.call_arguments import attribute
from forearm.faults.kinds import StateFault

UNITLESS = (list, tuple, dict, str, bytes, float, int)
"""What says no unit."""
LONGEST_UNIT = 80
"""Letters of a unit; more are none of ours."""

_SI = re.compile(
    r"(?:(?:rad(?:ian)?s?|m|met(?:er|re)s?|s|sec(?:ond)?s?|n|newtons?|nm)(?:\^?[+-]?[1-9]|⁻?[¹²³])?|1|)",
    re.IGNORECASE,
)
"""One word of a unit that changes no number: each of rad/s, m s-2, N m."""


def is_si(unit: str) -> bool:
    """Whether each word of a unit is one of SI, so that none brings a factor: N m is, N mm and rad/min are not."""
    plain = unit.partition(" since ")[0].replace("**", "^").translate({ord("("): None, ord(")"): None})
    words = re.split(r"[ /.·⋅*]|\bper\b", plain) if len(unit) <= LONGEST_UNIT else ["?"]
    return all(_SI.fullmatch(word) for word in words)


def in_si_units(name: str, value: Any) -> None:
    """Refuse an array that says to be in another unit: what has units drops them where it is made an array."""
    if type(value) is np.ndarray or isinstance(value, UNITLESS):
        return
    said = attribute(value, "attrs")
    given = (
        [said.get("units"), said.get("unit")]
        if isinstance(said, Mapping)
        else [attribute(value, "units"), attribute(value, "unit")]
    )
    for unit in given:
        if unit is None or callable(unit) or isinstance(unit, np.ndarray):
            continue
        if not is_si(str(unit)):
            raise StateFault(
                f"{name} says to be in {str(unit)[:40]!r}, and numbers are taken in SI units and radians; convert it "
                "first."
            )
