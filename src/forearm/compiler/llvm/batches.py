"""The text of a whole kernel: the batch over arrays.

`@batch(table, first, end, scratch)` does states first to end of the arrays in the table: three numbers for
each input, then for each output: address, bytes from state to state, bytes from element to element. It calls
nothing outside and keeps no state, so any number of threads may be in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from forearm.compiler.graph.graph import Graph, Port
from forearm.compiler.llvm.lanes import Lanes
from forearm.compiler.llvm.large_angles import sincos_function, sincos_lanes_function
from forearm.compiler.llvm.lines_ahead import tiles_ahead
from forearm.compiler.llvm.movers import columns_function, copy_function, rows_function
from forearm.compiler.llvm.nodes import Writer, declarations
from forearm.compiler.llvm.tiles import Plan

PROFILE = '!0 = !{!"branch_weights", i32 1, i32 100000}\n!1 = !{i32 1}\n!2 = !{}\n'
"""What `rare` branches weigh, that a store is not of this moment, and that what is loaded never changes."""


def batch_program(graph: Graph, plan: Plan, layout: str, triple: str, more: str = "") -> str:
    """The module with `@batch`; its scratch area is what the plan says."""
    narrow = [p for i, p in enumerate(graph.outputs) if i not in plan.wide]
    moved = [p for i, p in enumerate(graph.inputs) if i != plan.shared]
    movers = movers_of(plan, layout, inward=moved, outward=narrow)
    if plan.wide:
        movers.append(copy_function(plan.lanes))
    return program_of(plan, triple, [*movers, _batch_function(plan, layout), more])


def program_of(plan: Plan, triple: str, parts: list[str]) -> str:
    """A module with `@tile` and what it needs, and more functions."""
    lanes, pairs = plan.lanes, plan.pairs
    return "\n".join(
        [
            f'target triple = "{triple}"\n',
            declarations(lanes, pairs, Lanes(lanes.dtype, 1)),
            sincos_lanes_function(pairs),
            sincos_function(pairs),
            plan.text(),
            *parts,
            PROFILE,
        ]
    )


def movers_of(plan: Plan, layout: str, *, inward: Sequence[Port], outward: Sequence[Port]) -> list[str]:
    """The functions that bring these ports into the tile and out of it."""
    make = rows_function if layout == "rows" else columns_function
    found = {}
    for ports, side in ((inward, True), (outward, False)):
        for port in ports:
            if port.size:
                name = _mover(port, side)
                found[name] = make(name, plan.lanes, port.size, plan.tile, inward=side)
    return list(found.values())


def _mover(port: Port, inward: bool) -> str:
    return f"{'take' if inward else 'give'}{port.size}"


@dataclass(frozen=True)
class Span:
    """The states of one tile: the first, the last within the tile, how many are computed (whole vectors)."""

    start: str
    last: str
    count: str


@contextmanager
def each_tile(w: Writer, plan: Plan, first: str = "%first", end: str = "%end") -> Iterator[Span]:
    """Loop over the tiles of states first to end."""
    with w.loop(end, plan.tile, first) as start:
        left = w.let(f"sub i64 {end}, {start}")
        here = w.let(f"call i64 @llvm.smin.i64(i64 {left}, i64 {plan.tile})")
        last = w.let(f"sub i64 {here}, 1")
        width = plan.lanes.width
        yield Span(start, last, w.let(f"and i64 {w.let(f'add i64 {here}, {width - 1}')}, {-width}"))


def table_row(w: Writer, index: int) -> list[str]:
    """The three numbers of an array."""
    return [w.let(f"load i64, ptr {w.at('%table', 24 * index + 8 * j)}") for j in range(3)]


def move(
    w: Writer, plan: Plan, port: Port, column: int, array: str, between: str, span: Span, inward: bool
) -> None:
    """Bring a port's tile in or out; `between` are the strides that its mover takes."""
    if port.size:
        inside = w.at("%scratch", column * plan.pitch)
        places = f"ptr {array}, {between}, ptr {inside}, i64 {span.last}, i64 {span.count}"
        w.put(f"call void @{_mover(port, inward)}({places})")


def _batch_function(plan: Plan, layout: str) -> str:
    w, graph = Writer(), plan.graph
    ports = [*graph.inputs, *graph.outputs]
    arrays = [table_row(w, i) for i in range(len(ports))]
    streams = _streams(w, plan)
    with each_tile(w, plan) as span:
        if plan.layout == "columns":
            _do_columns(w, plan, arrays, span)
        else:
            _do_rows(w, plan, arrays, span, streams, pitched=layout == "columns")
    if streams != "false":
        with w.when(streams):
            w.put("fence seq_cst")  # what went past the caches is there before anybody is told so
    return w.function("void @batch(ptr %table, i64 %first, i64 %end, ptr %scratch) nounwind")


def _full(w: Writer, plan: Plan, span: Span) -> str:
    return w.let(f"icmp eq i64 {span.last}, {plan.tile - 1}")


STREAMED = 8 << 20
"""Bytes of wide outputs in one call from which they will not be in the caches when somebody reads them."""
HIDDEN = 4
"""Operations for each number of a wide output that hide the reading of its line before it is written (measured)."""


