"""Text to numbers, strictly and streamed: a header, then rows of numbers between commas, semicolons, tabs or spaces.

A number is what C and Python agree on: digits 0 to 9, a point (or a comma, where commas do not separate), an exponent;
not `1_000`, not other scripts' digits, not nan or inf. Text goes through in pieces, parsed in machine code (or by NumPy
where that cannot be); a piece that is not plain is gone through cell by cell, which finds the line and the column to
name.
"""

import csv
import math
import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, NoReturn

import numpy as np

from forearm.algebra import Vector
from forearm.faults import ReadFault
from forearm.motion.plain_numbers import plain_numbers
from forearm.outside.escapes import text_of_title
from forearm.outside.memory_size import machine_memory
from forearm.outside.signal_errors import pass_on_signals

PIECE = 1 << 22
"""Bytes that are parsed at once."""
SAMPLE = 500
"""Rows whose words are kept, to see how many digits are written."""
PLAIN = b"0123456789+-.eE,;\t \n"
"""What a piece without surprises is made of."""
MOST_COLUMNS, LONGEST_TITLE = 10_000, 200
"""Beyond these a header is none; what looks for joints in it takes time with the square of a title's length."""
MOST_BLANK = 1000
"""Empty lines before a header; a small archive holds any number of them."""
MOST_EMPTY = 1 << 20
"""Lines without a number after it, as many as a sheet has; an archive holds any number of them, and each takes time."""
LONGEST_EMPTY = 1 << 26
"""Letters of such lines together: separators of some columns, and blanks."""
LONGEST_LINE = 1 << 20
"""Bytes of a row."""
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
QUOTED = re.compile(rb'(?:(?<=[,;\t \n])|^)"([0-9eE+.,-]*)"(?=[,;\t \n]|$)')
"""A number between quotes that is a whole cell."""
IN_QUOTES = re.compile(r'"(?:[^"]|"")*"')
"""What stands between quotes in a header."""
NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)


class LastCell(NamedTuple):
    """The last cell of a file that does not end in a newline: its line, title and word, and its column's words."""

    line: int
    title: str
    word: str
    above: list[str]


@dataclass(frozen=True, eq=False)
class NumberTable:
    """The columns of a file that were asked for."""

    titles: tuple[str, ...]
    """Every column's title."""
    parts: list[Vector]
    """One array (K, columns) for each group of columns that was picked."""
    words: list[list[str]]
    """The words of the first rows, all columns."""
    lines: list[tuple[int, Sequence[int]]]
    """(first row, line of each row from there on)."""
    decimal_commas: bool
    """Whether 0,5 was read as a half."""
    end: LastCell | None = None
    """The last cell of a file that does not end in a newline."""

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.parts[0]) if self.parts else 0

    def line(self, row: int) -> int:
        """The line of a row in the file, from 1."""
        first, numbers = next(pair for pair in reversed(self.lines) if pair[0] <= row)
        return numbers[row - first]


def refuse(label: str, line: int, given: str, expected: str) -> NoReturn:
    """A fault of a line of a file."""
    raise ReadFault(f"{label}:{line}: {given}; expected {expected}.")


def read_numbers(
    file: BinaryIO, label: str, pick: Callable[[tuple[str, ...]], list[list[int]]]
) -> NumberTable:
    """Read a table; `pick` gives groups of columns to keep, from the titles."""
    reader = PieceReader(file, label)
    groups = pick(reader.titles)
    blocks: list[list[Vector]] = [[] for _ in groups]
    lines: list[tuple[int, Sequence[int]]] = []
    rows = 0
    for numbers, where in reader.pieces():
        for block, group in zip(blocks, groups, strict=True):
            block.append(numbers[:, group])
        lines.append((rows, where))
        rows += len(numbers)
        _refuse_too_many(label, rows, 1 + sum(map(len, groups)))  # and its line
    parts = []
    for block, group in zip(blocks, groups, strict=True):
        parts.append(np.concatenate(block) if block else np.empty((0, len(group))))
        block.clear()  # a long log is held once, not twice
    return NumberTable(reader.titles, parts, reader.words, lines, reader.commas, reader.last_cell())


