"""Tables as text: columns aligned, numbers on their decimal points where asked."""

from collections.abc import Iterable, Sequence

GAP = "  "
"""What stands between columns."""


def text_table(
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    left: Sequence[int] = (0,),
    on_the_point: bool = False,
) -> list[str]:
    """The lines of a table, its header first.

    `left` are the columns that stand to the left, the others stand to the right; with `on_the_point` the cells
    of those are aligned on their decimal points.
    """
    table = [list(row) for row in rows]
    columns = []
    for k, name in enumerate(header):
        cells = [row[k] for row in table]
        if on_the_point and k not in left:
            cells = _on_the_point(cells)
        width = max(map(len, (name, *cells)))
        columns.append([cell.ljust(width) if k in left else cell.rjust(width) for cell in (name, *cells)])
    return [GAP.join(line).rstrip() for line in zip(*columns, strict=True)]


def _on_the_point(cells: list[str]) -> list[str]:
    """Cells padded on the right so that decimal points stand in one column."""
    split = [_halves(cell) for cell in cells]
    widest = max((len(tail) for _, tail in split), default=0)
    return [head + tail.ljust(widest) for head, tail in split]


def _halves(cell: str) -> tuple[str, str]:
    for mark in ("e", "."):
        plain = cell.replace("-", "").replace("+", "").replace(".", "").replace("e", "")
        if plain.isdigit() and mark in cell:
            at = cell.index("." if "." in cell else mark)
            return cell[:at], cell[at:]
    return cell, ""


def instant(seconds: float | None) -> str:
    """A time as text: six digits, and milliseconds where a clock began long ago."""
    if seconds is None:
        return ""
    return f"{seconds:.6g}" if abs(seconds) < 1000 else f"{seconds:.3f}".rstrip("0").rstrip(".")
