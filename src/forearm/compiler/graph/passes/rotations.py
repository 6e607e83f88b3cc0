"""Trigonometry: what rotations leave alone is computed before the rotation.

sin² + cos² is one, so lengths and scalar products in the plane of a rotation are the same before and after
it: with u = c*x + s*y, v = c*y - s*x (c and s of one angle), u*u + v*v = x*x + y*y. Recursions in link
frames contain just that, and where the twist is a right angle the previous link has the right-hand side
already.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import product

from forearm.compiler.graph.builder import Builder
from forearm.compiler.graph.graph import Graph
from forearm.compiler.graph.passes.factors import cost


@dataclass(frozen=True)
class _Turned:
    """A node read as sign * (cos(angle) * x + hand * sin(angle) * y)."""

    angle: int
    x: int
    y: int
    hand: int
    sign: int

    def partner(self, other: _Turned) -> bool:
        """Whether the other is the second component of the same rotation: cos * y - hand * sin * x."""
        return (other.angle, other.x, other.y, other.hand) == (self.angle, self.y, self.x, -self.hand)


Place = tuple[int, int, tuple[int, ...]]
"""A sum that has a simpler form: node, sign, factors (a, b, c, d) of a*b + c*d; no factors: it is one."""


def trig_identities(graph: Graph) -> Graph:
    """sin² + cos² = 1, and its like: scalar products of rotated pairs, taken before the rotation.

    Every place is tried by itself and kept when it saves an operation (or a multiplication).
    """
    if graph.counts.fma:
        return graph
    best, places = graph, _places(graph)
    while places:
        found = _replaced(best, places.pop())
        if cost(found) < cost(best):
            best, places = found, _places(found)
    return best


def _places(graph: Graph) -> list[Place]:
    """All sums of two products that an identity can rewrite."""
    nodes = graph.nodes
    turned = _turned(graph)
    places: list[Place] = []
    for index, node in enumerate(nodes):
        if node.op not in ("add", "sub") or any(nodes[a].op != "mul" for a in node.args):
            continue
        hand = 1 if node.op == "add" else -1
        (p, q), (r, s) = nodes[node.args[0]].args, nodes[node.args[1]].args
        if (
            p == q
            and r == s
            and {nodes[p].op, nodes[r].op} == {"sin", "cos"}
            and nodes[p].args == nodes[r].args
        ):
            places.extend([(index, 1, ())] if hand == 1 else [])
        for u1, u2, v1, v2 in (
            *product(turned[p], turned[q], turned[r], turned[s]),
            *product(turned[p], turned[q], turned[s], turned[r]),
        ):
            same = u1.partner(v1) and u2.partner(v2) and u1.hand == u2.hand and u1.angle == u2.angle
            if same and u1.sign * u2.sign == hand * v1.sign * v2.sign:
                places.append((index, u1.sign * u2.sign, (u1.x, u2.x, u1.y, u2.y)))
    return places


def _turned(graph: Graph) -> defaultdict[int, list[_Turned]]:
    """For each node, the ways to read it as one component of a rotated pair."""
    nodes = graph.nodes
    found: defaultdict[int, list[_Turned]] = defaultdict(list)
    for index, node in enumerate(nodes):
        if node.op not in ("add", "sub") or any(nodes[a].op != "mul" for a in node.args):
            continue
        hand = 1 if node.op == "add" else -1
        first, second = node.args
        for (angle, x), (other, y) in product(_factors(graph, first, "cos"), _factors(graph, second, "sin")):
            if angle == other:
                found[index].append(_Turned(angle, x, y, hand, 1))
        for (angle, y), (other, x) in product(_factors(graph, first, "sin"), _factors(graph, second, "cos")):
            if angle == other:  # s*y ± c*x = ±(c*x ± s*y)
                found[index].append(_Turned(angle, x, y, hand, hand))
    return found


def _factors(graph: Graph, index: int, op: str) -> list[tuple[int, int]]:
    """The ways to read a product as op(angle) * rest: (angle, rest)."""
    a, b = graph.nodes[index].args
    ways = ((a, b), (b, a))
    return [(graph.nodes[f].args[0], rest) for f, rest in ways if graph.nodes[f].op == op]


def _replaced(graph: Graph, place: Place) -> Graph:
    """The graph with one sum in its simpler form."""
    index, sign, factors = place
    builder = Builder(graph.inputs, graph.careful)
    new: list[int] = []
    for k, node in enumerate(graph.nodes):
        if k != index:
            new.append(builder.copy(node, [new[a] for a in node.args]))
        elif not factors:
            new.append(builder.const(1.0))
        else:
            a, b, c, d = (new[f] for f in factors)
            total = builder.add(builder.mul(a, b), builder.mul(c, d))
            new.append(total if sign > 0 else builder.neg(total))
    return builder.finish(graph.name, graph.outputs, [[new[r] for r in row] for row in graph.results])
