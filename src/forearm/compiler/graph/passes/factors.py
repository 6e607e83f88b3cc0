"""Common factors and common parts of sums and products: greedy extraction from polynomials.

This is how logic synthesis takes common cubes and two-cube divisors out of sums of products ("fast extract"),
here on signed real polynomials. A *divisor* is a part that can be taken out and given a name:

- a pair of literals a*b that several products contain: every use but the first saves a multiplication;
- a sum or difference of two products, d1 ± d2, that sums contain times a common factor: x*d1 ± x*d2 becomes
  x*(d1 ± d2), which saves the multiplications by x even when it occurs once, and all of d1 ± d2 for every
  further occurrence.

Always the divisor that saves most is taken, everywhere at once, until nothing is saved.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Sequence

from forearm.compiler.graph.graph import Graph
from forearm.compiler.graph.passes.polynomial_system import Opening, Polynomials, Product

Divisor = tuple[Product, Product, int]
"""The sum d1 + sign * d2; with sign 0 the product d1."""
Place = tuple[int, ...]
"""Where a divisor occurs: the numbers of two terms of one sum, or of the one term with the product."""

ROUNDS = 8
"""Every way to take a graph apart is tried at most so often."""
WINDOW = 48
"""Terms of one sum are compared with so many before them: all of them, but for very long sums."""
QUICK = (Opening(cancel=False), Opening(spread=4), Opening(products=True, spread=12))
"""Ways to take a graph apart that are worth trying every time."""
LARGE = (Opening(products=True, spread=12), Opening())
"""The ways that save most, for graphs of thousands of operations."""
SEQUENCES = (
    QUICK,
    (Opening(), Opening(spread=4), Opening(products=True, spread=12)),
    (Opening(products=True, spread=12, cancel=False), Opening(), Opening(spread=4)),
    (Opening(), Opening(sums=4, spread=4), Opening(products=True, spread=12)),
    (Opening(sums=3), Opening(spread=4), Opening(products=True, sums=4, spread=12)),
    (Opening(), Opening(products=True, sums=6, spread=12), Opening(products=True, sums=100, spread=30)),
)
"""Sequences each of which is the best on some arm: what is taken first decides what can be found later."""


def common_factors(graph: Graph, openings: Sequence[Opening] = QUICK) -> Graph:
    """Take common factors out of sums and share common parts, as long as operations are saved.

    The graph is taken apart in several ways in turn (see `Opening`): what is shared already is kept, or
    dissolved to be found again or better. A smaller result is kept; the pass ends when no way makes one.
    """
    if graph.counts.fma:
        return graph
    failed = turn = 0
    while failed < len(openings) and turn < ROUNDS * len(openings):
        found = extract(graph, openings[turn % len(openings)])
        turn, failed = turn + 1, failed + 1
        if cost(found) < cost(graph):
            graph, failed = found, 0
    return graph


def cost(graph: Graph) -> tuple[int, int]:
    """What passes compare: operations, then multiplications."""
    return graph.counts.operations, graph.counts.mul


def extract(graph: Graph, opening: Opening) -> Graph:
    """One run of greedy extraction over the whole graph; it may also end with more operations than before."""
    return Extraction(Polynomials(graph, opening)).run()


class Extraction:
    """Which divisors occur where, kept up to date while terms change."""

    def __init__(self, system: Polynomials) -> None:
        """Find all divisors of all definitions."""
        self.system = system
        self.places: defaultdict[Divisor, dict[Place, int]] = defaultdict(dict)
        self.worth: defaultdict[Divisor, int] = defaultdict(int)
        self.heap: list[tuple[int, bool, int, Divisor]] = []
        self.offers = 0
        for terms in system.sums.values():
            for k, number in enumerate(terms):
                self._enter(number, terms[max(k - WINDOW, 0) : k])

    def run(self) -> Graph:
        """Take divisors until none saves anything."""
        while self.heap:
            promised, _, _, divisor = heapq.heappop(self.heap)
            saves, places = self._saves(divisor)
            if 0 < saves < -promised:
                self._offer(saves, divisor)
            elif saves > 0:
                self._take(divisor, places)
        return self.system.rebuilt()

    # Bookkeeping ------------------------------------------------------------------------------------

    def _divisors(self, number: int, others: Sequence[int]) -> list[tuple[Divisor, Place, int]]:
        """Divisors in which a term takes part with others: where, and what is saved there."""
        _, sign, product = self.system.terms[number]
        size = len(product)
        found: list[tuple[Divisor, Place, int]] = []
        for i in range(size - 1):
            for j in range(i + 1, size):
                found.append((((product[i], product[j]), (), 0), (number,), 1))
        own = _multiplications(product)
        for other in others:
            if other != number:
                _, s, p = self.system.terms[other]
                common, d1, d2 = divided(product, p)
                divisor = (d1, d2, sign * s) if d1 <= d2 else (d2, d1, sign * s)
                # x*d1 ± x*d2, all the multiplications and the addition, becomes x*D
                saved = own + _multiplications(p) + 1 - len(common)
                found.append((divisor, (number, other) if number < other else (other, number), saved))
        return found

    def _enter(self, number: int, others: Sequence[int]) -> None:
        """Note the places of a new term; offer each divisor for what it saves if no places overlap."""
        for divisor, place, saved in self._divisors(number, others):
            places = self.places[divisor]
            if place not in places:
                places[place] = saved
                self.worth[divisor] += saved
                worth = self.worth[divisor] - _price(divisor)
                if worth > 0:
                    self._offer(worth, divisor)

    def _strike(self, number: int, others: Sequence[int]) -> None:
        """Forget the places of a term."""
        for divisor, place, _ in self._divisors(number, others):
            self.worth[divisor] -= self.places[divisor].pop(place, 0)

    def _offer(self, saves: int, divisor: Divisor) -> None:
        """Queue a divisor; among equals sums come before products, then first come, first served."""
        self.offers += 1
        heapq.heappush(self.heap, (-saves, divisor[2] == 0, self.offers, divisor))

    def _saves(self, divisor: Divisor) -> tuple[int, list[Place]]:
        """Operations saved by taking the divisor, and the places that do not overlap, the best first."""
        used: set[int] = set()
        chosen: list[Place] = []
        saves = -_price(divisor)
        for place, saved in sorted(self.places[divisor].items(), key=lambda item: (-item[1], item[0])):
            if used.isdisjoint(place):
                used.update(place)
                chosen.append(place)
                saves += saved
        return saves, chosen

    # Taking a divisor out ---------------------------------------------------------------------------

    def _take(self, divisor: Divisor, places: list[Place]) -> None:
        """Give the divisor a name and put it in everywhere."""
        system = self.system
        d1, d2, relative = divisor
        new = system.next_literal
        system.next_literal += 1
        system.sums[new] = []
        for place in places:
            literal, sign, product = system.terms[place[0]]
            if relative:
                _, other_sign, other = system.terms[place[1]]
                rest, first, _ = divided(product, other)
                sign = sign if first == d1 else other_sign
            else:
                rest = divided(product, d1)[1]
            self._replace(place, literal, sign, tuple(sorted((*rest, new))))
        self._replace((), new, 1, d1)
        if relative:
            self._replace((), new, relative, d2)

    def _replace(self, place: Place, literal: int, sign: int, product: Product) -> None:
        """Strike out terms of a definition and put one in their place."""
        system = self.system
        terms = system.sums[literal]
        for number in place:
            k = terms.index(number)
            self._strike(number, terms[max(k - WINDOW, 0) : k + WINDOW + 1])
            system.remove(number)
        near = terms[-WINDOW:]
        self._enter(system.append(literal, sign, product), near)


def divided(a: Product, b: Product) -> tuple[Product, Product, Product]:
    """The common part of two products, and what is left of each."""
    for literal in a:
        if literal in b:
            break
    else:  # most pairs have nothing in common
        return (), a, b
    common: list[int] = []
    left: list[int] = []
    right: list[int] = []
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i] == b[j]:
            common.append(a[i])
            i, j = i + 1, j + 1
        elif a[i] < b[j]:
            left.append(a[i])
            i += 1
        else:
            right.append(b[j])
            j += 1
    return tuple(common), (*left, *a[i:]), (*right, *b[j:])


def _price(divisor: Divisor) -> int:
    """Operations of the divisor itself."""
    d1, d2, sign = divisor
    return _multiplications(d1) + _multiplications(d2) + (1 if sign else 0)


def _multiplications(product: Product) -> int:
    return len(product) - 1 if product else 0
