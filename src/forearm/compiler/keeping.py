"""Simplified graphs on disk: a new process finds them beside its kernels instead of searching again.

The key is the graph that is to be simplified and the source of the passes, so that another arm, another
formulation or other passes make another file. What is kept is text, and a file that does not fit is made anew.
"""

from __future__ import annotations

import hashlib
import json
import logging
from dataclasses import replace
from functools import cache
from pathlib import Path

from forearm.compiler.cache import key_of, load, store
from forearm.compiler.graph import Graph, Node
from forearm.compiler.passes import simplify
from forearm.faults import TraceFault

LOG = logging.getLogger("forearm")


def simplified(graph: Graph, effort: int = 1) -> Graph:
    """What `passes.simplify` makes of a graph, from disk where it has been made before."""
    if graph.effort >= effort:
        return graph
    key = key_of("simplified", passes_version(), effort, graph.digest)
    found = load(key)
    if found is not None:
        try:
            return replace(unpacked(found, graph), effort=effort)
        except (ValueError, TypeError, KeyError, TraceFault) as reason:
            LOG.warning("a kept graph of %s cannot be read (%s); it is made anew", graph.name, reason)
    made = simplify(graph, effort)
    store(key, f"simplified graph: {graph.name}", packed(made))
    return made


def packed(graph: Graph) -> bytes:
    """Nodes and results as text; numbers to the last bit."""
    nodes = [[node.op, node.args, node.value, node.at] for node in graph.nodes]
    return json.dumps({"nodes": nodes, "results": graph.results}, separators=(",", ":")).encode()


def unpacked(text: bytes, like: Graph) -> Graph:
    """The graph that `packed` wrote, with the name and the ports of another one."""
    read = json.loads(text)
    nodes = tuple(
        Node(op, tuple(args), value, tuple(at) if at else None) for op, args, value, at in read["nodes"]
    )
    return Graph(like.name, like.inputs, nodes, like.outputs, tuple(tuple(row) for row in read["results"]))


@cache
def passes_version() -> str:
    """A digest of the source of all passes."""
    digest = hashlib.sha256()
    for path in sorted((Path(__file__).parent / "passes").glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
