"""LookupTable: torques for batches out of stored numbers; an arm that changed is refused."""

import itertools
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from forearm import faults
from forearm.algebra import States, Vector
from forearm.arm import Arm
from forearm.compiler.call.arguments import check_threads
from forearm.faults import StateFault
from forearm.strobing import Strobed
from forearm.tabulated.c_source import table_c
from forearm.tabulated.grids import CHUNK, Grid, position_range
from forearm.tabulated.log_domains import LogDomain
from forearm.tabulated.methods import INPUTS, TableEntry
from forearm.tabulated.plans import TablePlan
from forearm.tabulated.programs.lookup_kernels import LookupKernel, have_llvm
from forearm.tabulated.stencils import ORDERS, stencil
from forearm.tabulated.table_headers import write_table

Numbers = np.ndarray[Any, Any]

MANY = 100.0
"""Angles beyond this [rad] lose digits where turns are counted in steps of an axis."""


@dataclass(frozen=True, eq=False)
class LookupTable:
    """Stored numbers, and the torques that follow from them."""

    plan: TablePlan
    """What is stored, over what."""
    numbers: tuple[Numbers, ...]
    """For each grid of the plan (cells, entries); may be mapped from a file."""
    learnt: bool = False
    """Whether it comes from a log: cells that the log never met, or does not determine, are then not numbers."""

    domain: LogDomain | None = None
    """Where a learnt table is known to hold, and how well; None where that could not be measured."""

    def __post_init__(self) -> None:
        """Numbers as many as the plan says: machine code looks no further."""
        wanted = [(grid.cells, len(grid.entries)) for grid in self.plan.grids]
        given = [np.shape(stored) for stored in self.numbers]
        if given != wanted:
            raise StateFault(f"table: numbers have shapes {given}; give {wanted}, as the plan has its grids.")

    @property
    def nbytes(self) -> int:
        """Memory of the stored numbers."""
        return sum(stored.nbytes for stored in self.numbers)

    def torques(self, arm: Arm, q: States, qd: States, qdd: States, *, threads: int = 1) -> Vector:
        """Joint torques (..., n) by look-up, friction added; `arm` must be the arm that the table was filled for.

        Compiled for batches; without llvmlite NumPy gives the same bits.
        """
        self.refuse_another(arm)
        wanted = check_threads("table", threads)
        given = faults.states(arm, "table", q=q, qd=qd, qdd=qdd)
        states = [faults.floats(name, x) for name, x in given.items()]
        for name, x in zip(INPUTS, states, strict=True):
            faults.finite_state(arm, name, x)
        try:
            shape = np.broadcast_shapes(*(x.shape for x in states))
        except ValueError:
            shapes = ", ".join(f"{name} {x.shape}" for name, x in zip(INPUTS, states, strict=True))
            raise StateFault(
                f"table: the batch axes of {shapes} do not broadcast; make them equal."
            ) from None
        flat = {
            name: np.ascontiguousarray(x if x.shape == shape else np.broadcast_to(x, shape)).reshape(
                -1, arm.n
            )
            for name, x in zip(INPUTS, states, strict=True)
        }
        return self._looked_up(flat, wanted).reshape(shape)

    def _looked_up(self, flat: dict[str, Vector], wanted: int) -> Vector:
        """Torques (B, n); a table has an entry for everything, also for what is no number: such rows are NaN."""
        lost = ~np.all([np.isfinite(x).all(axis=1) for x in flat.values()], axis=0)
        asked = {**flat, "q": _few_turns(self.plan.arm, flat["q"])}
        with np.errstate(invalid="ignore"):
            tau = self._compiled(asked, wanted) if have_llvm() else self._plain(asked)
        if self.learnt:
            _refuse_unmet(np.where(lost[:, None], 0.0, tau))
        if self.domain is not None:
            self.domain.tell_outside(self.plan.arm, {name: x[~lost] for name, x in asked.items()})
        tau[lost] = np.nan
        return tau

    def flat(self) -> Numbers:
        """All stored numbers in a row, as the look-up in C takes them."""
        return np.concatenate([stored.reshape(-1) for stored in self.numbers])

    @faults.explained
    def coefficients(self, q: States) -> Strobed:
        """M, C and g at one configuration, as `horn_raibert_1978` takes them (tables of horn_raibert only)."""
        if self.plan.method != "horn_raibert":
            raise StateFault(
                f"table: a {self.plan.method} table does not store M, C and g; tabulate with 'horn_raibert'."
            )
        n = self.plan.arm.n
        given = faults.state(self.plan.arm, "q", q)
        faults.finite_state(self.plan.arm, "q", given)
        faults.one_state(self.plan.arm, "q", given)
        state = {"q": given.reshape(1, n)}
        made = {
            "gravity_torque": np.zeros(n),
            "mass_matrix": np.zeros((n, n)),
            "christoffel": np.zeros((n, n, n)),
        }
        for grid, stored in zip(self.plan.grids, self.numbers, strict=True):
            for entry, value in zip(grid.entries, self._at(grid, stored, state)[0], strict=True):
                made[entry.quantity].flat[entry.place] = value
        M, C = made["mass_matrix"], made["christoffel"]
        M = np.triu(M) + np.triu(M, 1).T
        return Strobed(M, np.triu(C) + np.triu(C, 1).swapaxes(1, 2), made["gravity_torque"])

    def refuse_another(self, arm: Arm) -> None:
        """A fault unless this is the arm that the table was filled for: a load that changed voids the table."""
        faults.needs_arm(arm)
        mine = self.plan.arm
        if arm is mine or arm.digest == mine.digest:
            return
        raise StateFault(
            f"the table was filled for another arm than {arm.name!r}: {_difference(mine, arm)}; every number in it is "
            "void. Fill it again with fa.tabulate, or compute the torque."
        )

    def _compiled(self, state: dict[str, Vector], wanted: int) -> Vector:
        """Torques (B, n) by machine code."""
        tau = np.empty_like(state["q"])
        if len(tau) and not self._kernel(state, tau, wanted):
            self._refuse_outside(state)
        return tau

    def _plain(self, state: dict[str, Vector]) -> Vector:
        """Torques (B, n) by NumPy: what the compiled look-up is held against."""
        self._refuse_outside(state)
        tau = np.zeros_like(state["q"])
        for first in range(0, len(tau), CHUNK):
            part = slice(first, first + CHUNK)
            self._add(tau[part], {name: x[part] for name, x in state.items()})
        return tau + friction_at(self.plan.arm, state["qd"])

    def _refuse_outside(self, state: dict[str, Vector]) -> None:
        for axis in dict.fromkeys(axis for grid in self.plan.grids for axis in grid.axes):
            stencil(axis, state[axis.what][:, axis.joint], 1)

    @cached_property
    def _kernel(self) -> LookupKernel:
        """The compiled look-up."""
        return LookupKernel(self.plan, self.numbers)

    def __getstate__(self) -> dict[str, Any]:
        """Without the machine code, which another process makes for itself."""
        return {name: x for name, x in self.__dict__.items() if name != "_kernel"}

    def _add(self, tau: Vector, state: dict[str, Vector]) -> None:
        for grid, stored in zip(self.plan.grids, self.numbers, strict=True):
            values = self._at(grid, stored, state)
            for k, entry in enumerate(grid.entries):
                _act(entry, values[:, k], state, tau)

    def _at(self, grid: Grid, stored: Numbers, state: dict[str, Vector]) -> Numbers:
        """The entries of a grid between its points (B, entries)."""
        total = np.zeros((len(state["q"]), len(grid.entries)))
        for where, weight in corners(grid, state, ORDERS[self.plan.interpolation]):
            total += stored[where] * weight[:, None]
        return total

    @faults.explained
    def save(self, path: str | Path, *, compressed: bool = True) -> Any:
        """Write the table: compressed to be small, or plain, mapped where it is large; `fa.open_table` reads both."""
        return write_table(self.plan, self.numbers, self.learnt, self.domain, path, compressed=compressed)

    def to_c(self) -> str:
        """One look-up as C99, the numbers in an array that the caller gives."""
        return table_c(self.plan, learnt=self.learnt)

    def __str__(self) -> str:
        how = "errors not known" if self.domain is None else str(self.domain)
        return str(self.plan) + (f" (learnt; {how})" if self.learnt else "")

    __repr__ = __str__


