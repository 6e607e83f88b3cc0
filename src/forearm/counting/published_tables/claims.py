"""What Hollerbach's text says in words of his tables: each claim with the line that computes it.

Reductions are of the coefficients of n and of the numbers at n = 6; crossings are the first n from which one method
needs more operations than another, for good.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from forearm.counting.costs.polynomials import Polynomial, polynomial
from forearm.counting.costs.side_by_side import first_above
from forearm.counting.meter.conventions import WITHOUT_GRAVITY
from forearm.counting.published_tables.countables import CELLS
from forearm.counting.published_tables.printed import HOLLERBACH, TABLES

STEMS = {
    "Hollerbach(4x4)": "hollerbach_1980_4x4",
    "Hollerbach(3x3)": "hollerbach_1980_3x3",
    "Newton-Euler": "luh_walker_paul_1980",
    "Horn, Raibert": "horn_raibert_1978",
}
"""Row of table I -> the formulation."""


@dataclass(frozen=True)
class Claim:
    """One sentence of the text, and what is computed for it."""

    says: str
    """The claim, in our words, and where it stands."""
    printed: tuple[str, str]
    """From the printed polynomials: multiplications, additions."""
    counted: tuple[str, str]
    """From our counts."""
    holds: bool
    """Whether the printed polynomials bear it out, in multiplications and in additions."""

    def row(self) -> dict[str, str]:
        """A plain row, for tables."""
        return {
            "claim": self.says,
            "from the printed tables, mult. | add.": " | ".join(self.printed),
            "from our counts": " | ".join(self.counted),
            "holds": "yes" if self.holds else "in part",
        }


def claims() -> list[Claim]:
    """All claims about reductions and crossings."""
    rows = ("Hollerbach(4x4)", "Hollerbach(3x3)"), ("Hollerbach(3x3)", "Newton-Euler")
    return [
        _claim(
            "3x3 matrices: more than 50 % off the coefficients of the 4x4 (p. 733)", *rows[0], _slope, 0.5
        ),
        _claim("3x3 matrices at six joints: more than 50 % off", *rows[0], _at_six, 0.5),
        _claim("Newton-Euler: 60 % off the recursive Lagrangian (p. 734)", *rows[1], _at_six, 0.595),
        _crossing(),
    ]


def printed_cost(row: str, cell: str) -> Polynomial:
    """A polynomial of table I as printed."""
    return Polynomial.parse(getattr(next(r for r in TABLES[HOLLERBACH]["I"] if r.row == row), cell))


def counted_cost(row: str, cell: str) -> Polynomial:
    """Our count of the same formulation, base at rest."""
    found: Polynomial = getattr(polynomial(STEMS[row], convention=WITHOUT_GRAVITY), cell)
    return found


def _slope(cost: Polynomial) -> Fraction:
    return cost.coefficients[1]


def _at_six(cost: Polynomial) -> Fraction:
    return cost(6)


def _claim(says: str, row: str, less: str, size: Callable[[Polynomial], Fraction], least: float) -> Claim:
    def saved(cost: Callable[[str, str], Polynomial]) -> list[float]:
        return [float(1 - size(cost(less, cell)) / size(cost(row, cell))) for cell in CELLS]

    printed, counted = saved(printed_cost), saved(counted_cost)
    shown = [(f"{100 * a:.1f} %", f"{100 * b:.1f} %") for a, b in (printed, counted)]
    return Claim(says, shown[0], shown[1], all(value >= least for value in printed))


def _crossing() -> Claim:
    def first(cost: Callable[[str, str], Polynomial]) -> list[int]:
        crossings = [first_above(cost("Horn, Raibert", cell), cost("Newton-Euler", cell)) for cell in CELLS]
        return [n for n in crossings if n is not None]

    printed, counted = first(printed_cost), first(counted_cost)
    shown = [(f"n = {a}", f"n = {b}") for a, b in (printed, counted)]
    says = "tables (Horn, Raibert) cost more than Newton-Euler from n = 9 (p. 734)"
    return Claim(says, shown[0], shown[1], printed == [9, 9])
