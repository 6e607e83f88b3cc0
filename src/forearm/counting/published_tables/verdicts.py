"""Published rows beside ours, with a status that is worked out, never typed.

exact                          our count of the formulation as written is the published one
exact under a convention       a stated structure and convention gives the published number
fitted by search               so does this one, but which of many to take was searched for: weak evidence
inconsistent in print          the number contradicts its own paper (no whole number, another table, its own steps)
not reproduced                 none of the stated conventions gives it; the residual and what accounts for it are shown
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from forearm.counting.costs.polynomials import Polynomial, fit
from forearm.counting.published_tables.countables import CELLS, Countable
from forearm.counting.published_tables.printed import PAGES, PAPERS, TABLES, Printed
from forearm.faults import StateFault, explained

EXACT = "exact"
CONVENTION = "exact under a convention"
FITTED = "fitted by search"
INCONSISTENT = "inconsistent in print"
NOT_REPRODUCED = "not reproduced"
STATUSES = (EXACT, CONVENTION, FITTED, INCONSISTENT, NOT_REPRODUCED)
REPRODUCED = (EXACT, CONVENTION, FITTED)
"""Statuses of numbers that some count of ours gives."""


@dataclass(frozen=True)
class Verdict:
    """One published number beside ours."""

    published: str
    """As printed."""
    ours: str
    """Our count of the formulation as written."""
    status: str
    """One of STATUSES."""
    reason: str
    """The structure and convention that give the number, or why it cannot be right; empty if exact."""
    residual: str
    """Published less the nearest of our counts that apply; '0' where reproduced."""
    accounted: bool
    """Whether it is reproduced, or stated reasons add up exactly to the difference from one of our counts."""
    accounts: tuple[str, ...]
    """These reasons, each with its size."""


@dataclass(frozen=True)
class PublishedRow:
    """One row of a published table, judged."""

    paper: str
    """Stem of the paper."""
    table: str
    """Number of the table."""
    page: str
    """Where it is printed."""
    row: str
    """Label of the row."""
    measured: str
    """What of ours stands beside it."""
    multiplications: Verdict
    """Verdict on the multiplications."""
    additions: Verdict
    """Verdict on the additions."""
    remark: str
    """What a reader should know."""

    def rows(self) -> list[dict[str, Any]]:
        """Two plain rows, one for each number."""
        shared = {"paper": self.paper, "table": self.table, "page": self.page, "row": self.row}
        return [
            {
                **shared,
                "operation": cell,
                "published": v.published,
                "ours": v.ours,
                "status": v.status,
                "reason": v.reason,
                "residual": v.residual,
                "accounts": "; ".join(v.accounts),
                "remark": self.remark,
            }
            for cell in CELLS
            for v in (getattr(self, cell),)
        ]


@explained
def published(paper: str | None = None, table: str | None = None) -> list[PublishedRow]:
    """Every row of the published tables (of one paper, of one table) with our count and a computed status.

    Args:
        paper: 'hollerbach_1980' or 'turney_mudge_lee_1980'; both by default.
        table: Its number as printed ('I', 'II'; '1' … '5'); all by default.
    """
    if paper is not None and paper not in PAPERS:
        raise StateFault(f"published: there is no table of {paper!r}; give one of {', '.join(PAPERS)}.")
    found = [
        _judged(row)
        for name in ((paper,) if paper else PAPERS)
        for number, rows in TABLES[name].items()
        if table in (None, number)
        for row in rows
    ]
    if not found:
        names = [f"{name} {number}" for name in PAPERS for number in TABLES[name]]
        raise StateFault(f"published: there is no table {table!r}; there are {', '.join(names)}.")
    return found


def _judged(row: Printed) -> PublishedRow:
    return PublishedRow(
        row.paper,
        row.table,
        row.page or PAGES[row.paper],
        row.row,
        row.ours.label,
        _verdict(row, "multiplications"),
        _verdict(row, "additions"),
        row.remark,
    )


def _verdict(row: Printed, cell: str) -> Verdict:
    text = getattr(row, cell)
    printed = Polynomial.parse(text)
    ours = _count(row, row.ours, cell)
    doubts = _doubts(row, cell)
    reading = printed if not doubts else _reading(row, cell, printed)
    fitting = next((m for m in row.others if _count(row, m, cell) == reading), None)
    reasons = _accounts(row, cell)
    stated = _sum([size for _, size in reasons])
    counts = [_count(row, m, cell) for m in (row.ours, *row.others)]
    residual = _least([reading - count for count in counts])
    left = _least([reading - count - stated for count in counts])
    if doubts:
        status = INCONSISTENT
        rest = f"; read as {reading}: {_by(fitting)}" if fitting is not None else ""
        reason = "; ".join(doubts) + rest
        residual = residual if fitting is not None or not reasons else left
    elif ours == printed:
        status, reason = EXACT, ""
    elif fitting is not None:
        status, reason = FITTED if cell in _searched(row) else CONVENTION, _by(fitting)
    else:
        status, reason = NOT_REPRODUCED, ""
    zero = Polynomial(())
    return Verdict(
        published=text,
        ours=str(ours),
        status=status,
        reason=reason,
        residual=str(residual),
        accounted=zero in (residual, left),
        accounts=tuple(f"{size}: {why}" for why, size in reasons),
    )


def _searched(row: Printed) -> tuple[str, ...]:
    """Cells whose convention was searched for; table II has those of table I."""
    return _first(row).searched if row.at_six else row.searched


def _by(measure: Countable) -> str:
    """Which structure and convention give a number; CONVENTIONS has the convention in words."""
    return f"{measure.label}, convention {measure.rule.name!r}"


def _accounts(row: Printed, cell: str) -> list[tuple[str, Polynomial]]:
    """The stated reasons for a difference, with their sizes; table II has those of table I at n = 6."""
    if row.at_six:
        return [(why, Polynomial((size(6),))) for why, size in _accounts(_first(row), cell)]
    return [(a.reason, Polynomial.parse(a.size)) for a in row.accounts if a.cell == cell]


def _first(row: Printed) -> Printed:
    """The row of table I that a row of table II evaluates."""
    return next(r for r in TABLES[row.paper]["I"] if r.row == row.at_six)


def _count(row: Printed, measure: Countable, cell: str) -> Polynomial:
    found = measure.polynomial(cell)
    return Polynomial((found(6),)) if row.at_six else found


def _least(differences: list[Polynomial]) -> Polynomial:
    return min(differences, key=lambda p: (abs(p(6)), p.degree))


def _sum(terms: list[Polynomial]) -> Polynomial:
    total = Polynomial(())
    for term in terms:
        total = total + term
    return total


def _reading(row: Printed, cell: str, printed: Polynomial) -> Polynomial:
    """Another reading of a doubtful print, if one is given."""
    return next((Polynomial.parse(text) for name, text in row.readings if name == cell), printed)


# -- what print can be held against ----------------------------------------------------------------------


def _doubts(row: Printed, cell: str) -> list[str]:
    """Contradictions of a printed number with its own paper, each worked out here."""
    checks = (_not_whole, _against_table_i, _against_table_ii, _against_steps, _against_rows)
    return [doubt for check in checks for doubt in check(row, cell, Polynomial.parse(getattr(row, cell)))]


def _not_whole(row: Printed, cell: str, printed: Polynomial) -> list[str]:
    """A count must be a whole number for every n."""
    candidates = {"": printed, "read otherwise, ": _reading(row, cell, printed)}
    return [
        f"{how}{Polynomial((p(n),))} {cell} at n = {n}"
        for how, p in candidates.items()
        if not p.counts_something and (how == "" or p != printed)
        for n in (next(n for n in range(1, 20) if p(n).denominator != 1),)
    ]


def _against_table_i(row: Printed, cell: str, printed: Polynomial) -> list[str]:
    """A number of table II must be the polynomial of table I at n = 6."""
    if not row.at_six:
        return []
    first = _first(row)
    texts = [getattr(first, cell), *(text for name, text in first.readings if name == cell)]
    values = [Polynomial.parse(text)(6) for text in texts]
    if printed(6) in values:
        text = texts[values.index(printed(6))]
        inherited = _not_whole(first, cell, Polynomial.parse(text))
        return [f"it is {text} of table I, which gives {inherited[-1]}"] if inherited else []
    return [
        f"the polynomial of table I gives {', or read otherwise '.join(_amount(v) for v in values)} at n = 6"
    ]


def _against_table_ii(row: Printed, cell: str, printed: Polynomial) -> list[str]:
    """A misprinted power in table I shows in table II."""
    for other in TABLES[row.paper].get("II", ()):
        if other.at_six == row.row and row.table == "I":
            six = Fraction(getattr(other, cell))
            reading = _reading(row, cell, printed)
            if printed(6) != six and reading != printed and reading(6) == six:
                return [f"gives {_amount(printed(6))} at n = 6 where table II has {_amount(six)}"]
    return []


def _against_steps(row: Printed, cell: str, printed: Polynomial) -> list[str]:
    """What the paper says it adds up over q must be what it prints."""
    terms = next((terms for name, terms in row.steps if name == cell), ())
    if not terms:
        return []
    step = _sum([Polynomial.parse(term) for term in terms])
    points = {n: sum((step(q) for q in range(1, n + 1)), Fraction(0)) for n in range(1, 9)}
    scale = 12  # makes the values whole, so that the exact fit applies
    summed = fit({n: int(scale * v) for n, v in points.items()}, step.degree + 1)
    assert summed is not None
    summed = Polynomial(tuple(coefficient / scale for coefficient in summed.coefficients))
    return [] if summed == printed else [f"its own steps, {str(step).replace('n', 'q')}, add up to {summed}"]


def _against_rows(row: Printed, cell: str, printed: Polynomial) -> list[str]:
    """A total must be the sum of its printed rows."""
    if not row.total_of:
        return []
    parts = {r.row: Polynomial.parse(getattr(r, cell)) for r in TABLES[row.paper][row.table]}
    total = _sum([parts[name] for name in row.total_of])
    return [] if total == printed else [f"the rows add up to {total}"]


def _amount(value: Fraction) -> str:
    return f"{int(value):,}" if value.denominator == 1 else str(float(value))
