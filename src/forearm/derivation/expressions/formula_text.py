"""Expressions as text: one order of terms and factors for the terminal, Markdown and LaTeX.

Terms are gathered by their sines and cosines; a coefficient of several terms stands in parentheses with
what they share in front. s12 is sin(q1 + q2), c223 is cos(2 q2 + q3), as in the papers on the PUMA 560.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import gcd

from forearm.derivation.expressions.formula import Formula, Vocabulary
from forearm.derivation.expressions.terms import BITS, FULL
from forearm.derivation.expressions.trigonometry import Element, Number
from forearm.outside.escapes import one_line

SMALL = 64
"""Fractions with a denominator up to this are written as fractions, other numbers as decimals."""


LONG = 6
"""Terms up to which a bracket is one piece."""


@dataclass(frozen=True)
class Style:
    """How names, numbers and sines are spelled."""

    times: str
    """Between factors."""
    spell: dict[str, str]
    """Spelling of some generators, where it is not their name."""

    def name(self, ring: Vocabulary, name: str) -> str:
        """One generator."""
        return self.spell.get(name) or one_line(name)

    def power(self, base: str, power: int) -> str:
        """A power of something already spelled."""
        return base if power == 1 else f"{base}^{power}"

    def number(self, c: Number) -> str:
        """A positive number."""
        return plain_number(c)

    def trig(self, ring: Vocabulary, element: Element) -> list[str]:
        """The factors of a basis element."""
        return [self.power(word, power) for word, power in _trig_words(self, ring, element)]

    def function(self, ring: Vocabulary, sine: bool, angles: list[tuple[str, int]]) -> str:
        """Sine or cosine of a sum of angles."""
        label = compact_label(ring, angles)
        if label is not None:
            return f"{'s' if sine else 'c'}{label}"
        terms = "".join(
            f" {'-' if k < 0 else '+'} {f'{abs(k)}*' if abs(k) > 1 else ''}{one_line(n)}" for n, k in angles
        )
        return f"{'sin' if sine else 'cos'}({terms.removeprefix(' + ')})"


TEXT = Style("*", {})


def plain_number(c: Number) -> str:
    """A number as people write it: whole, a small fraction, or six digits."""
    if isinstance(c, float):
        return f"{c:.6g}"
    if isinstance(c, Fraction) and c.denominator > SMALL:
        return f"{float(c):.6g}"
    return str(c)


def compact_label(ring: Vocabulary, angles: list[tuple[str, int]]) -> str | None:
    """'12' for q1 + q2; None where it could be misread (differences, ten or more angles, other names)."""
    known = [name for group in ring.trigonometry.groups for name in group]
    if any(k < 0 for _, k in angles) or not all(re.fullmatch(r"q\d", name) for name in known):
        return None
    return None if letters_like_sines(ring) else "".join(name[1:] * k for name, k in angles)


def letters_like_sines(ring: Vocabulary) -> bool:
    """Whether a parameter is called like a sine or cosine, c1 or s_12: then these are written out."""
    return any(re.fullmatch(r"[sc]_?\d+", name) for name in ring.names)


def _trig_words(style: Style, ring: Vocabulary, element: Element) -> Iterator[tuple[str, int]]:
    for group, factor in element:
        names = ring.trigonometry.groups[group]
        if len(names) > 1:
            angles = [(name, k) for name, k in zip(names, factor[1:], strict=True) if k]
            yield style.function(ring, bool(factor[0]), angles), 1
            continue
        for sine, power in ((True, factor[1]), (False, factor[0])):
            if power:
                yield style.function(ring, sine, [(names[0], 1)]), power


# -- order -----------------------------------------------------------------------------------------------


def monomial_key(p: int) -> list[tuple[int, int]]:
    """Sorting key: generators in the ring's order, higher powers first."""
    key, place = [], 0
    while p:
        if p & FULL:
            key.append((place, -(p & FULL)))
        p >>= BITS
        place += 1
    return key


def _element_key(element: Element) -> tuple[int, Element]:
    return sum(1 if len(f) > 2 else sum(f) for _, f in element), element


def ordered(expression: Formula) -> list[tuple[Element, list[tuple[int, Number]]]]:
    """(basis element, its monomials with coefficients), in the order of writing."""
    elements = expression.ring.trigonometry.elements
    found = [
        (elements[t], sorted(part.items(), key=lambda item: monomial_key(item[0])))
        for t, part in expression.terms.items()
    ]
    return sorted(found, key=lambda item: _element_key(item[0]))


# -- writing ---------------------------------------------------------------------------------------------


