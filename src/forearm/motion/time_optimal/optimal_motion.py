"""A path run as fast as limits allow: the motion, what limits it where, and its phase plane."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from forearm.algebra import Scalar, Vector, is_number
from forearm.arm import Arm
from forearm.motion.instants import apart
from forearm.motion.motions import Motion, moment
from forearm.motion.profiles.path_profiles import along_path
from forearm.motion.time_optimal.limit_lines import (
    JointLimits,
    bounds_of,
    friction_lines,
    greatest_squares,
    strips_of,
)
from forearm.motion.time_optimal.path_grids import Friction, PathGrid, fine_grid, path_grid
from forearm.motion.time_optimal.profile_search import excesses
from forearm.motion.time_optimal.reachability import edges

CLOSE = 0.02
"""A limit of which less than this share is left binds."""


class PhasePlane(NamedTuple):
    """Path speed over path parameter: the textbook's figure of a time-optimal motion."""

    s: Vector
    """Grid points (N + 1,)."""
    speed: Vector
    """ṡ of the motion."""
    speed_limit: Vector
    """Where the joints' speed limits are; infinite without any."""
    velocity_curve: Vector
    """The maximum velocity curve: above it no acceleration keeps within torques and accelerations."""
    controllable: Vector
    """Greatest ṡ from which the end can still be reached at rest."""


@dataclass(frozen=True, eq=False)
class TimeOptimal(Motion):
    """The fastest motion along a path; between grid points the path acceleration is constant."""

    arm: Arm
    """Whose limits are kept."""
    path: Motion
    """The path: q(s) = path(s)."""
    limits: JointLimits
    """What is kept within."""
    s: Vector
    """Grid of the path parameter (N + 1,)."""
    squares: Vector
    """ṡ² there (N + 1,)."""
    sets: Vector
    """Least and greatest ṡ² there from which the end can be reached (N + 1, 2)."""
    excess: float
    """Largest share of a limit that is passed between grid points."""
    rounds: int
    """How often the passes ran: more than once for friction, and for what lies between grid points."""

    @cached_property
    def times(self) -> Vector:
        """When the grid points are passed (N + 1,) [s]."""
        roots = np.sqrt(self.squares)
        return np.concatenate([[0.0], np.cumsum(2 * np.diff(self.s) / (roots[:-1] + roots[1:]))])

    @property
    def duration(self) -> float:  # type: ignore[override]
        """How long it takes [s]."""
        return float(self.times[-1])

    @property
    def breaks(self) -> Vector:
        """Its grid, where the path acceleration steps, and when the breaks of the path are passed."""
        s = np.clip(self.path.breaks, self.s[0], self.s[-1])
        k = np.clip(np.searchsorted(self.s, s, "right") - 1, 0, len(self.s) - 2)
        gone, speed = s - self.s[k], np.sqrt(self.squares[k]) + np.sqrt(np.interp(s, self.s, self.squares))
        passed = self.times[k] + 2 * gone / np.where(gone > 0, speed, 1.0)
        return apart(np.concatenate([self.times, passed]))

    def along(self, t: Any) -> tuple[Vector, Vector, Vector]:
        """s, ṡ and s̈ at times (K,)."""
        t = np.asarray(t, dtype=float)
        inside = np.clip(t, 0.0, self.duration)
        k = np.clip(np.searchsorted(self.times, inside, "right") - 1, 0, len(self.s) - 2)
        u = np.diff(self.squares)[k] / (2 * np.diff(self.s)[k])
        since, root = inside - self.times[k], np.sqrt(self.squares[k])
        s = np.clip(self.s[k] + since * (root + 0.5 * u * since), self.s[k], self.s[k + 1])
        moving = (t >= 0) & (t <= self.duration)
        return s, np.maximum(root + u * since, 0.0) * moving, u * moving

    def rows(self, t: Vector) -> tuple[Vector, Vector, Vector]:
        """(q, qd, qdd) at many times (K,), each (K, n)."""
        s, speed, acceleration = (x[:, None] for x in self.along(t))
        q, tangent, bend = along_path(self.path, s[:, 0])
        return q, tangent * speed, bend * speed**2 + tangent * acceleration

    def __call__(self, t: Scalar) -> tuple[Vector, Vector, Vector]:
        """(q, qd, qdd) at one time."""
        if not is_number(t):
            from forearm.faults import TraceFault

            raise TraceFault(
                f"a time-optimal motion on a grid of {len(self.s)} points is a table, which is looked up in Python; "
                "give control_dt=."
            )
        q, qd, qdd = self.rows(np.array([moment(t)], dtype=float))
        return q[0], qd[0], qdd[0]

    @cached_property
    def _grid(self) -> PathGrid:
        s = fine_grid(self.s)
        q, tangent, bend = (x[None] for x in along_path(self.path, s))
        return path_grid(self.arm, s[None], (q, tangent, bend), self.limits.with_torques)

    @cached_property
    def binding(self) -> tuple[str, ...]:
        """What limits the motion in each interval (N): "torque of 'elbow'", "speed of 'wrist'", or ''."""
        over = excesses(self._grid, self.limits, Friction.of(self.arm), self.squares[None], ends=True)
        names = [f"{kind} of {name!r}" for kind in over for name in self.arm.joint_names]
        shares = np.concatenate([part[0] for part in over.values()], axis=1)
        k = np.argmax(shares, axis=1)
        used = np.take_along_axis(shares, k[:, None], 1)[:, 0]
        return tuple(names[j] if share > -CLOSE else "" for j, share in zip(k, used, strict=True))

    @cached_property
    def phase_plane(self) -> PhasePlane:
        """Path speeds over the path, with the curves that bound them."""
        most = greatest_squares(self._grid, self.limits, None)
        curve = np.full(len(self.s), np.inf)
        if self.limits.kinds:
            bent = friction_lines(self._grid, Friction.of(self.arm), self.squares[None], chord=True)
            bounds = bounds_of(self._grid, self.limits, bent, {}, None)
            free = np.full_like(
                most, np.max(greatest_squares(self._grid, _without_speeds(self.limits), None))
            )
            found = edges(strips_of(self._grid, self.limits, bent).lines(*bounds, free, self._grid.span))[0]
            curve = np.sqrt(np.maximum(np.append(found, found[-1]), 0.0))
            curve[curve >= 0.99 * np.sqrt(free[0])] = np.inf
        speed = np.sqrt(most[0]) if np.any(np.isfinite(self.limits.speeds)) else np.full(len(self.s), np.inf)
        return PhasePlane(self.s, np.sqrt(self.squares), speed, curve, np.sqrt(self.sets[:, 1]))


def _without_speeds(limits: JointLimits) -> JointLimits:
    return JointLimits(np.full_like(limits.speeds, np.inf), limits.accelerations, limits.torques)
