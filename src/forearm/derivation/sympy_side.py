"""The border with SymPy, which is the extra `derive`: reading its expressions, writing ours as its."""

from fractions import Fraction
from typing import Any

from forearm.derivation.polynomial import Expression, Ring
from forearm.derivation.trigonometry import Number
from forearm.derivation.writing import SMALL
from forearm.faults import Fault


class NoSymPy(Fault, ImportError):
    """SymPy is not installed."""


def sympy() -> Any:
    """The module SymPy, or one sentence that says how to get it."""
    try:
        import sympy as module
    except ImportError:
        raise NoSymPy("derive needs SymPy; pip install 'forearm[derive]'") from None
    return module


def read(ring: Ring, x: Any) -> Expression:
    """A SymPy expression as ours; what is no polynomial, sine or cosine becomes a generator of its own."""
    sp = sympy()
    if x.is_Symbol:
        ring.meanings.setdefault(x.name, x)
        return ring.generator(x.name)
    if x is sp.pi:
        return ring.generator("pi")
    if x.is_Rational:
        return ring.constant(Fraction(int(x.p), int(x.q)))
    if x.is_number:
        return ring.constant(float(x))
    if x.is_Add or x.is_Mul:
        result = read(ring, x.args[0])
        for part in x.args[1:]:
            result = result + read(ring, part) if x.is_Add else result * read(ring, part)
        return result
    if x.is_Pow and x.exp.is_Integer:
        return read(ring, x.base) ** int(x.exp)
    if x.func in (sp.sin, sp.cos):
        try:
            angle = read(ring, sp.expand(x.args[0]))
            return angle.sin() if x.func is sp.sin else angle.cos()
        except TypeError:
            pass
    name = str(x)
    ring.meanings.setdefault(name, x)
    return ring.generator(name)


def number_of(c: Number) -> Any:
    """A coefficient as a SymPy number."""
    sp = sympy()
    if isinstance(c, Fraction) and c.denominator > SMALL:
        return sp.Float(float(c))
    return sp.Float(c) if isinstance(c, float) else sp.Rational(c)


def symbol_of(ring: Ring, name: str) -> Any:
    """The SymPy symbol (or the expression that was read) of a generator."""
    if name in ring.inverses:
        return 1 / sympy_of(ring.inverses[name])
    return sympy().pi if name == "pi" else ring.meanings.get(name) or sympy().Symbol(name)


def sympy_of(expression: Expression) -> Any:
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


def _factor(ring: Ring, group: int, factor: tuple[int, ...], symbols: dict[str, Any]) -> Any:
    sp = sympy()
    names = ring.trigonometry.groups[group]
    if len(names) == 1:
        angle = symbols[names[0]]
        return sp.cos(angle) ** factor[0] * sp.sin(angle) ** factor[1]
    angle = sp.Add(*(k * symbols[name] for name, k in zip(names, factor[1:], strict=True) if k))
    return sp.sin(angle) if factor[0] else sp.cos(angle)


def sympy_torques(equations: Any) -> list[Any]:
    """tau_i collected: accelerations, then products of speeds, then gravity."""
    sp, ring, n = sympy(), equations.ring, equations.n
    qd = [symbol_of(ring, name) for name in equations.speeds]
    qdd = [symbol_of(ring, name) for name in equations.accelerations]
    rows = []
    for i in range(n):
        terms = [sympy_of(equations.M[i, j]) * qdd[j] for j in range(n)]
        for j in range(n):
            for k in range(j, n):
                coefficient = sympy_of(equations.christoffel[i, j, k] * (1 if j == k else 2))
                terms.append(coefficient * qd[j] * qd[k])
        rows.append(sp.Add(*terms, sympy_of(equations.g[i])))
    return rows
