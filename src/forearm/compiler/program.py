"""The text of a whole kernel: the batch over arrays.

`@batch(table, first, end, scratch)` does states first to end of the arrays in the table: three numbers for
each input, then for each output (address, bytes from state to state, bytes from element to element). It calls
nothing outside but the C library's sine and cosine for very large angles, and keeps no state, so any number
of threads may be in it.
"""

from __future__ import annotations

from forearm.compiler.emit_llvm import Lanes, Writer, declarations, sincos_function
from forearm.compiler.graph import Graph, Port
from forearm.compiler.layout import columns_function, rows_function
from forearm.compiler.tile import Plan, tile_function

PROFILE = '!0 = !{!"branch_weights", i32 1, i32 100000}\n'
"""What `rare` branches weigh."""


def batch_program(graph: Graph, plan: Plan, layout: str, triple: str) -> str:
    """The module with `@batch`; its scratch area is what the plan says."""
    lanes = plan.lanes
    make = rows_function if layout == "rows" else columns_function
    movers = {}
    for ports, inward in ((graph.inputs, True), (graph.outputs, False)):
        for port in ports:
            if port.size:
                name = mover(port, inward)
                movers[name] = make(name, lanes, port.size, plan.tile, inward=inward)
    parts = [
        f'; {graph.name}: {graph.counts}\ntarget triple = "{triple}"\n',
        declarations(lanes, Lanes(lanes.dtype, 1)),
        sincos_function(lanes),
        *movers.values(),
        tile_function(plan),
        _batch_function(plan, layout),
        PROFILE,
    ]
    return "\n".join(parts)


def mover(port: Port, inward: bool) -> str:
    """Name of the function that moves a port's tile."""
    return f"{'take' if inward else 'give'}{port.size}"


def _batch_function(plan: Plan, layout: str) -> str:
    w, graph = Writer(), plan.graph
    ports = [(p, c, True) for p, c in zip(graph.inputs, plan.inputs, strict=True)]
    ports += [(p, c, False) for p, c in zip(graph.outputs, plan.outputs, strict=False)]
    rows = [
        [w.let(f"load i64, ptr {w.at('%table', 24 * i + 8 * j)}") for j in range(3)]
        for i in range(len(ports))
    ]
    with w.loop("%end", plan.tile, "%first") as start:
        left = w.let(f"sub i64 %end, {start}")
        here = w.let(f"call i64 @llvm.smin.i64(i64 {left}, i64 {plan.tile})")
        last = w.let(f"sub i64 {here}, 1")
        count = w.let(f"and i64 {w.let(f'add i64 {here}, {plan.lanes.width - 1}')}, {-plan.lanes.width}")
        for inward in (True, False):
            for (port, column, side), (address, stride, pitch) in zip(ports, rows, strict=True):
                if side is not inward or not port.size:
                    continue
                base = w.let(f"inttoptr i64 {address} to ptr")
                array = w.at(base, w.let(f"mul i64 {start}, {stride}"))
                between = f"i64 {stride}" + (f", i64 {pitch}" if layout == "columns" else "")
                inside = w.at("%scratch", column * plan.pitch)
                places = f"ptr {array}, {between}, ptr {inside}"
                w.put(f"call void @{mover(port, inward)}({places}, i64 {last}, i64 {count})")
            if inward:
                w.put(f"call void @tile(ptr %scratch, i64 {count})")
    return w.function("void @batch(ptr %table, i64 %first, i64 %end, ptr %scratch) nounwind")
