"""States whose size nobody has: degrees, millimetres, motions that diverged. Asked about, not refused."""

import math
from typing import Any

import numpy as np

from forearm.faults.calls import coordinates
from forearm.faults.parts import DEGREES, FARTHEST

DIVERGED = 1e9
"""Angles beyond this [rad] were not given in degrees: something ran away."""


def degrees_hint(arm: Any, q: np.ndarray[Any, Any]) -> str | None:
    """A sentence when joint angles look like degrees, or slides like millimetres; None otherwise."""
    if q.dtype == object or not np.fmax.reduce(np.abs(q), axis=None, initial=0.0) > min(DEGREES, FARTHEST):
        return None
    far = {True: 0.0, False: 0.0}
    links = {link.name: link for link in arm.links}
    for j, link in enumerate(map(links.get, coordinates(arm, "q"))):
        if link is not None:
            own = max(FARTHEST, *map(abs, link.limits or (0.0,))) if not link.revolute else DEGREES
            most = float(np.nanmax(np.abs(q[..., j]), initial=0.0))
            far[link.revolute] = max(far[link.revolute], most if most > own else 0.0)
    turns, slides = far[True], far[False]
    if max(turns, slides) > DIVERGED:
        size = f"{turns:.3g} rad" if turns > DIVERGED else f"{slides:.3g} m"
        return f"q reaches {size}: a motion that diverged? Look where the states come from."
    if turns:
        count = turns / math.tau
        return f"q reaches {turns:g} rad, {count:.1f} turns: degrees? Angles are in radians (numpy.deg2rad)."
    return f"q reaches {slides:g} m: millimetres? Lengths are in metres." if slides else None
