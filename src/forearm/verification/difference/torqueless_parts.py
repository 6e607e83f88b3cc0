"""What of two descriptions changes no torque without a load, and differs all the same: limits, places, names."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from forearm.algebra import Vector
from forearm.arm import Arm
from forearm.kinematics import link_poses
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
    frames = _ends(one, other)
    for frame, (R, p), (R_other, p_other) in zip(
        frames, *(_poses(arm, q, frames) for arm in (one, other)), strict=True
    ):
        size = float(np.max(np.abs([p, p_other]), initial=1.0))
        far = float(np.max(np.linalg.norm(p - p_other, axis=-1)))
        turned = _angle(R, R_other)
        told = [f"up to {far:.4g} m apart"] if far > SAME * size else []
        told += [f"turned by up to {np.degrees(turned):.4g} deg"] if turned > SAME else []
        if told:
            yield f"{frame if frame == 'tool' else repr(frame)} in the world: {', '.join(told)}"


def _poses(arm: Arm | Robot, q: Vector, frames: list[str]) -> list[tuple[Vector, Vector]]:
    """R (K, 3, 3) and p (K, 3) of frames, in plain numbers: compiled, each of hundreds would take its time."""
    poses = [link_poses(arm, state) for state in q]
    found = []
    for frame in frames:
        number, place = arm.place_of(frame)
        R, p = (np.array([pose[number][k] for pose in poses], dtype=float) for k in (0, 1))
        found.append((R @ place.R, p + R @ place.p))
    return found


def _ends(one: Arm | Robot, other: Arm | Robot) -> list[str]:
    if isinstance(one, Arm) and isinstance(other, Arm):
        return ["tool"]
    return sorted(set(getattr(one, "tips", ())) & set(getattr(other, "tips", ())))


def _angle(R: Vector, R_other: Vector) -> float:
    """The largest angle between axes (K, 3, 3), which cosines near 1 would not tell [rad]."""
    apart = np.linalg.norm(R - R_other, axis=(1, 2)) / np.sqrt(8.0)
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
