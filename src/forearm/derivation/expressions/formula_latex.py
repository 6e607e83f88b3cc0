r"""One formula in LaTeX: names with subscripts, s and c for sine and cosine."""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from forearm.derivation.expressions.formula import Formula, Vocabulary
from forearm.derivation.expressions.formula_text import (
    SMALL,
    Style,
    joined,
    letters_like_sines,
    plain_number,
    text_of,
)
from forearm.derivation.expressions.sympy_formulas import sympy
from forearm.derivation.expressions.trigonometry import Number
from forearm.outside import escapes

GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta kappa lambda mu nu xi pi rho sigma tau phi chi psi omega"
).split()
"""Names that LaTeX has a letter for."""
_LETTERS = {
    unicodedata.lookup(f"GREEK SMALL LETTER {name.replace('lambda', 'lamda')}"): name for name in GREEK
}


@dataclass(frozen=True)
class LatexStyle(Style):
    """How LaTeX spells names, numbers and sines."""

    def name(self, ring: Vocabulary, name: str) -> str:
        """One generator: letters, then subscript."""
        if name in ring.inverses:
            return rf"\frac{{1}}{{{text_of(ring.inverses[name], self)}}}"
        if name in self.spell:
            return self.spell[name]
        return letter(ring, name) if name.isidentifier() else _foreign(ring, name)

    def power(self, base: str, power: int) -> str:
        """A power; s²₂ stands beside its subscript, and sin²(θ) before its bracket: sin θ² would be sin(θ²)."""
        if power == 1:
            return base
        written_out = base.startswith((r"\sin(", r"\cos("))
        return f"{base[:4]}^{{{power}}}{base[4:]}" if written_out else f"{base}^{{{power}}}"

    def number(self, c: Number) -> str:
        """Whole, a small fraction, or six digits."""
        if isinstance(c, Fraction) and 1 < c.denominator <= SMALL:
            return rf"\tfrac{{{c.numerator}}}{{{c.denominator}}}"
        mantissa, _, exponent = plain_number(c).partition("e")
        return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa

    def function(self, ring: Vocabulary, sine: bool, angles: list[tuple[str, int]]) -> str:
        """s_{12}, c_{1-2}; sin(θ) where an angle has a name of its own, or a parameter that of a sine."""
        letter = "s" if sine else "c"
        if all(re.fullmatch(r"q\d+", name) for name, _ in angles) and not letters_like_sines(ring):
            comma = between_joints(ring)
            words = [("-" if k < 0 else "+", name[1:]) for name, k in angles for _ in range(abs(k))]
            signed = any(sign == "-" for sign, _ in words)
            label = "".join(
                f"{sign if signed and (i or sign == '-') else (comma if i else '')}{n}"
                for i, (sign, n) in enumerate(words)
            )
            return f"{letter}_{{{label}}}"
        parts = ((k < 0, f"{abs(k) if abs(k) > 1 else ''}{self.name_of_angle(ring, n)}") for n, k in angles)
        return rf"\{'sin' if sine else 'cos'}({joined(iter(parts))})"

    def name_of_angle(self, ring: Vocabulary, name: str) -> str:
        """An angle's own name."""
        return self.spell.get(name) or letter(ring, name)


def between_joints(ring: Vocabulary) -> str:
    """What stands between the numbers of a sum of angles: a comma where c_{12} is the cosine of q12 alone."""
    known = (name for group in ring.trigonometry.groups for name in group)
    return "," if any(re.fullmatch(r"q\d\d+", name) for name in known) else ""


def latex_name(name: str) -> str:
    r"""m1 -> m_{1}, lc1 -> l_{c1}, I1z -> I_{1z}, theta1 -> \theta_{1}."""
    name = "".join(_LETTERS.get(c, c) for c in name)
    if not name.isidentifier() or not name.isascii() or name.startswith("_"):
        return upright(name)
    greek = next((g for g in sorted(GREEK, key=len, reverse=True) if name.startswith(g)), None)
    head, rest = (f"\\{greek}", name[len(greek) :]) if greek else (name[0], name[1:])
    rest = rest.replace("_", "")
    return f"{head}_{{{rest}}}" if rest else head


def letter(ring: Vocabulary, name: str) -> str:
    """The name of a generator or an angle; written out where another of the ring would look the same, as m1 and m_1."""
    angles = (angle for group in ring.trigonometry.groups for angle in group)
    return upright(name) if name in _alike((*ring.names, *angles)) else latex_name(name)


@lru_cache(maxsize=16)
def _alike(names: tuple[str, ...]) -> frozenset[str]:
    """Those of the names that look like another one."""
    different = set(names)
    times = Counter(map(latex_name, different))
    return frozenset(name for name in different if times[latex_name(name)] > 1)


def upright(name: str) -> str:
    """A name as it is, letter by letter."""
    return rf"\mathrm{{{escapes.latex_name(name)}}}"


def _foreign(ring: Vocabulary, name: str) -> str:
    """A name that is no identifier, or what SymPy makes of an expression whose own names are harmless."""
    meaning = ring.meanings.get(name)
    if (
        meaning is None
        or meaning.is_Symbol
        or any(not str(f.func).isidentifier() for f in _functions(meaning))
    ):
        return upright(name)
    spelled = {s: letter(ring, s.name) for s in meaning.free_symbols}
    return str(sympy().latex(meaning, symbol_names=spelled))


def _functions(meaning: Any) -> Any:
    """The functions that have no meaning to SymPy but their name."""
    return meaning.atoms(sympy().core.function.AppliedUndef)


def latex_of(expression: Formula, style: Style | None = None) -> str:
    """One expression in LaTeX."""
    return text_of(expression, style or LatexStyle(" ", {}))
