"""Text from outside, made harmless for the place where it is written.

Names and notes come from files of strangers. They are data wherever they go: each function here makes a text fit
one place, so that no character in it can end a comment, open a tag or start a command.
"""

import unicodedata

REFUSED = ("Cc", "Cs", "Zl", "Zp")
"""Categories of characters that no name has: controls, halves of surrogate pairs, line and paragraph separators."""

TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")
"""Characters that turn the direction of what follows: a name that holds them is not what one reads."""


def hidden(text: str, allowed: str = "") -> str | None:
    """The first character that does not show as itself on a line, such as a newline or an escape; None if all do."""
    for c in text:
        if c not in allowed and (unicodedata.category(c) in REFUSED or c in TURNING):
            return c
    return None


def one_line(text: str) -> str:
    r"""Printable characters on one line; everything else as a backslash sequence (a newline becomes `\n`)."""
    return "".join(c if c.isprintable() and c not in TURNING else _sequence(c) for c in text)


def _sequence(c: str) -> str:
    return c.encode("unicode_escape").decode("ascii")


def line_comment(text: str) -> str:
    """For a comment that ends with its line (LLVM, PTX, C++, Python, TOML): one line that no backslash continues."""
    line = one_line(text)
    return line + " ." if line.endswith("\\") else line


def docstring(text: str) -> str:
    """For the inside of a Python docstring: no quote and no backslash ends it or means something else."""
    return one_line(text).replace("\\", "/").replace('"', "'")


def block_comment(text: str) -> str:
    """For a comment between `/*` and `*/`: neither mark, and no trigraph, survives in it."""
    line = one_line(text)
    for mark, broken in (("*/", "* /"), ("/*", "/ *"), ("??", "? ?")):
        while mark in line:
            line = line.replace(mark, broken)
    return line


def xml_comment(text: str) -> str:
    """For the inside of an XML comment: one line without two hyphens in a row, and none at its end."""
    line = one_line(text)
    while "--" in line:
        line = line.replace("--", "- -")
    return f"{line} " if line.endswith("-") else line


def terminal(text: str) -> str:
    r"""For a terminal: lines and tabs stay, nothing else moves the cursor, colours or turns what follows."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c in "\n\t" or (c.isprintable() and c not in TURNING) else _sequence(c) for c in text)
