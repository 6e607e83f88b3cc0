"""The machine code of a crew of threads (threads.py): publish a job, take shares of it, wait for the others.

The first word of the crew's memory is the job's number times 2^32, plus the next share; it is exchanged atomically, so
that a thread that comes late takes no share of another job. A second word counts the shares that are finished. While
the fields of a job are written, the word has a number of its own and no share left: whoever still looks at the job
before takes nothing by the fields of the next.

A thread lives in `@live` from its first to its last moment, and a job is done in one call of `@perform`, so no signal
that Python serves can come between two steps of either. A thread enlists itself: it takes the next number and puts its
berth into the crew's list. It sleeps on a lock of its own and says so in its berth; whoever turns that word from 1 to 0
owes it one release. A wake that nobody owed does no harm: the thread looks for work, and sleeps again.
"""

from __future__ import annotations

# The crew's words in memory, 64 bytes apart where different threads write them.
NOW, DONE, JOB, CREW = 0, 64, 128, 192
FIELDS = ("function", "table", "marks", "shares", "members", "scratch", "pitch", "patience")
WORDS = ("berths", "enlisted", "leaving", "acquire", "release", "nap", "nobody")
"""First of the list of berths, how many there are, whether all shall go; Python's functions over locks (take, give,
take within a time), and a lock that is never given, to wait a while on."""
SIZE = CREW + 8 * len(WORDS)

BERTH = ("state", "lock", "next", "number")
"""A thread's own words: 1 where it sleeps, the lock that it sleeps on, the next berth, its number from 1 on."""

NAP = 10
"""Microseconds between two looks of a caller that has looked in vain for long."""


def crew_text(triple: str) -> str:
    """The module with `@perform`, `@live` and `@dismiss`, and what they are made of."""
    relax = {"x86_64": "llvm.x86.sse2.pause", "amd64": "llvm.x86.sse2.pause"}.get(triple.split("-")[0])
    pause = f"call void @{relax}()" if relax else ""
    declared = f"declare void @{relax}()" if relax else ""
    parts = [_shares(), _serve(pause), _publish(), _work(), _wait(pause)]
    parts += [_perform(), _wake(), _live(), _dismiss()]
    return "\n\n".join([f'target triple = "{triple}"', declared, *parts, ""])


def _word(name: str) -> str:
    """The place of one of the crew's words: %p_name."""
    return f"%p_{name} = getelementptr i8, ptr %crew, i64 {CREW + 8 * WORDS.index(name)}"


def _berth(name: str) -> str:
    """The place of one of a berth's words: %b_name."""
    return f"%b_{name} = getelementptr i8, ptr %berth, i64 {8 * BERTH.index(name)}"


def _shares() -> str:
    fields = "\n".join(
        f"  %p_{name} = getelementptr i8, ptr %crew, i64 {JOB + 8 * i}\n"
        f"  %{name} = load atomic i64, ptr %p_{name} monotonic, align 8"
        for i, name in enumerate(FIELDS[:-1])
    )
    return f"""; take shares of job %number until there is none
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
}}"""


def _serve(pause: str) -> str:
    return f"""; work for the crew as long as jobs come; returns the last job's number when none came for a while
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
}}"""


def _publish() -> str:
    written = "\n".join(
        f"  %g_{name} = getelementptr i8, ptr %fields, i64 {8 * i}\n  %{name} = load i64, ptr %g_{name}\n"
        f"  %p_{name} = getelementptr i8, ptr %crew, i64 {JOB + 8 * i}\n"
        f"  store atomic i64 %{name}, ptr %p_{name} monotonic, align 8"
        for i, name in enumerate(FIELDS)
    )
    return f"""; let the crew see a job: close the one before, write the fields, open
define void @publish(ptr %crew, ptr %fields) nounwind {{
entry:
  %done = getelementptr i8, ptr %crew, i64 {DONE}
  %old = load atomic i64, ptr %crew acquire, align 8
  %job = lshr i64 %old, 32
  %between = add i64 %job, 1
  %numbered = shl i64 %between, 32
  %closed = or i64 %numbered, 4294967295
  %before = atomicrmw xchg ptr %crew, i64 %closed seq_cst, align 8
{written}
  store atomic i64 0, ptr %done release, align 8
  %following = add i64 %job, 2
  %now = shl i64 %following, 32
  store atomic i64 %now, ptr %crew seq_cst, align 8
  ret void
}}"""


def _work() -> str:
    return """; take part in the job, then wait for the others; 1 when all is done
define i32 @work(ptr %crew, i64 %patience) nounwind {
entry:
  %now = load atomic i64, ptr %crew acquire, align 8
  %job = lshr i64 %now, 32
  call void @shares(ptr %crew, i64 %job, i64 0)
  %finished = call i32 @wait(ptr %crew, i64 %patience)
  ret i32 %finished
}"""


def _wait(pause: str) -> str:
    return f"""; whether all shares are finished, after waiting for it a while
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
}}"""


