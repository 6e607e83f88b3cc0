"""Derivatives on the graph: forward, reverse, and Jacobians by the cheaper of the two.

A derivative is a graph like any other: it shares what it can with the function itself, can be simplified,
counted, printed and compiled. Zeros are structural: what does not depend on an input costs nothing, and the
Jacobian of a function that is linear in an input does not read that input.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from forearm.compiler.graph.builder import Builder, rebuild
from forearm.compiler.graph.graph import Graph, Port
from forearm.compiler.graph.passes import simplify
from forearm.compiler.graph.passes.factors import LARGE, cost, extract
from forearm.faults import TraceFault

CLOSE = 1.15
"""Before simplification, a sweep that costs this much more than the other may still win after it."""
Sweep = Callable[[Graph, Builder, list[int], Sequence[str]], list[list[int]]]
"""Makes the blocks of a Jacobian: graph, builder, nodes of the output, names of the inputs."""
Partial = tuple[int, Callable[[int], int]]
"""An argument of a node, and what multiplies a tangent (or adjoint) by the partial derivative."""


def jacobian(
    graph: Graph, output: str, wrt: Sequence[str], keep: bool = True, mode: str = "cheaper", effort: int = 0
) -> Graph:
    """Add the derivatives of an output with respect to inputs, as outputs `d<output>_d<input>`.

    Args:
        graph: What to differentiate.
        output: Name of the output.
        wrt: Names of the inputs, any number of them.
        keep: Whether the graph's own outputs stay, before the derivatives.
        mode: 'forward' (one sweep for each element of the inputs), 'reverse' (one for each element of the
            output), or 'cheaper': both are built, and the one with fewer operations is kept.
        effort: How hard the result is simplified, as in `passes.simplify`. 0 leaves that to `lower` and looks
            only far enough to tell which sweep is the cheaper one.

    Returns:
        The graph with a further output, of shape output.shape + input.shape, for each input.
    """
    output_of(graph, output)
    for name in wrt:
        input_of(graph, name)
    sweeps = {"forward": (_forward,), "reverse": (_reverse,), "cheaper": (_forward, _reverse)}
    if mode not in sweeps:
        raise TraceFault(f"jacobian: mode={mode!r}; expected one of {', '.join(sweeps)}.")
    graph = simplify(graph)
    built = [_blocks(graph, sweep, output, wrt, keep) for sweep in sweeps[mode]]
    least = min(g.counts.operations for g in built)
    near = [g for g in built if g.counts.operations <= CLOSE * least]
    if effort > 0:
        return min((simplify(g, effort) for g in near), key=cost)
    return near[0] if len(near) == 1 else min((extract(g, LARGE[0]) for g in near), key=cost)


def _blocks(graph: Graph, sweep: Sweep, output: str, wrt: Sequence[str], keep: bool) -> Graph:
    """The graph with the Jacobian blocks that a sweep gives."""
    row = output_of(graph, output)
    builder, new = rebuild(graph)
    blocks = sweep(graph, builder, [new[r] for r in graph.results[row]], wrt)
    shape = graph.outputs[row].shape
    ports = [Port(f"d{output}_d{name}", shape + input_of(graph, name)[1].shape) for name in wrt]
    old = [[new[r] for r in results] for results in graph.results]
    if keep:
        ports, blocks = [*graph.outputs, *ports], [*old, *blocks]
    return builder.finish(f"derivative of {graph.name}", ports, blocks)


def jvp(graph: Graph, wrt: Sequence[str]) -> Graph:
    """The derivative along a direction: inputs `d<input>` are added, every output gets a rate `d<output>`."""
    places = [input_of(graph, name) for name in wrt]
    builder, new = rebuild(graph)
    tangents: dict[int, int] = {}
    for which, port in places:
        builder.inputs.append(Port(f"d{port.name}", port.shape))
        for k in range(port.size):
            tangents[builder.input(which, k)] = builder.input(len(builder.inputs) - 1, k)
    results = [[new[r] for r in row] for row in graph.results]
    rates = pushed(builder, tangents, [r for row in results for r in row])
    flat = iter(rates)
    rows = [[next(flat) for _ in row] for row in results]
    ports = [Port(f"d{port.name}", port.shape) for port in graph.outputs]
    return builder.finish(f"rate of {graph.name}", [*graph.outputs, *ports], [*results, *rows])


def vjp(graph: Graph, output: str, wrt: Sequence[str]) -> Graph:
    """The derivative of a weighted output: an input `<output>_weight` is added, outputs `<input>_slope`.

    `<input>_slope` is the gradient of the sum of weight times output with respect to that input.
    """
    row = output_of(graph, output)
    builder, new = rebuild(graph)
    port = graph.outputs[row]
    builder.inputs.append(Port(f"{output}_weight", port.shape))
    weights = [builder.input(len(builder.inputs) - 1, k) for k in range(port.size)]
    results = [new[r] for r in graph.results[row]]
    slopes = pulled(builder, list(zip(results, weights, strict=True)))
    rows, ports = [], []
    for name in wrt:
        which, source = input_of(graph, name)
        ports.append(Port(f"{name}_slope", source.shape))
        rows.append([slopes.get(builder.input(which, k), builder.const(0.0)) for k in range(source.size)])
    kept = [[new[r] for r in each] for each in graph.results]
    return builder.finish(f"slope of {output} of {graph.name}", [*graph.outputs, *ports], [*kept, *rows])


def node_slopes(graph: Graph, output: str) -> Graph:
    """The derivative of every element of an output with respect to every node: `slopes` (elements, nodes).

    For asking what a summand does to a result. Nodes keep their order; constants count as nodes, with slope 0.
    """
    builder, new = rebuild(graph)
    zero = builder.const(0.0)
    port = graph.outputs[output_of(graph, output)]
    sweeps = [
        pulled(builder, [(new[r], builder.const(1.0))]) for r in graph.results[output_of(graph, output)]
    ]
    rows = [slopes.get(node, zero) for slopes in sweeps for node in new]
    shape = (port.size, len(graph.nodes))
    return builder.finish(f"slopes of {output} of {graph.name}", [Port("slopes", shape)], [rows])


# Sweeps -------------------------------------------------------------------------------------------------


def _forward(graph: Graph, builder: Builder, results: list[int], wrt: Sequence[str]) -> list[list[int]]:
    """Jacobian blocks, one forward sweep for each element of the inputs."""
    blocks = []
    for name in wrt:
        which, port = input_of(graph, name)
        columns = []
        for k in range(port.size):
            columns.append(pushed(builder, {builder.input(which, k): builder.const(1.0)}, results))
        blocks.append([columns[k][i] for i in range(len(results)) for k in range(port.size)])
    return blocks


def _reverse(graph: Graph, builder: Builder, results: list[int], wrt: Sequence[str]) -> list[list[int]]:
    """Jacobian blocks, one reverse sweep for each element of the output."""
    zero = builder.const(0.0)
    rows = [pulled(builder, [(result, builder.const(1.0))]) for result in results]
    blocks = []
    for name in wrt:
        which, port = input_of(graph, name)
        elements = [builder.input(which, k) for k in range(port.size)]
        blocks.append([slopes.get(e, zero) for slopes in rows for e in elements])
    return blocks


def pushed(builder: Builder, tangents: dict[int, int], results: Sequence[int]) -> list[int]:
    """Tangents of the results from tangents of inputs; nodes that depend on none of them are passed over."""
    zero = builder.const(0.0)
    known = dict(tangents)
    for index in range(max(results, default=-1) + 1):
        if index in known or not any(a in known for a in builder.args[index]):
            continue
        total = zero
        for a, times in _partials(builder, index):
            if a in known:
                total = builder.add(total, times(known[a]))
        if builder.value[total] != 0.0:
            known[index] = total
    return [known.get(r, zero) for r in results]


def pulled(builder: Builder, seeds: Sequence[tuple[int, int]]) -> dict[int, int]:
    """Adjoints of all nodes from weights of results."""
    slopes: dict[int, int] = {}
    for result, weight in seeds:
        slopes[result] = builder.add(slopes[result], weight) if result in slopes else weight
    for index in range(max((result for result, _ in seeds), default=-1), -1, -1):
        if index not in slopes or builder.value[slopes[index]] == 0.0:
            continue
        for a, times in _partials(builder, index):
            if builder.value[a] is None:
                share = times(slopes[index])
                slopes[a] = builder.add(slopes[a], share) if a in slopes else share
    return slopes


def _partials(builder: Builder, index: int) -> list[Partial]:
    """For each argument of a node, multiplication by the partial derivative."""
    b, op, args = builder, builder.op[index], builder.args[index]
    match op:
        case "add":
            return [(args[0], lambda t: t), (args[1], lambda t: t)]
        case "sub":
            return [(args[0], lambda t: t), (args[1], b.neg)]
        case "neg":
            return [(args[0], b.neg)]
        case "mul":
            return [(args[0], lambda t: b.mul(t, args[1])), (args[1], lambda t: b.mul(t, args[0]))]
        case "fma":
            product: list[Partial] = [
                (args[0], lambda t: b.mul(t, args[1])),
                (args[1], lambda t: b.mul(t, args[0])),
            ]
            return [*product, (args[2], lambda t: t)]
        case "div":  # (a/b)' = (a' - (a/b) b') / b, with one reciprocal for all directions
            inverse = b.div(b.const(1.0), args[1])
            slope = b.mul(index, inverse)
            return [(args[0], lambda t: b.mul(t, inverse)), (args[1], lambda t: b.neg(b.mul(t, slope)))]
        case "sqrt":
            half = b.div(b.const(0.5), index)
            return [(args[0], lambda t: b.mul(t, half))]
        case "sin":
            return [(args[0], lambda t: b.mul(t, b.cos(args[0])))]
        case "cos":
            return [(args[0], lambda t: b.neg(b.mul(t, b.sin(args[0]))))]
        case "select":
            zero = b.const(0.0)
            return [
                (args[1], lambda t: b.select(args[0], t, zero)),
                (args[2], lambda t: b.select(args[0], zero, t)),
            ]
    return []


# Names --------------------------------------------------------------------------------------------------


def output_of(graph: Graph, name: str) -> int:
    """The number of an output."""
    for row, port in enumerate(graph.outputs):
        if port.name == name:
            return row
    raise _unknown(graph, "output", name, graph.outputs)


def input_of(graph: Graph, name: str) -> tuple[int, Port]:
    """The number of an input, and its port."""
    for which, port in enumerate(graph.inputs):
        if port.name == name:
            return which, port
    raise _unknown(graph, "input", name, graph.inputs)


def _unknown(graph: Graph, kind: str, name: str, ports: Sequence[Port]) -> TraceFault:
    known = ", ".join(port.name for port in ports)
    return TraceFault(f"derivatives of {graph.name!r}: there is no {kind} {name!r}; it has {known}.")
