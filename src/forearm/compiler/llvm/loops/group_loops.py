"""The program for groups of states: each group has parameters of its own, which its states share.

`@groups(table, first, end, scratch)` does groups first to end. Its table is that of `@batch`, then for each array the
address of a list that says how many bytes after its start each group begins, then how many states a group has.

`@summed(table, first, end, scratch)` keeps of the one output of each group its least and greatest values, sums and sums
of squares, and nothing else: every group writes its results over those before, in the cache. Sums are of what results
differ from a row of m given values, so that squares do not lose a small spread beside a large mean. The table goes on
with the address of what is found (4, groups, m), the bytes between those four, a scratch area for them, and the given
row eight times.

Summed up are rows of m numbers, one after the other. Eight rows are m vectors of eight numbers whatever m is; each
vector has accumulators of its own along the rows, which are folded at the end, row after row. So the order of additions
is the same on every machine, whatever its registers hold.
"""

from __future__ import annotations

from forearm.compiler.llvm.batches import batch_program
from forearm.compiler.llvm.lanes import Lanes
from forearm.compiler.llvm.nodes import Writer
from forearm.compiler.llvm.tiles import Plan

LANES = Lanes("float64", 8)
"""Eight rows at a time, on every machine."""
STARTS = ("0x7FF0000000000000", "0xFFF0000000000000", "0x0000000000000000", "0x0000000000000000")
"""What least, greatest, sum and squares begin with. The sum is not finite where any number is not."""


def groups_program(plan: Plan, triple: str) -> str:
    """The module with `@groups`; arrays lie in rows."""
    more = [_groups_function(plan, False)]
    if len(plan.graph.outputs) == 1 and plan.lanes.dtype == "float64":
        more += [summary_text(), _groups_function(plan, True)]
    return batch_program(plan.graph, plan, "rows", triple, "\n".join(more))


def _groups_function(plan: Plan, summed: bool) -> str:
    w = Writer()
    many = len(plan.graph.inputs) + len(plan.graph.outputs)
    own = w.let(f"alloca [{3 * many} x i64], align 8")
    lists = [w.let(f"load ptr, ptr {w.at('%table', 24 * many + 8 * i)}") for i in range(many)]
    states = w.let(f"load i64, ptr {w.at('%table', 32 * many)}")
    starts = []
    for i in range(many):
        start, *rest = (w.let(f"load i64, ptr {w.at('%table', 24 * i + 8 * j)}") for j in range(3))
        starts.append(start)
        for j, value in enumerate(rest, 1):
            w.put(f"store i64 {value}, ptr {w.at(own, 24 * i + 8 * j)}")
    results = (
        [w.let(f"load i64, ptr {w.at('%table', 32 * many + 8 * j)}") for j in (1, 2, 3, 4)] if summed else []
    )
    with w.loop("%end", 1, "%first") as group:
        for i, (start, offsets) in enumerate(zip(starts, lists, strict=True)):
            offset = w.let(f"load i64, ptr {w.at(offsets, w.let(f'mul i64 {group}, 8'))}")
            here = w.let(f"add i64 {start}, {offset}")
            here = _spread(w, plan, here) if i == plan.shared else here
            w.put(f"store i64 {here}, ptr {w.at(own, 24 * i)}")
        w.put(f"call void @batch(ptr {own}, i64 0, i64 {states}, ptr %scratch)")
        if summed:
            _sum_up(w, plan, starts[-1], states, group, results)
    name = "summed" if summed else "groups"
    return w.function(f"void @{name}(ptr %table, i64 %first, i64 %end, ptr %scratch) nounwind")


def _sum_up(w: Writer, plan: Plan, out: str, states: str, group: str, results: list[str]) -> None:
    """Call `@summary` for the results of a group."""
    m, (found, plane, area, about) = plan.graph.outputs[0].size, results
    here = w.let(f"add i64 {found}, {w.let(f'mul i64 {group}, {m * plan.lanes.itemsize}')}")
    values, into, scratch, row = (w.let(f"inttoptr i64 {x} to ptr") for x in (out, here, area, about))
    told = f"ptr {values}, i64 {states}, i64 {m}, ptr {into}, i64 {plane}, ptr {scratch}, ptr {row}"
    w.put(f"call void @summary({told})")


def scratch_of(plan: Plan) -> int:
    """Bytes that the program needs: those of a tile, then each shared number in every lane."""
    return plan.size + plan.graph.inputs[plan.shared or 0].size * plan.lanes.size


def _spread(w: Writer, plan: Plan, address: str) -> str:
    """Put each shared number of a group into every lane; where they are now."""
    lanes, many = plan.lanes, plan.graph.inputs[plan.shared or 0].size
    area, source = w.at("%scratch", plan.size), w.let(f"inttoptr i64 {address} to ptr")
    if many:
        with w.loop(many) as k:
            here = w.at(source, w.let(f"mul i64 {k}, {lanes.itemsize}"))
            value = w.let(f"load {lanes.scalar}, ptr {here}, align {lanes.itemsize}")
            if lanes.width > 1:
                first = w.let(f"insertelement {lanes.type} poison, {lanes.scalar} {value}, i64 0")
                mask = f"{lanes.of('i32')} zeroinitializer"
                value = w.let(f"shufflevector {lanes.type} {first}, {lanes.type} poison, {mask}")
            w.store(lanes, value, w.at(area, w.let(f"mul i64 {k}, {lanes.size}")))
    return w.let(f"ptrtoint ptr {area} to i64")