def _refuse_too_many(label: str, rows: int, columns: int) -> None:
    """Refuse what memory does not hold: a few megabytes of an archive become any number of rows."""
    size = 8 * rows * columns
    if size > machine_memory() / 2:
        raise ReadFault(
            f"{label}: the first {rows:.3g} rows take {size / 1e9:.3g} GB, and this machine has "
            f"{machine_memory() / 1e9:.3g} GB; give the file in parts."
        )


def check_titles(label: str, line: int, titles: Sequence[str]) -> None:
    """Refuse a header of too many columns, of titles without end, or of one title twice."""
    if len(titles) > MOST_COLUMNS:
        refuse(label, line, f"{len(titles)} columns", f"{MOST_COLUMNS} at most")
    for title, times in Counter(titles).items():
        if len(title) > LONGEST_TITLE:
            what = f"the title {title[:40]!r}… has {len(title)} letters"
            refuse(label, line, what, f"{LONGEST_TITLE} at most")
        if times > 1:
            refuse(label, line, f"column {title!r} appears {times} times", "each column once")


def _out_of_quotes(title: str) -> str:
    """A title without quotes around it, which stay where spaces stand before them; quotes of its own are left."""
    return title[1:-1].strip() if len(title) > 1 and title[0] == title[-1] == '"' else title


