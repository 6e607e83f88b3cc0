"""Where a learnt table is known to hold: near its log, as well as on the parts of the log that it was not learnt from.

A table that goes through its log may be anything beside it. Stretches of the log are therefore left out once, and the
table that is learnt from the rest is asked for their torques: that is the error, and how far those states are from the
rest is how far it is known.
"""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from forearm.algebra import Vector
from forearm.arm import Arm
from forearm.outside.running_log import LOG
from forearm.tabulated.methods import INPUTS

STRETCHES, EACH = 25, 5
"""Into how many stretches a log is cut; one of so many is left out."""
MOST_ROWS = 1000
"""States of a log that are kept, to tell how far others are from it."""
AT_ONCE = 1024
"""States whose distances are worked out together."""
NEAR = 75.0
"""Share of the left-out states that lie within the reach [%]: beyond, errors were measured here and there only."""


@dataclass(frozen=True, eq=False)
class LogDomain:
    """States near a log, and how wrong a table was there."""

    rows: Vector
    """States of the log (R, 3 n): q, qd, qdd."""
    sizes: tuple[float, float]
    """Speed and acceleration that count as much as a radian or a metre."""
    reach: float
    """How far from the nearest row the error was measured."""
    errors: Vector
    """Root mean square error of each torque (n,) at left-out states, measured torques taken as true [N m or N]."""
    worst: Vector
    """The largest (n,)."""

    def __post_init__(self) -> None:
        """Refuse what no log gives; a file may hold anything."""
        n = len(self.errors)
        shapes = np.shape(self.rows)[1:], np.shape(self.errors), np.shape(self.worst)
        if shapes != ((3 * n,), (n,), (n,)) or not 0 < len(self.rows) <= MOST_ROWS:
            raise ValueError(f"a domain of {np.shape(self.rows)} rows for {n} joints")
        if not np.all(np.isfinite(self._numbers)) or min(*self.sizes, self.reach) <= 0:
            raise ValueError("a domain with numbers that are not finite, or sizes that are not positive")

    @property
    def _numbers(self) -> Vector:
        """All of them in a row."""
        return np.concatenate([self.rows.ravel(), [*self.sizes, self.reach], self.errors, self.worst])

    def distances(self, arm: Arm, state: Mapping[str, Vector]) -> Vector:
        """How far states (B, n) are from the log (B,)."""
        near = self._places(
            arm, {what: x for what, x in zip(INPUTS, np.split(self.rows, 3, axis=1), strict=True)}
        )
        asked = self._places(arm, state)
        found = np.empty(len(asked))
        for k in range(0, len(asked), AT_ONCE):
            some = asked[k : k + AT_ONCE]
            square = np.sum(some**2, axis=1)[:, None] - 2 * some @ near.T + np.sum(near**2, axis=1)
            found[k : k + AT_ONCE] = np.sqrt(np.maximum(square.min(axis=1), 0.0))
        return found

    def _places(self, arm: Arm, state: Mapping[str, Vector]) -> Vector:
        """States as points (B, …): a joint that turns is on a circle."""
        turns = np.array([link.revolute for link in arm.links])
        q = state["q"]
        parts = [np.cos(q[:, turns]), np.sin(q[:, turns]), q[:, ~turns]]
        return np.concatenate([*parts, state["qd"] / self.sizes[0], state["qdd"] / self.sizes[1]], axis=1)

    def tell_outside(self, arm: Arm, state: Mapping[str, Vector]) -> None:
        """Say how many states are farther from the log than the error was measured, each time."""
        far = self.distances(arm, state)
        outside = np.flatnonzero(far > self.reach)
        if outside.size:
            LOG.warning(
                "table: %d of %d states are farther from the log than errors were measured (the first is state %d, "
                "%.2g times as far); nothing is known of their torques' errors. Learn from a log that goes there.",
                *(outside.size, len(far), outside[0], far[outside[0]] / self.reach),
            )

    def __str__(self) -> str:
        each = ", ".join(f"{x:.3g}" for x in self.errors)
        return f"errors near the log {each} N m or N rms, up to {self.worst.max():.3g}"

    @property
    def header(self) -> dict[str, Any]:
        """What a file says of it."""
        lists = {"rows": self.rows.tolist(), "errors": self.errors.tolist(), "worst": self.worst.tolist()}
        checksum = zlib.crc32(self._numbers.data.cast("B"))
        return lists | {"sizes": list(self.sizes), "reach": self.reach, "checksum": checksum}

    @classmethod
    def of_header(cls, header: Mapping[str, Any]) -> "LogDomain":
        """What a file's header says."""
        rows, errors, worst = (np.array(header[k], dtype=float) for k in ("rows", "errors", "worst"))
        speed, acceleration = map(float, header["sizes"])
        found = cls(rows, (speed, acceleration), float(header["reach"]), errors, worst)
        if found.header["checksum"] != header["checksum"]:
            raise ValueError("numbers of a domain that do not fit their checksum")
        return found


def left_out(count: int) -> Any:
    """Which rows of a log (count,) are left out: stretches, because neighbours know of each other."""
    return np.arange(count) * STRETCHES // max(count, 1) % EACH == EACH // 2


def log_domain(arm: Arm, state: Mapping[str, Vector], out: Any, errors: Vector) -> LogDomain | None:
    """The domain of a log, from the errors (K, n) of the rows that were left out; None where none has an error.

    Args:
        arm: The arm.
        state: q, qd and qdd of all rows (L, n).
        out: Which of them were left out (L,).
        errors: What the table that did without them was wrong by, in their order (K, n); NaN where it knows nothing.
    """
    known = np.isfinite(errors).all(axis=1)
    if not np.any(known):
        return None
    sizes = [max(float(np.sqrt(np.mean(state[what] ** 2))), 1e-6) for what in ("qd", "qdd")]
    rms, worst = np.sqrt(np.mean(errors[known] ** 2, axis=0)), np.abs(errors[known]).max(axis=0)
    rest = LogDomain(_some(state, ~out), (sizes[0], sizes[1]), 1.0, rms, worst)
    far = rest.distances(arm, {what: x[out][known] for what, x in state.items()})
    return replace(
        rest, rows=_some(state, np.ones_like(out)), reach=max(float(np.percentile(far, NEAR)), 1e-6)
    )


def _some(state: Mapping[str, Vector], which: Any) -> Vector:
    """At most MOST_ROWS of the chosen rows, evenly (R, 3 n)."""
    places = np.flatnonzero(which)
    places = places[np.linspace(0, len(places) - 1, min(MOST_ROWS, len(places))).astype(int)]
    return np.concatenate([state[what][places] for what in INPUTS], axis=1)
