"""Base parameters and better frames: the same torques from fewer numbers.

Frames at the joints leave two freedoms that a description does not use: a frame may be turned about its axis
and (for a revolute joint) slid along it. `reframed` uses them to put x along the common normal to the next axis
and the origin where most components of the step to the next joint vanish.

Torques cannot tell all ten parameters of a link apart. Part of link j that is symmetric about axis j may as
well ride on link j-1, which `regrouped` exploits, tip to base: mass, first moment along z and one moment of
inertia of every revolute link vanish, the whole inertia of every prismatic one (Gautier and Khalil, Direct
calculation of minimum set of inertial parameters of serial robots, IEEE Trans. Robotics and Automation 6
(1990) 368-373, doi:10.1109/70.56655). Torques, M, bias and forward dynamics are unchanged; forces inside the
arm are not, so a `Regrouped` is no `Arm` and only formulations that read the view `ten` accept it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from forearm.algebra import (
    Matrix,
    Scalar,
    Vector,
    is_number,
    is_zero,
    product,
    rotation_z,
    sin_cos_of_constant,
)
from forearm.arm import Arm
from forearm.frames import Pose
from forearm.inertia import Ten, moved_ten, numbers_of, split_at_axis, sum_of_tens, ten_from
from forearm.link import Link

ROUNDING = 4 * np.finfo(float).eps
"""Numbers this small beside those they came from are rounding: such axes are parallel, such components zero."""
FARTHEST = 2.0
"""How far from a frame a common normal may lie, in lengths of the whole arm; nearly parallel axes have it anywhere."""


@dataclass(frozen=True)
class JointLink:
    """What a `ten` formulation reads of a link: its joint, the pose to the next one, ten parameters."""

    geometry: Link
    """Joint and constant pose to the axis of the next joint, as a link without a body."""
    ten_at_joint: Ten
    """The ten parameters in the frame at the joint."""
    joint: Link
    """The link that it came from."""
    shift: Pose = Pose()  # noqa: RUF009
    """This frame seen from the arm's own frame at the joint."""

    kind = property(lambda self: self.geometry.kind)
    revolute = property(lambda self: self.geometry.revolute)
    prismatic = property(lambda self: self.geometry.prismatic)
    pose = property(lambda self: self.geometry.pose)
    z = property(lambda self: self.geometry.z)
    axis = property(lambda self: self.geometry.axis)
    theta = property(lambda self: self.geometry.theta)
    flip = property(lambda self: self.geometry.flip)
    d = property(lambda self: self.geometry.d)

    @cached_property
    def ten(self) -> Ten:
        """The ten parameters in the frame at the far end."""
        return moved_ten(self.ten_at_joint, self.geometry.pose)

    def turn(self, q: Scalar) -> tuple[Scalar, Scalar]:
        """Sine and cosine of the whole joint angle."""
        return self.geometry.turn(q)

    def length(self, q: Scalar) -> Scalar:
        """The whole length along the axis [m]."""
        return self.geometry.length(q)

    def rotation(self, q: Scalar) -> Matrix:
        """Axes of the far end to axes before the joint."""
        return self.geometry.rotation(q)

    def p_star(self, q: Scalar) -> Vector:
        """Origin before the joint to the far end, axes of the far end [m]."""
        return self.geometry.p_star(q)

    def p_before(self, q: Scalar) -> Vector:
        """The same vector in the axes before the joint [m]."""
        return self.geometry.p_before(q)


@dataclass(frozen=True)
class Regrouped:
    """A chain with base parameters: torques, M, bias and accelerations are the arm's own, inner forces are not."""

    name: str
    """The arm's name."""
    links: tuple[JointLink, ...]
    """The links, base to tip."""
    root: Pose
    """The constant pose from frame 0 to the axis of joint 1."""
    gravity_in_base: Vector
    """Gravity in the axes of frame 0 (3,) [m/s²]."""

    def with_numbers(self, numbers: Any) -> "Regrouped":
        """The same chain with other parameters: for each link the ten numbers in the order of `TEN`."""
        links = zip(self.links, numbers, strict=True)
        return replace(self, links=tuple(replace(link, ten_at_joint=ten_from(ten)) for link, ten in links))

    def with_link_numbers(self, numbers: Any) -> "Regrouped":
        """The same chain with bodies given in the arm's link frames: ten numbers for each link."""
        tens = (
            moved_ten(moved_ten(ten_from(row), link.joint.pose.inverse()), link.shift)
            for row, link in zip(numbers, self.links, strict=True)
        )
        return self.with_numbers([numbers_of(ten) for ten in tens])

    def with_payload(self, body: Ten, number: int) -> "Regrouped":
        """The same chain whose link 1 to n holds a body, given in the arm's frame of that link."""
        link = self.links[number - 1]
        added = moved_ten(moved_ten(body, link.joint.pose.inverse()), link.shift)
        held = replace(link, ten_at_joint=sum_of_tens(link.ten_at_joint, added))
        return replace(self, links=(*self.links[: number - 1], held, *self.links[number:]))

    @property
    def numbers(self) -> list[list[Scalar]]:
        """The ten parameters of each link, in the order of `TEN`."""
        return [numbers_of(link.ten_at_joint) for link in self.links]


