"""Graphs on disk: a new process finds them beside its kernels instead of searching again.

Two kinds are kept: what the passes made of a graph, under that graph's digest, and the graph that is ready to be
compiled, under the fingerprint of an arm and what was asked of it. Keys hold a digest of forearm's own source, so
other passes or formulations make other files. What is kept is text, and a file that does not fit is made anew.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from forearm.compiler.graph.graph import Graph, Node, Port
from forearm.compiler.store.files import graph_key, load, store
from forearm.faults import TraceFault
from forearm.outside.running_log import LOG
from forearm.outside.signal_errors import pass_on_signals


def simplified(graph: Graph, effort: int = 1) -> Graph:
    """What `passes.simplify` makes of a graph, from disk where it has been made before."""
    if graph.effort >= effort:
        return graph
    from forearm.compiler.graph import passes

    key = graph_key("simplified", effort, graph.digest)
    found = load(key)
    if found is not None:
        try:
            return replace(unpacked(found, graph.name, graph.inputs, graph.outputs), effort=effort)
        except (ValueError, TypeError, KeyError, TraceFault) as reason:
            LOG.warning("a kept graph of %s cannot be read (%s); it is made anew", graph.name, reason)
    made = passes.simplify(graph, effort)
    store(key, f"simplified graph: {graph.name}", packed(made))
    return made


def packed(graph: Graph) -> bytes:
    """Nodes and results as text; numbers to the last bit."""
    nodes = [[node.op, node.args, node.value, node.at] for node in graph.nodes]
    return json.dumps({"nodes": nodes, "results": graph.results}, separators=(",", ":")).encode()


def unpacked(text: bytes, name: str, inputs: tuple[Port, ...], outputs: tuple[Port, ...]) -> Graph:
    """The graph that `packed` wrote, under a name and with these ports."""
    read = json.loads(text)
    nodes = tuple(
        Node(op, tuple(args), value, tuple(at) if at else None) for op, args, value, at in read["nodes"]
    )
    return Graph(name, inputs, nodes, outputs, tuple(tuple(row) for row in read["results"]))


def keep(key: str, graph: Graph, more: Any) -> None:
    """Keep a whole graph, ports included, and something that JSON can say."""
    ports = [[[p.name, p.shape] for p in side] for side in (graph.inputs, graph.outputs)]
    nodes = packed(graph).decode()
    told = {"name": graph.name, "ports": ports, "effort": graph.effort, "digest": graph.digest, "more": more}
    head = json.dumps(told)
    store(key, f"graph: {graph.name}", f"{head}\n{nodes}".encode())


def recall(key: str) -> tuple[Graph, Any] | None:
    """What was kept under a key, if it is there and can be read."""
    found = load(key)
    if found is None:
        return None
    head, _, nodes = found.partition(b"\n")
    try:
        told = json.loads(head)
        inputs, outputs = (tuple(Port(name, tuple(shape)) for name, shape in side) for side in told["ports"])
        graph = replace(unpacked(nodes, told["name"], inputs, outputs), effort=told["effort"])
        vars(graph)["digest"] = str(told["digest"])  # as it was worked out when the graph was made
        return graph, told["more"]
    except (ValueError, TypeError, KeyError, TraceFault) as reason:
        pass_on_signals()
        LOG.warning("a kept graph cannot be read (%s); it is made anew", reason)
        return None
