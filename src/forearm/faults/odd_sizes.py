"""States whose size nobody has: degrees, millimetres, N mm, motions that diverged. Asked about, not refused."""

import math
from typing import Any

import numpy as np

from forearm.algebra import Vector
from forearm.faults.calls import coordinates
from forearm.faults.odd_arms import whole_weight
from forearm.faults.parts import DEGREES, FARTHEST

DIVERGED = 1e9
"""Numbers beyond this were not given in another unit: something ran away."""
FAST, RAPID = 50.0, 30.0
"""Speeds [rad/s, m/s] that hardly a joint of a robot has."""
HASTY, RUSHED = 1e4, 500.0
"""Accelerations [rad/s², m/s²] that none has: a light finger turns by a third of it, a delta has 150."""
MIGHTY, FORCED = 50.0, 20.0
"""Torques by the weight of the whole arm at full stretch, and by the limit of effort where there is one."""

_SIZES = {
    "q": (DEGREES, FARTHEST, "rad", "m", "degrees? Angles are in radians (numpy.deg2rad)"),
    "qd": (FAST, RAPID, "rad/s", "m/s", "degrees or turns? Speeds are in rad/s"),
    "qdd": (HASTY, RUSHED, "rad/s²", "m/s²", "degrees? Accelerations are in rad/s²"),
}
_SLIDES = {"q": "Lengths are in metres", "qd": "Speeds are in m/s", "qdd": "Accelerations are in m/s²"}


def size_hint(arm: Any, kind: str, values: Vector, called: str = "") -> str | None:
    """A sentence when states (..., n) look like another unit, degrees or millimetres say; None otherwise.

    Args:
        arm: Whose states they are.
        kind: "q", "qd", "qdd" or "tau".
        values: The states, joints last.
        called: What they are called, if not so.
    """
    if values.dtype == object or not values.size:
        return None
    usual = min(_SIZES[kind][:2]) if kind in _SIZES else 1.0
    if not np.fmax.reduce(np.abs(values), axis=None, initial=0.0) > usual:
        return None
    links = {link.name: link for link in arm.links}
    far = {True: 0.0, False: 0.0}
    for j, link in enumerate(map(links.get, coordinates(arm, kind))):
        if link is not None:
            most = float(np.nanmax(np.abs(values[..., j]), initial=0.0))
            if most > _own_bound(arm, kind, link):
                far[link.revolute] = max(far[link.revolute], most)
    return (
        f"{called or kind} reaches {_sentence(arm, kind, far[True], far[False])}"
        if any(far.values())
        else None
    )


def _own_bound(arm: Any, kind: str, link: Any) -> float:
    """What a joint may have before it is asked about."""
    if kind == "tau":
        whole = whole_weight(arm, link.revolute)
        return FORCED * link.effort_limit if link.effort_limit else MIGHTY * whole or math.inf
    turning, sliding = _SIZES[kind][:2]
    if kind == "q":
        return turning if link.revolute else max(sliding, *map(abs, link.limits or (0.0,)))
    known = (link.speed_limit or 0.0) if kind == "qd" else 0.0
    return max(turning if link.revolute else sliding, known)


def _sentence(arm: Any, kind: str, turns: float, slides: float) -> str:
    if kind == "tau":
        reached, unit = (turns, "N m") if turns else (slides, "N")
        holds = whole_weight(arm, bool(turns)) or math.inf
        times = f"{reached / holds:.0f} times what holds the whole arm stretched out"
        against = times if reached > holds else f"more than {FORCED:g} times a limit of effort"
        other = "N mm" if turns else "mN"
        return f"{reached:g} {unit}, {against}: {other}? Torques are in N m, forces in N."
    turning, sliding, ask = _SIZES[kind][2:]
    if max(turns, slides) > DIVERGED:
        size = f"{turns:.3g} {turning}" if turns > DIVERGED else f"{slides:.3g} {sliding}"
        return f"{size}: a motion that diverged? Look where the states come from."
    if turns:
        said = {"q": f", {turns / math.tau:.1f} turns", "qd": f", {turns * 30 / math.pi:.0f} turns a minute"}
        return f"{turns:g} {turning}{said.get(kind, '')}: {ask}."
    return f"{slides:g} {sliding}: millimetres? {_SLIDES[kind]}."
