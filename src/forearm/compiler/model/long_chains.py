"""Long chains: the recursion as a loop over a table of link constants, from the same formulation source.

Straight-line code grows with the arm; past some thirty joints it no longer fits the instruction cache. A recursion
repeats itself, though, so a short chain tells how a long one is computed: a formulation is traced on six links
whose numbers are inputs, the nodes are sorted by the link that `outward` and `inward` were at, and the body that
repeats from some link p on is found by comparing the sections. Then

    links 1 … p-1    straight, as traced (the base is at rest, so much is zero there)
    links p … n      a loop: the repeating outward section
    link n           straight: the first inward section (nothing beyond the hand)
    links n-1 … p    a loop: the repeating inward section
    links p-1 … 1    straight

What passes between sections goes through columns of the scratch area. Work on link constants alone is done here,
once for each link, and becomes the table.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from forearm.algebra import is_number
from forearm.arm import WALK, Arm
from forearm.compiler.graph.builder import Builder
from forearm.compiler.graph.graph import Counts, Node, Port, count_nodes
from forearm.compiler.graph.traced_scalar import Traced
from forearm.compiler.model.base_parameters import JointLink, Regrouped, regrouped
from forearm.compiler.model.trust import trusted
from forearm.formulations import FORMULATIONS
from forearm.frames import Pose
from forearm.inertia import numbers_of, ten_from
from forearm.link import Link

TRACED_LINKS = 6
"""Links of the short chain: enough that the repeating sections appear three times."""

Section = tuple[str, int]
"""'outward' or 'inward', and the link."""
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
    outputs: list[int]
    """The torque of each link."""
    members: dict[Section, list[int]] = field(default_factory=dict)
    """Nodes of each section in order, needed ones only."""

    @cached_property
    def fixed(self) -> list[bool]:
        """Whether a node depends on link constants alone."""
        b = self.builder
        found: list[bool] = []
        for op, args, at in zip(b.op, b.args, b.at, strict=True):
            found.append(
                op == "const"
                or (at is not None and at[0] == 3)
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
            columns = b.inputs[3].shape[1]
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


def traced(arm: Arm, chain: Regrouped, pattern: Pattern, stem: str) -> Trace:
    """Trace a formulation on the short chain and sort its nodes by link."""
    n, k = TRACED_LINKS, len(pattern.free)
    ports = [Port("q", (n,)), Port("qd", (n,)), Port("qdd", (n,)), Port("numbers", (n, k))]
    builder = Builder(ports)
    values = [
        np.array([Traced(builder, builder.input(w, e)) for e in range(p.size)]) for w, p in enumerate(ports)
    ]
    marks: list[tuple[int, Section | None]] = [(0, None)]

    class Walker:
        def at_link(self, direction: str, i: int) -> None:
            marks.append((len(builder.op), (direction, i) if i else None))

    token = WALK.set(Walker())
    try:
        short = traced_chain(chain, pattern, values[3].reshape(n, k))
        tau = FORMULATIONS[stem].joint_torques(short, *values[:3])
    finally:
        WALK.reset(token)
    if not all(isinstance(t, Traced) for t in tau):
        raise NoLoop("a torque is constant")
    section: list[Section | None] = []
    for (start, name), (end, _) in zip(marks, [*marks[1:], (len(builder.op), None)], strict=True):
        section += [name] * (end - start)
    trace = Trace(builder, section, [t.index for t in tau])
    _collect(trace)
    return trace


def _collect(trace: Trace) -> None:
    b = trace.builder
    needed = bytearray(len(b.op))
    stack = list(trace.outputs)
    while stack:
        index = stack.pop()
        if not needed[index]:
            needed[index] = 1
            stack.extend(b.args[index])
    raw: dict[Section | None, list[int]] = {}
    for index, name in enumerate(trace.section):
        raw.setdefault(name, []).append(index)
    last, before = raw.get(("outward", TRACED_LINKS), []), raw.get(("outward", TRACED_LINKS - 1), [])
    if len(last) != len(before):
        raise NoLoop("the last outward section differs from the one before")
    for index, model in zip(last, before, strict=True):
        needed[index] |= needed[model]  # the loop serves the last link too, though less of it is needed there
    for index, name in enumerate(trace.section):
        if needed[index] and not trace.fixed[index] and b.op[index] not in ("const", "input"):
            if name is None:
                raise NoLoop("something is computed outside the walk")
            trace.members.setdefault(name, []).append(index)


# -- the repeating sections --------------------------------------------------------------------------------


@dataclass
class Body:
    """A section that repeats."""

    direction: str
    """'outward' or 'inward'."""
    ops: list[str]
    """Operation of each node."""
    terms: list[list[Term]]
    """Arguments of each node."""
    first: int
    """The first link (outward) or the least link (inward) that it serves, counted in the short chain."""


def body_of(trace: Trace, direction: str, links: Sequence[int]) -> Body:
    """The section that repeats: the same for all of these links."""
    bodies = []
    for link in links:
        here = (direction, link)
        nodes = trace.members.get(here, [])
        bodies.append(
            (
                [trace.builder.op[i] for i in nodes],
                [[trace.term(a, here) for a in trace.builder.args[i]] for i in nodes],
            )
        )
    if any(other != bodies[0] for other in bodies[1:]):
        raise NoLoop(f"the {direction} sections differ from link to link")
    return Body(direction, *bodies[0], 0)


def entry(trace: Trace, body: Body, link: int) -> dict[Term, int] | None:
    """Whether the section of a link is the body with other things before it: which node stands for which term."""
    here = (body.direction, link)
    nodes = trace.members.get(here, [])
    if len(nodes) != len(body.ops):
        return None
    stands: dict[Term, int] = {}
    for index, op, terms in zip(nodes, body.ops, body.terms, strict=True):
        if trace.builder.op[index] != op or len(trace.builder.args[index]) != len(terms):
            return None
        for a, term in zip(trace.builder.args[index], terms, strict=True):
            if term[0] == "other":
                if stands.setdefault(term, a) != a:
                    return None
            elif trace.term(a, here) != term:
                return None
    return stands


@dataclass
class LoopedChain:
    """A formulation as loops over links."""

    name: str
    """What it computes."""
    n: int
    """Links of the real chain."""
    trace: Trace
    """The short chain."""
    outward: Body
    """The outward loop's section."""
    inward: Body
    """The inward loop's section."""
    start: int
    """p: the first link of the loops."""
    numbers: np.ndarray[Any, Any]
    """The differing numbers of each link (n, columns)."""
    torque: int
    """Which node of the inward section is the link's torque."""

    @property
    def inputs(self) -> tuple[Port, ...]:
        """What a kernel takes."""
        return tuple(Port(name, (self.n,)) for name in ("q", "qd", "qdd"))

    @property
    def outputs(self) -> tuple[Port, ...]:
        """What it gives."""
        return (Port("tau", (self.n,)),)

    @cached_property
    def counts(self) -> Counts:
        """Operations for one state of the real chain."""
        b = self.trace.builder
        ops = [b.op[i] for nodes in self.straight.values() for i in nodes]
        ops += self.outward.ops * (self.n - self.start + 1) + self.inward.ops * (self.n - self.start)
        plain = count_nodes(Node(op, (0, 0, 0)) for op in ops if op not in ("sin", "cos"))
        return replace(plain, sincos=self.n)

    @property
    def straight(self) -> dict[Section, list[int]]:
        """Sections that are written out."""
        m, p = self.trace.members, self.start
        ends = [("outward", i) for i in range(1, p)] + [("inward", TRACED_LINKS)]
        return {s: m.get(s, []) for s in (*ends, *(("inward", i) for i in range(p - 1, 0, -1)))}

    @cached_property
    def digest(self) -> str:
        """A fingerprint of all that influences the code."""
        b = self.trace.builder
        content = repr((self.n, self.start, b.op, b.args, b.value, self.numbers.tobytes()))
        return hashlib.sha256(content.encode()).hexdigest()