def _perform() -> str:
    return f"""; a whole job: publish, wake, work, wait until nobody is left in it
define void @perform(ptr %crew, ptr %fields) nounwind {{
entry:
  call void @publish(ptr %crew, ptr %fields)
  %p_members = getelementptr i8, ptr %fields, i64 {8 * FIELDS.index("members")}
  %members = load i64, ptr %p_members
  call void @wake(ptr %crew, i64 %members)
  %p_patience = getelementptr i8, ptr %fields, i64 {8 * FIELDS.index("patience")}
  %patience = load i64, ptr %p_patience
  {_word("nap")}
  {_word("nobody")}
  %nap = load ptr, ptr %p_nap
  %nobody = load ptr, ptr %p_nobody
  %worked = call i32 @work(ptr %crew, i64 %patience)
  br label %look
look:
  %done = phi i32 [ %worked, %entry ], [ %waited, %doze ]
  %all = icmp ne i32 %done, 0
  br i1 %all, label %leave, label %doze
doze:
  %timed_out = call i32 %nap(ptr %nobody, i64 {NAP}, i32 0)
  %waited = call i32 @wait(ptr %crew, i64 %patience)
  br label %look
leave:
  ret void
}}"""


def _wake() -> str:
    return f"""; wake who sleeps and has a number below %members
define internal void @wake(ptr %crew, i64 %members) nounwind {{
entry:
  {_word("berths")}
  {_word("release")}
  %release = load ptr, ptr %p_release
  %first = load atomic ptr, ptr %p_berths acquire, align 8
  br label %look
look:
  %berth = phi ptr [ %first, %entry ], [ %next, %on ]
  %end = icmp eq ptr %berth, null
  br i1 %end, label %leave, label %read
read:
  {_berth("state")}
  {_berth("lock")}
  {_berth("next")}
  {_berth("number")}
  %next = load ptr, ptr %b_next
  %number = load i64, ptr %b_number
  %asked = icmp ult i64 %number, %members
  br i1 %asked, label %turn, label %on
turn:
  %state = atomicrmw xchg ptr %b_state, i64 0 seq_cst, align 8
  %asleep = icmp eq i64 %state, 1
  br i1 %asleep, label %give, label %on
give:
  %lock = load ptr, ptr %b_lock
  call void %release(ptr %lock)
  br label %on
on:
  br label %look
leave:
  ret void
}}"""


def _live() -> str:
    return f"""; the life of a thread: enlist, then serve and sleep until all shall go
define void @live(ptr %crew, ptr %berth, ptr %alive, ptr %too) nounwind {{
entry:
  {_word("berths")}
  {_word("enlisted")}
  {_word("leaving")}
  {_word("acquire")}
  {_berth("state")}
  {_berth("lock")}
  {_berth("next")}
  {_berth("number")}
  %p_patience = getelementptr i8, ptr %crew, i64 {JOB + 8 * FIELDS.index("patience")}
  %acquire = load ptr, ptr %p_acquire
  %lock = load ptr, ptr %b_lock
  %before = atomicrmw add ptr %p_enlisted, i64 1 acq_rel, align 8
  %member = add i64 %before, 1
  store i64 %member, ptr %b_number
  br label %enlist
enlist:
  %head = load atomic ptr, ptr %p_berths acquire, align 8
  store ptr %head, ptr %b_next
  %pair = cmpxchg ptr %p_berths, ptr %head, ptr %berth acq_rel acquire, align 8
  %listed = extractvalue {{ ptr, i1 }} %pair, 1
  br i1 %listed, label %begin, label %enlist
begin:
  %known = phi i64 [ -1, %enlist ], [ %last, %sleep ], [ %last, %changed ]
  %patience = load atomic i64, ptr %p_patience monotonic, align 8
  %last = call i64 @serve(ptr %crew, i64 %member, i64 %known, i64 %patience)
  %told = atomicrmw xchg ptr %b_state, i64 1 seq_cst, align 8
  %leaving = load atomic i64, ptr %p_leaving seq_cst, align 8
  %stay = icmp eq i64 %leaving, 0
  br i1 %stay, label %again, label %leave
again: ; a job may have come before anybody could see that this one sleeps
  %now = load atomic i64, ptr %crew seq_cst, align 8
  %job = lshr i64 %now, 32
  %same = icmp eq i64 %job, %last
  br i1 %same, label %sleep, label %changed
changed:
  %mine = atomicrmw xchg ptr %b_state, i64 0 seq_cst, align 8
  %free = icmp eq i64 %mine, 1
  br i1 %free, label %begin, label %sleep
sleep:
  %got = call i32 %acquire(ptr %lock, i32 1)
  br label %begin
leave:
  ret void
}}"""


def _dismiss() -> str:
    return f"""; let everybody go, those who come late too
define void @dismiss(ptr %crew) nounwind {{
entry:
  {_word("leaving")}
  store atomic i64 1, ptr %p_leaving seq_cst, align 8
  call void @wake(ptr %crew, i64 -1)
  ret void
}}"""
