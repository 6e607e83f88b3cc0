"""The motion between rows: what rows with speeds and accelerations say of it, and where its peaks are between them.

Cubic between positions and speeds, and between speeds and accelerations, which go from row to row in a line: where
speeds and accelerations were worked out by a cubic spline through positions, it is that spline again. Where rows have
speeds that are not the slopes of their positions, nobody knows what is between, and they are taken as they are.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from forearm.algebra import Matrix, Scalar, Vector
from forearm.motion.motions import MotionFormula, Samples

MOST_PARTS, INSTANTS = 256, 40_000
"""Into how many parts the time between two rows is divided at most, and how many instants that makes in all."""
MOST_ROWS = 50_000
"""A log of more rows is taken as they are: they are near to each other."""
SLOPE = 0.02
"""How far the way between two rows may be from what their speeds say, over the length of it."""


@dataclass(frozen=True, eq=False)
class RowCurve(MotionFormula):
    """The motion through rows, from time zero on."""

    samples: Samples
    """The rows, their times rising."""

    @property
    def duration(self) -> float:  # type: ignore[override]
        """From the first row to the last [s]."""
        return float(self.samples.t[-1] - self.samples.t[0])

    def __call__(self, t: Scalar) -> tuple[Vector, Vector, Vector]:
        """(q, qd, qdd) at one time, or at a column of them."""
        found = self.rows(np.atleast_1d(np.asarray(t, dtype=float)).ravel())
        return found if isinstance(t, np.ndarray) else tuple(x[0] for x in found)  # type: ignore[return-value]

    def rows(self, t: Vector) -> tuple[Vector, Vector, Vector]:
        """(q, qd, qdd) at many times (K,), each (K, n)."""
        at, q, qd, qdd = self.samples
        at = at - at[0]
        k = np.clip(np.searchsorted(at, t, "right") - 1, 0, len(at) - 2)
        h = (at[k + 1] - at[k])[:, None]
        u = np.clip((t - at[k])[:, None] / h, 0.0, 1.0)
        speed = _cubic(u, h, qd[k], qd[k + 1], qdd[k], qdd[k + 1])
        return (
            _cubic(u, h, q[k], q[k + 1], qd[k], qd[k + 1]),
            np.where(qdd[k] * qdd[k + 1] < 0, speed, _within(speed, qd[k], qd[k + 1])),
            qdd[k] + u * (qdd[k + 1] - qdd[k]),
        )


def _cubic(u: Matrix, h: Matrix, a: Matrix, b: Matrix, slope: Matrix, end: Matrix) -> Matrix:
    """The polynomial of third degree from a to b with these slopes, at shares u of steps h."""
    left = 1.0 - u
    return (  # type: ignore[no-any-return]
        left * left * ((1 + 2 * u) * a + h * u * slope) + u * u * ((1 + 2 * left) * b - h * left * end)
    )


def _within(values: Matrix, a: Matrix, b: Matrix) -> Matrix:
    """Values no farther than both ends: a speed has no peak of its own where its acceleration keeps its sign."""
    return np.clip(values, np.minimum(a, b), np.maximum(a, b))  # type: ignore[no-any-return]


def with_rows_between(rows: Samples) -> tuple[Samples, Vector]:
    """Rows and more between those whose speeds are the slopes of their positions; and which of them were given.

    Args:
        rows: The rows; their times may be None.
    """
    t: Any = rows.t
    if t is None or not 2 <= len(t) <= MOST_ROWS or not np.all(np.diff(t) > 0):
        return rows, np.ones(len(rows.q), dtype=bool)
    h = np.diff(t)[:, None]
    speeds = np.abs(rows.qd)
    way, mean = np.diff(rows.q, axis=0), (rows.qd[1:] + rows.qd[:-1]) / 2
    said = h * mean - h**2 / 12 * np.diff(rows.qdd, axis=0)
    length = np.abs(way) + h * (speeds[1:] + speeds[:-1]) / 2
    room = SLOPE * np.maximum(length, np.max(length, axis=0) / 10)
    known = np.all(np.abs(way - said) <= room, axis=1)  # false where a number is nan
    shares = np.arange(1, parts := int(np.clip(INSTANTS // len(t), 2, MOST_PARTS))) / parts
    more = (t[:-1][known, None] + h[known] * shares).ravel()
    at = np.searchsorted(t, more)
    added = RowCurve(rows).rows(more - t[0])
    full = Samples(*(np.insert(x, at, y, axis=0) for x, y in zip(rows, (more, *added), strict=True)))
    return full, np.insert(np.ones(len(t), dtype=bool), at, False)
