"""Where a motion goes beyond an arm's limits, or is held at them: which joint, how far, when and how often."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from forearm.algebra import Matrix, Vector
from forearm.arm import Arm
from forearm.link import Link
from forearm.outside.text_table import instant
from forearm.robot import Robot

SLACK = 1e-9
"""A limit that is passed by this share of itself is only rounded."""
TOLERANCE = 1e-3
"""Share of a limit of speed or torque that may be passed unless told otherwise: wherever a motion is judged."""
UNITS = {
    "position": ("rad", "m"),
    "speed": ("rad/s", "m/s"),
    "torque": ("N m", "N"),
    "rms torque": ("N m", "N"),
    "power": ("W", "W"),
}
"""Of revolute and of prismatic joints."""


@dataclass(frozen=True)
class LimitExcess:
    """One limit of one joint that a motion passes, or at which its torque is held."""

    joint: str
    """Whose limit."""
    what: str
    """'position', 'speed' or 'torque'; 'rms torque' or 'power' where `feasible` was given limits of them."""
    worst: float
    """The value furthest beyond; the limit itself where nobody knows how far it was passed between two instants."""
    limit: float
    """The limit that it passes."""
    unit: str
    """Of both."""
    row: int
    """Row of the worst, from 0."""
    first_row: int
    """The first row beyond."""
    share: float
    """Share of the rows that are beyond, above 0 up to 1; of the time, where a Motion was looked at; NaN where one
    instant alone is known."""
    t: float | None = None
    """Time of the worst [s], if there are times."""
    first: float | None = None
    """Time of the first [s]."""
    held: bool = False
    """Whether a torque is held at its limit (saturated) instead of going beyond."""
    between: bool = False
    """Whether it is held or passed between recorded instants only; its share is one of the time then, its row -1."""
    of_time: bool = False
    """Whether the share is one of the time: instants at which a Motion is looked at are closer where it changes."""

    def __str__(self) -> str:
        if self.between:
            how = "held at" if self.held else "beyond"
            often = f"for {100 * self.share:.3g} % of the time"
            often = often if self.first is None else f"at t = {instant(self.first)} s"
            return (
                f"{self.joint!r}: {self.what} {how} its limit of {self.limit:g} {self.unit} {often}, between the "
                "recorded instants"
            )
        whole = "time" if self.of_time else "rows"
        often = f"{100 * self.share:.3g} % of the {whole}, first {_when(self.first, self.first_row)}"
        if self.held:
            return f"{self.joint!r}: {self.what} held at its limit of {self.limit:g} {self.unit} in {often}"
        if self.what == "rms torque":
            return (
                f"{self.joint!r}: rms torque {self.worst:.6g} {self.unit}, beyond its limit of {self.limit:g}"
            )
        return (
            f"{self.joint!r}: {self.what} {self.worst:.6g} {self.unit} {_when(self.t, self.row)}, beyond its limit of "
            f"{self.limit:g} in {often}"
        )


def _when(t: float | None, row: int) -> str:
    return f"at t = {instant(t)} s" if t is not None else f"in row {row + 1}"


def limit_excesses(
    arm: Arm | Robot,
    t: Vector | None,
    q: Vector | None = None,
    qd: Vector | None = None,
    tau: Vector | None = None,
    torque_limits: Vector | None = None,
    tolerance: float = TOLERANCE,
    weights: Vector | None = None,
) -> Any:
    """What passes the arm's limits, an object array (...) of tuples, for states (..., K, n) at times (K,).

    Args:
        arm: Whose limits they are.
        t: Times [s], if there are any.
        q: Positions, held against the limits of each joint.
        qd: Speeds.
        tau: Torques, held against the effort limits, or against those at which they were held:
        torque_limits: Limits (n,) within which the torques were kept; those that reach them are told as held.
        tolerance: Share of a limit of speed or torque that may be passed.
        weights: What part of the time each row stands for (K,), if rows are not to be counted.
    """
    given = {"position": q, "speed": qd, "torque": tau}
    shape = next(value.shape[:-2] for value in given.values() if value is not None)
    found = np.empty(shape, dtype=object)
    found.fill(())
    for link, place in _places(arm):
        for what, values in given.items():
            held = what == "torque" and torque_limits is not None
            if values is None or (what == "torque" and not isinstance(place, int)):
                continue
            low, high = _held(torque_limits[place]) if held else _bounds(link, what)  # type: ignore[index,arg-type]
            if not (np.isfinite(low) or np.isfinite(high)):
                continue
            column = column_of(values, place, what)
            slack = room((low, high), SLACK if what == "position" or held else tolerance)
            over = np.maximum(column - high, low - column)
            beyond = over >= -slack if held else over > slack
            some = np.any(beyond, axis=-1)
            told = _excesses(
                link, what, column[some], over[some], beyond[some], (low, high), t, held, weights
            )
            for row, excess in zip(map(tuple, np.argwhere(some)), told, strict=True):
                found[row] += (excess,)
    return found


def room(limits: tuple[float, float], share: float = SLACK) -> float:
    """How far beyond limits, of which one is finite, is not beyond them: a share of the larger."""
    return share * max(abs(x) for x in limits if np.isfinite(x))


def followers(arm: Arm | Robot) -> list[tuple[Link, Vector, float]]:
    """Links whose joints follow others: q of each is its row (n,) times the independent joints, plus an offset."""
    if not isinstance(arm, Robot) or not arm.couplings:
        return []
    (B, b), own = arm.coupling_map, set(arm.joint_names)
    return [(link, B[i], float(b[i])) for i, link in enumerate(arm.links) if link.name not in own]


def limits_of(arm: Arm | Robot, what: str) -> Iterator[tuple[Link, "Place", tuple[float, float]]]:
    """Every joint that has such a limit, where its values are in a state, and the limit; torques: those of drives."""
    for link, place in _places(arm):
        bounds = _bounds(link, what)
        if np.isfinite(bounds).any() and not (what == "torque" and not isinstance(place, int)):
            yield link, place, bounds


Place = int | tuple[Vector, float]
"""Where a joint's values are in a state: a column, from its end, or a row times the joints, plus an offset."""


