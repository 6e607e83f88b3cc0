"""How far a sweep has come, on disk: blocks that are done, and what they gave together.

One JSON document, written beside its place and renamed, so that a crash leaves the one before. Numbers are whole, or
floats as Python writes them, which are read back to the last bit. No more is read than the question can fill, and
nothing with more lists than it has: JSON of a stranger may take twenty times its size. A journal of another question is
refused, and so is one whose numbers are not those that its checksum was made of. Whatever a function of the caller's
depends on, no look at its text finds all: the results of a few samples stand in the journal, and are computed again.
"""

import hashlib
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from forearm.algebra import Vector
from forearm.faults import StateFault
from forearm.outside.output_files import write_text
from forearm.outside.running_log import LOG
from forearm.outside.signal_errors import pass_on_signals
from forearm.sweeps.problem import Problem
from forearm.sweeps.reductions import NUMBER

KIND = "forearm sweep 4"
EVERY = 2.0
"""Seconds between two writings."""
ALIKE = 1e-9
"""Share of the largest by which results of the same question may differ: another machine adds in another order."""
STRETCHES = 1 << 16
"""Stretches of blocks that are done, at most: there are about as many as workers."""


class Journal:
    """What is known so far, kept in a file where one is named."""

    def __init__(self, problem: Problem, path: Any) -> None:
        """Begin, or go on where the file ends."""
        self.problem, self.path = problem, None if path is None else Path(path)
        self.done: list[list[int]] = []
        self.total = problem.empty()
        self.resumed = 0
        self._digest = problem.digest() if self.path else ""
        self._probes = problem.probes() if self.path else np.zeros((0, 0))
        self._written = time.monotonic()
        self._torn = self._told = False
        self._process = os.getpid()
        if self.path is not None and self.path.exists():
            self._read(self.path)

    def _read(self, path: Path) -> None:
        where = f"sweep: journal {str(path)!r}"
        room = self.problem.room()
        most = room.letters + NUMBER * (self._probes.size + 3 * STRETCHES)
        content = _content(path, where, most)
        try:
            if content.count(b"[") + content.count(b"{") > room.lists + STRETCHES + len(self._probes) + 8:
                raise ValueError("more lists than a journal has")
            found = json.loads(content)
            if found["kind"] != KIND:
                raise KeyError(KIND)
            digest, done, total = found["digest"], found["done"], found["total"]
            probes = np.array(found["probes"], dtype=float)
            whole = found["checksum"] == _checksum(_body(done, total))
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            raise StateFault(
                f"{where} is no journal of a sweep; give another name, or remove the file."
            ) from None
        if digest != self._digest:
            raise StateFault(
                f"{where} is of another sweep (other samples, axes, arm, seed or reductions, or code that changed); "
                "give another name, or remove the file to begin anew."
            )
        if not _alike(probes, self._probes):
            raise StateFault(
                f"{where}: {_what(self.problem)} gives other numbers now than when this journal was begun, so the rest "
                "would not go with what is done (something that it depends on has changed, or it gives other numbers "
                "each time); give another name, or remove the file to begin anew."
            )
        try:
            if not whole:
                raise ValueError
            self.done = _joined([[int(a), int(b)] for a, b in done])
            if any(not 0 <= a < b <= self.problem.blocks for a, b in self.done):
                raise ValueError
            self.problem.merge(self.total, total)
            if not self.problem.possible(self.total):
                raise ValueError
        except (ValueError, KeyError, TypeError, IndexError, OverflowError, AttributeError):
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
        self._torn = True  # by Ctrl-C from here on: blocks would be counted twice
        self.problem.merge(self.total, found)
        self.done = _joined([*self.done, [first, end]])
        self._torn = False
        if time.monotonic() - self._written > EVERY:
            self.keep()

    def keep(self) -> None:
        """Write, and say so where that fails: a full disk or memory takes the journal, not the sweep's result."""
        try:
            self.write()
        except (OSError, MemoryError) as reason:
            pass_on_signals()
            self._written = time.monotonic()
            if not self._told:
                self._told = True
                why = getattr(reason, "strerror", None) or "no memory for it"
                LOG.warning("the journal %s cannot be written (%s); the sweep goes on", self.path, why)

    def write(self) -> None:
        """Put it all into the file; what an interrupt tore is not written, and the file before stays.

        Nor is what a copy of this process knows, which knows less than the process does by now.
        """
        if self.path is not None and not self._torn and self._process == os.getpid():
            body = _body(self.done, self.total)
            head = {"kind": KIND, "digest": self._digest, "blocks": self.problem.blocks}
            head["checksum"] = _checksum(body)
            head["probes"] = self._probes.tolist()
            write_text(self.path, f"{json.dumps(head)[:-1]}, {body[1:]}")
        self._written = time.monotonic()


def _what(problem: Problem) -> str:
    return problem.what if isinstance(problem.what, str) else "the function"


def _alike(old: Vector, new: Vector) -> bool:
    """Whether results are the same but for rounding; what is not finite is so in both."""
    if old.shape != new.shape:
        return False
    same = (old == new) | (np.isnan(old) & np.isnan(new))
    with np.errstate(invalid="ignore"):
        near = np.abs(old - new) <= ALIKE * np.max(np.abs(new[np.isfinite(new)]), initial=0.0)
    return bool(np.all(same | near))


def _content(path: Path, where: str, most: int) -> bytes:
    """What stands in the file, if it is not more than this sweep can have written."""
    with path.open("rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise StateFault(
            f"{where} has more than {most} bytes, which no journal of this sweep has; give another name, or remove the "
            "file to begin anew."
        )
    return content


def _body(done: Any, total: Any) -> str:
    """What the checksum is made of, as it stands in the file."""
    return json.dumps({"done": done, "total": total})


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


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
