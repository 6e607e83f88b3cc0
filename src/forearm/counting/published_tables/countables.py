"""Ways to put a number beside a published one: a whole formulation, some of its equations, a stage of table 5."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Protocol

from forearm.counting.costs.polynomials import Polynomial, polynomial
from forearm.counting.meter.conventions import Convention

CELLS = ("multiplications", "additions")


class Countable(Protocol):
    """Something that can be counted."""

    def polynomial(self, cell: str) -> Polynomial:
        """Multiplications or additions as a polynomial in n."""
        ...

    @property
    def label(self) -> str:
        """What is counted, for tables."""
        ...

    @property
    def rule(self) -> Convention:
        """The convention that is charged by."""
        ...


@cache
def _measured(
    stem: str, convention: Convention, equation: str | None, quantity: str
) -> tuple[Polynomial, ...]:
    found = polynomial(stem, convention=convention, equation=equation, quantity=quantity)
    return found.multiplications, found.additions


@dataclass(frozen=True)
class CountedRun:
    """A formulation (or a variant) under a convention: all of it, or the named equations."""

    stem: str
    """Formulation or variant."""
    convention: Convention
    """What is charged."""
    equations: tuple[str, ...] = ()
    """Tags to add up; none means all."""
    quantity: str = "joint_torques"
    """What is computed."""

    def polynomial(self, cell: str) -> Polynomial:
        """Multiplications or additions as a polynomial in n."""
        which = CELLS.index(cell)
        total = Polynomial(())
        for tag in self.equations or (None,):
            total = total + _measured(self.stem, self.convention, tag, self.quantity)[which]
        return total

    @property
    def label(self) -> str:
        """The formulation and its equations."""
        return self.stem + (f" ({', '.join(self.equations)})" if self.equations else "")

    @property
    def rule(self) -> Convention:
        """The convention that is charged by."""
        return self.convention


@dataclass(frozen=True)
class Stage:
    """The largest serial cost among several equations, once for each link: a row of table 5."""

    run: CountedRun
    """Where the equations are."""
    groups: tuple[tuple[str, ...], ...]
    """Equations done at the same time; those of one group are done one after another."""
    repeated: bool = True
    """Whether the stage is passed n times, or once."""

    def polynomial(self, cell: str) -> Polynomial:
        """The largest cost of a group for one link, times n if repeated."""
        costs = [
            CountedRun(self.run.stem, self.run.convention, group).polynomial(cell) for group in self.groups
        ]
        largest = max((p.coefficients[1] if len(p.coefficients) > 1 else Fraction(0)) for p in costs)
        return Polynomial((Fraction(0), largest) if self.repeated else (largest,))

    @property
    def label(self) -> str:
        """Where it is counted."""
        return f"{self.run.stem}, largest of {', '.join('+'.join(group) for group in self.groups)}"

    @property
    def rule(self) -> Convention:
        """The convention that is charged by."""
        return self.run.rule


@dataclass(frozen=True)
class Together:
    """Several measures added up."""

    parts: tuple[Countable, ...]
    """What is added."""

    def polynomial(self, cell: str) -> Polynomial:
        """The sum."""
        total = Polynomial(())
        for part in self.parts:
            total = total + part.polynomial(cell)
        return total

    @property
    def label(self) -> str:
        """What is added."""
        return "sum of the rows"

    @property
    def rule(self) -> Convention:
        """The convention of the last part."""
        return self.parts[-1].rule
