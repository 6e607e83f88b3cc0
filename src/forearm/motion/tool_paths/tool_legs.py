"""Legs of the tool's path: lines and arcs that turn evenly from orientation to orientation; corners between them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from forearm import faults
from forearm.algebra import Matrix, Vector
from forearm.faults import Fault, StateFault
from forearm.frames import Pose
from forearm.motion.profiles.round_corners import corner_radii, whereabouts
from forearm.outside.libraries.scipy_parts import scipy_part

SAME_PLACE = 1e-9
"""Poses nearer than this [m, rad] are the same."""


@dataclass(frozen=True)
class Arc:
    """A leg of the tool along a circle, through a point on its way to a pose."""

    through: Any
    """A point (3,) on the way, world axes [m]."""
    to: Any
    """The pose at its end: a Pose, a 4x4 matrix, or a point (3,), which keeps the orientation."""


class ToolPoses(NamedTuple):
    """Poses along a path, with their first two derivatives by its parameter; world axes."""

    p: Vector
    """Positions (K, 3)."""
    R: Matrix
    """Orientations (K, 3, 3)."""
    rate: Vector
    """Linear and angular (K, 6)."""
    second: Vector
    """Linear and angular (K, 6)."""


@dataclass(frozen=True, eq=False)
class Leg:
    """One line or arc, of length 1 s at the nominal speeds for each second that it takes."""

    start: Vector
    """Position at its beginning (3,)."""
    R: Matrix
    """Orientation there."""
    turn: Vector
    """Axis and angle to the end's orientation, axes of the tool (3,) [rad]."""
    way: Vector
    """To the end (3,), for a line; from the centre to the start, for an arc."""
    across: Vector | None
    """For an arc: the tangent at the start times the radius (3,)."""
    angle: float
    """For an arc: how far round [rad]."""
    length: float
    """Its length in path parameter."""

    @property
    def end(self) -> Vector:
        """Position at its end."""
        return self.position(np.array([self.length]))[0][0]

    def position(self, a: Vector) -> tuple[Vector, Vector, Vector]:
        """Position and two derivatives at parameters (K,), each (K, 3)."""
        share = a[:, None] / self.length
        if self.across is None:
            return self.start + share * self.way, 0 * share + self.way / self.length, 0 * share + 0 * self.way
        w = self.angle / self.length
        c, s = np.cos(self.angle * share), np.sin(self.angle * share)
        centre = self.start - self.way
        spoke = c * self.way + s * self.across
        return centre + spoke, w * (c * self.across - s * self.way), -w * w * spoke


def legs_of(start: Matrix, places: Sequence[Any], speed: float, turn_speed: float) -> list[Leg]:
    """Legs from a pose through places, each as long as it takes at the nominal speeds [m/s, rad/s]."""
    legs: list[Leg] = []
    here = np.array(start, dtype=float)
    for k, place in enumerate(places):
        goal = _pose(place.to if isinstance(place, Arc) else place, here, k)
        turn = rotation_vector(here[:3, :3].T @ goal[:3, :3])
        way, across, angle = goal[:3, 3] - here[:3, 3], None, 0.0
        distance = float(np.linalg.norm(way))
        if isinstance(place, Arc):
            way, across, angle = _circle(
                here[:3, 3],
                faults.floats(f"tool_path: through of the arc to place {k}", place.through),
                goal[:3, 3],
                k,
            )
            distance = float(np.linalg.norm(way)) * angle
        if distance < SAME_PLACE and np.linalg.norm(turn) < SAME_PLACE:
            raise StateFault(f"tool_path: place {k} (from 0) is where the tool is already; leave it out.")
        length = max(distance / speed, float(np.linalg.norm(turn)) / turn_speed)
        legs.append(Leg(here[:3, 3], here[:3, :3], turn, way, across, angle, length))
        here = goal
    return legs


def _pose(place: Any, here: Matrix, k: int) -> Matrix:
    if isinstance(place, Pose):
        return np.asarray(place.matrix, dtype=float)
    try:
        given = faults.floats("place", place)
    except Fault:  # told below, with what a place may be
        given = np.zeros(0)
    if not np.all(np.isfinite(given)):
        raise StateFault(
            f"tool_path: place {k} (from 0) has entries that are not finite; give finite numbers."
        )
    if given.shape == (4, 4):
        return np.asarray(faults.homogeneous(given), dtype=float)
    if given.shape == (3,):
        found = here.copy()
        found[:3, 3] = given
        return found
    raise StateFault(
        f"tool_path: place {k} (from 0) is {faults.a_or_an(type(place).__name__)}"
        f"{f' of shape {given.shape}' if given.size else ''}; give a Pose, a 4x4 matrix, a point (3,), "
        "or an Arc(through, to)."
    )


