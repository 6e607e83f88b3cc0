"""Tables as files: plain rows (a list of dictionaries) to CSV, JSON, LaTeX and Markdown."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

from forearm.faults import StateFault
from forearm.outside.escapes import latex, markdown, spreadsheet

Rows = Sequence[Mapping[str, Any]]


def columns(rows: Rows) -> list[str]:
    """Names of the columns, in order of first appearance."""
    if not rows:
        raise StateFault("a table without rows cannot be written; give at least one row.")
    return list(dict.fromkeys(name for row in rows for name in row))


def to_csv(rows: Rows) -> str:
    """Comma separated values, with a header."""
    out = io.StringIO()
    names = columns(rows)
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writerow({name: spreadsheet(name) for name in names})
    writer.writerows({name: _unstarted(value) for name, value in row.items()} for row in rows)
    return out.getvalue()


def to_json(rows: Rows) -> str:
    """A JSON list of objects."""
    return json.dumps([dict(row) for row in rows], indent=1, ensure_ascii=False, default=str) + "\n"


def to_latex(rows: Rows, caption: str = "") -> str:
    """A LaTeX table (booktabs)."""
    names = columns(rows)
    lines = [r"\begin{table}", r"\centering"]
    if caption:
        lines.append(rf"\caption{{{latex(caption)}}}")
    lines += [rf"\begin{{tabular}}{{{'l' * len(names)}}}", r"\toprule"]
    lines.append(" & ".join(latex(name.replace("_", " ")) for name in names) + r" \\")
    lines.append(r"\midrule")
    lines += [" & ".join(latex(_text(row.get(name, ""))) for name in names) + r" \\" for row in rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}"]) + "\n"


def to_markdown(rows: Rows) -> str:
    """A Markdown table."""
    names = columns(rows)
    titles = [markdown(name.replace("_", " ")) for name in names]
    lines = ["| " + " | ".join(titles) + " |", "|" + " --- |" * len(names)]
    lines += ["| " + " | ".join(_cell(row.get(name, "")) for name in names) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _unstarted(value: Any) -> Any:
    return spreadsheet(value) if isinstance(value, str) else value


def _text(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _cell(value: Any) -> str:
    return markdown(_text(value))


FORMATS = {"csv": to_csv, "json": to_json, "latex": to_latex, "markdown": to_markdown}
"""Writers by name."""


def written(rows: Rows, form: str) -> str:
    """The rows in one of the FORMATS."""
    if form not in FORMATS:
        raise StateFault(f"tables are written as {', '.join(FORMATS)}; got {form!r}.")
    return FORMATS[form](rows)  # type: ignore[operator, no-any-return]
