"""Units: compute in the units in which most constants are one.

A formulation in metres multiplies by link lengths; in units of the forearm's length it need not multiply by
that one. No output may change, so only those scales can be chosen that cancel on every way from inputs to
outputs, for example a length unit L together with a mass unit 1/L², which leaves torques in N m. The pass
finds all such scales by itself: every product with a constant may take a scale, every sum asks its operands
for the same scale, every output, input and angle for none. What is left free is spent, one scale at a time,
on turning the most constants into ones.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

from forearm.compiler.graph.builder import Builder
from forearm.compiler.graph.graph import Graph
from forearm.compiler.graph.passes.dead_code import fold

REACH = 4096.0
"""Constants beyond this (or below its inverse) are no units: float32 must hold all intermediate values."""
Scale = dict[object, Any]
"""A product of powers: of free scales (int: the product that owns it), of constants ((value,): 3 is 3.0 to a dict)."""


def choose_units(graph: Graph) -> Graph:
    """Scale intermediate values so that the most constant factors become one; outputs stay the same."""
    if graph.counts.fma:
        return graph
    graph = fold(graph)
    system = _Scales(graph)
    if not system.spend():
        return graph
    scaled = _rescaled(graph, system)
    return scaled if scaled.counts.operations < graph.counts.operations else graph


class _Scales:
    """The scale of every node as a product of powers of free scales, under the constraints of the graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.solved: dict[object, Scale] = {}
        self.of: list[Scale | None] = []
        for index, node in enumerate(graph.nodes):
            self.of.append(self._scale(index, node.op, node.args))
        for row in graph.results:
            for r in row:
                self._equal(self.of[r], {})

    def _scale(self, index: int, op: str, args: tuple[int, ...]) -> Scale | None:
        """Scale of a node from its arguments'; None for a constant, which takes any."""
        scales = [self.of[a] for a in args]
        if op == "const":
            return None
        if op in ("add", "sub", "select"):
            pair = scales[-2:]
            if op == "select" and None in pair:
                self._equal(pair[0], {})
                self._equal(pair[1], {})
                return {}
            self._equal(*pair)
            return pair[0] if pair[0] is not None else pair[1]
        if op == "neg":
            return scales[0]
        if op in ("mul", "div"):
            sign = 1 if op == "mul" else -1
            own: Scale = {index: 1}
            first, second = (own if scale is None else scale for scale in scales)
            return self._combine(first, second, sign)
        for scale in scales:  # input, sqrt, sin, cos: no scale in, none out
            self._equal(scale, {})
        return {}

    def _combine(self, a: Scale, b: Scale, factor: int) -> Scale:
        """The scale a * b^factor, in free scales only."""
        out = dict(self.reduced(a))
        for key, power in self.reduced(b).items():
            power = out.get(key, 0) + factor * power
            if power:
                out[key] = power
            else:
                out.pop(key, None)
        return out

    def reduced(self, scale: Scale) -> Scale:
        """The scale with all solved ones put in."""
        solved = self.solved
        if not any(key in solved for key in scale):
            return scale
        out: Scale = {}
        for key, power in scale.items():
            inner: Scale = {key: 1}
            if key in solved:
                inner = solved[key] = self.reduced(solved[key])
            for each, p in inner.items():
                out[each] = out.get(each, 0) + power * p
        return {key: power for key, power in out.items() if power}

    def _equal(self, a: Scale | None, b: Scale | None) -> None:
        """Constrain two scales to be the same."""
        if a is None or b is None or a is b:
            return
        difference = self._combine(a, b, -1)
        free = [key for key in difference if isinstance(key, int)]
        if free:
            self._solve(difference, max(free))  # type: ignore[type-var]

    def _solve(self, zero: Scale, key: object) -> None:
        """Solve `zero` = no scale for one free scale."""
        power = zero[key]
        self.solved[key] = {other: _ratio(-p, power) for other, p in zero.items() if other != key}

    def gain(self, index: int) -> Scale:
        """What the constant of product `index` is multiplied by."""
        return self.reduced({index: 1})

    def spend(self) -> bool:
        """Fix the free scales, each where it turns the most constants into ones; False if there is none."""
        products = self._constant_products()
        spent = False
        while True:
            tally: Counter[tuple[tuple[object, Any], ...]] = Counter()
            reachable = []
            for index, value in products:
                wanted = self._wanted(index, value)
                if wanted:
                    tally[wanted] += 1
                    reachable.append((index, value))
            products = reachable
            if not tally:
                return spent
            best = dict(max(tally.items(), key=lambda item: item[1])[0])
            self._solve(best, max(key for key in best if isinstance(key, int)))
            spent = True

    def _constant_products(self) -> list[tuple[int, float]]:
        nodes = self.graph.nodes
        found = []
        for index, node in enumerate(nodes):
            if node.op == "mul" and (value := nodes[node.args[0]].value) is not None:
                found.append((index, value))
        return found

    def _wanted(self, index: int, value: float) -> tuple[tuple[object, Any], ...]:
        """The constraint under which this constant becomes one, in normal form; empty if out of reach."""
        if not 1 / REACH < value < REACH:
            return ()
        gain = self._combine(self.gain(index), {(value,): 1}, 1)
        free = sorted(key for key in gain if isinstance(key, int))
        if not free:
            return ()
        lead = gain[free[-1]]
        return tuple(sorted(((key, _ratio(power, lead)) for key, power in gain.items()), key=repr))


def _ratio(a: Any, b: Any) -> Any:
    """Quotient, whole where it is whole: that is nearly always, and much faster."""
    return a // b if a % b == 0 else Fraction(a) / b


def factor_of(scale: Scale) -> float:
    """The number a scale is, free scales left at one."""
    powers = (key[0] ** float(power) for key, power in scale.items() if isinstance(key, tuple))
    return float(math.prod(powers))


def _rescaled(graph: Graph, system: _Scales) -> Graph:
    """The graph with every constant multiplied by its scale."""
    builder = Builder(graph.inputs, graph.careful)
    new: list[int] = []
    for index, node in enumerate(graph.nodes):
        args = [new[a] for a in node.args]
        for k, a in enumerate(node.args):
            value = graph.nodes[a].value
            if value is None:
                continue
            if node.op in ("mul", "div"):
                scale = system.gain(index) if system.of[index] is not None else {}
            else:
                mate = system.of[node.args[1 - k]] if node.op in ("add", "sub") else {}
                scale = system.reduced(mate or {})
            args[k] = builder.const(value * factor_of(scale))
        new.append(builder.copy(node, args))
    return builder.finish(graph.name, graph.outputs, [[new[r] for r in row] for row in graph.results])
