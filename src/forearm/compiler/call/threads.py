"""Threads that stay, for kernels that run without the GIL.

A crew is a few threads that wait for work in machine code. A job is one function over a table of arrays, cut into
shares; whoever is free takes the next share, the caller among them. The next share and the number of the job are one
word that is exchanged atomically, so a thread that comes late finds nothing to take, and never a share of another job.

For a short while after a job the crew spins, because the next call often follows at once and waking a thread costs
as much as thousands of states. Then it sleeps, in Python, until it is called.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import logging
import os
import threading
import time
from functools import cache, lru_cache
from queue import SimpleQueue
from typing import Any, NamedTuple

from forearm.compiler.call.crew_text import FIELDS, NOW, SIZE, crew_text
from forearm.faults import StateFault

LOG = logging.getLogger("forearm")

SPINS = 4000
"""How often a thread looks for work before it sleeps: some hundred microseconds."""

TO_THE_END = 2**62
"""As often as it takes."""


@cache
def _code() -> dict[str, Any]:
    """The crew's functions. Calls let go of the GIL, but for the short `publish`."""
    from forearm.compiler.llvm.jit import host, load_program

    code = load_program("crew", crew_text(host().triple), _probe)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(code))  # to the very end: a thread may be in it
    return _functions(code)


def _functions(code: Any) -> dict[str, Any]:
    pointer, number, truth = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int
    kinds = {
        "publish": ctypes.PYFUNCTYPE(None, pointer, pointer),
        "work": ctypes.CFUNCTYPE(truth, pointer, number),
        "wait": ctypes.CFUNCTYPE(truth, pointer, number),
        "serve": ctypes.CFUNCTYPE(number, pointer, number, number, number),
    }
    return {name: kind(code.address(name)) for name, kind in kinds.items()}


def _probe(code: Any) -> bytes:
    """What the crew's functions do with a small job that nobody else takes part in: which shares came, and the end."""
    took: list[int] = []
    memory, marks = ctypes.create_string_buffer(SIZE + 64), (ctypes.c_int64 * 4)(0, 2, 3, 7)
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)(
        lambda _table, first, end, _scratch: took.extend((first, end))
    )
    at, area = _aligned(memory), ctypes.create_string_buffer(128)
    address = ctypes.cast(function, ctypes.c_void_p).value or 0
    told = address, 0, ctypes.addressof(marks), 3, 1, _aligned(area), 64
    functions = _functions(code)
    functions["publish"](at, (ctypes.c_int64 * len(FIELDS))(*told))
    took.append(functions["work"](at, 1))
    took.append(functions["wait"](at, 1))
    return repr(took).encode()


class Job(NamedTuple):
    """A function over many states."""

    function: int
    """Address of `void (table, first, end, scratch)`."""
    table: int
    """What it is given."""
    states: int
    """How many there are."""
    grain: int
    """Shares are multiples of so many states."""
    smallest: int
    """States below which taking a share costs more than it brings."""
    scratch: int
    """Bytes of scratch area that a thread needs."""


