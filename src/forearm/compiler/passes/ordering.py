"""Scheduling: an order of the nodes that keeps few values alive."""

from __future__ import annotations

from forearm.compiler.graph import Graph
from forearm.compiler.passes.folding import reorder


def schedule(graph: Graph) -> Graph:
    """The order that keeps fewer values alive (`graph.max_live`): as it stands, or pulled together.

    A formulation walks link by link, which is a good order already. The other candidate starts from it at the
    end and moves a node up to its user wherever that brings no new value alive. Neither changes a value.
    """
    return min((graph, reorder(graph, pulled_together(graph))), key=lambda g: g.max_live)


def pulled_together(graph: Graph) -> list[int]:
    """Nodes from last to first, one that brings no value alive before the others; the list turned round."""
    nodes = graph.nodes
    free = [node.op in ("const", "input") for node in nodes]
    users = [0] * len(nodes)
    for node in nodes:
        for a in node.args:
            users[a] += 1
    alive = {r for row in graph.results for r in row}
    ready = [index for index in range(len(nodes)) if users[index] == 0]
    order: list[int] = []

    def grows(index: int) -> bool:
        fresh = {a for a in nodes[index].args if a not in alive and not free[a]}
        return len(fresh) > (0 if free[index] else 1)

    while ready:
        quiet = [index for index in ready if not grows(index)]
        best = max(quiet or ready)
        ready.remove(best)
        order.append(best)
        alive.discard(best)
        for a in nodes[best].args:
            alive.add(a)
            users[a] -= 1
            if users[a] == 0:
                ready.append(a)
    return order[::-1]
