"""The passes: each takes a graph and returns one with the same values and never more operations.

`simplify` is the standard pipeline, `lower` is what the emitters take: simplified, with fused multiply-adds,
in an order that keeps few values alive.
"""

from forearm.compiler.graph import Graph
from forearm.compiler.passes.folding import dead_code, fold
from forearm.compiler.passes.fused import form_fma
from forearm.compiler.passes.ordering import schedule

__all__ = ["dead_code", "fold", "form_fma", "lower", "schedule", "simplify"]


def simplify(graph: Graph) -> Graph:
    """The standard pipeline, without fused multiply-adds."""
    return fold(graph)


def lower(graph: Graph) -> Graph:
    """What the emitters take: simplified, fused, ordered."""
    return schedule(form_fma(simplify(graph)))
