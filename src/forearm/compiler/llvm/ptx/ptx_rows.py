"""Rows `(N, k)` on the GPU: each block turns its tile in shared memory, so that global memory is used in order.

Parameters of `rows`, in order, all of 8 bytes: the address of each input, of each output, and the number of states.
Block size is fixed when the text is written. Threads beyond the last state compute on what happens to lie in the
tile and store nothing; none leaves early, because all of them meet at the barriers.
"""

from __future__ import annotations

from forearm.compiler.graph.graph import Graph, Port
from forearm.compiler.graph.passes.order import branch_by_branch
from forearm.compiler.llvm.lanes import Lanes
from forearm.compiler.llvm.nodes import Writer, needed
from forearm.compiler.llvm.ptx.ptx_batches import (
    DEFAULT_GPU,
    evaluate,
    kernel_function,
    ptx_text,
    result_nodes,
)

BARRIER = "call void @llvm.nvvm.barrier0()"


SHARED_BYTES = 48 * 1024
"""Shared memory that every GPU gives a block."""


def fits_rows(graph: Graph, dtype: str, threads: int) -> bool:
    """Whether a block's tile of the widest port fits into shared memory; otherwise rows are read where they lie."""
    return _widest(graph) * threads * Lanes(dtype, 1).itemsize <= SHARED_BYTES


def _widest(graph: Graph) -> int:
    return max(p.size for p in (*graph.inputs, *graph.outputs))


def ptx_rows(graph: Graph, dtype: str = "float64", threads: int = 64, gpu: str = DEFAULT_GPU) -> str:
    """The PTX text of `rows`: outputs of many states, arrays in rows."""
    graph, largest = branch_by_branch(graph), _widest(graph)
    w, lanes = Writer(), Lanes(dtype, 1)
    tid, block = (
        w.let(f"zext i32 {w.let(f'call i32 @llvm.nvvm.read.ptx.sreg.{r}()')} to i64")
        for r in ("tid.x", "ctaid.x")
    )
    first = w.let(f"mul i64 {block}, {threads}")
    used = {n.at for i in needed(graph, result_nodes(graph)) if (n := graph.nodes[i]).at}
    given = []
    for i, port in enumerate(graph.inputs):
        elements = {k for j, k in used if j == i}
        given.append(
            _read(w, lanes, port, f"%in{i}", tid, first, threads, elements) if elements else [""] * port.size
        )
    for i, (port, values) in enumerate(zip(graph.outputs, evaluate(w, lanes, graph, given), strict=True)):
        _write(w, lanes, port, f"%out{i}", tid, first, threads, values)
    w.put("ret void")
    names = [f"%in{i}" for i in range(len(graph.inputs))] + [f"%out{i}" for i in range(len(graph.outputs))]
    parameters = [*(f"ptr addrspace(1) noalias {n}" for n in names), "i64 %count"]
    tile = f"@tile = internal addrspace(3) global [{threads * largest} x {lanes.type}] undef, align 16\n"
    head = tile + "declare void @llvm.nvvm.barrier0()\n"
    return ptx_text(graph, lanes, gpu, head + kernel_function(w, "rows", parameters))


def _read(
    w: Writer, lanes: Lanes, port: Port, name: str, tid: str, first: str, threads: int, elements: set[int]
) -> list[str]:
    """One state's numbers, after the block has fetched its tile in order."""
    k, t = port.size, lanes.type
    for turn, place, inside in _tile(w, port, tid, first, threads):
        with w.when(inside):
            source = w.let(f"getelementptr inbounds {t}, ptr addrspace(1) {name}, i64 {place}")
            value = w.let(f"load {t}, ptr addrspace(1) {source}, align {lanes.itemsize}")
            w.put(f"store {t} {value}, ptr addrspace(3) {_shared(w, lanes, turn)}, align {lanes.itemsize}")
    w.put(BARRIER)
    base = w.let(f"mul i64 {tid}, {k}")
    found = []
    for e in range(k):
        if e not in elements:
            found.append("")
            continue
        place = _shared(w, lanes, w.let(f"add i64 {base}, {e}"))
        found.append(w.let(f"load {t}, ptr addrspace(3) {place}, align {lanes.itemsize}"))
    w.put(BARRIER)
    return found


def _write(
    w: Writer, lanes: Lanes, port: Port, name: str, tid: str, first: str, threads: int, values: list[str]
) -> None:
    """One state's numbers into the tile, then the tile into memory in order."""
    k, t = port.size, lanes.type
    base = w.let(f"mul i64 {tid}, {k}")
    for e, value in enumerate(values):
        place = _shared(w, lanes, w.let(f"add i64 {base}, {e}"))
        w.put(f"store {t} {value}, ptr addrspace(3) {place}, align {lanes.itemsize}")
    w.put(BARRIER)
    for turn, place, inside in _tile(w, port, tid, first, threads):
        with w.when(inside):
            value = w.let(f"load {t}, ptr addrspace(3) {_shared(w, lanes, turn)}, align {lanes.itemsize}")
            target = w.let(f"getelementptr inbounds {t}, ptr addrspace(1) {name}, i64 {place}")
            w.put(f"store {t} {value}, ptr addrspace(1) {target}, align {lanes.itemsize}")
    w.put(BARRIER)


def _tile(w: Writer, port: Port, tid: str, first: str, threads: int) -> list[tuple[str, str, str]]:
    """For each turn: place in the tile, place in the array, whether that is inside."""
    start, end = w.let(f"mul i64 {first}, {port.size}"), w.let(f"mul i64 %count, {port.size}")
    turns = []
    for e in range(port.size):
        here = w.let(f"add i64 {tid}, {e * threads}")
        place = w.let(f"add i64 {start}, {here}")
        turns.append((here, place, w.let(f"icmp slt i64 {place}, {end}")))
    return turns


def _shared(w: Writer, lanes: Lanes, index: str) -> str:
    return w.let(f"getelementptr inbounds {lanes.type}, ptr addrspace(3) @tile, i64 {index}")
