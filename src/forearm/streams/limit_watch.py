"""Limits that rows of a file go beyond, found a block at a time: a small kernel says whether to look closer."""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from forearm.algebra import Vector, where
from forearm.arm import Arm
from forearm.compiler.call.processor import ProcessorKernel
from forearm.compiler.graph.passes import lower
from forearm.compiler.graph.trace import trace
from forearm.motion.limit_excesses import SLACK, UNITS, LimitExcess, column_of, limit_excesses, limits_of
from forearm.robot import Robot

MEANS = {"q": "position", "qd": "speed", "tau": "torque"}
"""What the columns of a file are to an arm's limits."""


class LimitWatch:
    """What of an arm's limits the rows of a file have passed so far."""

    def __init__(self, arm: Arm | Robot, names: Sequence[str]) -> None:
        """Watch those of these columns that have limits."""
        self.arm, self.rows = arm, 0
        self.names = [name for name in names if name in MEANS]
        self._found: dict[tuple[str, str], tuple[LimitExcess, int]] = {}
        watched = {name: list(limits_of(arm, MEANS[name])) for name in self.names}
        self.names = [name for name, limits in watched.items() if limits]
        self._kernel = _beyond(arm, {name: watched[name] for name in self.names}) if self.names else None

    def look(self, t: Vector | None, values: dict[str, Vector]) -> None:
        """Take the next rows, (k, n) by name."""
        count = len(next(iter(values.values())))
        if self._kernel is not None:
            over = np.asarray(self._kernel(*(values[name] for name in self.names)))
            if over.max(initial=0.0) > 0:
                self._look_closer(np.flatnonzero(over > 0), t, values)
        self.rows += count

    def _look_closer(self, rows: Vector, t: Vector | None, values: dict[str, Vector]) -> None:
        """Take rows that pass some limit."""
        some = {name: values[name][rows] for name in self.names}
        told = limit_excesses(self.arm, None, some.get("q"), some.get("qd"), some.get("tau"))[()]
        for excess in told:
            count, key = round(excess.share * len(rows)), (excess.joint, excess.what)
            at, first = int(rows[excess.row]), int(rows[excess.first_row])
            times = {} if t is None else {"t": float(t[at]), "first": float(t[first])}
            new = replace(excess, row=self.rows + at, first_row=self.rows + first, **times)
            if key in self._found:
                old, before = self._found[key]
                worse = abs(new.worst - new.limit) > abs(old.worst - old.limit)
                new = replace(new if worse else old, first_row=old.first_row, first=old.first)
                count += before
            self._found[key] = new, count

    @property
    def excesses(self) -> tuple[LimitExcess, ...]:
        """One for each limit that was passed, in the order of joints."""
        names = [*self.arm.joint_names, *(link.name for link in self.arm.links)]
        order = sorted(
            self._found.items(), key=lambda item: (names.index(item[0][0]), [*UNITS].index(item[0][1]))
        )
        return tuple(replace(excess, share=count / self.rows) for _, (excess, count) in order)


def _beyond(arm: Arm | Robot, watched: dict[str, list[Any]]) -> ProcessorKernel:
    """The kernel of how far a row is beyond its limits, all in one: zero where it keeps them, or has no numbers."""

    def beyond(**values: Any) -> Any:
        over = []
        for name, limits in watched.items():
            for _, place, (low, high) in limits:
                value = column_of(values[name], place, MEANS[name])
                slack = SLACK * max(abs(x) for x in (low, high) if np.isfinite(x))
                if low == -high:
                    over.append(value * value - (high + slack) ** 2)
                    continue
                over += [value - (high + slack)] if np.isfinite(high) else []
                over += [(low - slack) - value] if np.isfinite(low) else []
        return reduce(add, [where(x, x, 0.0) for x in over])

    ports = {name: (arm.nv,) for name in watched}
    return ProcessorKernel(lower(trace(beyond, ports, name=f"limits of {arm.name}", outputs=("over",)), 0))
