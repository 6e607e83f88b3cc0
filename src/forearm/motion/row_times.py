"""Times of a log's rows: they rise, they are seconds, and gaps are said; commas, and a last row that is cut off."""

from collections.abc import Sequence
from statistics import median_low

import numpy as np

from forearm.algebra import Vector
from forearm.faults import ReadFault
from forearm.motion.columns import Header
from forearm.motion.number_tables import LastCell, NumberTable, refuse
from forearm.outside.escapes import one_line
from forearm.outside.text_table import instant

LATEST, FAR_APART = 1e11, 1e4
"""Times after the year 5138, or rows hours apart [s], are asked about: milliseconds, nanoseconds?"""
CLOSEST = 1e-15
"""Rows closer than this [s] are no log of anything."""
SLOW, MANY = 0.5, 20
"""So many rows at least so far apart [s] are said to be read as seconds."""
SLOW_FEW = 5.0
"""And fewer rows, from so far apart on [s]: a few points by hand are a second apart."""
WIDE = 5.0
"""Rows that are so many times farther apart than most are a gap in a log."""


def check_times(label: str, table: NumberTable, t: Vector) -> None:
    """Refuse times that do not rise."""
    steps = np.diff(t)
    late = np.flatnonzero(steps <= 0)
    close = np.flatnonzero(steps < CLOSEST)
    if close.size and not late.size:
        k = int(close[0]) + 1
        refuse(
            label,
            table.line(k),
            f"t is {steps[k - 1]:.3g} s after the row before",
            f"times {CLOSEST:g} s apart",
        )
    if late.size:
        k = int(late[0]) + 1
        refuse(
            label,
            table.line(k),
            f"t is {t[k]:.12g} s after {t[k - 1]:.12g} s",
            "rising times: " + ("leave out all but one" if t[k] == t[k - 1] else "sort the rows"),
        )


def seconds_notes(label: str, columns: Header, t: Vector | None) -> tuple[str, ...]:
    """A note where rows are far apart for seconds; refuse times that no seconds are."""
    if t is None or columns.places["t", 0].stated:
        return ()
    step, last = float(np.median(np.diff(t))) if len(t) > 1 else 0.0, float(np.max(np.abs(t)))
    if last > LATEST or step > FAR_APART:
        raise ReadFault(
            f"{label}: times go to {last:.4g} s, rows {step:.4g} s apart: that looks like milliseconds, microseconds "
            "or nanoseconds. Say the unit in the header (t_ms, t [ns]), or give --time-unit (time_unit=)."
        )
    if step < (SLOW if len(t) >= MANY else SLOW_FEW):
        return ()
    return (
        f"times read as seconds, rows {step:.3g} s apart; if they are not, give --time-unit (time_unit=)",
    )


def gap_notes(t: Vector | None) -> tuple[str, ...]:
    """A note where rows are missing: what is worked out across a gap is a guess."""
    steps = np.diff(t) if t is not None and len(t) >= MANY else np.zeros(0)
    wide = np.flatnonzero(steps > WIDE * np.median(steps)) if steps.size else steps
    if t is None or not wide.size:
        return ()
    k = int(wide[np.argmax(steps[wide])])
    more = f", nor in {wide.size - 1} more gaps" if wide.size > 1 else ""
    return (
        f"WARNING: no rows between {instant(t[k])} and {instant(t[k + 1])} s{more} (rows are "
        f"{np.median(steps):.3g} s apart elsewhere): speeds and accelerations worked out from neighbours are guesses "
        "there",
    )


def comma_notes(commas: bool) -> tuple[str, ...]:
    """A note where numbers have decimal commas: where commas part thousands, all are a thousand times too small."""
    return ("decimal commas read as points",) if commas else ()


def cut_notes(end: LastCell | None) -> tuple[str, ...]:
    """A note where the last number of a file that does not end in a newline may have lost its last digits.

    A copy that stopped, a disk that was full or a program that was killed ends anywhere: 0.12 of 0.1234 is a number.
    """
    if end is None or not end.above or not _cut(end.word, end.above):
        return ()
    return (
        f"WARNING: the file does not end in a newline, and its last cell (line {end.line}, {one_line(end.title)}: "
        f"{end.word}) has fewer digits than those above it: if the file was cut off there, it is wrong, and rows are "
        "missing",
    )


def _cut(last: str, others: Sequence[str]) -> bool:
    """Whether a number looks like the beginning of one that is written as the others are."""
    exponents = [len(tail) for word in others if (tail := _exponent(word))]
    if own := _exponent(last):
        return bool(exponents) and len(own) < min(exponents)  # 1e-0 of 1e-07
    if len(exponents) == len(others):
        return True
    return _decimals(last) < median_low(_decimals(word) for word in others if not _exponent(word)) or (
        _decimals(last) == 0 and len(last.lstrip("+-")) < min(len(word.lstrip("+-")) for word in others)
    )


def _exponent(word: str) -> str:
    return word.lower().partition("e")[2].lstrip("+-")


def _decimals(word: str) -> int:
    return len(word.replace(",", ".").lower().partition("e")[0].partition(".")[2])
