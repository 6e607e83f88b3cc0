"""A short chain traced, and cut into sections: what one link does in one walk, and which sections repeat.

See long_chains.py for what is made of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from forearm.arm import WALK
from forearm.compiler.graph.builder import Builder
from forearm.compiler.graph.graph import Port
from forearm.compiler.graph.traced_scalar import Traced
from forearm.compiler.model.base_parameters import JointLink, Regrouped
from forearm.frames import Pose
from forearm.inertia import numbers_of, ten_from
from forearm.link import Link

TRACED_LINKS = 8
"""Links of the short chain: enough that the repeating sections appear two times, three links from either end."""

Section = tuple[str, int]
"""The walk, 'outward', 'inward' or 'outward again', and the link."""
Term = tuple[Any, ...]
"""An argument as seen from its section: own node, constant, table entry, input, or another section's node."""


class NoLoop(Exception):
    """A chain does not repeat itself; straight-line code must do."""


# -- the numbers of the links ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pattern:
    """Which numbers of a link differ along the chain (columns of the table) and which are the same for all."""

    same: tuple[float | None, ...]
    """The common value of each number, None where links differ."""

    @property
    def free(self) -> list[int]:
        """Places of the numbers that differ."""
        return [k for k, value in enumerate(self.same) if value is None]

    def with_any_turn(self) -> Pattern:
        """The same, but links may turn by any angle: about x where all do, or about any axis."""
        turns = (4, 5, 7, 8) if self.same[0] == 1.0 else range(9)
        return Pattern(tuple(None if k in turns else value for k, value in enumerate(self.same)))

    def filled(self, values: Sequence[Any]) -> list[Any]:
        """All numbers of a link, from those that differ."""
        rest = iter(values)
        return [next(rest) if value is None else value for value in self.same]


def link_numbers(link: JointLink) -> list[float]:
    """A link as one list: pose, constant angle, ten parameters."""
    rows = [x for row in link.pose.rotation for x in row]
    sign = -1.0 if link.flip else 1.0
    angle = link.theta + sign * link.geometry.offset
    return [*rows, *link.pose.translation, angle, *numbers_of(link.ten_at_joint)]


def pattern_of(chain: Regrouped) -> tuple[Pattern, np.ndarray[Any, Any]]:
    """The pattern of a chain, and its numbers (n, 23)."""
    numbers = np.array([link_numbers(link) for link in chain.links], dtype=float)
    numbers[-1, :12] = numbers[-2, :12]  # nothing comes after the last link
    same = tuple(float(column[0]) if np.all(column == column[0]) else None for column in numbers.T)
    return Pattern(same), numbers


def traced_chain(chain: Regrouped, pattern: Pattern, values: Any) -> Regrouped:
    """A chain of TRACED_LINKS links whose differing numbers are the given scalars (links, columns)."""
    links = []
    for row in values:
        x = pattern.filled(row)
        pose = Pose((tuple(x[0:3]), tuple(x[3:6]), tuple(x[6:9])), tuple(x[9:12]))
        joint = Link("revolute", pose, theta=x[12], flip=chain.links[0].flip)
        links.append(JointLink(joint, ten_from(x[13:23]), joint))
    return Regrouped(chain.name, tuple(links), chain.root, chain.gravity_in_base)


# -- the trace, cut into sections --------------------------------------------------------------------------