# -- better frames ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Screw:
    """A pose as Rz(gamma) Tz(b) Rx(alpha) Tx(a) Rz(theta) Tz(r); `middle` is Tx(a) Rx(alpha), or all of it."""

    gamma: float
    b: Any
    middle: Pose
    theta: float
    r: Any


def _screw(pose: Pose, reach: float) -> _Screw:
    """The common normal of two axes, where it is well conditioned; `reach` is the length of the whole arm [m]."""
    if not all(is_number(x) for x in sum(pose.rotation, ())):
        return _Screw(0.0, 0.0, pose, 0.0, 0.0)
    if not all(is_number(x) for x in pose.translation):
        return _free_screw(pose)
    R, p = pose.R, pose.p
    slope = math.hypot(R[0, 2], R[1, 2])
    if slope < ROUNDING:
        gamma = math.atan2(p[1], p[0]) if math.hypot(p[0], p[1]) > 0 else 0.0
        alpha = 0.0 if R[2, 2] > 0 else math.pi
        gamma, flip = (gamma, 1.0) if abs(gamma) <= math.pi / 2 else (math.atan2(-p[1], -p[0]), -1.0)
        a, b, r = flip * math.hypot(p[0], p[1]), float(p[2]), 0.0
        return _Screw(gamma, b, Pose.dh(a, alpha), _last_turn(gamma, alpha, R), r)
    gamma, alpha = math.atan2(R[0, 2], -R[1, 2]), math.atan2(slope, R[2, 2])
    if abs(gamma) > math.pi / 2:  # the other direction along the common normal turns less
        gamma, alpha, slope = gamma - math.copysign(math.pi, gamma), -alpha, -slope
    across = _turned(-gamma) @ p
    r = -float(across[1]) / slope
    a, b = float(across[0]), float(across[2]) - float(R[2, 2]) * r
    if max(abs(r), abs(b)) > FARTHEST * reach:
        return _Screw(0.0, 0.0, pose, 0.0, 0.0)
    return _Screw(gamma, b, Pose.dh(a, alpha), _last_turn(gamma, alpha, R), r)


def _free_screw(pose: Pose) -> _Screw:
    """The same for lengths that are no numbers: by what is known of them, which are zero."""
    R, p = np.where(np.abs(pose.R) < ROUNDING, 0.0, pose.R), pose.p
    slope = math.hypot(R[0, 2], R[1, 2])
    if slope == 0.0:
        if not is_zero(p[0]) and not is_zero(p[1]):
            return _Screw(0.0, 0.0, pose, 0.0, 0.0)
        gamma, alpha = (0.0 if is_zero(p[1]) else math.pi / 2), (0.0 if R[2, 2] > 0 else math.pi)
        a = p[0] if is_zero(p[1]) else p[1]
        return _Screw(gamma, p[2], Pose.dh(a, alpha), _last_turn(gamma, alpha, R), 0.0)
    gamma, alpha = math.atan2(R[0, 2], -R[1, 2]), math.atan2(slope, R[2, 2])
    if abs(gamma) > math.pi / 2:
        gamma, alpha, slope = gamma - math.copysign(math.pi, gamma), -alpha, -slope
    across = product(_turned(-gamma), p)
    r = -across[1] / slope
    b = across[2] - R[2, 2] * r
    return _Screw(gamma, b, Pose.dh(across[0], alpha), _last_turn(gamma, alpha, R), r)


def _last_turn(gamma: float, alpha: float, R: Matrix) -> float:
    """theta of R = Rz(gamma) Rx(alpha) Rz(theta): from what is left, which has it however small alpha is."""
    rest = Pose.dh(0.0, alpha).R.T @ _turned(-gamma) @ R
    return math.atan2(rest[1, 0], rest[0, 0])


def reach_of(chain: Arm | Regrouped) -> float:
    """The length of a whole chain [m]: what its lengths are held against."""
    lengths = [x for link in chain.links for x in (*link.pose.translation, link.d) if is_number(x)]
    return math.fsum(abs(x) for x in lengths)


def _last_screw(link: Link) -> _Screw:
    """The last frame is turned so that the first moment has no y: nothing beyond it asks for another direction."""
    x, y, _ = link.ten_at_joint.first_moment
    gamma = math.atan2(y, x) if link.revolute and is_number(x) and is_number(y) and not is_zero(y) else 0.0
    return _Screw(gamma, 0.0, Pose(_turned(-gamma)) @ link.pose, 0.0, 0.0)  # type: ignore[arg-type]