def _streams(w: Writer, plan: Plan) -> str:
    """Whether the wide outputs of this call go past the caches: lines written whole need not be read before."""
    numbers = sum(plan.graph.outputs[i].size for i in plan.wide)
    if not numbers or plan.graph.counts.operations > HIDDEN * numbers:
        return "false"
    states = w.let("sub i64 %end, %first")
    return w.let(f"icmp sgt i64 {states}, {STREAMED // (numbers * plan.lanes.itemsize)}")


def _start(w: Writer, array: list[str], span: Span) -> str:
    """Where the tile starts in an array."""
    base = w.let(f"inttoptr i64 {array[0]} to ptr")
    return w.at(base, w.let(f"mul i64 {span.start}, {array[1]}"))


def _ahead(
    w: Writer, plan: Plan, arrays: list[list[str]], span: Span, at_once: str, straight: list[str]
) -> list[str]:
    """Where rows lie that are asked for while the tile is computed; its own where there are none."""
    if not plan.asked:
        return []
    later = w.let(f"add i64 {span.start}, {plan.tile * tiles_ahead(plan)}")
    whole = w.let(f"icmp sle i64 {w.let(f'add i64 {later}, {plan.tile}')}, %end")
    found = []
    for side, i in plan.asked:
        address, stride, _ = arrays[i if side == "in" else len(plan.graph.inputs) + i]
        base = w.let(f"inttoptr i64 {address} to ptr")
        there = w.let(f"getelementptr i8, ptr {base}, i64 {w.let(f'mul i64 {later}, {stride}')}")
        if side == "in":
            here = w.at("%scratch", plan.inputs[i] * plan.pitch)
            row = plan.graph.inputs[i].size * plan.lanes.itemsize
            alike = w.let(f"icmp eq i64 {stride}, {row}")
        else:
            here, alike = straight[plan.wide.index(i)], at_once
        found.append(w.let(f"select i1 {w.let(f'and i1 {whole}, {alike}')}, ptr {there}, ptr {here}"))
    return found


def _do_rows(
    w: Writer, plan: Plan, arrays: list[list[str]], span: Span, streams: str, *, pitched: bool
) -> None:
    """A tile by way of the scratch area; of rows, wide outputs straight, if the tile is full and they do not stream."""
    graph, outs = plan.graph, arrays[len(plan.graph.inputs) :]
    at_once = w.let(f"and i1 {_full(w, plan, span)}, {w.let(f'xor i1 {streams}, true')}")

    def bring(port: Port, array: list[str], column: int, inward: bool) -> None:
        between = f"i64 {array[1]}" + (f", i64 {array[2]}" if pitched else "")
        move(w, plan, port, column, _start(w, array, span), between, span, inward)

    for i, (port, array, column) in enumerate(zip(graph.inputs, arrays, plan.inputs, strict=False)):
        if i != plan.shared:
            bring(port, array, column, True)
    wide = {i: (_start(w, outs[i], span), w.at("%scratch", plan.waiting(i))) for i in plan.wide}
    straight = [w.let(f"select i1 {at_once}, ptr {out}, ptr {inside}") for out, inside in wide.values()]
    straight += _ahead(w, plan, arrays, span, at_once, straight)
    if plan.shared is not None:
        straight.append(w.let(f"inttoptr i64 {arrays[plan.shared][0]} to ptr"))
    w.put(f"call void @tile(ptr %scratch, i64 {span.count}{''.join(f', ptr {a}' for a in straight)})")
    for i, (port, array, column) in enumerate(zip(graph.outputs, outs, plan.outputs, strict=False)):
        if i not in wide:
            bring(port, array, column, False)
    if wide:
        with w.when(w.let(f"xor i1 {at_once}, true")):
            for i, (out, inside) in wide.items():
                row = graph.outputs[i].size * plan.lanes.itemsize
                size = w.let(f"mul i64 {w.let(f'add i64 {span.last}, 1')}, {row}")
                w.put(f"call void @copy(ptr {out}, ptr {inside}, i64 {size}, i1 {streams})")


def _do_columns(w: Writer, plan: Plan, arrays: list[list[str]], span: Span) -> None:
    """A tile of columns: straight where it is full and states lie side by side, else by way of the scratch area."""
    inputs, outputs = plan.graph.inputs, plan.graph.outputs
    ports = [(p, c, True) for p, c in zip(inputs, plan.inputs, strict=True)]
    ports += [(p, c, False) for p, c in zip(outputs, plan.outputs, strict=False)]
    told, later, full = "", [], _full(w, plan, span)
    for (port, column, inward), array in zip(ports, arrays, strict=True):
        _, stride, pitch = array
        start, between = _start(w, array, span), f"i64 {stride}, i64 {pitch}"
        side_by_side = w.let(f"icmp eq i64 {stride}, {plan.lanes.itemsize}")
        straight = w.let(f"and i1 {full}, {side_by_side}")
        inside, around = w.at("%scratch", column * plan.pitch), w.let(f"xor i1 {straight}, true")
        if inward:
            with w.when(around):
                move(w, plan, port, column, start, between, span, True)
        else:
            later.append((around, port, column, start, between))
        address = w.let(f"select i1 {straight}, ptr {start}, ptr {inside}")
        told += f", ptr {address}, i64 {w.let(f'select i1 {straight}, i64 {pitch}, i64 {plan.pitch}')}"
    w.put(f"call void @tile(ptr %scratch, i64 {span.count}{told})")
    for around, port, column, start, between in later:
        with w.when(around):
            move(w, plan, port, column, start, between, span, False)
