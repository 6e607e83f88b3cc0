"""Long chains: the recursion as a loop over a table of link constants, from the same formulation source.

Straight-line code grows with the arm; past some thirty joints it no longer fits the instruction cache. A recursion
repeats itself, though, so a short chain tells how a long one is computed: a formulation is traced on a few links
whose numbers are inputs, the nodes are sorted by the link that `outward` and `inward` were at, and the body that
repeats from some link p on is found by comparing the sections. Then each walk is, outward,

    links 1 … p-1    straight, as traced (the base is at rest, so much is zero there)
    links p … n      a loop: the repeating section

and inward

    link n           straight (nothing beyond the hand), and the one before where zeros still show there
    links n-1 … p    a loop: the repeating section
    links p-1 … 1    straight

Torques walk out and in, accelerations by articulated bodies out, in and out again. M walks out and in to what
composite_bodies.py says of each link; its entries are then pairs of links, a loop in a loop.

What passes between sections goes through columns of the scratch area. Work on link constants alone is done here,
once for each link, and becomes the table.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from forearm.algebra import is_number
from forearm.arm import Arm
from forearm.compiler.graph.graph import Counts, Node, Port, count_nodes
from forearm.compiler.model.base_parameters import Regrouped, regrouped
from forearm.compiler.model.chains.articulated_bodies import articulated_bodies, gives_way_nowhere
from forearm.compiler.model.chains.chain_sections import (
    TRACED_LINKS,
    NoLoop,
    Pattern,
    RepeatedSection,
    Section,
    Trace,
    body_of,
    entry,
    link_numbers,
    pattern_of,
    traced,
)
from forearm.compiler.model.chains.composite_bodies import PAIR, composite_bodies
from forearm.compiler.model.trust import trusted
from forearm.formulations import FORMULATIONS

ARTICULATED = "articulated bodies"
"""How accelerations are computed, unless a formulation is asked for."""


@dataclass(frozen=True)
class Recursion:
    """A quantity that is computed link by link."""

    function: Callable[..., Any]
    """Of the chain, a formulation's stem and the inputs; gives what is wanted of each link, in rows."""
    inputs: tuple[str, ...]
    """Names of the inputs, (n,) each."""
    output: str
    """Name of the output."""
    stem: str = "khalil_kleinfinger_1987"
    """The formulation, unless another is asked for."""
    gives: str = "joint_torques"
    """What a formulation must give to take its place."""
    divides: bool = False
    """Whether joints' effective inertias are divided by."""
    pairs: bool = False
    """Whether the output has an entry for each pair of links, made of what is wanted of both."""


def _torques(chain: Any, stem: str, q: Any, qd: Any, qdd: Any) -> Any:
    return FORMULATIONS[stem].joint_torques(chain, q, qd, qdd)


def _bias(chain: Any, stem: str, q: Any, qd: Any) -> Any:
    return FORMULATIONS[stem].joint_torques(chain, q, qd, np.zeros(len(q)))


def _accelerations(chain: Any, stem: str, q: Any, qd: Any, tau: Any) -> Any:
    if stem == ARTICULATED:
        return articulated_bodies(chain, q, qd, tau)
    return FORMULATIONS[stem].joint_accelerations(chain, q, qd, tau)


def _mass(chain: Any, stem: str, q: Any) -> Any:
    return composite_bodies(chain, q)


RECURSIONS = {
    "inverse_dynamics": Recursion(_torques, ("q", "qd", "qdd"), "tau"),
    "bias_torque": Recursion(_bias, ("q", "qd"), "h"),
    "forward_dynamics": Recursion(
        _accelerations,
        ("q", "qd", "tau"),
        "qdd",
        stem=ARTICULATED,
        gives="joint_accelerations",
        divides=True,
    ),
    "mass_matrix": Recursion(
        _mass, ("q",), "M", stem="composite bodies", gives="composite_bodies", pairs=True
    ),
}
"""Quantities that long chains have as loops."""


