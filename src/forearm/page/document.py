"""A page from sections with sentences, tables and pictures: inline SVG; the only script is in the live frame."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

from forearm.outside import escapes

GOOD, BAD = ("PASS", "exact"), ("FAIL",)
"""Words in cells that are coloured."""
MARK = "<meta name='generator' content='forearm'>"
"""By this a page is known to be one of ours, which may be written over."""
SHORT = 16
"""A text of so many letters stays on one line."""


@dataclass(frozen=True)
class PageTable:
    """Rows under a header; numbers stand to the right."""

    header: tuple[str, ...]
    """Names of the columns."""
    rows: Sequence[Sequence[Any]]
    """Cells."""
    caption: str = ""
    """One sentence under the table."""
    code: tuple[int, ...] = ()
    """Columns set in the type of code."""

    def html(self) -> str:
        """The table; wider than the screen, it scrolls by itself."""
        left = [k for k in range(len(self.header)) if any(isinstance(row[k], str) for row in self.rows)]
        head = "".join(f"<th{_side(k, left)}>{escapes.html(name)}</th>" for k, name in enumerate(self.header))
        body = "".join(
            "<tr>" + "".join(self._cell(k, value, left) for k, value in enumerate(row)) + "</tr>"
            for row in self.rows
        )
        caption = f"<p class='caption'>{escapes.html(self.caption)}</p>" if self.caption else ""
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return f"<div class='scroll' tabindex='0'>{table}</div>{caption}"

    def _cell(self, k: int, value: Any, left: list[int]) -> str:
        text = escapes.html(_text(value))
        if k in self.code:
            text = f"<code>{text.replace('_', '_<wbr>')}</code>"
        if value in GOOD or value in BAD:
            text = f"<span class='{'good' if value in GOOD else 'bad'}'>{text}</span>"
        if len(_text(value)) <= SHORT:
            return f"<td{_side(k, left)} style='white-space:nowrap'>{text}</td>"
        return f"<td class='l long'>{text}</td>" if k in left else f"<td>{text}</td>"


@dataclass(frozen=True)
class Figure:
    """A picture with its caption."""

    svg: str
    """The SVG element."""
    caption: str
    """What one sees."""
    name: str = ""
    """A word for links and tests."""

    def html(self) -> str:
        """The figure; the caption is what a screen reader says."""
        label, name = escapes.html(self.caption), escapes.html(self.name)
        drawn = self.svg.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)
        return f"<figure id='{name}'>{drawn}<figcaption>{label}</figcaption></figure>"


@dataclass(frozen=True)
class Section:
    """A part of the page."""

    title: str
    """Its heading."""
    text: str
    """Sentences under the heading; ` marks code."""
    parts: Sequence[PageTable | Figure] = field(default=())
    """Tables and figures."""

    def html(self, number: int) -> str:
        """The section."""
        parts = [part.html() for part in self.parts]
        kind = " both" if len(parts) > 1 else ""
        kind += " wide" if kind and isinstance(self.parts[0], PageTable) else ""
        content = "".join(f"<div class='part'>{part}</div>" for part in parts)
        return (
            f"<section id='s{number}'><h2>{escapes.html(self.title)}</h2><p>{_marked(self.text)}</p>"
            f"<div class='parts{kind}'>{content}</div></section>"
        )


def page(
    title: str,
    lead: str,
    facts: Sequence[tuple[str, str]],
    hero: str,
    sections: Sequence[Section],
    end: str,
    live: str = "",
) -> str:
    """The whole page: title, a sentence, numbers that matter, a picture, a live frame, sections, a last line."""
    style = (resources.files("forearm") / "page" / "page.css").read_text(encoding="utf-8")
    tiles = "".join(
        f"<div><b>{escapes.html(value)}</b><span>{escapes.html(name)}</span></div>" for value, name in facts
    )
    links = "".join(f"<a href='#s{k}'>{escapes.html(s.title)}</a>" for k, s in enumerate(sections, 1))
    frame = f"<div class='live'>{live}</div>" if live else ""
    body = "".join(section.html(k) for k, section in enumerate(sections, 1))
    return (
        f"<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>{MARK}"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{escapes.html(title)}</title><style>{style}</style></head><body><header><div>"
        f"<h1>{escapes.html(title)}</h1><p>{_marked(lead)}</p><div class='tiles'>{tiles}</div></div>"
        f"<div class='hero'>{hero}</div></header>{frame}<nav>{links}</nav><main>{body}</main>"
        f"<footer>{_marked(end)}</footer></body></html>\n"
    )


def _marked(text: str) -> str:
    """Escaped text, with `code` set as such."""
    parts = escapes.html(text).split("`")
    return "".join(f"<code>{part}</code>" if k % 2 else part for k, part in enumerate(parts))


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _side(k: int, left: list[int]) -> str:
    return " class='l'" if k in left else ""
