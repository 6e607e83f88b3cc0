"""Units that stand beside numbers, as xarray, netCDF and others write them: in ours, or refused."""

import json
import re
from collections.abc import Mapping
from typing import Any

from forearm.faults.kinds import Fault, ReadFault

UNIT_KEYS = ("units", "unit")
"""What a unit is called, in letters of either case."""
LONGEST_UNIT = 80
"""Letters of a unit; more are none of ours."""

_SI = re.compile(
    r"(?:(?:rad(?:ian)?s?|m|met(?:er|re)s?|s|sec(?:ond)?s?|n|newtons?|nm)(?:\^?[+-]?[1-9]|⁻?[¹²³])?|dimensionless|1|)",
    re.IGNORECASE,
)
"""One word of a unit that changes no number: each of rad/s, m s-2, N m."""


def refuse_other_units(
    label: str, said: Mapping[str, Any], instead: str, fault: type[Fault] = ReadFault
) -> None:
    """Refuse numbers that are said, beside them, to be in another unit than ours, or packed as steps of something.

    Args:
        label: The file or the argument, and what of it, for the message.
        said: What is said of the numbers, by name, as xarray and others write it: units (of all, or a list of them
            for the columns), scale_factor, add_offset.
        instead: What to do about it.
        fault: What is raised.
    """
    for key, harmless in (("scale_factor", 1), ("add_offset", 0)):
        if key in said and said[key] != harmless:
            raise fault(f"{label}: says {key}={repr(said[key])[:40]}, which is not read; {instead}.")
    for key, told in said.items():
        for unit in (
            (told if isinstance(told, (list, tuple)) else (told,)) if str(key).lower() in UNIT_KEYS else ()
        ):
            if isinstance(unit, str) and not _is_si(unit):
                raise fault(
                    f"{label}: says {key}={unit[:40]!r}, and numbers are read in SI units and radians; {instead}."
                )


def said_in(metadata: Any) -> dict[str, Any]:
    """What Arrow says beside a table or a field of it, in bytes; what pandas keeps there of a table among it."""
    if not isinstance(metadata, Mapping):
        return {}
    said: dict[str, Any] = {
        str(k, "utf-8", "replace"): str(v, "utf-8", "replace")
        for k, v in metadata.items()
        if isinstance(k, bytes) and isinstance(v, bytes)
    }
    try:
        kept = json.loads(said.pop("pandas", "{}"))
    except (ValueError, RecursionError):
        kept = {}
    own = kept.get("attributes") if isinstance(kept, dict) else None
    return {**said, **(own if isinstance(own, dict) else {})}


def _is_si(unit: str) -> bool:
    """Whether each word of a unit is one of SI, so that none brings a factor: N m is, N mm and rad/min are not."""
    plain = unit.partition(" since ")[0].replace("**", "^").translate({ord("("): None, ord(")"): None})
    words = re.split(r"[ /.·⋅*]|\bper\b", plain) if len(unit) <= LONGEST_UNIT else ["?"]
    return all(_SI.fullmatch(word) for word in words)
