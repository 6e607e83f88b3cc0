"""The text of the one-state program: scalars, the angles of all joints in one vector.

`@one(anyway, inputs..., outputs...)` reads everything before it writes anything, so an output may be an
input. It returns whether all inputs and outputs are finite, and when they are not it writes only if told to
(`anyway`). `@single(table, anyway)` takes the addresses from a table.
"""

from __future__ import annotations

from forearm.compiler.graph.graph import Graph
from forearm.compiler.llvm.batches import PROFILE
from forearm.compiler.llvm.lanes import Lanes
from forearm.compiler.llvm.large_angles import sincos_lanes_function, stored_sincos
from forearm.compiler.llvm.movers import block_starts
from forearm.compiler.llvm.nodes import Writer, declarations, emit_nodes, fma, needed
from forearm.compiler.llvm.tiles import MANY_ZEROS, Plan, is_zero


def single_program(graph: Graph, dtype: str, width: int, triple: str, more: str = "") -> str:
    """The module with `@single` and `@one`; sines and cosines are taken `width` at a time."""
    one, wide = Lanes(dtype, 1), Lanes(dtype, width)
    parts = [
        f'target triple = "{triple}"\n',
        declarations(one, wide),
        sincos_lanes_function(wide),
        _one_function(graph, one, wide),
        _single_function(graph),
        more,
        PROFILE,
    ]
    return "\n".join(parts)


def _one_function(graph: Graph, one: Lanes, wide: Lanes) -> str:
    w, item = Writer(), one.itemsize
    angles = Plan(graph, one).angles
    known = _first_angles(w, graph, one, wide, angles)

    def fetch(index: int) -> str | None:
        node = graph.nodes[index]
        if node.at is not None:
            return w.load(one, w.at(f"%in{node.at[0]}", node.at[1] * item))
        if node.op in ("sin", "cos") and node.args[0] in known:
            return w.load(one, w.at("%sine" if node.op == "sin" else "%cosine", known[node.args[0]] * item))
        return None

    def sincos(x: str) -> tuple[str, str]:
        return _rest_of_angles(w, one, wide, x)

    given = [i for i, n in enumerate(graph.nodes) if n.op in ("sin", "cos") and n.args[0] in known]
    results = [r for row in graph.results for r in row]
    values = emit_nodes(w, one, graph, needed(graph, results, given), fetch, sincos)
    finite = _finite(w, graph, one, wide, [values[r] for r in results])
    with w.when(w.let(f"or i1 {finite}, %anyway")):
        for port, row in enumerate(graph.results):
            zeros = {k for k, r in enumerate(row) if is_zero(graph.nodes[r])}
            if len(zeros) < MANY_ZEROS:
                zeros = set()
            else:
                with w.loop(len(row)) as place:
                    offset = w.let(f"mul i64 {place}, {item}")
                    w.store(one, one.number(0.0), w.at(f"%out{port}", offset))
            for k, r in enumerate(row):
                if k not in zeros:
                    w.store(one, values[r], w.at(f"%out{port}", k * item))
    return w.function(f"internal i1 @one({_signature(graph)}) nounwind noinline", f"i1 {finite}")


def _signature(graph: Graph) -> str:
    names = [f"%in{i}" for i in range(len(graph.inputs))] + [f"%out{i}" for i in range(len(graph.outputs))]
    return ", ".join(["i1 %anyway", *(f"ptr {n}" for n in names)])


def _first_angles(w: Writer, graph: Graph, one: Lanes, wide: Lanes, angles: list[int]) -> dict[int, int]:
    """Sines and cosines of all angles that depend on none, a vector of them at a time; their places."""
    item, t = one.itemsize, wide.type
    room = -(-max(1, len(angles)) // wide.width) * wide.width
    for name in ("angle", "sine", "cosine"):
        w.put(f"%{name} = alloca [{room} x {one.scalar}], align {wide.width * item}")

    def fetch(index: int) -> str | None:
        at = graph.nodes[index].at
        return None if at is None else w.load(one, w.at(f"%in{at[0]}", at[1] * item))

    values = emit_nodes(w, one, graph, needed(graph, angles), fetch, lambda x: (x, x))
    for first in range(0, len(angles), wide.width):
        x = wide.number(0.0)
        for lane, index in enumerate(angles[first : first + wide.width]):
            scalar = f"{one.scalar} {values[index]}"
            x = values[index] if wide.width == 1 else w.let(f"insertelement {t} {x}, {scalar}, i64 {lane}")
        places = [w.at(f"%{name}", first * item) for name in ("angle", "sine", "cosine")]
        stored_sincos(w, wide, x, places)
    return {index: place for place, index in enumerate(angles)}


def _rest_of_angles(w: Writer, one: Lanes, wide: Lanes, x: str) -> tuple[str, str]:
    """An angle that depends on sines: in the first lane of a vector, so that the same function serves."""
    places = [w.let(f"alloca {wide.type}, align {wide.width * one.itemsize}") for _ in range(3)]
    t = wide.type
    zeros = wide.number(0.0)
    value = x if wide.width == 1 else w.let(f"insertelement {t} {zeros}, {one.scalar} {x}, i64 0")
    stored_sincos(w, wide, value, places)
    return w.load(one, places[1]), w.load(one, places[2])


def _finite(w: Writer, graph: Graph, one: Lanes, wide: Lanes, results: list[str]) -> str:
    """Whether all inputs and results are finite: nothing times zero is NaN."""
    total, many = one.number(0.0), wide.number(0.0)
    for which, port in enumerate(graph.inputs):
        whole = port.size >= wide.width
        for start in block_starts(port.size, wide.width if whole else 1) if port.size else ():
            place = w.at(f"%in{which}", start * one.itemsize)
            if whole:
                many = w.let(fma(wide, w.load(wide, place), wide.number(0.0), many))
            else:
                total = w.let(fma(one, w.load(one, place), one.number(0.0), total))
    for value in dict.fromkeys(results):
        total = w.let(fma(one, value, one.number(0.0), total))
    fine = w.let(f"fcmp ord {one.type} {total}, {total}")
    if wide.width == 1:
        return w.let(f"and i1 {fine}, {w.let(f'fcmp ord {one.type} {many}, {many}')}")
    bad = w.let(f"fcmp uno {wide.type} {many}, {many}")
    mask = w.let(f"bitcast {wide.truth} {bad} to i{wide.width}")
    return w.let(f"and i1 {fine}, {w.let(f'icmp eq i{wide.width} {mask}, 0')}")


def _single_function(graph: Graph) -> str:
    w = Writer()
    count = len(graph.inputs) + len(graph.outputs)
    places = [w.let(f"load ptr, ptr {w.at('%table', 8 * i)}") for i in range(count)]
    anyway = w.let("icmp ne i32 %anyway, 0")
    given = ", ".join([f"i1 {anyway}", *(f"ptr {p}" for p in places)])
    finite = w.let(f"call i1 @one({given})")
    return w.function(
        "i32 @single(ptr %table, i32 %anyway) nounwind", f"i32 {w.let(f'zext i1 {finite} to i32')}"
    )
