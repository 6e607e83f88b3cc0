"""Scheduling: an order of the nodes that keeps few values alive."""

from __future__ import annotations

from forearm.compiler.graph import Graph
from forearm.compiler.passes.folding import reorder


def schedule(graph: Graph) -> Graph:
    """The order, of five, that keeps the fewest values alive (`graph.max_live`); no value changes.

    A formulation walks link by link, which is a good order already. The others start from it: one moves a node
    down to its user wherever that brings no new value alive, one moves it up wherever that ends one, and each
    is tried after the other.
    """
    down, up = reorder(graph, pulled_down(graph)), reorder(graph, pushed_up(graph))
    both = reorder(down, pushed_up(down)), reorder(up, pulled_down(up))
    return min((graph, *both, down, up), key=lambda g: g.max_live)


def pushed_up(graph: Graph) -> list[int]:
    """Nodes from first to last, one that ends as many values as it begins before the others."""
    nodes = graph.nodes
    free = [node.op in ("const", "input") for node in nodes]
    operands = [tuple(set(node.args)) for node in nodes]
    users: list[list[int]] = [[] for _ in nodes]
    left = [0] * len(nodes)
    for row in graph.results:
        for r in row:
            left[r] += 1
    for index, args in enumerate(operands):
        for a in args:
            users[a].append(index)
            left[a] += 1
    waiting = [len(args) for args in operands]
    ready = [index for index, args in enumerate(operands) if not args]
    order: list[int] = []
    while ready:
        quiet = [i for i in ready if free[i] or any(left[a] == 1 and not free[a] for a in operands[i])]
        best = min(quiet or ready)
        ready.remove(best)
        order.append(best)
        for a in operands[best]:
            left[a] -= 1
        for user in users[best]:
            waiting[user] -= 1
            if waiting[user] == 0:
                ready.append(user)
    return order


def pulled_down(graph: Graph) -> list[int]:
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