def _circle(p: Vector, through: Vector, q: Vector, k: int) -> tuple[Vector, Vector, float]:
    """Spoke and tangent at the start, each of the radius' length, and the angle, of the circle through three points."""
    if through.shape != (3,) or not np.all(np.isfinite(through)):
        raise StateFault(
            f"tool_path: the arc to place {k} goes through {through!r}; give a point (3,), finite numbers."
        )
    u, v = through - p, q - p
    normal = np.cross(u, v)
    size = float(np.linalg.norm(normal))
    if size <= 1e-9 * max(float(u @ u), float(v @ v), 1e-300):
        raise StateFault(
            f"tool_path: the arc to place {k} has its three points on one line, so there is no circle through them; "
            "move the point that it goes through, or give the place alone for a straight line."
        )
    centre = p + (np.cross(normal, u) * (v @ v) + np.cross(v, normal) * (u @ u)) / (2 * size**2)
    spoke = p - centre
    across = np.cross(normal / size, spoke)
    angles = [
        float(np.arctan2((x - centre) @ across, (x - centre) @ spoke)) % (2 * np.pi) for x in (through, q)
    ]
    return spoke, across, angles[1]


@dataclass(frozen=True, eq=False)
class ToolRoute:
    """Legs one after the other, corners rounded."""

    legs: tuple[Leg, ...]
    """The legs."""
    radii: Vector
    """How far each corner reaches into its legs, in path parameter."""

    @classmethod
    def of(cls, legs: Sequence[Leg], blend: float, speed: float) -> "ToolRoute":
        """With corners that begin `blend` [m] before."""
        return cls(tuple(legs), corner_radii([leg.length for leg in legs], blend / speed))

    @cached_property
    def length(self) -> float:
        """Of the whole path, in path parameter."""
        return float(sum(leg.length for leg in self.legs))

    def poses(self, u: Vector) -> ToolPoses:
        """Poses at path parameters (K,)."""
        at = whereabouts(u, [leg.length for leg in self.legs], self.radii)
        p, rate, second = np.zeros((len(u), 3)), np.zeros((len(u), 6)), np.zeros((len(u), 6))
        R = np.zeros((len(u), 3, 3))
        for k in np.unique(at.leg):
            here = at.leg == k
            one, other = self.legs[k], self.legs[min(k + 1, len(self.legs) - 1)]
            a, b = (tuple(x[here] for x in part) for part in (at.a, at.b))
            p[here], rate[here, :3], second[here, :3] = _blended(one, other, a, b)
            R[here], rate[here, 3:], second[here, 3:] = _turned(one, other, a, b)
        return ToolPoses(p, R, rate, second)


def _blended(one: Leg, other: Leg, a: Any, b: Any) -> tuple[Vector, Vector, Vector]:
    """Position and its derivatives on a leg, and in a corner on the next too."""
    p, v, w = one.position(a[0])
    p2, v2, w2 = other.position(b[0])
    a1, a2, b1, b2 = (x[:, None] for x in (*a[1:], *b[1:]))
    return p + (p2 - other.start), v * a1 + v2 * b1, w * a1**2 + v * a2 + w2 * b1**2 + v2 * b2


def _turned(one: Leg, other: Leg, a: Any, b: Any) -> tuple[Matrix, Vector, Vector]:
    """Orientation, angular velocity and acceleration: R = R₀ exp(w a) exp(w' b), world axes."""
    w, w2 = one.turn / one.length, other.turn / other.length
    first = one.R @ rotations(w * a[0][:, None])
    R = first @ rotations(w2 * b[0][:, None])
    axis = np.broadcast_to(one.R @ w, (len(R), 3))
    axis2 = first @ w2
    a1, a2, b1, b2 = (x[:, None] for x in (*a[1:], *b[1:]))
    return R, axis * a1 + axis2 * b1, axis * a2 + np.cross(axis * a1, axis2 * b1) + axis2 * b2


def rotations(turns: Vector) -> Matrix:
    """Rotations (K, 3, 3) by axis times angle (K, 3)."""
    angle = np.linalg.norm(turns, axis=1)[:, None, None]
    x, y, z = turns.T
    none = np.zeros_like(x)
    W = np.stack([none, -z, y, z, none, -x, -y, x, none], axis=-1).reshape(-1, 3, 3)
    return np.eye(3) + np.sinc(angle / np.pi) * W + 0.5 * np.sinc(angle / (2 * np.pi)) ** 2 * (W @ W)


def rotation_vector(R: Matrix) -> Vector:
    """Axis times angle (3,) of a rotation, the angle at most π."""
    transform = scipy_part("spatial.transform")
    return np.asarray(transform.Rotation.from_matrix(R).as_rotvec())
