"""Folding and dead code: the passes that only tidy."""

from __future__ import annotations

from forearm.compiler.graph.builder import rebuild
from forearm.compiler.graph.graph import Graph, Node


def fold(graph: Graph) -> Graph:
    """Make every node anew through the folding constructors: constants, signs, zeros, ones, right angles.

    Hash-consing comes with it, so equal expressions become one node, and what no output needs is left out.
    """
    builder, new = rebuild(graph)
    return builder.finish(graph.name, graph.outputs, [[new[r] for r in row] for row in graph.results])


def dead_code(graph: Graph) -> Graph:
    """Leave out the nodes that no output needs; the rest stays as it is."""
    needed = bytearray(len(graph.nodes))
    for row in graph.results:
        for r in row:
            needed[r] = 1
    for index in range(len(graph.nodes) - 1, -1, -1):
        if needed[index]:
            for a in graph.nodes[index].args:
                needed[a] = 1
    return reorder(graph, [index for index in range(len(graph.nodes)) if needed[index]])


def reorder(graph: Graph, order: list[int]) -> Graph:
    """The same nodes in another topological order, or only some of them."""
    number: dict[int, int] = {}
    nodes: list[Node] = []
    for index in order:
        node = graph.nodes[index]
        number[index] = len(nodes)
        nodes.append(Node(node.op, tuple([number[a] for a in node.args]), node.value, node.at))
    results = tuple(tuple(number[r] for r in row) for row in graph.results)
    origins = tuple(graph.origins[index] for index in order) if graph.origins else ()
    return Graph(
        graph.name, graph.inputs, tuple(nodes), graph.outputs, results, origins, careful=graph.careful
    )
