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
import os
import threading
import time
from functools import cache, lru_cache
from queue import SimpleQueue
from typing import Any, NamedTuple

from forearm.faults import StateFault

SPINS = 4000
"""How often a thread looks for work before it sleeps: some hundred microseconds."""

# The crew's words in memory, 64 bytes apart where different threads write them.
NOW, DONE, JOB = 0, 64, 128
FIELDS = ("function", "table", "marks", "shares", "members", "scratch", "pitch")
SIZE = JOB + 8 * len(FIELDS)


def crew_text(triple: str) -> str:
    """The module with `@publish`, `@work`, `@wait` and `@serve`.

    `@NOW` is the job's number times 2^32, plus the next share. `@DONE` counts shares that are finished.
    """
    relax = {"x86_64": "llvm.x86.sse2.pause", "amd64": "llvm.x86.sse2.pause"}.get(triple.split("-")[0])
    pause = f"call void @{relax}()" if relax else ""
    fields = "\n".join(
        f"  %p_{name} = getelementptr i8, ptr %crew, i64 {JOB + 8 * i}\n  %{name} = load i64, ptr %p_{name}"
        for i, name in enumerate(FIELDS)
    )
    return f"""target triple = "{triple}"
{f"declare void @{relax}()" if relax else ""}

; take shares of job %number until there is none
define internal void @shares(ptr %crew, i64 %number, i64 %member) nounwind {{
entry:
  %done = getelementptr i8, ptr %crew, i64 {DONE}
  br label %look
look:
  %now = load atomic i64, ptr %crew acquire, align 8
  %job = lshr i64 %now, 32
  %mine = icmp eq i64 %job, %number
  br i1 %mine, label %read, label %leave
read:
{fields}
  %share = and i64 %now, 4294967295
  %left = icmp ult i64 %share, %shares
  %asked = icmp ult i64 %member, %members
  %fine = and i1 %left, %asked
  br i1 %fine, label %take, label %leave
take:
  %next = add i64 %now, 1
  %pair = cmpxchg ptr %crew, i64 %now, i64 %next acq_rel acquire, align 8
  %got = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %got, label %run, label %look
run:
  %m = inttoptr i64 %marks to ptr
  %p_first = getelementptr i64, ptr %m, i64 %share
  %p_end = getelementptr i64, ptr %p_first, i64 1
  %first = load i64, ptr %p_first
  %end = load i64, ptr %p_end
  %offset = mul i64 %member, %pitch
  %area = add i64 %scratch, %offset
  %f = inttoptr i64 %function to ptr
  %t = inttoptr i64 %table to ptr
  %s = inttoptr i64 %area to ptr
  call void %f(ptr %t, i64 %first, i64 %end, ptr %s)
  %before = atomicrmw add ptr %done, i64 1 acq_rel, align 8
  br label %look
leave:
  ret void
}}

; work for the crew as long as jobs come; returns the last job's number when none came for a while
define i64 @serve(ptr %crew, i64 %member, i64 %known, i64 %patience) nounwind {{
entry:
  br label %look
look:
  %last = phi i64 [ %known, %entry ], [ %last, %again ], [ %job, %busy ]
  %tries = phi i64 [ 0, %entry ], [ %tried, %again ], [ 0, %busy ]
  %now = load atomic i64, ptr %crew acquire, align 8
  %job = lshr i64 %now, 32
  %same = icmp eq i64 %job, %last
  br i1 %same, label %idle, label %busy
busy:
  call void @shares(ptr %crew, i64 %job, i64 %member)
  br label %look
idle:
  %tried = add i64 %tries, 1
  %enough = icmp ugt i64 %tried, %patience
  br i1 %enough, label %leave, label %again
again:
  {pause}
  br label %look
leave:
  ret i64 %last
}}

; let the crew see the job that lies in the fields
define void @publish(ptr %crew) nounwind {{
entry:
  %done = getelementptr i8, ptr %crew, i64 {DONE}
  store atomic i64 0, ptr %done release, align 8
  %old = load atomic i64, ptr %crew acquire, align 8
  %job = lshr i64 %old, 32
  %following = add i64 %job, 1
  %now = shl i64 %following, 32
  store atomic i64 %now, ptr %crew seq_cst, align 8
  ret void
}}

; take part in the job, then wait for the others; 1 when all is done
define i32 @work(ptr %crew, i64 %patience) nounwind {{
entry:
  %now = load atomic i64, ptr %crew acquire, align 8
  %job = lshr i64 %now, 32
  call void @shares(ptr %crew, i64 %job, i64 0)
  %finished = call i32 @wait(ptr %crew, i64 %patience)
  ret i32 %finished
}}

; whether all shares are finished, after waiting for it a while
define i32 @wait(ptr %crew, i64 %patience) nounwind {{
entry:
  %p_shares = getelementptr i8, ptr %crew, i64 {JOB + 8 * FIELDS.index("shares")}
  %shares = load i64, ptr %p_shares
  %place = getelementptr i8, ptr %crew, i64 {DONE}
  br label %look
look:
  %tries = phi i64 [ 0, %entry ], [ %tried, %again ]
  %done = load atomic i64, ptr %place acquire, align 8
  %all = icmp uge i64 %done, %shares
  %tried = add i64 %tries, 1
  %enough = icmp ugt i64 %tried, %patience
  %stop = or i1 %all, %enough
  br i1 %stop, label %leave, label %again
again:
  {pause}
  br label %look
leave:
  %found = zext i1 %all to i32
  ret i32 %found
}}
"""


