"""Threads that stay, for kernels that run without the GIL.

A crew is a few threads that wait for work in machine code. A job is one function over a table of arrays, cut into
shares; whoever is free takes the next share, the caller among them. The next share and the number of the job are one
word that is exchanged atomically, so a thread that comes late finds nothing to take, and never a share of another job.

For a short while after a job the crew spins, because the next call often follows at once and waking a thread costs
as much as thousands of states. Then it sleeps until it is called.

Python serves an interrupt between any two steps of its own. So nothing here is half done between two steps: a thread
lives in one call of machine code, a job is one call, and one that is interrupted before or after it loses nothing but
the crew, whose threads go as soon as nobody holds it.
"""

from __future__ import annotations

import atexit
import ctypes
import os
from _thread import start_new_thread
from functools import cache, lru_cache
from typing import Any, NamedTuple

from forearm.compiler.call.entries.crew_text import BERTH, CREW, FIELDS, NOW, SIZE, WORDS, crew_text
from forearm.outside.processors import processors
from forearm.outside.running_log import LOG

SPINS = 4000
"""How often a thread looks for work before it sleeps: some hundred microseconds."""
STRETCH = 10**8
"""Operations at a stretch, which nobody can interrupt: 0.1 s where one takes a nanosecond."""
PER_NUMBER = 4
"""Operations that reading or writing a number from far memory is worth."""

_ALLOCATE = ctypes.PYFUNCTYPE(ctypes.c_void_p)(("PyThread_allocate_lock", ctypes.pythonapi))
_ACQUIRE = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int)(
    ("PyThread_acquire_lock", ctypes.pythonapi)
)
_FREE = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(("PyThread_free_lock", ctypes.pythonapi))
_CALLS = {
    "acquire": "PyThread_acquire_lock",
    "release": "PyThread_release_lock",
    "nap": "PyThread_acquire_lock_timed",
}
"""Python's locks as machine code calls them: they need no GIL, and there is one kind for every platform."""


@cache
def _code() -> dict[str, Any]:
    """The crew's functions; calls let go of the GIL."""
    from forearm.compiler.llvm.jit import host, load_program

    code = load_program("crew", crew_text(host().triple), _probe)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(code))  # to the very end: a thread may be in it
    return _functions(code)


def _functions(code: Any) -> dict[str, Any]:
    pointer, number, alive = ctypes.c_void_p, ctypes.c_int64, ctypes.py_object
    kinds = {
        "perform": ctypes.CFUNCTYPE(None, pointer, pointer),
        "live": ctypes.CFUNCTYPE(None, pointer, pointer, alive, alive),
        "dismiss": ctypes.CFUNCTYPE(None, pointer),
        "publish": ctypes.CFUNCTYPE(None, pointer, pointer),
        "serve": ctypes.CFUNCTYPE(number, pointer, number, number, number),
    }
    return {name: kind(code.address(name)) for name, kind in kinds.items()}


@cache
def _nobody() -> int:
    """A lock that is never given: to wait a while on."""
    return _taken_lock()


def _taken_lock() -> int:
    lock = _ALLOCATE()
    if not lock:
        raise MemoryError("no room for a lock")
    _ACQUIRE(lock, 0)
    return int(lock)


@cache
def _words() -> list[ctypes.c_int64 | int]:
    """What a new crew's words are: nobody there, and how locks are called in this process."""
    address = {
        n: ctypes.cast(getattr(ctypes.pythonapi, f), ctypes.c_void_p).value or 0 for n, f in _CALLS.items()
    }
    return [(address | {"nobody": _nobody()}).get(word, 0) for word in WORDS]


def _probe(code: Any) -> bytes:
    """What the crew's functions do with a small job that nobody else takes part in: which shares came, and when."""
    took: list[int] = []
    memory, marks = ctypes.create_string_buffer(SIZE + 64), (ctypes.c_int64 * 4)(0, 2, 3, 7)
    function = _FUNCTION(lambda _table, first, end, _scratch: took.extend((first, end)))
    at, area = _aligned(memory), ctypes.create_string_buffer(128)
    (ctypes.c_int64 * len(WORDS)).from_address(at + CREW)[:] = _words()
    address = ctypes.cast(function, ctypes.c_void_p).value or 0
    told = address, 0, ctypes.addressof(marks), 3, 1, _aligned(area), 64, 1
    functions = _functions(code)
    functions["perform"](at, (ctypes.c_int64 * len(FIELDS))(*told))
    functions["dismiss"](at)
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
    piece: int
    """States that a thread computes at a stretch; between two pieces Ctrl-C is heard."""