class Crew:
    """Threads that wait for jobs, the caller of `run` being one more."""

    def __init__(self) -> None:
        """A crew without anybody; `run` brings in as many as it needs."""
        self._code = _code()
        self._memory = ctypes.create_string_buffer(SIZE + 64)
        self._at = _aligned(self._memory)
        self._now = ctypes.c_uint64.from_address(self._at + NOW)
        self._asleep: list[bool] = []
        self._calls: list[SimpleQueue[bool]] = []
        self._threads: list[threading.Thread] = []
        self._area: Any = None
        self._leaving = False

    def run(self, job: Job, members: int) -> None:
        """Do a job by so many members, the caller among them."""
        members = self._gathered(members)
        pitch = -(-job.scratch // 64) * 64
        if self._area is None or len(self._area) < members * pitch + 64:
            self._area = ctypes.create_string_buffer(members * pitch + 64)
        marks = _marks(job.states, members, job.grain, job.smallest)
        where, shares = ctypes.addressof(marks), len(marks) - 1
        told = job.function, job.table, where, shares, members, _aligned(self._area), pitch
        fields, patience = (ctypes.c_int64 * len(FIELDS))(*told), _patience(members)
        try:
            self._code["publish"](self._at, fields)
            for who in range(members - 1):
                if self._asleep[who]:
                    self._asleep[who] = False
                    self._calls[who].put(True)
            done = self._code["work"](self._at, patience)
            while not done:
                time.sleep(1e-5)
                done = self._code["wait"](self._at, patience)
        except BaseException:
            # The arrays must stay until nobody writes to them: one call, which a second interrupt does not cut short.
            self._code["work"](self._at, TO_THE_END)
            raise

    def _gathered(self, wanted: int) -> int:
        """How many there are, after hiring who is missing: fewer than wanted where no thread can be started."""
        for member in range(len(self._threads) + 1, wanted):
            thread = threading.Thread(
                target=self._live, args=(member,), name=f"forearm-{member}", daemon=True
            )
            self._asleep.append(True)
            self._calls.append(SimpleQueue())
            try:
                thread.start()
            except RuntimeError as reason:
                LOG.warning("%d threads work instead of %d: %s", member, wanted, reason)
                self._asleep.pop()
                self._calls.pop()
                return member
            self._threads.append(thread)
        return wanted

    def _live(self, member: int) -> None:
        """The life of a thread: sleep, serve, sleep."""
        who, known = member - 1, self._now.value >> 32
        while not self._leaving:
            self._asleep[who] = True
            seen = self._now.value >> 32
            if seen == known:  # otherwise a job came before anybody could see that this one sleeps
                self._calls[who].get()
            self._asleep[who] = False
            known = self._code["serve"](self._at, member, known, _patience(len(self._threads) + 1))

    def dismiss(self) -> None:
        """Let the threads end."""
        self._leaving = True
        for call in self._calls:
            call.put(True)
        for thread in self._threads:
            thread.join()


@lru_cache(64)
def _marks(count: int, members: int, grain: int, smallest: int) -> Any:
    """Where shares begin, and the end: one for each member from half of the states, from half of the rest, ...

    Large shares keep a thread on one stretch of memory; small ones at the end let nobody wait long.
    """
    marks = [0]
    while marks[-1] < count:
        left = count - marks[-1]
        size = max(smallest, left // (2 * members))
        size = -(-size // grain) * grain
        marks += [
            min(count, marks[-1] + size * i)
            for i in range(1, members + 1)
            if marks[-1] + size * (i - 1) < count
        ]
    return (ctypes.c_int64 * len(marks))(*marks)


def _aligned(buffer: Any) -> int:
    """The first address in a buffer that starts a line of the cache."""
    return -(-ctypes.addressof(buffer) // 64) * 64


@cache
def _patience(members: int) -> int:
    """How often to look before sleeping: hardly, where there are more threads than processors."""
    with contextlib.suppress(AttributeError):
        return SPINS if members <= len(os.sched_getaffinity(0)) else 1
    return SPINS if members <= (os.cpu_count() or 1) else 1


_IDLE: list[Crew] = []
_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)


def run(job: Job, wanted: int) -> None:
    """Do a job by as many threads as are wanted and worth having; calls at the same time take different crews."""
    members = max(1, min(wanted, job.states // job.smallest))
    if members == 1:
        room = ctypes.create_string_buffer(job.scratch + 64)
        _FUNCTION(job.function)(job.table, 0, job.states, _aligned(room))
        return
    try:
        crew = _IDLE.pop()
    except IndexError:
        crew = Crew()
    try:
        crew.run(job, members)
    finally:
        _IDLE.append(crew)


def _dismiss() -> None:
    """At the end of the process nobody may be left in code that is about to go."""
    while _IDLE:
        _IDLE.pop().dismiss()


atexit.register(_dismiss)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_IDLE.clear)  # threads do not survive a fork


def check_threads(where: str, threads: Any) -> int:
    """A positive whole number."""
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise StateFault(f"{where}: threads is {threads!r}; give a whole number of threads, 1 or more.")
    return threads
