"""Whether formulas are written with all their digits: numbers on a page have six."""

from fractions import Fraction
from typing import TYPE_CHECKING

from forearm.derivation.expressions.formula_text import plain_number

if TYPE_CHECKING:
    from forearm.derivation.equations import Equations

SAME = Fraction(1, 10**13)
"""Numbers nearer than this share of them are the same but for the rounding of floats."""
ROUNDED = (
    "numbers are written to six digits, so torques worked out from this page are a little off; the equations "
    "themselves (evaluated, compiled, checked) are not rounded"
)


def digit_notes(equations: "Equations") -> tuple[str, ...]:
    """A note where a coefficient has more digits than a page shows."""
    values = (*equations.M.ravel(), *equations.christoffel.ravel(), *equations.g)
    numbers = (c for value in values for part in value.terms.values() for c in part.values())
    return (
        (ROUNDED,)
        if any(abs(Fraction(plain_number(c)) - Fraction(c)) > SAME * abs(c) for c in numbers)
        else ()
    )
