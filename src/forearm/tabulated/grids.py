"""Axes over the joints that matter, and the grid that they span."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from forearm.algebra import Vector
from forearm.arm import Arm
from forearm.faults import StateFault, for_joints
from forearm.tabulated.methods import Coordinate, TableEntry

CIRCLE = 2 * math.pi
CHUNK = 4096
"""States that are filled or looked up at a time."""


@dataclass(frozen=True)
class Axis:
    """Equally spaced values of one coordinate."""

    what: str
    """'q', 'qd' or 'qdd'."""
    joint: int
    """From 0."""
    low: float
    """The first value [rad, m, or per s, s²]."""
    high: float
    """The last value; on a circle it is the first one again, and not stored."""
    points: int
    """How many values are stored."""
    circular: bool = False
    """Whether it goes round."""

    @property
    def step(self) -> float:
        """From one value to the next."""
        return (self.high - self.low) / (self.points if self.circular else self.points - 1)

    @property
    def values(self) -> Vector:
        """All values (points,)."""
        return self.low + self.step * np.arange(self.points)

    @property
    def name(self) -> str:
        """As it is written: q2, qd1."""
        return f"{self.what}{self.joint + 1}"


@dataclass(frozen=True)
class Grid:
    """The points at which some entries are stored, all over the same coordinates."""

    axes: tuple[Axis, ...]
    """Slowest first."""
    entries: tuple[TableEntry, ...]
    """What is stored at each point."""

    @cached_property
    def cells(self) -> int:
        """Number of points."""
        return math.prod(axis.points for axis in self.axes)

    @property
    def size(self) -> int:
        """Numbers stored."""
        return self.cells * len(self.entries)

    @cached_property
    def strides(self) -> tuple[int, ...]:
        """Points from one value of an axis to the next."""
        sizes = [axis.points for axis in self.axes]
        return tuple(math.prod(sizes[k + 1 :]) for k in range(len(sizes)))

    def states(self, n: int) -> Iterator[tuple[slice, dict[str, Vector]]]:
        """Which points, and (q, qd, qdd) there, in chunks; coordinates that do not matter are zero."""
        shape = tuple(axis.points for axis in self.axes)
        values = [axis.values for axis in self.axes]
        for first in range(0, self.cells, CHUNK):
            which = np.arange(first, min(first + CHUNK, self.cells))
            places = np.unravel_index(which, shape) if shape else ()
            state = {what: np.zeros((len(which), n)) for what in ("q", "qd", "qdd")}
            for axis, value, index in zip(self.axes, values, places, strict=True):
                state[axis.what][:, axis.joint] = value[index]
            yield slice(first, first + len(which)), state


@dataclass(frozen=True)
class Ranges:
    """Where a table holds, and how fine it is."""

    points: Mapping[str, int]
    """Values of each axis, by 'q', 'qd', 'qdd'."""
    speeds: Vector | None
    """Greatest |qd| (n,), where speeds are an axis."""
    accelerations: Vector | None
    """Greatest |qdd| (n,), where accelerations are an axis."""

    def axis(self, arm: Arm, coordinate: Coordinate) -> Axis:
        """The axis of one coordinate."""
        what, joint = coordinate
        if what == "q":
            low, high, circular = position_range(arm, joint)
        else:
            given = self.speeds if what == "qd" else self.accelerations
            if given is None:
                name = "speeds" if what == "qd" else "accelerations"
                raise StateFault(
                    f"tabulate: the table has {what} of joint {joint + 1} as an axis, and how far it goes is not "
                    f"known; give {name}=, a number or one for each joint."
                )
            low, high, circular = -float(given[joint]), float(given[joint]), False
        return Axis(what, joint, low, high, self.points[what], circular)


def position_range(arm: Arm, joint: int) -> tuple[float, float, bool]:
    """Least and greatest q, and whether the axis is a whole circle."""
    link = arm.links[joint]
    if link.limits is None or not np.all(np.isfinite(link.limits)):
        if link.prismatic:
            raise StateFault(
                f"tabulate: joint {joint + 1} {link.name!r} of arm {arm.name!r} slides and has no limits, so its axis "
                "has no ends; give the link limits=(low, high)."
            )
        return -math.pi, math.pi, True
    low, high = map(float, link.limits)
    if link.revolute and high - low >= CIRCLE:
        return -math.pi, math.pi, True
    return low, high, False


def checked_ranges(
    arm: Arm, points: int | Mapping[str, int], speeds: Any, accelerations: Any, fewest: int
) -> Ranges:
    """The ranges, or a fault that says which is wrong."""
    known = ("q", "qd", "qdd")
    given = dict(points) if isinstance(points, Mapping) else dict.fromkeys(known, points)
    for what, count in given.items():
        if what not in known or isinstance(count, bool) or not isinstance(count, (int, np.integer)):
            raise StateFault(
                f"tabulate: points has {what!r}: {count!r}; give a whole number, or one for each of q, qd, qdd."
            )
        if count < fewest:
            raise StateFault(
                f"tabulate: {count} points of {what}; this interpolation needs at least {fewest} on an axis."
            )
    given = {what: int(given.get(what, fewest)) for what in known}
    limits = [link.speed_limit for link in arm.links]
    if speeds is None and None not in limits:
        speeds = limits
    return Ranges(given, _sizes(arm, "speeds", speeds), _sizes(arm, "accelerations", accelerations))


def _sizes(arm: Arm, name: str, given: Any) -> Vector | None:
    if given is None:
        return None
    values = for_joints(arm, f"tabulate: {name}", given)
    if values.shape not in ((), (arm.n,)) or not np.all(np.isfinite(values)) or np.any(values <= 0):
        raise StateFault(
            f"tabulate: {name} is {given!r}; give a positive number, or one for each of the {arm.n} joints."
        )
    return np.broadcast_to(values, (arm.n,))


def grids_of(arm: Arm, entries: Sequence[TableEntry], ranges: Ranges) -> tuple[Grid, ...]:
    """Entries over the same coordinates share a grid."""
    together: dict[tuple[Coordinate, ...], list[TableEntry]] = {}
    for entry in entries:
        together.setdefault(entry.over, []).append(entry)
    return tuple(
        Grid(tuple(ranges.axis(arm, place) for place in over), tuple(group))
        for over, group in sorted(together.items(), key=lambda pair: (len(pair[0]), pair[0]))
    )
