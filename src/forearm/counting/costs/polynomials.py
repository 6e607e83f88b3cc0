"""Polynomials in the number of joints: exact rational arithmetic, fitted on more points than coefficients."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from forearm.counting.meter.conventions import Convention
from forearm.counting.meter.tallies import Tally, convention_of, count
from forearm.faults import StateFault, explained, shown


@dataclass(frozen=True)
class Polynomial:
    """A polynomial in n with rational coefficients."""

    coefficients: tuple[Fraction, ...]
    """Coefficient of n^k at place k; no trailing zeros."""

    def __post_init__(self) -> None:
        values = [Fraction(c) for c in self.coefficients]
        while values and values[-1] == 0:
            values.pop()
        object.__setattr__(self, "coefficients", tuple(values))

    @classmethod
    def parse(cls, text: str) -> Polynomial:
        """From text as the papers print it: '32 1/2 n^4 + 86 5/12 n^3 - 128', '150n-48', '9(n-1)', '0'."""
        text = text.replace("−", "-").strip()
        factor = re.fullmatch(r"([\d /]*)(n?)\(([^()]*)\)", text)
        if factor:
            outside = cls((_number(factor[1]),)) * cls(
                (Fraction(0), Fraction(1)) if factor[2] else (Fraction(1),)
            )
            return outside * cls.parse(factor[3])
        found: dict[int, Fraction] = {}
        for sign, number, variable, power in re.findall(r"([+-]?)\s*([\d /]*)\s*(n?)(?:\^(\d+))?", text):
            if not (number.strip() or variable):
                continue
            k = (int(power) if power else 1) if variable else 0
            found[k] = found.get(k, Fraction(0)) + (-1 if sign == "-" else 1) * _number(number)
        return cls(tuple(found.get(k, Fraction(0)) for k in range(max(found, default=-1) + 1)))

    def __call__(self, n: int) -> Fraction:
        """Value at n."""
        return sum((c * n**k for k, c in enumerate(self.coefficients)), Fraction(0))

    def __add__(self, other: Polynomial) -> Polynomial:
        """Sum."""
        size = max(len(self.coefficients), len(other.coefficients))
        return Polynomial(tuple(self.coefficient(k) + other.coefficient(k) for k in range(size)))

    def __neg__(self) -> Polynomial:
        """Opposite."""
        return Polynomial(tuple(-c for c in self.coefficients))

    def __sub__(self, other: Polynomial) -> Polynomial:
        """Difference."""
        return self + -other

    def __mul__(self, other: Polynomial) -> Polynomial:
        """Product."""
        size = len(self.coefficients) + len(other.coefficients)
        out = [Fraction(0)] * size
        for i, a in enumerate(self.coefficients):
            for j, b in enumerate(other.coefficients):
                out[i + j] += a * b
        return Polynomial(tuple(out))

    def coefficient(self, k: int) -> Fraction:
        """Coefficient of n^k."""
        return self.coefficients[k] if k < len(self.coefficients) else Fraction(0)

    @property
    def degree(self) -> int:
        """Highest power with a coefficient; 0 for constants."""
        return max(len(self.coefficients) - 1, 0)

    @property
    def counts_something(self) -> bool:
        """Whether it is a whole number for every n (checked on degree + 1 consecutive n, which suffices)."""
        return all(self(n).denominator == 1 for n in range(self.degree + 2))

    def __str__(self) -> str:
        """As the papers print it, mixed fractions and all."""
        return self._write("{whole} {part}", "n^{k}")

    def latex(self) -> str:
        """For LaTeX's math mode."""
        return self._write(r"{whole}\tfrac{{{top}}}{{{bottom}}}", "n^{{{k}}}")

    def _write(self, mixed: str, power: str) -> str:
        parts = []
        for k in range(len(self.coefficients) - 1, -1, -1):
            c = self.coefficients[k]
            if c == 0:
                continue
            variable = "" if k == 0 else "n" if k == 1 else power.format(k=k)
            size = "" if abs(c) == 1 and k else _mixed(abs(c), mixed)
            gap = " " if "/" in size and k else ""
            parts.append(("- " if c < 0 else "+ ") + size + gap + variable)
        text = " ".join(parts) or "0"
        return text[2:] if text.startswith("+ ") else "-" + text[2:] if text.startswith("- ") else text