def _turned(angle: float) -> Matrix:
    return rotation_z(*sin_cos_of_constant(angle))


def _along(length: Any) -> Pose:
    return Pose(translation=(0.0, 0.0, length))


def _price(step: Vector, least: float) -> float:
    """What the components of a step between origins cost in operations, roughly."""
    return sum(price for x, price in zip(step, (10.0, 10.5, 9.0), strict=True) if abs(x) > least)


def reframed(arm: Arm, origins: Sequence[int] | None = None) -> Regrouped:
    """The arm's own parameters in better frames at the joints (no regrouping yet).

    `origins` says for each revolute joint at which of its two common normals the origin sits: 0 for the one with
    the axis before, 1 for the one with the axis after; by default the cheaper way by a rough price.
    """
    reach = reach_of(arm)
    screws = [*(_screw(link.pose, reach) for link in arm.links[:-1]), _last_screw(arm.links[-1])]
    start, end = _normals(arm, screws)
    if origins is None:
        origin = _origins(arm, screws, start, end, 1e-12 * reach)
    else:
        two = zip(arm.links, start, end, origins, strict=True)
        origin = [(s, e)[k] if link.revolute else link.d for link, s, e, k in two]
    links: list[JointLink] = []
    for j, (link, screw) in enumerate(zip(arm.links, screws, strict=True)):
        before = screws[j - 1].theta if j else 0.0
        slid = origin[j] - link.d if link.revolute else 0.0
        step = Pose(_turned(screw.gamma), (0.0, 0.0, slid))  # type: ignore[arg-type]
        pose = _along(end[j] - origin[j] if link.revolute else screw.b) @ screw.middle
        if j + 1 < arm.n and arm.links[j + 1].revolute:
            pose = pose @ _along(origin[j + 1] - start[j + 1])
        d = 0.0 if link.revolute else link.d - start[j]
        theta = _wrapped(link.theta + before + screw.gamma)
        joint = Link(link.kind, clean(pose, reach), theta, d, flip=link.flip, offset=link.offset)
        links.append(JointLink(joint, moved_ten(link.ten_at_joint, step), link, step))
    root = _along(origin[0]) if arm.links[0].revolute else Pose()
    return Regrouped(arm.name, tuple(links), root, arm.gravity_in_base)


def _normals(arm: Arm, screws: list[_Screw]) -> tuple[list[Any], list[Any]]:
    """Where the normals from the axis before, and to the axis after, meet each axis."""
    start = [0.0] + [-s.r for s in screws[:-1]]
    return start, [link.d + s.b for link, s in zip(arm.links, screws, strict=True)]


def origin_choices(arm: Arm) -> tuple[int, ...]:
    """The origins that `reframed` chooses for the arm's numbers, for arms of the same structure."""
    reach = reach_of(arm)
    screws = [*(_screw(link.pose, reach) for link in arm.links[:-1]), _last_screw(arm.links[-1])]
    start, end = _normals(arm, screws)
    chosen = _origins(arm, screws, start, end, 1e-12 * reach)
    return tuple(int(at != first) for at, first in zip(chosen, start, strict=True))


def described(arm: Arm) -> Regrouped:
    """The arm's own parameters in its own frames at the joints: nothing chosen, nothing simplified."""
    plain = (Link(x.kind, x.pose, x.theta, x.d, flip=x.flip, offset=x.offset) for x in arm.links)
    links = zip(plain, arm.links, strict=True)
    return Regrouped(
        arm.name,
        tuple(JointLink(joint, link.ten_at_joint, link) for joint, link in links),
        Pose(),
        arm.gravity_in_base,
    )


def _wrapped(angle: Scalar) -> Scalar:
    if not is_number(angle):
        return angle
    turned = math.remainder(angle, math.tau)
    return 0.0 if abs(turned) < 1e-15 else turned


def clean(pose: Pose, reach: float) -> Pose:
    """Round-off of the frame change, relative to the arm's length, is not a component."""
    p = tuple(0.0 if is_number(x) and abs(x) < ROUNDING * reach else x for x in pose.translation)
    return Pose(pose.rotation, p)  # type: ignore[arg-type]


