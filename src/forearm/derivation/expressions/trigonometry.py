"""A normal form for products of sines and cosines: each is a sum of basis elements in exactly one way.

Angles whose joints are parallel form a group, and there sums of angles are what a person wants to see: the
basis holds sin k·q and cos k·q with whole k, and products become sums, cos a cos b = (cos(a-b) +
cos(a+b))/2. An angle alone in its group keeps powers, c^a and s c^a, with s² = 1 - c². A basis element is a
product of one factor per group. Both forms are linearly independent, so an expression is zero if and only
if all its coefficients are.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any, TypeAlias

Number: TypeAlias = Any
"""An int, a Fraction or (where the arm's fixed angles are no right angles) a float."""
Factor: TypeAlias = tuple[int, ...]
"""One group's factor: (power of c, power of s) of a lone angle; (1 for sine or 0, k…) of several angles."""
Element: TypeAlias = tuple[tuple[int, Factor], ...]
"""A basis element: (group, factor), groups ascending, groups with factor 1 left out."""
Combination: TypeAlias = tuple[tuple[int, Number], ...]
"""A sum of basis elements: (number of the element, coefficient)."""

ONE = 0
"""Number of the basis element 1."""


class Trigonometry:
    """The basis, its numbering, and tables of products and derivatives that fill as they are asked for."""

    def __init__(self, groups: Sequence[Sequence[str]], half: Number = Fraction(1, 2)) -> None:
        """Angles by name, those that are to be added in one group."""
        self.groups: list[tuple[str, ...]] = [tuple(g) for g in groups]
        self.group_of = {name: i for i, group in enumerate(self.groups) for name in group}
        self.half = half
        self.elements: list[Element] = [()]
        self._numbers: dict[Element, int] = {(): ONE}
        self._products: dict[tuple[int, int], Combination] = {}
        self._derivatives: dict[tuple[int, str], Combination] = {}

    def add_angle(self, name: str) -> None:
        """Make an angle known, alone in its group."""
        if name not in self.group_of:
            self.group_of[name] = len(self.groups)
            self.groups.append((name,))

    def number(self, element: Element) -> int:
        """The number of a basis element."""
        found = self._numbers.get(element)
        if found is None:
            found = self._numbers[element] = len(self.elements)
            self.elements.append(element)
        return found

    # -- sines and cosines of a sum of angles ------------------------------------------------------------

    def sine_cosine(self, angles: dict[str, int]) -> tuple[Combination, Combination]:
        """Sine and cosine of Σ k angle as sums of basis elements; sums over several groups are expanded."""
        sine: Combination = ()
        cosine: Combination = ((ONE, 1),)
        for group, names in enumerate(self.groups):
            k = tuple(angles.get(name, 0) for name in names)
            if any(k):
                s, c = self._of_group(group, k)
                sine, cosine = (
                    self._plus(self._times(sine, c), self._times(cosine, s)),
                    self._plus(self._times(cosine, c), self._times(sine, s), -1),
                )
        return sine, cosine

    def _of_group(self, group: int, k: tuple[int, ...]) -> tuple[Combination, Combination]:
        if len(k) > 1:
            sign, k = _leading_positive(k)
            s, c = self.number(((group, (1, *k)),)), self.number(((group, (0, *k)),))
            return ((s, sign),), ((c, 1),)
        sign, times = (1, k[0]) if k[0] > 0 else (-1, -k[0])
        s1: Combination = ((self.number(((group, (0, 1)),)), 1),)
        c1: Combination = ((self.number(((group, (1, 0)),)), 1),)
        sine, cosine = s1, c1
        for _ in range(times - 1):  # sin and cos of (k + 1) x
            sine, cosine = (
                self._plus(self._times(sine, c1), self._times(cosine, s1)),
                self._plus(self._times(cosine, c1), self._times(sine, s1), -1),
            )
        return tuple((t, sign * f) for t, f in sine), cosine

    def _plus(self, a: Combination, b: Combination, sign: int = 1) -> Combination:
        total = dict(a)
        for t, f in b:
            total[t] = total.get(t, 0) + sign * f
        return tuple((t, f) for t, f in total.items() if f)

    def _times(self, a: Combination, b: Combination) -> Combination:
        total: dict[int, Number] = {}
        for t1, f1 in a:
            for t2, f2 in b:
                for t, f in self.product(t1, t2):
                    total[t] = total.get(t, 0) + f * f1 * f2
        return tuple((t, f) for t, f in total.items() if f)

    # -- products ----------------------------------------------------------------------------------------

    def product(self, t1: int, t2: int) -> Combination:
        """The product of two basis elements."""
        if t1 == ONE or t2 == ONE:
            return ((t1 + t2, 1),)
        key = (t1, t2) if t1 < t2 else (t2, t1)
        found = self._products.get(key)
        if found is None:
            found = self._products[key] = self._product(self.elements[t1], self.elements[t2])
        return found

    def _product(self, a: Element, b: Element) -> Combination:
        left, right = dict(a), dict(b)
        choices: list[list[tuple[int, Factor | None, Number]]] = []
        for group in sorted(left.keys() | right.keys()):
            if group in left and group in right:
                pairs = self._factors(group, left[group], right[group])
                choices.append([(group, factor, f) for factor, f in pairs])
            else:
                choices.append([(group, left.get(group) or right.get(group), 1)])
        total: dict[int, Number] = {}
        for chosen in product(*choices):
            coefficient: Number = 1
            for _, _, f in chosen:
                coefficient = coefficient * f
            t = self.number(tuple((g, factor) for g, factor, _ in chosen if factor is not None))
            total[t] = total.get(t, 0) + coefficient
        return tuple((t, f) for t, f in total.items() if f)

    def _factors(self, group: int, a: Factor, b: Factor) -> Iterator[tuple[Factor | None, Number]]:
        """Product of two factors of one group; None stands for the factor 1."""
        if len(self.groups[group]) == 1:
            c, s = a[0] + b[0], a[1] + b[1]
            if s < 2:
                yield (c, s), 1
            else:  # s² = 1 - c²
                yield (c, 0) if c else None, 1
                yield (c + 2, 0), -1
            return
        sine_a, sine_b = a[0], b[0]
        plus = tuple(x + y for x, y in zip(a[1:], b[1:], strict=True))
        minus = tuple(x - y for x, y in zip(a[1:], b[1:], strict=True))
        if sine_a and sine_b:  # sin a sin b = (cos(a-b) - cos(a+b))/2
            yield from self._harmonic(0, minus, self.half)
            yield from self._harmonic(0, plus, -self.half)
        elif sine_a or sine_b:  # sin a cos b = (sin(a+b) + sin(a-b))/2
            yield from self._harmonic(1, plus, self.half)
            yield from self._harmonic(1, minus, self.half if sine_a else -self.half)
        else:  # cos a cos b = (cos(a-b) + cos(a+b))/2
            yield from self._harmonic(0, minus, self.half)
            yield from self._harmonic(0, plus, self.half)

    def _harmonic(self, sine: int, k: tuple[int, ...], f: Number) -> Iterator[tuple[Factor | None, Number]]:
        if any(k):
            sign, k = _leading_positive(k)
            yield (sine, *k), f * sign if sine else f
        elif not sine:
            yield None, f

    # -- derivatives -------------------------------------------------------------------------------------

    def derivative(self, t: int, angle: str) -> Combination:
        """The partial derivative of a basis element by an angle."""
        key = (t, angle)
        found = self._derivatives.get(key)
        if found is None:
            found = self._derivatives[key] = self._derivative(self.elements[t], angle)
        return found

    def _derivative(self, element: Element, angle: str) -> Combination:
        group = self.group_of.get(angle, -1)
        factors = dict(element)
        if group not in factors:
            return ()
        result = []
        for factor, f in self._factor_derivative(group, factors[group], angle):
            changed = {**factors, group: factor}
            result.append((self.number(tuple((g, x) for g, x in sorted(changed.items()) if x != (0, 0))), f))
        return tuple(result)

    def _factor_derivative(self, group: int, factor: Factor, angle: str) -> Iterator[tuple[Factor, Number]]:
        if len(self.groups[group]) > 1:
            sine, *k = factor
            times = k[self.groups[group].index(angle)]
            if times:
                yield (1 - sine, *k), times if sine else -times
            return
        c, s = factor
        if not s:  # d c^a = -a c^(a-1) s
            yield (c - 1, 1), -c
            return
        if c:  # d (s c^a) = (a+1) c^(a+1) - a c^(a-1)
            yield (c - 1, 0), -c
        yield (c + 1, 0), c + 1


def _leading_positive(k: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    """The vector k or -k, so that the first entry that is not zero is positive, and the sign."""
    first = next(x for x in k if x)
    return (1, k) if first > 0 else (-1, tuple(-x for x in k))
