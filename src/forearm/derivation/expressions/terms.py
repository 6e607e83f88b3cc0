"""The arithmetic under `Expression`, on its bare terms: basis element -> packed monomial -> coefficient."""

from collections.abc import Callable, Iterable
from typing import TypeAlias

from forearm.derivation.expressions.trigonometry import Combination, Number
from forearm.faults import Fault

BITS = 8
"""Room for the exponent of one generator in a packed monomial; multiplying monomials is adding integers."""
FULL = (1 << BITS) - 1
"""All bits of one generator."""
MOST_POWER = FULL // 4
"""Of an expression: products of four such still fit."""

Terms: TypeAlias = dict[int, dict[int, Number]]
"""Basis element -> monomial -> coefficient, without zeros."""


class TooLong(Fault):
    """A closed form that nobody reads, and that no memory holds in the end."""


MOST_TERMS = 300_000
"""Of one expression; arms of seven joints have a few thousand, without right angles 16,000."""


def refuse_length(terms: int, most: int = MOST_TERMS) -> None:
    """Stop before a closed form fills the memory."""
    if terms > most:
        raise TooLong(
            f"derive: the closed form passes {most:,} terms, and each joint without right angles makes five of one; "
            "derive an arm of fewer joints, snap its angles (right_angles=), or compute with numbers: fa.compile."
        )


def collect(total: Terms, t: int, items: Iterable[tuple[int, Number]], f: Number) -> None:
    """Add f times some monomials to the coefficient of basis element t."""
    part = total.setdefault(t, {})
    for p, c in items:
        part[p] = part.get(p, 0) + f * c


def cleaned(total: Terms) -> Terms:
    """The same without zeros."""
    kept = {t: {p: c for p, c in part.items() if c} for t, part in total.items()}
    return {t: part for t, part in kept.items() if part}


def added(a: Terms, b: Terms, sign: int) -> Terms:
    """Sum (sign 1) or difference (sign -1)."""
    total = dict(a)
    for t, part in b.items():
        mine = total.get(t)
        if mine is None:
            total[t] = part if sign == 1 else {p: -c for p, c in part.items()}
            continue
        mine = dict(mine)
        for p, c in part.items():
            value = mine.get(p, 0) + c if sign == 1 else mine.get(p, 0) - c
            if value:
                mine[p] = value
            else:
                del mine[p]
        if mine:
            total[t] = mine
        else:
            del total[t]
    return total


def multiplied(a: Terms, b: Terms, lookup: Callable[[int, int], Combination]) -> Terms:
    """Product, with the basis elements' products looked up."""
    total: Terms = {}
    for t1, part1 in a.items():
        for t2, part2 in b.items():
            flat = _flat_product(part1, part2)
            for t, f in lookup(t1, t2):
                part = total.get(t)
                if part is None:
                    total[t] = dict(flat) if f == 1 else {p: f * c for p, c in flat.items()}
                else:
                    for p, c in flat.items():
                        part[p] = part.get(p, 0) + (c if f == 1 else f * c)
    return cleaned(total)


def _flat_product(a: dict[int, Number], b: dict[int, Number]) -> dict[int, Number]:
    if len(b) == 1:
        a, b = b, a
    if len(a) == 1:
        ((p1, c1),) = a.items()
        return {p1 + p2: c1 * c2 for p2, c2 in b.items()}
    flat: dict[int, Number] = {}
    for p1, c1 in a.items():
        for p2, c2 in b.items():
            p = p1 + p2
            flat[p] = flat.get(p, 0) + c1 * c2
    return flat


def divides(a: int, b: int) -> bool:
    """Whether monomial a divides monomial b."""
    while a:
        if a & FULL > b & FULL:
            return False
        a >>= BITS
        b >>= BITS
    return True
