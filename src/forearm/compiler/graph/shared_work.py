"""Work that many states share: a graph cut in two, what depends on parameters alone and what is left for each state.

An arm that is asked for a thousand states has its base parameters regrouped once, not a thousand times. The first graph
gives the values that the second takes as one more input, `shared`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from forearm.compiler.graph.builder import Builder
from forearm.compiler.graph.graph import Graph, Port

SHARED = "shared"
"""The input of the second graph that the first one gives."""


class Cut(NamedTuple):
    """A graph in two."""

    once: Graph
    """From the parameters to the values that all states share: one output, `shared`."""
    each: Graph
    """From a state and those values to the outputs."""


def cut(graph: Graph, parameters: Collection[str]) -> Cut:
    """Cut a graph: `parameters` are the inputs that many states have in common."""
    known = [port.name in parameters for port in graph.inputs]
    ready: list[bool] = []
    for node in graph.nodes:
        behind = [a for a in node.args if graph.nodes[a].op != "const"]
        ready.append(known[node.at[0]] if node.at else bool(behind) and all(ready[a] for a in behind))
    border = {node: place for place, node in enumerate(dict.fromkeys(_crossing(graph, ready)))}
    shared = Port(SHARED, (len(border),))
    once, new = _part(graph, known, True, dict.fromkeys(border, -1), ())
    first = once.finish(f"{graph.name}: what states share", (shared,), [[new[i] for i in border]])
    each, new = _part(graph, known, False, border, (shared,))
    return Cut(
        first, each.finish(graph.name, graph.outputs, [[new[r] for r in row] for row in graph.results])
    )


def _crossing(graph: Graph, ready: list[bool]) -> Iterator[int]:
    """The values that go from one part to the other; a sign is changed on the far side."""

    def behind_sign(index: int) -> int:
        while graph.nodes[index].op == "neg":
            index = graph.nodes[index].args[0]
        return index

    for index, node in enumerate(graph.nodes):
        if not ready[index]:
            yield from (behind_sign(a) for a in node.args if ready[a])
    yield from (behind_sign(r) for row in graph.results for r in row if ready[r])


def _part(
    graph: Graph, known: list[bool], first: bool, border: dict[int, int], more: tuple[Port, ...]
) -> tuple[Builder, dict[int, int]]:
    """All nodes that can be made from the parameters (`first`), or from the other inputs and the border."""
    ports = [port for port, mine in zip(graph.inputs, known, strict=True) if mine == first]
    place = {k: i for i, k in enumerate(k for k, mine in enumerate(known) if mine == first)}
    builder, new = Builder([*ports, *more]), dict[int, int]()
    for index, node in enumerate(graph.nodes):
        if not first and index in border:
            new[index] = builder.input(len(ports), border[index])
        elif node.at:
            if node.at[0] in place:
                new[index] = builder.input(place[node.at[0]], node.at[1])
        elif all(a in new for a in node.args):
            new[index] = builder.copy(node, [new[a] for a in node.args])
    return builder, new
