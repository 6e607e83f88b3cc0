"""The program for groups of states: each group has parameters of its own, which its states share.

`@groups(table, first, end, scratch)` does groups first to end. Its table is that of `@batch`, then for each array the
address of a list that says how many bytes after its start each group begins, then how many states a group has.

`@summed(table, first, end, scratch)` keeps of the one output of each group its least and greatest values, sums and sums
of squares (row_summaries.py) and nothing else: every group writes its results over those before, in the cache. Its table
goes on with the address of what is found (4, groups, m), the bytes between those four, and a scratch area for them.
"""

from __future__ import annotations

from forearm.compiler.llvm.batches import batch_program
from forearm.compiler.llvm.nodes import Writer
from forearm.compiler.llvm.row_summaries import summary_text
from forearm.compiler.llvm.tiles import Plan


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
        [w.let(f"load i64, ptr {w.at('%table', 32 * many + 8 * j)}") for j in (1, 2, 3)] if summed else []
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
    m, (found, plane, area) = plan.graph.outputs[0].size, results
    here = w.let(f"add i64 {found}, {w.let(f'mul i64 {group}, {m * plan.lanes.itemsize}')}")
    values, into, scratch = (w.let(f"inttoptr i64 {x} to ptr") for x in (out, here, area))
    told = f"ptr {values}, i64 {states}, i64 {m}, ptr {into}, i64 {plane}, ptr {scratch}"
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