def pieces(expression: Formula, style: Style) -> Iterator[tuple[bool, str]]:
    """(whether negative, the rest) of every piece of the sum."""
    ring = expression.ring
    for element, monomials in ordered(expression):
        trig = style.trig(ring, element)
        shared_rates = _by_rates(monomials, ring.rates, bool(element))
        if shared_rates:
            for p, parts in shared_rates.items():
                yield _rates_piece(style, ring, p, parts, trig)
            continue
        if not element or len(monomials) == 1:
            for p, c in monomials:
                yield c < 0, _product(style, ring, abs(c), p, trig)
            continue
        content, shared, inner = common_factor(monomials)
        words = [(c < 0, _product(style, ring, abs(c), p, [])) for p, c in inner]
        if len(words) <= LONG:
            body = joined(iter(words))
            yield content < 0, _product(style, ring, abs(content), shared, [f"({body})", *trig])
            continue
        (sign, first), *middle, (last_sign, last) = words  # a long bracket may span several lines
        yield content < 0, _product(style, ring, abs(content), shared, [f"({'-' if sign else ''}{first}"])
        yield from middle
        yield last_sign, style.times.join([f"{last})", *trig])


def _by_rates(
    monomials: list[tuple[int, Number]], rates: int, all_share: bool
) -> dict[int, list[tuple[int, Number]]]:
    """Terms with the same parameters and different rates, where that gathers something: I (qdd1 + qdd2)."""
    found: dict[int, list[tuple[int, Number]]] = {}
    for p, c in monomials:
        found.setdefault(p & ~rates, []).append((p & rates, c))
    if not all_share and set(found) == {0} and _square_root(found[0]) is None:
        return {}  # a bare sum of rates needs no bracket
    sizes = [len(parts) for parts in found.values()]
    worth = min(sizes) > 1 if all_share else max(sizes) > 1
    return found if worth and rates else {}


def _rates_piece(
    style: Style, ring: Vocabulary, p: int, parts: list[tuple[int, Number]], trig: list[str]
) -> tuple[bool, str]:
    """One parameter monomial times its sum of rates; (qd1 + qd2)^2 where it is a square."""
    content, shared, inner = common_factor(parts)
    if len(inner) == 1:
        return content < 0, _product(style, ring, abs(content), p + shared + inner[0][0], trig)
    root = _square_root(inner) if not shared else None
    terms = inner if root is None else [(x, 1) for x in root]
    body = joined((c < 0, _product(style, ring, abs(c), x, [])) for x, c in terms)
    bracket = style.power(f"({body})", 1 if root is None else 2)
    return content < 0, _product(style, ring, abs(content), p + shared, [bracket, *trig])


def _square_root(inner: list[tuple[int, Number]]) -> list[int] | None:
    """Generators whose sum squared this is, if it is one."""
    found = dict(inner)
    singles = [p >> 1 for p, c in inner if c == 1 and p.bit_count() == 1 and not p & ~_SQUARES]
    want = {a + b: 1 if a == b else 2 for a in singles for b in singles}
    return singles if len(singles) > 1 and found == want else None


_SQUARES = sum(2 << (BITS * k) for k in range(512))


def common_factor(monomials: list[tuple[int, Number]]) -> tuple[Number, int, list[tuple[int, Number]]]:
    """Number and monomial that all terms share (the number with the sign of the first), and what is left."""
    numbers = [c for _, c in monomials]
    content: Number = 1
    if all(isinstance(c, int) for c in numbers):
        content = reduce(gcd, (abs(c) for c in numbers))
    elif len({abs(c) for c in numbers}) == 1:
        content = abs(numbers[0])
    if numbers[0] < 0:
        content = -content
    shared = reduce(_least, (p for p, _ in monomials))
    left = [(p - shared, _quotient(c, content)) for p, c in monomials]
    return content, shared, left


def _quotient(c: Number, d: Number) -> Number:
    if isinstance(c, float) or isinstance(d, float):
        return c / d
    result = Fraction(c) / Fraction(d)
    return result.numerator if result.denominator == 1 else result


def _least(a: int, b: int) -> int:
    result, place = 0, 0
    while a >> place and b >> place:
        result |= min(a >> place & FULL, b >> place & FULL) << place
        place += BITS
    return result


def _product(style: Style, ring: Vocabulary, c: Number, p: int, rest: list[str]) -> str:
    factors = [style.power(style.name(ring, name), power) for name, power in ring.factors(p)]
    words = [*factors, *rest]
    if c != 1 or not words:
        words.insert(0, style.number(c))
    return style.times.join(words)


def joined(parts: Iterator[tuple[bool, str]]) -> str:
    """A sum from its pieces."""
    text = "".join(f" {'-' if negative else '+'} {word}" for negative, word in parts)
    if not text:
        return "0"
    return text[3:] if text.startswith(" + ") else f"-{text[3:]}"


def text_of(expression: Formula, style: Style = TEXT) -> str:
    """The expression as one line."""
    return joined(pieces(expression, style))
