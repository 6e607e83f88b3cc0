"""SymPy's expressions read as ours."""

from fractions import Fraction
from typing import Any

from forearm.derivation.expressions.expression import Expression, Ring
from forearm.derivation.expressions.sympy_formulas import sympy


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
