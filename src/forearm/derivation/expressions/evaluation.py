"""Values of closed forms for any scalars: floats, arrays of states, traced scalars, other expressions.

Sines and cosines are taken once per angle sum, products of them once, powers once; the terms are then summed.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from forearm.algebra import cos as scalar_cos
from forearm.algebra import is_number
from forearm.algebra import sin as scalar_sin
from forearm.derivation.expressions.formula import Formula, Vocabulary
from forearm.derivation.expressions.trigonometry import Number


class Evaluator:
    """Evaluates expressions of one ring at one point, sharing what they have in common."""

    def __init__(
        self, ring: Vocabulary, value: Callable[[str], Any], number: Callable[[Any], Any] = float
    ) -> None:
        """`value(name)` gives each generator and angle, `number` makes coefficients."""
        self.ring = ring
        self.number = number
        self._value = value
        self._names: dict[str, Any] = {"pi": math.pi}
        self._elements: dict[int, Any] = {0: None}
        self._factors: dict[tuple[int, tuple[int, ...]], Any] = {}
        self._monomials: dict[int, Any] = {0: None}

    def __call__(self, expression: Formula) -> Any:
        """The value of one expression."""
        total: Any = None
        for t, part in expression.terms.items():
            inner = self._sum(part)
            element = self._element(t)
            term = inner if element is None else inner * element
            total = term if total is None else total + term
        return self.number(0) if total is None else total

    def _sum(self, part: dict[int, Number]) -> Any:
        total: Any = None
        for p, c in part.items():
            monomial = self._monomial(p)
            if monomial is None:
                term = self.number(c)
            elif c == 1 or c == -1:
                if total is not None:
                    total = total + monomial if c == 1 else total - monomial
                    continue
                term = monomial if c == 1 else -monomial
            else:
                term = self.number(c) * monomial
            total = term if total is None else total + term
        return total

    def value(self, name: str) -> Any:
        """The value of one generator or angle."""
        if name not in self._names:
            denominator = self.ring.inverses.get(name)
            self._names[name] = self._value(name) if denominator is None else 1 / self(denominator)
        return self._names[name]

    def _monomial(self, p: int) -> Any:
        """Product of powers; None is 1."""
        if p not in self._monomials:
            result: Any = None
            for name, power in self.ring.factors(p):
                x = self.value(name)
                for _ in range(power):
                    result = x if result is None else result * x
            self._monomials[p] = result
        return self._monomials[p]

    def _element(self, t: int) -> Any:
        """A basis element; None is 1."""
        if t not in self._elements:
            result: Any = None
            for group, factor in self.ring.trigonometry.elements[t]:
                x = self._factor(group, factor)
                result = x if result is None else result * x
            self._elements[t] = result
        return self._elements[t]

    def _factor(self, group: int, factor: tuple[int, ...]) -> Any:
        key = (group, factor)
        if key not in self._factors:
            self._factors[key] = self._new_factor(group, factor)
        return self._factors[key]

    def _new_factor(self, group: int, factor: tuple[int, ...]) -> Any:
        names = self.ring.trigonometry.groups[group]
        if len(names) > 1:
            angle: Any = None
            for name, k in zip(names, factor[1:], strict=True):
                if k:
                    term = self.value(name) if k == 1 else k * self.value(name)
                    angle = term if angle is None else angle + term
            return sine(angle) if factor[0] else cosine(angle)
        cosines, sines = factor
        if cosines + sines == 1:
            return sine(self.value(names[0])) if sines else cosine(self.value(names[0]))
        if sines:
            return self._factor(group, (0, 1)) * self._factor(group, (cosines, 0))
        half = cosines // 2
        return self._factor(group, (half, 0)) * self._factor(group, (cosines - half, 0))


def sine(x: Any) -> Any:
    """Sine of any scalar or array."""
    return np.sin(x) if isinstance(x, np.ndarray) else scalar_sin(x) if not is_number(x) else np.sin(x)


def cosine(x: Any) -> Any:
    """Cosine of any scalar or array."""
    return np.cos(x) if isinstance(x, np.ndarray) else scalar_cos(x) if not is_number(x) else np.cos(x)
