"""Exact polynomials in parameters, speeds and a trigonometric basis: the scalar of closed forms.

An `Expression` does arithmetic like a number, so that formulations run on it unchanged. It is always in
normal form (see `trigonometry`): two expressions are equal if and only if they hold the same terms, and
nothing has to be simplified afterwards. Coefficients are whole numbers and fractions; a decimal number of
an arm, 0.4318, is read as the fraction that it prints, so results are exact. Only where an arm has fixed
angles that are no right angles are coefficients floats, and terms at the level of round-off are dropped at
the end.
"""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from forearm.algebra import is_number
from forearm.derivation.expressions.evaluation import Evaluator
from forearm.derivation.expressions.formula_latex import latex_of
from forearm.derivation.expressions.formula_text import text_of
from forearm.derivation.expressions.sympy_formulas import sympy_of
from forearm.derivation.expressions.terms import (
    BITS,
    FULL,
    MOST_POWER,
    Terms,
    added,
    cleaned,
    collect,
    divides,
    multiplied,
    refuse_length,
)
from forearm.derivation.expressions.trigonometry import ONE, Combination, Number, Trigonometry
from forearm.faults import Fault


class TimeUp(Fault, TimeoutError):
    """A derivation took longer than it was given."""


class Ring:
    """What expressions have in common: names of generators, the trigonometric basis, exactness, the clock."""

    def __init__(self, groups: Sequence[Sequence[str]] = (), exact: bool = True) -> None:
        """Angles that are to be added stand in one group; everything else becomes known when it is named."""
        self.names: list[str] = []
        self.exact = exact
        self.trigonometry = Trigonometry(groups, Fraction(1, 2) if exact else 0.5)
        self.inverses: dict[str, Expression] = {}
        self.meanings: dict[str, Any] = {}
        self.rates = 0
        self.deadline = math.inf
        self.told = ""
        self._places: dict[str, int] = {}

    def place(self, name: str) -> int:
        """Number of a generator, which becomes known by this."""
        found = self._places.get(name)
        if found is None:
            found = self._places[name] = len(self.names)
            self.names.append(name)
        return found

    def mark_rates(self, names: Iterable[str]) -> None:
        """Say which generators are speeds and accelerations, so that writing can gather them."""
        for name in names:
            self.rates |= FULL << (BITS * self.place(name))

    def generator(self, name: str) -> "Expression":
        """A parameter, coordinate or speed by its name."""
        return Expression(self, {ONE: {1 << (BITS * self.place(name)): 1}})

    def number(self, x: Any) -> Number:
        """A coefficient: exact where the ring is."""
        if not self.exact:
            return float(x)
        if isinstance(x, (int, np.integer)):
            return int(x)
        if isinstance(x, Fraction):
            return x.numerator if x.denominator == 1 else x
        value = float(x)
        return int(value) if value.is_integer() else Fraction(repr(value))

    def constant(self, x: Any) -> "Expression":
        """A number as an expression."""
        value = self.number(x)
        return Expression(self, {ONE: {0: value}} if value else {})

    def combination(self, sum_of_elements: Combination) -> "Expression":
        """A sum of basis elements as an expression."""
        return Expression(self, {t: {0: self.number(f)} for t, f in sum_of_elements})

    def factors(self, monomial: int) -> Iterator[tuple[str, int]]:
        """Names and powers in a packed monomial."""
        place = 0
        while monomial:
            power = monomial & FULL
            if power:
                yield self.names[place], power
            monomial >>= BITS
            place += 1

    def tick(self) -> None:
        """Stop when the time is up."""
        if time.monotonic() > self.deadline:
            raise TimeUp(self.told)


