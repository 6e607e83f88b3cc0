"""Hypotheses about why two torque functions differ, each one testable.

A `OtherView` says how somebody else may see the arm: joints in another order, turned round, zeroed elsewhere; inertias
read differently; another gravity; rotors or friction on one side; one body with other numbers. A view has no
unknowns, or a few that a fit finds. `fit` tells what difference is left under a view.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from forearm.algebra import Matrix, Vector
from forearm.arm import Arm
from forearm.robot import Robot
from forearm.verification.difference.causes.inertia_readings import mapped_numbers, read_as_modified
from forearm.verification.difference.causes.unknowns import dry_units, own_friction, unit_torques, width_of
from forearm.verification.difference.torque_tables import Tables, all_joints, independent, tables

KEPT, KEPT_BYTES = 80, 1 << 28
"""Tables that are kept at a time, and bytes of them where they are large."""
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
    """Unknowns that are added: 'armature', 'coupled', 'viscous', 'dry', 'friction', 'jumps', 'scale', 'link 3' …"""
    rotors: bool = True
    """Whether the arm's own rotor inertias count."""
    friction: bool | float = True
    """Whether the arm's own friction counts; a number: its dry part is smoothed over that speed, 0.0 for a jump."""
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
    over: float = 0.0
    """Largest difference by what counts as none in its joint: 1 or less is nothing."""
    rows: slice = field(default_factory=lambda: slice(None))
    """The rows of states to which these differences belong."""

    @property
    def rms(self) -> float:
        """Root mean square of what is left [N m or N], for each number that the unknowns did not take up."""
        taken = sum(slope.shape[1] for slope in self.slopes.values())
        return float(np.linalg.norm(self.left) / np.sqrt(max(self.left.size - taken, 1)))

    @property
    def wide(self) -> Matrix:
        """All slopes side by side (S n, w)."""
        return np.concatenate(list(self.slopes.values()), axis=1)

    def tells(self, extra: str, place: int) -> bool:
        """Whether the torques determine this number of an extra: no change of the others can hide its own."""
        return self.spread(extra, place) < np.inf

    def spread(self, extra: str, place: int) -> float:
        """By how much this number of an extra may be off, by what is left: three standard deviations."""
        before = 0
        for name, slope in self.slopes.items():
            if name == extra:
                break
            before += slope.shape[1]
        column, others = self.wide[:, before + place], np.delete(self.wide, before + place, axis=1)
        alone = column - others @ np.linalg.lstsq(others, column, rcond=1e-12)[0]
        size = float(np.linalg.norm(alone))
        return 3 * self.rms / size if size > 1e-9 * np.linalg.norm(column) else np.inf


