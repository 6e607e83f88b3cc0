"""Text from outside, made harmless for the place where it is written.

Names and notes come from files of strangers. They are data wherever they go: each function here makes a text fit
one place, so that no character in it can end a comment, open a tag or start a command.
"""

import json
import re

REFUSED = ("Cc", "Cs", "Zl", "Zp")
"""Categories of characters that no name has: controls, halves of surrogate pairs, line and paragraph separators."""

TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")
"""Characters that turn the direction of what follows: a name that holds them is not what one reads."""

INVISIBLE = frozenset(
    chr(code)
    for first, last in (
        (0x00AD, 0x00AD), (0x034F, 0x034F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x200B, 0x200D),
        (0x2060, 0x2065), (0x206A, 0x206F), (0x2800, 0x2800), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
        (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
    )
    for code in range(first, last + 1)
)  # fmt: skip
"""Characters that show nothing (what Unicode lets a font ignore, and its blank letters): two names that differ by them
look alike."""


def hidden(text: str, allowed: str = "") -> str | None:
    """The first character that does not show as itself on a line, such as a newline or an escape; None if all do."""
    if text.isascii() and text.isprintable():
        return None
    import unicodedata  # a library of its own, which most names can do without

    for c in text:
        if c not in allowed and (unicodedata.category(c) in REFUSED or c in TURNING or _is_none(c)):
            return c
    return None


def invisible(text: str) -> str | None:
    """The first character that shows nothing at all, such as a space without width; None if there is none."""
    return None if text.isascii() else next((c for c in text if c in INVISIBLE), None)


def composed(text: str) -> str:
    """A name with each accent in its letter: one for all spellings that Unicode takes for the same text."""
    if text.isascii():
        return text
    import unicodedata

    return unicodedata.normalize("NFC", text)


def _shows(c: str) -> bool:
    """Whether a character shows as itself wherever it stands."""
    return c.isprintable() and c not in TURNING and c not in INVISIBLE


def _is_none(c: str) -> bool:
    """Whether Unicode says that there is no such character (U+FFFE, U+FFFF and others); XML cannot hold them."""
    return ord(c) & 0xFFFE == 0xFFFE or "\ufdd0" <= c <= "\ufdef"


def one_line(text: str) -> str:
    r"""What shows as itself on one line; everything else as a backslash sequence (a newline becomes `\n`)."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if _shows(c) else _sequence(c) for c in text)


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


def html(text: str) -> str:
    """For the text or an attribute of HTML and SVG: no tag, no entity, no quote survives."""
    return "".join(_HTML.get(c, c) for c in one_line(text))


def markdown(text: str) -> str:
    """For a line of Markdown, a heading or a cell of a table: shows as itself, without links, formulas or tags."""
    line = one_line(text).strip()
    written = "".join(_HTML.get(c, c) if c in "<>&" else f"\\{c}" if c in _MARKS else c for c in line)
    # an underscore between letters stands for itself everywhere, and names are full of them
    written = re.sub(r"(?<![^\W_])_|_(?![^\W_])", r"\\_", written)
    for pair in ("](", "][", "]:", "{{", "{%"):
        written = written.replace(pair, f"{pair[0]}\\{pair[1]}")
    # what begins a list, or draws a rule under the line above
    return re.sub(r"^(\d*)([-+=.)])(?=\s|$|[-=\s]+$)", r"\1\\\2", written)


def markdown_code(text: str) -> str:
    """For a code span, in a table too: the text between more backticks than it holds."""
    line = one_line(text).replace("|", "\\|")
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", line)), default=0))
    return f"{fence} {line} {fence}" if "`" in line or not line.strip() else f"{fence}{line}{fence}"


def latex(text: str) -> str:
    """For a text of LaTeX: no command and no `^^` survives; letters that pdfTeX does not know become U+ numbers."""
    line = one_line(text)
    # after the end of a row, what stands in brackets is a length, and an asterisk forbids a new page
    return ("{}" if line[:1] in ("[", "*") else "") + "".join(_latex(c) for c in line)


def _latex(c: str) -> str:
    if c.isascii():
        return _LATEX.get(c, c)
    known = "\u00c0" <= c <= "\u00ff" and c not in "ÐðÞþ"
    return _LATEX.get(c) or (c if known else f"U+{ord(c):04X}")


def latex_name(text: str) -> str:
    """For a name in a formula, of LaTeX and of MathJax in a page: upright letters, everything else a sign."""
    return "".join(
        _LATEX_SIGNS.get(c) or (c if c.isascii() else _LATEX.get(c) or f"U+{ord(c):04X}")
        for c in one_line(text)
    )


_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"}
_MARKS = "\\`*#|~$"
_LATEX = {c: f"\\{c}" for c in "&%_#${}"} | {
    "\\": "\\textbackslash{}",
    "^": "\\textasciicircum{}",
    "~": "\\textasciitilde{}",
    "<": "\\textless{}",
    ">": "\\textgreater{}",
    "|": "\\textbar{}",
    '"': "''",
    "…": "\\ldots{}",
    "–": "--",
    "—": "---",
    "’": "'",
    "×": "\\ensuremath{\\times}",
    "÷": "\\ensuremath{\\div}",
    "·": "\\ensuremath{\\cdot}",
    "²": "\\ensuremath{^2}",
    "³": "\\ensuremath{^3}",
    "±": "\\ensuremath{\\pm}",
    "≤": "\\ensuremath{\\le}",
    "≥": "\\ensuremath{\\ge}",
    "−": "\\ensuremath{-}",
}
_LATEX_SIGNS = {c: f"\\{c}" for c in "&%_#${}"} | {
    "\\": "\\backslash{}",
    "^": "\\wedge{}",
    "~": "\\sim{}",
    "<": "{<}",
    ">": "{>}",
    " ": "\\ ",
}


def picture(text: str) -> str:
    """For matplotlib, where two dollars would make a formula of what is between them, or an error."""
    return one_line(text).replace("$", "\\$")


def spreadsheet(text: str) -> str:
    """For a cell of CSV: no spreadsheet takes it for a formula; numbers and polynomials stay as they are."""
    text = csv_title(text)
    return f"'{text}" if text[:1] in f"{_SIGNS}\t\r" and not _COUNT.fullmatch(text) else text


def csv_title(text: str) -> str:
    """For a title of CSV: no formula begins behind a semicolon, where half of the world's spreadsheets begin a cell.

    Quotes that stand there are those of a cell, and are gone before it is looked at.
    """
    return _BEHIND.sub(r";'\1", text)


def text_of_title(written: str) -> str:
    """The text that `csv_title` wrote."""
    return _WRITTEN.sub(r";\1", written)


_SIGNS = "=@+\uff1d\uff20\uff0b\uff0d-"
"""What a formula begins with; signs of full width (of Chinese, Japanese and Korean) are the same to a spreadsheet."""
_BEHIND = re.compile(rf""";('*)(?=[\s"]*[{_SIGNS}])""")
_WRITTEN = re.compile(_BEHIND.pattern.replace(";", ";'", 1))
_COUNT = re.compile(r"[-+*^|. \deEn]*", re.ASCII)


def bibtex(text: str) -> str:
    """For what stands between entries of a bibliography: one line in which no entry begins."""
    return one_line(text).replace("@", "(at)")


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
    return "".join(c if c in "\n\t" or _shows(c) else _sequence(c) for c in text)


def json_text(text: str) -> str:
    """For JSON that a person may look at: lines stay, what does not show as itself is written by its number."""
    if text.isascii():
        return text
    return "".join(c if c == "\n" or _shows(c) else json.dumps(c)[1:-1] for c in text)