class PieceReader:
    """The header, then the pieces."""

    def __init__(self, file: BinaryIO, label: str) -> None:
        self.file, self.label = file, label
        self.words: list[list[str]] = []
        self.commas = self.points = False
        self.line = self.bare = 0  # bare: the first row of empty cells, which may only be followed by others
        self.empty, self.blank, self.rows = 0, 0, 0
        self.cut = b""  # the last row, where no newline ends it
        header = ""
        while not header.strip() and self.line < MOST_BLANK and (raw := file.readline(1 << 20)):
            self.line += 1
            header = self._text(raw, "utf-8-sig" if self.line == 1 else "utf-8")
        self.header_line = max(self.line, 1)
        if not header.strip():
            what = "the file is empty" if self.line < MOST_BLANK else f"the first {self.line} lines are empty"
            refuse(label, 1, f"{what}: 0 rows of numbers", "a header and a row for each instant")
        bare = IN_QUOTES.sub("", header)  # what stands in quotes separates nothing
        self.separator = next((s for s in ";\t," if s in bare), None)
        self.titles = self._titles(header.strip("\r\n"))

    def _text(self, raw: bytes | str, encoding: str = "utf-8") -> str:
        if isinstance(raw, str):
            raise ReadFault(f"{self.label}: is open as text; open it as bytes ('rb'), or give its path.")
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            raise ReadFault(f"{self.label}: is not text in UTF-8; give a CSV file.") from None

    def _titles(self, header: str) -> tuple[str, ...]:
        header = header.removeprefix("#").removeprefix("% ")
        if self.separator is None:  # `q1 [deg]` is one title between spaces too
            found = re.sub(r"(?<!\s)\s+(?=[\[(])", "", header).split()
        else:
            try:
                found = next(csv.reader([header], delimiter=self.separator), [])
            except csv.Error as error:
                refuse(self.label, self.header_line, f"the header cannot be taken apart ({error})", "titles")
        titles = [text_of_title(_out_of_quotes(title.strip())) for title in found]
        if titles and all(NUMBER.fullmatch(title) for title in titles):
            refuse(
                self.label,
                self.header_line,
                f"the first line is numbers ({titles[0]}, …)",
                "a header that names the columns, such as t,q1,q2",
            )
        check_titles(self.label, self.header_line, titles)
        return tuple(titles)

    def pieces(self) -> Iterator[tuple[Vector, Sequence[int]]]:
        """Numbers (rows, columns), and the line of each row."""
        while raw := self.file.read(PIECE):
            if not raw.endswith(b"\n"):
                raw += self.file.readline(LONGEST_LINE)
                if not raw.endswith(b"\n") and self.file.read(
                    1
                ):  # a device, or an archive of zeros, has no end
                    line = self.line + 1 + raw.count(b"\n")
                    refuse(self.label, line, "the line does not end", f"rows of up to {LONGEST_LINE} bytes")
            first = self.line + 1
            self.line += raw.count(b"\n") + (not raw.endswith(b"\n"))
            self.cut = b"" if raw.endswith((b"\n", b"\r")) else raw[raw.rfind(b"\n") + 1 :]
            plain = raw.replace(b"\r\n", b"\n").rstrip(b"\n")
            if not plain:
                self._count_empty(self.line, raw.count(b"\n"), len(raw))
                continue
            found = self._fast(self._unquoted(plain), first)
            numbers, where = found if found is not None else self._slow(self._text(raw), first)
            if len(numbers):
                if 0 < self.bare < where[-1]:
                    self._refuse_bare()
                self.rows += len(numbers)
                yield numbers, where

    def last_cell(self) -> LastCell | None:
        """When all pieces were read: the last cell, where no newline ends the file."""
        cells = self._cells(self._text(self.cut))
        if not cells or len(cells) != len(self.titles):
            return None
        above = [row[-1].strip() for row in self.words[: self.rows - 1]]
        return LastCell(self.line, self.titles[-1], cells[-1].strip(), above)

    def _unquoted(self, plain: bytes) -> bytes:
        """Cells out of their quotes; where one holds the separator, or quotes stand elsewhere, they stay."""
        if b'"' not in plain:
            return plain
        if self.separator == "," and any(b"," in cell for cell in QUOTED.findall(plain)):
            return plain
        return QUOTED.sub(rb"\1", plain)

    def _fast(self, plain: bytes, first: int) -> tuple[Vector, Sequence[int]] | None:
        """A whole piece at once, or None where something in it is not plain."""
        commas = self.separator != "," and b"," in plain
        points = b"." in plain
        if (commas and (points or self.points)) or (points and self.commas):
            return None
        rows, columns = plain.count(b"\n") + 1, len(self.titles)
        if 2 * rows * columns > len(plain) + 1:  # a cell has a digit and a mark: rows are missing cells
            return None
        decimal = "," if commas else "."
        found = plain_numbers(plain + b"\n", self.separator, decimal, rows, columns)
        if found is None:
            found = self._by_numpy(plain, decimal)
        if found is None or found.shape != (rows, columns) or not np.all(np.isfinite(found)):
            return None
        self.commas, self.points = self.commas or commas, self.points or points
        if wanted := SAMPLE - len(self.words):
            text = plain.replace(b",", b".") if commas else plain
            for line in text.split(b"\n", wanted)[: min(wanted, rows)]:
                self.words.append(line.decode("ascii").split(self.separator))
        return found, range(first, first + rows)

    def _by_numpy(self, plain: bytes, decimal: str) -> Vector | None:
        """A whole piece at once, slower."""
        if plain.translate(None, PLAIN):
            return None
        lines = plain.replace(decimal.encode(), b".").decode("ascii").split("\n")
        try:
            return np.loadtxt(lines, delimiter=self.separator, comments=None, ndmin=2)
        except ValueError:
            return None

    def _slow(self, text: str, first: int) -> tuple[Vector, Sequence[int]]:
        """Cell by cell, to the first that is not a number."""
        rows, where = [], []
        for line, row in enumerate(text.splitlines(), first):
            cells = self._cells(row)
            if not any(cells):
                self.bare = self.bare or (line if len(cells) > 1 else 0)
                self._count_empty(line, 1, len(row))
                continue
            if self.bare:
                self._refuse_bare()
            if len(cells) != len(self.titles):
                self._refuse_length(line, cells)
            rows.append([self._number(line, k, cell) for k, cell in enumerate(cells)])
            where.append(line)
            if len(self.words) < SAMPLE:
                self.words.append(cells)
        return np.array(rows, dtype=float).reshape(-1, len(self.titles)), array(
            "q", where
        )  # a list is five times it

    def _cells(self, row: str) -> list[str]:
        if self.separator is None:
            return [cell[1:-1] if QUOTED.fullmatch(cell.encode()) else cell for cell in row.split()]
        try:
            found = next(csv.reader([row], delimiter=self.separator, strict=True), [])
        except csv.Error:
            found = row.split(self.separator)
        return [cell.strip() for cell in found]

    def _count_empty(self, line: int, lines: int, letters: int) -> None:
        self.empty, self.blank = self.empty + lines, self.blank + letters
        if self.empty > MOST_EMPTY:
            refuse(self.label, line, f"{self.empty} lines are empty", f"{MOST_EMPTY} at most: remove them")
        if self.blank > LONGEST_EMPTY:
            given = f"{self.blank} letters in lines without a number"
            refuse(self.label, line, given, f"{LONGEST_EMPTY} at most: remove them")

    def _refuse_bare(self) -> NoReturn:
        """A row of separators between others: left out, all rows after it would be another row's."""
        wanted = "a number with a decimal point in each column of every row: remove the row"
        refuse(self.label, self.bare, "every cell is empty", wanted)

    def _refuse_length(self, line: int, cells: list[str]) -> NoReturn:
        hint = ""
        if self.separator == "," and len(cells) > len(self.titles):
            hint = " (decimal commas? then put semicolons between the columns)"
        refuse(
            self.label,
            line,
            f"{len(cells)} cells",
            f"{len(self.titles)}, as in the first line: every row has to have a number in each column{hint}",
        )

    def _number(self, line: int, k: int, cell: str) -> float:
        column, word = f"column {self.titles[k]!r}", cell
        if self.separator != ",":  # 1.250 after 0,5 may be more than a thousand
            commas, points = "," in cell, "." in cell
            if (commas and (points or self.points)) or (points and self.commas):
                refuse(
                    self.label, line, f"{column} holds {cell[:40]!r}", "decimal points or commas, not both"
                )
            word, self.commas, self.points = (
                cell.replace(",", "."),
                self.commas or commas,
                self.points or points,
            )
        if NOT_FINITE.fullmatch(word):
            refuse(self.label, line, f"{column} is {cell}", "a finite number: mend or remove the row")
        if not NUMBER.fullmatch(word):
            held = "is empty" if not cell else f"holds {cell[:40]!r}"
            refuse(
                self.label,
                line,
                f"{column} {held}",
                "a number with a decimal point in each column of every row",
            )
        value = float(word)
        if not math.isfinite(value):
            refuse(self.label, line, f"{column} is {cell[:40]}", "a finite number below 1e308")
        return value


