"""The program for groups of states: each group has parameters of its own, which its states share.

`@groups(table, first, end, scratch)` does groups first to end. Its table is that of `@batch`, then for each array the
address of a list that says how many bytes after its start each group begins, then how many states a group has.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from forearm.compiler.llvm.batches import batch_program
from forearm.compiler.llvm.nodes import Writer
from forearm.compiler.llvm.tiles import Plan


def groups_program(plan: Plan, triple: str) -> str:
    """The module with `@groups`; arrays lie in rows."""
    return batch_program(plan.graph, plan, "rows", triple, _groups_function(plan))


def _groups_function(plan: Plan) -> str:
    w = Writer()
    many = len(plan.graph.inputs) + len(plan.graph.outputs)
    own = w.let(f"alloca [{3 * many} x i64], align 8")
    for at in (24 * i + 8 * j for i in range(many) for j in (1, 2)):
        value = w.let(f"load i64, ptr {w.at('%table', at)}")
        w.put(f"store i64 {value}, ptr {w.at(own, at)}")
    with each_group(w, plan) as (starts, states):
        for i, start in enumerate(starts):
            w.put(f"store i64 {start}, ptr {w.at(own, 24 * i)}")
        w.put(f"call void @batch(ptr {own}, i64 0, i64 {states}, ptr %scratch)")
    return w.function("void @groups(ptr %table, i64 %first, i64 %end, ptr %scratch) nounwind")


@contextmanager
def each_group(w: Writer, plan: Plan) -> Iterator[tuple[list[str], str]]:
    """Loop over the groups from `%first` to `%end`: where the arrays of each start, and how many states it has.

    Of the shared numbers it is the place where they lie in every lane.
    """
    many = len(plan.graph.inputs) + len(plan.graph.outputs)
    arrays = [w.let(f"load i64, ptr {w.at('%table', 24 * i)}") for i in range(many)]
    lists = [w.let(f"load ptr, ptr {w.at('%table', 24 * many + 8 * i)}") for i in range(many)]
    states = w.let(f"load i64, ptr {w.at('%table', 32 * many)}")
    with w.loop("%end", 1, "%first") as group:
        starts = []
        for i, (array, offsets) in enumerate(zip(arrays, lists, strict=True)):
            offset = w.let(f"load i64, ptr {w.at(offsets, w.let(f'mul i64 {group}, 8'))}")
            here = w.let(f"add i64 {array}, {offset}")
            starts.append(_spread(w, plan, here) if i == plan.shared else here)
        yield starts, states


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
