"""Hypotheses about why two torque functions differ, each one testable.

A `OtherView` says how somebody else may see the arm: joints in another order, turned round, zeroed elsewhere; inertias
read differently; another gravity; rotors or friction on one side; one body with other numbers. A view has no
unknowns, or a few that a fit finds. `fit` tells what difference is left under a view.
"""

import math
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from forearm.algebra import Matrix, Vector, parallel_axis
from forearm.arm import Arm
from forearm.faults import ArmFault
from forearm.inertia import numbers_of as ten_numbers
from forearm.inertia import ten_of
from forearm.link import Drive
from forearm.robot import Robot
from forearm.verification.difference.torque_tables import (
    Tables,
    all_joints,
    independent,
    numbers_of,
    tables,
)

KEPT = 80
"""Tables that are kept at a time."""
LEAST = 1e-6
"""Torques smaller than this share of their inertial part are held against that: they are rounding."""


@dataclass(frozen=True)
class OtherView:
    """How the other may see the arm. Our joint k is its joint order[k]: q_k = signs[k] q'[order[k]] + zeros[k]."""

    order: tuple[int, ...]
    signs: tuple[float, ...]
    zeros: tuple[float, ...]
    units: tuple[float, float, float] = (1.0, 1.0, 1.0)
    """Radians in its unit of angle, for q, qd and qdd."""
    shift: int = 0
    """Torques moved along by so many joints."""
    negated: int | None = None
    """The joint whose torque alone has the other sign."""
    swapped: tuple[int, int] | None = None
    """Two joints whose torques alone are exchanged."""
    maps: tuple[tuple[str, int | None], ...] = ()
    """Readings of the inertias: (which, link or None for all)."""
    gravity: str = "same"
    """'same', 'negated', 'absent' or 'free' (three unknowns)."""
    extras: tuple[str, ...] = ()
    """Unknowns that are added: 'armature', 'friction', 'scale', 'offset', 'link 3'."""
    rotors: bool = True
    """Whether the arm's own rotor inertias count."""
    friction: bool | str = True
    """Whether the arm's own friction counts; 'sign': its dry part jumps at rest."""
    modified: bool = False
    """Whether its standard Denavit-Hartenberg rows are read as modified ones."""


@dataclass(frozen=True)
class Cause:
    """One thing that may differ, as a change of view."""

    key: str
    """A short name."""
    text: str
    """The cause in words."""
    parameters: int
    """How many unknowns it brings."""
    change: dict[str, Any]
    """Fields of OtherView, with what happens to them."""
    unknown_zero: int | None = None
    """The joint whose zero is unknown (one nonlinear unknown), if any."""
    in_pairs: bool = True
    """Whether it is tried together with others, too."""

    def apply(self, view: OtherView) -> OtherView:
        """The view with this cause too."""
        done: dict[str, Any] = {}
        for name, value in self.change.items():
            if name == "order":
                done[name] = tuple(view.order[i] for i in value)
            elif name == "signs":
                done[name] = tuple(a * b for a, b in zip(view.signs, value, strict=True))
            elif name in ("maps", "extras"):
                done[name] = (*getattr(view, name), *value)
            else:
                done[name] = value
        return replace(view, **done)


@dataclass
class Fit:
    """What is left under a view, and the unknowns that were found."""

    residual: float
    """Largest difference of torques, by the largest torque."""
    gravity: Vector
    """Gravity in the base, as it was or as it came out."""
    unknowns: dict[str, Vector] = field(default_factory=dict)
    """The unknowns, by the name of the extra."""
    left: Any = None
    """Differences (S n,)."""
    slopes: dict[str, Matrix] = field(default_factory=dict)
    """Slopes of the torques in each extra's unknowns (S n, w)."""

    @property
    def rms(self) -> float:
        """Root mean square of what is left [N m or N]."""
        return float(np.sqrt(np.mean(self.left**2)))

    def tells(self, extra: str, place: int) -> bool:
        """Whether the torques determine this number of an extra: no change of the others can hide its own."""
        wide = np.concatenate(
            [self.slopes[extra], *(s for name, s in self.slopes.items() if name != extra)], 1
        )
        column, others = wide[:, place], np.delete(wide, place, axis=1)
        fitted = others @ np.linalg.lstsq(others, column, rcond=1e-12)[0]
        return bool(np.linalg.norm(column - fitted) > 1e-9 * np.linalg.norm(column))


