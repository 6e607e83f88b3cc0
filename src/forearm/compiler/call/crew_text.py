"""The machine code of a crew of threads (threads.py): publish a job, take shares of it, wait for the others.

The first word of the crew's memory is the job's number times 2^32, plus the next share; it is exchanged atomically, so
that a thread that comes late takes no share of another job. A second word counts the shares that are finished. While
the fields of a job are written, the word has a number of its own and no share left: whoever still looks at the job
before takes nothing by the fields of the next.
"""

from __future__ import annotations

# The crew's words in memory, 64 bytes apart where different threads write them.
NOW, DONE, JOB = 0, 64, 128
FIELDS = ("function", "table", "marks", "shares", "members", "scratch", "pitch")
SIZE = JOB + 8 * len(FIELDS)


def crew_text(triple: str) -> str:
    """The module with `@publish`, `@work`, `@wait` and `@serve`."""
    relax = {"x86_64": "llvm.x86.sse2.pause", "amd64": "llvm.x86.sse2.pause"}.get(triple.split("-")[0])
    pause = f"call void @{relax}()" if relax else ""
    declared = f"declare void @{relax}()" if relax else ""
    parts = [_shares(), _serve(pause), _publish(), _work(), _wait(pause)]
    return "\n\n".join([f'target triple = "{triple}"', declared, *parts, ""])


def _shares() -> str:
    fields = "\n".join(
        f"  %p_{name} = getelementptr i8, ptr %crew, i64 {JOB + 8 * i}\n"
        f"  %{name} = load atomic i64, ptr %p_{name} monotonic, align 8"
        for i, name in enumerate(FIELDS)
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