def _origins(arm: Arm, screws: list[_Screw], start: list[float], end: list[Any], least: float) -> list[Any]:
    """Where each revolute joint's origin sits on its axis: at one of its two normals, the cheaper way overall."""
    choices = [(start[j], end[j]) if link.revolute else (link.d,) for j, link in enumerate(arm.links)]
    if not all(is_number(x) for pair in choices for x in pair):
        return [pair[-1] for pair in choices]
    cost: dict[Any, tuple[float, tuple[Any, ...]]] = {c: (0.0, (c,)) for c in set(choices[0])}
    for j, (_, here) in enumerate(pairwise(choices), 1):
        R, p = screws[j - 1].middle.R, screws[j - 1].middle.p

        def step(a: float, b: float, j: int = j, R: Matrix = R, p: Vector = p) -> Vector:
            lift = end[j - 1] - a if arm.links[j - 1].revolute else screws[j - 1].b
            return np.array([0.0, 0.0, lift]) + p + R[:, 2] * (b - start[j])

        cost = {
            b: min((total + _price(step(a, b), least), (*path, b)) for a, (total, path) in cost.items())
            for b in set(here)
        }
    return list(min(cost.values())[1])


# -- base parameters -------------------------------------------------------------------------------------


def regrouped(arm: Arm, origins: Sequence[int] | None = None) -> Regrouped:
    """The arm in better frames with its parameters regrouped, tip to base."""
    return regroup(reframed(arm, origins))


def regroup(chain: Regrouped) -> Regrouped:
    """Move from each link to the one before what the joint between them cannot tell apart."""
    tens = [link.ten_at_joint for link in chain.links]
    met = [sizes_met(link) for link in chain.links]
    for j in range(len(tens) - 1, -1, -1):
        link = chain.links[j]
        keep, move = split_at_axis(tens[j], revolute=link.revolute)
        tens[j] = keep
        if j:
            pose = chain.links[j - 1].pose
            tens[j - 1] = sum_of_tens(tens[j - 1], carried(link, pose, move))
            met[j - 1] = met[j - 1].with_body(met[j], pose, link)
    reach = reach_of(chain)
    rows = zip(tens, met, strict=True)
    return chain.with_numbers([snapped(numbers_of(ten), reach, sizes) for ten, sizes in rows])


class BodySizes(NamedTuple):
    """The largest numbers on the way to a body's ten parameters: what their rounding is held against."""

    mass: float
    """Mass [kg]."""
    moment: float
    """First moment [kg m]."""
    inertia: float
    """Moment of inertia [kg m²]."""

    def moved(self, way: float) -> "BodySizes":
        """Of the body about a point so far away [m]."""
        mass, moment, inertia = self
        return BodySizes(mass, moment + mass * way, inertia + (2 * moment + mass * way) * way)

    def with_body(self, body: "BodySizes", pose: Pose, link: Any) -> "BodySizes":
        """With what a link beyond leaves to this one, which `pose` leads to."""
        way = _length(*pose.translation, link.d)
        return BodySizes(*(a + b for a, b in zip(self, body.moved(way), strict=True)))


def sizes_met(link: JointLink) -> BodySizes:
    """The sizes of a link's own numbers, on their way from its centre of mass to its joint."""
    mass, h, tensor = link.joint.ten
    own = BodySizes(_length(mass), _length(*h), _length(*(x for row in tensor for x in row)))
    return own.moved(_length(*link.joint.pose.translation)).moved(_length(*link.shift.translation))


def _length(*numbers: Any) -> float:
    return math.hypot(*(float(x) for x in numbers if is_number(x)))


def carried(link: JointLink, pose: Pose, body: Ten) -> Ten:
    """A body of a link that does not notice its joint, in the frame of the joint before, from which `pose` leads."""
    if link.revolute:
        return moved_ten(body, (pose @ _along(link.d)).inverse())
    turned = pose @ Pose(rotation_z(*sin_cos_of_constant(link.theta)))  # type: ignore[arg-type]
    return moved_ten(body, Pose(turned.rotation).inverse())


def snapped(numbers: list[Scalar], reach: float, met: BodySizes) -> list[Scalar]:
    """Round-off of the frame change is no parameter: relative to the link's own numbers, and to those on the way.

    A first moment is held against a mass times the arm's length, a moment of inertia against that length squared; and
    both against the sizes `met`, of which nothing may be left (a body on its joint's axis).
    """
    units = [*[1.0], *[reach or 1.0] * 3, *[reach**2 or 1.0] * 6]
    sizes = [abs(x) / unit if is_number(x) else 0.0 for x, unit in zip(numbers, units, strict=True)]
    least = ROUNDING / 2 * max(sizes)
    most = [met.mass, *[met.moment] * 3, *[met.inertia] * 6]
    return [
        0.0 if is_number(x) and (s < least or abs(x) < ROUNDING * m) else x
        for x, s, m in zip(numbers, sizes, most, strict=True)
    ]


def pattern(arm: Arm, origins: Sequence[int] | None = None) -> list[list[bool]]:
    """Which base parameters of each link an arm of this shape has when all its inertias are arbitrary."""
    chain = reframed(arm, origins)
    rng = np.random.default_rng(0)
    filled = regroup(chain.with_numbers(rng.uniform(1.0, 2.0, (arm.n, 10)).tolist()))
    return [[not is_zero(x) for x in row] for row in filled.numbers]
