"""Scheduling: an order of the nodes that keeps few values alive."""

from __future__ import annotations

from forearm.compiler.graph import Graph
from forearm.compiler.passes.folding import reorder


def schedule(graph: Graph) -> Graph:
    """The order, of three, that keeps the fewest values alive (`graph.max_live`): registers are few.

    The orders: as it stands; depth first from the outputs, the heavier operand first; and bottom up, where the
    node is placed last whose operands are wanted anyway. None of them changes a value.
    """
    candidates = [graph, reorder(graph, _depth_first(graph)), reorder(graph, _bottom_up(graph))]
    return min(candidates, key=lambda g: g.max_live)


def _depth_first(graph: Graph) -> list[int]:
    """Outputs one after the other, each node after its operands, the operand that needs more values first."""
    need: list[int] = []
    for node in graph.nodes:
        below = sorted((need[a] for a in set(node.args)), reverse=True)
        need.append(max([1, *(n + k for k, n in enumerate(below))]))
    order: list[int] = []
    done = bytearray(len(graph.nodes))
    for row in graph.results:
        stack = list(reversed(row))
        while stack:
            index = stack[-1]
            waiting = [a for a in graph.nodes[index].args if not done[a]]
            if waiting:
                stack.extend(sorted(waiting, key=lambda a: need[a]))
                continue
            stack.pop()
            if not done[index]:
                done[index] = 1
                order.append(index)
    return order


def _bottom_up(graph: Graph) -> list[int]:
    """From the last node to the first: always the node that brings the fewest new values alive.

    Among equals the one is taken whose value is wanted latest, so that ranges close soon; constants are free and
    stand before their first use.
    """
    nodes = graph.nodes
    users = [0] * len(nodes)
    for node in nodes:
        for a in node.args:
            users[a] += 1
    results = {r for row in graph.results for r in row}
    alive = set(results)
    ready = [index for index in results if users[index] == 0]
    wanted = dict.fromkeys(ready, 0)
    order: list[int] = []
    while ready:
        best = min(ready, key=lambda i: (_growth(graph, i, alive), -wanted[i], -i))
        ready.remove(best)
        order.append(best)
        alive.discard(best)
        for a in nodes[best].args:
            alive.add(a)
            users[a] -= 1
            if users[a] == 0:
                ready.append(a)
                wanted[a] = len(order)
    return order[::-1]


def _growth(graph: Graph, index: int, alive: set[int]) -> int:
    """How many more values are alive above this node than below it."""
    fresh = {a for a in graph.nodes[index].args if a not in alive and graph.nodes[a].op != "const"}
    return len(fresh) - 1