@cache
def _code() -> dict[str, Any]:
    """The crew's functions. Calls let go of the GIL, but for the short `publish`."""
    from forearm.compiler.jit import host, load_program

    code = load_program("crew", ("crew", SIZE), lambda: crew_text(host().triple))
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(code))  # to the very end: a thread may be in it
    pointer, number, truth = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int
    kinds = {
        "publish": ctypes.PYFUNCTYPE(None, pointer),
        "work": ctypes.CFUNCTYPE(truth, pointer, number),
        "wait": ctypes.CFUNCTYPE(truth, pointer, number),
        "serve": ctypes.CFUNCTYPE(number, pointer, number, number, number),
    }
    return {name: kind(code.address(name)) for name, kind in kinds.items()}


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
        self._fields = (ctypes.c_int64 * len(FIELDS)).from_address(self._at + JOB)
        self._now = ctypes.c_uint64.from_address(self._at + NOW)
        self._asleep: list[bool] = []
        self._calls: list[SimpleQueue[bool]] = []
        self._threads: list[threading.Thread] = []
        self._area: Any = None
        self._leaving = False

    def run(self, job: Job, members: int) -> None:
        """Do a job by so many members, the caller among them."""
        for _ in range(len(self._threads) + 1, members):
            self._hire()
        pitch = -(-job.scratch // 64) * 64
        if self._area is None or len(self._area) < members * pitch + 64:
            self._area = ctypes.create_string_buffer(members * pitch + 64)
        marks = _marks(job.states, members, job.grain, job.smallest)
        where, shares = ctypes.addressof(marks), len(marks) - 1
        self._fields[:] = [job.function, job.table, where, shares, members, _aligned(self._area), pitch]
        self._code["publish"](self._at)
        for who in range(members - 1):
            if self._asleep[who]:
                self._asleep[who] = False
                self._calls[who].put(True)
        patience = _patience(members)
        done = self._code["work"](self._at, patience)
        try:
            while not done:
                time.sleep(1e-5)
                done = self._code["wait"](self._at, patience)
        finally:
            while not done:  # an interrupt: the arrays must stay until nobody writes to them
                done = self._code["wait"](self._at, patience)

    def _hire(self) -> None:
        member = len(self._threads) + 1
        self._asleep.append(True)
        self._calls.append(SimpleQueue())
        thread = threading.Thread(target=self._live, args=(member,), name=f"forearm-{member}", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _live(self, member: int) -> None:
        """The life of a thread: sleep, serve, sleep."""
        who, known = member - 1, self._now.value >> 32
        while not self._leaving:
            self._asleep[who] = True
            if (
                self._now.value >> 32 == known
            ):  # otherwise a job came before anybody could see that this one sleeps
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
