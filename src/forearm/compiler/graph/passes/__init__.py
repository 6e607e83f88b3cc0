"""The passes: each takes a graph and returns one with the same values and never more operations.

`simplify` is the standard pipeline, `lower` is what the emitters take: simplified, with fused multiply-adds,
in an order that keeps few values alive. Values change by roundoff only: sums and products are reassociated.

dead_code           folding, and what nobody reads
rotations           what a rotation leaves alone is computed before it
factors             common factors and common parts of sums, found in a polynomial_system
units               the units in which most constants are one
sums                long sums as chains
fused               multiply-adds
order               few values alive at a time
"""

from dataclasses import replace

from forearm.compiler.graph.graph import Graph
from forearm.compiler.graph.passes.dead_code import dead_code, fold
from forearm.compiler.graph.passes.factors import LARGE, QUICK, SEQUENCES, common_factors, cost
from forearm.compiler.graph.passes.fused import form_fma
from forearm.compiler.graph.passes.order import branch_by_branch, schedule
from forearm.compiler.graph.passes.rotations import trig_identities
from forearm.compiler.graph.passes.sums import chain_sums
from forearm.compiler.graph.passes.units import choose_units

__all__ = [
    "branch_by_branch",
    "chain_sums",
    "choose_units",
    "common_factors",
    "dead_code",
    "fold",
    "form_fma",
    "lower",
    "schedule",
    "simplify",
    "trig_identities",
]


FEW = 2000
"""Graphs with more operations than this get fewer attempts by default: they take longer and gain the same."""

ODD = 1e-100
"""Factors that are smaller, or larger than its inverse, stay where they are."""


def simplify(graph: Graph, effort: int = 1) -> Graph:
    """The standard pipeline, without fused multiply-adds.

    Args:
        graph: Any graph; one that has fused multiply-adds already is only folded.
        effort: 0 folds only, 1 is the usual (a tenth of a second for an arm's torques), 2 tries every way
            known to take the graph apart (a second or so; a few operations less).
    """
    if graph.effort >= effort:
        return graph
    graph = fold(graph)
    if effort <= 0 or graph.counts.fma:
        return replace(graph, effort=0)
    if _has_odd_factors(graph):
        return replace(graph, effort=effort)
    folded = graph
    graph = choose_units(trig_identities(graph))
    sequences = SEQUENCES if effort > 1 else (QUICK if graph.counts.operations <= FEW else LARGE,)
    found = min((choose_units(common_factors(graph, openings)) for openings in sequences), key=cost)
    if folded.careful and _poles(found) != _poles(folded):
        found = folded
    return replace(found, effort=effort)


def _has_odd_factors(graph: Graph) -> bool:
    """Whether there are factors 0, kept for a pole, or such that a product of several is none that a float holds.

    They have no unit, and cannot be taken out of a sum.
    """
    factors = (graph.nodes[a].value for x in graph.nodes if x.op in ("mul", "div") for a in x.args)
    return any(c is not None and not ODD < abs(c) < 1.0 / ODD for c in factors)


def _poles(graph: Graph) -> list[int]:
    """How many quotients and roots the value of each result goes through."""
    reached: list[int] = []  # sets, as the bits of a number
    for index, node in enumerate(graph.nodes):
        pole = node.op == "sqrt" or (node.op == "div" and graph.nodes[node.args[1]].value is None)
        bits = 1 << index if pole else 0
        for a in node.args:
            bits |= reached[a]
        reached.append(bits)
    return [reached[r].bit_count() for row in graph.results for r in row]


def lower(graph: Graph, effort: int = 1) -> Graph:
    """What the emitters take: simplified, fused, ordered."""
    return schedule(form_fma(simplify(graph, effort)))
