"""A graph as a system of polynomials: named sums of signed products, from which common parts can be taken.

`Polynomials` holds one definition for each value that is wanted by name (an output, an operand of a sine, a
division, ..., a sum that is a factor, anything used twice): a list of terms, each a sign and a product of
literals. A literal is a node that is not arithmetic, another definition, or a positive constant. Sums and
products that are used once are merged into their user, so the order in which the source happened to add and
multiply no longer matters; an `Opening` says how much further the graph is taken apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from forearm.compiler.graph.builder import Builder
from forearm.compiler.graph.graph import Graph, Node

Product = tuple[int, ...]
"""Literals in rising order; constants are the negative ones. The empty product is 1."""
Part = tuple[int, Product]
"""A sign (+1 or -1) and a product."""

SAME = 2.0**50
"""Constants are one constant when they differ by less than this part of them: roundoff of the same number."""
LONGEST = 8
"""Longer products are named instead of merged: high powers would make the search for common parts slow."""
ARITHMETIC = ("add", "sub", "mul", "neg")


class Opening(NamedTuple):
    """How far a graph is taken apart into terms."""

    products: bool = False
    """Whether shared products are merged into their users, to be found again or better."""
    sums: int = 1
    """Shared sums of at most so many terms are merged into the sums that use them."""
    spread: int = 1
    """Sums that are used once, as factors, are multiplied out to at most so many terms."""
    cancel: bool = True
    """Whether a sum that is used by name is written out where its terms cancel against others."""


class Polynomials:
    """Definitions as sums of terms; terms have numbers that never change."""

    def __init__(self, graph: Graph, opening: Opening = Opening()) -> None:  # noqa: B008
        """Read a graph (without fma)."""
        self.graph = graph
        self.opening = opening
        self.constants: list[float] = [1.0]
        self.constant_number: dict[tuple[int, int], int] = {}
        self.sums: dict[int, list[int]] = {}
        self.terms: dict[int, tuple[int, int, Product]] = {}
        self.next_term = 0
        self.next_literal = len(graph.nodes)
        self.parts: list[list[Part]] = []
        self.circular = self._circular()
        wanted, uses = self._wanted()
        for index, node in enumerate(graph.nodes):
            self.parts.append(self._read(index, node))
            shared = uses[index] > 1 and (
                node.op in ("add", "sub") or (node.op == "mul" and not opening.products)
            )
            if shared or index in wanted:
                self.define(index, self.parts[index])

    # From the graph ---------------------------------------------------------------------------------

    def _wanted(self) -> tuple[set[int], list[int]]:
        """Arithmetic nodes that are wanted by name, and how often each node is used (through signs)."""
        nodes = self.graph.nodes
        wanted = {r for row in self.graph.results for r in row}
        uses = [0] * len(nodes)
        for r in wanted:
            uses[r] += 1
        for index in range(len(nodes) - 1, -1, -1):
            node = nodes[index]
            for a in node.args:
                uses[a] += uses[index] if node.op == "neg" else 1
            if node.op not in ARITHMETIC:
                wanted.update(node.args)
        return {index for index in wanted if nodes[index].op in ARITHMETIC}, uses

    def _circular(self) -> dict[int, int]:
        """Sines, each with the cosine of the same angle."""
        nodes = self.graph.nodes
        cosines = {node.args[0]: index for index, node in enumerate(nodes) if node.op == "cos"}
        sines = {index: node.args[0] for index, node in enumerate(nodes) if node.op == "sin"}
        return {index: cosines[angle] for index, angle in sines.items() if angle in cosines}

    def _read(self, index: int, node: Node) -> list[Part]:
        """A node as a sum of signed products."""
        if node.op == "const":
            value = float(node.value)  # type: ignore[arg-type]
            return [] if value == 0.0 else [(1 if value > 0 else -1, self._number(abs(value)))]
        if node.op == "mul":
            parts: list[Part] = [(1, ())]
            for a in node.args:
                factors = self._as_factor(a, self.opening.spread // len(parts))
                parts = [(s * t, self.times(p, q)) for s, p in parts for t, q in factors]
            return parts
        if node.op in ARITHMETIC:
            parts = list(self._in_sum(node.args[0]))
            if node.op == "neg":
                return [(-s, p) for s, p in parts]
            flip = 1 if node.op == "add" else -1
            return parts + [(flip * s, p) for s, p in self._in_sum(node.args[1])]
        return [(1, (index,))]

    def _in_sum(self, a: int) -> list[Part]:
        """The operand of a sum: by name, or its own terms."""
        if a in self.sums and (len(self.parts[a]) > self.opening.sums or self.graph.nodes[a].op == "mul"):
            return [(1, (a,))]
        return self.parts[a]

    def _as_factor(self, a: int, room: int) -> list[Part]:
        """The operand of a product: by name, or its own terms where there is room for them."""
        parts = self.parts[a]
        if a not in self.sums:
            short = all(len(product) <= LONGEST for _, product in parts)
            if short and (len(parts) == 1 or 1 < len(parts) <= room):
                return parts
            self.define(a, parts)
        return [(1, (a,))]

    # Terms ------------------------------------------------------------------------------------------

    def _number(self, value: float) -> Product:
        """A positive coefficient as a product."""
        return () if value == 1.0 else (self.constant(value),)

    def constant(self, value: float) -> int:
        """Literal of a positive constant; constants that differ by a few units in the last place are one."""
        mantissa, exponent = math.frexp(value)
        near = round(mantissa * SAME)
        for step in (0, 1, -1):
            found = self.constant_number.get((near + step, exponent))
            if found is not None and abs(self.constants[-found] - value) * SAME <= value:
                return found
        found = self.constant_number[near, exponent] = -len(self.constants)
        self.constants.append(value)
        return found

    def times(self, a: Product, b: Product) -> Product:
        """Product of products, at most one constant in it."""
        if a and b and a[0] < 0 and b[0] < 0:
            value = self.constants[-a[0]] * self.constants[-b[0]]
            return self._number(value) + tuple(sorted(a[1:] + b[1:]))
        return tuple(sorted(a + b))

    def define(self, literal: int, parts: Iterable[Part]) -> None:
        """A new definition; like terms are collected into one coefficient."""
        collected: dict[Product, float] = {}
        for sign, product in parts:
            constant = bool(product) and product[0] < 0
            bare = product[1:] if constant else product
            collected[bare] = collected.get(bare, 0.0) + sign * (
                self.constants[-product[0]] if constant else 1.0
            )
        if self.opening.cancel:
            self._cancel(collected)
        self._collect_circular(collected)
        self.sums[literal] = []
        for bare, value in collected.items():
            if value != 0.0:
                self.append(literal, 1 if value > 0 else -1, self._number(abs(value)) + bare)

    def _cancel(self, collected: dict[Product, float]) -> None:
        """x*S - x*a with S = a + b + ... by name: S is written out where that makes no more terms."""
        for bare in list(collected):
            for literal in bare:
                if literal not in self.sums or bare not in collected:
                    continue
                rest = list(bare)
                rest.remove(literal)
                inner: dict[Product, float] = {}
                for number in self.sums[literal]:
                    _, sign, product = self.terms[number]
                    constant = bool(product) and product[0] < 0
                    key = tuple(sorted((*rest, *(product[1:] if constant else product))))
                    factor = self.constants[-product[0]] if constant else 1.0
                    inner[key] = collected[bare] * sign * factor
                gone = [
                    k for k, v in inner.items() if k in collected and abs(collected[k] + v) * SAME <= abs(v)
                ]
                if gone and len(inner) <= 2 * len(gone) + 1:
                    del collected[bare]
                    for key, value in inner.items():
                        collected[key] = 0.0 if key in gone else collected.get(key, 0.0) + value

    def _collect_circular(self, collected: dict[Product, float]) -> None:
        """c*sin²*rest + c*cos²*rest = c*rest, as often as it occurs."""
        for bare in list(collected):
            for sine, cosine in self.circular.items():
                if bare.count(sine) < 2 or bare not in collected:
                    continue
                rest = list(bare)
                rest.remove(sine)
                rest.remove(sine)
                mate = tuple(sorted((*rest, cosine, cosine)))
                value = collected[bare]
                if mate in collected and abs(collected[mate] - value) * SAME <= abs(value):
                    del collected[bare], collected[mate]
                    short = tuple(rest)
                    collected[short] = collected.get(short, 0.0) + value

    def append(self, literal: int, sign: int, product: Product) -> int:
        """Add a term to a definition; returns its number."""
        number = self.next_term
        self.next_term += 1
        self.terms[number] = (literal, sign, product)
        self.sums[literal].append(number)
        return number

    def remove(self, number: int) -> None:
        """Take a term out."""
        self.sums[self.terms.pop(number)[0]].remove(number)

    # Back to a graph --------------------------------------------------------------------------------

    def rebuilt(self) -> Graph:
        """The graph of the definitions as they are now."""
        graph = self.graph
        builder = Builder(graph.inputs, graph.careful)
        made: dict[int, int] = {}
        for index, node in enumerate(graph.nodes):
            if index in self.sums:
                self._build(builder, index, made)
            elif node.op not in ARITHMETIC:
                made[index] = builder.copy(node, [made[a] for a in node.args])
        return builder.finish(graph.name, graph.outputs, [[made[r] for r in row] for row in graph.results])

    def _build(self, builder: Builder, literal: int, made: dict[int, int]) -> None:
        """Make the node of a definition, and of those that it needs and that are not there yet."""
        stack = [literal]
        while stack:
            current = stack[-1]
            terms = [self.terms[number] for number in self.sums[current]]
            missing = {each for _, _, product in terms for each in product if each >= 0 and each not in made}
            if current in made or not missing:
                stack.pop()
                if current not in made:
                    made[current] = self._sum(builder, terms, made)
            else:
                stack.extend(sorted(missing, reverse=True))

    def _sum(self, builder: Builder, terms: list[tuple[int, int, Product]], made: dict[int, int]) -> int:
        """Node of a sum; what is known first is added first, so that its operands can be forgotten."""
        total = builder.const(0.0)
        for _, sign, product in sorted(
            terms, key=lambda t: max((made[x] for x in t[2] if x >= 0), default=-1)
        ):
            factor = builder.const(1.0)
            for each in reversed(product):
                factor = builder.mul(
                    factor, made[each] if each >= 0 else builder.const(self.constants[-each])
                )
            total = builder.add(total, factor) if sign > 0 else builder.sub(total, factor)
        return total
