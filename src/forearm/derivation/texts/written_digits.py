"""Whether formulas are written with all their digits: numbers on a page have six."""

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from forearm.derivation.expressions.expression import Expression
from forearm.derivation.expressions.formula_text import plain_number

if TYPE_CHECKING:
    from forearm.derivation.equations import Equations

SAME = Fraction(1, 10**13)
"""Numbers nearer than this share of them are the same but for the rounding of floats."""
ROUNDED = (
    "numbers are written to six digits, so torques worked out from this page are a little off; the equations "
    "themselves (evaluated, compiled, checked) are not rounded"
)


def digit_notes(equations: "Equations", *further: Any) -> tuple[str, ...]:
    """A note where a number has more digits than a page shows: in equations, base parameters and steps, or further."""
    steps = (value for values in equations.steps.values() for value in values)
    meanings = [grouping.meaning for grouping in equations.groupings]
    shown = (equations.M, equations.christoffel, equations.g, meanings, *steps, *further)
    formulas = (x for values in shown for x in np.ravel(np.asarray(values, dtype=object)))
    numbers = (
        c for x in formulas if isinstance(x, Expression) for part in x.terms.values() for c in part.values()
    )
    return (
        (ROUNDED,)
        if any(abs(Fraction(plain_number(c)) - Fraction(c)) > SAME * abs(c) for c in numbers)
        else ()
    )
