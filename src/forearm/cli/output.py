"""What verbs print: tables, sentences, JSON, progress. Colours and progress for terminals only."""

import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from cyclopts import Group, Parameter

from forearm.cli.option_groups import Flag
from forearm.cli.standard_streams import HEARD, TOLD, Unheard, complain, remark
from forearm.outside.escapes import json_text, terminal
from forearm.outside.text_table import text_table

EVERYWHERE = Group("Every verb", sort_key=9)
AT_ONCE = 2**12
"""Numbers of an array that become text at once, and letters that are written at once."""
FOLDED = 8
"""Letters of a text that stand in one line at least, in a table at a terminal."""
GAPS = 2, 1
"""Blanks behind each column of such a table, and where it would be too wide with so many."""


@Parameter(name="*", group=EVERYWHERE)
@dataclass(frozen=True)
class Shared:
    """Options that every verb takes."""

    json: Flag = False
    """Print one JSON document, nothing else."""
    quiet: Flag = False
    """Print results only: no notes, no progress."""
    no_color: Flag = False
    """No colours (also NO_COLOR=1 in the environment)."""
    debug: Flag = False
    """Show the traceback of an error."""

    @property
    def talkative(self) -> bool:
        """Whether notes and progress are wanted: a person is looking."""
        return sys.stderr.isatty() and not (self.quiet or self.json)

    @property
    def colors(self) -> bool:
        """Whether colours are wanted."""
        return sys.stdout.isatty() and not (self.no_color or os.environ.get("NO_COLOR"))


PLAIN = Shared()


class Outputs:
    """What a verb writes and prints: each is tried, whatever becomes of the others; then the first error is raised.

    So a closed pipe takes no picture with it, a full disk no numbers that are printed.
    """

    def __init__(self) -> None:
        """Nothing went wrong so far."""
        self.first: Exception | None = None

    def __enter__(self) -> "Outputs":
        """Outputs, one after the other: numbers before pictures."""
        return self

    @contextmanager
    def one(self) -> Iterator[None]:
        """One of them."""
        try:
            yield
        except Exception as error:
            if self.first is None:
                self.first = error
            elif not isinstance(error, BrokenPipeError):
                said = error.strerror if isinstance(error, OSError) and error.errno is not None else error
                complain(f"{getattr(error, 'filename', None) or 'this failed too'}: {said}")

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        """Raise what went wrong first."""
        if error is None and self.first is not None:
            raise self.first