@dataclass
class Bench:
    """The arm, the other's torques at some states, and tables that were made already."""

    arm: Arm | Robot
    q: Matrix
    qd: Matrix
    qdd: Matrix
    tau: Matrix
    room: Matrix
    """Differences of torques that count as none (S, n)."""
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
        return self.of_rows(slice(count))

    def of_rows(self, rows: Any) -> "Bench":
        """The same with these states only."""
        parts = (self.q, self.qd, self.qdd, self.tau, self.room)
        return Bench(self.arm, *(part[rows] for part in parts))

    def seen(self, view: OtherView) -> tuple[Matrix, Matrix, Matrix, Matrix]:
        """q, qd, qdd and the other's torques, in our joints."""
        order, signs = list(view.order), np.array(view.signs)
        push = np.array([-1.0 if i == view.negated else 1.0 for i in range(self.arm.n)])
        turning = [link.revolute for link in self.arm.state_links]
        by, speed_by, rate_by = (signs * np.where(turning, unit, 1.0) for unit in view.units)
        return (
            by * self.q[:, order] + np.array(view.zeros),
            speed_by * self.qd[:, order],
            rate_by * self.qdd[:, order],
            signs * push * self.tau[:, self.columns(view)],
        )

    def columns(self, view: OtherView) -> list[int]:
        """Which of the other's torques belongs to each of our joints."""
        found = [(i + view.shift) % self.arm.n for i in range(self.arm.n)]
        if view.swapped is not None:
            one, two = view.swapped
            found[one], found[two] = found[two], found[one]
        return [found[i] for i in view.order]

    def seen_arm(self, view: OtherView) -> Arm | Robot:
        """The arm, or what its rows mean in the other convention."""
        other = read_as_modified(self.arm) if view.modified else None
        return other or self.arm

    def tables(self, view: OtherView, q: Matrix, qd: Matrix, qdd: Matrix, keep: bool) -> Tables:
        """Regressors of the mapped states, kept for the next view with the same joints if asked."""
        found = self.kept.get(_joints_of(view))
        if found is None:
            found = tables(self.seen_arm(view), q, qd, qdd)
            if keep:
                self._keep(view, found)
        return found

    def prepare(self, views: list[OtherView]) -> None:
        """Regressors of several views of one arm at once, which is quicker, kept for when they are asked for."""
        new = [view for view in views if _joints_of(view) not in self.kept]
        if not new:
            return
        states = [np.concatenate(part) for part in zip(*(self.seen(view)[:3] for view in new), strict=True)]
        made, S = tables(self.seen_arm(new[0]), *states), len(self.q)
        for k, view in enumerate(new):
            rows = slice(k * S, k * S + S)
            self._keep(view, Tables(made.inertial[rows], made.weight[:, rows]))

    def _keep(self, view: OtherView, made: Tables) -> None:
        most = min(KEPT, max(1, KEPT_BYTES // max(1, made.inertial.nbytes + made.weight.nbytes)))
        while len(self.kept) >= most:
            self.kept.pop(next(iter(self.kept)))
        self.kept[_joints_of(view)] = made


def _joints_of(view: OtherView) -> tuple[Any, ...]:
    """What tables depend on."""
    return view.order, view.signs, view.zeros, view.units, view.modified


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
    found = _gauss_newton(bench.arm, view, table, numbers, gravity, tau - drives, (q, qd, qdd, drives))
    found.over = float(np.max(np.abs(found.left.reshape(tau.shape)) / bench.room[:, bench.columns(view)]))
    return found


def _own_drives(arm: Arm | Robot, view: OtherView, qd: Matrix, qdd: Matrix) -> Any:
    rotors = np.array([float(link.drive.reflected_inertia) for link in arm.links]) * bool(view.rotors)
    total = independent(arm, all_joints(arm, qdd) * rotors)
    if view.friction is False:
        return total
    return total + own_friction(arm, qd, None if view.friction is True else float(view.friction))


def all_columns(bench: Bench, view: OtherView) -> Any:
    """Torques (S, n, c) of a unit of everything in which they are linear: bodies, gravity, rotors, friction."""
    arm, (q, qd, qdd, _) = bench.arm, bench.seen(view)
    table = bench.tables(view, q, qd, qdd, keep=False)
    curves = [qdd, qd, dry_units(arm, qd, jumps=False), dry_units(arm, qd, jumps=True)]
    curves += [own_friction(arm, qd, width) for width in (None, 0.0)]
    drives = [np.einsum("si,ij->sij", curve, np.eye(arm.n)) for curve in curves]
    return np.concatenate([table.inertial, *table.weight, *drives], axis=2)


def _gauss_newton(
    arm: Arm | Robot,
    view: OtherView,
    table: Tables,
    numbers: Vector,
    gravity: Vector,
    target: Matrix,
    state: tuple[Matrix, Matrix, Matrix, Matrix],
) -> Fit:
    """Linear unknowns in one step; gravity and a body's numbers together, which is bilinear, in a few."""
    sizes = {extra: width_of(arm, extra) for extra in view.extras}
    found = {extra: np.zeros(size) for extra, size in sizes.items()}
    bilinear = view.gravity == "free" and any(extra.startswith("link") for extra in view.extras)
    moving = float(
        np.max(np.abs(table.inertial @ numbers))
    )  # what an arm that is let go has, and gravity takes away
    scale = max(float(np.max(np.abs(target))), LEAST * moving, 1e-300)
    left = target - _model(arm, table, numbers, gravity, found, state)
    slopes: dict[str, Matrix] = {}
    for _ in range(12 if bilinear else 1):
        if not sizes and view.gravity != "free":
            break
        changed = _with_links(numbers, found)
        columns = [unit_torques(arm, extra, table, changed, gravity, state) for extra in view.extras]
        if view.gravity == "free":
            columns.append(np.einsum("ksic,c->sik", table.weight, changed))
        columns = [c.reshape(target.size, -1) for c in columns]
        names = [*view.extras, "gravity"][: len(columns)]
        slopes, wide = dict(zip(names, columns, strict=True)), np.concatenate(columns, axis=1)
        if not (
            np.all(np.isfinite(wide)) and np.all(np.isfinite(left))
        ):  # so small or so large that no fit is left
            break
        step = np.linalg.lstsq(wide, left.ravel(), rcond=1e-12)[0]
        for extra, size in sizes.items():
            found[extra] = found[extra] + step[:size]
            step = step[size:]
        if view.gravity != "free":
            step = np.zeros(3)
        factor = _before_the_factor(found, slopes) if "scale" in found else 1.0
        gravity = gravity + step / factor
        left = target - _model(arm, table, numbers, gravity, found, state)
    return Fit(float(np.max(np.abs(left))) / scale, gravity, found, left.ravel(), slopes)


def _before_the_factor(found: dict[str, Vector], slopes: dict[str, Matrix]) -> float:
    """One factor of all torques; the other unknowns, in place, become what they are before it.

    f (τ + X b) = f τ + X (f b) is linear in f and f b, which a fit finds; b is what there is to say.
    """
    factor = 1 + float(found["scale"][0]) or 1.0
    for name in slopes.keys() - {"scale"}:
        slopes[name] = slopes[name] * factor
    for name in found.keys() - {"scale"}:
        found[name] = found[name] / factor
    return factor


def _with_links(numbers: Vector, found: dict[str, Vector]) -> Vector:
    changed = numbers.copy()
    for extra, values in found.items():
        if extra.startswith("link"):
            k = 10 * (int(extra.split()[1]) - 1)
            changed[k : k + 10] += values
    return changed


def _model(
    arm: Arm | Robot,
    table: Tables,
    numbers: Vector,
    gravity: Vector,
    found: dict[str, Vector],
    state: tuple[Matrix, Matrix, Matrix, Matrix],
) -> Matrix:
    tau = table.torques(_with_links(numbers, found), gravity)
    for extra, values in found.items():
        if not extra.startswith(("link", "scale")):
            tau = tau + unit_torques(arm, extra, table, numbers, gravity, state) @ values
    return tau + float(found["scale"][0]) * (tau + state[3]) if "scale" in found else tau
