"""What of two descriptions changes no torque without a load, and differs all the same: limits, places, names."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from forearm import dynamics
from forearm.algebra import Vector
from forearm.arm import Arm
from forearm.robot import Robot

LIMITS = {
    "limits": "limits of position",
    "speed_limit": "limits of speed",
    "effort_limit": "limits of torque",
}
"""Limits of a link, and what they are called."""
SAME = 1e-9
"""Shares of a number, or of the largest coordinate, that are rounding."""
NAMED = 3
"""How many joints or frames are named."""
STATES = 7
"""In how many positions tools are looked at."""


def torqueless_parts(one: Arm | Robot, other: Arm | Robot) -> tuple[str, ...]:
    """Sentences about what differs beside torques."""
    if one.n != other.n:
        return ()
    return (*_names(one, other), *_limits(one, other), *_places(one, other))


def _names(one: Arm | Robot, other: Arm | Robot) -> Iterator[str]:
    pairs = [(a, b) for a, b in zip(one.joint_names, other.joint_names, strict=True) if a != b]
    if pairs:
        yield f"names of joints: {_few([f'{a!r} and {b!r}' for a, b in pairs])}"
    mine, theirs = (set(arm.frame_names) - set(arm.joint_names) for arm in (one, other))
    alone = [
        f"{_few([repr(name) for name in sorted(names)])} in {which} alone"
        for names, which in ((mine - theirs, "the first"), (theirs - mine, "the second"))
        if names
    ]
    if alone:
        yield f"names of frames: {', '.join(alone)}"


def _limits(one: Arm | Robot, other: Arm | Robot) -> Iterator[str]:
    for field, words in LIMITS.items():
        apart = [
            f"{a.name!r} {_told(x)} and {_told(y)}"
            for a, b in zip(one.state_links, other.state_links, strict=True)
            if not _equal(x := getattr(a, field), y := getattr(b, field))
        ]
        if apart:
            yield f"{words}: {_few(apart)}"


def _places(one: Arm | Robot, other: Arm | Robot) -> Iterator[str]:
    """Where tools are, in positions at random."""
    if any(isinstance(arm, Robot) and arm.free for arm in (one, other)):
        return
    q = np.random.default_rng(0).uniform(-1.0, 1.0, (STATES, one.n))
    for frame in _ends(one, other):
        a, b = (np.asarray(dynamics.pose(arm, q, frame=frame)) for arm in (one, other))
        size = float(np.max(np.abs(np.concatenate([a[:, :3, 3], b[:, :3, 3]])), initial=1.0))
        far = float(np.max(np.linalg.norm(a[:, :3, 3] - b[:, :3, 3], axis=-1)))
        turned = _angle(a, b)
        told = [f"up to {far:.4g} m apart"] if far > SAME * size else []
        told += [f"turned by up to {np.degrees(turned):.4g} deg"] if turned > SAME else []
        if told:
            yield f"{frame if frame == 'tool' else repr(frame)} in the world: {', '.join(told)}"


def _ends(one: Arm | Robot, other: Arm | Robot) -> list[str]:
    if isinstance(one, Arm) and isinstance(other, Arm):
        return ["tool"]
    return sorted(set(getattr(one, "tips", ())) & set(getattr(other, "tips", ())))


def _angle(a: Vector, b: Vector) -> float:
    """The largest angle between axes of poses (K, 4, 4), which cosines near 1 would not tell [rad]."""
    apart = np.linalg.norm(a[:, :3, :3] - b[:, :3, :3], axis=(1, 2)) / np.sqrt(8.0)
    return float(np.max(2 * np.arcsin(np.minimum(apart, 1.0))))


def _equal(x: Any, y: Any) -> bool:
    if x is None or y is None:
        return x is y
    return bool(np.allclose(x, y, rtol=SAME, atol=0.0))


def _told(limit: Any) -> str:
    if limit is None:
        return "none"
    return " to ".join(f"{x:.6g}" for x in limit) if isinstance(limit, tuple) else f"{limit:.6g}"


def _few(told: list[str]) -> str:
    more = len(told) - NAMED
    return ", ".join(told[:NAMED]) + (f" and {more} more" if more > 0 else "")