def _places(arm: Arm | Robot) -> list[tuple[Link, Place]]:
    """Every joint, those that follow others last."""
    joints = arm.state_links
    own: list[tuple[Link, Place]] = [(link, i) for i, link in enumerate(joints, -len(joints))]
    return own + [(link, (row, shift)) for link, row, shift in followers(arm)]


def column_of(values: Vector, place: Place, what: str) -> Vector:
    """The positions or rates of one joint (...), from states (..., nq) or (..., nv)."""
    if isinstance(place, int):
        return values[..., place]  # type: ignore[no-any-return]
    row, shift = place
    found = values[..., values.shape[-1] - len(row) :] @ row
    return found + shift if what == "position" else found  # type: ignore[no-any-return]


def held_between(
    arm: Arm | Robot, shares: Vector, torque_limits: Vector, said: Sequence[LimitExcess]
) -> list[LimitExcess]:
    """Torques that were held at their limits for a share of the time (n,), and that no recorded instant shows."""
    seen = {excess.joint for excess in said if excess.held}
    return [
        passed_between(link, "torque", float(most), float(share), held=True)
        for link, share, most in zip(arm.state_links, shares[-arm.n :], torque_limits[-arm.n :], strict=True)
        if share > 0 and link.name not in seen
    ]


def passed_between(link: Link, what: str, most: float, share: float, *, held: bool = False) -> LimitExcess:
    """A limit that was passed (or at which a torque was held) for a share of the time, at no recorded instant."""
    unit = UNITS[what][0 if link.revolute else 1]
    return LimitExcess(link.name, what, most, most, unit, -1, -1, share, held=held, between=True)


def noted_between(
    arm: Arm | Robot, record: Any, said: Sequence[LimitExcess], kinds: Sequence[str]
) -> list[LimitExcess]:
    """What a simulation noted of limits that its motion passed, and that no row of its record shows.

    Args:
        arm: Whose limits count; what was held against others is left out.
        record: The record of one motion, which leaves out steps.
        said: What its rows show.
        kinds: Limits of what: 'position', 'speed', 'torque'.
    """
    seen = {(excess.joint, excess.what) for excess in said}
    limits = {
        (link.name, what): (place, ends) for what in kinds for link, place, ends in limits_of(arm, what)
    }
    outcome, found = record.outcome, list[LimitExcess]()
    for excess in outcome.limits:
        key = excess.joint, excess.what
        if not excess.held and key not in seen and key in limits and excess.limit in limits[key][1]:
            found.append(excess)
            seen.add(key)
    for link, place, ends in limits_of(record.arm, "position") if "position" in kinds else ():
        key = link.name, "position"
        if link.name == outcome.joint and key not in seen and key in limits and limits[key][1] == ends:
            q = column_of(record.q, place, "position")
            limit = ends[1] if ends[1] - np.max(q) <= np.min(q) - ends[0] else ends[0]
            excess = passed_between(link, "position", limit, np.nan)
            found.append(replace(excess, t=outcome.t, first=outcome.t))
    return found


def _bounds(link: Link, what: str) -> tuple[float, float]:
    if what == "position":
        return link.limits or (-np.inf, np.inf)
    most = link.speed_limit if what == "speed" else link.effort_limit
    return (-np.inf, np.inf) if most is None else (-most, most)


def _held(most: float) -> tuple[float, float]:
    return -float(most), float(most)


def _excesses(
    link: Link,
    what: str,
    values: Matrix,
    over: Matrix,
    beyond: Matrix,
    bounds: tuple[float, float],
    t: Vector | None,
    held: bool,
    weights: Vector | None,
) -> list[LimitExcess]:
    """One for each row of values (R, K), each of which is beyond somewhere."""
    unit, rows = UNITS[what][0 if link.revolute else 1], np.arange(len(values))
    worst = np.argmax(np.where(np.isnan(over), -np.inf, over), axis=-1)
    first = np.argmax(beyond, axis=-1)
    value = values[rows, worst]
    limit = np.where(value - bounds[1] >= bounds[0] - value, bounds[1], bounds[0])
    times: list[Any] = [None] * len(rows)
    when, began = (times, times) if t is None else (t[worst].tolist(), t[first].tolist())
    shares = beyond.mean(axis=-1) if weights is None else beyond @ weights
    columns = (value.tolist(), limit.tolist(), worst.tolist(), first.tolist(), shares.tolist())
    of_time = weights is not None
    return [
        LimitExcess(link.name, what, v, m, unit, k, f, share, at, start, held, of_time=of_time)
        for v, m, k, f, share, at, start in zip(*columns, when, began, strict=True)
    ]


def told(excesses: Sequence[LimitExcess], most: int = 3) -> str:
    """The first few in one sentence."""
    more = len(excesses) - most
    return "; ".join(map(str, excesses[:most])) + (f"; and {more} more" if more > 0 else "")
