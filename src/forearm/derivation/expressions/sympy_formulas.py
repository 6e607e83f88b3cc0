"""Expressions written as SymPy's, which is the extra `derive`; `sympy_reader` is the way back."""

from fractions import Fraction
from typing import Any

from forearm.derivation.expressions.formula import Formula, Vocabulary
from forearm.derivation.expressions.formula_text import SMALL
from forearm.derivation.expressions.trigonometry import Number
from forearm.faults import Fault
from forearm.outside.libraries.optional_libraries import optional


class NoSymPy(Fault, ImportError):
    """SymPy is not installed."""


def sympy() -> Any:
    """The module SymPy, or one sentence that says how to get it."""
    try:
        return optional("sympy")
    except ImportError:
        raise NoSymPy("derive needs SymPy; pip install 'forearm[derive]'") from None


def number_of(c: Number) -> Any:
    """A coefficient as a SymPy number."""
    sp = sympy()
    if isinstance(c, Fraction) and c.denominator > SMALL:
        return sp.Float(float(c))
    return sp.Float(c) if isinstance(c, float) else sp.Rational(c)


def symbol_of(ring: Vocabulary, name: str) -> Any:
    """The SymPy symbol (or the expression that was read) of a generator."""
    if name in ring.inverses:
        return 1 / sympy_of(ring.inverses[name])
    return sympy().pi if name == "pi" else ring.meanings.get(name) or sympy().Symbol(name)


def sympy_of(expression: Formula) -> Any:
    """An expression of ours as SymPy's: a sum of products."""
    sp, ring = sympy(), expression.ring
    symbols = {name: symbol_of(ring, name) for name in expression.names}
    terms = []
    for t, part in expression.terms.items():
        trig = [_factor(ring, group, factor, symbols) for group, factor in ring.trigonometry.elements[t]]
        for p, c in part.items():
            powers = [symbols[name] ** power for name, power in ring.factors(p)]
            terms.append(sp.Mul(number_of(c), *powers, *trig))
    return sp.Add(*terms)


def _factor(ring: Vocabulary, group: int, factor: tuple[int, ...], symbols: dict[str, Any]) -> Any:
    sp = sympy()
    names = ring.trigonometry.groups[group]
    if len(names) == 1:
        angle = symbols[names[0]]
        return sp.cos(angle) ** factor[0] * sp.sin(angle) ** factor[1]
    angle = sp.Add(*(k * symbols[name] for name, k in zip(names, factor[1:], strict=True) if k))
    return sp.sin(angle) if factor[0] else sp.cos(angle)
