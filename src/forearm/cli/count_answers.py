"""What `forearm count` is asked, and its answers: a document for programs, tables and sentences for people.

Here one formulation, and all of them side by side; `count_reports` has the rest.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forearm.cli.verbs.paper_verbs import formulation_of

if TYPE_CHECKING:
    from forearm.arm import Arm
    from forearm.counting import Convention, Count, Polynomials

Rows = list[dict[str, Any]]
Tell = Callable[[int, int, str], None]

AT_REST = "luh_walker_paul_1980", "as set forth, base at rest"
"""A formulation whose published table follows another convention than ours, and which."""
MOST = 2_000_000
"""Operations that are run at most; a second for each 200 000."""


@dataclass(frozen=True)
class Table:
    """One table of an answer."""

    title: str
    """What it shows; empty where nothing needs to be said."""
    rows: Rows
    """Plain rows, all with the same columns."""
    notes: tuple[str, ...] = ()
    """Sentences below it."""
    file_only: bool = False
    """Whether it is for programs, because other tables show the same."""


@dataclass(frozen=True)
class Answer:
    """What was found."""

    document: Any
    """For JSON."""
    tables: tuple[Table, ...]
    """The first is the one that goes into a CSV file."""
    sentences: tuple[str, ...] = ()
    """Above the tables."""


@dataclass(frozen=True)
class Question:
    """What to count."""

    stem: str | None
    """Formulation, or None for all."""
    n: int
    """Joints of the generic arm."""
    arm: "Arm | None"
    """Count on this arm instead."""
    quantity: str | None
    """What is computed; joint torques, or what a formulation gives, when None."""
    convention: "Convention | None"
    """What is charged; the usual one when None."""

    @property
    def joints(self) -> int:
        """Joints of the arm that is counted on."""
        return self.n if self.arm is None else self.arm.n

    @property
    def rule(self) -> "Convention":
        """The convention that holds."""
        from forearm.counting.tallies import convention_of

        return convention_of(self.convention, self.arm)

    def quantity_of(self, stem: str) -> str:
        """The quantity that is counted of one formulation."""
        from forearm.counting.comparing import quantities_of

        found = formulation_of(stem, self.quantity)
        return self.quantity or quantities_of(found.stem)[0]


def convention_named(words: str) -> "Convention":
    """A convention by its name; case, commas and hyphens do not matter, and its beginning is enough if unique."""
    from forearm.counting import CONVENTIONS
    from forearm.faults import StateFault

    def plain(text: str) -> str:
        return " ".join("".join(c if c.isalnum() else " " for c in text.replace("'", "").lower()).split())

    asked = plain(words)
    exact = [rule for name, rule in CONVENTIONS.items() if plain(name) == asked]
    begun = [rule for name, rule in CONVENTIONS.items() if asked and plain(name).startswith(asked)]
    if len(exact or begun) == 1:
        return (exact or begun)[0]
    names = [rule.name for rule in begun] or list(CONVENTIONS)
    raise StateFault(
        f"--convention is {words!r}; give one of {'; '.join(names)} (--convention list explains them)."
    )


def conventions() -> Answer:
    """All conventions in words."""
    from forearm.counting import CONVENTIONS

    rows = [{"convention": rule.name, "what is charged": rule.why} for rule in CONVENTIONS.values()]
    return Answer(rows, (Table("", rows),))


# -- one formulation, all formulations -------------------------------------------------------------------


def one(question: Question, by: str) -> Answer:
    """The exact counts of one formulation, split by equation or by link, and its polynomial."""
    from forearm.counting import count

    assert question.stem is not None
    quantity, rule = question.quantity_of(question.stem), question.rule
    whole = None if question.arm is not None else in_n(question.stem, rule, quantity)
    if whole is not None:
        refuse_the_endless(question.stem, question.n, whole)
    found = count(question.stem, question.n, arm=question.arm, convention=rule, quantity=quantity)
    rows = by_link(found) if by == "link" else by_equation(found, whole is not None)
    document = {
        "formulation": found.stem,
        "quantity": quantity,
        "n": found.n,
        "arm": None if question.arm is None else question.arm.name,
        "convention": rule.name,
        "total": vars(found.total),
        "besides": vars(found.bookkeeping),
        "polynomial": whole and _polynomial_document(whole),
        "by": by,
        "rows": rows,
    }
    where = f"n = {found.n}" if question.arm is None else f"arm {question.arm.name}, {found.n} joints"
    sentences = [
        f"{found.stem}, {quantity}, {where}: {found.multiplications:,} multiplications, {found.additions:,} additions.",
        *([f"For any n from {whole.first}: {whole} (multiplications | additions)."] if whole else []),
        f"Convention {rule.name!r}: {rule.why}",
        *_at_rest(question, found),
    ]
    if found.bookkeeping.multiplications or found.bookkeeping.additions:
        sentences.append(f"Besides, on lines that carry no equation: {found.bookkeeping}.")
    return Answer(document, (Table("", rows),), tuple(sentences))


def _at_rest(question: Question, found: "Count") -> list[str]:
    """What the published table counts, where its convention is another one and nobody asked for one."""
    from forearm.counting import count

    if found.stem != AT_REST[0] or question.convention is not None or question.arm is not None:
        return []
    rest = count(found.stem, found.n, convention=AT_REST[1], quantity=found.quantity).total
    return [
        "Gravity is charged as an acceleration of the base; Hollerbach 1980 leaves it out: "
        f'{rest} with --convention "{AT_REST[1]}".'
    ]


def refuse_the_endless(stem: str, n: int, whole: "Polynomials", most: int = MOST) -> None:
    """A fault if so many operations would take too long to run one by one."""
    from forearm.faults import StateFault

    m, a = int(whole.multiplications(n)), int(whole.additions(n))
    if m + a > most:
        raise StateFault(
            f"--n is {n}: {stem} does {m:,} multiplications and {a:,} additions there by its polynomial {whole}, too "
            f"many to run one by one (at most {most:,}); give a smaller n."
        )


def in_n(
    stem: str, rule: "Convention", quantity: str, equation: str | None = None, *, bookkeeping: bool = False
) -> "Polynomials | None":
    """The polynomial, or None where the counts are no polynomial."""
    from forearm.counting import polynomial
    from forearm.faults import StateFault

    try:
        return polynomial(
            stem, convention=rule, quantity=quantity, equation=equation, bookkeeping=bookkeeping
        )
    except StateFault:
        return None


def _polynomial_document(found: "Polynomials") -> dict[str, Any]:
    return {
        "multiplications": str(found.multiplications),
        "additions": str(found.additions),
        "from": found.first,
        "measured to": found.last,
    }


def by_equation(found: "Count", general: bool) -> Rows:
    """The split by equation, the total last, with the polynomial of each where there is one."""
    rows = found.rows()
    if not general:
        return rows
    for row in rows:
        tag = None if row is rows[-1] else row["equation"]
        part = in_n(found.stem, found.convention, found.quantity, tag)
        row["multiplications in n"] = str(part.multiplications) if part else ""
        row["additions in n"] = str(part.additions) if part else ""
    return rows


def by_link(found: "Count") -> Rows:
    """The split by walk and link, the total last."""
    parts = [(walk or "neither", link or None, part) for (walk, link), part in found.by_link.items()]
    return [
        {"walk": walk, "link": link, **vars(t)} for walk, link, t in [*parts, ("total", None, found.total)]
    ]


def side_by_side(question: Question, tell: Tell) -> Answer:
    """Every formulation that gives the quantity and takes the arm."""
    from forearm.formulations import FORMULATIONS

    able = [
        row
        for row in FORMULATIONS.values()
        if (question.quantity is None or question.quantity in row.gives)
        and (question.arm is None or row.accepts(question.arm))
    ]
    if not able:
        from forearm.faults import StateFault

        known = dict.fromkeys(q for row in FORMULATIONS.values() for q in row.gives)
        raise StateFault(f"no formulation gives {question.quantity!r}; give one of {', '.join(known)}.")
    rows = []
    for k, row in enumerate(able):
        tell(k, len(able), row.stem)
        rows.append(_beside(question, row))
    document = {
        "n": question.joints,
        "arm": None if question.arm is None else question.arm.name,
        "convention": question.rule.name,
        "rows": rows,
    }
    what = f"n = {question.n}" if question.arm is None else f"arm {question.arm.name}, n = {question.joints}"
    cells = ("formulation", "quantity", "multiplications", "additions", "operations", "besides", "order")
    tables = [Table("", rows, file_only=True), Table("", _columns(rows, cells))]
    if question.arm is None:
        rest = ("formulation", "multiplications in n", "additions in n", "from n", "published")
        tables.append(Table("For any n", _columns(rows, rest)))
    sentences = (
        f"{what}, convention {question.rule.name!r}: {question.rule.why}",
        "Besides: multiplications | additions on lines that carry no equation, which the papers leave out.",
    )
    return Answer(document, tuple(tables), sentences)


def _columns(rows: Rows, names: tuple[str, ...]) -> Rows:
    return [{name: row[name] for name in names} for row in rows]


def _beside(question: Question, row: Any) -> dict[str, Any]:
    """One line: the polynomials and their values; on an arm what is counted there."""
    from forearm.counting import count

    quantity, rule = question.quantity_of(row.stem), question.rule
    line = {"formulation": row.stem, "quantity": quantity}
    whole = None if question.arm is not None else in_n(row.stem, rule, quantity)
    every = None if whole is None else in_n(row.stem, rule, quantity, bookkeeping=True)
    if whole is not None and every is not None and question.n >= max(whole.first, every.first):
        m, a = int(whole.multiplications(question.n)), int(whole.additions(question.n))
        besides = int(every.multiplications(question.n)) - m, int(every.additions(question.n)) - a
    else:
        found = count(row.stem, question.n, arm=question.arm, convention=rule, quantity=quantity)
        m, a = found.multiplications, found.additions
        besides = found.bookkeeping.multiplications, found.bookkeeping.additions
    line |= {
        "multiplications": m,
        "additions": a,
        "operations": m + a,
        "besides": f"{besides[0]} | {besides[1]}",
    }
    if question.arm is None:
        line |= {
            "multiplications in n": str(whole.multiplications) if whole else "",
            "additions in n": str(whole.additions) if whole else "",
            "from n": whole.first if whole else None,
        }
    return {**line, "order": row.order, "published": row.published}
