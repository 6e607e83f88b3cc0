"""How far a sweep has come, on disk: blocks that are done, and what they gave together.

One JSON document, written beside its place and renamed, so that a crash leaves the one before. Numbers are whole, or
floats as Python writes them, which are read back to the last bit. A journal of another question is refused.
"""

import json
import time
from pathlib import Path
from typing import Any

from forearm.faults import StateFault
from forearm.output_files import write_text
from forearm.sweeps.problem import Problem

KIND = "forearm sweep 1"
EVERY = 2.0
"""Seconds between two writings."""


class Journal:
    """What is known so far, kept in a file where one is named."""

    def __init__(self, problem: Problem, path: Any) -> None:
        """Begin, or go on where the file ends."""
        self.problem, self.path = problem, None if path is None else Path(path)
        self.done: list[list[int]] = []
        self.total = problem.empty()
        self.resumed = 0
        self._digest = problem.digest() if self.path else ""
        self._written = time.monotonic()
        if self.path is not None and self.path.exists():
            self._read(self.path)

    def _read(self, path: Path) -> None:
        where = f"sweep: journal {str(path)!r}"
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            if found["kind"] != KIND:
                raise KeyError(KIND)
            digest, done, total = found["digest"], found["done"], found["total"]
        except (ValueError, KeyError, TypeError, UnicodeDecodeError):
            raise StateFault(
                f"{where} is no journal of a sweep; give another name, or remove the file."
            ) from None
        if digest != self._digest:
            raise StateFault(
                f"{where} is of another sweep (other samples, axes, arm, seed or reductions, or code that changed); "
                "give another name, or remove the file to begin anew."
            )
        try:
            self.done = _joined([[int(a), int(b)] for a, b in done])
            if any(not 0 <= a < b <= self.problem.blocks for a, b in self.done):
                raise ValueError
            self.problem.merge(self.total, total)
        except (ValueError, KeyError, TypeError, IndexError):
            raise StateFault(f"{where} is damaged; remove the file to begin anew.") from None
        self.resumed = self.blocks_done

    @property
    def blocks_done(self) -> int:
        """How many blocks are known."""
        return sum(b - a for a, b in self.done)

    def missing(self) -> list[tuple[int, int]]:
        """Stretches of blocks that are not known, in order."""
        marks = [0, *(x for pair in self.done for x in pair), self.problem.blocks]
        return [(a, b) for a, b in zip(marks[::2], marks[1::2], strict=True) if a < b]

    def add(self, first: int, end: int, found: dict[str, Any]) -> None:
        """Blocks first to end are known; written down now and then."""
        self.problem.merge(self.total, found)
        self.done = _joined([*self.done, [first, end]])
        if time.monotonic() - self._written > EVERY:
            self.write()

    def write(self) -> None:
        """Put it all into the file."""
        if self.path is not None:
            document = {"kind": KIND, "digest": self._digest, "blocks": self.problem.blocks}
            write_text(self.path, json.dumps(document | {"done": self.done, "total": self.total}))
        self._written = time.monotonic()


def _joined(pairs: list[list[int]]) -> list[list[int]]:
    """Stretches in order, neighbours as one."""
    found: list[list[int]] = []
    for a, b in sorted(pairs):
        if found and found[-1][1] > a:
            raise ValueError("a block twice")
        if found and found[-1][1] == a:
            found[-1][1] = b
        else:
            found.append([a, b])
    return found