def _terminal(shared: Shared) -> Any:
    """A rich console on stdout; a closed pipe is told as one."""
    from rich.console import Console

    class Plain(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return Plain(no_color=not shared.colors, highlight=False, color_system="auto" if shared.colors else None)


def print_json(value: Any) -> None:
    """One JSON document; what is not a number is null. A part at a time: a long motion takes memory once."""
    held, length = [], 0
    for part in _json_parts(_with_warnings(value), "\n"):
        part = json_text(part)  # what JSON leaves as it is may still move a terminal's cursor
        held.append(part)
        length += len(part)
        if length > AT_ONCE:
            sys.stdout.write("".join(held))
            held, length = [], 0
    print("".join(held))


def _with_warnings(value: Any) -> Any:
    """A document with what the library warned of among its notes: on stderr nobody would see it."""
    if not isinstance(value, Mapping) or not HEARD.sentences:
        return value
    notes = list(value.get("notes", ()))
    heard = [told for told in dict.fromkeys(HEARD.sentences) if not told.endswith(tuple(notes))]
    return {**value, "notes": notes + heard}


def _json_parts(value: Any, line: str) -> Iterator[str]:
    """The text of a document as `json.dumps` has it, on lines that begin so; of a large array some rows at a time."""
    if isinstance(value, Mapping) and value:
        for number, (key, entry) in enumerate({str(k): v for k, v in value.items()}.items()):
            yield f"{',' if number else '{'}{line} {_json(key)}: "
            yield from _json_parts(entry, f"{line} ")
        yield f"{line}}}"
    elif getattr(value, "ndim", 0) and value.size > AT_ONCE:
        rows = max(1, AT_ONCE * len(value) // value.size)
        for k in range(0, len(value), rows):
            yield ("," if k else "[") + _json(value[k : k + rows])[1:-2].replace(
                "\n", line
            )  # its brackets aside
        yield f"{line}]"
    else:
        yield _json(value).replace("\n", line)  # within words JSON has none


def _json(value: Any) -> str:
    return json.dumps(plain(value), indent=1, ensure_ascii=False, allow_nan=False)


def say(text: Any) -> None:
    """A text for a person, on stdout: harmless for a terminal, whatever titles and names of files it holds."""
    print(terminal(str(text)))


def plain(value: Any) -> Any:
    """Values that JSON knows."""
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, (list, tuple, set)):
        return [plain(v) for v in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (str, int, bool)) else str(value)


def note(shared: Shared, sentence: str) -> None:
    """A remark for the person at the terminal, on stderr."""
    if not (shared.quiet or shared.json):
        TOLD.add(sentence)
        remark(f"note: {terminal(sentence)}")


def table(
    shared: Shared,
    header: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    title: str = "",
    left: Sequence[int] = (0,),
    styles: Callable[[Sequence[Any]], str] | None = None,
) -> None:
    """A table: ruled at a terminal, aligned columns when piped; a paragraph a row where a terminal is too narrow."""
    rows = list(rows)
    cells = [[cell(x) for x in row] for row in rows]
    if not sys.stdout.isatty():
        print("\n".join([*([title] if title else []), *text_table(header, cells, left=left)]))
        return
    console = _terminal(shared)
    colours = [styles(row) if styles else "" for row in rows]
    for gap in GAPS:
        if _least_width(header, cells, left, gap) <= console.width:
            console.print(_ruled(header, cells, left, title, colours, console.width, gap))
            return
    from rich.text import Text

    if title:
        console.print(Text(title, style="bold"), soft_wrap=True)
    for texts, colour in zip(cells, colours, strict=True):
        console.print(Text("\n".join(_paragraph(header, texts)), style=colour), soft_wrap=True)


def _least_width(header: Sequence[str], cells: Sequence[Sequence[str]], left: Sequence[int], gap: int) -> int:
    """Letters of a line that a ruled table takes at least: texts may go on in the next one, numbers never."""
    widths = [
        min(FOLDED, max(map(len, (name, *column)))) if k in left else max(map(len, (*_lines(name), *column)))
        for k, (name, *column) in enumerate(zip(header, *cells, strict=True))
    ]
    return _across(widths, gap)


def _lines(name: str) -> list[str]:
    """The words of a column's name, its unit one of them."""
    return re.sub(r" (?![^\[]*\])", "\n", name).split("\n")


def _across(widths: Sequence[int], gap: int) -> int:
    """Letters of a line of a ruled table whose columns have so many; a rule has one between two, one at each end."""
    return sum(widths) + (gap + 1) * len(widths) - gap + 1


def _ruled(
    header: Sequence[str],
    cells: Sequence[Sequence[str]],
    left: Sequence[int],
    title: str,
    colours: Sequence[str],
    width: int,
    gap: int,
) -> Any:
    """A table for a terminal; half a number in the next line would be read as another number."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    shape = Table(
        title=Text(title, style="bold") if title else None,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        header_style="bold",
        pad_edge=False,
        padding=(0, gap, 0, 0),
    )
    natural = [max(map(len, column)) for column in zip(header, *cells, strict=True)]
    narrow = _across(natural, gap) > width
    for k, name in enumerate(header):
        if k in left:
            shape.add_column(Text(name), overflow="fold")
        else:
            shape.add_column(Text("\n".join(_lines(name)) if narrow else name), justify="right", no_wrap=True)
    for texts, colour in zip(cells, colours, strict=True):
        shape.add_row(*map(Text, texts), style=colour)
    return shape


def _paragraph(header: Sequence[str], texts: Sequence[str]) -> list[str]:
    """The lines of a row that has no room for its columns; what stands under no name belongs to what is before it."""
    lines: list[str] = []
    for name, text in zip(header, texts, strict=True):
        if text and not name and lines:
            lines[-1] += f" {text}"
        elif text:
            lines.append(("  " if lines else "") + (f"{name}: {text}" if name else text))
    return lines


def cell(value: Any) -> str:
    """A cell's text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    return "" if value is None else terminal(str(value))


def verdict_style(row: Sequence[Any]) -> str:
    """Green and red by the verdict in the first column."""
    word = str(row[0]).lower()
    return {"pass": "green", "fail": "bold red", "error": "bold red", "warning": "yellow"}.get(word, "")


@contextmanager
def progress(shared: Shared, what: str) -> Iterator[Callable[[int, int, str], None]]:
    """A bar on stderr while long work goes on: call it with (done, of, what)."""
    if not shared.talkative:
        yield lambda done, of, now: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    parts = (
        TextColumn("{task.description}", markup=False),  # names of a file are text, not marks
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TimeElapsedColumn(),
    )
    console = Console(file=Unheard(sys.stderr), no_color=not shared.colors)  # type: ignore[arg-type]
    with Progress(*parts, console=console, transient=True) as bar:
        job = bar.add_task(what, total=None)
        yield lambda done, of, now: bar.update(job, completed=done, total=of, description=now)
