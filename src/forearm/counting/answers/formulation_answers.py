"""One formulation, split by equation or by link; all of them side by side."""

from typing import Any

from forearm.counting.answers.question import (
    Answer,
    AnswerTable,
    Question,
    Rows,
    Tell,
    in_n,
    refuse_the_endless,
)
from forearm.counting.costs.polynomials import CostPolynomials
from forearm.counting.meter.tallies import Count, count
from forearm.faults import StateFault
from forearm.formulations import FORMULATIONS
from forearm.robot import Robot

AT_REST = "luh_walker_paul_1980", "as set forth, base at rest"
"""A formulation whose published table follows another convention than ours, and which."""


def one(question: Question, by: str) -> Answer:
    """The exact counts of one formulation, split by equation or by link, and its polynomial."""
    assert question.stem is not None
    quantity, rule = question.quantity_of(question.stem), question.rule
    whole = None if question.arm is not None else in_n(question.stem, rule, quantity)
    if whole is not None:
        refuse_the_endless(question.stem, question.n, whole)
    found = count(question.stem, question.size, arm=question.arm, convention=rule, quantity=quantity)
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
    return Answer(document, (AnswerTable("", rows),), tuple(sentences))


def _at_rest(question: Question, found: Count) -> list[str]:
    """What the published table counts, where its convention is another one and nobody asked for one."""
    if found.stem != AT_REST[0] or question.convention is not None or question.arm is not None:
        return []
    rest = count(found.stem, found.n, convention=AT_REST[1], quantity=found.quantity).total
    return [
        "Gravity is charged as an acceleration of the base; Hollerbach 1980 leaves it out: "
        f'{rest} with --convention "{AT_REST[1]}".'
    ]


def _polynomial_document(found: CostPolynomials) -> dict[str, Any]:
    return {
        "multiplications": str(found.multiplications),
        "additions": str(found.additions),
        "from": found.first,
        "measured to": found.last,
    }


def by_equation(found: Count, general: bool) -> Rows:
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


def by_link(found: Count) -> Rows:
    """The split by walk and link, the total last."""
    parts = [(walk or "neither", link or None, part) for (walk, link), part in found.by_link.items()]
    return [
        {"walk": walk, "link": link, **vars(t)} for walk, link, t in [*parts, ("total", None, found.total)]
    ]


def side_by_side(question: Question, tell: Tell) -> Answer:
    """Every formulation that gives the quantity and takes the arm."""
    able = [
        row
        for row in FORMULATIONS.values()
        if (question.quantity is None or question.quantity in row.gives)
        and (question.arm is None or row.accepts(question.arm))
        and (not isinstance(question.arm, Robot) or {"joint_torques", "mass_matrix"} & set(row.gives))
    ]
    if not able:
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
    tables = [AnswerTable("", rows, file_only=True), AnswerTable("", _columns(rows, cells))]
    if question.arm is None:
        rest = ("formulation", "multiplications in n", "additions in n", "from n", "published")
        tables.append(AnswerTable("For any n", _columns(rows, rest)))
    sentences = (
        f"{what}, convention {question.rule.name!r}: {question.rule.why}",
        "Besides: multiplications | additions on lines that carry no equation, which the papers leave out.",
    )
    return Answer(document, tuple(tables), sentences)


def _columns(rows: Rows, names: tuple[str, ...]) -> Rows:
    return [{name: row[name] for name in names} for row in rows]


def _beside(question: Question, row: Any) -> dict[str, Any]:
    """One line: the polynomials and their values; on an arm what is counted there."""
    quantity, rule = question.quantity_of(row.stem), question.rule
    line = {"formulation": row.stem, "quantity": quantity}
    whole = None if question.arm is not None else in_n(row.stem, rule, quantity)
    every = None if whole is None else in_n(row.stem, rule, quantity, bookkeeping=True)
    if whole is not None and every is not None and question.n >= max(whole.first, every.first):
        m, a = int(whole.multiplications(question.n)), int(whole.additions(question.n))
        besides = int(every.multiplications(question.n)) - m, int(every.additions(question.n)) - a
    else:
        found = count(row.stem, question.size, arm=question.arm, convention=rule, quantity=quantity)
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
