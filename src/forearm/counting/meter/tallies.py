"""Counts: how many operations a formulation does, in all, by equation and by link."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from forearm.algebra import States
from forearm.arm import Arm
from forearm.chain_cuts import paths
from forearm.counting.meter.conventions import AS_SET_FORTH, CONVENTIONS, STRUCTURAL, Convention
from forearm.counting.meter.counted_arm import generic_arm, run_counted
from forearm.counting.meter.counted_scalar import KINDS, Counted, Meter, Operation, values
from forearm.faults import StateFault, explained, needs_arm, shown, whole
from forearm.formulations import FORMULATIONS
from forearm.free_base import SIX
from forearm.robot import Robot


@dataclass(frozen=True)
class Tally:
    """Operations by kind."""

    multiplications: int = 0
    """Multiplications."""
    additions: int = 0
    """Additions and subtractions."""
    divisions: int = 0
    """Divisions."""
    negations: int = 0
    """Sign changes; no paper counts them."""
    trigonometry: int = 0
    """Sines and cosines."""
    square_roots: int = 0
    """Square roots."""

    def __add__(self, other: Tally) -> Tally:
        """Both together."""
        return Tally(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Tally)))

    def __str__(self) -> str:
        """As the papers write it: multiplications | additions, and what else there is."""
        rest = [
            f"{getattr(self, k)} {k.replace('_', ' ')}"
            for k in ("divisions", "square_roots")
            if getattr(self, k)
        ]
        return f"{self.multiplications} | {self.additions}" + (f" ({', '.join(rest)})" if rest else "")


def tally(operations: Iterable[Operation]) -> Tally:
    """How many operations of each kind."""
    numbers = [0] * len(KINDS)
    for operation in operations:
        numbers[operation.kind] += operation.times
    return Tally(*numbers)


@dataclass(frozen=True)
class Count:
    """What one evaluation of a quantity costs."""

    stem: str
    """The formulation."""
    quantity: str
    """What is computed."""
    n: int
    """Number of joints."""
    convention: Convention
    """What was charged."""
    total: Tally
    """All operations on lines that carry an equation."""
    bookkeeping: Tally
    """Operations on other lines (constants of the links, entries of A_i), which the papers leave out."""
    by_equation: dict[str, Tally]
    """The total split by the equation's tag, in order of first use."""
    by_link: dict[tuple[str, int], Tally]
    """The total split by (direction of the walk, link); ('', 0) is what lies outside the walks."""
    value: Any
    """What the counted run computed, as floats: equal to the float run."""

    @property
    def multiplications(self) -> int:
        """Multiplications in all."""
        return self.total.multiplications

    @property
    def additions(self) -> int:
        """Additions and subtractions in all."""
        return self.total.additions

    def rows(self) -> list[dict[str, Any]]:
        """The split by equation as plain rows, the total last."""
        parts = [*self.by_equation.items(), ("total", self.total)]
        return [{"equation": tag, **{f.name: getattr(t, f.name) for f in fields(Tally)}} for tag, t in parts]


@explained
def count(
    stem: str,
    n: int | None = None,
    *,
    arm: Arm | Robot | None = None,
    convention: Convention | str | None = None,
    quantity: str = "joint_torques",
    kinds: str | None = None,
    arguments: Sequence[States] | None = None,
) -> Count:
    """Exact operation counts of a formulation, by running it on counted scalars.

    Args:
        stem: A formulation (a name in FORMULATIONS), or a variant in `forearm.counting.as_counted`.
        n: Number of joints of the generic arm, in which no number is zero or one; 6 by default.
        arm: Count on this arm instead: its zeros and ones are free unless the convention says otherwise.
            Of a robot with branches the chains are counted, one after the other, each with its whole way from the base.
        convention: What is charged; 'as set forth' by default, structural zeros and ones free for a given arm.
        quantity: What to compute, e.g. 'joint_torques', 'mass_matrix'.
        kinds: Joint kinds of the generic arm, repeated: 'R' (by default), 'RP', 'RRP'.
        arguments: The function's arguments after the arm, as floats; zeros in them are structural.

    Returns:
        The count: totals, by equation, by link, and the value of the run.
    """
    rule = convention_of(convention, arm)
    if arm is not None:
        _refuse_generic(arm, n, kinds)
    if isinstance(arm, Robot):
        return _count_of_chains(stem, arm, rule, quantity, arguments)
    if arm is not None:
        subject = arm.without_drives()
    else:
        subject = generic_arm(6 if n is None else n, kinds or "R", rule.inertia, rule.gravity)
    row = FORMULATIONS.get(stem)
    if row is not None and not row.accepts(subject):
        raise StateFault(f"count: {stem} takes revolute joints only; arm {subject.name!r} has others.")
    meter, result = run_counted(stem, subject, rule, quantity, arguments)
    charged = counted_operations(meter, result, rule)
    return Count(
        stem=stem,
        quantity=quantity,
        n=subject.n,
        convention=rule,
        total=tally(o for o in charged if o.tag),
        bookkeeping=tally(o for o in charged if not o.tag),
        by_equation=_split(charged, lambda o: o.tag),
        by_link=_split(charged, lambda o: (o.direction, o.link)),
        value=values(result),
    )


