"""Fused multiply-adds: a product that feeds one sum only becomes part of it."""

from __future__ import annotations

from dataclasses import replace

from forearm.compiler.graph.graph import LATENCY, Graph, Node
from forearm.compiler.graph.passes.dead_code import dead_code


def form_fma(graph: Graph) -> Graph:
    """a*b + c and its signs become one fma each, rounded once.

    Only products with a single use are fused: a shared product would be computed twice. Where both operands
    are such products, the one whose factors are ready later is fused: the other then overlaps with it.
    Signs go into the arguments, where machines have them for free: x - a*b = fma(-a, b, x), a*b - x =
    fma(a, b, -x).
    """
    make = _Fused(graph)
    for index, node in enumerate(graph.nodes):
        make.place(index, node)
    results = tuple(tuple(make.new[r] for r in row) for row in graph.results)
    origins = tuple(make.origins)
    return dead_code(replace(graph, nodes=tuple(make.nodes), results=results, origins=origins, effort=-1))


class _Fused:
    """The new nodes, and where each old node went."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.nodes: list[Node] = []
        self.new: list[int] = []
        self.ready: list[float] = []
        self.signs: dict[int, int] = {}
        self.origins: list[tuple[str, int] | None] = []

    def append(self, node: Node, index: int) -> int:
        """Add a node that stands for old node `index`."""
        self.nodes.append(node)
        self.ready.append(LATENCY[node.op] + max((self.ready[a] for a in node.args), default=0.0))
        if self.graph.origins:
            self.origins.append(self.graph.origins[index])
        return len(self.nodes) - 1

    def negative(self, i: int, index: int) -> int:
        """The opposite of new node i, made once."""
        node = self.nodes[i]
        if node.op == "neg":
            return node.args[0]
        if i not in self.signs:
            value = node.value
            opposite = Node("neg", (i,)) if value is None else Node("const", (), -value)
            self.signs[i] = self.append(opposite, index)
        return self.signs[i]

    def place(self, index: int, node: Node) -> None:
        """Copy an old node; sums swallow a product where they can."""
        if node.op not in ("add", "sub"):
            args = tuple([self.new[a] for a in node.args])
            self.new.append(self.append(Node(node.op, args, node.value, node.at), index))
            return
        products = [a for a in node.args if self.graph.nodes[a].op == "mul" and self.graph.uses[a] == 1]
        if not products:
            self.new.append(self.append(Node(node.op, tuple([self.new[a] for a in node.args])), index))
            return
        chosen = max(products, key=lambda a: self.ready[self.new[a]])
        first = node.args[0] == chosen
        other = self.new[node.args[1] if first else node.args[0]]
        a, b = (self.new[x] for x in self.graph.nodes[chosen].args)
        if node.op == "sub" and first:
            other = self.negative(other, index)
        elif node.op == "sub":
            a = self.negative(a, index)
        self.new.append(self.append(Node("fma", (a, b, other)), index))