class Expression:
    """A polynomial in normal form; immutable."""

    __slots__ = ("ring", "terms")

    def __init__(self, ring: Ring, terms: Terms) -> None:
        """Terms must hold no zero coefficients and no empty entries."""
        self.ring = ring
        self.terms = terms

    # -- arithmetic --------------------------------------------------------------------------------------

    def _other(self, other: Any) -> "Expression | None":
        if type(other) is Expression:
            self._same_ring(other)
            return other
        if is_number(other) or isinstance(other, Fraction):
            return self.ring.constant(other)
        return None

    def _same_ring(self, other: "Expression") -> None:
        if self.ring is not other.ring:
            raise TypeError("expressions of two derivations cannot be combined; derive both together")

    def __add__(self, other: Any) -> "Expression":
        """Sum."""
        if is_number(other) and other == 0:
            return self
        right = self._other(other)
        return NotImplemented if right is None else Expression(self.ring, added(self.terms, right.terms, 1))

    __radd__ = __add__

    def __sub__(self, other: Any) -> "Expression":
        """Difference."""
        if is_number(other) and other == 0:
            return self
        right = self._other(other)
        return NotImplemented if right is None else Expression(self.ring, added(self.terms, right.terms, -1))

    def __rsub__(self, other: Any) -> "Expression":
        """Difference."""
        left = self._other(other)
        return NotImplemented if left is None else Expression(self.ring, added(left.terms, self.terms, -1))

    def __neg__(self) -> "Expression":
        """The opposite."""
        return self.scaled(-1)

    def __pos__(self) -> "Expression":
        """Itself."""
        return self

    def scaled(self, f: Number) -> "Expression":
        """A number of the ring times this."""
        if f == 1:
            return self
        return Expression(
            self.ring, {t: {p: c * f for p, c in part.items()} for t, part in self.terms.items()} if f else {}
        )

    def __mul__(self, other: Any) -> "Expression":
        """Product, in normal form."""
        if type(other) is Expression:
            self._same_ring(other)
            self.ring.tick()
            lookup = self.ring.trigonometry.product
            found = multiplied(self.terms, other.terms, lookup)
            refuse_length(sum(map(len, found.values())))
            return Expression(self.ring, found)
        if is_number(other) or isinstance(other, Fraction):
            return self.scaled(self.ring.number(other))
        return NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> "Expression":
        """Quotient; by a sum or a symbol through a new generator 1/(...) that cancels again."""
        right = self._other(other)
        if right is None:
            return NotImplemented
        return self * right.inverse()

    def __rtruediv__(self, other: Any) -> "Expression":
        """Quotient."""
        left = self._other(other)
        return NotImplemented if left is None else left * self.inverse()

    def inverse(self) -> "Expression":
        """1/self: a number, or a generator named for what it inverts."""
        value = self.constant_value
        if value is not None:
            if value == 0:
                raise ZeroDivisionError("an expression was divided by zero")
            return self.ring.constant(1 / value if isinstance(value, float) else Fraction(1, value))
        name = f"1/({self})"
        self.ring.inverses.setdefault(name, self)
        return self.ring.generator(name)

    def __pow__(self, power: Any) -> "Expression":
        """Small whole powers."""
        whole = int(power)
        if whole != power:
            raise TypeError(f"an expression has whole powers only; {power!r} was given")
        if abs(whole) > MOST_POWER:  # beyond FULL an exponent would run into the next generator's
            raise ArithmeticError(f"an expression has powers up to {MOST_POWER}; {power!r} was given")
        base = self if whole >= 0 else self.inverse()
        result = self.ring.constant(1)
        for _ in range(abs(whole)):
            result = result * base
        return result

    def sin(self) -> "Expression":
        """Sine of a sum of angles."""
        return self._sine_cosine()[0]

    def cos(self) -> "Expression":
        """Cosine of a sum of angles."""
        return self._sine_cosine()[1]

    def _sine_cosine(self) -> tuple["Expression", "Expression"]:
        ring, angles, rest = self.ring, {}, 0.0
        if any(t != ONE for t in self.terms):
            raise TypeError(f"sine of {self}, which is no sum of angles")
        for monomial, c in self.terms.get(ONE, {}).items():
            names = list(ring.factors(monomial))
            if not names:
                rest += float(c)
            elif names == [("pi", 1)]:
                rest += float(c) * math.pi
            elif len(names) == 1 and names[0][1] == 1 and c == int(c):
                angles[names[0][0]] = int(c)
                ring.trigonometry.add_angle(names[0][0])
            else:
                raise TypeError(f"sine of {self}, which is no sum of whole multiples of angles")
        s, c = (ring.combination(x) for x in ring.trigonometry.sine_cosine(angles))
        quarter = round(rest / (math.pi / 2))
        if abs(rest - quarter * math.pi / 2) < 1e-12:
            return ((s, c), (c, -s), (-s, -c), (-c, s))[quarter % 4]
        s0, c0 = math.sin(rest), math.cos(rest)
        return s * c0 + c * s0, c * c0 - s * s0

    # -- questions ---------------------------------------------------------------------------------------

    @property
    def is_zero(self) -> bool:
        """Whether this is zero, which the normal form decides."""
        return not self.terms

    @property
    def constant_value(self) -> Number | None:
        """The number that this is, or None."""
        if not self.terms:
            return 0
        if len(self.terms) == 1 and ONE in self.terms and set(self.terms[ONE]) == {0}:
            return self.terms[ONE][0]
        return None

    @property
    def size(self) -> int:
        """How many terms it has."""
        return sum(len(part) for part in self.terms.values())

    def __eq__(self, other: object) -> bool:
        """Whether both are the same function."""
        right = self._other(other)
        return NotImplemented if right is None else self.terms == right.terms

    def __hash__(self) -> int:
        return hash(frozenset((t, frozenset(part.items())) for t, part in self.terms.items()))

    @property
    def names(self) -> tuple[str, ...]:
        """Generators and angles that occur, in the ring's order."""
        used, angles, trig = 0, set(), self.ring.trigonometry
        for t, part in self.terms.items():
            for monomial in part:
                used |= monomial
            for group, factor in trig.elements[t]:
                members = trig.groups[group]
                angles |= (
                    {members[0]}
                    if len(members) == 1
                    else {m for m, k in zip(members, factor[1:], strict=True) if k}
                )
        found = {name for name, _ in self.ring.factors(used)}
        return tuple(n for n in self.ring.names if n in found or n in angles)

    # -- calculus and parts ------------------------------------------------------------------------------

    def derivative(self, name: str) -> "Expression":
        """Partial derivative by a coordinate or parameter."""
        ring, total = self.ring, Terms()
        shift = BITS * ring.place(name)
        for t, part in self.terms.items():
            for target, f in ring.trigonometry.derivative(t, name):
                collect(total, target, part.items(), f)
            lowered = [
                (p - (1 << shift), c * (p >> shift & FULL)) for p, c in part.items() if p >> shift & FULL
            ]
            collect(total, t, lowered, 1)
        return Expression(ring, cleaned(total))

    def coefficients(self, names: Sequence[str]) -> dict[tuple[int, ...], "Expression"]:
        """Split by powers of some generators: {(powers): the rest}."""
        places = [BITS * self.ring.place(name) for name in names]
        mask = sum(FULL << place for place in places)
        found: dict[tuple[int, ...], Terms] = {}
        for t, part in self.terms.items():
            for p, c in part.items():
                powers = tuple(p >> place & FULL for place in places)
                found.setdefault(powers, {}).setdefault(t, {})[p & ~mask] = c
        return {powers: Expression(self.ring, terms) for powers, terms in found.items()}

    def reduced(self) -> "Expression":
        """With every x · 1/(x + y) written as 1 - y · 1/(x + y), so that quotients cancel."""
        result = self
        for name, denominator in self.ring.inverses.items():
            result = _without_quotients(result, name, denominator)
        return result

    def without_roundoff(self, scale: float, tolerance: float = 1e-13) -> "Expression":
        """Without terms whose coefficient is round-off beside `scale` (floats only; exact terms all stay)."""
        if self.ring.exact:
            return self
        kept = {
            t: {p: c for p, c in part.items() if abs(c) > tolerance * scale} for t, part in self.terms.items()
        }
        return Expression(self.ring, {t: part for t, part in kept.items() if part})

    @property
    def largest(self) -> float:
        """The largest coefficient."""
        return max((abs(float(c)) for part in self.terms.values() for c in part.values()), default=0.0)

    def evaluate(self, value: Callable[[str], Any], number: Callable[[Any], Any] = float) -> Any:
        """The value for any scalars: `value(name)` of each generator and angle."""
        return Evaluator(self.ring, value, number)(self)

    # -- looking at it -----------------------------------------------------------------------------------

    def __str__(self) -> str:
        return text_of(self)

    __repr__ = __str__

    def to_latex(self) -> str:
        """The formula in LaTeX, with s and c for sine and cosine."""
        return latex_of(self)

    def _repr_latex_(self) -> str:
        return f"${self.to_latex()}$"

    def to_sympy(self) -> Any:
        """The formula as a SymPy expression, with true sines and cosines."""
        return sympy_of(self)

    def _sympy_(self) -> Any:
        """What `sympify` asks for, so that SymPy's functions and matrices take expressions."""
        return sympy_of(self)


def _without_quotients(x: Expression, name: str, denominator: Expression) -> Expression:
    """Rewrite lead · u, where u = 1/(lead + rest), as 1 - rest · u until no such product is left."""
    ring = x.ring
    unit = 1 << (BITS * ring.place(name))
    flat = denominator.terms[ONE]
    lead = max(flat)
    rest = Expression(ring, cleaned({ONE: {p: -c for p, c in flat.items() if p != lead}}))
    step = (ring.constant(1) + rest * ring.generator(name)) / flat[lead]
    while True:
        kept, hit = Terms(), Terms()
        for t, part in x.terms.items():
            for p, c in part.items():
                if p & (FULL * unit) and divides(lead, p):
                    hit.setdefault(t, {})[p - lead - unit] = c
                else:
                    kept.setdefault(t, {})[p] = c
        if not hit:
            return x
        x = Expression(ring, kept) + Expression(ring, hit) * step