@dataclass
class Trace:
    """The nodes of a formulation on the short chain, with the section that each belongs to."""

    builder: Builder
    """The nodes."""
    section: list[Section | None]
    """Section of each node; None for inputs and what comes before the walk."""
    results: list[list[int]]
    """What is wanted of each link."""
    walks: list[str]
    """The walks, in order."""
    members: dict[Section, list[int]] = field(default_factory=dict)
    """Nodes of each section in order, needed ones only."""

    @property
    def numbers(self) -> int:
        """The input that holds the link constants."""
        return len(self.builder.inputs) - 1

    @cached_property
    def fixed(self) -> list[bool]:
        """Whether a node depends on link constants alone."""
        b = self.builder
        found: list[bool] = []
        for op, args, at in zip(b.op, b.args, b.at, strict=True):
            found.append(
                op == "const"
                or (at is not None and at[0] == self.numbers)
                or (bool(args) and all(found[a] for a in args))
            )
        return found

    def constant(self, index: int, link: int) -> Term:
        """A node of link constants alone, as an expression seen from a link."""
        b = self.builder
        if b.op[index] == "const":
            return ("number", b.value[index])
        at = b.at[index]
        if at is not None:
            columns = b.inputs[self.numbers].shape[1]
            return ("number of", at[1] // columns + 1 - link, at[1] % columns)
        return (b.op[index], *(self.constant(a, link) for a in b.args[index]))

    def term(self, index: int, here: Section) -> Term:
        """An argument as seen from a section."""
        b, link = self.builder, here[1]
        if self.fixed[index]:
            return ("table", self.constant(index, link))
        at = b.at[index]
        if at is not None:
            return ("input", at[0], at[1] + 1 - link)
        home = self.section[index]
        assert home is not None
        place = self.place[index]
        return ("own", place) if home == here else ("other", home[0], home[1] - link, place)

    @cached_property
    def place(self) -> dict[int, int]:
        """Position of each needed node in its section."""
        return {index: k for nodes in self.members.values() for k, index in enumerate(nodes)}


class Walker:
    """Notes at which node each section begins."""

    def __init__(self, builder: Builder) -> None:
        """Before any walk."""
        self.builder, self.walks = builder, list[str]()
        self.marks: list[tuple[int, Section | None]] = [(0, None)]

    def at_link(self, direction: str, i: int) -> None:
        """Called before the body of the loop for link i; i = 0 when the walk is over."""
        if i == (1 if direction == "outward" else TRACED_LINKS):
            self.walks.append(direction + " again" * (direction in self.walks))
        self.marks.append((len(self.builder.op), (self.walks[-1], i) if i else None))

    def sections(self) -> list[Section | None]:
        """The section of each node."""
        ends = [*(start for start, _ in self.marks[1:]), len(self.builder.op)]
        found: list[Section | None] = []
        for (start, name), end in zip(self.marks, ends, strict=True):
            found += [name] * (end - start)
        return found


def traced(chain: Regrouped, pattern: Pattern, names: Sequence[str], recursion: Callable[..., Any]) -> Trace:
    """Trace a recursion (of a chain and named inputs) on the short chain and sort its nodes by link."""
    n, k = TRACED_LINKS, len(pattern.free)
    ports = [*(Port(name, (n,)) for name in names), Port("numbers", (n, k))]
    builder = Builder(ports)
    *state, numbers = (
        np.array([Traced(builder, builder.input(w, e)) for e in range(p.size)]) for w, p in enumerate(ports)
    )
    walker = Walker(builder)
    token = WALK.set(walker)
    try:
        found = recursion(traced_chain(chain, pattern, numbers.reshape(n, k)), *state)
    finally:
        WALK.reset(token)
    rows = [list(np.ravel(row)) for row in found]
    results = [[x.index if isinstance(x, Traced) else builder.const(float(x)) for x in row] for row in rows]
    trace = Trace(builder, walker.sections(), results, walker.walks)
    trace.section += [None] * (len(builder.op) - len(trace.section))  # constants of the first link
    _collect(trace)
    return trace


def _collect(trace: Trace) -> None:
    b = trace.builder
    needed = bytearray(len(b.op))
    stack = [index for row in trace.results for index in row]
    while stack:
        index = stack.pop()
        if not needed[index]:
            needed[index] = 1
            stack.extend(b.args[index])
    raw: dict[Section | None, list[int]] = {}
    for index, name in enumerate(trace.section):
        raw.setdefault(name, []).append(index)
    for walk in (w for w in trace.walks if w.startswith("outward")):
        last, before = raw.get((walk, TRACED_LINKS), []), raw.get((walk, TRACED_LINKS - 1), [])
        if len(last) == len(
            before
        ):  # the loop may serve the last link too, though less of it is needed there
            for index, model in zip(last, before, strict=True):
                needed[index] |= needed[model]
    for index, name in enumerate(trace.section):
        if needed[index] and not trace.fixed[index] and b.op[index] not in ("const", "input"):
            if name is None:
                raise NoLoop("something is computed outside the walk")
            trace.members.setdefault(name, []).append(index)


# -- the repeating sections --------------------------------------------------------------------------------


@dataclass
class RepeatedSection:
    """A section that repeats."""

    walk: str
    """The walk that it belongs to."""
    ops: list[str]
    """Operation of each node."""
    terms: list[list[Term]]
    """Arguments of each node."""
    results: list[Term]
    """What is wanted of the link, in the last walk."""
    last: int = TRACED_LINKS - 2
    """The last link of the short chain that it serves."""

    @property
    def beyond(self) -> int:
        """How many links at the tip it does not serve."""
        return TRACED_LINKS - self.last

    @property
    def outward(self) -> bool:
        """Whether links follow each other from base to tip."""
        return self.walk.startswith("outward")

    @property
    def used(self) -> list[Term]:
        """All terms that it looks at."""
        return [term for terms in (*self.terms, self.results) for term in terms]


def body_of(trace: Trace, walk: str) -> RepeatedSection:
    """The section that repeats: the same for two links of the middle."""
    last, bodies = TRACED_LINKS, []
    for link in (last - 3, last - 2):
        here = (walk, link)
        nodes = trace.members.get(here, [])
        results = trace.results[link - 1] if walk == trace.walks[-1] else []
        bodies.append(
            RepeatedSection(
                walk,
                [trace.builder.op[i] for i in nodes],
                [[trace.term(a, here) for a in trace.builder.args[i]] for i in nodes],
                [trace.term(i, here) for i in results],
            )
        )
    if bodies[0] != bodies[1]:
        raise NoLoop(f"the {walk} sections differ from link to link")
    return bodies[0]


def entry(trace: Trace, body: RepeatedSection, link: int) -> dict[Term, int] | None:
    """Whether the section of a link is the body with other things before it: which node stands for which term."""
    here = (body.walk, link)
    nodes = trace.members.get(here, [])
    if len(nodes) != len(body.ops):
        return None
    stands: dict[Term, int] = {}
    rows = [(trace.builder.args[index], terms) for index, terms in zip(nodes, body.terms, strict=True)]
    if body.results:
        rows.append((tuple(trace.results[link - 1]), body.results))
    if [trace.builder.op[index] for index in nodes] != body.ops:
        return None
    for given, terms in rows:
        if len(given) != len(terms):
            return None
        for a, term in zip(given, terms, strict=True):
            if term[0] == "other":
                if stands.setdefault(term, a) != a:
                    return None
            elif trace.term(a, here) != term:
                return None
    return stands


def table_value(term: Term, numbers: np.ndarray[Any, Any], link: int) -> float:
    """A constant expression for one link (counted from 1)."""
    head, *rest = term
    if head == "number":
        return float(rest[0])
    if head == "number of":
        return float(numbers[link - 1 + rest[0], rest[1]])
    a = [table_value(r, numbers, link) for r in rest]
    functions: dict[str, Callable[..., float]] = {
        "add": lambda x, y: x + y,
        "sub": lambda x, y: x - y,
        "mul": lambda x, y: x * y,
        "div": lambda x, y: x / y,
        "neg": lambda x: -x,
    }
    return functions[head](*a)