# -- rows summed up ----------------------------------------------------------------------------------------


def scratch_bytes(m: int) -> int:
    """Bytes of scratch area for rows of m numbers."""
    return len(STARTS) * LANES.width * LANES.itemsize * m


def summary_text() -> str:
    """`@summary(values, T, m, found, plane, scratch, about)`: T rows of m; four results, `plane` bytes apart."""
    w = Writer()
    row = w.let("mul i64 %m, 8")
    whole, rest = w.let("and i64 %T, -8"), w.let("and i64 %T, 7")
    tail = w.let(f"mul i64 {rest}, %m")
    with w.loop("%m") as v:
        _accumulate(w, v, "%values", whole, row, tail)
    with w.loop("%m") as column:
        _fold(w, column)
    head = "void @summary(ptr %values, i64 %T, i64 %m, ptr %found, i64 %plane, ptr %scratch, ptr %about) nounwind"
    return "declare <8 x double> @llvm.masked.load.v8f64.p0(ptr, i32, <8 x i1>, <8 x double>)\n" + w.function(
        head
    )


def _accumulate(w: Writer, v: str, start: str, whole: str, row: str, tail: str) -> None:
    """Vector v of every eight rows, then of the rows that are left; accumulators into the scratch area."""
    t, first = LANES.type, w.at(start, w.let(f"mul i64 {v}, 64"))
    about = w.load(LANES, w.at("%about", w.let(f"mul i64 {v}, 64")))
    spread = [f"splat (double {x})" for x in STARTS]
    head, body, done, before = (w.fresh(x) for x in ("rows", "take", "over", "into"))
    w.put(f"br label %{before}")
    w.label(before)
    w.put(f"br label %{head}")
    w.label(head)
    names, index, place = [f"%a{k}" for k in range(4)], "%r", len(w.lines)
    more = w.let(f"icmp slt i64 {index}, {whole}")
    w.put(f"br i1 {more}, label %{body}, label %{done}")
    w.label(body)
    x = w.load(LANES, w.at(first, w.let(f"mul i64 {index}, {row}")))
    following = [*_taken(w, names, x, about), w.let(f"add i64 {index}, 8")]
    w.put(f"br label %{head}")
    w.label(done)
    w.lines[place:place] = [
        f"  {name} = phi {kind} [ {begin}, %{before} ], [ {then}, %{body} ]"
        for name, kind, begin, then in zip(
            [*names, index], [*[t] * 4, "i64"], [*spread, "0"], following, strict=True
        )
    ]
    left = w.let(f"sub i64 {tail}, {w.let(f'mul i64 {v}, 8')}")
    lanes = ", ".join(f"i64 {k}" for k in range(8))
    one = w.let(f"insertelement <8 x i64> poison, i64 {left}, i64 0")
    all_left = w.let(f"shufflevector <8 x i64> {one}, <8 x i64> poison, <8 x i32> zeroinitializer")
    mask = w.let(f"icmp slt <8 x i64> <{lanes}>, {all_left}")
    here = w.at(first, w.let(f"mul i64 {whole}, {row}"))
    x = w.let(f"call {t} @llvm.masked.load.v8f64.p0(ptr {here}, i32 8, <8 x i1> {mask}, {t} zeroinitializer)")
    for k, (old, new) in enumerate(zip(names, _taken(w, names, x, about), strict=True)):
        value = w.let(f"select <8 x i1> {mask}, {t} {new}, {t} {old}")
        area = w.at("%scratch", w.let(f"mul i64 %m, {64 * k}"))
        w.store(LANES, value, w.at(area, w.let(f"mul i64 {v}, 64")))


def _taken(w: Writer, names: list[str], x: str, about: str, lanes: Lanes = LANES) -> list[str]:
    """The accumulators after a value."""
    least, greatest, total, squares = names
    t, truth = lanes.type, lanes.truth
    below, above = w.let(f"fcmp olt {t} {x}, {least}"), w.let(f"fcmp ogt {t} {x}, {greatest}")
    apart = w.let(f"fsub {t} {x}, {about}")
    return [
        w.let(f"select {truth} {below}, {t} {x}, {t} {least}"),
        w.let(f"select {truth} {above}, {t} {x}, {t} {greatest}"),
        w.let(f"fadd {t} {total}, {apart}"),
        w.let(f"fadd {t} {squares}, {w.let(f'fmul {t} {apart}, {apart}')}"),
    ]


def _fold(w: Writer, column: str) -> None:
    """Eight rows of accumulators into one, in order."""
    one = Lanes("float64", 1)
    at = w.let(f"mul i64 {column}, 8")
    values = [f"{x}" for x in STARTS]
    for r in range(8):
        here = w.at("%scratch", w.let(f"add i64 {at}, {w.let(f'mul i64 %m, {8 * r}')}"))
        found = [w.load(one, w.at(here, w.let(f"mul i64 %m, {64 * k}"))) for k in range(4)]
        below = w.let(f"fcmp olt double {found[0]}, {values[0]}")
        above = w.let(f"fcmp ogt double {found[1]}, {values[1]}")
        values = [
            w.let(f"select i1 {below}, double {found[0]}, double {values[0]}"),
            w.let(f"select i1 {above}, double {found[1]}, double {values[1]}"),
            *(w.let(f"fadd double {values[k]}, {found[k]}") for k in (2, 3)),
        ]
    for k, value in enumerate(values):
        w.store(one, value, w.at(w.at("%found", at), w.let(f"mul i64 %plane, {k}")))