@dataclass
class LoopedChain:
    """A recursion as loops over links."""

    name: str
    """What it computes."""
    n: int
    """Links of the real chain."""
    recursion: Recursion
    """What was traced."""
    stem: str
    """By which formulation."""
    trace: Trace
    """The short chain."""
    bodies: list[RepeatedSection]
    """The repeating section of each walk."""
    start: int
    """p: the first link of the loops."""
    numbers: np.ndarray[Any, Any]
    """The differing numbers of each link (n, columns)."""

    @property
    def inputs(self) -> tuple[Port, ...]:
        """What a kernel takes."""
        return tuple(Port(name, (self.n,)) for name in self.recursion.inputs)

    @property
    def outputs(self) -> tuple[Port, ...]:
        """What it gives."""
        return (Port(self.recursion.output, (self.n,) * (1 + self.recursion.pairs)),)

    @cached_property
    def counts(self) -> Counts:
        """Operations for one state of the real chain."""
        b = self.trace.builder
        ops = [b.op[i] for nodes in self.straight.values() for i in nodes]
        for body in self.bodies:
            ops += body.ops * (self.n - self.start + 1 - body.beyond)
        if self.recursion.pairs:
            ops += PAIR * (self.n * (self.n + 1) // 2)
        plain = count_nodes(Node(op, (0, 0, 0)) for op in ops if op not in ("sin", "cos"))
        return replace(plain, sincos=self.n)

    @cached_property
    def straight(self) -> dict[Section, list[int]]:
        """Sections that are written out, walk by walk."""
        near = range(1, self.start)
        found: list[Section] = []
        for body in self.bodies:
            far = range(body.last + 1, TRACED_LINKS + 1)
            links = [*near, *far] if body.outward else [*reversed(far), *reversed(near)]
            found += [(body.walk, i) for i in links]
        return {s: self.trace.members.get(s, []) for s in found}

    @cached_property
    def digest(self) -> str:
        """A fingerprint of all that influences the code."""
        b = self.trace.builder
        content = repr(
            (self.n, self.start, b.op, b.args, b.value, self.recursion.output, self.numbers.tobytes())
        )
        return hashlib.sha256(content.encode()).hexdigest()


def rolled(arm: Arm, stem: str | None = None, quantity: str = "inverse_dynamics") -> LoopedChain:
    """A quantity of a long chain as loops, or NoLoop with the reason."""
    recursion = RECURSIONS[quantity]
    stem = stem or recursion.stem
    if stem != recursion.stem and (recursion.gives not in _gives(stem)):
        raise NoLoop(f"{stem} does not give {recursion.gives} from base parameters")
    chain = _chain_of(arm, recursion)
    pattern, numbers = pattern_of(chain)
    name = f"{quantity} of {arm.name} by {stem}, as loops"
    try:
        found = _sections(chain, recursion, stem, pattern)
    except NoLoop:  # right angles change signs from link to link
        pattern = pattern.with_any_turn()
        found = _sections(chain, recursion, stem, pattern)
    looped = LoopedChain(name, arm.n, recursion, stem, *found, numbers[:, pattern.free])
    _refuse_gaps(looped)
    return looped


def _refuse_gaps(looped: LoopedChain) -> None:
    """Refuse a chain on a line, whose angles nothing feels: loops begin with angles, and pass on what is felt."""
    if not {"sin", "cos"} & set(looped.bodies[0].ops):
        raise NoLoop("nothing depends on its angles")
    trace, b = looped.trace, looped.trace.builder
    read = (a for nodes in looped.straight.values() for i in nodes for a in b.args[i])
    if not all(trace.fixed[a] or b.at[a] is not None or a in trace.place for a in read):
        raise NoLoop("the last link reads what no other passes on")


def _sections(
    chain: Regrouped, recursion: Recursion, stem: str, pattern: Pattern
) -> tuple[Trace, list[RepeatedSection], int]:
    """The trace of a short chain, the section of each walk that repeats, and the link from which all do."""
    trace = traced(
        chain, pattern, recursion.inputs, lambda short, *state: recursion.function(short, stem, *state)
    )
    bodies = [body_of(trace, walk) for walk in trace.walks]
    start = TRACED_LINKS - 2
    while start > 2 and all(entry(trace, body, start - 1) is not None for body in bodies):
        start -= 1
    for body in bodies:
        while body.last < TRACED_LINKS - (not body.outward) and entry(trace, body, body.last + 1) is not None:
            body.last += 1
        for link in (start, body.last):
            if entry(trace, body, link) is None:
                raise NoLoop(f"{body.walk} section {link} is not the repeating one")
    return trace, bodies, start


def _gives(stem: str) -> tuple[str, ...]:
    row = FORMULATIONS.get(stem)
    return tuple(row.gives) if row is not None and row.view == "ten" else ()


def _chain_of(arm: Arm, recursion: Recursion) -> Regrouped:
    """The chain in base parameters, where its links are of one kind."""
    if trusted(arm, "regrouped") != "regrouped":
        raise NoLoop("its base parameters do not give its own torques")
    chain = regrouped(arm)
    if arm.n < TRACED_LINKS + 1 or any(link.prismatic for link in chain.links):
        raise NoLoop("the chain is short, or has prismatic joints")
    if arm.has_drives or len({link.flip for link in chain.links}) > 1:
        raise NoLoop("there are drives, or some joints are flipped")
    if not all(is_number(x) for link in chain.links for x in link_numbers(link)):
        raise NoLoop("some parameters are symbols")
    if recursion.divides and not gives_way_nowhere(arm):
        raise NoLoop("a link without mass or inertia may make M singular")
    return chain
