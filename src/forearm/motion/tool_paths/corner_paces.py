"""How fast a path with rounded corners may be run: in them the tool slows down and speeds up of itself.

Along p(s) the tool's speed is |p'| ṡ, and it changes with |p'| s̈ + |p'|' ṡ². On a leg |p'| is constant, and limits of s̈
are the tool's; in a corner, where one leg fades out and the next one in, it dips.
"""

import numpy as np

from forearm.algebra import Vector
from forearm.motion.profiles.point_to_point import PointToPoint, phase_times
from forearm.motion.profiles.round_corners import corner_breaks
from forearm.motion.tool_paths.tool_legs import ToolRoute

INSIDE = 256
"""Places in each piece of a path at which it is looked at."""
LITTLE = 1e-3
"""Share of a limit that may be passed."""
ROUNDING = 1e-6
"""Share of the acceleration by which two instants may differ that are next to each other."""
HALVINGS = 24
"""Until the pace is known."""


def corner_pace(route: ToolRoute, most: float, speed: float, limits: tuple[float, float]) -> float:
    """The greatest rate of the path parameter, up to `most`, at which corners keep to the tool's limits.

    Args:
        route: The path of the tool.
        most: The rate that is wanted.
        speed: Of the tool along a leg, where the rate is 1 [m/s].
        limits: Of the tool's acceleration and jerk along the path, over that speed.
    """
    if not len(route.radii):
        return most
    corners = _Corners(route, speed, limits)
    if corners.kept(most):
        return most
    low, high = 0.0, most
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if corners.kept(middle) else (low, middle)
    return low


class _Corners:
    """A path's own changes of speed, and the limits that they count towards."""

    def __init__(self, route: ToolRoute, speed: float, limits: tuple[float, float]) -> None:
        self.length, self.limits, self.speed = route.length, limits, speed
        self.s = _between(corner_breaks([leg.length for leg in route.legs], route.radii))
        poses = route.poses(self.s)
        tangent, bend = poses.rate[:, :3], poses.second[:, :3]
        self.size = np.linalg.norm(tangent, axis=1)
        self.growth = np.sum(tangent * bend, axis=1) / np.maximum(self.size, 1e-12)

    def kept(self, pace: float) -> bool:
        """Whether the tool's speed changes within its limits at this rate."""
        phases = phase_times([self.length], pace, *self.limits)
        profile = PointToPoint(np.zeros(1), np.array([self.length]), phases)
        even = _between(profile.breaks)
        t = np.unique(np.concatenate([even, np.interp(self.s, profile.rows(even)[0][:, 0], even)]))
        s, rate, second = (x[:, 0] for x in profile.rows(t))
        change = np.interp(s, self.s, self.size) * second + np.interp(s, self.s, self.growth) * rate**2
        acceleration, jerk = (limit * self.speed * (1 + LITTLE) for limit in self.limits)
        grown = np.abs(np.diff(change)) - ROUNDING * acceleration
        return bool(np.all(np.abs(change) <= acceleration)) and bool(np.all(grown <= jerk * np.diff(t)))


def _between(breaks: Vector) -> Vector:
    """Places at breaks (K,) and evenly between them."""
    shares = np.linspace(0.0, 1.0, INSIDE, endpoint=False)
    return np.append((breaks[:-1, None] + np.diff(breaks)[:, None] * shares).ravel(), breaks[-1])