def _refuse_generic(arm: Arm | Robot, n: int | None, kinds: str | None) -> None:
    """Refuse what describes the generic arm beside an arm, whose joints would be counted all the same."""
    needs_arm(arm)
    told = f"kinds={shown(kinds)}" if kinds is not None else f"n={shown(n)}"
    if kinds is not None or (n is not None and whole(n, "count: n", 1) != arm.n):
        raise StateFault(
            f"count: {told} is for the generic arm, and arm {arm.name!r} has joints of its own; leave one of the two "
            "out."
        )


def _count_of_chains(stem: str, robot: Robot, rule: Convention, quantity: str, arguments: Any) -> Count:
    """The counts of a robot's chains, added up; the value is that of each chain."""
    if arguments is not None:
        raise StateFault(
            f"count: arguments are those of one arm, and robot {robot.name!r} is a sum of {len(robot.chains())}; leave "
            "them out, or count the arms of robot.chains() one by one."
        )
    counts = [count(stem, arm=arm, convention=rule, quantity=quantity) for arm in robot.chains()]
    before = len(SIX) if robot.free else 0
    by_equation: dict[str, Tally] = {}
    by_link: dict[tuple[str, int], Tally] = {}
    for found, path in zip(counts, paths(robot.parents) or ((),), strict=True):
        for tag, part in found.by_equation.items():
            by_equation[tag] = by_equation.get(tag, Tally()) + part
        for (direction, link), part in found.by_link.items():
            place = direction, path[link - before - 1] if link > before else 0
            by_link[place] = by_link.get(place, Tally()) + part
    total, bookkeeping = Tally(), Tally()
    for found in counts:
        total, bookkeeping = total + found.total, bookkeeping + found.bookkeeping
    return Count(
        stem=stem,
        quantity=quantity,
        n=len(robot.links) + before,
        convention=rule,
        total=total,
        bookkeeping=bookkeeping,
        by_equation=by_equation,
        by_link=by_link,
        value=tuple(found.value for found in counts),
    )


def counted_operations(meter: Meter, result: Any, convention: Convention) -> list[Operation]:
    """The operations that the convention counts: all, or those that the result needs."""
    if not convention.needed_only:
        return meter.operations
    return [meter.operations[i] for i in needed(meter.operations, result)]


def needed(operations: list[Operation], result: Any) -> list[int]:
    """Indices of the operations that a counted result depends on, in order."""
    stack = [x.node for x in _leaves(result) if x.node >= 0]
    seen: set[int] = set()
    while stack:
        index = stack.pop()
        if index not in seen:
            seen.add(index)
            stack.extend(operations[index].operands)
    return sorted(seen)


def _leaves(result: Any) -> Iterable[Counted]:
    parts = result if isinstance(result, tuple) else (result,)
    return [x for part in parts for x in part.ravel() if type(x) is Counted]


def _split(operations: list[Operation], key: Any) -> dict[Any, Tally]:
    groups: dict[Any, list[int]] = {}
    for operation in operations:
        if operation.tag:
            name = key(operation)
            if name not in groups:
                groups[name] = [0] * len(KINDS)
            groups[name][operation.kind] += operation.times
    return {name: Tally(*numbers) for name, numbers in groups.items()}


def convention_of(convention: Convention | str | None, arm: Arm | Robot | None) -> Convention:
    """A convention by name; by default 'as set forth', or structural zeros free for a given arm."""
    if isinstance(convention, Convention):
        return convention
    if convention is None:
        return AS_SET_FORTH if arm is None else STRUCTURAL
    if convention not in CONVENTIONS:
        names = ", ".join(repr(name) for name in CONVENTIONS)
        raise StateFault(f"count: convention is {shown(convention)}; give a Convention, or one of {names}.")
    return CONVENTIONS[convention]
