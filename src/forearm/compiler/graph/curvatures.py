"""Second derivatives on the graph: first derivatives, differentiated once more by forward sweeps.

The derivative of a number (λᵀ τ) is one reverse sweep, and its second derivatives are forward sweeps over that; those
of a vector are forward sweeps over its Jacobian. Where the two inputs are the same, the half that symmetry gives is
not computed but equal, to the bit.
"""

from __future__ import annotations

from collections.abc import Sequence

from forearm.compiler.graph.builder import Builder, rebuild
from forearm.compiler.graph.derivatives import input_of, jacobian, jvp, output_of, pushed
from forearm.compiler.graph.graph import Graph, Port
from forearm.compiler.graph.passes import chain_sums, simplify
from forearm.compiler.graph.passes.factors import LARGE, extract

Pair = tuple[str, str]
"""The two inputs of a second derivative, in the order of its axes; the sweeps go along the first."""
SHARED = 20_000
"""Operations up to which common parts are looked for once more, which takes a second for each 4,000 of them."""


def second(graph: Graph, output: str, pairs: Sequence[Pair]) -> Graph:
    """Derivatives `d<output>_d<a>` and second derivatives `dd<output>_d<a>_d<b>` of an output, for pairs (a, b).

    Shapes are output.shape + a.shape, and output.shape + a.shape + b.shape; the first ones are there for every
    second member of a pair.
    """
    names = list(dict.fromkeys(b for _, b in pairs))
    number = graph.outputs[output_of(graph, output)].size == 1
    slopes = jacobian(graph, output, names, keep=False, mode="reverse" if number else "cheaper")
    slopes = simplify(slopes, 1 if number else 0)
    builder, new = rebuild(slopes)
    rows = {b: [new[r] for r in slopes.results[output_of(slopes, f"d{output}_d{b}")]] for b in names}
    shape = graph.outputs[output_of(graph, output)].shape
    ports, results = list(slopes.outputs), [[new[r] for r in row] for row in slopes.results]
    blocks: dict[Pair, list[int]] = {}
    for a in dict.fromkeys(a for a, _ in pairs):
        blocks.update(_blocks(graph, builder, a, {b: rows[b] for c, b in pairs if c == a}))
    for a, b in pairs:
        sizes = (*input_of(graph, a)[1].shape, *input_of(graph, b)[1].shape)
        ports.append(Port(f"dd{output}_d{a}_d{b}", shape + sizes))
        results.append(blocks[a, b])
    found = builder.finish(f"second derivative of {graph.name}", ports, results)
    return chain_sums(extract(found, LARGE[0])) if number and found.counts.operations <= SHARED else found


def hessian_product(graph: Graph, output: str, wrt: Sequence[str]) -> Graph:
    """The gradient of a number and its rate along a direction: inputs `d<input>`, outputs `dd<output>_d<input>`."""
    slopes = jacobian(graph, output, wrt, keep=False, mode="reverse")
    return jvp(simplify(slopes, 1), wrt)


def _blocks(graph: Graph, builder: Builder, a: str, slopes: dict[str, list[int]]) -> dict[Pair, list[int]]:
    """Derivatives of slopes [i, k], by input, along each element j of the input a: blocks [i, j, k]."""
    which, port = input_of(graph, a)
    one, found = builder.const(1.0), dict[tuple[str, int, int, int], int]()
    for j in range(port.size):
        wanted = {
            (b, i, k): row[i * size + k]
            for b, row in slopes.items()
            for size in [input_of(graph, b)[1].size]
            for i in range(len(row) // size)
            for k in range(j if b == a else 0, size)
        }
        rates = pushed(builder, {builder.input(which, j): one}, list(wanted.values()))
        for (b, i, k), rate in zip(wanted, rates, strict=True):
            found[b, i, j, k] = rate
            if b == a:
                found[b, i, k, j] = rate
    return {(a, b): [found[key] for key in sorted(key for key in found if key[0] == b)] for b in slopes}
