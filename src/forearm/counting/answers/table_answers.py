"""The published tables beside our counts, for programs and for reading."""

from forearm.counting.answers.question import Answer, AnswerTable
from forearm.counting.published_tables.printed import PAPERS, TABLES
from forearm.counting.published_tables.verdicts import STATUSES, PublishedRow, published
from forearm.faults import StateFault


def printed(which: str | None) -> Answer:
    """The published tables (of a paper, one table) with our count, the computed status and the explanation."""
    numbers = {number: paper for paper in PAPERS for number in TABLES[paper]}
    if which is not None and which not in (*PAPERS, *numbers):
        raise StateFault(
            f"there is no published table {which!r}; give a paper ({', '.join(PAPERS)}) or the number of a table "
            f"({', '.join(numbers)})."
        )
    found = (
        published(which) if which in PAPERS else published(numbers[which], which) if which else published()
    )
    rows = [line for row in found for line in row.rows()]
    keys = dict.fromkeys((row.paper, row.table) for row in found)
    tables = [_printed_table([row for row in found if (row.paper, row.table) == key]) for key in keys]
    tally = {status: sum(row["status"] == status for row in rows) for status in STATUSES}
    sentence = f"{len(rows)} printed numbers: " + ", ".join(f"{k} {name}" for name, k in tally.items()) + "."
    document = {"statuses": tally, "rows": rows}
    return Answer(document, (AnswerTable("", rows, file_only=True), *tables), (sentence,))


def _printed_table(found: list[PublishedRow]) -> AnswerTable:
    """A table for reading: explanations stand below, each said once."""
    said: dict[str, int] = {}
    lines = []
    for row in found:
        for line, verdict in zip(row.rows(), (row.multiplications, row.additions), strict=True):
            words = [verdict.reason, *(f"difference {account}" for account in verdict.accounts), row.remark]
            marks = [said.setdefault(sentence, len(said) + 1) for sentence in words if sentence]
            sign = "×" if line["operation"] == "multiplications" else "+"
            shown = {key: line[key] for key in ("published", "ours", "status", "residual")}
            lines.append({"row": row.row, "": sign, **shown, "note": " ".join(f"[{mark}]" for mark in marks)})
    notes = tuple(f"[{k}] {sentence}" for sentence, k in said.items())
    return AnswerTable(f"{found[0].paper}, table {found[0].table}, {found[0].page}", lines, notes)
