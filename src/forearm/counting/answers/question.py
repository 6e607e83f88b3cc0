"""What `forearm count` is asked, and the shape of its answers.

An answer has a document for programs, tables and sentences for people.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from forearm.counting.costs.polynomials import CostPolynomials, polynomial
from forearm.counting.costs.side_by_side import quantities_of
from forearm.counting.meter.conventions import CONVENTIONS, Convention
from forearm.counting.meter.tallies import convention_of
from forearm.faults import StateFault
from forearm.formulations import FORMULATIONS

Rows = list[dict[str, Any]]
Tell = Callable[[int, int, str], None]

MOST = 2_000_000
"""Operations that are run at most; a second for each 200 000."""
MODIFIED = "turney_mudge_lee_1980_modified"
"""What is strobed and scheduled unless a formulation is named: the report's own set."""


@dataclass(frozen=True)
class AnswerTable:
    """One table of an answer."""

    title: str
    """What it shows; empty where nothing needs to be said."""
    rows: Rows
    """Plain rows, all with the same columns."""
    notes: tuple[str, ...] = ()
    """Sentences below it."""
    file_only: bool = False
    """Whether it is for programs, because other tables show the same."""


@dataclass(frozen=True)
class Answer:
    """What was found."""

    document: Any
    """For JSON."""
    tables: tuple[AnswerTable, ...]
    """The first is the one that goes into a CSV file."""
    sentences: tuple[str, ...] = ()
    """Above the tables."""


@dataclass(frozen=True)
class Question:
    """What to count."""

    stem: str | None
    """Formulation, or None for all."""
    n: int
    """Joints of the generic arm."""
    arm: Any
    """Count on this arm, or on the chains of this robot, instead."""
    quantity: str | None
    """What is computed; joint torques, or what a formulation gives, when None."""
    convention: Convention | None
    """What is charged; the usual one when None."""

    @property
    def size(self) -> int | None:
        """Joints of the generic arm, where it is counted on."""
        return self.n if self.arm is None else None

    @property
    def joints(self) -> int:
        """Joints of the arm that is counted on."""
        return self.n if self.arm is None else self.arm.n

    @property
    def rule(self) -> Convention:
        """The convention that holds."""
        return convention_of(self.convention, self.arm)

    def quantity_of(self, stem: str) -> str:
        """The quantity that is counted of one formulation."""
        found = FORMULATIONS[stem].giving(self.quantity)
        return self.quantity or quantities_of(found.stem)[0]


def convention_named(words: str) -> Convention:
    """A convention by its name; case, commas and hyphens do not matter, and its beginning is enough if unique."""

    def plain(text: str) -> str:
        return " ".join("".join(c if c.isalnum() else " " for c in text.replace("'", "").lower()).split())

    asked = plain(words)
    exact = [rule for name, rule in CONVENTIONS.items() if plain(name) == asked]
    begun = [rule for name, rule in CONVENTIONS.items() if asked and plain(name).startswith(asked)]
    if len(exact or begun) == 1:
        return (exact or begun)[0]
    names = [rule.name for rule in begun] or list(CONVENTIONS)
    raise StateFault(
        f"--convention is {words!r}; give one of {'; '.join(names)} (--convention list explains them)."
    )


def conventions() -> Answer:
    """All conventions in words."""
    rows = [{"convention": rule.name, "what is charged": rule.why} for rule in CONVENTIONS.values()]
    return Answer(rows, (AnswerTable("", rows),))


def refuse_the_endless(stem: str, n: int, whole: CostPolynomials, most: int = MOST) -> None:
    """A fault if so many operations would take too long to run one by one."""
    m, a = int(whole.multiplications(n)), int(whole.additions(n))
    if m + a > most:
        raise StateFault(
            f"--n is {n}: {stem} does {m:,} multiplications and {a:,} additions there by its polynomial {whole}, too "
            f"many to run one by one (at most {most:,}); give a smaller n."
        )


def in_n(
    stem: str, rule: Convention, quantity: str, equation: str | None = None, *, bookkeeping: bool = False
) -> CostPolynomials | None:
    """The polynomial, or None where the counts are no polynomial."""
    try:
        return polynomial(
            stem, convention=rule, quantity=quantity, equation=equation, bookkeeping=bookkeeping
        )
    except StateFault:
        return None