def rolled(arm: Arm, stem: str = "khalil_kleinfinger_1987") -> LoopedChain:
    """The torques of a long chain as loops, or NoLoop with the reason."""
    if trusted(arm, "regrouped") != "regrouped":
        raise NoLoop("its base parameters do not give its own torques")
    chain = regrouped(arm)
    if arm.n < TRACED_LINKS + 1 or any(link.prismatic for link in chain.links):
        raise NoLoop("the chain is short, or has prismatic joints")
    if arm.has_drives or len({link.flip for link in chain.links}) > 1:
        raise NoLoop("there are drives, or some joints are flipped")
    if not all(is_number(x) for link in chain.links for x in link_numbers(link)):
        raise NoLoop("some parameters are symbols")
    pattern, numbers = pattern_of(chain)
    trace = traced(arm, chain, pattern, stem)
    last = TRACED_LINKS
    outward = body_of(trace, "outward", (last - 2, last - 1))
    inward = body_of(trace, "inward", (last - 3, last - 2))
    start = last - 2
    while (
        start > 2
        and entry(trace, outward, start - 1) is not None
        and entry(trace, inward, start - 1) is not None
    ):
        start -= 1
    for body, links in ((outward, (start, last)), (inward, (start, last - 1))):
        for link in links:
            if entry(trace, body, link) is None:
                raise NoLoop(f"{body.direction} section {link} is not the repeating one")
    torque = trace.place[trace.outputs[last - 3]]
    return LoopedChain(
        f"inverse_dynamics of {arm.name} by {stem}, as loops", arm.n, trace, outward, inward, start,
        numbers[:, pattern.free], torque,
    )  # fmt: skip


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


__all__ = ["LoopedChain", "NoLoop", "rolled", "table_value"]