class Berth:
    """What a thread of a crew sleeps on: its words, and a lock that is taken."""

    def __init__(self) -> None:
        """A berth that nobody has yet."""
        self._process = os.getpid()
        self._memory = ctypes.create_string_buffer(8 * len(BERTH) + 64)
        self.at = _aligned(self._memory)
        self._lock = ctypes.c_void_p.from_address(self.at + 8 * BERTH.index("lock"))
        self._lock.value = _taken_lock()

    def __del__(self) -> None:
        """Free the lock; a child process leaves alone what threads slept on that it does not have."""
        lock = getattr(self, "_lock", None)
        if lock is not None and lock.value and self._process == os.getpid():
            _FREE(lock.value)


class Crew:
    """Threads that wait for jobs, the caller of `run` being one more."""

    def __init__(self) -> None:
        """A crew without anybody; `run` brings in as many as it needs."""
        self._process = os.getpid()
        self._code = _code()
        self._memory = ctypes.create_string_buffer(SIZE + 64)
        self._at = _aligned(self._memory)
        self._now = ctypes.c_uint64.from_address(self._at + NOW)
        (ctypes.c_int64 * len(WORDS)).from_address(self._at + CREW)[:] = _words()
        self._area: Any = None
        self._berths: list[Berth] = []

    def run(self, job: Job, members: int) -> None:
        """Do a job by so many members, the caller among them; when it returns or raises, nobody is at it."""
        members = self._gathered(members)
        for first in range(0, job.states, members * job.piece):
            self._perform(job, members, first, min(first + members * job.piece, job.states))

    def _perform(self, job: Job, members: int, first: int, end: int) -> None:
        pitch = -(-job.scratch // 64) * 64
        if self._area is None or len(self._area) < members * pitch + 64:
            self._area = ctypes.create_string_buffer(members * pitch + 64)
        marks = _marks(end - first, members, job.grain, job.smallest)
        if first:
            marks = (ctypes.c_int64 * len(marks))(*(first + mark for mark in marks))
        where, shares = ctypes.addressof(marks), len(marks) - 1
        area, patience = _aligned(self._area), _patience(members)
        told = job.function, job.table, where, shares, members, area, pitch, patience
        self._code["perform"](self._at, (ctypes.c_int64 * len(FIELDS))(*told))

    def _gathered(self, wanted: int) -> int:
        """How many there are, after hiring who is missing: fewer than wanted where no thread can be started."""
        for member in range(len(self._berths) + 1, wanted):
            berth = Berth()
            self._berths.append(berth)  # before its thread is there, which others may wake
            try:
                start_new_thread(self._code["live"], (self._at, berth.at, self._memory, berth))
            except RuntimeError as reason:
                LOG.warning("%d threads work instead of %d: %s", member, wanted, reason)
                self._berths.pop()
                return member
        return wanted

    def dismiss(self) -> None:
        """Let the threads end."""
        self._code["dismiss"](self._at)

    def __del__(self) -> None:
        """Threads of a crew that nobody holds go; a child process does not have them."""
        if getattr(self, "_berths", None) and self._process == os.getpid():
            self.dismiss()


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


@lru_cache(64)
def _patience(members: int) -> int:
    """How often to look before sleeping: hardly, where there are more threads than processors."""
    return SPINS if members <= processors() else 1


_IDLE: list[Crew] = []
"""Crews without a job. One whose job was interrupted does not come back: what it hired may not be what it counts."""
_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)


def run(job: Job, wanted: int) -> None:
    """Do a job by as many threads as are wanted and worth having; calls at the same time take different crews."""
    members = max(1, min(int(wanted), job.states // job.smallest))
    if members == 1:
        room = ctypes.create_string_buffer(job.scratch + 64)
        function, area = _FUNCTION(job.function), _aligned(room)
        for first in range(0, job.states, job.piece):
            function(job.table, first, min(first + job.piece, job.states), area)
        return
    try:
        crew = _IDLE.pop()
    except IndexError:
        crew = Crew()
    crew.run(job, members)
    _IDLE.append(crew)


def piece(operations: int, numbers: int, grain: int) -> int:
    """How many states to compute at a stretch: a tenth of a second on a slow machine, some milliseconds on a fast one.

    Args:
        operations: Of one state.
        numbers: That one state reads and writes.
        grain: What it is a multiple of.
    """
    return max(1, STRETCH // (operations + PER_NUMBER * numbers + 1) // grain) * grain


def _dismiss() -> None:
    """At the end of the process nobody need look for work."""
    while _IDLE:
        _IDLE.pop().dismiss()


atexit.register(_dismiss)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_IDLE.clear)  # threads do not survive a fork
