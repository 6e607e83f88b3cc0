"""Where things stand in a TOML file: the standard parser forgets line numbers, a person needs them."""

import re
import tomllib
from collections.abc import Iterator
from typing import Any

from forearm.faults import ReadFault
from forearm.outside.signal_errors import pass_on_signals

Path = tuple[str | int, ...]
"""The way to a value: table names, positions in arrays of tables, keys."""

KEY = re.compile(
    r"""^\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*="""
)
KEY_LETTERS = re.compile(r"""[\w\s.'"-]+(\]+\s*)?""")
TEXTS = re.compile(
    r'''"""(?:[^\\]|\\.)*?(?:"{3,5}|\Z)|\'{3}.*?(?:\'{3,5}|\Z)|"(?:[^"\\\n]|\\.)*"?|\'[^\'\n]*\'?|\#[^\n]*''',
    re.DOTALL,
)
"""Texts and comments; one that does not end is taken to its end, so that no letter is looked at twice."""
MAX_LETTERS = 2**18
MAX_LEVELS = 8
"""Longer files and longer dotted keys are refused: the standard parser's work grows with their square."""
LONGEST_INTEGER = 10_000
"""Bits; Python prints no integer of more than 4300 digits."""
DEEP = "arrays or tables stand hundreds deep in each other; an arm has three levels. Take them out."
QUOTES = ('"""', "'''", '"', "'")


def parse(text: str, file: str) -> dict[str, Any]:
    """The content of a TOML text; bad syntax, and more of it than an arm has, is a ReadFault with file and line."""
    _refuse_excess(text, file)
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        line = int(place[1]) if place else text.count("\n") + 1
        what = str(error).split(" (at ")[0]
        raise ReadFault(
            f"{file}:{line}: not valid TOML: {what}. Mend the line; strings need quotes, an inline table "
            "{ .. } stays on one line."
        ) from None
    except RecursionError:
        raise ReadFault(f"{file}: {DEEP}") from None
    except ValueError as error:  # Python's own limit on the digits of an integer
        pass_on_signals()
        raise ReadFault(f"{file}: not valid TOML: {error}. Write numbers with fewer digits.") from None
    try:
        longest = max((integer.bit_length() for integer in _integers(found)), default=0)
    except RecursionError:
        raise ReadFault(f"{file}: {DEEP}") from None
    if longest > LONGEST_INTEGER:
        raise ReadFault(f"{file}: an integer of thousands of digits; write numbers with fewer.")
    return found


def _integers(value: Any) -> Iterator[int]:
    """Every integer of a document: one that was written in hexadecimal may be too long to be printed."""
    if isinstance(value, int):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _integers(part)


def _refuse_excess(text: str, file: str) -> None:
    """Refuse what the parser would take minutes or gigabytes for: long files, long dotted keys."""
    if len(text) > MAX_LETTERS:
        raise ReadFault(
            f"{file}: the file has {len(text)} letters; TOML files up to {MAX_LETTERS} are read. An arm has a few "
            "thousand."
        )
    if all(line.count(".") <= MAX_LEVELS for line in text.split("\n")):
        return
    bare = TEXTS.sub(lambda found: "\n" * found[0].count("\n"), text)
    for number, line in enumerate(bare.split("\n"), 1):
        for key in _keys(line):
            if key.count(".") > MAX_LEVELS and KEY_LETTERS.fullmatch(key):
                raise ReadFault(
                    f"{file}:{number}: a key of {key.count('.') + 1} parts, {key.strip()[:20]}…; an arm has keys of "
                    "three at most. Take it out."
                )


def _keys(line: str) -> list[str]:
    """What stands where keys do in a line: before each sign of equality, or in a header."""
    before = line.split("=") if line.lstrip().startswith("[") else line.split("=")[:-1]
    return [re.split(r"[,{\[]", piece)[-1] for piece in before]


def key_lines(text: str) -> dict[Path, int]:
    """The line on which each table and each key begins."""
    lines: dict[Path, int] = {}
    counts: dict[Path, int] = {}
    table: Path = ()
    open_value = ""
    for number, line in enumerate(text.split("\n"), 1):
        if open_value:
            open_value = _still_open(line, open_value)
            continue
        if line.lstrip().startswith("["):
            name = line.lstrip().lstrip("[").partition("]")[0]
            table = _enter(name, line.lstrip().startswith("[["), counts)
            lines[table] = number
            continue
        key = KEY.match(line)
        if key:
            path = (*table, *_names(key[1]))
            lines.setdefault(path, number)
            open_value = _still_open(line[key.end() :], "")
    return lines


def line_of(lines: dict[Path, int], path: Path) -> int:
    """The line of a path, of the first thing in it, or of the nearest thing around it that has one."""
    while path and path not in lines:
        inside = [line for other, line in lines.items() if other[: len(path)] == path]
        if inside:
            return min(inside)
        path = path[:-1]
    return lines.get(path, 1)


def _names(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in dotted.split("."))


def _enter(dotted: str, is_array: bool, counts: dict[Path, int]) -> Path:
    """The path of a table header; inside an array of tables it is the newest element."""
    path: Path = ()
    names = _names(dotted)
    for depth, name in enumerate(names, 1):
        path = (*path, name)
        if is_array and depth == len(names):
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path = (*path, counts[path])
    return path


def _still_open(text: str, open_value: str) -> str:
    """What a line leaves open: a multi-line string's quotes, or brackets ('[' for each)."""
    at = 0
    while at < len(text):
        if open_value.startswith(('"""', "'''")):
            end = text.find(open_value[:3], at)
            if end < 0:
                return open_value
            open_value, at = open_value[3:], end + 3
            continue
        if text[at] == "#":
            break
        quote = next((q for q in QUOTES if text.startswith(q, at)), "")
        if len(quote) == 3:
            open_value, at = quote + open_value, at + 3
        elif quote:
            at = _end_of_string(text, at, quote)
        else:
            if text[at] in "[{":
                open_value += "["
            elif text[at] in "]}":
                open_value = open_value[:-1]
            at += 1
    return open_value


def _end_of_string(text: str, start: int, quote: str) -> int:
    """The position after a one-line string that begins at start."""
    at = start + 1
    while at < len(text) and text[at] != quote:
        at += 2 if quote == '"' and text[at] == "\\" else 1
    return at + 1
