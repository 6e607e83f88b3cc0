"""All formulations side by side: their polynomials, and from which n one costs more than another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from forearm.counting.costs.polynomials import CostPolynomials, Polynomial, polynomial
from forearm.counting.meter.conventions import AS_SET_FORTH, WITHOUT_GRAVITY, Convention
from forearm.formulations import FORMULATIONS


def quantities_of(stem: str) -> tuple[str, ...]:
    """The quantities that are compared: joint torques where a formulation gives them, what it gives otherwise."""
    gives = FORMULATIONS[stem].gives
    return ("joint_torques",) if "joint_torques" in gives else gives[:1]


def torque_formulations() -> list[str]:
    """Formulations that give joint torques, the costliest at n = 6 first."""
    stems = [stem for stem, row in FORMULATIONS.items() if "joint_torques" in row.gives]
    return sorted(stems, key=lambda stem: -total_at(whole_cost(stem), 6))


def whole_cost(stem: str, quantity: str = "joint_torques") -> CostPolynomials:
    """All arithmetic of a formulation as set forth, what stands outside its equations included; A_i is given."""
    return polynomial(stem, convention=AS_SET_FORTH, quantity=quantity, bookkeeping=True)


def total_at(costs: CostPolynomials, n: int) -> int:
    """Multiplications and additions together at n."""
    return int(costs.multiplications(n) + costs.additions(n))


def formulation_rows(convention: Convention = AS_SET_FORTH) -> list[dict[str, Any]]:
    """Plain rows: every formulation, its measured polynomials, and their values at n = 6."""
    rows = []
    for stem, row in FORMULATIONS.items():
        for quantity in quantities_of(stem):
            found = polynomial(stem, convention=convention, quantity=quantity)
            whole = polynomial(stem, convention=convention, quantity=quantity, bookkeeping=True)
            besides = [
                whole.multiplications(6) - found.multiplications(6),
                whole.additions(6) - found.additions(6),
            ]
            rows.append(
                {
                    "formulation": stem,
                    "quantity": quantity,
                    "multiplications": str(found.multiplications),
                    "additions": str(found.additions),
                    "n = 6": f"{int(found.multiplications(6)):,} | {int(found.additions(6)):,}",
                    "besides, n = 6": f"{int(besides[0]):,} | {int(besides[1]):,}",
                    "published": row.published,
                }
            )
    return rows


@dataclass(frozen=True)
class CostCurve:
    """What a formulation costs against the number of joints."""

    name: str
    """The formulation."""
    degree: int
    """Degree of its polynomial."""
    joints: tuple[int, ...]
    """Numbers of joints for which the polynomial holds."""
    values: tuple[float, ...]
    """Operations there."""


def cost_curves(last: int = 30, kind: str = "multiplications") -> list[CostCurve]:
    """The curve of every formulation that gives torques, the costliest first."""
    curves = []
    for stem in torque_formulations():
        whole = whole_cost(stem)
        found, joints = getattr(whole, kind), tuple(range(whole.first, last + 1))
        curves.append(CostCurve(stem, found.degree, joints, tuple(float(found(n)) for n in joints)))
    return curves


def tables_lose(kind: str = "multiplications") -> tuple[int, float] | None:
    """The n from which on tables cost more than Newton-Euler, as Hollerbach has it, and the cost there."""
    table, recursion = (
        getattr(polynomial(stem, convention=WITHOUT_GRAVITY), kind)
        for stem in ("horn_raibert_1978", "luh_walker_paul_1980")
    )
    n = first_above(table, recursion)
    return None if n is None else (n, float(recursion(n)))


def first_above(costly: Polynomial, cheap: Polynomial, last: int = 1000) -> int | None:
    """The n from which on, up to `last`, the first costs more than the second; None when it never does."""
    below = [n for n in range(1, last + 1) if costly(n) <= cheap(n)]
    start = max(below, default=0) + 1
    return start if start <= last else None
