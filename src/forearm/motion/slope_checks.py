"""Whether the speeds of a log are those of its positions: another unit, another order of columns, another clock show.

Positions are held against the integral of speeds, which noise hardly touches. What is left, over how much the joint
moves, is next to nothing where the two belong together and about one where they do not. Where it is the speeds
themselves times a time, they come late by that time: many controllers filter the speeds that they log.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from forearm.algebra import Matrix, Vector
from forearm.arm import Arm
from forearm.faults import coordinates, size_hint
from forearm.robot import Robot

LEAST_ROWS = 20
"""A shorter log is points on a way, not samples of a motion."""
APART = 0.3
"""Share of a motion that its speeds leave unexplained, from which on they are not its own."""
MOVES = 1e-2
"""A joint that moves less than this share of the one that moves most says nothing."""
LATE, WORTH, REST = 2e-3, 5e-3, 0.25
"""Shorter times [s], and those that change a motion by a smaller share, are not worth a word; what they may leave."""
ROUGH, DIGITS = 1.5, 1e-9
"""Noise from row to row times this is no motion, nor is so small a share of the numbers themselves."""
LOOKED_AT = 100_000
"""Rows that are enough to tell how late speeds are."""
FACTORS = {
    57.29578: "degrees",
    0.01745329: "radians beside degrees",
    1000.0: "another unit of time",
    0.001: "another unit of time",
    -1.0: "the other sign",
}
"""What a factor between the two looks like."""


def slope_notes(
    t: Vector, names: Sequence[str], q: Matrix, qd: Matrix, titles: tuple[str, str] = ("q", "qd")
) -> tuple[str, ...]:
    """A note for the joints whose speeds are not the slope of their positions.

    Args:
        t: Times (K,), rising.
        names: Of the joints.
        q: Positions (K, n), or speeds.
        qd: Their slopes (K, n), as the log has them.
        titles: What the two are called.
    """
    if len(t) < LEAST_ROWS:
        return ()
    size, length, left, slope, alike, seen, _, _ = _of_joints(t, q, qd)
    odd = np.flatnonzero(_others(size, length, left, seen))
    if not odd.size:
        return ()
    told = ", ".join(names[i] for i in odd[:4]) + (f" and {odd.size - 4} more" if odd.size > 4 else "")
    factor = _like(slope[odd], bool(alike[odd].all()))
    return (
        f"WARNING: {titles[1]} of {told} is not the slope of {titles[0]}{factor}; torques take both as they are. "
        "Look at units, clock and order of the columns.",
    )


def row_notes(arm: Arm | Robot, rows: Any) -> tuple[str, ...]:
    """The same of rows t, q, qd, qdd that somebody gives: speeds of positions, and accelerations of speeds."""
    names, notes = coordinates(arm, "qd"), list[str]()
    for a, b in (("q", "qd"), ("qd", "qdd")):
        values, slopes = getattr(rows, a), getattr(rows, b)
        if values.shape == slopes.shape:  # a free base's quaternion has more numbers than its rates
            notes += slope_notes(rows.t, names, values, slopes, (a, b))
    return tuple(notes)


def lag_notes(t: Vector, q: Matrix, qd: Matrix, titles: tuple[str, str] = ("q", "qd")) -> tuple[str, ...]:
    """A note where speeds come later or earlier than positions, most of the joints that show it alike.

    The arguments are those of `slope_notes`, which tells of speeds that are others altogether: then nothing is said
    here.
    """
    if len(t) < LEAST_ROWS:
        return ()
    size, length, left, _, _, seen, lag, rest = _of_joints(t[:LOOKED_AT], q[:LOOKED_AT], qd[:LOOKED_AT])
    if np.any(_others(size, length, left, seen)):
        return ()
    shown = lag[(seen > 0) & (left > WORTH * size) & (rest < REST * left) & (size > MOVES * size.max())]
    middle = float(np.median(shown)) if shown.size else 0.0
    if abs(middle) <= LATE or np.median(np.abs(shown - middle)) > 0.3 * abs(middle):
        return ()
    when = "later" if middle > 0 else "earlier"
    return (
        f"WARNING: {titles[1]} comes {abs(middle) * 1e3:.2g} ms {when} than {titles[0]} (filtered before it was "
        f"logged?); torques take both as they are. Give slopes of {titles[0]}, or the two by one clock.",
    )


def _others(size: Vector, length: Vector, left: Vector, seen: Vector) -> Vector:
    """Which joints have speeds that are not those of their positions (n,)."""
    return np.asarray(
        (seen > 0) & (left > APART * size) & (np.maximum(size, length) > MOVES * size.max(initial=0.0))
    )


def _of_joints(t: Vector, q: Matrix, qd: Matrix) -> Any:
    """What `_of_joint` tells, a row of it for all joints; one by one, because logs may be long."""
    line, _ = np.linalg.qr(np.stack([np.ones_like(t), t - t.mean()], axis=1))
    return np.array([_of_joint(t, line, q[:, i], qd[:, i]) for i in range(q.shape[1])]).T


def _of_joint(t: Vector, line: Matrix, q: Vector, qd: Vector) -> tuple[float, ...]:
    """How far a joint moves, how far by its speeds, what is between the two, their ratio, and whether that is all.

    Then whether it is seen to do more than to go evenly, or to go evenly otherwise than its speeds say, how late they
    are [s], and what is left where they are moved by that.
    """
    raw = np.concatenate([[0.0], np.cumsum(0.5 * (qd[1:] + qd[:-1]) * np.diff(t))])
    moved, way = _less_its_line(line, q), _less_its_line(line, raw)
    slope = float(moved @ way) / max(float(moved @ moved), 1e-300)
    alike = _size(slope * moved - way) < 0.1 * _size(way)
    rates, apart = _less_its_line(line, qd), moved - way
    lag = float(apart @ rates) / max(float(rates @ rates), 1e-300)
    seen = _is_seen(q, moved) or _is_seen(qd, rates)
    walk = 3 * _noise(qd) * float(t[-1] - t[0]) / len(t) ** 0.5
    if not seen and _is_seen(q, q - raw - (q - raw).mean(), walk):  # what goes evenly has a line and no more
        moved, way = q - q.mean(), raw - raw.mean()
        return _size(moved), _size(way), _size(moved - way), 0.0, 0.0, 1.0, 0.0, np.inf
    rest = _size(apart - lag * rates)
    return _size(moved), _size(way), _size(apart), slope, float(alike), float(seen), lag, rest


def _is_seen(values: Vector, beside: Vector, walk: float = 0.0) -> bool:
    """Whether what a column does beside something is more than its last digit, its noise, and so much more."""
    steps = np.abs(np.diff(values))
    digit = float(np.min(steps, initial=np.inf, where=steps > 0)) if steps.any() else 0.0
    lost = DIGITS * float(np.max(np.abs(values)))
    return _size(beside) > max(digit, ROUGH * _noise(values), lost) + walk


def _noise(values: Vector) -> float:
    """Noise of a column from row to row."""
    return _size(np.diff(values, 2)) / 6**0.5


def _size(values: Vector) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _less_its_line(line: Matrix, values: Vector) -> Vector:
    """Without mean and drift: an offset of a speed is no other unit."""
    return np.asarray(values - line @ (line.T @ values))


def _like(slope: Vector, alike: bool) -> str:
    """By which factor they differ, where it is one for all."""
    middle = float(np.median(slope))
    if not alike or np.ptp(slope) > 0.1 * abs(middle):
        return ""
    asked = next((f" ({what}?)" for factor, what in FACTORS.items() if abs(middle / factor - 1) < 0.05), "")
    return f", but {middle:.3g} times it{asked}"


def dry_friction_notes(label: str, arm: Arm | Robot) -> tuple[str, ...]:
    """What a person should know about torques near rest, where speeds were worked out from positions."""
    joints = [link.name for link in arm.links if any(link.drive.coulomb)]
    if not joints:
        return ()
    return (
        f"{label} has no qd, and {', '.join(joints)} of {arm.name!r} have dry friction: near rest its sign is that of "
        "a speed worked out from positions, and their noise can turn all of it over; give qd, or leave friction out "
        "(without_drives, --rigid) where the arm stands still",
    )


def size_notes(arm: Arm | Robot, found: dict[str, Any]) -> tuple[str, ...]:
    """Notes where speeds, accelerations or torques (K, n) look like another unit."""
    kinds = [kind for kind in ("qd", "qdd", "tau") if found.get(kind) is not None]
    hints = (size_hint(arm, kind, found[kind]) for kind in kinds)
    return tuple(f"WARNING: {hint}" for hint in hints if hint)