def last_digits(words: list[list[str]], columns: Sequence[int], largest: Vector) -> Vector:
    """The unit of the last digit that is written in each column (columns,); 0 where there are more than 12 of them.

    Whoever writes 12.3457 and 0.0123457 has six digits of each (%g, streams of C++), not seven decimals: the unit is
    that of the `largest` number of the column (columns,).
    """
    found = np.zeros(len(columns))
    for at, k in enumerate(columns):
        column = [row[k].strip().replace(",", ".") for row in words]
        unit = min((u for u in map(_unit, column) if u > 0), default=0.0)
        written = [word for word in column if _figures(word)]
        most = max(map(_figures, written), default=0)
        as_decimals = sum(_unit(word) == unit for word in written)
        if sum(_figures(word) == most for word in written) > as_decimals:
            unit = 10.0 ** (np.floor(np.log10(max(largest[at], TINY))) + 1 - most) if most <= MANY else 0.0
        found[at] = unit
    return np.where(found < 10.0**-MANY * np.minimum(largest, 1.0), 0.0, found)


MANY = 12
"""Digits beyond which nobody rounded."""
TINY = np.finfo(float).tiny


def _figures(word: str) -> int:
    """How many digits are written from the first that is not zero on; 0 for a zero."""
    return len(word.lower().partition("e")[0].lstrip("+-").replace(".", "").lstrip("0"))


def _unit(word: str) -> float:
    digits, _, exponent = word.lower().partition("e")
    power = float(exponent or 0) - len(digits.partition(".")[2])
    return 10.0**power if abs(power) < 300 else 0.0


def opened(source: Any) -> AbstractContextManager[BinaryIO]:
    """A path as a file of bytes; a stream as it is, and it stays open."""
    if hasattr(source, "read"):
        return nullcontext(source)
    try:
        return Path(source).open("rb")  # a number would be an open file, and be closed
    except OSError as error:
        pass_on_signals()
        raise ReadFault(
            f"{source}: cannot be read ({error.strerror}); give a readable CSV file with a header line."
        ) from None
    except ValueError:  # a zero byte, half of a surrogate pair
        raise ReadFault(f"{str(source)!r} is no name of a file; give the path of a CSV file.") from None