@dataclass
class Bench:
    """The arm, the other's torques at some states, and tables that were made already."""

    arm: Arm | Robot
    q: Matrix
    qd: Matrix
    qdd: Matrix
    tau: Matrix
    kept: dict[Any, Tables] = field(default_factory=dict)

    @property
    def plain(self) -> OtherView:
        """The arm as it is."""
        n = self.arm.n
        return OtherView(tuple(range(n)), (1.0,) * n, (0.0,) * n)

    @cached_property
    def few(self) -> "Bench":
        """The same with fewer states, for looking around."""
        count = max(12, 60 // self.arm.n)
        if len(self.q) <= count:
            return self
        return Bench(self.arm, self.q[:count], self.qd[:count], self.qdd[:count], self.tau[:count])

    def seen(self, view: OtherView) -> tuple[Matrix, Matrix, Matrix, Matrix]:
        """q, qd, qdd and the other's torques, in our joints."""
        order, signs = list(view.order), np.array(view.signs)
        tau = np.roll(self.tau, -view.shift, axis=1) if view.shift else self.tau
        if view.swapped is not None:
            tau = tau.copy()
            tau[:, list(view.swapped)] = tau[:, list(reversed(view.swapped))]
        push = np.array([-1.0 if i == view.negated else 1.0 for i in range(self.arm.n)])
        turning = [link.revolute for link in self.arm.state_links]
        by, speed_by, rate_by = (signs * np.where(turning, unit, 1.0) for unit in view.units)
        return (
            by * self.q[:, order] + np.array(view.zeros),
            speed_by * self.qd[:, order],
            rate_by * self.qdd[:, order],
            signs * push * tau[:, order],
        )

    def seen_arm(self, view: OtherView) -> Arm | Robot:
        """The arm, or what its rows mean in the other convention."""
        other = read_as_modified(self.arm) if view.modified else None
        return other or self.arm

    def tables(self, view: OtherView, q: Matrix, qd: Matrix, qdd: Matrix, keep: bool) -> Tables:
        """Regressors of the mapped states, kept for the next view with the same joints if asked."""
        key = (view.order, view.signs, view.zeros, view.units, view.modified)
        found = self.kept.get(key)
        if found is None:
            found = tables(self.seen_arm(view), q, qd, qdd)
            if keep:
                if len(self.kept) >= KEPT:
                    self.kept.pop(next(iter(self.kept)))
                self.kept[key] = found
        return found


# -- fitting -------------------------------------------------------------------------------------------------


def fit(bench: Bench, view: OtherView, keep: bool = True) -> Fit:
    """The best unknowns of a view, and what difference they leave; `keep` its tables for other views."""
    q, qd, qdd, tau = bench.seen(view)
    table = bench.tables(view, q, qd, qdd, keep)
    arm = bench.seen_arm(view)
    numbers = mapped_numbers(arm, view.maps)
    pull = np.array(arm.gravity_in_base, dtype=float)
    gravity = {"negated": -pull, "absent": 0 * pull}.get(view.gravity, pull)
    drives = _own_drives(bench.arm, view, qd, qdd)
    return _gauss_newton(bench.arm, view, table, numbers, gravity, tau - drives, (qd, qdd, drives))


def _own_drives(arm: Arm | Robot, view: OtherView, qd: Matrix, qdd: Matrix) -> Any:
    qd, qdd = all_joints(arm, qd), all_joints(arm, qdd)
    total = 0.0 * qd
    for i, link in enumerate(arm.links):
        if view.rotors:
            total[:, i] += float(link.drive.reflected_inertia) * qdd[:, i]
        if view.friction:
            curve = _dry_jump if view.friction == "sign" else _dry_curve
            total[:, i] += float(link.drive.viscous) * qd[:, i] + curve(link.drive, qd[:, i])
    return independent(arm, total)


def _gauss_newton(
    arm: Arm | Robot,
    view: OtherView,
    table: Tables,
    numbers: Vector,
    gravity: Vector,
    target: Matrix,
    speeds: tuple[Matrix, Matrix, Matrix],
) -> Fit:
    """Linear unknowns in one step; gravity and a body's numbers together, which is bilinear, in a few."""
    sizes = {extra: _width(arm, extra) for extra in view.extras}
    found = {extra: np.zeros(size) for extra, size in sizes.items()}
    bilinear = view.gravity == "free" and any(extra.startswith("link") for extra in view.extras)
    moving = float(
        np.max(np.abs(table.inertial @ numbers))
    )  # what an arm that is let go has, and gravity takes away
    scale = max(float(np.max(np.abs(target))), LEAST * moving, 1e-300)
    left = target - _model(arm, table, numbers, gravity, found, speeds)
    slopes: dict[str, Matrix] = {}
    for _ in range(12 if bilinear else 1):
        if not sizes and view.gravity != "free":
            break
        changed = _with_links(numbers, found)
        columns = [_columns(arm, extra, table, changed, gravity, speeds) for extra in view.extras]
        if view.gravity == "free":
            columns.append(np.einsum("ksic,c->sik", table.weight, changed))
        columns = [c.reshape(target.size, -1) for c in columns]
        names = [*view.extras, "gravity"][: len(columns)]
        slopes, wide = dict(zip(names, columns, strict=True)), np.concatenate(columns, axis=1)
        if not np.all(np.isfinite(wide)):  # numbers so small or so large that no fit is left
            break
        step = np.linalg.lstsq(wide, left.ravel(), rcond=1e-12)[0]
        for extra, size in sizes.items():
            found[extra] = found[extra] + step[:size]
            step = step[size:]
        if view.gravity == "free":
            gravity = gravity + step
        left = target - _model(arm, table, numbers, gravity, found, speeds)
    return Fit(float(np.max(np.abs(left))) / scale, gravity, found, left.ravel(), slopes)


def _width(arm: Arm | Robot, extra: str) -> int:
    return {"armature": arm.n, "friction": 2 * arm.n, "scale": 1, "offset": arm.n}.get(extra, 10)


def _with_links(numbers: Vector, found: dict[str, Vector]) -> Vector:
    changed = numbers.copy()
    for extra, values in found.items():
        if extra.startswith("link"):
            k = 10 * (int(extra.split()[1]) - 1)
            changed[k : k + 10] += values
    return changed


def _columns(
    arm: Arm | Robot,
    extra: str,
    table: Tables,
    numbers: Vector,
    gravity: Vector,
    speeds: tuple[Matrix, Matrix, Matrix],
) -> Any:
    qd, qdd, drives = speeds
    if extra == "armature":
        return np.einsum("si,ij->sij", qdd, np.eye(arm.n))
    if extra == "friction":
        viscous = np.einsum("si,ij->sij", qd, np.eye(arm.n))
        return np.concatenate([viscous, np.einsum("si,ij->sij", _dry(arm, qd), np.eye(arm.n))], axis=2)
    if extra == "offset":
        return np.broadcast_to(np.eye(arm.n), (len(qd), arm.n, arm.n))
    if extra == "scale":
        return (table.torques(numbers, gravity) + drives)[:, :, None]
    k = 10 * (int(extra.split()[1]) - 1)
    weight = np.einsum("k,ksic->sic", gravity, table.weight[:, :, :, k : k + 10])
    return table.inertial[:, :, k : k + 10] + weight


def _dry(arm: Arm | Robot, qd: Matrix) -> Matrix:
    """The dry friction curve of one unit, with each joint's own smoothing."""
    curves = [Drive(coulomb=(1.0, 1.0), smoothing=link.drive.smoothing) for link in arm.state_links]
    return np.array([_dry_curve(curve, qd[:, i]) for i, curve in enumerate(curves)]).T


def _dry_jump(drive: Drive, v: Vector) -> Vector:
    """Dry friction as textbooks have it: one level for each sign of the speed."""
    forth, back = (float(c) for c in drive.coulomb)
    return np.where(v > 0, forth, np.where(v < 0, -back, 0.0))


def _dry_curve(drive: Drive, v: Vector) -> Vector:
    """`drives.dry_friction` of many speeds at once."""
    s = v / np.sqrt(v * v + float(drive.smoothing) ** 2)
    forth, back = (float(c) for c in drive.coulomb)
    return np.asarray(s * ((forth + back) / 2 + (forth - back) / 2 * s))


def _model(
    arm: Arm | Robot,
    table: Tables,
    numbers: Vector,
    gravity: Vector,
    found: dict[str, Vector],
    speeds: tuple[Matrix, Matrix, Matrix],
) -> Matrix:
    tau = table.torques(_with_links(numbers, found), gravity)
    for extra, values in found.items():
        if not extra.startswith("link"):
            tau = tau + _columns(arm, extra, table, numbers, gravity, speeds) @ values
    return tau


# -- readings of the inertias --------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def mapped_numbers(arm: Arm | Robot, maps: tuple[tuple[str, int | None], ...]) -> Vector:
    """The ten numbers of each link after its inertia was read differently."""
    if not maps:
        return numbers_of(arm)
    rows: list[float] = []
    for i, link in enumerate(arm.links):
        mass, com, tensor = (
            float(link.mass),
            np.array(link.about_com[1], float),
            np.array(link.about_com[2], float),
        )
        for which, only in maps:
            if only is None or only == i:
                com, tensor = _read(which, link, mass, com, tensor)
        rows += ten_numbers(ten_of(mass, com, tensor))
    return np.array(rows)


def _read(which: str, link: Any, mass: float, com: Vector, tensor: Matrix) -> tuple[Vector, Matrix]:
    R, joint = np.array(link.pose.rotation, float), com + np.array(link.p_star(0.0), float)
    flipped = 2 * np.diag(np.diag(tensor)) - tensor
    if which == "products":
        return com, flipped
    if which == "products, joint axes":
        turned = R @ tensor @ R.T
        return com, R.T @ (2 * np.diag(np.diag(turned)) - turned) @ R
    if which == "frame":
        return R.T @ (com - np.array(link.pose.translation, float)), R.T @ tensor @ R
    arm = com if "origin" in which else joint
    sign = 1.0 if which.endswith("+") else -1.0
    return com, tensor + sign * parallel_axis(mass, arm)


@lru_cache(maxsize=8)
def read_as_modified(arm: Arm | Robot) -> Arm | None:
    """The arm that its standard Denavit-Hartenberg rows describe when they are read as modified; None without rows."""
    if isinstance(arm, Robot):
        return None
    try:
        table = arm.dh_table()
        rows = [
            {"a": a, "alpha": alpha, "d": d, "theta": theta}
            | {
                name: getattr(link, name)
                for name in ("kind", "mass", "com", "inertia", "name", "drive", "flip", "offset")
            }
            for link, (a, alpha, d, theta) in zip(arm.links, table, strict=True)
        ]
        return Arm.from_dh(
            arm.name, rows, convention="modified", base=arm.base, gravity=arm.gravity, defects=arm.defects
        )
    except ArmFault:
        return None


def tilt(before: Vector, after: Vector) -> float:
    """Angle between two vectors [rad]."""
    return math.atan2(float(np.linalg.norm(np.cross(before, after))), float(before @ after))