def _number(text: str) -> Fraction:
    """'32 1/2' or '81/6' or '' (one)."""
    parts = text.split()
    return sum((Fraction(p) for p in parts), Fraction(0)) if parts else Fraction(1)


def _mixed(c: Fraction, form: str) -> str:
    whole, top = divmod(c.numerator, c.denominator)
    if not top:
        return str(whole)
    part = f"{top}/{c.denominator}"
    return form.format(whole=whole or "", part=part, top=top, bottom=c.denominator).strip()


def fit(points: Mapping[int, int], degree: int) -> Polynomial | None:
    """The polynomial of at most this degree through *all* points; None when there is none.

    There must be more points than coefficients, so that the fit proves something.
    """
    if len(points) < degree + 2:
        raise StateFault(f"fit: {len(points)} points for degree {degree}; give at least {degree + 2}.")
    nodes = sorted(points)[: degree + 1]
    found = Polynomial(())
    for i in nodes:
        term = Polynomial((Fraction(points[i]),))
        for j in nodes:
            if j != i:
                term = term * Polynomial((Fraction(-j, i - j), Fraction(1, i - j)))
        found = found + term
    return found if all(found(n) == value for n, value in points.items()) else None


@dataclass(frozen=True)
class CostPolynomials:
    """Multiplications and additions as polynomials in n, each true for every n from `first` to `last`."""

    multiplications: Polynomial
    """Multiplications."""
    additions: Polynomial
    """Additions and subtractions."""
    first: int
    """Least n measured on which it holds."""
    last: int
    """Greatest n measured."""

    def __str__(self) -> str:
        """multiplications | additions."""
        return f"{self.multiplications} | {self.additions}"


@explained
def polynomial(
    stem: str,
    *,
    convention: Convention | str | None = None,
    quantity: str = "joint_torques",
    equation: str | None = None,
    kinds: str = "R",
    bookkeeping: bool = False,
) -> CostPolynomials:
    """The exact cost in n of a formulation, or of one of its equations, measured and proved on extra points.

    Counts are taken at consecutive n; the lowest degree whose polynomial meets all of them, with at least two
    points to spare, is the answer. Where the first n are special (a chain too short for a term), the fit starts
    at the next one, and `first` says so. With `bookkeeping`, operations on lines without an equation are included.
    """
    rule = convention_of(convention, None)
    if equation is not None:
        _refuse_equation(equation, _counted(stem, 3, rule, quantity, kinds)[1], stem, quantity)
    for first, last in ((1, 5), (1, 7), (2, 7), (2, 9), (3, 10)):
        taken = {n: _part(stem, n, rule, quantity, kinds, equation) for n in range(first, last + 1)}
        if bookkeeping:
            taken = {n: t + _counted(stem, n, rule, quantity, kinds)[2] for n, t in taken.items()}
        fits = [
            lowest_fit({n: getattr(t, kind) for n, t in taken.items()})
            for kind in ("multiplications", "additions")
        ]
        if all(f is not None for f in fits):
            return CostPolynomials(fits[0], fits[1], first, last)  # type: ignore[arg-type]
    raise StateFault(
        f"polynomial: the counts of {stem} {quantity} are no polynomial of degree 5 or less in n."
    )


def _refuse_equation(equation: str, known: Mapping[str, Tally], stem: str, quantity: str) -> None:
    """A tag that stands at no line, which would cost nothing."""
    if equation not in known:
        raise StateFault(
            f"polynomial: no line of {stem} {quantity} is equation {shown(equation)}; give one of "
            f"{', '.join(map(repr, known))}."
        )


def lowest_fit(points: Mapping[int, int]) -> Polynomial | None:
    """The polynomial of lowest degree through all points, with at least two of them to spare; None if there is none."""
    return next((p for degree in range(len(points) - 2) if (p := fit(points, degree)) is not None), None)


def _part(
    stem: str, n: int, convention: Convention, quantity: str, kinds: str, equation: str | None
) -> Tally:
    found = _counted(stem, n, convention, quantity, kinds)
    return found[0] if equation is None else found[1].get(equation, Tally())


@lru_cache(256)
def _counted(
    stem: str, n: int, convention: Convention, quantity: str, kinds: str
) -> tuple[Tally, dict[str, Tally], Tally]:
    result = count(stem, n, convention=convention, quantity=quantity, kinds=kinds)
    return result.total, result.by_equation, result.bookkeeping
