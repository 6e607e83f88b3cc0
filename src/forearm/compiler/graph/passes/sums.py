"""Long sums as chains: each term is added to what is there already."""

from __future__ import annotations

from forearm.compiler.graph.builder import Builder
from forearm.compiler.graph.graph import Graph, Node

Term = tuple[int, int]
"""A sign and an old node."""


def chain_sums(graph: Graph) -> Graph:
    """Sums of sums that nobody else reads become one chain, terms that are no products first.

    Every product of a chain is then fused with its addition: (a*b + c*d) + (e*f + g*h) takes four operations as a
    chain, five as it stands. It is for graphs with much to do at a time: a chain has to be waited for, link by link.
    """
    inner, builder, new = _inner(graph), Builder(graph.inputs, graph.careful), dict[int, int]()
    terms: dict[int, list[Term]] = {}
    for index, node in enumerate(graph.nodes):
        builder.origin = graph.origins[index] if graph.origins else None
        if node.op in ("add", "sub"):
            terms[index] = _terms(node, terms, inner)
        if inner[index]:
            continue
        if len(terms.get(index, ())) > 2:
            new[index] = _chain(graph, builder, new, terms[index])
        else:
            new[index] = builder.copy(node, [new[a] for a in node.args])
    builder.origin = None
    return builder.finish(graph.name, graph.outputs, [[new[r] for r in row] for row in graph.results])


def _inner(graph: Graph) -> bytearray:
    """Sums that one other sum reads, and nobody else."""
    inner = bytearray(len(graph.nodes))
    for node in graph.nodes:
        if node.op in ("add", "sub"):
            for a in node.args:
                inner[a] = graph.nodes[a].op in ("add", "sub") and graph.uses[a] == 1
    return inner


def _terms(node: Node, terms: dict[int, list[Term]], inner: bytearray) -> list[Term]:
    """What a sum adds up, with signs."""
    found: list[Term] = []
    for sign, a in zip((1, 1 if node.op == "add" else -1), node.args, strict=True):
        found += [(sign * s, t) for s, t in terms[a]] if inner[a] else [(sign, a)]
    return found


def _chain(graph: Graph, builder: Builder, new: dict[int, int], terms: list[Term]) -> int:
    """One term after the other; the first is not subtracted, where there is a choice."""
    last = [graph.nodes[a].op == "mul" and graph.uses[a] == 1 for _, a in terms]
    ordered = sorted(range(len(terms)), key=lambda k: (last[k], k))
    first = next((k for k in ordered if terms[k][0] > 0), ordered[0])
    sign, node = terms[first]
    total = new[node] if sign > 0 else builder.neg(new[node])
    for k in ordered:
        if k != first:
            sign, node = terms[k]
            total = builder.add(total, new[node]) if sign > 0 else builder.sub(total, new[node])
    return total
