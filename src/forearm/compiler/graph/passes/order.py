"""Scheduling: an order of the nodes that keeps few values alive."""

from __future__ import annotations

import heapq

from forearm.compiler.graph.graph import Graph
from forearm.compiler.graph.passes.dead_code import reorder

MANY = 20_000
"""Nodes from which trying every order takes seconds."""


def schedule(graph: Graph) -> Graph:
    """The order, of five, that keeps the fewest values alive (`graph.max_live`); no value changes.

    A formulation walks link by link, which is a good order already. The others start from it: one moves a node
    down to its user wherever that brings no new value alive, one moves it up wherever that ends one, and each
    is tried after the other. Of very long graphs only the one that is mostly taken is made.
    """
    down = reorder(graph, pulled_down(graph))
    if len(graph.nodes) > MANY:
        return reorder(down, pushed_up(down))
    up = reorder(graph, pushed_up(graph))
    both = reorder(down, pushed_up(down)), reorder(up, pulled_down(up))
    return min((graph, *both, down, up), key=lambda g: g.max_live)


def branch_by_branch(graph: Graph) -> Graph:
    """An order in which a robot's branches come one after the other, where it keeps fewer values alive.

    From each output (first to last, or last to first) back to the inputs, the longest way first, so that what a branch
    needs is made and used up before the next begins; then up and down as in `schedule`. A thread of a GPU has 255
    registers and slow memory behind them, so this is how kernels for GPUs are written. Processors read what does not
    fit from their first cache at no cost; there, rows of a large output want to be written in the order of the walk.
    """
    found = [graph]
    for backwards in (False, True):
        deep = reorder(graph, depth_first(graph, backwards=backwards))
        down = reorder(deep, pulled_down(deep))
        found.append(reorder(down, pushed_up(down)))
    return min(found, key=lambda g: g.max_live)


def depth_first(graph: Graph, *, backwards: bool = False) -> list[int]:
    """Nodes as the outputs need them, one after the other; of operands first the one with most steps behind it."""
    steps: list[int] = []
    for node in graph.nodes:
        steps.append(1 + max((steps[a] for a in node.args), default=0))
    done, order = bytearray(len(graph.nodes)), list[int]()
    results = [r for row in graph.results for r in row]
    for result in reversed(results) if backwards else results:
        path = [result]
        while path:
            index = path[-1]
            left = [a for a in graph.nodes[index].args if not done[a]]
            if left and not done[index]:
                path.append(max(left, key=lambda a: steps[a]))
                continue
            path.pop()
            if not done[index]:
                done[index] = 1
                order.append(index)
    return order + [index for index in range(len(graph.nodes)) if not done[index]]


def pushed_up(graph: Graph) -> list[int]:
    """Nodes from first to last, one that ends a value before the others; of equals the first."""
    links = _Links(graph)
    waiting = [len(args) for args in links.operands]
    readers = links.readers(graph)
    queue = _Queue()
    for index, args in enumerate(links.operands):
        if not args:
            queue.add(index, True)
    order: list[int] = []
    while (best := queue.take()) is not None:
        order.append(best)
        for a in links.operands[best]:
            readers[a] -= 1
            if readers[a] == 1 and not links.free[a]:  # whoever reads it next ends it
                for user in links.users[a]:
                    if waiting[user] == 0:
                        queue.promote(user)
        for user in links.users[best]:
            waiting[user] -= 1
            if waiting[user] == 0:
                ends = any(readers[a] == 1 and not links.free[a] for a in links.operands[user])
                queue.add(user, ends)
    return order


def pulled_down(graph: Graph) -> list[int]:
    """Nodes from last to first, one that brings no value alive before the others; the list turned round."""
    links = _Links(graph)
    left = [len(users) for users in links.users]
    alive = {r for row in graph.results for r in row}
    fresh: dict[int, int] = {}
    queue = _Queue()

    def enter(index: int) -> None:
        fresh[index] = sum(a not in alive and not links.free[a] for a in links.operands[index])
        queue.add(-index, fresh[index] <= (0 if links.free[index] else 1))

    for index in range(len(graph.nodes)):
        if left[index] == 0:
            enter(index)
    order: list[int] = []
    while (taken := queue.take()) is not None:
        order.append(-taken)
        alive.discard(-taken)
        for a in links.operands[-taken]:
            if a not in alive:
                alive.add(a)
                for user in links.users[a]:
                    if user in fresh and not links.free[a]:
                        fresh[user] -= 1
                        if fresh[user] <= 1:
                            queue.promote(-user)
            left[a] -= 1
            if left[a] == 0:
                enter(a)
    return order[::-1]


class _Links:
    """Who reads whom, each once; constants and inputs are free."""

    def __init__(self, graph: Graph) -> None:
        self.free = [node.op in ("const", "input") for node in graph.nodes]
        self.operands = [tuple(set(node.args)) for node in graph.nodes]
        self.users: list[list[int]] = [[] for _ in graph.nodes]
        for index, args in enumerate(self.operands):
            for a in args:
                self.users[a].append(index)

    def readers(self, graph: Graph) -> list[int]:
        """How many nodes and outputs read each node."""
        readers = [len(users) for users in self.users]
        for row in graph.results:
            for r in row:
                readers[r] += 1
        return readers


class _Queue:
    """Numbers that are ready, the smallest first, those that are preferred before the others."""

    def __init__(self) -> None:
        self.preferred: list[int] = []
        self.others: list[int] = []
        self.ready: set[int] = set()

    def add(self, number: int, preferred: bool) -> None:
        """Enter a number."""
        self.ready.add(number)
        heapq.heappush(self.preferred if preferred else self.others, number)

    def promote(self, number: int) -> None:
        """Prefer a number, if it is waiting."""
        if number in self.ready:
            heapq.heappush(self.preferred, number)

    def take(self) -> int | None:
        """The next number; None when there is none left."""
        for heap in (self.preferred, self.others):
            while heap:
                number = heapq.heappop(heap)
                if number in self.ready:
                    self.ready.remove(number)
                    return number
        return None
