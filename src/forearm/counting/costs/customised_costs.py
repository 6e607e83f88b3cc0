"""Customised costs: an arm after the compiler's simplification, beside general polynomials and records."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from forearm.arm import Arm
from forearm.compiler.graph.graph import Graph
from forearm.compiler.graph.passes import form_fma
from forearm.compiler.model.choice import best_graph
from forearm.counting.costs.polynomials import Polynomial, polynomial
from forearm.counting.meter.counted_arm import generic_arm
from forearm.counting.schedules.operation_graphs import graph_of

GENERAL = "luh_walker_paul_1980"
"""The formulation whose general cost stands beside a customised one."""


@dataclass(frozen=True)
class Customised:
    """What a quantity of one arm costs when its numbers are folded in."""

    arm: str
    """Name of the arm."""
    quantity: str
    """What is computed."""
    by: str
    """The formulation and frames that were compiled."""
    multiplications: int
    """Multiplications."""
    additions: int
    """Additions and subtractions."""
    divisions: int
    """Divisions."""
    sincos: int
    """Angles whose sine and cosine are taken."""
    instructions: int
    """What an arithmetic unit with fused multiply-adds executes."""
    critical_path: int
    """Longest chain, one step for each operation."""

    @property
    def operations(self) -> int:
        """Multiplications, additions and divisions."""
        return self.multiplications + self.additions + self.divisions


def customised_graph(graph: Graph, arm: str = "", quantity: str = "", by: str = "") -> Customised:
    """The cost of a simplified graph (without fused multiply-adds)."""
    counts = graph.counts
    return Customised(
        arm,
        quantity,
        by,
        counts.mul,
        counts.add,
        counts.div,
        counts.sincos,
        form_fma(graph).counts.instructions,
        graph_of(graph).critical_path(),
    )


def customised(arm: Arm, quantity: str = "inverse_dynamics", formulation: str | None = None) -> Customised:
    """The cost of a quantity of this arm, rigid, after the compiler's simplification.

    Args:
        arm: The arm; rotor inertia and friction are left out, as the literature does.
        quantity: 'inverse_dynamics', 'mass_matrix', 'forward_dynamics', ... (see `forearm.compile`).
        formulation: A stem, 'search' for the cheapest of all, or None for the compiler's own choice.
    """
    graph, why = best_graph(arm.without_drives(), quantity, (), formulation)
    return customised_graph(graph, arm.name, quantity, why.chosen)


def with_arbitrary_inertias(arm: Arm) -> Arm:
    """The same arm with inertial parameters in which nothing is zero or equal: what "arbitrary" means in records."""
    body = generic_arm(arm.n)
    links = [
        link.replace(mass=other.mass, com=other.com, inertia=other.inertia)
        for link, other in zip(arm.links, body.links, strict=True)
    ]
    return arm.without_drives().replace(links=tuple(links), defects=())


@dataclass(frozen=True)
class CostRecord:
    """A published customised cost of inverse dynamics."""

    arm: str
    """Name of our built-in arm that it is comparable with."""
    source: str
    """Who says so."""
    inertias: str
    """What is assumed about the inertial parameters."""
    multiplications: int | None
    """Multiplications."""
    additions: int | None
    """Additions."""
    operations: int
    """Both together."""
    standing: str
    """How the number was come by."""


_RAN = "the tool was run, its output checked numerically"
_QUOTED = "as quoted in the literature; the paper itself was not read"
RECORDS = (
    CostRecord("puma560", "SymPyBotics, head of August 2025", "60 arbitrary", 345, 296, 641, _RAN),
    CostRecord(
        "puma560",
        "Armstrong, Khatib, Burdick 1986",
        "measured, explicit model cut at 1 %",
        None,
        None,
        305,
        "abstract of the paper; an approximate model",
    ),
    CostRecord("rx90", "OpenSYMORO, Python 3 port", "60 arbitrary", 331, 282, 613, _RAN),
    CostRecord("rx90", "OpenSYMORO, Python 3 port", "base parameters, arbitrary", 287, 226, 513, _RAN),
    CostRecord("rx90", "Khalil, Dombre (book)", "base parameters, symmetric links", 160, 113, 273, _QUOTED),
    CostRecord("stanford", "Kane, Levinson 1983", "as in the paper", 646, 394, 1040, _QUOTED),
    CostRecord("panda", "SymPyBotics, head of August 2025", "70 arbitrary", 428, 358, 786, _RAN),
)
"""Published and measured records of other people's programs."""


@dataclass(frozen=True)
class GeneralRecord:
    """A published general cost of inverse dynamics, revolute joints."""

    source: str
    """Whose method."""
    multiplications: Polynomial
    """Multiplications."""
    additions: Polynomial
    """Additions."""
    standing: str = _QUOTED
    """How the number was come by."""


def _general(source: str, multiplications: str, additions: str) -> GeneralRecord:
    return GeneralRecord(source, Polynomial.parse(multiplications), Polynomial.parse(additions))


GENERAL_RECORDS = (
    _general("Walker, Orin 1982", "137n-22", "101n-11"),
    _general("Featherstone, recursive Newton-Euler", "130n-68", "101n-56"),
    _general("Angeles, Ma, Rojas 1989", "105n-109", "90n-105"),
    _general("Balafoutis, Patel, Misra 1988", "93n-69", "81n-65"),
    _general("Khalil, Kleinfinger 1987, base parameters", "92n-127", "81n-117"),
)
"""Published general costs of later methods."""


def customised_rows(arms: Iterable[Arm], quantity: str = "inverse_dynamics") -> list[dict[str, Any]]:
    """Plain rows: each arm's customised cost, the general cost at its n, and the records for the same arm."""
    general = polynomial(GENERAL)
    rows = []
    for arm in arms:
        cost = customised(arm, quantity)
        arbitrary = customised(with_arbitrary_inertias(arm), quantity)
        rows.append(
            {
                "arm": arm.name,
                "joints": arm.n,
                "by": cost.by,
                "multiplications": cost.multiplications,
                "additions": cost.additions,
                "operations": cost.operations,
                "arbitrary": arbitrary.operations,
                "arbitrary_split": f"{arbitrary.multiplications} | {arbitrary.additions}",
                "instructions": cost.instructions,
                "sincos": cost.sincos,
                "critical_path": cost.critical_path,
                "general": int(general.multiplications(arm.n) + general.additions(arm.n)),
                "records": "; ".join(
                    f"{r.operations} ({r.source}, {r.inertias})" for r in RECORDS if r.arm == arm.name
                ),
            }
        )
    return rows
