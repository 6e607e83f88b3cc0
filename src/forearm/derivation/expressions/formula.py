"""What a writer or evaluator sees of an expression: bare terms, and the words that they are packed with.

`Expression` and `Ring` stand above the writers and fit these two shapes, so that an expression can print itself
while no writer knows how expressions are calculated with.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from forearm.derivation.expressions.terms import Terms
from forearm.derivation.expressions.trigonometry import Trigonometry


class Vocabulary(Protocol):
    """Names of generators and angles, and what some of them stand for."""

    @property
    def names(self) -> Sequence[str]:
        """Generators in the order of writing."""
        ...

    @property
    def trigonometry(self) -> Trigonometry:
        """The products of sines and cosines that terms are numbered by."""
        ...

    @property
    def inverses(self) -> Mapping[str, "Formula"]:
        """Generators that are quotients 1/(...), and their denominators."""
        ...

    @property
    def meanings(self) -> Mapping[str, Any]:
        """What SymPy calls some generators."""
        ...

    @property
    def rates(self) -> int:
        """All bits of those generators that are speeds and accelerations."""
        ...

    def factors(self, monomial: int) -> Iterator[tuple[str, int]]:
        """Names and powers in a packed monomial."""
        ...


class Formula(Protocol):
    """Terms and their vocabulary."""

    @property
    def ring(self) -> Vocabulary:
        """What the terms are packed with."""
        ...

    @property
    def terms(self) -> Terms:
        """Basis element -> packed monomial -> coefficient."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """Generators and angles that occur."""
        ...