def corners(grid: Grid, state: dict[str, Vector], order: int) -> Any:
    """The points around each state, one after the other: where it is stored (B,), and its weight (B,)."""
    count = len(state["q"])
    stencils = [stencil(axis, state[axis.what][:, axis.joint], order) for axis in grid.axes]
    for corner in itertools.product(range(order), repeat=len(stencils)):
        where, weight = np.zeros(count, dtype=np.intp), np.ones(count)
        for k, found, stride in zip(corner, stencils, grid.strides, strict=True):
            where += found.places[k] * stride
            weight = weight * found.weight[k]
        yield where, weight


def friction_at(arm: Arm, qd: Vector) -> Vector:
    """Friction of a batch (B, n), by the curve of `drives`."""
    friction = np.zeros(qd.shape)
    for i, link in enumerate(arm.links):
        forth, back = link.drive.coulomb
        v = qd[:, i]
        if forth or back:
            s = v / np.sqrt(v * v + link.drive.smoothing**2)
            friction[:, i] = s * ((forth + back) / 2 + (forth - back) / 2 * s)
        friction[:, i] += link.drive.viscous * v
    return friction


def _act(entry: TableEntry, value: Vector, state: dict[str, Vector], tau: Vector) -> None:
    """What an entry does to the torques."""
    for term in entry.terms:
        amount = value * term.times if term.times != 1 else value
        for what, joint in term.factors:
            amount = amount * state[what][:, joint]
        tau[:, term.joint] += amount


def _few_turns(arm: Arm, q: Vector) -> Vector:
    """Positions (B, n) of joints that go round, many turns taken off exactly; as they are where there are few."""
    round_ = np.array([position_range(arm, j)[2] for j in range(arm.n)])
    if not np.any(many := round_ & (np.abs(q) > MANY)):
        return q
    with np.errstate(invalid="ignore"):
        return np.where(many, np.arctan2(np.sin(q), np.cos(q)), q)


def _refuse_unmet(tau: Vector) -> None:
    unmet = np.isnan(tau).any(axis=1)
    if np.any(unmet):
        raise StateFault(
            f"table: {int(unmet.sum())} of {len(tau)} states lie in cells that the log never met, or does not "
            f"determine (the first is state {int(np.argmax(unmet))}); learn from a log that goes there, at several "
            "speeds, or with fewer points."
        )


def _difference(mine: Arm, other: Arm) -> str:
    """In words, the first thing that differs."""
    if mine.n != other.n:
        return f"it has {other.n} joints, and the table {mine.n}"
    for i, (ours, theirs) in enumerate(zip(mine.links, other.links, strict=True), 1):
        if ours.mass != theirs.mass:
            return f"link {i} {theirs.name!r} has {theirs.mass:.6g} kg, and had {ours.mass:.6g} kg (a load?)"
    return "its masses are the same, but geometry, inertia, drives or gravity differ"
